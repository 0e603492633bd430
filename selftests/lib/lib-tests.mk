# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of libub: make -f selftests/lib/lib-tests.mk check-lib
# With a sanitizer: ... BUILD=build/asan SAN=address,undefined

include lib/lib.mk

LIB_TESTS := $(patsubst selftests/lib/%.c,$(BUILD)/selftests/%,\
	$(sort $(wildcard selftests/lib/t_*.c)))

$(BUILD)/selftests/%: selftests/lib/%.c selftests/lib/t.h $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIB_CFLAGS) -o $@ $< $(LIB_DIR)/libub.a $(LIB_LIBS) -lm

.PHONY: lib-tests check-lib
lib-tests: $(LIB_TESTS)
check-lib: lib-tests
	@for t in $(LIB_TESTS); do echo "# $$t"; $$t || exit 1; done

# SPDX-License-Identifier: GPL-2.0-only
#
# Tests of libub: make -f selftests/lib/lib-tests.mk check-lib
# With a sanitizer: ... BUILD=build/asan SAN=address,undefined

include lib/lib.mk

LIB_TESTS := $(patsubst selftests/lib/%.c,$(BUILD)/selftests/%,\
	$(sort $(wildcard selftests/lib/t_*.c)))

$(BUILD)/selftests/%: selftests/lib/%.c $(wildcard selftests/lib/*.h) $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIB_CFLAGS) -o $@ $< $(LIB_DIR)/libub.a $(LIB_LIBS) -lm

.PHONY: lib-tests check-lib check-lib-san
lib-tests: $(LIB_TESTS)
check-lib: lib-tests
	@for t in $(LIB_TESTS); do echo "# $$t"; $$t || exit 1; done

# The same under the sanitizers. Between processes ThreadSanitizer sees nothing,
# so only members that are threads run there, and a planted race must be told.
check-lib-san:
	@$(MAKE) -s -f selftests/lib/lib-tests.mk BUILD=build/asan \
		SAN=address,undefined lib-tests
	@$(MAKE) -s -f selftests/lib/lib-tests.mk BUILD=build/tsan SAN=thread \
		build/tsan/selftests/t_threads
	@for t in build/asan/selftests/t_*[a-z]; do echo "# $$t"; \
		T_SYNCS=2000 $$t || exit 1; done
	@echo "# build/tsan/selftests/t_threads"; \
		T_SYNCS=500 build/tsan/selftests/t_threads
	@if build/tsan/selftests/t_threads race >/dev/null 2>&1; then \
		echo "not ok planted race is reported"; exit 1; \
	else echo "ok planted race is reported"; fi

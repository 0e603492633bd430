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

# Members can be threads in these; what ThreadSanitizer sees nothing of otherwise.
TSAN_TESTS := coll limits move msg nest reduce remap scope sync threads win

.PHONY: lib-tests check-lib san-tests tsan-tests check-lib-san
lib-tests: $(LIB_TESTS)
check-lib: lib-tests
	@selftests/each $(LIB_TESTS)

# The same under the sanitizers. Between processes ThreadSanitizer sees nothing,
# so only members that are threads run there, and a planted race must be told.
tsan-tests: $(TSAN_TESTS:%=$(BUILD)/selftests/t_%)
san-tests:
	@$(MAKE) -s -f selftests/lib/lib-tests.mk BUILD=build/asan \
		SAN=address,undefined lib-tests
	@$(MAKE) -s -f selftests/lib/lib-tests.mk BUILD=build/tsan SAN=thread \
		tsan-tests
check-lib-san: san-tests
	@T_SYNCS=2000 selftests/each -t 400 build/asan/selftests/t_*[a-z]
	@T_SYNCS=500 selftests/each -t 400 $(TSAN_TESTS:%=build/tsan/selftests/t_%) \
		selftests/lib/planted_race.sh

# SPDX-License-Identifier: GPL-2.0-only
# Tests of the files that kernel and libub share; no kernel is needed.
#	make -f selftests/pure/pure.mk check
#	make -f selftests/pure/pure.mk build/selftests/pure/t_engine
# Run from the top of the tree.

pure_out := build/selftests/pure
pure_inc := -Ikernel -Ikernel/include/uapi -Iselftests/pure
pure_warn := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes
pure_san := -fsanitize=address,undefined -fno-sanitize-recover=undefined
pure_cc := $(CC) $(pure_warn) -g -O2 $(pure_inc)
pure_hdr := $(wildcard kernel/*.h kernel/include/uapi/ub/*.h selftests/pure/*.h)

pure_san_tests := t_gaddr t_layout t_schedule t_engine
pure_tests := $(pure_san_tests)
pure_bins := $(addprefix $(pure_out)/,$(pure_tests))

.PHONY: check pure-check pure-build pure-clean
check: pure-check
pure-build: $(pure_bins)

pure-check: $(pure_bins)
	selftests/pure/run.sh $(pure_bins)

$(pure_out):
	mkdir -p $@

$(addprefix $(pure_out)/,$(pure_san_tests)): $(pure_out)/%: selftests/pure/%.c \
		kernel/schedule.c kernel/engine.c kernel/slots.c $(pure_hdr) | $(pure_out)
	$(pure_cc) $(pure_san) -o $@ $< kernel/schedule.c kernel/engine.c kernel/slots.c

pure-clean:
	rm -rf $(pure_out)

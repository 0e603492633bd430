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

# UB_LONG=1: half an hour of random walks from a seed of the day.
pure_walks := $(if $(UB_LONG),-r 3000000 -S $(shell date +%j),-r 5000)
pure_slots := -DUB_EXPLORE -include selftests/pure/explore_memset.h

pure_san_tests := t_gaddr t_diff t_layout t_schedule t_engine t_engine_fail t_told
pure_tests := $(pure_san_tests) t_slots t_tsan explore explore_asan
pure_bins := $(addprefix $(pure_out)/,$(pure_tests))
pure_c := kernel/schedule.c kernel/engine.c kernel/slots.c kernel/told.c

# Whole nodes: files of the kernel over kshim.h, which stands for all its headers.
pure_node_k := barrier group group_make shrink member join shm slice window attach xfer
pure_node_c := $(addprefix selftests/pure/explore_,node.c xfer.c heirs.c windows.c join.c)
pure_explore_c := $(filter-out $(pure_node_c),$(wildcard selftests/pure/explore*.c))
pure_node_o := $(pure_node_k:%=$(pure_out)/node/%.o) \
	$(patsubst selftests/pure/%.c,$(pure_out)/node/%.o,$(pure_node_c))
pure_node_cc := $(pure_cc) -Wno-sign-compare -Wno-unused-parameter -DUB_EXPLORE \
	-I$(pure_out)/node -include selftests/pure/kshim.h

.PHONY: check pure-check pure-build pure-clean
check: pure-check
pure-build: $(pure_bins)

pure-check: $(pure_bins)
	selftests/pure/run.sh $(pure_san_tests:%=$(pure_out)/%) $(pure_out)/t_slots \
		$(pure_out)/t_tsan "$(pure_out)/explore_asan -l 1 -r 300" \
		"$(pure_out)/explore $(pure_walks)" \
		"selftests/pure/mutants.sh $(pure_out)"

$(pure_out):
	mkdir -p $@

$(addprefix $(pure_out)/,$(pure_san_tests)): $(pure_out)/%: selftests/pure/%.c \
		$(pure_c) $(pure_hdr) | $(pure_out)
	$(pure_cc) $(pure_san) -o $@ $< $(pure_c)

$(pure_out)/t_slots: selftests/pure/t_slots.c kernel/slots.c $(pure_hdr) | $(pure_out)
	$(pure_cc) $(pure_san) $(pure_slots) -o $@ $< kernel/slots.c

$(pure_out)/t_tsan: selftests/pure/t_tsan.c kernel/schedule.c kernel/engine.c $(pure_hdr) | $(pure_out)
	$(pure_cc) -fsanitize=thread -o $@ $< kernel/schedule.c kernel/engine.c -lpthread

# The explorer switches stacks by hand; the fast build is the one that searches.
$(pure_out)/explore: $(pure_explore_c) $(pure_c) $(pure_node_o) $(pure_hdr) | $(pure_out)
	$(pure_cc) -no-pie $(pure_slots) -o $@ $(pure_explore_c) $(pure_c) $(pure_node_o)
$(pure_out)/explore_asan: $(pure_explore_c) $(pure_c) $(pure_node_o:.o=.san.o) \
		$(pure_hdr) | $(pure_out)
	$(pure_cc) $(pure_san) $(pure_slots) -o $@ $(pure_explore_c) $(pure_c) \
		$(pure_node_o:.o=.san.o)

$(pure_out)/node/headers: selftests/pure/headers.sh $(wildcard kernel/*.[ch]) | $(pure_out)
	selftests/pure/headers.sh $(@D) && touch $@
$(pure_out)/node/%.o: kernel/%.c $(pure_hdr) $(pure_out)/node/headers
	$(pure_node_cc) -c -o $@ $<
$(pure_out)/node/%.o: selftests/pure/%.c $(pure_hdr) $(pure_out)/node/headers
	$(pure_node_cc) -c -o $@ $<
$(pure_out)/node/%.san.o: kernel/%.c $(pure_hdr) $(pure_out)/node/headers
	$(pure_node_cc) $(pure_san) -c -o $@ $<
$(pure_out)/node/%.san.o: selftests/pure/%.c $(pure_hdr) $(pure_out)/node/headers
	$(pure_node_cc) $(pure_san) -c -o $@ $<

pure-clean:
	rm -rf $(pure_out)

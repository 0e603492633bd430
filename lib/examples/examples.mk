# SPDX-License-Identifier: MIT
#
# Builds build/examples/{heat,pagerank,peer} and, in examples/bsp, programs of
# bsp.h, as ANSI C. Included by the
# Makefile at the top, where it is run; "make -f lib/examples/examples.mk" from
# there works as well.

BUILD ?= build

EXAMPLES_DIR := lib/examples
EXAMPLES_OUT := $(BUILD)/examples
EXAMPLES_OBJ := $(BUILD)/obj/examples

EXAMPLES := heat pagerank peer
heat_SRCS := heat heat_recover shape
pagerank_SRCS := pagerank pagerank_plan pagerank_recover shape graph
peer_SRCS := peer

EXAMPLES_BSP := $(patsubst $(EXAMPLES_DIR)/bsp/%.c,%,\
	$(sort $(wildcard $(EXAMPLES_DIR)/bsp/*.c)))

# No contraction: the demos compare bits.
EXAMPLES_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		   -Wstrict-prototypes -Wmissing-prototypes -Wshadow \
		   -ffp-contract=off -MMD -MP -Ilib/include

# The library's fragment gives LIB_DIR and LIB_LIBS; at the top it came first.
ifndef LIB_DIR
default: examples
include lib/lib.mk
endif

.PHONY: examples examples-data examples-clean
examples: $(EXAMPLES:%=$(EXAMPLES_OUT)/%) $(EXAMPLES_BSP:%=$(EXAMPLES_OUT)/bsp/%)

# The graph that pagerank reads by default.
examples-data:
	$(EXAMPLES_DIR)/debian-graph -o $(BUILD)/debian-graph.txt

define EXAMPLE
$(EXAMPLES_OUT)/$(1): $$($(1)_SRCS:%=$(EXAMPLES_OBJ)/%.o) $(LIB_DIR)/libub.a
	@mkdir -p $$(@D)
	$$(CC) $$(LIB_SAN) $$(LDFLAGS) -o $$@ $$^ $$(LIB_LIBS) -lm
endef
$(foreach e,$(EXAMPLES),$(eval $(call EXAMPLE,$(e))))

$(EXAMPLES_OBJ)/%.o: $(EXAMPLES_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(EXAMPLES_CFLAGS) $(CFLAGS) $(LIB_SAN) -c -o $@ $<

$(EXAMPLES_OUT)/bsp/%: $(EXAMPLES_DIR)/bsp/%.c lib/include/bsp.h $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) -std=c89 -pedantic -O2 -g -Wall -Wextra -Werror $(CFLAGS) $(LIB_SAN) \
		-Ilib/include $(LDFLAGS) -o $@ $< $(LIB_DIR)/libub.a $(LIB_LIBS) -lm

examples-clean:
	rm -rf $(EXAMPLES:%=$(EXAMPLES_OUT)/%) $(EXAMPLES_OUT)/bsp $(EXAMPLES_OBJ)

-include $(wildcard $(EXAMPLES_OBJ)/*.d)

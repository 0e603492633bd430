# SPDX-License-Identifier: GPL-2.0-only
#
# Builds build/tools/ubperf. Included by the Makefile at the top, where it is
# run; "make -f tools/ubperf/ubperf.mk" from there works as well.

BUILD ?= build

UBPERF_DIR := tools/ubperf
UBPERF_OUT := $(BUILD)/tools
UBPERF_OBJ := $(BUILD)/obj/ubperf

UBPERF_SRCS := main opts util pattern run report data latency onesided superstep coll scope cpu \
	       map raw ioctl tcp

UBPERF_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		 -Wstrict-prototypes -Wmissing-prototypes -Wshadow -MMD -MP \
		 -Ilib/include -Ilib/src -Ikernel/include/uapi

# The library's fragment gives LIB_DIR and LIB_LIBS; at the top it came first.
ifndef LIB_DIR
default: ubperf
include lib/lib.mk
endif

.PHONY: ubperf ubperf-clean
ubperf: $(UBPERF_OUT)/ubperf

$(UBPERF_OUT)/ubperf: $(UBPERF_SRCS:%=$(UBPERF_OBJ)/%.o) $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) $(LIB_SAN) $(LDFLAGS) -o $@ $^ $(LIB_LIBS) -ljson-c

$(UBPERF_OBJ)/%.o: $(UBPERF_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(UBPERF_CFLAGS) $(CFLAGS) $(LIB_SAN) -c -o $@ $<

ubperf-clean:
	rm -rf $(UBPERF_OUT)/ubperf $(UBPERF_OBJ)

-include $(wildcard $(UBPERF_OBJ)/*.d)

# SPDX-License-Identifier: GPL-2.0-only
#
# Builds build/tools/ubrun. Included by the Makefile at the top, where it is
# run; "make -f tools/ubrun/ubrun.mk" from there works as well.

BUILD ?= build

UBRUN_DIR := tools/ubrun
UBRUN_OUT := $(BUILD)/tools
UBRUN_OBJ := $(BUILD)/obj/ubrun

UBRUN_SRCS := main job output tree fabric

UBRUN_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		-Wstrict-prototypes -Wmissing-prototypes -Wshadow -MMD -MP \
		-Ilib/include -Ilib/src -Ikernel/include/uapi

# The library's fragment gives LIB_DIR and LIB_LIBS; at the top it came first.
ifndef LIB_DIR
default: ubrun
include lib/lib.mk
endif

.PHONY: ubrun ubrun-clean
ubrun: $(UBRUN_OUT)/ubrun

$(UBRUN_OUT)/ubrun: $(UBRUN_SRCS:%=$(UBRUN_OBJ)/%.o) $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) $(LIB_SAN) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

$(UBRUN_OBJ)/%.o: $(UBRUN_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(UBRUN_CFLAGS) $(CFLAGS) $(LIB_SAN) -c -o $@ $<

ubrun-clean:
	rm -rf $(UBRUN_OUT)/ubrun $(UBRUN_OBJ)

-include $(wildcard $(UBRUN_OBJ)/*.d)

# SPDX-License-Identifier: GPL-2.0-only
#
# Builds build/tools/ubrig and build/tools/ubrig-init. Included by the
# Makefile at the top, where it is run. An installed ubrig looks for ubrig-init
# and fetch-kernel beside itself, then in ../libexec/ub.

BUILD ?= build

UBRIG_DIR := tools/ubrig
UBRIG_OUT := $(BUILD)/tools
UBRIG_OBJ := $(BUILD)/obj/ubrig

UBRIG_SRCS := ubrig opts run up daemon daemon_ops status client \
	      control rig node plug qemu job command output \
	      console qmp chan loop ivshmem_server kernel initramfs probe \
	      progress tsc util moddep switch
UBRIG_INIT_SRCS := guest-init guest-agent guest-absent

UBRIG_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		-Wstrict-prototypes -Wmissing-prototypes -Wshadow -MMD -MP \
		-Ilib/src
UBRIG_CC ?= $(CC)

# The library's fragment gives LIB_DIR and LIB_LIBS; at the top it came first.
ifndef LIB_DIR
default: ubrig
include lib/lib.mk
endif

.PHONY: ubrig ubrig-clean
ubrig: $(UBRIG_OUT)/ubrig $(UBRIG_OUT)/ubrig-init

$(UBRIG_OUT)/ubrig: $(UBRIG_SRCS:%=$(UBRIG_OBJ)/%.o) | $(UBRIG_OUT)
	$(UBRIG_CC) $(LDFLAGS) -o $@ $^ -ljson-c

# Every guest loads this, so it is small.
$(UBRIG_OUT)/ubrig-init: $(UBRIG_INIT_SRCS:%=$(UBRIG_OBJ)/%.o) $(LIB_DIR)/libub.a | $(UBRIG_OUT)
	$(UBRIG_CC) $(LDFLAGS) -static -s -o $@ $^ $(LIB_LIBS)

$(UBRIG_OBJ)/%.o: $(UBRIG_DIR)/%.c | $(UBRIG_OBJ)
	$(UBRIG_CC) $(UBRIG_CFLAGS) $(CFLAGS) -c -o $@ $<

$(UBRIG_OUT) $(UBRIG_OBJ):
	mkdir -p $@

ubrig-clean:
	rm -rf $(UBRIG_OUT)/ubrig $(UBRIG_OUT)/ubrig-init $(UBRIG_OBJ)

-include $(wildcard $(UBRIG_OBJ)/*.d)

# SPDX-License-Identifier: GPL-2.0-only
#
# Builds build/tools/ubrun. Included by the Makefile at the top, where it is
# run; "make -f tools/ubrun/ubrun.mk" from there works as well.

UBRUN_DIR := tools/ubrun
UBRUN_OUT := build/tools
UBRUN_OBJ := build/obj/ubrun

UBRUN_SRCS := main job output tree fabric

UBRUN_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		-Wstrict-prototypes -Wmissing-prototypes -Wshadow -MMD -MP \
		-Ilib/include -Ilib/src -Ikernel/include/uapi

.PHONY: ubrun ubrun-clean
ubrun: $(UBRUN_OUT)/ubrun

$(UBRUN_OUT)/ubrun: $(UBRUN_SRCS:%=$(UBRUN_OBJ)/%.o)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^

$(UBRUN_OBJ)/%.o: $(UBRUN_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(UBRUN_CFLAGS) $(CFLAGS) -c -o $@ $<

ubrun-clean:
	rm -rf $(UBRUN_OUT)/ubrun $(UBRUN_OBJ)

-include $(wildcard $(UBRUN_OBJ)/*.d)

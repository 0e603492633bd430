# SPDX-License-Identifier: GPL-2.0-only
#
# Builds build/tools/ubfab. Included by the Makefile at the top, where it is
# run; "make -f tools/ubfab/ubfab.mk" from there works as well.

BUILD ?= build

UBFAB_DIR := tools/ubfab
UBFAB_OUT := $(BUILD)/tools
UBFAB_OBJ := $(BUILD)/obj/ubfab

UBFAB_SRCS := main args netlink error show output
UBFAB_SRCS += fabric node window group stats monitor config

# Where libnl's headers are, as pkg-config would say.
UBFAB_CFLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Werror \
		-Wstrict-prototypes -Wmissing-prototypes -Wshadow -MMD -MP \
		-isystem /usr/include/libnl3 -Ikernel/include/uapi \
		-DVERSION='"$(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)"'
UBFAB_LIBS := -lnl-genl-3 -lnl-3 -ljson-c -lyaml

.PHONY: ubfab ubfab-clean
ubfab: $(UBFAB_OUT)/ubfab

$(UBFAB_OUT)/ubfab: $(UBFAB_SRCS:%=$(UBFAB_OBJ)/%.o)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(UBFAB_LIBS)

$(UBFAB_OBJ)/%.o: $(UBFAB_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(UBFAB_CFLAGS) $(CFLAGS) -c -o $@ $<

ubfab-clean:
	rm -rf $(UBFAB_OUT)/ubfab $(UBFAB_OBJ)

-include $(wildcard $(UBFAB_OBJ)/*.d)

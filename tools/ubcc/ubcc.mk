# SPDX-License-Identifier: GPL-2.0-only
#
# Puts ubcc and ubc++ into build/tools. Included by the Makefile at the top, where
# it is run; "make -f tools/ubcc/ubcc.mk" from there works as well.

BUILD ?= build

.PHONY: ubcc
ubcc: $(BUILD)/tools/ubcc $(BUILD)/tools/ubc++

$(BUILD)/tools/ubcc: tools/ubcc/ubcc
	@mkdir -p $(@D)
	install -m 755 $< $@

$(BUILD)/tools/ubc++: $(BUILD)/tools/ubcc
	ln -sf ubcc $@

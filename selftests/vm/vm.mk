# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of the VM lane that use libub: make -f selftests/vm/vm.mk vm-build

include lib/lib.mk

VM_OUT := $(BUILD)/selftests/vm

.PHONY: vm-build vm-check vm-clean vm-bsp
vm-build: $(VM_OUT)/survive $(VM_OUT)/bar_word $(VM_OUT)/scribble

# Cases of the BSPlib suite for bsp_on_nodes.sh, which is run by hand; they want ubcc.
vm-bsp: $(LIB_DIR)/libub.a
	@mkdir -p $(VM_OUT)
	@selftests/vm/bsp_on_nodes.sh --build >$(VM_OUT)/bsp.log || \
		{ grep -v '^ok' $(VM_OUT)/bsp.log; exit 1; }

$(VM_OUT)/%: selftests/vm/%.c $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIB_CFLAGS) -o $@ $< $(LIB_DIR)/libub.a $(LIB_LIBS)

vm-check: vm-build
	selftests/vm/failures.sh

vm-clean:
	rm -rf $(VM_OUT)

# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of the VM lane that use libub: make -f selftests/vm/vm.mk vm-build

include lib/lib.mk

VM_OUT := $(BUILD)/selftests/vm

.PHONY: vm-build vm-check vm-clean vm-bsp
vm-build: $(VM_OUT)/survive $(VM_OUT)/bar_word $(VM_OUT)/scribble vm-bsp

# Cases of the BSPlib suite for bsp_on_nodes.sh; with UB_LONG all of them. They want ubcc.
VM_BSP := $(VM_OUT)/bsp$(if $(UB_LONG),-long).log
vm-bsp: $(VM_BSP)
$(VM_BSP): $(LIB_DIR)/libub.a selftests/vm/bsp_on_nodes.sh \
		$(wildcard selftests/bsp/*/*.c) selftests/bsp/bsptest.h selftests/bsp/run
	@mkdir -p $(VM_OUT)
	@rm -f $(VM_OUT)/bsp*.log
	@selftests/vm/bsp_on_nodes.sh --build >$@.new || { grep -v '^ok' $@.new; exit 1; }
	@mv $@.new $@

$(VM_OUT)/%: selftests/vm/%.c $(LIB_DIR)/libub.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LIB_CFLAGS) -o $@ $< $(LIB_DIR)/libub.a $(LIB_LIBS)

vm-check: vm-build
	selftests/vm/failures.sh

vm-clean:
	rm -rf $(VM_OUT)

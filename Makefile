# SPDX-License-Identifier: GPL-2.0-only
#
# The top. Kbuild reads the file Kbuild instead of this one.
#
# A part of user space brings its own fragment, lib/lib.mk or tools/NAME/NAME.mk,
# which is included here, runs here, puts what it builds into build/ and defines
# NAME. Fragments of tests, selftests/*/*.mk, are not included but called: they
# have targets of the same names as this one, or other flags for the library.

.DEFAULT_GOAL := all
.PHONY: all modules lib tools selftests demo check check-long soak bench bench-vm clean
.PHONY: help setup need-build need-kernel

FRAGMENTS := $(wildcard lib/lib.mk lib/examples/examples.mk tools/*/*.mk)
TOOLS := $(notdir $(basename $(filter tools/%,$(FRAGMENTS))))
-include $(FRAGMENTS)

# Modules are for Debian's kernel whose headers are installed, which need not
# be the one that runs here. Evaluated when used: setup may have brought them.
KVER ?= $(shell ls -d /usr/src/linux-headers-6.1.*-amd64 2>/dev/null | \
	sed 's,.*linux-headers-,,' | sort -V | tail -n 1)
KDIR ?= /lib/modules/$(KVER)/build

all: modules lib tools selftests

need-build:
	@.ci/setup --check build
need-kernel:
	@.ci/setup --check build kernel

setup:
	@.ci/setup

modules: need-kernel
	+@$(if $(wildcard Kbuild),$(MAKE) -C $(KDIR) M=$(CURDIR) modules)

lib: need-build $(if $(wildcard lib/examples/examples.mk),examples)

tools: need-build $(TOOLS)

# $(call fragment,FILE,TARGET): a test's fragment, if it is there
fragment = $(if $(wildcard $(1)),$(MAKE) --no-print-directory -f $(1) $(2))

selftests: need-build
	@.ci/setup --check test
	@.ci/kselftest-headers
	@$(MAKE) --no-print-directory -C selftests
	+@$(call fragment,selftests/pure/pure.mk,pure-build)
	+@$(call fragment,selftests/lib/lib-tests.mk,lib-tests)

demo:
	@.ci/setup build $(if $(filter host,$(FABRIC)),,kernel rig)
	@$(MAKE) --no-print-directory -s lib tools $(if $(filter host,$(FABRIC)),,modules)
	@FABRIC='$(FABRIC)' TRANSPORT='$(TRANSPORT)' lib/examples/demo.sh

# LANES="pure lib" runs some
check:
	@selftests/run-lanes $(LANES)
check-long:
	@selftests/run-lanes --long $(LANES)

# N=200 SEED= ON=loop|rig FROM=: see selftests/soak/soak.sh
soak:
	@.ci/setup build kernel rig test
	@.ci/kselftest-headers
	@$(MAKE) --no-print-directory -s lib tools modules
	@$(MAKE) --no-print-directory -s -C selftests
	@$(MAKE) --no-print-directory -s -f selftests/vm/vm.mk vm-build
	@NODES=4 N='$(N)' SEED='$(SEED)' ON='$(ON)' FROM='$(FROM)' selftests/soak/soak.sh

# FABRIC=host: only what needs no VM; ROWS="sync put": some of the comparison
bench:
	@.ci/setup build bench $(if $(filter host,$(FABRIC)),,kernel rig)
	@$(MAKE) --no-print-directory -s lib tools $(if $(filter host,$(FABRIC)),,modules)
	@$(MAKE) --no-print-directory -s -f tools/ubperf/peers/peers.mk
	@FABRIC='$(FABRIC)' ROWS='$(ROWS)' tools/ubperf/bench.sh

# NODES="1 2": not also in 4 VMs
bench-vm:
	@.ci/setup build bench kernel rig
	@$(MAKE) --no-print-directory -s lib tools modules
	@$(MAKE) --no-print-directory -s -f tools/ubperf/peers/peers.mk
	@tools/ubperf/bench-vm.sh $(NODES)

include tools/install.mk

clean:
	@if [ -e Kbuild ] && [ -e $(KDIR) ]; then \
		$(MAKE) -s -C $(KDIR) M=$(CURDIR) clean; \
	fi
	rm -rf build

help:
	@echo 'make               modules, lib, tools, selftests'
	@echo 'make modules       kernel modules, for the headers of KVER ($(KVER))'
	@echo 'make lib           libub and its examples'
	@echo 'make tools         $(TOOLS)'
	@echo 'make demo          the tour, in VMs; TRANSPORT=rdma: that share no memory;'
	@echo '                   FABRIC=host: in processes, without QEMU'
	@echo 'make check         all tests; LANES="a b" for some; selftests/run-lanes --list'
	@echo 'make check-long    the same with longer time and more rounds'
	@echo 'make soak          nodes and processes die, stand still and come back, N=200 times;'
	@echo '                   SEED=, FROM=, ON=loop|rig repeat what it names when one fails'
	@echo 'make bench         libub beside Open MPI, MPICH and others, ubperf with 2 and 4 ranks'
	@echo '                   in VMs, or FABRIC=host; tables, ratios, JSON in build/bench'
	@echo 'make bench-vm      the device in one VM, and in 2 and 4 beside Open MPI over TCP'
	@echo 'make install       to $$DESTDIR$$PREFIX ($(PREFIX)), uninstall: away again'
	@echo '                   modules_install, dkms-install: the modules; see tools/install.mk'
	@echo 'make deb           Debian packages, in build/deb'
	@echo 'make man           man pages, in build/man'
	@echo 'make setup         installs the Debian packages that all this needs (.ci/packages)'
	@echo 'make clean         removes what was built'
	@echo 'demo and check see to their packages by themselves: installed when root, else named.'

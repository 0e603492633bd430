# SPDX-License-Identifier: GPL-2.0-only
#
# Installing: tools, library, headers, man pages, what systemd and udev read.
# Included by the Makefile at the top.
#
#	make install [DESTDIR=...] [PREFIX=/usr/local] [LIBDIR=...]
#	make uninstall		removes what "make install" would put there
#	make modules_install	the modules, below /lib/modules/$(KVER)
#	make dkms-install	sources to /usr/src, and DKMS builds them
#	make deb		Debian packages, in build/deb
#
# What exists is installed: a part that is not in the tree is left out.

.PHONY: install uninstall man modules_install dkms-source dkms-install
.PHONY: dkms-uninstall deb

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec/ub
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share
DOCDIR ?= $(DATADIR)/doc/ub
# systemd and udev look below /usr/local/lib and /usr/lib.
UNITDIR ?= $(PREFIX)/lib/systemd/system
UDEVDIR ?= $(PREFIX)/lib/udev/rules.d
MODLOADDIR ?= $(PREFIX)/lib/modules-load.d
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d

SUBST = sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@BINDIR@,$(BINDIR),g' \
	-e 's,@LIBDIR@,$(LIBDIR),g' -e 's,@INCLUDEDIR@,$(INCLUDEDIR),g' \
	-e 's,@VERSION@,$(VERSION),g'

# $(call put,MODE,FOLDER,FILES): those that exist
put = $(if $(strip $(wildcard $(3))),install -d '$(DESTDIR)$(strip $(2))' && \
	install -m $(strip $(1)) $(wildcard $(3)) '$(DESTDIR)$(strip $(2))')

# Public headers with calls, the library's own first: it makes libub(7).
MAN_HEADERS = lib/include/libub.h \
	$(filter-out lib/include/libub.h,$(shell grep -l '^UB_API' lib/include/*.h))
man:
	rm -rf build/man
	mkdir -p build/man
	VERSION=$(VERSION) Documentation/man/gen build/man $(MAN_HEADERS)
	for f in Documentation/man/*.[1-9]; do \
		mkdir -p build/man/man$${f##*.} && cp $$f build/man/man$${f##*.} || exit; \
	done
	ln -s ubcc.1 build/man/man1/ubc++.1

install: lib tools man
	$(call put,755,$(BINDIR),$(addprefix build/tools/,$(TOOLS)))
	[ ! -e $(DESTDIR)$(BINDIR)/ubcc ] || ln -sfn ubcc $(DESTDIR)$(BINDIR)/ubc++
	$(call put,755,$(LIBEXECDIR),build/tools/ubrig-init tools/ubrig/fetch-kernel \
		tools/ubrig/guest-rdma)
	$(call put,644,$(LIBDIR),build/lib/*.a)
	for so in build/lib/lib*.so.[0-9]; do \
		name=$${so##*/}; \
		install -m 644 $$so $(DESTDIR)$(LIBDIR)/$${name%.*}.$(VERSION) && \
		ln -sfn $${name%.*}.$(VERSION) $(DESTDIR)$(LIBDIR)/$$name && \
		ln -sfn $$name $(DESTDIR)$(LIBDIR)/$${name%.*} || exit; \
	done
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	for pc in lib/*.pc.in; do \
		name=$${pc##*/}; \
		$(SUBST) $$pc >$(DESTDIR)$(LIBDIR)/pkgconfig/$${name%.in} || exit; \
	done
	$(call put,644,$(INCLUDEDIR),lib/include/*.h)
	$(call put,644,$(INCLUDEDIR)/ub,kernel/include/uapi/ub/*.h)
	$(call put,644,$(DATADIR)/ub/machines,lib/machines/*.yaml)
	$(call put,644,$(DOCDIR)/examples,lib/examples/*.[ch] tools/system/loop.yaml)
	for d in build/man/man*; do \
		install -d $(DESTDIR)$(MANDIR)/$${d##*/} && \
		install -m 644 $$d/* $(DESTDIR)$(MANDIR)/$${d##*/} || exit; \
	done
	install -d $(DESTDIR)$(DATADIR)/bash-completion/completions
	for tool in $(TOOLS); do \
		[ ! -e tools/$$tool/$$tool.bash ] || install -m 644 tools/$$tool/$$tool.bash \
			$(DESTDIR)$(DATADIR)/bash-completion/completions/$$tool || exit; \
	done
	install -d $(DESTDIR)/etc/ub $(DESTDIR)$(UDEVDIR) $(DESTDIR)$(MODLOADDIR)
	install -d $(DESTDIR)$(SYSUSERSDIR) $(DESTDIR)$(UNITDIR)
	install -m 644 tools/system/60-ub.rules $(DESTDIR)$(UDEVDIR)
	install -m 644 tools/system/modules-load.conf $(DESTDIR)$(MODLOADDIR)/ub.conf
	install -m 644 tools/system/sysusers.conf $(DESTDIR)$(SYSUSERSDIR)/ub.conf
	$(SUBST) tools/system/ub.service.in >$(DESTDIR)$(UNITDIR)/ub.service

# No second list: what an installation elsewhere consists of goes away here.
uninstall:
	@rm -rf build/uninstall
	@$(MAKE) --no-print-directory -s install DESTDIR=$(CURDIR)/build/uninstall
	cd build/uninstall && find . ! -type d -exec sh -c \
		'for f; do rm -f "$(DESTDIR)/$$f"; done' sh {} +
	-cd build/uninstall && find . -depth -type d \( -name ub -o -path '*/ub/*' \) -exec sh -c \
		'for d; do rmdir "$(DESTDIR)/$$d" 2>/dev/null; done' sh {} +
	@rm -rf build/uninstall

modules_install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install

dkms-source:
	rm -rf $(DESTDIR)/usr/src/ub-$(VERSION)
	install -d $(DESTDIR)/usr/src/ub-$(VERSION)
	find Kbuild dkms.conf COPYING kernel \( -name '*.[ch]' -o -name '*.mk' -o -name Kbuild \
		-o -name COPYING -o -name dkms.conf \) ! -name '*.mod.c' \
		-exec cp --parents -t $(DESTDIR)/usr/src/ub-$(VERSION) {} +

# For the running kernel, or KVER=
dkms-install: dkms-source
	dkms install ub/$(VERSION) \
		$(if $(filter command environment,$(firstword $(origin KVER))),-k $(KVER))

dkms-uninstall:
	dkms remove ub/$(VERSION) --all
	rm -rf $(DESTDIR)/usr/src/ub-$(VERSION)

deb:
	@.ci/setup build deb
	@tools/make-deb

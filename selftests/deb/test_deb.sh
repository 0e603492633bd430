#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages: built, looked at by lintian, installed with DKMS into a
# small Debian, booted in a guest and purged there (in-guest.sh), upgraded, and
# purged without a guest, where what is left is compared with what was there.
#
# The host is not touched: the small Debian lies in the cache (root.sh), an
# overlay over it, in a mount name space of this script, takes all changes.
#
# usage: test_deb.sh	as root; prints two KTAP documents
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
cd "$top" || exit 1
# shellcheck source=../tools/ktap.sh
. selftests/tools/ktap.sh

[ "$(id -u)" = 0 ] || ktap_skip_all "only root can install packages into a folder"
if [ "${1-}" != inside ]; then
	private=private
	# In a chroot "/" need not be a mount, whose propagation could be changed.
	grep -q '^[^ ]* [^ ]* [^ ]* [^ ]* / ' /proc/self/mountinfo || private=unchanged
	exec unshare --mount --propagation $private "$0" inside
fi

debs=$top/build/deb
version=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/ub-deb-XXXXXX")
trap 'umount -R "$work/root" "$work/rw"; rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# in_root COMMAND...: in the small Debian with the changes so far
in_root()
{
	chroot "$work/root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

t_build()
{
	tools/make-deb >"$work/made" || return 1
	for p in ub-dkms libub0 libub-dev ub-tools; do
		grep "/${p}_" "$work/made" || { echo "no package $p"; return 1; }
	done
}

t_lintian()
{
	lintian --fail-on error --allow-root "$debs/ub_${version}_amd64.changes"
}

# An overlay may not lie on another, as in a chroot of a container's; a tmpfs can.
t_root()
{
	base=$(selftests/deb/root.sh) || return 1
	mkdir -p "$work/root" "$work/rw"
	mount -t tmpfs rw "$work/rw" && mkdir "$work/rw/upper" "$work/rw/work" &&
	mount -t overlay root "$work/root" \
		-o "lowerdir=$base,upperdir=$work/rw/upper,workdir=$work/rw/work" &&
	mount -t proc proc "$work/root/proc" &&
	mount --rbind /dev "$work/root/dev" &&
	mount --make-rslave "$work/root/dev" &&
	mkdir -p "$work/root/debs" && cp "$debs"/*_"$version"_*.deb "$work/root/debs/" &&
	rm -f "$work"/root/debs/*-dbgsym* && listing >"$work/before"
}

# What there is, but for what programs note down for themselves
listing()
{
	(cd "$work/root" && find . -xdev -path ./proc -prune -o -path ./dev -prune -o \
		-path ./tmp -prune -o -path ./debs -prune -o -path ./root/t -prune -o -path ./var/cache -prune -o \
		-path ./var/log -prune -o -path ./var/lib/dpkg -prune -o -print) |
		grep -v '/modules\.[a-z.]*$\|^./etc/.*-$\|^./etc/ld.so.cache$\|^./run/' | sort
}

t_install()
{
	# shellcheck disable=SC2016 # for the shell in there
	in_root sh -c 'dpkg -i /debs/*.deb' || return 1
	in_root dkms status | grep "^ub/$version, .*: installed$" || return 1
	in_root getent group ub && in_root modinfo -F filename -k "$kernel" ub_ivshmem
}

# Files that both an old and a new package own, modules of two versions
t_upgrade()
{
	local next=$version.1 d

	for d in ub-dkms_"$version"_all libub0_"$version"_amd64; do
		dpkg-deb -R "$debs/$d.deb" "$work/next" || return 1
		sed -i "s/^Version: .*/Version: $next/" "$work/next/DEBIAN/control"
		rm -f "$work/next/DEBIAN/md5sums"
		if [ -d "$work/next/usr/src" ]; then
			mv "$work/next/usr/src/ub-$version" "$work/next/usr/src/ub-$next"
			sed -i "s/$version/$next/" "$work/next"/DEBIAN/p* \
				"$work/next/usr/src/ub-$next/dkms.conf"
		fi
		dpkg-deb -b "$work/next" "$work/root/debs/next-${d%%_*}.deb" || return 1
		rm -rf "$work/next"
	done
	in_root dpkg -i /debs/next-ub-dkms.deb || return 1
	in_root dkms status >"$work/status"
	cat "$work/status"
	grep -q "^ub/$next, .*: installed$" "$work/status" && ! grep -q "^ub/$version," "$work/status"
}

t_purge()
{
	in_root dpkg --purge ub-tools libub-dev libub0 ub-dkms || return 1
	listing >"$work/after"
	diff "$work/before" "$work/after" | grep '^[<>]' && return 1
	in_root getent group ub && return 1
	return 0
}

# library NAME ABI LAYOUT [GROWN]: as a program that was made with other headers has it
library()
{
	local inc=$work/inc-$1

	mkdir -p "$inc"
	cp -r kernel/include/uapi/ub "$inc/"
	sed -i "s/\(define UB_ABI_VERSION\).*/\1 $2/" "$inc/ub/ub.h"
	sed -i "s/\(define UB_LAYOUT_VERSION\).*/\1 $3/" "$inc/ub/ub_layout.h"
	[ -z "${4-}" ] || sed -i "s/^\tchar out_transport\[UB_NAME_LEN\];/&\n\t__aligned_u64 out_later[4];/" \
		"$inc/ub/ub.h"
	make -s -f lib/lib.mk -j"$(nproc)" BUILD="$work/$1" CFLAGS="-O0 -I$inc" \
		"$work/$1/lib/libub.so.0" &&
	mkdir -p "$work/root/root/t/lib-$1" &&
	cp "$work/$1/lib/libub.so.0" "$work/root/root/t/lib-$1/"
}

t_libraries()
{
	local abi layout
	abi=$(sed -n 's/^#define UB_ABI_VERSION[[:space:]]*//p' kernel/include/uapi/ub/ub.h)
	layout=$(sed -n 's/^#define UB_LAYOUT_VERSION[[:space:]]*//p' kernel/include/uapi/ub/ub_layout.h)

	mkdir -p "$work/root/root/t" "$work/root/etc/ub" &&
	cp selftests/deb/in-guest.sh selftests/tools/ktap.sh "$work/root/root/t/" &&
	cp tools/system/loop.yaml "$work/root/etc/ub/" &&
	echo "$abi $layout" >"$work/root/root/t/versions" &&
	library old $((abi - 1)) "$layout" && library old-layout "$abi" $((layout - 1)) &&
	library new $((abi + 1)) $((layout + 1)) grown
}

# The guest's own changes stay in its memory.
guest()
{
	(cd / && "$top/build/tools/ubrig" run -n 1 --no-tag --kernel "$kernel" --no-module \
		--root "$work/root" --init /sbin/init --mem 1024 --smp 2 --boot-timeout 600 --timeout 600 \
		--append "systemd.show_status=no quiet" -- /root/t/in-guest.sh) 2>"$work/err"
	rc=$?
	sed 's/^/# /' "$work/err"
	[ $rc -lt 2 ] || echo "Bail out! ubrig ended with $rc"
}

kernel=$(cat "$(tools/ubrig/fetch-kernel)/version")
ktap_plan 7
check "the packages are built" t_build
check "lintian finds no error" t_lintian
check "a small Debian" t_root
check "installing, with modules built by DKMS" t_install
check "libraries of other versions" t_libraries
guest >"$work/guest" 2>&1
check "upgrading" t_upgrade
check "purging leaves nothing" t_purge
cat "$work/guest"
[ $ktap_failed = 0 ] && .ci/ktap-sum "$work/guest" >/dev/null

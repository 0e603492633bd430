#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Print a folder of the cache with a small Debian 12 that boots: systemd, udev,
# DKMS, a compiler, and of the host the kernel's headers that modules are built
# against and the modules of Debian's kernel of that version. Made once.
#
# Invariants: nobody changes it, tests lay an overlay over it; complete or
# absent.
#
# usage: root.sh	as root

set -eu
cd "$(dirname "$0")/../.."

die()
{
	echo "root.sh: $*" >&2
	exit 1
}

# What our packages depend on is in it: the test has no network.
packages=systemd,systemd-sysv,udev,kmod,dkms,gcc,g++,make,libc6-dev,pkg-config
packages+=,libyaml-dev,libjson-c5,libnl-3-200,libnl-genl-3-200
packages+=,libelf1	# what linux-kbuild's programs need

[ "$(id -u)" = 0 ] || die "only root can make a root folder"
cache=${UB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ub}
kernel=$(tools/ubrig/fetch-kernel)
version=$(cat "$kernel/version")
headers=/usr/src/linux-headers-$version
[ -e "$headers/Makefile" ] || die "no $headers: run .ci/setup kernel"
dir=$cache/debian-12-guest-$version-$(sha256sum "$0" | cut -c1-8)
if [ -e "$dir" ]; then
	echo "$dir"
	exit 0
fi

mkdir -p "$cache"
tmp=$(mktemp -d "$cache/.root-XXXXXX")
trap 'rm -rf --one-file-system "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 755 "$tmp"
echo "root.sh: debootstrap, once" >&2
debootstrap --variant=minbase --include="$packages" bookworm "$tmp/r" \
	"${UB_MIRROR:-http://deb.debian.org}/debian" >"$tmp/log" 2>&1 || {
	tail -n 20 "$tmp/log" >&2
	die "debootstrap failed"
}
r=$tmp/r
rm -rf "$r"/var/cache/apt/archives/*.deb "$r"/var/lib/apt/lists/*
echo guest >"$r/etc/hostname"
# DKMS asks for the headers of what would run; that is this one.
cp -a "$headers" /usr/src/linux-headers-"${version%-amd64}"-common "$r/usr/src/"
mkdir -p "$r/lib/modules" "$r/usr/lib"
cp -a /usr/lib/linux-kbuild-6.1 "$r/usr/lib/"
cp -al "$kernel/lib/modules/$version" "$r/lib/modules/" 2>/dev/null ||
	cp -a "$kernel/lib/modules/$version" "$r/lib/modules/"
ln -sfn "$headers" "$r/lib/modules/$version/build"
# Emulated CPUs are slow: nobody logs in, and no device of QEMU's wants a driver.
for unit in getty.target timers.target systemd-udev-trigger.service modprobe@.service \
	e2scrub_reap.service systemd-remount-fs.service systemd-pstore.service \
	systemd-random-seed.service systemd-update-utmp.service ifupdown-pre.service \
	systemd-logind.service networking.service; do
	ln -sf /dev/null "$r/etc/systemd/system/$unit"
done
mv -T "$r" "$dir" 2>/dev/null || [ -e "$dir" ] || die "cannot move the root to '$dir'"
echo "$dir"

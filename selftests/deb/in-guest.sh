#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest that has our packages and has booted by itself: what a user finds.
# At the end the packages are purged. Its files lie in one folder, put there by
# test_deb.sh: this, ktap.sh, other libraries in lib-NAME/.
# shellcheck disable=SC2317 # called by name
set -u
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../tools/ktap.sh
. "$here/ktap.sh"

# The agent that runs this is there before systemd, which empties /tmp.
for ((i = 0; i < 200; i++)); do
	[ ! -S /run/systemd/private ] || break
	sleep 0.5
done
state=$(timeout 200 systemctl is-system-running --wait)
mkdir -m 755 /tmp/t && cd /tmp/t || exit 1

t_boots()
{
	[ "$state" = running ] && return 0
	echo "the system is $state"
	systemctl --failed --no-legend
	journalctl -b -p warning --no-pager | tail -n 20
	return 1
}

t_service()
{
	systemctl is-active ub.service && lsmod | grep -q '^ub ' &&
	[ "$(ubfab fabric show | grep -c 'transport loop')" -eq 4 ] && return 0
	systemctl status ub.service --no-pager
	ubfab fabric show
	return 1
}

t_device()
{
	for i in 0 1 2 3; do
		stat -c '%n %a %G' /dev/ubfab$i
	done >devices
	cat devices
	[ "$(grep -c ' 660 ub$' devices)" -eq 4 ]
}

# as GROUP COMMAND...: a user of no other group
as()
{
	local group=$1
	shift
	setpriv --reuid nobody --regid "$group" --clear-groups "$@"
}

build()
{
	# shellcheck disable=SC2046 # lists of words
	cc /usr/share/doc/libub-dev/examples/peer.c -o peer \
		$(pkg-config --cflags --libs ub)
}

t_program()
{
	build && ldd peer | grep 'libub.so.0 => /' || return 1
	as ub env UB_FABRIC=dev ubrun --timeout 60 --fabric dev -n 2 ./peer >said || return 1
	cat said
	grep -qx 'rank 1 reads 100 from rank 0' said
}

t_static_and_cxx()
{
	# shellcheck disable=SC2046 # lists of words
	cc -static /usr/share/doc/libub-dev/examples/peer.c -o peer-static \
		$(pkg-config --cflags --libs --static ub) 2>&1 &&
	cat >x.cc <<-'END' &&
	#include <libub.h>
	#include <ub/ub.h>
	#include <cstring>
	int main()
	{
		ub_ctx *ctx;
		int err = ub_init(&ctx, nullptr);

		if (!err)
			err = std::strcmp(ub_backend(ctx), "dev") || ub_sync(ub_world(ctx));
		ub_fini(ctx);
		return err != 0;
	}
	END
	g++ -Wall -Wextra -Werror x.cc -o x $(pkg-config --cflags --libs ub) &&
	ubrun --timeout 60 --fabric dev -n 2 ./peer-static | grep -x 'rank 1 reads 100 from rank 0' &&
	ubrun --timeout 60 --fabric dev -n 2 ./x
}

t_others_may_not()
{
	as nogroup env UB_FABRIC=dev ./peer >said 2>&1 && return 1
	cat said
	grep -q '/dev/ubfab0: Permission denied' said
}

# other NAME PATTERN: the program with a library of another version
other()
{
	LD_LIBRARY_PATH=$here/lib-$1 UB_FABRIC=dev ./peer >said 2>&1 && return 1
	cat said
	grep -Eq "$2" said
}

# The numbers are in the file "versions": those of the module that runs.
t_old_library()
{
	read -r abi layout <"$here/versions"
	other old "speaks ABI $abi, this library $((abi - 1));" &&
	other old-layout "has group layout $layout, this library $((layout - 1));"
}

t_new_library()
{
	read -r abi layout <"$here/versions"
	other new "speaks ABI $abi, this library $((abi + 1));"
}

t_stop_start()
{
	systemctl stop ub.service && ! ls /dev/ubfab* && [ -z "$(ls /run/ub)" ] &&
	systemctl start ub.service && udevadm settle && t_device
}

t_bad_file()
{
	echo 'fabrics: [{transport: loop, nodes: none}]' >/etc/ub/x.yaml
	systemctl restart ub.service && return 1
	journalctl -u ub.service --no-pager | tail -n 5
	! ls /dev/ubfab* && rm /etc/ub/x.yaml && systemctl start ub.service &&
	systemctl is-active ub.service
}

t_manual()
{
	for page in man3/ub_sync.3 man3/ub_get.3 man7/libub.7 man8/ubfab.8 man1/ubrun.1; do
		ls /usr/share/man/$page.gz || return 1
	done
}

t_purge()
{
	local left

	DEBIAN_FRONTEND=noninteractive dpkg --purge ub-tools libub-dev libub0 ub-dkms || return 1
	left=$(ls -d /dev/ubfab* /run/ub /etc/ub /lib/modules/*/updates/dkms/ub* \
		/var/lib/dkms/ub /usr/src/ub-* 2>/dev/null
	       lsmod | grep '^ub'; getent group ub
	       systemctl list-unit-files --no-legend ub.service)
	[ -z "$left" ] || { printf 'left: %s\n' "$left"; return 1; }
}

ktap_plan 12
check "the system boots, no unit failed" t_boots
check "ub.service brings up the fabric of /etc/ub/loop.yaml" t_service
check "devices are for the group ub" t_device
check "a program built by pkg-config runs, as a user of the group" t_program
check "static and C++ programs" t_static_and_cxx
check "others may not open the device" t_others_may_not
check "old library on a new module: both versions are named" t_old_library
check "new library on an old module: both versions are named" t_new_library
check "ub.service stops and starts" t_stop_start
check "a wrong file fails the unit, and nothing is up" t_bad_file
check "manual pages" t_manual
check "purge takes everything away, modules and devices too" t_purge
ktap_end

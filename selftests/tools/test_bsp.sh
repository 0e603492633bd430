#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bsp.h as its users meet it: ubcc in the tree and installed, pkg-config, C++, the
# shared library; programs with and without a launcher, their input, their end.
# shellcheck disable=SC2016,SC2317 # for other shells; called by name
set -u
here=$(dirname "$(readlink -f "$0")")
top=$(readlink -f "$here/../..")
# shellcheck source=ktap.sh
. "$here/ktap.sh"

bin=$top/build/tools
examples=$top/build/examples/bsp
[ -x "$bin/ubcc" ] || ktap_skip_all "build/tools/ubcc is not built"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export BSP_TEST_MARK="mark-$$-$RANDOM"
unset UB_FABRIC UB_RANK UB_SIZE UB_MACHINE

# gives STATUS COMMAND...: the same as expect, within a minute
gives()
{
	local want=$1
	shift
	expect "$want" timeout 60 "$@"
}

says()
{
	[ -z "$1" ] || grep -Eq -- "$1" "$tmp/out" "$tmp/err" && return 0
	echo "no line like '$1' in:"
	cat "$tmp/out" "$tmp/err"
	return 1
}

# This shell must not export the mark: whatever looks for it would be found too.
marked()
{
	grep -lz "BSP_TEST_RANK=$BSP_TEST_MARK" /proc/[0-9]*/environ 2>/dev/null
}

# wait_marked NUMBER: until so many of a program's processes are there
wait_marked()
{
	local i
	for i in $(seq 200); do
		[ "$(marked | wc -l)" -ne "$1" ] || return 0
		sleep 0.1
	done
	echo "after $i looks not $1, but: $(marked)"
	return 1
}

none_left()
{
	wait_marked 0
}

cat >"$tmp/ring.c" <<'END'
#include <bsp.h>
#include <stdio.h>

int main(void)
{
	int from = -1, me;

	bsp_begin(bsp_nprocs());
	me = bsp_pid();
	bsp_push_reg(&from, sizeof(from));
	bsp_sync();
	bsp_put((me + 1) % bsp_nprocs(), &me, &from, 0, sizeof(me));
	bsp_sync();
	if (!me)
		printf("%d of %d\n", from, bsp_nprocs());
	bsp_end();
	return 0;
}
END
cat >"$tmp/ends.c" <<'END'
#include <bsp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char what;

static void part(void)
{
	int x = 0;

	bsp_begin(bsp_nprocs());
	bsp_push_reg(&x, sizeof(x));
	bsp_sync();
	bsp_get(0, &x, 0, &x, sizeof(x));
	if (!bsp_pid())
		x = what;
	bsp_sync();
	if (bsp_pid() == bsp_nprocs() - 1) {
		switch (x) {
		case 'k':
			raise(SIGKILL);
			break;
		case 'a':
			bsp_abort("given up\n");
		case 'e':
			exit(0);
		}
	}
	while (x == 'a' || x == 'p')
		pause();
	bsp_sync();
	bsp_end();
}

int main(int argc, char **argv)
{
	bsp_init(part, argc, argv);
	what = argv[1][0];
	if (what == 'b')
		bsp_abort("not begun\n");
	if (what != 'n')
		part();
	return what == 'r' ? 3 : 0;
}
END

# built DIR COMPILER...: ring.c becomes DIR/ring, which works
built()
{
	local out=$1
	shift
	mkdir -p "$out"
	"$@" -o "$out/ring" || return 1
	gives 0 "$bin/ubrun" -n 3 "$out/ring" && says '^2 of 3$'
}

t_compile()
{
	built "$tmp/c" "$bin/ubcc" -std=c89 -pedantic -Wall -Werror "$tmp/ring.c" || return 1
	built "$tmp/z" "$bin/ubcc" -DUB_BSP_SIZE_T -DD=u -Wall -Wno-format "$tmp/ring.c" || return 1
	cp "$tmp/ring.c" "$tmp/ring.cc"
	built "$tmp/cc" "$bin/ubcc" -Wall -Wextra -Werror -pedantic "$tmp/ring.cc" || return 1
	built "$tmp/xx" "$bin/ubc++" -x c++ "$tmp/ring.c" || return 1
	"$bin/ubcc" -c -o "$tmp/ring.o" "$tmp/ring.c" || return 1
	built "$tmp/o" "$bin/ubcc" "$tmp/ring.o"
}

t_installed()
{
	local root=$tmp/root

	make -s -C "$top" install DESTDIR="$root" PREFIX=/opt/ub >/dev/null || return 1
	"$root/opt/ub/bin/ubcc" --libs | grep -q -- '-lub' || return 1
	built "$tmp/i" "$root/opt/ub/bin/ubcc" "$tmp/ring.c" || return 1
	readelf -d "$tmp/i/ring" | grep -q 'NEEDED.*libub.so' || return 1
	command -v pkg-config >/dev/null || return 0
	# shellcheck disable=SC2046 # flags
	PKG_CONFIG_PATH=$root/opt/ub/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
		built "$tmp/p" env LD_RUN_PATH="$root/opt/ub/lib" cc "$tmp/ring.c" \
		$(PKG_CONFIG_PATH=$root/opt/ub/lib/pkgconfig \
		  PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs ub-bsp)
}

t_examples()
{
	gives 0 "$bin/ubrun" -n 3 "$examples/inprod" 12345 && says 'relative error -?[0-9.]+e[-+](00|1[0-9])$' &&
	gives 0 "$bin/ubrun" -n 4 "$examples/inprod" 1000 2 && says 'on 2 processes' &&
	gives 0 "$bin/ubrun" -n 4 "$examples/samplesort" 5000 && says '^20000 numbers' &&
	gives 0 "$bin/ubrun" -n 3 "$examples/lu" 50 && says ': right$'
}

t_input()
{
	echo 100000 >"$tmp/in"
	gives 0 "$bin/ubrun" -n 3 "$examples/sieve" <"$tmp/in" &&
	says '^9592 primes up to 100000, by 3 processes$' &&
	gives 0 env UB_NPROCS=4 "$examples/sieve" <"$tmp/in" &&
	says '^9592 primes up to 100000, by 4 processes$' &&
	gives 134 "$bin/ubrun" -n 3 "$examples/sieve" </dev/null &&
	says '^bsp_abort in process [0-2]: give a number'
}

t_without_launcher()
{
	local cpus
	cpus=$(nproc)
	gives 0 "$tmp/c/ring" && says "^$((cpus - 1)) of $cpus\$" &&
	gives 0 taskset -c 0 "$tmp/c/ring" && says '^0 of 1$' &&
	gives 0 env UB_NPROCS=5 "$examples/lu" 40 && says ': right$'
}

# ends LETTER STATUS TEXT: with a launcher, and without
ends()
{
	gives "$2" env BSP_TEST_RANK="$BSP_TEST_MARK" "$bin/ubrun" -n 3 "$tmp/ends" "$1" &&
	says "$3" && none_left || return 1
	BSP_TEST_RANK=$BSP_TEST_MARK UB_NPROCS=3 timeout 60 "$tmp/ends" "$1" \
		>"$tmp/out" 2>"$tmp/err"
	rc=$?
	[ "$2" -ne 0 ] || [ $rc -eq 0 ] || { echo "alone: status $rc"; return 1; }
	[ "$2" -eq 0 ] || [ $rc -ne 0 ] || { echo "alone: status 0"; return 1; }
	says "$3" && none_left
}

t_ends()
{
	"$bin/ubcc" -Wall -o "$tmp/ends" "$tmp/ends.c" || return 1
	ends a 134 '^bsp_abort in process 2: given up$' &&
	ends b 134 'bsp_abort.*: not begun$' &&
	ends k 137 'process 2 \(node [0-9]*, lane [0-9]*\) is lost: its process ended' &&
	ends e 134 '^exit in process 2: without bsp_end' &&
	ends r 3 '' && ends n 0 '' && ends o 0 ''
}

# SIGKILL of process 0 takes its children with it.
t_parent_killed()
{
	BSP_TEST_RANK=$BSP_TEST_MARK UB_NPROCS=3 "$tmp/ends" p >/dev/null 2>&1 &
	wait_marked 3
	kill -KILL $!
	wait $! 2>/dev/null
	none_left
}

t_machine()
{
	cat >"$tmp/inner.c" <<'END'
#include <bsp.h>
#include <stdio.h>

int main(void)
{
	int n;

	bsp_begin(4);
	ub_bsp_enter("board");
	n = bsp_nprocs();
	bsp_sync();
	ub_bsp_leave();
	if (!bsp_pid())
		printf("%d on a board of %d\n", n, bsp_nprocs());
	bsp_end();
	return 0;
}
END
	"$bin/ubcc" -o "$tmp/inner" "$tmp/inner.c" || return 1
	gives 0 "$bin/ubrun" -n 4 --machine "$top/lib/machines/2x2.yaml" "$tmp/inner" &&
	says '^2 on a board of 4$'
}

ktap_plan 8
check "ubcc compiles C, C++ and both dialects" t_compile
check "make install, pkg-config, the shared library" t_installed
check "examples" t_examples
check "standard input is process 0's" t_input
check "without a launcher" t_without_launcher
check "how programs end" t_ends
check "children die with process 0" t_parent_killed
check "an inner section is a board" t_machine
ktap_end

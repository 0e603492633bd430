#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# clang compiles everything without a warning: modules, library, tools. Debian's
# kernel is made by gcc, so what its headers say of gcc alone is taken away;
# nothing of this is ever loaded.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

out=build/clang

# As the kernel does when clang is its compiler: no gcc options, no -Wgnu.
cat >"$tmp/clang" <<'END'
#!/bin/bash
words=()
for word; do
	case $word in
	-mfunction-return=*|-fconserve-stack|-mrecord-mcount|-ftrivial-auto-var-init=*) ;;
	*)	words+=("$word") ;;
	esac
done
exec clang "${words[@]}" -Qunused-arguments -Wno-unknown-warning-option -Wno-gnu
END
chmod +x "$tmp/clang"

# compile WHAT...: complaints of make
compile()
{
	make -s -j"$(nproc)" "$@" >"$tmp/out" 2>&1 || tail -n 15 "$tmp/out"
	grep 'warning:\|error:' "$tmp/out" | head -n 40
}

# In a copy: gcc's objects must not be taken for these. No objtool: without
# those options it finds the mitigations missing.
modules()
{
	local f build='no headers of Linux 6.1'

	for f in /usr/src/linux-headers-6.1.*-amd64; do
		[ ! -e "$f/Makefile" ] || build=$f
	done
	for f in $(tree_files Kbuild kernel); do
		cmp -s "$f" "$out/$f" || install -D -m 644 "$f" "$out/$f"
	done
	compile -C "$build" M="$PWD/$out" CC="$tmp/clang" W=1 KCFLAGS=-Werror \
		OBJECT_FILES_NON_STANDARD=y modules
}

# Not even where they are installed: these come with a compiler's runtime alone.
mkdir -p "$tmp/absent/sanitizer"
for f in asan lsan tsan; do
	echo '#error a package of its own has this header' \
		>"$tmp/absent/sanitizer/${f}_interface.h"
done

plan 2
modules | verdict "modules: clang, W=1"
compile BUILD=$out/user CC="clang -I$tmp/absent" lib tools |
	verdict "library and tools: clang"
exit $failed

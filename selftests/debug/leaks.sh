#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# In a guest: run a command, then look for memory of the kernel that nobody
# points to any more. Status of the command, or 1 when something leaked.
# Without kmemleak in the kernel it only runs the command.
#
# usage: leaks.sh COMMAND...

leak=/sys/kernel/debug/kmemleak
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
[ ! -w $leak ] || echo clear >$leak
"$@"
status=$?
[ -w $leak ] || exit $status

# Twice: what is only on its way is not there the second time. Objects younger
# than five seconds are not told of.
sleep 6
echo scan >$leak
sleep 1
# It ends itself when it has no memory, as fault injection may give it none.
if ! echo scan >$leak; then
	echo "# leaks.sh: kmemleak is off after: $*"
	[ $status != 0 ] || status=1
fi
sed 's/^/# /' $leak >/tmp/leaks
if [ -s /tmp/leaks ]; then
	cat /tmp/leaks
	echo "# leaks.sh: $(grep -c unreferenced /tmp/leaks) leaked after: $*"
	[ $status != 0 ] || status=1
fi
exit $status

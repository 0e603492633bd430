#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel's own semantic patches report about the modules: frees and
# uses after them, locks that stay held, NULL pointers, calls that have a
# better form.
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"

# Not these: they want an OCaml compiler, or take minutes for a matter of taste.
skipped='check_bq27xxx_data|badzero|minmax'
scripts=build/kernel-scripts/coccinelle

# report SCRIPT FILE...: what it has to say, or that it cannot
cat >"$tmp/report" <<'END'
script=$1
shift
# shellcheck disable=SC2046 # words
timeout 200 spatch -D report --very-quiet --no-show-diff --cocci-file "$script" \
	$(sed -n 's,^// Options: ,,p' "$script") \
	-I kernel -I kernel/include/uapi "$@" 2>"$0.err.$$" ||
	{ echo "$script: ended with $?"; tail -n 3 "$0.err.$$"; }
END

reports()
{
	find $scripts/ -name '*.cocci' | grep -Ev "/($skipped)\.cocci" |
		xargs -P "$(nproc)" -I '{}' bash "$tmp/report" '{}' "$@" | sort
}

planted()
{
	cat >"$tmp/planted.c" <<-'END'
	int use_after_free(struct thing *t)
	{
		kfree(t);
		return t->number;
	}

	int stays_locked(struct thing *t)
	{
		mutex_lock(&t->lock);
		if (t->bad)
			return -EINVAL;
		mutex_unlock(&t->lock);
		return 0;
	}
	END
	for want in "free/kfree:reference preceded by free" \
		    "locks/mini_lock:preceding lock"; do
		bash "$tmp/report" "$scripts/${want%%:*}.cocci" "$tmp/planted.c" |
			grep -q "${want#*:}" || echo "${want%%:*}: does not see what was planted"
	done
}

.ci/kselftest-headers || exit 1
# shellcheck disable=SC2046 # a list of words
[ "${1-}" = --now ] || exec selftests/once $(c_files kernel) selftests/static $scripts \
	"$(command -v spatch)" -- selftests/static/coccinelle.sh --now
plan 2
planted | verdict "planted faults are reported"
# shellcheck disable=SC2046 # a list of words
reports $(c_files kernel | grep '\.c$') | verdict "semantic patches of the kernel"
exit $failed

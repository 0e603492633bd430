#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The table of measured times in Documentation/faults.rst, from what
# matrix_test prints.
#
# usage: selftests/vm/run.sh ub-matrix | selftests/vm/matrix_table.sh

awk '
function ms(us) { return us < 10000 ? sprintf("%.1f", us / 1000) : sprintf("%.0f", us / 1000) }
/# matrix [a-z]/ {
	sub(/.*# matrix /, "")
	fault = $1
	phase = $2
	if (!(phase in seen)) {
		seen[phase] = 1
		order[++n] = phase
	}
	cases[fault, phase] = $4
	told[fault, phase] = ms($6) " / " ms($7)
	back[fault, phase] = ms($9) " / " ms($10)
}
END {
	if (!n) {
		print "no line of matrix_test" > "/dev/stderr"
		exit 1
	}
	nf = split("node-fenced node-silent process-killed", f, " ")
	rule = sprintf("%s  %s  %s  %s  %s", "==============", "==============",
		       "=====", "===============", "===============")
	print rule
	printf "%-14s  %-14s  %-5s  %-15s  %s\n", "fault", "in", "cases",
	       "told p50 / max", "back p50 / max"
	print rule
	for (j = 1; j <= nf; j++)
		for (i = 1; i <= n; i++)
			if ((f[j], order[i]) in cases)
				printf "%-14s  %-14s  %5d  %-15s  %s\n", f[j], order[i],
				       cases[f[j], order[i]], told[f[j], order[i]],
				       back[f[j], order[i]]
	print rule
}'

// SPDX-License-Identifier: MIT
/* CPUs that this thread can get: affinity mask and cgroup quota, v1 and v2. */
#include "internal.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Quota over period of one cgroup directory, rounded up; 0: no limit. */
static long quota_of(const char *dir, bool v2)
{
	char path[4200], text[64] = "";
	long quota = -1, period = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir,
		 v2 ? "cpu.max" : "cpu.cfs_quota_us");
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	if (v2) {
		if (sscanf(text, "%ld %ld", &quota, &period) != 2)
			return 0;
	} else {
		quota = atol(text);
		snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
		f = fopen(path, "re");
		if (!f)
			return 0;
		if (fscanf(f, "%ld", &period) != 1)
			period = 0;
		fclose(f);
	}
	return quota > 0 && period > 0 ? (quota + period - 1) / period : 0;
}

/* The smallest quota from the own cgroup up to the root. */
static long quota(void)
{
	static const char * const v1_root[] = {
		"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
	};
	long least = 0;
	char line[4096];
	FILE *f = fopen("/proc/self/cgroup", "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		char *ctrl = strchr(line, ':'), *path, *slash, dir[4160];
		bool v2;
		size_t root;

		if (!ctrl)
			continue;
		path = strchr(++ctrl, ':');
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		v2 = !*ctrl;
		if (!v2 && strcmp(ctrl, "cpu") && strcmp(ctrl, "cpu,cpuacct") &&
		    strcmp(ctrl, "cpuacct,cpu"))
			continue;
		for (root = 0; root < (v2 ? 1 : 2); root++) {
			snprintf(dir, sizeof(dir), "%s%s",
				 v2 ? "/sys/fs/cgroup" : v1_root[root], path);
			for (;;) {
				long q = quota_of(dir, v2);

				if (q && (!least || q < least))
					least = q;
				slash = strrchr(dir, '/');
				if (!slash || slash < dir + strlen("/sys/fs/cgroup"))
					break;
				*slash = '\0';
			}
		}
	}
	fclose(f);
	return least;
}

int ub_cpus(uint64_t mask[UB_CPU_WORDS])
{
	cpu_set_t set;
	int n = 0, i;
	long q;

	memset(mask, 0, UB_CPU_WORDS * sizeof(mask[0]));
	if (!sched_getaffinity(0, sizeof(set), &set)) {
		for (i = 0; i < UB_CPU_WORDS * 64 && i < CPU_SETSIZE; i++) {
			if (!CPU_ISSET(i, &set))
				continue;
			mask[i / 64] |= 1ULL << i % 64;
			n++;
		}
	}
	q = quota();
	if (q && q < n)
		n = q;
	return n ? n : 1;
}

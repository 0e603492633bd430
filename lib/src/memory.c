// SPDX-License-Identifier: MIT
/* Memory that this process can have: the machine's, and its cgroup's limit. */
#include "memory.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The limit of one cgroup directory; all ones: none. */
static uint64_t limit_of(const char *dir, const char *file)
{
	char path[4200], text[32] = "";
	uint64_t v;
	char *end;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	if (!f)
		return UINT64_MAX;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	v = strtoull(text, &end, 10);	/* or "max" */
	return end == text ? UINT64_MAX : v;
}

/* The smallest limit from the own cgroup up to the hierarchy's root. */
static uint64_t least_of(const char *root, const char *path, const char *file)
{
	uint64_t least = UINT64_MAX, v;
	char dir[4160];
	char *slash;

	snprintf(dir, sizeof(dir), "%s%s", root, path);
	for (;;) {
		v = limit_of(dir, file);
		if (v < least)
			least = v;
		slash = strrchr(dir, '/');
		if (!slash || slash < dir + strlen(root))
			return least;
		*slash = '\0';
	}
}

static uint64_t cgroup_limit(void)
{
	static const char * const v2_root[] = {
		"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
	};
	FILE *f = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX, v = UINT64_MAX;
	char line[4096], *ctrl, *path;
	int i;

	if (!f)
		return least;
	/* Lines are "number:controllers:path"; version 2 has no controllers. */
	while (fgets(line, sizeof(line), f)) {
		ctrl = strchr(line, ':');
		path = ctrl ? strchr(++ctrl, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (!strcmp(ctrl, "memory"))
			v = least_of("/sys/fs/cgroup/memory", path,
				     "memory.limit_in_bytes");
		for (i = 0; !*ctrl && i < 2; i++) {
			uint64_t w = least_of(v2_root[i], path, "memory.max");

			v = w < v ? w : v;
		}
		least = v < least ? v : least;
	}
	fclose(f);
	return least;
}

uint64_t ub_memory(void)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	uint64_t limit = cgroup_limit();

	return limit < all ? limit : all;
}

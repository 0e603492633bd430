// SPDX-License-Identifier: GPL-2.0-only
/* What kernel modules need, from modules.dep; see kernel.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "util.h"

/* A line is "PATH: DEPENDENCY...", to be loaded from its end backwards. */
static void tell_line(char *line, moddep_fn *fn, void *arg)
{
	char *word;

	while ((word = strrchr(line, ' '))) {
		*word = '\0';
		if (word[1])
			fn(arg, word + 1);
	}
	line[strcspn(line, ":")] = '\0';
	fn(arg, line);
}

static bool is_module(const char *line, size_t len, const char *name)
{
	const char *slash = memrchr(line, '/', len);
	const char *base = slash ? slash + 1 : line;
	size_t n = strlen(name);

	return (size_t)(line + len - base) > n && !strncmp(base, name, n) &&
	       !strncmp(base + n, ".ko", 3);
}

void moddep(const char *dir, const char *const *names, moddep_fn *fn, void *arg)
{
	char *path, *deps, *pos, *line;
	size_t len;

	path = xasprintf("%s/modules.dep", dir);
	deps = read_whole_file(path, NULL);
	if (!deps)
		die("cannot read '%s': %s; run depmod for that folder", path,
		    strerror(errno));
	for (; *names; names++)
		for (pos = deps; *pos; pos += len + (pos[len] == '\n')) {
			len = strcspn(pos, "\n");
			if (!is_module(pos, strcspn(pos, ":\n"), *names))
				continue;
			line = strndup(pos, len);
			tell_line(line, fn, arg);
			free(line);
		}
	free(deps);
	free(path);
}

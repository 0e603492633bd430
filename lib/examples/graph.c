// SPDX-License-Identifier: MIT
#include "graph.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_text(const char *path, char **text, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat st;
	size_t have = 0;
	ssize_t n;
	char *p;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
		goto out;
	}
	p = malloc(st.st_size + 1);
	if (!p) {
		err = -ENOMEM;
		goto out;
	}
	while (have < (size_t)st.st_size) {
		n = read(fd, p + have, st.st_size - have);
		if (n <= 0) {
			err = n ? -errno : -EIO;
			free(p);
			goto out;
		}
		have += n;
	}
	p[have] = '\0';
	*text = p;
	*size = have;
out:
	close(fd);
	return err;
}

/* ---- names to numbers: open addressing ---- */

struct table {
	uint32_t mask;
	uint32_t *slot;		/* node + 1; 0: empty */
};

static uint32_t *table_find(const struct table *t, const struct graph *g,
			    const char *name)
{
	uint32_t h = 2166136261u;
	const char *p;

	for (p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 16777619u;
	while (t->slot[h & t->mask] && strcmp(g->name[t->slot[h & t->mask] - 1], name))
		h++;
	return &t->slot[h & t->mask];
}

/* Ends names with '\0' and gives back where each line's neighbours begin. */
static char **split_lines(struct graph *g, size_t size)
{
	size_t lines = 0, i;
	char *p, *tab, *end, **rest;

	for (i = 0; i < size; i++)
		lines += g->text[i] == '\n';
	if (lines >= UINT32_MAX / 2)
		return NULL;
	g->name = calloc(lines + 2, sizeof(*g->name));
	rest = calloc(lines + 2, sizeof(*rest));
	if (!g->name || !rest) {
		free(rest);
		return NULL;
	}
	for (p = g->text; *p; p = end) {
		end = strchrnul(p, '\n');
		if (*end)
			*end++ = '\0';
		tab = strchr(p, '\t');
		if (!tab)
			continue;
		*tab = '\0';
		g->name[g->n] = p;
		rest[g->n++] = tab + 1;
	}
	return rest;
}

static size_t count_words(const char *p)
{
	size_t n = 0;

	for (; *p; p++)
		n += *p != ' ' && (p[1] == ' ' || !p[1]);
	return n;
}

static int add_edges(struct graph *g, const struct table *t, char **rest)
{
	char *save, *word;
	size_t most = 0;
	uint32_t v, *slot;

	for (v = 0; v < g->n; v++)
		most += count_words(rest[v]);
	if (most > UINT32_MAX)
		return -EFBIG;
	g->out = calloc((size_t)g->n + 1, sizeof(*g->out));
	g->to = calloc(most + 1, sizeof(*g->to));
	if (!g->out || !g->to)
		return -ENOMEM;
	for (v = 0; v < g->n; v++) {
		g->out[v] = g->edges;
		for (word = strtok_r(rest[v], " ", &save); word;
		     word = strtok_r(NULL, " ", &save)) {
			slot = table_find(t, g, word);
			if (*slot)
				g->to[g->edges++] = *slot - 1;
		}
	}
	g->out[v] = g->edges;
	return 0;
}

int graph_read(struct graph *g, const char *path)
{
	struct table t = { .mask = 1023 };
	char **rest = NULL;
	uint32_t v, *slot;
	size_t size = 0;
	int err;

	memset(g, 0, sizeof(*g));
	err = read_text(path, &g->text, &size);
	if (err)
		return err;
	err = -ENOMEM;
	rest = split_lines(g, size);
	if (!rest)
		goto out;
	err = -EINVAL;
	if (!g->n)
		goto out;
	while (t.mask < 2 * g->n)
		t.mask = 2 * t.mask + 1;
	err = -ENOMEM;
	t.slot = calloc((size_t)t.mask + 1, sizeof(*t.slot));
	if (!t.slot)
		goto out;
	for (v = 0; v < g->n; v++) {
		slot = table_find(&t, g, g->name[v]);
		if (!*slot)	/* else a second line of one name: nobody points at it */
			*slot = v + 1;
	}
	err = add_edges(g, &t, rest);
out:
	free(t.slot);
	free(rest);
	if (err)
		graph_free(g);
	return err;
}

void graph_free(struct graph *g)
{
	free(g->text);
	free(g->name);
	free(g->out);
	free(g->to);
	memset(g, 0, sizeof(*g));
}

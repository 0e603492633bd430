// SPDX-License-Identifier: GPL-2.0-only
/*
 * ubfab up, ubfab down: the fabrics that files describe.
 *
 *	fabrics:
 *	  - {transport: loop, nodes: 4, bytes: 64M}
 *	  - {transport: rdma, dev: rxe0, node: 0, peer: [0=10.9.0.1, 1=10.9.0.2]}
 *
 * An entry is "fabric add" in other words: the transport, then each key with
 * its value. What came of a file is noted in /run/ub, a device and the id of
 * its fabric on each line, so that "down" takes away nothing else.
 *
 * Invariants: a file is up as a whole or not at all; a note is written before
 * the next fabric is added; one ubfab at a time, by a lock.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "ubfab.h"

#define CONFIG_FILES	"/etc/ub/*.yaml"
#define NOTES		"/run/ub"
#define LOCK		NOTES "/.lock"
#define ID_BYTES	16
#define WORDS_MAX	160	/* of one entry: 64 peers, and all else */

/**
 * struct device - one that is there, or was when a note was written
 * @minor: N of ubfab<N>
 * @id: of its fabric
 */
struct device {
	uint32_t minor;
	unsigned char id[ID_BYTES];
};

struct devices {
	struct device *v;
	size_t n;
	bool failed;	/* out of memory */
};

static void devices_add(struct devices *d, const struct device *one)
{
	struct device *v = realloc(d->v, (d->n + 1) * sizeof(*v));

	if (!v) {
		d->failed = true;
		return;
	}
	d->v = v;
	d->v[d->n++] = *one;
}

static bool devices_have(const struct devices *d, const struct device *one)
{
	size_t i;

	for (i = 0; i < d->n; i++)
		if (d->v[i].minor == one->minor &&
		    !memcmp(d->v[i].id, one->id, ID_BYTES))
			return true;
	return false;
}

static void list_one(const struct reply *r, void *arg)
{
	struct device one = { .minor = reply_u32(r, UB_NL_A_FABRIC) };

	if (r->a[UB_NL_A_FABRIC_ID] &&
	    nla_len(r->a[UB_NL_A_FABRIC_ID]) == ID_BYTES) {
		memcpy(one.id, nla_data(r->a[UB_NL_A_FABRIC_ID]), ID_BYTES);
		devices_add(arg, &one);
	}
}

/* What is there now. */
static int devices_list(struct devices *d)
{
	int err;

	*d = (struct devices){ 0 };
	err = ubnl_dump(ubnl_request(UB_NL_CMD_FABRIC_GET), "fabrics", list_one, d);
	if (!err && d->failed)
		err = say("out of memory");
	if (err)
		free(d->v);
	return err;
}

/* ---- notes ---- */

/* The path with '!' for '/', in NOTES; a file that is gone keeps its name. */
static int note_path(const char *file, char path[PATH_MAX])
{
	char full[PATH_MAX];
	size_t at = strlen(NOTES) + 1, i;

	if (!realpath(file, full)) {
		if (*file != '/')
			return say("%s: %s", file, strerror(errno));
		snprintf(full, sizeof(full), "%s", file);
	}
	if ((size_t)snprintf(path, PATH_MAX, NOTES "/%s", full + 1) >= PATH_MAX)
		return say("%s: the name is too long", file);
	for (i = at; path[i]; i++)
		if (path[i] == '/')
			path[i] = '!';
	return 0;
}

static int note_read(const char *path, struct devices *d)
{
	char line[128];
	FILE *f = fopen(path, "re");

	*d = (struct devices){ 0 };
	if (!f)
		return errno == ENOENT ? 0 : say("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		struct device one;
		int at = 0, i;

		if (sscanf(line, "ubfab%u %n", &one.minor, &at) != 1 || !at)
			continue;
		for (i = 0; i < ID_BYTES; i++, at += 2)
			if (sscanf(line + at, "%2hhx", &one.id[i]) != 1)
				break;
		if (i == ID_BYTES)
			devices_add(d, &one);
	}
	fclose(f);
	return d->failed ? say("out of memory") : 0;
}

/* Those of @now that were not there @before. */
static int note_add(const char *path, const struct devices *before,
		    const struct devices *now)
{
	FILE *f = fopen(path, "ae");
	bool failed;
	size_t i;
	int b;

	if (!f)
		return say("%s: %s", path, strerror(errno));
	for (i = 0; i < now->n; i++) {
		if (devices_have(before, &now->v[i]))
			continue;
		fprintf(f, "ubfab%u ", now->v[i].minor);
		for (b = 0; b < ID_BYTES; b++)
			fprintf(f, "%02x", now->v[i].id[b]);
		fputc('\n', f);
	}
	failed = ferror(f);
	failed |= fclose(f) != 0;
	return failed ? say("%s: %s", path, strerror(errno)) : 0;
}

/* ---- the file ---- */

struct config {
	const char *path;
	yaml_document_t doc;
	const yaml_node_t *list;	/* of fabrics */
};

static int complain(const struct config *c, const yaml_node_t *n, const char *text)
{
	return say("%s:%zu: %s", c->path, n->start_mark.line + 1, text);
}

static char *scalar(const yaml_node_t *n)
{
	return n && n->type == YAML_SCALAR_NODE ? (char *)n->data.scalar.value :
	       NULL;
}

/* Values of a key into @words, from @count on: new count, or -1 when none fit. */
static int value_words(struct config *c, const yaml_node_t *n, bool list,
		       char **words, int count)
{
	const yaml_node_item_t *it;
	char *word = scalar(n);

	if (word && *word && count < WORDS_MAX) {
		words[count] = word;
		return count + 1;
	}
	if (word || !list || !n || n->type != YAML_SEQUENCE_NODE)
		return -1;
	for (it = n->data.sequence.items.start;
	     count > 0 && it < n->data.sequence.items.top; it++)
		count = value_words(c, yaml_document_get_node(&c->doc, *it), false,
				    words, count);
	return count;
}

/* The words of "fabric add" for an entry. */
static int entry_words(struct config *c, const yaml_node_t *n,
		       char *words[WORDS_MAX + 1])
{
	const yaml_node_pair_t *p;
	int count = 2;

	words[0] = (char *)"add";
	words[1] = NULL;
	if (n->type != YAML_MAPPING_NODE)
		return complain(c, n, "a fabric looks like {transport: loop, nodes: 4}");
	for (p = n->data.mapping.pairs.start; p < n->data.mapping.pairs.top; p++) {
		char *key = scalar(yaml_document_get_node(&c->doc, p->key));
		const yaml_node_t *value = yaml_document_get_node(&c->doc, p->value);

		if (!key || !*key)
			return complain(c, n, "each key of a fabric has one value");
		if (!strcmp(key, "transport") && scalar(value)) {
			words[1] = scalar(value);
			continue;
		}
		if (count == WORDS_MAX)
			return complain(c, n, "too many keys");
		words[count++] = key;
		count = value_words(c, value, !strcmp(key, "peer"), words, count);
		if (count < 0)
			return complain(c, n, "each key of a fabric has one value, but peer a list");
	}
	words[count] = NULL;
	return words[1] ? 0 : complain(c, n, "a fabric needs transport, as in {transport: loop, nodes: 4}");
}

static int find_list(struct config *c)
{
	const yaml_node_t *top = yaml_document_get_root_node(&c->doc);
	char *words[WORDS_MAX + 1];
	const yaml_node_item_t *it;
	const yaml_node_pair_t *p;
	int err = 0;

	if (!top)
		return say("%s: the file is empty; it needs fabrics", c->path);
	if (top->type != YAML_MAPPING_NODE)
		return complain(c, top, "a file has fabrics, a list");
	for (p = top->data.mapping.pairs.start; p < top->data.mapping.pairs.top; p++) {
		const yaml_node_t *k = yaml_document_get_node(&c->doc, p->key);

		if (!scalar(k) || strcmp(scalar(k), "fabrics"))
			return complain(c, k, "a file has nothing but fabrics");
		c->list = yaml_document_get_node(&c->doc, p->value);
	}
	if (!c->list || c->list->type != YAML_SEQUENCE_NODE)
		return complain(c, c->list ? c->list : top, "fabrics is a list");
	/* Nothing is added of a file that is wrong further down. */
	for (it = c->list->data.sequence.items.start;
	     !err && it < c->list->data.sequence.items.top; it++)
		err = entry_words(c, yaml_document_get_node(&c->doc, *it), words);
	return err;
}

static int config_read(struct config *c, const char *path)
{
	yaml_parser_t parser;
	FILE *f = fopen(path, "re");
	int err = 0;

	*c = (struct config){ .path = path };
	if (!f)
		return say("%s: %s", path, strerror(errno));
	if (!yaml_parser_initialize(&parser)) {
		fclose(f);
		return say("out of memory");
	}
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &c->doc)) {
		err = say("%s:%zu: no YAML: %s", path, parser.problem_mark.line + 1,
			  parser.problem ? parser.problem : "cannot be read");
	} else {
		err = find_list(c);
		if (err)
			yaml_document_delete(&c->doc);
	}
	yaml_parser_delete(&parser);
	fclose(f);
	return err;
}

/* ---- up and down ---- */

/* Delete what the note names and is still there; then the note. */
static int take_down(const char *note)
{
	struct devices was, now;
	size_t i;
	int err = note_read(note, &was);

	for (i = 0; !err && i < was.n; i++) {
		char name[32], *words[] = { (char *)"delete", name, NULL };

		err = devices_list(&now);
		if (err)
			break;
		snprintf(name, sizeof(name), "ubfab%u", was.v[i].minor);
		if (devices_have(&now, &was.v[i]))
			err = do_fabric(&(struct args){ .v = words });
		free(now.v);
	}
	free(was.v);
	if (!err && unlink(note) && errno != ENOENT)
		err = say("%s: %s", note, strerror(errno));
	return err;
}

/* Is something of the note still there? */
static int is_up(const char *note, bool *up)
{
	struct devices was, now;
	size_t i;
	int err = note_read(note, &was);

	*up = false;
	if (!err && was.n) {
		err = devices_list(&now);
		for (i = 0; !err && i < was.n; i++)
			*up |= devices_have(&now, &was.v[i]);
		if (!err)
			free(now.v);
	}
	free(was.v);
	return err;
}

static int add_entry(struct config *c, const yaml_node_t *n, const char *note)
{
	char *words[WORDS_MAX + 1];
	struct devices before, now;
	int err = entry_words(c, n, words) ?: devices_list(&before);

	if (err)
		return err;
	err = do_fabric(&(struct args){ .v = words });
	if (err) {
		complain(c, n, "this fabric was not added");
	} else {
		err = devices_list(&now);
		if (!err) {
			err = note_add(note, &before, &now);
			free(now.v);
		}
	}
	free(before.v);
	return err;
}

static int file_up(const char *file)
{
	const yaml_node_item_t *it;
	char note[PATH_MAX];
	struct config c;
	bool up;
	int err = note_path(file, note) ?: is_up(note, &up);

	if (err)
		return err;
	if (up) {
		say("%s: is up already", file);
		return 0;
	}
	unlink(note);
	err = config_read(&c, file);
	if (err)
		return err;
	for (it = c.list->data.sequence.items.start;
	     !err && it < c.list->data.sequence.items.top; it++)
		err = add_entry(&c, yaml_document_get_node(&c.doc, *it), note);
	if (err)
		take_down(note);
	yaml_document_delete(&c.doc);
	return err;
}

static int file_down(const char *file)
{
	char note[PATH_MAX];
	int err = note_path(file, note);

	if (err)
		return err;
	if (access(note, F_OK)) {
		say("%s: is not up", file);
		return 0;
	}
	return take_down(note);
}

/* One ubfab at a time; the lock ends with the process. */
static int lock_notes(void)
{
	int fd;

	if (mkdir(NOTES, 0755) && errno != EEXIST)
		return say(NOTES ": %s", strerror(errno));
	fd = open(LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX))
		return say(LOCK ": %s", strerror(errno));
	return 0;
}

/* @each for the words, or when there is none for what matches @pattern. */
static int for_files(struct args *a, const char *pattern,
		     int (*each)(const char *))
{
	const char *word;
	int err = lock_notes(), worst = 0;
	glob_t g;
	size_t i;

	if (err)
		return err;
	if (*a->v) {
		while ((word = args_next(a))) {
			err = each(word);
			worst = err > worst ? err : worst;
		}
		return worst;
	}
	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++) {
		err = each(g.gl_pathv[i]);
		worst = err > worst ? err : worst;
	}
	globfree(&g);
	return worst;
}

int do_up(struct args *a)
{
	return for_files(a, CONFIG_FILES, file_up);
}

int do_down(struct args *a)
{
	/* All that is up, also of files that are gone. */
	return for_files(a, NOTES "/*", *a->v ? file_down : take_down);
}

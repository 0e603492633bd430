// SPDX-License-Identifier: GPL-2.0-only
/*
 * A command and its environment: from the caller's side, and packed for the
 * standing rig or the guest (see UBRIG_EXEC in proto.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "proto.h"

static uint32_t count_strings(const struct buf *b)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < b->len; i++)
		n += !b->data[i];
	return n;
}

void command_pack(const struct command *c, struct buf *out)
{
	uint32_t argc = 0, i;

	while (c->argv[argc])
		argc++;
	buf_u32(out, argc);
	buf_u32(out, count_strings(&c->env));
	buf_str(out, c->cwd);
	for (i = 0; i < argc; i++)
		buf_str(out, c->argv[i]);
	buf_add(out, c->env.data, c->env.len);
}

static bool wins_over_caller(const struct opts *o, const char *var)
{
	return (o->lanes && !strncmp(var, "UB_LANES=", 9)) ||
	       (o->machine && !strncmp(var, "UB_MACHINE=", 11)) ||
	       !strncmp(var, "UB_CACHE=", 9);
}

void command_from_opts(struct command *c, const struct opts *o)
{
	const char *path = getenv("PATH");
	struct buf packed = { 0 };
	char *s;
	int i;

	memset(c, 0, sizeof(*c));
	c->cwd = getcwd(NULL, 0);
	if (!c->cwd)
		die("the current folder is gone: %s", strerror(errno));
	c->argv = xcalloc(o->argc + 1, sizeof(*c->argv));
	for (i = 0; i < o->argc; i++)
		c->argv[i] = xstrdup(o->argv[i]);
	s = xasprintf("PATH=%s%s/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		      path && *path ? path : "", path && *path ? ":" : "");
	buf_str(&c->env, s);
	free(s);
	for (i = 0; environ[i]; i++)
		if (!strncmp(environ[i], "UB_", 3) &&
		    !wins_over_caller(o, environ[i]))
			buf_str(&c->env, environ[i]);
	for (i = 0; i < o->nenv; i++)
		buf_str(&c->env, o->env[i]);
	/* Half of a frame is left for what the rig adds. */
	command_pack(c, &packed);
	if (packed.len > UBRIG_FRAME_MAX / 2)
		die("the command and its environment are too long: at most %u bytes",
		    UBRIG_FRAME_MAX / 2);
	buf_free(&packed);
}

bool command_unpack(struct command *c, const char *buf, size_t len)
{
	const char *pos = buf + 8, *end = buf + len;
	uint32_t argc, envc, i;

	memset(c, 0, sizeof(*c));
	if (len < 9 || end[-1])
		return false;
	argc = get_le32(buf);
	envc = get_le32(buf + 4);
	if (!argc || argc > len || envc > len)
		return false;
	c->cwd = xstrdup(pos);
	pos += strlen(pos) + 1;
	c->argv = xcalloc(argc + 1, sizeof(*c->argv));
	for (i = 0; i < argc && pos < end; i++, pos += strlen(pos) + 1)
		c->argv[i] = xstrdup(pos);
	if (i < argc) {
		command_free(c);
		return false;
	}
	for (i = 0; i < envc && pos < end; i++, pos += strlen(pos) + 1)
		buf_str(&c->env, pos);
	return true;
}

void command_free(struct command *c)
{
	int i;

	for (i = 0; c->argv && c->argv[i]; i++)
		free(c->argv[i]);
	free(c->argv);
	free(c->cwd);
	buf_free(&c->env);
	memset(c, 0, sizeof(*c));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verbs that talk to a standing rig: one request, then what comes back is
 * printed until the rig says it is done.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chan.h"
#include "control.h"
#include "job.h"
#include "output.h"
#include "proto.h"
#include "verbs.h"

struct request {
	struct chan chan;
	struct opts *o;
	int code;
};

static void frame(void *arg, uint32_t type, uint32_t id, const char *buf,
		  uint32_t len)
{
	struct request *q = arg;

	if (id >= MAX_NODES)
		return;
	switch (type) {
	case UBRIG_STDOUT:
	case UBRIG_STDERR:
		output_feed(id, type == UBRIG_STDERR, buf, len);
		break;
	case UBRIG_EXIT:
		output_end(id);
		if (q->o->verbose && len >= 4)
			say("n%u: ended with %u", id, get_le32(buf));
		break;
	case UBRIG_CTL_TEXT:
		fwrite(buf, 1, len, stdout);
		break;
	case UBRIG_CTL_INFO:
		say("%.*s", (int)len, buf);
		break;
	case UBRIG_CTL_DONE:
		q->code = len >= 4 ? (int)get_le32(buf) : EXIT_RIG;
		loop_stop();
		break;
	}
}

static void closed(void *arg)
{
	struct request *q = arg;

	say("the rig '%s' ended", q->o->name);
	loop_stop();
}

static void send_exec(struct request *q, const char *target)
{
	struct command cmd;
	struct buf b = { 0 };
	char timeout[32];

	command_from_opts(&cmd, q->o);
	snprintf(timeout, sizeof(timeout), "%g", q->o->timeout);
	buf_str(&b, target);
	buf_str(&b, timeout);
	command_pack(&cmd, &b);
	chan_send(&q->chan, UBRIG_CTL_EXEC, 0, b.data, b.len);
	buf_free(&b);
	command_free(&cmd);
}

int client_verb(struct opts *o)
{
	struct request q = {
		.chan = { .frame = frame, .closed = closed, .arg = &q },
		.o = o,
		.code = EXIT_RIG,
	};
	const char *target = o->nwords ? o->words[0] : "all";
	struct buf b = { 0 };
	bool one;
	int fd;

	fd = control_connect(o->name);
	if (fd < 0 && errno == ECONNREFUSED)
		die("no rig named '%s' is up: start one with 'ubrig up --name %s'",
		    o->name, o->name);
	if (fd < 0)
		die("cannot reach the rig '%s': %s", o->name, strerror(errno));
	one = strcmp(o->verb, "exec") ||
	      (strcmp(target, "all") && !strchr(target, ','));
	output_init(MAX_NODES, o->tag < 0 ? !one : o->tag);
	chan_open(&q.chan, fd);
	if (!strcmp(o->verb, "exec")) {
		send_exec(&q, target);
	} else {
		buf_str(&b, o->verb);
		buf_str(&b, o->json ? "json" : target);
		if (o->nwords > 1)
			buf_str(&b, o->words[1]);
		chan_send(&q.chan, UBRIG_CTL_OP, 0, b.data, b.len);
		buf_free(&b);
	}
	loop_run();
	return q.code;
}

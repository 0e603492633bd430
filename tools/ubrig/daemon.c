// SPDX-License-Identifier: GPL-2.0-only
/*
 * The standing rig: serves its clients until one says "down".
 *
 * Invariants: a client's request is answered by one UBRIG_CTL_DONE, at once or
 * when what it asked for has happened. A client that goes away takes its
 * command with it. A node's death is remembered, and ends nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "job.h"
#include "proto.h"
#include "verbs.h"

enum wait_for { WAIT_NOTHING, WAIT_DEATH, WAIT_BOOT, WAIT_MONITOR };

struct client {
	struct daemon *d;
	struct chan chan;
	struct job *job;
	enum wait_for wait;
	struct node *node;	/* that we wait for */
	struct client *next;
};

struct daemon {
	struct rig rig;
	int listener, ready_fd;
	struct client *clients;
};

static void done(struct client *c, int code)
{
	struct buf b = { 0 };

	c->wait = WAIT_NOTHING;
	buf_u32(&b, code);
	chan_send(&c->chan, UBRIG_CTL_DONE, 0, b.data, b.len);
	buf_free(&b);
}

static void info(struct client *c, const char *text)
{
	chan_send(&c->chan, UBRIG_CTL_INFO, 0, text, strlen(text));
}

static void refuse(struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void refuse(struct client *c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	info(c, text);
	done(c, EXIT_RIG);
}

/* Commands */

static void job_out(void *arg, struct node *n, bool err, const char *buf,
		    size_t len)
{
	struct client *c = arg;

	chan_send(&c->chan, err ? UBRIG_STDERR : UBRIG_STDOUT, n->index, buf,
		  len);
}

static void job_ended(void *arg, struct node *n, int code, const char *why)
{
	struct client *c = arg;
	struct buf b = { 0 };
	char *text;

	buf_u32(&b, code);
	chan_send(&c->chan, UBRIG_EXIT, n->index, b.data, b.len);
	buf_free(&b);
	if (!why)
		return;
	text = xasprintf("n%d: failed: %s", n->index, why);
	info(c, text);
	free(text);
}

static void job_say(void *arg, const char *text)
{
	info(arg, text);
}

static void job_done(void *arg, int worst)
{
	struct client *c = arg;

	c->job = NULL;
	done(c, worst);
}

static const struct job_ops job_ops = {
	.output = job_out,
	.ended = job_ended,
	.say = job_say,
	.done = job_done,
};

/* "all", or nodes separated by commas; false when it was refused. */
static bool pick_nodes(struct client *c, const char *target, bool *on)
{
	struct rig *r = &c->d->rig;
	char *copy = xstrdup(target), *word, *save = NULL, *text;
	bool all = !strcmp(target, "all"), any = false;
	struct node *n;
	int i;

	for (i = 0; i < r->n && all; i++) {
		on[i] = r->node[i].state == NODE_READY;
		any |= on[i];
		if (on[i])
			continue;
		text = xasprintf("n%d is %s: left out", i,
				 node_state_name(&r->node[i]));
		info(c, text);
		free(text);
	}
	for (word = strtok_r(copy, ",", &save); word && !all;
	     word = strtok_r(NULL, ",", &save)) {
		n = rig_find(r, word);
		if (!n || n->state != NODE_READY) {
			if (n)
				refuse(c, "n%d is %s: 'ubrig boot %d' starts it",
				       n->index, node_state_name(n), n->index);
			else
				refuse(c, "there is no node '%s': they are 0 to %d",
				       word, r->n - 1);
			free(copy);
			return false;
		}
		on[n->index] = any = true;
	}
	free(copy);
	if (!any)
		refuse(c, "no node can run a command (see 'ubrig status')");
	return any;
}

static void ctl_exec(struct client *c, const char *buf, uint32_t len)
{
	const char *end = buf + len, *target = buf, *timeout;
	bool on[MAX_NODES] = { false };
	struct command cmd;

	if (!len || end[-1] || c->job || c->wait) {
		refuse(c, "bad request");
		return;
	}
	timeout = target + strlen(target) + 1;
	buf = timeout < end ? timeout + strlen(timeout) + 1 : end;
	if (buf >= end || !command_unpack(&cmd, buf, end - buf)) {
		refuse(c, "bad request");
		return;
	}
	if (pick_nodes(c, target, on))
		c->job = job_start(&c->d->rig, on, &cmd, UBRIG_EXEC_FRESH,
				   atof(timeout), &job_ops, c);
	command_free(&cmd);
}

/* Verbs on a node */

static void op_kill(struct client *c, struct node *n)
{
	if (!n->pid) {
		refuse(c, "n%d is %s already", n->index, node_state_name(n));
		return;
	}
	c->wait = WAIT_DEATH;
	c->node = n;
	node_kill(n);
}

static void op_boot(struct client *c, struct node *n)
{
	if (n->pid) {
		refuse(c, "n%d is %s: 'ubrig kill %d' ends it first", n->index,
		       node_state_name(n), n->index);
		return;
	}
	node_boot(n);
	c->wait = WAIT_BOOT;
	c->node = n;
}

/* The client may be gone by now: find who waits for this node's monitor. */
static void monitor_done(struct node *n, const char *error)
{
	struct daemon *d = n->rig->arg;
	struct client *c;

	for (c = d->clients; c; c = c->next)
		if (c->wait == WAIT_MONITOR && c->node == n) {
			if (error)
				refuse(c, "n%d: QEMU says: %s", n->index, error);
			else
				done(c, 0);
		}
}

static void stop_done(void *arg, const char *error)
{
	struct node *n = arg;

	n->paused = !error;
	monitor_done(n, error);
}

static void cont_done(void *arg, const char *error)
{
	struct node *n = arg;

	n->paused = n->paused && error;
	monitor_done(n, error);
}

static void op_pause(struct client *c, struct node *n)
{
	if (!n->pid || n->paused || n->frozen) {
		refuse(c, "n%d is %s", n->index, node_state_name(n));
		return;
	}
	c->wait = WAIT_MONITOR;
	c->node = n;
	qmp_run(&n->qmp, "stop", stop_done, n);
}

static void op_freeze(struct client *c, struct node *n)
{
	if (!n->pid || n->frozen) {
		refuse(c, "n%d is %s", n->index, node_state_name(n));
		return;
	}
	node_freeze(n);
	done(c, 0);
}

static void op_resume(struct client *c, struct node *n)
{
	if (!n->paused && !n->frozen) {
		refuse(c, "n%d is %s, neither paused nor frozen", n->index,
		       node_state_name(n));
		return;
	}
	if (n->frozen)
		node_thaw(n);
	if (!n->paused) {
		done(c, 0);
		return;
	}
	c->wait = WAIT_MONITOR;
	c->node = n;
	qmp_run(&n->qmp, "cont", cont_done, n);
}

static void op_dmesg(struct client *c, struct node *n)
{
	char *argv[] = { "dmesg", NULL };
	struct command cmd = { .cwd = "/", .argv = argv };
	bool on[MAX_NODES] = { false };
	size_t pos, len;

	if (n->state == NODE_READY && !n->paused && !n->frozen) {
		buf_str(&cmd.env, "PATH=/usr/sbin:/usr/bin:/sbin:/bin");
		on[n->index] = true;
		c->job = job_start(&c->d->rig, on, &cmd, 0, 0, &job_ops, c);
		buf_free(&cmd.env);
		return;
	}
	for (pos = 0; pos < n->con.tail.len; pos += len) {
		len = n->con.tail.len - pos;
		if (len > UBRIG_CHUNK)
			len = UBRIG_CHUNK;
		chan_send(&c->chan, UBRIG_CTL_TEXT, 0, n->con.tail.data + pos,
			  len);
	}
	done(c, 0);
}

static int64_t age_ms(const struct node *n)
{
	return n->pid ? (now_ns() - n->born) / 1000000 : 0;
}

static void status_json(struct rig *r, struct buf *b)
{
	struct json_object *top = json_object_new_object();
	struct json_object *list = json_object_new_array(), *o;
	int i;

#define ADD(obj, key, type, value) \
	json_object_object_add(obj, key, json_object_new_##type(value))
	ADD(top, "name", string, r->opts->name);
	ADD(top, "accel", string, r->accel);
	ADD(top, "kernel", string, r->kernel.image);
	ADD(top, "bar", int64, r->ivshmem.size);
	for (i = 0; i < r->n; i++) {
		const struct node *n = &r->node[i];

		o = json_object_new_object();
		ADD(o, "index", int, i);
		ADD(o, "node", int64, n->id);
		ADD(o, "state", string, node_state_name(n));
		ADD(o, "pid", int, n->pid);
		ADD(o, "age_ms", int64, age_ms(n));
		ADD(o, "boots", int, n->boots);
		ADD(o, "splats", int, n->con.splats);
		if (!n->pid)
			ADD(o, "why", string, n->why);
		json_object_array_add(list, o);
	}
#undef ADD
	json_object_object_add(top, "nodes", list);
	buf_printf(b, "%s\n",
		   json_object_to_json_string_ext(top,
					JSON_C_TO_STRING_PRETTY |
					JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

static void status_text(struct rig *r, struct buf *b)
{
	int i;

	buf_printf(b, "rig '%s': %d nodes by %s, %llu MiB shared\n",
		   r->opts->name, r->n, r->accel,
		   (unsigned long long)r->ivshmem.size >> 20);
	for (i = 0; i < r->n; i++) {
		const struct node *n = &r->node[i];

		buf_printf(b, "n%d  node %u  %-8s", i, n->id,
			   node_state_name(n));
		if (n->pid)
			buf_printf(b, "  pid %d  %lld s", n->pid,
				   (long long)age_ms(n) / 1000);
		else
			buf_printf(b, "  (%s)", n->why);
		if (n->boots > 1)
			buf_printf(b, "  boot %d", n->boots);
		if (n->con.splats)
			buf_printf(b, "  %d SPLATS", n->con.splats);
		buf_printf(b, "\n");
	}
}

static void op_status(struct client *c, bool json)
{
	struct buf b = { 0 };

	if (json)
		status_json(&c->d->rig, &b);
	else
		status_text(&c->d->rig, &b);
	chan_send(&c->chan, UBRIG_CTL_TEXT, 0, b.data, b.len);
	buf_free(&b);
	done(c, 0);
}

static const struct {
	const char *verb;
	void (*run)(struct client *c, struct node *n);
} node_ops[] = {
	{ "kill", op_kill },
	{ "boot", op_boot },
	{ "pause", op_pause },
	{ "freeze", op_freeze },
	{ "resume", op_resume },
	{ "dmesg", op_dmesg },
};

static void ctl_op(struct client *c, const char *buf, uint32_t len)
{
	const char *verb = buf, *arg;
	struct node *n;
	size_t i;

	if (!len || buf[len - 1] || c->job || c->wait) {
		refuse(c, "bad request");
		return;
	}
	arg = strlen(verb) + 1 < len ? verb + strlen(verb) + 1 : "";
	if (!strcmp(verb, "status")) {
		op_status(c, !strcmp(arg, "json"));
		return;
	}
	if (!strcmp(verb, "down")) {
		rig_kill_all(&c->d->rig);
		/* The name is free before the client returns. */
		loop_del(c->d->listener);
		close(c->d->listener);
		done(c, 0);
		loop_stop();
		return;
	}
	for (i = 0; i < ARRAY_SIZE(node_ops); i++)
		if (!strcmp(node_ops[i].verb, verb))
			break;
	n = rig_find(&c->d->rig, arg);
	if (i == ARRAY_SIZE(node_ops))
		refuse(c, "this rig does not know '%s'", verb);
	else if (!n)
		refuse(c, "there is no node '%s': they are 0 to %d", arg,
		       c->d->rig.n - 1);
	else
		node_ops[i].run(c, n);
}

/* Clients */

static void client_frame(void *arg, uint32_t type, uint32_t id, const char *buf,
			 uint32_t len)
{
	struct client *c = arg;

	(void)id;
	if (type == UBRIG_CTL_EXEC)
		ctl_exec(c, buf, len);
	else if (type == UBRIG_CTL_OP)
		ctl_op(c, buf, len);
	else
		refuse(c, "bad request");
}

static void client_closed(void *arg)
{
	struct client *c = arg, **p;

	if (c->job)
		job_forget(c->job);
	for (p = &c->d->clients; *p != c; p = &(*p)->next)
		;
	*p = c->next;
	free(c);
}

static void new_client(void *arg, uint32_t events)
{
	struct daemon *d = arg;
	struct client *c;
	int fd;

	(void)events;
	fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (!control_trusted(fd)) {
		close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->d = d;
	c->chan.frame = client_frame;
	c->chan.closed = client_closed;
	c->chan.arg = c;
	c->next = d->clients;
	d->clients = c;
	chan_open(&c->chan, fd);
}

/* The rig */

static void tell(struct daemon *d, int code)
{
	unsigned char byte = code;

	if (d->ready_fd < 0)
		return;
	if (write(d->ready_fd, &byte, 1) != 1)
		say("whoever started this rig is gone");
	close(d->ready_fd);
	d->ready_fd = -1;
}

static void up(void *arg)
{
	struct daemon *d = arg;
	int null;

	prctl(PR_SET_PDEATHSIG, 0);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || chdir("/") || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(null, 2) < 0)
		die("cannot go into the background: %s", strerror(errno));
	close(null);
	tell(d, 0);
}

static void boot_failed(void *arg)
{
	(void)arg;
	loop_stop();
}

static void changed(void *arg, struct node *n)
{
	struct daemon *d = arg;
	struct client *c;

	for (c = d->clients; c; c = c->next) {
		if (!c->wait || c->node != n)
			continue;
		if (c->wait == WAIT_DEATH && n->state == NODE_DEAD)
			done(c, 0);
		else if (c->wait == WAIT_BOOT && n->state == NODE_READY)
			done(c, 0);
		else if (c->wait == WAIT_BOOT && n->state == NODE_DEAD)
			refuse(c, "n%d: did not come up: %s", n->index, n->why);
	}
}

static void splat(void *arg, struct node *n, const char *line)
{
	struct daemon *d = arg;
	struct client *c;
	char *text;

	text = xasprintf("n%d: kernel: %s", n->index, line);
	say("%s", text);
	for (c = d->clients; c; c = c->next)
		if (c->job)
			info(c, text);
	free(text);
}

static void note(void *arg, struct node *n, const char *text)
{
	struct daemon *d = arg;

	if (d->rig.opts->verbose || !strncmp(text, "qemu:", 5))
		say("n%d: %s", n->index, text);
}

static void signalled(void *arg, int sig)
{
	(void)arg;
	(void)sig;
	loop_stop();
}

static const struct rig_ops rig_ops = {
	.up = up,
	.boot_failed = boot_failed,
	.changed = changed,
	.splat = splat,
	.note = note,
	.signalled = signalled,
};

void daemon_serve(struct opts *o, int listener, int ready_fd)
{
	static struct daemon d;

	d.listener = listener;
	d.ready_fd = ready_fd;
	signal(SIGPIPE, SIG_IGN);
	rig_init(&d.rig, o, &rig_ops, &d);
	set_nonblock(listener);
	loop_add(listener, EPOLLIN, new_client, &d);
	rig_boot_all(&d.rig);
	loop_run();
	rig_kill_all(&d.rig);
	tell(&d, EXIT_RIG);
}

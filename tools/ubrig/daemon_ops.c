// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a client of the standing rig may ask of nodes; see daemon.h.
 *
 * Invariant: an operation that does not fit the node's state is refused, and
 * changes nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon.h"
#include "proto.h"

static void op_kill(struct client *c, struct node *n)
{
	if (!n->pid) {
		client_refuse(c, "n%d is %s already", n->index, node_state_name(n));
		return;
	}
	c->wait = WAIT_DEATH;
	c->node = n;
	node_kill(n);
}

static void op_boot(struct client *c, struct node *n)
{
	if (n->pid) {
		client_refuse(c, "n%d is %s: 'ubrig kill %d' ends it first", n->index,
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
				client_refuse(c, "n%d: QEMU says: %s", n->index, error);
			else
				client_done(c, 0);
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
		client_refuse(c, "n%d is %s", n->index, node_state_name(n));
		return;
	}
	c->wait = WAIT_MONITOR;
	c->node = n;
	qmp_run(&n->qmp, "stop", NULL, -1, stop_done, n);
}

static void op_freeze(struct client *c, struct node *n)
{
	if (!n->pid || n->frozen) {
		client_refuse(c, "n%d is %s", n->index, node_state_name(n));
		return;
	}
	node_freeze(n);
	client_done(c, 0);
}

static void op_resume(struct client *c, struct node *n)
{
	if (!n->paused && !n->frozen) {
		client_refuse(c, "n%d is %s, neither paused nor frozen", n->index,
			      node_state_name(n));
		return;
	}
	if (n->frozen)
		node_thaw(n);
	if (!n->paused) {
		client_done(c, 0);
		return;
	}
	c->wait = WAIT_MONITOR;
	c->node = n;
	qmp_run(&n->qmp, "cont", NULL, -1, cont_done, n);
}

/* The device that a plug or unplug means, or -1 when it was refused. */
static int plug_device(struct client *c, struct node *n, bool plugged)
{
	const struct opts *o = c->d->rig.opts;
	char *end;
	long i = strtol(*c->word ? c->word : "0", &end, 10);

	if (*end || i < 0 || i >= o->devices)
		client_refuse(c, "there is no device '%s': they are 0 to %d", c->word,
			      o->devices - 1);
	else if (!o->hotplug)
		client_refuse(c, "this rig has no root ports: 'ubrig up --hotplug'");
	else if (n->state != NODE_READY || n->paused || n->frozen)
		client_refuse(c, "n%d is %s", n->index, node_state_name(n));
	else if (n->plug.done)
		client_refuse(c, "n%d is plugging or unplugging another", n->index);
	else if (n->dev[i].plugged != plugged)
		client_refuse(c, "n%d: device %ld is %s already", n->index, i,
			      plugged ? "unplugged" : "plugged");
	else
		return i;
	return -1;
}

static void op_plug(struct client *c, struct node *n)
{
	int device = plug_device(c, n, false);

	if (device < 0)
		return;
	c->wait = WAIT_MONITOR;
	c->node = n;
	node_plug(n, device, monitor_done);
}

static void op_unplug(struct client *c, struct node *n)
{
	int device = plug_device(c, n, true);

	if (device < 0)
		return;
	c->wait = WAIT_MONITOR;
	c->node = n;
	node_unplug(n, device, monitor_done);
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
		c->job = job_start(&c->d->rig, on, &cmd, 0, 0, &client_job_ops, c);
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
	client_done(c, 0);
}

static void op_status(struct client *c, bool json)
{
	struct buf b = { 0 };

	status_write(&c->d->rig, json, &b);
	chan_send(&c->chan, UBRIG_CTL_TEXT, 0, b.data, b.len);
	buf_free(&b);
	client_done(c, 0);
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
	{ "plug", op_plug },
	{ "unplug", op_unplug },
};

void client_op(struct client *c, const char *buf, uint32_t len)
{
	const char *verb = buf, *end = buf + len, *arg;
	struct node *n;
	size_t i;

	if (!len || buf[len - 1] || c->job || c->wait) {
		client_refuse(c, "bad request");
		return;
	}
	arg = verb + strlen(verb) + 1 < end ? verb + strlen(verb) + 1 : "";
	c->word = *arg && arg + strlen(arg) + 1 < end ? arg + strlen(arg) + 1 : "";
	if (!strcmp(verb, "status")) {
		op_status(c, !strcmp(arg, "json"));
		return;
	}
	if (!strcmp(verb, "down")) {
		rig_kill_all(&c->d->rig);
		/* The name is free before the client returns. */
		loop_del(c->d->listener);
		close(c->d->listener);
		client_done(c, 0);
		loop_stop();
		return;
	}
	for (i = 0; i < ARRAY_SIZE(node_ops); i++)
		if (!strcmp(node_ops[i].verb, verb))
			break;
	n = rig_find(&c->d->rig, arg);
	if (i == ARRAY_SIZE(node_ops))
		client_refuse(c, "this rig does not know '%s'", verb);
	else if (!n)
		client_refuse(c, "there is no node '%s': they are 0 to %d", arg,
			      c->d->rig.n - 1);
	else
		node_ops[i].run(c, n);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The standing rig: serves its clients until one says "down"; see daemon.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "daemon.h"
#include "proto.h"
#include "verbs.h"

void client_done(struct client *c, int code)
{
	struct buf b = { 0 };

	c->wait = WAIT_NOTHING;
	buf_u32(&b, code);
	chan_send(&c->chan, UBRIG_CTL_DONE, 0, b.data, b.len);
	buf_free(&b);
}

static void vinfo(struct client *c, const char *fmt, va_list ap)
{
	char text[4096];

	vsnprintf(text, sizeof(text), fmt, ap);
	chan_send(&c->chan, UBRIG_CTL_INFO, 0, text, strlen(text));
}

void client_info(struct client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vinfo(c, fmt, ap);
	va_end(ap);
}

void client_refuse(struct client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vinfo(c, fmt, ap);
	va_end(ap);
	client_done(c, EXIT_RIG);
}

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

	buf_u32(&b, code);
	chan_send(&c->chan, UBRIG_EXIT, n->index, b.data, b.len);
	buf_free(&b);
	if (why)
		client_info(c, "n%d: failed: %s", n->index, why);
}

static void job_say(void *arg, const char *text)
{
	client_info(arg, "%s", text);
}

static void job_done(void *arg, int worst)
{
	struct client *c = arg;

	c->job = NULL;
	client_done(c, worst);
}

const struct job_ops client_job_ops = {
	.output = job_out,
	.ended = job_ended,
	.say = job_say,
	.done = job_done,
};

static void cannot_run(struct client *c, const struct node *n, const char *word)
{
	if (!n)
		client_refuse(c, "there is no node '%s': they are 0 to %d", word,
			      c->d->rig.n - 1);
	else if (n->pid)
		client_refuse(c, "n%d is booting: try again in some seconds", n->index);
	else
		client_refuse(c, "n%d is %s: 'ubrig boot %d' starts it", n->index,
			      node_state_name(n), n->index);
}

/* "all", or nodes separated by commas; false when it was refused. */
static bool pick_nodes(struct client *c, const char *target, bool *on)
{
	struct rig *r = &c->d->rig;
	char *copy = xstrdup(target), *word, *save = NULL;
	bool all = !strcmp(target, "all"), any = false;
	struct node *n;
	int i;

	for (i = 0; i < r->n && all; i++) {
		on[i] = r->node[i].state == NODE_READY;
		any |= on[i];
		if (on[i])
			continue;
		client_info(c, "n%d is %s: left out", i,
			    node_state_name(&r->node[i]));
	}
	for (word = strtok_r(copy, ",", &save); word && !all;
	     word = strtok_r(NULL, ",", &save)) {
		n = rig_find(r, word);
		if (!n || n->state != NODE_READY) {
			cannot_run(c, n, word);
			free(copy);
			return false;
		}
		on[n->index] = any = true;
	}
	free(copy);
	for (i = 0; i < r->n; i++)
		if (on[i] && (r->node[i].paused || r->node[i].frozen))
			client_info(c, "n%d is %s: its command waits for 'ubrig resume %d'",
				    i, node_state_name(&r->node[i]), i);
	if (!any)
		client_refuse(c, "no node can run a command (see 'ubrig status')");
	return any;
}

static void ctl_exec(struct client *c, const char *buf, uint32_t len)
{
	const char *end = buf + len, *target = buf, *timeout;
	bool on[MAX_NODES] = { false };
	struct command cmd;

	if (!len || end[-1] || c->job || c->wait) {
		client_refuse(c, "bad request");
		return;
	}
	timeout = target + strlen(target) + 1;
	buf = timeout < end ? timeout + strlen(timeout) + 1 : end;
	if (buf >= end || !command_unpack(&cmd, buf, end - buf)) {
		client_refuse(c, "bad request");
		return;
	}
	if (pick_nodes(c, target, on))
		c->job = job_start(&c->d->rig, on, &cmd, UBRIG_EXEC_FRESH,
				   atof(timeout), &client_job_ops, c);
	command_free(&cmd);
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
		client_op(c, buf, len);
	else
		client_refuse(c, "bad request");
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
			client_done(c, 0);
		else if (c->wait == WAIT_BOOT && n->state == NODE_READY)
			client_done(c, 0);
		else if (c->wait == WAIT_BOOT && n->state == NODE_DEAD)
			client_refuse(c, "n%d: did not come up: %s", n->index, n->why);
	}
}

static void splat(void *arg, struct node *n, const char *line)
{
	struct daemon *d = arg;
	struct client *c;

	say("n%d: kernel: %s", n->index, line);
	for (c = d->clients; c; c = c->next)
		if (c->job)
			client_info(c, "n%d: kernel: %s", n->index, line);
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

// SPDX-License-Identifier: GPL-2.0-only
/* QEMU's monitor protocol; see qmp.h. */
#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "qmp.h"

static void answer(struct qmp *q, const char *error)
{
	struct qmp_cmd *c = q->first;

	if (!c)
		return;
	q->first = c->next;
	if (c->done)
		c->done(c->arg, error);
	free(c);
}

static void event(struct qmp *q, struct json_object *msg, const char *name)
{
	struct json_object *data, *dev;

	if (!q->event)
		return;
	if (json_object_object_get_ex(msg, "data", &data) &&
	    json_object_object_get_ex(data, "device", &dev))
		q->event(q->arg, name, json_object_get_string(dev));
	else
		q->event(q->arg, name, "");
}

/* The greeting has neither "return" nor "error" nor "event". */
static void one_message(struct qmp *q, const char *line)
{
	struct json_object *msg, *e, *desc;

	msg = json_tokener_parse(line);
	if (!msg)
		return;
	if (json_object_object_get_ex(msg, "error", &e))
		answer(q, json_object_object_get_ex(e, "desc", &desc) ?
			  json_object_get_string(desc) : "unknown error");
	else if (json_object_object_get_ex(msg, "return", &e))
		answer(q, NULL);
	else if (json_object_object_get_ex(msg, "event", &e))
		event(q, msg, json_object_get_string(e));
	json_object_put(msg);
}

static void ready(void *arg, uint32_t events)
{
	struct qmp *q = arg;
	char data[4096], *nl;
	ssize_t n;

	(void)events;
	n = recv(q->fd, data, sizeof(data), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		qmp_close(q);
		return;
	}
	buf_add(&q->in, data, n);
	while (q->fd >= 0 && q->in.len &&
	       (nl = memchr(q->in.data, '\n', q->in.len))) {
		*nl = '\0';
		one_message(q, q->in.data);
		if (q->fd >= 0)
			buf_drop(&q->in, nl + 1 - q->in.data);
	}
}

void qmp_open(struct qmp *q, int fd)
{
	q->fd = fd;
	q->in.len = 0;
	set_nonblock(fd);
	loop_add(fd, EPOLLIN, ready, q);
	qmp_run(q, "qmp_capabilities", NULL, -1, NULL, NULL);
}

void qmp_run(struct qmp *q, const char *command, const char *args, int fd,
	     qmp_done_fn *done, void *arg)
{
	struct qmp_cmd *c, **p;
	char *line;

	if (q->fd < 0) {
		if (done)
			done(arg, "QEMU's monitor is gone");
		return;
	}
	line = xasprintf("{\"execute\":\"%s\",\"arguments\":%s}\n", command,
			 args ? args : "{}");
	c = xcalloc(1, sizeof(*c));
	c->done = done;
	c->arg = arg;
	for (p = &q->first; *p; p = &(*p)->next)
		;
	*p = c;
	/* Far below a socket buffer; a break shows as an event. */
	if (send_with_fd(q->fd, line, strlen(line), fd) < 0 && errno == EAGAIN)
		say("QEMU does not read its monitor");
	free(line);
}

void qmp_close(struct qmp *q)
{
	if (q->fd < 0)
		return;
	loop_del(q->fd);
	close(q->fd);
	q->fd = -1;
	buf_free(&q->in);
	while (q->first)
		answer(q, "QEMU ended");
}

// SPDX-License-Identifier: GPL-2.0-only
/* A connection that carries frames; see chan.h. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chan.h"
#include "loop.h"
#include "proto.h"

/* A peer that reads nothing may not make us grow for ever. */
#define OUT_MAX (64U << 20)

static void lost(struct chan *c)
{
	chan_close(c);
	if (c->closed)
		c->closed(c->arg);
}

/* False when the connection is broken. */
static bool flush(struct chan *c)
{
	ssize_t n;

	while (c->out.len) {
		n = send(c->fd, c->out.data, c->out.len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		buf_drop(&c->out, n);
	}
	return true;
}

static void receive(struct chan *c)
{
	static char data[262144];
	struct ubrig_frame f;
	size_t pos = 0, len;
	ssize_t n;

	n = recv(c->fd, data, sizeof(data), 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		lost(c);
		return;
	}
	buf_add(&c->in, data, n);
	while (c->fd >= 0 && c->in.len - pos >= sizeof(f)) {
		memcpy(&f, c->in.data + pos, sizeof(f));
		len = le32toh(f.len);
		if (len > UBRIG_FRAME_MAX) {
			lost(c);
			return;
		}
		if (c->in.len - pos < sizeof(f) + len)
			break;
		c->frame(c->arg, le32toh(f.type), le32toh(f.id),
			 c->in.data + pos + sizeof(f), len);
		pos += sizeof(f) + len;
	}
	if (c->fd >= 0)
		buf_drop(&c->in, pos);
}

static void ready(void *arg, uint32_t events)
{
	struct chan *c = arg;

	if (events & EPOLLOUT) {
		if (!flush(c)) {
			lost(c);
			return;
		}
		if (!c->out.len)
			loop_events(c->fd, EPOLLIN);
	}
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		receive(c);
}

void chan_open(struct chan *c, int fd)
{
	c->fd = fd;
	c->in.len = 0;
	c->out.len = 0;
	set_nonblock(fd);
	loop_add(fd, EPOLLIN, ready, c);
}

void chan_send(struct chan *c, uint32_t type, uint32_t id, const void *buf,
	       uint32_t len)
{
	struct ubrig_frame f = {
		.len = htole32(len),
		.type = htole32(type),
		.id = htole32(id),
	};
	bool was_empty = !c->out.len;

	if (c->fd < 0)
		return;
	if (c->out.len > OUT_MAX) {
		shutdown(c->fd, SHUT_RDWR);
		return;
	}
	buf_add(&c->out, &f, sizeof(f));
	buf_add(&c->out, buf, len);
	if (!was_empty)
		return;
	/* A break shows as an event, which then calls @closed. */
	flush(c);
	if (c->out.len)
		loop_events(c->fd, EPOLLIN | EPOLLOUT);
}

void chan_close(struct chan *c)
{
	if (c->fd < 0)
		return;
	loop_del(c->fd);
	close(c->fd);
	c->fd = -1;
	buf_free(&c->in);
	buf_free(&c->out);
}

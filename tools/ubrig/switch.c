// SPDX-License-Identifier: GPL-2.0-only
/*
 * The network of a rig: an Ethernet switch inside ubrig. Each QEMU has one end of
 * a socket pair, of which a packet is a frame, so the host's own network is not
 * touched and nothing has a name.
 *
 * Invariants: the last byte of a node's MAC address is its port, so the switch
 * learns nothing; a frame for anybody else goes to all other ports. What a port
 * cannot take at once waits, in order, up to OUT_MAX bytes; then frames are lost,
 * as in any switch.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "loop.h"
#include "switch.h"

#define FRAME_MAX	65536
#define FRAMES_AT_ONCE	64
#define OUT_MAX		(8U << 20)
#define SOCKET_BUFFER	(1 << 20)

static const unsigned char mac_prefix[] = { 0x52, 0x54, 0x00, 0x55, 0x42 };

void switch_mac(int port, char mac[18])
{
	snprintf(mac, 18, "52:54:00:55:42:%02x", port);
}

void switch_init(struct net_switch *s)
{
	int i;

	for (i = 0; i < SWITCH_PORTS; i++) {
		memset(&s->port[i], 0, sizeof(s->port[i]));
		s->port[i].sw = s;
		s->port[i].fd = -1;
	}
}

/* 0 sent, 1 later, -1 the other end is gone */
static int put(struct switch_port *p, const void *frame, size_t len)
{
	if (send(p->fd, frame, len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
		return 0;
	return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 1 : -1;
}

static void deliver(struct switch_port *p, const void *frame, size_t len)
{
	if (p->fd < 0 || (!p->out.len && put(p, frame, len) <= 0))
		return;
	if (p->out.len + len > OUT_MAX)
		return;
	if (!p->out.len)
		loop_events(p->fd, EPOLLIN | EPOLLOUT);
	buf_u32(&p->out, len);
	buf_add(&p->out, frame, len);
}

static void forward(struct switch_port *from, const unsigned char *frame, size_t len)
{
	struct net_switch *s = from->sw;
	int i;

	if (len < 14)
		return;
	if (!memcmp(frame, mac_prefix, sizeof(mac_prefix)) &&
	    frame[5] < SWITCH_PORTS) {
		deliver(&s->port[frame[5]], frame, len);
		return;
	}
	for (i = 0; i < SWITCH_PORTS; i++)
		if (&s->port[i] != from)
			deliver(&s->port[i], frame, len);
}

static void drain(struct switch_port *p)
{
	size_t pos = 0, len;

	while (pos < p->out.len) {
		len = get_le32(p->out.data + pos);
		if (put(p, p->out.data + pos + 4, len) > 0)
			break;
		pos += 4 + len;
	}
	buf_drop(&p->out, pos);
	if (!p->out.len)
		loop_events(p->fd, EPOLLIN);
}

static void unplug(struct switch_port *p)
{
	if (p->fd < 0)
		return;
	loop_del(p->fd);
	close(p->fd);
	p->fd = -1;
	buf_free(&p->out);
}

static void ready(void *arg, uint32_t events)
{
	static unsigned char frame[FRAME_MAX];
	struct switch_port *p = arg;
	ssize_t n;
	int i;

	if (events & EPOLLOUT)
		drain(p);
	for (i = 0; i < FRAMES_AT_ONCE; i++) {
		n = recv(p->fd, frame, sizeof(frame), MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			unplug(p);	/* QEMU ended */
			return;
		}
		forward(p, frame, n);
	}
}

static void enlarge(int fd)
{
	int bytes = SOCKET_BUFFER;

	/* As far as the system allows. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

int switch_plug(struct net_switch *s, int port)
{
	struct switch_port *p = &s->port[port];
	int fd[2];

	unplug(p);
	/* Frames stay whole, and the sender's buffer counts bytes, not frames. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
		die("socketpair: %s; raise 'ulimit -n'", strerror(errno));
	enlarge(fd[0]);
	enlarge(fd[1]);
	p->fd = fd[0];
	loop_add(p->fd, EPOLLIN, ready, p);
	return fd[1];
}

void switch_unplug(struct net_switch *s, int port)
{
	unplug(&s->port[port]);
}

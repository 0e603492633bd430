// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server side of ivshmem-doorbell; see ivshmem_server.h, and for the
 * protocol "Device Specification for Inter-VM shared memory device" in QEMU.
 *
 * To a new peer: version, its id, -1 with the memory, then for every peer,
 * itself last, the id with one eventfd per vector. To the others: the new id
 * with its eventfds; at the end the id without any.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ivshmem_server.h"
#include "loop.h"
#include "util.h"

#define PROTOCOL_VERSION 0

static int send_one(int sock, int64_t value, int fd)
{
	int64_t le = htole64(value);

	return send_with_fd(sock, &le, sizeof(le), fd) == sizeof(le) ? 0 : -1;
}

/* A peer that reads nothing (stopped) misses notices; it is told of it. */
static void notify(struct ivshmem_peer *to, int64_t id, int fd)
{
	if (send_one(to->fd, id, fd) && errno != EPIPE && errno != ECONNRESET)
		say("ivshmem peer %lld missed a notice: %s", (long long)to->id,
		    strerror(errno));
}

static void introduce(struct ivshmem_peer *who, struct ivshmem_peer *to)
{
	int v;

	for (v = 0; v < IVSHMEM_VECTORS; v++)
		notify(to, who->id, who->vector[v]);
}

void ivshmem_init(struct ivshmem *s, uint64_t size)
{
	memset(s, 0, sizeof(*s));
	s->size = size;
	s->memfd = memfd_create("ubrig-bar", MFD_CLOEXEC);
	if (s->memfd < 0)
		die("memfd_create: %s", strerror(errno));
	if (ftruncate(s->memfd, size))
		die("cannot make a shared memory of %llu bytes: %s",
		    (unsigned long long)size, strerror(errno));
}

/* A client sends nothing: what can be read is the end. */
static void ready(void *arg, uint32_t events)
{
	struct ivshmem_peer *p = arg;
	char c;

	(void)events;
	if (recv(p->fd, &c, 1, MSG_DONTWAIT) > 0)
		return;
	ivshmem_leave(p->server, p->id);
}

int ivshmem_join(struct ivshmem *s, int64_t *id)
{
	struct ivshmem_peer *p = xcalloc(1, sizeof(*p)), *q;
	int pair[2], v;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("socketpair: %s", strerror(errno));
	p->server = s;
	p->fd = pair[0];
	p->id = s->next_id++;
	for (v = 0; v < IVSHMEM_VECTORS; v++) {
		p->vector[v] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (p->vector[v] < 0)
			die("eventfd: %s", strerror(errno));
	}
	set_nonblock(p->fd);
	notify(p, PROTOCOL_VERSION, -1);
	notify(p, p->id, -1);
	notify(p, -1, s->memfd);
	for (q = s->peers; q; q = q->next) {
		introduce(p, q);
		introduce(q, p);
	}
	introduce(p, p);
	p->next = s->peers;
	s->peers = p;
	loop_add(p->fd, EPOLLIN, ready, p);
	*id = p->id;
	return pair[1];
}

void ivshmem_leave(struct ivshmem *s, int64_t id)
{
	struct ivshmem_peer **pp, *p, *q;
	int v;

	for (pp = &s->peers; *pp && (*pp)->id != id; pp = &(*pp)->next)
		;
	p = *pp;
	if (!p)
		return;
	*pp = p->next;
	for (q = s->peers; q; q = q->next)
		notify(q, p->id, -1);
	loop_del(p->fd);
	close(p->fd);
	for (v = 0; v < IVSHMEM_VECTORS; v++)
		close(p->vector[v]);
	free(p);
}

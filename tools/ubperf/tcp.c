// SPDX-License-Identifier: GPL-2.0-only
/*
 * One byte by TCP from rank 0 to rank 1 and back: what programs use that have
 * no fabric.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ubperf.h"

#define CONNECT_MS	10000

/* Rank 0; returns a socket and its port. */
static int listen_any(uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof(a)) || listen(s, 1) ||
	    getsockname(s, (struct sockaddr *)&a, &len))
		must(-errno, "tcp: listen");
	*port = ntohs(a.sin_port);
	return s;
}

static int accept_one(int s)
{
	struct pollfd pfd = { .fd = s, .events = POLLIN };
	int c = -1;

	if (poll(&pfd, 1, CONNECT_MS) == 1)
		c = accept4(s, NULL, NULL, SOCK_CLOEXEC);
	close(s);
	return c;
}

static int connect_to(const char *host, uint16_t port)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	char service[8];
	int s;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &list))
		return -1;
	s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s >= 0 && connect(s, list->ai_addr, list->ai_addrlen)) {
		close(s);
		s = -1;
	}
	freeaddrinfo(list);
	return s;
}

static int prepare(struct perf *p, struct perf_run *r)
{
	const char *peer = p->o->tcp_peer ? p->o->tcp_peer : getenv("UBPERF_TCP_PEER");
	const int one = 1;
	uint16_t port = 0;
	int s = -1;

	r->active = p->rank < 2;
	if (!peer && ub_node(p->world, 0) != ub_node(p->world, 1) &&
	    !strcmp(ub_backend(p->ctx), "dev")) {
		strcpy(r->why, "ranks 0 and 1 are on two machines, and no --tcp-peer");
		return -ENOTSUP;
	}
	if (p->rank == 0)
		s = listen_any(&port);
	must(ub_bcast(p->world, &port, sizeof(port), 0), "ub_bcast");
	if (p->rank == 0)
		r->fd = accept_one(s);
	else if (p->rank == 1)
		r->fd = connect_to(peer ? peer : "127.0.0.1", port);
	if (r->active && r->fd < 0) {
		snprintf(r->why, sizeof(r->why), "rank %d: no connection: %s", p->rank,
			 strerror(errno));
		return -ENOTSUP;
	}
	if (r->active)
		setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

static void move(struct perf_run *r, bool out, unsigned char *byte)
{
	ssize_t n;

	do {
		n = out ? send(r->fd, byte, 1, MSG_NOSIGNAL) : recv(r->fd, byte, 1, 0);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		must(n < 0 ? -errno : -EPIPE, "tcp");
}

/* The byte counts the round trips, so that each end can check it. */
static void tcp_loop(struct perf *p, struct perf_run *r, long count)
{
	uint64_t v = r->done, end = r->done + count;
	unsigned char byte;

	while (v++ < end) {
		byte = v;
		if (p->rank == 0)
			move(r, true, &byte);
		move(r, false, &byte);
		if (p->rank == 1)
			move(r, true, &byte);
		r->wrong |= byte != (unsigned char)v;
	}
}

static enum perf_verdict verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	return !r->active ? PERF_UNCHECKED : r->wrong ? PERF_BAD : PERF_GOOD;
}

static void finish(struct perf *p, struct perf_run *r)
{
	(void)p;
	if (r->fd >= 0)
		close(r->fd);
}

const struct perf_test tcp_tests[] = {
	{
		.name = "tcp", .iters = 20000,
		.prepare = prepare, .loop = tcp_loop,
		.verify = verify, .finish = finish,
	},
	{ }
};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The home of far_test.c: a process that has windows, and does as it is told over a
 * socket.
 */
#ifndef UB_SELFTEST_FAR_H
#define UB_SELFTEST_FAR_H

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include "util.h"

#define FAR_PORT	7321

enum what {
	CREATE, FILL, LOAD, STORE, SUM, ADD, ROTATE, FRESH, DESTROY, BYE
};

struct order {
	__u32 what;
	__u32 rights;
	__u64 off, len, value;
};

struct answer {
	int ret;
	__u64 value;
	struct ub_win_create w;
	struct ub_win_id id;
};

static int sock = -1;

static void all(bool out, void *buf, size_t len)
{
	char *pos = buf;
	ssize_t n;

	for (; len; pos += n, len -= n) {
		n = out ? send(sock, pos, len, MSG_NOSIGNAL) : recv(sock, pos, len, 0);
		if (n <= 0) {
			fprintf(stderr, "the other side is gone\n");
			exit(1);
		}
	}
}

/* ---- the home ---- */

static unsigned char pattern(__u64 seed, __u64 off)
{
	__u64 x = (seed + off) * 0x9e3779b97f4a7c15ULL;

	return x >> 56;
}

static __u64 sum_of(const unsigned char *p, size_t len)
{
	__u64 sum = 0xcbf29ce484222325ULL;

	while (len--)
		sum = (sum ^ *p++) * 0x100000001b3ULL;
	return sum;
}

static void obey(int fd, const struct order *o, struct answer *a)
{
	static unsigned char *mem;
	static struct ub_win_create w;
	__u64 i;

	switch (o->what) {
	case CREATE:
		a->ret = win_create(fd, o->len, o->rights, &w);
		mem = a->ret ? NULL : win_map(fd, w.out_desc.gva, o->len,
					      PROT_READ | PROT_WRITE);
		if (mem == MAP_FAILED)
			a->ret = -errno;
		a->w = w;
		break;
	case FILL:
		for (i = 0; i < o->len; i++)
			mem[o->off + i] = pattern(o->value, o->off + i);
		break;
	case LOAD:
		a->value = LD((__u64 *)(mem + o->off));
		break;
	case STORE:
		ST((__u64 *)(mem + o->off), o->value);
		break;
	case SUM:
		a->value = sum_of(mem + o->off, o->len);
		break;
	case ADD:
		for (i = 0; i < o->value && !a->ret; i++)
			a->ret = xfer(fd, UB_XFER_FETCH_ADD, w.out_desc.gva + o->off,
				      NULL, o->len, 1, 0);
		break;
	case ROTATE:
	case FRESH:
		a->id = ARG(ub_win_id, .window = w.out_desc.window,
			    .flags = o->what == FRESH ? UB_ROTATE_FRESH : 0);
		a->ret = call(fd, UB_IOC_WIN_ROTATE, &a->id);
		break;
	case DESTROY:
		a->ret = win_destroy(fd, w.out_desc.window);
		break;
	}
}

static int home(int fd)
{
	struct order o;
	struct answer a;

	do {
		all(false, &o, sizeof(o));
		memset(&a, 0, sizeof(a));
		obey(fd, &o, &a);
		all(true, &a, sizeof(a));
	} while (o.what != BYE);
	return 0;
}

#endif /* UB_SELFTEST_FAR_H */

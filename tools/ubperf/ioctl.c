// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's barrier without the library: one ioctl that arrives and sleeps.
 * The group is another than the library's, on an open file of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include <ub/ub.h>

#include "clock.h"
#include "ubperf.h"

#define TIMEOUT_NS	30000000000ULL

bool perf_coherent(struct perf *p)
{
	struct ub_info info = { .size = sizeof(info) };
	const char *path = perf_device(p);
	int fd, err;

	if (!path)
		return true;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	err = ioctl(fd, UB_IOC_INFO, &info);
	close(fd);
	return !err && (info.out_caps & UB_CAP_COHERENT);
}

static int prepare(struct perf *p, struct perf_run *r)
{
	const char *path = perf_device(p);
	struct ub_group_create g = {
		.size = sizeof(g), .flags = UB_GROUP_WORLD,
		.nmembers = p->n, .index = p->rank,
		/* one flat level that holds all node ids */
		.shape = { .nlevels = 1, .bits = { 20 }, .ports = { 1, 1 } },
		.level = "ubperf",
	};
	int fd;

	if (!path) {
		strcpy(r->why, "only on the device");
		return -ENOTSUP;
	}
	if (getrandom(g.key, sizeof(g.key), 0) < 0)
		must(-errno, "getrandom");
	must(ub_bcast(p->world, (void *)g.key, sizeof(g.key), 0), "ub_bcast");
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		snprintf(r->why, sizeof(r->why), "%.64s: %s", path, strerror(errno));
		return -ENOTSUP;
	}
	g.timeout = ub_now() + TIMEOUT_NS;
	if (ioctl(fd, UB_IOC_GROUP_CREATE, &g)) {
		snprintf(r->why, sizeof(r->why), "UB_IOC_GROUP_CREATE: %s",
			 strerror(errno));
		close(fd);
		return -ENOTSUP;
	}
	r->fd = fd;
	r->group = g.out_group;
	r->first_epoch = g.out_epoch;
	return 0;
}

static void ioctl_loop(struct perf *p, struct perf_run *r, long count)
{
	struct ub_barrier b = {
		.size = sizeof(b),
		.flags = UB_BARRIER_ARRIVE | UB_BARRIER_WAIT | UB_BARRIER_SLEEP,
		.group = r->group, .op = UB_RED_NONE,
	};

	(void)p;
	while (count--) {
		b.timeout = ub_now() + TIMEOUT_NS;
		b.flags |= UB_BARRIER_ARRIVE;
		while (ioctl(r->fd, UB_IOC_BARRIER, &b)) {
			if (errno != EINTR)
				must(-errno, "UB_IOC_BARRIER");
			b.flags &= ~UB_BARRIER_ARRIVE;
		}
	}
	r->last_epoch = b.out_epoch;
}

static enum perf_verdict verify(struct perf *p, struct perf_run *r)
{
	(void)p;
	return r->last_epoch - r->first_epoch == r->done ? PERF_GOOD : PERF_BAD;
}

static void finish(struct perf *p, struct perf_run *r)
{
	(void)p;
	if (r->fd >= 0)
		close(r->fd);
}

const struct perf_test ioctl_tests[] = {
	{
		.name = "barrier-ioctl", .iters = 20000,
		.prepare = prepare, .loop = ioctl_loop,
		.verify = verify, .finish = finish,
	},
	{ }
};

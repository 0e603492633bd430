// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same copies as in map.c on a mapping that this project did not make: what
 * the memory itself gives.
 *
 * In a guest that is the BAR of a second ivshmem-plain device on the same
 * memory, which no driver holds. There the copies go to the memory of the next
 * rank's window all the same: its place in the BAR is found by a random mark in
 * each of its first pages, so nothing else is ever written. On the host it is
 * anonymous shared memory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ubperf.h"

#define PCI_DEVICES	"/sys/bus/pci/devices"
#define PAGE		4096UL
#define UNIT		65536UL		/* windows begin on such a boundary */
#define MIB		(1UL << 20)

struct mark {
	uint64_t random[2];
	uint64_t page;		/* of the window */
};

struct raw {
	char *bar;
	size_t bar_size;
	struct mark mark;
};

static bool sysfs_is(const char *dev, const char *file, const char *want)
{
	char path[512], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), PCI_DEVICES "/%.64s/%s", dev, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, want);
}

static bool free_ivshmem(const char *dev)
{
	char path[512];

	snprintf(path, sizeof(path), PCI_DEVICES "/%.64s/driver", dev);
	return sysfs_is(dev, "vendor", "0x1af4") && sysfs_is(dev, "device", "0x1110") &&
	       access(path, F_OK);
}

/* Returns whether there is a device; @path gets its BAR's file. */
static bool find_bar(char *path, size_t size)
{
	DIR *dir = opendir(PCI_DEVICES);
	struct dirent *d;
	bool found = false;

	while (dir && !found && (d = readdir(dir))) {
		found = d->d_name[0] != '.' && free_ivshmem(d->d_name);
		if (found)
			snprintf(path, size, PCI_DEVICES "/%.64s/resource2", d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static int map_bar(struct perf *p, struct perf_run *r, struct raw *raw)
{
	char found[512];
	const char *path = p->o->raw_file;
	struct stat st;
	int fd;

	if (!path && find_bar(found, sizeof(found)))
		path = found;
	if (!path) {
		strcpy(r->why, "no ivshmem device without a driver, and no --raw-file");
		return -ENOTSUP;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		snprintf(r->why, sizeof(r->why), "%.80s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -ENOTSUP;
	}
	raw->bar_size = st.st_size;
	raw->bar = mmap(NULL, raw->bar_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (raw->bar == MAP_FAILED) {
		snprintf(r->why, sizeof(r->why), "mmap of %.80s: %s", path,
			 strerror(errno));
		raw->bar = NULL;
	}
	close(fd);
	return raw->bar ? 0 : -ENOTSUP;
}

static void put_marks(struct perf_run *r, struct mark m)
{
	char *mem = ub_win_base(r->win);

	for (m.page = 0; m.page < UNIT / PAGE; m.page++)
		memcpy(mem + m.page * PAGE, &m, sizeof(m));
}

static int find_marks(struct perf *p, struct perf_run *r, const struct raw *raw)
{
	struct mark *all = must_alloc(p->n * sizeof(*all)), seen, want;
	size_t off, start;

	must(ub_allgather(p->world, &raw->mark, sizeof(raw->mark), all), "ub_allgather");
	want = all[p->next];
	free(all);
	for (off = 0; raw->bar && off + UNIT <= raw->bar_size; off += UNIT) {
		memcpy(&seen, raw->bar + off, sizeof(seen));
		if (memcmp(seen.random, want.random, sizeof(want.random)) ||
		    seen.page >= UNIT / PAGE || seen.page * PAGE > off)
			continue;
		start = off - seen.page * PAGE;
		if (start + r->size > raw->bar_size)
			continue;
		r->remote = raw->bar + start;
		return 0;
	}
	if (raw->bar)
		strcpy(r->why, "the mapped file is not the fabric's memory");
	return -ENOTSUP;
}

static int guest_prepare(struct perf *p, struct perf_run *r, struct raw *raw)
{
	int err;

	if (getrandom(&raw->mark.random, sizeof(raw->mark.random), 0) < 0)
		must(-errno, "getrandom");
	must(ub_win_create(p->world, r->size > UNIT ? r->size : UNIT, &r->win),
	     "ub_win_create");
	put_marks(r, raw->mark);
	map_bar(p, r, raw);
	/* Collective, also for one that has no mapping. */
	err = find_marks(p, r, raw);
	must(ub_sync(p->world), "ub_sync");
	return err;
}

static int prepare(struct perf *p, struct perf_run *r)
{
	struct raw *raw = must_alloc(sizeof(*raw));

	r->priv = raw;
	r->local = must_alloc(r->size);
	if (!strcmp(ub_backend(p->ctx), "dev"))
		return guest_prepare(p, r, raw);
	raw->bar_size = r->size;
	raw->bar = mmap(NULL, raw->bar_size, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (raw->bar == MAP_FAILED)
		must(-errno, "mmap");
	r->remote = raw->bar;
	return 0;
}

static int read_prepare(struct perf *p, struct perf_run *r)
{
	int err = prepare(p, r);

	if (r->win)
		data_fill(ub_win_base(r->win), r->size, p->rank);
	else
		data_fill(r->remote, r->size, p->next);
	return err;
}

static int write_prepare(struct perf *p, struct perf_run *r)
{
	int err = prepare(p, r);

	data_fill(r->local, r->size, p->rank);
	return err;
}

static enum perf_verdict write_verify(struct perf *p, struct perf_run *r)
{
	const char *mem = r->win ? ub_win_base(r->win) : r->remote;
	int from = r->win ? p->prev : p->rank;

	return data_is(mem, r->size, from) ? PERF_GOOD : PERF_BAD;
}

static void finish(struct perf *p, struct perf_run *r)
{
	struct raw *raw = r->priv;

	if (r->win)
		must(ub_win_free(r->win), "ub_win_free");
	if (raw->bar)
		munmap(raw->bar, raw->bar_size);
	free(raw);
	free(r->local);
	(void)p;
}

const struct perf_test raw_tests[] = {
	{
		.name = "raw-read", .group = "raw", .size = MIB, .iters = 2000,
		.prepare = read_prepare, .loop = data_read_loop,
		.verify = data_read_verify, .finish = finish,
	}, {
		.name = "raw-write", .group = "raw", .size = MIB, .iters = 2000,
		.prepare = write_prepare, .loop = data_write_loop,
		.verify = write_verify, .finish = finish,
	},
	{ }
};

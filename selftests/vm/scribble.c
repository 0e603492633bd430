// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile peer, cheap and strong: a program of the host that maps the memory
 * which a rig's guests share, and spoils it. It knows the layout and what is in
 * use, so that what it writes is nearly right: random words, flipped bits, old
 * contents, swapped records, huge numbers, words that change while they are
 * read. Between the gusts there is a lull, in which the guests get deeper into
 * what they do. It also rings doorbells without end, by the eventfds that the
 * rig holds.
 *
 * usage: scribble PID SECONDS [SEED [PART...]]
 *	PID	of any QEMU of the rig
 *	PART	only these: header node window slot pages slice bell
 *
 * Invariant: the sequence of what it does follows from the seed, as far as the
 * guests' memory does.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/types.h>

typedef __u64 u64;	/* shm.h is the kernel's alone */
typedef __u32 u32;

#include "gaddr.h"
#include "shm.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define BELLS		64
#define LIVE		64	/* records of a kind that it looks after */
#define OLD		16	/* former contents that it remembers */
#define PIECE		512	/* bytes of each */

static u64 state, seed;
static unsigned char *bar;
static struct ub_shm_geo geo;
static int bell[BELLS], nbells;

static u64 rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dULL;
}

static u64 below(u64 n)
{
	return n ? rnd() % n : 0;
}

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static u64 ld(const u64 *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static void st(u64 *p, u64 v)
{
	__atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* ---- what lies where: as kernel/shm.c has it for 1 GiB ---- */

static void lay_out(u64 size)
{
	const u32 nodes = 16, members = 64, lines = 16, slots = 1024, wins = 16384;
	u64 off = UB_LAYOUT_PAGE;

	geo = (struct ub_shm_geo){
		.size = size, .max_nodes = nodes, .max_wins = wins,
		.max_members = members, .max_lines = lines, .nslots = slots,
		.rec_stride = ub_slot_stride(members),
		.map_size = ub_group_map_size(members, lines),
	};
	geo.nodes_off = off;
	off += ub_page_up(nodes * sizeof(struct ub_shm_node));
	geo.wins_off = off;
	off += ub_page_up((u64)nodes * wins * sizeof(struct ub_shm_window));
	geo.recs_off = off;
	off += ub_page_up((u64)slots * geo.rec_stride);
	geo.pages_off = off;
	off += slots * geo.map_size;
	geo.slice_off = (off + UB_GVA_ALIGN - 1) & ~(UB_GVA_ALIGN - 1);
	geo.slice_size = (size - geo.slice_off) / nodes & ~(UB_GVA_ALIGN - 1);
}

/* Do the windows that are there lie where they would by this layout? */
static bool laid_out_so(void)
{
	u64 i, id, start, right = 0;

	for (i = 0; i < 4; i++) {
		struct ub_shm_window *w = (struct ub_shm_window *)(bar + geo.wins_off) +
					  i * geo.max_wins;

		start = geo.slice_off + i * geo.slice_size;
		for (id = 0; id < LIVE; id++) {
			if (!ld(&w[id].generation) || !ld(&w[id].length))
				continue;
			if (!ub_gva_inside(ld(&w[id].offset), ld(&w[id].length), start,
					   geo.slice_size))
				return false;
			right++;
		}
	}
	return right;
}

/* A piece of the memory: where, bytes, and from record to record. */
struct piece {
	u64 off;
	u64 bytes;
	u64 stride;
};

static struct piece header(void)
{
	return (struct piece){ 0, sizeof(struct ub_shm_header), 0 };
}

/* Those of the first nodes: rigs are small. */
static struct piece node(void)
{
	return (struct piece){ geo.nodes_off + below(4) * sizeof(struct ub_shm_node),
			       sizeof(struct ub_shm_node), sizeof(struct ub_shm_node) };
}

static struct piece window(void)
{
	u64 rec = below(4) * geo.max_wins + below(LIVE);

	return (struct piece){ geo.wins_off + rec * sizeof(struct ub_shm_window),
			       sizeof(struct ub_shm_window),
			       sizeof(struct ub_shm_window) };
}

/* A slot that is in use, if there is one. */
static u64 live_slot(void)
{
	u64 tries, i = 0;

	for (tries = 0; tries < LIVE; tries++) {
		i = below(LIVE);
		if (ld((u64 *)(bar + geo.recs_off + i * geo.rec_stride)) >> 62)
			break;
	}
	return i;
}

static struct piece slot(void)
{
	/* head, or the first entries of its table */
	return (struct piece){ geo.recs_off + live_slot() * geo.rec_stride,
			       64 + 4 * sizeof(struct ub_slot_member), geo.rec_stride };
}

static struct piece pages(void)
{
	u64 off = geo.pages_off + live_slot() * geo.map_size;

	switch (below(4)) {
	case 0:
		return (struct piece){ off, 64, geo.map_size };
	case 1:
		return (struct piece){ off + ub_group_mail_off(geo.max_members),
				       PIECE, geo.map_size };
	case 2:
		return (struct piece){ off + ub_group_flags_off(geo.max_members) +
				       below(4) * geo.max_lines * 64, PIECE, 64 };
	default:
		return (struct piece){ off + ub_group_lines_off(), 4 * 64, 64 };
	}
}

static struct piece slice(void)
{
	u64 off = geo.slice_off + below(4) * geo.slice_size;

	return (struct piece){ off + below(16) * UB_GVA_ALIGN, PIECE, UB_GVA_ALIGN };
}

static const struct {
	const char *name;
	struct piece (*pick)(void);
} parts[] = {
	{ "header", header }, { "node", node }, { "window", window },
	{ "slot", slot }, { "pages", pages }, { "slice", slice }, { "bell", NULL },
};
#define PARTS	COUNT(parts)
static bool want[PARTS];

/* ---- what is done to a piece ---- */

static u64 *word_of(const struct piece *p)
{
	return (u64 *)(bar + p->off) + below(p->bytes / 8);
}

/* A number of the kind that finds bugs. */
static u64 odd_number(void)
{
	static const u64 odd[] = {
		0, 1, ~0ULL, 1ULL << 63, 1ULL << 62, (1ULL << 62) - 1, 3ULL << 62,
		(1ULL << 43) - 1, 1ULL << 42, 0xffffffffULL, 1ULL << 32, 1ULL << 31,
		0x10000, 0xffff, 4096, 63, 64, 65,
	};

	switch (below(3)) {
	case 0:
		return odd[below(COUNT(odd))];
	case 1:
		return geo.slice_off + below(5) * geo.slice_size - below(3) * 4096;
	default:
		return geo.size - below(3) * UB_GVA_ALIGN;
	}
}

static void do_random(const struct piece *p)
{
	st(word_of(p), rnd());
}

static void do_flip(const struct piece *p)
{
	u64 *w = word_of(p);

	st(w, ld(w) ^ 1ULL << below(64));
}

static void do_huge(const struct piece *p)
{
	st(word_of(p), odd_number());
}

/* One more or less: an epoch, generation, heartbeat, incarnation. */
static void do_near(const struct piece *p)
{
	u64 *w = word_of(p);

	st(w, ld(w) + (below(2) ? 1 + below(3) : -1 - below(3)));
}

static void do_swap(const struct piece *p)
{
	u64 to = p->off + (p->stride ? p->stride * (1 + below(3)) : 8), i;
	u64 n = p->bytes / 8, *a = (u64 *)(bar + p->off), *b = (u64 *)(bar + to);

	for (i = 0; i < n && to + p->bytes <= geo.size; i++) {
		u64 v = ld(&a[i]);

		st(&a[i], ld(&b[i]));
		st(&b[i], v);
	}
}

/* Remember, or put back what was there: old epochs, records of the dead. */
static void do_old(const struct piece *p)
{
	static struct {
		u64 off, bytes, data[PIECE / 8];
	} old[OLD];
	u64 k = below(OLD), n = p->bytes / 8, i;

	if (!old[k].bytes || below(3) == 0) {
		old[k].off = p->off;
		old[k].bytes = p->bytes;
		for (i = 0; i < n; i++)
			old[k].data[i] = ld((u64 *)(bar + p->off) + i);
		return;
	}
	for (i = 0; i < old[k].bytes / 8; i++)
		st((u64 *)(bar + old[k].off) + i, old[k].data[i]);
}

/* A word that is right at one look and wrong at the next. */
static void do_toggle(const struct piece *p)
{
	u64 *w = word_of(p), right = ld(w), i, n = 2000 + below(20000);
	u64 wrong = below(2) ? odd_number() : right ^ 1ULL << below(64);

	for (i = 0; i < n; i++) {
		st(w, wrong);
		st(w, right);
	}
}

static const struct {
	const char *name;
	void (*run)(const struct piece *p);
} deeds[] = {
	{ "random", do_random }, { "flip", do_flip }, { "huge", do_huge },
	{ "near", do_near }, { "swap", do_swap }, { "old", do_old },
	{ "toggle", do_toggle },
};
#define DEEDS	COUNT(deeds)

static unsigned long long done[PARTS][DEEDS], rings;

static void ring(void)
{
	const u64 one = 1;
	u64 i, n = 100 + below(5000);

	for (i = 0; i < n && nbells; i++)
		if (write(bell[below(nbells)], &one, sizeof(one)) == sizeof(one))
			rings++;
}

/* One part, one or all deeds, for a while; then a lull. */
static void gust(u64 end)
{
	u64 part, deed = below(DEEDS + 2), until = now_ns() + below(300) * 1000000;

	do {
		part = below(PARTS);
	} while (!want[part]);
	/* Nothing else is seen while the header is wrong: seldom, and shortly. */
	if (!strcmp(parts[part].name, "header")) {
		until = 0;
		if (below(4))
			return;
	}
	do {
		u64 d = deed < DEEDS ? deed : below(DEEDS);
		struct piece p;

		if (!parts[part].pick) {
			ring();
			continue;
		}
		p = parts[part].pick();
		deeds[d].run(&p);
		done[part][d]++;
		if (below(8) == 0)
			usleep(below(2000));
	} while (now_ns() < until && now_ns() < end);
	usleep(below(400000));
}

/* ---- reaching the rig ---- */

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512], *p = NULL;
	pid_t parent = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		p = strrchr(line, ')');
	if (p)
		sscanf(p + 1, " %*c %d", &parent);
	if (f)
		fclose(f);
	return parent;
}

/* The memory and the doorbells, as the process that serves ivshmem has them. */
static int reach(pid_t pid)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0), fd, mem = -1;
	char path[300], link[64];
	struct dirent *e;
	ssize_t n;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, e->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		if (n < 0)
			continue;
		link[n] = '\0';
		if (strstr(link, "ubrig-bar"))
			mem = open(path, O_RDWR | O_CLOEXEC);
		if (!strstr(link, "[eventfd]") || nbells == BELLS)
			continue;
		fd = syscall(SYS_pidfd_getfd, pidfd, atoi(e->d_name), 0);
		if (fd >= 0)
			bell[nbells++] = fd;
	}
	if (d)
		closedir(d);
	close(pidfd);
	return mem;
}

static void show(void)
{
	size_t i, k;

	printf("# scribble: seed %llu; %d doorbells, %llu rings\n# %-8s",
	       (unsigned long long)seed, nbells, rings, "");
	for (k = 0; k < DEEDS; k++)
		printf(" %10s", deeds[k].name);
	for (i = 0; i < PARTS; i++) {
		if (!parts[i].pick)
			continue;
		printf("\n# %-8s", parts[i].name);
		for (k = 0; k < DEEDS; k++)
			printf(" %10llu", done[i][k]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	bool some = false;
	u64 end;
	size_t i;
	struct stat s;
	int fd, a;

	if (argc < 3) {
		fprintf(stderr, "usage: %s PID SECONDS [SEED [PART...]]\n", argv[0]);
		return 2;
	}
	seed = argc > 3 ? strtoull(argv[3], NULL, 0) : now_ns();
	state = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < PARTS; i++) {
		want[i] = argc < 5;
		for (a = 4; a < argc; a++)
			want[i] |= !strcmp(argv[a], parts[i].name);
		some |= want[i];
	}
	if (!some) {
		fprintf(stderr, "%s: no such part\n", argv[0]);
		return 2;
	}
	fd = reach(parent_of(atoi(argv[1])));
	if (fd < 0 || fstat(fd, &s)) {
		fprintf(stderr, "%s: process %s is no node of a rig\n", argv[0], argv[1]);
		return 1;
	}
	lay_out(s.st_size);
	bar = mmap(NULL, s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s.st_size < 1L << 30 || bar == MAP_FAILED || ld((u64 *)bar) != UB_SHM_MAGIC) {
		fprintf(stderr, "%s: no fabric of 1 GiB: %s\n", argv[0], strerror(errno));
		return 1;
	}
	for (end = now_ns() + 30000000000ULL; !laid_out_so() && now_ns() < end; )
		usleep(10000);
	if (!laid_out_so()) {
		fprintf(stderr, "%s: no window lies where kernel/shm.c is thought to put it\n",
			argv[0]);
		return 1;
	}
	end = now_ns() + strtoull(argv[2], NULL, 0) * 1000000000ULL;
	while (now_ns() < end)
		gust(end);
	show();
	return 0;
}

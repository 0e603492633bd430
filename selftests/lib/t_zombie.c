// SPDX-License-Identifier: GPL-2.0-only
/*
 * A lost member that still runs: its node stands still for all others, is fenced,
 * and goes on storing into the windows that it had mapped. Those that ub_win_move()
 * brought out of its reach keep what the survivors put there.
 */
#include "t.h"
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <ub/ub_test.h>

#define ZOMBIE	2
#define PLACE	16	/* where it stores */
#define WORDS	4096

/* What all three processes share, whatever becomes of the fabric. */
static struct {
	uint64_t stores;
	int stop, stopped, resumed;
} *z;

/* The file stays open: closing it would wait for a node that stands still. */
static int hook(int node, uint32_t op, uint64_t value)
{
	static int files[ZOMBIE + 1];
	struct ub_test a = { .size = sizeof(a), .op = op, .value = value };
	char path[64];

	snprintf(path, sizeof(path), "/dev/ubfab%d", node);
	if (files[node] <= 0)
		files[node] = open(path, O_RDWR | O_CLOEXEC);
	return files[node] < 0 || ioctl(files[node], UB_IOC_TEST, &a) ? -errno : 0;
}

/* Are there hooks? No node has this number. A lane is of the process that asks. */
static bool hooked(void)
{
	struct ub_test a = {
		.size = sizeof(a), .op = UB_TEST_FENCE, .value = ~0ULL,
	};
	int fd = open("/dev/ubfab0", O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return false;
	err = ioctl(fd, UB_IOC_TEST, &a) ? errno : 0;
	close(fd);
	return err != ENOTTY && err != EPERM;
}

static bool within(int seconds, int (*true_yet)(uint64_t arg), uint64_t arg)
{
	uint64_t end = t_now() + seconds * 1000000000ULL;

	while (!true_yet(arg)) {
		if (t_now() > end)
			return false;
		usleep(1000);
	}
	return true;
}

static int has_stored(uint64_t n)
{
	return __atomic_load_n(&z->stores, __ATOMIC_SEQ_CST) > n;
}

static int is_set(uint64_t word)
{
	return __atomic_load_n((int *)(uintptr_t)word, __ATOMIC_SEQ_CST);
}

/* No call: its node would answer none. */
static void haunt(struct ub_win *win)
{
	volatile uint64_t *at[2] = { ub_win_peer(win, 0), ub_win_peer(win, 1) };
	uint64_t n = 0;

	while (!is_set((uintptr_t)&z->stop)) {
		at[0][PLACE] = at[1][PLACE] = ++n;
		__atomic_store_n(&z->stores, n, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&z->stopped, 1, __ATOMIC_SEQ_CST);
	while (!is_set((uintptr_t)&z->resumed))
		usleep(1000);
	_exit(0);
}

/* Its node stands still from now on, and rank 0's takes it for lost. */
static int make_zombie(struct ub_scope *w)
{
	if (ub_rank(w))
		return 0;
	T_CHECK(!hook(ZOMBIE, UB_TEST_PAUSE, 0));
	T_CHECK(!hook(0, UB_TEST_FENCE, ZOMBIE));
	return 0;
}

/* Does it reach the own part? It has stored more than once since. */
static bool reached(volatile uint64_t *own)
{
	uint64_t before = own[PLACE], n = z->stores;

	return within(60, has_stored, n + 1000) && own[PLACE] != before;
}

static int work(struct ub_scope *s, struct ub_win *win)
{
	int me = ub_rank(s), you = !me;
	uint64_t *own = ub_win_base(win), *theirs = ub_win_peer(win, you), got;

	theirs[1] = 70 + me;
	got = 80 + me;
	T_CHECK(!ub_put(s, win, you, 16, &got, sizeof(got)));
	T_CHECK(!ub_sync(s));
	T_CHECK(own[1] == 70U + you && own[2] == 80U + you);
	T_CHECK(!ub_get(s, win, you, 8, &got, sizeof(got)));
	T_CHECK(!ub_sync(s));
	T_CHECK(got == 70U + me);
	return 0;
}

static int haunted(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *s;
	struct ub_win *win;
	uint64_t *own;
	int err, i;

	(void)ctx;
	T_CHECK(!ub_win_create(w, WORDS * sizeof(*own), &win));
	own = ub_win_base(win);
	for (i = 0; i < WORDS; i++)
		own[i] = 1000000 * ub_rank(w) + i;
	T_CHECK(!ub_sync(w));
	if (ub_rank(w) == ZOMBIE)
		haunt(win);
	T_CHECK(within(60, has_stored, 0));
	T_CHECK(!make_zombie(w));
	do {
		err = ub_sync(w);
	} while (!err);
	T_CHECK(err == -EOWNERDEAD);
	T_CHECK(!ub_shrink(w, &s) && ub_size(s) == 2);
	T_CHECK(reached(own));
	T_CHECK(!ub_sync(s));
	T_CHECK(!ub_win_move(s, win));
	T_CHECK(!reached(own));
	T_CHECK(!reached(ub_win_peer(win, !ub_rank(s))));
	for (i = 0; i < WORDS; i++)
		T_CHECK(i == PLACE || own[i] == 1000000ULL * ub_rank(w) + i);
	T_CHECK(!ub_sync(s));
	T_CHECK(!work(s, win));
	/* And once more: a window may be moved again. */
	T_CHECK(!ub_win_move(s, win));
	T_CHECK(!work(s, win));
	if (!ub_rank(s)) {
		__atomic_store_n(&z->stop, 1, __ATOMIC_SEQ_CST);
		T_CHECK(within(60, is_set, (uintptr_t)&z->stopped));
		T_CHECK(!hook(ZOMBIE, UB_TEST_RESUME, 0));
		__atomic_store_n(&z->resumed, 1, __ATOMIC_SEQ_CST);
	}
	return ub_sync(s);
}

/* Without one: it is a barrier, and refuses who does not belong. */
static int plain(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win;

	(void)ctx;
	T_CHECK(!ub_win_create(w, WORDS * sizeof(uint64_t), &win));
	T_CHECK(ub_win_move(NULL, win) == -EINVAL && ub_win_move(w, NULL) == -EINVAL);
	T_CHECK(!ub_win_move(w, win));
	T_CHECK(!work(w, win));
	return ub_win_free(win);
}

int main(void)
{
	static const int node[] = { 0, 1, 2 };
	bool loop = getenv("T_DEVICE") && hooked();

	z = mmap(NULL, sizeof(*z), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (z == MAP_FAILED)
		return 1;
	/* On the host back end who is lost is dead: nobody haunts its windows. */
	t_plan(loop ? 2 : 1);
	t_result(!t_run(2, node, plain), "nobody is lost");
	if (loop)
		t_result(!t_run(3, node, haunted), "stores of a fenced node do not reach");
	return t_end();
}

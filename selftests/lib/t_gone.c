// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer's memory goes while others put and get: an error and no signal, for it
 * alone; memory of others is as it was. On the device the library copies through
 * mappings of its own.
 */
#include "t.h"
#include "internal.h"
#include "dev.h"
#include <signal.h>

#define BYTES	(3 << 20)
#define GOES	1	/* the rank whose process ends */

static const int nodes[] = { 0, 1, 2 };

/* On the host memory stays when its process ends. */
static bool goes(void)
{
	return getenv("T_DEVICE");
}

static bool quietly(struct ub_scope *w, const struct ub_win *win)
{
	int i;

	for (i = 0; goes() && i < ub_size(w); i++)
		if (i != ub_rank(w) && !(win->quiet && win->quiet[i].at))
			return false;
	return true;
}

/* Until one fails; its error. Both kinds of copies, small and large. */
static int until_gone(struct ub_scope *w, struct ub_win *win, char *buffer)
{
	uint64_t end = t_now() + 30000000000ULL;
	int err = 0, i;

	for (i = 0; !err && t_now() < end; i++) {
		size_t len = i % 3 ? 8 : BYTES;

		err = i & 1 ? ub_get(w, win, GOES, 0, buffer, len) :
			      ub_put(w, win, GOES, 0, buffer, len);
	}
	return err;
}

static int others(struct ub_scope *w, struct ub_win *win, char *buffer)
{
	volatile uint64_t *own = ub_win_base(win);
	uint64_t v = 0x77 + ub_rank(w), got = 0;
	int you = 2 - ub_rank(w), i;

	T_CHECK(!goes() || until_gone(w, win, buffer) == -EOWNERDEAD);
	/* Told once, refused from then on. */
	T_CHECK(!goes() || ub_put(w, win, GOES, 8, &v, 8) == -EOWNERDEAD);
	T_CHECK(!goes() || ub_get(w, win, GOES, 8, &got, 8) == -EOWNERDEAD);
	/* Twice: the first may still be the kernel's. */
	for (i = 1; i < 3; i++) {
		T_CHECK(!ub_put(w, win, you, 8 * i, &v, 8));
		T_CHECK(!ub_get(w, win, you, 8 * i, &got, 8) && got == v);
	}
	while (own[1] != 0x77U + you || own[2] != 0x77U + you)
		usleep(1000);
	return 0;
}

static int member(struct ub_ctx *ctx, struct ub_scope *w)
{
	char *buffer = calloc(1, BYTES);
	struct ub_win *win;
	int bad;

	(void)ctx;
	T_CHECK(buffer && !ub_win_create(w, BYTES, &win) && quietly(w, win));
	T_CHECK(!ub_sync(w));
	if (ub_rank(w) == GOES) {
		usleep(50000);
		raise(SIGKILL);
	}
	bad = others(w, win, buffer);
	free(buffer);
	return bad;
}

static bool gone(void)
{
	struct t_job j;

	return !t_start(&j, 3, nodes, member) && !t_wait(&j, 1ULL << GOES);
}

int main(void)
{
	t_plan(1);
	t_result(gone(), "memory goes under puts and gets");
	return t_end();
}

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

/* Which calls come first upon it. */
static enum kind { PUT, GET, ATOMIC, ALL, KINDS } kind;

/* Until one fails; its error. Small and large ones. */
static int until_gone(struct ub_scope *w, struct ub_win *win, char *buffer)
{
	uint64_t end = t_now() + 30000000000ULL;
	int err, i;

	/* All of it is mapped by then, and stays so for a moment when it goes. */
	err = ub_put(w, win, GOES, 0, buffer, BYTES);
	for (i = 0; !err && t_now() < end; i++) {
		size_t len = i % 4 ? 8 : BYTES;

		switch (kind == ALL ? i % ALL : kind) {
		case PUT:
			err = ub_put(w, win, GOES, 0, buffer, len);
			break;
		case GET:
			err = ub_get(w, win, GOES, 0, buffer, len);
			break;
		default:
			err = ub_atomic(w, win, GOES, 0, 8, UB_ATOMIC_ADD, 1, 0, NULL);
		}
	}
	return err;
}

static int others(struct ub_scope *w, struct ub_win *win, char *buffer)
{
	volatile uint64_t *own = ub_win_base(win);
	uint64_t v = 0x77 + ub_rank(w), got = 0;
	int you = 2 - ub_rank(w), i;

	T_CHECK(!goes() || until_gone(w, win, buffer) == -EOWNERDEAD);
	/* Told once, refused from then on, by whatever way. */
	T_CHECK(!goes() || ub_put(w, win, GOES, 8, &v, 8) == -EOWNERDEAD);
	T_CHECK(!goes() || ub_get(w, win, GOES, 8, &got, 8) == -EOWNERDEAD);
	/* Twice: the first may still be the kernel's. */
	for (i = 1; i < 3; i++) {
		T_CHECK(!ub_put(w, win, you, 8 * i, &v, 8));
		T_CHECK(!ub_get(w, win, you, 8 * i, &got, 8) && got == v);
	}
	for (i = 0; i < 30000 && (own[1] != 0x77U + you || own[2] != 0x77U + you); i++)
		usleep(1000);
	T_CHECK(own[1] == 0x77U + you && own[2] == 0x77U + you);
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
	static const char * const under[KINDS] = {
		[PUT] = "under puts", [GET] = "under gets", [ATOMIC] = "under atomics",
		[ALL] = "under all of them",
	};

	t_plan(KINDS);
	for (kind = 0; kind < KINDS; kind++)
		t_result(gone(), under[kind]);
	return t_end();
}

// SPDX-License-Identifier: GPL-2.0-only
/* Windows: puts, gets, atomics, mapped stores, errors, memory given back. */
#include "t.h"

#define BYTES	(200 * 1000)

static int ring(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), step;
	struct ub_win *win;
	uint64_t *own, got[16], put[16];
	int i;

	(void)ctx;
	T_CHECK(!ub_win_create(w, BYTES, &win));
	own = ub_win_base(win);
	for (i = 0; i < BYTES / 8; i++)
		T_CHECK(!own[i]);
	T_CHECK(!ub_sync(w));
	T_CHECK(ub_win_size(win, n - 1) == BYTES && !ub_win_peer(win, n));
	for (step = 1; step <= 200; step++) {
		size_t off = step * 128;

		for (i = 0; i < 16; i++)
			put[i] = me * 1000000 + step * 100 + i;
		T_CHECK(!ub_put(w, win, (me + 1) % n, off, put, sizeof(put)));
		memset(put, 0, sizeof(put));
		T_CHECK(!ub_sync(w));
		for (i = 0; i < 16; i++)
			T_CHECK(own[off / 8 + i] == (uint64_t)((me + n - 1) % n) *
				1000000 + step * 100 + i);
		T_CHECK(!ub_get(w, win, (me + 1) % n, off, got, sizeof(got)));
		for (i = 0; i < 16; i++)
			T_CHECK(got[i] == (uint64_t)me * 1000000 + step * 100 + i);
		T_CHECK(!ub_sync(w));
		/* The next step uses the same words again: mapped stores. */
		((uint64_t *)ub_win_peer(win, (me + 1) % n))[0] = step + me;
		T_CHECK(!ub_sync(w));
		T_CHECK(own[0] == (uint64_t)step + (me + n - 1) % n);
		T_CHECK(!ub_sync(w));
	}
	T_CHECK(!ub_win_free(win));
	return 0;
}

static int uneven(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), r;
	struct ub_win *win;
	char byte = me;

	(void)ctx;
	T_CHECK(!ub_win_create(w, me, &win));
	for (r = 0; r < n; r++) {
		T_CHECK(ub_win_size(win, r) == (size_t)r);
		T_CHECK(!ub_win_peer(win, r) == !r);
		T_CHECK(!ub_put(w, win, r, r, &byte, 0));
		T_CHECK(ub_put(w, win, r, r, &byte, 1) == -ERANGE);
		T_CHECK(ub_get(w, win, r, SIZE_MAX, &byte, 2) == -ERANGE);
	}
	T_CHECK(ub_put(w, win, n, 0, &byte, 1) == -EINVAL);
	T_CHECK(ub_put(w, win, -1, 0, &byte, 1) == -EINVAL);
	return ub_win_free(win);
}

static int atomics(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), i;
	struct ub_win *win;
	uint64_t old, *own;

	(void)ctx;
	T_CHECK(!ub_win_create(w, me ? 0 : 64, &win));
	for (i = 0; i < 1000; i++) {
		T_CHECK(!ub_atomic(w, win, 0, 0, 8, UB_ATOMIC_ADD, 3, 0, NULL));
		T_CHECK(!ub_atomic(w, win, 0, 8, 4, UB_ATOMIC_ADD, -1, 0, NULL));
		T_CHECK(!ub_atomic(w, win, 0, 16, 8, UB_ATOMIC_XOR, 1ULL << me, 0,
				   NULL));
		do {
			T_CHECK(!ub_get(w, win, 0, 24, &old, 8));
		} while (({ uint64_t was; T_CHECK(!ub_atomic(w, win, 0, 24, 8,
			UB_ATOMIC_CAS, old + 1, old, &was)); was != old; }));
	}
	T_CHECK(!ub_atomic(w, win, 0, 32, 4, UB_ATOMIC_OR, 1U << me, 0, NULL));
	T_CHECK(ub_atomic(w, win, 0, 4, 8, UB_ATOMIC_ADD, 1, 0, NULL) == -EINVAL);
	T_CHECK(ub_atomic(w, win, 0, 64, 8, UB_ATOMIC_ADD, 1, 0, NULL) == -ERANGE);
	T_CHECK(!ub_sync(w));
	own = ub_win_peer(win, 0);
	T_CHECK(own[0] == 3000ULL * n);
	T_CHECK((uint32_t)own[1] == (uint32_t)-1000 * n && !(own[1] >> 32));
	T_CHECK(own[2] == 0 && own[3] == 1000ULL * n);
	T_CHECK(own[4] == (1ULL << n) - 1);
	return ub_win_free(win);
}

static int give_back(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_win *win, *keep;
	int i;

	(void)ctx;
	T_CHECK(!ub_win_create(w, 100, &keep));
	for (i = 0; i < 50; i++) {
		size_t bytes = (64 + i) << 20;

		T_CHECK(!ub_win_create(w, bytes, &win));
		T_CHECK(!*((char *)ub_win_base(win) + bytes - 1));
		memset(ub_win_base(win), 1, 4096);
		memset((char *)ub_win_base(win) + bytes - 4096, 1, 4096);
		T_CHECK(!ub_win_free(win));
	}
	/* Too much on one of them fails for all, and nothing stays behind. */
	T_CHECK(ub_win_create(w, ub_rank(w) == 1 ? 1UL << 40 : 4096, &win) ==
		-ENOSPC);
	printf("# %s\n", ub_last_error());
	T_CHECK(!ub_sync(w));
	return ub_win_free(keep);
}

int main(void)
{
	t_plan(6);
	t_result(!t_run(1, NULL, ring), "ring of 1");
	t_result(!t_run(3, NULL, ring), "ring of 3");
	t_result(!t_run(4, NULL, uneven), "sizes that differ, bounds");
	t_result(!t_run(4, NULL, atomics), "atomics");
	t_result(!t_run(2, NULL, give_back), "memory is zeroed and given back");
	t_result(!t_run(3, NULL, give_back), "the same with 3");
	return t_end();
}

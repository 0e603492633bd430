// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts beyond 2^31 without the memory: what is read are untouched pages with
 * some numbers in between, what is written is one small piece of memory, mapped
 * again and again. What lies at its place in the end was written last.
 */
#include "t.h"
#include "t_sparse.h"

/* Places around every power of two that could be the end of something. */
static const size_t marks[] = {
	1, BEYOND - 1, BEYOND, BEYOND + 1, BEYOND + 100002,
};

#define MARKS	(sizeof(marks) / sizeof(*marks))

static int bcast(struct ub_ctx *ctx, struct ub_scope *w)
{
	size_t bytes = BEYOND + 100003, i;
	unsigned char *data;

	(void)ctx;
	data = ub_rank(w) ? again_and_again(bytes) : sparse(bytes);
	T_CHECK(data);
	for (i = 0; !ub_rank(w) && i < MARKS; i++)
		data[marks[i]] = i + 1;
	T_CHECK(!ub_bcast(w, data, bytes, 0));
	/* The last piece is whole, and of those before what lies behind it. */
	for (i = 2; i < MARKS; i++)
		T_CHECK(data[marks[i]] == i + 1);
	T_CHECK(!data[BEYOND + 2] && data[BEYOND - 1] == 2);
	return 0;
}

static void most(void *to, const void *from, size_t count, void *arg)
{
	const unsigned char *f = from;
	unsigned char *t = to;
	size_t i;

	(void)arg;
	for (i = 0; i < count; i++)
		t[i] = t[i] > f[i] ? t[i] : f[i];
}

static int allreduce(struct ub_ctx *ctx, struct ub_scope *w)
{
	static const struct ub_op op = { .size = 1, .combine = most };
	size_t count = BEYOND + 100003, i;
	unsigned char *in = sparse(count), *out = again_and_again(count);

	(void)ctx;
	T_CHECK(in && out);
	for (i = 0; i < MARKS; i++)
		in[marks[i]] = i + 1 + ub_rank(w);
	T_CHECK(!ub_allreduce_op(w, in, out, count, &op));
	for (i = 2; i < MARKS; i++)
		T_CHECK(out[marks[i]] == i + 2);
	T_CHECK(!out[BEYOND + 2] && out[BEYOND - 1] == 3);
	return 0;
}

/* Much to the other, and little to far places. */
static int alltoallv(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), you = !me;
	size_t bytes = getenv("UB_LONG") ? BEYOND + 100003 : 1 << 20, i;
	size_t far = (size_t)5 << 30;
	size_t sizes[2], offs[2], got[2], at[2];
	unsigned char *in = sparse(far + 100), *out;

	(void)ctx;
	out = me ? again_and_again(bytes) : sparse(far + 100);
	T_CHECK(in && out);
	/* Rank 0 has much for rank 1 and gets a little, 5 GiB away. */
	sizes[me] = 0;
	offs[me] = 0;
	got[me] = 0;
	at[me] = 0;
	sizes[you] = me ? 100 : bytes;
	offs[you] = me ? far : 0;
	got[you] = me ? bytes : 100;
	at[you] = me ? 0 : far;
	for (i = 0; !me && i < MARKS && marks[i] < bytes; i++)
		in[marks[i]] = i + 1;
	if (me)
		memset(in + far, 9, 100);
	T_CHECK(!ub_alltoallv(w, in, sizes, offs, out, got, at));
	for (i = 2; me && i < MARKS && marks[i] < bytes; i++)
		T_CHECK(out[marks[i]] == i + 1);
	T_CHECK(me || (out[far] == 9 && out[far + 99] == 9 && !out[far - 1]));
	return 0;
}

static int places(struct ub_ctx *ctx, struct ub_scope *w)
{
	size_t far = (size_t)5 << 30, sizes[2] = { 1000, 300000 };
	size_t offs[2] = { far + 1000000, far };
	unsigned char *in = calloc(1, 300000), *out = sparse(far + 2000000);
	int me = ub_rank(w);

	(void)ctx;
	T_CHECK(in && out);
	memset(in, me + 1, sizes[me]);
	T_CHECK(!ub_allgatherv(w, in, out, sizes, offs));
	T_CHECK(out[far] == 2 && out[far + 299999] == 2 && !out[far + 300000]);
	T_CHECK(out[far + 1000000] == 1 && out[far + 1000999] == 1);
	memset(out + far, 0, 2000000);
	T_CHECK(!ub_gatherv(w, in, sizes[me], out, sizes, offs, 1));
	T_CHECK(!me || (out[far + 299999] == 2 && out[far + 1000999] == 1));
	T_CHECK(!ub_scatterv(w, out, sizes, offs, in, sizes[me], 1));
	T_CHECK(in[sizes[me] - 1] == me + 1);
	free(in);
	return 0;
}

/*
 * Windows of 6 GiB of which a few pages are touched: what is put, got and added at
 * places around 2^31 and 2^32 is there, and at no place that is the same modulo 2^32.
 */
static int windows(struct ub_ctx *ctx, struct ub_scope *w)
{
	static const size_t at[] = {
		BEYOND - 4, BEYOND + 8, 2 * BEYOND - 4, 2 * BEYOND + 16,
		((size_t)6 << 30) - 8,
	};
	size_t bytes = (size_t)6 << 30, i;
	uint64_t you = !ub_rank(w), put, got, old, *word;
	struct ub_win *win;

	(void)ctx;
	T_CHECK(!ub_win_create(w, bytes, &win));
	for (i = 0; i < 5; i++) {
		put = at[i] * 3 + you;
		T_CHECK(!ub_put(w, win, you, at[i], &put, sizeof(put)));
	}
	T_CHECK(ub_put(w, win, you, bytes - 7, &put, sizeof(put)) == -ERANGE);
	T_CHECK(ub_get(w, win, you, SIZE_MAX - 3, &got, sizeof(got)) == -ERANGE);
	T_CHECK(!ub_sync(w));
	for (i = 0; i < 5; i++) {
		T_CHECK(!ub_get(w, win, you, at[i], &got, sizeof(got)));
		T_CHECK(!ub_sync(w));
		T_CHECK(got == at[i] * 3 + you);
		memcpy(&got, (char *)ub_win_base(win) + at[i], sizeof(got));
		T_CHECK(got == at[i] * 3 + !you);
	}
	word = (uint64_t *)((char *)ub_win_base(win) + 16);
	T_CHECK(!*word && !*(uint64_t *)((char *)ub_win_base(win) + 8));
	T_CHECK(!ub_atomic(w, win, you, 2 * BEYOND + 16, 8, UB_ATOMIC_ADD, 5, 0, &old));
	T_CHECK(old == at[3] * 3 + you);
	T_CHECK(!ub_sync(w));
	word = (uint64_t *)((char *)ub_win_base(win) + 2 * BEYOND + 16);
	T_CHECK(*word == at[3] * 3 + !you + 5);
	return 0;
}

int main(void)
{
	t_plan(5);
	t_result(!t_run(2, NULL, bcast), "bcast of 2^31 bytes and more");
	t_result(!t_run(2, NULL, allreduce), "allreduce of 2^31 elements and more");
	t_result(!t_run(2, NULL, alltoallv), "alltoallv, and places beyond 2^32");
	t_result(!t_run(2, NULL, places), "gatherv and others with places beyond 2^32");
	t_bytes = (uint64_t)16 << 30;
	t_result(!t_run(2, NULL, windows), "windows of 6 GiB");
	return t_end();
}

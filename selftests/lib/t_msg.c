// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: order, lengths, tags, queues, what does not fit, what interrupts.
 */
#include "t.h"
#include <sys/mman.h>

/* What rank @from sends to @to as number @i of step @step: length and bytes. */
static size_t len_of(int from, int to, int step, int i)
{
	unsigned int h = from * 31 + to * 17 + step * 7 + i * 13;

	h = h * 2654435761u >> 8;
	return h % 5 ? h % 40 : h % 3 ? h % 3000 : 0;
}

static unsigned char byte_of(int from, int step, int i, size_t at)
{
	return from * 5 + step * 3 + i + at * 7;
}

static int send_one(struct ub_scope *s, int to, int step, int i, size_t len)
{
	int32_t tag[3] = { ub_rank(s), step, i };
	unsigned char *buf = malloc(len + 1);
	size_t k;
	int err;

	for (k = 0; k < len; k++)
		buf[k] = byte_of(ub_rank(s), step, i, k);
	err = ub_send(s, to, tag, buf, len);
	memset(buf, 0xee, len);
	free(buf);
	return err;
}

/* The first message is number @i of @from, with its bytes; it is removed. */
static int expect_one(struct ub_scope *s, int from, int step, int i, size_t len,
		      bool move)
{
	const void *tp, *pp;
	unsigned char *buf = NULL;
	const unsigned char *p;
	size_t got = 77, k;
	int32_t tag[3] = { 0 };

	T_CHECK(!ub_get_tag(s, &got, tag));
	if (got != len || tag[0] != from || tag[1] != step || tag[2] != i)
		printf("# rank %d: from %d number %d: %d %d %d, %zu bytes not %zu\n",
		       t_rank, from, i, tag[0], tag[1], tag[2], got, len);
	T_CHECK(got == len && tag[0] == from && tag[1] == step && tag[2] == i);
	if (move) {
		buf = malloc(len + 8);
		memset(buf, 0xaa, len + 8);
		T_CHECK(!ub_move(s, buf, len + 8));
		T_CHECK(buf[len] == 0xaa);
		p = buf;
	} else {
		T_CHECK(!ub_hpmove(s, &tp, &pp, &got));
		T_CHECK(got == len && !((uintptr_t)tp % 16) && !((uintptr_t)pp % 16));
		T_CHECK(!memcmp(tp, tag, sizeof(tag)));
		p = pp;
	}
	for (k = 0; k < len; k++)
		if (p[k] != byte_of(from, step, i, k))
			break;
	T_CHECK(k == len);
	free(buf);
	return 0;
}

/* Many messages to all, interleaved, of mixed lengths; in order at the end. */
static int traffic(struct ub_scope *s, int steps, int many, size_t scale)
{
	int n = ub_size(s), me = ub_rank(s), step, i, r;
	size_t tag = 12, count, bytes, all;

	T_CHECK(!ub_set_tagsize(s, &tag) && tag == 0);
	T_CHECK(!ub_sync(s));
	for (step = 0; step < steps; step++) {
		for (i = 0; i < many; i++)
			for (r = n - 1; r >= 0; r--)
				T_CHECK(!send_one(s, r, step, i,
						  scale * len_of(me, r, step, i)));
		T_CHECK(!ub_sync(s));
		for (all = 0, i = 0; i < many; i++)
			for (r = 0; r < n; r++)
				all += scale * len_of(r, me, step, i);
		T_CHECK(!ub_qsize(s, &count, &bytes));
		T_CHECK(count == (size_t)many * n && bytes == all);
		/* Some are left in the queue each time. */
		for (r = 0; r < n - step % 2; r++)
			for (i = 0; i < many; i++)
				T_CHECK(!expect_one(s, r, step, i,
						    scale * len_of(r, me, step, i),
						    (i + r) % 2));
	}
	T_CHECK(!ub_sync(s));
	T_CHECK(!ub_qsize(s, &count, &bytes) && !count && !bytes);
	T_CHECK(ub_move(s, &tag, 8) == -ENOMSG);
	return 0;
}

static int member_traffic(struct ub_ctx *ctx, struct ub_scope *w)
{
	(void)ctx;
	return traffic(w, 30, 20, 1);
}

static int member_large(struct ub_ctx *ctx, struct ub_scope *w)
{
	(void)ctx;
	return traffic(w, 3, 10, 400);
}

/* With little memory no slot can grow, and everything goes in pieces. */
static int member_tight(struct ub_ctx *ctx, struct ub_scope *w)
{
	(void)ctx;
	return traffic(w, 3, 10, 100);
}

/* How many calls of each rank came back with -ETIMEDOUT; members share it. */
static uint32_t *outs;

/* Calls come back with -ETIMEDOUT at every place, and go on. */
static int sync_on(struct ub_scope *s)
{
	int err;

	while ((err = ub_sync(s)) == -ETIMEDOUT)
		__atomic_add_fetch(&outs[ub_rank(s)], 1, __ATOMIC_RELAXED);
	return err;
}

/* Until a call of each other member came back; they wait for this one. */
static bool be_late(int n, int me)
{
	uint64_t end = t_now() + 60000000000ULL;
	int r;

	for (r = 0; r < n; r++) {
		uint32_t from = __atomic_load_n(&outs[r], __ATOMIC_RELAXED);

		while (r != me && __atomic_load_n(&outs[r], __ATOMIC_RELAXED) == from) {
			if (t_now() > end)
				return false;
			usleep(200);
		}
	}
	return true;
}

static int member_timeouts(struct ub_ctx *ctx, struct ub_scope *w)
{
	int n = ub_size(w), me = ub_rank(w), step, i, r;
	size_t tag = 12;

	(void)ctx;
	T_CHECK(!ub_set_tagsize(w, &tag));
	T_CHECK(!ub_sync(w));
	ub_set_timeout(w, 1);
	for (step = 0; step < 20; step++) {
		T_CHECK(step % n != me || be_late(n, me));
		for (r = 0; r < n; r++)
			for (i = 0; i < 4; i++)
				T_CHECK(!send_one(w, r, step, i, 9000 * i * (r + 1)));
		T_CHECK(!sync_on(w));
		for (r = 0; r < n; r++)
			for (i = 0; i < 4; i++)
				T_CHECK(!expect_one(w, r, step, i,
						    9000 * i * (me + 1), i & 1));
	}
	return sync_on(w);
}

static int member_tags(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), next = (me + 1) % ub_size(w);
	size_t size = 4, len;
	int32_t tag = 70 + me, got = -1;
	int64_t long_tag = 90 + me;

	(void)ctx;
	/* Counts from the next step; the last call of a step does. */
	T_CHECK(!ub_set_tagsize(w, &size) && size == 0);
	size = 8;
	T_CHECK(!ub_set_tagsize(w, &size) && size == 4);
	size = 4;
	T_CHECK(!ub_set_tagsize(w, &size) && size == 8);
	T_CHECK(!ub_send(w, next, NULL, "x", 1));
	T_CHECK(!ub_sync(w));
	T_CHECK(!ub_get_tag(w, &len, &got) && len == 1 && got == -1);
	/* Now 4; the next change does not touch what is sent now. */
	T_CHECK(!ub_send(w, next, &tag, NULL, 0));
	size = 8;
	T_CHECK(!ub_set_tagsize(w, &size) && size == 4);
	T_CHECK(!ub_sync(w));
	T_CHECK(!ub_get_tag(w, &len, &got) && len == 0 &&
		got == 70 + (me + ub_size(w) - 1) % ub_size(w));
	T_CHECK(ub_send(w, next, NULL, NULL, 0) == -EINVAL);
	T_CHECK(!ub_sync(w));	/* nobody sends in the step of the change */
	T_CHECK(!ub_send(w, next, &long_tag, NULL, 0));
	T_CHECK(!ub_sync(w));
	T_CHECK(!ub_get_tag(w, &len, &long_tag) &&
		long_tag == 90 + (me + ub_size(w) - 1) % ub_size(w));
	/* Set by one alone: its receivers hear of it. */
	size = me ? 8 : 2;
	T_CHECK(!ub_set_tagsize(w, &size) && !ub_sync(w));
	T_CHECK(!ub_send(w, next, &long_tag, NULL, 0));
	T_CHECK(ub_sync(w) == (me < 2 ? -EINVAL : 0));
	return 0;
}

static int member_misuse(struct ub_ctx *ctx, struct ub_scope *w)
{
	uint64_t sum = 0;
	size_t len;

	(void)ctx;
	T_CHECK(ub_send(w, -1, NULL, "x", 1) == -EINVAL);
	T_CHECK(ub_send(w, ub_size(w), NULL, "x", 1) == -EINVAL);
	T_CHECK(ub_send(w, 0, NULL, NULL, 1) == -EINVAL);
	T_CHECK(ub_send(NULL, 0, NULL, "x", 1) == -EINVAL);
	T_CHECK(ub_set_tagsize(w, NULL) == -EINVAL);
	T_CHECK(ub_get_tag(w, &len, NULL) == -ENOMSG);
	T_CHECK(ub_hpmove(w, NULL, NULL, NULL) == -ENOMSG);
	/* Messages go with a sync that reduces, and with one in two halves. */
	T_CHECK(!ub_send(w, 0, NULL, "abc", 3));
	T_CHECK(!ub_sync_reduce(w, UB_SUM, 1, &sum) && sum == (uint64_t)ub_size(w));
	T_CHECK(!ub_qsize(w, &len, NULL) && len == (ub_rank(w) ? 0 : sum));
	T_CHECK(!ub_send(w, 1, NULL, "abc", 3));
	T_CHECK(!ub_arrive(w, UB_MAX_U64, ub_rank(w)));
	T_CHECK(ub_send(w, 1, NULL, "abc", 3) == -EALREADY);
	T_CHECK(!ub_wait(w, &sum) && sum == (uint64_t)ub_size(w) - 1);
	T_CHECK(!ub_qsize(w, &len, NULL) &&
		len == (ub_rank(w) == 1 ? sum + 1 : 0));
	/* Members that differ: the same error for all, the messages come. */
	T_CHECK(!ub_send(w, 0, NULL, "abc", 3));
	T_CHECK(ub_sync_reduce(w, ub_rank(w) ? UB_SUM : UB_XOR, 1, &sum) == -EINVAL);
	T_CHECK(!ub_qsize(w, &len, NULL) &&
		len == (ub_rank(w) ? 0u : (size_t)ub_size(w)));
	T_CHECK(!ub_sync(w));
	return 0;
}

/* Collectives and scopes in between neither carry nor lose messages. */
static int member_between(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), i, step;
	struct ub_scope *half;
	struct ub_win *win;
	char *big = calloc(1, 300000);
	double x = me, sum;
	size_t count;

	(void)ctx;
	for (step = 0; step < 3; step++) {
		T_CHECK(!ub_send(w, (me + 1) % n, NULL, &me, sizeof(me)));
		T_CHECK(!ub_allreduce(w, &x, &sum, 1, UB_DOUBLE, UB_OP_SUM));
		T_CHECK(!ub_bcast(w, big, 300000, 0));
		T_CHECK(!ub_qsize(w, &count, NULL) && count == (step ? 1 : 0));
		T_CHECK(!ub_scope_split(w, me % 2, me, &half));
		T_CHECK(!ub_send(half, 0, NULL, big, 100));
		T_CHECK(!ub_send(w, (me + 1) % n, NULL, big, 5));
		T_CHECK(!ub_win_create(w, 4096, &win));
		T_CHECK(!ub_sync(half));
		T_CHECK(!ub_qsize(half, &count, NULL) &&
			count == (ub_rank(half) ? 0u : (size_t)ub_size(half)));
		T_CHECK(!ub_qsize(w, &count, NULL) && count == (step ? 1 : 0));
		T_CHECK(!ub_win_free(win));
		T_CHECK(!ub_scope_exit(half));
		T_CHECK(!ub_sync(w));
		T_CHECK(!ub_qsize(w, &count, NULL) && count == 2);
		T_CHECK(!ub_allreduce(w, &x, &sum, 1, UB_DOUBLE, UB_OP_SUM));
		T_CHECK(!ub_qsize(w, &count, NULL) && count == 2);
		T_CHECK(!ub_move(w, &i, sizeof(i)) && i == (me + n - 1) % n);
	}
	free(big);
	T_CHECK(!ub_sync(w));
	return 0;
}

/* A sync without messages between two with: slots take turns by messages only. */
static int member_sparse(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), step, got;
	size_t count;

	(void)ctx;
	for (step = 0; step < 2000; step++) {
		if (step % 3 == 1 && step % n == me)
			T_CHECK(!ub_send(w, (me + 1) % n, NULL, &step, sizeof(step)));
		T_CHECK(!ub_sync(w));
		T_CHECK(!ub_qsize(w, &count, NULL));
		T_CHECK(count == (step % 3 == 1 && (step + 1) % n == me));
		if (count)
			T_CHECK(!ub_move(w, &got, sizeof(got)) && got == step);
	}
	return 0;
}

/* One dies with messages on their way; the others hear the same and go on. */
static int member_death(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *rest;
	char *big = calloc(1, 3 << 20);
	size_t count;
	int i;

	(void)ctx;
	for (i = 0; i < 3; i++) {
		T_CHECK(!ub_send(w, (ub_rank(w) + 1) % ub_size(w), NULL, big, 1 << i * 10));
		T_CHECK(!ub_sync(w));
	}
	T_CHECK(!ub_send(w, (ub_rank(w) + 1) % ub_size(w), NULL, big, 3 << 20));
	if (ub_rank(w) == 1)
		raise(SIGKILL);
	T_CHECK(ub_sync(w) == -EOWNERDEAD);
	T_CHECK(ub_send(w, 0, NULL, "x", 1) == -EOWNERDEAD);
	T_CHECK(!ub_shrink(w, &rest));
	T_CHECK(!ub_send(rest, 0, NULL, "x", 1));
	T_CHECK(!ub_sync(rest));
	T_CHECK(!ub_qsize(rest, &count, NULL) &&
		count == (ub_rank(rest) ? 0u : (size_t)ub_size(rest)));
	T_CHECK(!ub_scope_exit(rest));
	free(big);
	return 0;
}

static int run_tight(void)
{
	int err;

	t_bytes = 4 << 20;
	err = t_run(3, NULL, member_tight);
	t_bytes = 1ULL << 30;
	return err;
}

static int run_death(void)
{
	struct t_job j;

	return t_start(&j, 4, NULL, member_death) || t_wait(&j, 1 << 1);
}

int main(void)
{
	outs = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (outs == MAP_FAILED)
		return 1;
	t_plan(11);
	t_result(!t_run(1, NULL, member_traffic), "to oneself");
	t_result(!t_run(2, NULL, member_traffic), "two members");
	t_result(!t_run(5, NULL, member_traffic), "five members, mixed lengths");
	t_result(!t_run(3, NULL, member_large), "large messages");
	t_result(!run_tight(), "in little memory, by pieces");
	t_result(!t_run(3, NULL, member_timeouts), "time-outs on the way");
	t_result(!t_run(3, NULL, member_tags), "tag sizes");
	t_result(!t_run(4, NULL, member_misuse), "arguments, reductions, two halves");
	t_result(!t_run(4, NULL, member_between), "collectives and scopes between");
	t_result(!t_run(3, NULL, member_sparse), "syncs without messages");
	t_result(!run_death(), "a member dies");
	return t_end();
}

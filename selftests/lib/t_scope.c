// SPDX-License-Identifier: GPL-2.0-only
/* Nesting: six levels of one member, 2x2x2, lanes, splits of odd shapes. */
#include "t.h"

static const char *machines = "lib/machines";

static void machine(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", machines, name);
	setenv("UB_MACHINE", path, 1);
}

static int sum_ranks(struct ub_scope *s)
{
	uint64_t sum;

	T_CHECK(!ub_sync_reduce(s, UB_SUM, ub_rank(s) + 1, &sum));
	T_CHECK(sum == (uint64_t)ub_size(s) * (ub_size(s) + 1) / 2);
	return 0;
}

static int six(struct ub_ctx *ctx, struct ub_scope *w)
{
	static const char * const level[] = {
		"zone", "hall", "supernode", "rack", "board", "package",
	};
	struct ub_scope *s = w, *again;
	int i, k;

	(void)ctx;
	for (i = 0; i < 6; i++) {
		struct ub_scope *in;

		T_CHECK(!ub_scope_enter(s, level[i], &in));
		T_CHECK(ub_outer(in) == s && ub_size(in) == 1);
		T_CHECK(!strcmp(ub_level(in), level[i]));
		T_CHECK(!ub_scope_enter(s, level[i], &again) && again == in);
		for (k = 0; k < 100; k++)
			T_CHECK(!sum_ranks(in));
		s = in;
	}
	while (s != w) {
		struct ub_scope *out = ub_outer(s);

		T_CHECK(!sum_ranks(s));
		T_CHECK(!ub_scope_exit(s));
		s = out;
	}
	T_CHECK(ub_scope_enter(w, "galaxy", &again) == -ENOENT);
	return sum_ranks(w);
}

static int cube(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *rack, *board;
	struct ub_level_stats st;
	int i, k;

	T_CHECK(!ub_scope_enter(w, "rack", &rack) && ub_size(rack) == 4);
	T_CHECK(!ub_scope_enter(rack, "board", &board) && ub_size(board) == 2);
	T_CHECK(ub_outer_rank(board, ub_rank(board)) == ub_rank(rack));
	T_CHECK(ub_outer_rank(rack, ub_rank(rack)) == ub_rank(w));
	for (i = 0; i < 50; i++) {
		for (k = 0; k < 10; k++)
			T_CHECK(!sum_ranks(board));
		T_CHECK(!sum_ranks(rack));
		T_CHECK(!sum_ranks(w));
	}
	for (i = 0; !ub_stats(ctx, i, &st); i++) {
		if (!strcmp(st.level, "board"))
			T_CHECK(st.supersteps == 500);
		if (!strcmp(st.level, "rack"))
			T_CHECK(st.supersteps == 50);
	}
	if (getenv("T_TABLE"))
		T_CHECK(!ub_stats_print(ctx, stderr));
	T_CHECK(!ub_scope_exit(board));
	T_CHECK(!ub_scope_exit(rack));
	return 0;
}

static int lanes(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *node, *board;

	(void)ctx;
	T_CHECK(!ub_scope_enter(w, "node", &node));
	T_CHECK(ub_size(node) == 2);
	T_CHECK(!sum_ranks(node));
	T_CHECK(!ub_scope_enter(w, "board", &board));
	T_CHECK(ub_size(board) == (ub_node(w, ub_rank(w)) < 2 ? 4 : 2));
	T_CHECK(!sum_ranks(board));
	return sum_ranks(w);
}

/* Colours by value, ranks upside down, one member alone, one takes no part. */
static int odd(struct ub_ctx *ctx, struct ub_scope *w)
{
	int me = ub_rank(w), n = ub_size(w), i;
	struct ub_scope *s, *t;

	(void)ctx;
	for (i = 0; i < 20; i++) {
		int colour = me == n - 1 ? -1 : me == 0 ? 7 : me % 2;

		T_CHECK(!ub_scope_split(w, colour, -me, &s));
		T_CHECK(!s == (colour < 0));
		if (!s)
			continue;
		T_CHECK(ub_outer_rank(s, ub_rank(s)) == me);
		if (ub_rank(s))
			T_CHECK(ub_outer_rank(s, ub_rank(s) - 1) > me);
		T_CHECK(!sum_ranks(s));
		/* A split of a split, and the outer one still works. */
		T_CHECK(!ub_scope_split(s, ub_rank(s) / 2, 0, &t));
		T_CHECK(!sum_ranks(t));
		T_CHECK(!sum_ranks(s));
		T_CHECK(!ub_scope_exit(t));
		T_CHECK(!ub_scope_exit(s));
	}
	return sum_ranks(w);
}

/* More splits than there are slots: they are given back. */
static int many(struct ub_ctx *ctx, struct ub_scope *w)
{
	struct ub_scope *s;
	uint64_t t = t_now();
	int i;

	(void)ctx;
	for (i = 0; i < 500; i++) {
		T_CHECK(!ub_scope_split(w, ub_rank(w) / 2, 0, &s));
		T_CHECK(!ub_sync(s));
		T_CHECK(!ub_scope_exit(s));
	}
	if (!ub_rank(w))
		printf("# split, sync, exit: %.1f us\n", (t_now() - t) / 5e5);
	return 0;
}

static int bad_machine(void)
{
	char path[] = "/tmp/ub-machine-XXXXXX";
	int fd = mkstemp(path), err;
	struct ub_ctx *ctx;

	dprintf(fd, "name: x\nlevels:\n  - {name: a, radix: 2}\n"
		"  - {name: b, raddix: 2}\n");
	close(fd);
	setenv("UB_MACHINE", path, 1);
	err = ub_init(&ctx, NULL);
	unlink(path);
	printf("# %s\n", ub_last_error());
	return !(err == -EINVAL && strstr(ub_last_error(), ":4:"));
}

int main(void)
{
	static const int none[8];
	static const int dense[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	static const int two_lanes[6] = { 0, 0, 1, 1, 2, 2 };

	if (getenv("UB_MACHINES"))
		machines = getenv("UB_MACHINES");
	t_plan(8);
	machine("6x1.yaml");
	t_result(!t_run(1, none, six), "six levels of one member");
	machine("2x2x2.yaml");
	t_result(!t_run(8, dense, cube), "2x2x2");
	machine("2x2.yaml");
	t_result(!t_run(6, two_lanes, lanes), "lanes of a node, a ragged board");
	unsetenv("UB_MACHINE");
	t_result(!t_run(5, NULL, odd), "splits of 5");
	t_result(!t_run(7, NULL, odd), "splits of 7");
	machine("2x2x2.yaml");
	t_result(!t_run(7, dense, odd), "splits of 7 over three levels");
	t_result(!t_run(4, NULL, many), "500 splits");
	t_result(!bad_machine(), "a wrong machine file is named by line");
	return t_end();
}

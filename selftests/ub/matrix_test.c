// SPDX-License-Identifier: GPL-2.0-only
/*
 * The failure matrix: fault x phase x members. A victim on the last node is in
 * a call; at each instant of it at which others can see a difference (before
 * each of its stores: UB_TEST_HOLD_AT) its node stands still, or its process
 * is killed. Every survivor has to be told the same, in the same barrier, then
 * all shrink and go on. A node that stood still goes on in the end as a zombie:
 * it is refused, and changes nothing.
 *
 * Prints a line for each fault and phase with the times from the fault to the
 * last survivor's answer and to the end of its first barrier without the lost
 * one; selftests/vm/matrix_table.sh makes the table of faults.rst of them.
 *
 * usage: matrix_test [PHASE...]	only these
 *	UB_EVERY	look at each such instant only
 */
#define UB_NO_HARNESS
#include "matrix.h"

#define INSTANTS	120		/* no call has as many */
#define CASES		1024
#define LATE_MAX	6

enum fault { FENCED, SILENT, KILLED, FAULTS };

static const struct {
	const char *name;
	__u32 how;
	__u32 reasons;
} faults[FAULTS] = {
	/* On a busy machine its silence may be noticed first. */
	[FENCED] = { "node-fenced", UB_TEST_HOLD_AT,
		     1 << UB_REASON_FENCED | 1 << UB_REASON_HEARTBEAT },
	[SILENT] = { "node-silent", UB_TEST_HOLD_AT, 1 << UB_REASON_HEARTBEAT },
	[KILLED] = { "process-killed", UB_TEST_DIE_AT, 1 << UB_REASON_EXIT },
};

/* What a survivor was answered; without padding, to be compared. */
struct answer {
	__u64 call;
	__s32 ret;
	__u32 n;
	__u64 oks;
	struct ub_lost lost;
};

struct tale {
	struct answer a[24];
	int n;
	__u64 oks;
	__u64 told, back;
	int left;			/* how many there will be in the end */
	const struct phase *phase;
};

static int every = 1;

/* ---- what the survivors do ---- */

static void note(struct tale *t, __u64 call, int ret, __u32 n,
		 const struct ub_lost *lost)
{
	struct answer *a = &t->a[t->n];

	if (t->n == COUNT(t->a))
		return;
	t->n++;
	a->call = call;
	a->ret = ret;
	a->n = n;
	a->oks = t->oks;
	if (ret == -EOWNERDEAD)
		a->lost = *lost;
}

/* Barriers until one is lost, shrink, until those that are lost are gone. */
static int step_survive(struct member *m)
{
	struct tale *t = m->ctx;
	int ret, turn;

	if (t->phase->meet) {
		ret = t->phase->meet(m);
		note(t, UB_CMD_GROUP_CREATE, ret, 0, &m->gc.out_lost);
		if (ret && ret != -EOWNERDEAD)
			return ret;
	}
	for (turn = 0; turn < 8; turn++) {
		while (!(ret = red_barrier(m, t->phase->red)))
			t->oks++;
		note(t, UB_CMD_BARRIER, ret, 0, &m->bar.out_lost);
		if (ret != -EOWNERDEAD)
			return ret;
		t->told = now();
		ret = step_shrink(m);
		note(t, UB_CMD_GROUP_SHRINK, ret, m->n, &m->shrink.out_lost);
		if (ret && ret != -EOWNERDEAD)
			return ret;
		if (!ret && m->n == t->left)
			break;
	}
	ret = red_barrier(m, UB_RED_SUM);
	t->back = now();
	return ret;
}

static int step_sum(struct member *m)
{
	return red_barrier(m, UB_RED_SUM);
}

/* ---- one case ---- */

struct scene {
	struct stage *s;
	struct member m[NODES];
	struct tale tale[NODES];
	struct member leaver;
	enum fault which;
	int ctl;			/* of the victim's node */
	int survivors;
	__u64 at;			/* when it sprung */
	__u32 reason;			/* that was told */
	bool late;			/* a survivor's node was fenced */
	pid_t pid;
	char why[512];
};

static bool bad(struct scene *c, const char *why, long a, long b)
{
	if (!c->why[0])
		snprintf(c->why, sizeof(c->why), "%s (%ld, %ld)", why, a, b);
	c->late |= a == -ESHUTDOWN || b == -ESHUTDOWN;
	return false;
}

static int open_survivors(struct scene *c)
{
	struct stage *s = c->s;
	int i;

	for (i = 0; i < c->survivors; i++) {
		struct member *m = &c->m[i];

		memset(m, 0, sizeof(*m));
		memset(&c->tale[i], 0, sizeof(c->tale[i]));
		m->index = i + (i >= s->index);
		m->n = s->n;
		m->fd = open_node(i);
		if (m->fd < 0)
			return -errno;
		m->ctx = &c->tale[i];
		c->tale[i].phase = s->phase;
		c->tale[i].left = c->survivors;
		m->gc = world_arg(s->key, s->n + s->phase->shrinks, m->index, CALL_MS);
	}
	c->leaver = (struct member){ .fd = -1 };
	if (s->phase->shrinks) {
		c->leaver.fd = open_node(0);
		c->leaver.gc = world_arg(s->key, s->n + 1, s->n, CALL_MS);
	}
	return win_create(c->m[0].fd, 4 * UNIT, UB_WIN_RIGHTS, &s->home);
}

static bool start_all(struct scene *c)
{
	struct stage *s = c->s;
	int i, ret = open_survivors(c);

	if (ret)
		return bad(c, "opening", ret, 0);
	c->pid = spawn(victim_main, s);
	if (!s->phase->early) {
		if (s->phase->shrinks)
			member_start(&c->leaver, step_create);
		ret = members_run(c->m, c->survivors, step_create);
		if (s->phase->shrinks) {
			member_join(&c->leaver);
			close(c->leaver.fd);
		}
	}
	if (ret)
		return bad(c, "making the group", ret, 0);
	if (!wait_word(&s->ready, CALL_MS) || s->ret)
		return bad(c, "the victim", s->ret, 0);
	for (i = 0; i < c->survivors; i++) {
		ret = win_attach(c->m[i].fd, &s->own, RW);
		if (ret)
			return bad(c, "attaching", i, ret);
		if (s->phase->early)
			c->m[i].gc.timeout = in_ms(MEET_MS);
	}
	return true;
}

/* Has it sprung, or was it missed? */
static bool spring(struct scene *c)
{
	__u64 end = in_ms(CALL_MS);

	if (!wait_word(&c->s->armed, CALL_MS))
		return bad(c, "not armed", 0, 0);
	while (!LD(&c->s->missed)) {
		if (test_op(c->ctl, UB_TEST_SPRUNG, 0, 0, &c->at) || now() > end)
			return bad(c, "not sprung", c->s->nth, 0);
		if (c->at)
			return true;
		usleep(100);
	}
	return true;
}

static bool all_the_same(struct scene *c)
{
	const struct tale *t = &c->tale[0];
	int i, j;

	for (i = 1; i < c->survivors; i++) {
		const struct tale *u = &c->tale[i];

		for (j = 0; j < t->n && j < u->n; j++)
			if (memcmp(&t->a[j], &u->a[j], sizeof(t->a[j])))
				return bad(c, "answers differ", i, j);
		if (t->n != u->n || t->oks != u->oks)
			return bad(c, "not as many answers", t->n, u->n);
	}
	return true;
}

/* Of the answers the last that is a loss names the victim. */
static bool names_victim(struct scene *c)
{
	const struct stage *s = c->s;
	const struct tale *t = &c->tale[0];
	const struct ub_lost *l = NULL;
	__u32 reasons = faults[c->which].reasons;
	int j;

	for (j = 0; j < t->n; j++)
		if (t->a[j].ret == -EOWNERDEAD)
			l = &t->a[j].lost;
	if (!l)
		return bad(c, "nobody was told", t->n, 0);
	c->reason = l->reason;
	if (s->phase->leaves)
		reasons |= 1 << UB_REASON_LEFT;
	if (s->phase->early && l->reason == UB_REASON_TIMEOUT)
		return true;	/* it never said who it is */
	if (s->phase->shrinks && l->member == s->n)
		return true;	/* the one that left; the victim was not there any more */
	if (!(reasons & 1 << l->reason))
		return bad(c, "reason", l->reason, l->member);
	if (l->node != VICTIM)
		return bad(c, "node", l->node, l->member);
	return true;
}

/* What was held goes on: it is refused, and nobody notices. */
static bool zombie(struct scene *c)
{
	struct ub_win_create w;
	__u64 end = in_ms(CALL_MS);
	int ret;

	ret = test_op(c->ctl, UB_TEST_RESUME, 0, 0, NULL);
	if (ret)
		return bad(c, "resuming", ret, 0);
	if (!wait_word(&c->s->over, CALL_MS))
		return bad(c, "the zombie hangs", c->s->ret, 0);
	if (c->s->oks > c->tale[0].oks)
		return bad(c, "the zombie had more epochs", c->s->oks, c->tale[0].oks);
	/* It left, or came too late: its node was not taken for dead yet. */
	if (c->which == SILENT && c->reason != UB_REASON_HEARTBEAT)
		return true;
	while ((ret = win_create(c->ctl, 1, RW, &w)) != -ESHUTDOWN) {
		if (ret || now() > end)
			return bad(c, "the zombie's node goes on", ret, 0);
		win_destroy(c->ctl, w.out_desc.window);
		usleep(1000);
	}
	return true;
}

static bool judge(struct scene *c)
{
	__u64 v;
	int i, ret;

	for (i = 0; i < c->survivors; i++)
		if (c->m[i].ret)
			return bad(c, "a survivor did not go on", i, c->m[i].ret);
	if (!all_the_same(c))
		return false;
	if (!LD(&c->s->missed)) {
		if (!names_victim(c))
			return false;
		if (c->which != KILLED && !zombie(c))
			return false;
	}
	ret = reap(c->pid);
	c->pid = 0;
	if (ret != (c->which == KILLED && !LD(&c->s->missed) ? 128 + SIGKILL : 0))
		return bad(c, "the victim ended with", ret, c->s->ret);
	ret = members_run(c->m, c->survivors, step_sum);
	if (ret)
		return bad(c, "the survivors' next barrier", ret, 0);
	for (i = 0; i < c->survivors; i++) {
		ret = xfer(c->m[i].fd, UB_XFER_GET, c->s->own.out_desc.gva, &v, 8, 0, 0);
		if (ret != -EOWNERDEAD && ret != -ESTALE)
			return bad(c, "the victim's window", i, ret);
	}
	return true;
}

static void end_all(struct scene *c)
{
	int i;

	for (i = 0; i < c->survivors; i++)
		if (c->m[i].fd >= 0)
			close(c->m[i].fd);
	test_op(c->ctl, UB_TEST_RESUME, 0, 0, NULL);
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		reap(c->pid);
	}
	c->pid = 0;
}

/* The node lives again, with another incarnation when it was fenced. */
static bool revive(struct scene *c)
{
	struct ub_info before = info_of(c->ctl);
	struct ub_win_create w;
	int ret = win_create(c->ctl, 1, RW, &w);

	if (ret == -ESHUTDOWN) {
		ret = test_op(c->ctl, UB_TEST_REJOIN, 0, 0, NULL);
		close(c->ctl);
		c->ctl = open_node(VICTIM);
		if (ret)
			return bad(c, "joining again", ret, 0);
		if (info_of(c->ctl).out_incarnation <= before.out_incarnation)
			return bad(c, "incarnation", before.out_incarnation, 0);
		return true;
	}
	if (!ret)
		win_destroy(c->ctl, w.out_desc.window);
	return ret ? bad(c, "the node", ret, 0) : true;
}

/* 1 it sprung and all is well, 0 the call has fewer instants, -1 failed */
static int run_case(struct scene *c, const struct phase *p, enum fault which,
		    int n, __u64 nth)
{
	bool good;
	int i;

	memset(c->s, 0, sizeof(*c->s));
	fresh_key(c->s->key);
	c->s->phase = p;
	c->s->how = faults[which].how;
	c->s->nth = nth;
	c->s->n = n;
	c->s->index = nth % n;
	c->which = which;
	c->survivors = n - 1;
	c->at = 0;
	c->why[0] = 0;
	c->late = false;
	good = start_all(c);
	if (good) {
		set_word(&c->s->go);
		for (i = 0; i < c->survivors; i++)
			member_start(&c->m[i], step_survive);
		good = spring(c);
		if (!good || (c->at && which == FENCED))
			test_op(c->m[0].fd, UB_TEST_FENCE, VICTIM, 0, NULL);
		for (i = 0; i < c->survivors; i++)
			member_join(&c->m[i]);
		good = good && judge(c);
	}
	end_all(c);
	good = revive(c) && good;
	return good ? !!c->at : -1;
}

/*
 * The same, but when the machine was so busy with others that a survivor's node
 * was taken for dead, a few times in all.
 */
static int run_in_time(struct scene *c, const struct phase *p, enum fault which,
		       int n, __u64 nth)
{
	static int again;
	int ret;

	for (;;) {
		ret = run_case(c, p, which, n, nth);
		if (ret >= 0)
			return ret;
		close(c->ctl);
		heal();
		c->ctl = open_node(VICTIM);
		if (!c->late || again++ == LATE_MAX)
			return ret;
		ksft_print_msg("a survivor's node was late: %s %s, %d members, instant %llu once more\n",
			       faults[which].name, p->name, n, nth);
	}
}

/* ---- the table ---- */

static struct series {
	__u64 told[CASES], back[CASES];
	int n;
} series[FAULTS][COUNT(phases)];

static void add(struct series *r, const struct scene *c)
{
	__u64 told = 0, back = 0;
	int i;

	for (i = 0; i < c->survivors; i++) {
		if (c->tale[i].told > told)
			told = c->tale[i].told;
		if (c->tale[i].back > back)
			back = c->tale[i].back;
	}
	if (r->n == CASES || told < c->at)
		return;		/* told of another before */
	r->told[r->n] = (told - c->at) / 1000;
	r->back[r->n++] = (back - c->at) / 1000;
}

static int by_size(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void table(void)
{
	int f, p;

	for (f = 0; f < FAULTS; f++) {
		for (p = 0; p < COUNT(phases); p++) {
			struct series *r = &series[f][p];

			if (!r->n)
				continue;
			qsort(r->told, r->n, sizeof(r->told[0]), by_size);
			qsort(r->back, r->n, sizeof(r->back[0]), by_size);
			printf("# matrix %s %s cases %d detect_us %llu %llu recover_us %llu %llu\n",
			       faults[f].name, phases[p].name, r->n,
			       r->told[(r->n - 1) / 2], r->told[r->n - 1],
			       r->back[(r->n - 1) / 2], r->back[r->n - 1]);
		}
	}
}

/* All instants of a call, or of a silent node a few: each costs its time. */
static void sweep(struct scene *c, int p, enum fault f, int n)
{
	static const __u64 few[] = { 1, 3, 7 };
	/* Three members at each instant, others at each third, turn by turn. */
	const int step = f == SILENT ? 1 : n == 3 || getenv("UB_LONG") ? every : 3 * every;
	const int skip = step == 1 ? 0 : (p + n) % step;
	int ret = 1, cases = 0;
	__u64 nth;

	for (nth = 1 + skip; nth <= INSTANTS && ret == 1; nth += step) {
		if (f == SILENT && nth > COUNT(few))
			break;
		ret = run_in_time(c, &phases[p], f, n,
				  f == SILENT ? few[nth - 1] : nth);
		if (ret != 1)
			break;
		add(&series[f][p], c);
		cases++;
	}
	if (ret < 0)
		ksft_print_msg("instant %llu: %s\n", c->s->nth, c->why);
	/* Of a short call there may be none for this turn. */
	ksft_test_result(ret >= 0 && (cases || skip) && nth <= INSTANTS,
			 "%s %s, %d members, %d instants\n", faults[f].name,
			 phases[p].name, n, cases);
}

int main(int argc, char **argv)
{
	static struct scene c;
	int p, f, n, i, wanted = 0;
	bool want[COUNT(phases)];

	for (p = 0; p < COUNT(phases); p++) {
		want[p] = argc < 2;
		for (i = 1; i < argc; i++)
			want[p] |= !strcmp(argv[i], phases[p].name);
		wanted += want[p];
	}
	if (getenv("UB_EVERY"))
		every = atoi(getenv("UB_EVERY"));
	if (every < 1)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	ksft_print_header();
	ksft_set_plan(wanted * ((FAULTS - 1) * (NODES - 1) + 1));
	c.s = mmap(NULL, sizeof(*c.s), PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c.s == MAP_FAILED || heal())
		ksft_exit_fail_msg("no healthy nodes\n");
	c.ctl = open_node(VICTIM);
	for (p = 0; p < COUNT(phases); p++) {
		for (f = 0; want[p] && f < FAULTS; f++)
			for (n = f == SILENT ? NODES : 2; n <= NODES; n++)
				sweep(&c, p, f, n);
	}
	table();
	ksft_finished();
}

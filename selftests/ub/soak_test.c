// SPDX-License-Identifier: GPL-2.0-only
/*
 * Soak on loop nodes: step after step, four processes work (soak_work.h) while
 * something is done to one or two of them at a random moment. Every survivor
 * must get the same answer, in time, that names who was lost and why, go on
 * without the lost, and compute what is right; where nobody is to be lost,
 * nobody may be.
 *
 * A result for each step, then a table of what was done and answered. A step
 * follows from seed and number alone: UB_SOAK_SEED and UB_SOAK_FROM repeat it.
 *
 *	UB_SOAK_N	steps (10)	UB_SOAK_FROM	the first one (0)
 *	UB_SOAK_SEED	(the time)
 *	UB_SOAK_BREAK	if set, nothing is done: whoever should be lost is not, so
 *			these steps must fail
 */
#define UB_NO_HARNESS
#include "soak_work.h"

#define STEP_MS		60000	/* a step that takes longer hangs */
#define SLACK_MS	4000	/* of an answer, where others have the CPUs */

enum { F_NONE, F_PAUSE, F_STALL, F_KILL, F_REBOOT, F_FENCE, F_EXIT, F_TWO, FAULTS };

#define R(reason)	(1U << UB_REASON_##reason)

static const struct fault {
	const char *name;
	__u32 reasons;		/* that may be told */
	int lost;		/* members that are */
} faults[FAULTS] = {
	[F_NONE]	= { "nothing", 0, 0 },
	[F_PAUSE]	= { "short pause", 0, 0 },
	[F_STALL]	= { "long pause", R(HEARTBEAT), 1 },
	[F_KILL]	= { "node killed", R(HEARTBEAT), 1 },
	[F_REBOOT]	= { "node rebooted", R(HEARTBEAT) | R(REBOOT), 1 },
	[F_FENCE]	= { "node fenced", R(FENCED), 1 },
	[F_EXIT]	= { "process killed", R(EXIT), 1 },
	[F_TWO]		= { "two killed", R(HEARTBEAT) | R(EXIT), 2 },
};

/* What has been seen, for the table. */
struct tally {
	unsigned int steps, bad, told[UB_REASON_ERASED + 1];
	__u64 most_ms;
};

/* A step as it was drawn. */
struct plan {
	int fault;
	int victim[2];
	unsigned int delay_us[2];
	unsigned int pause_ms;
};

static struct tally tally[FAULTS];

static unsigned int env_number(const char *name, unsigned int otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoul(s, NULL, 0) : otherwise;
}

static struct plan draw(__u64 seed)
{
	struct plan p = { .fault = soak_mix(seed, 1) % FAULTS };

	p.victim[0] = soak_mix(seed, 2) % NODES;
	p.victim[1] = (p.victim[0] + 1 + soak_mix(seed, 3) % (NODES - 1)) % NODES;
	p.delay_us[0] = soak_mix(seed, 4) % 300000;
	p.delay_us[1] = soak_mix(seed, 5) % (1500 * detect_ms());
	p.pause_ms = soak_mix(seed, 6) % (detect_ms() / 4);
	return p;
}

static bool wait_for(bool (*is)(struct soak_step *st, const struct plan *p),
		     struct soak_step *st, const struct plan *p, __u64 end)
{
	while (!is(st, p)) {
		if (now() > end)
			return false;
		sleep_ms(1);
	}
	return true;
}

static bool is_victim(const struct plan *p, int i)
{
	int lost = faults[p->fault].lost;

	return (lost > 0 && i == p->victim[0]) || (lost > 1 && i == p->victim[1]);
}

static bool all_up(struct soak_step *st, const struct plan *p)
{
	int i;

	for (i = 0; i < NODES; i++)
		if (!LD(&st->r[i].up) && !LD(&st->r[i].error))
			return false;
	return true;
}

static bool all_done(struct soak_step *st, const struct plan *p)
{
	int i;

	for (i = 0; i < NODES; i++)
		if (!is_victim(p, i) && !LD(&st->r[i].done) &&
		    !LD(&st->r[i].refused) && !LD(&st->r[i].error))
			return false;
	return true;
}

/* ---- doing it ---- */

static int end_one(pid_t pid, int node, bool process)
{
	int fd, ret;

	if (process)
		return kill(pid, SIGKILL) ? -errno : 0;
	fd = open_node(node);
	ret = test_op(fd, UB_TEST_KILL, 0, 0, NULL);
	close(fd);
	return ret;
}

static int inject(struct soak_step *st, const struct plan *p, const pid_t *pid,
		  __u64 end)
{
	int v = p->victim[0], fd = open_node(v), other, ret = 0;

	switch (p->fault) {
	case F_PAUSE:
	case F_STALL:
		ret = test_op(fd, UB_TEST_PAUSE, 0, 0, NULL);
		if (p->fault == F_PAUSE)
			sleep_ms(p->pause_ms);
		else
			wait_for(all_done, st, p, end);
		ret = ret ? : test_op(fd, UB_TEST_RESUME, 0, 0, NULL);
		break;
	case F_KILL:
		ret = end_one(pid[v], v, false);
		break;
	case F_REBOOT:
		ret = end_one(pid[v], v, false);
		ret = ret ? : test_op(fd, UB_TEST_REJOIN, 0, 0, NULL);
		break;
	case F_FENCE:
		other = open_node((v + 1) % NODES);
		ret = test_op(other, UB_TEST_FENCE, v, 0, NULL);
		close(other);
		break;
	case F_EXIT:
		ret = end_one(pid[v], v, true);
		break;
	case F_TWO:
		ret = end_one(pid[v], v, st->seed & 1);
		usleep(p->delay_us[1]);
		v = p->victim[1];
		ret = ret ? : end_one(pid[v], v, st->seed & 2);
		break;
	}
	close(fd);
	return ret;
}

/* ---- judging it ---- */

static const char *wrong(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return why;
}

/* What is wrong with a survivor's report, or NULL. @ref is the first one's. */
static const char *judge_one(struct soak_step *st, const struct plan *p, int i,
			     const struct soak_report *ref, char *why, size_t size)
{
	const struct fault *f = &faults[p->fault];
	const struct soak_report *r = &st->r[i];
	__u32 k;

	if (!r->done)
		return wrong(why, size, "member %d %s (in %s)", i, r->refused ?
			     "was refused" : "did not end", soak_ops[r->op].name);
	if (r->told > f->lost || (f->lost && !r->told))
		return wrong(why, size, "member %d was told of %u losses", i, r->told);
	if (r->members != NODES - f->lost)
		return wrong(why, size, "member %d ended among %u", i, r->members);
	if (r->told != ref->told || memcmp(r->lost, ref->lost, sizeof(r->lost)))
		return wrong(why, size, "member %d has another answer", i);
	for (k = 0; k < r->told; k++)
		if (!is_victim(p, r->lost[k].node) ||
		    !(f->reasons >> r->lost[k].reason & 1))
			return wrong(why, size, "member %d was told node %u, reason %u",
				     i, r->lost[k].node, r->lost[k].reason);
	if (r->told && r->lost[0].epoch != r->ok_epoch + 1)
		return wrong(why, size, "member %d had ok for %llu, and %llu is lost",
			     i, r->ok_epoch, r->lost[0].epoch);
	return NULL;
}

static const char *judge(struct soak_step *st, const struct plan *p, __u64 from,
			 char *why, size_t size)
{
	struct tally *t = &tally[p->fault];
	const struct soak_report *ref = NULL;
	const char *bad = NULL;
	__u64 took, most = 2 * detect_ms() + SLACK_MS;
	__u32 k;
	int i;

	for (i = 0; i < NODES; i++)
		if (st->r[i].error)
			return wrong(why, size, "member %d: error %d, %s", i,
				     st->r[i].error, st->r[i].where);
	for (i = 0; i < NODES && !bad; i++) {
		if (is_victim(p, i))
			continue;
		ref = ref ? : &st->r[i];
		bad = judge_one(st, p, i, ref, why, size);
		if (bad || !ref->told)
			continue;
		took = st->r[i].told_at > from ? (st->r[i].told_at - from) / MS : 0;
		t->most_ms = took > t->most_ms ? took : t->most_ms;
		if (took > most)
			bad = wrong(why, size, "member %d was told after %llu ms", i, took);
	}
	for (k = 0; ref && k < ref->told && !bad; k++)
		t->told[ref->lost[k].reason]++;
	return bad;
}

/* ---- a step ---- */

static const char *end_all(struct soak_step *st, const struct plan *p,
			   const pid_t *pid, char *why, size_t size)
{
	const char *bad = NULL;
	int i;

	if (!wait_for(all_done, st, p, in_ms(STEP_MS)))
		bad = wrong(why, size, "not all ended in %d s", STEP_MS / 1000);
	for (i = 0; i < NODES; i++) {
		__u64 end = in_ms(bad ? 0 : 10000);

		/* A victim that lives has been refused; all can be killed. */
		while (!bad && !waitpid(pid[i], NULL, WNOHANG) && now() < end)
			sleep_ms(1);
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	return bad;
}

/* NULL, or why it failed; @what says what was done. */
static const char *step(__u64 seed, char *what, size_t wsize, char *why, size_t size)
{
	struct soak_step *st = mmap(NULL, sizeof(*st), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct plan p = draw(seed);
	const char *bad = NULL, *late;
	pid_t pid[NODES];
	__u64 from;
	int i, err;

	snprintf(what, wsize, "%s", faults[p.fault].name);
	st->seed = seed;
	st->lost = faults[p.fault].lost;
	fresh_key(st->key);
	err = heal();
	if (err)
		bad = wrong(why, size, "nodes do not come back: %d", err);
	for (i = 0; i < NODES; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(soak_main(st, i));
	}
	if (!wait_for(all_up, st, &p, in_ms(STEP_MS)))
		bad = bad ? : wrong(why, size, "the world did not come up");
	usleep(p.delay_us[0]);
	snprintf(what, wsize, "%s, node %d in %s, round %llu", faults[p.fault].name,
		 p.victim[0], soak_ops[LD(&st->r[p.victim[0]].op)].name,
		 LD(&st->r[p.victim[0]].rounds));
	from = now();
	err = bad || getenv("UB_SOAK_BREAK") ? 0 : inject(st, &p, pid, in_ms(STEP_MS));
	if (err)
		bad = wrong(why, size, "it could not be done: %d", err);
	if (!faults[p.fault].lost || getenv("UB_SOAK_BREAK"))
		set_word(&st->stop);
	late = end_all(st, &p, pid, why, size);
	bad = bad ? : late;
	bad = bad ? : judge(st, &p, from, why, size);
	munmap(st, sizeof(*st));
	return bad;
}

static void show_table(void)
{
	static const char * const reason[] = { "none", "heartbeat", "left", "fenced",
		"exit", "timeout", "link", "isolated", "version", "reboot", "erased" };
	int i, k;

	ksft_print_msg("%-16s %6s %6s %8s  told\n", "done", "steps", "failed", "most ms");
	for (i = 0; i < FAULTS; i++) {
		struct tally *t = &tally[i];

		ksft_print_msg("%-16s %6u %6u %8llu ", faults[i].name, t->steps, t->bad,
			       t->most_ms);
		for (k = 0; k <= UB_REASON_ERASED; k++)
			if (t->told[k])
				printf(" %s %u", reason[k], t->told[k]);
		printf("\n");
	}
}

int main(void)
{
	unsigned int n = env_number("UB_SOAK_N", 10), i;
	unsigned int from = env_number("UB_SOAK_FROM", 0);
	unsigned int seed = env_number("UB_SOAK_SEED", now() & 0xffffff);

	ksft_print_header();
	ksft_set_plan(n);
	ksft_print_msg("seed %u\n", seed);
	for (i = from; i < from + n; i++) {
		char what[128], why[160];
		const char *bad = step(soak_mix(seed, i), what, sizeof(what), why,
				       sizeof(why));
		struct tally *t = &tally[draw(soak_mix(seed, i)).fault];

		t->steps++;
		t->bad += !!bad;
		ksft_test_result(!bad, "step %u: %s\n", i, what);
		if (bad)
			ksft_print_msg("%s; again: make soak ON=loop SEED=%u FROM=%u N=1\n",
				       bad, seed, i);
		fflush(stdout);
	}
	show_table();
	heal();
	return ksft_get_fail_cnt() ? 1 : 0;
}

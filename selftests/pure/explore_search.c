// SPDX-License-Identifier: GPL-2.0-only
/*
 * The explorer's scheduler and its searches.
 *
 * Each member is a coroutine; before each shared access another may go on
 * instead, or this one may end for good.
 */
#include "explore.h"
#include "co.h"

#define MAX_POINTS	20000
#define MAX_QUIET	200000
#define NOBODY		(-1)
#define CRASH		(-2)
#define MAX_DEVS	512

const struct program *prog;
unsigned long long runs, accesses;

struct dev {
	int point;
	int who;		/* or CRASH */
};

enum co_state state[CO_MAX];
bool may_crash[CO_MAX], daemon_co[CO_MAX], rung[CO_MAX];
int nco, crashes;
bool trace, quiet;
static int next_co, points, quiet_points, crash_budget;
static bool failed;
static char why[400];

static struct dev dev[MAX_DEVS];
static int ndev, dev_at;
static bool zeroing;		/* the moment to die or to be overtaken */
static int random_odds;		/* 0: follow dev[]; else a switch one in so many */

/* What else could have been done at each point of the last run. */
static unsigned char alt[MAX_POINTS + 1];
static bool alt_crash[MAX_POINTS + 1];

int self(void)
{
	return co_cur;
}

void fail(const char *fmt, ...)
{
	va_list ap;

	if (!failed) {
		va_start(ap, fmt);
		vsnprintf(why, sizeof(why), fmt, ap);
		va_end(ap);
	}
	failed = true;
	if (co_cur >= 0)
		co_back();	/* never to return */
}

static int round_robin(int from)
{
	int i;

	do {
		for (i = 1; i <= nco; i++)
			if (state[(from + i) % nco] == READY)
				return (from + i) % nco;
	} while (prog->idle && prog->idle());
	return NOBODY;
}

static void note(int who)
{
	if (ndev == MAX_DEVS) {
		random_odds = 1 << 30;
		return;
	}
	dev[ndev++] = (struct dev){ points, who };
}

static bool can_run(int i)
{
	return state[i] == READY ||
	       (state[i] == BLOCKED && prog->timer && prog->timer(i, false));
}

static int go_to(int i)
{
	if (state[i] == BLOCKED)
		prog->timer(i, true);
	return i;
}

/* @standing: who goes on if nothing is chosen. Returns who shall, or CRASH. */
static int choose(int standing)
{
	unsigned char others = 0;
	bool crash = may_crash[co_cur] && state[co_cur] == READY;
	int i, n = 0;

	if (quiet) {
		if (++quiet_points >= MAX_QUIET)
			fail("does not begin within %d accesses", MAX_QUIET);
		return standing;
	}
	if (++points >= MAX_POINTS)
		fail("does not end within %d accesses", MAX_POINTS);
	for (i = 0; i < nco; i++)
		if (i != standing && can_run(i)) {
			others |= 1 << i;
			n++;
		}
	alt[points] = others;
	alt_crash[points] = crash;
	if (random_odds) {
		bool any = standing != co_cur;	/* it gives way anyhow */

		if (crash && crashes < crash_budget &&
		    !below(zeroing ? 8 : random_odds * 8)) {
			note(CRASH);
			return CRASH;
		}
		if (!n || (any || zeroing ? below(2) :
					       below(random_odds)))
			return standing;
		for (n = below(n), i = 0; ; i++)
			if (others >> i & 1 && !n--)
				break;
		note(i);
		return go_to(i);
	}
	if (dev_at < ndev && dev[dev_at].point == points) {
		struct dev d = dev[dev_at++];

		if (trace)
			printf("# %5d: member %d %s %d\n", points, co_cur,
			       d.who < 0 ? "crashes" : "is left for", d.who);
		if (d.who == CRASH && crash)
			return CRASH;
		if (d.who >= 0 && others >> d.who & 1)
			return go_to(d.who);
	}
	return standing;
}

static void give_way(int standing)
{
	int me = co_cur, who = choose(standing);

	if (who == CRASH) {
		state[me] = CRASHED;
		crashes++;
		prog->crash(me);
		who = round_robin(me);
	}
	zeroing = false;
	if (who == me)
		return;
	next_co = who;
	co_back();
}

void ub_explore_point(void)
{
	if (co_cur < 0)
		return;
	if (trace)
		printf("# %5d: member %d at %p\n", points + 1, co_cur,
		       __builtin_return_address(0));
	give_way(co_cur);
}

void *explore_memset(void *p, int c, size_t n)
{
	size_t part = n / MAXN & ~7ULL;

	zeroing = true;
	ub_explore_point();
	memset(p, c, part);
	zeroing = true;
	ub_explore_point();
	memset((char *)p + part, c, n - part);
	zeroing = true;
	ub_explore_point();
	zeroing = false;
	return p;
}

/* Nothing to do at the moment: others first. */
void spin(void)
{
	give_way(round_robin(co_cur));
}

void block(void)
{
	state[co_cur] = BLOCKED;
	give_way(round_robin(co_cur));
}

void wake(int i)
{
	if (state[i] == BLOCKED)
		state[i] = READY;
}

static void body(int i)
{
	prog->body(i);
	state[i] = ENDED;
	next_co = round_robin(i);
}

static bool run(void)
{
	int i;

	points = 0;
	quiet_points = 0;
	quiet = false;
	crashes = 0;
	zeroing = false;
	failed = false;
	dev_at = 0;
	memset(rung, 0, sizeof(rung));
	memset(daemon_co, 0, sizeof(daemon_co));
	prog->start();
	co_fn = body;
	for (i = 0; i < nco; i++) {
		state[i] = READY;
		co_make(i);
	}
	next_co = 0;
	while (!failed && next_co >= 0)
		co_to(next_co);
	for (i = 0; i < nco && !failed; i++)
		if (state[i] == BLOCKED && !daemon_co[i])
			fail("member %d sleeps for ever", i);
	if (!failed)
		prog->check();
	runs++;
	accesses += points;
	return !failed;
}

static void report(void)
{
	int i;

	printf("# %s: %s\n# replay with: --replay %s:", prog->name, why, prog->name);
	for (i = 0; i < ndev; i++) {
		printf("%s%d", i ? "," : "", dev[i].point);
		if (dev[i].who < 0)
			printf("x");
		else
			printf("s%d", dev[i].who);
	}
	printf("\n");
}

/* All lists that go on from dev[0..ndev). Each list is run once. */
static bool search(int switches, int left)
{
	int from = ndev ? dev[ndev - 1].point + 1 : 1, at = ndev, last, p, j;
	unsigned char *others;

	random_odds = 0;
	if (!run()) {
		report();
		return false;
	}
	if ((!switches && !left) || from > points)
		return true;
	last = points;
	others = malloc(2 * (last - from + 1));
	if (!others)
		abort();
	memcpy(others, alt + from, last - from + 1);
	memcpy(others + last - from + 1, alt_crash + from, last - from + 1);
	ndev = at + 1;
	for (p = from; p <= last; p++) {
		for (j = -1; j < nco; j++) {
			bool crash = j < 0;

			if (crash ? !left || !others[p - from + last - from + 1] :
			    !switches || !(others[p - from] >> j & 1))
				continue;
			dev[at] = (struct dev){ p, crash ? CRASH : j };
			ndev = at + 1;
			if (!search(switches - !crash, left - crash)) {
				free(others);
				return false;
			}
		}
	}
	ndev = at;
	free(others);
	return true;
}

bool walk(unsigned long long walks, uint64_t seed, int budget)
{
	unsigned long long i;
	bool good = true;

	for (i = 0; i < walks && good; i++) {
		rng_state = seed + i * 0x1000003ULL;
		random_odds = 2 + below(24);
		crash_budget = below(4) ? budget : 0;
		ndev = 0;
		good = run();
		if (!good) {
			printf("# seed %llu\n", (long long)(seed + i * 0x1000003ULL));
			report();
		}
	}
	random_odds = 0;
	return good;
}

bool search_all(int switches, int left)
{
	ndev = 0;
	return search(switches, left);
}

int replay(const char *list)
{
	const char *p;
	char *end;

	for (p = list; *p; p = *end == ',' ? end + 1 : end) {
		struct dev *d = &dev[ndev++];

		d->point = strtol(p, &end, 10);
		if (*end == 'x') {
			d->who = CRASH;
			end++;
		} else if (*end == 's') {
			d->who = strtol(end + 1, &end, 10);
		} else {
			return 2;
		}
	}
	trace = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%s\n", run() ? "passes" : why);
	return failed;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedule explorer for engine.c and slots.c.
 *
 * Each member is a coroutine. Before each shared access another member may go
 * on instead, or this one may end for good. What happens is a list of choices
 * that differ from "go on": <point>s<who> and <point>x. Walks are random, or
 * all lists up to a number of switches and crashes are tried in order.
 *
 *	explore				all programs, bounded and random
 *	explore -p bar2 -s 2 -x 1	one, with these bounds
 *	explore -p bar2 -r 1000000 -S 7	random walks from a seed
 *	explore --replay bar2:12s1,40x	one list of choices, with a trace
 *
 * Interleavings are sequentially consistent: weak memory order is not
 * explored here.
 */
#include <time.h>
#include "explore.h"

#define BAR	.start = bar_start, .body = bar_body, .check = bar_check, \
		.crash = bar_crash
#define SHRINK	.start = shrink_start, .body = shrink_body, .check = no_check, \
		.crash = wake_all
#define SLOTS	.start = slots_start, .body = slots_body, .check = slots_check, \
		.crash = wake_all

#define NODES	.body = nodes_body, .idle = nodes_idle, .timer = nodes_timer, .k = 1
#define HEIRS	.start = heirs_start, .node = heirs_node, .check = no_check, \
		.crash = nodes_crash, NODES
#define WINDOWS	.start = windows_start, .node = windows_node, .check = no_check, \
		.crash = nodes_crash, NODES
#define JOIN	.start = join_start, .node = join_node, .check = join_check, \
		.crash = join_crash, NODES

static const struct program programs[] = {
	{ "bar2", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 2,
	  .switches = 2, .crashes = 1, .random = 4 },
	{ "bar2-sleep", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 0,
	  .switches = 2, .crashes = 1, .random = 4 },
	{ "bar2-suspect", BAR, .n = 2, .k = 1, .epochs = 2, .polls = 1,
	  .suspect = 1, .switches = 3, .crashes = 0, .random = 4 },
	{ "bar3", BAR, .n = 3, .k = 1, .epochs = 2, .polls = 2,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-k2", BAR, .n = 3, .k = 2, .epochs = 3, .polls = 1,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-sleep", BAR, .n = 3, .k = 1, .epochs = 2, .polls = 0,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-suspect", BAR, .n = 3, .k = 1, .epochs = 2, .polls = 1,
	  .suspect = 2, .switches = 2, .crashes = 0, .random = 8 },
	{ "bar3-two", BAR, .n = 3, .k = 1, .epochs = 3, .polls = 1,
	  .suspect = 3, .switches = 0, .crashes = 2, .random = 8 },
	{ "bar4", BAR, .n = 4, .k = 1, .epochs = 1, .polls = 0,
	  .switches = 0, .crashes = 2, .random = 16 },
	{ "bar2-straight", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 1,
	  .straight = 15, .switches = 2, .crashes = 1, .random = 4 },
	{ "bar2-halves", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 1,
	  .straight = 5, .switches = 2, .crashes = 1, .random = 4 },
	{ "bar2-straight-suspect", BAR, .n = 2, .k = 1, .epochs = 3, .polls = 0,
	  .straight = 15, .suspect = 2, .switches = 3, .crashes = 0, .random = 4 },
	{ "bar3-straight", BAR, .n = 3, .k = 1, .epochs = 3, .polls = 2,
	  .straight = 15, .switches = 1, .crashes = 1, .random = 8 },
	{ "bar3-thirds", BAR, .n = 3, .k = 1, .epochs = 3, .polls = 1,
	  .straight = 11, .switches = 1, .crashes = 1, .random = 8 },
	{ "shrink3-straight", SHRINK, .n = 3, .k = 1, .epochs = 2, .polls = 1,
	  .straight = 7, .switches = 0, .crashes = 1, .random = 8 },
	{ "shrink2", SHRINK, .n = 2, .k = 1, .epochs = 2, .polls = 1,
	  .switches = 1, .crashes = 1, .random = 4 },
	{ "shrink3", SHRINK, .n = 3, .k = 1, .epochs = 2, .polls = 1,
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "shrink3-two", SHRINK, .n = 3, .k = 1, .epochs = 1, .polls = 0,
	  .switches = 0, .crashes = 2, .random = 8 },
	{ "shrink4", SHRINK, .n = 4, .k = 3, .epochs = 1, .polls = 0,
	  .switches = 0, .crashes = 2, .random = 16 },
	{ "slots2", SLOTS, .n = 2, .k = 1, .epochs = 2, .polls = 1,
	  .nslots = 2, .lives = 1, .id = { { 7 }, { 7 } },
	  .switches = 2, .crashes = 1, .random = 8 },
	{ "slots2-again", SLOTS, .n = 2, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 2, .lives = 2, .id = { { 7, 7 }, { 7, 7 } },
	  .switches = 2, .crashes = 0, .random = 16 },
	{ "slots2-crash", SLOTS, .n = 2, .k = 1, .epochs = 1, .polls = 0,
	  .nslots = 2, .lives = 2, .id = { { 7, 8 }, { 7, 8 } },
	  .switches = 1, .crashes = 1, .random = 16 },
	{ "slots3", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 3, .lives = 1, .id = { { 7 }, { 7 }, { 7 } },
	  .switches = 1, .crashes = 1, .random = 8 },
	{ "slots3-again", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 2, .lives = 2, .id = { { 7, 7 }, { 7, 7 }, { 7, 7 } },
	  .switches = 0, .crashes = 1, .random = 24 },
	{ "slots-slow", SLOTS, .n = 2, .k = 1, .epochs = 1, .polls = 1,
	  .suspect = 1, .nslots = 1, .lives = 1, .id = { { 5 }, { 6 } },
	  .switches = 3, .crashes = 0, .random = 16 },
	{ "slots-outsider", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 1, .lives = 2, .id = { { 7, 7 }, { 7, 7 }, { 9, 0 } },
	  .switches = 1, .crashes = 1, .random = 16 },
	{ "slots-one", SLOTS, .n = 3, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 1, .lives = 2, .id = { { 5, 0 }, { 6, 9 }, { 6, 0 } },
	  .switches = 1, .crashes = 1, .random = 16 },
	{ "slots-mixed", SLOTS, .n = 4, .k = 1, .epochs = 1, .polls = 1,
	  .nslots = 2, .lives = 2,
	  .id = { { 5, 7 }, { 5, 7 }, { 6, 7 }, { 6, 7 } },
	  .switches = 1, .crashes = 0, .random = 16 },
	{ "heirs3", HEIRS, .n = 3, .switches = 1, .crashes = 0,
	  .random = 2 },
	{ "heirs3-crash", HEIRS, .n = 3, .switches = 0, .crashes = 1,
	  .random = 2 },
	{ "windows", WINDOWS, .n = 2, .switches = 1, .crashes = 0, .random = 2 },
	{ "windows-alone", WINDOWS, .n = 1, .switches = 1, .crashes = 0,
	  .random = 2 },
	{ "windows-home", WINDOWS, .n = 2, .suspect = 1,
	  .switches = 0, .crashes = 1, .random = 2 },
	{ "windows-peer", WINDOWS, .n = 2, .suspect = 2,
	  .switches = 0, .crashes = 1, .random = 2 },
	{ "xfer", WINDOWS, .n = 2, .xfer = true, .switches = 1, .crashes = 0,
	  .random = 2 },
	{ "xfer-slow", WINDOWS, .n = 2, .xfer = true, .slow = true, .switches = 1,
	  .crashes = 0, .random = 2 },
	{ "xfer-home", WINDOWS, .n = 2, .xfer = true, .suspect = 1,
	  .switches = 0, .crashes = 1, .random = 2 },
	{ "xfer-peer", WINDOWS, .n = 2, .xfer = true, .suspect = 2,
	  .switches = 0, .crashes = 1, .random = 2 },
	{ "join1", JOIN, .n = 1, .switches = 1, .crashes = 1, .random = 2 },
	{ "join2", JOIN, .n = 2, .switches = 0, .crashes = 1, .random = 2 },
	{ "join3", JOIN, .n = 3, .switches = 0, .crashes = 1, .random = 2 },
	{ "join-after", JOIN, .n = 2, .lives = 1, .switches = 1, .crashes = 0,
	  .random = 2 },
	{ "join-same", JOIN, .n = 2, .suspect = 1, .switches = 0, .crashes = 1,
	  .random = 2 },
	{ "join-slow", JOIN, .n = 2, .suspect = 1, .slow = true, .switches = 1,
	  .crashes = 0, .random = 2 },
	{ "heirs4", HEIRS, .n = 4, .switches = 0, .crashes = 1,
	  .random = 2 },
};

static const struct program *find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strlen(programs[i].name) == len &&
		    !strncmp(programs[i].name, name, len))
			return &programs[i];
	fprintf(stderr, "no program %s\n", name);
	exit(2);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static bool run_program(const struct program *p, int sw, int cr,
			unsigned long long walks, uint64_t seed)
{
	double t = now();
	bool good;

	prog = p;
	build_scheds();
	runs = 0;
	accesses = 0;
	good = search_all(sw, cr);
	printf("# %s: %llu schedules, %llu accesses, %d switches, %d crashes, %.1f s\n",
	       p->name, runs, accesses, sw, cr, now() - t);
	if (!good || !walks)
		return good;
	t = now();
	runs = 0;
	accesses = 0;
	good = walk(walks, seed, p->n > 2 ? 2 : 1);
	printf("# %s: %llu random walks, %llu accesses, %.1f s\n",
	       p->name, runs, accesses, now() - t);
	return good;
}

static int replay_program(const char *arg)
{
	const char *list = strchr(arg, ':');

	if (!list)
		return 2;
	prog = find(arg, list - arg);
	build_scheds();
	return replay(list + 1);
}

int main(int argc, char **argv)
{
	const size_t n = sizeof(programs) / sizeof(programs[0]);
	int sw = -1, cr = -1, less = 0, i;
	long long walks = -1;
	const struct program *only = NULL;
	uint64_t seed = 1;
	size_t j;

	for (i = 1; i < argc; i++) {
		const char *arg = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--replay"))
			return replay_program(arg);
		else if (!strcmp(argv[i], "-p"))
			only = find(arg, strlen(arg));
		else if (!strcmp(argv[i], "-s"))
			sw = atoi(arg);
		else if (!strcmp(argv[i], "-x"))
			cr = atoi(arg);
		else if (!strcmp(argv[i], "-r"))
			walks = atoll(arg);
		else if (!strcmp(argv[i], "-S"))
			seed = strtoull(arg, NULL, 0);
		else if (!strcmp(argv[i], "-l"))	/* so many switches less */
			less = atoi(arg);
		else
			return 2;
		i++;
	}
	ktap_start(only ? 1 : n);
	for (j = 0; j < n; j++) {
		const struct program *p = &programs[j];
		int s = sw >= 0 ? sw : p->switches - less;

		if (only && p != only)
			continue;
		ktap_ok(run_program(p, s > 0 ? s : 0, cr >= 0 ? cr : p->crashes,
				    walks < 0 ? p->random * 2500 :
				    p->node ? walks / 4 : walks, seed),
			"%s", p->name);
	}
	return ktap_end();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several devices in one kernel: fabrics that are apart, whatever a program
 * tries, and two nodes of one fabric of which one rings nobody. Not loop's;
 * selftests/vm boots rigs for it.
 */
#include "nl.h"
#include "util.h"

#define DEVICES	8

/* Of all tests: the devices that there are. */
FIXTURE(fabrics) {
	int fd[DEVICES];
	struct ub_info info[DEVICES];
	int n;
};

FIXTURE_SETUP(fabrics)
{
	for (self->n = 0; self->n < DEVICES; self->n++) {
		self->fd[self->n] = open_node(self->n);
		if (self->fd[self->n] < 0)
			break;
		self->info[self->n] = info_of(self->fd[self->n]);
	}
	if (self->n < 2)
		SKIP(return, "one device");
}

FIXTURE_TEARDOWN(fabrics)
{
	while (self->n--)
		close(self->fd[self->n]);
}

static bool same_fabric(const struct ub_info *a, const struct ub_info *b)
{
	return !memcmp(a->out_fabric, b->out_fabric, sizeof(a->out_fabric));
}

/* Two devices of different fabrics; false when there are none. */
static bool two_fabrics(const struct ub_info *info, int n, int *a, int *b)
{
	for (*a = 0; *a < n; (*a)++)
		for (*b = *a + 1; *b < n; (*b)++)
			if (!same_fabric(&info[*a], &info[*b]))
				return true;
	return false;
}

/* A node without a bell among two of one fabric: @quiet, and the other. */
static bool quiet_pair(const struct ub_info *info, int n, int *quiet, int *rung)
{
	for (*quiet = 0; *quiet < n; (*quiet)++)
		for (*rung = 0; *rung < n; (*rung)++)
			if (same_fabric(&info[*quiet], &info[*rung]) &&
			    !(info[*quiet].out_caps & UB_CAP_DOORBELL) &&
			    info[*rung].out_caps & UB_CAP_DOORBELL)
				return true;
	return false;
}

TEST_F(fabrics, window_of_another_fabric)
{
	struct ub_win_create w, forged;
	__u64 word = 1;
	int a, b;

	if (!two_fabrics(self->info, self->n, &a, &b))
		SKIP(return, "one fabric");
	ASSERT_EQ(win_create(self->fd[a], UNIT, UB_WIN_RIGHTS, &w), 0);
	/* By its own name, and by that of a fabric that has no such window. */
	EXPECT_EQ(win_attach(self->fd[b], &w, RW), -ENOENT);
	forged = w;
	memcpy(forged.out_desc.fabric, self->info[b].out_fabric,
	       sizeof(forged.out_desc.fabric));
	forged.out_desc.incarnation = self->info[b].out_incarnation;
	forged.out_desc.node = self->info[b].out_node;
	EXPECT_NE(win_attach(self->fd[b], &forged, RW), 0);
	EXPECT_EQ(win_map(self->fd[b], w.out_desc.gva, UNIT, PROT_READ), MAP_FAILED);
	EXPECT_EQ(errno, ENOENT);
	EXPECT_EQ(xfer(self->fd[b], UB_XFER_PUT, w.out_desc.gva, &word, 8, 0, 0),
		  -ENOENT);
}

/* The same node id and the same addresses, each in its own memory. */
TEST_F(fabrics, same_address_other_memory)
{
	struct ub_win_create w[DEVICES];
	unsigned char *p[DEVICES], got;
	unsigned int j;
	int i;

	for (i = 0; i < self->n; i++) {
		ASSERT_EQ(win_create(self->fd[i], UNIT, UB_WIN_RIGHTS, &w[i]), 0);
		p[i] = win_map(self->fd[i], w[i].out_desc.gva, UNIT,
			       PROT_READ | PROT_WRITE);
		ASSERT_NE(p[i], MAP_FAILED);
	}
	for (i = 0; i < self->n; i++)
		memset(p[i], 0x10 + i, UNIT);
	for (i = 0; i < self->n; i++) {
		for (j = 0; j < UNIT && p[i][j] == 0x10 + i; j++)
			;
		EXPECT_EQ(j, UNIT);
		got = 0;
		EXPECT_EQ(xfer(self->fd[i], UB_XFER_GET,
			       w[i].out_desc.gva + UNIT - 1, &got, 1, 0, 0), 0);
		EXPECT_EQ(got, 0x10 + i);
		munmap(p[i], UNIT);
	}
}

static __u64 sleeps_of(struct nl *nl, int device)
{
	struct nl_req q;
	struct nl_obj o;

	nl_begin(&q, UB_NL_CMD_STATS_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, device);
	return nl_do(nl, &q, &o) ? 0 : nl_stat(nl, "sleeps");
}

static int step_sleep(struct member *m)
{
	return barrier(m, AW | UB_BARRIER_SLEEP, UB_RED_NONE, 0, in_ms(60000));
}

/* One waits for the other for @ms; how often it looked, and how long it took. */
static int wait_for_late(struct member *m, struct nl *nl, int device,
			 unsigned int ms, __u64 *sleeps, __u64 *late_ns)
{
	__u64 before = sleeps_of(nl, device), arrived;

	member_start(&m[0], step_sleep);
	sleep_ms(ms);
	arrived = now();
	if (step_sleep(&m[1]) || member_join(&m[0]))
		return -EIO;
	*late_ns = now() - arrived;
	*sleeps = sleeps_of(nl, device) - before;
	return 0;
}

/*
 * A sleeper that a member without a bell keeps waiting looks again every 20 ms
 * at the latest, though it could be rung itself: at most 100 ms are for rings
 * that get lost. On a busy machine timers are late, so half of that will do.
 */
TEST_F(fabrics, sleepers_of_a_quiet_node)
{
	struct member m[2] = { { .n = 2 }, { .n = 2, .index = 1 } };
	__u64 key[2], sleeps, late, worst = 0;
	int i, quiet, rung;
	struct nl nl;

	if (!quiet_pair(self->info, self->n, &quiet, &rung))
		SKIP(return, "no two nodes of one fabric, one without a bell");
	ASSERT_EQ(nl_open(&nl), 0);
	fresh_key(key);
	m[0].fd = self->fd[rung];
	m[1].fd = self->fd[quiet];
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 20000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	sleep_ms(500);	/* the tick of each has seen the other */
	ASSERT_EQ(wait_for_late(m, &nl, rung, 3000, &sleeps, &late), 0);
	ksft_print_msg("%llu looks in 3 s\n", sleeps);
	EXPECT_GE(sleeps * 60, 3000);
	EXPECT_LE(sleeps * 20, 3000 + late / MS + 10 * 20);
	for (i = 0; i < 20; i++) {
		ASSERT_EQ(wait_for_late(m, &nl, rung, 30, &sleeps, &late), 0);
		worst = late > worst ? late : worst;
	}
	ksft_print_msg("woken within %llu us of the last arrival\n", worst / 1000);
	nl_close(&nl);
}

TEST_HARNESS_MAIN

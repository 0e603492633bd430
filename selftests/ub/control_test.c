// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control plane at work, by netlink: dumps while things change, setting,
 * formatting, events. The fabrics that are changed here are made here.
 */
#include "nl.h"
#include "util.h"

#define DEVICES		6	/* of the loop fabric that a test makes */
#define WINDOWS		40	/* on each */
#define GROUPS		100

FIXTURE(control) {
	struct nl nl;
	__u32 minor[DEVICES];
	int fd[DEVICES];
	int n;
};

FIXTURE_SETUP(control)
{
	int i;

	ASSERT_EQ(nl_open(&self->nl), 0);
	self->n = 0;
	for (i = 0; i < DEVICES; i++)
		self->fd[i] = -1;
}

FIXTURE_TEARDOWN(control)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		if (self->fd[i] >= 0)
			close(self->fd[i]);
	if (self->n)
		nl_fabric_del(&self->nl, self->minor[0]);
	nl_close(&self->nl);
}

static int open_minor(__u32 minor)
{
	__u64 end = in_ms(20000);
	int fd;

	while ((fd = open_node(minor)) < 0 && errno == ENOENT && now() < end)
		sleep_ms(10);
	return fd;
}

/* A loop fabric of n nodes with ids from first, and a lane on each. */
static int make_fabric(struct nl *nl, int n, __u32 first, __u32 *minor, int *fd)
{
	int err = nl_loop_add(nl, n, first, minor), i;

	for (i = 0; i < n && !err; i++) {
		fd[i] = open_minor(minor[i]);
		if (fd[i] < 0)
			err = -errno;
	}
	return err;
}

static int get_fabric(struct nl *nl, __u32 minor, struct nl_obj *o)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, minor);
	return nl_do(nl, &q, o);
}

/* Until a device is in a state: true when it came to be. */
static bool wait_state(struct nl *nl, __u32 minor, __u32 state)
{
	__u64 end = in_ms(20000);
	struct nl_obj o;

	do {
		if (!get_fabric(nl, minor, &o) && nl_u32(&o, UB_NL_A_STATE) == state)
			return true;
		sleep_ms(10);
	} while (now() < end);
	return false;
}

/* ---- dumps ---- */

/* How often a dump told each window of the devices that were made. */
struct seen {
	unsigned char n[DEVICES][WINDOWS + 4];
};

static void saw(struct seen *s, const __u32 *minor, const struct nl_obj *o)
{
	__u32 id = nl_u32(o, UB_NL_A_WINDOW);
	int i;

	for (i = 0; i < DEVICES; i++)
		if (nl_u32(o, UB_NL_A_FABRIC) == minor[i] && id < COUNT(s->n[0]))
			s->n[i][id]++;
}

static int dump_windows(struct nl *nl)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_WINDOW_GET);
	return nl_dump(nl, &q);
}

TEST_F(control, windows_over_many_messages)
{
	struct nl *nl = &self->nl;
	struct ub_win_create c;
	struct seen s = { 0 };
	int i, k, tries, err;
	struct nl_obj o;

	self->n = DEVICES;
	ASSERT_EQ(make_fabric(nl, DEVICES, 100, self->minor, self->fd), 0);
	for (i = 0; i < DEVICES; i++)
		for (k = 0; k < WINDOWS; k++)
			ASSERT_EQ(win_create(self->fd[i], 1, RW, &c), 0);
	/* Others' quarantine may end meanwhile: until it stands still. */
	for (tries = 0; tries < 50; tries++) {
		memset(&s, 0, sizeof(s));
		ASSERT_EQ(dump_windows(nl), 0);
		while ((err = nl_next(nl, &o)) == 1)
			saw(&s, self->minor, &o);
		ASSERT_EQ(err, 0);
		if (!nl->interrupted)
			break;
		sleep_ms(50);
	}
	EXPECT_FALSE(nl->interrupted);
	EXPECT_GT(nl->messages, 4);
	for (i = 0; i < DEVICES; i++)
		for (k = 0; k < WINDOWS; k++)
			EXPECT_EQ(s.n[i][k], 1);

	/*
	 * Again, and after the first message: one that was told goes, one that
	 * was not goes, one comes. All else is told once all the same.
	 */
	memset(&s, 0, sizeof(s));
	ASSERT_EQ(dump_windows(nl), 0);
	ASSERT_EQ(nl_next(nl, &o), 1);
	saw(&s, self->minor, &o);
	ASSERT_EQ(win_destroy(self->fd[0], 0), 0);
	ASSERT_EQ(win_destroy(self->fd[DEVICES - 1], WINDOWS - 1), 0);
	ASSERT_EQ(win_create(self->fd[0], 1, RW, &c), 0);
	while ((err = nl_next(nl, &o)) == 1)
		saw(&s, self->minor, &o);
	ASSERT_EQ(err, 0);
	EXPECT_TRUE(nl->interrupted);
	for (i = 0; i < DEVICES; i++)
		for (k = 0; k < WINDOWS; k++)
			if ((i || k) && (i != DEVICES - 1 || k != WINDOWS - 1))
				EXPECT_EQ(s.n[i][k], 1)
					TH_LOG("window %d of device %d", k, i);
}

/* A whole device goes in the middle, with what is next to be told. */
TEST_F(control, device_goes_during_a_dump)
{
	__u32 many[16], other[1], last = 0;
	int fds[16], fd[1], n = 0, err, i;
	struct nl *nl = &self->nl;
	struct nl second;
	struct nl_req q;
	struct nl_obj o;

	ASSERT_EQ(make_fabric(nl, 16, 200, many, fds), 0);
	ASSERT_EQ(make_fabric(nl, 1, 300, other, fd), 0);
	ASSERT_EQ(nl_open(&second), 0);
	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	ASSERT_EQ(nl_dump(nl, &q), 0);
	ASSERT_EQ(nl_next(nl, &o), 1);
	ASSERT_EQ(nl_fabric_del(&second, many[0]), 0);
	while ((err = nl_next(nl, &o)) == 1) {
		/* In the order of their numbers, each once. */
		EXPECT_GT(nl_u32(&o, UB_NL_A_FABRIC), last);
		last = nl_u32(&o, UB_NL_A_FABRIC);
		n += last == other[0];
	}
	EXPECT_EQ(err, 0);
	EXPECT_EQ(n, 1);
	EXPECT_TRUE(nl->interrupted);
	EXPECT_EQ(nl_fabric_del(&second, other[0]), 0);
	close(fd[0]);
	for (i = 0; i < 16; i++)
		close(fds[i]);
	nl_close(&second);
}

static int world_alone(int fd, const char *level, __u32 *handle)
{
	struct ub_group_create gc;
	__u64 key[2];
	int err;

	fresh_key(key);
	gc = world_arg(key, 1, 0, 10000);
	snprintf(gc.level, sizeof(gc.level), "%s", level);
	err = call(fd, UB_IOC_GROUP_CREATE, &gc);
	*handle = gc.out_group;
	return err;
}

TEST_F(control, groups_and_levels_over_many_messages)
{
	unsigned char group[GROUPS + 8] = { 0 }, level[GROUPS] = { 0 };
	__u32 handle[GROUPS], extra;
	struct nl *nl = &self->nl;
	struct nl_obj o;
	struct nl_req q;
	char name[32];
	int i, err;

	self->n = 1;
	ASSERT_EQ(make_fabric(nl, 1, 400, self->minor, self->fd), 0);
	for (i = 0; i < GROUPS; i++) {
		snprintf(name, sizeof(name), "level %03d", i);
		ASSERT_EQ(world_alone(self->fd[0], name, &handle[i]), 0);
	}
	nl_begin(&q, UB_NL_CMD_GROUP_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	ASSERT_EQ(nl_dump(nl, &q), 0);
	ASSERT_EQ(nl_next(nl, &o), 1);
	/* The first was told; it and the last go, one comes. */
	EXPECT_EQ(nl_u32(&o, UB_NL_A_GROUP), handle[0]);
	ASSERT_EQ(group_destroy(self->fd[0], handle[0]), 0);
	ASSERT_EQ(group_destroy(self->fd[0], handle[GROUPS - 1]), 0);
	ASSERT_EQ(world_alone(self->fd[0], "level 000", &extra), 0);
	while ((err = nl_next(nl, &o)) == 1)
		for (i = 0; i < GROUPS; i++)
			group[i] += nl_u32(&o, UB_NL_A_GROUP) == handle[i] &&
				    strcmp(nl_str(&o, UB_NL_A_LEVEL), "level 000");
	EXPECT_EQ(err, 0);
	EXPECT_TRUE(nl->interrupted);
	EXPECT_GT(nl->messages, 4);
	for (i = 1; i < GROUPS - 1; i++)
		EXPECT_EQ(group[i], 1) TH_LOG("group %d", i);

	nl_begin(&q, UB_NL_CMD_LEVEL_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	ASSERT_EQ(nl_dump(nl, &q), 0);
	while ((err = nl_next(nl, &o)) == 1) {
		ASSERT_EQ(strncmp(nl_str(&o, UB_NL_A_LEVEL), "level ", 6), 0);
		i = atoi(nl_str(&o, UB_NL_A_LEVEL) + 6);
		ASSERT_LT(i, GROUPS);
		level[i]++;
		EXPECT_EQ(nl_u32(&o, UB_NL_A_GROUPS), 1);
	}
	EXPECT_EQ(err, 0);
	EXPECT_FALSE(nl->interrupted);
	EXPECT_GT(nl->messages, 2);
	for (i = 0; i < GROUPS - 1; i++)
		EXPECT_EQ(level[i], 1) TH_LOG("level %d", i);
	EXPECT_EQ(level[GROUPS - 1], 0);
}

/* ---- setting ---- */

TEST_F(control, detection_time_is_that_of_one_node)
{
	struct nl *nl = &self->nl;
	struct nl_req q;
	struct nl_obj o;

	self->n = 2;
	ASSERT_EQ(make_fabric(nl, 2, 500, self->minor, self->fd), 0);
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	nl_put_u32(&q, UB_NL_A_DETECT_MS, 500);
	ASSERT_EQ(nl_do(nl, &q, NULL), 0);
	ASSERT_EQ(get_fabric(nl, self->minor[0], &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_DETECT_MS), 500);
	EXPECT_EQ(info_of(self->fd[0]).out_detect_ms, 500);
	EXPECT_EQ(info_of(self->fd[1]).out_detect_ms, detect_ms());
	/* And 600000: the peer that stands still is not taken for dead. */
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	nl_put_u32(&q, UB_NL_A_DETECT_MS, 600000);
	ASSERT_EQ(nl_do(nl, &q, NULL), 0);
	ASSERT_EQ(test_op(self->fd[1], UB_TEST_PAUSE, 0, 0, NULL), 0);
	sleep_ms(2 * detect_ms() + 500);
	ASSERT_EQ(get_fabric(nl, self->minor[1], &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);
	/* It is, half a second after the time is short again. */
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	nl_put_u32(&q, UB_NL_A_DETECT_MS, 500);
	ASSERT_EQ(nl_do(nl, &q, NULL), 0);
	nl_begin(&q, UB_NL_CMD_NODE_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	nl_put_u32(&q, UB_NL_A_NODE, 501);
	for (__u64 end = in_ms(20000); now() < end; sleep_ms(20))
		if (!nl_do(nl, &q, &o) && nl_u32(&o, UB_NL_A_STATE) == UB_STATE_FENCED)
			break;
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_FENCED);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_REASON), UB_REASON_HEARTBEAT);
	EXPECT_EQ(test_op(self->fd[1], UB_TEST_RESUME, 0, 0, NULL), 0);
}

TEST_F(control, fenced_node_joins_again)
{
	struct nl *nl = &self->nl;
	struct ub_win_create c;
	__u64 incarnation;
	struct nl_req q;
	struct nl_obj o;
	int fd;

	self->n = 2;
	ASSERT_EQ(make_fabric(nl, 2, 600, self->minor, self->fd), 0);
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[1]);
	nl_put_u32(&q, UB_NL_A_STATE, UB_STATE_UP);
	EXPECT_EQ(nl_do(nl, &q, NULL), 0);	/* it is up: nothing to do */
	ASSERT_EQ(get_fabric(nl, self->minor[1], &o), 0);
	incarnation = nl_u64(&o, UB_NL_A_INCARNATION);
	ASSERT_EQ(test_op(self->fd[0], UB_TEST_FENCE, 601, 0, NULL), 0);
	ASSERT_TRUE(wait_state(nl, self->minor[1], UB_STATE_FENCED));
	ASSERT_EQ(get_fabric(nl, self->minor[1], &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_REASON), UB_REASON_FENCED);
	ASSERT_EQ(nl_do(nl, &q, NULL), 0);
	ASSERT_EQ(get_fabric(nl, self->minor[1], &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);
	EXPECT_GT(nl_u64(&o, UB_NL_A_INCARNATION), incarnation);
	EXPECT_EQ(win_create(self->fd[1], 1, RW, &c), -ESHUTDOWN);
	fd = open_minor(self->minor[1]);
	EXPECT_EQ(win_create(fd, 1, RW, &c), 0);
	close(fd);
}

/* ---- formatting ---- */

static int format(struct nl *nl, __u32 minor, bool force)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_FORMAT);
	nl_put_u32(&q, UB_NL_A_FABRIC, minor);
	if (force)
		nl_put(&q, UB_NL_A_FORCE, NULL, 0);
	return nl_do(nl, &q, NULL);
}

TEST_F(control, nothing_is_erased_without_force)
{
	struct nl *nl = &self->nl;
	struct ub_info before;
	struct ub_win_create c;
	int i;

	self->n = 2;
	ASSERT_EQ(make_fabric(nl, 2, 700, self->minor, self->fd), 0);
	before = info_of(self->fd[0]);
	ASSERT_EQ(win_create(self->fd[0], 1, RW, &c), 0);
	EXPECT_EQ(format(nl, self->minor[0], false), -EBUSY);
	EXPECT_NE(strstr(nl->text, "heartbeat"), NULL) TH_LOG("%s", nl->text);
	/* The other one stands still: nobody beats, still not without force. */
	ASSERT_EQ(test_op(self->fd[1], UB_TEST_KILL, 0, 0, NULL), 0);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(format(nl, self->minor[0], false), -EEXIST);
		EXPECT_NE(strstr(nl->text, "force"), NULL) TH_LOG("%s", nl->text);
	}
	EXPECT_EQ(memcmp(info_of(self->fd[0]).out_fabric, before.out_fabric, 16), 0);
	EXPECT_EQ(win_destroy(self->fd[0], c.out_desc.window), 0);
}

TEST_F(control, format_begins_a_new_fabric)
{
	struct ub_win_create c, d;
	struct nl *nl = &self->nl;
	struct ub_info before, after;
	struct member m[2];
	struct nl_obj o;
	__u8 *p;
	int fd;

	self->n = 2;
	ASSERT_EQ(make_fabric(nl, 2, 800, self->minor, self->fd), 0);
	before = info_of(self->fd[0]);
	ASSERT_EQ(win_create(self->fd[0], UNIT, RW, &c), 0);
	p = win_map(self->fd[0], c.out_desc.gva, UNIT, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(touch(p, true), 0);
	ASSERT_EQ(format(nl, self->minor[0], true), 0);

	/* The old life is over, in all respects, for both nodes. */
	EXPECT_EQ(touch(p, true), SIGBUS);
	munmap(p, UNIT);
	EXPECT_EQ(win_create(self->fd[0], 1, RW, &d), -ESHUTDOWN);
	ASSERT_TRUE(wait_state(nl, self->minor[1], UB_STATE_FENCED));
	ASSERT_EQ(get_fabric(nl, self->minor[1], &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_REASON), UB_REASON_ERASED);
	EXPECT_EQ(win_create(self->fd[1], 1, RW, &d), -ESHUTDOWN);

	/* A new one has begun: another id, and the old descriptor is nothing. */
	fd = open_minor(self->minor[0]);
	ASSERT_GE(fd, 0);
	after = info_of(fd);
	EXPECT_NE(memcmp(after.out_fabric, before.out_fabric, 16), 0);
	EXPECT_GT(after.out_incarnation, before.out_incarnation);
	EXPECT_EQ(after.out_free, after.out_slice);
	EXPECT_NE(win_attach(fd, &c, RW), 0);
	EXPECT_EQ(win_create(fd, 1, RW, &d), 0);
	close(fd);

	/* The other node joins it, and they work together. */
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[1]);
	nl_put_u32(&q, UB_NL_A_STATE, UB_STATE_UP);
	ASSERT_EQ(nl_do(nl, &q, NULL), 0);
	__u64 key[2];

	fresh_key(key);
	for (int i = 0; i < 2; i++) {
		m[i] = (struct member){ .index = i, .n = 2 };
		m[i].fd = open_minor(self->minor[i]);
		m[i].gc = world_arg(key, 2, i, 10000);
	}
	EXPECT_EQ(memcmp(info_of(m[1].fd).out_fabric, after.out_fabric, 16), 0);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	world_close(m, 2);
}

/* A member that sleeps in a barrier is woken by its end. */
TEST_F(control, format_under_a_barrier)
{
	struct nl *nl = &self->nl;
	struct member m[2];
	__u64 key[2];

	self->n = 2;
	ASSERT_EQ(make_fabric(nl, 2, 900, self->minor, self->fd), 0);
	fresh_key(key);
	for (int i = 0; i < 2; i++) {
		m[i] = (struct member){ .index = i, .n = 2, .fd = self->fd[i] };
		m[i].gc = world_arg(key, 2, i, 10000);
	}
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	member_start(&m[0], step_barrier);
	member_asleep(&m[0]);
	EXPECT_EQ(format(nl, self->minor[0], true), 0);
	EXPECT_EQ(member_join(&m[0]), -ESHUTDOWN);
}

/* ---- events ---- */

/* The next message of that command, and of that event, about a device. */
static bool hear(struct nl *nl, int cmd, __u32 event, __u32 minor, struct nl_obj *o)
{
	__u64 end = in_ms(20000);

	while (now() < end)
		if (nl_heard(nl, o, 100) == 1 && o->cmd == cmd &&
		    nl_u32(o, UB_NL_A_FABRIC) == minor &&
		    (cmd != UB_NL_CMD_EVENT || nl_u32(o, UB_NL_A_EVENT) == event))
			return true;
	return false;
}

TEST_F(control, events)
{
	struct nl *nl = &self->nl;
	struct nl ears;
	struct nl_req q;
	struct nl_obj o;

	ASSERT_EQ(nl_open(&ears), 0);
	ASSERT_EQ(nl_join(&ears), 0);
	ASSERT_EQ(make_fabric(nl, 2, 1000, self->minor, self->fd), 0);
	self->n = 2;
	ASSERT_TRUE(hear(&ears, UB_NL_CMD_FABRIC_ADD_NTF, 0, self->minor[0], &o));
	EXPECT_EQ(nl_u32(&o, UB_NL_A_NODE), 1000);
	ASSERT_TRUE(hear(&ears, UB_NL_CMD_EVENT, UB_EVENT_NODE_UP, self->minor[0], &o));
	EXPECT_EQ(nl_u32(&o, UB_NL_A_NODE), 1001);

	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, self->minor[0]);
	nl_put_u32(&q, UB_NL_A_DETECT_MS, 777);
	ASSERT_EQ(nl_do(nl, &q, NULL), 0);
	ASSERT_TRUE(hear(&ears, UB_NL_CMD_FABRIC_CHANGE_NTF, 0, self->minor[0], &o));
	EXPECT_EQ(nl_u32(&o, UB_NL_A_DETECT_MS), 777);

	ASSERT_EQ(test_op(self->fd[1], UB_TEST_KILL, 0, 0, NULL), 0);
	ASSERT_TRUE(hear(&ears, UB_NL_CMD_EVENT, UB_EVENT_NODE_DOWN, self->minor[0], &o));
	EXPECT_EQ(nl_u32(&o, UB_NL_A_NODE), 1001);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_REASON), UB_REASON_HEARTBEAT);

	ASSERT_EQ(format(nl, self->minor[0], true), 0);
	ASSERT_TRUE(hear(&ears, UB_NL_CMD_EVENT, UB_EVENT_FENCED, self->minor[0], &o));
	EXPECT_EQ(nl_u32(&o, UB_NL_A_REASON), UB_REASON_ERASED);
	ASSERT_TRUE(hear(&ears, UB_NL_CMD_FABRIC_CHANGE_NTF, 0, self->minor[0], &o));
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);

	ASSERT_EQ(nl_fabric_del(nl, self->minor[1]), 0);
	self->n = 0;
	EXPECT_TRUE(hear(&ears, UB_NL_CMD_FABRIC_DEL_NTF, 0, self->minor[0], &o));
	nl_close(&ears);
}

TEST_HARNESS_MAIN

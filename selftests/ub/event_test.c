// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: read() and poll() of the device.
 */
#include "util.h"

FIXTURE(event) {
	int fd;		/* of node 0, whose events are read */
	int peer;	/* of node 1 */
};

FIXTURE_SETUP(event)
{
	struct ub_event ev;

	ASSERT_EQ(heal(), 0);
	sleep_ms(200);	/* what earlier tests did has been told */
	self->fd = open_node(0);
	self->peer = open_node(1);
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->peer, 0);
	fcntl(self->fd, F_SETFL, O_NONBLOCK);
	while (read(self->fd, &ev, sizeof(ev)) > 0)
		;
}

FIXTURE_TEARDOWN(event)
{
	close(self->fd);
	close(self->peer);
	heal();
}

/* The next event of a type, within a time; others are passed over. */
static bool next_event(int fd, __u32 type, struct ub_event *ev, unsigned int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	__u64 end = in_ms(ms);

	while (now() < end) {
		if (poll(&p, 1, 10) <= 0 || !(p.revents & POLLIN))
			continue;
		if (read(fd, ev, sizeof(*ev)) != sizeof(*ev))
			return false;
		if (ev->type == type)
			return true;
	}
	return false;
}

TEST_F(event, nothing_there)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct ub_event ev;
	__u64 start = now();

	EXPECT_EQ(read(self->fd, &ev, sizeof(ev)), -1);
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_EQ(poll(&p, 1, 50), 0);
	EXPECT_GE(now() - start, 49 * MS);
	EXPECT_EQ(write(self->fd, &ev, sizeof(ev)), -1);
	EXPECT_EQ(lseek(self->fd, 0, SEEK_SET), -1);
	EXPECT_EQ(errno, ESPIPE);
}

TEST_F(event, node_down_and_up)
{
	int fd = open_node(3);
	struct ub_info old = info_of(fd);
	struct ub_event ev;
	__u64 start = now();

	ASSERT_EQ(test_op(fd, UB_TEST_KILL, 0, 0, NULL), 0);
	ASSERT_TRUE(next_event(self->fd, UB_EVENT_NODE_DOWN, &ev, 9 * detect_ms()));
	EXPECT_EQ(ev.node, 3);
	EXPECT_EQ(ev.incarnation, old.out_incarnation);
	EXPECT_EQ(ev.reason, UB_REASON_HEARTBEAT);
	EXPECT_GE(ev.time_ns, start);
	EXPECT_LE(ev.time_ns, now());
	EXPECT_EQ(ev.gva, 0);
	EXPECT_EQ(ev.group, 0);
	EXPECT_LT(now() - start, 3 * detect_ms() * MS);
	ASSERT_EQ(test_op(fd, UB_TEST_REJOIN, 0, 0, NULL), 0);
	ASSERT_TRUE(next_event(self->fd, UB_EVENT_NODE_UP, &ev, 9 * detect_ms()));
	EXPECT_EQ(ev.node, 3);
	EXPECT_GT(ev.incarnation, old.out_incarnation);
	EXPECT_EQ(ev.reason, UB_REASON_NONE);
	/* Once each. */
	EXPECT_FALSE(next_event(self->fd, UB_EVENT_NODE_DOWN, &ev, 300));
	close(fd);
}

TEST_F(event, this_node_is_fenced)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN };
	struct ub_event ev;

	ASSERT_EQ(test_op(self->peer, UB_TEST_FENCE, 0, 0, NULL), 0);
	ASSERT_TRUE(next_event(self->fd, UB_EVENT_FENCED, &ev, 9 * detect_ms()));
	EXPECT_EQ(ev.node, 0);
	EXPECT_EQ(ev.reason, UB_REASON_FENCED);
	/* When all is read, there is nothing more to come. */
	while (read(self->fd, &ev, sizeof(ev)) > 0)
		;
	EXPECT_EQ(errno, ESHUTDOWN);
	EXPECT_EQ(poll(&p, 1, 1000), 1);
	EXPECT_TRUE(p.revents & POLLHUP);
	/* The others are told as well. */
	fcntl(self->peer, F_SETFL, O_NONBLOCK);
	ASSERT_TRUE(next_event(self->peer, UB_EVENT_NODE_DOWN, &ev, 9 * detect_ms()));
	EXPECT_EQ(ev.node, 0);
	EXPECT_EQ(ev.reason, UB_REASON_FENCED);
}

TEST_F(event, group_lost)
{
	struct member m[2] = { { .fd = self->fd }, { .fd = self->peer } };
	struct ub_event ev;
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 5000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	ASSERT_EQ(group_destroy(m[1].fd, m[1].group), 0);
	ASSERT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
	ASSERT_TRUE(next_event(self->fd, UB_EVENT_GROUP_LOST, &ev, 1000));
	EXPECT_EQ(ev.group, m[0].group);
	EXPECT_EQ(ev.reason, UB_REASON_LEFT);
	EXPECT_EQ(ev.node, 1);
	EXPECT_EQ(ev.value, m[0].bar.out_lost.epoch);
	EXPECT_EQ(ev.incarnation, info_of(self->peer).out_incarnation);
	/* Once. */
	EXPECT_EQ(step_barrier(&m[0]), -EOWNERDEAD);
	EXPECT_FALSE(next_event(self->fd, UB_EVENT_GROUP_LOST, &ev, 200));
}

TEST_F(event, window_rotated)
{
	struct ub_win_create w;
	struct ub_win_id id;
	struct ub_event ev;

	ASSERT_EQ(win_create(self->peer, 1000, RW, &w), 0);
	ASSERT_EQ(win_attach(self->fd, &w, RW), 0);
	ASSERT_EQ(win_rotate(self->peer, w.out_desc.window, &id), 0);
	ASSERT_TRUE(next_event(self->fd, UB_EVENT_WINDOW_LOST, &ev, 9 * detect_ms()));
	EXPECT_EQ(ev.gva, w.out_desc.gva);
	EXPECT_EQ(ev.value, 1000);
	EXPECT_EQ(ev.node, 1);
	EXPECT_EQ(ev.group, 0);
	/* Detaching oneself is no loss. */
	w.out_desc.generation = id.out_generation;
	memcpy(w.out_token, id.out_token, sizeof(w.out_token));
	win_detach(self->fd, w.out_desc.gva);
	ASSERT_EQ(win_attach(self->fd, &w, RW), 0);
	ASSERT_EQ(win_detach(self->fd, w.out_desc.gva), 0);
	EXPECT_FALSE(next_event(self->fd, UB_EVENT_WINDOW_LOST, &ev, 200));
}

TEST_F(event, window_of_a_dead_node)
{
	struct ub_win_create w;
	struct ub_event ev;

	ASSERT_EQ(win_create(self->peer, 1000, RW, &w), 0);
	ASSERT_EQ(win_attach(self->fd, &w, RW), 0);
	ASSERT_EQ(test_op(self->peer, UB_TEST_KILL, 0, 0, NULL), 0);
	ASSERT_TRUE(next_event(self->fd, UB_EVENT_WINDOW_LOST, &ev, 9 * detect_ms()));
	EXPECT_EQ(ev.gva, w.out_desc.gva);
	EXPECT_EQ(ev.node, 1);
	EXPECT_EQ(ev.reason, UB_REASON_HEARTBEAT);
}

/* A death and a return, so that two events at least are there. */
static int two_events(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int other = open_node(3), ret;

	ret = test_op(other, UB_TEST_KILL, 0, 0, NULL);
	sleep_ms(3 * detect_ms());
	ret = ret ?: test_op(other, UB_TEST_REJOIN, 0, 0, NULL);
	sleep_ms(300);
	close(other);
	return ret ?: poll(&p, 1, 1000) == 1 ? 0 : -ETIME;
}

TEST_F(event, whole_records)
{
	unsigned char buf[sizeof(struct ub_event) * 2 + 1];
	const size_t one = sizeof(struct ub_event);

	ASSERT_EQ(two_events(self->fd), 0);
	EXPECT_EQ(read(self->fd, buf, one - 1), -1);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(read(self->fd, buf, 0), -1);
	/* What does not fit stays. */
	EXPECT_EQ(read(self->fd, buf, one + one / 2), one);
	EXPECT_EQ(((struct ub_event *)buf)->type, UB_EVENT_NODE_DOWN);
	EXPECT_EQ(read(self->fd, buf, sizeof(buf)), one);
	EXPECT_EQ(((struct ub_event *)buf)->type, UB_EVENT_NODE_UP);
}

TEST_F(event, several_at_once)
{
	struct ub_event ev[16];

	ASSERT_EQ(two_events(self->fd), 0);
	EXPECT_EQ(read(self->fd, ev, sizeof(ev)), 2 * sizeof(ev[0]));
	EXPECT_LE(ev[0].time_ns, ev[1].time_ns);
}

/* A wrong buffer costs no event. */
TEST_F(event, wrong_buffer)
{
	/* not a constant, or the compiler complains */
	void *nowhere = (void *)strtoul("8", NULL, 0);
	struct ub_event ev;

	ASSERT_EQ(two_events(self->fd), 0);
	EXPECT_EQ(read(self->fd, nowhere, sizeof(ev)), -1);
	EXPECT_EQ(errno, EFAULT);
	ASSERT_EQ(read(self->fd, &ev, sizeof(ev)), sizeof(ev));
	EXPECT_EQ(ev.type, UB_EVENT_NODE_DOWN);
}

TEST_F(event, overrun)
{
	enum { MANY = 40 };
	static struct ub_win_create w[MANY];
	__u64 got = 0, dropped = 0, last = 0;
	struct ub_win_id id;
	struct ub_event ev;
	int i, round;

	/* Many windows are lost, again and again, and nobody reads. */
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(win_create(self->peer, 1, RW, &w[i]), 0);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < MANY; i++)
			ASSERT_EQ(win_attach(self->fd, &w[i], RW), 0);
		for (i = 0; i < MANY; i++) {
			ASSERT_EQ(win_rotate(self->peer, w[i].out_desc.window, &id), 0);
			w[i].out_desc.generation = id.out_generation;
			memcpy(w[i].out_token, id.out_token, sizeof(id.out_token));
		}
		sleep_ms(150);
	}
	while (read(self->fd, &ev, sizeof(ev)) == sizeof(ev)) {
		EXPECT_GE(ev.time_ns, last);
		last = ev.time_ns;
		if (ev.type == UB_EVENT_OVERRUN)
			dropped += ev.value;
		else
			got++;
	}
	EXPECT_EQ(errno, EAGAIN);
	TH_LOG("%llu events, %llu dropped", got, dropped);
	EXPECT_GE(got, 16);
	EXPECT_EQ(got + dropped, 20 * MANY);
	/* After it, new ones come again. */
	ASSERT_EQ(test_op(self->peer, UB_TEST_KILL, 0, 0, NULL), 0);
	EXPECT_TRUE(next_event(self->fd, UB_EVENT_NODE_DOWN, &ev, 9 * detect_ms()));
}

static int step_read(struct member *m)
{
	struct ub_event ev;

	return read(m->fd, &ev, sizeof(ev)) < 0 ? -errno : ev.type;
}

TEST_F(event, read_waits)
{
	struct member m = { .fd = self->fd };

	fcntl(self->fd, F_SETFL, 0);
	member_start(&m, step_read);
	sleep_ms(100);
	EXPECT_EQ(m.ret, 1);
	ASSERT_EQ(test_op(self->peer, UB_TEST_KILL, 0, 0, NULL), 0);
	EXPECT_EQ(member_join(&m), UB_EVENT_NODE_DOWN);
}

static void nothing(int sig)
{
}

TEST_F(event, read_is_interrupted)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct member m = { .fd = self->fd };

	sigaction(SIGUSR1, &sa, NULL);
	fcntl(self->fd, F_SETFL, 0);
	member_start(&m, step_read);
	sleep_ms(100);
	pthread_kill(m.thread, SIGUSR1);
	EXPECT_EQ(member_join(&m), -EINTR);
}

static int step_poll(struct member *m)
{
	struct pollfd p = { .fd = m->fd, .events = POLLIN };

	return poll(&p, 1, 5000) == 1 ? 0 : -ETIME;
}

/* Every file of the node is told, and every thread that polls one. */
TEST_F(event, several_files)
{
	struct member m[3] = { { .fd = self->fd }, { .fd = self->fd },
			       { .fd = open_node(0) } };
	int i;

	for (i = 0; i < 3; i++)
		member_start(&m[i], step_poll);
	sleep_ms(50);
	ASSERT_EQ(test_op(self->peer, UB_TEST_KILL, 0, 0, NULL), 0);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(member_join(&m[i]), 0);
	close(m[2].fd);
}

static int reads_as_child(void *ctx)
{
	struct ub_event ev;

	return read(*(int *)ctx, &ev, sizeof(ev)) < 0 && errno == EPERM ? 0 : 1;
}

TEST_F(event, not_for_a_child)
{
	EXPECT_EQ(reap(spawn(reads_as_child, &self->fd)), 0);
}

TEST_HARNESS_MAIN

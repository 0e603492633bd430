// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends of a process, or of its fabric, in every state that it can be in: a table
 * of states times a table of ends. Whatever the state, the process is gone at
 * once, the others are told that it is lost, nothing hangs, all memory is free
 * afterwards. Single ends with more to be looked at: life_test.c.
 */
#include "lives.h"
#include "nl.h"

/* ---- the others ---- */

FIXTURE(lives) {
	struct life *l;
	struct member m[2];
};

FIXTURE_SETUP(lives)
{
	ASSERT_EQ(heal(), 0);
	self->l = shared_page();
}

FIXTURE_TEARDOWN(lives)
{
}

/* Member 0, or 0 and 1, are told that 2 is lost, by its process. */
static bool told(struct member *m, int state)
{
	__u64 start = now();
	int i, ret;

	if (states[state].lost) {
		ret = step_shrink(&m[0]);
		return !ret || ret == -EOWNERDEAD;
	}
	/* It may have arrived at the first. */
	for (i = 0; i < 3 && !members_run(m, 2, step_barrier); i++)
		;
	return m[0].ret == -EOWNERDEAD && m[1].ret == -EOWNERDEAD &&
	       same_lost(&m[0].bar.out_lost, &m[1].bar.out_lost) &&
	       m[0].bar.out_lost.member == 2 &&
	       (m[0].bar.out_lost.reason == UB_REASON_EXIT ||
		m[0].bar.out_lost.reason == UB_REASON_LEFT) &&
	       now() - start < GONE_MS * MS;
}

static bool all_free(const struct life *l)
{
	__u64 end = in_ms(5000);
	bool free = false;
	int i, fd;

	for (i = 0; i < MEMBERS; i++) {
		fd = open_of(l, i);
		do {
			struct ub_info info = info_of(fd);

			free = info.out_free == info.out_slice;
			sleep_ms(free ? 0 : 5);
		} while (!free && now() < end);
		close(fd);
		if (!free)
			return false;
	}
	return true;
}

TEST_F_TIMEOUT(lives, each_end_in_each_state, 600)
{
	struct life *l = self->l;
	struct member *m = self->m;
	int state, end, i;
	pid_t pid;

	for (i = 0; i < MEMBERS; i++)
		l->minor[i] = i;
	for (state = 0; state < COUNT(states); state++)
		for (end = 0; end < COUNT(ends); end++) {
			bool lives_on = ends[end].run == end_close || ends[end].run == end_exec;
			bool good;

			pid = begin(l, m, state, end);
			good = pid > 0;
			sleep_ms(good ? 15 : 0);
			if (good && !ends[end].run)
				kill(pid, SIGKILL);
			if (good && lives_on) {
				/* A call that runs, or a mapping, keeps the file. */
				good = ends[end].run != end_exec || told(m, state);
				sleep_ms(10);
				kill(pid, SIGKILL);
			}
			good = good && gone(pid, GONE_MS);
			good = good && (ends[end].run == end_exec || told(m, state));
			good = good && !l->inherited;
			set_word(&l->stop);
			world_close(m, 2);
			EXPECT_TRUE(good)
				TH_LOG("%s in state %s: %d %d, pid %d", ends[end].name,
				       states[state].name, m[0].ret, m[1].ret, pid);
			if (!good && pid > 0)
				kill(pid, SIGKILL);
		}
	while (wait(NULL) > 0)
		;
	EXPECT_TRUE(all_free(l));
}

/* ---- its fabric goes ---- */

static int fabric_add(struct nl *nl, __u32 *minor)
{
	int err = nl_loop_add(nl, MEMBERS, 100, minor), i, fd;

	for (i = 0; i < MEMBERS && !err; i++) {
		__u64 end = in_ms(20000);

		while ((fd = open_node(minor[i])) < 0 && now() < end)
			sleep_ms(5);
		err = fd < 0 ? -errno : close(fd);
	}
	return err;
}

struct fabric {
	struct nl nl;
	struct life *l;
};

static int fabric_goes(void *ctx)
{
	struct fabric *f = ctx;

	return nl_fabric_del(&f->nl, f->l->minor[0]);
}

TEST_F_TIMEOUT(lives, fabric_goes_in_each_state, 300)
{
	struct fabric f = { .l = self->l };
	const char *wrong;
	int state;

	ASSERT_EQ(nl_open(&f.nl), 0);
	for (state = 0; state < COUNT(states); state++) {
		ASSERT_EQ(fabric_add(&f.nl, f.l->minor), 0);
		wrong = while_in(f.l, self->m, state, fabric_goes, &f);
		EXPECT_EQ(wrong, NULL)
			TH_LOG("in state %s: %s", states[state].name, wrong);
	}
	nl_close(&f.nl);
}

/* ---- mappings that change ---- */

TEST_F(lives, parts_of_a_mapping)
{
	struct member m[2];
	unsigned char *p, *q;
	struct ub_win_create w;
	size_t size;

	ASSERT_EQ(world_open(m, 2, NODES), 0);
	ASSERT_EQ(win_create(m[0].fd, 4 * UNIT, RW, &w), 0);
	p = win_map(m[0].fd, w.out_desc.gva, 4 * UNIT, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	/* A hole; both sides of it work, and are the window's bytes. */
	ASSERT_EQ(munmap(p + UNIT, UNIT), 0);
	EXPECT_EQ(touch(p, true), 0);
	EXPECT_EQ(touch(p + UNIT, true), SIGSEGV);
	EXPECT_EQ(xfer(m[0].fd, UB_XFER_PUT, w.out_desc.gva + 3 * UNIT, "z", 1, 0, 0), 0);
	EXPECT_EQ(LD(p + 3 * UNIT), 'z');
	/* It neither moves nor grows. */
	EXPECT_EQ(mremap(p, UNIT, 2 * UNIT, 0), MAP_FAILED);
	EXPECT_EQ(mremap(p, UNIT, 8 * UNIT, MREMAP_MAYMOVE), MAP_FAILED);
	q = mmap(NULL, UNIT, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT_EQ(mremap(p, UNIT, UNIT, MREMAP_MAYMOVE | MREMAP_FIXED, q), MAP_FAILED);
	/* It becomes less, and less may be done with it. */
	EXPECT_EQ(mremap(p, UNIT, UNIT / 2, 0), p);
	EXPECT_EQ(touch(p + UNIT / 2, false), SIGSEGV);
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ), 0);
	EXPECT_EQ(touch(p, true), SIGSEGV);
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ | PROT_EXEC), -1);
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(touch(p, true), 0);
	/* The same of a group's pages; the ioctl needs none of them. */
	size = m[0].gc.out_map_size;
	p = win_map(m[0].fd, m[0].gc.out_offset, size, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	ASSERT_EQ(munmap(p + PAGE, PAGE), 0);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	EXPECT_EQ(touch(p + 2 * PAGE, false), 0);
	EXPECT_EQ(munmap(p, size), 0);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	world_close(m, 2);
}

/* ---- two who share ---- */

static int step_wait_long(struct member *m)
{
	return barrier(m, AW, 0, 0, in_ms(20000));
}

/* Of two threads in one barrier one is busy; the other's arrival stands. */
TEST_F(lives, two_threads_in_one_barrier)
{
	struct member m[2], second;
	int i;

	ASSERT_EQ(world_open(m, 2, NODES), 0);
	for (i = 0; i < 20; i++) {
		member_start(&m[0], step_wait_long);
		member_asleep(&m[0]);
		second = m[0];
		EXPECT_EQ(step_barrier(&second), -EBUSY);
		EXPECT_EQ(group_destroy(second.fd, second.group), -EBUSY);
		EXPECT_EQ(step_shrink(&second), -EBUSY);
		EXPECT_EQ(step_barrier(&m[1]), 0);
		EXPECT_EQ(member_join(&m[0]), 0);
	}
	world_close(m, 2);
}

static int uses_the_file(void *ctx)
{
	struct member *m = ctx;
	struct ub_win_create w;
	struct ub_event ev;
	unsigned char *p = win_map(m->fd, m->gc.out_offset, PAGE, PROT_READ);
	struct ub_group_id id = ARG(ub_group_id, .group = m->group);

	if (p != MAP_FAILED || errno != EPERM)
		return 1;
	if (step_barrier(m) != -EPERM || group_destroy(m->fd, m->group) != -EPERM ||
	    call(m->fd, UB_IOC_KICK, &id) != -EPERM ||
	    win_create(m->fd, UNIT, RW, &w) != -EPERM)
		return 2;
	fcntl(m->fd, F_SETFL, O_NONBLOCK);
	return read(m->fd, &ev, sizeof(ev)) > 0 ? 0 : info_of(m->fd).out_abi ? 0 : 3;
}

/* A child has the file and is no member; it does no harm, running or ended. */
TEST_F(lives, two_processes_share_a_file)
{
	struct member m[2];
	pid_t pid[4];
	int i;

	ASSERT_EQ(world_open(m, 2, NODES), 0);
	for (i = 0; i < 4; i++)
		pid[i] = spawn(uses_the_file, &m[0]);
	for (i = 0; i < 10; i++)
		EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(reap(pid[i]), 0);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	world_close(m, 2);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a file: closing, forking, executing and dying in the middle of
 * everything, and that the module cannot go while it is used.
 */
#include <sys/resource.h>
#include <sys/syscall.h>
#include "util.h"

FIXTURE(life) {
	struct member m[3];	/* 0 and 1 are this process, 2 is another */
	struct ub_win_create w;
};

FIXTURE_SETUP(life)
{
	int i;

	ASSERT_EQ(heal(), 0);
	memset(self->m, 0, sizeof(self->m));
	for (i = 0; i < 3; i++) {
		self->m[i].fd = open_node(i);
		ASSERT_GE(self->m[i].fd, 0);
	}
}

FIXTURE_TEARDOWN(life)
{
	world_close(self->m, 3);
}

/* Everything that the other process is told, and tells. */
struct other {
	__u64 key[2];
	__u32 up;
	__u32 go;
	__u32 pid;
	__u32 lost;
	int (*then)(struct other *o, struct member *m);
};

static int other_main(void *ctx)
{
	struct other *o = ctx;
	struct member m = { .fd = open_node(2) };

	m.gc = world_arg(o->key, 3, 2, 10000);
	if (m.fd < 0 || step_create(&m))
		return 100;
	return o->then(o, &m);
}

/* A world of three with another process as the third. */
static pid_t meet_other(struct member *m, struct other *o,
			int (*then)(struct other *o, struct member *m))
{
	pid_t pid;
	int i;

	fresh_key(o->key);
	o->then = then;
	pid = spawn(other_main, o);
	for (i = 0; i < 2; i++) {
		m[i].index = i;
		m[i].gc = world_arg(o->key, 3, i, 10000);
	}
	return members_run(m, 2, step_create) ? -1 : pid;
}

/* Both are told that the third is lost, for this reason, the same. */
static bool both_told(struct member *m, __u32 reason)
{
	__u64 start = now();
	int i;

	members_run(m, 2, step_barrier);
	for (i = 0; i < 2; i++)
		if (m[i].ret != -EOWNERDEAD || m[i].bar.out_lost.member != 2 ||
		    m[i].bar.out_lost.reason != reason)
			return false;
	return same_lost(&m[0].bar.out_lost, &m[1].bar.out_lost) &&
	       now() - start < 5 * SEC;	/* where others have the CPUs */
}

/* ---- close ---- */

TEST_F(life, closed_by_another_thread)
{
	struct member *m = self->m;
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 5000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	member_start(&m[0], step_barrier);
	member_asleep(&m[0]);
	close(m[0].fd);
	sleep_ms(50);
	/* The call goes on until the barrier ends, then the file goes. */
	EXPECT_EQ(m[0].ret, 1);
	EXPECT_EQ(step_barrier(&m[1]), 0);
	EXPECT_EQ(member_join(&m[0]), 0);
	EXPECT_EQ(step_barrier(&m[1]), -EOWNERDEAD);
	EXPECT_EQ(m[1].bar.out_lost.reason, UB_REASON_LEFT);
	m[0].fd = -1;
}

static int closes(struct other *o, struct member *m)
{
	close(m->fd);
	set_word(&o->up);
	wait_word(&o->go, 10000);
	return 0;
}

/* To close is to leave, with the process alive. */
TEST_F(life, close_is_leaving)
{
	struct other *o = shared_page();
	pid_t pid = meet_other(self->m, o, closes);

	ASSERT_GT(pid, 0);
	ASSERT_TRUE(wait_word(&o->up, 5000));
	EXPECT_TRUE(both_told(self->m, UB_REASON_LEFT));
	set_word(&o->go);
	EXPECT_EQ(reap(pid), 0);
}

TEST_F(life, dup_is_the_same_file)
{
	struct member *m = &self->m[0];
	int fd;

	ASSERT_EQ(win_create(m->fd, 1, RW, &self->w), 0);
	fd = dup(m->fd);
	close(m->fd);
	m->fd = fd;
	EXPECT_EQ(win_destroy(fd, self->w.out_desc.window), 0);
}

/* ---- fork, exec ---- */

static int leaves_a_child(struct other *o, struct member *m)
{
	pid_t pid = fork();

	if (!pid) {
		/* The child holds the file for as long as it lives. */
		o->pid = getpid();
		o->lost = step_barrier(m) == -EPERM;
		set_word(&o->up);
		wait_word(&o->go, 20000);
		_exit(0);
	}
	wait_word(&o->up, 5000);
	return 0;
}

TEST_F(life, child_outlives_parent)
{
	struct other *o = shared_page();
	pid_t pid = meet_other(self->m, o, leaves_a_child);

	ASSERT_GT(pid, 0);
	EXPECT_TRUE(both_told(self->m, UB_REASON_EXIT));
	EXPECT_EQ(reap(pid), 0);
	EXPECT_EQ(o->lost, 1);
	set_word(&o->go);
}

static int executes(struct other *o, struct member *m)
{
	fcntl(m->fd, F_SETFD, 0);	/* kept over exec */
	set_word(&o->up);
	execl("/bin/sleep", "sleep", "60", NULL);
	return 101;
}

TEST_F(life, exec_ends_a_lane)
{
	struct other *o = shared_page();
	pid_t pid = meet_other(self->m, o, executes);

	ASSERT_GT(pid, 0);
	EXPECT_TRUE(both_told(self->m, UB_REASON_EXIT));
	kill(pid, SIGKILL);
	reap(pid);
}

/* Running a program in a child does no harm. */
TEST_F(life, system_is_harmless)
{
	struct member *m = self->m;
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 5000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	for (i = 0; i < 5; i++) {
		EXPECT_EQ(system("true"), 0);
		EXPECT_EQ(members_run(m, 2, step_barrier), 0);
	}
	sleep_ms(300);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
}

static int step_open(struct member *m)
{
	m->fd = open_node(1);
	return m->fd < 0 ? -errno : 0;
}

TEST_F(life, opener_may_be_a_thread_that_ends)
{
	struct member m = { 0 };

	member_start(&m, step_open);
	ASSERT_EQ(member_join(&m), 0);
	sleep_ms(200);
	EXPECT_EQ(win_create(m.fd, 1, RW, &self->w), 0);
	close(m.fd);
}

static int step_own_files(struct member *m)
{
	return unshare(CLONE_FILES) ? -errno : 0;
}

/* It closes the files that it had for itself; the process lives. */
TEST_F(life, thread_with_files_of_its_own_ends)
{
	struct member *m = self->m, thread = { 0 };
	__u64 key[2];
	int i;

	fresh_key(key);
	for (i = 0; i < 2; i++)
		m[i].gc = world_arg(key, 2, i, 5000);
	ASSERT_EQ(members_run(m, 2, step_create), 0);
	member_start(&thread, step_own_files);
	ASSERT_EQ(member_join(&thread), 0);
	sleep_ms(300);
	EXPECT_EQ(members_run(m, 2, step_barrier), 0);
}

static int dies_with_a_thread(struct other *o, struct member *m)
{
	static struct member thread;

	/* The last to have the files is a thread, when all are killed. */
	member_start(&thread, step_own_files);
	member_join(&thread);
	raise(SIGKILL);
	return 0;
}

TEST_F(life, process_that_had_such_a_thread_ends)
{
	struct other *o = shared_page();
	pid_t pid = meet_other(self->m, o, dies_with_a_thread);

	ASSERT_GT(pid, 0);
	EXPECT_TRUE(both_told(self->m, UB_REASON_EXIT));
	EXPECT_EQ(reap(pid), 128 + SIGKILL);
}

/* ---- SIGKILL ---- */

static int waits(struct other *o, struct member *m)
{
	set_word(&o->up);
	barrier(m, AW, 0, 0, UB_FOREVER);
	return 0;
}

TEST_F(life, killed_in_a_barrier)
{
	struct other *o = shared_page();
	pid_t pid = meet_other(self->m, o, waits);
	__u64 start;

	ASSERT_GT(pid, 0);
	ASSERT_TRUE(wait_word(&o->up, 5000));
	sleep_ms(100);
	start = now();
	kill(pid, SIGKILL);
	EXPECT_EQ(reap(pid), 128 + SIGKILL);
	EXPECT_LT(now() - start, 500 * MS);
	/* It had arrived; it is missing from the next on. */
	EXPECT_EQ(members_run(self->m, 2, step_barrier), 0);
	EXPECT_TRUE(both_told(self->m, UB_REASON_EXIT));
}

static int creates_alone(void *ctx)
{
	struct other *o = ctx;
	struct member m = { .fd = open_node(2) };

	m.gc = world_arg(o->key, 3, 2, 0);
	m.gc.timeout = UB_FOREVER;
	set_word(&o->up);
	return step_create(&m) ? 1 : 0;
}

TEST_F(life, killed_in_creation)
{
	struct other *o = shared_page();
	struct member *m = self->m;
	__u64 start;
	pid_t pid;
	int i;

	fresh_key(o->key);
	pid = spawn(creates_alone, o);
	ASSERT_TRUE(wait_word(&o->up, 5000));
	sleep_ms(100);
	m[0].gc = world_arg(o->key, 3, 0, 8000);
	member_start(&m[0], step_create);
	member_asleep(&m[0]);
	start = now();
	kill(pid, SIGKILL);
	EXPECT_EQ(reap(pid), 128 + SIGKILL);
	EXPECT_LT(now() - start, 500 * MS);
	/* It had arrived at the creation: the others may complete it. */
	m[1].gc = world_arg(o->key, 3, 1, 3000);
	member_start(&m[1], step_create);
	for (i = 0; i < 2; i++)
		member_join(&m[i]);
	EXPECT_EQ(m[0].ret, m[1].ret);
	EXPECT_TRUE(m[0].ret == 0 || m[0].ret == -EOWNERDEAD);
	EXPECT_TRUE(both_told(m, UB_REASON_EXIT));
}

static int touches(void *ctx)
{
	struct other *o = ctx;
	struct ub_win_create w;
	unsigned char *p;
	int fd = open_node(2), i;

	if (win_create(fd, 8 * UNIT, RW, &w))
		return 1;
	p = win_map(fd, w.out_desc.gva, 8 * UNIT, PROT_READ | PROT_WRITE);
	if (p == MAP_FAILED)
		return 2;
	set_word(&o->up);
	for (i = 0; ; i += 4097) {
		ST(&p[i % (8 * UNIT)], i);
		if (i > 1000000000)
			i = 0;
		if (i % 64 == 0)
			madvise(p, 8 * UNIT, MADV_DONTNEED);
	}
}

TEST_F(life, killed_while_touching)
{
	__u64 free0 = info_of(self->m[2].fd).out_slice, end;
	int i;

	for (i = 0; i < 10; i++) {
		struct other *o = shared_page();
		pid_t pid = spawn(touches, o);

		ASSERT_TRUE(wait_word(&o->up, 5000));
		sleep_ms(10);
		kill(pid, SIGKILL);
		EXPECT_EQ(reap(pid), 128 + SIGKILL);
	}
	end = in_ms(3000);
	while (info_of(self->m[2].fd).out_free != free0 && now() < end)
		sleep_ms(10);
	EXPECT_EQ(info_of(self->m[2].fd).out_free, free0);
}

static int transfers(void *ctx)
{
	static struct ub_xfer_op_desc d[UB_XFER_MAX];
	struct ub_xfer x = ARG(ub_xfer, .ops = PTR(d), .nops = UB_XFER_MAX);
	struct other *o = ctx;
	struct ub_win_create w;
	int fd = open_node(2), i;
	static char buf[UNIT];

	if (win_create(fd, UNIT, RW, &w))
		return 1;
	for (i = 0; i < UB_XFER_MAX; i++)
		d[i] = (struct ub_xfer_op_desc){ .op = UB_XFER_PUT,
			.gva = w.out_desc.gva, .addr = PTR(buf), .length = UNIT };
	set_word(&o->up);
	for (;;)
		if (call(fd, UB_IOC_XFER, &x))
			return 2;
}

/* Four gigabytes in one call: it ends when it is killed. */
TEST_F(life, killed_in_a_long_xfer)
{
	struct other *o = shared_page();
	pid_t pid = spawn(transfers, o);
	__u64 start;

	ASSERT_TRUE(wait_word(&o->up, 5000));
	sleep_ms(50);
	start = now();
	kill(pid, SIGKILL);
	EXPECT_EQ(reap(pid), 128 + SIGKILL);
	EXPECT_LT(now() - start, 500 * MS);
}

static int waits_paused(void *ctx)
{
	struct other *o = ctx;
	struct ub_win_create w;
	int fd = open_node(2);

	set_word(&o->up);
	win_create(fd, 1, RW, &w);
	return 0;
}

TEST_F(life, killed_on_a_paused_node)
{
	struct other *o = shared_page();
	pid_t pid;
	__u64 start;

	ASSERT_EQ(test_op(self->m[2].fd, UB_TEST_PAUSE, 0, 0, NULL), 0);
	pid = spawn(waits_paused, o);
	ASSERT_TRUE(wait_word(&o->up, 5000));
	sleep_ms(50);
	kill(pid, SIGKILL);
	sleep_ms(50);
	/* Closing its files stands still like all the rest, not for longer. */
	start = now();
	EXPECT_EQ(test_op(self->m[2].fd, UB_TEST_RESUME, 0, 0, NULL), 0);
	EXPECT_EQ(reap(pid), 128 + SIGKILL);
	EXPECT_LT(now() - start, 500 * MS);
}

static int step_map(struct member *m)
{
	void *p = win_map(m->fd, *(__u64 *)m->ctx, PAGE, PROT_READ);

	return p == MAP_FAILED ? -errno : 0;
}

/* mmap() holds a lock of all the process: it does not wait with that. */
TEST_F(life, mapping_on_a_paused_node)
{
	struct member *m = &self->m[2];
	__u64 start;

	ASSERT_EQ(win_create(m->fd, PAGE, RW, &self->w), 0);
	m->ctx = &self->w.out_desc.gva;
	ASSERT_EQ(test_op(m->fd, UB_TEST_PAUSE, 0, 0, NULL), 0);
	/* Should it wait, nobody else here could resume the node. */
	if (!fork()) {
		sleep_ms(1000);
		m->fd = open_node(2);
		test_op(m->fd, UB_TEST_RESUME, 0, 0, NULL);
		_exit(0);
	}
	start = now();
	member_start(m, step_map);
	sleep_ms(50);
	munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	EXPECT_LT(now() - start, 700 * MS);
	EXPECT_EQ(member_join(m), 0);
	test_op(m->fd, UB_TEST_RESUME, 0, 0, NULL);
	wait(NULL);
}

/* ---- handles that others guess ---- */

static int step_create_many(struct member *m)
{
	__u64 key[2];
	int i, ret;

	for (i = 0; i < 500; i++) {
		key[0] = now();
		key[1] = i;
		m->gc = world_arg(key, 1, 0, 1000);
		ret = step_create(m);
		if (ret)
			return ret;
		ret = group_destroy(m->fd, m->group);
		if (ret && ret != -ENOENT && ret != -EBUSY)
			return ret;
	}
	return 0;
}

static int step_destroy_many(struct member *m)
{
	int *stop = m->ctx;
	__u32 group;

	while (!LD(stop))
		for (group = 1; group < 4; group++)
			group_destroy(m->fd, group);
	return 0;
}

TEST_F(life, destroy_races_with_create)
{
	struct member a = { .fd = self->m[0].fd }, b = a;
	int stop = 0;

	b.ctx = &stop;
	member_start(&a, step_create_many);
	member_start(&b, step_destroy_many);
	EXPECT_EQ(member_join(&a), 0);
	ST(&stop, 1);
	member_join(&b);
}

/* ---- the module ---- */

static int unload(void)
{
	return syscall(SYS_delete_module, "ub", O_NONBLOCK) < 0 ? errno : 0;
}

TEST_F(life, module_is_in_use)
{
	unsigned char *p;
	int err;

	err = unload();
	if (err == EPERM || err == ENOENT)
		SKIP(return, "ub is not a module here, or may not be unloaded");
	EXPECT_TRUE(err == EBUSY || err == EWOULDBLOCK);
	/* A mapping alone holds it as well. */
	ASSERT_EQ(win_create(self->m[0].fd, PAGE, RW, &self->w), 0);
	p = win_map(self->m[0].fd, self->w.out_desc.gva, PAGE, PROT_READ);
	ASSERT_NE(p, MAP_FAILED);
	world_close(self->m, 3);
	self->m[0].fd = self->m[1].fd = self->m[2].fd = -1;
	err = unload();
	EXPECT_TRUE(err == EBUSY || err == EWOULDBLOCK);
	EXPECT_EQ(touch(p, false), 0);
}

/* ---- many files ---- */

TEST_F(life, as_many_files_as_allowed)
{
	struct rlimit old, lim = { 1500, 1500 };
	int n = 0, i, fd[2000], again;

	getrlimit(RLIMIT_NOFILE, &old);
	if (setrlimit(RLIMIT_NOFILE, &lim))
		lim = old;
	for (again = 0; again < 2; again++) {
		for (n = 0; n < 2000; n++) {
			fd[n] = open_node(n % NODES);
			if (fd[n] < 0)
				break;
		}
		EXPECT_EQ(errno, EMFILE);
		EXPECT_GT(n, 500);
		EXPECT_EQ(win_create(fd[n - 1], 1, RW, &self->w), 0);
		for (i = 0; i < n; i++)
			close(fd[i]);
	}
	i = open_node(0);
	EXPECT_EQ(info_of(i).out_abi, UB_ABI_VERSION);
	close(i);
	TH_LOG("%d files", n);
}

TEST_F(life, ways_to_open)
{
	struct ub_info i = ARG(ub_info);
	unsigned char *p;
	int fd = open("/dev/ubfab0", O_RDONLY);

	ASSERT_GE(fd, 0);
	EXPECT_EQ(call(fd, UB_IOC_INFO, &i), 0);
	ASSERT_EQ(win_create(self->m[0].fd, PAGE, RW, &self->w), 0);
	if (!win_attach(fd, &self->w, RW)) {
		/* mmap(2): a shared writable mapping needs a file open for it */
		p = win_map(fd, self->w.out_desc.gva, PAGE, PROT_READ | PROT_WRITE);
		EXPECT_EQ(p, MAP_FAILED);
		EXPECT_EQ(errno, EACCES);
	}
	close(fd);
}

TEST_HARNESS_MAIN

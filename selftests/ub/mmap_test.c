// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping windows: what may be mapped, who sees whose stores, and that a
 * mapping ends when the attachment does.
 */
#include "util.h"

#define LEN	(3 * UNIT)

FIXTURE(map) {
	int home;
	int peer;
	__u64 gva;
	struct ub_win_create w;
	unsigned char *h;	/* the home's mapping */
	unsigned char *p;	/* the peer's */
};

FIXTURE_SETUP(map)
{
	ASSERT_EQ(heal(), 0);
	self->home = open_node(2);
	self->peer = open_node(1);
	ASSERT_GE(self->home, 0);
	ASSERT_GE(self->peer, 0);
	ASSERT_EQ(win_create(self->home, LEN, UB_WIN_RIGHTS, &self->w), 0);
	ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
	self->gva = self->w.out_desc.gva;
	self->h = win_map(self->home, self->gva, LEN, PROT_READ | PROT_WRITE);
	self->p = win_map(self->peer, self->gva, LEN, PROT_READ | PROT_WRITE);
	ASSERT_NE(self->h, MAP_FAILED);
	ASSERT_NE(self->p, MAP_FAILED);
}

FIXTURE_TEARDOWN(map)
{
	close(self->peer);
	close(self->home);
}

TEST_F(map, two_nodes_see_each_other)
{
	EXPECT_TRUE(one_memory(self->h, self->p, LEN));
}

TEST_F(map, offset_is_the_address)
{
	unsigned char *q;

	self->h[UNIT + 5] = 0x5a;
	q = win_map(self->peer, self->gva + UNIT, PAGE, PROT_READ);
	ASSERT_NE(q, MAP_FAILED);
	EXPECT_EQ(q[5], 0x5a);
	q = win_map(self->peer, self->gva + LEN - PAGE, PAGE, PROT_READ);
	ASSERT_NE(q, MAP_FAILED);
	self->h[LEN - 1] = 0x77;
	EXPECT_EQ(q[PAGE - 1], 0x77);
}

TEST_F(map, refuses)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct ub_win_create other;

	/* Nobody attached these. */
	EXPECT_NE(try_map(self->peer, 0, PAGE, rw, MAP_SHARED), 0);
	EXPECT_EQ(try_map(self->peer, UNIT, PAGE, rw, MAP_SHARED), ENOENT);
	EXPECT_EQ(try_map(self->peer, self->gva - PAGE, PAGE, rw, MAP_SHARED), ENOENT);
	EXPECT_EQ(try_map(self->peer, self->gva + LEN, PAGE, rw, MAP_SHARED), ENOENT);
	ASSERT_EQ(win_create(self->home, UNIT, RW, &other), 0);
	EXPECT_EQ(try_map(self->peer, other.out_desc.gva, PAGE, rw, MAP_SHARED),
		  ENOENT);
	/* Past the end, or past the end of all. */
	EXPECT_NE(try_map(self->peer, self->gva, LEN + PAGE, rw, MAP_SHARED), 0);
	EXPECT_NE(try_map(self->peer, self->gva + PAGE, LEN, rw, MAP_SHARED), 0);
	EXPECT_NE(try_map(self->peer, self->gva, 1ULL << 40, rw, MAP_SHARED), 0);
	EXPECT_NE(try_map(self->peer, ~0ULL & ~(PAGE - 1), PAGE, rw, MAP_SHARED), 0);
	EXPECT_NE(try_map(self->peer, 1ULL << 63, PAGE, rw, MAP_SHARED), 0);
	EXPECT_EQ(try_map(self->peer, self->gva + 8, PAGE, rw, MAP_SHARED), EINVAL);
	/* A private copy of shared memory is no use. */
	EXPECT_EQ(try_map(self->peer, self->gva, PAGE, rw, MAP_PRIVATE), EINVAL);
	EXPECT_EQ(try_map(self->peer, self->gva, PAGE, PROT_READ, MAP_PRIVATE), EINVAL);
	/* What peers can write is no code. */
	EXPECT_NE(try_map(self->peer, self->gva, PAGE, PROT_READ | PROT_EXEC,
			  MAP_SHARED), 0);
	EXPECT_NE(mprotect(self->p, PAGE, PROT_READ | PROT_EXEC), 0);
	/* And all that did not spoil what is there. */
	self->h[0] = 9;
	EXPECT_EQ(self->p[0], 9);
}

TEST_F(map, small_window)
{
	struct ub_win_create w;
	const int rw = PROT_READ | PROT_WRITE;

	ASSERT_EQ(win_create(self->home, 100, RW, &w), 0);
	EXPECT_EQ(try_map(self->home, w.out_desc.gva, PAGE, rw, MAP_SHARED), 0);
	EXPECT_EQ(try_map(self->home, w.out_desc.gva, 100, rw, MAP_SHARED), 0);
	EXPECT_NE(try_map(self->home, w.out_desc.gva, 2 * PAGE, rw, MAP_SHARED), 0);
}

TEST_F(map, read_only)
{
	struct ub_win_create w;
	unsigned char *p;

	ASSERT_EQ(win_create(self->home, UNIT, RW, &w), 0);
	ASSERT_EQ(win_attach(self->peer, &w, UB_WIN_READ), 0);
	EXPECT_EQ(try_map(self->peer, w.out_desc.gva, PAGE, PROT_READ | PROT_WRITE,
			  MAP_SHARED), EACCES);
	EXPECT_EQ(try_map(self->peer, w.out_desc.gva, PAGE, PROT_WRITE,
			  MAP_SHARED), EACCES);
	p = win_map(self->peer, w.out_desc.gva, UNIT, PROT_READ);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(touch(p, false), 0);
	ASSERT_EQ(mprotect(p, UNIT, PROT_READ | PROT_WRITE), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(touch(p, true), SIGSEGV);
	/* A file that is open for reading only maps for reading only. */
	ASSERT_EQ(mprotect(self->p, LEN, PROT_READ), 0);
	EXPECT_EQ(touch(self->p, true), SIGSEGV);
	ASSERT_EQ(mprotect(self->p, LEN, PROT_READ | PROT_WRITE), 0);
	EXPECT_EQ(touch(self->p, true), 0);
}

TEST_F(map, write_back)
{
	__u64 type = 0;

	self->p[0] = 1;
	ASSERT_EQ(test_op(self->peer, UB_TEST_PTE_MEMTYPE, PTR(self->p), 0, &type), 0);
	EXPECT_EQ(type, UB_MEMTYPE_WB);
	EXPECT_NE(test_op(self->peer, UB_TEST_PTE_MEMTYPE, 0, 0, &type), 0);
	EXPECT_NE(test_op(self->peer, UB_TEST_PTE_MEMTYPE, ~0ULL, 0, &type), 0);
}

TEST_F(map, unmapped_in_part)
{
	ASSERT_EQ(munmap(self->p + UNIT, UNIT), 0);
	self->h[0] = 1;
	self->h[LEN - 1] = 2;
	EXPECT_EQ(self->p[0], 1);
	EXPECT_EQ(self->p[LEN - 1], 2);
	EXPECT_EQ(touch(self->p + UNIT, false), SIGSEGV);
	/* Both halves go with the attachment. */
	ASSERT_EQ(win_detach(self->peer, self->gva), 0);
	EXPECT_EQ(touch(self->p, false), SIGBUS);
	EXPECT_EQ(touch(self->p + LEN - 1, true), SIGBUS);
	EXPECT_EQ(munmap(self->p, LEN), 0);
}

TEST_F(map, mremap)
{
	unsigned char *q;

	/* It cannot grow past what was checked when it was made. */
	EXPECT_EQ(mremap(self->p, LEN, LEN + PAGE, MREMAP_MAYMOVE), MAP_FAILED);
	EXPECT_EQ(touch(self->p + LEN - 1, false), 0);
	q = mremap(self->p, LEN, UNIT, 0);
	ASSERT_EQ(q, self->p);
	EXPECT_EQ(touch(q + UNIT, false), SIGSEGV);
	EXPECT_EQ(mremap(q, UNIT, LEN, MREMAP_MAYMOVE), MAP_FAILED);
	/* If it can be moved it is the same memory, and can be revoked. */
	q = mremap(self->h, LEN, LEN, MREMAP_MAYMOVE | MREMAP_FIXED,
		   (void *)0x700000000000UL);
	if (q == MAP_FAILED)
		return;
	q[0] = 0x31;
	EXPECT_EQ(self->p[0], 0x31);
	ASSERT_EQ(win_destroy(self->home, self->w.out_desc.window), 0);
	EXPECT_EQ(touch(q, false), SIGBUS);
}

TEST_F(map, advice_keeps_the_bytes)
{
	memset(self->p, 0x42, LEN);
	madvise(self->p, LEN, MADV_DONTNEED);
	madvise(self->p, LEN, MADV_REMOVE);
	EXPECT_EQ(self->p[LEN - 1], 0x42);
	EXPECT_EQ(self->h[UNIT], 0x42);
	EXPECT_EQ(try_map(self->peer, self->gva, LEN, PROT_READ,
			  MAP_SHARED | MAP_POPULATE), 0);
}

/* System calls may read and write it. */
TEST_F(map, as_buffer)
{
	char out[64] = "";
	int fds[2];

	ASSERT_EQ(pipe(fds), 0);
	strcpy((char *)self->h, "through a pipe");
	ASSERT_EQ(write(fds[1], self->p, 15), 15);
	ASSERT_EQ(read(fds[0], self->p + UNIT, 15), 15);
	memcpy(out, self->h + UNIT, 15);
	EXPECT_STREQ(out, "through a pipe");
	ASSERT_EQ(win_detach(self->peer, self->gva), 0);
	EXPECT_EQ(write(fds[1], self->p, 15), -1);
	EXPECT_EQ(errno, EFAULT);
}

TEST_F(map, sigbus_after_detach)
{
	EXPECT_EQ(touch(self->p, true), 0);
	ASSERT_EQ(win_detach(self->peer, self->gva), 0);
	EXPECT_EQ(touch(self->p, false), SIGBUS);
	EXPECT_EQ(touch(self->p, true), SIGBUS);
	EXPECT_EQ(touch(self->h, true), 0);
	/* Attached again, the old mapping may come to life; it must not crash. */
	ASSERT_EQ(win_attach(self->peer, &self->w, UB_WIN_READ), 0);
	EXPECT_NE(touch(self->p, true), 0);
}

TEST_F(map, sigbus_after_rotate)
{
	struct ub_win_id id;

	self->p[0] = 3;
	ASSERT_EQ(win_rotate(self->home, self->w.out_desc.window, &id), 0);
	EXPECT_EQ(touch_gone(self->p, false), SIGBUS);
	EXPECT_EQ(touch_gone(self->p + LEN - 1, true), SIGBUS);
	EXPECT_EQ(try_map(self->peer, self->gva, PAGE, PROT_READ, MAP_SHARED), ESTALE);
	EXPECT_EQ(touch(self->h, true), 0);
}

TEST_F(map, sigbus_after_destroy)
{
	self->p[0] = 3;
	self->h[0] = 3;
	ASSERT_EQ(win_destroy(self->home, self->w.out_desc.window), 0);
	EXPECT_EQ(touch_gone(self->p, false), SIGBUS);
	EXPECT_EQ(touch(self->h, true), SIGBUS);
}

/* Memory that was given to somebody else is out of reach. */
TEST_F(map, sigbus_when_the_memory_has_a_new_owner)
{
	struct ub_win_create next;
	unsigned char *q;

	self->p[0] = 0x66;
	ASSERT_EQ(win_destroy(self->home, self->w.out_desc.window), 0);
	sleep_ms(100);
	ASSERT_EQ(win_create(self->home, LEN, RW, &next), 0);
	q = win_map(self->home, next.out_desc.gva, LEN, PROT_READ | PROT_WRITE);
	ASSERT_NE(q, MAP_FAILED);
	EXPECT_EQ(q[0], 0);
	EXPECT_EQ(touch(self->p, true), SIGBUS);
	EXPECT_EQ(touch(self->h, true), SIGBUS);
	EXPECT_EQ(q[0], 0);
}

TEST_F(map, sigbus_when_the_home_closes)
{
	self->p[0] = 3;
	munmap(self->h, LEN);
	close(self->home);
	EXPECT_EQ(touch_gone(self->p, false), SIGBUS);
	self->home = open_node(2);
}

TEST_F(map, sigbus_when_the_home_dies)
{
	__u64 start = now();
	int sig = 0;

	EXPECT_EQ(touch(self->p, true), 0);
	ASSERT_EQ(test_op(self->home, UB_TEST_KILL, 0, 0, NULL), 0);
	while (!sig && now() - start < 9 * detect_ms() * MS) {
		sig = touch(self->p, true);
		sleep_ms(5);
	}
	EXPECT_EQ(sig, SIGBUS);
	EXPECT_LT(now() - start, 3 * detect_ms() * MS);
	EXPECT_EQ(touch(self->h, false), SIGBUS);
	EXPECT_EQ(try_map(self->peer, self->gva, PAGE, PROT_READ, MAP_SHARED),
		  EOWNERDEAD);
	ASSERT_EQ(heal(), 0);
	EXPECT_EQ(touch(self->p, false), SIGBUS);
}

struct child_file {
	int fd;
	__u64 gva;
};

static int in_child(void *ctx)
{
	struct child_file *c = ctx;
	struct ub_info i = ARG(ub_info);
	struct ub_win_create w;

	/* Whoever holds the file may ask what it is, no more. */
	if (call(c->fd, UB_IOC_INFO, &i))
		return 1;
	if (win_create(c->fd, 1, RW, &w) != -EPERM)
		return 2;
	if (win_detach(c->fd, c->gva) != -EPERM)
		return 3;
	if (try_map(c->fd, c->gva, PAGE, PROT_READ, MAP_SHARED) != EPERM)
		return 4;
	/* The same process may of course open the device itself. */
	close(c->fd);
	c->fd = open_node(1);
	return call(c->fd, UB_IOC_INFO, &i) ? 5 : 0;
}

TEST_F(map, child_owns_nothing)
{
	struct child_file c = { self->peer, self->gva };

	EXPECT_EQ(reap(spawn(in_child, &c)), 0);
	/* The child's close did no harm. */
	self->h[1] = 8;
	EXPECT_EQ(self->p[1], 8);
	EXPECT_EQ(win_detach(self->peer, self->gva), 0);
}

struct child_map {
	__u32 up;
	__u32 go;
	unsigned char *p;
};

static int child_touches(void *ctx)
{
	struct child_map *c = ctx;

	/* Inherited or not: never memory that was revoked. */
	touch(c->p, true);
	set_word(&c->up);
	if (!wait_word(&c->go, 5000))
		return 1;
	return touch(c->p, true) ? 0 : 2;
}

TEST_F(map, revoked_in_a_child_too)
{
	struct child_map *c = shared_page();
	pid_t pid;

	c->p = self->p;
	pid = spawn(child_touches, c);
	ASSERT_TRUE(wait_word(&c->up, 5000));
	ASSERT_EQ(win_detach(self->peer, self->gva), 0);
	set_word(&c->go);
	EXPECT_EQ(reap(pid), 0);
}

/* Another inode of the same device has the same mappings to revoke. */
TEST_F(map, second_device_node)
{
	const char *name = "/tmp/ub-second-node";
	struct ub_win_id id;
	struct stat st;
	unsigned char *q;
	int fd;

	ASSERT_EQ(stat("/dev/ubfab1", &st), 0);
	unlink(name);
	if (mknod(name, S_IFCHR | 0600, st.st_rdev))
		SKIP(return, "no mknod here");
	fd = open(name, O_RDWR);
	unlink(name);
	if (fd < 0)
		SKIP(return, "devices cannot be opened in /tmp");
	ASSERT_EQ(win_attach(fd, &self->w, RW), 0);
	q = win_map(fd, self->gva, LEN, PROT_READ | PROT_WRITE);
	ASSERT_NE(q, MAP_FAILED);
	q[7] = 0x29;
	EXPECT_EQ(self->h[7], 0x29);
	ASSERT_EQ(win_rotate(self->home, self->w.out_desc.window, &id), 0);
	EXPECT_EQ(touch_gone(q, false), SIGBUS);
	EXPECT_EQ(touch_gone(self->p, false), SIGBUS);
	close(fd);
}

/* A mapping outlives close(): the file lives as long as the mapping. */
TEST_F(map, outlives_close)
{
	struct ub_win_id id;

	close(self->peer);
	self->peer = -1;
	self->h[0] = 0x55;
	EXPECT_EQ(touch(self->p, false), 0);
	EXPECT_EQ(self->p[0], 0x55);
	ASSERT_EQ(win_rotate(self->home, self->w.out_desc.window, &id), 0);
	EXPECT_EQ(touch_gone(self->p, false), SIGBUS);
}

/* Threads touch it while it comes and goes. */
struct toucher {
	unsigned char *p;
	__u32 stop;
	int bus;
};

static __thread sigjmp_buf loop_env;
static __thread unsigned int loop_at;

static void loop_caught(int sig)
{
	siglongjmp(loop_env, sig);
}

static int step_touch(struct member *m)
{
	struct toucher *t = m->ctx;

	while (!LD(&t->stop)) {
		if (sigsetjmp(loop_env, 1)) {
			__atomic_fetch_add(&t->bus, 1, __ATOMIC_RELAXED);
			sched_yield();
			continue;
		}
		for (; !LD(&t->stop); loop_at++)
			ST(&t->p[loop_at * 4099 % LEN], loop_at);
	}
	return 0;
}

TEST_F(map, revoke_under_load)
{
	struct sigaction sa = { .sa_handler = loop_caught };
	struct toucher t = { .p = self->p };
	struct member m[2] = { { .ctx = &t }, { .ctx = &t } };
	int i;

	sigaction(SIGBUS, &sa, NULL);
	member_start(&m[0], step_touch);
	member_start(&m[1], step_touch);
	for (i = 0; i < 500; i++) {
		ASSERT_EQ(win_detach(self->peer, self->gva), 0);
		ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
		if (i % 50 == 0)
			sleep_ms(2);
	}
	ST(&t.stop, 1);
	member_join(&m[0]);
	member_join(&m[1]);
	EXPECT_GT(t.bus, 0);
	TH_LOG("%d SIGBUS", t.bus);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Quiet mappings: the window while it stands; when it ended no signal, a page that
 * is the file's own, and a number that rose before.
 */
#include "util.h"
#include <sys/wait.h>

#define LEN	(2 * UNIT)

FIXTURE(quiet) {
	int home;
	int peer;
	__u64 gva;
	struct ub_win_create w;
	unsigned char *h;	/* the home's mapping */
	unsigned char *q;	/* the peer's, quiet */
	__u64 *blanks;		/* its number */
};

FIXTURE_SETUP(quiet)
{
	ASSERT_EQ(heal(), 0);
	self->home = open_node(2);
	self->peer = open_node(1);
	ASSERT_GE(self->home, 0);
	ASSERT_GE(self->peer, 0);
	ASSERT_TRUE(info_of(self->peer).out_caps & UB_CAP_QUIET);
	ASSERT_EQ(win_create(self->home, LEN, UB_WIN_RIGHTS, &self->w), 0);
	ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
	self->gva = self->w.out_desc.gva;
	self->h = win_map(self->home, self->gva, LEN, PROT_READ | PROT_WRITE);
	self->q = win_map(self->peer, self->gva | UB_MMAP_QUIET, LEN, PROT_READ | PROT_WRITE);
	self->blanks = win_map(self->peer, UB_MMAP_QUIET, PAGE, PROT_READ);
	ASSERT_NE(self->h, MAP_FAILED);
	ASSERT_NE(self->q, MAP_FAILED);
	ASSERT_NE(self->blanks, MAP_FAILED);
}

FIXTURE_TEARDOWN(quiet)
{
	close(self->peer);
	close(self->home);
}

TEST_F(quiet, is_the_window)
{
	EXPECT_TRUE(one_memory(self->h, self->q, LEN));
	EXPECT_EQ(LD(self->blanks), 0);
}

static int try_quiet(int fd, __u64 gva, size_t len, int prot, int flags)
{
	return try_map(fd, gva | UB_MMAP_QUIET, len, prot, flags);
}

TEST_F(quiet, refuses)
{
	const int rw = PROT_READ | PROT_WRITE;

	EXPECT_EQ(try_quiet(self->peer, UNIT, PAGE, rw, MAP_SHARED), ENOENT);
	EXPECT_EQ(try_quiet(self->peer, self->gva + LEN, PAGE, rw, MAP_SHARED), ENOENT);
	EXPECT_EQ(try_quiet(self->peer, self->gva, LEN + PAGE, rw, MAP_SHARED), EOVERFLOW);
	EXPECT_EQ(try_quiet(self->peer, self->gva, PAGE, rw, MAP_PRIVATE), EINVAL);
	EXPECT_EQ(try_quiet(self->peer, self->gva, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED),
		  EACCES);
	EXPECT_EQ(try_quiet(self->peer, 0, PAGE, rw, MAP_SHARED), EINVAL);
	EXPECT_EQ(try_quiet(self->peer, 0, 2 * PAGE, PROT_READ, MAP_SHARED), EINVAL);
	EXPECT_EQ(mprotect(self->blanks, PAGE, rw), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(touch((void *)self->blanks, true), SIGSEGV);
}

/* Until a store does not reach the home: the number, or 0 if it never rose. */
static __u64 until_blank(__u64 *blanks, unsigned char *q)
{
	__u64 end = in_ms(2000);

	while (!LD(blanks) && now() < end) {
		if (touch(q, true))
			return 0;
		sleep_ms(1);
	}
	return LD(blanks);
}

TEST_F(quiet, ends_without_a_signal)
{
	struct ub_win_create next;
	unsigned char *other, *h;
	int fd = open_node(1), i, bad = 0;

	ASSERT_EQ(win_attach(fd, &self->w, RW), 0);
	other = win_map(fd, self->gva | UB_MMAP_QUIET, LEN, PROT_READ | PROT_WRITE);
	ASSERT_NE(other, MAP_FAILED);
	self->q[7] = 7;
	ASSERT_EQ(win_destroy(self->home, self->w.out_desc.window), 0);
	ASSERT_GE(until_blank(self->blanks, self->q), 1);
	/* What is stored now is seen by this file alone, and in no window. */
	ASSERT_EQ(win_create(self->home, LEN, RW, &next), 0);
	h = win_map(self->home, next.out_desc.gva, LEN, PROT_READ | PROT_WRITE);
	ASSERT_NE(h, MAP_FAILED);
	memset(self->q, 0x5a, LEN);
	EXPECT_EQ(self->q[PAGE + 3], 0x5a);
	for (i = 0; i < LEN; i++)
		bad += LD(&h[i]) == 0x5a || LD(&other[i]) == 0x5a;
	EXPECT_EQ(bad, 0);
	EXPECT_GE(LD(self->blanks), (__u64)LEN / PAGE);
	close(fd);
}

TEST_F(quiet, comes_back_mapped_anew)
{
	struct ub_win_detach d = ARG(ub_win_detach, .gva = self->gva);

	self->h[0] = 3;
	ASSERT_EQ(call(self->peer, UB_IOC_WIN_DETACH, &d), 0);
	ASSERT_GE(until_blank(self->blanks, self->q), 1);
	ASSERT_EQ(win_attach(self->peer, &self->w, RW), 0);
	self->q = mmap(self->q, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, self->peer,
		       (off_t)(self->gva | UB_MMAP_QUIET));
	ASSERT_NE(self->q, MAP_FAILED);
	EXPECT_EQ(self->q[0], 3);
	self->q[1] = 4;
	EXPECT_EQ(self->h[1], 4);
}

TEST_F(quiet, is_not_inherited)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(touch(self->q, false) == SIGSEGV &&
		      touch((void *)self->blanks, false) == SIGSEGV ? 0 : 1);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

/* A node that is fenced has nothing mapped; the number can still be read. */
TEST_F(quiet, fenced)
{
	ASSERT_EQ(test_op(self->home, UB_TEST_FENCE, 1, 0, NULL), 0);
	EXPECT_GE(until_blank(self->blanks, self->q), 1);
	self->h[0] = 9;
	EXPECT_NE(LD(&self->q[0]), 9);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a mapping of a copied window allows: fork, mremap, madvise, mprotect,
 * ptrace, futexes, and calls that would pin its pages. What works is right,
 * what cannot be right is refused.
 */
#include "copied.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>

FIXTURE(mm) {
	struct rig r;
	unsigned char *p;
};

FIXTURE_SETUP(mm)
{
	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(rig_open(&self->r), 0);
	hooks_clear(&self->r);
	self->p = self->r.p[1];
}

FIXTURE_TEARDOWN(mm)
{
	hooks_clear(&self->r);
	rig_close(&self->r);
}

/* A child shares the node's copies: its stores are written back, too. */
TEST_F(mm, forked)
{
	unsigned char *p = self->p;
	pid_t pid;

	ST(&p[0], 1);
	pid = fork();
	if (!pid) {
		ST(&p[1], LD(&p[0]) + 1);
		ST(&p[PAGE], 5);
		_exit(0);
	}
	ASSERT_EQ(reap(pid), 0);
	EXPECT_EQ(LD(&p[1]), 2);
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][0]), 1);
	EXPECT_EQ(LD(&self->r.p[0][1]), 2);
	EXPECT_EQ(LD(&self->r.p[0][PAGE]), 5);
}

/* What is writable in a child is taken away from it, too, before the diff. */
TEST_F(mm, stores_of_a_child_after_arrive)
{
	__u32 *word = shared_page();
	unsigned char *p = self->p;
	pid_t pid;

	ST(&p[0], 1);
	pid = fork();
	if (!pid) {
		ST(&p[1], 1);
		set_word(&word[0]);
		wait_word(&word[1], 20000);
		ST(&p[2], 1);
		_exit(0);
	}
	EXPECT_TRUE(wait_word(&word[0], 20000));
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][1]), 1);
	set_word(&word[1]);
	ASSERT_EQ(reap(pid), 0);
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][2]), 1);
}

/* Read-only and back: the first store after it keeps a twin all the same. */
TEST_F(mm, protected)
{
	unsigned char *p = self->p;

	ASSERT_EQ(mprotect(p, 2 * PAGE, PROT_READ), 0);
	EXPECT_EQ(LD(&p[0]), 0);
	EXPECT_EQ(touch(&p[0], true), SIGSEGV);
	ASSERT_EQ(mprotect(p, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
	ST(&p[0], 3);
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][0]), 3);
	/* Dirty by another lane of the node, mapped here for reading. */
	ST(&self->r.p[2][PAGE], 4);
	ASSERT_EQ(mprotect(p, 2 * PAGE, PROT_READ), 0);
	EXPECT_EQ(LD(&p[PAGE]), 4);
	ASSERT_EQ(mprotect(p, 2 * PAGE, PROT_READ | PROT_WRITE), 0);
	ST(&p[PAGE + 1], 5);
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][PAGE]), 4);
	EXPECT_EQ(LD(&self->r.p[0][PAGE + 1]), 5);
	EXPECT_EQ(mprotect(p, PAGE, PROT_READ | PROT_EXEC), -1);
}

TEST_F(mm, moved_or_discarded)
{
	unsigned char *p = self->p;

	ST(&p[0], 7);
	EXPECT_EQ(mremap(p, PAGE, 2 * PAGE, MREMAP_MAYMOVE), MAP_FAILED);
	EXPECT_EQ(mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			 p + 2 * PAGES * PAGE), MAP_FAILED);
	EXPECT_EQ(madvise(p, PAGE, MADV_DONTNEED), -1);
	EXPECT_EQ(madvise(p, PAGE, MADV_REMOVE), -1);
	EXPECT_EQ(madvise(p, PAGE, MADV_DOFORK), -1);
	EXPECT_EQ(LD(&p[0]), 7);
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][0]), 7);
	EXPECT_EQ(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, self->r.m[1].fd,
		       self->r.win.out_desc.gva), MAP_FAILED);
}

/* Nobody may hold on to a page: it would not see what becomes of the copy. */
TEST_F(mm, pinned)
{
	struct iovec to = { .iov_len = 8 }, from = { self->p, 8 };
	__u64 word = 0;
	int fds[2];

	ST(self->p, 1);
	to.iov_base = &word;
	/* On a kernel that has not got the call that is no question. */
	if (process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) == 0) {
		EXPECT_EQ(process_vm_readv(getpid(), &to, 1, &from, 1, 0), -1);
		EXPECT_EQ(errno, EFAULT);
	}
	/* A shared futex; one within a process works by its address. */
	EXPECT_EQ(syscall(SYS_futex, self->p, FUTEX_WAIT, LD((__u32 *)self->p),
			  &(struct timespec){ 0, 1000 }, NULL, 0), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(syscall(SYS_futex, self->p, FUTEX_WAKE, 1, NULL, NULL, 0), -1);
	EXPECT_EQ(errno, EFAULT);
	EXPECT_EQ(syscall(SYS_futex, self->p, FUTEX_WAIT_PRIVATE,
			  LD((__u32 *)self->p), &(struct timespec){ 0, 1000 },
			  NULL, 0), -1);
	EXPECT_EQ(errno, ETIMEDOUT);
	/* Copying is no pinning: read() and write() work. */
	ASSERT_EQ(pipe(fds), 0);
	EXPECT_EQ(write(fds[1], self->p, 8), 8);
	EXPECT_EQ(read(fds[0], self->p + PAGE, 8), 8);
	EXPECT_EQ(LD(&self->p[PAGE]), 1);
	close(fds[0]);
	close(fds[1]);
	ASSERT_EQ(sync_world(&self->r), 0);
	EXPECT_EQ(LD(&self->r.p[0][PAGE]), 1);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of remote pages where memory is short: a cgroup that may have less
 * than a window has bytes, a kernel that asks for memory back, and a home that
 * dies with bytes on their way.
 */
#include <sys/mount.h>
#include "copied.h"

#define BIG_PAGES	640	/* with twins five times what the cgroup may have */
#define CGROUP_MAX	"1048576"

static char cg[] = "/tmp/ub-cgroup-XXXXXX";
static char cg_child[64];

static int set_file(const char *dir, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return put_text(path, text);
}

/* The number that follows @key (or begins the file) in a file of the cgroup. */
static long long get_number(const char *name, const char *key)
{
	char path[128], text[1024] = "", *at;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", cg_child, name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	at = strstr(text, key);
	return at ? atoll(at + strlen(key)) : -1;
}

FIXTURE(mem) {
	struct rig r;
	struct ub_win_create win;	/* a large one */
	unsigned char *home;
	unsigned char *p;
};

FIXTURE_SETUP(mem)
{
	struct rig *r = &self->r;

	ASSERT_EQ(heal(), 0);
	ASSERT_EQ(rig_open(r), 0);
	hooks_clear(r);
	ASSERT_EQ(win_create(r->m[0].fd, BIG_PAGES * PAGE, UB_WIN_RIGHTS, &self->win), 0);
	ASSERT_EQ(win_attach(r->m[1].fd, &self->win, UB_WIN_RIGHTS), 0);
	self->home = win_map(r->m[0].fd, self->win.out_desc.gva, BIG_PAGES * PAGE,
			     PROT_READ | PROT_WRITE);
	self->p = win_map(r->m[1].fd, self->win.out_desc.gva, BIG_PAGES * PAGE,
			  PROT_READ | PROT_WRITE);
	ASSERT_NE(self->home, MAP_FAILED);
	ASSERT_NE(self->p, MAP_FAILED);
}

FIXTURE_TEARDOWN(mem)
{
	munmap(self->home, BIG_PAGES * PAGE);
	munmap(self->p, BIG_PAGES * PAGE);
	hooks_clear(&self->r);
	rig_close(&self->r);
}

/* Reads what the home wrote, and writes; what goes on in the cgroup. */
static int work(unsigned char *p)
{
	int i;

	for (i = 0; i < BIG_PAGES; i++)
		if (LD(&p[i * PAGE]) != (unsigned char)(i + 1))
			return 1;
	for (i = 0; i < BIG_PAGES; i++)
		ST(&p[i * PAGE + 1], (unsigned char)(i + 2));
	/* The first ones are not here any more. */
	for (i = 0; i < BIG_PAGES; i++)
		if (LD(&p[i * PAGE]) != (unsigned char)(i + 1) ||
		    LD(&p[i * PAGE + 1]) != (unsigned char)(i + 2))
			return 2;
	return 0;
}

static int cgroup_make(void)
{
	if (!mkdtemp(cg))
		return -errno;
	if (mount("none", cg, "cgroup2", 0, NULL))
		return -errno;
	snprintf(cg_child, sizeof(cg_child), "%s/ub-copied", cg);
	set_file(cg, "cgroup.subtree_control", "+memory");
	if (mkdir(cg_child, 0755))
		return -errno;
	return set_file(cg_child, "memory.max", CGROUP_MAX);
}

static void cgroup_end(void)
{
	rmdir(cg_child);
	umount(cg);
	rmdir(cg);
}

/* Charged to who faults, who gets on with less than the whole and is not killed. */
TEST_F_TIMEOUT(mem, in_a_small_cgroup, 120)
{
	int i, go[2];
	pid_t pid;
	char c;

	for (i = 0; i < BIG_PAGES; i++)
		ST(&self->home[i * PAGE], (unsigned char)(i + 1));
	ASSERT_EQ(sync_world(&self->r), 0);
	ASSERT_EQ(cgroup_make(), 0);
	ASSERT_EQ(pipe(go), 0);
	pid = fork();
	if (!pid) {
		if (set_file(cg_child, "cgroup.procs", "0") ||
		    write(go[1], "", 1) != 1)
			_exit(9);
		_exit(work(self->p));
	}
	ASSERT_EQ(read(go[0], &c, 1), 1);
	EXPECT_EQ(reap(pid), 0);
	/* What is left there is charged still. */
	EXPECT_GT(get_number("memory.current", ""), 64 * PAGE);
	EXPECT_EQ(get_number("memory.events", "oom_kill "), 0);
	EXPECT_GT(get_number("memory.events", "\nmax "), 0);
	ASSERT_EQ(sync_world(&self->r), 0);
	for (i = 0; i < BIG_PAGES; i++)
		ASSERT_EQ(LD(&self->home[i * PAGE + 1]), (unsigned char)(i + 2));
	cgroup_end();
}

/* The kernel takes back what is clean, and what is dirty stays. */
TEST_F(mem, asked_back)
{
	int fd = self->r.m[1].fd, i;

	for (i = 0; i < 128; i++)
		EXPECT_EQ(LD(&self->p[i * PAGE]), 0);
	for (i = 0; i < 8; i++)
		ST(&self->p[i * PAGE], 7);
	EXPECT_GE(ask(fd, UB_TEST_COPIED_PAGES), 128 + 8);
	for (i = 0; i < 50 && ask(fd, UB_TEST_COPIED_PAGES) > 16; i++)
		ASSERT_EQ(put_text("/proc/sys/vm/drop_caches", "2"), 0);
	EXPECT_EQ(ask(fd, UB_TEST_COPIED_PAGES), 16);
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(LD(&self->p[i * PAGE]), 7);
		EXPECT_EQ(LD(&self->home[i * PAGE]), 0);
	}
	EXPECT_EQ(LD(&self->p[100 * PAGE]), 0);
	ASSERT_EQ(sync_world(&self->r), 0);
	for (i = 0; i < 8; i++)
		EXPECT_EQ(LD(&self->home[i * PAGE]), 7);
}

/*
 * The home is no member, and dies while bytes are on their way to it: every
 * member hears of the window in the same barrier, and the group goes on.
 */
TEST_F_TIMEOUT(mem, home_dies_with_bytes_under_way, 60)
{
	struct rig *r = &self->r;
	int fd = open_node(3), i;
	struct ub_win_create win;
	unsigned char *p;

	ASSERT_GE(fd, 0);
	ASSERT_EQ(win_create(fd, 64 * PAGE, UB_WIN_RIGHTS, &win), 0);
	ASSERT_EQ(win_attach(r->m[1].fd, &win, UB_WIN_RIGHTS), 0);
	p = win_map(r->m[1].fd, win.out_desc.gva, 64 * PAGE, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	for (i = 0; i < 64; i++)
		ST(&p[i * PAGE], 5);
	ASSERT_EQ(hook(r, UB_TEST_COPIED_DELAY, 300), 0);
	ASSERT_EQ(test_op(fd, UB_TEST_KILL, 0, 0, NULL), 0);
	for (i = 0; i < LANES; i++)
		EXPECT_EQ(arrive(&r->m[i]), 0);
	for (i = 0; i < LANES; i++) {
		EXPECT_EQ(await(&r->m[i]), -EOWNERDEAD);
		EXPECT_EQ(r->m[i].bar.out_window, win.out_desc.gva);
	}
	EXPECT_EQ(touch(&p[0], false), SIGBUS);
	EXPECT_EQ(touch(&p[63 * PAGE], true), SIGBUS);
	ASSERT_EQ(hook(r, UB_TEST_COPIED_DELAY, 0), 0);
	/* Nothing of it is kept, and other windows are as they were. */
	ST(&self->p[0], 3);
	EXPECT_EQ(sync_world(r), 0);
	EXPECT_EQ(LD(&self->home[0]), 3);
	munmap(p, 64 * PAGE);
	close(fd);
}

TEST_HARNESS_MAIN

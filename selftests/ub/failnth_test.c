// SPDX-License-Identifier: GPL-2.0-only
/*
 * The n-th thing that can fail in a call fails, for every n until the call
 * passes untouched: allocations of slabs and pages, copies from and to user
 * space (/proc/thread-self/fail-nth). Each time the call gives the error that
 * fits or succeeds all the same, and the same call works afterwards.
 *
 * Needs a kernel with CONFIG_FAULT_INJECTION; skips without.
 */
#include "nl.h"
#include "util.h"
#include <dirent.h>
#include <sys/mount.h>

#define MOST	3000
#define OWN_NODE	7000	/* of a fabric that a call makes */

/**
 * struct env - what a call under test uses
 * @nth: /proc/thread-self/fail-nth
 * @fd: a file of node 0; @peer: of node 1
 * @win: a window of node 1; @made: of node 0, by the call
 * @map: the window, mapped; @m: members of a group
 * @fresh: a file, by the call
 * @nl: netlink; @minor: of the fabric with OWN_NODE
 */
struct env {
	int nth;
	int fd;
	int peer;
	int fresh;
	struct ub_win_create win;
	struct ub_win_create made;
	struct ub_win_id id;
	unsigned char *map;
	struct member m[2];
	char data[256];
	struct nl nl;
	__u32 minor;
};

/* A call, what it needs before, and what takes it back. */
struct op {
	const char *name;
	int (*before)(struct env *e);
	int (*call)(struct env *e);
	int (*undo)(struct env *e);
};

static int nothing(struct env *e)
{
	return 0;
}

static int do_open(struct env *e)
{
	e->fresh = open_node(0);
	return e->fresh < 0 ? -errno : 0;
}

static int undo_open(struct env *e)
{
	return close(e->fresh);
}

static int do_info(struct env *e)
{
	struct ub_info i = ARG(ub_info);

	return call(e->fd, UB_IOC_INFO, &i);
}

static int do_create(struct env *e)
{
	return win_create(e->fd, 3 * UNIT, RW, &e->made);
}

static int undo_create(struct env *e)
{
	return win_destroy(e->fd, e->made.out_desc.window);
}

static int do_rotate(struct env *e)
{
	return win_rotate(e->fd, e->made.out_desc.window, &e->id);
}

static int do_attach(struct env *e)
{
	return win_attach(e->fd, &e->win, RW);
}

static int undo_attach(struct env *e)
{
	return win_detach(e->fd, e->win.out_desc.gva);
}

static int do_map(struct env *e)
{
	e->map = win_map(e->fd, e->win.out_desc.gva, UNIT, PROT_READ | PROT_WRITE);
	return e->map == MAP_FAILED ? -errno : 0;
}

static int undo_map(struct env *e)
{
	return munmap(e->map, UNIT);
}

static int before_map(struct env *e)
{
	return do_attach(e);
}

static int before_touch(struct env *e)
{
	int ret = do_attach(e);

	return ret ? ret : do_map(e);
}

static int do_touch(struct env *e)
{
	return touch(e->map + PAGE, true) ? -EFAULT : 0;
}

/* Far pages leave: the next touch is a fault again. */
static int undo_touch(struct env *e)
{
	return madvise(e->map, UNIT, MADV_DONTNEED) && errno != EINVAL ? -errno : 0;
}

static int do_xfer(struct env *e)
{
	struct ub_xfer_op_desc d[3] = {
		{ .op = UB_XFER_PUT, .gva = e->win.out_desc.gva,
		  .addr = PTR(e->data), .length = sizeof(e->data), .out_status = 1 },
		{ .op = UB_XFER_GET, .gva = e->win.out_desc.gva,
		  .addr = PTR(e->data), .length = sizeof(e->data), .out_status = 1 },
		{ .op = UB_XFER_PUT, .gva = e->win.out_desc.gva + 64,
		  .addr = PTR(e->data), .length = 8, .out_status = 1 },
	};
	struct ub_xfer x = ARG(ub_xfer, .ops = PTR(d), .nops = COUNT(d));
	int ret = call(e->fd, UB_IOC_XFER, &x), i;

	for (i = 0; !ret && i < (int)COUNT(d); i++)
		ret = d[i].out_status;
	return ret;
}

static int do_fence(struct env *e)
{
	struct ub_range f = ARG(ub_range);

	return call(e->fd, UB_IOC_FENCE, &f);
}

static int do_group(struct env *e)
{
	__u64 key[2];

	fresh_key(key);
	e->m[0] = (struct member){ .fd = e->fd, .n = 1 };
	e->m[0].gc = world_arg(key, 1, 0, 10000);
	return step_create(&e->m[0]);
}

static int undo_group(struct env *e)
{
	return group_destroy(e->fd, e->m[0].group);
}

static int before_inner(struct env *e)
{
	int ret = do_group(e);

	e->m[1] = e->m[0];
	return ret;
}

static int do_inner(struct env *e)
{
	static __u64 number;
	__u32 self = 0;
	struct member *m = &e->m[0];

	m->gc = ARG(ub_group_create, .key = { 1, ++number }, .timeout = in_ms(10000),
		    .members = PTR(&self), .parent = e->m[1].group, .nmembers = 1,
		    .level = "inner");
	return step_create(m);
}

static int do_barrier(struct env *e)
{
	return barrier(&e->m[0], AW, UB_RED_SUM, 1, in_ms(10000));
}

static int do_group_map(struct env *e)
{
	e->map = win_map(e->fd, e->m[0].gc.out_offset, PAGE, PROT_READ | PROT_WRITE);
	return e->map == MAP_FAILED ? -errno : 0;
}

static int undo_group_map(struct env *e)
{
	return munmap(e->map, PAGE);
}

static int do_read(struct env *e)
{
	struct ub_event ev;
	ssize_t got;

	fcntl(e->fd, F_SETFL, O_NONBLOCK);
	got = read(e->fd, &ev, sizeof(ev));
	return got < 0 && errno != EAGAIN ? -errno : 0;
}

/* ---- control ---- */

static int do_get(struct env *e)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	return nl_do(&e->nl, &q, NULL);
}

/* Tells @told of each object; it may be NULL. */
static int dump(struct env *e, int cmd, void (*told)(struct env *e, struct nl_obj *o))
{
	struct nl_req q;
	struct nl_obj o;
	int ret;

	nl_begin(&q, cmd);
	ret = nl_dump(&e->nl, &q);
	while (!ret && (ret = nl_next(&e->nl, &o)) == 1) {
		if (told)
			told(e, &o);
		ret = 0;
	}
	return ret;
}

static int do_dumps(struct env *e)
{
	int cmd, ret = 0;

	for (cmd = UB_NL_CMD_NODE_GET; !ret && cmd <= UB_NL_CMD_STATS_GET; cmd++)
		ret = dump(e, cmd, NULL);
	return ret;
}

static void own_node(struct env *e, struct nl_obj *o)
{
	if (nl_u32(o, UB_NL_A_NODE) == OWN_NODE)
		e->minor = nl_u32(o, UB_NL_A_FABRIC);
}

static int find_own(struct env *e)
{
	e->minor = ~0U;
	return dump(e, UB_NL_CMD_FABRIC_GET, own_node);
}

static int about_own(struct env *e, int cmd, bool force)
{
	struct nl_req q;

	nl_begin(&q, cmd);
	nl_put_u32(&q, UB_NL_A_FABRIC, e->minor);
	if (force)
		nl_put(&q, UB_NL_A_FORCE, NULL, 0);
	return nl_do(&e->nl, &q, NULL);
}

static int do_add(struct env *e)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_ADD);
	nl_put_str(&q, UB_NL_A_TRANSPORT, "loop");
	nl_put_u32(&q, UB_NL_A_NODES, 1);
	nl_put_u32(&q, UB_NL_A_NODE, OWN_NODE);
	nl_put_u64(&q, UB_NL_A_BYTES, 2 << 20);
	return nl_do(&e->nl, &q, NULL);
}

/* One may be left of a call whose answer alone was lost. */
static int undo_add(struct env *e)
{
	int ret, some = 0;

	while (!(ret = find_own(e)) && e->minor != ~0U) {
		ret = about_own(e, UB_NL_CMD_FABRIC_DEL, false);
		if (ret)
			break;
		some++;
	}
	return ret || !some ? -ENODEV : 0;
}

static int before_own(struct env *e)
{
	int ret = do_add(e);

	return ret ? ret : find_own(e);
}

static int do_format(struct env *e)
{
	return about_own(e, UB_NL_CMD_FABRIC_FORMAT, true);
}

/* The dump of the group that is there. */
static int do_debugfs(struct env *e)
{
	DIR *dir = opendir("/sys/kernel/debug/ub/ubfab0/group");
	char path[300], text[4096];
	struct dirent *d;
	int fd, ret = -ENOMEM;

	if (!dir)
		return -errno;
	errno = 0;
	while ((d = readdir(dir)) && d->d_name[0] == '.')
		;
	if (d) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/ub/ubfab0/group/%s",
			 d->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ret = fd < 0 || read(fd, text, sizeof(text)) < 0 ? -errno : 0;
		if (fd >= 0)
			close(fd);
	}
	closedir(dir);
	return ret;
}

static const struct op ops[] = {
	{ "open", nothing, do_open, undo_open },
	{ "info", nothing, do_info, nothing },
	{ "window create", nothing, do_create, undo_create },
	{ "window rotate", do_create, do_rotate, nothing },
	{ "window attach", nothing, do_attach, undo_attach },
	{ "mmap", before_map, do_map, undo_map },
	{ "fault", before_touch, do_touch, undo_touch },
	{ "xfer", do_attach, do_xfer, nothing },
	{ "fence", do_attach, do_fence, nothing },
	{ "group create", nothing, do_group, undo_group },
	{ "inner group", before_inner, do_inner, undo_group },
	{ "barrier", do_group, do_barrier, nothing },
	{ "group mmap", do_group, do_group_map, undo_group_map },
	{ "read", nothing, do_read, nothing },
	{ "fabric get", nothing, do_get, nothing },
	{ "dumps", do_group, do_dumps, nothing },
	{ "fabric add", nothing, do_add, undo_add },
	{ "fabric format", before_own, do_format, nothing },
	{ "debugfs", do_group, do_debugfs, nothing },
};

static void set_debugfs(const char *what, const char *name, const char *value)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", what, name);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return;
	if (write(fd, value, strlen(value)) < 0)
		perror(path);
	close(fd);
}

/* Waiting allocations may fail too, and no stack is printed for each. */
static void arm(void)
{
	static const char *const what[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
	unsigned int i;

	mkdir("/sys/kernel/debug", 0700);
	if (mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL) && errno != EBUSY)
		perror("debugfs");
	for (i = 0; i < COUNT(what); i++) {
		set_debugfs(what[i], "verbose", "0");
		set_debugfs(what[i], "ignore-gfp-wait", "N");
		set_debugfs(what[i], "ignore-gfp-highmem", "N");
		set_debugfs(what[i], "min-order", "0");
	}
}

static void set_nth(int fd, unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	/* A count that is left over may end in this very call. */
	if (pwrite(fd, text, len, 0) != len && pwrite(fd, text, len, 0) != len)
		abort();
}

/*
 * Was a fault injected? The count is 0 then. Reading is a copy that may fail as
 * well: when it does, the call had left a fault over.
 */
static bool injected(int fd)
{
	char text[16] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
}

/* What was destroyed comes back when peers have let go of it. */
static bool room_is_back(int fd, __u64 room)
{
	__u64 end = in_ms(60000);

	while (info_of(fd).out_free < room) {
		if (now() > end)
			return false;
		sleep_ms(1);
	}
	return true;
}

FIXTURE(failnth) {
	struct env e;
};

FIXTURE_SETUP(failnth)
{
	self->e.nth = open("/proc/thread-self/fail-nth", O_RDWR);
	if (self->e.nth < 0)
		SKIP(return, "no fault injection in this kernel");
	arm();
	self->e.fd = open_node(0);
	self->e.peer = open_node(1);
	ASSERT_GE(self->e.fd, 0);
	ASSERT_GE(self->e.peer, 0);
	ASSERT_EQ(win_create(self->e.peer, UNIT, RW, &self->e.win), 0);
	ASSERT_EQ(nl_open(&self->e.nl), 0);
}

FIXTURE_TEARDOWN(failnth)
{
	undo_add(&self->e);
	nl_close(&self->e.nl);
	close(self->e.fd);
	close(self->e.peer);
	close(self->e.nth);
}

FIXTURE_VARIANT(failnth) {
	unsigned int op;
};

FIXTURE_VARIANT_ADD(failnth, open) { .op = 0 };
FIXTURE_VARIANT_ADD(failnth, info) { .op = 1 };
FIXTURE_VARIANT_ADD(failnth, window_create) { .op = 2 };
FIXTURE_VARIANT_ADD(failnth, window_rotate) { .op = 3 };
FIXTURE_VARIANT_ADD(failnth, window_attach) { .op = 4 };
FIXTURE_VARIANT_ADD(failnth, mmap) { .op = 5 };
FIXTURE_VARIANT_ADD(failnth, fault) { .op = 6 };
FIXTURE_VARIANT_ADD(failnth, xfer) { .op = 7 };
FIXTURE_VARIANT_ADD(failnth, fence) { .op = 8 };
FIXTURE_VARIANT_ADD(failnth, group_create) { .op = 9 };
FIXTURE_VARIANT_ADD(failnth, inner_group) { .op = 10 };
FIXTURE_VARIANT_ADD(failnth, barrier) { .op = 11 };
FIXTURE_VARIANT_ADD(failnth, group_mmap) { .op = 12 };
FIXTURE_VARIANT_ADD(failnth, read) { .op = 13 };
FIXTURE_VARIANT_ADD(failnth, fabric_get) { .op = 14 };
FIXTURE_VARIANT_ADD(failnth, dumps) { .op = 15 };
FIXTURE_VARIANT_ADD(failnth, fabric_add) { .op = 16 };
FIXTURE_VARIANT_ADD(failnth, fabric_format) { .op = 17 };
FIXTURE_VARIANT_ADD(failnth, debugfs) { .op = 18 };

TEST_F(failnth, every_fault)
{
	const struct op *op = &ops[variant->op];
	struct env *e = &self->e;
	unsigned int n, faults = 0, errors = 0;
	__u64 room;
	int ret, hit;

	ASSERT_EQ(op->before(e), 0);
	room = info_of(e->fd).out_free;
	ASSERT_EQ(op->call(e), 0);
	ASSERT_EQ(op->undo(e), 0);
	for (n = 1; n < MOST; n++) {
		set_nth(e->nth, n);
		ret = op->call(e);
		hit = injected(e->nth);
		set_nth(e->nth, 0);
		ASSERT_TRUE(ret == 0 || (hit && (ret == -ENOMEM || ret == -EFAULT ||
						 ret == -ENOBUFS)))
			TH_LOG("%s: fault %u: %d, hit %d", op->name, n, ret, hit);
		faults += hit;
		errors += ret != 0;
		if (!ret)
			ASSERT_EQ(op->undo(e), 0);
		ASSERT_EQ(op->call(e), 0)
			TH_LOG("%s: after fault %u", op->name, n);
		ASSERT_EQ(op->undo(e), 0);
		ASSERT_TRUE(room_is_back(e->fd, room))
			TH_LOG("%s: fault %u: window memory is gone", op->name, n);
		if (!hit)
			break;
	}
	TH_LOG("%s: %u faults, %u errors", op->name, faults, errors);
	EXPECT_LT(n, MOST);
	/* A read that finds nothing and a look at the info may allocate nothing. */
	EXPECT_TRUE(faults || variant->op == 13);
}

TEST_HARNESS_MAIN

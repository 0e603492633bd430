// SPDX-License-Identifier: GPL-2.0-only
/*
 * The contract that every ioctl keeps: sizes, flags, reserved fields, where
 * the argument lies, and that nothing is written on error.
 */
#include "util.h"
#include <stddef.h>

/*
 * One row for each ioctl: a call that is right in form and has a known result
 * that is not EINVAL, so that a wrong size or flag can be told from it.
 */
struct cmd {
	const char *name;
	unsigned long cmd;
	__u32 size;	/* of the struct that this test was compiled with */
	__u32 min;	/* end of the last field of ABI version 1 */
	__u32 known;	/* flags that have a meaning */
	int expect;
	void (*fill)(void *arg);
};

#define NOBODY	0x7ffffffeU	/* an id that is never given out */

static struct ub_xfer_op_desc nothing;

static void fill_info(void *arg)
{
	struct ub_info *a = arg;

	a->out_free = 0xa5a5a5a5a5a5a5a5ULL;
}

static void fill_create(void *arg)
{
	struct ub_win_create *a = arg;

	a->length = 1;
	a->rights = RW;
	memset(a->out_token, 0xa5, sizeof(a->out_token));
}

static void fill_win_id(void *arg)
{
	struct ub_win_id *a = arg;

	a->window = NOBODY;
	a->out_generation = 0xa5a5;
	a->out_token[1] = 0xa5a5;
}

static void fill_attach(void *arg)
{
	struct ub_win_attach *a = arg;

	a->desc.fabric[0] = 1;
	a->desc.gva = UNIT;
	a->desc.length = 1;
	a->desc.generation = 2;
	a->desc.rights = RW;
	a->rights = RW;
}

static void fill_detach(void *arg)
{
	((struct ub_win_detach *)arg)->gva = UNIT;
}

static void fill_group(void *arg)
{
	static __u32 zero;
	struct ub_group_create *a = arg;

	a->parent = NOBODY;
	a->nmembers = 1;
	a->members = PTR(&zero);
	a->out_group = 0xa5a5;
	memset(&a->out_lost, 0xa5, sizeof(a->out_lost));
}

static void fill_group_id(void *arg)
{
	((struct ub_group_id *)arg)->group = NOBODY;
}

static void fill_shrink(void *arg)
{
	struct ub_group_shrink *a = arg;

	a->group = NOBODY;
	a->out_group = 0xa5a5;
	a->out_index = 0xa5a5;
}

static void fill_barrier(void *arg)
{
	struct ub_barrier *a = arg;

	a->flags = UB_BARRIER_WAIT;
	a->group = NOBODY;
	a->out_epoch = 0xa5a5;
	memset(&a->out_lost, 0xa5, sizeof(a->out_lost));
}

static void fill_xfer(void *arg)
{
	struct ub_xfer *a = arg;

	a->ops = PTR(&nothing);
	a->nops = 1;
}

static void fill_sync(void *arg)
{
	struct ub_range *a = arg;

	a->gva = UNIT;
	a->length = 1;
}

static void fill_none(void *arg)
{
}

static void fill_test(void *arg)
{
	struct ub_test *a = arg;

	a->op = UB_TEST_FENCE;
	a->value = NOBODY;
	a->out_value = 0xa5a5;
}

#define ROW(c, type, known, expect, fill) \
	{ #c, UB_IOC_##c, sizeof(struct type), sizeof(struct type), known, expect, fill }

static const struct cmd cmds[] = {
	ROW(INFO, ub_info, 0, 0, fill_info),
	ROW(WIN_CREATE, ub_win_create, 0, 0, fill_create),
	ROW(WIN_DESTROY, ub_win_id, 0, -ENOENT, fill_win_id),
	ROW(WIN_ROTATE, ub_win_id, UB_ROTATE_FRESH, -ENOENT, fill_win_id),
	ROW(WIN_ATTACH, ub_win_attach, 0, -ENOENT, fill_attach),
	ROW(WIN_DETACH, ub_win_detach, 0, -ENOENT, fill_detach),
	ROW(GROUP_CREATE, ub_group_create, 7, -ENOENT, fill_group),
	ROW(GROUP_DESTROY, ub_group_id, 0, -ENOENT, fill_group_id),
	ROW(GROUP_SHRINK, ub_group_shrink, 0, -ENOENT, fill_shrink),
	{ "BARRIER", UB_IOC_BARRIER, sizeof(struct ub_barrier),
	  offsetof(struct ub_barrier, out_window), 31, -ENOENT, fill_barrier },
	ROW(KICK, ub_group_id, 0, -ENOENT, fill_group_id),
	ROW(XFER, ub_xfer, 0, 0, fill_xfer),
	ROW(FENCE, ub_range, 0, 0, fill_none),
	ROW(SYNC, ub_range, 0, -ENOENT, fill_sync),
	ROW(TEST, ub_test, 0, -ENOENT, fill_test),
};

/* size and flags lead every struct */
static __u32 *size_of(void *arg)
{
	return arg;
}

static __u32 *flags_of(void *arg)
{
	return (__u32 *)arg + 1;
}

FIXTURE(uapi) {
	int fd;
	unsigned char *page;	/* one page, then one without access */
};

FIXTURE_VARIANT(uapi) {
	const struct cmd *c;
};

FIXTURE_VARIANT_ADD(uapi, info) { .c = &cmds[0] };
FIXTURE_VARIANT_ADD(uapi, win_create) { .c = &cmds[1] };
FIXTURE_VARIANT_ADD(uapi, win_destroy) { .c = &cmds[2] };
FIXTURE_VARIANT_ADD(uapi, win_rotate) { .c = &cmds[3] };
FIXTURE_VARIANT_ADD(uapi, win_attach) { .c = &cmds[4] };
FIXTURE_VARIANT_ADD(uapi, win_detach) { .c = &cmds[5] };
FIXTURE_VARIANT_ADD(uapi, group_create) { .c = &cmds[6] };
FIXTURE_VARIANT_ADD(uapi, group_destroy) { .c = &cmds[7] };
FIXTURE_VARIANT_ADD(uapi, group_shrink) { .c = &cmds[8] };
FIXTURE_VARIANT_ADD(uapi, barrier) { .c = &cmds[9] };
FIXTURE_VARIANT_ADD(uapi, kick) { .c = &cmds[10] };
FIXTURE_VARIANT_ADD(uapi, xfer) { .c = &cmds[11] };
FIXTURE_VARIANT_ADD(uapi, fence) { .c = &cmds[12] };
FIXTURE_VARIANT_ADD(uapi, sync) { .c = &cmds[13] };
FIXTURE_VARIANT_ADD(uapi, test) { .c = &cmds[14] };

FIXTURE_SETUP(uapi)
{
	self->fd = open_node(0);
	ASSERT_GE(self->fd, 0);
	self->page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->page, MAP_FAILED);
	ASSERT_EQ(mprotect(self->page + PAGE, PAGE, PROT_NONE), 0);
}

FIXTURE_TEARDOWN(uapi)
{
	close(self->fd);
}

/* The row's argument with its end @back bytes before the end of the page. */
static void *place(unsigned char *page, const struct cmd *c, __u32 back)
{
	void *arg = page + PAGE - back - c->size;

	memset(page, 0, PAGE);
	*size_of(arg) = c->size;
	c->fill(arg);
	return arg;
}

TEST_F(uapi, exact)
{
	const struct cmd *c = variant->c;

	/* Right to the end of memory: not a byte more may be read. */
	ASSERT_EQ(call(self->fd, c->cmd, place(self->page, c, 0)), c->expect);
}

TEST_F(uapi, too_small)
{
	const struct cmd *c = variant->c;
	__u32 sizes[] = { 0, 4, 8, c->min / 2, c->min - 8, c->min - 1 };
	unsigned int i;

	for (i = 0; i < COUNT(sizes); i++) {
		void *arg = place(self->page, c, 0);

		*size_of(arg) = sizes[i];
		EXPECT_EQ(call(self->fd, c->cmd, arg), -EINVAL)
			TH_LOG("%s size %u", c->name, sizes[i]);
	}
}

TEST_F(uapi, too_large)
{
	const struct cmd *c = variant->c;
	__u32 more[] = { 1, 4, 8, 64, 1024 };
	unsigned char *arg, *tail;
	unsigned int i, j;

	for (i = 0; i < COUNT(more); i++) {
		arg = place(self->page, c, more[i]);
		tail = arg + c->size;
		*size_of(arg) = c->size + more[i];
		EXPECT_EQ(call(self->fd, c->cmd, arg), c->expect)
			TH_LOG("%s and %u zeroes", c->name, more[i]);
		for (j = 0; j < more[i]; j++)
			ASSERT_EQ(tail[j], 0);

		/* Junk anywhere in what the kernel does not know. */
		arg = place(self->page, c, more[i]);
		*size_of(arg) = c->size + more[i];
		tail[more[i] - 1] = 1;
		EXPECT_EQ(call(self->fd, c->cmd, arg), -E2BIG);
		EXPECT_EQ(tail[more[i] - 1], 1);
	}
}

TEST_F(uapi, no_memory_behind)
{
	const struct cmd *c = variant->c;
	unsigned char *arg;

	arg = place(self->page, c, 0);
	*size_of(arg) = c->size + 8;
	EXPECT_EQ(call(self->fd, c->cmd, arg), -EFAULT);
	*size_of(arg) = 0xffffffff;
	EXPECT_NE(call(self->fd, c->cmd, arg), 0);

	/* Half of it here, half there. */
	arg = place(self->page, c, 0) + 8;
	memmove(arg, arg - 8, c->size - 8);
	EXPECT_EQ(call(self->fd, c->cmd, arg), -EFAULT);
	/* Only the size can be read. */
	arg = self->page + PAGE - 4;
	*size_of(arg) = c->size;
	EXPECT_EQ(call(self->fd, c->cmd, arg), -EFAULT);

	EXPECT_EQ(call(self->fd, c->cmd, NULL), -EFAULT);
	EXPECT_EQ(call(self->fd, c->cmd, self->page + PAGE), -EFAULT);
	EXPECT_EQ(call(self->fd, c->cmd, (void *)0xffffffff81000000UL), -EFAULT);
	EXPECT_EQ(call(self->fd, c->cmd, (void *)0xfffffffffffffff8UL), -EFAULT);
}

TEST_F(uapi, unknown_flags)
{
	const struct cmd *c = variant->c;
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		void *arg = place(self->page, c, 0);

		if (c->known >> bit & 1)
			continue;
		*flags_of(arg) |= 1U << bit;
		EXPECT_EQ(call(self->fd, c->cmd, arg), -EINVAL)
			TH_LOG("%s flag %u", c->name, bit);
	}
}

TEST_F(uapi, error_writes_nothing)
{
	const struct cmd *c = variant->c;
	unsigned char before[PAGE];
	void *arg;

	arg = place(self->page, c, 0);
	*flags_of(arg) |= 1U << 31;
	memcpy(before, self->page, PAGE);
	ASSERT_EQ(call(self->fd, c->cmd, arg), -EINVAL);
	EXPECT_EQ(memcmp(before, self->page, PAGE), 0);

	arg = place(self->page, c, 0);
	memcpy(before, self->page, PAGE);
	if (!c->expect)
		return;
	ASSERT_EQ(call(self->fd, c->cmd, arg), c->expect);
	EXPECT_EQ(memcmp(before, self->page, PAGE), 0);
}

/* What only is read may lie in memory that only can be read. */
TEST_F(uapi, read_only_argument)
{
	const struct cmd *c = variant->c;
	void *arg = place(self->page, c, 0);
	int ret;

	ASSERT_EQ(mprotect(self->page, PAGE, PROT_READ), 0);
	ret = call(self->fd, c->cmd, arg);
	/* Those that write on error cannot tell that error. */
	EXPECT_TRUE(ret == -EFAULT || (ret == c->expect &&
				       c->cmd != UB_IOC_INFO &&
				       c->cmd != UB_IOC_WIN_CREATE));
}

TEST_F(uapi, unaligned_argument)
{
	const struct cmd *c = variant->c;
	void *arg = place(self->page, c, 0) - 3;

	memmove(arg, arg + 3, c->size);
	EXPECT_EQ(call(self->fd, c->cmd, arg), c->expect);
}

FIXTURE(call) {
	int fd;
};

FIXTURE_SETUP(call)
{
	self->fd = open_node(1);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(call)
{
	close(self->fd);
}

TEST_F(call, unknown_commands)
{
	struct ub_info i = ARG(ub_info);
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		if (nr >= UB_CMD_INFO && nr < UB_CMD_END)
			continue;
		EXPECT_EQ(call(self->fd, _IO(UB_IOC_TYPE, nr), &i), -ENOTTY);
	}
	/* Another type, or a direction and a size in the number. */
	EXPECT_EQ(call(self->fd, _IO('x', UB_CMD_INFO), &i), -ENOTTY);
	EXPECT_EQ(call(self->fd, _IOWR(UB_IOC_TYPE, UB_CMD_INFO, struct ub_info), &i),
		  -ENOTTY);
	EXPECT_EQ(call(self->fd, _IOR(UB_IOC_TYPE, UB_CMD_INFO, __u32), &i), -ENOTTY);
}

TEST_F(call, reserved_fields)
{
	struct ub_win_create wc = ARG(ub_win_create, .length = 1, .rights = RW,
				      .reserved = 1);
	struct ub_win_id wi = ARG(ub_win_id, .window = NOBODY, .reserved = 1);
	struct ub_group_id gi = ARG(ub_group_id, .group = NOBODY, .reserved = 1);
	struct ub_test t = ARG(ub_test, .op = UB_TEST_FENCE, .value = NOBODY,
			       .reserved = 1);
	struct ub_range r = ARG(ub_range, .gva = UNIT);
	struct ub_group_create gc;
	struct ub_win_attach wa;
	__u64 key[2];

	EXPECT_EQ(call(self->fd, UB_IOC_WIN_CREATE, &wc), -EINVAL);
	EXPECT_EQ(call(self->fd, UB_IOC_WIN_DESTROY, &wi), -EINVAL);
	EXPECT_EQ(call(self->fd, UB_IOC_WIN_ROTATE, &wi), -EINVAL);
	EXPECT_EQ(call(self->fd, UB_IOC_GROUP_DESTROY, &gi), -EINVAL);
	EXPECT_EQ(call(self->fd, UB_IOC_KICK, &gi), -EINVAL);
	EXPECT_EQ(call(self->fd, UB_IOC_TEST, &t), -EINVAL);
	/* FENCE has no range */
	EXPECT_EQ(call(self->fd, UB_IOC_FENCE, &r), -EINVAL);
	r = ARG(ub_range, .length = 1);
	EXPECT_EQ(call(self->fd, UB_IOC_FENCE, &r), -EINVAL);

	ASSERT_EQ(win_create(self->fd, 1, RW, &wc), 0);
	wa = ARG(ub_win_attach, .desc = wc.out_desc, .rights = RW, .reserved = 1,
		 .token = { wc.out_token[0], wc.out_token[1] });
	EXPECT_EQ(call(self->fd, UB_IOC_WIN_ATTACH, &wa), -EINVAL);
	wa.reserved = 0;
	wa.desc.reserved = 1;
	EXPECT_EQ(call(self->fd, UB_IOC_WIN_ATTACH, &wa), -EINVAL);

	fresh_key(key);
	gc = world_arg(key, 1, 0, 1000);
	gc.reserved = 1;
	EXPECT_EQ(call(self->fd, UB_IOC_GROUP_CREATE, &gc), -EINVAL);
	gc.reserved = 0;
	gc.shape.reserved = 1;
	EXPECT_EQ(call(self->fd, UB_IOC_GROUP_CREATE, &gc), -EINVAL);
	gc.shape.reserved = 0;
	EXPECT_EQ(call(self->fd, UB_IOC_GROUP_CREATE, &gc), 0);
}

TEST_F(call, info)
{
	struct ub_info i;
	int fd, node;
	__u64 fabric[2] = { 0 };

	for (node = 0; node < NODES; node++) {
		fd = open_node(node);
		ASSERT_GE(fd, 0);
		i = info_of(fd);
		EXPECT_EQ(i.out_abi, UB_ABI_VERSION);
		EXPECT_EQ(i.out_layout, UB_LAYOUT_VERSION);
		EXPECT_EQ(i.out_node, node);
		EXPECT_EQ(i.out_detect_ms, detect_ms());
		EXPECT_EQ(i.out_memtype, UB_MEMTYPE_WB);
		EXPECT_STREQ(i.out_transport, "loop");
		EXPECT_TRUE(i.out_caps & UB_CAP_COHERENT);
		EXPECT_TRUE(i.out_caps & UB_CAP_TEST);
		EXPECT_NE(i.out_incarnation, 0);
		EXPECT_GE(i.out_max_nodes, NODES);
		EXPECT_GE(i.out_max_members, 2 * NODES);
		EXPECT_GT(i.out_max_lines, 0);
		EXPECT_GT(i.out_slice, 0);
		EXPECT_LE(i.out_free, i.out_slice);
		if (!node)
			memcpy(fabric, i.out_fabric, sizeof(fabric));
		EXPECT_EQ(memcmp(fabric, i.out_fabric, sizeof(fabric)), 0);
		close(fd);
	}
}

TEST_F(call, test_hooks_need_admin)
{
	EXPECT_EQ(test_op(self->fd, UB_TEST_FENCE, NOBODY, 0, NULL), -ENOENT);
	EXPECT_EQ(test_op(self->fd, 1000, 0, 0, NULL), -EINVAL);
	ASSERT_EQ(setresuid(65534, 65534, 65534), 0);
	EXPECT_EQ(test_op(self->fd, UB_TEST_KILL, 0, 0, NULL), -EPERM);
	EXPECT_EQ(test_op(self->fd, UB_TEST_FENCE, NOBODY, 0, NULL), -EPERM);
}

/* Two threads may call at once on one file. */
static int step_info(struct member *m)
{
	struct ub_win_create c;
	int i, ret = 0;

	for (i = 0; i < 200 && !ret; i++) {
		ret = win_create(m->fd, 1, RW, &c);
		if (!ret)
			ret = win_destroy(m->fd, c.out_desc.window);
		if (!ret && info_of(m->fd).out_abi != UB_ABI_VERSION)
			ret = -EIO;
	}
	return ret;
}

TEST_F(call, threads_on_one_file)
{
	struct member m[4] = { 0 };
	int i;

	for (i = 0; i < 4; i++)
		m[i].fd = self->fd;
	EXPECT_EQ(members_run(m, 4, step_info), 0);
}

TEST_HARNESS_MAIN

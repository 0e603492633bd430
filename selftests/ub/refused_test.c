// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that holds something else: it is refused by name, stays as it is until
 * it is formatted by force, and is a fabric then. One node of a rig, which has
 * the same memory behind a second device without a driver; there the header is
 * spoilt while ub_ivshmem is unbound. Headers that are being initialised:
 * selftests/vm/header.sh.
 */
#include "nl.h"
#include "util.h"

#define DRIVER	"/sys/bus/pci/drivers/ub_ivshmem"
#define DEVICE	"0000:00:10.0"
#define MEMORY	"/sys/bus/pci/devices/0000:00:11.0/resource2"

/* As kernel/shm.h has it. */
#define MAGIC	0x4255464142524943ULL

struct header {
	__u64 magic;
	__u64 layout;
	__u64 state;
	__u64 size;
	__u64 fabric[2];
	__u64 key[2];
};

static int get_fabric(struct nl *nl, struct nl_obj *o)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	return nl_do(nl, &q, o);
}

static int format(struct nl *nl, bool force)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_FORMAT);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	if (force)
		nl_put(&q, UB_NL_A_FORCE, NULL, 0);
	return nl_do(nl, &q, NULL);
}

/* The memory by the second device, or NULL. */
static struct header *map_header(void)
{
	int fd = open(MEMORY, O_RDWR | O_CLOEXEC);
	void *p;

	if (fd < 0)
		return NULL;
	p = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

/* Bound, and a fabric again. */
static int restore(struct nl *nl)
{
	struct nl_obj o;
	int err = 0;

	if (access(DRIVER "/" DEVICE, F_OK))
		err = put_text(DRIVER "/bind", DEVICE);
	if (!err)
		err = get_fabric(nl, &o);
	if (!err && nl_u32(&o, UB_NL_A_STATE) != UB_STATE_UP)
		err = format(nl, true);
	return err;
}

FIXTURE(refused) {
	struct nl nl;
	struct header *h;
};

FIXTURE_SETUP(refused)
{
	if (access(DRIVER "/" DEVICE, F_OK))
		SKIP(return, "no " DEVICE " bound to ub_ivshmem");
	ASSERT_EQ(nl_open(&self->nl), 0);
	self->h = map_header();
	ASSERT_NE(self->h, NULL);
	ASSERT_EQ(self->h->magic, MAGIC);
	ASSERT_EQ(put_text(DRIVER "/unbind", DEVICE), 0);
}

FIXTURE_TEARDOWN(refused)
{
	EXPECT_EQ(restore(&self->nl), 0);
	nl_close(&self->nl);
}

FIXTURE_VARIANT(refused) {
	size_t word;
	__u64 value;
};

FIXTURE_VARIANT_ADD(refused, magic) {
	.word = offsetof(struct header, magic), .value = 0x0123456789abcdefULL,
};

FIXTURE_VARIANT_ADD(refused, layout) {
	.word = offsetof(struct header, layout), .value = 999,
};

FIXTURE_VARIANT_ADD(refused, size) {
	.word = offsetof(struct header, size), .value = 2 << 20,
};

FIXTURE_VARIANT_ADD(refused, state) {
	.word = offsetof(struct header, state), .value = ~0ULL,
};

TEST_F(refused, until_it_is_formatted)
{
	__u64 *word = (__u64 *)((char *)self->h + variant->word);
	struct nl *nl = &self->nl;
	struct ub_win_create c;
	struct header spoilt;
	struct nl_obj o;
	struct nl_req q;
	__u64 end;
	int fd;

	ST(word, variant->value);
	memcpy(&spoilt, self->h, sizeof(spoilt));
	ASSERT_EQ(put_text(DRIVER "/bind", DEVICE), 0);
	ASSERT_EQ(get_fabric(nl, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_REFUSED);
	EXPECT_EQ(o.a[UB_NL_A_FABRIC_ID], NULL);
	EXPECT_EQ(access("/dev/ubfab0", F_OK), -1);
	/* Its records are nobody's. */
	nl_begin(&q, UB_NL_CMD_NODE_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	ASSERT_EQ(nl_dump(nl, &q), 0);
	EXPECT_EQ(nl_next(nl, &o), 0);
	/* It cannot be set up, and is not erased by the way. */
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	nl_put_u32(&q, UB_NL_A_STATE, UB_STATE_UP);
	EXPECT_EQ(nl_do(nl, &q, NULL), -EBUSY);
	EXPECT_EQ(format(nl, false), -EEXIST);
	EXPECT_NE(strstr(nl->text, "something else"), NULL) TH_LOG("%s", nl->text);
	EXPECT_EQ(memcmp(&spoilt, self->h, sizeof(spoilt)), 0);

	ASSERT_EQ(format(nl, true), 0);
	EXPECT_EQ(self->h->magic, MAGIC);
	EXPECT_NE(memcmp(spoilt.fabric, self->h->fabric, sizeof(spoilt.fabric)), 0);
	ASSERT_EQ(get_fabric(nl, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);
	for (end = in_ms(20000); (fd = open_node(0)) < 0 && now() < end;)
		sleep_ms(10);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(win_create(fd, UNIT, RW, &c), 0);
	close(fd);
}

/* A refused fabric goes as it came. */
TEST_F(refused, unbound_as_it_is)
{
	struct nl_obj o;

	ST((__u64 *)((char *)self->h + variant->word), variant->value);
	ASSERT_EQ(put_text(DRIVER "/bind", DEVICE), 0);
	ASSERT_EQ(get_fabric(&self->nl, &o), 0);
	ASSERT_EQ(put_text(DRIVER "/unbind", DEVICE), 0);
	EXPECT_EQ(get_fabric(&self->nl, &o), -ENODEV);
	EXPECT_EQ(format(&self->nl, true), -ENODEV);
}

TEST_HARNESS_MAIN

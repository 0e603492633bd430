// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that a hostile home could have written, one word at a time: what lies
 * outside its slice is attached by nobody, a node record that no node could have
 * written is refused, and the node goes on. One node of a rig, which has the same
 * memory behind a second device without a driver.
 */
#include <stddef.h>
#include "nl.h"
#include "util.h"

#define DRIVER	"/sys/bus/pci/drivers/ub_ivshmem"
#define DEVICE	"0000:00:10.0"
#define MEMORY	"/sys/bus/pci/devices/0000:00:11.0/resource2"

/* As kernel/shm.h has it, for 16 nodes. */
#define NODES_OFF	PAGE
#define NODE_BYTES	128
#define WINS_OFF	(2 * PAGE)
#define WIN_BYTES	128

struct window {
	__u64 generation;
	__u64 gva;
	__u64 length;
	__u64 offset;
	__u64 incarnation;
	__u32 rights;
	__u32 id;
};

FIXTURE(spoilt) {
	unsigned char *bar;
	int fd, other;
	struct ub_win_create w;
	struct window *rec;
};

FIXTURE_SETUP(spoilt)
{
	int fd = open(MEMORY, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		SKIP(return, "no " MEMORY);
	self->bar = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(self->bar, MAP_FAILED);
	close(fd);
	self->fd = open_node(0);
	self->other = open_node(0);
	ASSERT_GE(self->fd, 0);
	ASSERT_GE(self->other, 0);
	ASSERT_EQ(win_create(self->fd, 2 * UNIT, UB_WIN_RIGHTS, &self->w), 0);
	self->rec = (void *)(self->bar + WINS_OFF + self->w.out_desc.window * WIN_BYTES);
	/* Or the layout is another one. */
	ASSERT_EQ(self->rec->gva, self->w.out_desc.gva);
	ASSERT_EQ(self->rec->length, 2 * UNIT);
}

FIXTURE_TEARDOWN(spoilt)
{
	close(self->fd);
	close(self->other);
}

/* The descriptor says what the record says: the hash fits, the token too. */
static int attach(int fd, const struct ub_win_create *w, const struct window *rec)
{
	struct ub_win_create as = *w;

	as.out_desc.gva = rec->gva;
	as.out_desc.length = rec->length;
	as.out_desc.generation = rec->generation;
	as.out_desc.incarnation = rec->incarnation;
	return win_attach(fd, &as, RW);
}

TEST_F(spoilt, what_lies_outside_is_not_attached)
{
	struct window was = *self->rec;
	__u64 slice = info_of(self->fd).out_slice, in = was.offset;
	const struct {
		size_t word;
		__u64 value;
	} bad[] = {
		{ offsetof(struct window, length), 0 },
		{ offsetof(struct window, length), slice + 1 },
		{ offsetof(struct window, length), 1ULL << 42 },
		{ offsetof(struct window, length), ~0ULL },
		{ offsetof(struct window, length), -in },
		{ offsetof(struct window, length), -was.gva },
		{ offsetof(struct window, offset), 0 },
		{ offsetof(struct window, offset), PAGE },
		{ offsetof(struct window, offset), in + 8 },
		{ offsetof(struct window, offset), in + PAGE },
		{ offsetof(struct window, offset), in + slice },
		{ offsetof(struct window, offset), 1ULL << 30 },
		{ offsetof(struct window, offset), -UNIT },
		{ offsetof(struct window, offset), ~0ULL },
		{ offsetof(struct window, gva), 0 },
		{ offsetof(struct window, gva), was.gva + 1 },
		{ offsetof(struct window, gva), was.gva ^ 1ULL << 43 },
		{ offsetof(struct window, gva), was.gva | 1ULL << 63 },
		{ offsetof(struct window, gva), was.gva | 1ULL << 42 },
		{ offsetof(struct window, gva), (1ULL << 43) - UNIT },
		{ offsetof(struct window, generation), was.generation + 1 },
		{ offsetof(struct window, generation), 0 },
		{ offsetof(struct window, incarnation), was.incarnation + 1 },
		{ offsetof(struct window, incarnation), 0 },
	};
	size_t i;
	int ret;

	for (i = 0; i < COUNT(bad); i++) {
		ST((__u64 *)((char *)self->rec + bad[i].word), bad[i].value);
		ret = attach(self->other, &self->w, self->rec);
		EXPECT_NE(ret, 0)
			TH_LOG("word at %zu, value %llx", bad[i].word, bad[i].value);
		*self->rec = was;
	}
	EXPECT_EQ(attach(self->other, &self->w, self->rec), 0);
	ret = xfer(self->other, UB_XFER_PUT, was.gva, &i, sizeof(i), 0, 0);
	EXPECT_EQ(ret, 0);
}

/* An attachment is what was checked, whatever the record says afterwards. */
TEST_F(spoilt, record_changes_after_attaching)
{
	struct window was = *self->rec;
	unsigned char *p;
	char byte = 0;

	ASSERT_EQ(attach(self->other, &self->w, self->rec), 0);
	p = win_map(self->other, was.gva, 2 * UNIT, PROT_READ | PROT_WRITE);
	ASSERT_NE(p, MAP_FAILED);
	ST(&self->rec->offset, 0);
	ST(&self->rec->length, 1ULL << 40);
	EXPECT_EQ(touch(p, true), 0);
	EXPECT_EQ(xfer(self->other, UB_XFER_GET, was.gva + 2 * UNIT, &byte, 1, 0, 0),
		  -ENOENT);
	EXPECT_EQ(xfer(self->fd, UB_XFER_PUT, was.gva, "x", 1, 0, 0), 0);
	EXPECT_EQ(LD(p), 'x');
	*self->rec = was;
}

static int fabric(int cmd, struct nl_obj *o)
{
	static struct nl nl;
	struct nl_req q;
	int ret = nl.fd ? 0 : nl_open(&nl);

	nl_begin(&q, cmd);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	if (cmd == UB_NL_CMD_FABRIC_FORMAT)
		nl_put(&q, UB_NL_A_FORCE, NULL, 0);
	return ret ? : nl_do(&nl, &q, o);
}

/*
 * A node takes an incarnation above all others. After the highest number there
 * is none: with one that is used again, files of a former life would be valid.
 */
TEST_F_TIMEOUT(spoilt, incarnation_that_would_wrap, 120)
{
	static const __u64 high[] = { ~0ULL, ~0ULL - 1, (1ULL << 44) - 1 };
	struct nl_obj o;
	__u64 end;
	size_t i;

	/* Open files keep the device's number. */
	close(self->fd);
	close(self->other);
	for (i = 0; i < COUNT(high); i++) {
		ASSERT_EQ(put_text(DRIVER "/unbind", DEVICE), 0);
		ST((__u64 *)(self->bar + NODES_OFF + 3 * NODE_BYTES + 8), high[i]);
		ASSERT_EQ(put_text(DRIVER "/bind", DEVICE), 0);
		ASSERT_EQ(fabric(UB_NL_CMD_FABRIC_GET, &o), 0);
		EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_REFUSED);
		ASSERT_EQ(fabric(UB_NL_CMD_FABRIC_FORMAT, NULL), 0);
		ASSERT_EQ(fabric(UB_NL_CMD_FABRIC_GET, &o), 0);
		EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);
		EXPECT_LT(nl_u64(&o, UB_NL_A_INCARNATION), 100);
	}
	self->other = -1;
	for (end = in_ms(20000); (self->fd = open_node(0)) < 0 && now() < end; )
		sleep_ms(10);
	EXPECT_EQ(win_create(self->fd, UNIT, RW, &self->w), 0);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "ub": what it refuses, who may, what it tells,
 * and what becomes of a dump while things change.
 */
#include <grp.h>
#include "nl.h"
#include "util.h"


/* Commands, and what their requests may have. */
static const struct {
	int cmd;
	int attr[5];
} requests[] = {
	{ UB_NL_CMD_FABRIC_GET, { UB_NL_A_FABRIC, UB_NL_A_LOOP } },
	{ UB_NL_CMD_FABRIC_ADD, { UB_NL_A_TRANSPORT, UB_NL_A_NODES, UB_NL_A_NODE,
				  UB_NL_A_BYTES } },
	{ UB_NL_CMD_FABRIC_DEL, { UB_NL_A_FABRIC } },
	{ UB_NL_CMD_FABRIC_SET, { UB_NL_A_FABRIC, UB_NL_A_DETECT_MS, UB_NL_A_STATE } },
	{ UB_NL_CMD_FABRIC_FORMAT, { UB_NL_A_FABRIC, UB_NL_A_FORCE } },
	{ UB_NL_CMD_NODE_GET, { UB_NL_A_FABRIC, UB_NL_A_NODE } },
	{ UB_NL_CMD_WINDOW_GET, { UB_NL_A_FABRIC, UB_NL_A_WINDOW } },
	{ UB_NL_CMD_GROUP_GET, { UB_NL_A_FABRIC, UB_NL_A_SLOT, UB_NL_A_MEMBER } },
	{ UB_NL_CMD_LEVEL_GET, { UB_NL_A_FABRIC, UB_NL_A_LEVEL } },
	{ UB_NL_CMD_STATS_GET, { UB_NL_A_FABRIC } },
};

/* What none of them may have, by attribute. */
static const struct {
	int attr;
	const void *data;
	size_t len;
} wrong[] = {
	{ UB_NL_A_FABRIC, "\1", 1 },
	{ UB_NL_A_LOOP, "\1\0\0\0\0\0\0", 8 },
	{ UB_NL_A_NODE, "\0\0\x10", 4 },		/* 21 bits */
	{ UB_NL_A_NODE, "\1\0", 2 },
	{ UB_NL_A_WINDOW, "", 0 },
	{ UB_NL_A_SLOT, "\1\0\0", 3 },
	{ UB_NL_A_MEMBER, "\1", 1 },
	{ UB_NL_A_LEVEL, "sixteen letters!", 17 },	/* one too long */
	{ UB_NL_A_LEVEL, "open", 4 },			/* no zero at its end */
	{ UB_NL_A_TRANSPORT, "loop", 4 },
	{ UB_NL_A_TRANSPORT, "sixteen letters!", 17 },
	{ UB_NL_A_NODES, "\0\0\0", 4 },			/* none */
	{ UB_NL_A_NODES, "\x41\0\0", 4 },		/* 65 */
	{ UB_NL_A_NODES, "\1", 1 },
	{ UB_NL_A_BYTES, "\0\0\0\2", 4 },
	{ UB_NL_A_DETECT_MS, "\xf3\1\0", 4 },		/* 499 */
	{ UB_NL_A_DETECT_MS, "\xc1\x27\x09", 4 },	/* 600001 */
	{ UB_NL_A_DETECT_MS, "\0\2", 2 },
	{ UB_NL_A_STATE, "\5\0\0", 4 },
	{ UB_NL_A_STATE, "", 0 },
	{ UB_NL_A_FORCE, "\1\0\0", 4 },			/* a flag has no value */
};

FIXTURE(netlink) {
	struct nl nl;
};

FIXTURE_SETUP(netlink)
{
	ASSERT_EQ(nl_open(&self->nl), 0);
	ASSERT_EQ(heal(), 0);
}

FIXTURE_TEARDOWN(netlink)
{
	nl_close(&self->nl);
}

/* A device of this number for attributes that need one. */
static void put_key(struct nl_req *q, int attr)
{
	switch (attr) {
	case UB_NL_A_LEVEL:
		nl_put_str(q, attr, "none such");
		break;
	default:
		nl_put_u32(q, attr, 0);
	}
}

/* A message of the kernel about an attribute begins with its name. */
static bool names(const struct nl *nl, const char *attr)
{
	size_t n = strlen(attr);

	return !strncmp(nl->text, attr, n) && nl->text[n] == ':';
}

/* ---- what is refused ---- */

static int used_by(int i, int attr)
{
	unsigned int k;

	for (k = 0; k < COUNT(requests[0].attr); k++)
		if (requests[i].attr[k] == attr)
			return 1;
	return 0;
}

TEST_F(netlink, every_attribute_is_checked)
{
	unsigned int i, k, w, tried[UB_NL_A_MAX + 1] = { 0 };
	struct nl_req q;
	int err;

	for (i = 0; i < COUNT(requests); i++) {
		for (w = 0; w < COUNT(wrong); w++) {
			if (!used_by(i, wrong[w].attr))
				continue;
			tried[wrong[w].attr]++;
			nl_begin(&q, requests[i].cmd);
			nl_put(&q, wrong[w].attr, wrong[w].data, wrong[w].len);
			err = nl_do(&self->nl, &q, NULL);
			EXPECT_TRUE(err == -EINVAL || err == -ERANGE)
				TH_LOG("command %d, attribute %d, wrong[%u]: %d",
				       requests[i].cmd, wrong[w].attr, w, err);
			EXPECT_EQ(self->nl.attr, wrong[w].attr);
			EXPECT_NE(self->nl.text[0], 0);
		}
		for (k = 0; k < COUNT(requests[0].attr) && requests[i].attr[k]; k++)
			EXPECT_NE(tried[requests[i].attr[k]], 0)
				TH_LOG("no wrong value for attribute %d",
				       requests[i].attr[k]);
	}
}

TEST_F(netlink, attributes_of_other_commands)
{
	struct nl_req q;
	unsigned int i;
	int attr;

	for (i = 0; i < COUNT(requests); i++) {
		for (attr = 1; attr <= UB_NL_A_MAX + 1; attr++) {
			if (used_by(i, attr))
				continue;
			nl_begin(&q, requests[i].cmd);
			nl_put_u32(&q, attr, 1);
			EXPECT_EQ(nl_do(&self->nl, &q, NULL), -EINVAL)
				TH_LOG("command %d, attribute %d", requests[i].cmd,
				       attr);
			/* Dumps take what gets take. */
			if (requests[i].cmd >= UB_NL_CMD_FABRIC_ADD &&
			    requests[i].cmd <= UB_NL_CMD_FABRIC_FORMAT)
				continue;
			nl_begin(&q, requests[i].cmd);
			nl_put_u32(&q, attr, 1);
			ASSERT_EQ(nl_dump(&self->nl, &q), 0);
			EXPECT_EQ(nl_next(&self->nl, &(struct nl_obj){ 0 }), -EINVAL)
				TH_LOG("dump %d, attribute %d", requests[i].cmd, attr);
		}
	}
}

TEST_F(netlink, missing_attributes)
{
	unsigned int i, k, n;
	struct nl_req q;

	for (i = 0; i < COUNT(requests); i++) {
		/* Set and format need a device alone, add its first two, get all. */
		switch (requests[i].cmd) {
		case UB_NL_CMD_FABRIC_ADD:
			n = 2;
			break;
		case UB_NL_CMD_FABRIC_GET:
		case UB_NL_CMD_FABRIC_DEL:
		case UB_NL_CMD_FABRIC_FORMAT:
			n = 1;
			break;
		case UB_NL_CMD_FABRIC_SET:
			n = 0;
			break;
		default:
			for (n = 0; requests[i].attr[n]; n++)
				;
		}
		for (k = 0; k < n; k++) {
			unsigned int j;

			nl_begin(&q, requests[i].cmd);
			for (j = 0; j < n; j++) {
				if (j == k)
					continue;
				if (requests[i].attr[j] == UB_NL_A_NODES)
					nl_put_u32(&q, UB_NL_A_NODES, 1);
				else if (requests[i].attr[j] == UB_NL_A_TRANSPORT)
					nl_put_str(&q, UB_NL_A_TRANSPORT, "loop");
				else
					put_key(&q, requests[i].attr[j]);
			}
			EXPECT_EQ(nl_do(&self->nl, &q, NULL), -EINVAL)
				TH_LOG("command %d without %d", requests[i].cmd,
				       requests[i].attr[k]);
			EXPECT_EQ(self->nl.missing, requests[i].attr[k]);
		}
	}
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_DETECT_MS, 1000);
	EXPECT_EQ(nl_do(&self->nl, &q, NULL), -EINVAL);
	EXPECT_EQ(self->nl.missing, UB_NL_A_FABRIC);
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	EXPECT_EQ(nl_do(&self->nl, &q, NULL), -EINVAL);
	EXPECT_NE(strstr(self->nl.text, "detect-ms"), NULL);
}

TEST_F(netlink, no_such_object)
{
	static const struct {
		int cmd, attr;
		const char *name;
	} none[] = {
		{ UB_NL_CMD_NODE_GET, UB_NL_A_NODE, "node" },
		{ UB_NL_CMD_WINDOW_GET, UB_NL_A_WINDOW, "window" },
		{ UB_NL_CMD_LEVEL_GET, UB_NL_A_LEVEL, "level" },
		{ UB_NL_CMD_FABRIC_GET, UB_NL_A_LOOP, "loop" },
	};
	struct nl *nl = &self->nl;
	struct nl_req q;
	unsigned int i;

	for (i = 0; i < COUNT(none); i++) {
		nl_begin(&q, none[i].cmd);
		nl_put_u32(&q, UB_NL_A_FABRIC, 0);
		if (none[i].attr == UB_NL_A_LEVEL)
			nl_put_str(&q, none[i].attr, "none such");
		else
			nl_put_u32(&q, none[i].attr, 99999);
		EXPECT_EQ(nl_do(nl, &q, NULL), -ENOENT);
		EXPECT_EQ(nl->attr, none[i].attr);
		EXPECT_TRUE(names(nl, none[i].name)) TH_LOG("%s", nl->text);
	}
	nl_begin(&q, UB_NL_CMD_GROUP_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	nl_put_u32(&q, UB_NL_A_SLOT, 0);
	nl_put_u32(&q, UB_NL_A_MEMBER, 99);
	EXPECT_EQ(nl_do(nl, &q, NULL), -ENOENT);
	EXPECT_TRUE(names(nl, "member")) TH_LOG("%s", nl->text);
	/* Every command that takes a device says when there is none. */
	for (i = 0; i < COUNT(requests); i++) {
		unsigned int k;

		if (requests[i].attr[0] != UB_NL_A_FABRIC)
			continue;
		nl_begin(&q, requests[i].cmd);
		nl_put_u32(&q, UB_NL_A_FABRIC, 4000);
		for (k = 1; k < COUNT(requests[0].attr) && requests[i].attr[k]; k++) {
			if (requests[i].attr[k] == UB_NL_A_DETECT_MS)
				nl_put_u32(&q, UB_NL_A_DETECT_MS, 1000);
			else if (requests[i].attr[k] != UB_NL_A_FORCE)
				put_key(&q, requests[i].attr[k]);
		}
		EXPECT_EQ(nl_do(nl, &q, NULL), -ENODEV);
		EXPECT_EQ(nl->attr, UB_NL_A_FABRIC);
		EXPECT_TRUE(names(nl, "fabric")) TH_LOG("%s", nl->text);
	}
	nl_begin(&q, UB_NL_CMD_NODE_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 4000);
	ASSERT_EQ(nl_dump(nl, &q), 0);
	EXPECT_EQ(nl_next(nl, &(struct nl_obj){ 0 }), -ENODEV);
}

TEST_F(netlink, wrong_values_are_named)
{
	static const struct {
		const char *transport, *name;
		__u32 nodes, node;
		__u64 bytes;
		int err;
	} add[] = {
		{ "rdma", "transport", 1, 0, 64 << 20, -EOPNOTSUPP },
		{ "loop", "node", 2, 0xfffff, 64 << 20, -ERANGE },
		{ "loop", "bytes", 1, 0, 1 << 20, -EINVAL },
		{ "loop", "bytes", 1, 0, ~0ULL, -ENOMEM },
		{ "loop", "nodes", 9, 0, 32 << 20, -E2BIG },
	};
	struct nl *nl = &self->nl;
	struct nl_req q;
	unsigned int i;

	for (i = 0; i < COUNT(add); i++) {
		nl_begin(&q, UB_NL_CMD_FABRIC_ADD);
		nl_put_str(&q, UB_NL_A_TRANSPORT, add[i].transport);
		nl_put_u32(&q, UB_NL_A_NODES, add[i].nodes);
		nl_put_u32(&q, UB_NL_A_NODE, add[i].node);
		nl_put_u64(&q, UB_NL_A_BYTES, add[i].bytes);
		EXPECT_EQ(nl_do(nl, &q, NULL), add[i].err);
		EXPECT_TRUE(names(nl, add[i].name)) TH_LOG("%s", nl->text);
		EXPECT_NE(nl->attr, 0);
	}
	nl_begin(&q, UB_NL_CMD_FABRIC_SET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	nl_put_u32(&q, UB_NL_A_STATE, UB_STATE_DOWN);
	EXPECT_EQ(nl_do(nl, &q, NULL), -EINVAL);
	EXPECT_TRUE(names(nl, "state")) TH_LOG("%s", nl->text);
}

/*
 * Messages of random bytes, as attributes and as headers: no more than errors.
 * UB_NETLINK_N: how many (20000).
 */
TEST_F(netlink, random_messages)
{
	const char *s = getenv("UB_NETLINK_N");
	unsigned int seed = 20240607, i, k, count = s ? atoi(s) : 20000;
	struct nl_req q;

	for (i = 0; i < count; i++) {
		int cmd = rand_r(&seed) % (UB_NL_CMD_MAX + 2);
		int n = rand_r(&seed) % 4;
		char data[32];

		/* Those that succeed by chance would change what others see. */
		if (cmd == UB_NL_CMD_FABRIC_ADD || cmd == UB_NL_CMD_FABRIC_DEL ||
		    cmd == UB_NL_CMD_FABRIC_FORMAT)
			continue;
		nl_begin(&q, cmd);
		while (n--) {
			for (k = 0; k < sizeof(data); k++)
				data[k] = rand_r(&seed) % 3 ? 0 : rand_r(&seed);
			nl_put(&q, rand_r(&seed) % (UB_NL_A_MAX + 3), data,
			       rand_r(&seed) % 2 ? 4 : rand_r(&seed) % sizeof(data));
		}
		if (!(rand_r(&seed) % 8) && q.h.nlmsg_len > sizeof(q.h) + 8)
			q.attrs[rand_r(&seed) % 8] = rand_r(&seed);
		nl_do(&self->nl, &q, NULL);
	}
	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	EXPECT_EQ(nl_do(&self->nl, &q, NULL), 0);
	/* The detection times that were set by chance. */
	for (i = 0; i < NODES; i++) {
		nl_begin(&q, UB_NL_CMD_FABRIC_SET);
		nl_put_u32(&q, UB_NL_A_FABRIC, i);
		nl_put_u32(&q, UB_NL_A_DETECT_MS, detect_ms());
		EXPECT_EQ(nl_do(&self->nl, &q, NULL), 0);
	}
}

/* ---- who may ---- */

static int as_nobody(void *ctx)
{
	static const int changes[] = {
		UB_NL_CMD_FABRIC_ADD, UB_NL_CMD_FABRIC_DEL, UB_NL_CMD_FABRIC_SET,
		UB_NL_CMD_FABRIC_FORMAT,
	};
	struct nl_req q;
	struct nl nl;
	unsigned int i;

	if (setgroups(0, NULL) || setgid(65534) || setuid(65534) || nl_open(&nl))
		return 10;
	for (i = 0; i < COUNT(changes); i++) {
		nl_begin(&q, changes[i]);
		if (changes[i] == UB_NL_CMD_FABRIC_ADD) {
			nl_put_str(&q, UB_NL_A_TRANSPORT, "loop");
			nl_put_u32(&q, UB_NL_A_NODES, 1);
		} else {
			nl_put_u32(&q, UB_NL_A_FABRIC, 0);
		}
		if (nl_do(&nl, &q, NULL) != -EPERM)
			return 20 + i;
	}
	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	if (nl_do(&nl, &q, NULL))
		return 30;
	return nl_join(&nl) ? 31 : 0;
}

TEST_F(netlink, changes_need_cap_net_admin)
{
	EXPECT_EQ(reap(spawn(as_nobody, NULL)), 0);
}

/* ---- what is told ---- */

static int get_fabric(struct nl *nl, __u32 minor, struct nl_obj *o)
{
	struct nl_req q;

	nl_begin(&q, UB_NL_CMD_FABRIC_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, minor);
	return nl_do(nl, &q, o);
}

TEST_F(netlink, fabric_agrees_with_info)
{
	struct nl *nl = &self->nl;
	int fd = open_node(1);
	struct ub_info i = info_of(fd);
	struct nl_obj o;

	ASSERT_EQ(get_fabric(nl, 1, &o), 0);
	EXPECT_EQ(o.cmd, UB_NL_CMD_FABRIC_GET);
	EXPECT_STREQ(nl_str(&o, UB_NL_A_DEVICE), "ubfab1");
	EXPECT_STREQ(nl_str(&o, UB_NL_A_TRANSPORT), i.out_transport);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_NODE), i.out_node);
	EXPECT_EQ(nl_u64(&o, UB_NL_A_INCARNATION), i.out_incarnation);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_DETECT_MS), i.out_detect_ms);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_MEMTYPE), i.out_memtype);
	EXPECT_EQ(nl_u64(&o, UB_NL_A_SLICE), i.out_slice);
	ASSERT_NE(o.a[UB_NL_A_FABRIC_ID], NULL);
	EXPECT_EQ(o.a[UB_NL_A_FABRIC_ID]->nla_len, NLA_HDRLEN + 16);
	EXPECT_EQ(memcmp((char *)o.a[UB_NL_A_FABRIC_ID] + NLA_HDRLEN,
			 i.out_fabric, 16), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_LANES), 1);
	close(fd);
}

TEST_F(netlink, nodes_and_doorbells)
{
	struct nl *nl = &self->nl;
	struct member m[2];
	__u64 before, end;
	struct nl_obj o;
	struct nl_req q;
	int i;

	/* As soon as the tick has seen all. */
	for (end = in_ms(20000); now() < end; sleep_ms(20)) {
		int up = 0;

		nl_begin(&q, UB_NL_CMD_NODE_GET);
		nl_put_u32(&q, UB_NL_A_FABRIC, 0);
		ASSERT_EQ(nl_dump(nl, &q), 0);
		while (nl_next(nl, &o) == 1)
			up += nl_u32(&o, UB_NL_A_STATE) == UB_STATE_UP;
		if (up == NODES)
			break;
	}
	nl_begin(&q, UB_NL_CMD_NODE_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	nl_put_u32(&q, UB_NL_A_NODE, 1);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_STATE), UB_STATE_UP);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_MEMTYPE), UB_MEMTYPE_WB);
	EXPECT_NE(o.a[UB_NL_A_DOORBELL], NULL);
	EXPECT_EQ(o.a[UB_NL_A_SELF], NULL);
	EXPECT_EQ(o.a[UB_NL_A_BELLS], NULL);
	EXPECT_LT(nl_u64(&o, UB_NL_A_HEARTBEAT_AGE), 20 * SEC);
	before = nl_u64(&o, UB_NL_A_RINGS);

	/* A member of node 1 that sleeps is rung by node 0, which comes last. */
	ASSERT_EQ(world_open(m, 2, 2), 0);
	for (i = 0; i < 20; i++) {
		member_start(&m[1], step_barrier);
		sleep_ms(20);
		ASSERT_EQ(step_barrier(&m[0]), 0);
		ASSERT_EQ(member_join(&m[1]), 0);
	}
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_GT(nl_u64(&o, UB_NL_A_RINGS), before);
	nl_begin(&q, UB_NL_CMD_NODE_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 1);
	nl_put_u32(&q, UB_NL_A_NODE, 1);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_NE(o.a[UB_NL_A_SELF], NULL);
	EXPECT_NE(o.a[UB_NL_A_BELLS], NULL);
	EXPECT_GT(nl_u64(&o, UB_NL_A_BELLS), 0);
	world_close(m, 2);
}

TEST_F(netlink, windows)
{
	int fd = open_node(2), peer = open_node(3);
	struct nl *nl = &self->nl;
	struct ub_win_create c;
	struct nl_obj o;
	struct nl_req q;

	ASSERT_EQ(win_create(fd, 3 * UNIT + 5, RW, &c), 0);
	ASSERT_EQ(win_attach(peer, &c, RW), 0);
	nl_begin(&q, UB_NL_CMD_WINDOW_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 2);
	nl_put_u32(&q, UB_NL_A_WINDOW, c.out_desc.window);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_EQ(nl_u64(&o, UB_NL_A_GVA), c.out_desc.gva);
	EXPECT_EQ(nl_u64(&o, UB_NL_A_LENGTH), 3 * UNIT + 5);
	EXPECT_EQ(nl_u64(&o, UB_NL_A_GENERATION), c.out_desc.generation);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_RIGHTS), RW);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_WIN_STATE), UB_WIN_STATE_LIVE);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_PID), getpid());
	/* Node 3 stands still: the memory waits for it. */
	ASSERT_EQ(test_op(peer, UB_TEST_PAUSE, 0, 0, NULL), 0);
	ASSERT_EQ(win_destroy(fd, c.out_desc.window), 0);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_WIN_STATE), UB_WIN_STATE_QUARANTINE);
	EXPECT_GE(nl_u32(&o, UB_NL_A_WAITS_FOR), 1);
	EXPECT_EQ(o.a[UB_NL_A_PID], NULL);
	EXPECT_EQ(o.a[UB_NL_A_RIGHTS], NULL);
	ASSERT_EQ(test_op(peer, UB_TEST_RESUME, 0, 0, NULL), 0);
	close(fd);
	close(peer);
}

TEST_F(netlink, groups_levels_counters)
{
	struct nl *nl = &self->nl;
	struct member m[2];
	struct nl_obj o;
	struct nl_req q;
	__u32 slot, seen = 0;
	int i;

	ASSERT_EQ(world_open(m, 2, 1), 0);
	for (i = 0; i < 5; i++)
		ASSERT_EQ(members_run(m, 2, step_barrier), 0);
	/* One more of member 1 alone: member 0 is missing. */
	ASSERT_EQ(barrier(&m[1], UB_BARRIER_ARRIVE, UB_RED_NONE, 0, 0), 0);
	nl_begin(&q, UB_NL_CMD_GROUP_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	ASSERT_EQ(nl_dump(nl, &q), 0);
	/* In the order in which the two threads joined. */
	for (i = 0, slot = ~0U; nl_next(nl, &o) == 1; i++) {
		seen |= 1U << (nl_u32(&o, UB_NL_A_MEMBER) & 31);
		slot = nl_u32(&o, UB_NL_A_SLOT);
	}
	ASSERT_EQ(i, 2);
	EXPECT_EQ(seen, 3);
	nl_put_u32(&q, UB_NL_A_SLOT, slot);
	nl_put_u32(&q, UB_NL_A_MEMBER, 1);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_MEMBERS), 2);
	EXPECT_STREQ(nl_str(&o, UB_NL_A_LEVEL), "world");
	EXPECT_EQ(nl_u64(&o, UB_NL_A_EPOCH), m[1].bar.out_epoch);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_MISSING), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_GROUP), m[1].group);
	EXPECT_EQ(nl_stat(nl, "barriers"), 6);
	EXPECT_EQ(nl_stat(nl, "no such"), ~0ULL);
	nl_begin(&q, UB_NL_CMD_LEVEL_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	nl_put_str(&q, UB_NL_A_LEVEL, "world");
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_MEMBERS), 2);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_GROUPS), 1);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_LOST), 0);
	EXPECT_EQ(nl_stat(nl, "barriers"), 11);
	/* Member 0 goes without having arrived. */
	close(m[0].fd);
	m[0].fd = -1;
	EXPECT_EQ(barrier(&m[1], UB_BARRIER_WAIT, UB_RED_NONE, 0, in_ms(9000)),
		  -EOWNERDEAD);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_MEMBERS), 1);
	EXPECT_EQ(nl_u32(&o, UB_NL_A_LOST), 1);
	EXPECT_EQ(nl_stat(nl, "verdicts"), 1);
	nl_begin(&q, UB_NL_CMD_STATS_GET);
	nl_put_u32(&q, UB_NL_A_FABRIC, 0);
	ASSERT_EQ(nl_do(nl, &q, &o), 0);
	EXPECT_GE(nl_stat(nl, "barriers"), 11);
	world_close(m, 2);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sizes, alignments and offsets that other machines, other kernels and other
 * compilers rely on: static asserts. What needs a loop runs.
 */
#include <stddef.h>
#include <linux/types.h>
#include "test.h"

typedef __u64 u64;	/* shm.h is the kernel's alone */
typedef __u32 u32;

#include <ub/ub_layout.h>
#include "engine.h"
#include "gaddr.h"
#include "shm.h"
#include "slots.h"

#define SIZE(s, n)	_Static_assert(sizeof(struct s) == (n), "size of " #s)
#define ALIGN(s, n)	_Static_assert(_Alignof(struct s) == (n), "align of " #s)
#define AT(s, f, n)	_Static_assert(offsetof(struct s, f) == (n), #s "." #f)

/* ---- include/uapi/ub/ub.h ---- */
SIZE(ub_info, 104); ALIGN(ub_info, 8);
AT(ub_info, size, 0); AT(ub_info, flags, 4); AT(ub_info, out_abi, 8);
AT(ub_info, out_layout, 12); AT(ub_info, out_caps, 16);
AT(ub_info, out_fabric, 24); AT(ub_info, out_incarnation, 40);
AT(ub_info, out_node, 48); AT(ub_info, out_memtype, 52);
AT(ub_info, out_max_nodes, 56); AT(ub_info, out_max_members, 60);
AT(ub_info, out_max_lines, 64); AT(ub_info, out_detect_ms, 68);
AT(ub_info, out_slice, 72); AT(ub_info, out_free, 80);
AT(ub_info, out_transport, 88);

SIZE(ub_win_desc, 64); ALIGN(ub_win_desc, 8);
AT(ub_win_desc, fabric, 0); AT(ub_win_desc, incarnation, 16);
AT(ub_win_desc, generation, 24); AT(ub_win_desc, gva, 32);
AT(ub_win_desc, length, 40); AT(ub_win_desc, node, 48);
AT(ub_win_desc, window, 52); AT(ub_win_desc, rights, 56);
AT(ub_win_desc, reserved, 60);

SIZE(ub_win_create, 104); ALIGN(ub_win_create, 8);
AT(ub_win_create, size, 0); AT(ub_win_create, flags, 4);
AT(ub_win_create, length, 8); AT(ub_win_create, rights, 16);
AT(ub_win_create, reserved, 20); AT(ub_win_create, out_desc, 24);
AT(ub_win_create, out_token, 88);

SIZE(ub_win_id, 40); ALIGN(ub_win_id, 8);
AT(ub_win_id, size, 0); AT(ub_win_id, flags, 4); AT(ub_win_id, window, 8);
AT(ub_win_id, reserved, 12); AT(ub_win_id, out_generation, 16);
AT(ub_win_id, out_token, 24);

SIZE(ub_win_attach, 96); ALIGN(ub_win_attach, 8);
AT(ub_win_attach, size, 0); AT(ub_win_attach, flags, 4);
AT(ub_win_attach, desc, 8); AT(ub_win_attach, token, 72);
AT(ub_win_attach, rights, 88); AT(ub_win_attach, reserved, 92);

SIZE(ub_win_detach, 16); ALIGN(ub_win_detach, 8);
AT(ub_win_detach, size, 0); AT(ub_win_detach, flags, 4);
AT(ub_win_detach, gva, 8);

SIZE(ub_member, 24); ALIGN(ub_member, 8);
AT(ub_member, node, 0); AT(ub_member, lane, 4);
AT(ub_member, node_incarnation, 8); AT(ub_member, lane_incarnation, 16);

SIZE(ub_lost, 56); ALIGN(ub_lost, 8);
AT(ub_lost, epoch, 0); AT(ub_lost, incarnation, 8);
AT(ub_lost, heartbeat_age_ns, 16); AT(ub_lost, member, 24);
AT(ub_lost, node, 28); AT(ub_lost, lane, 32); AT(ub_lost, reason, 36);
AT(ub_lost, level, 40);

SIZE(ub_shape, 36); ALIGN(ub_shape, 4);
AT(ub_shape, nlevels, 0); AT(ub_shape, bits, 4); AT(ub_shape, ports, 19);
AT(ub_shape, reserved, 35);

SIZE(ub_group_create, 232); ALIGN(ub_group_create, 8);
AT(ub_group_create, size, 0); AT(ub_group_create, flags, 4);
AT(ub_group_create, key, 8); AT(ub_group_create, timeout, 24);
AT(ub_group_create, members, 32); AT(ub_group_create, base, 40);
AT(ub_group_create, out_table, 48); AT(ub_group_create, parent, 56);
AT(ub_group_create, nmembers, 60); AT(ub_group_create, index, 64);
AT(ub_group_create, out_group, 68); AT(ub_group_create, shape, 72);
AT(ub_group_create, reserved, 108); AT(ub_group_create, level, 112);
AT(ub_group_create, out_offset, 128); AT(ub_group_create, out_map_size, 136);
AT(ub_group_create, out_epoch, 144); AT(ub_group_create, out_lost, 152);
AT(ub_group_create, out_clash, 208);

SIZE(ub_group_id, 16); ALIGN(ub_group_id, 4);
AT(ub_group_id, size, 0); AT(ub_group_id, flags, 4); AT(ub_group_id, group, 8);
AT(ub_group_id, reserved, 12);

SIZE(ub_group_shrink, 120); ALIGN(ub_group_shrink, 8);
AT(ub_group_shrink, size, 0); AT(ub_group_shrink, flags, 4);
AT(ub_group_shrink, group, 8); AT(ub_group_shrink, out_group, 12);
AT(ub_group_shrink, timeout, 16); AT(ub_group_shrink, out_table, 24);
AT(ub_group_shrink, out_nmembers, 32); AT(ub_group_shrink, out_index, 36);
AT(ub_group_shrink, out_offset, 40); AT(ub_group_shrink, out_map_size, 48);
AT(ub_group_shrink, out_epoch, 56); AT(ub_group_shrink, out_lost, 64);

SIZE(ub_barrier, 120); ALIGN(ub_barrier, 8);
AT(ub_barrier, size, 0); AT(ub_barrier, flags, 4); AT(ub_barrier, group, 8);
AT(ub_barrier, op, 12); AT(ub_barrier, value, 16); AT(ub_barrier, timeout, 24);
AT(ub_barrier, last, 32); AT(ub_barrier, out_epoch, 40);
AT(ub_barrier, out_last, 48); AT(ub_barrier, out_lost, 56);
AT(ub_barrier, out_window, 112);

SIZE(ub_xfer_op_desc, 48); ALIGN(ub_xfer_op_desc, 8);
AT(ub_xfer_op_desc, gva, 0); AT(ub_xfer_op_desc, addr, 8);
AT(ub_xfer_op_desc, length, 16); AT(ub_xfer_op_desc, operand, 24);
AT(ub_xfer_op_desc, compare, 32); AT(ub_xfer_op_desc, op, 40);
AT(ub_xfer_op_desc, out_status, 44);

SIZE(ub_xfer, 24); ALIGN(ub_xfer, 8);
AT(ub_xfer, size, 0); AT(ub_xfer, flags, 4); AT(ub_xfer, ops, 8);
AT(ub_xfer, nops, 16); AT(ub_xfer, out_done, 20);

SIZE(ub_range, 24); ALIGN(ub_range, 8);
AT(ub_range, size, 0); AT(ub_range, flags, 4); AT(ub_range, gva, 8);
AT(ub_range, length, 16);

SIZE(ub_event, 48); ALIGN(ub_event, 8);
AT(ub_event, time_ns, 0); AT(ub_event, incarnation, 8); AT(ub_event, gva, 16);
AT(ub_event, value, 24); AT(ub_event, type, 32); AT(ub_event, reason, 36);
AT(ub_event, node, 40); AT(ub_event, group, 44);

SIZE(ub_test, 40); ALIGN(ub_test, 8);
AT(ub_test, size, 0); AT(ub_test, flags, 4); AT(ub_test, op, 8);
AT(ub_test, reserved, 12); AT(ub_test, value, 16); AT(ub_test, gva, 24);
AT(ub_test, out_value, 32);

/* ---- include/uapi/ub/ub_layout.h ---- */
SIZE(ub_group_head, 64); ALIGN(ub_group_head, 8);
AT(ub_group_head, verdict, 0); AT(ub_group_head, hint, 8);
AT(ub_group_head, lost, 16); AT(ub_group_head, reserved, 48);

SIZE(ub_lost_window, 16); ALIGN(ub_lost_window, 8);
AT(ub_lost_window, epoch, 0); AT(ub_lost_window, gva, 8);

SIZE(ub_contrib, 16); ALIGN(ub_contrib, 8);
AT(ub_contrib, value, 0); AT(ub_contrib, aux, 8);

SIZE(ub_member_line, 64); ALIGN(ub_member_line, 8);
AT(ub_member_line, arrival, 0); AT(ub_member_line, sleeping, 8);
AT(ub_member_line, driver, 16); AT(ub_member_line, reason, 24);
AT(ub_member_line, contrib, 32);

SIZE(ub_flag, 16); ALIGN(ub_flag, 8);
AT(ub_flag, aux, 0); AT(ub_flag, full, 8);

SIZE(ub_flag_line, 64); ALIGN(ub_flag_line, 8);
AT(ub_flag_line, flag, 0);

SIZE(ub_mailbox, 256); ALIGN(ub_mailbox, 1);
AT(ub_mailbox, slot, 0);

/* ---- slots.h ---- */
SIZE(ub_slot_member, 32); ALIGN(ub_slot_member, 8);
AT(ub_slot_member, who, 0); AT(ub_slot_member, node_inc, 8);
AT(ub_slot_member, lane_inc, 16); AT(ub_slot_member, there, 24);

SIZE(ub_slot_rec, 64); ALIGN(ub_slot_rec, 8);
AT(ub_slot_rec, word, 0); AT(ub_slot_rec, form, 8); AT(ub_slot_rec, freer, 16);
AT(ub_slot_rec, clash, 24); AT(ub_slot_rec, reserved, 32);
AT(ub_slot_rec, member, 64);

/* ---- shm.h ---- */
SIZE(ub_shm_header, 128); ALIGN(ub_shm_header, 8);
AT(ub_shm_header, magic, 0); AT(ub_shm_header, layout, 8);
AT(ub_shm_header, state, 16); AT(ub_shm_header, size, 24);
AT(ub_shm_header, fabric, 32); AT(ub_shm_header, key, 48);
AT(ub_shm_header, reserved, 64);

SIZE(ub_shm_node, 128); ALIGN(ub_shm_node, 8);
AT(ub_shm_node, word, 0); AT(ub_shm_node, incarnation, 8);
AT(ub_shm_node, generation, 16); AT(ub_shm_node, bell, 24);
AT(ub_shm_node, reason, 32); AT(ub_shm_node, poke, 40);
AT(ub_shm_node, memtype, 48); AT(ub_shm_node, reserved, 56);
AT(ub_shm_node, heartbeat, 64);
AT(ub_shm_node, reserved2, 72);

SIZE(ub_shm_window, 128); ALIGN(ub_shm_window, 8);
AT(ub_shm_window, generation, 0); AT(ub_shm_window, gva, 8);
AT(ub_shm_window, length, 16); AT(ub_shm_window, offset, 24);
AT(ub_shm_window, incarnation, 32); AT(ub_shm_window, rights, 40);
AT(ub_shm_window, id, 44); AT(ub_shm_window, salt, 48);
AT(ub_shm_window, hash, 64); AT(ub_shm_window, reserved, 96);

/* ---- codes ---- */
_Static_assert(_IOC_TYPE(UB_IOC_INFO) == 0xbc && _IOC_NR(UB_IOC_INFO) == 0x80 &&
	       UB_IOC_TEST == _IO(0xbc, 0x8e) && UB_CMD_END == 0x8f, "commands");
_Static_assert(UB_IOC_WIN_CREATE == 0xbc81 && UB_IOC_WIN_DESTROY == 0xbc82 &&
	       UB_IOC_WIN_ATTACH == 0xbc83 && UB_IOC_WIN_DETACH == 0xbc84 &&
	       UB_IOC_WIN_ROTATE == 0xbc85 && UB_IOC_GROUP_CREATE == 0xbc86 &&
	       UB_IOC_GROUP_DESTROY == 0xbc87 && UB_IOC_GROUP_SHRINK == 0xbc88 &&
	       UB_IOC_BARRIER == 0xbc89 && UB_IOC_KICK == 0xbc8a &&
	       UB_IOC_XFER == 0xbc8b && UB_IOC_FENCE == 0xbc8c &&
	       UB_IOC_SYNC == 0xbc8d, "commands");
_Static_assert(UB_RED_OPS == 9 && UB_RED_OPS <= 64, "op has six bits");
_Static_assert(UB_XFER_OPS == 8 && UB_EVENT_OVERRUN == 6 &&
	       UB_REASON_REBOOT == 9 && UB_REASON_ERASED == 10 &&
	       UB_TEST_ATOMIC_ADD == 6 && UB_TEST_SPRUNG == 10, "enums");
_Static_assert(!((UB_AUX_MIXED | UB_AUX_WINLOST) & UB_AUX_LAST_MASK) &&
	       !((UB_AUX_MIXED | UB_AUX_WINLOST) >> UB_AUX_OP_SHIFT) &&
	       (UB_AUX_NOTE(~0U) ^ UB_AUX_LAST_MASK) == UB_AUX_GIVEN_MASK &&
	       (UB_AUX_GIVEN_MASK ^ UB_AUX_MIXED ^ UB_AUX_WINLOST ^
		63ULL << UB_AUX_OP_SHIFT ^ UB_AUX_SEQ_MASK) == ~0ULL, "aux");
_Static_assert(!(UB_ARR_FINAL & UB_EPOCH_MAX) &&
	       (UB_ARR_FINAL | UB_EPOCH_MAX) == ~0ULL, "arrival word");

/* Nothing that members share may lie on the line of something else. */
_Static_assert(sizeof(struct ub_group_head) == 64 &&
	       sizeof(struct ub_member_line) == 64 &&
	       sizeof(struct ub_flag_line) == 64 &&
	       sizeof(struct ub_mailbox) % 64 == 0, "cache lines");

static void packing(void)
{
	uint64_t w;
	uint32_t i;

	for (i = 0; i < 100000; i++) {
		uint32_t m = rnd(), r = rnd() & 0xffff, n = rnd() & 0xffff;
		uint64_t id = rnd() & UB_SLOT_ID_MASK, wait = rnd() >> below(64);
		uint64_t v = UB_VERDICT(m, r), a, b;

		expect(UB_VERDICT_MEMBER(v) == m && UB_VERDICT_REASON(v) == r &&
		       v & UB_VERDICT_VALID, "%u %u", m, r);
		w = UB_SLOT_WORD(m & 3, r, id);
		expect(UB_SLOT_STATE(w) == (m & 3) && UB_SLOT_GEN(w) == r &&
		       UB_SLOT_ID(w) == id, "%llx", (long long)w);
		w = UB_FORM(r, n, m);
		expect(UB_FORM_GEN(w) == r && UB_FORM_N(w) == n &&
		       (uint32_t)w == m, "%llx", (long long)w);
		w = UB_WHO(r, m & 0xfffff, n);
		expect(UB_WHO_GEN(w) == r && UB_WHO_NODE(w) == (m & 0xfffff) &&
		       UB_WHO_LANE(w) == n && w & UB_WHO_USED &&
		       !(w & (UB_WHO_READY | UB_WHO_LEFT)), "%llx", (long long)w);
		a = UB_AUX_LAST(wait, n);
		expect(!(a & ~UB_AUX_LAST_MASK) && UB_AUX_MEMBER(a) == n,
		       "%llx", (long long)a);
		b = UB_AUX_WAIT(a);
		if (wait > UB_WAIT_MAX)
			wait = UB_WAIT_MAX;
		expect(b <= wait && wait - b <= wait >> 14, "%llu: %llu",
		       (long long)wait, (long long)b);
		expect(wait >> UB_WAIT_BITS || b == wait, "%llu", (long long)wait);
		b = rnd() >> below(64);
		expect((b < wait ? b : wait) == wait ||
		       UB_AUX_LAST(b, n) <= UB_AUX_LAST(wait, n), "%llu, %llu",
		       (long long)b, (long long)wait);
	}
	/* Each code is that of the waits it stands for, and they rise with it. */
	for (i = 0; i < 32 << UB_WAIT_BITS; i++) {
		uint64_t wait = ub_wait_of(i);

		if (i >> UB_WAIT_BITS && !(i >> (UB_WAIT_BITS - 1) & 1))
			continue;	/* not used: a lower shift has it */
		expect(ub_wait_code(wait) == i, "%x", i);
		expect(wait == UB_WAIT_MAX || ub_wait_code(wait + 1) >= i, "%x", i);
	}
	expect(UB_AUX_LAST(~0ULL, ~0U) == UB_AUX_LAST_MASK, "nobody measured");
	for (w = 1; w < 0x30000; w++)
		expect(UB_AUX_SEQ(w) && UB_AUX_SEQ(w) <= UB_AUX_SEQ_MASK &&
		       UB_AUX_SEQ(w) != UB_AUX_SEQ(w + 2), "epoch %llu",
		       (long long)w);
	ktap_done("packed words give back what was put in");
}

/* Mark every byte of every part: no two may meet, none may lie outside. */
static void overlap(uint32_t members, uint32_t lines)
{
	uint64_t size = ub_group_map_size(members, lines), used, i;
	unsigned char *base = aligned_alloc(UB_LAYOUT_PAGE, size);
	struct ub_grp g;

	if (!base)
		abort();
	memset(base, 0, size);
	ub_grp_init(&g, base, members, members, lines);
	expect((char *)g.line - (char *)base == (long)ub_group_lines_off() &&
	       !((uintptr_t)g.line % UB_LAYOUT_PAGE) &&
	       !((uintptr_t)g.mail % UB_LAYOUT_PAGE) &&
	       !((uintptr_t)g.flags % UB_LAYOUT_PAGE) &&
	       !(size % UB_LAYOUT_PAGE), "%u %u", members, lines);
#define MARK(p, n) do {							\
	unsigned char *c = (void *)(p), *e = c + (n);			\
	if (expect(c >= base && e <= base + size, "outside"))		\
		for (; c < e; c++)					\
			*c += 1;					\
	} while (0)
	MARK(g.head, sizeof(*g.head));
	MARK(g.line, members * sizeof(*g.line));
	MARK(g.mail, members * sizeof(*g.mail));
	MARK(g.flags, (size_t)members * lines * sizeof(*g.flags));
	for (used = 0, i = 0; i < size; i++) {
		expect(base[i] <= 1, "byte %llu in two parts", (long long)i);
		used += base[i];
	}
	expect(used == sizeof(*g.head) + members * (sizeof(*g.line) +
	       sizeof(*g.mail) + (size_t)lines * sizeof(*g.flags)), "%u", members);
	free(base);
}

static void group_pages(void)
{
	uint32_t n;

	for (n = 1; n <= 130; n++)
		overlap(n, n % 41);
	overlap(512, 40);
	overlap(1024, 64);
	expect(ub_group_map_size(1024, 200) <= 1ULL << UB_GVA_GROUP_SHIFT,
	       "a group's pages have room between two offsets");
	/* 32-bit products must not wrap. */
	expect(ub_group_map_size(1U << 16, 1U << 12) > 1ULL << 34, "wrapped");
	ktap_done("parts of a group's pages do not meet");
}

static void records(void)
{
	uint32_t max = 5, stride = ub_slot_stride(max), i;
	struct ub_slots t = { .nslots = 3, .rec_stride = stride,
			      .map_size = 8192, .max_members = max };

	t.recs = calloc(3, stride);
	t.pages = calloc(3, t.map_size);
	if (!t.recs || !t.pages)
		abort();
	expect(stride % 8 == 0, "%u", stride);
	for (i = 0; i < 3; i++) {
		struct ub_slot_rec *r = ub_slot_rec(&t, i);

		expect((char *)r == t.recs + i * stride, "%u", i);
		expect((char *)&r->member[max] == (char *)r + stride, "%u", i);
		expect((char *)ub_slot_pages(&t, i) == t.pages + i * 8192, "%u", i);
	}
	free(t.recs);
	free(t.pages);
	ktap_done("slot records do not meet");
}

int main(void)
{
	ktap_start(3);
	packing();
	group_pages();
	records();
	return ktap_end();
}

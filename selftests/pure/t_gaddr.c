// SPDX-License-Identifier: GPL-2.0-only
/* Global addresses: parts, limits, overflow. */
#include "test.h"
#include "gaddr.h"

static void parts(void)
{
	static const uint64_t edge[] = { 0, 1, 4095, UB_GVA_FIRST - 1,
		UB_GVA_FIRST, UB_GVA_GROUPS - 1, UB_GVA_GROUPS,
		UB_GVA_OFF_MASK };
	uint32_t i, j;

	for (i = 0; i < 100000; i++) {
		uint32_t node = below(3) ? rnd() & UB_GVA_NODE_MAX :
				below(2) ? 0 : UB_GVA_NODE_MAX;
		uint64_t off = below(3) ? rnd() & UB_GVA_OFF_MASK :
			edge[below(sizeof(edge) / sizeof(edge[0]))];
		uint64_t gva = ub_gva(node, off);

		expect(!(gva >> 63), "%llx", (long long)gva);
		expect(ub_gva_node(gva) == node && ub_gva_off(gva) == off,
		       "node %u off %llx", node, (long long)off);
	}
	/* What does not fit is cut, it does not reach into the other part. */
	for (j = 0; j < 64; j++) {
		expect(ub_gva_node(ub_gva(5, 1ULL << j)) == 5, "bit %u", j);
		if (j < 32)
			expect(ub_gva_off(ub_gva(1U << j, 7)) == 7, "bit %u", j);
	}
	ktap_done("node and offset come back, bit 63 stays clear");
}

static void groups(void)
{
	uint32_t slots = UB_GVA_GROUPS >> UB_GVA_GROUP_SHIFT, i;
	uint64_t last = 0;

	for (i = 0; i < slots; i += i < 4096 ? 1 : 997) {
		uint64_t gva = ub_gva_group(UB_GVA_NODE_MAX, i);

		expect(ub_gva_is_group(gva), "slot %u", i);
		expect(gva > last, "slot %u", i);
		expect(!ub_gva_range_ok(gva, 1), "slot %u", i);
		expect(ub_gva_node(gva) == UB_GVA_NODE_MAX, "slot %u", i);
		expect((ub_gva_off(gva) & (UB_GVA_GROUPS - 1)) >>
		       UB_GVA_GROUP_SHIFT == i, "slot %u", i);
		last = gva;
	}
	expect(!ub_gva_is_group(ub_gva(3, UB_GVA_GROUPS - 1)), "end of windows");
	ktap_done("group offsets are apart from windows and each other");
}

/* The same with 128 bits, where nothing wraps. */
static bool range_ref(uint64_t gva, uint64_t len)
{
	unsigned __int128 off = gva & UB_GVA_OFF_MASK;

	return gva < 1ULL << 63 && len && off >= UB_GVA_FIRST &&
	       off + len <= UB_GVA_GROUPS;
}

static bool inside_ref(uint64_t gva, uint64_t len, uint64_t start, uint64_t size)
{
	return gva >= start &&
	       (unsigned __int128)gva + len <= (unsigned __int128)start + size;
}

static uint64_t edgy(void)
{
	static const uint64_t at[] = { 0, UB_GVA_FIRST, UB_GVA_GROUPS,
		UB_GVA_OFF_MASK, 1ULL << 63, ~0ULL, 1ULL << 43, 5ULL << 43 };

	if (!below(4))
		return rnd() >> below(64);
	return at[below(8)] + (below(4) ? below(5) - 2ULL : rnd() >> below(64)) +
	       (below(2) ? UB_GVA_FIRST : 0);
}

static void ranges(void)
{
	uint32_t i, in = 0, ok = 0;

	for (i = 0; i < 2000000; i++) {
		uint64_t a = edgy(), b = edgy(), c = edgy(), d = edgy();

		if (!below(3))
			c = a - below(3);
		expect(ub_gva_range_ok(a, b) == range_ref(a, b), "%llx %llx",
		       (long long)a, (long long)b);
		expect(ub_gva_inside(a, b, c, d) == inside_ref(a, b, c, d),
		       "%llx %llx %llx %llx", (long long)a, (long long)b,
		       (long long)c, (long long)d);
		ok += range_ref(a, b);
		in += inside_ref(a, b, c, d);
	}
	expect(ok > 1000 && in > 1000, "%u %u: values too far out", ok, in);
	ktap_done("ranges agree with arithmetic that does not wrap");
}

int main(void)
{
	ktap_start(3);
	parts();
	groups();
	ranges();
	return ktap_end();
}

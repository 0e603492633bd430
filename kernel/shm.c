// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layout and header of the shared memory.
 *
 * Invariants:
 *  - The geometry follows from the size alone; numbers in the header are only
 *    compared with it.
 *  - Each word of the header has one value for ever once it is not 0, but the
 *    state word: initialisers that overlap set words from 0 by
 *    compare-and-swap, so doing it twice is harmless.
 *  - The generation never falls.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/sizes.h>
#include "ub.h"

/* First match wins. Slots are what metadata costs most for. */
static const struct ub_shm_tier {
	u64 size;
	u32 nodes, members, lines, slots, wins;
} tiers[] = {
	{ SZ_4G,	64, 256, 24, 1024, 16384 },
	{ SZ_1G,	16,  64, 16, 1024, 16384 },
	{ SZ_256M,	16,  64, 16,  256,  4096 },
	{ SZ_64M,	16,  64, 16,  128,  1024 },
	{ SZ_16M,	 8,  32, 16,   32,   256 },
	{ SZ_2M,	 4,  16, 12,    8,    64 },
};

/**
 * ub_shm_least() - the smallest memory that has a layout
 *
 * Context: any.
 * Return: bytes.
 */
u64 ub_shm_least(void)
{
	return tiers[ARRAY_SIZE(tiers) - 1].size;
}

/**
 * ub_shm_geometry() - where everything is in a memory of a given size
 * @size: bytes
 * @geo: gets the layout
 *
 * Context: any.
 * Return: 0, or -EINVAL when the memory is smaller than ub_shm_least().
 */
int ub_shm_geometry(u64 size, struct ub_shm_geo *geo)
{
	const struct ub_shm_tier *t;
	u64 off = UB_LAYOUT_PAGE;

	BUILD_BUG_ON(sizeof(struct ub_shm_header) > UB_LAYOUT_PAGE);
	BUILD_BUG_ON(tiers[0].nodes > UB_SHM_MAX_NODES);
	BUILD_BUG_ON(tiers[0].members > UB_GROUP_MEMBERS_MAX);
	BUILD_BUG_ON(sizeof(struct ub_shm_node) != 128);
	BUILD_BUG_ON(sizeof(struct ub_shm_window) != 128);

	for (t = tiers; size < t->size; t++)
		if (t == &tiers[ARRAY_SIZE(tiers) - 1])
			return -EINVAL;
	*geo = (struct ub_shm_geo){
		.size = size,
		.max_nodes = t->nodes,
		.max_wins = t->wins,
		.max_members = t->members,
		.max_lines = t->lines,
		.nslots = t->slots,
		.rec_stride = ub_slot_stride(t->members),
		.map_size = ub_group_map_size(t->members, t->lines),
	};
	geo->nodes_off = off;
	off += ub_page_up((u64)t->nodes * sizeof(struct ub_shm_node));
	geo->wins_off = off;
	off += ub_page_up((u64)t->nodes * t->wins * sizeof(struct ub_shm_window));
	geo->recs_off = off;
	off += ub_page_up((u64)t->slots * geo->rec_stride);
	geo->pages_off = off;
	off += t->slots * geo->map_size;
	geo->slice_off = ALIGN(off, UB_GVA_ALIGN);
	geo->slice_size = (size - geo->slice_off) / t->nodes & ~(UB_GVA_ALIGN - 1);
	geo->slice_stride = geo->slice_size;
	return 0;
}
EXPORT_SYMBOL_GPL(ub_shm_geometry);

/**
 * ub_shm_one_slice() - all that records leave of the memory is the own slice
 * @geo: the layout
 *
 * Context: any.
 */
void ub_shm_one_slice(struct ub_shm_geo *geo)
{
	geo->slice_size = (geo->size - geo->slice_off) & ~(UB_GVA_ALIGN - 1);
	geo->slice_stride = 0;
}

/* Set a word that is 0 until somebody initialises it. */
static void shm_set_once(u64 *word, u64 value)
{
	ub_cas(word, 0ULL, value);
}

static void shm_init(struct ub_fabric *f)
{
	struct ub_shm_header *h = ub_shm_hdr(f);
	u64 r[4];

	get_random_bytes(r, sizeof(r));
	shm_set_once(&h->layout, UB_LAYOUT_VERSION);
	shm_set_once(&h->size, f->geo.size);
	shm_set_once(&h->fabric[0], r[0] | 1);
	shm_set_once(&h->fabric[1], r[1] | 1);
	shm_set_once(&h->key[0], r[2] | 1);
	shm_set_once(&h->key[1], r[3] | 1);
	shm_set_once(&h->magic, UB_SHM_MAGIC);
}

/* The header is READY: is it one that this kernel knows? */
static int shm_verify(struct ub_fabric *f, u64 state)
{
	struct ub_shm_header *h = ub_shm_hdr(f);
	u64 magic = ub_ld(&h->magic), layout = ub_ld(&h->layout);
	u64 size = ub_ld(&h->size);

	if (magic != UB_SHM_MAGIC) {
		dev_err(&f->dev, "memory holds something else: magic %#llx, not %#llx\n",
			magic, UB_SHM_MAGIC);
		return -EMEDIUMTYPE;
	}
	if (layout != UB_LAYOUT_VERSION) {
		dev_err(&f->dev, "memory has layout %llu, this module knows %d\n",
			layout, UB_LAYOUT_VERSION);
		return -EMEDIUMTYPE;
	}
	if (size != f->geo.size) {
		dev_err(&f->dev, "memory was laid out for %llu bytes, this device has %llu\n",
			size, f->geo.size);
		return -EMEDIUMTYPE;
	}
	f->fabric_id[0] = ub_ld(&h->fabric[0]);
	f->fabric_id[1] = ub_ld(&h->fabric[1]);
	f->key[0] = ub_ld(&h->key[0]);
	f->key[1] = ub_ld(&h->key[1]);
	f->generation = UB_SHM_NONCE(state);
	return 0;
}

/* Become the initialiser, from state word @old. */
static void shm_claim(struct ub_fabric *f, u64 old)
{
	struct ub_shm_header *h = ub_shm_hdr(f);
	u64 mine = UB_SHM_WORD(UB_SHM_INITIALISING, get_random_u64() | 1);

	if (ub_cas(&h->state, old, mine) != old)
		return;
	shm_init(f);
	ub_cas(&h->state, mine, UB_SHM_WORD(UB_SHM_READY, 1));
}

/**
 * ub_shm_open() - initialise the header, or check one that is there
 * @f: the fabric; its geometry is set
 *
 * Fills in the fabric's id, key and generation. Another node that initialises
 * is given the detection time; then its work is taken over.
 *
 * Context: may sleep; no locks.
 * Return: 0; -EMEDIUMTYPE when the memory is not ours, with a message;
 *	-ETIMEDOUT when others keep initialising; -ESHUTDOWN when the fabric is
 *	about to be unregistered; -EINTR when killed.
 */
int ub_shm_open(struct ub_fabric *f)
{
	struct ub_shm_header *h = ub_shm_hdr(f);
	ktime_t start = ktime_get(), since = start;
	u64 seen = 0;

	while (ktime_ms_delta(ktime_get(), start) < 10LL * READ_ONCE(f->detect_ms)) {
		u64 s = ub_ld(&h->state);

		int err = ub_join_ends(f);

		if (err)
			return err;
		switch (UB_SHM_STATE(s)) {
		case UB_SHM_READY:
			return shm_verify(f, s);
		case UB_SHM_FRESH:
			if (s || (ub_ld(&h->magic) &&
				  ub_ld(&h->magic) != UB_SHM_MAGIC)) {
				dev_err(&f->dev, "memory holds something else: state %#llx, magic %#llx\n",
					s, ub_ld(&h->magic));
				return -EMEDIUMTYPE;
			}
			shm_claim(f, s);
			continue;
		case UB_SHM_INITIALISING:
			if (s != seen) {
				seen = s;
				since = ktime_get();
			} else if (ktime_ms_delta(ktime_get(), since) >
				   READ_ONCE(f->detect_ms)) {
				dev_warn(&f->dev, "whoever initialised the memory stopped; taking over\n");
				shm_claim(f, s);
			}
			break;
		default:
			dev_err(&f->dev, "unknown header state %#llx\n", s);
			return -EMEDIUMTYPE;
		}
		usleep_range(1000, 2000);
	}
	return -ETIMEDOUT;
}

/**
 * ub_shm_raise() - begin a new generation: all nodes seen are silent
 * @f: the fabric, opened
 *
 * Context: any.
 * Return: true when this call raised it.
 */
bool ub_shm_raise(struct ub_fabric *f)
{
	u64 old = UB_SHM_WORD(UB_SHM_READY, f->generation);
	u64 new = UB_SHM_WORD(UB_SHM_READY, f->generation + 1);

	return ub_cas(&ub_shm_hdr(f)->state, old, new) == old;
}

/**
 * ub_shm_current() - is the fabric still of the generation that was opened
 * @f: the fabric
 *
 * Context: any.
 * Return: true when it is.
 */
bool ub_shm_current(struct ub_fabric *f)
{
	return ub_ld(&ub_shm_hdr(f)->state) ==
	       UB_SHM_WORD(UB_SHM_READY, f->generation);
}

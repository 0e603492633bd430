// SPDX-License-Identifier: GPL-2.0-only
/*
 * The explorer's program of window.c, slice.c and attach.c: a home makes a
 * window, rotates it twice, the second time to other memory, destroys it and
 * makes one of its whole slice, while a peer attaches each state of it and
 * touches it, or puts and gets (prog->xfer). prog->suspect says which of the two may
 * crash; its node then joins again, and what it had lent, or borrowed, is given out
 * once more.
 *
 * Invariant that is checked wherever window memory is written to (shim_given):
 * no process of any node has it mapped as something else.
 */
#include "explore_node.h"

#define HOME		0
#define PEER		1
#define AGAIN		2	/* the next life of who crashed */
#define MARK		0x3141592653589793ULL
#define STATES		3

/* What the home has told the peer. */
static struct ub_win_desc desc;
static u64 token[2];
static int placement;		/* of the memory that the window has now */
static int offered;		/* its placement */
static int offers, taken;
static int begun;
static bool joined_again;

/* Generation from before which no use may begin: rotated or destroyed. */
static u64 ended;
static int changes;		/* odd while the home changes the window */
static u64 have;		/* generation that the peer attached last */
static u64 value, sum;		/* what the peer knows of it, */
static bool known;		/* if no put can have been lost in a change */

void windows_start(void)
{
	int i;

	nodes_start(3, UNITS);
	begun = 0;
	offers = 0;
	taken = 0;
	ended = 0;
	changes = 0;
	have = 0;
	placement = 0;
	value = 0;
	known = false;
	joined_again = false;
	daemon_co[APP(AGAIN)] = true;
	for (i = 0; i < nco; i++)
		may_crash[i] = LIFE(i) == prog->suspect - 1;
	quiet = true;
}

static struct ub_window *own(int l, u32 id)
{
	return life[l].f->windows.e[id];
}

static u64 *word_of(int l, u32 id)
{
	struct ub_fabric *f = life[l].f;

	return f->mem + f->geo.slice_off + f->self * f->geo.slice_size +
	       own(l, id)->unit * UB_GVA_ALIGN;
}

static void check_zero(int l, u32 id, u64 length)
{
	const u64 *w = word_of(l, id);
	u64 i;

	for (i = 0; i < length / sizeof(*w); i += i < 4 ? 1 : 508)
		if (w[i])
			fail("life %d: a new window holds %llx", l, w[i]);
}

/* Make a window; it must be zero, and nobody's but ours. */
static int make(int l, u32 units, struct ub_win_create *arg)
{
	int err;

	*arg = (struct ub_win_create){
		.length = units * UB_GVA_ALIGN, .rights = UB_WIN_RIGHTS,
	};
	err = ub_win_create(life[l].file, arg);
	if (err)
		return err;
	check_zero(l, arg->out_desc.window, arg->length);
	life[l].placement = ++placement;
	err = node_touch(arg->out_desc.gva);
	if (err)
		fail("life %d: its own new window: %d", l, err);
	return 0;
}

/* All of the slice, again and again while somebody may still hold some of it. */
static void make_all(int l)
{
	struct ub_win_create arg;
	int err, tries;

	for (tries = 0; tries < 20; tries++) {
		bool excuse = life[PEER].dead && !joined_again;

		err = make(l, UNITS, &arg);
		if (!err && prog->xfer) {	/* no late put may arrive */
			fsleep(ub_detect_ms * 1000);
			check_zero(l, arg.out_desc.window, arg.length);
		}
		if (!err)
			return;
		if (err != -ENOSPC || !excuse)
			break;
		fsleep(ub_detect_ms * 1000);
	}
	fail("life %d: no room for a window: %d", l, err);
}

/* The peer is told, and given the time to take it. */
static void offer(const struct ub_win_desc *d, const u64 *t)
{
	desc = *d;
	token[0] = t[0];
	token[1] = t[1];
	offered = placement;
	offers++;
	shim_wake(&offers);
	while (prog->n > 1 && taken < offers && !life[PEER].dead)
		shim_wait(&taken, shim_now + 10 * SHIM_MS);
}

static void rotate(struct ub_win_create *made, u32 flags)
{
	struct ub_win_id arg = {
		.flags = flags, .window = made->out_desc.window,
	};
	struct ub_fabric *f = life[HOME].f;
	int err = ub_file_enter(life[HOME].file);

	changes++;
	if (!err) {
		err = ub_win_rotate(life[HOME].file, &arg);
		ub_fabric_exit(f);
	}
	if (err)
		fail("rotating: %d", err);
	ended = arg.out_generation;
	changes++;
	made->out_desc.generation = arg.out_generation;
	if (*word_of(HOME, arg.window) != MARK)
		fail("a rotated window lost what it held");
	if (flags & UB_ROTATE_FRESH)
		life[HOME].placement = ++placement;
	err = node_touch(made->out_desc.gva);
	if (err)
		fail("own rotated window: %d", err);
	offer(&made->out_desc, arg.out_token);
}

static void home(void)
{
	struct ub_win_create made;
	struct ub_win_id id = { 0 };
	int err = make(HOME, 1, &made);

	if (err)
		fail("making a window: %d", err);
	*word_of(HOME, made.out_desc.window) = MARK;
	offer(&made.out_desc, made.out_token);
	rotate(&made, 0);
	rotate(&made, UB_ROTATE_FRESH);
	id.window = made.out_desc.window;
	changes++;
	err = ub_file_enter(life[HOME].file);
	if (!err) {
		err = ub_win_destroy(life[HOME].file, &id);
		ub_fabric_exit(life[HOME].f);
	}
	if (err)
		fail("destroying: %d", err);
	ended = ~0ULL;
	make_all(HOME);
}

static int attach(const struct ub_win_desc *d, u64 t0, u64 t1)
{
	struct ub_win_attach arg = {
		.desc = *d, .token = { t0, t1 }, .rights = UB_WIN_RIGHTS,
	};
	int err = ub_file_enter(life[PEER].file);

	if (err)
		return err;
	err = ub_win_attach(life[PEER].file, &arg);
	ub_fabric_exit(life[PEER].f);
	return err;
}

static struct shim_map *map_of(int l, u64 gva)
{
	int i;

	for (i = 0; i < MAPS; i++)
		if (life[l].map[i].on && life[l].map[i].gva == gva)
			return &life[l].map[i];
	return NULL;
}

/* Must it be there: nothing changed since @from, and the home lives? */
static bool stands(const struct ub_win_desc *d, int from)
{
	return d->generation >= ended && changes == from && !(from & 1) &&
	       !life[HOME].dead;
}

/* Touch it: 0, or the errno of the SIGBUS. */
static int load(const struct ub_win_desc *d)
{
	bool fresh = !map_of(PEER, d->gva);
	int err = node_touch(d->gva);

	if (!err && fresh && map_of(PEER, d->gva) &&
	    *(u64 *)(arena + map_of(PEER, d->gva)->off) != MARK)
		fail("touched something else: %llx",
		     *(u64 *)(arena + map_of(PEER, d->gva)->off));
	return err;
}

/* Put, add and get: the same. */
static int put_and_get(const struct ub_win_desc *d, int from)
{
	u64 word[3] = { 0 }, was = 0, over = ended;
	int err = node_use(d->gva, ++value, word, &was);

	if (err || !stands(d, from)) {
		if (!err && d->generation < over)
			fail("used generation %llu, which had ended", d->generation);
		known = false;
		return err;
	}
	if (word[0] != MARK || word[1] != value || word[2] != was + 1)
		fail("got %llx, %llx after %llx was put, %llx after 1 was added to %llx",
		     word[0], word[1], value, word[2], was);
	if (known && was != sum)
		fail("an atomic is lost: %llx, not %llx", was, sum);
	known = true;
	sum = word[2];
	return 0;
}

/* One state of the window: attach it, and use it if it still stands. */
static void take(const struct ub_win_desc *d, const u64 t[2])
{
	const u64 over = ended;
	const int from = changes;
	int err;

	err = attach(d, t[0] ^ 1, t[1]);
	if (!err)
		fail("attached with a wrong token");
	err = attach(d, t[0], t[1]);
	if (err == -EEXIST && have == d->generation)
		err = 0;
	else if (err == -EEXIST)
		fail("attaching: what it had of generation %llu stands", have);
	if (!err && d->generation < over)
		fail("attached generation %llu, which had ended", d->generation);
	if (err && err != -ESTALE && err != -EOWNERDEAD)
		fail("attaching: %d", err);
	if (err && stands(d, from))
		fail("attaching generation %llu, which stands: %d",
		     d->generation, err);
	if (err)
		return;
	have = d->generation;
	err = prog->xfer ? put_and_get(d, from) : load(d);
	if (err && stands(d, from))
		fail("using generation %llu, which stands: %d", d->generation, err);
}

/* Each state twice: while the home stands still, and while it goes on. */
static void peer(void)
{
	while (taken < STATES) {
		struct ub_win_desc d;
		u64 t[2];

		while (offers == taken && !life[HOME].dead)
			shim_wait(&offers, shim_now + 10 * SHIM_MS);
		if (offers == taken)
			return;
		d = desc;
		life[PEER].placement = offered;
		t[0] = token[0];
		t[1] = token[1];
		take(&d, t);
		taken = offers;
		shim_wake(&taken);
		take(&d, t);
	}
}

/* The next life of who crashed. */
static void again(void)
{
	int who = prog->suspect - 1, err;

	while (!life[who].dead)
		shim_wait(&life[who], SHIM_NEVER);
	daemon_co[APP(AGAIN)] = false;
	err = node_join(who);
	if (err)
		fail("joining again: %d", err);
	joined_again = true;
	if (who == HOME)
		make_all(AGAIN);
}

void windows_node(int l)
{
	if (l == AGAIN) {
		if (prog->suspect)
			again();
		return;
	}
	if (l >= prog->n)
		return;
	while (begun != l)
		shim_wait(&begun, SHIM_NEVER);
	if (node_join(l))
		fail("node %d cannot join", l);
	meet_at(&begun, prog->n);
	quiet = false;
	if (l == HOME)
		home();
	else
		peer();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes for the explorer: the clock, and what the files of kernel/ that are
 * compiled into it need of those that are not (fabric.c, mmap.c, event.c).
 */
#include "explore_node.h"

#define ARENA		(4U << 20)
#define SHIM_LONG	(30ULL * 1000 * NSEC_PER_MSEC)

struct life life[LIVES];
u64 shim_now;
static u64 wake_at[2 * LIVES];
static const void *waits_on[2 * LIVES];
static char heap[ARENA] __attribute__((aligned(64)));
static size_t heap_used;
static u64 random_state;
static int slept;		/* times that a node stood still while it joined */
static struct ub_shm_geo geo;

unsigned int ub_detect_ms = 40;
bool ub_test_hooks;

/* ---- time and memory ---- */

void shim_wait(const void *on, u64 until)
{
	int me = self();

	waits_on[me] = on;
	wake_at[me] = until;
	block();
	waits_on[me] = NULL;
	wake_at[me] = SHIM_NEVER;
}

void shim_wake(const void *on)
{
	int i;

	for (i = 0; i < nco; i++)
		if (waits_on[i] == on)
			wake(i);
}

static void pass_time(u64 until)
{
	int i;

	shim_now = max(shim_now, until);
	for (i = 0; i < nco; i++)
		if (state[i] == BLOCKED && wake_at[i] <= shim_now)
			wake(i);
}

/*
 * A tick may come in the middle of anything. But no time passes while one that
 * is due has not run to its end, nor while a node joins that could go on: one that
 * lives must not be taken for dead.
 */
bool nodes_timer(int co, bool fire)
{
	int i;

	if (!(co & 1) || wake_at[co] == SHIM_NEVER)
		return false;
	for (i = 0; i < nco; i += 2)
		if (state[i] == READY && life[LIFE(i)].joining)
			return false;
	for (i = 1; i < nco; i += 2)
		if (state[i] == READY ||
		    (state[i] == BLOCKED && (wake_at[i] < wake_at[co] ||
					     waits_on[i] != &life[LIFE(i)].f->tick)))
			return false;
	if (fire)
		pass_time(wake_at[co]);
	return true;
}

bool nodes_idle(void)
{
	u64 next = SHIM_NEVER;
	bool busy = false;
	int i;

	for (i = 0; i < nco; i++) {
		if (state[i] != BLOCKED)
			continue;
		busy |= !daemon_co[i];
		next = min(next, wake_at[i]);
	}
	if (!busy || next == SHIM_NEVER || shim_now > SHIM_LONG)
		return false;
	pass_time(next);
	return true;
}

void *shim_alloc(size_t size)
{
	void *p = heap + heap_used;

	heap_used += ALIGN(size, 64);
	if (heap_used > ARENA)
		abort();
	memset(p, 0, size);
	return p;
}

u64 shim_hash(u64 seed, const void *p, size_t n)
{
	const unsigned char *c = p;
	u64 h = 0xcbf29ce484222325ULL ^ seed * 0x9e3779b97f4a7c15ULL;

	for (; n; n--)
		h = (h ^ *c++) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

u64 shim_random(void)
{
	random_state++;
	return shim_hash(1, &random_state, sizeof(random_state));
}

/* Window memory is written to: has somebody that works it mapped as another's? */
static void given(const void *p, size_t n)
{
	u64 off = (const char *)p - arena;
	int l, i;

	if ((const char *)p < arena || off < geo.slice_off || off >= geo.size)
		return;
	for (l = 0; l < LIVES; l++)
		for (i = 0; life[l].f && i < MAPS; i++) {
			const struct shim_map *m = &life[l].map[i];

			if (m->on && !life[l].dead && off < m->off + m->len &&
			    m->off < off + n)
				fail("memory at %llx is given out, life %d has it mapped",
				     off, l);
		}
}

void shim_clear(void *p, size_t n)
{
	given(p, n);
	explore_memset(p, 0, n);
	given(p, n);
}

#undef memcpy
void *shim_copy(void *to, const void *from, size_t n)
{
	given(to, n);
	return memcpy(to, from, n);
}

/* What a process of this node has mapped of its own slice is not free. */
static void check_own(const struct life *l)
{
	const struct ub_fabric *f = l->f;
	u64 start = f->geo.slice_off + f->self * f->geo.slice_size, u;
	int i;

	for (i = 0; i < MAPS; i++) {
		const struct shim_map *m = &l->map[i];

		if (!m->on || m->off < start || m->off >= start + f->geo.slice_size)
			continue;
		for (u = 0; u < m->len; u += UB_GVA_ALIGN)
			if (!shim_bit(f->slice_map, (m->off - start + u) / UB_GVA_ALIGN))
				fail("memory at %llx is free, its own node has it mapped",
				     m->off + u);
	}
}

/* ---- what is not compiled in ---- */

static struct life *mine(void)
{
	return &life[LIFE(self())];
}

void ub_mmap_zap(struct ub_fabric *f, u64 gva, u64 len)
{
	int l, i;

	for (l = 0; l < LIVES; l++)
		for (i = 0; life[l].f == f && i < MAPS; i++) {
			struct shim_map *m = &life[l].map[i];

			if (m->on && gva < m->gva + m->len && m->gva < gva + len)
				m->on = false;
		}
}

void ub_mmap_revoke(struct ub_fabric *f, u64 gva, u64 len)
{
	down_write(&f->map_sem);
	ub_mmap_zap(f, gva, len);
	up_write(&f->map_sem);
}

void ub_mmap_revoke_all(struct ub_fabric *f)
{
	ub_mmap_revoke(f, 0, ~0ULL >> 1);
}

int ub_fabric_enter_now(struct ub_fabric *f)
{
	down_read(&f->state_sem);
	if (f->state == UB_FABRIC_UP)
		return 0;
	up_read(&f->state_sem);
	return -ESHUTDOWN;
}

int ub_fabric_enter(struct ub_fabric *f)
{
	return ub_fabric_enter_now(f);
}

void ub_fabric_exit(struct ub_fabric *f)
{
	up_read(&f->state_sem);
}

int ub_file_enter(struct ub_file *file)
{
	int err = ub_fabric_enter(file->fabric);

	if (!err && file->fabric->incarnation != file->node_incarnation) {
		ub_fabric_exit(file->fabric);
		err = -ESHUTDOWN;
	}
	return err;
}

static void set_state(struct ub_fabric *f, enum ub_fabric_state s)
{
	down_write(&f->state_sem);
	f->state = s;
	up_write(&f->state_sem);
}

void ub_fabric_fenced(struct ub_fabric *f, u16 reason)
{
	if (f->state != UB_FABRIC_UP)
		return;
	/* Nobody here is ever late. */
	fail("node %u, incarnation %llu, was fenced, reason %u, and lives", f->node,
	     f->incarnation, reason);
	set_state(f, UB_FABRIC_FENCED);
	f->fence_reason = reason;
	ub_mmap_revoke_all(f);
	ub_bar_wake_local(f);
	wake_up_all(&f->win_wq);
}

void ub_fabric_requeue(struct ub_fabric *f, u32 delay_ms)
{
	if (f->tick.queued)
		return;
	f->tick.queued = true;
	f->tick.due = shim_now + delay_ms * SHIM_MS;
	shim_wake(&f->tick);
}

/* The interrupt, on another node. */
static void ring(struct ub_fabric *from, u64 bell)
{
	struct life *to = &life[bell - 1];

	(void)from;
	if (to->dead || to->f->state != UB_FABRIC_UP)
		return;
	ub_bar_wake_local(to->f);
	if (!ub_shm_node_rec(to->f, to->f->self)->poke)
		return;
	to->f->tick.queued = true;
	to->f->tick.due = shim_now;
	shim_wake(&to->f->tick);
}

/* Called by who has just claimed a record, which may then stand still for long. */
static u64 bell(struct ub_fabric *f)
{
	if (prog->slow && life[0].f == f && life[0].joining && !slept) {
		slept++;
		fsleep(ub_detect_ms * 1000 * 5);
	}
	return LIFE(self()) + 1;
}

static const struct ub_transport_ops shim_ops = {
	.name = "shim", .ring = ring, .bell = bell,
};

bool ub_lane_gone(struct ub_file *file)
{
	return !file;
}

void ub_lane_dead(struct ub_file *file) { (void)file; }
void ub_event_post(struct ub_file *file, const struct ub_event *ev)
{
	(void)file;
	(void)ev;
}

void ub_event_all(struct ub_fabric *f, const struct ub_event *ev)
{
	(void)f;
	(void)ev;
}

void ub_instant_tick(struct ub_fabric *f, bool begins) { (void)f; (void)begins; }
void ub_debug_group_add(struct ub_gmember *gm) { (void)gm; }
void ub_debug_group_del(struct ub_gmember *gm) { (void)gm; }
void ub_copied_flush_all(struct ub_copied *c) { (void)c; }
void ub_copied_release(struct ub_gmember *gm) { (void)gm; }
void ub_copied_flush(struct ub_copied *c, u64 gva, u64 len, bool drop)
{
	(void)c;
	(void)gva;
	(void)len;
	(void)drop;
}

int ub_copied_xfer(struct ub_file *file, const struct ub_xfer_op_desc *d, u64 *old)
{
	(void)file;
	(void)d;
	(void)old;
	return -EIO;
}

bool ub_copied_dead(struct ub_fabric *f, u64 gva, u64 generation)
{
	(void)f;
	(void)gva;
	(void)generation;
	return false;
}

u64 ub_copied_tell(struct ub_gmember *gm)
{
	(void)gm;
	return 0;
}

void ub_changed(int what);
void ub_changed(int what)
{
	(void)what;
}

/* ---- nodes ---- */

/* The layout of shm.c with next to nothing of each. */
static void lay_out(u32 nodes, u32 units)
{
	u64 off = UB_LAYOUT_PAGE;

	geo = (struct ub_shm_geo){
		.max_nodes = nodes, .max_wins = 6, .max_members = MAXN,
		.max_lines = 4, .nslots = 8,
		.rec_stride = ub_slot_stride(MAXN),
		.map_size = ub_group_map_size(MAXN, 4),
		.slice_size = units * UB_GVA_ALIGN,
	};
	geo.nodes_off = off;
	off += ub_page_up(nodes * sizeof(struct ub_shm_node));
	geo.wins_off = off;
	off += ub_page_up(nodes * geo.max_wins * sizeof(struct ub_shm_window));
	geo.recs_off = off;
	off += ub_page_up(geo.nslots * geo.rec_stride);
	geo.pages_off = off;
	off += geo.nslots * geo.map_size;
	geo.slice_off = ALIGN(off, UB_GVA_ALIGN);
	geo.size = geo.slice_off + nodes * geo.slice_size;
}

void nodes_start(int lives, u32 units)
{
	int i;

	lay_out(prog->n, units);
	arena_up(geo.size);
	shim_now = 1000 * SHIM_MS;
	heap_used = 0;
	random_state = 0;
	slept = 0;
	memset(life, 0, sizeof(life));
	nco = 2 * lives;
	for (i = 0; i < nco; i++) {
		waits_on[i] = NULL;
		wake_at[i] = SHIM_NEVER;
		may_crash[i] = true;
		daemon_co[i] = i & 1;
		if (!(i & 1))
			life[LIFE(i)].f = shim_alloc(sizeof(struct ub_fabric));
	}
}

static void fabric_init(struct ub_fabric *f, u32 node)
{
	f->ops = &shim_ops;
	f->node = node;
	f->mem = arena;
	f->geo = geo;
	f->slots = (struct ub_slots){
		.recs = arena + geo.recs_off, .pages = arena + geo.pages_off,
		.nslots = geo.nslots, .rec_stride = geo.rec_stride,
		.map_size = geo.map_size, .max_members = geo.max_members,
	};
	f->state = UB_FABRIC_GONE;
	f->self = geo.max_nodes;
	f->detect_ms = ub_detect_ms;
	f->period_ms = 10;
	f->peer = shim_alloc(geo.max_nodes * sizeof(*f->peer));
	f->slice_map = shim_alloc(UNITS * 8);
	f->slot_watch = shim_alloc(geo.nslots * sizeof(*f->slot_watch));
	f->stats = shim_alloc(sizeof(*f->stats));
	INIT_LIST_HEAD(&f->quarantine);
	INIT_LIST_HEAD(&f->files);
	INIT_LIST_HEAD(&f->members);
	INIT_LIST_HEAD(&f->sleepers);
}

int node_join(u32 node)
{
	struct life *l = mine();
	struct ub_file *file;
	int err;

	if (!l->f->mem)
		fabric_init(l->f, node);
	l->joining = true;
	err = ub_member_attach(l->f);
	if (err) {
		l->joining = false;
		return err;
	}
	file = shim_alloc(sizeof(*file));
	file->fabric = l->f;
	file->node_incarnation = l->f->incarnation;
	file->lane_incarnation = ++l->f->lane_incarnation.v;
	file->groups.first = 1;
	INIT_LIST_HEAD(&file->windows);
	list_add_tail(&file->fabric_node, &l->f->files);
	l->file = file;
	set_state(l->f, UB_FABRIC_UP);
	ub_fabric_requeue(l->f, 0);
	l->joining = false;
	return 0;
}

void node_leave(void)
{
	struct life *l = mine();
	bool up = l->f->state == UB_FABRIC_UP;

	set_state(l->f, UB_FABRIC_GONE);
	ub_mmap_revoke_all(l->f);
	if (up)
		ub_member_detach(l->f);
	ub_win_forget(l->f);
}

void nodes_crash(int co)
{
	int l = LIFE(co), i;

	life[l].dead = true;
	shim_wake(&life[l]);
	for (i = APP(l); i <= APP(l) + 1; i++) {
		if (state[i] == READY || state[i] == BLOCKED)
			state[i] = CRASHED;
		wake_at[i] = SHIM_NEVER;
	}
}

void node_die(void)
{
	nodes_crash(self());
	spin();		/* never to return */
}

bool node_works(int l)
{
	return !life[l].dead && life[l].f->state == UB_FABRIC_UP;
}

int node_touch(u64 gva)
{
	struct life *l = mine();
	struct ub_attachment *a;
	struct shim_map *m;
	int err, i;

	for (i = 0; i < MAPS; i++) {
		m = &l->map[i];
		if (m->on && gva >= m->gva && gva < m->gva + m->len)
			return 0;
	}
	err = ub_file_enter(l->file);
	if (err)
		return err;
	down_read(&l->f->map_sem);
	mutex_lock(&l->file->lock);
	a = ub_win_find(l->file, gva);
	err = a ? ub_win_check(l->f, a) : -ENOENT;
	ub_explore_point();	/* from the check to the use */
	for (i = 0; !err && i < MAPS; i++) {
		m = &l->map[i];
		if (m->on)
			continue;
		*m = (struct shim_map){ true, l->placement, a->at.gva, a->at.length,
					a->at.offset };
		break;
	}
	mutex_unlock(&l->file->lock);
	up_read(&l->f->map_sem);
	ub_fabric_exit(l->f);
	return err;
}

static void tick_body(struct ub_fabric *f)
{
	for (;;) {
		while (!f->tick.queued || shim_now < f->tick.due)
			shim_wait(&f->tick, f->tick.queued ? f->tick.due :
							     SHIM_NEVER);
		f->tick.queued = false;
		ub_member_tick(&f->tick.work);
		check_own(&life[LIFE(self())]);
	}
}

void nodes_body(int co)
{
	if (co & 1)
		tick_body(life[LIFE(co)].f);
	else
		prog->node(LIFE(co));
}

void meet_at(int *count, int n)
{
	++*count;
	shim_wake(count);
	while (*count < n)
		shim_wait(count, SHIM_NEVER);
}

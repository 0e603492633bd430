// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups on replicas: nodes that have a record and pages each and hear of each other
 * by tellings alone (told.c), over links that keep the order and break. Members make
 * the same group again and again, reduce, have mail, and now and then one leaves
 * early. Everything is random from a seed. Then tellings that a hostile node makes up.
 */
#include <errno.h>
#include "test.h"
#include "told.h"

#define NODES	4
#define MAXM	6
#define SLOTS	4
#define LIVES	6
#define QUEUE	4096
#define ID	0x123456789ULL
#define MAP	(8 * UB_LAYOUT_PAGE)

struct node {
	struct ub_slots t;
	char *mem;
};

struct queue {
	struct ub_told *msg;
	unsigned int head, tail;
};

enum state { MEET, WAIT, END };

struct actor {
	enum state state;
	unsigned int node, index, life;
	int slot;
	__u64 word;
	struct ub_bar bar;
};

static struct node node[NODES];
static struct queue link_of[NODES][NODES];
static struct actor actor[MAXM];
static unsigned int n, breaks, verdicts, others;
static bool early;
static uint64_t seed;

static uint64_t hash(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t x = (a * 31 + b) * 0x9e3779b97f4a7c15ULL + c;

	x ^= x >> 29;
	return x * 0xbf58476d1ce4e5b9ULL ^ x >> 32;
}

static unsigned int pick(unsigned int below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static __u64 inc_of(unsigned int i)
{
	return 1000 + i;
}

static void node_up(struct node *x)
{
	size_t recs = SLOTS * ub_slot_stride(MAXM), bytes = recs + SLOTS * MAP;

	free(x->mem);
	x->mem = calloc(1, bytes);
	if (!x->mem)
		abort();
	x->t = (struct ub_slots){ .recs = x->mem + SLOTS * MAP, .pages = x->mem,
				  .nslots = SLOTS, .rec_stride = ub_slot_stride(MAXM),
				  .map_size = MAP, .max_members = MAXM };
}

/* ---- links ---- */

static void push(unsigned int from, unsigned int to, const struct ub_told *told)
{
	struct queue *q = &link_of[from][to];

	if (q->tail - q->head == QUEUE)
		abort();
	q->msg[q->tail++ % QUEUE] = *told;
}

static void tell_one(unsigned int from, unsigned int to, unsigned int slot, __u64 word,
		     unsigned int index, unsigned int ask)
{
	struct ub_told told;

	if (!ub_told_read(&node[from].t, slot, word, index, &told) || told.node != from)
		return;
	if (!ub_told_there(&node[from].t, slot, word, to, inc_of(to), &told.yours))
		return;
	told.flags |= ask;
	push(from, to, &told);
}

static void tell(struct actor *a)
{
	unsigned int to;

	for (to = 0; to < NODES; to++)
		if (to != a->node)
			tell_one(a->node, to, a->slot, a->word, a->index, 0);
}

static void tell_members(unsigned int from, unsigned int to, unsigned int slot,
			 unsigned int ask)
{
	__u64 word = ub_slot_rec(&node[from].t, slot)->word;
	unsigned int i;

	if (UB_SLOT_STATE(word) != UB_SLOT_COMMITTED)
		return;
	for (i = 0; i < n; i++)
		tell_one(from, to, slot, word, i, ask);
}

static void deliver(unsigned int from, unsigned int to)
{
	struct queue *q = &link_of[from][to];
	__u64 clash = 0;
	struct ub_told told;
	__u32 slot = 0;
	int ret;

	if (q->head == q->tail)
		return;
	told = q->msg[q->head++ % QUEUE];
	told.node = from;
	told.node_inc = inc_of(from);
	ret = ub_told_store(&node[to].t, &told, &slot, &clash);
	expect(ret >= 0 || ret == -ENOENT, "%d", ret);
	if (ret >= 0 && (!told.yours || (told.flags & UB_TOLD_ASK)))
		tell_members(to, from, slot, 0);
}

/* All that is under way is lost; then both tell all, and ask. */
static void cut(unsigned int a, unsigned int b)
{
	unsigned int slot;

	link_of[a][b].head = link_of[a][b].tail;
	link_of[b][a].head = link_of[b][a].tail;
	for (slot = 0; slot < SLOTS; slot++) {
		tell_members(a, b, slot, UB_TOLD_ASK);
		tell_members(b, a, slot, UB_TOLD_ASK);
	}
}

/* ---- members ---- */

static unsigned int last_epoch(unsigned int life)
{
	return 1 + hash(1, life, n) % 7;
}

/* Who leaves early in a life, and after which epoch. */
static unsigned int leaver(unsigned int life)
{
	return early ? hash(2, life, n) % n : n;
}

static unsigned int leaves_at(unsigned int life)
{
	return 1 + hash(3, life, n) % last_epoch(life);
}

static __u32 op_of(unsigned int life, __u64 e)
{
	return 1 + hash(4, life, e) % (UB_RED_OPS - 1);
}

static __u64 value_of(unsigned int life, __u64 e, unsigned int i)
{
	return hash(life, e, i + 5);
}

static bool gone(void *ctx, const struct ub_slot_member *m, __u64 arrival)
{
	(void)ctx;
	return m && !m->who && (arrival & UB_ARR_FENCED);
}

static bool freer_gone(void *ctx, __u64 freer)
{
	(void)ctx;
	(void)freer;
	return false;
}

static void collect(unsigned int at)
{
	unsigned int slot;

	for (slot = 0; slot < SLOTS; slot++)
		ub_slots_collect(&node[at].t, slot, 1, gone, freer_gone, NULL);
}

static void meet(struct actor *a)
{
	const struct ub_slots *t = &node[a->node].t;
	struct ub_slot_member me = { .who = UB_WHO(0, a->node, a->index),
				     .node_inc = inc_of(a->node), .lane_inc = a->index };
	struct ub_grp g;
	__u64 clash = 0;
	int err;

	a->slot = ub_slots_claim(t, ID, &a->word);
	if (a->slot < 0) {
		collect(a->node);
		return;
	}
	err = ub_slots_join(t, a->slot, a->word, n, n, a->index, &me, &clash);
	if (err) {
		expect(err == -ESTALE || ub_slots_ending(t, a->slot, a->word), "%d", err);
		collect(a->node);
		return;
	}
	ub_grp_init(&g, ub_slot_pages(t, a->slot), n, MAXM, 0);
	ub_bar_init(&a->bar, &g, NULL, a->index, 0);
	expect(!ub_bar_arrive(&a->bar, UB_RED_NONE, 0, UB_AUX_LAST_MASK), "first");
	tell(a);
	a->state = WAIT;
}

static void leave(struct actor *a)
{
	const struct ub_slots *t = &node[a->node].t;

	ub_grp_fence(&a->bar.g, a->index, UB_REASON_LEFT);
	ub_slots_leave(t, a->slot, a->word, a->index);
	tell(a);
	collect(a->node);
	a->state = ++a->life == LIVES ? END : MEET;
}

static void check_done(struct actor *a)
{
	__u64 e = a->bar.epoch, v = value_of(a->life, e, 0);
	__u32 op = op_of(a->life, e), i, j;

	if (e == 1)
		return;
	for (i = 1; i < n; i++)
		v = ub_red_join(op, v, value_of(a->life, e, i));
	expect(a->bar.sum.full == v && !ub_bar_mixed(&a->bar), "life %u, epoch %llu",
	       a->life, (unsigned long long)e);
	for (i = 0; i < n; i++)
		for (j = 0; j < UB_MAILBOX_BYTES; j++)
			if (!expect(a->bar.g.mail[i].slot[e & 1][j] ==
				    (__u8)value_of(a->life, e, i * 1000 + j),
				    "mail of %u, life %u, epoch %llu", i, a->life,
				    (unsigned long long)e))
				return;
}

static void arrive(struct actor *a)
{
	__u64 e = a->bar.epoch + 1;
	unsigned int j;
	int err;

	for (j = 0; j < UB_MAILBOX_BYTES; j++)
		a->bar.g.mail[a->index].slot[e & 1][j] =
			value_of(a->life, e, a->index * 1000 + j);
	err = ub_bar_arrive(&a->bar, op_of(a->life, e), value_of(a->life, e, a->index),
			    UB_AUX_LAST_MASK);
	if (!err) {
		tell(a);
		return;
	}
	expect(err == -ESTALE && ub_bar_verdict(&a->bar, UB_EPOCH_MAX), "%d", err);
	verdicts++;
	others += UB_VERDICT_MEMBER(a->bar.verdict) != leaver(a->life);
	expect(early && a->bar.lost_epoch >= leaves_at(a->life) + 1, "lost");
	leave(a);
}

static void look(struct actor *a)
{
	enum ub_bar_state state = ub_bar_record(&a->bar);

	if (a->bar.wake) {
		a->bar.wake = false;
		tell(a);
	}
	if (state == UB_BAR_LOST) {
		verdicts++;
		others += UB_VERDICT_MEMBER(a->bar.verdict) != leaver(a->life);
		expect(early && a->bar.lost_epoch >= leaves_at(a->life) + 1,
		       "life %u: member %u, epoch %llu", a->life,
		       UB_VERDICT_MEMBER(a->bar.verdict),
		       (unsigned long long)a->bar.lost_epoch);
		leave(a);
	} else if (state == UB_BAR_DONE) {
		check_done(a);
		if (a->bar.epoch == last_epoch(a->life) ||
		    (a->index == leaver(a->life) &&
		     a->bar.epoch == leaves_at(a->life)))
			leave(a);
		else
			arrive(a);
	}
}

static void step(struct actor *a)
{
	if (a->state == MEET)
		meet(a);
	else if (a->state == WAIT)
		look(a);
}

static bool all_over(void)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (actor[i].state != END)
			return false;
	return true;
}

static void run(uint64_t from)
{
	unsigned int i, j, steps;

	seed = from * 7919 + 1;
	n = 2 + pick(MAXM - 1);
	breaks = pick(3) ? 200 : 0;
	early = pick(2);
	for (i = 0; i < NODES; i++) {
		node_up(&node[i]);
		for (j = 0; j < NODES; j++)
			link_of[i][j].head = link_of[i][j].tail = 0;
	}
	for (i = 0; i < n; i++)
		actor[i] = (struct actor){ .node = pick(NODES), .index = i };
	for (steps = 0; steps < 400000 && !all_over() && !bad; steps++) {
		i = pick(NODES);
		j = pick(NODES);
		if (pick(3))
			deliver(i, j);
		else
			step(&actor[pick(n)]);
		if (breaks && i != j && !pick(breaks))
			cut(i, j);
	}
	expect(all_over(), "a hang: seed %llu, %u members", (unsigned long long)from, n);
	/* What is under way comes; then nothing is left of it. */
	for (steps = 0; steps < 4000; steps++)
		deliver(pick(NODES), pick(NODES));
	for (i = 0; i < NODES; i++) {
		collect(i);
		for (j = 0; j < SLOTS; j++)
			expect(UB_SLOT_STATE(ub_slot_rec(&node[i].t, j)->word) ==
			       UB_SLOT_FREE, "slot %u of node %u: seed %llu", j, i,
			       (unsigned long long)from);
	}
}

static void random_runs(void)
{
	uint64_t i;

	for (i = 1; i <= 4000 && !bad; i++)
		run(i);
	expect(verdicts > 1000 && others * 100 < verdicts, "the leaver is named");
	printf("# %u verdicts, %u of them name one that gave up\n", verdicts, others);
	ktap_done("lives of a group on four nodes, 4000 seeds");
}

/* ---- nonsense ---- */

/* A group of three, of which member 0 is here and 1 elsewhere. */
static __u64 three_up(struct ub_grp *g)
{
	struct ub_slot_member me = { .who = UB_WHO(0, 0, 0), .node_inc = inc_of(0) };
	__u64 word, clash;

	n = 3;
	node_up(&node[0]);
	if (ub_slots_claim(&node[0].t, ID, &word) ||
	    ub_slots_join(&node[0].t, 0, word, n, n, 0, &me, &clash))
		abort();
	ub_grp_init(g, ub_slot_pages(&node[0].t, 0), n, MAXM, 0);
	return word;
}

static struct ub_told of_member(unsigned int i)
{
	return (struct ub_told){ .id = ID, .theirs = UB_PLACE(0, 1ULL << UB_SLOT_ID_BITS),
				 .shape = n, .n = n, .index = i, .node = i,
				 .node_inc = inc_of(i) };
}

static int store(const struct ub_told *told)
{
	__u64 clash;
	__u32 slot;

	return ub_told_store(&node[0].t, told, &slot, &clash);
}

static void refusals(void)
{
	struct ub_told t;
	struct ub_grp g;
	__u64 word = three_up(&g);

	t = of_member(1);
	t.yours = UB_PLACE(0, word + (1ULL << UB_SLOT_ID_BITS));
	expect(store(&t) == -ENOENT, "another life here");
	t.yours = UB_PLACE(SLOTS, word);
	expect(store(&t) == -ENOENT, "no such slot");
	t = of_member(1);
	t.flags = UB_TOLD_LEFT;
	expect(store(&t) == -ENOENT, "who left joins nothing");
	t = of_member(1);
	t.n = 4;
	expect(store(&t) == -EINVAL, "other number");
	t = of_member(0);
	t.node = 1;
	expect(store(&t) == -EEXIST, "taken by the own one");
	t = of_member(1);
	t.arrival = 1;
	expect(store(&t) == 0 && g.line[1].arrival == 1, "joined");
	t.arrival = 4;
	expect(store(&t) == -EPROTO && g.line[1].arrival == 1, "too far ahead");
	t.arrival = 3;
	expect(store(&t) == 0 && g.line[1].arrival == 3, "two ahead");
	t.arrival = 2;
	t.mail.slot[0][0] = 7;
	expect(store(&t) >= 0 && g.line[1].arrival == 3 && !g.mail[1].slot[0][0], "old news");
	t.node = 2;
	expect(store(&t) == -EEXIST && !g.mail[1].slot[0][0], "another node's member");
	t = of_member(1);
	t.lane = 1;
	expect(store(&t) == -EPROTO, "another lane");
	t = of_member(1);
	t.verdict = UB_VERDICT(7, UB_REASON_EXIT);
	expect(store(&t) == -EPROTO, "verdict on nobody");
	t = of_member(2);
	t.arrival = 1;
	expect(store(&t) == 0, "the third");
	t.verdict = UB_VERDICT(1, UB_REASON_EXIT);
	t.lost_epoch = 3;
	expect(store(&t) == 1 && g.line[1].arrival == 3 &&
	       g.line[2].arrival == (UB_ARR_FENCED | 1), "it arrived: the teller is lost");
	t = of_member(1);
	t.theirs += 1;
	expect(store(&t) == 1 && (g.line[1].arrival & UB_ARR_FENCED) &&
	       ub_slots_ending(&node[0].t, 0, word), "a new life there ends this one");
	word = three_up(&g);
	ub_slots_leave(&node[0].t, 0, word, 0);
	t = of_member(1);
	expect(store(&t) == -ENOENT, "nobody here is in it any more");
	t.yours = UB_PLACE(0, word);
	expect(store(&t) >= 0, "it knew somebody here");
	ktap_done("what is refused");
}

static void refused_elsewhere(void)
{
	__u64 word, clash = 0;
	struct ub_grp g;

	word = three_up(&g);
	expect(!ub_told_refused(&node[0].t, ID + 1, UB_PLACE(0, word), -EEXIST, 1), "id");
	expect(!ub_told_refused(&node[0].t, ID, UB_PLACE(0, word), -EPERM, 1), "error");
	expect(!ub_told_clash(&node[0].t, 0, word, &clash), "none");
	expect(ub_told_refused(&node[0].t, ID, UB_PLACE(0, word), -EEXIST,
			       UB_WHO(9, 5, 2)), "refused");
	expect(ub_told_clash(&node[0].t, 0, word, &clash) == -EEXIST &&
	       UB_WHO_NODE(clash) == 5 && UB_WHO_LANE(clash) == 2, "by whom");
	word = three_up(&g);
	g.line[0].arrival = g.line[1].arrival = g.line[2].arrival = 1;
	expect(!ub_told_refused(&node[0].t, ID, UB_PLACE(0, word), -EEXIST, 1),
	       "a group that is made");
	word = three_up(&g);
	expect(ub_told_refused(&node[0].t, ID, UB_PLACE(0, word), -EINVAL,
			       UB_FORM(3, 12, 1)), "number");
	expect(ub_told_clash(&node[0].t, 0, word, &clash) == -EINVAL &&
	       UB_FORM_N(clash) == 12, "that number");
	ktap_done("refused elsewhere");
}

/* Whatever a member's node says, other nodes' words are only ever fenced. */
static void made_up(void)
{
	struct ub_grp g;
	unsigned int i;
	__u64 word = 0;

	for (i = 0; i < 200000 && !bad; i++) {
		struct ub_member_line own;
		struct ub_told t;

		if (i % 64 == 0) {
			seed = i + 1;
			word = three_up(&g);
			g.line[0].arrival = 5;
		}
		own = g.line[0];
		t = of_member(1);
		t.index = pick(9) ? 1 : pick(5);
		t.n = pick(9) ? 3 : pick(9);
		t.yours = pick(2) ? 0 : UB_PLACE(pick(3) ? 0 : pick(9), pick(9) ? word :
						 (__u64)pick(99) << UB_SLOT_ID_BITS);
		t.theirs = pick(9) ? t.theirs : hash(1, i, pick(999));
		t.flags = pick(4) ? 0 : pick(16);
		t.arrival = pick(3) ? pick(9) : hash(2, i, pick(999));
		t.verdict = pick(9) ? 0 : UB_VERDICT_VALID | hash(3, i, pick(999)) % 5;
		t.lost_epoch = pick(9);
		t.contrib[0].aux = t.contrib[1].aux = hash(4, i, 1);
		store(&t);
		expect((own.arrival | UB_ARR_FENCED) == (g.line[0].arrival | UB_ARR_FENCED) &&
		       !memcmp(own.contrib, g.line[0].contrib, sizeof(own.contrib)),
		       "own words, %u", i);
		expect(!(g.line[1].arrival & UB_ARR_SHRINKING), "shrinking");
	}
	ktap_done("made up");
}

int main(void)
{
	unsigned int i, j;

	for (i = 0; i < NODES; i++)
		for (j = 0; j < NODES; j++)
			link_of[i][j].msg = calloc(QUEUE, sizeof(struct ub_told));
	ktap_start(4);
	random_runs();
	refusals();
	refused_elsewhere();
	made_up();
	return ktap_end();
}

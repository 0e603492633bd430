// SPDX-License-Identifier: GPL-2.0-only
/*
 * The schedule: all flat groups to 64 members with 1 to 4 ports, and random
 * ragged trees to 512 members.
 *
 * For each, all members' schedules are built and held against each other, and
 * the rounds are run on sets of members: what each has proof of.
 */
#include "test.h"
#include "schedule.h"

#define MAXN	512

struct set { uint64_t w[MAXN / 64]; };

static struct ub_sched *sched[MAXN];
static struct set know[MAXN], *flag;
static uint32_t *writer, at[MAXN];	/* writer + 1 of [member][line] */
static bool sent[MAXN];
static size_t room;

static void set_bit_of(struct set *s, uint32_t i)
{
	s->w[i / 64] |= 1ULL << i % 64;
}

static bool has(const struct set *s, uint32_t i)
{
	return s->w[i / 64] >> i % 64 & 1;
}

/* ceil(log to the base k + 1 of r), by counting down. */
static uint32_t rounds_ref(uint32_t r, uint32_t k)
{
	uint32_t n = 0;

	for (; r > 1; r = (r + k) / (k + 1))
		n++;
	return n;
}

/* Who is below a vertex follows from the node ids, not from the schedule. */
static void check_tree(const uint32_t *node, uint32_t n, uint32_t me,
		       const struct ub_shape *shape)
{
	const struct ub_sched *s = sched[me];
	uint32_t level = shape->nlevels + 1, v = 0, i, j, c;

	while (level-- > 0) {
		const struct ub_vertex *vx = v < s->nvertices &&
			s->vertex[v].level == level ? &s->vertex[v] : NULL;
		uint32_t key = ub_level_key(shape, node[me], level), kids = 0;
		uint32_t below_it = 0;

		/* Children: distinct keys one level further in. */
		for (i = 0; i < n; i++) {
			if (ub_level_key(shape, node[i], level) != key)
				continue;
			below_it++;
			if (level == shape->nlevels) {
				kids++;
				continue;
			}
			for (j = 0; j < i; j++)
				if (ub_level_key(shape, node[i], level + 1) ==
				    ub_level_key(shape, node[j], level + 1))
					break;
			kids += j == i;
		}
		if (!expect(kids == (vx ? vx->r : 1), "level %u: %u", level, kids))
			return;
		if (!vx)
			continue;
		for (c = 0, j = 0; c < vx->r; c++)
			j += s->child[vx->child + c].size;
		expect(j == below_it, "level %u", level);
		v++;
	}
	expect(v == s->nvertices, "%u vertices", v);
}

static void check_member(uint32_t n, uint32_t me, const struct ub_shape *shape)
{
	const struct ub_sched *s = sched[me];
	uint32_t t, v, p, i, rounds = 0;

	expect(s->n == n && s->me == me && s->nlines == sched[0]->nlines, "%u", me);
	for (v = 0; v < s->nvertices; v++)
		rounds += rounds_ref(s->vertex[v].r,
				     shape->ports[s->vertex[v].level]);
	expect(rounds == s->nrounds, "member %u: %u rounds", me, s->nrounds);
	for (t = 0; t < s->nrounds; t++) {
		const struct ub_round *rd = &s->round[t];
		uint32_t k = shape->ports[s->vertex[rd->vertex].level];
		bool back = false;

		for (i = 0; i < rd->send[1]; i++)
			back |= rd->nports == 1 && i >= rd->send[0] &&
				s->send[i] == rd->from[0];
		/* Of a shared line's flags no part is read. */
		expect(!rd->mutual || (rd->last && rd->last_full &&
				       !rd->rest && !rd->digit), "member %u", me);
		expect(rd->nports >= 1 && rd->nports <= k, "member %u", me);
		expect(rd->line + k <= s->nlines, "member %u", me);
		expect(rd->mutual == back, "member %u round %u", me, t);
		for (p = 0; p < rd->nports; p++) {
			expect(rd->from[p] < n && rd->from[p] != me, "%u", me);
			for (i = rd->send[p]; i < rd->send[p + 1]; i++) {
				uint32_t *w;

				if (!expect(s->send[i] < n && s->send[i] != me,
					    "member %u", me))
					continue;
				w = &writer[s->send[i] * s->nlines + rd->line + p];
				expect(!*w, "two write line %u of %u",
				       rd->line + p, s->send[i]);
				*w = me + 1;
			}
		}
	}
}

/* Each line that a member waits on has the writer it expects, no other is written. */
static void check_lines(uint32_t n)
{
	uint32_t me, t, p, used, l;

	for (me = 0; me < n; me++) {
		const struct ub_sched *s = sched[me];

		for (used = 0, t = 0; t < s->nrounds; t++)
			for (p = 0; p < s->round[t].nports; p++, used++)
				expect(writer[me * s->nlines + s->round[t].line + p]
				       == s->round[t].from[p] + 1,
				       "member %u round %u port %u", me, t, p);
		for (l = 0; l < s->nlines; l++)
			used -= writer[me * s->nlines + l] != 0;
		expect(!used, "member %u: flags that nobody reads", me);
	}
}

static bool run_round(uint32_t me)
{
	const struct ub_sched *s = sched[me];
	const struct ub_round *rd = &s->round[at[me]];
	uint32_t p, i;

	if (!sent[me]) {
		for (p = 0; p < rd->nports; p++)
			for (i = rd->send[p]; i < rd->send[p + 1]; i++)
				flag[s->send[i] * s->nlines + rd->line + p] =
					know[me];
		sent[me] = true;
	}
	for (p = 0; p < rd->nports; p++)
		if (!flag[me * s->nlines + rd->line + p].w[0] &&
		    !memcmp(&flag[me * s->nlines + rd->line + p],
			    &(struct set){ 0 }, sizeof(struct set)))
			return false;
	for (p = 0; p < rd->nports; p++)
		for (i = 0; i < MAXN / 64; i++)
			know[me].w[i] |= flag[me * s->nlines + rd->line + p].w[i];
	sent[me] = false;
	at[me]++;
	if (rd->last) {
		const struct ub_vertex *v = &s->vertex[rd->vertex];
		const struct ub_child *c = &s->child[v->child];
		uint32_t end = c[v->r - 1].start + c[v->r - 1].size;

		for (i = c[0].start; i < end; i++)
			expect(has(&know[me], s->order[i]),
			       "member %u has no proof of %u", me, s->order[i]);
	}
	return true;
}

/* Run all rounds; the member @late arrives when nothing moves without it. */
static void propagate(uint32_t n, uint32_t late)
{
	bool arrived = false, moved = true;
	uint32_t me, i;

	memset(flag, 0, (size_t)n * sched[0]->nlines * sizeof(*flag));
	memset(know, 0, sizeof(know));
	memset(at, 0, sizeof(at));
	memset(sent, 0, sizeof(sent));
	for (me = 0; me < n; me++)
		set_bit_of(&know[me], me);
	while (moved || !arrived) {
		if (!moved)
			arrived = true;
		moved = false;
		for (me = 0; me < n; me++) {
			if (me == late && !arrived)
				continue;
			while (at[me] < sched[me]->nrounds && run_round(me))
				moved = true;
			expect(at[me] < sched[me]->nrounds || arrived,
			       "member %u done before %u arrived", me, late);
		}
	}
	for (me = 0; me < n; me++) {
		expect(at[me] == sched[me]->nrounds, "member %u hangs", me);
		for (i = 0; i < n; i++)
			expect(has(&know[me], i), "%u of %u", i, me);
	}
}

static void check_group(const uint32_t *node, uint32_t n,
			const struct ub_shape *shape)
{
	unsigned int before = bad;
	uint32_t me, i;
	size_t need;

	for (me = 0; me < n; me++) {
		sched[me] = ub_sched_build(node, n, me, shape);
		if (!expect(sched[me], "member %u of %u", me, n))
			goto out;
	}
	need = (size_t)n * (sched[0]->nlines + 1);
	if (need > room) {
		room = need * 2;
		flag = realloc(flag, room * sizeof(*flag));
		writer = realloc(writer, room * sizeof(*writer));
		if (!flag || !writer)
			abort();
	}
	memset(writer, 0, need * sizeof(*writer));
	for (me = 0; me < n; me++)
		check_member(n, me, shape);
	for (i = 0; i < 3; i++)
		check_tree(node, n, below(n), shape);
	check_lines(n);
	propagate(n, below(n));
out:
	if (bad != before && before < 10)
		printf("# group of %u, %u levels\n", n, shape->nlevels);
	for (me = 0; me < n; me++) {
		ub_sched_free(sched[me]);
		sched[me] = NULL;
	}
}

static void arguments(void)
{
	struct ub_shape s = flat_of(1), big;
	uint32_t node[3] = { 1, 2, 3 }, far[2] = { 0, 1U << 19 }, i;

	expect(!ub_sched_build(node, 0, 0, NULL), "no member");
	expect(!ub_sched_build(node, 3, 3, NULL), "me out of range");
	expect(!ub_shape_check(&s), "flat");
	s.ports[0] = 0;
	expect(ub_shape_check(&s), "no port");
	s.ports[0] = UB_MAX_PORTS + 1;
	expect(ub_shape_check(&s), "too many ports");
	s = flat_of(1);
	s.ports[1] = 0;
	expect(ub_shape_check(&s), "no port for lanes");
	s = flat_of(1);
	s.nlevels = 0;
	expect(ub_shape_check(&s), "no level");
	memset(&s, 1, sizeof(s));
	s.nlevels = UB_SHAPE_LEVELS + 1;
	expect(ub_shape_check(&s), "too many levels");
	s.nlevels = ~0U;
	expect(ub_shape_check(&s), "too many levels");
	s.nlevels = UB_SHAPE_LEVELS;
	expect(!ub_shape_check(&s), "all levels");
	s.bits[3] = 7;
	expect(ub_shape_check(&s), "21 bits");
	s = flat_of(1);
	s.bits[0] = 19;
	expect(!ub_sched_build(far, 2, 0, &s), "members of two machines");
	for (i = 0; i < 4; i++) {	/* each field that steers is hashed */
		s = flat_of(2);
		big = s;
		if (i == 0)
			big.bits[0] = 19;
		if (i == 1)
			big.ports[0] = 3;
		if (i == 2)
			big.ports[1] = 3;
		if (i == 3)
			big = (struct ub_shape){ .nlevels = 2,
				.bits = { 10, 10 }, .ports = { 2, 2, 2 } };
		expect(ub_shape_hash(&s) != ub_shape_hash(&big), "field %u", i);
	}
	ktap_done("wrong arguments are refused, shapes are told apart");
}

int main(int argc, char **argv)
{
	uint32_t node[MAXN], n, k, i, most = 0;
	uint64_t members = 0;
	struct ub_shape shape;

	rng_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	ktap_start(4);
	arguments();
	for (n = 1; n <= 64; n++) {
		for (k = 1; k <= 4; k++) {
			shape = flat_of(k);
			for (i = 0; i < n; i++)
				node[i] = i;
			check_group(node, n, &shape);
		}
	}
	ktap_done("flat groups to 64, 1 to 4 ports");
	for (n = 1; n <= 64; n++) {
		for (k = 1; k <= UB_MAX_PORTS; k++) {
			shape = flat_of(k);
			for (i = 0; i < n; i++)
				node[i] = 77;
			check_group(node, n, &shape);
		}
	}
	ktap_done("lanes of one node to 64, 1 to 8 ports");
	for (i = 0; i < 1000; i++) {
		n = random_machine(&shape, node, i % 20 ? 100 : MAXN,
				   i % 4 ? 4 : UB_MAX_PORTS);
		members += n;
		most = n > most ? n : most;
		check_group(node, n, &shape);
	}
	printf("# %llu members in 1000 trees, largest %u\n",
	       (unsigned long long)members, most);
	ktap_done("1000 ragged trees");
	free(flag);
	free(writer);
	return ktap_end();
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random programs against an oracle. All processes draw the same numbers, so each
 * knows the calls of all; it makes its own, and compares its memory and its messages
 * with the oracle's after every superstep.
 */
#include "oracle.h"

#define STEPS	25

/* What a program is made of: calls in a step, and the weight of each kind. */
struct mix {
	int calls;
	int stores, puts, gets, sends, collectives;
};

static unsigned char real[MEM];		/* this process's memory */
static unsigned long shared, own;	/* generators: the same for all; of this process */
static int messages, seed_now, step_now;

static int draw(int below)
{
	return (int)bspt_random(&shared, below);
}

/* A slot that process @p can name: its address's newest. -1: none found. */
static int draw_slot(int p)
{
	int try, s;

	for (try = 0; try < 10 && nslots; try++) {
		s = draw(nslots);
		if (slots[s].usable && slots[s].at[p] >= 0 &&
		    newest_usable(p, slots[s].at[p]) == s)
			return s;
	}
	return -1;
}

static void do_store(int p)
{
	int at = draw(MEM), length = draw(MEM - at) % 40, seed = draw(100000);

	oracle_store(p, at, length, seed);
	if (p == ME)
		bspt_fill(real + at, length, seed);
}

/* A put or a get of no byte, with any other arguments. */
static void do_nothing(int p)
{
	int pid = draw(2 * PROCS) - PROCS, offset = draw(2000) - 1000, at = draw(MEM);

	if (p != ME)
		return;
	bsp_put((bsp_pid_t)pid, real + at, real + at, (bsp_size_t)offset, 0);
	bsp_get((bsp_pid_t)pid, NULL, (bsp_size_t)offset, NULL, 0);
}

/* Where to read or write of slot @s on process @to; 0 where there is nothing. */
static int draw_part(int s, int to, int *offset, int *length)
{
	if (s < 0 || slots[s].at[to] < 0 || slots[s].size[to] == 0)
		return 0;
	*offset = draw(4) ? draw(slots[s].size[to]) : 0;
	*length = slots[s].size[to] - *offset;
	if (draw(3))
		*length = 1 + draw(*length);
	return 1;
}

static void do_put(int p)
{
	int s = draw_slot(p), to = draw(NPROCS), offset, length, source;

	if (!draw(20))
		do_nothing(p);
	if (!draw_part(s, to, &offset, &length))
		return;
	source = draw(MEM - length + 1);
	oracle_put(p, source, to, slots[s].at[to] + offset, length);
	if (p == ME)
		bsp_put(to, real + source, real + slots[s].at[p], offset, length);
}

static void do_get(int p)
{
	int s = draw_slot(p), to = draw(NPROCS), offset, length, local;

	if (!draw_part(s, to, &offset, &length))
		return;
	local = draw(MEM - length + 1);
	oracle_get(p, to, slots[s].at[to] + offset, local, length);
	if (p == ME)
		bsp_get(to, real + slots[s].at[p], offset, real + local, length);
}

/* Tag and payload follow from the number, and from the bytes' places. */
static void fill_message(int number, int tag_size, unsigned char *tag, int length,
			 unsigned char *payload)
{
	bspt_fill(tag, tag_size, number);
	bspt_fill(payload, length, number + 5000);
}

static void do_send(int p)
{
	unsigned char tag[64], payload[MAXLEN];
	int to = draw(NPROCS), length = draw(3) ? draw(20) : draw(3) ? draw(MAXLEN) : 0;

	oracle_send(p, to, length, messages++);
	if (p != ME)
		return;
	fill_message(messages - 1, tag_now, tag, length, payload);
	bsp_send(to, tag_now ? tag : NULL, length ? payload : NULL, length);
	memset(tag, 0, sizeof(tag));
	memset(payload, 0, sizeof(payload));
}

static void do_push(void)
{
	struct slot *slot = &slots[nslots++];
	int p, like = nslots > 1 ? draw(nslots - 1) : 0;

	CHECK(nslots <= SLOTS);
	memset(slot, 0, sizeof(*slot));
	slot->pushed = 1;
	for (p = 0; p < NPROCS; p++) {
		int at = draw(MEM), size = draw(MEM - at) % MAXLEN;

		if (!draw(6))
			size = 0;
		if (nslots > 1 && !draw(3) && slots[like].at[p] >= 0) {
			at = slots[like].at[p];		/* the address of an older one */
			size = size < MEM - at ? size : MEM - at;
		}
		if (!draw(6)) {
			at = -1;
			size = 0;
		}
		slot->at[p] = at;
		slot->size[p] = size;
	}
	if (slot->at[ME] < 0)
		bsp_push_reg(NULL, 0);
	else
		bsp_push_reg(real + slot->at[ME], slot->size[ME]);
}

static void do_pop(void)
{
	int try, s;

	for (try = 0; try < 10 && nslots; try++) {
		s = draw(nslots);
		if (!can_pop(s))
			continue;
		slots[s].popped = 1;
		bsp_pop_reg(slots[s].at[ME] < 0 ? NULL : real + slots[s].at[ME]);
		return;
	}
}

static void do_tagsize(void)
{
	int before = tag_next;
	bsp_size_t size;

	tag_next = draw(4) * draw(16);
	size = tag_next;
	bsp_set_tagsize(&size);
	EQUAL(size, before);
}

static void do_collective(void)
{
	switch (draw(5)) {
	case 0:
		do_tagsize();
		break;
	case 1:
	case 2:
		do_pop();
		break;
	default:
		do_push();
	}
}

/* One call of some process, or one of all. */
static void do_something(const struct mix *mix)
{
	int p = draw(NPROCS), puts = mix->stores + mix->puts, gets = puts + mix->gets;
	int sends = gets + mix->sends, kind = draw(sends + mix->collectives);

	if (kind < mix->stores)
		do_store(p);
	else if (kind < puts)
		do_put(p);
	else if (kind < gets)
		do_get(p);
	else if (kind < sends)
		do_send(p);
	else
		do_collective();
}

/* What bsp_hpmove() gave, to be looked at again later. */
struct held {
	const unsigned char *tag, *payload;
	int number, length;
};

static struct held held[OPS];
static int nheld;

static void check_held(void)
{
	unsigned char tag[64], payload[MAXLEN];

	while (nheld > 0) {
		struct held *h = &held[--nheld];

		fill_message(h->number, tag_queue, tag, h->length, payload);
		CHECK(!memcmp(h->tag, tag, tag_queue));
		CHECK(!memcmp(h->payload, payload, h->length));
	}
}

/* Take the message out of the oracle's queue: order is not promised. */
static int take(const unsigned char *tag, int length, const unsigned char *payload, int known)
{
	unsigned char its_tag[64], its_payload[MAXLEN];
	int i, number;

	for (i = 0; i < nqueue; i++) {
		if (queue[i].length != length)
			continue;
		number = queue[i].number;
		fill_message(number, tag_queue, its_tag, length, its_payload);
		if (memcmp(tag, its_tag, tag_queue) || memcmp(payload, its_payload, known))
			continue;
		queue[i] = queue[--nqueue];
		return number;
	}
	bspt_say("# seed %d, step %d: a message of %d bytes that nobody sent",
		 seed_now, step_now, length);
	CHECK(!"message");
	return -1;
}

static void read_one(void)
{
	unsigned char tag[64], payload[MAXLEN + 1];
	void *tag_at, *payload_at;
	bsp_size_t status;
	int known;

	bsp_get_tag(&status, tag);
	CHECK(status <= MAXLEN);
	if (bspt_random(&own, 2)) {
		struct held *h = &held[nheld++];

		CHECK(bsp_hpmove(&tag_at, &payload_at) == status);
		h->tag = (unsigned char *)tag_at;
		h->payload = (unsigned char *)payload_at;
		h->length = (int)status;
		CHECK(!memcmp(tag, tag_at, tag_queue));
		h->number = take(tag, h->length, h->payload, h->length);
		return;
	}
	/* cut some off, where the tag tells which message it is */
	known = (int)status;
	if (tag_queue >= 4 && !bspt_random(&own, 3))
		known = (int)bspt_random(&own, known + 1);
	memset(payload, 'x', sizeof(payload));
	bsp_move(payload, known < (int)status ? known : MAXLEN);
	CHECK(bspt_all(payload + known, (long)sizeof(payload) - known, 'x'));
	take(tag, (int)status, payload, known);
}

static void read_messages(void)
{
	bsp_nprocs_t packets;
	bsp_size_t bytes, sum;
	int i, some = bspt_random(&own, 3) ? nqueue : (int)bspt_random(&own, nqueue + 1);

	for (;;) {
		bsp_qsize(&packets, &bytes);
		EQUAL(packets, nqueue);
		for (sum = 0, i = 0; i < nqueue; i++)
			sum += queue[i].length;
		EQUAL(bytes, sum);
		if (some-- <= 0)
			return;
		read_one();
	}
}

static void compare_memory(void)
{
	int i;

	for (i = 0; i < MEM; i++) {
		if (is_open[ME][i] || real[i] == mem[ME][i])
			continue;
		bspt_say("# seed %d, step %d, byte %d: %d instead of %d", seed_now, step_now,
			 i, real[i], mem[ME][i]);
		CHECK(!"memory");
	}
}

static void superstep(const struct mix *mix)
{
	int i, calls = draw(mix->calls + 1);

	read_messages();
	for (i = 0; i < calls; i++)
		do_something(mix);
	check_held();
	if (!bspt_random(&own, 8))
		bspt_spin(0.001);
	oracle_sync();
	bsp_sync();
	compare_memory();
}

/* Nothing stays registered for the next program. */
static void pop_all(void)
{
	int s;

	for (s = nslots - 1; s >= 0; s--)
		if (can_pop(s)) {
			slots[s].popped = 1;
			bsp_pop_reg(slots[s].at[ME] < 0 ? NULL : real + slots[s].at[ME]);
		}
	oracle_sync();
	bsp_sync();
}

static void run_programs(const struct mix *mix, int first_seed)
{
	int p;

	for (seed_now = first_seed; seed_now < first_seed + BSPT_SEEDS; seed_now++) {
		shared = 1000003UL * seed_now;
		own = shared + 77 + ME;
		messages = 0;
		oracle_reset();
		for (p = 0; p < NPROCS; p++)
			oracle_store(p, 0, MEM, seed_now + 1000 * p);
		memcpy(real, mem[ME], MEM);
		do_push();
		do_push();
		for (step_now = 0; step_now < STEPS; step_now++)
			superstep(mix);
		pop_all();
	}
}

TEST(of_everything, "n=1,2,3,4 limit=120")
{
	static const struct mix mix = { 60, 3, 4, 4, 4, 2 };

	run_programs(&mix, 1);
}

TEST(of_registrations, "n=1,2,3,4 limit=120")
{
	static const struct mix mix = { 20, 1, 2, 2, 0, 10 };

	run_programs(&mix, 1001);
}

TEST(of_puts_and_gets, "n=1,2,4 limit=120")
{
	static const struct mix mix = { 200, 1, 8, 8, 0, 1 };

	run_programs(&mix, 2001);
}

TEST(of_messages, "n=1,2,4 limit=120")
{
	static const struct mix mix = { 200, 0, 1, 0, 20, 2 };

	run_programs(&mix, 3001);
}

TEST(of_short_steps, "n=2,3,4,8 limit=120")
{
	static const struct mix mix = { 3, 1, 3, 3, 3, 2 };

	run_programs(&mix, 4001);
}

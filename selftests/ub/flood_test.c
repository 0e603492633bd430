// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process of node 1 rings node 0 without an end, as far as the device lets
 * it: node 0 masks its doorbell for a while, again and again, and goes on by
 * its timers; afterwards the doorbell works as before.
 *
 * On two nodes of a rig that load ub_ivshmem with a low flood=, as UB_RANK 0
 * and 1. Rank 0 prints KTAP, rank 1 leaves it to it.
 */
#define UB_NO_HARNESS
#include "util.h"

#define FLOOD_MS	100	/* the period that flood= counts in */
#define BARRIERS	20

/* What the two tell each other: a word each in the group's mailboxes. */
enum phase { FLOOD = 1, STOP, KNOCK, END };

struct pair {
	struct member sleeper;	/* of the group that node 0 sleeps in */
	struct member other;	/* of one in which both go on */
	__u64 *phase;		/* rank 0 stores it */
	__u64 *kicks;		/* rank 1 stores it */
};

static __u64 interrupts(void)
{
	__u64 sum = 0;
	char line[512], *p;
	FILE *f = fopen("/proc/interrupts", "r");

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "ub_ivshmem"))
			continue;
		for (p = strchr(line, ':') + 1; ; ) {
			char *end;
			__u64 n = strtoull(p, &end, 10);

			if (end == p)
				break;
			sum += n;
			p = end;
		}
	}
	if (f)
		fclose(f);
	return sum;
}

static unsigned int flood_limit(void)
{
	FILE *f = fopen("/sys/module/ub_ivshmem/parameters/flood", "r");
	unsigned int n = 0;

	if (f && fscanf(f, "%u", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* Did the kernel say so, from where @log stands on? */
static bool said(int log, const char *text, unsigned int ms)
{
	__u64 end = in_ms(ms);
	char line[1024];
	ssize_t n;

	do {
		while ((n = read(log, line, sizeof(line) - 1)) > 0) {
			line[n] = '\0';
			if (strstr(line, text))
				return true;
		}
		sleep_ms(10);
	} while (now() < end);
	return false;
}

static int step_sleep(struct member *m)
{
	return barrier(m, AW | UB_BARRIER_SLEEP, UB_RED_NONE, 0, in_ms(240000));
}

static int kick(struct member *m)
{
	struct ub_group_id id = ARG(ub_group_id, .group = m->group);

	return call(m->fd, UB_IOC_KICK, &id);
}

static int meet(struct pair *p, int rank)
{
	const char *job = getenv("UB_JOB");
	__u64 key[2] = { 0x756266006c6f6f64ULL, 0xcbf29ce484222325ULL };
	struct member *m[2] = { &p->sleeper, &p->other };
	struct ub_info info;
	unsigned char *pages;
	struct ub_mailbox *mail;
	int i;

	for (; job && *job; job++)
		key[1] = (key[1] ^ (unsigned char)*job) * 0x100000001b3ULL;
	for (i = 0; i < 2; i++, key[0]++) {
		m[i]->fd = open("/dev/ubfab0", O_RDWR | O_CLOEXEC);
		m[i]->gc = world_arg(key, 2, rank, 60000);
		if (m[i]->fd < 0 || step_create(m[i]))
			return -1;
	}
	info = info_of(p->other.fd);
	pages = win_map(p->other.fd, p->other.gc.out_offset,
			p->other.gc.out_map_size, PROT_READ | PROT_WRITE);
	if (pages == MAP_FAILED)
		return -1;
	mail = (void *)(pages + ub_group_mail_off(info.out_max_members));
	p->phase = (__u64 *)mail[0].slot[0];
	p->kicks = (__u64 *)mail[1].slot[0];
	return 0;
}

static int go_on(struct member *m)
{
	int i, ret = 0;

	for (i = 0; i < BARRIERS && !ret; i++)
		ret = step_sleep(m);
	return ret;
}

/* ---- rank 1 ---- */

static int step_flood(struct member *m)
{
	struct pair *p = m->ctx;
	__u64 n = 0;
	int ret = 0;

	while (LD(p->phase) < STOP && !ret) {
		ret = kick(m);
		ST(p->kicks, ++n);
	}
	return ret;
}

static int attacker(struct pair *p)
{
	int ret;

	while (LD(p->phase) < FLOOD)
		sleep_ms(1);
	p->sleeper.ctx = p;
	member_start(&p->sleeper, step_flood);
	ret = go_on(&p->other);
	ret = member_join(&p->sleeper) ?: ret;
	while (LD(p->phase) < KNOCK)
		sleep_ms(1);
	for (; LD(p->phase) < END; sleep_ms(20))
		kick(&p->sleeper);
	return step_sleep(&p->sleeper) ?: ret;
}

/* ---- rank 0 ---- */

/*
 * For a while, interrupts against rings. A period that is shorter than 100 ms
 * for the one who looks may have been longer for the one who counts.
 */
static bool few_interrupts(struct pair *p, unsigned int limit)
{
	int tries;

	for (tries = 0; tries < 20; tries++) {
		__u64 t = now(), irqs = interrupts(), kicks = LD(p->kicks), most;

		sleep_ms(2000);
		irqs = interrupts() - irqs;
		kicks = LD(p->kicks) - kicks;
		most = ((now() - t) / (FLOOD_MS * MS) + 2) * limit;
		ksft_print_msg("%llu rings, %llu interrupts, at most %llu\n",
			       kicks, irqs, most);
		if (kicks > 4 * most)
			return irqs <= most;
	}
	return false;	/* it was no flood */
}

static bool works_again(struct pair *p)
{
	__u64 before, end;

	ST(p->phase, STOP);
	sleep_ms(10 * FLOOD_MS);
	before = interrupts();
	ST(p->phase, KNOCK);
	for (end = in_ms(20000); interrupts() < before + 3 && now() < end; )
		sleep_ms(10);
	ST(p->phase, END);
	return interrupts() >= before + 3;
}

static int victim(struct pair *p)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	unsigned int limit = flood_limit();
	bool ok;

	ksft_print_header();
	ksft_set_plan(5);
	ksft_test_result(limit && limit <= 100 && log >= 0, "a low limit\n");
	lseek(log, 0, SEEK_END);
	member_start(&p->sleeper, step_sleep);
	ST(p->phase, FLOOD);
	ksft_test_result(said(log, "doorbell flood", 60000), "the doorbell is masked\n");
	ksft_test_result(few_interrupts(p, limit), "few interrupts come through\n");
	ok = !go_on(&p->other);
	ksft_test_result(ok, "barriers go on meanwhile\n");
	ok = works_again(p);
	ok = !member_join(&p->sleeper) && ok;
	ksft_test_result(ok, "and the doorbell works again\n");
	return ksft_get_fail_cnt() ? 1 : 0;
}

int main(void)
{
	const char *rank = getenv("UB_RANK");
	struct pair p = { 0 };

	if (!rank || meet(&p, atoi(rank))) {
		printf("TAP version 13\n1..1\nnot ok 1 rank %s has no group of two nodes\n",
		       rank ? rank : "of no rig");
		return 1;
	}
	if (!atoi(rank))
		return victim(&p);
	printf("TAP version 13\n1..0 # SKIP rank 0 tells\n");
	return attacker(&p) ? 1 : 0;
}

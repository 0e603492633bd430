// SPDX-License-Identifier: MIT
/* The SPMD section of bsp.h: begin, end, inner sections, and ending badly. */
#include "bsp.h"
#include "bsp_section.h"
#include <stdarg.h>
#include <stdlib.h>

struct ub_bsp *ub_bsp_now;

/* Of the last outermost section. */
static uint32_t last_n;
static uint64_t begun;
static void (*spmd_part)(void);

/* ---- ending badly ---- */

static void complain(const char *call, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
static void complain(const char *call, const char *fmt, va_list ap)
{
	char *text, who[64] = "";
	int rank = ub_bsp_now ? (int)ub_bsp_now->pid : ub_bsp_rank();

	if (rank >= 0)
		snprintf(who, sizeof(who), " in process %d", rank);
	if (vasprintf(&text, fmt, ap) < 0)
		text = (char *)fmt;
	fflush(stdout);
	/* One write, so that messages of several processes are not mixed. */
	fprintf(stderr, "%s%s: %s%s", call, who, text,
		text[0] && text[strlen(text) - 1] == '\n' ? "" : "\n");
	fflush(stderr);
}

void ub_bsp_die(const char *call, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(call, fmt, ap);
	va_end(ap);
	ub_bsp_kill();
}

void bsp_vabort(const char *format, va_list args)
{
	complain("bsp_abort", format, args);
	ub_bsp_kill();
}

void bsp_abort(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	bsp_vabort(format, ap);
}

void ub_bsp_outside(const char *call)
{
	ub_bsp_die(call, "not between bsp_begin() and bsp_end()");
}

void ub_bsp_failed(const char *call, int err)
{
	const struct ub_bsp *r = ub_bsp_now;
	struct ub_lost_info l;

	if (err == -EOWNERDEAD && r && !ub_lost(r->s, &l))
		ub_bsp_die(call, "process %d (node %d, lane %d) is lost: %s", l.rank,
			   l.node, l.lane, l.reason);
	ub_bsp_die(call, "%s", ub_last_error());
}

/* ---- sections ---- */

static struct ub_bsp *section_new(struct ub_scope *s)
{
	struct ub_bsp *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->outer = ub_bsp_now;
	r->s = s;
	r->n = s->n;
	r->pid = s->rank;
	r->free = UB_BSP_NONE;
	r->alike = calloc(r->n, sizeof(*r->alike));
	if (!r->alike || ub_msg_client(s, &ub_bsp_bulk_ops, r)) {
		free(r->alike);
		free(r);
		return NULL;
	}
	r->b = s->bulk;
	r->q = s->queue;
	return r;
}

/* The scope's messages are libub's again. */
static void section_free(struct ub_bsp *r)
{
	ub_msg_client(r->s, NULL, NULL);
	ub_bsp_unregister_all(r);
	free(r->alike);
	free(r->got);
	free(r);
}

void bsp_init(void (*spmd)(void), int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (ub_bsp_now)
		ub_bsp_die("bsp_init", "inside an SPMD section");
	if (!spmd)
		ub_bsp_die("bsp_init", "the function is NULL");
	spmd_part = spmd;
	ub_bsp_stay();
}

void ub_bsp_begin(int64_t max)
{
	void (*spmd)(void) = spmd_part;
	struct ub_scope *s;
	struct ub_bsp *r;

	if (ub_bsp_now)
		ub_bsp_die("bsp_begin", "inside an SPMD section; bsp_end() ends it");
	spmd_part = NULL;
	s = ub_bsp_gather(max, spmd);
	r = section_new(s);
	if (!r)
		ub_bsp_die("bsp_begin", "no memory");
	last_n = r->n;
	begun = ub_now();
	ub_bsp_now = r;
}

void bsp_end(void)
{
	struct ub_bsp *r = ub_bsp_now;
	struct ub_scope *s;

	if (!r)
		ub_bsp_outside("bsp_end");
	if (r->outer)
		ub_bsp_die("bsp_end", "inside an inner section; ub_bsp_leave() ends it");
	r->flags |= UB_BSP_END;
	ub_bsp_step(r, "bsp_end");
	s = r->s;
	ub_bsp_now = NULL;
	section_free(r);
	ub_bsp_scatter(s);
}

uint32_t ub_bsp_nprocs(void)
{
	if (ub_bsp_now)
		return ub_bsp_now->n;
	return last_n ? last_n : ub_bsp_available();
}

double bsp_time(void)
{
	if (!ub_bsp_now)
		ub_bsp_outside("bsp_time");
	return (ub_now() - begun) / 1e9;
}

void bsp_sync(void)
{
	if (unlikely(!ub_bsp_now))
		ub_bsp_outside("bsp_sync");
	ub_bsp_step(ub_bsp_now, "bsp_sync");
}

/* ---- inner sections ---- */

struct ub_scope *ub_bsp_scope(void)
{
	if (!ub_bsp_now)
		ub_bsp_outside("ub_bsp_scope");
	return ub_bsp_now->s;
}

static void go_inside(const char *call, struct ub_scope *s)
{
	struct ub_bsp *r = section_new(s);

	if (!r)
		ub_bsp_die(call, "no memory");
	ub_bsp_now = r;
}

void ub_bsp_enter(const char *level)
{
	struct ub_scope *s;
	int err;

	if (!ub_bsp_now)
		ub_bsp_outside("ub_bsp_enter");
	err = ub_scope_enter(ub_bsp_now->s, level, &s);
	if (err)
		ub_bsp_failed("ub_bsp_enter", err);
	go_inside("ub_bsp_enter", s);
}

int ub_bsp_split(int colour, int key)
{
	struct ub_scope *s;
	int err;

	if (!ub_bsp_now)
		ub_bsp_outside("ub_bsp_split");
	err = ub_scope_split(ub_bsp_now->s, colour, key, &s);
	if (err)
		ub_bsp_failed("ub_bsp_split", err);
	if (!s)
		return 0;
	go_inside("ub_bsp_split", s);
	return 1;
}

void ub_bsp_leave(void)
{
	struct ub_bsp *r = ub_bsp_now;
	struct ub_scope *s;
	int err;

	if (!r)
		ub_bsp_outside("ub_bsp_leave");
	if (!r->outer)
		ub_bsp_die("ub_bsp_leave", "not inside an inner section; bsp_end() ends the outermost");
	r->flags |= UB_BSP_END;
	ub_bsp_step(r, "ub_bsp_leave");
	s = r->s;
	ub_bsp_now = r->outer;
	section_free(r);
	err = ub_scope_exit(s);
	if (err)
		ub_bsp_failed("ub_bsp_leave", err);
}

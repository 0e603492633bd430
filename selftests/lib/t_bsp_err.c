// SPDX-License-Identifier: GPL-2.0-only
/*
 * bsp.h: programs that are wrong end with a message that names call, process and
 * argument; nobody hangs, nothing is left.
 */
#include "bsp.h"
#include "t_bsp.h"

static int x[4];

static void begin(void)
{
	bsp_begin(bsp_nprocs());
	bsp_push_reg(x, sizeof(x));
	bsp_sync();
}

static void end(void)
{
	bsp_sync();
	bsp_end();
}

/* Process 1 makes the call, the others go on. */
#define BY_ONE(name, call)						\
static void name(void)							\
{									\
	begin();							\
	if (bsp_pid() == 1) {						\
		call;							\
	}								\
	end();								\
}

#define OUTSIDE(name, call)						\
static void name(void)							\
{									\
	call;								\
}

static void nothing(void)
{
}

static int minus = -1;

OUTSIDE(out_pid, bsp_pid())
OUTSIDE(out_time, bsp_time())
OUTSIDE(out_sync, bsp_sync())
OUTSIDE(out_end, bsp_end())
OUTSIDE(out_put, bsp_put(0, x, x, 0, 4))
OUTSIDE(out_push, bsp_push_reg(x, 4))
OUTSIDE(out_send, bsp_send(0, NULL, x, 4))
OUTSIDE(out_init, bsp_init(NULL, 0, NULL))
OUTSIDE(out_begin, bsp_begin(0))
OUTSIDE(out_abort, bsp_abort("number %d", 42))
BY_ONE(in_begin, bsp_begin(1))
BY_ONE(in_init, bsp_init(nothing, 0, NULL))
BY_ONE(put_pid, bsp_put(3, x, x, 0, 4))
BY_ONE(put_pid_minus, bsp_put(-1, x, x, 0, 4))
BY_ONE(put_size, bsp_put(0, x, x, 0, -4))
BY_ONE(put_offset, bsp_put(0, x, x, -4, 4))
BY_ONE(put_beyond, bsp_put(0, x, x, 13, 4))
BY_ONE(put_null, bsp_put(0, NULL, x, 0, 4))
BY_ONE(put_unknown, bsp_put(0, x, x + 1, 0, 4))
BY_ONE(get_beyond, bsp_get(0, x, 16, x, 1))
BY_ONE(get_null, bsp_get(0, x, 0, NULL, 1))
BY_ONE(hpput_pid, bsp_hpput(30, x, x, 0, 4))
BY_ONE(hpget_unknown, bsp_hpget(0, NULL, 0, x, 4))
BY_ONE(push_minus, bsp_push_reg(x, -1))
BY_ONE(push_null, bsp_push_reg(NULL, 5))
BY_ONE(push_alone, bsp_push_reg(x, 5))
BY_ONE(pop_unknown, bsp_pop_reg(x + 1))
BY_ONE(pop_alone, bsp_pop_reg(x))
BY_ONE(send_pid, bsp_send(3, NULL, x, 4))
BY_ONE(send_size, bsp_send(0, NULL, x, -1))
BY_ONE(send_null, bsp_send(0, NULL, NULL, 1))
BY_ONE(tag_minus, bsp_set_tagsize(&minus))
BY_ONE(tag_null, bsp_set_tagsize(NULL))
BY_ONE(tag_alone, int four = 4; bsp_set_tagsize(&four))
BY_ONE(qsize_null, bsp_qsize(NULL, x))
BY_ONE(get_tag_null, bsp_get_tag(NULL, x))
BY_ONE(move_empty, bsp_move(x, 4))
BY_ONE(move_minus, bsp_move(x, -1))
BY_ONE(hpmove_null, bsp_hpmove(NULL, NULL))
BY_ONE(end_early, bsp_end(); exit(0))
BY_ONE(leave_outermost, ub_bsp_leave())
BY_ONE(exit_early, exit(0))
BY_ONE(die_early, raise(SIGKILL))
BY_ONE(abort_one, bsp_abort("enough"))

/* Also those that compute and never ask. */
static void abort_computing(void)
{
	begin();
	if (bsp_pid() == 2)
		bsp_abort("%s", "enough");
	for (;;)
		pause();
}

static void abort_first(void)
{
	begin();
	if (!bsp_pid())
		bsp_abort("%s", "enough");
	for (;;)
		pause();
}

static void differ_tag(void)
{
	int n;

	begin();
	n = bsp_pid() == 1 ? 8 : 4;
	bsp_set_tagsize(&n);
	end();
}

static void differ_pop(void)
{
	static int y;

	begin();
	bsp_push_reg(&y, 4);
	bsp_sync();
	bsp_pop_reg(bsp_pid() == 1 ? (void *)&y : x);
	end();
}

static void differ_order(void)
{
	begin();
	if (bsp_pid() == 1)
		bsp_pop_reg(x);
	bsp_push_reg(x, 4);
	if (bsp_pid() != 1)
		bsp_pop_reg(x);
	end();
}

static void pop_null_ambiguous(void)
{
	begin();
	bsp_push_reg(NULL, 0);
	bsp_push_reg(NULL, 0);
	bsp_sync();
	bsp_pop_reg(NULL);
	end();
}

static void pop_null_wrong(void)
{
	begin();
	bsp_pop_reg(bsp_pid() == 1 ? NULL : x);
	end();
}

static void put_popped(void)
{
	begin();
	bsp_pop_reg(x);
	bsp_sync();
	bsp_put(0, x, x, 0, 4);
	end();
}

static void same_step(void)
{
	static int y;

	begin();
	bsp_push_reg(&y, 4);
	bsp_put(0, x, &y, 0, 4);
	end();
}

static void outer_inside(void)
{
	begin();
	ub_bsp_enter("node");
	bsp_put(0, x, x, 0, 4);
	ub_bsp_leave();
	end();
}

static void end_inside(void)
{
	begin();
	ub_bsp_enter("node");
	bsp_end();
}

static void sync_against_leave(void)
{
	begin();
	ub_bsp_enter("node");
	if (bsp_pid() == 1)
		ub_bsp_leave();
	end();
}

static void no_level(void)
{
	begin();
	ub_bsp_enter("galaxy");
	end();
}

static void no_end(void)
{
	bsp_begin(bsp_nprocs());
}

static void part_without_end(void)
{
	bsp_begin(2);
}

static void no_end_in_part(void)
{
	bsp_init(part_without_end, 0, NULL);
	part_without_end();
	/* Not the others' end: their function returned. */
	bsp_sync();
	bsp_sync();
	bsp_end();
}

static void late(void)
{
	setenv("UB_TIMEOUT_MS", "300", 1);
	begin();
	if (bsp_pid() == 1)
		pause();
	end();
}

static void second_section(void)
{
	bsp_begin(2);
	bsp_end();
	bsp_begin(2);
	bsp_end();
}

static const struct t_bsp cases[] = {
	{ "bsp_pid() outside", 1, out_pid, "bsp_pid: not between" },
	{ "bsp_time() outside", 1, out_time, "bsp_time: not between" },
	{ "bsp_sync() outside", 1, out_sync, "bsp_sync: not between" },
	{ "bsp_end() outside", 1, out_end, "bsp_end: not between" },
	{ "bsp_put() outside", 1, out_put, "bsp_put: not between" },
	{ "bsp_push_reg() outside", 1, out_push, "bsp_push_reg: not between" },
	{ "bsp_send() outside", 1, out_send, "bsp_send: not between" },
	{ "bsp_init() of nothing", 1, out_init, "bsp_init: the function is NULL" },
	{ "no processes", 1, out_begin, "bsp_begin: the number of processes is 0" },
	{ "bsp_abort() before the section", 1, out_abort, "number 42\n" },
	{ "bsp_begin() inside", 3, in_begin, "bsp_begin in process 1: inside" },
	{ "bsp_init() inside", 3, in_init, "bsp_init in process 1: inside" },
	{ "put: process", 3, put_pid,
	  "bsp_put in process 1: the process id is 3; there are 0 to 2" },
	{ "put: negative process", 3, put_pid_minus, "bsp_put in process 1: the process id is -1" },
	{ "put: negative size", 3, put_size,
	  "bsp_put in process 1: the number of bytes -4 is negative" },
	{ "put: negative offset", 3, put_offset,
	  "bsp_put in process 1: the offset -4 is negative" },
	{ "put: beyond the area", 3, put_beyond,
	  "bsp_put in process 1: 4 bytes at offset 13, but process 0 registered 16" },
	{ "put: from NULL", 3, put_null, "bsp_put in process 1: the own buffer is NULL" },
	{ "put: not registered", 3, put_unknown,
	  "bsp_put in process 1: the address * is not registered" },
	{ "put: popped before", 3, put_popped, "bsp_put in process * is not registered" },
	{ "put: registered in this superstep", 3, same_step,
	  "bsp_put in process * is not registered, or only since this superstep" },
	{ "get: beyond the area", 3, get_beyond,
	  "bsp_get in process 1: 1 bytes at offset 16, but process 0 registered 16" },
	{ "get: to NULL", 3, get_null, "bsp_get in process 1: the own buffer is NULL" },
	{ "hpput: process", 3, hpput_pid, "bsp_hpput in process 1: the process id is 30" },
	{ "hpget: NULL", 3, hpget_unknown,
	  "bsp_hpget in process 1: the address (nil) is not registered" },
	{ "push: negative size", 3, push_minus,
	  "bsp_push_reg in process 1: the size -1 is negative" },
	{ "push: NULL with a size", 3, push_null,
	  "bsp_push_reg in process 1: the address is NULL, but the size is 5" },
	{ "push: by one alone", 3, push_alone,
	  "process 1 made bsp_push_reg(), this process none|in process 1: * made "
	  "none, this process bsp_push_reg()" },
	{ "pop: not registered", 3, pop_unknown,
	  "bsp_pop_reg in process 1: the address * is not registered" },
	{ "pop: by one alone", 3, pop_alone,
	  "process 1 made bsp_pop_reg(), this process none|in process 1: * made "
	  "none, this process bsp_pop_reg()" },
	{ "pop: another slot", 3, differ_pop,
	  "bsp_pop_reg in process * names registration * registration" },
	{ "pop: another order", 3, differ_order, "in process * as call 1 of" },
	{ "pop: NULL, ambiguous", 3, pop_null_ambiguous, "bsp_pop_reg in process * more than one" },
	{ "pop: NULL for an address", 3, pop_null_wrong,
	  "bsp_pop_reg in process 1: this process gave NULL" },
	{ "send: process", 3, send_pid, "bsp_send in process 1: the process id is 3" },
	{ "send: negative size", 3, send_size,
	  "bsp_send in process 1: the number of bytes -1 is negative" },
	{ "send: NULL", 3, send_null, "bsp_send in process 1: the payload is NULL" },
	{ "tag size: negative", 3, tag_minus,
	  "bsp_set_tagsize in process 1: the size -1 is negative" },
	{ "tag size: NULL", 3, tag_null, "bsp_set_tagsize in process 1: the size is NULL" },
	{ "tag size: by one alone", 3, tag_alone,
	  "bsp_set_tagsize in process * process 1 called it in this superstep and "
	  "process" },
	{ "tag size: others'", 3, differ_tag, "bsp_set_tagsize in process * but process * gave" },
	{ "qsize: NULL", 3, qsize_null, "bsp_qsize in process 1: the place for" },
	{ "get_tag: NULL", 3, get_tag_null,
	  "bsp_get_tag in process 1: the place for the status is NULL" },
	{ "move: empty queue", 3, move_empty, "bsp_move in process 1: the queue is empty" },
	{ "move: negative size", 3, move_minus,
	  "bsp_move in process 1: the number of bytes -1 is negative" },
	{ "hpmove: NULL", 3, hpmove_null, "bsp_hpmove in process 1: the place for" },
	{ "bsp_end() against bsp_sync()", 3, end_early,
	  "bsp_sync in process * process 1 is in bsp_end() instead|bsp_end in "
	  "process 1: process * is in bsp_sync() instead" },
	{ "exit() inside", 3, exit_early, "exit in process 1: without bsp_end()" },
	{ "killed inside", 3, die_early, "process 1 (node 0, lane 1) is lost: its process ended" },
	{ "bsp_abort() by one", 3, abort_one, "bsp_abort in process 1: enough\n" },
	{ "bsp_abort() while others compute", 3, abort_computing,
	  "bsp_abort in process 2: enough\n" },
	{ "bsp_abort() by process 0", 3, abort_first, "bsp_abort in process 0: enough\n" },
	{ "no bsp_end()", 2, no_end, "exit in process * without bsp_end()" },
	{ "no bsp_end() in the function", 2, no_end_in_part,
	  "bsp_init in process 1: the function returned without bsp_end()" },
	{ "a second section without bsp_init()", 2, second_section,
	  "bsp_begin: a second section without bsp_init()|bsp_begin in process 1: "
	  "a second section without bsp_init()" },
	{ "one is late", 3, late,
	  "bsp_sync in process * 1 of 3 missing after 300 ms, first rank 1" },
	{ "outer registrations inside", 2, outer_inside, "bsp_put in process * is not registered" },
	{ "bsp_end() inside", 2, end_inside, "bsp_end in process * inside an inner section" },
	{ "bsp_sync() against leaving", 2, sync_against_leave,
	  "bsp_sync in process 0: process 1 is in ub_bsp_leave() "
	  "instead|ub_bsp_leave in process 1: process 0 is in bsp_sync() instead" },
	{ "leaving the outermost", 2, leave_outermost, "ub_bsp_leave in process 1: not inside" },
	{ "no such level", 2, no_level, "ub_bsp_enter in process * no level \"galaxy\"" },
};

int main(void)
{
	return t_bsp_all(cases, sizeof(cases) / sizeof(cases[0]));
}

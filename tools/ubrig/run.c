// SPDX-License-Identifier: GPL-2.0-only
/*
 * "ubrig run": a rig for the time of one command.
 *
 * Invariants: the command starts on all nodes once all are ready; a node that
 * dies before that ends the run. Then the run waits for every node's end, and
 * for the guests to power off, so that the last kernel message counts.
 */
#include <string.h>

#include "job.h"
#include "output.h"
#include "verbs.h"

#define POWEROFF_SECONDS 10

struct run {
	struct rig rig;
	struct command cmd;
	struct job *job;
	struct loop_timer off;
	bool leaving;
	int code;
};

static void stop(struct run *run, int code)
{
	if (code > run->code)
		run->code = code;
	run->leaving = true;
	loop_stop();
}

static void job_out(void *arg, struct node *n, bool err, const char *buf,
		    size_t len)
{
	(void)arg;
	output_feed(n->index, err, buf, len);
}

static void job_ended(void *arg, struct node *n, int code, const char *why)
{
	struct run *run = arg;

	output_end(n->index);
	if (why)
		say("n%d: failed: %s", n->index, why);
	else if (run->rig.opts->verbose)
		say("n%d: ended with %d", n->index, code);
}

static void job_say(void *arg, const char *text)
{
	(void)arg;
	say("%s", text);
}

static bool all_gone(const struct rig *r)
{
	int i;

	for (i = 0; i < r->n; i++)
		if (r->node[i].pid)
			return false;
	return true;
}

static void off_too_long(void *arg)
{
	struct run *run = arg;
	int i;

	for (i = 0; i < run->rig.n; i++)
		if (run->rig.node[i].pid)
			say("n%d: does not power off; ended", i);
	loop_stop();
}

static void job_done(void *arg, int worst)
{
	struct run *run = arg;
	int i;

	run->job = NULL;
	run->code = worst;
	run->leaving = true;
	for (i = 0; i < run->rig.n; i++)
		if (run->rig.node[i].state == NODE_READY)
			node_poweroff(&run->rig.node[i]);
	loop_timer_set(&run->off, POWEROFF_SECONDS * NSEC_PER_SEC, off_too_long,
		       run);
	if (all_gone(&run->rig))
		loop_stop();
}

static const struct job_ops job_ops = {
	.output = job_out,
	.ended = job_ended,
	.say = job_say,
	.done = job_done,
};

static void up(void *arg)
{
	struct run *run = arg;
	bool on[MAX_NODES];
	int i;

	for (i = 0; i < run->rig.n; i++)
		on[i] = true;
	run->job = job_start(&run->rig, on, &run->cmd, 0,
			     run->rig.opts->timeout, &job_ops, run);
}

static void boot_failed(void *arg)
{
	stop(arg, EXIT_RIG);
}

static void changed(void *arg, struct node *n)
{
	struct run *run = arg;

	if (n->state == NODE_DEAD && run->leaving && all_gone(&run->rig))
		loop_stop();
}

static void splat(void *arg, struct node *n, const char *line)
{
	(void)arg;
	say("n%d: kernel: %s", n->index, line);
}

static void note(void *arg, struct node *n, const char *text)
{
	struct run *run = arg;

	if (run->rig.opts->verbose || !strncmp(text, "qemu:", 5))
		say("n%d: %s", n->index, text);
}

static void signalled(void *arg, int sig)
{
	stop(arg, 128 + sig);
}

static const struct rig_ops rig_ops = {
	.up = up,
	.boot_failed = boot_failed,
	.changed = changed,
	.splat = splat,
	.note = note,
	.signalled = signalled,
};

int run_verb(struct opts *o)
{
	static struct run run;
	int i;

	command_from_opts(&run.cmd, o);
	output_init(o->nodes, o->tag != 0);
	rig_init(&run.rig, o, &rig_ops, &run);
	rig_boot_all(&run.rig);
	loop_run();
	run.leaving = true;
	rig_kill_all(&run.rig);
	for (i = 0; i < run.rig.n; i++) {
		output_end(i);
		if (run.rig.node[i].con.splats && run.code < EXIT_RIG) {
			say("n%d: failed: its kernel log shows a splat", i);
			run.code = EXIT_RIG;
		}
	}
	return run.code;
}

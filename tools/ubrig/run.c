// SPDX-License-Identifier: GPL-2.0-only
/*
 * "ubrig run": a rig for the time of one command.
 *
 * Invariants: the command starts on all nodes once all are ready; a node that
 * dies before that ends the run. Then the run waits for every node's end, and
 * for the guests to power off, so that the last kernel message counts.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "job.h"
#include "output.h"
#include "progress.h"
#include "verbs.h"

#define POWEROFF_SECONDS 10

struct run {
	struct rig rig;
	struct command cmd;
	struct job *job;
	struct loop_timer boot, off;
	bool ran;
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

static void show_console(const struct node *n)
{
	const char *pos = n->con.tail.data;
	size_t len = n->con.tail.len, at = len;
	int lines = 0;

	if (!len)
		return;
	while (at && lines < 15)
		if (pos[--at] == '\n')
			lines++;
	say("n%d: the end of its console:", n->index);
	fwrite(pos + at + (pos[at] == '\n'), 1, len - at - (pos[at] == '\n'),
	       stderr);
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

static void job_done(void *arg, int worst)
{
	struct run *run = arg;
	int i;

	run->job = NULL;
	run->code = worst;
	run->leaving = true;
	for (i = 0; i < run->rig.n; i++)
		if (run->rig.node[i].state == NODE_READY) {
			node_poweroff(&run->rig.node[i]);
			run->ran = true;
		}
	if (!run->ran)
		loop_stop();
}

static const struct job_ops job_ops = {
	.output = job_out,
	.ended = job_ended,
	.say = job_say,
	.done = job_done,
};

static bool all_gone(const struct rig *r)
{
	int i;

	for (i = 0; i < r->n; i++)
		if (r->node[i].pid)
			return false;
	return true;
}

static void changed(void *arg, struct node *n)
{
	struct run *run = arg;
	struct opts *o = run->rig.opts;
	bool on[MAX_NODES];
	int i;

	if (n->state == NODE_DEAD && run->leaving) {
		if (all_gone(&run->rig))
			loop_stop();
	} else if (n->state == NODE_DEAD && !run->job) {
		say("n%d: did not come up: %s", n->index, n->why);
		show_console(n);
		stop(run, EXIT_RIG);
	} else if (n->state == NODE_READY && rig_all_ready(&run->rig)) {
		loop_timer_cancel(&run->boot);
		progress_hide();
		if (o->verbose)
			say("%d nodes up in %.1f s", run->rig.n,
			    (double)(now_ns() - run->rig.start) / NSEC_PER_SEC);
		for (i = 0; i < run->rig.n; i++)
			on[i] = true;
		run->job = job_start(&run->rig, on, &run->cmd, 0, o->timeout,
				     &job_ops, run);
	}
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
	.changed = changed,
	.splat = splat,
	.note = note,
	.signalled = signalled,
};

static void boot_too_long(void *arg)
{
	struct run *run = arg;
	int i;

	for (i = 0; i < run->rig.n; i++)
		if (run->rig.node[i].state == NODE_BOOTING) {
			say("n%d: not up after %g s (--boot-timeout)", i,
			    run->rig.opts->boot_timeout);
			show_console(&run->rig.node[i]);
		}
	stop(run, EXIT_RIG);
}

int run_verb(struct opts *o)
{
	static struct run run;
	int i;

	command_from_opts(&run.cmd, o);
	output_init(o->nodes, o->tag != 0);
	rig_init(&run.rig, o, &rig_ops, &run);
	rig_boot_all(&run.rig);
	loop_timer_set(&run.boot, o->boot_timeout * NSEC_PER_SEC, boot_too_long,
		       &run);
	loop_run();
	progress_hide();
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

// SPDX-License-Identifier: GPL-2.0-only
/* A command that runs once on each node of a set; see job.h. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "job.h"
#include "proto.h"

#define TERM_SECONDS	2	/* from SIGTERM to SIGKILL */

struct task {
	uint32_t exec;
	bool running;
	bool splat;	/* the node's kernel complained meanwhile */
};

struct job {
	struct rig *rig;
	const struct job_ops *ops;
	void *arg;
	struct task *task;	/* one per node */
	int left, worst;
	double seconds;
	bool ending;		/* a command ended the job for all */
	struct loop_timer timer;
	struct loop_timer term;
	struct loop_timer finish;
	struct job *next;
};

static void set_env(struct buf *env, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Replaces: getenv() in the command must find one value. */
static void set_env(struct buf *env, const char *name, const char *fmt, ...)
{
	size_t len = strlen(name), pos, step;
	va_list ap;
	char *value;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&value, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("out of memory");
	for (pos = 0; pos < env->len; pos += step) {
		step = strlen(env->data + pos) + 1;
		if (strncmp(env->data + pos, name, len) ||
		    env->data[pos + len] != '=')
			continue;
		memmove(env->data + pos, env->data + pos + step,
			env->len - pos - step);
		env->len -= step;
		step = 0;
	}
	buf_add(env, name, len);
	buf_add(env, "=", 1);
	buf_str(env, value);
	free(value);
}

static void merge_env(struct buf *env, const struct buf *from)
{
	size_t pos;
	char *var, *eq;

	for (pos = 0; pos < from->len; pos += strlen(from->data + pos) + 1) {
		var = xstrdup(from->data + pos);
		eq = strchr(var, '=');
		if (eq) {
			*eq = '\0';
			set_env(env, var, "%s", eq + 1);
		}
		free(var);
	}
}

/* What each level of configuration says, the stronger one later. */
static void make_env(struct buf *env, const struct node *n,
		     const struct command *c, const char *job_id)
{
	const struct opts *o = n->rig->opts;

	set_env(env, "HOME", "/root");
	if (!o->no_module)
		set_env(env, "UB_FABRIC", "dev");
	if (o->modules)
		set_env(env, "UB_MODULES", "%s", o->modules);
	if (o->machine)
		set_env(env, "UB_MACHINE", "%s", o->machine);
	if (o->lanes)
		set_env(env, "UB_LANES", "%d", o->lanes);
	merge_env(env, &c->env);
	set_env(env, "UB_RANK", "%d", n->index);
	set_env(env, "UB_SIZE", "%d", n->rig->n - o->spares);
	set_env(env, "UB_SPARES", "%d", o->spares);
	set_env(env, "UB_NODE", "%u", n->id);
	set_env(env, "UB_JOB", "%s", job_id);
}

static void job_free(struct job *j)
{
	struct job **p;

	for (p = &j->rig->jobs; *p; p = &(*p)->next)
		if (*p == j) {
			*p = j->next;
			break;
		}
	loop_timer_cancel(&j->timer);
	loop_timer_cancel(&j->term);
	loop_timer_cancel(&j->finish);
	free(j->task);
	free(j);
}

/* Agents keep the places of ranks that ended until now; see guest-absent.c. */
static void tell_over(struct job *j)
{
	struct buf b = { 0 };
	int i;

	buf_u32(&b, 0);
	for (i = 0; i < j->rig->n; i++)
		if (j->task[i].exec && j->rig->node[i].state == NODE_READY)
			chan_send(&j->rig->node[i].agent, UBRIG_KILL,
				  j->task[i].exec, b.data, b.len);
	buf_free(&b);
}

static void finish(void *arg)
{
	struct job *j = arg;
	const struct job_ops *ops = j->ops;
	void *owner = j->arg;
	int worst = j->worst;

	tell_over(j);
	job_free(j);
	ops->done(owner, worst);
}

static void ask_no_more(void *arg)
{
	job_kill(arg, SIGKILL);
}

/* bsp_abort() is of the whole job; each node's launcher ends its own node only. */
static void end_all(struct job *j, const struct node *n)
{
	char *text;

	j->ending = true;
	if (j->left) {
		text = xasprintf("n%d gave the job up, ending it everywhere", n->index);
		j->ops->say(j->arg, text);
		free(text);
		job_kill(j, SIGTERM);
		loop_timer_set(&j->term, TERM_SECONDS * NSEC_PER_SEC, ask_no_more, j);
	}
}

static void task_end(struct job *j, struct node *n, int code, const char *why)
{
	struct task *t = &j->task[n->index];

	t->running = false;
	if (t->splat && code < EXIT_RIG) {
		code = EXIT_RIG;
		why = "its kernel log shows a splat";
	}
	/* Not its own doing, when it was told to end. */
	if (code > j->worst && (!j->ending || code == EXIT_RIG))
		j->worst = code;
	j->ops->ended(j->arg, n, code, why);
	/* By a timer of zero: @done may free what our callers still use. */
	if (!--j->left)
		loop_timer_set(&j->finish, 0, finish, j);
}

static void timed_out(void *arg)
{
	struct job *j = arg;
	struct buf b = { 0 };
	int i;

	for (i = 0; i < j->rig->n; i++)
		if (j->task[i].running)
			buf_printf(&b, "%sn%d", b.len ? ", " : "", i);
	buf_add(&b, "", 1);
	{
		char *text = xasprintf("timeout after %g s: %s had not ended",
				       j->seconds, b.data);

		j->ops->say(j->arg, text);
		free(text);
	}
	buf_free(&b);
	job_kill(j, SIGKILL);
	for (i = 0; i < j->rig->n; i++)
		if (j->task[i].running)
			task_end(j, &j->rig->node[i], EXIT_TIMEOUT, NULL);
}

struct job *job_start(struct rig *r, const bool *on, const struct command *c,
		      uint32_t flags, double timeout, const struct job_ops *ops,
		      void *arg)
{
	struct job *j = xcalloc(1, sizeof(*j));
	unsigned char rnd[8] = { 0 };
	char id[2 * sizeof(rnd) + 1];
	size_t k;
	int i;

	if (getrandom(rnd, sizeof(rnd), 0) != sizeof(rnd))
		die("getrandom failed");
	for (k = 0; k < sizeof(rnd); k++)
		sprintf(id + 2 * k, "%02x", rnd[k]);
	j->rig = r;
	j->ops = ops;
	j->arg = arg;
	j->task = xcalloc(r->n, sizeof(*j->task));
	j->next = r->jobs;
	r->jobs = j;
	for (i = 0; i < r->n; i++) {
		struct command mine = { .cwd = c->cwd, .argv = c->argv };
		struct buf payload = { 0 };

		if (!on[i])
			continue;
		make_env(&mine.env, &r->node[i], c, id);
		buf_u32(&payload, flags);
		command_pack(&mine, &payload);
		j->task[i].exec = ++r->last_exec;
		j->task[i].running = true;
		j->left++;
		chan_send(&r->node[i].agent, UBRIG_EXEC, j->task[i].exec,
			  payload.data, payload.len);
		buf_free(&payload);
		buf_free(&mine.env);
	}
	j->seconds = timeout;
	if (timeout > 0)
		loop_timer_set(&j->timer, timeout * NSEC_PER_SEC, timed_out, j);
	return j;
}

void job_kill(struct job *j, int sig)
{
	struct buf b = { 0 };
	int i;

	buf_u32(&b, sig);
	for (i = 0; i < j->rig->n; i++)
		if (j->task[i].running)
			chan_send(&j->rig->node[i].agent, UBRIG_KILL,
				  j->task[i].exec, b.data, b.len);
	buf_free(&b);
}

void job_forget(struct job *j)
{
	job_kill(j, SIGKILL);
	tell_over(j);
	job_free(j);
}

static struct job *find(struct node *n, uint32_t exec)
{
	struct job *j;

	for (j = n->rig->jobs; j; j = j->next)
		if (j->task[n->index].running && j->task[n->index].exec == exec)
			return j;
	return NULL;
}

void job_output(struct node *n, uint32_t id, bool err, const char *buf,
		size_t len)
{
	struct job *j = find(n, id);

	if (j)
		j->ops->output(j->arg, n, err, buf, len);
}

void job_exit(struct node *n, uint32_t id, int code)
{
	struct job *j = find(n, id);
	bool gave_up = code == EXIT_ABORT;

	if (!j)
		return;
	task_end(j, n, code & ~UBRIG_SIGNALLED, NULL);
	if (gave_up && !j->ending)
		end_all(j, n);
}

void job_splat(struct node *n)
{
	struct job *j;

	for (j = n->rig->jobs; j; j = j->next)
		j->task[n->index].splat = true;
}

void job_node_died(struct node *n)
{
	struct job *j;

	for (j = n->rig->jobs; j; j = j->next)
		if (j->task[n->index].running)
			task_end(j, n, n->killed ? 128 + SIGKILL : EXIT_RIG,
				 n->why);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A job: one command that runs once on each node of a set.
 *
 * Invariants: all its tasks share one UB_JOB. Each task ends exactly once, by
 * the command's end, the node's death, or the time-out; when the last one
 * has, @done is called once and the job is freed. The worst code wins.
 */
#ifndef UBRIG_JOB_H
#define UBRIG_JOB_H

#include "rig.h"

struct command {
	char *cwd;
	char **argv;	/* NULL at the end */
	struct buf env;	/* "NAME=VALUE" strings */
};

struct job_ops {
	void (*output)(void *arg, struct node *n, bool err, const char *buf,
		       size_t len);
	void (*ended)(void *arg, struct node *n, int code, const char *why);
	void (*say)(void *arg, const char *text);
	void (*done)(void *arg, int worst);
};

void command_from_opts(struct command *c, const struct opts *o);
void command_pack(const struct command *c, struct buf *out);
bool command_unpack(struct command *c, const char *buf, size_t len);
void command_free(struct command *c);

struct job *job_start(struct rig *r, const bool *on, const struct command *c,
		      uint32_t flags, double timeout, const struct job_ops *ops,
		      void *arg);
void job_kill(struct job *j, int sig);
void job_forget(struct job *j);		/* kill, and tell nobody */

/* From the nodes. */
void job_output(struct node *n, uint32_t id, bool err, const char *buf,
		size_t len);
void job_exit(struct node *n, uint32_t id, int code);
void job_splat(struct node *n);
void job_node_died(struct node *n);

#endif

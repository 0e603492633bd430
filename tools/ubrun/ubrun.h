/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ubrun: starts the ranks of a job on this machine and ends with them.
 *
 * Processes
 * ---------
 *	ubrun		what the user started: passes signals on, gives the status
 *	  supervisor	starts the ranks, joins their output, ends them
 *	    rank 0..n-1	and whatever they start
 *
 * Both upper ones are child subreapers, so all that a rank starts stays below
 * them whatever becomes of its parents. When either is killed the other ends
 * all that is left: only killing both at once can leave a process behind, and
 * then the ranks still die by PR_SET_PDEATHSIG.
 *
 * All stay in one process group and session, so that the terminal's signals
 * reach the ranks by themselves and rank 0 can read the terminal.
 */
#ifndef UBRUN_H
#define UBRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UBRUN_EX_USAGE		2
#define UBRUN_EX_TIMEOUT	124
#define UBRUN_EX_SETUP		125
#define UBRUN_EX_ABORT		134	/* of a rank: it ended the whole job */

enum ubrun_bind {
	UBRUN_BIND_AUTO,	/* when ranks outnumber CPUs */
	UBRUN_BIND_NONE,
	UBRUN_BIND_CORE,
};

/**
 * struct ubrun_opts - the command line
 * @nranks: processes to start here, with the spares
 * @first: rank of the first of them
 * @total: ranks of the whole job, without the spares
 * @spares: ranks beyond them, which wait for a loss
 * @lanes: ranks of one node
 * @dev: on the device, not on shared memory of this machine
 * @fabric: value for UB_FABRIC
 * @machine: machine file, or NULL
 * @timeout_ms: for the whole job; -1: none
 * @grace_ms: for the others after a rank has failed; -1: for ever
 * @tag: put [rank] before each line
 * @bind: bind each rank to a CPU: when
 * @verbose: tell what happens
 * @argv: program and arguments
 */
struct ubrun_opts {
	int nranks;
	int first;
	int total;
	int spares;
	int lanes;
	bool dev;
	const char *fabric;
	const char *machine;
	int64_t timeout_ms;
	int64_t grace_ms;
	bool tag;
	enum ubrun_bind bind;
	bool verbose;
	char **argv;
};

/* main.c: a message with "ubrun: " before it, on standard error */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* job.c: the supervisor; @lifeline reads end of file when the parent died.
 * Returns the job's exit status. */
int job_run(const struct ubrun_opts *o, int lifeline);

/* tree.c */
/* Ends all descendants at once and reaps them. */
void tree_kill(void);
/* Sends @sig to all descendants. Returns how many there are. */
int tree_signal(int sig);

/* fabric.c */
/* Reads the machine file, NULL: none. Returns its nodes, 0 when there is no
 * file, or a negative errno after a message. Comes before the others. */
int fabric_machine_nodes(const char *file);
/* What all ranks share: memory of the host back end, environment. Returns 0,
 * or a negative errno after a message. */
int fabric_setup(const struct ubrun_opts *o);
/* In the supervisor, since a mapping does not survive the fork. */
int fabric_attach(void);
/* In the child that becomes @rank. */
void fabric_child(const struct ubrun_opts *o, int rank);
/* In the supervisor: tells the other ranks at once that @rank has ended; @failed:
 * it may have done so before it came to them. */
void fabric_ended(const struct ubrun_opts *o, int rank, bool failed);

/* output.c */
struct mux;
struct pollfd;
struct mux *mux_new(int nranks, int first, bool tag);
void mux_free(struct mux *m);
/* Gives the ends of pipes for stdout and stderr of rank @i to @ends. */
int mux_open(struct mux *m, int i, int ends[2]);
/* Puts what is to be polled into @pfd (room: 2 * nranks + 2); returns number. */
int mux_poll(struct mux *m, struct pollfd *pfd);
/* After poll(): reads and writes; @now in ms. */
void mux_work(struct mux *m, const struct pollfd *pfd, int n, int64_t now);
/* ms until mux_work() must be called again, or -1 */
int mux_timeout(const struct mux *m, int64_t now);
/* Pipes that are still open. */
int mux_open_pipes(const struct mux *m);
/* Gives up on the pipes: what was read is brought to its end. */
void mux_close_pipes(struct mux *m);
/* Something is left to be written and can be. */
bool mux_pending(const struct mux *m);
/* A message of ubrun itself, between whole lines of the ranks. */
void mux_say(struct mux *m, const char *line);

#endif

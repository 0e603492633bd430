/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ubperf: how long the fabric's operations take.
 *
 * A test is a table row: prepare, an operation that is done a number of times,
 * verify, finish. run.c does the rest the same way for all: agrees with the
 * other ranks on how often, takes times, and hands the slowest rank's figures
 * to report.c.
 *
 * What run.c needs of the other ranks is a struct perf_team, so that programs
 * on other libraries (peers/) are timed by the same code.
 */
#ifndef UBPERF_H
#define UBPERF_H

#include <libub.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_EX_FAILED	1
#define PERF_EX_USAGE	2
#define PERF_EX_SKIP	4

#define PERF_SIZES	8

struct perf_opts {
	const char *test;
	const char *fabric;	/* NULL: from the environment */
	const char *raw_file;
	const char *tcp_peer;
	const char *level;	/* of the machine file, for inner scopes */
	size_t size[PERF_SIZES];
	int nsizes;		/* 0: the test's own size */
	long iters;		/* 0: the test's own, cut to the budget */
	long budget_ms;		/* 0: the usual one, and iters is not cut to it */
	long warmup;		/* -1: a tenth of the iterations */
	long batch;		/* 0: by how long an operation takes */
	long late_ms;		/* idle: how late rank 0 is */
	bool json;
	bool check;
	bool sleep;
};

struct perf;

/**
 * struct perf_team - the ranks, as run.c sees them; all collective
 * @sync: nobody leaves before all have come
 * @max: largest @v of all ranks, on all
 * @gather: @bytes of each rank, in rank order, on all
 */
struct perf_team {
	void (*sync)(struct perf *p);
	double (*max)(struct perf *p, double v);
	void (*gather)(struct perf *p, const void *in, size_t bytes, void *out);
};

/**
 * struct perf - the job
 * @fabric: as it is reported
 * @ctx: NULL in a peer's program
 * @world: the same
 * @nodes: distinct nodes of the ranks
 * @next: rank that this one works on
 */
struct perf {
	const struct perf_opts *o;
	const struct perf_team *team;
	const char *fabric;
	struct ub_ctx *ctx;
	struct ub_scope *world;
	int rank;
	int n;
	int nodes;
	int next;
	int prev;
};

enum perf_verdict { PERF_UNCHECKED, PERF_GOOD, PERF_BAD };

/**
 * struct perf_run - one test as it runs
 * @size: bytes of an operation, 0: it has none
 * @active: this rank takes part; the others wait in a barrier
 * @untimed: its times are not of interest
 * @done: operations so far, with those to warm up
 * @why: why the test cannot run here
 * @win: window of the test, or NULL
 * @local: @size bytes of private memory, or NULL
 * @remote: where copies go to or come from, or results
 * @fd: descriptor of the test, or -1
 * @group: of the device
 * @first_epoch: barrier before the first
 * @last_epoch: last barrier
 * @wrong: data was seen to be wrong on the way
 * @priv: the test's own
 */
struct perf_run {
	size_t size;
	bool active;
	bool untimed;
	uint64_t done;
	char why[128];
	struct ub_win *win;
	char *local;
	char *remote;
	int fd;
	uint32_t group;
	uint64_t first_epoch;
	uint64_t last_epoch;
	bool wrong;
	void *priv;
};

/**
 * struct perf_test - a kind of test
 * @name: of the row
 * @group: other name that selects it, or NULL
 * @size: default bytes, 0: the operation has no size
 * @iters: default number of operations
 * @messages: of @size bytes in an operation, 0: one
 * @sleepers: runs with --sleep only
 * @by_name: not part of "all"
 * @cpu: times are the process's CPU time
 * @prepare: returns 0, or -ENOTSUP after having filled in why; collective
 * @before: not timed, before each operation, which is timed alone; or NULL
 * @loop: @count operations
 * @verify: after a barrier, with --check: is the data what it should be
 * @finish: collective; or NULL
 */
struct perf_test {
	const char *name;
	const char *group;
	size_t size;
	long iters;
	long messages;
	bool sleepers;
	bool by_name;
	bool cpu;
	int (*prepare)(struct perf *p, struct perf_run *r);
	void (*before)(struct perf *p, struct perf_run *r);
	void (*loop)(struct perf *p, struct perf_run *r, long count);
	enum perf_verdict (*verify)(struct perf *p, struct perf_run *r);
	void (*finish)(struct perf *p, struct perf_run *r);
};

/* Rows end with one without a name. */
extern const struct perf_test latency_tests[];
extern const struct perf_test onesided_tests[];
extern const struct perf_test map_tests[];
extern const struct perf_test raw_tests[];
extern const struct perf_test ioctl_tests[];
extern const struct perf_test tcp_tests[];
extern const struct perf_test superstep_tests[];
extern const struct perf_test scope_tests[];
extern const struct perf_test coll_tests[];
extern const struct perf_test cpu_tests[];

/**
 * struct perf_row - what is reported
 * @batch: operations between two looks at the clock; all times are of one
 *	operation, as a mean over its batch
 * @slowest: rank with the largest median; times are its own
 * @skipped: why there are no figures, or NULL
 */
struct perf_row {
	const char *test;
	const char *fabric;
	int nodes;
	int members;
	size_t size;
	long messages;
	long iters;
	long batch;
	bool cpu;
	double min;
	double mean;
	double p50;
	double p90;
	double p99;
	double max;
	int slowest;
	enum perf_verdict verdict;
	const char *skipped;
};

/* util.c: ends the program with the library's text when @err is not 0 */
void must(int err, const char *what);
void *must_alloc(size_t bytes);
/* Next of a row of numbers that is the same for the same @state. */
uint64_t perf_random(uint64_t *state);

/* opts.c: ends the program on wrong usage; @families ends with NULL */
void perf_parse(struct perf_opts *o, const char *usage,
		const struct perf_test *const *families, int argc, char **argv);
bool perf_selected(const struct perf_opts *o, const struct perf_test *t);

/* run.c: collective; all selected tests with all sizes; the exit status */
int perf_run(struct perf *p, const struct perf_test *const *families);

/* report.c: on rank 0 */
void report_row(const struct perf_opts *o, const struct perf_row *row);
void report_end(const struct perf_opts *o);

/* pattern.c */
/* A pattern that depends on rank and place. */
void data_fill(void *mem, size_t bytes, int rank);
bool data_is(const void *mem, size_t bytes, int rank);
/* put-random: where in @room bytes @rank puts its pattern of @size bytes. */
#define RANDOM_PUTS	10000
#define RANDOM_ROOM	(1UL << 20)
size_t *data_places(int rank, size_t size, size_t room);
bool data_at_places(const char *mem, size_t size, size_t room, int rank);
/* allreduce: numbers in r->local, their sums shall come into r->remote. */
int data_doubles(struct perf *p, struct perf_run *r);
enum perf_verdict data_sums_verify(struct perf *p, struct perf_run *r);
void data_doubles_free(struct perf *p, struct perf_run *r);
/* Rank 0 sleeps for o->late_ms. */
void perf_late(struct perf *p, struct perf_run *r);

/* latency.c: the barrier of all ranks */
int barrier_prepare(struct perf *p, struct perf_run *r);
void barrier_loop(struct perf *p, struct perf_run *r, long count);
enum perf_verdict barrier_verify(struct perf *p, struct perf_run *r);

/* data.c */
/* Makes r->win of @bytes each, r->local of r->size, r->remote: next's memory. */
int data_prepare(struct perf *p, struct perf_run *r, size_t bytes);
void data_finish(struct perf *p, struct perf_run *r);
/* Copies between r->local and r->remote; read: has r->local next's pattern? */
void data_read_loop(struct perf *p, struct perf_run *r, long count);
void data_write_loop(struct perf *p, struct perf_run *r, long count);
enum perf_verdict data_read_verify(struct perf *p, struct perf_run *r);

/* The device file in use, or NULL on another back end. */
const char *perf_device(struct perf *p);
/* ioctl.c: do stores to a peer's window reach it before the next barrier? */
bool perf_coherent(struct perf *p);

#endif

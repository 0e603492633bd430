/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ubperf: how long the fabric's operations take.
 *
 * A test is a table row: prepare, an operation that is done a number of times,
 * verify, finish. run.c does the rest the same way for all: agrees with the
 * other ranks on how often, takes times, and hands the slowest rank's figures
 * to report.c.
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

struct perf_opts {
	const char *test;
	const char *fabric;	/* NULL: from the environment */
	const char *raw_file;
	const char *tcp_peer;
	size_t size;		/* 0: the test's own */
	long iters;		/* 0: the test's own, cut to BUDGET */
	long warmup;		/* -1: a tenth of the iterations */
	bool json;
	bool check;
	bool sleep;
};

/**
 * struct perf - the job
 * @nodes: distinct nodes of the ranks
 * @next: rank that this one works on
 */
struct perf {
	const struct perf_opts *o;
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
 * @remote: where mapped copies go to or come from
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
 * @prepare: returns 0, or -ENOTSUP after having filled in why; collective
 * @before: not timed, before each operation, which is timed alone; such tests
 *	run with --sleep only
 * @loop: @count operations
 * @verify: after a barrier, with --check: is the data what it should be
 * @finish: collective; or NULL
 */
struct perf_test {
	const char *name;
	const char *group;
	size_t size;
	long iters;
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
	long iters;
	long batch;
	double min;
	double p50;
	double p99;
	double max;
	int slowest;
	enum perf_verdict verdict;
	const char *skipped;
};

/* main.c: ends the program with the library's text when @err is not 0 */
void must(int err, const char *what);
void *must_alloc(size_t bytes);

/* run.c: collective; fills in @row on all ranks */
void perf_run_test(struct perf *p, const struct perf_test *t, struct perf_row *row);

/* report.c: on rank 0 */
void report_row(const struct perf_opts *o, const struct perf_row *row);
void report_end(const struct perf_opts *o);

/* data.c */
/* A pattern that depends on rank and place. */
void data_fill(void *mem, size_t bytes, int rank);
bool data_is(const void *mem, size_t bytes, int rank);
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

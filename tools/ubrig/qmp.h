/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QEMU's monitor protocol, as far as the rig needs it: commands one after the
 * other, each with a callback that gets the error text or NULL.
 */
#ifndef UBRIG_QMP_H
#define UBRIG_QMP_H

#include "util.h"

typedef void qmp_done_fn(void *arg, const char *error);
/* @device: the id that the event is about, or "" */
typedef void qmp_event_fn(void *arg, const char *event, const char *device);

struct qmp_cmd {
	qmp_done_fn *done;
	void *arg;
	struct qmp_cmd *next;
};

struct qmp {
	int fd;			/* -1: closed */
	struct buf in;
	struct qmp_cmd *first;	/* sent, not answered, in order */
	qmp_event_fn *event;	/* may be NULL */
	void *arg;
};

void qmp_open(struct qmp *q, int fd);
/* @args: a JSON object, or NULL; @fd: goes with it, stays the caller's, or -1 */
void qmp_run(struct qmp *q, const char *command, const char *args, int fd,
	     qmp_done_fn *done, void *arg);
void qmp_close(struct qmp *q);	/* what waits gets an error */

#endif

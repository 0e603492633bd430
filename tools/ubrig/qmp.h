/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * QEMU's monitor protocol, as far as the rig needs it: commands one after the
 * other, each with a callback that gets the error text or NULL.
 */
#ifndef UBRIG_QMP_H
#define UBRIG_QMP_H

#include "util.h"

typedef void qmp_done_fn(void *arg, const char *error);

struct qmp_cmd {
	qmp_done_fn *done;
	void *arg;
	struct qmp_cmd *next;
};

struct qmp {
	int fd;			/* -1: closed */
	struct buf in;
	struct qmp_cmd *first;	/* sent, not answered, in order */
};

void qmp_open(struct qmp *q, int fd);
void qmp_run(struct qmp *q, const char *command, qmp_done_fn *done, void *arg);
void qmp_close(struct qmp *q);	/* what waits gets an error */

#endif

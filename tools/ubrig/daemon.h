/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The standing rig and its clients: daemon.c serves them, daemon_ops.c does
 * what they ask of nodes, status.c tells of the rig.
 *
 * Invariants: a client's request is answered by one UBRIG_CTL_DONE, at once or
 * when what it asked for has happened. A client that goes away takes its
 * command with it. A node's death is remembered, and ends nothing else.
 */
#ifndef UBRIG_DAEMON_H
#define UBRIG_DAEMON_H

#include "job.h"

enum wait_for { WAIT_NOTHING, WAIT_DEATH, WAIT_BOOT, WAIT_MONITOR };

struct client {
	struct daemon *d;
	struct chan chan;
	struct job *job;
	enum wait_for wait;
	struct node *node;	/* that we wait for */
	const char *word;	/* second operand of what it asks, or "" */
	struct client *next;
};

struct daemon {
	struct rig rig;
	int listener, ready_fd;
	struct client *clients;
};

/* daemon.c */
void client_done(struct client *c, int code);
void client_info(struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void client_refuse(struct client *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
extern const struct job_ops client_job_ops;

/* daemon_ops.c */
void client_op(struct client *c, const char *buf, uint32_t len);

/* status.c */
void status_write(const struct rig *r, bool json, struct buf *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/* What ubrig can be asked to do; each returns the exit code. */
#ifndef UBRIG_VERBS_H
#define UBRIG_VERBS_H

#include "rig.h"

int run_verb(struct opts *o);		/* run.c: run */
int up_verb(struct opts *o);		/* up.c: up */
int client_verb(struct opts *o);	/* client.c: all others */

/* daemon.c: the standing rig itself; returns when it is down */
void daemon_serve(struct opts *o, int listener, int ready_fd);
#endif

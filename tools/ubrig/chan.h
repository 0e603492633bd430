/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection that carries frames (proto.h), driven by the event loop.
 *
 * Invariants: sending never blocks, what does not fit is queued; after
 * @closed was called the chan is closed and may be freed or opened again;
 * neither callback runs from within chan_send().
 */
#ifndef UBRIG_CHAN_H
#define UBRIG_CHAN_H

#include <stdbool.h>
#include <stdint.h>

#include "util.h"

struct chan {
	int fd;			/* -1: closed */
	struct buf in, out;
	void (*frame)(void *arg, uint32_t type, uint32_t id, const char *buf,
		      uint32_t len);
	void (*closed)(void *arg);
	void *arg;
};

void chan_open(struct chan *c, int fd);		/* takes @fd */
void chan_send(struct chan *c, uint32_t type, uint32_t id, const void *buf,
	       uint32_t len);
void chan_close(struct chan *c);		/* without calling @closed */

#endif

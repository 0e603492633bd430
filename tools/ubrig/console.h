/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stream of text lines from a VM: the serial console, or QEMU's stderr.
 * Keeps the last part, writes a log where one is wanted, and finds splats.
 *
 * Invariant: every line that the guest's kernel printed before it died has
 * been seen when console_drain() returns; what it printed before a command
 * ended, when console_poll() returns after that.
 */
#ifndef UBRIG_CONSOLE_H
#define UBRIG_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "util.h"

#define CONSOLE_KEEP (256U << 10)

struct console {
	int fd;			/* -1: closed */
	int log;		/* -1: none */
	struct buf tail;	/* the last CONSOLE_KEEP bytes or more */
	struct buf line;
	int splats;
	int show;		/* lines of a splat still to be shown */
	bool panicked;
	/* a line of a splat, or any line where @all is set */
	void (*shown)(void *arg, const char *line);
	void *arg;
	bool all;
};

void console_open(struct console *c, int fd, const char *log_path);
void console_poll(struct console *c);	/* what has come by now */
void console_drain(struct console *c);	/* to the end, then close */
bool splat_starts(const char *line);	/* pure */

#endif

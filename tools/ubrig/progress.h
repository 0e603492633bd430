/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line on stderr that tells how far the boot is.
 *
 * Invariant: only on a terminal; everything else that is printed hides it
 * first, so that it never mixes with a line.
 */
#ifndef UBRIG_PROGRESS_H
#define UBRIG_PROGRESS_H

void progress_show(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void progress_hide(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a client and a standing rig find each other: an abstract unix socket
 * named by user and rig.
 *
 * Invariant: abstract names belong to nobody, so each side checks who the
 * other is: the same user, or root.
 */
#ifndef UBRIG_CONTROL_H
#define UBRIG_CONTROL_H

#include <stdbool.h>

int control_listen(const char *name);	/* -1 and errno: EADDRINUSE */
int control_connect(const char *name);	/* -1 and errno */
bool control_trusted(int fd);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What guests boot: a kernel, the folder of its modules, and an initramfs
 * made from PID 1 and the few modules on the way to the root file system.
 *
 * Invariant: the initramfs is a memfd, made anew for each rig (it takes
 * milliseconds), so there is nothing to go stale.
 */
#ifndef UBRIG_KERNEL_H
#define UBRIG_KERNEL_H

#include <stdbool.h>

struct guest_kernel {
	char *image;
	char *modules;	/* .../lib/modules/RELEASE; NULL: all built in */
};

/* kernel.c */
char *kernel_fetch(const char *version);	/* folder; NULL: the usual one */
char *kernel_our_modules(const char *dir);	/* that were built for it */
void kernel_find(struct guest_kernel *k, const char *dir);
char *beside_binary(const char *name, const char *in_source);

/* initramfs.c */
int initramfs_make(const struct guest_kernel *k, bool probe);	/* memfd */

/*
 * moddep.c: calls @fn with the path below @dir, .../lib/modules/RELEASE, of each
 * module that one of @names (NULL ends them) needs, in the order of loading, then
 * with its own; several times maybe. One that is not there is built in.
 */
typedef void moddep_fn(void *arg, const char *path);
void moddep(const char *dir, const char *const *names, moddep_fn *fn, void *arg);

/* tsc.c */
unsigned int tsc_measure_khz(void);

/* probe.c */
const char *accel_probe(const struct guest_kernel *k, const char *want);

#endif

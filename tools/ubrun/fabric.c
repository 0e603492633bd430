// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libub reads at ub_init(): the environment, and for the host back end
 * one memfd that all ranks inherit. It has no name, so nothing is left behind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "ubrun.h"

static int arena = -1;

static void set_number(const char *name, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	setenv(name, text, 1);
}

static int set_job(void)
{
	unsigned char key[16];
	char text[2 * sizeof(key) + 1];
	size_t i;

	if (getrandom(key, sizeof(key), 0) != sizeof(key)) {
		say("getrandom: %s", strerror(errno));
		return -errno;
	}
	for (i = 0; i < sizeof(key); i++)
		sprintf(text + 2 * i, "%02x", key[i]);
	setenv("UB_JOB", text, 1);
	return 0;
}

int fabric_setup(const struct ubrun_opts *o)
{
	int err;

	setenv("UB_FABRIC", o->fabric, 1);
	set_number("UB_SIZE", o->total);
	if (o->machine) {
		if (access(o->machine, R_OK)) {
			err = -errno;
			say("machine file %s: %s", o->machine, strerror(errno));
			return err;
		}
		setenv("UB_MACHINE", o->machine, 1);
	}
	if (o->dev) {
		/* The other nodes' ranks must have the same key as ours. */
		if (o->total == o->nranks && !getenv("UB_JOB"))
			return set_job();
		return 0;
	}
	err = set_job();
	if (err)
		return err;
	arena = memfd_create("ubrun", 0);
	if (arena < 0) {
		err = -errno;
		say("shared memory: %s", strerror(errno));
		return err;
	}
	set_number("UB_HOST_FD", arena);
	return 0;
}

void fabric_child(const struct ubrun_opts *o, int rank)
{
	set_number("UB_RANK", rank);
	if (!o->dev)
		set_number("UB_NODE", rank / o->lanes);
}

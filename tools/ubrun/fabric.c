// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libub reads at ub_init(): the environment, and for the host back end
 * one memfd that all ranks inherit. It has no name, so nothing is left behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <libub.h>

#include "absent.h"
#include "host_arena.h"
#include "machine.h"
#include "ubrun.h"

#define LOW_FDS	10	/* which a rank may expect to get */

static int arena_fd = -1;
static bool own_key;	/* nobody but these ranks has it */
static struct ub_host_arena *arena;
static struct ub_machine machine;

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

static int make_arena(int nranks)
{
	int made, fd;

	made = ub_host_arena_create(nranks, 0);
	if (made < 0) {
		say("%s", ub_last_error());
		return made;
	}
	/* Without close-on-exec: the ranks inherit it. */
	fd = fcntl(made, F_DUPFD, LOW_FDS);
	close(made);
	if (fd < 0)
		return -errno;
	set_number("UB_HOST_FD", fd);
	arena_fd = fd;
	return 0;
}

int fabric_attach(void)
{
	if (arena_fd < 0)
		return 0;
	arena = ub_host_arena_map(arena_fd);
	if (arena)
		return 0;
	say("%s", ub_last_error());
	return -EINVAL;
}

int fabric_machine_nodes(const char *file)
{
	if (ub_machine_read(&machine, file)) {
		say("%s", ub_last_error());
		return -EINVAL;
	}
	return machine.flat ? 0 : (int)ub_machine_nodes(&machine);
}

int fabric_setup(const struct ubrun_opts *o)
{
	int err;

	setenv("UB_FABRIC", o->fabric, 1);
	set_number("UB_SIZE", o->total);
	if (!o->dev)
		set_number("UB_SPARES", o->spares);
	if (o->machine)
		setenv("UB_MACHINE", o->machine, 1);
	if (o->dev) {
		/* The other nodes' ranks must have the same key as ours. */
		own_key = o->total == o->nranks;
		return own_key ? set_job() : 0;
	}
	err = set_job();
	return err ? err : make_arena(o->nranks);
}

void fabric_child(const struct ubrun_opts *o, int rank)
{
	int node = rank / o->lanes;

	set_number("UB_RANK", rank);
	if (!o->dev)
		set_number("UB_NODE", machine.flat ? node :
			   (int)ub_machine_node(&machine, node));
}

void fabric_ended(const struct ubrun_opts *o, int rank, bool failed)
{
	static struct ub_ctx *told;

	/*
	 * Under a key that others use, too, a rank that did all it had to must not
	 * be missed in what they do next.
	 */
	if (arena)
		ub_host_arena_exited(arena, rank);
	else if (o->dev && (failed || own_key) && ub_absent(rank, &told) && o->verbose)
		say("%s", ub_last_error());
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of ubrig, parsed and checked.
 *
 * Invariant: after opts_parse() paths are absolute, since a standing rig
 * leaves the caller's folder.
 */
#ifndef UBRIG_OPTS_H
#define UBRIG_OPTS_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_NODES 64
#define MAX_DEVICES 8	/* as many as ub_ivshmem takes */

struct opts {
	const char *verb;	/* run, up, exec, ... */
	const char *name;	/* of the standing rig */
	int nodes;		/* with the spares */
	int spares;
	uint32_t ids[MAX_NODES];
	int lanes;		/* 0: not given */
	char *machine;
	int smp[MAX_NODES];	/* CPUs */
	int mem;		/* MiB */
	int devices;
	uint64_t bar[MAX_DEVICES];	/* bytes */
	bool plain[MAX_DEVICES];
	bool hotplug;
	bool rdma;		/* no memory in common: a network, and soft-RoCE */
	double timeout, boot_timeout;	/* seconds, 0: none */
	char *modules;		/* folder on the host */
	bool no_module;
	char **params;		/* "module.key=value" */
	int nparams;
	char **env;		/* "NAME=VALUE" */
	int nenv;
	char *keep_logs;
	char *kernel_dir;	/* of what guests boot */
	char *root;		/* their root file system on the host */
	char *init;		/* their PID 1, beside the agent; NULL: none */
	char **qemu;		/* words for QEMU, "%n" is the node's index */
	int nqemu;
	char *append;		/* to the guest's kernel command line */
	const char *accel;	/* auto, kvm, tcg */
	int tag;		/* 1, 0, -1: by what is run */
	bool verbose, json;
	char **words;		/* operands before "--" */
	int nwords;
	char **argv;		/* command after "--" */
	int argc;
};

void opts_parse(struct opts *o, int argc, char **argv);
void opts_help(const char *verb);

#endif

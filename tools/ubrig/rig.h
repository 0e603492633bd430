/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A rig: N nodes, one QEMU each, that share a memory.
 *
 *	struct rig
 *	  |- opts		what the user asked for
 *	  |- kernel		files that all guests boot from
 *	  |- mem[device]	a shared memory, and who is connected to it
 *	  |- net		or a network instead
 *	  `- node[n]		state, QEMU's pid, and what leads into it:
 *		|- console	serial line; splats are found here
 *		|- qmp		QEMU's monitor
 *		`- agent	PID 1 of the guest; commands run through it
 *
 * Invariants: a rig lives in one single-threaded process, the parent of all
 * its QEMUs, which die with that thread (PR_SET_PDEATHSIG). A node moves
 *
 *	OFF -> BOOTING -> READY -> DEAD -> BOOTING -> ...
 *
 * and DEAD is entered only when QEMU has been reaped. paused (QMP stop) and
 * frozen (SIGSTOP of QEMU) are independent of that.
 */
#ifndef UBRIG_RIG_H
#define UBRIG_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "chan.h"
#include "console.h"
#include "ivshmem_server.h"
#include "kernel.h"
#include "loop.h"
#include "opts.h"
#include "qmp.h"
#include "switch.h"

enum node_state { NODE_OFF, NODE_BOOTING, NODE_READY, NODE_DEAD };

struct rig;
struct node;
struct job;

/* What a node has of one ivshmem device. */
struct device {
	bool plugged;
	int64_t peer;		/* ivshmem id; of a plain device none */
	int plugs;		/* of this boot, the first included */
};

/* What is going on with one of a node's devices. */
struct plug {
	void (*done)(struct node *n, const char *error);	/* NULL: nothing */
	int device;
	char error[256];
	struct loop_timer limit;
};

struct node {
	struct rig *rig;
	int index;		/* rank, name n<index>, never changes */
	uint32_t id;		/* the fabric's node id */
	enum node_state state;
	bool paused, frozen;
	bool killed;		/* by us: its death is no failure */
	bool leaving;		/* told to power off */
	char why[256];		/* why it is dead, for people */
	pid_t pid;
	struct device dev[MAX_DEVICES];
	struct plug plug;
	int holds;		/* descriptors that QEMU keeps for nothing */
	int64_t born, ready;	/* ns */
	int boots;
	struct console con;
	struct console err;	/* what QEMU itself says */
	struct qmp qmp;
	struct chan agent;
};

/* What the owner of a rig (run.c, daemon.c) wants to hear of. */
struct rig_ops {
	/* once: every node is ready, or the first boot failed, as was told */
	void (*up)(void *arg);
	void (*boot_failed)(void *arg);
	void (*changed)(void *arg, struct node *n);	/* its state */
	void (*splat)(void *arg, struct node *n, const char *line);
	void (*note)(void *arg, struct node *n, const char *text);
	/* SIGINT, SIGTERM or SIGHUP */
	void (*signalled)(void *arg, int sig);
};

struct rig {
	struct opts *opts;
	struct guest_kernel kernel;
	struct ivshmem mem[MAX_DEVICES];
	struct net_switch net;	/* --transport rdma */
	struct node *node;
	int n;
	int initrd_fd;		/* memfd */
	char *accel;
	unsigned int tsc_khz;		/* of the host, which guests see */
	const struct rig_ops *ops;
	void *arg;
	struct job *jobs;
	uint32_t last_exec;
	bool booting;			/* the first boot of all nodes */
	struct loop_timer progress, boot_limit;
	int64_t start;
};

/* rig.c */
void rig_init(struct rig *r, struct opts *o, const struct rig_ops *ops,
	      void *arg);
void rig_boot_all(struct rig *r);
void rig_changed(struct node *n);	/* from node.c */
void rig_kill_all(struct rig *r);	/* and reap */
struct node *rig_find(struct rig *r, const char *name);

/* node.c */
void node_boot(struct node *n);
void node_kill(struct node *n);
void node_freeze(struct node *n);
void node_thaw(struct node *n);
void node_poweroff(struct node *n);
void node_reaped(struct node *n, int status);
const char *node_state_name(const struct node *n);

/*
 * plug.c: one at a time for each node, with --hotplug. @done is called once,
 * with what QEMU says or NULL, maybe before these return.
 */
void node_plug(struct node *n, int device,
	       void (*done)(struct node *n, const char *error));
void node_unplug(struct node *n, int device,
		 void (*done)(struct node *n, const char *error));
/* The set of QEMU's spare descriptors that a doorbell device is plugged with. */
#define SPARE_FDS	24
int node_spare_set(const struct node *n, int device);
void node_plug_over(struct node *n, const char *error);
void node_qmp_event(void *arg, const char *event, const char *device);

/* qemu.c */
struct qemu_fds {
	int qmp, serial, agent, err, node_cfg, boot_cfg;
	int ivshmem[MAX_DEVICES];	/* -1: plain */
	int silent;			/* an eventfd that nobody rings */
	int net;			/* -1: none */
};
pid_t qemu_spawn(struct node *n, struct qemu_fds *fds);
char *qemu_boot_lines(struct rig *r, struct node *n);

#endif

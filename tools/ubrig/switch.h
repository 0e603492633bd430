/* SPDX-License-Identifier: GPL-2.0-only */
/* The network of a rig: a switch that only its nodes are on. See switch.c. */
#ifndef UBRIG_SWITCH_H
#define UBRIG_SWITCH_H

#include <stddef.h>

#include "util.h"

#define SWITCH_PORTS 64

struct net_switch;

/* A node's end of the wire. */
struct switch_port {
	struct net_switch *sw;
	int fd;			/* -1: nothing is plugged in */
	struct buf out;		/* frames that did not go: {length:32, bytes} */
};

struct net_switch {
	struct switch_port port[SWITCH_PORTS];
};

void switch_init(struct net_switch *s);
int switch_plug(struct net_switch *s, int port);	/* the node's end */
void switch_unplug(struct net_switch *s, int port);
void switch_mac(int port, char mac[18]);

#endif

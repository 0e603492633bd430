/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server side of ivshmem-doorbell, protocol version 0, within ubrig.
 *
 * Invariants: the memory is one memfd, gone with the last process that has
 * it. A peer id is given once and never again, in the order of joining, as
 * QEMU's own ivshmem-server does: it says nothing about the node. Each peer's
 * doorbells are eventfds, handed to every peer; when a peer has left, the
 * others were told.
 */
#ifndef UBRIG_IVSHMEM_SERVER_H
#define UBRIG_IVSHMEM_SERVER_H

#include <stdint.h>

#define IVSHMEM_VECTORS 2

struct ivshmem_peer {
	struct ivshmem *server;
	int fd;				/* our end of the connection */
	int64_t id;
	int vector[IVSHMEM_VECTORS];	/* eventfds */
	struct ivshmem_peer *next;
};

struct ivshmem {
	int memfd;
	uint64_t size;
	int64_t next_id;
	struct ivshmem_peer *peers;
};

void ivshmem_init(struct ivshmem *s, uint64_t size);
int ivshmem_join(struct ivshmem *s, int64_t *id);	/* QEMU's end */
void ivshmem_leave(struct ivshmem *s, int64_t id);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames that the rig speaks: with PID 1 of a guest over a virtio-serial
 * port, and between a standing rig and its clients over a unix socket.
 *
 * Invariants: all numbers are little-endian; a frame is a header and @len
 * bytes; a receiver ends the connection on a frame longer than
 * UBRIG_FRAME_MAX. Strings in a payload end with a NUL byte each.
 */
#ifndef UBRIG_PROTO_H
#define UBRIG_PROTO_H

#include <endian.h>
#include <stdint.h>

#define UBRIG_AGENT_PORT	"ub.agent"
#define UBRIG_FRAME_MAX		(1U << 20)
#define UBRIG_CHUNK		16384U

struct ubrig_frame {
	uint32_t len;
	uint32_t type;
	uint32_t id;	/* agent: number of the exec; control: node index */
};

enum ubrig_frame_type {
	/* guest to rig */
	UBRIG_READY = 1,	/* modules loaded, execs accepted */
	UBRIG_FAILED,		/* text: why the guest cannot come up */
	UBRIG_NOTE,		/* text: a step of the boot, for --verbose */
	/* both: output of a command, and its end */
	UBRIG_STDOUT = 16,
	UBRIG_STDERR,
	UBRIG_EXIT,		/* uint32: 0..255, or 128 + signal with UBRIG_SIGNALLED */
	/* rig to guest */
	UBRIG_EXEC = 32,	/* uint32 flags, argc, envc; cwd, argv, envp */
	UBRIG_KILL,		/* uint32 signal, to all the exec has started */
	UBRIG_POWEROFF,
	/* client to standing rig, and back */
	UBRIG_CTL_EXEC = 64,	/* target node or "all", then as UBRIG_EXEC */
	UBRIG_CTL_OP,		/* words: verb, arguments */
	UBRIG_CTL_TEXT,		/* text for the client's stdout */
	UBRIG_CTL_INFO,		/* text for the client's stderr */
	UBRIG_CTL_DONE,		/* uint32: exit code of the client */
};

/* In the code of UBRIG_EXIT from a guest: it was a signal. */
#define UBRIG_SIGNALLED		(1U << 8)

/* UBRIG_EXEC flag: forget cached files of the host, they may have changed. */
#define UBRIG_EXEC_FRESH	(1U << 0)

#endif

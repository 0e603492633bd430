/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What PID 1 of a guest is made of: guest-init.c brings the system up,
 * guest-agent.c runs commands for the rig, guest-absent.c tells of those that
 * ended before they came to the others.
 */
#ifndef UBRIG_GUEST_H
#define UBRIG_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MAX_EXECS 64

void guest_poweroff(void);
void guest_die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

void agent_open(void);
void agent_note(const char *text);
void agent_fail(const char *text);
void agent_serve(void) __attribute__((noreturn));

/* Does anybody wait for the ranks of a command with this environment? */
bool absent_matters(char **envp);
/* It ended: tell the others of those that have not been with them. */
void absent_tell(uint32_t id, char **envp);
/* All of its job have ended. */
void absent_job_over(uint32_t id);
/* A child of PID 1 has ended; it may be one of these. */
void absent_reaped(pid_t pid);

#endif

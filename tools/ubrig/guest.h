/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What PID 1 of a guest is made of: guest-init.c brings the system up,
 * guest-agent.c runs commands for the rig.
 */
#ifndef UBRIG_GUEST_H
#define UBRIG_GUEST_H

void guest_poweroff(void);
void guest_die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

void agent_open(void);
void agent_note(const char *text);
void agent_fail(const char *text);
void agent_serve(void) __attribute__((noreturn));

#endif

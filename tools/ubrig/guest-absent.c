// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rank that failed before it came to the others: they are told.
 *
 * A child of the agent takes the rank's place in its job, as ubrun does for its
 * own, and keeps it until the rig has seen all of the job's commands end. Where
 * the rank has been in the job, the kernel has told the others, and the child ends.
 *
 * Invariant: a child for each failed command at most; none when the rig killed it.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "absent.h"
#include "guest.h"

struct teller {
	pid_t pid;	/* 0: slot is free */
	uint32_t id;
};

static struct teller tellers[MAX_EXECS];

static const char *value(char **envp, const char *name)
{
	size_t len = strlen(name);

	for (; *envp; envp++)
		if (!strncmp(*envp, name, len) && (*envp)[len] == '=')
			return *envp + len + 1;
	return NULL;
}

/* With UB_LANES the command's own launcher knows the ranks. */
bool absent_matters(char **envp)
{
	const char *fabric = value(envp, "UB_FABRIC");

	return fabric && strcmp(fabric, "host") && value(envp, "UB_JOB") &&
	       !value(envp, "UB_LANES");
}

void absent_tell(uint32_t id, char **envp)
{
	struct ub_ctx *keep = NULL;
	int i;

	for (i = 0; i < MAX_EXECS && tellers[i].pid; i++)
		;
	if (i == MAX_EXECS)
		return;
	tellers[i] = (struct teller){ .pid = fork(), .id = id };
	if (tellers[i].pid < 0)
		tellers[i].pid = 0;
	if (tellers[i].pid)
		return;
	environ = envp;
	if (ub_absent(-1, &keep) || !keep)
		_exit(0);
	for (;;)
		pause();
}

void absent_job_over(uint32_t id)
{
	int i;

	for (i = 0; i < MAX_EXECS; i++)
		if (tellers[i].pid && tellers[i].id == id)
			kill(tellers[i].pid, SIGKILL);
}

void absent_reaped(pid_t pid)
{
	int i;

	for (i = 0; i < MAX_EXECS; i++)
		if (tellers[i].pid == pid)
			tellers[i].pid = 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rank that ended before it came to the others: they are told.
 *
 * A child of the agent takes the places of the command's ranks in its job, as ubrun
 * does for its own, and keeps them until the rig has seen all of the job's commands
 * end. Where a rank has been in the job, the kernel has told the others.
 *
 * Invariant: a child for each ended command at most; none when the rig killed it,
 * none is left when the job is over.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

static int number(char **envp, const char *name, int otherwise)
{
	const char *text = value(envp, name);

	return text && *text ? atoi(text) : otherwise;
}

bool absent_matters(char **envp)
{
	const char *fabric = value(envp, "UB_FABRIC");

	return fabric && strcmp(fabric, "host") && value(envp, "UB_JOB") &&
	       number(envp, "UB_SIZE", 1) + number(envp, "UB_SPARES", 0) > 1;
}

/* All lanes of this node: ubrun, which knew them, has ended, too. */
static struct ub_ctx *take_places(char **envp)
{
	int lanes = number(envp, "UB_LANES", 1), rank = number(envp, "UB_RANK", 0), i;
	struct ub_ctx *keep = NULL;
	char size[16];

	environ = envp;
	snprintf(size, sizeof(size), "%d", number(envp, "UB_SIZE", 1) * lanes);
	setenv("UB_SIZE", size, 1);
	for (i = 0; i < lanes; i++)
		if (ub_absent(rank * lanes + i, &keep))
			break;
	return keep;
}

void absent_tell(uint32_t id, char **envp)
{
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
	if (!take_places(envp))
		_exit(0);
	for (;;)
		pause();
}

void absent_job_over(uint32_t id)
{
	int i;

	for (i = 0; i < MAX_EXECS; i++) {
		if (!tellers[i].pid || tellers[i].id != id)
			continue;
		/* The next command may want to unload the module. */
		kill(tellers[i].pid, SIGKILL);
		waitpid(tellers[i].pid, NULL, 0);
		tellers[i].pid = 0;
	}
}

void absent_reaped(pid_t pid)
{
	int i;

	for (i = 0; i < MAX_EXECS; i++)
		if (tellers[i].pid == pid)
			tellers[i].pid = 0;
}

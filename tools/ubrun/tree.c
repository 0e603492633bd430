// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processes below this one.
 *
 * As a child subreaper this process is an ancestor of all that its children
 * ever started, so the parent column of /proc is enough to find them.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ubrun.h"

struct proc {
	pid_t pid;
	pid_t parent;
	bool below;
};

static pid_t parent_of(const char *pid)
{
	char path[64], buf[512], state;
	const char *p;
	FILE *f;
	size_t n;
	int parent;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	n = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	buf[n] = '\0';
	/* The name in parentheses may hold anything; its end is the last one. */
	p = strrchr(buf, ')');
	if (!p || sscanf(p + 1, " %c %d", &state, &parent) != 2 || state == 'Z')
		return -1;
	return parent;
}

static size_t list_procs(struct proc **out)
{
	struct proc *list = NULL, *more;
	size_t n = 0, room = 0;
	struct dirent *d;
	pid_t parent;
	DIR *dir;

	dir = opendir("/proc");
	while (dir && (d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		parent = parent_of(d->d_name);
		if (parent < 0)
			continue;
		if (n == room) {
			room = room ? 2 * room : 256;
			more = realloc(list, room * sizeof(*list));
			if (!more)
				break;
			list = more;
		}
		list[n++] = (struct proc){ .pid = atoi(d->d_name), .parent = parent };
	}
	if (dir)
		closedir(dir);
	*out = list;
	return n;
}

static bool is_below(const struct proc *list, size_t n, pid_t pid)
{
	size_t i;

	if (pid == getpid())
		return true;
	for (i = 0; i < n; i++)
		if (list[i].pid == pid)
			return list[i].below;
	return false;
}

int tree_signal(int sig)
{
	struct proc *list;
	size_t n, i;
	bool again;
	int count = 0;

	n = list_procs(&list);
	do {
		again = false;
		for (i = 0; i < n; i++) {
			if (list[i].below || !is_below(list, n, list[i].parent))
				continue;
			list[i].below = true;
			again = true;
			count++;
			kill(list[i].pid, sig);
		}
	} while (again);
	free(list);
	return count;
}

void tree_kill(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	pid_t pid;

	/* Whoever was forked meanwhile is found in the next turn. */
	for (;;) {
		tree_signal(SIGKILL);
		do {
			pid = waitpid(-1, NULL, WNOHANG);
		} while (pid > 0);
		if (pid < 0 && errno == ECHILD)
			return;
		nanosleep(&ms, NULL);
	}
}

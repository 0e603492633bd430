/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of bsp.h: each case is a program of its own, started without a launcher,
 * with its number of processes and how it is to end.
 */
#ifndef T_BSP_H
#define T_BSP_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include "t.h"

/**
 * struct t_bsp - a case
 * @name: what it shows
 * @n: processes
 * @fn: the program
 * @says: NULL: it ends well; else badly, with this on standard error, where "*"
 *	stands for anything and "|" comes before another choice
 */
struct t_bsp {
	const char *name;
	int n;
	void (*fn)(void);
	const char *says;
};

#define T_BSP_GOOD(name, n, fn)		{ name, n, fn, NULL }

#ifndef T_BSP_SECONDS
#define T_BSP_SECONDS	60
#endif

/* Complain on standard error, where everybody's output is looked at. */
#define T_BSP(cond) do {						\
	if (!(cond))							\
		bsp_abort("%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);\
} while (0)

static inline bool t_bsp_match(const char *text, const char *want)
{
	const char *other = strchr(want, '|');
	char part[256];
	size_t len;

	if (other && t_bsp_match(text, other + 1))
		return true;
	for (; *want && *want != '|'; want += len + (want[len] == '*')) {
		len = strcspn(want, "*|");
		if (len >= sizeof(part))
			return false;
		memcpy(part, want, len);
		part[len] = '\0';
		text = strstr(text, part);
		if (!text)
			return false;
		text += len;
	}
	return true;
}

/* The program's processes, for which this one becomes the parent of orphans. */
static inline bool t_bsp_none_left(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD)
			return true;
		usleep(50000);
	}
	printf("# a process is left\n");
	return false;
}

static inline int t_bsp_wait(pid_t pid)
{
	uint64_t end = t_now() + T_BSP_SECONDS * 1000000000ULL;
	int status = -1;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (t_now() > end) {
			printf("# still running after %d s\n", T_BSP_SECONDS);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return -1;
		}
		usleep(1000);
	}
	return status;
}

static inline bool t_bsp_run(const struct t_bsp *t)
{
	static char text[1 << 16];
	int fd = memfd_create("stderr", 0), status;
	bool good;
	ssize_t len;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(fd, STDERR_FILENO);
		t_env("UB_NPROCS", t->n);
		t->fn();
		exit(0);
	}
	status = t_bsp_wait(pid);
	len = pread(fd, text, sizeof(text) - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	close(fd);
	good = t->says ? status > 0 && t_bsp_match(text, t->says) :
			 !status && !text[0];
	if (!good)
		printf("# status 0x%x, not as expected (%s):\n# %s\n", status,
		       t->says ? t->says : "good", text);
	return t_bsp_none_left() && good;
}

static inline int t_bsp_all(const struct t_bsp *t, int n)
{
	int i;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	unsetenv("UB_SIZE");
	t_plan(n);
	for (i = 0; i < n; i++)
		t_result(t_bsp_run(&t[i]), t[i].name);
	return t_end();
}

#endif /* T_BSP_H */

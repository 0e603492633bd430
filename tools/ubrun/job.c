// SPDX-License-Identifier: GPL-2.0-only
/*
 * The supervisor: starts the ranks, joins their output, and sees them end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ubrun.h"

#define TERM_MS		2000	/* from SIGTERM to SIGKILL */
#define DRAIN_MS	500	/* for output of ranks that have ended */
#define REPEAT_MS	300	/* a signal again within that is the same one */

struct rank {
	pid_t pid;
	bool ended;
};

struct job {
	const struct ubrun_opts *o;
	struct mux *mux;
	struct rank *rank;
	int sigfd;
	int lifeline;
	int running;
	int spares;		/* that no killed rank was forgiven for yet */
	int worst;
	int64_t timeout_at;	/* ms, -1: never; so are the others */
	int64_t grace_at;
	int64_t kill_at;
	int64_t asked_at;
	bool ending;
	bool give_up;		/* signal while only output is left */
	char blame[48];		/* who began the grace */
	struct rlimit nofile;	/* as the user has it */
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

__attribute__((format(printf, 2, 3)))
static void tell(struct job *j, const char *fmt, ...)
{
	char *line;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		line = NULL;
	va_end(ap);
	if (line)
		mux_say(j->mux, line);
	free(line);
}

/* What the ranks do when they are told to end is not their own doing. */
static void note_status(struct job *j, int status)
{
	if (!j->ending && status > j->worst)
		j->worst = status;
}

/* "1, 3 (pids 17, 19)" of the ranks that still run */
static void list_running(struct job *j, char *buf, size_t size)
{
	int i, pass, n = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (pass = 0; pass < 2; pass++) {
		for (i = 0, n = 0; i < j->o->nranks; i++) {
			if (j->rank[i].ended || at >= size)
				continue;
			at += snprintf(buf + at, size - at, "%s%d", n++ ? ", " : "",
				       pass ? (int)j->rank[i].pid : j->o->first + i);
		}
		if (at < size)
			at += snprintf(buf + at, size - at, "%s",
				       pass ? ")" : n == 1 ? " (pid " : " (pids ");
	}
}

/* Ask everything to end, by @sig unless it is 0: they were asked already.
 * What has not ended in TERM_MS is killed. */
static void end_all(struct job *j, int sig)
{
	if (j->ending)
		return;
	j->ending = true;
	j->timeout_at = -1;
	j->grace_at = -1;
	j->asked_at = now_ms();
	j->kill_at = j->asked_at + TERM_MS;
	tree_signal(sig);
}

static void signal_ranks(struct job *j, int sig)
{
	int i;

	for (i = 0; i < j->o->nranks; i++)
		if (!j->rank[i].ended)
			kill(j->rank[i].pid, sig);
}

static void rank_ended(struct job *j, int i, int status)
{
	struct rank *r = &j->rank[i];
	int nr = j->o->first + i, sig;
	bool forgiven = false;

	r->ended = true;
	fabric_ended(j->o, nr, status);
	j->running--;
	if (WIFSIGNALED(status)) {
		sig = WTERMSIG(status);
		forgiven = !j->ending && j->spares > 0;
		if (forgiven)
			j->spares--;
		else
			note_status(j, 128 + sig);
		if (!j->ending || j->o->verbose)
			tell(j, "rank %d (pid %d) was killed by signal %d (%s)%s%s",
			     nr, r->pid, sig, strsignal(sig),
			     WCOREDUMP(status) ? ", core dumped" : "",
			     forgiven ? "; there is a spare" : "");
	} else if (WEXITSTATUS(status)) {
		note_status(j, WEXITSTATUS(status));
		if (!j->ending || j->o->verbose)
			tell(j, "rank %d (pid %d) exited with status %d",
			     nr, r->pid, WEXITSTATUS(status));
	} else if (j->o->verbose) {
		tell(j, "rank %d (pid %d) ended", nr, r->pid);
	}
	/* The program gave the job up: nobody is to shrink and go on. */
	if (WIFEXITED(status) && WEXITSTATUS(status) == UBRUN_EX_ABORT)
		end_all(j, SIGTERM);
	if (!status || forgiven || j->ending || j->grace_at >= 0 || j->o->grace_ms < 0)
		return;
	snprintf(j->blame, sizeof(j->blame), "rank %d", nr);
	j->grace_at = now_ms() + j->o->grace_ms;
}

static void reap(struct job *j)
{
	int i, status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < j->o->nranks; i++)
			if (j->rank[i].pid == pid && !j->rank[i].ended)
				rank_ended(j, i, status);
}

static void handle_signals(struct job *j)
{
	struct signalfd_siginfo si;

	while (read(j->sigfd, &si, sizeof(si)) == sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGCHLD:
			break;
		case SIGUSR1:
		case SIGUSR2:
		case SIGWINCH:
		case SIGCONT:
			if (si.ssi_code != SI_KERNEL)
				signal_ranks(j, si.ssi_signo);
			break;
		default:
			note_status(j, 128 + si.ssi_signo);
			j->give_up = !j->running;
			if (!j->ending)
				end_all(j, si.ssi_code == SI_KERNEL ? 0 :
					   (int)si.ssi_signo);
			else if (now_ms() - j->asked_at > REPEAT_MS)
				j->kill_at = now_ms();
		}
	}
	reap(j);
}

static void check_times(struct job *j)
{
	int64_t now = now_ms();
	char who[1024];

	list_running(j, who, sizeof(who));
	if (j->timeout_at >= 0 && now >= j->timeout_at) {
		tell(j, "time-out of %g s: rank%s %s had not ended",
		     j->o->timeout_ms / 1000.0, j->running == 1 ? "" : "s", who);
		note_status(j, UBRUN_EX_TIMEOUT);
		end_all(j, SIGTERM);
	}
	if (j->grace_at >= 0 && now >= j->grace_at) {
		tell(j, "%g s after %s failed rank%s %s had not ended, ending %s",
		     j->o->grace_ms / 1000.0, j->blame,
		     j->running == 1 ? "" : "s", who,
		     j->running == 1 ? "it" : "them");
		end_all(j, SIGTERM);
	}
	if (j->kill_at >= 0 && now >= j->kill_at) {
		tree_signal(SIGKILL);
		j->kill_at = now + 100;
	}
}

static int next_time(struct job *j)
{
	const int64_t at[] = { j->timeout_at, j->grace_at, j->kill_at };
	int64_t now = now_ms(), best = mux_timeout(j->mux, now), left;
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		if (at[i] < 0)
			continue;
		left = at[i] > now ? at[i] - now : 0;
		if (best < 0 || left < best)
			best = left;
	}
	return best > 1000000 ? 1000000 : best;
}

static void turn(struct job *j, struct pollfd *pfd, int timeout)
{
	int n;

	pfd[0] = (struct pollfd){ .fd = j->sigfd, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = j->lifeline, .events = POLLIN };
	n = mux_poll(j->mux, pfd + 2);
	if (poll(pfd, n + 2, timeout) < 0) {
		if (errno != EINTR)
			perror("ubrun: poll");
		return;
	}
	if (pfd[1].revents) {
		tree_kill();
		_exit(UBRUN_EX_SETUP);
	}
	mux_work(j->mux, pfd + 2, n, now_ms());
	if (pfd[0].revents)
		handle_signals(j);
}

/*
 * Rank i on the ith CPU, round and round. Neighbours, which sync most, then run
 * at the same time; left alone, the scheduler may put both on one CPU, where each
 * of their syncs takes a switch of processes.
 */
static void bind_rank(const struct ubrun_opts *o, int i)
{
	cpu_set_t all, one;
	int cpu, k;

	if (o->bind == UBRUN_BIND_NONE || sched_getaffinity(0, sizeof(all), &all))
		return;
	if (o->bind == UBRUN_BIND_AUTO && o->nranks <= CPU_COUNT(&all))
		return;
	k = i % CPU_COUNT(&all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && k-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void become_rank(struct job *j, int i, const int ends[2], int errfd,
			pid_t parent)
{
	sigset_t none;
	int null, err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(UBRUN_EX_SETUP);
	if (i || j->o->first) {
		null = open("/dev/null", O_RDONLY);
		if (null > STDIN_FILENO) {
			dup2(null, STDIN_FILENO);
			close(null);
		}
	}
	dup2(ends[0], STDOUT_FILENO);
	dup2(ends[1], STDERR_FILENO);
	setrlimit(RLIMIT_NOFILE, &j->nofile);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	bind_rank(j->o, i);
	fabric_child(j->o, j->o->first + i);
	execvp(j->o->argv[0], j->o->argv);
	err = errno;
	if (write(errfd, &err, sizeof(err)) < 0)
		_exit(UBRUN_EX_SETUP);
	_exit(err == ENOENT ? 127 : 126);
}

/* Returns 0, or the errno of what could not be done. */
static int start_rank(struct job *j, int i)
{
	pid_t parent = getpid(), pid;
	int ends[2], efd[2], err = 0;

	err = -mux_open(j->mux, i, ends);
	if (err)
		return err;
	if (pipe2(efd, O_CLOEXEC)) {
		err = errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	pid = fork();
	if (!pid)
		become_rank(j, i, ends, efd[1], parent);
	if (pid < 0)
		err = errno;
	close(ends[0]);
	close(ends[1]);
	close(efd[1]);
	if (pid > 0) {
		j->rank[i].pid = pid;
		j->rank[i].ended = false;
		j->running++;
		/* Closed by a successful exec. */
		if (read(efd[0], &err, sizeof(err)) != sizeof(err))
			err = 0;
	}
	close(efd[0]);
	return err;
}

static int start_all(struct job *j)
{
	int i, err;

	for (i = 0; i < j->o->nranks; i++) {
		err = start_rank(j, i);
		if (!err) {
			if (j->o->verbose)
				tell(j, "rank %d is pid %d", j->o->first + i,
				     j->rank[i].pid);
			continue;
		}
		tell(j, "cannot run %s as rank %d: %s", j->o->argv[0],
		     j->o->first + i, strerror(err));
		note_status(j, err == ENOENT ? 127 : 126);
		j->ending = true;
		return -err;
	}
	return 0;
}

/* Pipes held by what the ranks left behind get DRAIN_MS, then all ends. */
static void finish(struct job *j, struct pollfd *pfd)
{
	int64_t until = now_ms() + DRAIN_MS, left;
	int n;

	while (mux_open_pipes(j->mux) && !j->give_up && (left = until - now_ms()) > 0)
		turn(j, pfd, left);
	n = tree_signal(0);
	if (n && j->o->verbose)
		tell(j, "ending %d process%s that the ranks left behind", n,
		     n == 1 ? "" : "es");
	tree_kill();
	mux_close_pipes(j->mux);
	while (mux_pending(j->mux) && !j->give_up)
		turn(j, pfd, -1);
}

static int open_signals(void)
{
	static const int sigs[] = {
		SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT,
		SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT,
	};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		sigaddset(&set, sigs[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

int job_run(const struct ubrun_opts *o, int lifeline)
{
	struct job j = {
		.o = o, .lifeline = lifeline, .spares = o->spares,
		.timeout_at = -1, .grace_at = -1, .kill_at = -1,
	};
	struct rlimit more;
	struct pollfd *pfd;
	int i;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	getrlimit(RLIMIT_NOFILE, &j.nofile);
	more = j.nofile;
	more.rlim_cur = more.rlim_max;
	setrlimit(RLIMIT_NOFILE, &more);

	j.sigfd = open_signals();
	j.mux = mux_new(o->nranks, o->first, o->tag);
	j.rank = calloc(o->nranks, sizeof(*j.rank));
	pfd = calloc(2 * (size_t)o->nranks + 4, sizeof(*pfd));
	if (j.sigfd < 0 || !j.mux || !j.rank || !pfd) {
		perror("ubrun");
		return UBRUN_EX_SETUP;
	}
	for (i = 0; i < o->nranks; i++)
		j.rank[i].ended = true;
	if (fabric_attach())
		return UBRUN_EX_SETUP;

	if (o->timeout_ms >= 0)
		j.timeout_at = now_ms() + o->timeout_ms;
	if (start_all(&j)) {
		tree_kill();
		j.running = 0;
	}
	while (j.running) {
		turn(&j, pfd, next_time(&j));
		if (j.running)
			check_times(&j);
		else if (j.ending)
			break;
	}
	finish(&j, pfd);
	mux_free(j.mux);
	free(j.rank);
	free(pfd);
	close(j.sigfd);
	return j.worst;
}

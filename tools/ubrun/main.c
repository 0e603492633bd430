// SPDX-License-Identifier: GPL-2.0-only
/*
 * ubrun: command line, and the process that stands between the user and the
 * supervisor.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ubrun.h"

#define MAX_RANKS	65536
#define DEFAULT_GRACE_MS	10000

static const char usage_text[] =
"Usage: ubrun -n N [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
"       ubrun --fabric dev [--lanes K] [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
"Start N ranks of PROGRAM on this machine and end when they have ended.\n"
"\n"
"  -n, -np N             number of ranks (default: nodes times --lanes)\n"
"      --nodes N         number of nodes (default: as many as needed, without -n\n"
"                        as the machine has)\n"
"      --lanes K         ranks of one node (default 1)\n"
"      --spares K        start K ranks more, which wait in ub_init() until one is lost;\n"
"                        the first K ranks that a signal kills are no failure\n"
"      --machine FILE    machine file: levels of the nodes (UB_MACHINE)\n"
"      --fabric F        host: shared memory (default); dev, dev:PATH: lanes of\n"
"                        this node on the device; under ubrig K for each VM\n"
"      --timeout SEC     end the job after SEC and tell who had not ended\n"
"      --grace SEC       after a rank has failed the others get SEC to end by\n"
"                        themselves (default 10; inf: for ever)\n"
"      --tag-output      put [rank] before each line\n"
"      --bind auto|none|core  bind each rank to one CPU; auto, the default: only\n"
"                        when ranks outnumber CPUs, so that neighbours do not share one\n"
"      --env NAME=VALUE  set in all ranks; NAME alone is accepted too\n"
"  -v, --verbose         tell what is started and how it ends\n"
"  -h, --help            this text\n"
"\n"
"-x NAME=VALUE and --oversubscribe are accepted as well. Exit status: the worst\n"
"of the ranks, 128 + N for signal N; 124 time-out, 2 usage, 125 ubrun failed.\n";

enum {
	OPT_NODES = 256, OPT_LANES, OPT_MACHINE, OPT_FABRIC, OPT_TIMEOUT,
	OPT_GRACE, OPT_TAG, OPT_BIND, OPT_ENV, OPT_IGNORED, OPT_SPARES,
};

static const struct option options[] = {
	{ "n", required_argument, NULL, 'n' },
	{ "np", required_argument, NULL, 'n' },
	{ "nodes", required_argument, NULL, OPT_NODES },
	{ "lanes", required_argument, NULL, OPT_LANES },
	{ "spares", required_argument, NULL, OPT_SPARES },
	{ "machine", required_argument, NULL, OPT_MACHINE },
	{ "fabric", required_argument, NULL, OPT_FABRIC },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "tag-output", no_argument, NULL, OPT_TAG },
	{ "bind", required_argument, NULL, OPT_BIND },
	{ "env", required_argument, NULL, OPT_ENV },
	{ "x", required_argument, NULL, OPT_ENV },
	{ "oversubscribe", no_argument, NULL, OPT_IGNORED },
	{ "verbose", no_argument, NULL, 'v' },
	{ "v", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "h", no_argument, NULL, 'h' },
	{ }
};

void say(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("ubrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

__attribute__((format(printf, 1, 2), noreturn))
static void usage_error(const char *fmt, ...)
{
	va_list ap;

	fputs("ubrun: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputs("\nTry 'ubrun --help'.\n", stderr);
	exit(UBRUN_EX_USAGE);
}

static int number(const char *what, const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 1 || n > MAX_RANKS)
		usage_error("%s wants a number from 1 to %d, not '%s'", what,
			    MAX_RANKS, text);
	return n;
}

static int64_t seconds(const char *what, const char *text)
{
	char *end;
	double s;

	s = strtod(text, &end);
	if (end == text || *end || isnan(s) || s < 0)
		usage_error("%s wants seconds, not '%s'", what, text);
	return s > 1e9 ? -1 : (int64_t)(s * 1000);
}

static void set_env(const char *text)
{
	char *name;
	const char *eq = strchr(text, '=');

	if (!*text || eq == text)
		usage_error("--env wants NAME=VALUE, not '%s'", text);
	if (!eq)	/* inherited anyway */
		return;
	name = strndup(text, eq - text);
	if (!name || setenv(name, eq + 1, 1))
		usage_error("--env %s: %s", text, strerror(errno));
	free(name);
}

/* What was given to this process as one of several, by ubrig. */
static int env_number(const char *name, int min, int fallback)
{
	const char *text = getenv(name);
	char *end;
	long n;

	if (!text)
		return fallback;
	n = strtol(text, &end, 10);
	if (end == text || *end || n < min || n > MAX_RANKS)
		usage_error("%s=%s is no number of a rank", name, text);
	return n;
}

static void set_fabric(struct ubrun_opts *o, const char *fabric)
{
	if (!fabric)
		fabric = getenv("UB_FABRIC");
	if (!fabric || !*fabric)
		fabric = "host";
	o->dev = strcmp(fabric, "host") != 0;
	if (!strncmp(fabric, "dev:", 4))
		fabric += 4;
	else if (o->dev && strcmp(fabric, "dev") && fabric[0] != '/')
		usage_error("--fabric wants host, dev or dev:PATH, not '%s'", fabric);
	o->fabric = fabric;
}

static void set_ranks(struct ubrun_opts *o, int n, int nodes, int machine_nodes)
{
	int outer, outer_size;

	if (o->dev) {
		if (o->spares)
			usage_error("--spares is for ranks of this machine; on the device give it to ubrig, or set UB_SPARES");
		outer = env_number("UB_RANK", 0, 0);
		outer_size = env_number("UB_SIZE", 1, 1);
		if (outer >= outer_size)
			usage_error("UB_RANK=%d does not fit UB_SIZE=%d", outer,
				    outer_size);
		if (nodes && nodes != outer_size)
			usage_error("--nodes %d, but the device's job has %d",
				    nodes, outer_size);
		if (!o->lanes)
			o->lanes = n ? n : env_number("UB_LANES", 1, 1);
		if (n && n != o->lanes)
			usage_error("-n %d: on the device this node has --lanes %d",
				    n, o->lanes);
		o->nranks = o->lanes;
		o->first = outer * o->lanes;
		o->total = outer_size * o->lanes;
	} else {
		if (n && nodes && !o->lanes) {
			if (n % nodes)
				usage_error("%d ranks cannot be shared evenly by %d nodes",
					    n, nodes);
			o->lanes = n / nodes;
		}
		if (!o->lanes)
			o->lanes = 1;
		if (!n)
			n = (nodes ? nodes : machine_nodes) * o->lanes;
		if (!n)
			usage_error("how many ranks? -n N");
		if (nodes && n != nodes * o->lanes)
			usage_error("-n %d is not --nodes %d times --lanes %d", n,
				    nodes, o->lanes);
		if (n % o->lanes)
			usage_error("-n %d is not a multiple of --lanes %d", n,
				    o->lanes);
		o->nranks = n + o->spares;
		o->total = n;
		nodes = (o->nranks + o->lanes - 1) / o->lanes;
		if (machine_nodes && nodes > machine_nodes)
			usage_error("%d ranks with --lanes %d are on %d nodes, but the machine has %d",
				    o->nranks, o->lanes, nodes, machine_nodes);
	}
	if (o->nranks > MAX_RANKS || o->total > MAX_RANKS)
		usage_error("%d ranks are too many", o->total);
}

static enum ubrun_bind bind_when(const char *text)
{
	static const char * const name[] = {
		[UBRUN_BIND_AUTO] = "auto", [UBRUN_BIND_NONE] = "none",
		[UBRUN_BIND_CORE] = "core",
	};
	int i;

	for (i = 0; i < (int)(sizeof(name) / sizeof(*name)); i++)
		if (!strcmp(text, name[i]))
			return i;
	usage_error("--bind wants auto, none or core, not '%s'", text);
}

static void parse(struct ubrun_opts *o, int argc, char **argv)
{
	const char *fabric = NULL;
	int opt, n = 0, nodes = 0, machine_nodes;

	/* "_only": -np and -x as mpirun has them; "+": stop at the program */
	while ((opt = getopt_long_only(argc, argv, "+n:vh", options, NULL)) != -1) {
		switch (opt) {
		case 'n':
			n = number("-n", optarg);
			break;
		case OPT_NODES:
			nodes = number("--nodes", optarg);
			break;
		case OPT_LANES:
			o->lanes = number("--lanes", optarg);
			break;
		case OPT_SPARES:
			o->spares = number("--spares", optarg);
			break;
		case OPT_MACHINE:
			o->machine = optarg;
			break;
		case OPT_FABRIC:
			fabric = optarg;
			break;
		case OPT_TIMEOUT:
			o->timeout_ms = seconds("--timeout", optarg);
			break;
		case OPT_GRACE:
			o->grace_ms = seconds("--grace", optarg);
			break;
		case OPT_TAG:
			o->tag = true;
			break;
		case OPT_BIND:
			o->bind = bind_when(optarg);
			break;
		case OPT_ENV:
			set_env(optarg);
			break;
		case OPT_IGNORED:
			break;
		case 'v':
			o->verbose = true;
			break;
		case 'h':
			fputs(usage_text, stdout);
			exit(0);
		default:
			fputs("Try 'ubrun --help'.\n", stderr);
			exit(UBRUN_EX_USAGE);
		}
	}
	if (optind == argc)
		usage_error("which program?");
	o->argv = argv + optind;
	set_fabric(o, fabric);
	machine_nodes = fabric_machine_nodes(o->machine ? o->machine :
					     getenv("UB_MACHINE"));
	if (machine_nodes < 0)
		exit(UBRUN_EX_USAGE);
	set_ranks(o, n, nodes, machine_nodes);
}

/* Waits for the supervisor and passes signals to it that only we got. */
static int attend(pid_t supervisor, int sigfd)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
			if (pid != supervisor)
				continue;
			tree_kill();
			if (WIFEXITED(status))
				return WEXITSTATUS(status);
			say("the supervisor (pid %d) was killed by signal %d (%s)",
			    pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
			return 128 + WTERMSIG(status);
		}
		if (read(sigfd, &si, sizeof(si)) != sizeof(si))
			continue;
		if (si.ssi_signo != SIGCHLD && si.ssi_code != SI_KERNEL)
			kill(supervisor, si.ssi_signo);
	}
}

int main(int argc, char **argv)
{
	struct ubrun_opts o = { .timeout_ms = -1, .grace_ms = DEFAULT_GRACE_MS };
	sigset_t set, old;
	int life[2], sigfd;
	pid_t pid;

	parse(&o, argc, argv);
	if (fabric_setup(&o))
		return UBRUN_EX_SETUP;

	sigfillset(&set);
	sigdelset(&set, SIGTSTP);
	sigdelset(&set, SIGTTIN);
	sigdelset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &old);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigfd = signalfd(-1, &set, SFD_CLOEXEC);
	if (sigfd < 0 || pipe2(life, O_CLOEXEC)) {
		say("%s", strerror(errno));
		return UBRUN_EX_SETUP;
	}
	pid = fork();
	if (pid < 0) {
		say("fork: %s", strerror(errno));
		return UBRUN_EX_SETUP;
	}
	if (!pid) {
		close(life[1]);
		close(sigfd);
		sigprocmask(SIG_SETMASK, &old, NULL);
		_exit(job_run(&o, life[0]));
	}
	close(life[0]);
	return attend(pid, sigfd);
}

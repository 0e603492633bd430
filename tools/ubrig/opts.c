// SPDX-License-Identifier: GPL-2.0-only
/* The command line of ubrig; see opts.h. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"
#include "opts.h"
#include "util.h"

enum {
	OPT_LANES = 256, OPT_MACHINE, OPT_SMP, OPT_MEM, OPT_BAR, OPT_TIMEOUT,
	OPT_BOOT_TIMEOUT, OPT_MODULES, OPT_NO_MODULE, OPT_PARAM, OPT_ENV,
	OPT_KEEP_LOGS, OPT_KERNEL, OPT_KERNEL_DIR, OPT_APPEND, OPT_ACCEL, OPT_TAG,
	OPT_NO_TAG, OPT_NODES, OPT_NAME, OPT_JSON, OPT_QEMU, OPT_ROOT, OPT_INIT,
	OPT_DEVICES, OPT_DEVICE, OPT_HOTPLUG,
	OPT_SPARES, OPT_TRANSPORT,
};

static const struct option long_options[] = {
	{ "lanes", required_argument, NULL, OPT_LANES },
	{ "spares", required_argument, NULL, OPT_SPARES },
	{ "machine", required_argument, NULL, OPT_MACHINE },
	{ "smp", required_argument, NULL, OPT_SMP },
	{ "mem", required_argument, NULL, OPT_MEM },
	{ "bar", required_argument, NULL, OPT_BAR },
	{ "devices", required_argument, NULL, OPT_DEVICES },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "hotplug", no_argument, NULL, OPT_HOTPLUG },
	{ "transport", required_argument, NULL, OPT_TRANSPORT },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "boot-timeout", required_argument, NULL, OPT_BOOT_TIMEOUT },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "no-module", no_argument, NULL, OPT_NO_MODULE },
	{ "param", required_argument, NULL, OPT_PARAM },
	{ "env", required_argument, NULL, OPT_ENV },
	{ "keep-logs", required_argument, NULL, OPT_KEEP_LOGS },
	{ "kernel", required_argument, NULL, OPT_KERNEL },
	{ "kernel-dir", required_argument, NULL, OPT_KERNEL_DIR },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "init", required_argument, NULL, OPT_INIT },
	{ "append", required_argument, NULL, OPT_APPEND },
	{ "qemu", required_argument, NULL, OPT_QEMU },
	{ "accel", required_argument, NULL, OPT_ACCEL },
	{ "tag-output", no_argument, NULL, OPT_TAG },
	{ "no-tag", no_argument, NULL, OPT_NO_TAG },
	{ "nodes", required_argument, NULL, OPT_NODES },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static const char boot_help[] =
	"  -n N                 number of nodes (default 2, or as many as --nodes)\n"
	"  --nodes ID,ID,...    their fabric node ids (default 0,1,...)\n"
	"  --spares K           K nodes more, which wait until one is lost (UB_SPARES);\n"
	"                       the last K that --nodes names\n"
	"  --lanes K            tell the program to use K lanes (UB_LANES)\n"
	"  --machine FILE       machine file (UB_MACHINE)\n"
	"  --smp C,..           CPUs of each node (1); the last is for all that follow\n"
	"  --mem MiB            memory of each node (512)\n"
	"  --bar SIZE,..        shared memory, a power of two, K M G (1G), of each device;\n"
	"                       the last is for all that follow\n"
	"  --device KIND,..     doorbell (default) or plain, likewise\n"
	"  --devices N          ivshmem devices of each node, a memory each (default: as\n"
	"                       many as --bar or --device names)\n"
	"  --transport T        ivshmem (default), or rdma: no shared memory, but soft-RoCE\n"
	"                       over a network of the rig's own; the guests need iproute2\n"
	"  --hotplug            behind root ports, for plug and unplug\n"
	"  --modules DIR        folder of ub.ko and ivshmem/ub_ivshmem.ko, rdma/ub_rdma.ko\n"
	"  --no-module          load no module\n"
	"  --param M.KEY=VALUE  parameter of module M (ub, ub_ivshmem, ub_rdma)\n"
	"  --kernel VERSION     of Debian: 6.1, 6.12, 7.3 or as uname -r says; fetched\n"
	"                       once (UB_KERNEL, or that of the installed headers)\n"
	"  --kernel-dir DIR     boot vmlinux, vmlinuz or bzImage from DIR, with\n"
	"                       DIR/lib/modules\n"
	"  --root DIR           the guests' root file system, read-only, with its own\n"
	"                       lib/modules (default: /); with --no-module\n"
	"  --init PROGRAM       becomes PID 1, in place of the agent, which stays\n"
	"  --append TEXT        more for the guest kernel's command line\n"
	"  --qemu WORDS         more arguments for QEMU; %n is the node's index\n"
	"  --accel auto|kvm|tcg (auto: tries KVM once, remembers)\n"
	"  --boot-timeout SEC   (120)\n"
	"  --keep-logs DIR      write console-nI.log and qemu-nI.log there\n";

static const char exec_help[] =
	"  --timeout SEC        end the command then, and name who had not ended\n"
	"  --env NAME[=VALUE]   for the command; the caller's UB_* go there too\n"
	"  --tag-output         put [nI] before each line\n"
	"  --no-tag             do not\n";

static const char rig_help[] =
	"  --name NAME          which standing rig (default \"default\")\n";

static const char run_help[] =
	"  --name NAME          in the names of the QEMU processes\n";

static const struct {
	const char *verb, *usage, *what;
	bool boots, execs, standing;
	int min_words, max_words;	/* before "--" */
	bool command;
} verbs[] = {
	{ "run", "[OPTIONS] -- CMD ARGS...",
	  "Boots N nodes, runs CMD once on each, ends them; returns the worst exit code.",
	  true, true, false, 0, 0, true },
	{ "up", "[OPTIONS]",
	  "Boots a standing rig of N nodes in the background.",
	  true, false, true, 0, 0, false },
	{ "exec", "[NODE,...|all] -- CMD ARGS...",
	  "Runs CMD on some nodes, or on all (default); returns the worst exit code.",
	  false, true, true, 0, 1, true },
	{ "kill", "NODE", "Ends that node's QEMU at once (SIGKILL).",
	  false, false, true, 1, 1, false },
	{ "pause", "NODE",
	  "Stops the VM (QMP stop): its clock stops too, it cannot tell.",
	  false, false, true, 1, 1, false },
	{ "freeze", "NODE",
	  "Stops its QEMU (SIGSTOP): when it goes on, the guest sees the time gone.",
	  false, false, true, 1, 1, false },
	{ "resume", "NODE", "Undoes pause and freeze.",
	  false, false, true, 1, 1, false },
	{ "boot", "NODE", "Starts a node again that was killed or died.",
	  false, false, true, 1, 1, false },
	{ "unplug", "NODE [DEVICE]",
	  "Takes an ivshmem device away (device 0); returns when the guest let go of it.",
	  false, false, true, 1, 2, false },
	{ "plug", "NODE [DEVICE]", "Puts it back, as a new peer.",
	  false, false, true, 1, 2, false },
	{ "status", "[--json]", "Tells the state of each node.",
	  false, false, true, 0, 0, false },
	{ "dmesg", "NODE",
	  "Prints its kernel log; of a dead node, its console.",
	  false, false, true, 1, 1, false },
	{ "down", "", "Ends the standing rig and all its nodes.",
	  false, false, true, 0, 0, false },
};

static int find_verb(const char *verb)
{
	size_t i;

	for (i = 0; verb && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].verb, verb))
			return i;
	return -1;
}

void opts_help(const char *verb)
{
	int v = find_verb(verb);
	size_t i;

	if (v < 0) {
		printf("usage: ubrig VERB [OPTIONS] ...\n"
		       "VMs from Debian's own kernel and QEMU that share a memory; no root needed.\n\n");
		for (i = 0; i < ARRAY_SIZE(verbs); i++)
			printf("  ubrig %s %s\n\t%s\n", verbs[i].verb,
			       verbs[i].usage, verbs[i].what);
		printf("\n'ubrig VERB --help' has the options. NODE is a number from 0, or n0, n1, ...\n"
		       "Exit codes: the worst of the commands (128+N for signal N); 124 time-out;\n"
		       "125 ubrig itself or a VM failed (panic, splat, no boot).\n");
		return;
	}
	printf("usage: ubrig %s %s\n%s\n\n", verbs[v].verb, verbs[v].usage,
	       verbs[v].what);
	fputs(verbs[v].standing ? rig_help : run_help, stdout);
	if (verbs[v].boots)
		fputs(boot_help, stdout);
	if (verbs[v].execs)
		fputs(exec_help, stdout);
	if (!strcmp(verbs[v].verb, "status"))
		printf("  --json               for programs\n");
	printf("  -v, --verbose        tell each step\n");
}

static void usage(const struct opts *o, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

static void usage(const struct opts *o, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("%s (see 'ubrig %s --help')", text, o->verb);
}

static long number(const struct opts *o, const char *name, const char *s,
		   long min, long max)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(s, &end, 10);
	if (errno || end == s || *end || v < min || v > max)
		usage(o, "%s must be a number from %ld to %ld, not '%s'", name,
		      min, max, s);
	return v;
}

static double seconds(const struct opts *o, const char *name, const char *s)
{
	char *end;
	double v = strtod(s, &end);

	if (end == s || *end || !(v > 0 && v < 1e7))
		usage(o, "%s must be a number of seconds above 0, not '%s'",
		      name, s);
	return v;
}

static uint64_t size(const struct opts *o, const char *s)
{
	static const char units[] = "KMGT";
	uint64_t v;
	const char *u;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	u = *end ? strchr(units, *end & ~0x20) : NULL;
	if (u && *u) {
		v <<= 10 * (u - units + 1);
		end++;
	}
	if (errno || *end || v < 4096 || v > 1ULL << 38 || (v & (v - 1)))
		usage(o, "--bar must be a power of two from 4K to 256G, not '%s'",
		      s);
	return v;
}

/* The words of "A,B,..", of which the last stands for all up to @max. */
static int list_of(const struct opts *o, const char *name, char *arg,
		   char **word, int max)
{
	char *save = NULL, *w;
	int i, n = 0;

	for (w = strtok_r(arg, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (n == max)
			usage(o, "%s takes at most %d values", name, max);
		word[n++] = w;
	}
	if (!n)
		usage(o, "%s needs a value", name);
	for (i = n; i < max; i++)
		word[i] = word[n - 1];
	return n;
}

static void at_least_devices(struct opts *o, int n)
{
	if (n > o->devices)
		o->devices = n;
}

static void bars(struct opts *o, char *arg)
{
	char *word[MAX_DEVICES];
	int i;

	at_least_devices(o, list_of(o, "--bar", arg, word, MAX_DEVICES));
	for (i = 0; i < MAX_DEVICES; i++)
		o->bar[i] = size(o, word[i]);
}

static void kinds(struct opts *o, char *arg)
{
	char *word[MAX_DEVICES];
	int i;

	at_least_devices(o, list_of(o, "--device", arg, word, MAX_DEVICES));
	for (i = 0; i < MAX_DEVICES; i++) {
		if (strcmp(word[i], "plain") && strcmp(word[i], "doorbell"))
			usage(o, "--device is doorbell or plain, not '%s'", word[i]);
		o->plain[i] = !strcmp(word[i], "plain");
	}
}

static void cpus(struct opts *o, char *arg)
{
	char *word[MAX_NODES];
	int i;

	list_of(o, "--smp", arg, word, MAX_NODES);
	for (i = 0; i < MAX_NODES; i++)
		o->smp[i] = number(o, "--smp", word[i], 1, 64);
}

static void node_ids(struct opts *o, const char *s)
{
	char *copy = xstrdup(s), *word, *save = NULL;
	int i;

	o->nodes = 0;
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		if (o->nodes == MAX_NODES)
			usage(o, "at most %d nodes", MAX_NODES);
		o->ids[o->nodes] = number(o, "a node id", word, 0,
					  (1 << 20) - 1);
		for (i = 0; i < o->nodes; i++)
			if (o->ids[i] == o->ids[o->nodes])
				usage(o, "node id %s is given twice", word);
		o->nodes++;
	}
	free(copy);
	if (!o->nodes)
		usage(o, "--nodes needs ids, as in 0,1,4,5");
}

static char *full_path(const struct opts *o, const char *name, const char *path)
{
	char *full = realpath(path, NULL);

	if (!full)
		usage(o, "%s '%s': %s", name, path, strerror(errno));
	return full;
}

static void add_word(char ***list, int *n, char *word)
{
	*list = realloc(*list, (*n + 1) * sizeof(**list));
	if (!*list)
		die("out of memory");
	(*list)[(*n)++] = word;
}

static void add_env(struct opts *o, const char *arg)
{
	const char *value;

	if (strchr(arg, '=')) {
		add_word(&o->env, &o->nenv, xstrdup(arg));
		return;
	}
	value = getenv(arg);
	if (!value)
		usage(o, "--env %s: not set here; give %s=VALUE", arg, arg);
	add_word(&o->env, &o->nenv, xasprintf("%s=%s", arg, value));
}

static void add_param(struct opts *o, char *arg)
{
	char *dot = strchr(arg, '.'), *eq = strchr(arg, '=');

	if (!dot || dot == arg || !eq || eq < dot + 2)
		usage(o, "--param wants MODULE.KEY=VALUE, as in ub.detect_ms=1000, not '%s'",
		      arg);
	if (strncmp(arg, "ub.", 3) && strncmp(arg, "ub_ivshmem.", 11) &&
	    strncmp(arg, "ub_rdma.", 8))
		usage(o, "--param %s: ubrig loads ub, ub_ivshmem and ub_rdma only", arg);
	add_word(&o->params, &o->nparams, arg);
}

static void one_option(struct opts *o, int c, char *arg, int *n)
{
	switch (c) {
	case 'n':
		*n = number(o, "-n", arg, 1, MAX_NODES);
		break;
	case OPT_NODES:
		node_ids(o, arg);
		break;
	case OPT_LANES:
		o->lanes = number(o, "--lanes", arg, 1, 4096);
		break;
	case OPT_SPARES:
		o->spares = number(o, "--spares", arg, 1, MAX_NODES);
		break;
	case OPT_MACHINE:
		o->machine = full_path(o, "--machine", arg);
		break;
	case OPT_SMP:
		cpus(o, arg);
		break;
	case OPT_MEM:
		o->mem = number(o, "--mem", arg, 128, 1 << 20);
		break;
	case OPT_BAR:
		bars(o, arg);
		break;
	case OPT_DEVICES:
		at_least_devices(o, number(o, "--devices", arg, 1, MAX_DEVICES));
		break;
	case OPT_DEVICE:
		kinds(o, arg);
		break;
	case OPT_HOTPLUG:
		o->hotplug = true;
		break;
	case OPT_TRANSPORT:
		if (strcmp(arg, "ivshmem") && strcmp(arg, "rdma"))
			usage(o, "--transport is ivshmem or rdma, not '%s'", arg);
		o->rdma = !strcmp(arg, "rdma");
		break;
	case OPT_TIMEOUT:
		o->timeout = seconds(o, "--timeout", arg);
		break;
	case OPT_BOOT_TIMEOUT:
		o->boot_timeout = seconds(o, "--boot-timeout", arg);
		break;
	case OPT_MODULES:
		o->modules = full_path(o, "--modules", arg);
		break;
	case OPT_NO_MODULE:
		o->no_module = true;
		break;
	case OPT_PARAM:
		add_param(o, arg);
		break;
	case OPT_ENV:
		add_env(o, arg);
		break;
	case OPT_KEEP_LOGS:
		mkdir(arg, 0755);
		o->keep_logs = full_path(o, "--keep-logs", arg);
		break;
	case OPT_KERNEL:
		free(o->kernel_dir);
		o->kernel_dir = kernel_fetch(arg);
		break;
	case OPT_KERNEL_DIR:
		free(o->kernel_dir);
		o->kernel_dir = full_path(o, "--kernel-dir", arg);
		break;
	case OPT_ROOT:
		free(o->root);
		o->root = full_path(o, "--root", arg);
		if (strchr(o->root, ','))
			usage(o, "--root '%s': QEMU takes no comma there", arg);
		break;
	case OPT_INIT:
		o->init = arg;
		break;
	case OPT_APPEND:
		o->append = arg;
		break;
	case OPT_QEMU:
		for (arg = strtok(arg, " "); arg; arg = strtok(NULL, " "))
			add_word(&o->qemu, &o->nqemu, arg);
		break;
	case OPT_ACCEL:
		if (strcmp(arg, "auto") && strcmp(arg, "kvm") &&
		    strcmp(arg, "tcg"))
			usage(o, "--accel is auto, kvm or tcg, not '%s'", arg);
		o->accel = arg;
		break;
	case OPT_TAG:
		o->tag = 1;
		break;
	case OPT_NO_TAG:
		o->tag = 0;
		break;
	case OPT_NAME:
		if (!*arg || strlen(arg) > 60 || strpbrk(arg, "/, "))
			usage(o, "--name must be a word of up to 60 letters");
		o->name = arg;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'h':
		opts_help(o->verb);
		exit(0);
	default:
		exit(EXIT_RIG);		/* getopt has said why */
	}
}

static void fill_defaults(struct opts *o, int v, int n)
{
	int i;

	if (o->nodes && n && n + o->spares != o->nodes)
		usage(o, "-n %d and %d spares, but --nodes names %d", n,
		      o->spares, o->nodes);
	if (!o->nodes) {
		o->nodes = (n ? n : 2) + o->spares;
		if (o->nodes > MAX_NODES)
			usage(o, "at most %d nodes, with the spares", MAX_NODES);
		for (i = 0; i < o->nodes; i++)
			o->ids[i] = i;
	}
	if (o->spares >= o->nodes)
		usage(o, "%d nodes, and all are spares", o->nodes);
	if (!verbs[v].boots)
		return;
	if (o->rdma && (o->hotplug || o->root))
		usage(o, "--transport rdma does not go with --hotplug or --root");
	if (o->rdma)
		o->devices = 0;
	if (o->root && !o->no_module)
		usage(o, "--root needs --no-module: the folder of modules is not below it");
	if (!o->kernel_dir)
		o->kernel_dir = kernel_fetch(NULL);
	if (!o->modules) {
		o->modules = kernel_our_modules(o->kernel_dir);
		if (access(o->modules, R_OK) && o->no_module) {
			free(o->modules);
			o->modules = NULL;
			return;
		}
		if (access(o->modules, R_OK))
			die("no folder '%s' of modules: name it by --modules, or use --no-module",
			    o->modules);
		o->modules = full_path(o, "--modules", o->modules);
	}
}

void opts_parse(struct opts *o, int argc, char **argv)
{
	int v, c, i, n = 0, end = argc;

	*o = (struct opts){
		.name = "default", .mem = 512, .devices = 1,
		.boot_timeout = 120, .accel = "auto", .tag = -1,
	};
	for (i = 0; i < MAX_NODES; i++)
		o->smp[i] = 1;
	for (i = 0; i < MAX_DEVICES; i++)
		o->bar[i] = 1ULL << 30;
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		opts_help(argc > 2 ? argv[2] : NULL);
		exit(argc < 2 ? EXIT_RIG : 0);
	}
	v = find_verb(argv[1]);
	if (v < 0)
		die("there is no verb '%s' (see 'ubrig --help')", argv[1]);
	o->verb = verbs[v].verb;
	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], "--")) {
			end = i;
			break;
		}
	argv[1] = "ubrig";
	optind = 1;
	while ((c = getopt_long(end - 1, argv + 1, "n:vh", long_options,
				NULL)) != -1)
		one_option(o, c, optarg, &n);
	for (i = optind + 1; i < end; i++)
		add_word(&o->words, &o->nwords, argv[i]);
	if (end < argc) {
		o->argv = argv + end + 1;
		o->argc = argc - end - 1;
	}
	if (verbs[v].command && !o->argc)
		usage(o, "no command: write it after '--'");
	if (!verbs[v].command && o->argc)
		usage(o, "'%s' takes no command", o->verb);
	if (o->nwords < verbs[v].min_words)
		usage(o, "'%s' wants a NODE", o->verb);
	if (o->nwords > verbs[v].max_words)
		usage(o, "do not know what to do with '%s'",
		      o->words[verbs[v].max_words]);
	fill_defaults(o, v, n);
}

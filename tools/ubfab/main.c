// SPDX-License-Identifier: GPL-2.0-only
/* ubfab: options, objects, help. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "ubfab.h"

struct opts opts;

static const char help_text[] =
"Usage: ubfab [OPTION]... OBJECT [VERB] [ARGUMENT]...\n"
"Show and change fabrics of this kernel. OBJECT is one of:\n"
"\n"
"  fabric    devices; loop fabrics\n"
"  node      nodes of a fabric\n"
"  stats     counters of a node and its groups\n"
"  monitor   events as they come\n"
"\n"
"  -j, --json      JSON arrays; monitor: an object each line\n"
"  -p, --pretty    JSON over several lines\n"
"  -d, --details   all there is\n"
"  -h, --help      this text; after OBJECT: what it can do\n"
"\n"
"Words may be abbreviated. Exit status: 0, 1 failed, 2 usage.\n";

static const char fabric_help[] =
"Usage: ubfab fabric show [DEV]\n"
"       ubfab fabric add loop nodes N [mb M] [first ID]\n"
"       ubfab fabric del DEV\n"
"\n"
"  show    devices of this kernel: transport, node, state, memory; -d: id and\n"
"          generation of the fabric, limits, detection time\n"
"  add     a fabric of N nodes within this kernel, a device each, of M MiB (64)\n"
"          and with node ids from ID (0); tells the devices. CAP_NET_ADMIN\n"
"  del     the loop fabric of DEV, all its devices. CAP_NET_ADMIN\n";

static const char node_help[] =
"Usage: ubfab node show [dev DEV]\n"
"\n"
"Nodes as DEV (or each device) sees them: id, incarnation, state, reason, time\n"
"since the heartbeat moved; of the node itself how it maps the memory.\n"
"States: up, fenced, down, joining.\n";

static const char stats_help[] =
"Usage: ubfab stats show [dev DEV]\n"
"\n"
"Counters of the node of DEV (or of each device), and of the members of groups\n"
"that live on it, added up by level; -d: also each member with its epoch.\n";

static const char monitor_help[] =
"Usage: ubfab monitor\n"
"\n"
"Events until it is interrupted, a line each: node-up, node-down, fenced,\n"
"fabric-add, fabric-del. -d: with the time.\n";

static const struct object {
	const char *name;
	int (*run)(struct args *a);
	const char *help;
} objects[] = {
	{ "fabric", do_fabric, fabric_help },
	{ "node", do_node, node_help },
	{ "stats", do_stats, stats_help },
	{ "monitor", do_monitor, monitor_help },
	{ }
};

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, 'p' },
	{ "details", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

int main(int argc, char **argv)
{
	const struct object *o;
	struct args args;
	bool help = false;
	int c, err;

	/* Options may stand anywhere. */
	while ((c = getopt_long(argc, argv, "jpdh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			opts.json = true;
			break;
		case 'p':
			opts.pretty = true;
			break;
		case 'd':
			opts.details = true;
			break;
		case 'h':
			help = true;
			break;
		default:
			return UBFAB_EX_USAGE;
		}
	}
	args.v = argv + optind;
	if (!*args.v) {
		fputs(help_text, help ? stdout : stderr);
		return help ? 0 : UBFAB_EX_USAGE;
	}
	for (o = objects; o->name && !args_is(*args.v, o->name); o++)
		;
	if (!strcmp(*args.v, "help")) {
		fputs(help_text, stdout);
		return 0;
	}
	if (!o->name)
		return usage("'%s' is not fabric, node, stats or monitor", *args.v);
	args.v++;
	if (help || (*args.v && !strcmp(*args.v, "help"))) {
		fputs(o->help, stdout);
		return 0;
	}
	err = o->run(&args);
	ubnl_close();
	return err;
}

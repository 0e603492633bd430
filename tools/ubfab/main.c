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
"  window    windows that a node exports\n"
"  group     members of groups that live on a node\n"
"  stats     counters of nodes, levels and groups\n"
"  monitor   events as they come\n"
"  up, down  fabrics of files, /etc/ub/*.yaml\n"
"\n"
"  -j, --json      JSON arrays; monitor: an object each line\n"
"  -p, --pretty    JSON over several lines\n"
"  -d, --details   all there is\n"
"  -h, --help      this text; after OBJECT: what it can do\n"
"  -V, --version   the version\n"
"\n"
"Words may be abbreviated. Exit status: 0, 1 failed, 2 usage.\n";

static const char fabric_help[] =
"Usage: ubfab fabric show [[dev] DEV]\n"
"       ubfab fabric add loop nodes N [node ID] [bytes SIZE]\n"
"       ubfab fabric add rdma dev DEVICE node ID peer ID=ADDRESS... [name NAME]\n"
"             [port PORT] [bytes SIZE]\n"
"       ubfab fabric del DEV\n"
"       ubfab fabric set DEV [detect_ms MS] [up]\n"
"       ubfab fabric format DEV [force]\n"
"\n"
"  show    devices of this kernel: transport, node, state, memory; -d: id and\n"
"          generation of the fabric, limits, detection time\n"
"  add     a fabric of N nodes within this kernel, a device each, over SIZE bytes\n"
"          (64M) and with node ids from ID (0); tells the devices\n"
"          rdma: node ID of a fabric over an RDMA device, with windows in SIZE\n"
"          bytes (64M) of this machine's memory; NAME and PORT are the same at\n"
"          all nodes; a peer that is ID itself is left out\n"
"  del     the loop fabric of DEV, all its devices; or DEV, of an rdma fabric\n"
"  set     the detection time of DEV's node, 500 to 600000 ms; up: a fenced node\n"
"          joins again\n"
"  format  erase the memory of DEV's fabric, whatever it holds; without force say\n"
"          what would be lost\n"
"\n"
"All but show need CAP_NET_ADMIN.\n";

static const char node_help[] =
"Usage: ubfab node show [[dev] DEV] [node ID]\n"
"\n"
"Nodes as DEV (or each device) sees them: id, incarnation, state, reason, time\n"
"since the heartbeat moved, how the node maps the memory, what wakes its\n"
"sleepers, doorbells rung for it; of the device's own node also those that came.\n"
"States: up, fenced, down, joining.\n";

static const char window_help[] =
"Usage: ubfab window show [[dev] DEV] [window ID]\n"
"\n"
"Windows that the node of DEV (or of each device) exports, and whose they are.\n"
"One in quarantine was destroyed; its memory waits for that many nodes.\n";

static const char group_help[] =
"Usage: ubfab group show [[dev] DEV] [slot S] [member M]\n"
"\n"
"Members of groups that live on the node of DEV (or of each device): the last\n"
"barrier that it arrived at, the first member missing there, why the group is\n"
"lost; -d: id and counters.\n";

static const char stats_help[] =
"Usage: ubfab stats show [[dev] DEV] [level NAME]\n"
"\n"
"Counters of the node of DEV (or of each device), and of the members of groups\n"
"that live on it, added up by level; -d: also each member.\n";

static const char monitor_help[] =
"Usage: ubfab monitor\n"
"\n"
"Events until it is interrupted, a line each: node-up, node-down, fenced,\n"
"fabric-add, fabric-del, fabric-change. -d: with the time.\n";

static const char up_help[] =
"Usage: ubfab up [FILE]...\n"
"       ubfab down [FILE]...\n"
"\n"
"  up      adds the fabrics of each FILE, of /etc/ub/*.yaml when none is named;\n"
"          a file is up as a whole, or not at all\n"
"  down    deletes what came of FILE, or of all files\n"
"\n"
"A file is YAML; the keys are the words of \"fabric add\":\n"
"\n"
"  fabrics:\n"
"    - {transport: loop, nodes: 4, bytes: 64M}\n"
"\n"
"CAP_NET_ADMIN, and to write in /run/ub.\n";

static const struct object {
	const char *name;
	int (*run)(struct args *a);
	const char *help;
} objects[] = {
	{ "fabric", do_fabric, fabric_help },
	{ "node", do_node, node_help },
	{ "window", do_window, window_help },
	{ "group", do_group, group_help },
	{ "stats", do_stats, stats_help },
	{ "monitor", do_monitor, monitor_help },
	{ "up", do_up, up_help },
	{ "down", do_down, up_help },
	{ }
};

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "pretty", no_argument, NULL, 'p' },
	{ "details", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

int main(int argc, char **argv)
{
	const struct object *o;
	struct args args = { 0 };
	bool help = false;
	int c, err;

	/* Options may stand anywhere. */
	while ((c = getopt_long(argc, argv, "jpdhV", options, NULL)) != -1) {
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
		case 'V':
			printf("ubfab %s, netlink family %s version %d\n", VERSION,
			       UB_FAMILY_NAME, UB_FAMILY_VERSION);
			return 0;
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
		return usage("'%s' is not fabric, node, window, group, stats, monitor, up or down",
			     *args.v);
	args.v++;
	if (help || (*args.v && !strcmp(*args.v, "help"))) {
		fputs(o->help, stdout);
		return 0;
	}
	err = o->run(&args);
	ubnl_close();
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/* ubrig: boots VMs that share a memory, and runs programs on them. */
#include <string.h>

#include "opts.h"
#include "verbs.h"

int main(int argc, char **argv)
{
	struct opts o;

	opts_parse(&o, argc, argv);
	if (!strcmp(o.verb, "run"))
		return run_verb(&o);
	if (!strcmp(o.verb, "up"))
		return up_verb(&o);
	return client_verb(&o);
}

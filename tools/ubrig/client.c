// SPDX-License-Identifier: GPL-2.0-only
/* Verbs that talk to a standing rig. */
#include "util.h"
#include "verbs.h"

int client_verb(struct opts *o)
{
	die("%s: this build has no standing rig", o->verb);
}

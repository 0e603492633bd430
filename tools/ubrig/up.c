// SPDX-License-Identifier: GPL-2.0-only
/* "ubrig up": a rig that stays. */
#include "util.h"
#include "verbs.h"

int up_verb(struct opts *o)
{
	die("%s: this build has no standing rig", o->verb);
}

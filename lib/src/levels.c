// SPDX-License-Identifier: MIT
/*
 * What a program's names for levels mean on a machine: names of its levels,
 * "world" and "node", and aliases of these. An alias is not followed twice, so
 * that two names may change places.
 */
#include "machine.h"
#include "error.h"
#include "schedule.h"
#include <string.h>

/* A name that is no alias. */
static int plain_place(const struct ub_machine *m, const char *name)
{
	int level = ub_machine_level(m, name);

	if (level >= 0)
		return 1 + level;
	if (!strcmp(name, "node"))
		return 1 + m->shape.nlevels;
	return strcmp(name, "world") ? -1 : 0;
}

int ub_machine_place(const struct ub_machine *m, const char *name)
{
	__u32 i;

	for (i = m->naliases; i-- > 0;)
		if (!strcmp(m->alias[i].name, name))
			return m->alias[i].place;
	return plain_place(m, name);
}

int ub_machine_alias(struct ub_machine *m, const char *where, const char *name,
		     const char *target)
{
	struct ub_alias *a = &m->alias[m->naliases];
	int place = plain_place(m, target);

	if (!*name || strlen(name) >= UB_NAME_LEN)
		return ub_fail(-EINVAL,
			       "%s: \"%s\" is no name; it has 1 to %d characters",
			       where, name, UB_NAME_LEN - 1);
	if (place < 0)
		return ub_fail(-EINVAL,
			       "%s: machine \"%s\" has no level \"%s\"; its innermost is \"%s\", and there are \"node\" and \"world\"",
			       where, m->title, target,
			       m->name[m->shape.nlevels - 1]);
	if (m->naliases == UB_ALIASES)
		return ub_fail(-EINVAL, "%s: more than %d aliases", where,
			       UB_ALIASES);
	memset(a, 0, sizeof(*a));
	memcpy(a->name, name, strlen(name));
	a->place = place;
	m->naliases++;
	return 0;
}

/* The next "name=target" of a list; false when it is none. */
static bool take_pair(const char **text, char *name, char *target)
{
	size_t len = strcspn(*text, ","), eq = strcspn(*text, "=");

	if (eq >= len || eq >= UB_NAME_LEN || len - eq > UB_NAME_LEN)
		return false;
	memcpy(name, *text, eq);
	name[eq] = '\0';
	memcpy(target, *text + eq + 1, len - eq - 1);
	target[len - eq - 1] = '\0';
	*text += len;
	if (**text)
		++*text;
	return true;
}

int ub_machine_map(struct ub_machine *m, const char *where, const char *text)
{
	char name[UB_NAME_LEN], target[UB_NAME_LEN];
	const char *rest = text;
	int err = 0;

	while (!err && rest && *rest) {
		if (!take_pair(&rest, name, target))
			return ub_fail(-EINVAL,
				       "%s=%s: give pairs of a program's name and a level, like board=rack,package=node",
				       where, text);
		err = ub_machine_alias(m, where, name, target);
	}
	return err;
}

static __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 29;
}

static __u64 mix_name(__u64 h, const char *name)
{
	while (*name)
		h = mix(h, (unsigned char)*name++);
	return mix(h, 0);
}

__u64 ub_machine_hash(const struct ub_machine *m)
{
	__u64 h = ub_shape_hash(&m->shape);
	__u32 i;

	for (i = 0; i <= m->shape.nlevels; i++) {
		h = mix(h, m->figure[i].latency_ns);
		h = mix(h, m->figure[i].mb_per_s);
	}
	for (i = 0; i < m->naliases; i++) {
		h = mix_name(h, m->alias[i].name);
		h = mix(h, m->alias[i].place);
	}
	return h;
}

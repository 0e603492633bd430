// SPDX-License-Identifier: MIT
/*
 * A function, told to another process that runs the same program: which object
 * it lies in, by name, and how far from where that was loaded. Objects are at
 * other addresses in each process.
 */
#include "bsp_where.h"
#include <link.h>
#include <stdbool.h>
#include <string.h>

struct search {
	struct ub_bsp_where where;
	uintptr_t addr;
	bool found;
};

static uint64_t hash_of(const char *name)
{
	const char *slash = strrchr(name, '/');
	uint64_t h = 0xcbf29ce484222325ULL;

	/* The program itself is "". */
	for (name = slash ? slash + 1 : name; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3ULL;
	return h;
}

static bool holds(const struct dl_phdr_info *o, uint64_t offset)
{
	int i;

	for (i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_LOAD &&
		    offset - o->dlpi_phdr[i].p_vaddr < o->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

static int by_addr(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	s->where.offset = s->addr - o->dlpi_addr;
	s->where.object = hash_of(o->dlpi_name);
	s->found = holds(o, s->where.offset);
	return s->found;
}

static int by_name(struct dl_phdr_info *o, size_t size, void *arg)
{
	struct search *s = arg;

	(void)size;
	s->addr = o->dlpi_addr + s->where.offset;
	s->found = s->where.object == hash_of(o->dlpi_name) &&
		   holds(o, s->where.offset);
	return s->found;
}

int ub_bsp_where(void (*f)(void), struct ub_bsp_where *where)
{
	struct search s = { .addr = (uintptr_t)f };

	dl_iterate_phdr(by_addr, &s);
	*where = s.where;
	return s.found ? 0 : -1;
}

void (*ub_bsp_there(const struct ub_bsp_where *where))(void)
{
	struct search s = { .where = *where };

	dl_iterate_phdr(by_name, &s);
	return s.found ? (void (*)(void))s.addr : NULL;
}

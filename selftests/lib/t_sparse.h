/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Much address space and little memory: untouched pages to read from, and one small
 * piece of memory, mapped again and again, to write to.
 */
#ifndef T_SPARSE_H
#define T_SPARSE_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BEYOND	((size_t)1 << 31)
#define PIECE	((size_t)4 << 20)

static inline void *sparse(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* What lies at its place in the end was written last. */
static inline void *again_and_again(size_t bytes)
{
	size_t whole = (bytes + PIECE - 1) / PIECE * PIECE, at;
	int fd = memfd_create("piece", MFD_CLOEXEC);
	char *p = mmap(NULL, whole, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (fd < 0 || p == MAP_FAILED || ftruncate(fd, PIECE))
		return NULL;
	for (at = 0; at < whole; at += PIECE)
		if (mmap(p + at, PIECE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return NULL;
	close(fd);
	return p;
}

/* Bytes of memory that can be had now; 0: not known. */
static inline size_t memory_left(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];
	size_t kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %zu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib << 10;
}

#endif /* T_SPARSE_H */

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads or writes 64-bit words of the memory that a rig's guests share, from
 * inside a guest, by the driverless device beside the one that is tested.
 *
 * usage: bar_word OFFSET [VALUE]...	prints the word, or stores that many
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BAR "/sys/bus/pci/devices/0000:00:11.0/resource2"
#define PAGE 4096UL

int main(int argc, char **argv)
{
	uint64_t *word;
	unsigned long offset;
	int i, fd;

	offset = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	if (offset % 8 || offset % PAGE + 8UL * (argc - 2) > PAGE) {
		fprintf(stderr, "usage: %s OFFSET [VALUE]..., in one page\n", argv[0]);
		return 2;
	}
	fd = open(BAR, O_RDWR);
	word = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
					  MAP_SHARED, fd, offset / PAGE * PAGE);
	if (word == MAP_FAILED) {
		fprintf(stderr, "%s: %s\n", BAR, strerror(errno));
		return 1;
	}
	word += offset % PAGE / 8;
	if (argc == 2)
		printf("0x%llx\n", (unsigned long long)
		       __atomic_load_n(word, __ATOMIC_SEQ_CST));
	for (i = 2; i < argc; i++)
		__atomic_store_n(word++, strtoull(argv[i], NULL, 0), __ATOMIC_SEQ_CST);
	return 0;
}

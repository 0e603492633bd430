// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two or more guests of a rig meet in the memory they share, from user space:
 * they pass a token on, then count in one word with locked instructions.
 *
 * Maps the BAR of the driverless ivshmem-plain device by sysfs. Needs zeroed
 * memory, so it runs once per rig. Exits 0, or 1 and says what was wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BAR "/sys/bus/pci/devices/0000:00:11.0/resource2"
#define ADDITIONS 200000UL
#define PATIENCE_SECONDS 20

struct shared {
	_Atomic uint64_t token;
	char pad1[56];
	_Atomic uint64_t arrived;
	char pad2[56];
	_Atomic uint64_t sum;
};

static int rank, size;

static void fail(const char *what)
{
	fprintf(stderr, "rank %d: %s\n", rank, what);
	exit(1);
}

static int number(const char *name)
{
	const char *s = getenv(name);

	if (!s)
		fail(name);
	return atoi(s);
}

static void wait_for(_Atomic uint64_t *word, uint64_t value, const char *what)
{
	time_t end = time(NULL) + PATIENCE_SECONDS;

	while (atomic_load(word) < value) {
		if (time(NULL) > end)
			fail(what);
		usleep(1000);
	}
}

int main(void)
{
	struct shared *s;
	unsigned long i;
	int fd;

	rank = number("UB_RANK");
	size = number("UB_SIZE");
	fd = open(BAR, O_RDWR);
	if (fd < 0)
		fail("cannot open " BAR);
	s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		fail("cannot map " BAR);

	wait_for(&s->token, rank, "the token did not come");
	atomic_store(&s->token, rank + 1);
	wait_for(&s->token, size, "the token did not go round");
	printf("token went round\n");

	atomic_fetch_add(&s->arrived, 1);
	wait_for(&s->arrived, size, "not all arrived");
	for (i = 0; i < ADDITIONS; i++)
		atomic_fetch_add(&s->sum, 1);
	atomic_fetch_add(&s->arrived, 1);
	wait_for(&s->arrived, 2 * size, "not all counted");
	if (atomic_load(&s->sum) != ADDITIONS * size)
		fail("additions were lost: the VMs' atomics are not atomic");
	printf("sum is exact\n");
	return 0;
}

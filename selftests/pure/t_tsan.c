// SPDX-License-Identifier: GPL-2.0-only
/*
 * Members as threads under ThreadSanitizer. Between barriers they hand plain
 * data to each other: what one wrote before a barrier others read after it,
 * and the slot is written again two barriers later. The engine must order all
 * of it, by flags and by the record; then the sanitizer has nothing to say.
 *
 *	t_tsan run		silent, or the engine is at fault
 *	t_tsan racy		leaves one barrier out: must be reported
 *	t_tsan			runs both and looks at how they end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test.h"
#include "engine.h"

#define MAXN	5
#define STEPS	120
#define FOUND	66	/* exit code when the sanitizer reports */

const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
	return "exitcode=66:halt_on_error=1";
}

static struct ub_grp grp;
static uint32_t n, k;
static bool by_record, straight, racy;
static struct ub_sched *sched[MAXN];
static uint64_t plain[2][MAXN];		/* by parity of the step */
static unsigned int wrong;		/* atomic */

static void sync_up(struct ub_bar *b, uint64_t value)
{
	uint32_t polls = 0, left = 20;
	int ret = -EBUSY;

	if (straight && b->nhops)
		ret = ub_bar_straight(b, UB_RED_SUM, value, UB_AUX_LAST_MASK,
				      &left, &b->sum);
	if (ret > 0)
		return;
	if (ret < 0 && ub_bar_arrive(b, UB_RED_SUM, value, UB_AUX_LAST_MASK))
		abort();
	for (;;) {
		if (!by_record && ub_bar_poll(b))
			return;
		if ((by_record || ++polls > 50) &&
		    ub_bar_record(b) == UB_BAR_DONE)
			return;
		sched_yield();
	}
}

static void *member(void *arg)
{
	uint32_t me = (uintptr_t)arg, step, i;
	struct ub_bar b;

	ub_bar_init(&b, &grp, sched[me], me, 0);
	for (step = 1; step <= STEPS; step++) {
		uint64_t sum = 0;

		plain[step & 1][me] = step * 100 + me;
		/* The planted fault: one member, once. */
		if (!(racy && step == STEPS / 2))
			sync_up(&b, plain[step & 1][me]);
		for (i = 0; i < n; i++)
			sum += plain[step & 1][i];
		if (sum != n * step * 100ULL + n * (n - 1) / 2 ||
		    (!racy && b.sum.full != sum))
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int threads(void)
{
	struct ub_shape shape = flat_of(k);
	uint32_t node[MAXN] = { 0, 1, 2, 3, 4 }, i;
	uint64_t size = ub_group_map_size(MAXN, 16);
	pthread_t t[MAXN];
	void *pages = aligned_alloc(4096, size);

	if (!pages)
		return 1;
	memset(pages, 0, size);
	memset(plain, 0, sizeof(plain));
	ub_grp_init(&grp, pages, n, MAXN, 16);
	for (i = 0; i < n; i++)
		sched[i] = ub_sched_build(node, n, i, &shape);
	for (i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, member, (void *)(uintptr_t)i))
			return 1;
	for (i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < n; i++)
		ub_sched_free(sched[i]);
	free(pages);
	return 0;
}

static int run(void)
{
	int i;

	for (n = 2; n <= MAXN; n++)
		for (k = 1; k <= 2; k++) {
			for (i = 0; i < 3; i++) {
				by_record = i == 1;
				straight = i == 2;
				if (threads())
					return 1;
			}
		}
	return wrong != 0;
}

static int child(const char *self, const char *mode)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return -1;
	if (!pid) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		execl(self, self, mode, NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(int argc, char **argv)
{
	int code;

	if (argc > 1 && !strcmp(argv[1], "run"))
		return run();
	if (argc > 1) {
		racy = true;
		n = 3;
		k = 1;
		return threads();
	}
	ktap_start(2);
	code = child("/proc/self/exe", "run");
	ktap_ok(!code, "2 to 5 threads, flags, record, straight: exit code %d", code);
	code = child("/proc/self/exe", "racy");
	ktap_ok(code == FOUND, "a barrier left out is reported: exit code %d", code);
	return ktap_end();
}

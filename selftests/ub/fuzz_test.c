// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer over ioctl, mmap and netlink: threads make calls whose arguments are
 * random or nearly right, and know what the fields mean. With KCOV in the kernel
 * (selftests/debug) a call that reaches new code of the module is kept, and
 * changed further; without, all are made anew. Any answer will do; afterwards all
 * memory is free, a world meets, and the kernel has not complained.
 *
 * usage: fuzz_test [--seed S] [--seconds N] [--threads N]; else UB_HOSTILE_SEED,
 * UB_HOSTILE_SECONDS (60, with UB_LONG 600). The seed is printed; a thread's calls
 * follow from it, as far as coverage does not change them.
 */
#define UB_NO_HARNESS
#include <getopt.h>
#include <stddef.h>
#include "fuzz_make.h"

#define THREADS		4
#define KEPT		1024
#define COVER		(32 << 10)	/* words of KCOV's buffer */
#define MAP_BITS	(1 << 16)

#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_DISABLE	_IO('c', 101)

static struct call kept[KEPT];
static unsigned int nkept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char covered[MAP_BITS / 8];
static __u64 ncovered, end_of_all;
static unsigned int running;	/* threads that make calls */

/* What a change must not make endless. */
static void bound(struct fuzzer *z, struct call *c)
{
	void *p = c->p;
	struct ub_group_create *g = p;
	struct ub_group_shrink *s = p;
	struct ub_xfer *x = p;

	if (c->what != IOCTL)
		return;
	switch (c->nr) {
	case UB_CMD_GROUP_CREATE:
		g->timeout = soon(z);
		g->members = confine(z, g->members);
		g->out_table = confine(z, g->out_table);
		break;
	case UB_CMD_GROUP_SHRINK:
		s->timeout = soon(z);
		s->out_table = confine(z, s->out_table);
		break;
	case UB_CMD_XFER:
		x->ops = confine(z, x->ops);
		if (x->nops <= UB_XFER_MAX)
			x->nops %= 1000;	/* each may be long */
		break;
	case UB_CMD_BARRIER:
		((struct ub_barrier *)p)->timeout = soon(z);
		break;
	case UB_CMD_TEST:
		((struct ub_test *)p)->value %= 1000;
		/* Those beyond kill this program, or break memory on purpose. */
		if (((struct ub_test *)p)->op <= UB_TEST_COPIED_BUSY)
			((struct ub_test *)p)->op %= UB_TEST_ATOMIC_ADD + 1;
		break;
	}
}

/* Attributes: a netlink message's are {type, length, value} in @p. */
static void make_message(struct fuzzer *z, struct call *c)
{
	size_t i, n = rnd(z) % 5;

	memset(c->p, 0, SIZE);
	c->nr = 1 + rnd(z) % (UB_NL_CMD_MAX + 1);
	c->p[0] = n;
	for (i = 0; i < n; i++) {
		c->p[1 + 3 * i] = rnd(z) % 4 ? 1 + rnd(z) % UB_NL_A_FORCE : rnd(z) % 64;
		c->p[2 + 3 * i] = rnd(z) % 8 ? 4 << rnd(z) % 2 : rnd(z) % 40;
		c->p[3 + 3 * i] = rnd(z) % 2 ? number(z) : rnd(z) % 12;
	}
	/* A dump, or not. */
	c->p[1 + 3 * n] = rnd(z) % 2;
}

static void make(struct fuzzer *z, struct call *c)
{
	static const unsigned char often[] = { IOCTL, IOCTL, IOCTL, IOCTL, IOCTL, IOCTL, IOCTL,
		IOCTL, MMAP, MMAP, NETLINK, NETLINK, READ, REOPEN };

	c->what = often[rnd(z) % COUNT(often)];
	switch (c->what) {
	case IOCTL:
		c->nr = UB_CMD_INFO + rnd(z) % (UB_CMD_END - UB_CMD_INFO + 1);
		/* A node that stands still or is dead is seldom of use. */
		if (c->nr == UB_CMD_TEST && rnd(z) % 32)
			c->nr = UB_CMD_BARRIER;
		make_struct(z, c);
		break;
	case NETLINK:
		make_message(z, c);
		break;
	default:
		c->nr = rnd(z);
		c->p[0] = rnd(z) % 4 ? gva(z) & ~(PAGE - 1) : 1ULL << 42 | (rnd(z) % 64) << 22;
		c->p[0] |= rnd(z) % 4 ? 0 : UB_MMAP_QUIET;
		c->p[1] = rnd(z) % 8 ? PAGE * (1 + rnd(z) % 40) : number(z) % (1 << 24);
		c->p[2] = rnd(z) % 8;
		c->p[3] = rnd(z) % 8 ? MAP_SHARED : MAP_PRIVATE;
	}
}

/* Change a call a little: a word, a bit, a few bytes. */
static void change(struct fuzzer *z, struct call *c)
{
	int n = 1 + rnd(z) % 3;

	while (n--) {
		size_t w = rnd(z) % (rnd(z) % 4 ? 8 : 28);
		__u32 *half = (__u32 *)&c->p[w] + rnd(z) % 2;

		switch (rnd(z) % 4) {
		case 0:
			c->p[w] = number(z);
			break;
		case 1:
			c->p[w] ^= 1ULL << rnd(z) % 64;
			break;
		case 2:
			*half = number(z);
			break;
		default:
			*half += rnd(z) % 5 - 2;
		}
	}
}

/* ---- making the call ---- */

static int do_ioctl(struct fuzzer *z, struct call *c, int fd)
{
	int ret = call(fd, _IO(UB_IOC_TYPE, c->nr), c->p);

	if (!ret && c->nr == UB_CMD_WIN_CREATE)
		memcpy(&pool[rnd(z) % COUNT(pool)], c->p, sizeof(pool[0]));
	return ret;
}

static int do_mmap(struct fuzzer *z, struct call *c, int fd)
{
	size_t len = c->p[1] % (1 << 24);
	unsigned char *p = mmap(NULL, len, c->p[2] & 7, c->p[3] & 3, fd, c->p[0]);
	int pipe_fd[2], i;

	if (p == MAP_FAILED)
		return -errno;
	/* By system calls: no signal, whatever is there. */
	if (!pipe(pipe_fd)) {
		for (i = 0; i < 4; i++)
			if (write(pipe_fd[1], p + rnd(z) % len, 1) == 1 &&
			    read(pipe_fd[0], p + rnd(z) % len, 1) < 0)
				break;
		close(pipe_fd[0]);
		close(pipe_fd[1]);
	}
	if (len > PAGE && rnd(z) % 4 == 0)
		munmap(p, PAGE);
	mprotect(p, PAGE, rnd(z) % 8);
	madvise(p, len, rnd(z) % 8);
	return munmap(p, len) ? -errno : 0;
}

static int do_netlink(struct fuzzer *z, struct call *c)
{
	static const char filler[64];
	struct nl_req q;
	struct nl_obj o;
	size_t i, n = c->p[0] % 6, room = 0;
	int ret, most = 200;

	if (!z->has_nl)
		return -ENOTCONN;
	nl_begin(&q, c->nr);
	for (i = 0; i < n; i++) {
		size_t len = c->p[2 + 3 * i] % 64;
		__u64 v = c->p[3 + 3 * i];
		int type = c->p[1 + 3 * i] & 0x3fff;

		/* Fabrics of its own only go: 32 bits name one; what is made is small. */
		if (type == UB_NL_A_FABRIC && (c->nr == UB_NL_CMD_FABRIC_DEL ||
					       c->nr == UB_NL_CMD_FABRIC_FORMAT)) {
			v = (__u32)v < NODES ? v + NODES : v;
			len = len > sizeof(v) ? sizeof(v) : len;
		}
		if (type == UB_NL_A_BYTES)
			v = v % (8 << 20);
		if (type == UB_NL_A_DETECT_MS)
			v = v % 1000;
		room += len + 8;
		if (room > sizeof(q.attrs))
			break;
		if (type == UB_NL_A_TRANSPORT)
			nl_put(&q, type, v & 1 ? "loop" : "pool", 5);
		else if (len <= 8)
			nl_put(&q, type, &v, len);
		else
			nl_put(&q, type, filler, len);
	}
	if (c->p[1 + 3 * n] & 1) {
		ret = nl_dump(&z->nl, &q);
		while (!ret && most-- && (ret = nl_next(&z->nl, &o)) == 1)
			ret = 0;
		/* A dump that was not read to its end would answer the next one. */
		nl_close(&z->nl);
		z->has_nl = !nl_open(&z->nl);
		return ret;
	}
	return nl_do(&z->nl, &q, &o);
}

static int do_call(struct fuzzer *z, struct call *c)
{
	int node = rnd(z) % NODES, fd = z->fd[node];
	struct ub_event ev;

	switch (c->what) {
	case IOCTL:
		return do_ioctl(z, c, fd);
	case MMAP:
		return do_mmap(z, c, fd);
	case NETLINK:
		return do_netlink(z, c);
	case READ:
		return read(fd, &ev, c->nr % 64) < 0 ? -errno : 0;
	default:
		close(fd);
		z->fd[node] = open_node(node);
		return fcntl(z->fd[node], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
	}
}

/* ---- coverage ---- */

static void cover_open(struct fuzzer *z)
{
	void *p;

	z->cover = NULL;
	z->kcov = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (z->kcov < 0 || ioctl(z->kcov, KCOV_INIT_TRACE, COVER))
		return;
	p = mmap(NULL, COVER * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, z->kcov, 0);
	if (p != MAP_FAILED && !ioctl(z->kcov, KCOV_ENABLE, 0))
		z->cover = p;
}

/* Did the last call reach what none has reached? */
static bool cover_new(struct fuzzer *z)
{
	unsigned long i, n = z->cover ? LD(&z->cover[0]) : 0, before = 0;
	bool found = false;

	for (i = 0; i < n && i < COVER - 1; i++) {
		unsigned long pc = z->cover[i + 1];
		unsigned int bit = (pc ^ before << 3) * 0x9e3779b97f4a7c15UL >> 48;

		before = pc;
		if (LD(&covered[bit / 8]) & 1 << bit % 8)
			continue;
		__atomic_or_fetch(&covered[bit / 8], 1 << bit % 8, __ATOMIC_RELAXED);
		__atomic_add_fetch(&ncovered, 1, __ATOMIC_RELAXED);
		found = true;
	}
	return found;
}

static void keep(struct fuzzer *z, const struct call *c)
{
	pthread_mutex_lock(&kept_lock);
	kept[nkept < KEPT ? nkept++ : rnd(z) % KEPT] = *c;
	pthread_mutex_unlock(&kept_lock);
}

static bool take_kept(struct fuzzer *z, struct call *c)
{
	bool any;

	pthread_mutex_lock(&kept_lock);
	any = nkept;
	if (any)
		*c = kept[rnd(z) % nkept];
	pthread_mutex_unlock(&kept_lock);
	return any;
}

static void *fuzz(void *arg)
{
	struct fuzzer *z = arg;
	struct call c, was;
	int i;

	z->area = mmap(NULL, GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (z->area == MAP_FAILED || mprotect(z->area, AREA, PROT_READ | PROT_WRITE))
		abort();
	for (i = 0; i < 64; i++)
		((__u32 *)(z->area + INDICES))[i] = i;
	cover_open(z);
	z->has_nl = !nl_open(&z->nl);
	for (i = 0; i < NODES; i++) {
		z->fd[i] = open_node(i);
		fcntl(z->fd[i], F_SETFL, O_NONBLOCK);
	}
	while (now() < end_of_all) {
		if (rnd(z) % 2 || !take_kept(z, &c))
			make(z, &c);
		if (rnd(z) % 2)
			change(z, &c);
		bound(z, &c);
		was = c;
		if (z->cover)
			ST(&z->cover[0], 0);
		z->good += !do_call(z, &c);
		z->calls++;
		if (cover_new(z))
			keep(z, &was);
	}
	for (i = 0; i < NODES; i++)
		close(z->fd[i]);
	if (z->has_nl)
		nl_close(&z->nl);
	if (z->kcov >= 0)
		close(z->kcov);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* ---- around it ---- */

/*
 * Nodes that stand still or are fenced come back: calls get deeper then, and the
 * last ones end.
 */
static void weather(void)
{
	int node, fd[NODES];

	/* Closing one, too, waits for a node that stands still. */
	for (node = 0; node < NODES; node++)
		fd[node] = open_node(node);
	while (__atomic_load_n(&running, __ATOMIC_RELAXED)) {
		for (node = 0; node < NODES; node++) {
			test_op(fd[node], UB_TEST_RESUME, 0, 0, NULL);
			test_op(fd[node], UB_TEST_REJOIN, 0, 0, NULL);
		}
		sleep_ms(200);
	}
	for (node = 0; node < NODES; node++) {
		test_op(fd[node], UB_TEST_RESUME, 0, 0, NULL);
		close(fd[node]);
	}
}

/* Delete loop fabrics that were made; NODES devices are everybody's. */
static bool tidy(void)
{
	struct nl nl;
	__u32 minor;

	if (nl_open(&nl))
		return false;
	for (minor = NODES; minor < 512; minor++)
		nl_fabric_del(&nl, minor);
	nl_close(&nl);
	return true;
}

static bool all_free(void)
{
	__u64 end = in_ms(10000);
	int i, fd;
	bool free;

	for (i = 0; i < NODES; i++) {
		fd = open_node(i);
		while (!(free = info_of(fd).out_free == info_of(fd).out_slice) && now() < end)
			sleep_ms(10);
		close(fd);
		if (!free)
			return false;
	}
	return true;
}

static bool works(void)
{
	struct member m[NODES];
	int ret = world_open(m, NODES, NODES), i;

	for (i = 0; i < 20 && !ret; i++)
		ret = members_run(m, NODES, step_barrier);
	world_close(m, NODES);
	return !ret;
}

static __u64 number_of(const char *name, __u64 otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 0) : otherwise;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "seed", 1, NULL, 's' },
		{ "seconds", 1, NULL, 'n' }, { "threads", 1, NULL, 't' }, { } };
	static struct fuzzer z[64];
	__u64 seed = number_of("UB_HOSTILE_SEED", now() & 0xffffff), calls = 0, good = 0;
	unsigned int seconds, threads = THREADS, i;
	int c;

	seconds = number_of("UB_HOSTILE_SECONDS", getenv("UB_LONG") ? 600 : 60);
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			seconds = strtoul(optarg, NULL, 0);
			break;
		case 't':
			threads = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (!threads || threads > COUNT(z))
		threads = THREADS;
	ksft_print_header();
	ksft_set_plan(3);
	ksft_print_msg("seed %llu, %u threads\n", seed, threads);
	heal();
	end_of_all = in_ms(1000 * seconds);
	running = threads;
	for (i = 0; i < threads; i++) {
		z[i].seed = (seed * 64 + i + 1) * 0x9e3779b97f4a7c15ULL;
		if (pthread_create(&z[i].thread, NULL, fuzz, &z[i]))
			abort();
	}
	weather();
	for (i = 0; i < threads; i++) {
		pthread_join(z[i].thread, NULL);
		calls += z[i].calls;
		good += z[i].good;
	}
	if (z[0].cover)
		ksft_print_msg("%llu edges covered, %u calls kept\n", ncovered, nkept);
	ksft_test_result(calls > 100 && good, "%llu calls, %llu good\n", calls, good);
	ksft_test_result(tidy() && !heal() && works(), "nodes come back, a world meets\n");
	ksft_test_result(all_free(), "all memory is free\n");
	return ksft_get_fail_cnt() ? 1 : 0;
}

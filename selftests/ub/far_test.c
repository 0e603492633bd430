// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows whose home is elsewhere, and no barrier: attaching, mapped access with
 * FENCE and SYNC, put, get, atomics, new generations. One process is the home and
 * does as it is told over a socket; the other is the tester.
 *
 * far_test		both are in one kernel, on /dev/ubfab0 and /dev/ubfab1 ("insmod
 *			ub.ko loop_nodes=2 loop_copied=1"); on several nodes of a rig
 *			ranks 0 and 1
 * far_test home	the home, with /dev/ubfab0; prints that it leaves it all to
 * far_test far ADDRESS	the tester on another machine
 */
#define UB_NO_HARNESS
#include "far.h"

#define LENGTH	((5UL << 20) + 12345)	/* three keys of 2 MiB, and no whole page */
#define LEAST	((3UL << 20) + 12345)	/* two, where there is not room for it twice */

/* ---- the tester ---- */

static struct ub_win_create w;
static unsigned char *mem;
static size_t length;
static int dev;

static void order(enum what what_for, __u64 off, __u64 len, __u64 value)
{
	struct order o = { .what = what_for, .off = off, .len = len, .value = value };

	all(true, &o, sizeof(o));
}

static struct answer answer(void)
{
	struct answer a;

	all(false, &a, sizeof(a));
	return a;
}

static struct answer tell(enum what order_of, __u64 off, __u64 len, __u64 value)
{
	order(order_of, off, len, value);
	return answer();
}

static int create(__u64 len, __u32 rights)
{
	struct order o = { .what = CREATE, .len = len, .rights = rights };
	struct answer a;

	all(true, &o, sizeof(o));
	a = answer();
	w = a.w;
	return a.ret;
}

static int fence(void)
{
	struct ub_range r = ARG(ub_range);

	return call(dev, UB_IOC_FENCE, &r);
}

static int sync_range(__u64 off, __u64 len)
{
	struct ub_range r = ARG(ub_range, .gva = w.out_desc.gva + off, .length = len);

	return call(dev, UB_IOC_SYNC, &r);
}

static __u64 gva(__u64 off)
{
	return w.out_desc.gva + off;
}

#define WANT(cond) do {							\
	if (!(cond)) {							\
		printf("# line %d: %s\n", __LINE__, #cond);		\
		return 1;						\
	}								\
} while (0)

#define WANT_IS(is, want) do {						\
	long long _is = (long long)(is), _want = (long long)(want);	\
	if (_is != _want) {						\
		printf("# line %d: %s is %lld, not %lld\n", __LINE__, #is, _is, \
		       _want);						\
		return 1;						\
	}								\
} while (0)

static int attach_refused(void)
{
	struct ub_win_create bad;

	WANT_IS(create(length, UB_WIN_RIGHTS), 0);
	WANT_IS(tell(FILL, 0, length, 1).ret, 0);
	bad = w;
	bad.out_token[1] ^= 1;
	WANT_IS(win_attach(dev, &bad, RW), -EACCES);
	bad = w;
	bad.out_desc.generation += 2;
	WANT_IS(win_attach(dev, &bad, RW), -ESTALE);
	bad = w;
	bad.out_desc.rights = UB_WIN_READ;
	WANT_IS(win_attach(dev, &bad, RW), -EACCES);
	bad = w;
	bad.out_desc.incarnation--;
	WANT_IS(win_attach(dev, &bad, RW), -ESTALE);
	bad = w;
	bad.out_desc.length += UNIT;
	WANT_IS(win_attach(dev, &bad, RW), -ENOENT);
	return 0;
}

/* Keys that can only read, first: others come when they are asked for. */
static int attach_reading(void)
{
	__u64 v = 5;

	WANT_IS(win_attach(dev, &w, UB_WIN_READ), 0);
	WANT_IS(xfer(dev, UB_XFER_PUT, gva(0), &v, 8, 0, 0), -EACCES);
	WANT_IS(xfer(dev, UB_XFER_FETCH_ADD, gva(0), &v, 8, 1, 0), -EACCES);
	WANT_IS(xfer(dev, UB_XFER_GET, gva(64), &v, 8, 0, 0), 0);
	WANT_IS(((unsigned char *)&v)[3], pattern(1, 67));
	WANT(win_map(dev, w.out_desc.gva, length, PROT_READ | PROT_WRITE) == MAP_FAILED);
	WANT_IS(win_detach(dev, w.out_desc.gva), 0);
	WANT_IS(win_attach(dev, &w, UB_WIN_RIGHTS), 0);
	return 0;
}

static int loads(void)
{
	__u64 i, bad = 0;

	mem = win_map(dev, w.out_desc.gva, length, PROT_READ | PROT_WRITE);
	WANT(mem != MAP_FAILED);
	for (i = 0; i < length; i++)
		bad += mem[i] != pattern(1, i);
	WANT_IS(bad, 0);
	return 0;
}

/* Runs of bytes in many pages, on both sides of where keys change. */
static int stores(void)
{
	__u64 i;

	for (i = 3; i < length; i += 1021)
		mem[i] = pattern(2, i);
	for (i = (2UL << 20) - 100; i < (2UL << 20) + 100; i++)
		mem[i] = pattern(2, i);
	WANT_IS(fence(), 0);
	WANT_IS(tell(SUM, 0, length, 0).value, sum_of(mem, length));
	return 0;
}

static int sync_reads_anew(void)
{
	const __u64 off = 3 * PAGE + 8;

	WANT_IS(tell(STORE, off, 0, 0x1122334455667788ULL).ret, 0);
	WANT_IS(sync_range(off, 8), 0);
	WANT_IS(LD((__u64 *)(mem + off)), 0x1122334455667788LL);
	/* What is dirty is placed, and what the home has beside it is seen. */
	mem[off + 100] ^= 0xff;
	WANT_IS(tell(STORE, off, 0, 7).ret, 0);
	WANT_IS(sync_range(off, 200), 0);
	WANT_IS(LD((__u64 *)(mem + off)), 7);
	WANT_IS(tell(SUM, 3 * PAGE, PAGE, 0).value, sum_of(mem + 3 * PAGE, PAGE));
	return 0;
}

static int put_get(void)
{
	static unsigned char buf[1 << 20], back[1 << 20];
	__u64 off = (2UL << 20) - sizeof(buf) / 2 - 77, i;

	for (i = 0; i < sizeof(buf); i++)
		buf[i] = pattern(3, i);
	WANT_IS(xfer(dev, UB_XFER_PUT, gva(off), buf, sizeof(buf), 0, 0), 0);
	WANT_IS(tell(SUM, off, sizeof(buf), 0).value, sum_of(buf, sizeof(buf)));
	WANT(!memcmp(mem + off, buf, sizeof(buf)));
	WANT_IS(xfer(dev, UB_XFER_GET, gva(off), back, sizeof(back), 0, 0), 0);
	WANT(!memcmp(back, buf, sizeof(buf)));
	WANT_IS(xfer(dev, UB_XFER_GET, gva(length - 3), back, 3, 0, 0), 0);
	WANT_IS(xfer(dev, UB_XFER_GET, gva(length - 3), back, 4, 0, 0), -EOVERFLOW);
	/* Program order with mapped access. */
	mem[off] = 1;
	WANT_IS(xfer(dev, UB_XFER_GET, gva(off), back, 1, 0, 0), 0);
	WANT_IS(back[0], 1);
	return 0;
}

struct atomic_case {
	__u32 op, len;
	__u64 operand, compare, before, after;
};

static int atomics(void)
{
	static const struct atomic_case c[] = {
		{ UB_XFER_FETCH_ADD, 8, 5, 0, ~0ULL, 4 },
		{ UB_XFER_FETCH_ADD, 4, 5, 0, 0x1fffffffeULL, 0x100000003ULL },
		{ UB_XFER_SWAP, 8, 9, 0, 4, 9 },
		{ UB_XFER_SWAP, 4, 9, 0, 0x700000004ULL, 0x700000009ULL },
		{ UB_XFER_COMPARE_SWAP, 8, 11, 9, 9, 11 },
		{ UB_XFER_COMPARE_SWAP, 8, 12, 9, 11, 11 },
		{ UB_XFER_COMPARE_SWAP, 4, 13, 11, 11, 13 },
		{ UB_XFER_FETCH_AND, 8, 0xf0, 0, 0xff, 0xf0 },
		{ UB_XFER_FETCH_OR, 4, 0x0f, 0, 0xf0, 0xff },
		{ UB_XFER_FETCH_XOR, 8, 0xff, 0, 0xf0, 0x0f },
	};
	const __u64 off = 9 * PAGE + 16;
	__u64 old, mask;
	size_t i;

	for (i = 0; i < COUNT(c); i++) {
		mask = c[i].len == 8 ? ~0ULL : 0xffffffffULL;
		old = 0;
		WANT_IS(tell(STORE, off, 0, c[i].before).ret, 0);
		WANT_IS(xfer(dev, c[i].op, gva(off), &old, c[i].len, c[i].operand,
			     c[i].compare), 0);
		WANT_IS(old & mask, c[i].before & mask);
		WANT_IS(tell(LOAD, off, 0, 0).value, c[i].after);
		WANT_IS(LD((__u64 *)(mem + off)), c[i].after);
	}
	WANT_IS(xfer(dev, UB_XFER_FETCH_ADD, gva(off + 4), &old, 8, 1, 0), -EINVAL);
	return 0;
}

/* Of the home's own lane and of this one, in both widths, at the same time. */
static int atomics_together(void)
{
	const __u64 off = 11 * PAGE, adds = 500;
	__u64 i;
	int err = 0;

	for (i = 0; i < 2; i++) {
		__u64 len = i ? 4 : 8, n;

		WANT_IS(tell(STORE, off + 8 * i, 0, 0).ret, 0);
		order(ADD, off + 8 * i, len, adds * 4);
		for (n = 0; n < adds && !err; n++)
			err = xfer(dev, UB_XFER_FETCH_ADD, gva(off + 8 * i), NULL,
				   len, 1, 0);
		WANT_IS(answer().ret, 0);
		WANT_IS(err, 0);
		WANT_IS(tell(LOAD, off + 8 * i, 0, 0).value, adds * 5);
	}
	return 0;
}

/* Random calls and stores of one member, against a model of the memory. */
static int random_calls(void)
{
	static unsigned char model[16 * PAGE], buf[3 * PAGE];
	unsigned int seed = 1, i, j;

	memcpy(model, mem, sizeof(model));
	for (i = 0; i < 600; i++) {
		unsigned int len = 1 + rand_r(&seed) % sizeof(buf);
		unsigned int off = rand_r(&seed) % (sizeof(model) - len);

		for (j = 0; j < len; j++)
			buf[j] = rand_r(&seed) >> 8;
		switch (rand_r(&seed) % 6) {
		case 0:
			memcpy(model + off, buf, len);
			WANT_IS(xfer(dev, UB_XFER_PUT, gva(off), buf, len, 0, 0), 0);
			break;
		case 1:
			WANT_IS(xfer(dev, UB_XFER_GET, gva(off), buf, len, 0, 0), 0);
			WANT(!memcmp(buf, model + off, len));
			break;
		case 2:
			WANT(!memcmp(mem + off, model + off, len));
			break;
		case 3:
			WANT_IS(fence(), 0);
			WANT_IS(tell(SUM, off, len, 0).value,
				sum_of(model + off, len));
			break;
		default:
			len = len % 300 + 1;
			for (j = 0; j < len; j += 1 + rand_r(&seed) % 9)
				mem[off + j] = model[off + j] = buf[j];
		}
	}
	WANT_IS(fence(), 0);
	WANT_IS(tell(SUM, 0, sizeof(model), 0).value, sum_of(model, sizeof(model)));
	return 0;
}

/* The end of a generation is told; until then the old keys are dead anyhow. */
static int lost_told(void)
{
	struct ub_event ev;
	struct pollfd p = { .fd = dev, .events = POLLIN };

	while (poll(&p, 1, 60000) == 1) {
		if (read(dev, &ev, sizeof(ev)) != sizeof(ev))
			return -EIO;
		if (ev.type == UB_EVENT_WINDOW_LOST && ev.gva == w.out_desc.gva)
			return 0;
	}
	return -ETIMEDOUT;
}

static int rotate(enum what how)
{
	struct ub_win_create old = w;
	struct answer a;
	__u64 v = 1, sum;

	sum = tell(SUM, 0, length, 0).value;
	WANT_IS(touch(mem + length / 2, false), 0);
	a = tell(how, 0, 0, 0);
	WANT_IS(a.ret, 0);
	WANT_IS(xfer(dev, UB_XFER_PUT, gva(0), &v, 8, 0, 0), -ESTALE);
	WANT_IS(xfer(dev, UB_XFER_GET, gva(0), &v, 8, 0, 0), -ESTALE);
	WANT_IS(xfer(dev, UB_XFER_FETCH_ADD, gva(0), &v, 8, 1, 0), -ESTALE);
	WANT_IS(lost_told(), 0);
	WANT_IS(touch(mem + length / 2, false), SIGBUS);
	WANT_IS(win_attach(dev, &old, RW), -ESTALE);
	w.out_desc.generation = a.id.out_generation;
	memcpy(w.out_token, a.id.out_token, sizeof(w.out_token));
	WANT_IS(win_attach(dev, &w, UB_WIN_RIGHTS), 0);
	WANT_IS(sum_of(mem, length), sum);
	WANT_IS(tell(SUM, 0, length, 0).value, sum);
	return 0;
}

static int rotated(void) { return rotate(ROTATE); }
static int rotated_fresh(void) { return rotate(FRESH); }

static int destroyed(void)
{
	__u64 v = 1;

	WANT_IS(touch(mem, false), 0);
	WANT_IS(tell(DESTROY, 0, 0, 0).ret, 0);
	WANT_IS(xfer(dev, UB_XFER_GET, gva(0), &v, 8, 0, 0), -ESTALE);
	WANT_IS(xfer(dev, UB_XFER_FETCH_ADD, gva(0), &v, 8, 1, 0), -ESTALE);
	WANT_IS(lost_told(), 0);
	WANT_IS(touch(mem, false), SIGBUS);
	WANT_IS(win_attach(dev, &w, RW), -ESTALE);
	WANT_IS(munmap(mem, length), 0);
	return 0;
}

/* Windows come and go, each with keys of its own. */
static int many(void)
{
	__u64 v;
	int i;

	for (i = 0; i < 40; i++) {
		WANT_IS(create(PAGE, UB_WIN_RIGHTS), 0);
		WANT_IS(win_attach(dev, &w, UB_WIN_RIGHTS), 0);
		v = i;
		WANT_IS(xfer(dev, UB_XFER_PUT, gva(8), &v, 8, 0, 0), 0);
		WANT_IS(tell(LOAD, 8, 0, 0).value, i);
		WANT_IS(tell(DESTROY, 0, 0, 0).ret, 0);
		WANT_IS(xfer(dev, UB_XFER_PUT, gva(8), &v, 8, 0, 0), -ESTALE);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
} tests[] = {
	{ "attach_refused", attach_refused },
	{ "attach_reading", attach_reading },
	{ "loads", loads },
	{ "stores", stores },
	{ "sync_reads_anew", sync_reads_anew },
	{ "put_get", put_get },
	{ "atomics", atomics },
	{ "atomics_together", atomics_together },
	{ "random_calls", random_calls },
	{ "rotated", rotated },
	{ "rotated_fresh", rotated_fresh },
	{ "destroyed", destroyed },
	{ "many", many },
};

static int tester(int fd)
{
	size_t i;

	dev = fd;
	length = info_of(fd).out_slice < 2 * (LENGTH + UNIT) ? LEAST : LENGTH;
	ksft_print_header();
	ksft_set_plan(COUNT(tests));
	for (i = 0; i < COUNT(tests); i++) {
		__u64 start = now();
		int bad = tests[i].run();

		ksft_print_msg("%s: %llu ms\n", tests[i].name,
			       (unsigned long long)((now() - start) / MS));
		ksft_test_result(!bad, "%s\n", tests[i].name);
		if (bad)	/* what follows stands on it */
			break;
	}
	for (i++; i < COUNT(tests); i++)
		ksft_test_result(false, "%s\n", tests[i].name);
	tell(BYE, 0, 0, 0);
	return ksft_get_fail_cnt() ? 1 : 0;
}

/* ---- between machines ---- */

/* The home's address; NULL: this is the home. */
static int meet(const char *where)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(FAR_PORT) };
	int s = socket(AF_INET, SOCK_STREAM, 0), one = 1, i, conn = -1;
	struct timeval limit = { .tv_sec = 60 };

	if (!where) {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (bind(s, (struct sockaddr *)&in, sizeof(in)) || listen(s, 1))
			return -1;
		conn = accept(s, NULL, NULL);
	} else {
		inet_pton(AF_INET, where, &in.sin_addr);
		for (i = 0; i < 600 && conn < 0; i++) {
			if (!connect(s, (struct sockaddr *)&in, sizeof(in)))
				conn = s;
			else
				sleep_ms(100);
		}
	}
	if (conn >= 0)
		setsockopt(conn, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return conn;
}

static int nothing(const char *why)
{
	ksft_print_header();
	ksft_set_plan(1);
	ksft_test_result_skip("far: %s\n", why);
	return 0;
}

static int in_one_kernel(void)
{
	int pair[2], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	pid = fork();
	if (!pid) {
		sock = pair[0];
		close(pair[1]);
		exit(home(open_node(0)));
	}
	sock = pair[1];
	close(pair[0]);
	status = tester(open_node(1));
	waitpid(pid, NULL, 0);
	return status;
}

int main(int argc, char **argv)
{
	const char *rank = getenv("UB_RANK"), *size = getenv("UB_SIZE"), *where = NULL;
	int fd;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2 && (!rank || !size || atoi(size) < 2))
		return in_one_kernel();
	if (argc < 2 && atoi(rank) > 1)
		return nothing("two nodes do it");
	if (argc < 2 && atoi(rank) == 1)
		where = "10.85.66.1";	/* node 0 of a rig */
	if (argc > 2)
		where = argv[2];
	fd = open_node(0);
	sock = meet(where);
	if (fd < 0 || sock < 0) {
		fprintf(stderr, "no /dev/ubfab0, or no network\n");
		return 1;
	}
	if (where)
		return tester(fd);
	nothing("the other one tells");
	return home(fd);
}

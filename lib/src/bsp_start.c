// SPDX-License-Identifier: MIT
/*
 * Processes of bsp.h.
 *
 * Under a launcher (UB_SIZE is set) all of them run main(). With bsp_init()
 * those other than process 0 stay inside that call: they wait for process
 * 0's orders, a broadcast in the world, and run the function of each
 * section; a process that does not belong to a section waits for the next.
 * Without bsp_init() all come to bsp_begin() by themselves, and those that the
 * section does not take end there.
 *
 * Without a launcher bsp_begin() itself starts the processes, as many as the
 * machine has CPUs for (or UB_NPROCS), by fork(), each in memory of a section of
 * its own. A child runs the function that bsp_init() was given and ends, or goes
 * on after bsp_begin(). Children die with their parent.
 */
#include "absent.h"
#include "bsp_section.h"
#include "bsp_where.h"
#include "host_arena.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum order_what { ORDER_BEGIN = 1, ORDER_QUIT };

struct order {
	uint32_t what;
	uint32_t n;		/* processes of the section */
	uint32_t part;		/* it is a function: bsp_init() was called */
	uint32_t reserved;
	struct ub_bsp_where where;
};

/*
 * struct mine - this process
 * @owner: that all below is of: not a child that the program forked
 * @ctx: the job, or NULL
 * @arena: of a section that was started here, or NULL
 * @served: process 0 called bsp_init(): others wait for orders
 * @serving: this is one of them, and @order what it works on, @begun since
 * @child: started by process 0 here, as @rank of @n with memory @fd
 * @parent: of it
 * @kids: children, @nkids
 */
static struct mine {
	pid_t owner;
	struct ub_ctx *ctx;
	struct ub_host_arena *arena;
	bool served;
	bool serving;
	bool begun;
	struct order order;
	bool child;
	uint32_t rank;
	uint32_t n;
	int fd;
	pid_t parent;
	pid_t *kids;
	uint32_t nkids;
} my = { .fd = -1 };

bool ub_bsp_launched(void)
{
	const char *size = getenv("UB_SIZE");

	return size && *size;
}

uint32_t ub_bsp_available(void)
{
	uint64_t mask[UB_CPU_WORDS];
	bool launched = ub_bsp_launched();
	long n;

	if (my.child)
		return my.n;
	if (ub_env_int(launched ? "UB_SIZE" : "UB_NPROCS", 1,
		       launched ? 1 << 20 : UB_HOST_RANKS, 0, &n))
		ub_bsp_die("bsp_nprocs", "%s", ub_last_error());
	return n ? n : ub_cpus(mask);
}

int ub_bsp_rank(void)
{
	return my.ctx ? my.ctx->rank : my.child ? (int)my.rank : -1;
}

static void at_exit(void)
{
	if (my.owner == getpid())
		ub_bsp_leave_all();
}

static void own(void)
{
	if (my.owner == getpid())
		return;
	if (!my.owner)
		atexit(at_exit);
	my.owner = getpid();
}

/* ---- under a launcher ---- */

static struct ub_scope *join(void)
{
	int err;

	if (my.ctx)
		return ub_world(my.ctx);
	own();
	err = ub_init(&my.ctx, NULL);
	if (err)
		ub_bsp_die("bsp_begin", "%s", ub_last_error());
	/* Between sections process 0 takes what time it needs. */
	ub_set_timeout(ub_world(my.ctx), 0);
	return ub_world(my.ctx);
}

/* Process 0's order, for all. */
static void pass(struct order *o)
{
	int err = ub_bcast(ub_world(my.ctx), o, sizeof(*o), 0);
	struct ub_lost_info l;

	if (err && !ub_lost(ub_world(my.ctx), &l))
		ub_bsp_die("bsp_begin", "process %d (node %d, lane %d) is lost: %s",
			   l.rank, l.node, l.lane, l.reason);
	if (err)
		ub_bsp_die("bsp_begin", "%s", ub_last_error());
}

/* The section's scope, or NULL for those that it does not take. */
static struct ub_scope *take_part(uint32_t n)
{
	struct ub_scope *w = ub_world(my.ctx), *s;
	int err = ub_scope_split(w, w->rank < n ? 0 : -1, w->rank, &s);

	if (err)
		ub_bsp_die("bsp_begin", "%s", ub_last_error());
	if (s)
		ub_set_timeout(s, my.ctx->timeout_ms);
	return s;
}

static void run_part(void)
{
	void (*spmd)(void) = ub_bsp_there(&my.order.where);

	if (!my.order.part || !spmd)
		ub_bsp_die("bsp_init", "process 0's function is not in this program; start the same one everywhere");
	my.begun = false;
	spmd();
	if (!my.begun)
		ub_bsp_die("bsp_init", "the function returned without bsp_begin()");
	if (ub_bsp_now)
		ub_bsp_die("bsp_init", "the function returned without bsp_end()");
}

void ub_bsp_stay(void)
{
	if (!ub_bsp_launched())
		return;
	if (!join()->rank) {
		my.served = true;
		return;
	}
	my.serving = true;
	for (;;) {
		pass(&my.order);
		if (my.order.what == ORDER_QUIT)
			break;
		if (my.order.n > (uint32_t)my.ctx->rank)
			run_part();
		else
			take_part(my.order.n);
	}
	ub_fini(my.ctx);
	my.ctx = NULL;
	exit(EXIT_SUCCESS);
}

/* Only process 0's number counts: the others need not know it. */
static uint32_t processes(int64_t max, uint32_t available)
{
	if (max < 1)
		ub_bsp_die("bsp_begin", "the number of processes is %lld",
			   (long long)max);
	return max < available ? max : available;
}

static struct ub_scope *gather_job(int64_t max, void (*spmd)(void))
{
	struct ub_scope *w = join(), *s;
	struct order *o = &my.order;

	if (!my.serving) {
		*o = (struct order){ .what = ORDER_BEGIN };
		if (!w->rank)
			o->n = processes(max, w->n);
		o->part = !!spmd;
		if (spmd && ub_bsp_where(spmd, &o->where))
			ub_bsp_die("bsp_init", "the function is in no object of this program");
		pass(o);
		if (w->rank && o->part)
			ub_bsp_die("bsp_begin", "process 0 called bsp_init(), this process did not");
	} else if (my.begun) {
		ub_bsp_die("bsp_begin", "a second section in one function; give each its own bsp_init()");
	}
	my.begun = true;
	s = take_part(o->n);
	if (!s)
		exit(EXIT_SUCCESS);
	return s;
}

/* ---- without one ---- */

static void become_child(uint32_t rank, uint32_t n, int fd, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	close(null);
	free(my.kids);
	my.kids = NULL;
	my.nkids = 0;
	my.child = true;
	my.rank = rank;
	my.n = n;
	my.fd = fd;
	my.parent = parent;
	my.owner = getpid();
}

/* Starts all but process 0; returns in all of them. */
static void start(uint32_t n)
{
	pid_t parent = getpid(), pid;
	uint32_t i;
	int fd = ub_host_arena_create(n, 0);

	if (fd < 0)
		ub_bsp_die("bsp_begin", "%s", ub_last_error());
	my.kids = realloc(my.kids, (my.nkids + n) * sizeof(*my.kids));
	if (!my.kids)
		ub_bsp_die("bsp_begin", "no memory");
	/* What is not written yet must not be written twice. */
	fflush(NULL);
	my.rank = 0;
	my.n = n;
	my.fd = fd;
	for (i = 1; i < n; i++) {
		pid = fork();
		if (!pid) {
			become_child(i, n, fd, parent);
			return;
		}
		if (pid < 0)
			ub_bsp_die("bsp_begin", "cannot start process %u of %u: %s",
				   i, n, strerror(errno));
		my.kids[my.nkids++] = pid;
	}
}

static struct ub_scope *gather_kids(int64_t max, void (*spmd)(void))
{
	struct ub_opts o = { .size = sizeof(o), .fabric = "host" };
	int err;

	if (!my.child) {
		own();
		start(processes(max, ub_bsp_available()));
		if (my.child && spmd) {
			/* From its beginning, as under a launcher. */
			spmd();
			if (ub_bsp_now)
				ub_bsp_die("bsp_init", "the function returned without bsp_end()");
			exit(EXIT_SUCCESS);
		}
	}
	if (my.fd < 0)
		ub_bsp_die("bsp_begin", "a second section without bsp_init()");
	my.arena = ub_host_arena_map(my.fd);
	close(my.fd);
	my.fd = -1;
	if (!my.arena)
		ub_bsp_die("bsp_begin", "%s", ub_last_error());
	o.host_arena = my.arena;
	o.rank = my.rank;
	o.nranks = my.n;
	err = ub_init(&my.ctx, &o);
	if (err)
		ub_bsp_die("bsp_begin", "%s", ub_last_error());
	return ub_world(my.ctx);
}

/* Wait for the children; the worst of their exit codes. */
static int reap(void)
{
	int status, worst = 0, code;
	uint32_t i;

	for (i = 0; i < my.nkids; i++) {
		if (waitpid(my.kids[i], &status, 0) < 0)
			continue;
		code = WIFEXITED(status) ? WEXITSTATUS(status) :
		       128 + WTERMSIG(status);
		worst = code > worst ? code : worst;
	}
	my.nkids = 0;
	return worst;
}

/* ---- both ---- */

struct ub_scope *ub_bsp_gather(int64_t max, void (*spmd)(void))
{
	return ub_bsp_launched() ? gather_job(max, spmd) : gather_kids(max, spmd);
}

void ub_bsp_scatter(struct ub_scope *s)
{
	int err;

	if (!my.arena) {
		err = ub_scope_exit(s);
		if (err)
			ub_bsp_die("bsp_end", "%s", ub_last_error());
		return;
	}
	ub_fini(my.ctx);
	my.ctx = NULL;
	ub_host_arena_unmap(my.arena);
	my.arena = NULL;
}

void ub_bsp_leave_all(void)
{
	struct order quit = { .what = ORDER_QUIT };
	int worst;

	if (ub_bsp_now)
		ub_bsp_die("exit", "without bsp_end()");
	if (my.served)
		ub_bcast(ub_world(my.ctx), &quit, sizeof(quit), 0);
	ub_fini(my.ctx);
	my.ctx = NULL;
	worst = reap();
	if (worst) {
		fflush(NULL);
		_exit(worst);
	}
}

void ub_bsp_kill(void)
{
	struct ub_ctx *nobody = NULL;
	uint32_t i;

	fflush(NULL);
	/* The others wait for this process, and would until their time-out. */
	if (!my.ctx && ub_bsp_launched())
		ub_absent(-1, &nobody);
	for (i = 0; i < my.nkids; i++)
		kill(my.kids[i], SIGKILL);
	if (my.child && getppid() == my.parent)
		kill(my.parent, SIGTERM);
	reap();
	_exit(UB_EXIT_ABORT);
}

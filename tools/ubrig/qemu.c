// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine that a node is: QEMU's command line, device by device.
 *
 * Invariants: QEMU gets every connection as an open descriptor, so no socket
 * or memory has a name in the file system; it dies with the thread that
 * forked it, however that ends. The ivshmem devices have fixed slots:
 *
 *	0000:00:10.0	device 0, for the driver
 *	0000:00:11.0	ivshmem-plain, same memory, driverless: its resource2
 *			can be mapped by user programs in the guest
 *	0000:00:12.0..	devices 1 and up, for the driver, a memory each
 *
 * With --hotplug a root port has the slot, and the device is behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proto.h"
#include "rig.h"

#define SLOT_FIRST	0x10
#define SLOT_PLAIN	"0x11"
#define SLOT_OTHERS	0x12
#define SLOT_PLAIN_BDF	"0000:00:11.0"

/*
 * Warnings reach the console (loglevel=5), because a splat must be seen even
 * when the guest dies of it. Time: a guest that was stopped for a while, or
 * had no host CPU, is no lockup; on a busy host the kernel's check of its
 * timer fails by chance, which is a panic, so it is not made.
 */
#define CMDLINE \
	"console=ttyS0 loglevel=5 panic_on_warn=1 panic=-1 oops=panic " \
	"tsc=reliable no_timer_check watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 " \
	"random.trust_cpu=on mitigations=off cryptomgr.notests "

/* A module parameter that ubrig sets by itself, unless --param names it. */
static const struct {
	const char *module, *key;
	const char *value;	/* NULL: the node's id, for each device */
} default_params[] = {
	{ "ub",		"detect_ms",	"5000" },
	{ "ub_ivshmem",	"node",		NULL },
};

/* Modules under test, in the order of loading, and where they may lie. */
static const struct {
	const char *name;
	const char *path[2];
	bool ivshmem, rdma;	/* with which transport */
} modules[] = {
	{ "ub",		{ "ub.ko", NULL }, true, true },
	{ "ub_ivshmem",	{ "ivshmem/ub_ivshmem.ko", "ub_ivshmem.ko" }, true, false },
	{ "ub_rdma",	{ "rdma/ub_rdma.ko", "ub_rdma.ko" }, false, true },
};

/* What the kernel needs for soft-RoCE. */
static const char *const rdma_needs[] = {
	"virtio_net", "crc32_generic", "rdma_rxe", "rdma_cm", NULL,
};

/* 10.85.66.1 is node 0; a page and its headers are one frame. */
#define NET_ADDRESS	"10.85.66.%d"
#define NET_BITS	"24"
#define NET_MTU		"4200"

static bool has_param(const struct opts *o, const char *module, const char *key)
{
	size_t m = strlen(module), k = strlen(key);
	int i;

	for (i = 0; i < o->nparams; i++)
		if (!strncmp(o->params[i], module, m) &&
		    o->params[i][m] == '.' &&
		    !strncmp(o->params[i] + m + 1, key, k) &&
		    o->params[i][m + 1 + k] == '=')
			return true;
	return false;
}

static void add_params(struct buf *b, struct node *n, const char *module)
{
	const struct opts *o = n->rig->opts;
	size_t len = strlen(module), d;
	const char *sep = "\t";
	int i, dev;

	for (d = 0; d < ARRAY_SIZE(default_params); d++) {
		if (strcmp(default_params[d].module, module) ||
		    has_param(o, module, default_params[d].key))
			continue;
		buf_printf(b, "%s%s=", sep, default_params[d].key);
		if (default_params[d].value)
			buf_printf(b, "%s", default_params[d].value);
		for (dev = 0; !default_params[d].value && dev < o->devices; dev++)
			buf_printf(b, "%s%u", dev ? "," : "", n->id);
		sep = " ";
	}
	for (i = 0; i < o->nparams; i++) {
		if (strncmp(o->params[i], module, len) ||
		    o->params[i][len] != '.')
			continue;
		buf_printf(b, "%s%s", sep, o->params[i] + len + 1);
		sep = " ";
	}
}

static char *module_path(const char *dir, size_t which)
{
	char *path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(modules[which].path); i++) {
		if (!modules[which].path[i])
			continue;
		path = xasprintf("%s/%s", dir, modules[which].path[i]);
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	die("no %s.ko in '%s': build the modules, name another folder by --modules, or use --no-module",
	    modules[which].name, dir);
}

struct loads {
	struct buf *b;
	const char *dir;
};

static void load_needed(void *arg, const char *path)
{
	struct loads *l = arg;

	buf_printf(l->b, "load\t%s/%s\n", l->dir, path);
}

/* The network of a node, and the fabric over it. */
static void add_rdma_setup(struct buf *b, const struct rig *r, const struct node *n)
{
	char *script = beside_binary("guest-rdma", "tools/ubrig/guest-rdma");
	char *ubfab = beside_binary("ubfab", "build/tools/ubfab");
	int i;

	buf_printf(b, "run\t%s\t" NET_ADDRESS "/" NET_BITS "\t" NET_MTU, script,
		   n->index + 1);
	if (!r->opts->no_module) {
		buf_printf(b, "\t%s\tfabric\tadd\trdma\tdev\trxe0\tnode\t%u\tpeer",
			   ubfab, n->id);
		for (i = 0; i < r->n; i++)
			buf_printf(b, "\t%u=" NET_ADDRESS, r->node[i].id, i + 1);
	}
	buf_printf(b, "\n");
	free(ubfab);
	free(script);
}

/* What guest-init.c reads from fw_cfg; its head comment has the form. */
char *qemu_boot_lines(struct rig *r, struct node *n)
{
	struct buf b = { 0 };
	struct loads loads = { &b, r->kernel.modules };
	bool rdma = r->opts->rdma;
	char *path;
	size_t i;

	if (r->kernel.modules && !r->opts->root)
		buf_printf(&b, "modules\t%s\n", r->kernel.modules);
	if (!rdma)
		buf_printf(&b, "bare\t%s\n", SLOT_PLAIN_BDF);
	else if (r->kernel.modules)
		moddep(r->kernel.modules, rdma_needs, load_needed, &loads);
	for (i = 0; i < ARRAY_SIZE(modules) && !r->opts->no_module; i++) {
		if (!(rdma ? modules[i].rdma : modules[i].ivshmem))
			continue;
		path = module_path(r->opts->modules, i);
		buf_printf(&b, "load\t%s", path);
		add_params(&b, n, modules[i].name);
		buf_str(&b, "\n");
		b.len--;
		free(path);
	}
	if (rdma)
		add_rdma_setup(&b, r, n);
	if (r->opts->init)
		buf_printf(&b, "init\t%s\n", r->opts->init);
	buf_add(&b, "", 1);
	return b.data;
}

struct args {
	char *v[256 + 2 * MAX_DEVICES * SPARE_FDS];
	int n;
};

static void add(struct args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add(struct args *a, const char *fmt, ...)
{
	va_list ap;

	if (a->n == (int)ARRAY_SIZE(a->v) - 1)
		die("too many arguments for QEMU");
	va_start(ap, fmt);
	if (vasprintf(&a->v[a->n++], fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
}

static void add_two(struct args *a, const char *option, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void add_two(struct args *a, const char *option, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		die("out of memory");
	va_end(ap);
	add(a, "%s", option);
	add(a, "%s", s);
	free(s);
}

static void add_machine(struct args *a, struct node *n)
{
	const struct rig *r = n->rig;
	const struct opts *o = r->opts;
	bool kvm = !strcmp(r->accel, "kvm");
	int smp = o->smp[n->index];

	add(a, "qemu-system-x86_64");
	add_two(a, "-name", "ubrig-%s-n%d", o->name, n->index);
	add_two(a, "-machine", "q35,i8042=off,vmport=off");
	add_two(a, "-accel", "%s", kvm ? "kvm" : "tcg,thread=multi");
	/* TCG copies a byte at a time by "rep movsb": kernels shall not take it. */
	add_two(a, "-cpu", "%s", kvm ? "host" : "max,-erms,-fsrm");
	/*
	 * With one possible CPU, TCG emulates locked instructions without
	 * atomicity, and the other VMs see torn updates of shared memory.
	 */
	add_two(a, "-smp", "%d,maxcpus=%d", smp, smp > 2 ? smp : 2);
	add_two(a, "-m", "%d", o->mem);
	add(a, "-nodefaults");
	add(a, "-no-user-config");
	add(a, "-no-reboot");
	add_two(a, "-display", "none");
	add_two(a, "-nic", "none");
	add_two(a, "-kernel", "%s", r->kernel.image);
	add_two(a, "-initrd", "/proc/self/fd/%d", r->initrd_fd);
	add_two(a, "-append", CMDLINE "tsc_early_khz=%u %s", r->tsc_khz,
		o->append ? o->append : "");
}

static void add_lines(struct args *a, const struct opts *o,
		      const struct qemu_fds *fds)
{
	add_two(a, "-chardev", "socket,id=qmp,fd=%d", fds->qmp);
	add_two(a, "-mon", "chardev=qmp,mode=control");
	add_two(a, "-chardev", "socket,id=serial,fd=%d", fds->serial);
	add_two(a, "-serial", "chardev:serial");
	add_two(a, "-device", "virtio-serial-pci");
	add_two(a, "-chardev", "socket,id=agent,fd=%d", fds->agent);
	add_two(a, "-device", "virtserialport,chardev=agent,name=%s",
		UBRIG_AGENT_PORT);
	add_two(a, "-fw_cfg", "name=opt/ub/node,file=/proc/self/fd/%d",
		fds->node_cfg);
	add_two(a, "-fw_cfg", "name=opt/ub/boot,file=/proc/self/fd/%d",
		fds->boot_cfg);
	add_two(a, "-virtfs",
		"local,path=%s,readonly=on,multidevs=remap,security_model=none,mount_tag=host",
		o->root ? o->root : "/");
}

static void add_backend(struct args *a, const char *id, const struct ivshmem *mem)
{
	add_two(a, "-object",
		"memory-backend-file,id=%s,share=on,size=%llu,mem-path=/proc/self/fd/%d",
		id, (unsigned long long)mem->size, mem->memfd);
}

/* Whatever its place in the command line, QEMU takes them before all devices. */
static void add_spares(struct args *a, const struct node *n, int fd)
{
	int i, d;

	for (d = 0; d < n->rig->opts->devices; d++)
		for (i = 0; i < SPARE_FDS && !n->rig->opts->plain[d]; i++)
			add_two(a, "-add-fd", "fd=%d,set=%d", fd,
				node_spare_set(n, d));
}

/* The names are those that plug.c uses. */
static void add_device(struct args *a, const struct rig *r, int i, int fd)
{
	int slot = i ? SLOT_OTHERS + i - 1 : SLOT_FIRST;
	char at[40], id[16];

	snprintf(at, sizeof(at), "addr=%#x", slot);
	if (r->opts->hotplug) {
		add_two(a, "-device", "pcie-root-port,id=port%d,chassis=%d,slot=%d,%s",
			i, i + 1, i + 1, at);
		snprintf(at, sizeof(at), "bus=port%d,addr=0", i);
	}
	if (r->opts->plain[i]) {
		snprintf(id, sizeof(id), "mem%d.1", i);
		add_backend(a, id, &r->mem[i]);
		add_two(a, "-device", "ivshmem-plain,id=ivshmem%d,memdev=%s,%s",
			i, id, at);
		return;
	}
	add_two(a, "-chardev", "socket,id=bell%d.1,fd=%d", i, fd);
	add_two(a, "-device",
		"ivshmem-doorbell,id=ivshmem%d,chardev=bell%d.1,vectors=%d,%s",
		i, i, IVSHMEM_VECTORS, at);
}

static void add_memory(struct args *a, const struct rig *r,
		       const struct qemu_fds *fds)
{
	int i;

	for (i = 0; i < r->opts->devices; i++)
		add_device(a, r, i, fds->ivshmem[i]);
	if (!r->opts->devices)
		return;
	add_backend(a, "bar", &r->mem[0]);
	add_two(a, "-device", "ivshmem-plain,memdev=bar,addr=" SLOT_PLAIN);
}

static void add_network(struct args *a, const struct node *n, int fd)
{
	char mac[18];

	if (fd < 0)
		return;
	switch_mac(n->index, mac);
	add_two(a, "-netdev", "dgram,id=rig,local.type=fd,local.str=%d", fd);
	add_two(a, "-device", "virtio-net-pci,netdev=rig,mac=%s", mac);
}

static void add_users_words(struct args *a, const struct node *n)
{
	const struct opts *o = n->rig->opts;
	const char *pos, *mark;
	struct buf b = { 0 };
	int i;

	for (i = 0; i < o->nqemu; i++) {
		b.len = 0;
		for (pos = o->qemu[i]; (mark = strstr(pos, "%n")); pos = mark + 2) {
			buf_add(&b, pos, mark - pos);
			buf_printf(&b, "%d", n->index);
		}
		buf_str(&b, pos);
		add(a, "%s", b.data);
	}
	buf_free(&b);
}

static void child(struct node *n, const struct qemu_fds *fds, char **argv,
		  pid_t parent)
{
	const int keep[] = {
		fds->qmp, fds->serial, fds->agent, fds->node_cfg,
		fds->boot_cfg, n->rig->initrd_fd, fds->silent,
	};
	sigset_t none;
	size_t i;
	int null, d;

	/* Ctrl-C is for ubrig, which then ends its VMs. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || dup2(null, 0) < 0 || dup2(fds->err, 1) < 0 ||
	    dup2(fds->err, 2) < 0)
		_exit(1);
	for (i = 0; i < ARRAY_SIZE(keep); i++)
		set_cloexec(keep[i], 0);
	if (fds->net >= 0)
		set_cloexec(fds->net, 0);
	for (d = 0; d < n->rig->opts->devices; d++) {
		set_cloexec(n->rig->mem[d].memfd, 0);
		if (fds->ivshmem[d] >= 0)
			set_cloexec(fds->ivshmem[d], 0);
	}
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s; install qemu-system-x86\n", argv[0],
		strerror(errno));
	_exit(127);
}

pid_t qemu_spawn(struct node *n, struct qemu_fds *fds)
{
	struct args a = { 0 };
	pid_t pid, parent = getpid();
	int i;

	add_machine(&a, n);
	add_lines(&a, n->rig->opts, fds);
	add_memory(&a, n->rig, fds);
	if (n->rig->opts->hotplug)
		add_spares(&a, n, fds->silent);
	add_network(&a, n, fds->net);
	add_users_words(&a, n);
	if (n->rig->opts->verbose && !n->index) {
		struct buf b = { 0 };

		for (i = 0; i < a.n; i++)
			buf_printf(&b, " %s", a.v[i]);
		buf_add(&b, "", 1);
		say("node 0 is:%s", b.data);
		buf_free(&b);
	}
	pid = fork();
	if (!pid)
		child(n, fds, a.v, parent);
	if (pid < 0)
		die("fork: %s", strerror(errno));
	for (i = 0; i < a.n; i++)
		free(a.v[i]);
	return pid;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * PID 1 of a guest: from the initramfs to a whole Debian user land, the
 * host's root by 9p under a tmpfs overlay, with the modules under test loaded.
 * Then it turns into the agent (guest-agent.c).
 *
 * Invariants: static, and runs no other program but those that it is told to run
 * when the root is there. What differs between guests comes by fw_cfg, so that
 * one cached initramfs serves all:
 *
 *	opt/ub/node	this guest's index, for its host name
 *	opt/ub/boot	lines of words separated by tabs:
 *			"modules PATH"		bind on /lib/modules/RELEASE
 *			"bare SLOT"		PCI device no driver may take
 *			"load PATH [PARAMS]"	module to load, in this order
 *			"run PROGRAM ARG..."	to its end, which must be good
 *			"init PATH"		program that becomes PID 1
 *
 * A failure is told to the rig over the agent port where that exists already,
 * and to the console; then the guest powers off.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "proto.h"

#define FW_CFG "/sys/firmware/qemu_fw_cfg/by_name/opt/ub/"
#define MODULE_INIT_COMPRESSED_FILE 4

void guest_poweroff(void)
{
	sync();
	/* The rig runs QEMU with -no-reboot: a reset is the quickest way out. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

void guest_die(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	dprintf(STDERR_FILENO, "ubrig-init: %s\n", text);
	agent_fail(text);
	guest_poweroff();
	abort();
}

static void do_mount(const char *src, const char *dst, const char *type,
		     unsigned long flags, const char *data)
{
	if (mkdir(dst, 0755) && errno != EEXIST && errno != EROFS)
		guest_die("mkdir %s: %s", dst, strerror(errno));
	if (mount(src, dst, type, flags, data))
		guest_die("mount %s on %s: %s", src, dst, strerror(errno));
}

static void load_module(const char *path, const char *params)
{
	size_t len = strlen(path);
	int flags = 0, fd;

	if (len > 3 && strcmp(path + len - 3, ".ko"))
		flags = MODULE_INIT_COMPRESSED_FILE;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		guest_die("cannot open module %s: %s", path, strerror(errno));
	if (syscall(SYS_finit_module, fd, params, flags) && errno != EEXIST)
		guest_die("cannot load module %s (parameters '%s'): %s", path,
			  params, strerror(errno));
	close(fd);
}

/* Whole small file into a static-sized buffer; -1 where it does not exist. */
static ssize_t read_file(const char *path, char *buf, size_t size)
{
	ssize_t n, len = 0;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((size_t)len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n <= 0)
			break;
		len += n;
	}
	close(fd);
	buf[len] = '\0';
	return len;
}

static void load_initramfs_modules(void)
{
	static char list[8192];
	char *line, *save = NULL;

	if (read_file("/modules.list", list, sizeof(list)) < 0)
		guest_die("the initramfs has no /modules.list");
	for (line = strtok_r(list, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		load_module(line, "");
}

static void mount_root(void)
{
	DIR *dir;

	do_mount("host", "/host", "9p", MS_RDONLY,
		 "trans=virtio,version=9p2000.L,cache=loose,msize=262144");
	do_mount("rw", "/rw", "tmpfs", 0, "mode=755,size=75%");
	if (mkdir("/rw/upper", 0755) || mkdir("/rw/work", 0755))
		guest_die("mkdir in /rw: %s", strerror(errno));
	do_mount("root", "/new", "overlay", 0,
		 "lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work");
	do_mount("proc", "/new/proc", "proc", 0, NULL);
	do_mount("sys", "/new/sys", "sysfs", 0, NULL);
	do_mount("dev", "/new/dev", "devtmpfs", 0, NULL);
	do_mount("shm", "/new/dev/shm", "tmpfs", 0, "mode=1777");
	do_mount("run", "/new/run", "tmpfs", 0, "mode=755");
	/* A small kernel may lack these. */
	mkdir("/new/dev/pts", 0755);
	mount("pts", "/new/dev/pts", "devpts", 0, "ptmxmode=666");
	mount("cgroup", "/new/sys/fs/cgroup", "cgroup2", 0, NULL);
	mount("debug", "/new/sys/kernel/debug", "debugfs", 0, NULL);
	if (chdir("/new") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		guest_die("cannot switch root: %s", strerror(errno));
	/* The host's may be closed to the user who runs QEMU. */
	mkdir("/tmp", 01777);
	chmod("/tmp", 01777);
	mkdir("/root", 0700);
	dir = opendir("/root");
	if (dir)
		closedir(dir);
	else
		do_mount("home", "/root", "tmpfs", 0, "mode=700");
}

static void make_standard_links(void)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};
	unsigned int i;

	for (i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			guest_die("symlink %s: %s", links[i][1],
				  strerror(errno));
}

static void name_host(void)
{
	char name[32] = "n", node[16];
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd;

	if (read_file(FW_CFG "node/raw", node, sizeof(node)) > 0)
		strncat(name, node, sizeof(name) - 2);
	if (sethostname(name, strlen(name)))
		guest_die("sethostname: %s", strerror(errno));
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP;
		ioctl(fd, SIOCSIFFLAGS, &ifr);
	}
	close(fd);
}

static void bind_modules(const char *path)
{
	char dst[256];
	struct utsname u;

	uname(&u);
	snprintf(dst, sizeof(dst), "/lib/modules/%s", u.release);
	mkdir("/lib/modules", 0755);
	do_mount(path, dst, NULL, MS_BIND, NULL);
}

/*
 * A second ivshmem device on the same memory is for user programs, which can
 * map its BAR by sysfs only while no driver has it.
 */
static void keep_driverless(const char *slot)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver_override",
		 slot);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		guest_die("cannot open %s: %s", path, strerror(errno));
	if (write(fd, "none", 4) != 4)
		guest_die("cannot write %s: %s", path, strerror(errno));
	close(fd);
}

/* PID 1 becomes @path; what goes on here is its child, the agent. */
static void hand_over(const char *path)
{
	switch (fork()) {
	case -1:
		guest_die("fork: %s", strerror(errno));
	case 0:
		setsid();
		return;
	default:
		execl(path, path, NULL);
		guest_die("cannot run %s: %s", path, strerror(errno));
	}
}

static void run_program(char *line)
{
	char *argv[256], *save = NULL, *word;
	int n = 0, status;
	pid_t pid;

	for (word = strtok_r(line, "\t", &save); word && n < 255;
	     word = strtok_r(NULL, "\t", &save))
		argv[n++] = word;
	argv[n] = NULL;
	pid = n ? fork() : -1;
	if (!pid) {
		execv(argv[0], argv);
		dprintf(STDERR_FILENO, "ubrig-init: %s: %s\n", argv[0],
			strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		guest_die("'%s' failed: its words are on the console", argv[0]);
}

/* Runs the boot lines that start with the word @verb, in order. */
static void run_boot_lines(const char *verb)
{
	static char text[65536], line[8192];
	char *pos, *arg, *params;
	size_t len;

	if (read_file(FW_CFG "boot/raw", text, sizeof(text)) < 0)
		guest_die("fw_cfg opt/ub/boot is missing: is qemu_fw_cfg in this kernel?");
	for (pos = text; *pos; pos += len + (pos[len] == '\n')) {
		len = strcspn(pos, "\n");
		if (len >= sizeof(line))
			guest_die("a boot line is too long");
		memcpy(line, pos, len);
		line[len] = '\0';
		arg = strchr(line, '\t');
		if (!arg)
			continue;
		*arg++ = '\0';
		if (strcmp(line, verb))
			continue;
		if (!strcmp(verb, "modules")) {
			bind_modules(arg);
			continue;
		}
		if (!strcmp(verb, "bare")) {
			keep_driverless(arg);
			continue;
		}
		if (!strcmp(verb, "init")) {
			hand_over(arg);
			continue;
		}
		if (!strcmp(verb, "run")) {
			agent_note(arg);
			run_program(arg);
			continue;
		}
		params = strchr(arg, '\t');
		if (params)
			*params++ = '\0';
		agent_note(arg);
		load_module(arg, params ? params : "");
	}
}

int main(void)
{
	if (getpid() != 1) {
		fprintf(stderr, "ubrig-init: this is PID 1 of a guest; use ubrig\n");
		return 1;
	}
	umask(022);
	do_mount("dev", "/dev", "devtmpfs", 0, NULL);
	do_mount("proc", "/proc", "proc", 0, NULL);
	do_mount("sys", "/sys", "sysfs", 0, NULL);
	if (!access("/probe", F_OK))
		guest_poweroff();
	load_initramfs_modules();
	agent_open();
	agent_note("kernel up");
	mount_root();
	make_standard_links();
	name_host();
	agent_note("root mounted");
	run_boot_lines("modules");
	run_boot_lines("bare");
	run_boot_lines("load");
	run_boot_lines("run");
	run_boot_lines("init");
	agent_serve();
}

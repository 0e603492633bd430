// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out whether KVM works here. A device node proves little: on some
 * machines guests hang for ever under it. So boot one, with an end.
 *
 * Invariant: the answer is kept in the cache per machine, kernel and QEMU; a
 * user who may not open /dev/kvm gets tcg without asking further.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "progress.h"
#include "util.h"

#define PROBE_SECONDS 6

static char *cache_file(void)
{
	char *dir = cache_dir(), *path;
	struct utsname u;
	struct stat st;

	uname(&u);
	if (stat("/usr/bin/qemu-system-x86_64", &st))
		st.st_mtime = 0;
	mkdir(dir, 0755);
	path = xasprintf("%s/accel-%s-%s-%lld", dir, u.nodename, u.release,
			 (long long)st.st_mtime);
	free(dir);
	return path;
}

static pid_t boot_probe(const struct guest_kernel *k)
{
	char initrd[64];
	int fd, null;
	pid_t pid;

	fd = initramfs_make(k, true);
	pid = fork();
	if (pid)  {
		close(fd);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	set_cloexec(fd, 0);
	snprintf(initrd, sizeof(initrd), "/proc/self/fd/%d", fd);
	null = open("/dev/null", O_RDWR);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	execlp("qemu-system-x86_64", "qemu-system-x86_64", "-accel", "kvm",
	       "-machine", "q35", "-cpu", "host", "-m", "256", "-nodefaults",
	       "-no-user-config", "-display", "none", "-nic", "none",
	       "-no-reboot", "-kernel", k->image, "-initrd", initrd, "-append",
	       "quiet panic=-1", NULL);
	_exit(127);
}

/* A panic ends QEMU too, but says that the guest ran, which is the question. */
static bool kvm_works(const struct guest_kernel *k)
{
	pid_t pid = boot_probe(k);
	int i, status;

	if (pid < 0)
		return false;
	for (i = 0; i < PROBE_SECONDS * 20; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && !WEXITSTATUS(status);
		if (i % 10 == 0)
			progress_show("ubrig: trying KVM, once on this machine");
		usleep(50000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return false;
}

const char *accel_probe(const struct guest_kernel *k, const char *want)
{
	char *path, *known;
	bool works;
	FILE *f;
	int fd;

	if (strcmp(want, "auto"))
		return want;
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return "tcg";
	close(fd);
	path = cache_file();
	known = read_whole_file(path, NULL);
	if (known && !strncmp(known, "kvm", 3)) {
		works = true;
	} else if (known) {
		works = false;
	} else {
		works = kvm_works(k);
		f = fopen(path, "we");
		if (f) {
			fprintf(f, "%s\n", works ? "kvm" : "tcg");
			fclose(f);
		}
	}
	progress_hide();
	free(known);
	free(path);
	return works ? "kvm" : "tcg";
}

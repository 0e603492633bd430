// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent in a guest: runs commands that the rig sends over a virtio-serial
 * port, several at once, and sends back what they print and how they end.
 *
 * Invariants: one thread, as PID 1, so it reaps every orphan too. All output
 * that a command wrote before it ended is sent before its UBRIG_EXIT. What
 * a command leaves running keeps running, without the pipes. The port is
 * never closed: the guest ends when the rig says so, or ends QEMU.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest.h"
#include "proto.h"

struct exec {
	pid_t pid;	/* 0: slot is free */
	uint32_t id;
	int out[2];	/* read ends of stdout and stderr, -1 when ended */
	char **envp;	/* for absent_tell(), one block with its strings, or NULL */
};

static struct exec execs[MAX_EXECS];
static int port = -1;
static char chunk[UBRIG_CHUNK];

static void port_write(const void *buf, size_t len)
{
	struct pollfd p = { .fd = port, .events = POLLOUT };
	const char *pos = buf;
	ssize_t n;

	while (len) {
		n = write(port, pos, len);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			guest_poweroff();
		if (n < 0) {
			poll(&p, 1, 1000);
			continue;
		}
		pos += n;
		len -= n;
	}
}

static void send_frame(uint32_t type, uint32_t id, const void *buf, uint32_t len)
{
	static char whole[sizeof(struct ubrig_frame) + UBRIG_CHUNK];
	struct ubrig_frame f = {
		.len = htole32(len),
		.type = htole32(type),
		.id = htole32(id),
	};

	/* One write per frame: each is an exit to the hypervisor. */
	memcpy(whole, &f, sizeof(f));
	if (len)
		memcpy(whole + sizeof(f), buf, len);
	port_write(whole, sizeof(f) + len);
}

static void send_exit(uint32_t id, uint32_t code)
{
	uint32_t le = htole32(code);

	send_frame(UBRIG_EXIT, id, &le, sizeof(le));
}

void agent_note(const char *text)
{
	if (port >= 0)
		send_frame(UBRIG_NOTE, 0, text, strlen(text));
}

void agent_fail(const char *text)
{
	if (port >= 0)
		send_frame(UBRIG_FAILED, 0, text, strlen(text));
}

static int port_matches(const char *dev)
{
	char path[300], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", dev);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, UBRIG_AGENT_PORT);
}

static int find_port(char *path, size_t size)
{
	struct dirent *d;
	int found = 0;
	DIR *dir;

	dir = opendir("/sys/class/virtio-ports");
	if (!dir)
		return 0;
	while (!found && (d = readdir(dir)))
		if (d->d_name[0] != '.' && port_matches(d->d_name)) {
			snprintf(path, size, "/dev/%s", d->d_name);
			found = 1;
		}
	closedir(dir);
	return found;
}

/* The port's name arrives by a control message some time after the module. */
void agent_open(void)
{
	char path[300];
	int i;

	for (i = 0; i < 3000; i++) {
		if (find_port(path, sizeof(path))) {
			port = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
			if (port >= 0)
				return;
		}
		usleep(10000);
	}
	guest_die("no virtio-serial port named %s", UBRIG_AGENT_PORT);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "ubrig-init: write %s to %s: %s\n", text, path,
			strerror(errno));
	close(fd);
}

static void drop_caches(void)
{
	/* 4: from now on without a line in the kernel log */
	write_file("/proc/sys/vm/drop_caches", "4");
	write_file("/proc/sys/vm/drop_caches", "3");
}

static void child_exec(const char *cwd, char **argv, char **envp, int out, int err)
{
	sigset_t none;
	int null;

	setsid();
	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(err, 2) < 0)
		_exit(126);
	if (null > 2)
		close(null);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (chdir(cwd)) {
		dprintf(2, "ubrig: cannot enter folder '%s' in the guest: %s\n",
			cwd, strerror(errno));
		_exit(126);
	}
	environ = envp;
	execvp(argv[0], argv);
	dprintf(2, "ubrig: cannot run '%s' in the guest: %s\n", argv[0],
		strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static const char *next_string(const char **pos, const char *end)
{
	const char *s = *pos, *nul;

	nul = memchr(s, '\0', end - s);
	if (!nul)
		guest_die("bad exec frame");
	*pos = nul + 1;
	return s;
}

static struct exec *find_exec(uint32_t id)
{
	int i;

	for (i = 0; i < MAX_EXECS; i++)
		if (execs[i].pid && execs[i].id == id)
			return &execs[i];
	return NULL;
}

/* A copy that one free() gives back; NULL: nobody needs it, or there is no memory. */
static char **keep_env(char **envp)
{
	size_t bytes = sizeof(*envp), n, i;
	char **copy, *at;

	if (!absent_matters(envp))
		return NULL;
	for (n = 0; envp[n]; n++)
		bytes += sizeof(*envp) + strlen(envp[n]) + 1;
	copy = malloc(bytes);
	if (!copy)
		return NULL;
	at = (char *)(copy + n + 1);
	for (i = 0; i < n; i++) {
		copy[i] = strcpy(at, envp[i]);
		at += strlen(at) + 1;
	}
	copy[n] = NULL;
	return copy;
}

static void forget_env(struct exec *e)
{
	free(e->envp);
	e->envp = NULL;
}

static struct exec *free_exec(void)
{
	int i;

	for (i = 0; i < MAX_EXECS; i++)
		if (!execs[i].pid)
			return &execs[i];
	return NULL;
}

static void refuse(uint32_t id, const char *why)
{
	send_frame(UBRIG_STDERR, id, why, strlen(why));
	send_exit(id, 126);
}

static void start_exec(uint32_t id, const char *buf, size_t len)
{
	const char *pos = buf + 12, *end = buf + len, *cwd;
	uint32_t head[3], i, argc, envc;
	struct exec *e = free_exec();
	char **argv, **envp;
	int o[2], r[2];

	if (len < sizeof(head))
		guest_die("short exec frame");
	memcpy(head, buf, sizeof(head));
	argc = le32toh(head[1]);
	envc = le32toh(head[2]);
	if (!argc || argc > len || envc > len)
		guest_die("bad exec frame");
	if (!e) {
		refuse(id, "ubrig: too many commands at once in this guest\n");
		return;
	}
	argv = calloc(argc + 1, sizeof(*argv));
	envp = calloc(envc + 1, sizeof(*envp));
	if (!argv || !envp)
		guest_die("out of memory");
	cwd = next_string(&pos, end);
	for (i = 0; i < argc; i++)
		argv[i] = (char *)next_string(&pos, end);
	for (i = 0; i < envc; i++)
		envp[i] = (char *)next_string(&pos, end);
	if (le32toh(head[0]) & UBRIG_EXEC_FRESH)
		drop_caches();
	if (pipe2(o, O_CLOEXEC) || pipe2(r, O_CLOEXEC))
		guest_die("pipe: %s", strerror(errno));
	e->pid = fork();
	if (!e->pid)
		child_exec(cwd, argv, envp, o[1], r[1]);
	close(o[1]);
	close(r[1]);
	e->envp = e->pid < 0 ? NULL : keep_env(envp);
	free(argv);
	free(envp);
	if (e->pid < 0) {
		e->pid = 0;
		close(o[0]);
		close(r[0]);
		refuse(id, "ubrig: fork failed in the guest: out of memory?\n");
		return;
	}
	fcntl(o[0], F_SETFL, O_NONBLOCK);
	fcntl(r[0], F_SETFL, O_NONBLOCK);
	e->id = id;
	e->out[0] = o[0];
	e->out[1] = r[0];
}

/* Sends what is there; false when there is no more for now. */
static int forward(struct exec *e, int which)
{
	ssize_t n = read(e->out[which], chunk, sizeof(chunk));

	if (n > 0) {
		send_frame(which ? UBRIG_STDERR : UBRIG_STDOUT, e->id, chunk, n);
		return 1;
	}
	if (!n || (errno != EAGAIN && errno != EINTR)) {
		close(e->out[which]);
		e->out[which] = -1;
	}
	return 0;
}

static void reap(void)
{
	uint32_t code;
	int status, i, w;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < MAX_EXECS; i++)
			if (execs[i].pid == pid)
				break;
		if (i == MAX_EXECS) {
			absent_reaped(pid);
			continue;
		}
		for (w = 0; w < 2; w++) {
			while (execs[i].out[w] >= 0 && forward(&execs[i], w))
				;
			if (execs[i].out[w] >= 0)
				close(execs[i].out[w]);
		}
		code = WIFSIGNALED(status) ?
		       (UBRIG_SIGNALLED | (128 + WTERMSIG(status))) :
		       WEXITSTATUS(status);
		execs[i].pid = 0;
		if (execs[i].envp)
			absent_tell(execs[i].id, execs[i].envp);
		forget_env(&execs[i]);
		send_exit(execs[i].id, code);
	}
}

static void handle_frame(uint32_t type, uint32_t id, const char *buf, size_t len)
{
	uint32_t sig = SIGKILL;
	struct exec *e;

	switch (type) {
	case UBRIG_EXEC:
		start_exec(id, buf, len);
		break;
	case UBRIG_KILL:
		if (len >= sizeof(sig))
			memcpy(&sig, buf, sizeof(sig));
		e = find_exec(id);
		if (e) {
			forget_env(e);
			kill(-e->pid, le32toh(sig));
		} else {
			absent_job_over(id);
		}
		break;
	case UBRIG_POWEROFF:
		guest_poweroff();
		break;
	default:
		guest_die("unknown frame %u", type);
	}
}

static void read_port(void)
{
	static char buf[sizeof(struct ubrig_frame) + UBRIG_FRAME_MAX];
	static size_t have;
	struct ubrig_frame f;
	size_t pos = 0, len;
	ssize_t n;

	n = read(port, buf + have, sizeof(buf) - have);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		guest_poweroff();
	have += n;
	while (have - pos >= sizeof(f)) {
		memcpy(&f, buf + pos, sizeof(f));
		len = le32toh(f.len);
		if (len > UBRIG_FRAME_MAX)
			guest_die("frame too long");
		if (have - pos < sizeof(f) + len)
			break;
		handle_frame(le32toh(f.type), le32toh(f.id),
			     buf + pos + sizeof(f), len);
		pos += sizeof(f) + len;
	}
	have -= pos;
	memmove(buf, buf + pos, have);
}

void agent_serve(void)
{
	struct pollfd p[2 + 2 * MAX_EXECS];
	struct signalfd_siginfo si;
	sigset_t set;
	int sfd, i, w;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	sfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sfd < 0)
		guest_die("signalfd: %s", strerror(errno));
	send_frame(UBRIG_READY, 0, NULL, 0);
	for (;;) {
		p[0] = (struct pollfd){ .fd = port, .events = POLLIN };
		p[1] = (struct pollfd){ .fd = sfd, .events = POLLIN };
		for (i = 0; i < MAX_EXECS; i++)
			for (w = 0; w < 2; w++)
				p[2 + 2 * i + w] = (struct pollfd){
					.fd = execs[i].pid ? execs[i].out[w] : -1,
					.events = POLLIN,
				};
		if (poll(p, 2 + 2 * MAX_EXECS, -1) < 0 && errno != EINTR)
			guest_die("poll: %s", strerror(errno));
		for (i = 0; i < MAX_EXECS; i++)
			for (w = 0; w < 2; w++)
				if (p[2 + 2 * i + w].revents)
					forward(&execs[i], w);
		if (p[1].revents) {
			while (read(sfd, &si, sizeof(si)) > 0)
				;
			reap();
		}
		if (p[0].revents)
			read_port();
	}
}

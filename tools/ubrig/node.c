// SPDX-License-Identifier: GPL-2.0-only
/*
 * One node: its VM is started, watched and ended here.
 *
 * Invariants: the state changes only in this file, and each change is told to
 * the rig once. Whatever led into a dead VM is closed, and what it
 * had printed was read to the end, before its state is DEAD.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job.h"
#include "proto.h"
#include "rig.h"

static void set_state(struct node *n, enum node_state state)
{
	n->state = state;
	rig_changed(n);
}

const char *node_state_name(const struct node *n)
{
	if (n->state == NODE_OFF)
		return "off";
	if (n->state == NODE_DEAD)
		return n->con.panicked ? "panicked" :
		       n->killed       ? "killed" :
					 "dead";
	if (n->frozen)
		return "frozen";
	if (n->paused)
		return "paused";
	return n->state == NODE_READY ? "ready" : "booting";
}

static void agent_frame(void *arg, uint32_t type, uint32_t id, const char *buf,
			uint32_t len)
{
	struct node *n = arg;

	switch (type) {
	case UBRIG_READY:
		n->ready = now_ns();
		set_state(n, NODE_READY);
		break;
	case UBRIG_FAILED:
		snprintf(n->why, sizeof(n->why), "%.*s", (int)len, buf);
		break;
	case UBRIG_NOTE: {
		char *text = xasprintf("%.3f s: %.*s",
				       (double)(now_ns() - n->born) / NSEC_PER_SEC,
				       (int)len, buf);

		n->rig->ops->note(n->rig->arg, n, text);
		free(text);
		break;
	}
	case UBRIG_STDOUT:
	case UBRIG_STDERR:
		job_output(n, id, type == UBRIG_STDERR, buf, len);
		break;
	case UBRIG_EXIT:
		console_poll(&n->con);
		if (len >= 4)
			job_exit(n, id, get_le32(buf));
		break;
	}
}

static void console_line(void *arg, const char *line)
{
	struct node *n = arg;

	n->rig->ops->splat(n->rig->arg, n, line);
	job_splat(n);
}

static void qemu_line(void *arg, const char *line)
{
	struct node *n = arg;
	char *text;

	/* QEMU tells who killed it, which is us. */
	if (strstr(line, "terminating on signal"))
		return;
	text = xasprintf("qemu: %s", line);
	snprintf(n->why, sizeof(n->why), "%s", line);
	n->rig->ops->note(n->rig->arg, n, text);
	free(text);
}

static void pair(int *ours, int *theirs)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		die("socketpair: %s; raise 'ulimit -n'", strerror(errno));
	*ours = fd[0];
	*theirs = fd[1];
}

static int text_fd(const char *text)
{
	return memfd_of("ubrig-cfg", text, strlen(text));
}

void node_boot(struct node *n)
{
	struct rig *r = n->rig;
	struct qemu_fds q;
	int qmp, serial, agent, err, i;
	char *text, *log = NULL, *errlog = NULL;

	n->paused = n->frozen = n->killed = n->leaving = false;
	n->why[0] = '\0';
	n->con.splats = 0;
	n->boots++;
	n->born = now_ns();
	pair(&qmp, &q.qmp);
	pair(&serial, &q.serial);
	pair(&agent, &q.agent);
	pair(&err, &q.err);
	for (i = 0; i < r->opts->devices; i++) {
		n->dev[i] = (struct device){ .plugged = true, .plugs = 1 };
		q.ivshmem[i] = r->opts->plain[i] ? -1 :
			       ivshmem_join(&r->mem[i], &n->dev[i].peer);
	}
	q.silent = eventfd(0, EFD_CLOEXEC);
	if (q.silent < 0)
		die("eventfd: %s", strerror(errno));
	q.net = r->opts->rdma ? switch_plug(&r->net, n->index) : -1;
	text = xasprintf("%d", n->index);
	q.node_cfg = text_fd(text);
	free(text);
	text = qemu_boot_lines(r, n);
	q.boot_cfg = text_fd(text);
	free(text);
	n->pid = qemu_spawn(n, &q);
	close(q.qmp);
	close(q.serial);
	close(q.agent);
	close(q.err);
	close(q.silent);
	for (i = 0; i < r->opts->devices; i++)
		if (q.ivshmem[i] >= 0)
			close(q.ivshmem[i]);
	if (q.net >= 0)
		close(q.net);
	close(q.node_cfg);
	close(q.boot_cfg);

	if (r->opts->keep_logs) {
		log = xasprintf("%s/console-n%d.log", r->opts->keep_logs,
				n->index);
		errlog = xasprintf("%s/qemu-n%d.log", r->opts->keep_logs,
				   n->index);
	}
	n->con.shown = console_line;
	n->con.arg = n;
	console_open(&n->con, serial, log);
	n->err.shown = qemu_line;
	n->err.arg = n;
	n->err.all = true;
	console_open(&n->err, err, errlog);
	free(log);
	free(errlog);
	n->qmp.event = node_qmp_event;
	n->qmp.arg = n;
	qmp_open(&n->qmp, qmp);
	n->agent.frame = agent_frame;
	n->agent.arg = n;
	chan_open(&n->agent, agent);
	set_state(n, NODE_BOOTING);
}

void node_kill(struct node *n)
{
	if (!n->pid)
		return;
	n->killed = true;
	kill(n->pid, SIGKILL);
}

void node_freeze(struct node *n)
{
	kill(n->pid, SIGSTOP);
	n->frozen = true;
}

void node_thaw(struct node *n)
{
	kill(n->pid, SIGCONT);
	n->frozen = false;
}

void node_poweroff(struct node *n)
{
	n->leaving = true;
	chan_send(&n->agent, UBRIG_POWEROFF, 0, NULL, 0);
}

static void explain(struct node *n, int status)
{
	if (n->why[0])
		return;
	if (n->con.panicked)
		snprintf(n->why, sizeof(n->why), "kernel panic");
	else if (n->killed)
		snprintf(n->why, sizeof(n->why), "killed");
	else if (WIFSIGNALED(status))
		snprintf(n->why, sizeof(n->why), "QEMU died of signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(n->why, sizeof(n->why), "QEMU ended with code %d",
			 WEXITSTATUS(status));
	else
		snprintf(n->why, sizeof(n->why), n->leaving ? "powered off" :
			 "the guest powered off or reset by itself");
}

void node_reaped(struct node *n, int status)
{
	n->pid = 0;
	chan_close(&n->agent);
	qmp_close(&n->qmp);
	switch_unplug(&n->rig->net, n->index);
	node_plug_over(n, "QEMU ended");
	console_drain(&n->err);
	console_drain(&n->con);
	n->paused = n->frozen = false;
	explain(n, status);
	set_state(n, NODE_DEAD);
	job_node_died(n);
}

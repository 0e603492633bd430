// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot plug and unplug of a node's ivshmem devices, by QEMU's monitor.
 *
 * Invariants: one plug or unplug of a node at a time, and its end is told
 * once. A device is unplugged when the guest has let go of it and QEMU has told
 * so (DEVICE_DELETED); its peers hear that it left then. Each plug makes a
 * chardev or memory backend of a new name: QEMU may hold the old chardev for a
 * moment longer than the device, and takes no backend (7.2) a second time.
 *
 * Without KVM's irqfd QEMU (7.2) goes on to poll the numbers of a device's
 * eventfds when they are closed, and dies when the next file that gets one of
 * them can be read. So it gets eventfds at once that never can, and for what it
 * opens in between, for the guest's files say, there are lower numbers free: spare
 * ones, taken before each device and given back before it goes. The guest stands
 * still while numbers are taken, lest it closes or opens a file in between and
 * the device, or the file, gets a number that is too low.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rig.h"

/* By PCIe's own way a guest waits for 5 s, by ACPI's it does not. */
#define UNPLUG_SECONDS	60
/* Free numbers below those of the eventfds, at most. */
#define HOLES		16

void node_plug_over(struct node *n, const char *error)
{
	void (*done)(struct node *n, const char *error) = n->plug.done;

	if (!done)
		return;
	loop_timer_cancel(&n->plug.limit);
	n->plug.done = NULL;
	done(n, error);
}

static void begin(struct node *n, int device,
		  void (*done)(struct node *n, const char *error))
{
	n->plug = (struct plug){ .device = device, .done = done };
}

/* One of the commands that make up a plug; the first error counts. */
static void step_done(void *arg, const char *error)
{
	struct node *n = arg;

	if (error && !n->plug.error[0])
		snprintf(n->plug.error, sizeof(n->plug.error), "%s", error);
}

int node_spare_set(const struct node *n, int device)
{
	return n->dev[device].plugs * MAX_DEVICES + device;
}

static int silent_eventfd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd < 0)
		die("eventfd: %s", strerror(errno));
	return fd;
}

/* What has the lowest numbers: the eventfds of the device get higher ones. */
static void take_spares(struct node *n, int device)
{
	char *args = xasprintf("{\"fdset-id\":%d}", node_spare_set(n, device));
	int i, fd = silent_eventfd();

	for (i = 0; i < SPARE_FDS; i++)
		qmp_run(&n->qmp, "add-fd", args, fd, step_done, n);
	close(fd);
	free(args);
}

static void give_spares_back(struct node *n, int device)
{
	char *args = xasprintf("{\"fdset-id\":%d}", node_spare_set(n, device));

	qmp_run(&n->qmp, "remove-fd", args, -1, NULL, NULL);
	free(args);
}

/* The guest stands still, and goes on. */
static void still(struct node *n, bool on)
{
	if (!n->paused)
		qmp_run(&n->qmp, on ? "stop" : "cont", NULL, -1, NULL, NULL);
}

/* QEMU has closed the eventfds of all peers, the memory and the connection. */
static void hold_numbers(struct node *n)
{
	int i, fd = silent_eventfd();
	int count = n->rig->n * IVSHMEM_VECTORS + SPARE_FDS + HOLES;
	char *args;

	still(n, true);
	for (i = 0; i < count; i++) {
		args = xasprintf("{\"fdname\":\"hold%d\"}", n->holds++);
		qmp_run(&n->qmp, "getfd", args, fd, NULL, NULL);
		free(args);
	}
	still(n, false);
	close(fd);
}

static void leave(struct node *n, int device)
{
	struct device *dev = &n->dev[device];
	char *args;

	dev->plugged = false;
	if (n->rig->opts->plain[device])
		return;
	hold_numbers(n);
	ivshmem_leave(&n->rig->mem[device], dev->peer);
	/* It may be in use yet; then it stays, without a connection. */
	args = xasprintf("{\"id\":\"bell%d.%d\"}", device, dev->plugs);
	qmp_run(&n->qmp, "chardev-remove", args, -1, NULL, NULL);
	free(args);
}

static void plug_done(void *arg, const char *error)
{
	struct node *n = arg;

	step_done(n, error);
	if (n->plug.error[0])
		leave(n, n->plug.device);
	node_plug_over(n, n->plug.error[0] ? n->plug.error : NULL);
}

/* The connection to the server, as a chardev of QEMU's. */
static void add_bell(struct node *n, int i)
{
	struct device *dev = &n->dev[i];
	int fd = ivshmem_join(&n->rig->mem[i], &dev->peer);
	char *args;

	args = xasprintf("{\"fdname\":\"bell%d.%d\"}", i, dev->plugs);
	qmp_run(&n->qmp, "getfd", args, fd, step_done, n);
	free(args);
	close(fd);
	args = xasprintf("{\"id\":\"bell%d.%d\",\"backend\":{\"type\":\"socket\",\"data\":"
			 "{\"server\":false,\"addr\":{\"type\":\"fd\",\"data\":"
			 "{\"str\":\"bell%d.%d\"}}}}}",
			 i, dev->plugs, i, dev->plugs);
	qmp_run(&n->qmp, "chardev-add", args, -1, step_done, n);
	free(args);
}

/* By the descriptor that QEMU was started with. */
static void add_backend(struct node *n, int i)
{
	const struct ivshmem *mem = &n->rig->mem[i];
	char *args;

	args = xasprintf("{\"qom-type\":\"memory-backend-file\",\"id\":\"mem%d.%d\","
			 "\"share\":true,\"size\":%llu,\"mem-path\":\"/proc/self/fd/%d\"}",
			 i, n->dev[i].plugs, (unsigned long long)mem->size, mem->memfd);
	qmp_run(&n->qmp, "object-add", args, -1, step_done, n);
	free(args);
}

void node_plug(struct node *n, int i,
	       void (*done)(struct node *n, const char *error))
{
	bool plain = n->rig->opts->plain[i];
	char *args;

	begin(n, i, done);
	n->dev[i].plugs++;
	n->dev[i].plugged = true;
	if (plain) {
		add_backend(n, i);
	} else {
		still(n, true);
		take_spares(n, i);
		add_bell(n, i);
	}
	if (plain)
		args = xasprintf("{\"driver\":\"ivshmem-plain\",\"id\":\"ivshmem%d\","
				 "\"bus\":\"port%d\",\"memdev\":\"mem%d.%d\"}",
				 i, i, i, n->dev[i].plugs);
	else
		args = xasprintf("{\"driver\":\"ivshmem-doorbell\",\"id\":\"ivshmem%d\","
				 "\"bus\":\"port%d\",\"vectors\":%d,\"chardev\":\"bell%d.%d\"}",
				 i, i, IVSHMEM_VECTORS, i, n->dev[i].plugs);
	qmp_run(&n->qmp, "device_add", args, -1, plug_done, n);
	free(args);
	if (!plain)
		still(n, false);
}

static void unplug_too_long(void *arg)
{
	node_plug_over(arg, "the guest has not let go of the device");
}

static void del_done(void *arg, const char *error)
{
	if (error)
		node_plug_over(arg, error);
}

void node_unplug(struct node *n, int i,
		 void (*done)(struct node *n, const char *error))
{
	char *args = xasprintf("{\"id\":\"ivshmem%d\"}", i);

	begin(n, i, done);
	loop_timer_set(&n->plug.limit, UNPLUG_SECONDS * NSEC_PER_SEC,
		       unplug_too_long, n);
	if (!n->rig->opts->plain[i])
		give_spares_back(n, i);
	qmp_run(&n->qmp, "device_del", args, -1, del_done, n);
	free(args);
}

void node_qmp_event(void *arg, const char *event, const char *device)
{
	struct node *n = arg;
	int i;

	if (strcmp(event, "DEVICE_DELETED") ||
	    sscanf(device, "ivshmem%d", &i) != 1 || i < 0 || i >= MAX_DEVICES)
		return;
	leave(n, i);
	if (n->plug.done && n->plug.device == i)
		node_plug_over(n, NULL);
}

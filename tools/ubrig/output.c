// SPDX-License-Identifier: GPL-2.0-only
/* What the nodes print, line by line; see output.h. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "progress.h"
#include "util.h"

/* A longer line is cut: nothing may grow for ever. */
#define LINE_MAX_BYTES (1U << 20)

static struct buf (*parts)[2];
static bool tagged;

static void write_all(int fd, const char *buf, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	progress_hide();
	while (len) {
		n = write(fd, buf, len);
		if (n < 0 && errno == EAGAIN)
			poll(&p, 1, -1);
		else if (n < 0 && errno != EINTR)
			die("cannot write output: %s", strerror(errno));
		if (n > 0) {
			buf += n;
			len -= n;
		}
	}
}

void output_init(int nodes, bool tag)
{
	parts = xcalloc(nodes, sizeof(*parts));
	tagged = tag;
}

static void emit(struct buf *out, int node, const char *buf, size_t len)
{
	if (tagged)
		buf_printf(out, "[n%d] ", node);
	buf_add(out, buf, len);
}

void output_feed(int node, bool err, const char *buf, size_t len)
{
	struct buf *part = &parts[node][err], out = { 0 };
	const char *nl;

	while (len) {
		nl = memchr(buf, '\n', len);
		if (!nl && part->len + len < LINE_MAX_BYTES) {
			buf_add(part, buf, len);
			break;
		}
		if (part->len) {
			emit(&out, node, part->data, part->len);
			part->len = 0;
		} else {
			emit(&out, node, "", 0);
		}
		buf_add(&out, buf, nl ? (size_t)(nl - buf) : len);
		buf_add(&out, "\n", 1);
		len -= nl ? (size_t)(nl + 1 - buf) : len;
		buf = nl ? nl + 1 : buf;
	}
	if (out.len)
		write_all(err ? STDERR_FILENO : STDOUT_FILENO, out.data, out.len);
	buf_free(&out);
}

void output_end(int node)
{
	int err;

	for (err = 0; err < 2; err++)
		if (parts[node][err].len)
			output_feed(node, err, "\n", 1);
}

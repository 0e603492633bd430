// SPDX-License-Identifier: GPL-2.0-only
/* Small things that every file of ubrig uses; see util.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "util.h"

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (b->len + len > b->cap) {
		b->cap = (b->len + len) * 2 + 64;
		b->data = realloc(b->data, b->cap);
		if (!b->data)
			die("out of memory");
	}
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

void buf_u32(struct buf *b, uint32_t v)
{
	v = htole32(v);
	buf_add(b, &v, sizeof(v));
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("out of memory");
	buf_add(b, s, n);
	free(s);
}

void buf_drop(struct buf *b, size_t len)
{
	b->len -= len;
	if (b->len)
		memmove(b->data, b->data + len, b->len);
}

void buf_free(struct buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die("out of memory");
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die("out of memory");
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		die("out of memory");
	return s;
}

static void vsay(const char *fmt, va_list ap)
{
	char text[4096];
	int n;

	n = snprintf(text, sizeof(text), "ubrig: ");
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	progress_hide();
	fprintf(stderr, "%s\n", text);
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
	exit(EXIT_RIG);
}

int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void set_cloexec(int fd, int on)
{
	if (fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0))
		die("fcntl: %s", strerror(errno));
}

void set_nonblock(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		die("fcntl: %s", strerror(errno));
}

char *read_whole_file(const char *path, size_t *len)
{
	struct buf b = { 0 };
	char chunk[65536];
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(&b, chunk, n);
	close(fd);
	if (n < 0) {
		buf_free(&b);
		return NULL;
	}
	if (len)
		*len = b.len;
	buf_add(&b, "", 1);
	return b.data;
}

int memfd_of(const char *name, const void *data, size_t len)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	size_t pos = 0;
	ssize_t n;

	if (fd < 0)
		die("memfd_create: %s; raise 'ulimit -n'", strerror(errno));
	while (pos < len) {
		n = write(fd, (const char *)data + pos, len - pos);
		if (n <= 0)
			die("write to memfd: %s", strerror(errno));
		pos += n;
	}
	return fd;
}

ssize_t send_with_fd(int sock, const void *data, size_t len, int fd)
{
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { 0 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *h;

	if (fd >= 0) {
		m.msg_control = c.room;
		m.msg_controllen = sizeof(c.room);
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &fd, sizeof(int));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL);
}

char *cache_dir(void)
{
	const char *e;

	e = getenv("UB_CACHE");
	if (e && *e)
		return xstrdup(e);
	e = getenv("XDG_CACHE_HOME");
	if (e && *e)
		return xasprintf("%s/ub", e);
	e = getenv("HOME");
	return xasprintf("%s/.cache/ub", e && *e ? e : "/nonexistent");
}

uint32_t get_le32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

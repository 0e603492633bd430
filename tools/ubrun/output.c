// SPDX-License-Identifier: GPL-2.0-only
/*
 * Joins the ranks' output line by line.
 *
 * Each rank has a pipe for stdout and one for stderr. Whole lines go into the
 * sink of their stream, which is written only as far as poll() says, so that
 * a reader who does not read stops the ranks but not ubrun, and one that is gone
 * is gone for the ranks as well (SIGPIPE). A line that is
 * longer than LINE_MAX_LEN is broken there. On a terminal a line's beginning
 * is shown after PROMPT_MS, since it may be a question.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ubrun.h"

#define LINE_MAX_LEN	(1U << 20)
#define SINK_FULL	(1U << 18)
#define PROMPT_MS	200

struct buf {
	char *mem;
	size_t start;		/* what lies before it was dropped */
	size_t len;
	size_t room;
};

struct sink {
	int fd;
	struct buf buf;
	bool tty;
	bool broken;
	struct source *middle;	/* whose line has been begun and not ended */
};

struct source {
	int fd;
	int rank;
	struct sink *sink;
	struct buf line;
	int64_t since;		/* ms: last byte of an unfinished line */
};

struct mux {
	int n;
	bool tag;
	struct sink sink[2];
	struct source *src;
};

static char *buf_at(const struct buf *b)
{
	return b->mem + b->start;
}

static void buf_add(struct buf *b, const char *p, size_t n)
{
	char *more;

	if (!n)
		return;
	if (b->start && b->start + b->len + n > b->room) {
		memmove(b->mem, buf_at(b), b->len);
		b->start = 0;
	}
	if (b->len + n > b->room) {
		b->room = 2 * (b->len + n);
		more = realloc(b->mem, b->room);
		if (!more) {
			perror("ubrun: output");
			exit(UBRUN_EX_SETUP);
		}
		b->mem = more;
	}
	memcpy(buf_at(b) + b->len, p, n);
	b->len += n;
}

static void buf_drop(struct buf *b, size_t n)
{
	b->len -= n;
	b->start = b->len ? b->start + n : 0;
}

struct mux *mux_new(int nranks, int first, bool tag)
{
	struct mux *m = calloc(1, sizeof(*m));
	int i;

	if (!m)
		return NULL;
	m->src = calloc(2 * (size_t)nranks, sizeof(*m->src));
	if (!m->src) {
		free(m);
		return NULL;
	}
	m->n = 2 * nranks;
	m->tag = tag;
	for (i = 0; i < 2; i++) {
		m->sink[i].fd = i ? STDERR_FILENO : STDOUT_FILENO;
		m->sink[i].tty = isatty(m->sink[i].fd);
	}
	for (i = 0; i < m->n; i++)
		m->src[i] = (struct source){
			.fd = -1, .rank = first + i / 2, .sink = &m->sink[i % 2],
		};
	return m;
}

void mux_free(struct mux *m)
{
	int i;

	for (i = 0; i < m->n; i++) {
		if (m->src[i].fd >= 0)
			close(m->src[i].fd);
		free(m->src[i].line.mem);
	}
	free(m->sink[0].buf.mem);
	free(m->sink[1].buf.mem);
	free(m->src);
	free(m);
}

int mux_open(struct mux *m, int i, int ends[2])
{
	int k, fds[2];

	for (k = 0; k < 2; k++) {
		if (pipe2(fds, O_CLOEXEC)) {
			if (k)
				close(ends[0]);
			return -errno;
		}
		fcntl(fds[0], F_SETFL, O_NONBLOCK);
		m->src[2 * i + k].fd = fds[0];
		ends[k] = fds[1];
	}
	return 0;
}

/* Puts @len bytes of @src's line, all of it when it ends there, into its sink. */
static void emit(struct mux *m, struct source *src, size_t len)
{
	struct sink *s = src->sink;
	char tag[16];
	int n;

	if (!s->broken) {
		if (s->middle && s->middle != src) {
			buf_add(&s->buf, "\n", 1);
			s->middle = NULL;
		}
		if (m->tag && s->middle != src) {
			n = snprintf(tag, sizeof(tag), "[%d] ", src->rank);
			buf_add(&s->buf, tag, n);
		}
		buf_add(&s->buf, buf_at(&src->line), len);
		s->middle = len && buf_at(&src->line)[len - 1] == '\n' ? NULL : src;
	}
	buf_drop(&src->line, len);
}

static void emit_lines(struct mux *m, struct source *src)
{
	char *nl;

	while (src->line.len) {
		nl = memchr(buf_at(&src->line), '\n', src->line.len);
		if (!nl)
			break;
		emit(m, src, nl - buf_at(&src->line) + 1);
	}
}

/* The rest of a line that gets no end of its own. */
static void emit_rest(struct mux *m, struct source *src)
{
	if ((!src->line.len && src->sink->middle != src) || src->sink->broken)
		return;
	buf_add(&src->line, "\n", 1);
	emit(m, src, src->line.len);
}

static void source_close(struct mux *m, struct source *src)
{
	close(src->fd);
	src->fd = -1;
	emit_lines(m, src);
	emit_rest(m, src);
}

static void source_read(struct mux *m, struct source *src, int64_t now)
{
	char chunk[65536];
	ssize_t n;

	n = read(src->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		source_close(m, src);
		return;
	}
	buf_add(&src->line, chunk, n);
	src->since = now;
	emit_lines(m, src);
	if (src->line.len >= LINE_MAX_LEN)
		emit_rest(m, src);
}

static void sink_write(struct sink *s)
{
	size_t len = s->buf.len < PIPE_BUF ? s->buf.len : PIPE_BUF;
	ssize_t n;

	/* A pipe that polls writable takes PIPE_BUF bytes without blocking. */
	n = write(s->fd, buf_at(&s->buf), len);
	if (n > 0) {
		buf_drop(&s->buf, n);
	} else if (errno != EINTR && errno != EAGAIN) {
		s->broken = true;
		s->buf.len = 0;
	}
}

int mux_poll(struct mux *m, struct pollfd *pfd)
{
	int i, n = 0;

	for (i = 0; i < 2; i++)
		pfd[n++] = (struct pollfd){
			.fd = m->sink[i].buf.len ? m->sink[i].fd : -1,
			.events = POLLOUT,
		};
	for (i = 0; i < m->n; i++)
		pfd[n++] = (struct pollfd){
			.fd = m->src[i].sink->buf.len < SINK_FULL ? m->src[i].fd : -1,
			.events = POLLIN,
		};
	return n;
}

void mux_work(struct mux *m, const struct pollfd *pfd, int n, int64_t now)
{
	struct source *src;
	int i;

	for (i = 2; i < n; i++) {
		src = &m->src[i - 2];
		if (pfd[i].revents && src->fd >= 0)
			source_read(m, src, now);
		if (src->line.len && src->sink->tty && now - src->since >= PROMPT_MS)
			emit(m, src, src->line.len);
	}
	for (i = 0; i < 2; i++)
		if (pfd[i].revents && m->sink[i].buf.len)
			sink_write(&m->sink[i]);
	for (i = 0; i < m->n; i++)
		if (m->src[i].sink->broken && m->src[i].fd >= 0)
			source_close(m, &m->src[i]);
}

int mux_timeout(const struct mux *m, int64_t now)
{
	int64_t left, best = -1;
	int i;

	for (i = 0; i < m->n; i++) {
		if (!m->src[i].line.len || !m->src[i].sink->tty)
			continue;
		left = m->src[i].since + PROMPT_MS - now;
		if (left < 0)
			left = 0;
		if (best < 0 || left < best)
			best = left;
	}
	return best;
}

int mux_open_pipes(const struct mux *m)
{
	int i, n = 0;

	for (i = 0; i < m->n; i++)
		n += m->src[i].fd >= 0;
	return n;
}

void mux_close_pipes(struct mux *m)
{
	int i;

	for (i = 0; i < m->n; i++)
		if (m->src[i].fd >= 0)
			source_close(m, &m->src[i]);
}

bool mux_pending(const struct mux *m)
{
	return m->sink[0].buf.len || m->sink[1].buf.len;
}

void mux_say(struct mux *m, const char *line)
{
	struct sink *s = &m->sink[1];

	if (s->broken)
		return;
	if (s->middle)
		buf_add(&s->buf, "\n", 1);
	s->middle = NULL;
	buf_add(&s->buf, "ubrun: ", 7);
	buf_add(&s->buf, line, strlen(line));
	buf_add(&s->buf, "\n", 1);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small things that every file of ubrig uses: checked allocation, messages,
 * growing buffers, time.
 *
 * Invariant: running out of memory ends the program; callers never check.
 */
#ifndef UBRIG_UTIL_H
#define UBRIG_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC 1000000000LL

/* Exit codes of ubrig itself, as timeout(1) has them. */
#define EXIT_TIMEOUT	124
#define EXIT_ABORT	134	/* of a command: bsp_abort(), which ends the job */
#define EXIT_RIG	125	/* ubrig or a VM failed, not the command */

struct buf {
	char *data;
	size_t len, cap;
};

void buf_add(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *s);	/* with its NUL */
void buf_u32(struct buf *b, uint32_t v);	/* little-endian */
void buf_printf(struct buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void buf_drop(struct buf *b, size_t len);	/* from the front */
void buf_free(struct buf *b);

void *xcalloc(size_t n, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "ubrig: text" on stderr, over any progress line. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void die(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

int64_t now_ns(void);
void set_cloexec(int fd, int on);
void set_nonblock(int fd);
char *read_whole_file(const char *path, size_t *len);	/* NULL and errno */
/* As send(); the peer gets a copy of @fd unless it is -1. */
ssize_t send_with_fd(int sock, const void *data, size_t len, int fd);
int memfd_of(const char *name, const void *data, size_t len);
char *cache_dir(void);
uint32_t get_le32(const void *p);

#endif

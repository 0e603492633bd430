// SPDX-License-Identifier: GPL-2.0-only
/* Text lines from a VM, and the splats among them; see console.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "console.h"
#include "loop.h"

/* Lines shown after the first one of a splat, unless its end comes first. */
#define SPLAT_LINES 60

/*
 * How a kernel says that it is broken: at the start of the text after the
 * time stamp, or anywhere in the line.
 */
static const char *const splat_start[] = {
	"WARNING: ", "BUG: ", "Oops: ", "Oops:", "general protection fault",
	"Kernel panic", "KASAN: ", "UBSAN: ", "INFO: task ",
	"INFO: trying to register non-static key",
	"invalid opcode: ", "int3: ", "divide error: ", "stack segment: ",
	"unable to handle kernel", "double fault: ", "PANIC: ",
	"list_add corruption", "list_del corruption", "ODEBUG: ",
	"refcount_t: ", "BUG kmalloc", "kmemleak: ",
};

static const char *const splat_anywhere[] = {
	"BUG: ", "WARNING: CPU: ", "detected stalls", "self-detected stall",
	"detected expedited stalls", "suspicious RCU usage", "KASAN: ",
	"UBSAN: ", "INFO: lockdep is turned off", "circular locking dependency",
	"sleeping function called from invalid context", "Bad page state",
	"unreferenced object", "scheduling while atomic",
	"---[ Kernel panic",
};

/* Start like splats and are none. */
static const char *const harmless[] = {
	"kmemleak: Kernel memory leak detector initialized",
	"kmemleak: Automatic memory scanning",
	"WARNING: Spectre", "kmemleak: Memory pool",
};

static const char *after_stamp(const char *line)
{
	const char *end;

	while (*line == '[') {
		end = strchr(line, ']');
		if (!end)
			break;
		line = end + 1;
		while (*line == ' ')
			line++;
	}
	return line;
}

/* As a word: "DEBUG: " is no "BUG: ". */
static bool has_word(const char *text, const char *word)
{
	const char *at;

	for (at = strstr(text, word); at; at = strstr(at + 1, word))
		if (at == text || !isalnum((unsigned char)at[-1]))
			return true;
	return false;
}

bool splat_starts(const char *line)
{
	const char *text = after_stamp(line);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(harmless); i++)
		if (!strncmp(text, harmless[i], strlen(harmless[i])))
			return false;
	for (i = 0; i < ARRAY_SIZE(splat_start); i++)
		if (!strncmp(text, splat_start[i], strlen(splat_start[i])))
			return true;
	for (i = 0; i < ARRAY_SIZE(splat_anywhere); i++)
		if (has_word(text, splat_anywhere[i]))
			return true;
	return false;
}

static bool splat_ends(const char *line)
{
	return strstr(line, "---[ end trace") ||
	       strstr(line, "---[ end Kernel panic");
}

static void one_line(struct console *c, char *line)
{
	char *s;

	/* Firmware clears the screen: show nothing of that. */
	for (s = line; *s; s++)
		if (!isprint((unsigned char)*s) && *s != '\t')
			*s = '?';
	if (c->all) {
		c->shown(c->arg, line);
		return;
	}
	if (strstr(line, "Kernel panic - not syncing"))
		c->panicked = true;
	if (splat_starts(line)) {
		if (!c->show)
			c->splats++;
		c->show = SPLAT_LINES;
	}
	if (strstr(line, "reboot: "))
		c->show = 0;
	if (!c->show)
		return;
	c->shown(c->arg, line);
	c->show--;
	if (splat_ends(line))
		c->show = 0;
}

static void feed(struct console *c, const char *data, size_t len)
{
	size_t i;

	if (c->log >= 0 && write(c->log, data, len) < 0) {
		say("cannot write a log: %s", strerror(errno));
		close(c->log);
		c->log = -1;
	}
	buf_add(&c->tail, data, len);
	if (c->tail.len > 2 * CONSOLE_KEEP)
		buf_drop(&c->tail, c->tail.len - CONSOLE_KEEP);
	for (i = 0; i < len; i++) {
		if (data[i] == '\r')
			continue;
		if (data[i] != '\n' && c->line.len < 4096) {
			buf_add(&c->line, &data[i], 1);
			continue;
		}
		buf_add(&c->line, "", 1);
		one_line(c, c->line.data);
		c->line.len = 0;
	}
}

/* False when nothing is left to read now. */
static bool pull(struct console *c)
{
	char data[8192];
	ssize_t n;

	n = read(c->fd, data, sizeof(data));
	if (n > 0) {
		feed(c, data, n);
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	loop_del(c->fd);
	close(c->fd);
	c->fd = -1;
	return false;
}

static void ready(void *arg, uint32_t events)
{
	(void)events;
	pull(arg);
}

void console_open(struct console *c, int fd, const char *log_path)
{
	c->fd = fd;
	c->log = -1;
	c->line.len = 0;
	c->show = 0;
	c->panicked = false;
	if (log_path) {
		c->log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			      0644);
		if (c->log < 0)
			die("cannot write log '%s': %s", log_path,
			    strerror(errno));
	}
	set_nonblock(fd);
	loop_add(fd, EPOLLIN, ready, c);
}

void console_poll(struct console *c)
{
	while (c->fd >= 0 && pull(c))
		;
}

void console_drain(struct console *c)
{
	console_poll(c);
	if (c->fd >= 0) {
		loop_del(c->fd);
		close(c->fd);
		c->fd = -1;
	}
	if (c->line.len)
		feed(c, "\n", 1);
	if (c->log >= 0) {
		close(c->log);
		c->log = -1;
	}
}

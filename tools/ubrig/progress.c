// SPDX-License-Identifier: GPL-2.0-only
/* One line on stderr that tells how far the boot is; see progress.h. */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "progress.h"

static int shown;

void progress_show(const char *fmt, ...)
{
	va_list ap;

	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
	shown = 1;
}

void progress_hide(void)
{
	if (!shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	shown = 0;
}

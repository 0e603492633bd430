// SPDX-License-Identifier: MIT
/* Last error of a thread, and reasons in words. */
#include "error.h"
#include "libub.h"
#include <stdarg.h>
#include <ub/ub.h>

static _Thread_local char text[512];

int ub_fail(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err;
}

const char *ub_last_error(void)
{
	return text;
}

const char *ub_reason_text(unsigned int reason)
{
	switch (reason) {
	case UB_REASON_HEARTBEAT:
		return "its node gives no heartbeat";
	case UB_REASON_LEFT:
		return "it left";
	case UB_REASON_FENCED:
		return "its node was fenced";
	case UB_REASON_EXIT:
		return "its process ended";
	case UB_REASON_TIMEOUT:
		return "it did not arrive in time";
	case UB_REASON_LINK:
		return "connection error";
	case UB_REASON_ISOLATED:
		return "this side has not the majority";
	case UB_REASON_VERSION:
		return "another layout or protocol version";
	case UB_REASON_REBOOT:
		return "its node came back with a new incarnation";
	case UB_REASON_ERASED:
		return "its fabric's memory was formatted";
	default:
		return "unknown reason";
	}
}

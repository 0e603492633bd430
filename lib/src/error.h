/* SPDX-License-Identifier: MIT */
/* The text behind ub_last_error(). */
#ifndef UB_ERROR_H
#define UB_ERROR_H

#include <errno.h>

#define fallthrough	__attribute__((__fallthrough__))

/** ub_fail() - keep a text for this thread; returns @err */
int ub_fail(int err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), cold));

/** ub_reason_text() - enum ub_reason in words, static */
const char *ub_reason_text(unsigned int reason);

#endif /* UB_ERROR_H */

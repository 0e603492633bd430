/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the nodes print, on our own stdout and stderr: whole lines, each with
 * its node in front where wanted.
 *
 * Invariant: a line is written in one piece, so nodes never mix within one;
 * what a node left without a newline gets one at its end.
 */
#ifndef UBRIG_OUTPUT_H
#define UBRIG_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

void output_init(int nodes, bool tag);
void output_feed(int node, bool err, const char *buf, size_t len);
void output_end(int node);

#endif

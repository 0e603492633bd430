// SPDX-License-Identifier: GPL-2.0-only
#include <json-c/json.h>
#include <stdio.h>

#include "ubperf.h"

static struct json_object *rows;

static const char *verdict_text(enum perf_verdict v)
{
	return v == PERF_GOOD ? "yes" : v == PERF_BAD ? "WRONG" : "no";
}

/* Bytes by ns are GB by s. */
static double gb_per_s(const struct perf_row *row)
{
	return row->size && row->p50 > 0 ? row->size * row->messages / row->p50 : 0.0;
}

static void add_number(struct json_object *o, const char *name, double v)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1f", v);
	json_object_object_add(o, name, json_object_new_double_s(v, text));
}

static void add_json(const struct perf_row *row)
{
	struct json_object *o = json_object_new_object();
	char text[32];

	if (!rows)
		rows = json_object_new_array();
	json_object_object_add(o, "test", json_object_new_string(row->test));
	json_object_object_add(o, "fabric", json_object_new_string(row->fabric));
	json_object_object_add(o, "nodes", json_object_new_int(row->nodes));
	json_object_object_add(o, "members", json_object_new_int(row->members));
	json_object_object_add(o, "size", json_object_new_int64(row->size));
	if (row->skipped) {
		json_object_object_add(o, "skipped",
				       json_object_new_string(row->skipped));
		json_object_array_add(rows, o);
		return;
	}
	json_object_object_add(o, "iterations", json_object_new_int64(row->iters));
	json_object_object_add(o, "batch", json_object_new_int64(row->batch));
	if (row->messages > 1)
		json_object_object_add(o, "messages", json_object_new_int64(row->messages));
	json_object_object_add(o, "clock", json_object_new_string(row->cpu ? "cpu" : "wall"));
	add_number(o, "min_ns", row->min);
	add_number(o, "mean_ns", row->mean);
	add_number(o, "p50_ns", row->p50);
	add_number(o, "p90_ns", row->p90);
	add_number(o, "p99_ns", row->p99);
	add_number(o, "max_ns", row->max);
	json_object_object_add(o, "slowest_rank", json_object_new_int(row->slowest));
	if (row->size) {
		snprintf(text, sizeof(text), "%.4f", gb_per_s(row));
		json_object_object_add(o, "gb_per_s",
				       json_object_new_double_s(gb_per_s(row), text));
	}
	json_object_object_add(o, "checked",
			       json_object_new_boolean(row->verdict != PERF_UNCHECKED));
	if (row->verdict == PERF_BAD)
		json_object_object_add(o, "wrong_data", json_object_new_boolean(1));
	json_object_array_add(rows, o);
}

void report_row(const struct perf_opts *o, const struct perf_row *row)
{
	static bool headed;

	if (o->json) {
		add_json(row);
		return;
	}
	if (!headed)
		printf("%-14s %-6s %5s %7s %9s %8s %5s %10s %10s %10s %11s %7s %8s %7s\n",
		       "test", "fabric", "nodes", "members", "size", "iters", "batch",
		       "min ns", "p50 ns", "p99 ns", "max ns", "slowest", "GB/s",
		       "checked");
	headed = true;
	printf("%-14s %-6s %5d %7d %9zu ", row->test, row->fabric, row->nodes,
	       row->members, row->size);
	if (row->skipped) {
		printf("skipped: %s\n", row->skipped);
	} else {
		printf("%8ld %5ld %10.1f %10.1f %10.1f %11.1f %7d ", row->iters,
		       row->batch, row->min, row->p50, row->p99, row->max,
		       row->slowest);
		if (row->size)
			printf("%8.3f", gb_per_s(row));
		else
			printf("%8s", "-");
		printf(" %7s\n", verdict_text(row->verdict));
	}
	fflush(stdout);
}

void report_end(const struct perf_opts *o)
{
	struct json_object *top;

	if (!o->json)
		return;
	top = json_object_new_object();
	json_object_object_add(top, "version", json_object_new_int(1));
	json_object_object_add(top, "rows", rows ? rows : json_object_new_array());
	puts(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
					    JSON_C_TO_STRING_SPACED));
	json_object_put(top);
	fflush(stdout);
}

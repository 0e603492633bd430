/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints: /sys/kernel/tracing/events/ub. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ub

#if !defined(UB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define UB_TRACE_H

#include <linux/tracepoint.h>
#include "ub.h"

DECLARE_EVENT_CLASS(ub_barrier,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch),
	TP_ARGS(f, group, member, epoch),
	TP_STRUCT__entry(
		__field(u64, group)
		__field(u64, epoch)
		__field(u32, self)
		__field(u32, member)
	),
	TP_fast_assign(
		__entry->group = group;
		__entry->epoch = epoch;
		__entry->self = f->node;
		__entry->member = member;
	),
	TP_printk("self=%u group=%llx member=%u epoch=%llu", __entry->self,
		  __entry->group, __entry->member, __entry->epoch)
);

DEFINE_EVENT(ub_barrier, ub_arrive,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch),
	TP_ARGS(f, group, member, epoch));

DEFINE_EVENT(ub_barrier, ub_wait_begin,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch),
	TP_ARGS(f, group, member, epoch));

DEFINE_EVENT(ub_barrier, ub_sleep,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch),
	TP_ARGS(f, group, member, epoch));

TRACE_EVENT(ub_wait_end,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch, int err),
	TP_ARGS(f, group, member, epoch, err),
	TP_STRUCT__entry(
		__field(u64, group)
		__field(u64, epoch)
		__field(u32, self)
		__field(u32, member)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->group = group;
		__entry->epoch = epoch;
		__entry->self = f->node;
		__entry->member = member;
		__entry->err = err;
	),
	TP_printk("self=%u group=%llx member=%u epoch=%llu err=%d",
		  __entry->self, __entry->group, __entry->member,
		  __entry->epoch, __entry->err)
);

/* A member of a group is lost: @epoch is the first that it never reaches. */
DECLARE_EVENT_CLASS(ub_loss,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch, u32 reason),
	TP_ARGS(f, group, member, epoch, reason),
	TP_STRUCT__entry(
		__field(u64, group)
		__field(u64, epoch)
		__field(u32, self)
		__field(u32, member)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->group = group;
		__entry->epoch = epoch;
		__entry->self = f->node;
		__entry->member = member;
		__entry->reason = reason;
	),
	TP_printk("self=%u group=%llx member=%u epoch=%llu reason=%u",
		  __entry->self, __entry->group, __entry->member,
		  __entry->epoch, __entry->reason)
);

DEFINE_EVENT(ub_loss, ub_verdict,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch, u32 reason),
	TP_ARGS(f, group, member, epoch, reason));

DEFINE_EVENT(ub_loss, ub_fence,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 member, u64 epoch, u32 reason),
	TP_ARGS(f, group, member, epoch, reason));

DECLARE_EVENT_CLASS(ub_node,
	TP_PROTO(u32 self, u32 node, u64 incarnation, u32 reason),
	TP_ARGS(self, node, incarnation, reason),
	TP_STRUCT__entry(
		__field(u64, incarnation)
		__field(u32, self)
		__field(u32, node)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->incarnation = incarnation;
		__entry->self = self;
		__entry->node = node;
		__entry->reason = reason;
	),
	TP_printk("self=%u node=%u incarnation=%llu reason=%u",
		  __entry->self, __entry->node, __entry->incarnation,
		  __entry->reason)
);

DEFINE_EVENT(ub_node, ub_node_up,
	TP_PROTO(u32 self, u32 node, u64 incarnation, u32 reason),
	TP_ARGS(self, node, incarnation, reason));

DEFINE_EVENT(ub_node, ub_node_down,
	TP_PROTO(u32 self, u32 node, u64 incarnation, u32 reason),
	TP_ARGS(self, node, incarnation, reason));

DEFINE_EVENT(ub_node, ub_node_fence,
	TP_PROTO(u32 self, u32 node, u64 incarnation, u32 reason),
	TP_ARGS(self, node, incarnation, reason));

/* @group is 0 when no group is concerned; @index is a node record. */
TRACE_EVENT(ub_ring,
	TP_PROTO(struct ub_fabric *f, u64 group, u32 index),
	TP_ARGS(f, group, index),
	TP_STRUCT__entry(
		__field(u64, group)
		__field(u32, self)
		__field(u32, index)
	),
	TP_fast_assign(
		__entry->group = group;
		__entry->self = f->node;
		__entry->index = index;
	),
	TP_printk("self=%u group=%llx index=%u", __entry->self,
		  __entry->group, __entry->index)
);

DECLARE_EVENT_CLASS(ub_win,
	TP_PROTO(u32 self, u64 gva, u64 length, u64 generation),
	TP_ARGS(self, gva, length, generation),
	TP_STRUCT__entry(
		__field(u64, gva)
		__field(u64, length)
		__field(u64, generation)
		__field(u32, self)
	),
	TP_fast_assign(
		__entry->gva = gva;
		__entry->length = length;
		__entry->generation = generation;
		__entry->self = self;
	),
	TP_printk("self=%u gva=%llx length=%llu generation=%llu",
		  __entry->self, __entry->gva, __entry->length,
		  __entry->generation)
);

DEFINE_EVENT(ub_win, ub_win_made,
	TP_PROTO(u32 self, u64 gva, u64 length, u64 generation),
	TP_ARGS(self, gva, length, generation));

DEFINE_EVENT(ub_win, ub_win_attached,
	TP_PROTO(u32 self, u64 gva, u64 length, u64 generation),
	TP_ARGS(self, gva, length, generation));

DEFINE_EVENT(ub_win, ub_win_ended,
	TP_PROTO(u32 self, u64 gva, u64 length, u64 generation),
	TP_ARGS(self, gva, length, generation));

TRACE_EVENT(ub_revoke,
	TP_PROTO(u32 self, u64 gva, u64 length),
	TP_ARGS(self, gva, length),
	TP_STRUCT__entry(
		__field(u64, gva)
		__field(u64, length)
		__field(u32, self)
	),
	TP_fast_assign(
		__entry->gva = gva;
		__entry->length = length;
		__entry->self = self;
	),
	TP_printk("self=%u gva=%llx length=%llu",
		  __entry->self, __entry->gva, __entry->length)
);

#endif /* UB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

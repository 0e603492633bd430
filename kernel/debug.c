// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: ub/ubfab<N>/group/<slot>.<member>, all words of a group, to be read
 * during a hang. Root only.
 *
 * Invariants:
 *  - A file goes before its member does, and removing it waits for readers: so
 *    a reader needs no reference.
 *  - Readers take no lock that a barrier holds, and touch the shared memory as
 *    everybody does: between enter and exit. They only read, each word once.
 *  - debug_lock orders the removal of a fabric's folder and of a file in it;
 *    readers do not take it.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "debug.h"
#include "ub.h"

static struct dentry *debug_root;
static DEFINE_MUTEX(debug_lock);	/* of ub_fabric.debug, ub_gmember.debug */

static const char *driver_name(u64 driver)
{
	switch (driver) {
	case UB_DRIVER_NONE:
		return "-";
	case UB_DRIVER_KERNEL:
		return "kernel";
	case UB_DRIVER_USER:
		return "library";
	default:
		return "?";
	}
}

/* What the reader's kernel knows of the member, without a look at the words. */
static void show_own(struct seq_file *s, struct ub_gmember *gm)
{
	const struct ub_bar *b = &gm->bar;

	seq_printf(s, "group %llx in slot %u, generation %u, level '%s'\n",
		   gm->id, gm->slot, UB_SLOT_GEN(gm->word), gm->level);
	seq_printf(s, "this member: %u of %u, lane %u of node %u, process %d, handle %u\n",
		   b->me, b->g.n, gm->file->lane, gm->fabric->node,
		   pid_vnr(gm->file->owner), READ_ONCE(gm->handle));
	/* A library that drives the pages keeps its own count. */
	seq_printf(s, "by ioctl: epoch %llu, operation %u, round %u, %s; slept %llu times\n",
		   READ_ONCE(b->epoch), READ_ONCE(b->op), READ_ONCE(b->round),
		   READ_ONCE(gm->pending) ? "not awaited yet" : "awaited",
		   READ_ONCE(gm->stats.sleeps));
}

static void show_age(struct seq_file *s, struct ub_fabric *f,
		     const struct ub_slot_member *m)
{
	int home = ub_member_index(f, UB_WHO_NODE(m->who), m->node_inc);

	if (home < 0) {
		seq_puts(s, "   other life");
		return;
	}
	seq_printf(s, " %9llu ms",
		   div_u64(ub_member_age(f, home), NSEC_PER_MSEC));
}

static void show_member(struct seq_file *s, struct ub_gmember *gm, u32 i)
{
	const struct ub_member_line *line = &gm->bar.g.line[i];
	u64 arrival = ub_ld(&line->arrival);
	struct ub_slot_member m;

	seq_printf(s, "%c %6u", i == gm->bar.me ? '*' : ' ', i);
	if (ub_slots_member(&gm->fabric->slots, gm->slot, gm->word, i, &m)) {
		seq_printf(s, " %7u %5u", UB_WHO_NODE(m.who), UB_WHO_LANE(m.who));
		show_age(s, gm->fabric, &m);
	} else {
		seq_puts(s, "       -     -            -");
		m.who = 0;
	}
	seq_printf(s, " %19llu %-6s %-7s", UB_ARR_EPOCH(arrival),
		   ub_ld(&line->sleeping) ? "sleeps" : "-",
		   driver_name(ub_ld(&line->driver)));
	if (arrival & UB_ARR_FENCED)
		seq_printf(s, " fenced, reason %llu", ub_ld(&line->reason));
	seq_printf(s, "%s%s\n         even %016llx %016llx odd %016llx %016llx\n",
		   arrival & UB_ARR_SHRINKING ? " shrinks" : "",
		   m.who & UB_WHO_LEFT ? " left" : "",
		   ub_ld(&line->contrib[0].value), ub_ld(&line->contrib[0].aux),
		   ub_ld(&line->contrib[1].value), ub_ld(&line->contrib[1].aux));
}

static u64 newest_epoch(const struct ub_grp *g)
{
	u64 newest = 0;
	u32 i;

	for (i = 0; i < g->n; i++)
		newest = max(newest, UB_ARR_EPOCH(ub_ld(&g->line[i].arrival)));
	return newest;
}

static void show_summary(struct seq_file *s, struct ub_gmember *gm)
{
	const struct ub_grp *g = &gm->bar.g;
	u64 newest = newest_epoch(g), verdict = ub_ld(&g->head->verdict);
	u32 i, missing = 0;

	if (verdict)
		seq_printf(s, "verdict: member %u, reason %u\n",
			   UB_VERDICT_MEMBER(verdict), UB_VERDICT_REASON(verdict));
	else
		seq_puts(s, "verdict: none\n");
	seq_printf(s, "hint: somebody slept in epoch %llu\n", ub_ld(&g->head->hint));
	seq_printf(s, "not arrived at epoch %llu:", newest);
	for (i = 0; i < g->n; i++) {
		if (UB_ARR_EPOCH(ub_ld(&g->line[i].arrival)) >= newest)
			continue;
		seq_printf(s, " %u", i);
		missing++;
	}
	seq_puts(s, missing ? "\n" : " nobody, all have\n");
}

/* The four flags of a line: by parity of the epoch, then by half. */
static void show_line(struct seq_file *s, const struct ub_flag_line *line,
		      u32 member, u32 number)
{
	bool any = false;
	u32 i;

	for (i = 0; i < 4; i++) {
		const struct ub_flag *flag = &line->flag[i >> 1][i & 1];
		u64 aux = ub_ld(&flag->aux), full = ub_ld(&flag->full);

		if (!aux && !full)
			continue;
		if (!any)
			seq_printf(s, "%8u %4u:", member, number);
		any = true;
		seq_printf(s, " %s%u %llu %llx %llx", i >> 1 ? "odd" : "even", i & 1,
			   aux & UB_AUX_SEQ_MASK & ~UB_AUX_SEQ(0), aux, full);
	}
	if (any)
		seq_putc(s, '\n');
}

static void show_flags(struct seq_file *s, const struct ub_grp *g)
{
	u32 i, l;

	seq_puts(s, "\nflags that were set: of member, line: parity and half, epoch modulo 32768, aux, full\n");
	for (i = 0; i < g->n; i++) {
		for (l = 0; l < g->max_lines; l++)
			show_line(s, &g->flags[i * g->max_lines + l], i, l);
		cond_resched();
	}
}

static int group_show(struct seq_file *s, void *unused)
{
	struct ub_gmember *gm = s->private;
	struct ub_fabric *f = gm->fabric;
	u32 i;

	show_own(s, gm);
	/* Also while a test hook holds all calls. */
	if (ub_fabric_enter_now(f)) {
		seq_puts(s, "the node is fenced: its words are not looked at\n");
		return 0;
	}
	if (f->incarnation == gm->file->node_incarnation) {
		show_summary(s, gm);
		seq_printf(s, "\n  %6s %7s %5s %12s %19s %-6s %-7s state; contributions: value, aux\n",
			   "member", "node", "lane", "heartbeat", "epoch", "asleep",
			   "driver");
		for (i = 0; i < gm->bar.g.n; i++)
			show_member(s, gm, i);
		show_flags(s, &gm->bar.g);
	} else {
		seq_puts(s, "the node has joined again: this was in a former life\n");
	}
	ub_fabric_exit(f);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(group);

/**
 * ub_debug_group_add() - show a member of a group
 * @gm: the member; its place in the group is taken
 *
 * Context: may sleep; takes debug_lock.
 */
void ub_debug_group_add(struct ub_gmember *gm)
{
	char name[32];

	snprintf(name, sizeof(name), "%u.%u", gm->slot, gm->bar.me);
	mutex_lock(&debug_lock);
	if (gm->fabric->debug)
		gm->debug = debugfs_create_file(name, 0400, gm->fabric->debug_groups,
						gm, &group_fops);
	mutex_unlock(&debug_lock);
}

/**
 * ub_debug_group_del() - a member is about to leave: nobody looks at it any more
 * @gm: the member, shown or not
 *
 * Context: may sleep, until readers are done; the fabric is not entered.
 */
void ub_debug_group_del(struct ub_gmember *gm)
{
	mutex_lock(&debug_lock);
	if (gm->fabric->debug)
		debugfs_remove(gm->debug);
	gm->debug = NULL;
	mutex_unlock(&debug_lock);
}

/**
 * ub_debug_fabric_add() - a folder for a fabric
 * @f: the fabric; it has a name
 *
 * Context: may sleep; takes debug_lock.
 */
void ub_debug_fabric_add(struct ub_fabric *f)
{
	mutex_lock(&debug_lock);
	f->debug = debugfs_create_dir(dev_name(&f->dev), debug_root);
	f->debug_groups = debugfs_create_dir("group", f->debug);
	mutex_unlock(&debug_lock);
}

/**
 * ub_debug_fabric_del() - a fabric goes; members of its groups may stay
 * @f: the fabric
 *
 * Context: may sleep, until readers are done; the fabric is not entered.
 */
void ub_debug_fabric_del(struct ub_fabric *f)
{
	mutex_lock(&debug_lock);
	debugfs_remove(f->debug);
	f->debug = NULL;
	mutex_unlock(&debug_lock);
}

/**
 * ub_debug_init() - the folder of the module; without debugfs nothing is shown
 *
 * Context: module init.
 */
void __init ub_debug_init(void)
{
	debug_root = debugfs_create_dir("ub", NULL);
}

/**
 * ub_debug_exit() - undo ub_debug_init()
 *
 * Context: module exit.
 */
void ub_debug_exit(void)
{
	debugfs_remove(debug_root);
}

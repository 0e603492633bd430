// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows that this node could not bring bytes to.
 *
 * Invariants:
 *  - Such a window is dead on this node, in that generation, for ever: touches
 *    are SIGBUS, calls -EOWNERDEAD, for all its lanes.
 *  - Each lane that was attached tells each of its groups once, with its next
 *    arrival; which window it is stands in the group's head by then.
 */
#include <linux/mm.h>
#include "copied.h"
#include "trace.h"
#include "ub.h"

/**
 * ub_copied_dead() - could bytes not be brought to that window
 * @f: the fabric
 * @gva: of the window
 * @generation: of it
 *
 * Context: any.
 * Return: true when it is dead on this node.
 */
bool ub_copied_dead(struct ub_fabric *f, u64 gva, u64 generation)
{
	void *entry;

	if (!f->copied)
		return false;
	entry = xa_load(&f->copied->dead, gva >> 16);
	return entry && xa_to_value(entry) == (generation & LONG_MAX);
}

/* Mark a file's attachment; true when it has one. */
static bool mark(struct ub_file *file, const struct ub_place *at, u64 lost)
{
	struct ub_attachment *a;
	bool found;

	mutex_lock(&file->lock);
	a = ub_win_find(file, at->gva);
	found = a && a->at.generation == at->generation && !a->dead;
	if (found) {
		a->dead = true;
		a->lost = true;
		file->lost_number = lost;
		file->lost_gva = at->gva;
	}
	mutex_unlock(&file->lock);
	return found;
}

/**
 * ub_copied_end() - bytes could not be brought to a window
 * @c: the node's copies
 * @at: the window
 * @status: why
 *
 * Context: may sleep; ub_copied.flush is held.
 */
void ub_copied_end(struct ub_copied *c, const struct ub_place *at, int status)
{
	struct ub_fabric *f = c->fabric;
	struct ub_event ev = {
		.type = UB_EVENT_WINDOW_LOST,
		.node = ub_gva_node(at->gva),
		.incarnation = at->incarnation,
		.gva = at->gva,
		.value = at->length,
		.reason = status == -ESTALE ? UB_REASON_NONE : UB_REASON_LINK,
	};
	struct ub_file *file;

	lockdep_assert_held(&c->flush);
	if (status == -EOWNERDEAD && !ub_member_alive(f, at->home, at->incarnation))
		ev.reason = ub_member_reason(f, at->home, at->incarnation);
	if (ub_copied_dead(f, at->gva, at->generation))
		return;
	/* Without memory for it new attachments find out for themselves. */
	xa_store(&c->dead, at->gva >> 16,
		 xa_mk_value(at->generation & LONG_MAX), GFP_KERNEL);
	c->lost++;
	mutex_lock(&f->files_lock);
	list_for_each_entry(file, &f->files, fabric_node)
		if (mark(file, at, c->lost))
			ub_event_post(file, &ev);
	mutex_unlock(&f->files_lock);
	ub_count(f, windows_lost);
	ub_mmap_revoke(f, at->gva, at->length);
}

/**
 * ub_copied_tell() - what an arrival has to say of lost windows
 * @gm: the member; its driver is held
 *
 * The first member of an epoch to have lost one names it for all.
 *
 * Context: process, between enter and exit, before the arrival.
 * Return: UB_AUX_WINLOST or 0.
 */
u64 ub_copied_tell(struct ub_gmember *gm)
{
	struct ub_lost_window *w;
	struct ub_file *file = gm->file;
	u64 e = gm->bar.epoch + 1, gva, was;

	if (!gm->fabric->copied)
		return 0;
	mutex_lock(&file->lock);
	gva = file->lost_number > gm->lost_told ? file->lost_gva : 0;
	gm->lost_told = file->lost_number;
	mutex_unlock(&file->lock);
	if (!gva)
		return 0;
	w = &gm->bar.g.head->lost[e & 1];
	was = ub_ld(&w->epoch);
	if (was < e && ub_cas(&w->epoch, was, e) == was)
		ub_st(&w->gva, gva);
	return UB_AUX_WINLOST;
}

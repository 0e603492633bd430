// SPDX-License-Identifier: GPL-2.0-only
/*
 * loop: K nodes in one kernel, each with its own device, over pages of this
 * kernel. Everything but the bus is as between machines. A copied loop reaches
 * windows of other nodes by operations only, as if that memory were elsewhere.
 *
 * Invariants:
 *  - A bell is the node's place in its loop, plus one. All fabrics of a loop
 *    are allocated before the first is registered and freed after the last is
 *    unregistered, so a ring never meets a freed one.
 *  - An operation holds the home's win_lock from check to copy: a window does
 *    not end in between, and its memory is not given out again.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "loop.h"
#include "ub.h"

#define LOOP_NODES	64

static unsigned int loop_nodes;
module_param(loop_nodes, uint, 0444);
MODULE_PARM_DESC(loop_nodes, "make a loop fabric of that many nodes at load");

static unsigned int loop_mb = 64;
module_param(loop_mb, uint, 0444);
MODULE_PARM_DESC(loop_mb, "MiB of memory of the loop fabric");

static unsigned int loop_first;
module_param(loop_first, uint, 0444);
MODULE_PARM_DESC(loop_first, "id of its first node; others follow");

static bool loop_copied;
module_param(loop_copied, bool, 0444);
MODULE_PARM_DESC(loop_copied, "its windows are copied, as on fabrics without shared memory");

static unsigned int loop_ids[LOOP_NODES];
static unsigned int loop_nids;
module_param_array(loop_ids, uint, &loop_nids, 0444);
MODULE_PARM_DESC(loop_ids, "ids of its nodes, instead of loop_nodes and loop_first");

/**
 * struct ub_loop - a loop fabric
 * @list: in loops
 * @id: names it to ub_loop_del()
 * @mem: the memory
 * @bytes: of it
 * @n: nodes
 * @up: of them registered, the first ones
 * @ops: of all
 * @node: each
 */
struct ub_loop {
	struct list_head list;
	int id;
	void *mem;
	u64 bytes;
	u32 n;
	u32 up;
	const struct ub_transport_ops *ops;
	struct ub_loop_node {
		struct ub_loop *loop;
		u32 place;
		struct ub_fabric *fabric;
	} node[];
};

static LIST_HEAD(loops);
static DEFINE_MUTEX(loops_lock);
static int loop_next_id;

static unsigned long loop_pfn(struct ub_fabric *f, u64 offset)
{
	struct ub_loop_node *node = f->priv;

	return vmalloc_to_pfn(node->loop->mem + offset);
}

static void loop_ring(struct ub_fabric *f, u64 bell)
{
	struct ub_loop_node *node = f->priv;

	if (bell && bell <= node->loop->n)
		ub_fabric_bell(node->loop->node[bell - 1].fabric);
}

static u64 loop_bell(struct ub_fabric *f)
{
	struct ub_loop_node *node = f->priv;

	return node->place + 1;
}

static const struct ub_transport_ops loop_ops = {
	.name	= "loop",
	.pfn	= loop_pfn,
	.ring	= loop_ring,
	.bell	= loop_bell,
};

/* ---- operations of a copied loop ---- */

/* The home's side of an operation, on its memory. */
static int loop_home(struct ub_fabric *home, struct ub_io *io)
{
	void *mem = home->mem + io->at.offset + (io->gva - io->at.gva);
	u32 i;

	lockdep_assert_held(&home->win_lock);
	if (ub_ld(&ub_shm_win(home, home->self, io->at.window)->generation) !=
	    io->at.generation)
		return -ESTALE;
	switch (io->op) {
	case UB_IO_READ:
		for (i = 0; i < io->nruns; i++)
			memcpy(io->buf + io->run[i].off, mem + io->run[i].off,
			       io->run[i].len);
		return 0;
	case UB_IO_WRITE:
		for (i = 0; i < io->nruns; i++)
			memcpy(mem + io->run[i].off, io->buf + io->run[i].off,
			       io->run[i].len);
		return 0;
	default:
		return ub_xfer_word(&io->atomic, mem, &io->result);
	}
}

/* A node that is up, or one whose machine seems to be off. */
static struct ub_fabric *loop_find(struct ub_loop *l, const struct ub_place *at)
{
	u32 i;

	for (i = 0; i < l->n; i++) {
		struct ub_fabric *f = l->node[i].fabric;

		if (f && READ_ONCE(f->state) == UB_FABRIC_UP &&
		    f->self == at->home && f->incarnation == at->incarnation)
			return f;
	}
	return NULL;
}

static void loop_submit(struct ub_fabric *f, struct ub_io *io)
{
	struct ub_loop_node *node = f->priv;
	int err = ub_fabric_enter_now(f);

	if (!err) {
		struct ub_fabric *home = loop_find(node->loop, &io->at);

		if (!ub_member_alive(f, io->at.home, io->at.incarnation)) {
			err = -EOWNERDEAD;
		} else if (!home) {
			err = -EHOSTUNREACH;
		} else {
			mutex_lock(&home->win_lock);
			err = loop_home(home, io);
			mutex_unlock(&home->win_lock);
		}
		ub_fabric_exit(f);
	}
	ub_io_done(io, err);
}

static const struct ub_transport_ops loop_copied_ops = {
	.name	= "loop",
	.pfn	= loop_pfn,
	.ring	= loop_ring,
	.bell	= loop_bell,
	.submit	= loop_submit,
};

/* ---- life ---- */

static void loop_free(struct ub_loop *l)
{
	u32 i;

	while (l->up)
		ub_fabric_unregister(l->node[--l->up].fabric);
	for (i = 0; i < l->n; i++)
		if (l->node[i].fabric)
			ub_fabric_put(l->node[i].fabric);
	vfree(l->mem);
	kfree(l);
}

static int loop_start(struct ub_loop *l, const u32 *ids)
{
	u32 i;

	for (i = 0; i < l->n; i++) {
		struct ub_loop_node *node = &l->node[i];
		struct ub_fabric *f;

		node->loop = l;
		node->place = i;
		f = ub_fabric_alloc(l->ops, node, ids[i], THIS_MODULE);
		if (IS_ERR(f))
			return PTR_ERR(f);
		node->fabric = f;
	}
	for (; l->up < l->n; l->up++) {
		int err = ub_fabric_register(l->node[l->up].fabric, l->mem,
					     l->bytes, UB_MEMTYPE_WB);

		if (err)
			return err;
	}
	return 0;
}

/**
 * ub_loop_add() - make a loop fabric
 * @ids: node ids
 * @n: how many
 * @bytes: of memory
 * @copied: its windows are copied
 * @id: gets its id
 *
 * Context: may sleep.
 * Return: 0 or -errno.
 */
int ub_loop_add(const u32 *ids, u32 n, u64 bytes, bool copied, int *id)
{
	struct ub_loop *l;
	int err = -ENOMEM;

	if (!n || n > LOOP_NODES)
		return -EINVAL;
	bytes = PAGE_ALIGN(bytes);
	l = kzalloc(struct_size(l, node, n), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	l->id = -1;
	l->n = n;
	l->bytes = bytes;
	l->ops = copied ? &loop_copied_ops : &loop_ops;
	/* Who asks for too much is told; the log need not have a stack. */
	l->mem = __vmalloc(bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (l->mem)
		err = loop_start(l, ids);
	if (err) {
		loop_free(l);
		return err;
	}
	mutex_lock(&loops_lock);
	*id = loop_next_id++;
	WRITE_ONCE(l->id, *id);
	list_add_tail(&l->list, &loops);
	mutex_unlock(&loops_lock);
	return 0;
}

/**
 * ub_loop_del() - end a loop fabric; open files are dead but safe
 * @id: from ub_loop_add()
 *
 * Context: may sleep.
 * Return: 0 or -ENOENT.
 */
int ub_loop_del(int id)
{
	struct ub_loop *l, *found = NULL;

	mutex_lock(&loops_lock);
	list_for_each_entry(l, &loops, list)
		if (l->id == id)
			found = l;
	if (found)
		list_del(&found->list);
	mutex_unlock(&loops_lock);
	if (!found)
		return -ENOENT;
	loop_free(found);
	return 0;
}

/**
 * ub_loop_of() - which loop a fabric belongs to
 * @f: the fabric, registered
 *
 * Context: any.
 * Return: its id, or -1 when it is of another transport.
 */
int ub_loop_of(struct ub_fabric *f)
{
	const struct ub_loop_node *node = f->priv;

	return f->ops == &loop_ops || f->ops == &loop_copied_ops ?
	       READ_ONCE(node->loop->id) : -1;
}

/**
 * ub_loop_init() - make the loop fabric that the module parameters ask for
 *
 * Context: module init.
 * Return: 0 or -errno.
 */
int __init ub_loop_init(void)
{
	u32 i, n = loop_nids ?: loop_nodes;
	int id;

	if (!n)
		return 0;
	if (n > LOOP_NODES)
		return -EINVAL;
	for (i = 0; !loop_nids && i < n; i++)
		loop_ids[i] = loop_first + i;
	return ub_loop_add(loop_ids, n, (u64)loop_mb << 20,
			   loop_copied, &id);
}

/**
 * ub_loop_exit() - end all loop fabrics
 *
 * Context: module exit; no file is open.
 */
void ub_loop_exit(void)
{
	struct ub_loop *l, *next;

	list_for_each_entry_safe(l, next, &loops, list) {
		list_del(&l->list);
		loop_free(l);
	}
}

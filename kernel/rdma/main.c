// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdma: nodes that share no memory, over a verbs device with RC connections and
 * fast registration. Documentation/rdma.rst has how the core works over it.
 *
 * Invariants:
 *  - A fabric is in the list from when it is registered until somebody takes it
 *    out, who then ends it: the user, the device's removal, or unloading.
 *  - ub_rdmas_lock is held meanwhile, so a device stays while fabrics on it are
 *    made or ended.
 */
#include <crypto/blake2s.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "rdma.h"

#define MEM_BYTES	(64ULL << 20)

unsigned int ub_rdma_layout_skew;
module_param_named(layout_skew, ub_rdma_layout_skew, uint, 0444);
MODULE_PARM_DESC(layout_skew, "for tests: claim a layout version higher by that much");

/* A verbs device that may be used. */
struct rdma_dev {
	struct list_head list;
	struct ib_device *dev;
};

static LIST_HEAD(devices);
static LIST_HEAD(rdmas);
static DEFINE_MUTEX(ub_rdmas_lock);	/* of both */

static unsigned long rdma_pfn(struct ub_fabric *f, u64 offset)
{
	struct ub_rdma *r = f->priv;

	return vmalloc_to_pfn(r->mem + offset);
}

static int rdma_del(struct ub_fabric *f);

static const struct ub_transport_ops rdma_ops = {
	.name		= "rdma",
	.pfn		= rdma_pfn,
	.ring		= ub_rdma_ring,
	.bell		= ub_rdma_bell,
	.submit		= ub_rdma_submit,
	.cancel		= ub_rdma_cancel,
	.replica	= true,
	.tell_node	= ub_rdma_tell_node,
	.tell_window	= ub_rdma_tell_window,
	.attach		= ub_rdma_attach,
	.tell_group	= ub_rdma_tell_group,
	.cut		= ub_rdma_cut,
	.del		= rdma_del,
};

/* ---- a fabric ends ---- */

/* Undo what there is of rdma_make(), in the opposite order. */
static void rdma_free(struct ub_rdma *r)
{
	if (r->listener)
		rdma_destroy_id(r->listener);
	if (r->wq) {
		if (r->f->mem)
			ub_rdma_stop(r);
		wait_event(r->conns_wq, !atomic_read(&r->conns));	/* not shared */
		destroy_workqueue(r->wq);
	}
	if (r->pd)
		ib_dealloc_pd(r->pd);
	if (r->f)
		ub_fabric_put(r->f);
	vfree(r->mem);
	kvfree_sensitive(r, struct_size(r, peer, r->npeers));
}

static void rdma_end(struct ub_rdma *r)
{
	lockdep_assert_held(&ub_rdmas_lock);
	list_del(&r->list);
	ub_fabric_unregister(r->f);
	rdma_free(r);
}

static int rdma_del(struct ub_fabric *f)
{
	struct ub_rdma *r, *found = NULL;

	mutex_lock(&ub_rdmas_lock);
	list_for_each_entry(r, &rdmas, list)
		if (r->f == f)
			found = r;
	if (found)
		rdma_end(found);
	mutex_unlock(&ub_rdmas_lock);
	return found ? 0 : -ENOENT;
}

/* ---- a fabric begins ---- */

static struct ib_device *device_find(const char *name)
{
	struct rdma_dev *d;

	lockdep_assert_held(&ub_rdmas_lock);
	list_for_each_entry(d, &devices, list)
		if (!strcmp(dev_name(&d->dev->dev), name))
			return d->dev;
	return NULL;
}

static int device_check(struct ib_device *dev, struct netlink_ext_ack *extack)
{
	if (!dev) {
		NL_SET_ERR_MSG(extack, "dev: no such RDMA device; 'rdma link' lists them");
		return -ENODEV;
	}
	if (!rdma_cap_ib_cm(dev, rdma_start_port(dev)) ||
	    !(dev->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) ||
	    dev->attrs.max_fast_reg_page_list_len < UB_RDMA_CHUNK_PAGES) {
		NL_SET_ERR_MSG(extack,
			       "dev: it has no RC connections, or no fast registration of 2 MiB");
		return -EOPNOTSUPP;
	}
	return 0;
}

static int conf_check(const struct ub_fabric_conf *conf, u64 bytes,
		      struct netlink_ext_ack *extack)
{
	struct ub_shm_geo geo;

	if (!conf->npeers) {
		NL_SET_ERR_MSG(extack, "peer: at least one is needed");
		return -EINVAL;
	}
	if (bytes >> PAGE_SHIFT > totalram_pages() / 2) {
		NL_SET_ERR_MSG(extack, "bytes: more than half of this machine's memory");
		return -ENOMEM;
	}
	if (ub_shm_geometry(bytes, &geo)) {
		NL_SET_ERR_MSG(extack, "bytes: too little memory for a fabric");
		return -EINVAL;
	}
	if (conf->npeers >= geo.max_nodes) {
		NL_SET_ERR_MSG(extack, "peer: more nodes than so many bytes hold; give more bytes");
		return -E2BIG;
	}
	return 0;
}

/* What nodes must agree on follows from the fabric's name. */
static void name_hash(const char *name, const char *what, u64 out[2])
{
	u8 text[64] = { };

	strscpy(text, name, sizeof(text));
	ub_blake2s((const u8 *)what, strlen(what), text, sizeof(text),
		   (u8 *)out, 2 * sizeof(u64));
	out[0] |= 1;
	out[1] |= 1;
	memzero_explicit(text, sizeof(text));
}

/*
 * A header that has its words already keeps them: all replicas have the same. An
 * incarnation is the time of day: a peer takes no life that began before one it
 * has seen.
 */
static void header_prepare(struct ub_rdma *r)
{
	struct ub_shm_header *h = r->mem;
	u32 i;

	for (i = 0; i < 2; i++) {
		ub_st(&h->fabric[i], r->fabric[i]);
		ub_st(&h->key[i], r->key[i]);
	}
	r->f->incarnation = ktime_to_ms(ktime_get_real());
}

static int rdma_make(struct ub_rdma *r, const struct ub_fabric_conf *conf,
		     struct netlink_ext_ack *extack)
{
	int err;

	r->f = ub_fabric_alloc(&rdma_ops, r, conf->node, THIS_MODULE);
	if (IS_ERR(r->f)) {
		err = PTR_ERR(r->f);
		r->f = NULL;
		return err;
	}
	r->mem = __vmalloc(r->bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!r->mem)
		return -ENOMEM;
	header_prepare(r);
	r->pd = ib_alloc_pd(r->dev, 0);
	if (IS_ERR(r->pd)) {
		err = PTR_ERR(r->pd);
		r->pd = NULL;
		return err;
	}
	r->wq = alloc_workqueue("ub_rdma", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!r->wq)
		return -ENOMEM;
	err = ub_rdma_listen(r, extack);
	if (err)
		return err;
	return ub_fabric_register(r->f, r->mem, r->bytes, UB_MEMTYPE_WB);
}

static int rdma_add_on(struct ib_device *dev, const struct ub_fabric_conf *conf,
		       u64 bytes, struct netlink_ext_ack *extack)
{
	struct ub_rdma *r = kvzalloc(struct_size(r, peer, conf->npeers), GFP_KERNEL);
	const char *name = conf->name[0] ? conf->name : "ub";
	u32 i;
	int err;

	if (!r)
		return -ENOMEM;
	r->dev = dev;
	r->bytes = bytes;
	r->port = conf->port ?: UB_RDMA_PORT;
	name_hash(name, "ub fabric id", r->fabric);
	name_hash(name, "ub fabric key", r->key);
	mutex_init(&r->export_mutex);
	spin_lock_init(&r->export_lock);
	spin_lock_init(&r->tell_lock);
	xa_init_flags(&r->exports, XA_FLAGS_LOCK_BH);
	init_waitqueue_head(&r->conns_wq);
	r->npeers = conf->npeers;
	for (i = 0; i < conf->npeers; i++)
		ub_rdma_peer_init(r, i, &conf->peer[i]);
	err = rdma_make(r, conf, extack);
	if (err) {
		rdma_free(r);
		return err;
	}
	list_add_tail(&r->list, &rdmas);
	return r->f->minor;
}

static int rdma_add(const struct ub_fabric_conf *conf, struct netlink_ext_ack *extack)
{
	u64 bytes = conf->bytes ? PAGE_ALIGN(conf->bytes) : MEM_BYTES;
	struct ib_device *dev;
	int err;

	mutex_lock(&ub_rdmas_lock);
	dev = device_find(conf->dev);
	err = device_check(dev, extack);
	if (!err)
		err = conf_check(conf, bytes, extack);
	if (!err)
		err = rdma_add_on(dev, conf, bytes, extack);
	mutex_unlock(&ub_rdmas_lock);
	return err;
}

static struct ub_transport rdma_transport = {
	.name	= "rdma",
	.owner	= THIS_MODULE,
	.add	= rdma_add,
};

/* ---- devices ---- */

static int device_added(struct ib_device *dev)
{
	struct rdma_dev *d = kmalloc(sizeof(*d), GFP_KERNEL);

	if (!d)
		return -ENOMEM;
	d->dev = dev;
	mutex_lock(&ub_rdmas_lock);
	list_add_tail(&d->list, &devices);
	mutex_unlock(&ub_rdmas_lock);
	return 0;
}

static void device_removed(struct ib_device *dev, void *data)
{
	struct rdma_dev *d, *next_d;
	struct ub_rdma *r, *next;

	mutex_lock(&ub_rdmas_lock);
	list_for_each_entry_safe(r, next, &rdmas, list)
		if (r->dev == dev)
			rdma_end(r);
	list_for_each_entry_safe(d, next_d, &devices, list) {
		if (d->dev != dev)
			continue;
		list_del(&d->list);
		kfree(d);
	}
	mutex_unlock(&ub_rdmas_lock);
}

static struct ib_client rdma_client = {
	.name	= "ub_rdma",
	.add	= device_added,
	.remove	= device_removed,
};

static int __init rdma_init(void)
{
	int err = ib_register_client(&rdma_client);

	if (!err)
		ub_transport_register(&rdma_transport);
	return err;
}

static void __exit rdma_exit(void)
{
	ub_transport_unregister(&rdma_transport);
	/* Takes all devices away, and so all fabrics. */
	ib_unregister_client(&rdma_client);
}

module_init(rdma_init);
module_exit(rdma_exit);
MODULE_DESCRIPTION("ub transport: nodes without common memory, over RDMA");
MODULE_ALIAS("ub-transport-rdma");
MODULE_LICENSE("GPL");

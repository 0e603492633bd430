// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transports whose fabrics are added by users: found by name.
 *
 * Invariant: who got one counts its module, so it stays until it is put.
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include "transport.h"

static LIST_HEAD(transports);
static DEFINE_MUTEX(transports_lock);	/* of the list */

/**
 * ub_transport_register() - let users add fabrics of a transport
 * @t: the transport, filled in
 *
 * Context: process.
 */
void ub_transport_register(struct ub_transport *t)
{
	mutex_lock(&transports_lock);
	list_add_tail(&t->list, &transports);
	mutex_unlock(&transports_lock);
}
EXPORT_SYMBOL_GPL(ub_transport_register);

/**
 * ub_transport_unregister() - undo ub_transport_register()
 * @t: the transport; fabrics that it has are its own matter
 *
 * Context: process.
 */
void ub_transport_unregister(struct ub_transport *t)
{
	mutex_lock(&transports_lock);
	list_del(&t->list);
	mutex_unlock(&transports_lock);
}
EXPORT_SYMBOL_GPL(ub_transport_unregister);

static struct ub_transport *find(const char *name)
{
	struct ub_transport *t, *found = NULL;

	mutex_lock(&transports_lock);
	list_for_each_entry(t, &transports, list)
		if (!strcmp(t->name, name) && try_module_get(t->owner))
			found = t;
	mutex_unlock(&transports_lock);
	return found;
}

/**
 * ub_transport_get() - find a transport, loading its module if need be
 * @name: of it, from the user
 *
 * Context: process.
 * Return: the transport, counted, or NULL.
 */
struct ub_transport *ub_transport_get(const char *name)
{
	struct ub_transport *t = find(name);

	if (t)
		return t;
	request_module("ub-transport-%s", name);
	return find(name);
}

/**
 * ub_transport_put() - give back what ub_transport_get() returned
 * @t: the transport
 *
 * Context: any.
 */
void ub_transport_put(struct ub_transport *t)
{
	module_put(t->owner);
}

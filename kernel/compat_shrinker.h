/* SPDX-License-Identifier: GPL-2.0-only */
/* A shrinker with data of its own; since 6.7 they are allocated: c42d50aefd17. */
#ifndef UB_COMPAT_SHRINKER_H
#define UB_COMPAT_SHRINKER_H

#include <linux/shrinker.h>
#include <linux/slab.h>

typedef unsigned long (*ub_shrink_fn)(struct shrinker *s,
				      struct shrink_control *sc);

#ifdef UB_HAVE_SHRINKER_ALLOC

static inline void *ub_shrinker_data(struct shrinker *s)
{
	return s->private_data;
}

static inline struct shrinker *ub_shrinker_new(void *data, ub_shrink_fn count,
					       ub_shrink_fn scan, const char *name)
{
	struct shrinker *s = shrinker_alloc(0, "%s", name);

	if (!s)
		return NULL;
	s->count_objects = count;
	s->scan_objects = scan;
	s->private_data = data;
	shrinker_register(s);
	return s;
}

static inline void ub_shrinker_free(struct shrinker *s)
{
	shrinker_free(s);
}

#else

struct ub_shrinker {
	struct shrinker s;
	void *data;
};

static inline void *ub_shrinker_data(struct shrinker *s)
{
	return container_of(s, struct ub_shrinker, s)->data;
}

static inline struct shrinker *ub_shrinker_new(void *data, ub_shrink_fn count,
					       ub_shrink_fn scan, const char *name)
{
	struct ub_shrinker *u = kzalloc(sizeof(*u), GFP_KERNEL);

	if (!u)
		return NULL;
	u->s.count_objects = count;
	u->s.scan_objects = scan;
	u->s.seeks = DEFAULT_SEEKS;
	u->data = data;
	if (register_shrinker(&u->s, "%s", name)) {
		kfree(u);
		return NULL;
	}
	return &u->s;
}

static inline void ub_shrinker_free(struct shrinker *s)
{
	struct ub_shrinker *u = container_of(s, struct ub_shrinker, s);

	unregister_shrinker(s);
	kfree(u);
}

#endif

#endif /* UB_COMPAT_SHRINKER_H */

# SPDX-License-Identifier: GPL-2.0-only
# What the kernel's headers have, found by looking at them: distributions
# backport, so the version says little. Shims are in compat.h.
ub-has = $(shell grep -qs '$(2)' $(srctree)/include/$(1) && echo -D$(3))

ub-compat-y := $(call ub-has,linux/mm.h,void vm_flags_set,UB_HAVE_VM_FLAGS_SET)
ub-compat-y += $(call ub-has,linux/mm.h,int follow_pfnmap_start,UB_HAVE_FOLLOW_PFNMAP)
ub-compat-y += $(call ub-has,linux/device/class.h,devnode.*const struct device,UB_HAVE_CONST_DEVNODE)
ub-compat-y += $(call ub-has,net/genetlink.h,genl_info_dump,UB_HAVE_GENL_INFO_DUMP)
ub-compat-y += $(call ub-has,crypto/blake2s.h,void blake2s.const u8 \*key,UB_HAVE_BLAKE2S_KEY_FIRST)
ub-compat-y += $(call ub-has,net/genetlink.h,struct genl_split_ops {,UB_HAVE_GENL_SPLIT_OPS)
ub-compat-y += $(call ub-has,net/netlink.h,const struct netlink_range_validation .range;,UB_HAVE_CONST_NLA_RANGE)
ub-compat-y += $(call ub-has,linux/shrinker.h,struct shrinker .shrinker_alloc,UB_HAVE_SHRINKER_ALLOC)

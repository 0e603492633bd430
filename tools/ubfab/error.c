// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel says when something is wrong: its text, and which word. */
#include <errno.h>
#include <string.h>

#include "ub_names.h"
#include "ubfab.h"

/* Name of the attribute at @offset of the request, or NULL. */
static const char *attr_at(const struct nlmsghdr *request, uint32_t offset)
{
	const struct nlattr *a;

	if (request->nlmsg_len < sizeof(*a) ||
	    offset > request->nlmsg_len - sizeof(*a))
		return NULL;
	a = (const void *)((const char *)request + offset);
	return ub_attr_name(nla_type(a));
}

/* Does the kernel's own text begin with the name? */
static bool names(const char *text, const char *attr)
{
	size_t n = strlen(attr);

	return !strncmp(text, attr, n) && text[n] == ':';
}

void tell_error(const char *about, int err, void *tlv, int len,
		const struct nlmsghdr *request)
{
	struct nlattr *a[EXTACK_MAX + 1] = { NULL };
	const char *attr = NULL, *text = NULL;

	if (len > 0 && nla_parse(a, EXTACK_MAX, tlv, len, NULL))
		memset(a, 0, sizeof(a));
	if (a[NLMSGERR_ATTR_MSG])
		text = nla_get_string(a[NLMSGERR_ATTR_MSG]);
	if (a[NLMSGERR_ATTR_OFFS] && request)
		attr = attr_at(request, nla_get_u32(a[NLMSGERR_ATTR_OFFS]));
	if (a[NLMSGERR_ATTR_MISS_TYPE] && !text) {
		attr = ub_attr_name(nla_get_u32(a[NLMSGERR_ATTR_MISS_TYPE]));
		text = "is missing";
	}
	if (err == -EPERM && !text)
		text = "needs CAP_NET_ADMIN";
	if (attr && (!strcmp(attr, "unknown") || (text && names(text, attr))))
		attr = NULL;
	say("%s: %s%s%s%s%s%s", about, attr ?: "", attr ? ": " : "",
	    text ?: strerror(-err), text ? " (" : "", text ? strerror(-err) : "",
	    text ? ")" : "");
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the initramfs: PID 1 and the modules between a bare kernel and its
 * root by 9p, in the "newc" form of cpio. See kernel.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel.h"
#include "util.h"

/* In the order of need; what they depend on comes from modules.dep. */
static const char *const wanted[] = {
	"virtio_pci", "virtio_console", "qemu_fw_cfg", "9pnet_virtio", "9p",
	"overlay", NULL,
};

struct archive {
	struct buf out;
	struct buf list;	/* paths in the archive, a line each */
	int inode;
};

static void add_entry(struct archive *a, const char *name, unsigned int mode,
		      const void *data, size_t len)
{
	static const char zero[4];

	buf_printf(&a->out,
		   "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X",
		   ++a->inode, mode, 0, 0, 1, 0, len, 0, 0, 0, 0,
		   strlen(name) + 1, 0);
	buf_str(&a->out, name);
	buf_add(&a->out, zero, -a->out.len & 3);
	buf_add(&a->out, data, len);
	buf_add(&a->out, zero, -a->out.len & 3);
}

static void add_module(struct archive *a, const char *dir, const char *path)
{
	char *file, *name, *data;
	size_t len;

	name = xasprintf("/m/%s", strrchr(path, '/') ? strrchr(path, '/') + 1 :
						       path);
	buf_add(&a->list, "", 1);
	if (!strstr(a->list.data, name)) {
		a->list.len--;
		file = xasprintf("%s/%s", dir, path);
		data = read_whole_file(file, &len);
		if (!data)
			die("cannot read module '%s': %s", file, strerror(errno));
		add_entry(a, name + 1, 0100644, data, len);
		buf_printf(&a->list, "%s\n", name);
		free(data);
		free(file);
	} else {
		a->list.len--;
	}
	free(name);
}

struct needed {
	struct archive *archive;
	const char *dir;
};

static void add_needed(void *arg, const char *path)
{
	struct needed *n = arg;

	add_module(n->archive, n->dir, path);
}

int initramfs_make(const struct guest_kernel *k, bool probe)
{
	struct archive a = { 0 };
	struct needed needed = { &a, k->modules };
	char *init, *data;
	size_t len;
	int fd;

	init = beside_binary("ubrig-init", NULL);
	data = read_whole_file(init, &len);
	if (!data)
		die("cannot read '%s': %s; build it with make", init,
		    strerror(errno));
	add_entry(&a, "init", 0100755, data, len);
	add_entry(&a, "dev", 040755, NULL, 0);
	add_entry(&a, "dev/console", 020600, NULL, 0);
	add_entry(&a, "m", 040755, NULL, 0);
	if (probe)
		add_entry(&a, "probe", 0100644, NULL, 0);
	else if (k->modules)
		moddep(k->modules, wanted, add_needed, &needed);
	add_entry(&a, "modules.list", 0100644, a.list.data, a.list.len);
	add_entry(&a, "TRAILER!!!", 0, NULL, 0);
	fd = memfd_of("ubrig-initrd", a.out.data, a.out.len);
	buf_free(&a.out);
	buf_free(&a.list);
	free(data);
	free(init);
	return fd;
}

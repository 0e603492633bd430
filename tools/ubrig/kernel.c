// SPDX-License-Identifier: GPL-2.0-only
/* Finds the kernel that guests boot, and our own files; see kernel.h. */
#include <elf.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel.h"
#include "util.h"

/* What goes to a shell unquoted. */
#define VERSION_CHARS \
	"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-_~"
#define XEN_ELFNOTE_PHYS32_ENTRY 18

static char *binary_dir(void)
{
	char path[PATH_MAX];
	ssize_t n;

	n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (n < 0)
		die("cannot read /proc/self/exe: %s", strerror(errno));
	path[n] = '\0';
	*strrchr(path, '/') = '\0';
	return xstrdup(path);
}

/*
 * A file of ours: beside the binary, in libexec of an installation, or
 * (@in_source) in the source tree two folders above build/tools.
 */
char *beside_binary(const char *name, const char *in_source)
{
	char *dir = binary_dir(), *path;
	const char *const where[] = { "", "../libexec/ub/", "../lib/ub/" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(where); i++) {
		path = xasprintf("%s/%s%s", dir, where[i], name);
		if (!access(path, R_OK))
			goto out;
		free(path);
	}
	path = xasprintf("%s/../../%s", dir, in_source ? in_source : name);
out:
	free(dir);
	return path;
}

static char *first_match(const char *dir, const char *pattern)
{
	char *full = xasprintf("%s/%s", dir, pattern), *found = NULL;
	glob_t g;

	if (!glob(full, 0, NULL, &g))
		found = xstrdup(g.gl_pathv[g.gl_pathc - 1]);
	globfree(&g);
	free(full);
	return found;
}

static bool notes_have_pvh(const char *pos, const char *end)
{
	Elf64_Nhdr n;
	size_t step;

	while (end - pos >= (ptrdiff_t)sizeof(n)) {
		memcpy(&n, pos, sizeof(n));
		step = sizeof(n) + ((n.n_namesz + 3) & ~3UL) +
		       ((n.n_descsz + 3) & ~3UL);
		if (step > (size_t)(end - pos))
			break;
		if (n.n_type == XEN_ELFNOTE_PHYS32_ENTRY && n.n_namesz == 4 &&
		    !memcmp(pos + sizeof(n), "Xen", 4))
			return true;
		pos += step;
	}
	return false;
}

/* QEMU boots an ELF kernel only if it says where its PVH entry is. */
static bool has_pvh(const char *path)
{
	Elf64_Phdr p[16];
	Elf64_Ehdr e;
	bool found = false;
	char *notes;
	FILE *f;
	int i;

	f = fopen(path, "re");
	if (!f)
		return false;
	if (fread(&e, sizeof(e), 1, f) != 1 ||
	    memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_phnum > ARRAY_SIZE(p) ||
	    fseek(f, e.e_phoff, SEEK_SET) ||
	    fread(p, sizeof(p[0]), e.e_phnum, f) != e.e_phnum)
		e.e_phnum = 0;
	for (i = 0; i < e.e_phnum && !found; i++) {
		if (p[i].p_type != PT_NOTE || p[i].p_filesz > 1 << 20)
			continue;
		notes = xcalloc(1, p[i].p_filesz + 1);
		if (!fseek(f, p[i].p_offset, SEEK_SET) &&
		    fread(notes, 1, p[i].p_filesz, f) == p[i].p_filesz)
			found = notes_have_pvh(notes, notes + p[i].p_filesz);
		free(notes);
	}
	fclose(f);
	return found;
}

char *kernel_fetch(const char *version)
{
	char *script, *cmd, line[PATH_MAX] = "";
	FILE *f;
	int status;

	script = beside_binary("fetch-kernel", "tools/ubrig/fetch-kernel");
	if (access(script, X_OK))
		die("cannot find fetch-kernel (looked for '%s'): use --kernel-dir",
		    script);
	if (version && strspn(version, VERSION_CHARS) != strlen(version))
		die("'%s' is no version of a kernel", version);
	cmd = xasprintf("'%s' %s", script, version ? version : "");
	f = popen(cmd, "re");
	if (!f)
		die("cannot run '%s': %s", script, strerror(errno));
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	status = pclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (status || !line[0])
		die("no guest kernel: '%s' failed; use --kernel-dir", cmd);
	free(cmd);
	free(script);
	return xstrdup(line);
}

/*
 * The folder of ub.ko for the kernel in @dir: what build-modules made, or the
 * source tree's own, for the installed headers.
 */
char *kernel_our_modules(const char *dir)
{
	const char *name = strrchr(dir, '/') + 1;
	char *source = xasprintf("build/%s/kernel", name);
	char *path = beside_binary(name, source);

	free(source);
	if (access(path, R_OK)) {
		free(path);
		path = beside_binary("kernel", "kernel");
	}
	return path;
}

void kernel_find(struct guest_kernel *k, const char *dir)
{
	static const char *const images[] = {
		"vmlinuz", "bzImage", "arch/x86/boot/bzImage", "boot/vmlinuz-*",
		"vmlinuz-*",
	};
	size_t i;

	k->image = first_match(dir, "vmlinux");
	if (k->image && !has_pvh(k->image)) {
		free(k->image);
		k->image = NULL;
	}
	for (i = 0; i < ARRAY_SIZE(images) && !k->image; i++)
		k->image = first_match(dir, images[i]);
	if (!k->image)
		die("no kernel in '%s': put vmlinuz or bzImage there, and lib/modules/RELEASE",
		    dir);
	k->modules = first_match(dir, "lib/modules/*");
}

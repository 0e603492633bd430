// SPDX-License-Identifier: GPL-2.0-only
/* The control socket of a standing rig; see control.h. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "util.h"

static socklen_t address(struct sockaddr_un *a, const char *name)
{
	int n;

	a->sun_family = AF_UNIX;
	a->sun_path[0] = '\0';
	n = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "ubrig/%u/%s",
		     geteuid(), name);
	return offsetof(struct sockaddr_un, sun_path) + 1 + n;
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

bool control_trusted(int fd)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) &&
	       (c.uid == geteuid() || !c.uid);
}

int control_listen(const char *name)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name);
	int fd = open_socket();

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) || listen(fd, 16)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int control_connect(const char *name)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, name);
	int fd = open_socket();

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&a, len)) {
		close(fd);
		return -1;
	}
	if (!control_trusted(fd)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

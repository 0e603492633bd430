// SPDX-License-Identifier: GPL-2.0-only
/*
 * "ubrig up": starts the standing rig in the background, and waits until it
 * is ready or has failed.
 *
 * Invariant: until it is ready the rig ends with this process (Ctrl-C); from
 * then on it is on its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "control.h"
#include "verbs.h"

int up_verb(struct opts *o)
{
	int listener, ready[2];
	pid_t parent = getpid(), pid;
	unsigned char code;

	listener = control_listen(o->name);
	if (listener < 0 && errno == EADDRINUSE)
		die("a rig named '%s' is up already: end it with 'ubrig down --name %s', or take another --name",
		    o->name, o->name);
	if (listener < 0)
		die("cannot make the control socket: %s", strerror(errno));
	if (pipe2(ready, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		close(ready[0]);
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			exit(EXIT_RIG);
		daemon_serve(o, listener, ready[1]);
		exit(0);
	}
	close(listener);
	close(ready[1]);
	if (read(ready[0], &code, 1) != 1)
		return EXIT_RIG;
	return code;
}

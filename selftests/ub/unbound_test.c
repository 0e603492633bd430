// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device is unbound from its driver while a process is in each state
 * (lives.h). Unbinding waits for nobody; every call ends, every file can be
 * closed, and bound again the node works. One node of a rig.
 */
#include "lives.h"

#define DRIVER	"/sys/bus/pci/drivers/ub_ivshmem"
#define DEVICE	"0000:00:10.0"

FIXTURE(unbound) {
	struct life *l;
	struct member m[2];
};

FIXTURE_SETUP(unbound)
{
	ASSERT_EQ(access(DRIVER "/" DEVICE, F_OK), 0);
	self->l = shared_page();
}

FIXTURE_TEARDOWN(unbound)
{
}

/* Three lanes of one node; the driver lets go of the BAR under all of them. */
TEST_F_TIMEOUT(unbound, in_each_state, 300)
{
	struct life *l = self->l;
	struct member *m = self->m;
	struct ub_win_create w;
	__u64 start, end;
	int state, fd;
	pid_t pid;

	for (state = 0; state < COUNT(states); state++) {
		pid = begin(l, m, state, -1);
		EXPECT_GT(pid, 0);
		sleep_ms(15);
		start = now();
		EXPECT_EQ(put_text(DRIVER "/unbind", DEVICE), 0);
		EXPECT_LT(now() - start, GONE_MS * MS);
		EXPECT_EQ(win_create(m[0].fd, UNIT, RW, &w), -ESHUTDOWN);
		if (states[state].run == in_idle || states[state].run == is_lost)
			set_word(&l->stop);
		EXPECT_TRUE(gone(pid, GONE_MS))
			TH_LOG("the process hangs in state %s", states[state].name);
		kill(pid, SIGKILL);
		/* Open files keep the device's number. */
		world_close(m, 2);
		ASSERT_EQ(put_text(DRIVER "/bind", DEVICE), 0);
		for (end = in_ms(20000); (fd = open_node(0)) < 0 && now() < end; )
			sleep_ms(5);
		ASSERT_GE(fd, 0);
		close(fd);
	}
}

TEST_HARNESS_MAIN

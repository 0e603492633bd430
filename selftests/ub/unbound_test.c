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

static int driver_goes(void *ctx)
{
	return put_text(DRIVER "/unbind", DEVICE);
}

/* Three lanes of one node; the driver lets go of the BAR under all of them. */
TEST_F_TIMEOUT(unbound, in_each_state, 300)
{
	const char *wrong;
	int state, fd;
	__u64 end;

	for (state = 0; state < COUNT(states); state++) {
		/* Open files keep the device's number; none is open after this. */
		wrong = while_in(self->l, self->m, state, driver_goes, NULL);
		EXPECT_EQ(wrong, NULL)
			TH_LOG("in state %s: %s", states[state].name, wrong);
		ASSERT_EQ(put_text(DRIVER "/bind", DEVICE), 0);
		for (end = in_ms(20000); (fd = open_node(0)) < 0 && now() < end; )
			sleep_ms(5);
		ASSERT_GE(fd, 0);
		close(fd);
	}
}

TEST_HARNESS_MAIN

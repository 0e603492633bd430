// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: the dump of a group, what it says during a hang, who may read it, and
 * readers beside groups and fabrics that come and go.
 */
#include <dirent.h>
#include <grp.h>
#include <sys/mount.h>
#include "nl.h"
#include "util.h"

#define DEBUG	"/sys/kernel/debug"
#define DUMP	65536

FIXTURE(debug) {
	struct member m[3];
	char *text;
};

FIXTURE_SETUP(debug)
{
	if (access(DEBUG "/ub", F_OK))
		mount("none", DEBUG, "debugfs", 0, NULL);
	if (access(DEBUG "/ub", F_OK))
		SKIP(return, "no " DEBUG "/ub");
	ASSERT_EQ(heal(), 0);
	self->text = malloc(DUMP);
	ASSERT_NE(self->text, NULL);
	ASSERT_EQ(world_open(self->m, 3, 2), 0);
}

FIXTURE_TEARDOWN(debug)
{
	world_close(self->m, 3);
	free(self->text);
	heal();
}

static int read_file(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, all = 0;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, text + all, DUMP - 1 - all)) > 0)
		all += n;
	close(fd);
	text[all] = 0;
	return n < 0 ? -errno : 0;
}

/* The dump of a member that lives on a node: the only group there is. */
static int read_member(int node, int member, char *text)
{
	char path[300] = "", suffix[16];
	struct dirent *e;
	int err = -ENOENT;
	DIR *dir;

	snprintf(suffix, sizeof(suffix), ".%d", member);
	snprintf(path, sizeof(path), DEBUG "/ub/ubfab%d/group", node);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		char *dot = strchr(e->d_name + 1, '.');

		if (!dot || strcmp(dot, suffix))
			continue;
		snprintf(path, sizeof(path), DEBUG "/ub/ubfab%d/group/%.32s", node,
			 e->d_name);
		err = read_file(path, text);
	}
	if (dir)
		closedir(dir);
	return err;
}

/* Until a dump has a text: true when it came to have it. */
static bool comes_to_say(int node, int member, char *text, const char *what)
{
	__u64 end = in_ms(10000);

	do {
		if (!read_member(node, member, text) && strstr(text, what))
			return true;
		sleep_ms(10);
	} while (now() < end);
	return false;
}

TEST_F(debug, who_is_missing_and_who_sleeps)
{
	char epoch[64];
	int i;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(members_run(self->m, 3, step_barrier), 0);
	ASSERT_EQ(read_member(0, 0, self->text), 0);
	EXPECT_NE(strstr(self->text, "verdict: none"), NULL);
	EXPECT_NE(strstr(self->text, "nobody, all have"), NULL);
	EXPECT_NE(strstr(self->text, "level 'world'"), NULL);
	/* Members 0 and 1 wait for 2. */
	member_start(&self->m[0], step_barrier);
	member_start(&self->m[1], step_barrier);
	snprintf(epoch, sizeof(epoch), "not arrived at epoch %llu: 2\n",
		 (unsigned long long)self->m[2].bar.out_epoch + 1);
	EXPECT_TRUE(comes_to_say(0, 0, self->text, epoch)) TH_LOG("%s", self->text);
	EXPECT_TRUE(comes_to_say(1, 1, self->text, "sleeps kernel"))
		TH_LOG("%s", self->text);
	EXPECT_NE(strstr(self->text, epoch), NULL);
	ASSERT_EQ(step_barrier(&self->m[2]), 0);
	ASSERT_EQ(member_join(&self->m[0]), 0);
	ASSERT_EQ(member_join(&self->m[1]), 0);
	/* Member 2 goes: a verdict. */
	close(self->m[2].fd);
	self->m[2].fd = -1;
	EXPECT_EQ(step_barrier(&self->m[0]), -EOWNERDEAD);
	EXPECT_TRUE(comes_to_say(0, 0, self->text, "verdict: member 2, reason "))
		TH_LOG("%s", self->text);
	EXPECT_NE(strstr(self->text, "fenced, reason "), NULL);
	EXPECT_EQ(read_member(0, 2, self->text), -ENOENT);
}

TEST_F(debug, a_node_that_is_gone_is_not_looked_at)
{
	ASSERT_EQ(test_op(self->m[1].fd, UB_TEST_KILL, 0, 0, NULL), 0);
	ASSERT_EQ(read_member(1, 1, self->text), 0);
	EXPECT_NE(strstr(self->text, "fenced: its words are not looked at"), NULL)
		TH_LOG("%s", self->text);
	ASSERT_EQ(test_op(self->m[1].fd, UB_TEST_REJOIN, 0, 0, NULL), 0);
	ASSERT_EQ(read_member(1, 1, self->text), 0);
	EXPECT_NE(strstr(self->text, "former life"), NULL) TH_LOG("%s", self->text);
}

/* Also while calls stand still: that is what it is for. */
TEST_F(debug, while_all_calls_are_held)
{
	ASSERT_EQ(test_op(self->m[0].fd, UB_TEST_PAUSE, 0, 0, NULL), 0);
	EXPECT_EQ(read_member(0, 0, self->text), 0);
	EXPECT_NE(strstr(self->text, "verdict: none"), NULL);
	ASSERT_EQ(test_op(self->m[0].fd, UB_TEST_RESUME, 0, 0, NULL), 0);
}

static int as_nobody(void *ctx)
{
	if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
		return 10;
	/* Neither the folder of debugfs nor the file itself. */
	return read_file(ctx, malloc(DUMP)) == -EACCES ? 0 : 1;
}

TEST_F(debug, root_only)
{
	char path[300] = DEBUG "/ub/ubfab0/group/";
	struct dirent *e;
	struct stat st;
	DIR *dir = opendir(path);

	ASSERT_NE(dir, NULL);
	while ((e = readdir(dir)) && e->d_name[0] == '.')
		;
	ASSERT_NE(e, NULL);
	strcat(path, e->d_name);
	closedir(dir);
	EXPECT_EQ(reap(spawn(as_nobody, path)), 0);
	ASSERT_EQ(stat(path, &st), 0);
	EXPECT_EQ(st.st_mode & 07777, 0400);
}

/* ---- readers beside what goes ---- */

static bool reading;

/* Reads every dump of every device, keeping each open for a moment. */
static void *read_all(void *text)
{
	char path[600];
	int node, fd;

	while (__atomic_load_n(&reading, __ATOMIC_ACQUIRE)) {
		for (node = 0; node < NODES + 2; node++) {
			struct dirent *e;
			DIR *dir;

			snprintf(path, sizeof(path), DEBUG "/ub/ubfab%d/group", node);
			dir = opendir(path);
			while (dir && (e = readdir(dir))) {
				snprintf(path, sizeof(path),
					 DEBUG "/ub/ubfab%d/group/%.32s", node,
					 e->d_name);
				fd = open(path, O_RDONLY | O_CLOEXEC);
				while (fd >= 0 && read(fd, text, 700) > 0)
					;
				close(fd);
			}
			if (dir)
				closedir(dir);
		}
	}
	return NULL;
}

static int short_world(struct member *m)
{
	__u64 key[2];
	int err;

	fresh_key(key);
	m->gc = world_arg(key, 1, 0, 5000);
	err = step_create(m);
	return err ? err : group_destroy(m->fd, m->group);
}

TEST_F(debug, readers_beside_what_goes)
{
	struct member one = { .n = 1 };
	char text[2][1024];
	pthread_t thread[2];
	struct nl_obj o;
	struct nl_req q;
	struct nl nl;
	int i, k;

	ASSERT_EQ(nl_open(&nl), 0);
	reading = true;
	for (i = 0; i < 2; i++)
		ASSERT_EQ(pthread_create(&thread[i], NULL, read_all, text[i]), 0);
	one.fd = open_node(3);
	for (i = 0; i < 300; i++)
		EXPECT_EQ(short_world(&one), 0);
	/* Whole fabrics, with groups in them. */
	for (i = 0; i < 20; i++) {
		struct member m = { .n = 1 };
		__u64 key[2], end = in_ms(10000);

		nl_begin(&q, UB_NL_CMD_FABRIC_ADD);
		nl_put_str(&q, UB_NL_A_TRANSPORT, "loop");
		nl_put_u32(&q, UB_NL_A_NODES, 1);
		nl_put_u64(&q, UB_NL_A_BYTES, 2 << 20);
		ASSERT_EQ(nl_do(&nl, &q, &o), 0);
		while ((m.fd = open_node(NODES)) < 0 && now() < end)
			sleep_ms(5);
		ASSERT_GE(m.fd, 0);
		for (k = 0; k < 3; k++) {
			fresh_key(key);
			m.gc = world_arg(key, 1, 0, 5000);
			EXPECT_EQ(step_create(&m), 0);
		}
		EXPECT_EQ(nl_fabric_del(&nl, NODES), 0);
		close(m.fd);	/* after its fabric */
	}
	__atomic_store_n(&reading, false, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	close(one.fd);
	nl_close(&nl);
}

TEST_HARNESS_MAIN

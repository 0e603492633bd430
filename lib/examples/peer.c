// SPDX-License-Identifier: MIT
/* Each rank writes into its own memory; the next rank reads it, mapped. */
#include <libub.h>
#include <stdio.h>

static int superstep(struct ub_scope *world, struct ub_win *win)
{
	int rank = ub_rank(world), next = (rank + 1) % ub_size(world);
	int *mine = ub_win_base(win), *theirs = ub_win_peer(win, next), err;

	*mine = 100 + rank;		/* local work */
	err = ub_sync(world);		/* ends the superstep: stores are visible */
	if (!err)
		printf("rank %d reads %d from rank %d\n", rank, *theirs, next);
	return err ? err : ub_sync(world);	/* nobody leaves a reader behind */
}

int main(void)
{
	struct ub_ctx *ctx;
	struct ub_win *win;
	int failed = ub_init(&ctx, NULL) ||	/* rank and size by the launcher */
		     ub_win_create(ub_world(ctx), sizeof(int), &win) ||
		     superstep(ub_world(ctx), win);

	if (failed)
		fprintf(stderr, "%s\n", ub_last_error());
	ub_fini(ctx);
	return failed;
}

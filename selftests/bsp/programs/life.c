/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Game of Life on a torus whose rows are dealt out in blocks, with unbuffered
 * puts into two halves in turn: a glider is back after four times its side.
 */
#include "bsptest.h"

#define SIDE	24

static unsigned char world[2][SIDE + 2][SIDE];	/* rows 1 to mine, ghosts around */

static int alive(int half, int row, int col)
{
	return world[half][row][(col + SIDE) % SIDE];
}

static void live(int half, int rows)
{
	int i, j, y, x, count;

	for (i = 1; i <= rows; i++)
		for (j = 0; j < SIDE; j++) {
			for (count = 0, y = -1; y <= 1; y++)
				for (x = -1; x <= 1; x++)
					count += (y || x) && alive(half, i + y, j + x);
			world[1 - half][i][j] = count == 3 || (count == 2 && alive(half, i, j));
		}
}

TEST(glider, "n=1,2,3,4,8")
{
	static const int glider[5][2] = { { 0, 1 }, { 1, 2 }, { 2, 0 }, { 2, 1 }, { 2, 2 } };
	static unsigned char first[SIDE][SIDE];
	int p = NPROCS, rows = SIDE / p, begin = ME * rows, i, step, half = 0;
	int up = (ME + p - 1) % p, down = (ME + 1) % p;

	memset(world, 0, sizeof(world));
	for (i = 0; i < 5; i++)
		first[5 + glider[i][0]][5 + glider[i][1]] = 1;
	for (i = 0; i < rows; i++)
		memcpy(world[0][i + 1], first[begin + i], SIDE);
	bsp_push_reg(world, sizeof(world));
	bsp_sync();
	for (step = 0; step < 4 * SIDE; step++) {
		bsp_size_t base = half * sizeof(world[0]);

		bsp_hpput(up, world[half][1], world, base + (rows + 1) * SIDE, SIDE);
		bsp_hpput(down, world[half][rows], world, base, SIDE);
		bsp_sync();
		live(half, rows);
		half = 1 - half;
		if (step == 3)
			for (i = 0; i < rows; i++)
				CHECK(!memcmp(world[half][i + 1] + 1,
					      first[(begin + i + SIDE - 1) % SIDE], SIDE - 1));
	}
	for (i = 0; i < rows; i++)
		CHECK(!memcmp(world[half][i + 1], first[begin + i], SIDE));
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* A total exchange: the transpose of a matrix of rows, by puts, gets and messages. */
#include "bsptest.h"

#define EACH	6	/* rows of a process */

static int rows[EACH][8 * EACH], columns[EACH][8 * EACH];

static void fill(void)
{
	int i, j;

	memset(columns, 0, sizeof(columns));
	for (i = 0; i < EACH; i++)
		for (j = 0; j < EACH * NPROCS; j++)
			rows[i][j] = 1000 * (ME * EACH + i) + j;
}

static void check(void)
{
	int i, j;

	for (i = 0; i < EACH; i++)
		for (j = 0; j < EACH * NPROCS; j++)
			EQUAL(columns[i][j], 1000 * j + ME * EACH + i);
}

TEST(by_put, "n=1,2,3,4,8")
{
	int i, j;

	fill();
	bsp_push_reg(columns, sizeof(columns));
	bsp_sync();
	for (i = 0; i < EACH; i++)
		for (j = 0; j < EACH * NPROCS; j++)
			bsp_put(j / EACH, &rows[i][j], columns,
				(j % EACH * 8 * EACH + ME * EACH + i) * sizeof(int), sizeof(int));
	bsp_sync();
	check();
}

TEST(by_get, "n=1,2,3,4,8")
{
	int i, j;

	fill();
	bsp_push_reg(rows, sizeof(rows));
	bsp_sync();
	for (i = 0; i < EACH; i++)
		for (j = 0; j < EACH * NPROCS; j++)
			bsp_get(j / EACH, rows,
				(j % EACH * 8 * EACH + ME * EACH + i) * sizeof(int),
				&columns[i][j], sizeof(int));
	bsp_sync();
	check();
}

TEST(by_messages, "n=1,2,3,4,8")
{
	bsp_size_t size = 2 * sizeof(int), status;
	int i, j, tag[2], value;

	fill();
	bsp_set_tagsize(&size);
	bsp_sync();
	for (i = 0; i < EACH; i++)
		for (j = 0; j < EACH * NPROCS; j++) {
			tag[0] = j % EACH;
			tag[1] = ME * EACH + i;
			bsp_send(j / EACH, tag, &rows[i][j], sizeof(int));
		}
	bsp_sync();
	for (;;) {
		bsp_get_tag(&status, tag);
		if (status == NONE)
			break;
		bsp_move(&value, sizeof(value));
		columns[tag[0]][tag[1]] = value;
	}
	check();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * bsp.h with sizes beyond what 31 and 32 bits count, in the size_t dialect: with
 * UB_LONG a message, a put and a get of more than 2 GiB, and unbuffered ones of more
 * than 4 GiB each way; without, the same in pieces of a few MiB.
 */
#define T_BSP_SECONDS	900
#define UB_BSP_SIZE_T
#include <bsp.h>
#include "t_bsp.h"
#include "t_sparse.h"

#define ODD	((size_t)100003)

static bool all;	/* not a slice */

/* Distances from the end at which there is something. Not at the begin of the last
 * piece: memcpy() may write first what comes first, and last as well. */
static const size_t from_end[] = { 1, 2, 4097, 90000 };

#define MARKS	(sizeof(from_end) / sizeof(*from_end))

static void mark(unsigned char *data, size_t len, int seed)
{
	size_t i;

	data[0] = seed;
	for (i = 0; i < MARKS; i++)
		data[len - from_end[i]] = seed + i;
}

static bool marked(const unsigned char *data, size_t len, int seed)
{
	size_t i;

	for (i = 0; i < MARKS; i++)
		if (data[len - from_end[i]] != seed + i)
			return false;
	return !data[len - 3];
}

/* Both at once, so that 8 GiB come to each. */
static void fn_unbuffered(void)
{
	size_t len = (all ? 2 * BEYOND : 24 * PIECE) + ODD;
	unsigned char *src = sparse(len), *put, *got;
	int me, you;

	bsp_begin(2);
	/* Not before: what is shared would be shared by both. */
	put = again_and_again(len);
	got = again_and_again(len);
	me = bsp_pid();
	you = !me;
	T_BSP(src && put && got);
	mark(src, len, 10 + me);
	bsp_push_reg(src, len);
	bsp_push_reg(put, len);
	bsp_sync();
	bsp_hpput(you, src, put, 0, len);
	bsp_hpget(you, src, 0, got, len);
	bsp_sync();
	T_BSP(marked(put, len, 10 + you));
	T_BSP(marked(got, len, 10 + you));
	/* Places beyond 4 GiB, alone */
	bsp_hpput(you, &me, put, len - 4, 4);
	bsp_get(you, src, len - 1, &got[5], 1);
	bsp_sync();
	T_BSP(!memcmp(put + len - 4, &you, 4) && got[5] == 10 + you);
	bsp_end();
}

/* What is copied at both ends needs the memory, twice. */
static bool fits(size_t len)
{
	size_t left = memory_left();

	return !left || left > 2 * len + len / 2;
}

static size_t buffered(void)
{
	size_t len = (all ? BEYOND : 5 * PIECE) + ODD;

	return fits(len) ? len : 5 * PIECE + ODD;
}

static void fn_message(void)
{
	size_t len = buffered(), tag_size = 5, bytes;
	unsigned char *src = sparse(len);
	void *tag, *payload;
	unsigned int n;

	bsp_begin(2);
	T_BSP(src);
	mark(src, len, 20);
	bsp_set_tagsize(&tag_size);
	bsp_sync();
	if (!bsp_pid()) {
		bsp_send(1, "tag1", src, len);
		bsp_send(1, "tag2", src, 7);
	}
	bsp_sync();
	bsp_qsize(&n, &bytes);
	T_BSP(n == (bsp_pid() ? 2 : 0) && bytes == (bsp_pid() ? len + 7 : 0));
	if (bsp_pid()) {
		T_BSP(bsp_hpmove(&tag, &payload) == len);
		T_BSP(!strcmp(tag, "tag1") && marked(payload, len, 20));
		T_BSP(bsp_hpmove(&tag, &payload) == 7 && !strcmp(tag, "tag2"));
	}
	bsp_end();
}

static void fn_buffered(void)
{
	size_t len = buffered();
	unsigned char *src = sparse(len), *to;

	bsp_begin(2);
	to = again_and_again(len);
	T_BSP(src && to);
	mark(src, len, 30 + bsp_pid());
	bsp_push_reg(src, len);
	bsp_push_reg(to, len);
	bsp_sync();
	if (!bsp_pid())
		bsp_put(1, src, to, 0, len);
	bsp_sync();
	T_BSP(!bsp_pid() || marked(to, len, 30));
	if (!bsp_pid())
		bsp_get(1, src, 0, to, len);
	bsp_sync();
	T_BSP(bsp_pid() || marked(to, len, 31));
	bsp_end();
}

static const struct t_bsp cases[] = {
	T_BSP_GOOD("unbuffered, beyond 2^32 each way", 2, fn_unbuffered),
	T_BSP_GOOD("a message beyond 2^31", 2, fn_message),
	T_BSP_GOOD("a put and a get beyond 2^31", 2, fn_buffered),
};

int main(void)
{
	all = getenv("UB_LONG");
	return t_bsp_all(cases, sizeof(cases) / sizeof(cases[0]));
}

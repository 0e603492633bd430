/* SPDX-License-Identifier: GPL-2.0-only */
/* A C++ program whose section is a static function of a class. */
#include "bsptest.h"

PROGRAM("n=1,3 says=after:1");

class program {
public:
	static void spmd()
	{
		bsp_begin(bsp_nprocs());
		bspt_done();
		bsp_end();
	}
};

int main(int argc, char **argv)
{
	bsp_init(program::spmd, argc, argv);
	program::spmd();
	bspt_say("after");
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast Fourier transform of N points on a power of two of processes: butterflies
 * within a process on a cyclic distribution, one redistribution, and the rest on
 * blocks. The transform of a wave is known, and the inverse gives it back.
 */
#include <math.h>
#include "bsptest.h"

#define N	1024
#define PI	3.14159265358979323846
#define SMALL	0.00000001
#define TINY	(SMALL / 10000)

static double area[2 * N];	/* registered: re, im of the local points */

/* In-place transform of @n points, @x[2 * i] and @x[2 * i + 1]; @sign -1 forward. */
static void local_fft(double *x, int n, int sign)
{
	int i, k, span;

	for (i = 0, k = 0; i < n; i++) {
		int bit = n;

		if (i < k) {
			double re = x[2 * i], im = x[2 * i + 1];

			x[2 * i] = x[2 * k];
			x[2 * i + 1] = x[2 * k + 1];
			x[2 * k] = re;
			x[2 * k + 1] = im;
		}
		while ((bit >>= 1) && (k & bit))
			k ^= bit;
		k |= bit;
	}
	for (span = 1; span < n; span *= 2)
		for (i = 0; i < span; i++) {
			double c = cos(PI * i / span), s = sign * sin(PI * i / span);

			for (k = i; k < n; k += 2 * span) {
				double *a = x + 2 * k, *b = x + 2 * (k + span);
				double re = c * b[0] - s * b[1], im = c * b[1] + s * b[0];

				b[0] = a[0] - re;
				b[1] = a[1] - im;
				a[0] += re;
				a[1] += im;
			}
		}
}

/*
 * Point k of the result is the sum over s of w^(sk) Y_s[k mod m], where Y_s is the
 * transform of the points s, s + p, ... that process s has. In: cyclic. Out: blocks.
 */
static void fft(double *x, int sign)
{
	int p = NPROCS, m = N / p, r = m / p, i, k, s;

	local_fft(x, m, sign);
	/* process t combines the indices k with k mod m in [t r, t r + r) */
	for (i = 0; i < p; i++)
		bsp_put(i, x + 2 * i * r, area, 2 * ME * r * sizeof(double),
			2 * r * sizeof(double));
	bsp_sync();
	for (i = 0; i < r; i++) {
		double out[2 * 8];

		for (k = 0; k < p; k++) {
			double re = 0, im = 0;

			for (s = 0; s < p; s++) {
				double angle = sign * 2 * PI * (double)s * (k * m + ME * r + i) / N;
				double *y = area + 2 * (s * r + i);

				re += y[0] * cos(angle) - y[1] * sin(angle);
				im += y[0] * sin(angle) + y[1] * cos(angle);
			}
			out[2 * k] = re;
			out[2 * k + 1] = im;
		}
		for (k = 0; k < p; k++) {
			x[2 * (k * r + i)] = out[2 * k];
			x[2 * (k * r + i) + 1] = out[2 * k + 1];
		}
	}
	bsp_sync();
	/* local point k r + i is now point k m + t r + i; make it cyclic again */
	for (k = 0; k < p; k++)
		for (i = 0; i < r; i++) {
			int global = k * m + ME * r + i;

			bsp_put(global % p, x + 2 * (k * r + i), area,
				2 * (global / p) * sizeof(double), 2 * sizeof(double));
		}
	bsp_sync();
	memcpy(x, area, 2 * m * sizeof(double));
	bsp_sync();
}

static double wave(int i)
{
	return 1 + 4 * cos(2 * PI * 5 * i / N) - 2 * sin(2 * PI * 37 * i / N);
}

TEST(fft_of_a_wave, "n=1,2,4,8")
{
	double x[2 * N];
	int p = NPROCS, m = N / p, i;

	bsp_push_reg(area, sizeof(area));
	bsp_sync();
	for (i = 0; i < m; i++) {
		x[2 * i] = wave(i * p + ME);
		x[2 * i + 1] = 0;
	}
	fft(x, -1);
	for (i = 0; i < m; i++) {
		int k = i * p + ME;
		double re = k == 0 ? N : k == 5 || k == N - 5 ? 2 * N : 0;
		double im = k == 37 ? N : k == N - 37 ? -N : 0;

		CHECK(fabs(x[2 * i] - re) < SMALL);
		CHECK(fabs(x[2 * i + 1] - im) < SMALL);
	}
	fft(x, 1);
	for (i = 0; i < m; i++) {
		CHECK(fabs(x[2 * i] / N - wave(i * p + ME)) < TINY);
		CHECK(fabs(x[2 * i + 1] / N) < TINY);
	}
}

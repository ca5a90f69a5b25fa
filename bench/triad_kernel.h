/* SPDX-License-Identifier: MIT */
#ifndef BENCH_TRIAD_KERNEL_H
#define BENCH_TRIAD_KERNEL_H
#include <cgx.h>

/* a = b + s c, one thread an element. */
#define TRIAD_PARAMETERS (int64_t, n), (float, s), (float *, a), (const float *, b), (const float *, c)
CGX_KERNEL_DECLARE(triad_gcc, TRIAD_PARAMETERS)
CGX_KERNEL_DECLARE(triad_clang, TRIAD_PARAMETERS)

/* The same over FIRST to END - 1, by hand. */
void triad_loop_gcc(int64_t first, int64_t end, float s, float *a, const float *b, const float *c);
void triad_loop_clang(int64_t first, int64_t end, float s, float *a, const float *b, const float *c);
#endif

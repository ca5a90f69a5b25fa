/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SHUFFLE_KERNELS_H
#define TESTS_SHUFFLE_KERNELS_H
#include "values.h"

/* Types that are shuffled: X(suffix, type). */
#define FOREACH_SHUFFLED(X) \
    FOREACH_VALUE(X)        \
    X(float2, cgx_float2) X(double4, cgx_double4) X(three, three_bytes) X(run, run) X(longs, four_longs)

enum { SHFL, SHFL_UP, SHFL_DOWN, SHFL_XOR, SHUFFLES };
/* One block: out[which * threads + rank], in tiles of SIZE or, with size 0, in the block. Each thread has an argument of its
 * own. */
#define DECLARE_SHUFFLE(s, T) \
    CGX_KERNEL_DECLARE(shuffle_##s, (int, size), (const int *, argument), (const T *, in), (T *, out))
FOREACH_SHUFFLED(DECLARE_SHUFFLE)

/* Typed tiles, constant arguments: sums of what came. */
#define DECLARE_TYPED_SHUFFLE(N) CGX_KERNEL_DECLARE(shuffle_tile_##N, (int *, out))
FOREACH_TILE_SIZE(DECLARE_TYPED_SHUFFLE)
#endif

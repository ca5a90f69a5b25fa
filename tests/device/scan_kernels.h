/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SCAN_KERNELS_H
#define TESTS_SCAN_KERNELS_H
#include "values.h"

/* One block: inclusive[row * threads + rank], exclusive the same. Groups are tiles of SIZE, or with size 0 the block. */
#define DECLARE_SCAN(s, T) \
    CGX_KERNEL_DECLARE(scan_##s, (int, size), (const T *, in), (T *, inclusive), (T *, exclusive))
FOREACH_VALUE(DECLARE_SCAN)

typedef struct {
    int32_t inclusive, exclusive, slot;
    float sum, sum_below;
    double precise;
    cgx_half half;
} typed_scan;
#define DECLARE_TYPED_SCAN(N)                                                                        \
    CGX_KERNEL_DECLARE(scan_tile_##N, (const int32_t *, i), (const float *, f), (const double *, d), \
                       (const cgx_half *, h), (typed_scan *, out))
FOREACH_TILE_SIZE(DECLARE_TYPED_SCAN)

/* Keeps the positive numbers, in order: all blocks' results one behind the other in their own part of OUT. */
CGX_KERNEL_DECLARE(compact, (int, n), (const int32_t *, in), (int32_t *, out), (int32_t *, counts))
#endif

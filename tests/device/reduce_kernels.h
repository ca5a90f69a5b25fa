/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REDUCE_KERNELS_H
#define TESTS_REDUCE_KERNELS_H
#include "values.h"

/* One block, every thread's results of every operator: out[row * threads + rank]. Groups are tiles of SIZE, or with
 * size 0 the block. */
#define DECLARE_REDUCE(s, T) CGX_KERNEL_DECLARE(reduce_##s, (int, size), (const T *, in), (T *, out))
FOREACH_VALUE(DECLARE_REDUCE)

/* The same in tiles whose size the compiler knows, for some types. */
typedef struct {
    int32_t plus, less, bits;
    uint64_t wide;
    float sum, largest;
    double precise;
    cgx_half half;
} typed_reduce;
#define DECLARE_TYPED_REDUCE(N)                                                                          \
    CGX_KERNEL_DECLARE(reduce_tile_##N, (const int32_t *, i), (const uint64_t *, u), (const float *, f), \
                       (const double *, d), (const cgx_half *, h), (typed_reduce *, out))
FOREACH_TILE_SIZE(DECLARE_TYPED_REDUCE)

/* The types' names for one 32-bit and one 64-bit integer that FOREACH_VALUE leaves out. */
CGX_KERNEL_DECLARE(reduce_native, (const int32_t *, in), (long *, sums), (unsigned long *, masks), (char *, least),
                   (long long *, largest))
#define REDUCE_SIZED_DECLARE(name) \
    CGX_KERNEL_DECLARE(name, (const uint32_t *, u), (const float *, f), (uint32_t *, us), (float *, fs))
REDUCE_SIZED_DECLARE(reduce_sized_256)
REDUCE_SIZED_DECLARE(reduce_sized_100)
REDUCE_SIZED_DECLARE(reduce_sized_20)
#endif

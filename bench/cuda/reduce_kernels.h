/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_REDUCE_KERNELS_H
#define BENCH_CUDA_REDUCE_KERNELS_H
#include <cgx.h>

enum { REDUCE_THREADS = 512 };
/* The sum of n vectors of 4 to *sum; `parts` has a word a block, `count` is 0 before and after. */
#define FOREACH_REDUCER(X) X(sum_last_block) X(sum_grid_sync) X(sum_grid_sync_cg)
#define DECLARE(name)                                                                                         \
    CGX_KERNEL_DECLARE(name, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, parts), (uint32_t *, count), \
                       (uint32_t *, sum))
FOREACH_REDUCER(DECLARE)
#undef DECLARE
CGX_KERNEL_DECLARE(sum_parts, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, parts))
CGX_KERNEL_DECLARE(sum_of_parts, (const uint32_t *, parts), (int, n), (uint32_t *, sum))
#endif

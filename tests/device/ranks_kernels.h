/* SPDX-License-Identifier: MIT */
/* Kernels that ask for nothing but their rank in the grid, for a little more, or for it in ways that a loop over ranks could get wrong.
 * The number in `out` depends on the rank alone, so that the host knows it. */
#ifndef TESTS_RANKS_KERNELS_H
#define TESTS_RANKS_KERNELS_H
#include <cgx.h>

/* out[i] += 3 i + 1 for ranks below the bound; its type is the point. */
CGX_KERNEL_DECLARE(below_i64, (int64_t, n), (int64_t *, out))
CGX_KERNEL_DECLARE(below_i32, (int, n), (int64_t *, out))
CGX_KERNEL_DECLARE(below_u32, (int64_t *, out), (unsigned, n))
CGX_KERNEL_DECLARE(below_u64, (uint64_t, n), (int64_t *, out))
/* The first integer is no bound. */
CGX_KERNEL_DECLARE(scaled, (short, factor), (int64_t, n), (int64_t *, out))
/* From the bound on instead: twice the rank. */
CGX_KERNEL_DECLARE(from_bound, (int64_t, n), (int64_t, end), (int64_t *, out))
/* Both sides of the bound do something. */
CGX_KERNEL_DECLARE(both_sides, (int64_t, n), (int64_t, end), (int64_t *, out))
/* A loop that strides over the grid. */
CGX_KERNEL_DECLARE(strided, (int64_t, n), (int64_t *, out))
/* Ends early in two ways. */
CGX_KERNEL_DECLARE(early, (int64_t, n), (int64_t *, out))
/* The grid's size and shape, which are the same for all. */
CGX_KERNEL_DECLARE(sized, (int64_t, n), (int64_t *, out))
/* A little more than the grid's rank, each: the block's number, the rank in the block, the index, shared memory. */
CGX_KERNEL_DECLARE(with_block, (int64_t, n), (int64_t *, out))
CGX_KERNEL_DECLARE(with_rank, (int64_t, n), (int64_t *, out))
CGX_KERNEL_DECLARE(with_index, (int64_t, n), (int64_t *, out))
CGX_KERNEL_DECLARE(with_shared, (int64_t, n), (int64_t *, out))
/* The block's rank, but only of some threads. */
CGX_KERNEL_DECLARE(sometimes, (int64_t, n), (int64_t *, out))
#endif

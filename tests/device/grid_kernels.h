/* SPDX-License-Identifier: MIT */
#ifndef TESTS_GRID_KERNELS_H
#define TESTS_GRID_KERNELS_H
#include <cgx.h>

/* A persistent kernel: each of ROUNDS every thread adds the number of a thread of another block to its own. A and B are
 * as long as the grid has threads; with HALVES the barrier is arrive, work and wait. */
CGX_KERNEL_DECLARE(grid_rounds, (int, rounds), (int, halves), (uint32_t *, a), (uint32_t *, b))
/* The sum of N numbers in every thread of the grid: blocks leave their shares, then every block adds them up. */
CGX_KERNEL_DECLARE(grid_sum, (int64_t, n), (const double *, in), (double *, shares), (double *, out))
/* Barriers of tiles, blocks and the grid in turn. */
CGX_KERNEL_DECLARE(grid_mixed, (int, rounds), (int *, counts), (int *, wrong))
/* Three arrays of each block's own across barriers of the grid: one that stays, one that all threads write anew and one that half of
 * them change. Sums of what neighbours left. */
enum { GRID_ARRAYS = 256 };
CGX_KERNEL_DECLARE(grid_arrays, (int, rounds), (int *, out))
/* What the grid says of itself. */
typedef struct {
    int64_t rank, threads, block_rank, blocks;
    cgx_dim3 dim, index;
    int valid;
} grid_view;
CGX_KERNEL_DECLARE(grid_views_plain, (grid_view *, out))
/* Something that only a cooperative launch may do with its grid, by every thread: see GRID_MISUSES. */
enum { GRID_SYNC, GRID_ARRIVE, GRID_REDUCE, GRID_SCAN, GRID_MISUSES };
CGX_KERNEL_DECLARE(grid_in_any_launch, (int, which), (int *, out))
CGX_KERNEL_DECLARE(grid_views, (grid_view *, out))
#endif

/* SPDX-License-Identifier: MIT */
#ifndef TESTS_GROUPS_KERNELS_H
#define TESTS_GROUPS_KERNELS_H
#include "values.h"

typedef struct {
    int rank, size, meta_rank, meta_size;
} place;

/* Where a thread is in its block, and the block in the grid. */
typedef struct {
    cgx_dim3 thread, block, dim;
    place of_block, erased;
    int64_t rank, threads;
    int elected;
} block_view;
CGX_KERNEL_DECLARE(block_places, (block_view *, out))
/* In tiles of SIZE, erased in OUT[threads + rank]; split again into tiles of INNER in OUT[2 * threads + rank]. */
CGX_KERNEL_DECLARE(tile_places, (int, size), (int, inner), (place *, out))
#define DECLARE_TYPED_PLACES(N) CGX_KERNEL_DECLARE(places_##N, (place *, out))
FOREACH_TILE_SIZE(DECLARE_TYPED_PLACES)
/* 256, of that 32, of that 4, of that a run-time 2: four rows. */
CGX_KERNEL_DECLARE(nested_places, (place *, out))
#endif

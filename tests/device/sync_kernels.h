/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SYNC_KERNELS_H
#define TESTS_SYNC_KERNELS_H
#include "values.h"

/* Each of ROUNDS every thread writes a number and reads the one of a thread that is further and further away:
 * out[rank of the grid] is their sum. With HALVES the barrier is arrive, work and wait. */
CGX_KERNEL_DECLARE(block_rounds, (int, rounds), (int, halves), (uint32_t *, out))
/* Upper and lower half of the block, of 64 threads each, stand at different barriers of the text. */
CGX_KERNEL_DECLARE(two_texts, (int, rounds), (int *, out))
/* Tiles of SIZE go through rounds alone, each through another number of them; then the whole block together. */
CGX_KERNEL_DECLARE(tile_rounds, (int, size), (uint32_t *, out))
/* The same for one round, in tiles whose size the compiler knows. */
#define DECLARE_TILE_SYNC(N) CGX_KERNEL_DECLARE(tile_sync_##N, (int *, out))
FOREACH_TILE_SIZE(DECLARE_TILE_SYNC)
/* A barrier in a loop, in a branch that all take, in a device function, and in a tile inside a tile. */
CGX_DEVICE_FN uint32_t mixed(uint32_t v)
{
    return v * 2654435761u + 12345u;
}
CGX_KERNEL_DECLARE(nested, (int, rounds), (int *, out))
/* Collectives of the block, of tiles of every size above the warp and of the same tiles erased, in turns that differ from tile to
 * tile. Blocks of a multiple of 256 threads; counts wrong results. */
CGX_KERNEL_DECLARE(collectives_in_turn, (int, rounds), (int *, wrong))
/* The threads of a tile of 128 call its collectives in two places of the text, where half of them see it in another way. Blocks of a multiple of
 * 128 threads; counts wrong results. */
CGX_KERNEL_DECLARE(two_views, (int, rounds), (int *, wrong))
/* No barrier anywhere. */
CGX_KERNEL_DECLARE(no_barrier, (int64_t, n), (uint32_t *, out))
/* No barrier but for one thread in the whole grid, which is alone in its block. */
CGX_KERNEL_DECLARE(late_barrier, (int64_t, bad), (uint32_t *, out))
/* Stages whose number of barriers differs from block to block. */
CGX_KERNEL_DECLARE(unequal_blocks, (int *, out))
#endif

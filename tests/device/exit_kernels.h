/* SPDX-License-Identifier: MIT */
#ifndef TESTS_EXIT_KERNELS_H
#define TESTS_EXIT_KERNELS_H
#include <cgx.h>

/* Which threads end at once. */
enum { END_BELOW, END_FROM, END_ODD, END_ALL_BUT, END_WARPS, END_ONE, END_MODES };
CGX_DEVICE_FN int ends_at_once(int mode, int k, int rank)
{
    switch (mode) {
    case END_BELOW: return rank < k;
    case END_FROM: return rank >= k;
    case END_ODD: return rank % 2;
    case END_ALL_BUT: return rank != k;
    case END_WARPS: return rank / 32 % 2 == k % 2;
    default: return rank == k;
    }
}

/* The others write, synchronise and read the next one that is there: out[rank of the grid] is the sum of what they read,
 * -1 for threads that ended. */
CGX_KERNEL_DECLARE(exit_before_sync, (int, mode), (int, k), (int, rounds), (int *, out))
/* The same with arrive and wait. */
CGX_KERNEL_DECLARE(exit_before_arrive, (int, mode), (int, k), (int, rounds), (int *, out))
/* Thread r ends after r % STEPS barriers; wrong counts the rounds in which somebody saw another number of threads. */
enum { EXIT_STEPS = 5 };
CGX_KERNEL_DECLARE(exit_in_steps, (int *, wrong))
/* Tiles of SIZE, no wider than a wave; the others go on synchronising with their tile. */
CGX_KERNEL_DECLARE(exit_before_tile_sync, (int, size), (int, mode), (int, k), (int, rounds), (int *, out))
/* Whole tiles of 64 end, those that stay are complete: collectives work. */
CGX_KERNEL_DECLARE(exit_of_tiles, (int, k), (int *, sums))
/* One block after the other ends; nothing waits. */
CGX_KERNEL_DECLARE(exit_everybody, (int, mode), (int, k), (int *, out))
/* All threads but one end after the grid has synchronised; that one is alone at a block barrier. */
CGX_KERNEL_DECLARE(exit_after_grid_sync, (int *, shares), (int *, sum))
#endif

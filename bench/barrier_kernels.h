/* SPDX-License-Identifier: MIT */
#ifndef BENCH_BARRIER_KERNELS_H
#define BENCH_BARRIER_KERNELS_H
#include <cgx.h>

/* Every thread waits ROUNDS times and then adds ROUNDS to out[rank in the block]: of one worker. */
CGX_KERNEL_DECLARE(sync_block, (int, rounds), (int *, out))
CGX_KERNEL_DECLARE(sync_tile_32, (int, rounds), (int *, out))
/* The same with ROUNDS times the mean of the ranks' values, which ends in mean[rank in the block]. */
CGX_KERNEL_DECLARE(mean_block, (int, rounds), (float *, mean))
CGX_KERNEL_DECLARE(mean_block_tree, (int, rounds), (float *, mean)) /* in shared memory, by hand; 256 threads */
CGX_KERNEL_DECLARE(mean_tile_32, (int, rounds), (float *, mean))
CGX_KERNEL_DECLARE(mean_tile_32_shuffles, (int, rounds), (float *, mean))
#endif

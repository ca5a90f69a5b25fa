/* SPDX-License-Identifier: MIT */
#ifndef TESTS_DEADLOCK_KERNELS_H
#define TESTS_DEADLOCK_KERNELS_H
#include <cgx.h>
#include "good.h"

/* Half of the block at its barrier, the other half at a tile of the whole block: neither can complete. Only block BAD. */
CGX_KERNEL_DECLARE(half_and_half, (int, bad), (int *, out))
/* Blocks of 128, thread 5 ends before ... */
CGX_KERNEL_DECLARE(ended_before_reduce, (int *, out))
CGX_KERNEL_DECLARE(ended_before_scan, (int *, out))
CGX_KERNEL_DECLARE(ended_before_shuffle, (int *, out))   /* of a tile of 32 */
CGX_KERNEL_DECLARE(ended_before_ballot, (int *, out))    /* of a tile of 8 */
CGX_KERNEL_DECLARE(ended_before_wide_sync, (int *, out)) /* of a tile of 128 */
CGX_KERNEL_DECLARE(ended_before_coalesced, (int *, out)) /* of a group of threads 1, 5, 9 ... 29 */
CGX_KERNEL_DECLARE(branch_before_vote,
                   (int *, out)) /* half of a tile of 32 votes, the rest is at the block's barrier */
CGX_KERNEL_DECLARE(mbarrier_never_complete, (int, count))
/* Grids: thread 5 of block 1 ends; block BAD ends; half of each block is at the block's barrier. */
CGX_KERNEL_DECLARE(grid_without_thread, (int *, out))
CGX_KERNEL_DECLARE(grid_without_block, (int, bad))
CGX_KERNEL_DECLARE(grid_and_block, (int *, out))
#endif

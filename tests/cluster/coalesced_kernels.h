/* SPDX-License-Identifier: MIT */
#ifndef TESTS_COALESCED_KERNELS_H
#define TESTS_COALESCED_KERNELS_H
#include "../device/values.h"

/* Round I of a block: thread R takes branch BRANCHES[(block * rounds + i) * threads + R], one of four. Branches 1 to 3
 * make a group of the threads that come there; branch 0 does nothing; branch 3 has a second, inner branch. */
typedef struct {
    int branch, rank, size, first, meta_size, meta_rank; /* first: rank in the block of the group's rank 0 */
    int from_next, up, down, any, all;
    cgx_mask ballot, match;
    int32_t sum, scan, before;
    float reduced, inclusive, exclusive;
    matrix product, product_scan;
    /* A labelled partition of the group by the value's lowest bits, a binary partition of that, and the inner branch.
     * */
    int child_rank, child_size, child_meta_size, child_meta_rank;
    float child_reduced, child_scan;
    int grandchild_rank, grandchild_size, grandchild_meta_size, grandchild_meta_rank;
    float grandchild_reduced;
    int inner_size, inner_rank, inner_sum;
} coalesced_answers;
typedef struct {
    float v;
    int32_t i;
    matrix m;
} coalesced_value;
CGX_KERNEL_DECLARE(coalesced_rounds, (int, rounds), (const unsigned char *, branches), (const coalesced_value *, in),
                   (coalesced_answers *, out))
/* Loops that threads leave at different times: the group of those that are still in. */
CGX_KERNEL_DECLARE(coalesced_loops, (const int *, trips), (int *, out))
/* Half of each warp waits at a barrier of the block while the other half is coalesced; some have ended. */
CGX_KERNEL_DECLARE(coalesced_beside, (int *, out))
/* Room for each thread's numbers, one atomic a group. */
CGX_KERNEL_DECLARE(coalesced_room, (const int *, wanted), (int *, used), (int *, room))
#endif

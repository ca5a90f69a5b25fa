/* SPDX-License-Identifier: MIT */
#ifndef TESTS_VOTE_KERNELS_H
#define TESTS_VOTE_KERNELS_H
#include "values.h"

typedef struct {
    int any, all;
    cgx_mask ballot, match, match_long, match_longs, everybody;
    int same;
} votes;
/* Groups to 64 threads: tiles of SIZE, or with size 0 the block. */
CGX_KERNEL_DECLARE(vote, (int, size), (const int *, values), (votes *, out))
/* Groups of any size: any and all only. */
CGX_KERNEL_DECLARE(vote_wide, (int, size), (const int *, values), (votes *, out))
#define FOREACH_NARROW_SIZE(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64)
#define DECLARE_TYPED_VOTE(N) CGX_KERNEL_DECLARE(vote_tile_##N, (const int *, values), (votes *, out))
FOREACH_NARROW_SIZE(DECLARE_TYPED_VOTE)
/* -0 and +0 are different bytes, NaNs of equal bytes are the same. */
CGX_KERNEL_DECLARE(match_bytes, (const float *, values), (cgx_mask *, out))
#endif

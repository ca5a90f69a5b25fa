/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PARTITION_KERNELS_H
#define TESTS_PARTITION_KERNELS_H
#include <cgx.h>

/* What a thread sees of its coalesced group, and what collectives of the group gave it. */
typedef struct {
    int rank, size, meta_rank, meta_size;
    float sum, below, upto;
    int64_t largest;
    int from_first, from_next, from_last, any, all;
    cgx_mask ballot, match;
    int elected;
} group_view;

/* Tiles of SIZE split by label; every group reduces, scans, shuffles and votes at the same time as the others. */
CGX_KERNEL_DECLARE(labelled, (int, size), (const int64_t *, labels), (const float *, values), (group_view *, out))
/* The same by the lowest bit of the label as a predicate. */
CGX_KERNEL_DECLARE(binary, (int, size), (const int64_t *, labels), (const float *, values), (group_view *, out))
/* The groups of the labels modulo 4, split again by the label. */
CGX_KERNEL_DECLARE(labelled_twice, (int, size), (const int64_t *, labels), (const float *, values), (group_view *, out))
/* Groups do different things, each a number of times of its own. */
CGX_KERNEL_DECLARE(different_branches, (const int *, labels), (int *, out))
/* Sync and shared memory: each group hands numbers round in its own part. */
CGX_KERNEL_DECLARE(synchronised, (const int *, labels), (int, rounds), (int *, out))
/* Labels of other types: negative numbers, small types, pointers. Counts of equal labels. */
CGX_KERNEL_DECLARE(label_types, (int *, counts))
/* The guide's example 7. */
CGX_KERNEL_DECLARE(odd_even, (int *, out))
#endif

/* SPDX-License-Identifier: MIT */
#include "partition_kernels.h"

CGX_DEVICE_FN group_view view_of(cgx_coalesced c, int rank_in_block, float v)
{
    group_view w;
    memset(&w, 0, sizeof w);
    w.rank = cgx_thread_rank(c), w.size = cgx_num_threads(c);
    w.meta_rank = cgx_meta_group_rank(c), w.meta_size = cgx_meta_group_size(c);
    w.sum = cgx_reduce(c, v, CGX_PLUS);
    w.below = cgx_exclusive_scan(c, v, CGX_PLUS);
    w.upto = cgx_inclusive_scan(c, v, CGX_PLUS);
    w.largest = cgx_reduce(c, (int64_t)rank_in_block << 33, CGX_GREATER);
    w.from_first = cgx_shfl(c, rank_in_block, 0);
    w.from_next = cgx_shfl_down(c, rank_in_block, 1);
    w.from_last = cgx_shfl(c, rank_in_block, w.size - 1);
    w.any = !!cgx_any(c, rank_in_block % 16 == 3);
    w.all = !!cgx_all(c, rank_in_block % 16 < 14);
    w.ballot = cgx_ballot(c, rank_in_block % 3 == 0);
    w.match = cgx_match_any(c, rank_in_block % 5);
    w.elected = cgx_elect(c);
    return w;
}

CGX_KERNEL_EXTERN(labelled, (int, size), (const int64_t *, labels), (const float *, values), (group_view *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    cgx_tile t = cgx_tiled_partition_n(b, size);
    out[rank] = view_of(cgx_labeled_partition(t, labels[rank]), rank, values[rank]);
}

CGX_KERNEL_EXTERN(binary, (int, size), (const int64_t *, labels), (const float *, values), (group_view *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    cgx_tile t = cgx_tiled_partition_n(b, size);
    out[rank] = view_of(cgx_binary_partition(t, labels[rank] & 1), rank, values[rank]);
}

CGX_KERNEL_EXTERN(labelled_twice, (int, size), (const int64_t *, labels), (const float *, values), (group_view *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    cgx_tile t = cgx_tiled_partition_n(b, size);
    cgx_coalesced c = cgx_labeled_partition(t, labels[rank] & 3);
    out[rank] = view_of(cgx_labeled_partition(c, labels[rank]), rank, values[rank]);
}

CGX_KERNEL_EXTERN(different_branches, (const int *, labels), (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), label = labels[rank], v = 0;
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_coalesced c = cgx_labeled_partition(t, label);
    for (int i = 0; i <= label; i++) {
        if (label == 0)
            v += cgx_reduce(c, rank, CGX_PLUS);
        else if (label == 1)
            v += cgx_inclusive_scan(c, rank, CGX_PLUS);
        else if (label == 2)
            v += cgx_shfl_up(c, rank, 1);
        else
            v += cgx_num_threads(cgx_binary_partition(c, rank & 1 << i));
    }
    out[rank] = v;
}

CGX_KERNEL_EXTERN(synchronised, (const int *, labels), (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(int, s, 32, 32); /* of each warp and group */
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_coalesced c = cgx_labeled_partition(t, labels[cgx_thread_rank(b)]);
    int rank = cgx_thread_rank(c), n = cgx_num_threads(c), v = cgx_thread_rank(b);
    int *mine = s[cgx_meta_group_rank(t)] + cgx_exclusive_scan(t, 0, CGX_PLUS);
    /* Groups lie behind one another: where each begins is the number of threads of the groups before. */
    for (int k = 0; k < cgx_meta_group_size(c); k++) {
        int count = cgx_reduce(t, cgx_meta_group_rank(c) == k ? 1 : 0, CGX_PLUS);
        mine += cgx_meta_group_rank(c) > k ? count : 0;
    }
    for (int i = 0; i < rounds * (cgx_meta_group_rank(c) + 1); i++) {
        mine[rank] = v;
        cgx_sync(c);
        v = mine[(rank + 1) % n];
        cgx_sync(c);
    }
    out[cgx_thread_rank(b)] = v;
}

CGX_KERNEL_EXTERN(label_types, (int *, counts))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    counts[4 * rank] = cgx_num_threads(cgx_labeled_partition(t, -1 - rank % 2));
    counts[4 * rank + 1] = cgx_num_threads(cgx_labeled_partition(t, (unsigned char)(rank * 64)));
    counts[4 * rank + 2] = cgx_num_threads(cgx_labeled_partition(t, (int64_t)(rank % 8) << 40));
    counts[4 * rank + 3] = cgx_num_threads(cgx_labeled_partition(t, counts + rank / 16));
}

CGX_KERNEL_EXTERN(odd_even, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_coalesced c = cgx_binary_partition(t, cgx_thread_rank(b) & 1);
    out[cgx_thread_rank(b)] = cgx_reduce(c, cgx_thread_rank(b), CGX_PLUS);
}

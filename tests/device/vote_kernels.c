/* SPDX-License-Identifier: MIT */
#include "vote_kernels.h"

#define VOTE(g)                                              \
    votes v;                                                 \
    int x = values[cgx_thread_rank(b)];                      \
    four_longs longs = { x, 1, 2, x };                       \
    memset(&v, 0, sizeof v);                                 \
    v.any = !!cgx_any(g, x & 4);                             \
    v.all = !!cgx_all(g, x & 8);                             \
    v.ballot = cgx_ballot(g, x & 2);                         \
    v.match = cgx_match_any(g, x);                           \
    v.match_long = cgx_match_any(g, (int64_t)(x & 1) << 50); \
    v.match_longs = cgx_match_any(g, longs);                 \
    v.everybody = cgx_match_all(g, x, &v.same);              \
    out[cgx_thread_rank(b)] = v;

CGX_KERNEL_EXTERN(vote, (int, size), (const int *, values), (votes *, out))
{
    cgx_block b = cgx_this_block();
    cgx_group g = size ? cgx_as_group(cgx_tiled_partition_n(b, size)) : cgx_as_group(b);
    VOTE(g)
}

#define VOTE_TYPED(N)                                                       \
    CGX_KERNEL_EXTERN(vote_tile_##N, (const int *, values), (votes *, out)) \
    {                                                                       \
        cgx_block b = cgx_this_block();                                     \
        cgx_tile_##N g = cgx_tiled_partition(b, N);                         \
        VOTE(g)                                                             \
    }
FOREACH_NARROW_SIZE(VOTE_TYPED)

CGX_KERNEL_EXTERN(vote_wide, (int, size), (const int *, values), (votes *, out))
{
    cgx_block b = cgx_this_block();
    cgx_group g = size ? cgx_as_group(cgx_tiled_partition_n(b, size)) : cgx_as_group(b);
    int rank = cgx_thread_rank(b);
    out[rank].any = !!cgx_any(g, values[rank] & 4);
    out[rank].all = !!cgx_all(g, values[rank] & 8);
}

CGX_KERNEL_EXTERN(match_bytes, (const float *, values), (cgx_mask *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_8 t = cgx_tiled_partition(b, 8);
    out[cgx_thread_rank(b)] = cgx_match_any(t, values[cgx_thread_rank(b)]);
}

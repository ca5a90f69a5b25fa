/* SPDX-License-Identifier: MIT */
#include "groups_kernels.h"

/* A macro, as it takes groups of every type. */
#define PLACE_OF(p, g)                                                                              \
    ((p).rank = cgx_thread_rank(g), (p).size = cgx_size(g), (p).meta_rank = cgx_meta_group_rank(g), \
     (p).meta_size = cgx_meta_group_size(g))

CGX_DEVICE_FN place place_of(cgx_group g)
{
    place p;
    PLACE_OF(p, g);
    return p;
}

CGX_KERNEL_EXTERN(block_places, (block_view *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    block_view v;
    v.thread = cgx_thread_index(b), v.block = cgx_group_index(b), v.dim = cgx_dim_threads(b);
    PLACE_OF(v.of_block, b);
    v.erased = place_of(cgx_as_group(b));
    v.rank = cgx_thread_rank(g), v.threads = cgx_num_threads(g);
    v.elected = cgx_elect(b);
    out[v.rank] = v;
}

CGX_KERNEL_EXTERN(tile_places, (int, size), (int, inner), (place *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile t = cgx_tiled_partition_n(b, size);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    PLACE_OF(out[rank], t);
    out[n + rank] = place_of(cgx_as_group(t));
    PLACE_OF(out[2 * n + rank], cgx_tiled_partition_n(t, inner));
}

#define PLACES(N)                                               \
    CGX_KERNEL_EXTERN(places_##N, (place *, out))               \
    {                                                           \
        cgx_block b = cgx_this_block();                         \
        cgx_tile_##N t = cgx_tiled_partition(b, N);             \
        int rank = cgx_thread_rank(b), n = cgx_num_threads(b);  \
        PLACE_OF(out[rank], t);                                 \
        out[n + rank] = place_of(cgx_as_group(t));              \
        PLACE_OF(out[2 * n + rank], cgx_tiled_partition(t, N)); \
    }
FOREACH_TILE_SIZE(PLACES)

CGX_KERNEL_EXTERN(nested_places, (place *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_256 t = cgx_tiled_partition(b, 256);
    cgx_tile_32 u = cgx_tiled_partition(t, 32);
    cgx_tile_4 v = cgx_tiled_partition(u, 4);
    cgx_tile w = cgx_tiled_partition_n(v, 2);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    PLACE_OF(out[rank], t);
    PLACE_OF(out[n + rank], u);
    PLACE_OF(out[2 * n + rank], v);
    PLACE_OF(out[3 * n + rank], w);
}

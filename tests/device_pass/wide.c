/* SPDX-License-Identifier: MIT */
/* What needs more than one wave, or the launch: wide groups, halves of barriers, clusters, the grid. */
#include <cgx.h>

CGX_KERNEL_COOPERATIVE(grid, (int *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_token token = cgx_barrier_arrive(g);
    *out = cgx_is_valid(g) + cgx_reduce(g, 1, CGX_PLUS) + cgx_exclusive_scan(g, 1, CGX_PLUS);
    cgx_barrier_wait(g, token);
    cgx_sync(g);
}

CGX_KERNEL(halves_of_sync, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_token token = cgx_barrier_arrive(b);
    out[cgx_thread_rank(b)] = 1;
    cgx_barrier_wait(b, token);
}

CGX_KERNEL(clusters, (int *, out))
{
    CGX_SHARED(int, mine);
    cgx_cluster c = cgx_this_cluster();
    cgx_token token = cgx_barrier_arrive(c);
    *mine = cgx_thread_rank(c);
    cgx_barrier_wait(c, token);
    cgx_sync(c);
    out[0] = *cgx_map_shared_rank(c, mine, 0) + cgx_query_shared_rank(c, mine);
    out[1] = cgx_reduce(c, out[0], CGX_PLUS);
    cgx_sync_execution(c);
}

CGX_KERNEL(wide, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_128 t = cgx_tiled_partition(b, 128);
    int r = cgx_thread_rank(b);
    out[0] = cgx_shfl(t, r, 0) + cgx_shfl(b, r, 1) + cgx_any(t, r);
    out[1] = cgx_reduce(t, r, CGX_PLUS) + cgx_inclusive_scan(t, r, CGX_PLUS);
    cgx_sync(t);
}

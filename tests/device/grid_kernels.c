/* SPDX-License-Identifier: MIT */
#include "grid_kernels.h"

CGX_KERNEL_EXTERN_COOPERATIVE(grid_rounds, (int, rounds), (int, halves), (uint32_t *, a), (uint32_t *, b))
{
    cgx_grid g = cgx_this_grid();
    int64_t n = cgx_num_threads(g), rank = cgx_thread_rank(g), other = (rank + cgx_num_threads(cgx_this_block())) % n;
    for (int i = 0; i < rounds; i++) {
        b[rank] = a[rank] + a[other];
        if (halves) {
            cgx_token token = cgx_barrier_arrive(g);
            uint32_t *c = a;
            a = b, b = c;
            cgx_barrier_wait(g, token);
        } else {
            uint32_t *c = a;
            a = b, b = c;
            cgx_sync(g);
        }
    }
}

CGX_KERNEL_EXTERN_COOPERATIVE(grid_sum, (int64_t, n), (const double *, in), (double *, shares), (double *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    double mine = 0;
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        mine += in[i];
    double share = cgx_reduce(b, mine, CGX_PLUS);
    if (cgx_elect(b))
        shares[cgx_block_rank(g)] = share;
    cgx_sync(g);
    mine = 0;
    for (int64_t i = cgx_thread_rank(b); i < cgx_num_blocks(g); i += cgx_num_threads(b))
        mine += shares[i];
    out[cgx_thread_rank(g)] = cgx_reduce(b, mine, CGX_PLUS);
}

CGX_KERNEL_EXTERN_COOPERATIVE(grid_mixed, (int, rounds), (int *, counts), (int *, wrong))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    cgx_tile_16 t = cgx_tiled_partition(b, 16);
    CGX_SHARED(int, sum);
    int bad = 0;
    for (int i = 0; i < rounds; i++) {
        int tile_sum = cgx_reduce(t, 1, CGX_PLUS);
        int block_sum = cgx_reduce(b, cgx_elect(t) ? tile_sum : 0, CGX_PLUS);
        if (cgx_elect(b)) {
            *sum = block_sum + i;
            counts[cgx_block_rank(g)] = block_sum + i;
        }
        cgx_sync(b);
        bad += *sum != cgx_num_threads(b) + i;
        cgx_sync(g);
        for (int64_t k = 0; k < cgx_num_blocks(g); k++)
            bad += counts[k] != cgx_num_threads(b) + i;
        cgx_sync(t);
        cgx_sync(g);
    }
    wrong[cgx_thread_rank(g)] = bad;
}

CGX_KERNEL_EXTERN_COOPERATIVE(grid_arrays, (int, rounds), (int *, out))
{
    CGX_SHARED_ARRAY(int, kept, GRID_ARRAYS);
    CGX_SHARED_ARRAY(int, anew, GRID_ARRAYS);
    CGX_SHARED_ARRAY(int, by_half, GRID_ARRAYS);
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), n = cgx_num_threads(b), me = (int)cgx_block_rank(g);
    int sum = 0;
    kept[t] = me * 1000 + t;
    by_half[t] = me;
    for (int i = 0; i < rounds; i++) {
        anew[t] = me * 7 + t * 3 + i;
        if (t < n / 2)
            by_half[t] += i;
        cgx_sync(b);
        sum += anew[(t + 1) % n] + kept[(t + i) % n] + by_half[n - 1 - t];
        cgx_sync(b);
        kept[t] += 1;
        cgx_sync(g);
    }
    out[cgx_thread_rank(g)] = sum + kept[t];
}

CGX_DEVICE_FN void look(cgx_grid g, grid_view *out)
{
    grid_view v;
    v.rank = cgx_thread_rank(g), v.threads = cgx_num_threads(g);
    v.block_rank = cgx_block_rank(g), v.blocks = cgx_num_blocks(g);
    v.dim = cgx_dim_blocks(g), v.index = cgx_block_index(g);
    v.valid = cgx_is_valid(g);
    out[v.rank] = v;
}
CGX_KERNEL_EXTERN(grid_views_plain, (grid_view *, out))
{
    look(cgx_this_grid(), out);
}
CGX_KERNEL_EXTERN(grid_in_any_launch, (int, which), (int *, out))
{
    cgx_grid g = cgx_this_grid();
    int v = 1;
    out[cgx_thread_rank(g)] = -1;
    switch (which) {
    case GRID_SYNC: cgx_sync(g); break;
    case GRID_ARRIVE: cgx_barrier_wait(g, cgx_barrier_arrive(g)); break;
    case GRID_REDUCE: v = cgx_reduce(g, 1, CGX_PLUS) == cgx_num_threads(g); break;
    case GRID_SCAN: v = cgx_exclusive_scan(g, 1, CGX_PLUS) == cgx_thread_rank(g); break;
    }
    out[cgx_thread_rank(g)] = v;
}
CGX_KERNEL_EXTERN_COOPERATIVE(grid_views, (grid_view *, out))
{
    look(cgx_this_grid(), out);
}

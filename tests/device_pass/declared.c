/* SPDX-License-Identifier: MIT */
/* What the device passes only declare: it compiles, and leaves unresolved references. A kernel leaves this file when its
 * backend defines what it uses. */
#include <cgx.h>

CGX_KERNEL_COOPERATIVE(grid, (int *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_token token = cgx_barrier_arrive(g);
    *out = cgx_is_valid(g);
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

CGX_KERNEL(wide, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_128 t = cgx_tiled_partition(b, 128);
    int r = cgx_thread_rank(b);
    out[0] = cgx_shfl(t, r, 0) + cgx_shfl(b, r, 1) + cgx_any(t, r);
    out[1] = cgx_reduce(t, r, CGX_PLUS) + cgx_inclusive_scan(t, r, CGX_PLUS);
    cgx_sync(t);
}

CGX_KERNEL(barriers, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    cgx_mbarrier_init(m, 1);
    cgx_mbarrier_token token = cgx_mbarrier_arrive(m);
    *out = cgx_mbarrier_test_wait(m, token) + cgx_mbarrier_try_wait(m, token, 100);
    cgx_mbarrier_wait(m, token);
    token = cgx_mbarrier_arrive_n(m, 1);
    *out += cgx_mbarrier_test_wait_parity(m, 0) + cgx_mbarrier_try_wait_parity(m, 1, 100);
    cgx_mbarrier_wait_parity(m, 0);
    *out += (int)cgx_mbarrier_token_pending(token);
    cgx_mbarrier_arrive_expect_tx(m, 16);
    cgx_mbarrier_arrive_and_drop(m);
    cgx_mbarrier_inval(m);
}

CGX_KERNEL(copies, (const float *, in), (float *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(float, stage, 1024);
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_memcpy_async(b, stage, in, 1024 * sizeof(float));
    cgx_memcpy_async_n(t, stage, 64, in, 32);
    cgx_wait_prior(b, 1);
    cgx_wait(t);
    cgx_pipeline_memcpy_async(stage, in, 16);
    cgx_pipeline_memcpy_async_zfill(stage, in, 16, 4);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(0);
    cgx_pipeline_arrive_on(m);
    cgx_bulk_copy_async(stage, in, 1024, m);
    *out = stage[0];
}

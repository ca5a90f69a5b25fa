/* SPDX-License-Identifier: MIT */
/* What the device passes only declare: it compiles, and leaves unresolved references. A kernel leaves this file when its
 * backend defines what it uses. */
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

CGX_OP(float, larger, a, b, a > b ? a : b)
CGX_KERNEL(atomics, (int *, i), (uint64_t *, u), (float *, f))
{
    cgx_tile_16 t = cgx_tiled_partition(cgx_this_block(), 16);
    int expected = cgx_atomic_load(i, CGX_ACQUIRE, CGX_SCOPE_DEVICE);
    cgx_atomic_store(i, 3, CGX_RELEASE, CGX_SCOPE_SYSTEM);
    if (cgx_atomic_compare_exchange(i, &expected, 4, CGX_ACQ_REL, CGX_RELAXED, CGX_SCOPE_BLOCK))
        cgx_atomic_fetch_add(u, 1, CGX_RELAXED, CGX_SCOPE_CLUSTER);
    cgx_atomic_fetch_max(f, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_atomic_fetch_xor(u, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    *i = cgx_atomic_exchange(i, 5, CGX_SEQ_CST, CGX_SCOPE_DEVICE);
    cgx_atomic_fence(CGX_SEQ_CST, CGX_SCOPE_DEVICE);
    cgx_reduce_update_async(t, i, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
    cgx_reduce_store_async_atomic(t, u, CGX_SCOPE_DEVICE, 1, CGX_BIT_OR);
    cgx_reduce_store_async(t, f, 1, CGX_LESS);
    f[1] = cgx_inclusive_scan_update(t, f, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
    f[2] = cgx_exclusive_scan_update_op(t, f, CGX_SCOPE_DEVICE, 1, larger);
    cgx_reduce_store_async_op(t, f, 1, larger);
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
    cgx_bulk_store_async(out, stage, 1024);
    cgx_bulk_store_commit();
    cgx_bulk_store_wait_prior(0);
    cgx_pipeline_memcpy_async_any(stage, in, 7);
    cgx_memcpy_async_aligned(b, stage, in, 1024, 16);
    cgx_memcpy_async_n_aligned(b, stage, 64, in, 32, 16);
    *out = stage[0];
}

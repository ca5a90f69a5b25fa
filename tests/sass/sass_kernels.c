/* SPDX-License-Identifier: MIT */
/* A kernel for each primitive: scripts/sass.sh looks at the machine code of each chip. What has to be in it is in
 * instructions.txt. */
#include <cgx.h>

/* Nothing here launches them, and a kernel of its file's that nobody launches is none. */
#define KERNEL(...) CGX_KERNEL_DECLARE(__VA_ARGS__) CGX_KERNEL_EXTERN(__VA_ARGS__)
#define KERNEL_COOPERATIVE(...) CGX_KERNEL_DECLARE(__VA_ARGS__) CGX_KERNEL_EXTERN_COOPERATIVE(__VA_ARGS__)

KERNEL(vote_ballot, (cgx_mask *, out))
{
    cgx_tile_32 t = cgx_tiled_partition(cgx_this_block(), 32);
    out[cgx_thread_rank(t)] = cgx_ballot(t, out[cgx_thread_rank(t)] > 3);
}
KERNEL(shuffle, (uint32_t *, v))
{
    cgx_tile_32 t = cgx_tiled_partition(cgx_this_block(), 32);
    v[cgx_thread_rank(t)] = cgx_shfl(t, v[cgx_thread_rank(t)], 3);
}
KERNEL(match, (uint32_t *, v), (cgx_mask *, out))
{
    cgx_tile_32 t = cgx_tiled_partition(cgx_this_block(), 32);
    out[cgx_thread_rank(t)] = cgx_match_any(t, v[cgx_thread_rank(t)]);
}
KERNEL(warp_sync, (uint32_t *, v))
{
    v[0] = 1;
    cgx_sync(cgx_tiled_partition(cgx_this_block(), 32));
    v[1] = 2;
}
KERNEL(warp_sum, (uint32_t *, v))
{
    cgx_tile_32 t = cgx_tiled_partition(cgx_this_block(), 32);
    v[cgx_thread_rank(t)] = cgx_reduce(t, v[cgx_thread_rank(t)], CGX_PLUS);
}
KERNEL(block_sync, (uint32_t *, v))
{
    CGX_SHARED_ARRAY(uint32_t, s, 1024);
    cgx_block b = cgx_this_block();
    s[cgx_thread_rank(b)] = v[cgx_thread_rank(b)];
    cgx_sync(b);
    v[cgx_thread_rank(b)] = s[1023 - cgx_thread_rank(b)];
}
KERNEL(tile_sync, (uint32_t *, v))
{
    CGX_SHARED_ARRAY(uint32_t, s, 1024);
    cgx_block b = cgx_this_block();
    cgx_tile_128 t = cgx_tiled_partition(b, 128);
    s[cgx_thread_rank(b)] = v[cgx_thread_rank(b)];
    cgx_sync(t);
    v[cgx_thread_rank(b)] = s[cgx_thread_rank(b) ^ 127];
}
KERNEL(tile_64_sync, (int *, out))
{
    cgx_tile_64 t = cgx_tiled_partition(cgx_this_block(), 64);
    cgx_sync(t);
    out[cgx_thread_rank(t)] = 1;
}
KERNEL(block_sum, (uint32_t *, v))
{
    cgx_block b = cgx_this_block();
    v[cgx_thread_rank(b)] = cgx_reduce(b, v[cgx_thread_rank(b)], CGX_PLUS);
}
KERNEL_COOPERATIVE(grid_sync, (uint32_t *, v))
{
    v[0] = 1;
    cgx_sync(cgx_this_grid());
    v[1] = v[0];
}
KERNEL(cluster_sync, (uint32_t *, v))
{
    v[0] = 1;
    cgx_sync(cgx_this_cluster());
    v[1] = v[0];
}
KERNEL(cluster_neighbour, (uint32_t *, v))
{
    CGX_SHARED(uint32_t, s);
    cgx_cluster c = cgx_this_cluster();
    *s = v[0];
    cgx_sync(c);
    v[1] = *cgx_map_shared_rank(c, s, 1);
    cgx_sync(c);
}
KERNEL(mbarrier_token, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, barrier);
    cgx_block b = cgx_this_block();
    if (cgx_elect(b))
        cgx_mbarrier_init(barrier, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_mbarrier_token token = cgx_mbarrier_arrive(barrier);
    out[cgx_thread_rank(b)] = cgx_mbarrier_test_wait(barrier, token);
}
KERNEL(mbarrier_wait, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, barrier);
    cgx_block b = cgx_this_block();
    if (cgx_elect(b))
        cgx_mbarrier_init(barrier, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_mbarrier_wait(barrier, cgx_mbarrier_arrive(barrier));
    out[cgx_thread_rank(b)] = 1;
}
KERNEL(mbarrier_try, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, barrier);
    cgx_block b = cgx_this_block();
    if (cgx_elect(b))
        cgx_mbarrier_init(barrier, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_mbarrier_token token = cgx_mbarrier_arrive(barrier);
    out[cgx_thread_rank(b)] = cgx_mbarrier_try_wait(barrier, token, 1000);
}
KERNEL(thread_copy, (const cgx_int4 *, in), (cgx_int4 *, out))
{
    CGX_SHARED_ARRAY(cgx_int4, s, 1024);
    int me = cgx_thread_rank(cgx_this_block());
    cgx_pipeline_memcpy_async(s + me, in + me, 16);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(0);
    out[me] = s[me];
}
KERNEL(thread_copy_zero, (const cgx_int4 *, in), (cgx_int4 *, out), (int, zero))
{
    CGX_SHARED_ARRAY(cgx_int4, s, 1024);
    int me = cgx_thread_rank(cgx_this_block());
    cgx_pipeline_memcpy_async_zfill(s + me, in + me, 16, (size_t)zero);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(0);
    out[me] = s[me];
}
KERNEL(copy_arrives, (const cgx_int4 *, in), (cgx_int4 *, out))
{
    CGX_SHARED_ARRAY(cgx_int4, s, 1024);
    CGX_SHARED(cgx_mbarrier, barrier);
    cgx_block b = cgx_this_block();
    int me = cgx_thread_rank(b);
    if (cgx_elect(b))
        cgx_mbarrier_init(barrier, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_pipeline_memcpy_async(s + me, in + me, 16);
    cgx_pipeline_arrive_on(barrier);
    cgx_mbarrier_wait(barrier, cgx_mbarrier_arrive(barrier));
    out[me] = s[1023 - me];
}
KERNEL(bulk_store, (const cgx_int4 *, in), (cgx_int4 *, out))
{
    CGX_SHARED_ARRAY(cgx_int4, s, 1024);
    cgx_block b = cgx_this_block();
    s[cgx_thread_rank(b)] = in[cgx_thread_rank(b)];
    cgx_sync(b);
    if (cgx_elect(b)) {
        cgx_bulk_store_async(out, s, 16384);
        cgx_bulk_store_commit();
        cgx_bulk_store_wait_prior(0);
    }
}
KERNEL(group_copy, (const cgx_int4 *, in), (cgx_int4 *, out))
{
    CGX_SHARED_ARRAY(cgx_int4, s, 1024);
    cgx_block b = cgx_this_block();
    cgx_memcpy_async_aligned(b, s, in, 16384, 16);
    cgx_wait(b);
    out[cgx_thread_rank(b)] = s[1023 - cgx_thread_rank(b)];
}
KERNEL(atomic_add, (uint32_t *, v), (uint32_t *, out))
{
    out[cgx_thread_rank(cgx_this_block())] = cgx_atomic_fetch_add(v, 3u, CGX_ACQ_REL, CGX_SCOPE_DEVICE);
}
KERNEL(atomic_load, (uint32_t *, v), (uint32_t *, out))
{
    out[0] = cgx_atomic_load(v, CGX_ACQUIRE, CGX_SCOPE_DEVICE);
}

/* SPDX-License-Identifier: MIT */
/* One primitive a kernel, for isa.sh, which looks at the instructions that it became. */
#include <cgx.h>

CGX_KERNEL(nothing, (int *, o), (int, v))
{
    o[cgx_thread_rank(cgx_this_block())] = v;
}

CGX_KERNEL(no_thread, (int *, o), (int, v))
{
    o[0] = v;
}

/* ---- synchronisation ---- */

CGX_KERNEL(block_sync, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    s[cgx_thread_rank(b)] = v;
    cgx_sync(b);
    o[cgx_thread_rank(b)] = s[v];
}
CGX_KERNEL(tile_sync, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    s[cgx_thread_rank(b)] = v;
    cgx_sync(cgx_tiled_partition(b, 16));
    o[cgx_thread_rank(b)] = s[v];
}
CGX_KERNEL(tile128_sync, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    s[cgx_thread_rank(b)] = v;
    cgx_sync(cgx_tiled_partition(b, 128));
    o[cgx_thread_rank(b)] = s[v];
}
CGX_KERNEL(split_sync, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    s[cgx_thread_rank(b)] = v;
    cgx_token token = cgx_barrier_arrive(b);
    cgx_barrier_wait(b, token);
    o[cgx_thread_rank(b)] = s[v];
}
CGX_KERNEL_COOPERATIVE(grid_sync, (int *, o), (int, v))
{
    cgx_grid g = cgx_this_grid();
    o[cgx_thread_rank(g)] = v;
    cgx_sync(g);
    o[cgx_thread_rank(g)] += o[v];
}
CGX_KERNEL(mbarrier_round, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_thread_rank(b) == 0)
        cgx_mbarrier_init(m, cgx_num_threads(b));
    cgx_sync(b);
    cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
    o[cgx_thread_rank(b)] = v;
}

/* ---- in a wave ---- */

CGX_KERNEL(shuffle, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    o[cgx_thread_rank(b)] = cgx_shfl(cgx_tiled_partition(b, 16), o[cgx_thread_rank(b)], v);
}
CGX_KERNEL(shuffle_xor, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    (void)v;
    o[cgx_thread_rank(b)] = cgx_shfl_xor(cgx_tiled_partition(b, 16), o[cgx_thread_rank(b)], 1);
}
CGX_KERNEL(ballot, (cgx_mask *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    o[cgx_thread_rank(b)] = cgx_ballot(cgx_tiled_partition(b, 32), cgx_thread_rank(b) > v);
}
CGX_KERNEL(coalesced_rank, (int *, o), (int, v))
{
    int r = cgx_thread_rank(cgx_this_block());
    if (r > v)
        o[r] = cgx_thread_rank(cgx_coalesced_threads());
}
CGX_KERNEL(coalesced_shuffle, (int *, o), (int, v))
{
    int r = cgx_thread_rank(cgx_this_block());
    if (r > v)
        o[r] = cgx_shfl(cgx_coalesced_threads(), o[r], v);
}
CGX_KERNEL(match_any, (cgx_mask *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    o[cgx_thread_rank(b)] = cgx_match_any(cgx_tiled_partition(b, 32), cgx_thread_rank(b) % v);
}
CGX_KERNEL(tile_reduce, (int *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    (void)v;
    o[cgx_thread_rank(b)] = cgx_reduce(cgx_tiled_partition(b, 32), o[cgx_thread_rank(b)], CGX_PLUS);
}
CGX_KERNEL(tile_scan, (float *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    (void)v;
    o[cgx_thread_rank(b)] = cgx_inclusive_scan(cgx_tiled_partition(b, 32), o[cgx_thread_rank(b)], CGX_PLUS);
}
CGX_KERNEL(block_reduce, (float *, o), (int, v))
{
    cgx_block b = cgx_this_block();
    (void)v;
    o[cgx_thread_rank(b)] = cgx_reduce(b, o[cgx_thread_rank(b)], CGX_PLUS);
}

/* ---- copies ---- */

CGX_KERNEL(group_copy, (const int *, o), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    cgx_memcpy_async(b, s, o, 1024 * sizeof *s);
    cgx_wait(b);
    out[cgx_thread_rank(b)] = s[1023 - cgx_thread_rank(b)];
}

/* ---- memory ---- */

#define FENCE(name, order, scope)                  \
    CGX_KERNEL(fence_##name, (int *, o), (int, v)) \
    {                                              \
        o[0] = v;                                  \
        cgx_atomic_fence(order, scope);            \
        o[64] = v;                                 \
    }
FENCE(block, CGX_ACQ_REL, CGX_SCOPE_BLOCK)
FENCE(device, CGX_ACQ_REL, CGX_SCOPE_DEVICE)
FENCE(system, CGX_ACQ_REL, CGX_SCOPE_SYSTEM)
CGX_KERNEL(add_relaxed, (int *, o), (int, v))
{
    cgx_atomic_fetch_add(o, v, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL(load_acquire, (int *, o), (int, v))
{
    int first = cgx_atomic_load(o, CGX_ACQUIRE, CGX_SCOPE_DEVICE);
    o[64] = first + o[v];
}
CGX_KERNEL(store_release, (int *, o), (int, v))
{
    o[64] = v;
    cgx_atomic_store(o, v, CGX_RELEASE, CGX_SCOPE_DEVICE);
}

#ifdef CGX_HOST_PASS
int main(void)
{
    return 0;
}
#endif

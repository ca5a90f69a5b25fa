/* SPDX-License-Identifier: MIT */
/* One warp and its parts. */
#include "warp_kernels.h"
#if defined(CGX_PASS_CUDA)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
#endif

#define TILE(n) const cgx_tile_##n t = cgx_tiled_partition(cgx_this_block(), n);
#define TILE_CG(n) const auto t = cg::tiled_partition<n>(cg::this_thread_block());

#if defined(CGX_PASS_CUDA)
static __device__ uint32_t redux(uint32_t v)
{
    return __reduce_add_sync(0xffffffffu, v);
}
/* What one writes by hand; the order of the sum is the shuffle's. */
static __device__ float shuffle_add(float v)
{
    for (int m = 16; m; m /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}
static __device__ float shuffle_max(float v)
{
    for (int m = 16; m; m /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, m));
    return v;
}
template <typename T> static __device__ T coalesced_sum_cg(T v)
{
    if (threadIdx.x & 1)
        return v;
    const auto g = cg::coalesced_threads();
    return cg::reduce(g, v, cg::plus<T>());
}
static __device__ uint32_t labeled_of_cg(cg::thread_block_tile<32, cg::thread_block> t, uint32_t v)
{
    const auto g = cg::labeled_partition(t, v & 7);
    return g.size() + 100 * g.thread_rank() + 10000 * g.meta_group_rank();
}
static __device__ uint32_t binary_of_cg(cg::thread_block_tile<32, cg::thread_block> t, uint32_t v)
{
    const auto g = cg::binary_partition(t, v & 1);
    return g.size() + 100 * g.thread_rank();
}
static __device__ uint32_t synced_cg(cg::thread_block_tile<8, cg::thread_block> t, uint32_t v)
{
    t.sync();
    MICRO_OPAQUE(v);
    return v;
}
#endif

#define COALESCED_SUM(T)                                         \
    CGX_DEVICE_FN T coalesced_sum_##T(cgx_block b, T v)          \
    {                                                            \
        CGX_IN_GROUP(b);                                         \
        if (cgx_thread_rank(b) & 1)                              \
            return v;                                            \
        return cgx_reduce(cgx_coalesced_threads(), v, CGX_PLUS); \
    }
COALESCED_SUM(float)
COALESCED_SUM(uint32_t)

CGX_DEVICE_FN uint32_t labeled_of(cgx_tile_32 t, uint32_t v)
{
    CGX_IN_GROUP(t);
    const cgx_coalesced g = cgx_labeled_partition(t, v & 7);
    return (uint32_t)(cgx_num_threads(g) + 100 * cgx_thread_rank(g) + 10000 * cgx_meta_group_rank(g));
}
CGX_DEVICE_FN uint32_t binary_of(cgx_tile_32 t, uint32_t v)
{
    CGX_IN_GROUP(t);
    const cgx_coalesced g = cgx_binary_partition(t, v & 1);
    return (uint32_t)(cgx_num_threads(g) + 100 * cgx_thread_rank(g));
}
CGX_DEVICE_FN uint32_t matched(cgx_tile_32 t, uint32_t v)
{
    CGX_IN_GROUP(t);
    const cgx_mask m = cgx_match_any(t, v & 7);
#if defined(CGX_PASS_CUDA)
    return (uint32_t)__popc((uint32_t)m);
#else
    return (uint32_t)m;
#endif
}
CGX_DEVICE_FN uint32_t synced(cgx_tile_8 t, uint32_t v)
{
    CGX_IN_GROUP(t);
    cgx_sync(t);
    MICRO_OPAQUE(v);
    return v;
}
CGX_DEVICE_FN uint32_t opaque(uint32_t v)
{
    MICRO_OPAQUE(v);
    return v;
}

MICRO(loop, uint32_t, , opaque(v))
MICRO(warp_add_u32, uint32_t, TILE(32), cgx_reduce(t, v, CGX_PLUS))
MICRO(warp_add_u32_cg, uint32_t, TILE_CG(32), cg::reduce(t, v, cg::plus<uint32_t>()))
MICRO(warp_add_u32_redux, uint32_t, , redux(v))
MICRO(warp_add_f32, float, TILE(32), cgx_reduce(t, v, CGX_PLUS))
MICRO(warp_add_f32_cg, float, TILE_CG(32), cg::reduce(t, v, cg::plus<float>()))
MICRO(warp_add_f32_shuffle, float, , shuffle_add(v))
MICRO(warp_max_f32, float, TILE(32), cgx_reduce(t, v, CGX_GREATER))
MICRO(warp_max_f32_cg, float, TILE_CG(32), cg::reduce(t, v, cg::greater<float>()))
MICRO(warp_max_f32_shuffle, float, , shuffle_max(v))
MICRO(warp_add_u64, uint64_t, TILE(32), cgx_reduce(t, v, CGX_PLUS))
MICRO(warp_add_u64_cg, uint64_t, TILE_CG(32), cg::reduce(t, v, cg::plus<uint64_t>()))
MICRO(warp_scan_f32, float, TILE(32), cgx_inclusive_scan(t, v, CGX_PLUS))
MICRO(warp_scan_f32_cg, float, TILE_CG(32), cg::inclusive_scan(t, v, cg::plus<float>()))
MICRO(warp_exclusive_u32, uint32_t, TILE(32), cgx_exclusive_scan(t, v, CGX_PLUS))
MICRO(warp_exclusive_u32_cg, uint32_t, TILE_CG(32), cg::exclusive_scan(t, v))
MICRO(tile8_add_f32, float, TILE(8), cgx_reduce(t, v, CGX_PLUS))
MICRO(tile8_add_f32_cg, float, TILE_CG(8), cg::reduce(t, v, cg::plus<float>()))
MICRO(tile16_add_u32, uint32_t, TILE(16), cgx_reduce(t, v, CGX_PLUS))
MICRO(tile16_add_u32_cg, uint32_t, TILE_CG(16), cg::reduce(t, v, cg::plus<uint32_t>()))
MICRO(tile8_sync, uint32_t, TILE(8), synced(t, v))
MICRO(tile8_sync_cg, uint32_t, TILE_CG(8), synced_cg(t, v))
MICRO(coalesced_add_f32, float, const cgx_block b = cgx_this_block();, coalesced_sum_float(b, v))
MICRO(coalesced_add_f32_cg, float, , coalesced_sum_cg(v))
MICRO(coalesced_add_u32, uint32_t, const cgx_block b = cgx_this_block();, coalesced_sum_uint32_t(b, v))
MICRO(coalesced_add_u32_cg, uint32_t, , coalesced_sum_cg(v))
MICRO(labeled, uint32_t, TILE(32), labeled_of(t, v))
MICRO(labeled_cg, uint32_t, TILE_CG(32), labeled_of_cg(t, v))
MICRO(match, uint32_t, TILE(32), matched(t, v))
MICRO(match_native, uint32_t, , (uint32_t)__popc(__match_any_sync(0xffffffffu, v & 7)))
MICRO(binary, uint32_t, TILE(32), binary_of(t, v))
MICRO(binary_cg, uint32_t, TILE_CG(32), binary_of_cg(t, v))

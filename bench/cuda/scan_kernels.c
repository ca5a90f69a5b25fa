/* SPDX-License-Identifier: MIT */
/* Scans of blocks and of coalesced groups, a user's operator, sums by label and of doubles, matches of any labels:
 * beyond the rows that goals were set for. The user's operator has the whole file compiled without contraction, the
 * native forms as well. */
#include "scan_kernels.h"
#if defined(CGX_PASS_CUDA)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/block/block_scan.cuh>
namespace cg = cooperative_groups;
#endif

typedef struct {
    uint32_t v;
    int at;
} place;
CGX_OP(place, better, a, b, b.v > a.v || (b.v == a.v && b.at < a.at) ? b : a)

#define TILE const cgx_tile_32 t = cgx_tiled_partition(cgx_this_block(), 32);
#define TILE_CG const auto t = cg::tiled_partition<32>(cg::this_thread_block());
#define BLOCK const cgx_block b = cgx_this_block();

CGX_DEVICE_FN uint32_t largest_at(cgx_tile_32 t, uint32_t v)
{
    const place mine = { v, cgx_thread_rank(t) }, best = cgx_reduce_op(t, mine, better);
    CGX_IN_GROUP(t);
    return best.v | (uint32_t)best.at << 16;
}
CGX_DEVICE_FN uint32_t coalesced_slot(cgx_block b, uint32_t v)
{
    CGX_IN_GROUP(b);
    if (cgx_thread_rank(b) & 1)
        return v;
    return cgx_exclusive_scan(cgx_coalesced_threads(), v, CGX_PLUS);
}
CGX_DEVICE_FN uint32_t sum_of_label(cgx_tile_32 t, uint32_t v)
{
    CGX_IN_GROUP(t);
    return (uint32_t)cgx_reduce(cgx_labeled_partition(t, v & 7), (float)v, CGX_PLUS);
}

CGX_DEVICE_FN uint32_t matched(cgx_tile_32 t, uint32_t v)
{
    const cgx_mask m = cgx_match_any(t, v | 0x10000);
    CGX_IN_GROUP(t);
#if defined(CGX_PASS_CUDA)
    return (uint32_t)__popc((uint32_t)m);
#else
    return (uint32_t)m;
#endif
}

#if defined(CGX_PASS_CUDA)
static __device__ uint32_t largest_at_cg(cg::thread_block_tile<32, cg::thread_block> t, uint32_t v)
{
    const place mine = { v, (int)t.thread_rank() };
    const place best = cg::reduce(
        t, mine, [](const place &a, const place &b) { return b.v > a.v || (b.v == a.v && b.at < a.at) ? b : a; });
    return best.v | (uint32_t)best.at << 16;
}
static __device__ uint32_t coalesced_slot_cg(uint32_t v)
{
    if (threadIdx.x & 1)
        return v;
    return cg::exclusive_scan(cg::coalesced_threads(), v);
}
static __device__ uint32_t sum_of_label_cg(cg::thread_block_tile<32, cg::thread_block> t, uint32_t v)
{
    return (uint32_t)cg::reduce(cg::labeled_partition(t, v & 7), (float)v, cg::plus<float>());
}
/* What CUB keeps in shared memory may be used again behind a barrier. */
template <typename S, typename T> static __device__ T scanned_cub(typename S::TempStorage &storage, T v)
{
    T r;
    S(storage).InclusiveSum(v, r);
    __syncthreads();
    return r;
}
typedef cub::BlockScan<uint32_t, 256> scan_u32;
typedef cub::BlockScan<uint32_t, 256, cub::BLOCK_SCAN_WARP_SCANS> scan_u32_warps;
typedef cub::BlockScan<float, 256> scan_f32;
typedef cub::BlockScan<float, 256, cub::BLOCK_SCAN_WARP_SCANS> scan_f32_warps;
#endif
#define CUB(S) __shared__ S::TempStorage storage;

MICRO(warp_add_f64, double, TILE, cgx_reduce(t, v, CGX_PLUS))
MICRO(warp_add_f64_cg, double, TILE_CG, cg::reduce(t, v, cg::plus<double>()))
MICRO(warp_argmax, uint32_t, TILE, largest_at(t, v))
MICRO(warp_argmax_cg, uint32_t, TILE_CG, largest_at_cg(t, v))
MICRO(coalesced_scan, uint32_t, BLOCK, coalesced_slot(b, v))
MICRO(coalesced_scan_cg, uint32_t, , coalesced_slot_cg(v))
MICRO(sum_by_label, uint32_t, TILE, sum_of_label(t, v))
MICRO(sum_by_label_cg, uint32_t, TILE_CG, sum_of_label_cg(t, v))
MICRO(match_any_label, uint32_t, TILE, matched(t, v))
MICRO(match_any_label_native, uint32_t, , (uint32_t)__popc(__match_any_sync(0xffffffffu, v | 0x10000)))
MICRO_BLOCK(block_scan_u32_256, uint32_t, 256, BLOCK, cgx_inclusive_scan(b, v, CGX_PLUS))
MICRO_BLOCK(block_scan_u32_256_cub, uint32_t, 256, CUB(scan_u32), scanned_cub<scan_u32>(storage, v))
MICRO_BLOCK(block_scan_u32_256_warps, uint32_t, 256, CUB(scan_u32_warps), scanned_cub<scan_u32_warps>(storage, v))
MICRO_BLOCK(block_scan_f32_256, float, 256, BLOCK, cgx_inclusive_scan(b, v, CGX_PLUS))
MICRO_BLOCK(block_scan_f32_256_cub, float, 256, CUB(scan_f32), scanned_cub<scan_f32>(storage, v))
MICRO_BLOCK(block_scan_f32_256_warps, float, 256, CUB(scan_f32_warps), scanned_cub<scan_f32_warps>(storage, v))

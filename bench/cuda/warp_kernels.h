/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_WARP_KERNELS_H
#define BENCH_CUDA_WARP_KERNELS_H
#include "micro.h"
#define FOREACH_WARP_KERNEL(X) \
    X(loop)                    \
    X(warp_add_u32)            \
    X(warp_add_u32_cg)         \
    X(warp_add_u32_redux)      \
    X(warp_add_f32)            \
    X(warp_add_f32_cg)         \
    X(warp_add_f32_shuffle)    \
    X(warp_max_f32)            \
    X(warp_max_f32_cg)         \
    X(warp_max_f32_shuffle)    \
    X(warp_add_u64)            \
    X(warp_add_u64_cg)         \
    X(warp_scan_f32)           \
    X(warp_scan_f32_cg)        \
    X(warp_exclusive_u32)      \
    X(warp_exclusive_u32_cg)   \
    X(tile8_add_f32)           \
    X(tile8_add_f32_cg)        \
    X(tile16_add_u32)          \
    X(tile16_add_u32_cg)       \
    X(tile8_sync)              \
    X(tile8_sync_cg)           \
    X(coalesced_add_f32)       \
    X(coalesced_add_f32_cg)    \
    X(coalesced_add_u32)       \
    X(coalesced_add_u32_cg) X(labeled) X(labeled_cg) X(match) X(match_native) X(binary) X(binary_cg)
FOREACH_WARP_KERNEL(MICRO_DECLARE)
#endif

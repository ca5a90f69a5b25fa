/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_SCAN_KERNELS_H
#define BENCH_CUDA_SCAN_KERNELS_H
#include "micro.h"

MICRO_DECLARE(warp_add_f64)
MICRO_DECLARE(warp_add_f64_cg)
MICRO_DECLARE(warp_argmax)
MICRO_DECLARE(warp_argmax_cg)
MICRO_DECLARE(coalesced_scan)
MICRO_DECLARE(coalesced_scan_cg)
MICRO_DECLARE(sum_by_label)
MICRO_DECLARE(sum_by_label_cg)
MICRO_DECLARE(match_any_label)
MICRO_DECLARE(match_any_label_native)
MICRO_DECLARE(block_scan_u32_256)
MICRO_DECLARE(block_scan_u32_256_cub)
MICRO_DECLARE(block_scan_u32_256_warps)
MICRO_DECLARE(block_scan_f32_256)
MICRO_DECLARE(block_scan_f32_256_cub)
MICRO_DECLARE(block_scan_f32_256_warps)
#endif

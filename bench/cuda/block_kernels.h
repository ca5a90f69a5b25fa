/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_BLOCK_KERNELS_H
#define BENCH_CUDA_BLOCK_KERNELS_H
#include "micro.h"
#define FOREACH_BLOCK_KERNEL(X) \
    X(block_sync)               \
    X(block_sync_native)        \
    X(tile128_sync)             \
    X(tile128_sync_cg)          \
    X(tile64_sync)              \
    X(tile64_sync_cg)           \
    X(tile64_sync_1024)         \
    X(tile64_sync_1024_cg)      \
    X(tile128_add_u32)          \
    X(tile128_add_u32_cg)       \
    X(tile128_add_f32)          \
    X(tile128_add_f32_cg)       \
    X(block_add_u32_256)        \
    X(block_add_u32_256_cg)     \
    X(block_add_u32_256_cub)    \
    X(block_add_u32_512)        \
    X(block_add_u32_512_cg)     \
    X(block_add_u32_512_cub)    \
    X(block_add_u32_1024)       \
    X(block_add_u32_1024_cg)    \
    X(block_add_u32_1024_cub)   \
    X(block_add_f32_256)        \
    X(block_add_f32_256_cub)    \
    X(mbarrier_token)           \
    X(mbarrier_parity)          \
    X(mbarrier_test) X(mbarrier_try) X(mbarrier_libcu) X(cluster_sync) X(cluster_sync_cg) X(cluster_execution)
FOREACH_BLOCK_KERNEL(MICRO_DECLARE)
CGX_KERNEL_DECLARE(grid_rounds, (uint32_t *, slots), (uint32_t *, wrong), (int, rounds), (int, checked))
CGX_KERNEL_DECLARE(grid_rounds_cg, (uint32_t *, slots), (uint32_t *, wrong), (int, rounds), (int, checked))
#endif

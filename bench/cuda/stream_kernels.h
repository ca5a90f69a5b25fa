/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_STREAM_KERNELS_H
#define BENCH_CUDA_STREAM_KERNELS_H
#include <cgx.h>

/* Reading: each block leaves the sum of what it has read. X(name, threads, bytes of dynamic shared memory) */
#define FOREACH_READER(X)                  \
    X(read_group_4k, 256, 2 * 4096)        \
    X(read_group_16k, 256, 2 * 16384)      \
    X(read_thread_4, 256, 4 * 4096)        \
    X(read_thread_8, 256, 8 * 4096)        \
    X(read_bulk_4x8k, 288, 4 * 8192)       \
    X(read_bulk_4x16k, 288, 4 * 16384)     \
    X(read_bulk_6x32k, 288, 6 * 32768)     \
    X(read_plain_1, 256, 0)                \
    X(read_plain_4, 256, 0)                \
    X(read_plain_8, 256, 0)                \
    X(read_cg_4k, 256, 2 * 4096)           \
    X(read_cg_16k, 256, 2 * 16384)         \
    X(read_pipeline_2x16k, 256, 2 * 16384) \
    X(read_pipeline_4x8k, 256, 4 * 8192)   \
    X(read_barrier_4x8k, 256, 4 * 8192)    \
    X(read_barrier_4x16k, 256, 4 * 16384) X(read_primitive_4, 256, 4 * 4096) X(read_primitive_8, 256, 8 * 4096)
#define DECLARE(name, threads, shared) \
    CGX_KERNEL_DECLARE(name, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, sums))
FOREACH_READER(DECLARE)
#undef DECLARE
/* Copying n vectors. */
#define FOREACH_COPIER(X) \
    X(copy_bulk_6x16k, 32, 6 * 16384) X(copy_bulk_8x8k, 32, 8 * 8192) X(copy_vectors, 256, 0) X(copy_plain, 256, 0)
#define DECLARE(name, threads, shared) \
    CGX_KERNEL_DECLARE(name, (const cgx_uint4 *, in), (int64_t, n), (cgx_uint4 *, out))
FOREACH_COPIER(DECLARE)
#undef DECLARE
/* What the harness needs: random numbers, the sum of all, and whether two arrays differ. */
CGX_KERNEL_DECLARE(fill_random, (uint32_t *, out), (int64_t, n), (uint64_t, seed))
CGX_KERNEL_DECLARE(sum_all, (const uint32_t *, in), (int64_t, n), (uint32_t *, sum))
CGX_KERNEL_DECLARE(differ, (const uint32_t *, a), (const uint32_t *, b), (int64_t, n), (uint32_t *, any))
#endif

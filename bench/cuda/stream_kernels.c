/* SPDX-License-Identifier: MIT */
/* Kernels that read or copy more than the caches hold, by every means there is. */
#include "stream_kernels.h"
#include <stdbool.h>
#if defined(CGX_PASS_CUDA)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init /* make_pipeline initialises its shared state itself */
#endif

#define READER(name, threads)                                                                          \
    CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(threads, 1, 1), name, (const cgx_uint4 *, in), (int64_t, n), \
                           (uint32_t *, sums))

CGX_DEVICE_FN uint32_t sum_of(cgx_uint4 v)
{
    return v.x + v.y + v.z + v.w;
}
CGX_DEVICE_FN void leave_sum(cgx_block b, uint32_t mine, uint32_t *sums)
{
    CGX_IN_GROUP(b);
    const uint32_t sum = cgx_reduce(b, mine, CGX_PLUS);
    if (cgx_thread_rank(b) == 0)
        sums[cgx_group_index(b).x] = sum;
}

/* ---- cgx ---- */

/* The group's copy, two stages: what the guide shows. */
#define READ_GROUP(name, bytes)                                                                                \
    READER(name, 256)                                                                                          \
    {                                                                                                          \
        enum { VECTORS = (bytes) / 16 };                                                                       \
        CGX_DYNAMIC_SHARED(cgx_uint4, stage);                                                                  \
        const cgx_block b = cgx_this_block();                                                                  \
        const int64_t tiles = n / VECTORS, step = cgx_num_blocks(cgx_this_grid());                             \
        int64_t at = cgx_block_rank(cgx_this_grid());                                                          \
        uint32_t sum = 0;                                                                                      \
        int k = 0;                                                                                             \
        if (at < tiles)                                                                                        \
            cgx_memcpy_async_aligned(b, stage, in + at * VECTORS, bytes, 16);                                  \
        for (; at < tiles; at += step, k ^= 1) {                                                               \
            const bool more = at + step < tiles;                                                               \
            if (more)                                                                                          \
                cgx_memcpy_async_aligned(b, stage + (k ^ 1) * VECTORS, in + (at + step) * VECTORS, bytes, 16); \
            cgx_wait_prior(b, more ? 1 : 0);                                                                   \
            for (int i = 0; i < VECTORS / 256; i++)                                                            \
                sum += sum_of(stage[k * VECTORS + i * 256 + cgx_thread_rank(b)]);                              \
            cgx_sync(b);                                                                                       \
        }                                                                                                      \
        leave_sum(b, sum, sums);                                                                               \
    }
READ_GROUP(read_group_4k, 4096)
READ_GROUP(read_group_16k, 16384)

/* Each thread its own copies of 16 bytes, DEPTH on their way: no thread waits for another. */
#define READ_THREAD(name, DEPTH)                                                              \
    READER(name, 256)                                                                         \
    {                                                                                         \
        CGX_DYNAMIC_SHARED(cgx_uint4, ring);                                                  \
        const cgx_block b = cgx_this_block();                                                 \
        const int me = cgx_thread_rank(b);                                                    \
        const int64_t tiles = n / 256, step = cgx_num_blocks(cgx_this_grid());                \
        int64_t at = cgx_block_rank(cgx_this_grid()), ahead = at;                             \
        uint32_t sum = 0;                                                                     \
        int k = 0, next = 0;                                                                  \
        for (int d = 0; d < DEPTH - 1; d++, ahead += step, next++) {                          \
            if (ahead < tiles)                                                                \
                cgx_pipeline_memcpy_async(ring + next * 256 + me, in + ahead * 256 + me, 16); \
            cgx_pipeline_commit();                                                            \
        }                                                                                     \
        for (; at < tiles; at += step, ahead += step) {                                       \
            if (ahead < tiles)                                                                \
                cgx_pipeline_memcpy_async(ring + next * 256 + me, in + ahead * 256 + me, 16); \
            cgx_pipeline_commit();                                                            \
            next = next + 1 == DEPTH ? 0 : next + 1;                                          \
            cgx_pipeline_wait_prior(DEPTH - 1);                                               \
            sum += sum_of(ring[k * 256 + me]);                                                \
            k = k + 1 == DEPTH ? 0 : k + 1;                                                   \
        }                                                                                     \
        leave_sum(b, sum, sums);                                                              \
    }
READ_THREAD(read_thread_4, 4)
READ_THREAD(read_thread_8, 8)

/* Eight warps that use what a ninth has fetched by bulk copies. */
#define READ_BULK(name, DEPTH, bytes)                                                             \
    READER(name, 288)                                                                             \
    {                                                                                             \
        enum { VECTORS = (bytes) / 16 };                                                          \
        CGX_SHARED_ARRAY(cgx_mbarrier, full, DEPTH);                                              \
        CGX_SHARED_ARRAY(cgx_mbarrier, empty, DEPTH);                                             \
        CGX_DYNAMIC_SHARED(cgx_uint4, stage);                                                     \
        const cgx_block b = cgx_this_block();                                                     \
        const cgx_tile_32 warp = cgx_tiled_partition(b, 32);                                      \
        const int64_t tiles = n / VECTORS, step = cgx_num_blocks(cgx_this_grid());                \
        int64_t at = cgx_block_rank(cgx_this_grid());                                             \
        uint32_t sum = 0, phase = 0;                                                              \
        int k = 0;                                                                                \
        if (cgx_thread_rank(b) == 0)                                                              \
            for (int i = 0; i < DEPTH; i++) {                                                     \
                cgx_mbarrier_init(full + i, 1);                                                   \
                cgx_mbarrier_init(empty + i, 8);                                                  \
            }                                                                                     \
        cgx_sync(b);                                                                              \
        if (cgx_meta_group_rank(warp) == 8) {                                                     \
            if (cgx_elect(warp))                                                                  \
                for (; at < tiles; at += step) {                                                  \
                    cgx_mbarrier_wait_parity(empty + k, phase ^ 1);                               \
                    cgx_mbarrier_arrive_expect_tx(full + k, bytes);                               \
                    cgx_bulk_copy_async(stage + k * VECTORS, in + at * VECTORS, bytes, full + k); \
                    if (++k == DEPTH)                                                             \
                        k = 0, phase ^= 1;                                                        \
                }                                                                                 \
        } else {                                                                                  \
            for (; at < tiles; at += step) {                                                      \
                cgx_mbarrier_wait_parity(full + k, phase);                                        \
                for (int i = 0; i < VECTORS / 256; i++)                                           \
                    sum += sum_of(stage[k * VECTORS + i * 256 + cgx_thread_rank(b)]);             \
                cgx_sync(warp);                                                                   \
                if (cgx_elect(warp))                                                              \
                    cgx_mbarrier_arrive(empty + k);                                               \
                if (++k == DEPTH)                                                                 \
                    k = 0, phase ^= 1;                                                            \
            }                                                                                     \
        }                                                                                         \
        cgx_sync(b);                                                                              \
        leave_sum(b, sum, sums);                                                                  \
    }
READ_BULK(read_bulk_4x8k, 4, 8192)
READ_BULK(read_bulk_4x16k, 4, 16384)
READ_BULK(read_bulk_6x32k, 6, 32768)

/* One thread a block drives bulk copies in and bulk stores out. */
#define COPY_BULK(name, DEPTH, bytes)                                                                                 \
    CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(32, 1, 1), name, (const cgx_uint4 *, in), (int64_t, n), (cgx_uint4 *, out)) \
    {                                                                                                                 \
        enum { VECTORS = (bytes) / 16 };                                                                              \
        CGX_SHARED_ARRAY(cgx_mbarrier, full, DEPTH);                                                                  \
        CGX_DYNAMIC_SHARED(cgx_uint4, stage);                                                                         \
        const int64_t tiles = n / VECTORS, step = cgx_num_blocks(cgx_this_grid());                                    \
        int64_t at = cgx_block_rank(cgx_this_grid()), ahead = at;                                                     \
        uint32_t phase = 0;                                                                                           \
        int k = 0, next = 0;                                                                                          \
        if (cgx_thread_rank(cgx_this_block()) != 0)                                                                   \
            return;                                                                                                   \
        for (int i = 0; i < DEPTH; i++)                                                                               \
            cgx_mbarrier_init(full + i, 1);                                                                           \
        for (int d = 0; d < DEPTH - 1 && ahead < tiles; d++, next++, ahead += step) {                                 \
            cgx_mbarrier_arrive_expect_tx(full + next, bytes);                                                        \
            cgx_bulk_copy_async(stage + next * VECTORS, in + ahead * VECTORS, bytes, full + next);                    \
        }                                                                                                             \
        for (; at < tiles; at += step) {                                                                              \
            cgx_mbarrier_wait_parity(full + k, phase);                                                                \
            cgx_bulk_store_async(out + at * VECTORS, stage + k * VECTORS, bytes);                                     \
            cgx_bulk_store_commit();                                                                                  \
            if (++k == DEPTH)                                                                                         \
                k = 0, phase ^= 1;                                                                                    \
            if (ahead < tiles) {                                                                                      \
                next = next == DEPTH ? 0 : next;                                                                      \
                cgx_bulk_store_wait_prior(1); /* the stage before this one has left */                                \
                cgx_mbarrier_arrive_expect_tx(full + next, bytes);                                                    \
                cgx_bulk_copy_async(stage + next * VECTORS, in + ahead * VECTORS, bytes, full + next);                \
                next++, ahead += step;                                                                                \
            }                                                                                                         \
        }                                                                                                             \
        cgx_bulk_store_wait_prior(0);                                                                                 \
    }
COPY_BULK(copy_bulk_6x16k, 6, 16384)
COPY_BULK(copy_bulk_8x8k, 8, 8192)

/* What one writes first. */
CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(256, 1, 1), copy_vectors, (const cgx_uint4 *, in), (int64_t, n),
                       (cgx_uint4 *, out))
{
    const cgx_grid g = cgx_this_grid();
    const int64_t step = cgx_num_threads(g);
    int64_t i = cgx_thread_rank(g);
    for (; i + 3 * step < n; i += 4 * step) {
        const cgx_uint4 p = in[i], q = in[i + step], r = in[i + 2 * step], s = in[i + 3 * step];
        out[i] = p, out[i + step] = q, out[i + 2 * step] = r, out[i + 3 * step] = s;
    }
    for (; i < n; i += step)
        out[i] = in[i];
}

/* ---- the harness's ---- */

CGX_DEVICE_FN uint32_t hashed(uint64_t i, uint64_t seed)
{
    uint64_t z = i * 0x9e3779b97f4a7c15u + seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}
CGX_KERNEL_EXTERN(fill_random, (uint32_t *, out), (int64_t, n), (uint64_t, seed))
{
    for (int64_t i = cgx_thread_rank(cgx_this_grid()); i < n; i += cgx_num_threads(cgx_this_grid()))
        out[i] = hashed((uint64_t)i, seed);
}
CGX_KERNEL_EXTERN(sum_all, (const uint32_t *, in), (int64_t, n), (uint32_t *, sum))
{
    uint32_t mine = 0;
    for (int64_t i = cgx_thread_rank(cgx_this_grid()); i < n; i += cgx_num_threads(cgx_this_grid()))
        mine += in[i];
    cgx_atomic_fetch_add(sum, mine, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL_EXTERN(differ, (const uint32_t *, a), (const uint32_t *, b), (int64_t, n), (uint32_t *, any))
{
    for (int64_t i = cgx_thread_rank(cgx_this_grid()); i < n; i += cgx_num_threads(cgx_this_grid()))
        if (a[i] != b[i])
            *any = 1;
}

/* ---- CUDA's own ---- */

#if defined(CGX_PASS_CUDA)
static __device__ __forceinline__ const uint4 *vectors(const cgx_uint4 *p)
{
    return reinterpret_cast<const uint4 *>(p);
}
static __device__ __forceinline__ uint32_t sum4(uint4 v)
{
    return v.x + v.y + v.z + v.w;
}

template <int unroll, bool streaming>
static __device__ void read_plain(cgx_block block, const uint4 *in, int64_t n, uint32_t *sums)
{
    const int64_t step = (int64_t)gridDim.x * 256;
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    uint32_t sum = 0;
    for (; i + (unroll - 1) * step < n; i += unroll * step) {
        uint4 v[unroll];
#pragma unroll
        for (int u = 0; u < unroll; u++)
            v[u] = streaming ? __ldcs(in + i + u * step) : __ldg(in + i + u * step);
#pragma unroll
        for (int u = 0; u < unroll; u++)
            sum += sum4(v[u]);
    }
    for (; i < n; i += step)
        sum += sum4(in[i]);
    leave_sum(block, sum, sums);
}

template <int bytes> static __device__ void read_cg(cgx_block block, const uint4 *in, int64_t n, uint32_t *sums)
{
    constexpr int size = bytes / 16;
    uint4 *const stage = reinterpret_cast<uint4 *>(cgx__dynamic_shared);
    const auto b = cg::this_thread_block();
    const int64_t tiles = n / size;
    int64_t at = blockIdx.x;
    uint32_t sum = 0;
    int k = 0;
    if (at < tiles)
        cg::memcpy_async(b, stage, in + at * size, cuda::aligned_size_t<16>(bytes));
    for (; at < tiles; at += gridDim.x, k ^= 1) {
        if (at + gridDim.x < tiles) {
            cg::memcpy_async(b, stage + (k ^ 1) * size, in + (at + gridDim.x) * size, cuda::aligned_size_t<16>(bytes));
            cg::wait_prior<1>(b);
        } else {
            cg::wait(b);
        }
#pragma unroll
        for (int i = 0; i < size / 256; i++)
            sum += sum4(stage[k * size + i * 256 + threadIdx.x]);
        b.sync();
    }
    leave_sum(block, sum, sums);
}

template <int bytes, int depth>
static __device__ void read_pipeline(cgx_block block, const uint4 *in, int64_t n, uint32_t *sums)
{
    constexpr int size = bytes / 16;
    uint4 *const stage = reinterpret_cast<uint4 *>(cgx__dynamic_shared);
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, depth> shared;
    const auto b = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(b, &shared);
    const int64_t tiles = n / size;
    int64_t ahead = blockIdx.x;
    uint32_t sum = 0;
    int k = 0, next = 0;
    for (int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
        for (; ahead < tiles && ahead < at + (int64_t)depth * gridDim.x; ahead += gridDim.x) {
            pipe.producer_acquire();
            cuda::memcpy_async(b, stage + next * size, in + ahead * size, cuda::aligned_size_t<16>(bytes), pipe);
            pipe.producer_commit();
            next = next + 1 == depth ? 0 : next + 1;
        }
        pipe.consumer_wait();
#pragma unroll
        for (int i = 0; i < size / 256; i++)
            sum += sum4(stage[k * size + i * 256 + threadIdx.x]);
        pipe.consumer_release();
        k = k + 1 == depth ? 0 : k + 1;
    }
    leave_sum(block, sum, sums);
}

typedef cuda::barrier<cuda::thread_scope_block> libcu_barrier;
static __device__ void start(libcu_barrier *b)
{
    init(b, blockDim.x);
}
template <int bytes, int depth>
static __device__ void read_barrier(cgx_block block, const uint4 *in, int64_t n, uint32_t *sums)
{
    constexpr int size = bytes / 16;
    uint4 *const stage = reinterpret_cast<uint4 *>(cgx__dynamic_shared);
    __shared__ __align__(8) unsigned char place[depth * sizeof(libcu_barrier)];
    libcu_barrier *const bar = reinterpret_cast<libcu_barrier *>(place);
    const auto b = cg::this_thread_block();
    const int64_t tiles = n / size;
    int64_t ahead = blockIdx.x;
    uint32_t sum = 0;
    int k = 0, next = 0;
    if (threadIdx.x == 0)
        for (int i = 0; i < depth; i++)
            start(bar + i);
    b.sync();
    for (int d = 0; d < depth - 1 && ahead < tiles; d++, next++, ahead += gridDim.x)
        cuda::memcpy_async(b, stage + next * size, in + ahead * size, cuda::aligned_size_t<16>(bytes), bar[next]);
    for (int64_t at = blockIdx.x; at < tiles; at += gridDim.x) {
        if (ahead < tiles) {
            next = next == depth ? 0 : next;
            cuda::memcpy_async(b, stage + next * size, in + ahead * size, cuda::aligned_size_t<16>(bytes), bar[next]);
            next++, ahead += gridDim.x;
        }
        bar[k].arrive_and_wait();
#pragma unroll
        for (int i = 0; i < size / 256; i++)
            sum += sum4(stage[k * size + i * 256 + threadIdx.x]);
        b.sync();
        k = k + 1 == depth ? 0 : k + 1;
    }
    leave_sum(block, sum, sums);
}

template <int depth> static __device__ void read_primitive(cgx_block block, const uint4 *in, int64_t n, uint32_t *sums)
{
    uint4 *const ring = reinterpret_cast<uint4 *>(cgx__dynamic_shared);
    const int64_t tiles = n / 256;
    int64_t ahead = blockIdx.x;
    uint32_t sum = 0;
    int k = 0, next = 0;
    for (int d = 0; d < depth - 1; d++, ahead += gridDim.x, next++) {
        if (ahead < tiles)
            __pipeline_memcpy_async(ring + next * 256 + threadIdx.x, in + ahead * 256 + threadIdx.x, 16);
        __pipeline_commit();
    }
    for (int64_t at = blockIdx.x; at < tiles; at += gridDim.x, ahead += gridDim.x) {
        if (ahead < tiles)
            __pipeline_memcpy_async(ring + next * 256 + threadIdx.x, in + ahead * 256 + threadIdx.x, 16);
        __pipeline_commit();
        next = next + 1 == depth ? 0 : next + 1;
        __pipeline_wait_prior(depth - 1);
        sum += sum4(ring[k * 256 + threadIdx.x]);
        k = k + 1 == depth ? 0 : k + 1;
    }
    leave_sum(block, sum, sums);
}
#define NATIVE_READER(name, ...)                             \
    READER(name, 256)                                        \
    {                                                        \
        __VA_ARGS__(cgx_this_block(), vectors(in), n, sums); \
    }
#else
#define NATIVE_READER(name, ...)       \
    READER(name, 256)                  \
    {                                  \
        (void)in, (void)n, (void)sums; \
    }
#endif
NATIVE_READER(read_plain_1, read_plain<1, false>)
NATIVE_READER(read_plain_4, read_plain<4, false>)
NATIVE_READER(read_plain_8, read_plain<8, true>)
NATIVE_READER(read_cg_4k, read_cg<4096>)
NATIVE_READER(read_cg_16k, read_cg<16384>)
NATIVE_READER(read_pipeline_2x16k, read_pipeline<16384, 2>)
NATIVE_READER(read_pipeline_4x8k, read_pipeline<8192, 4>)
NATIVE_READER(read_barrier_4x8k, read_barrier<8192, 4>)
NATIVE_READER(read_barrier_4x16k, read_barrier<16384, 4>)
NATIVE_READER(read_primitive_4, read_primitive<4>)
NATIVE_READER(read_primitive_8, read_primitive<8>)

CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(256, 1, 1), copy_plain, (const cgx_uint4 *, in), (int64_t, n), (cgx_uint4 *, out))
{
#if defined(CGX_PASS_CUDA)
    const uint4 *const from = vectors(in);
    uint4 *const to = reinterpret_cast<uint4 *>(out);
    const int64_t step = (int64_t)gridDim.x * 256;
    int64_t i = (int64_t)blockIdx.x * 256 + threadIdx.x;
    for (; i + 3 * step < n; i += 4 * step) {
        const uint4 p = __ldcs(from + i), q = __ldcs(from + i + step), r = __ldcs(from + i + 2 * step),
                    s = __ldcs(from + i + 3 * step);
        __stcs(to + i, p);
        __stcs(to + i + step, q);
        __stcs(to + i + 2 * step, r);
        __stcs(to + i + 3 * step, s);
    }
    for (; i < n; i += step)
        to[i] = from[i];
#else
    (void)in, (void)n, (void)out;
#endif
}

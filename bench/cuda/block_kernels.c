/* SPDX-License-Identifier: MIT */
/* Barriers and sums of tiles above the warp, blocks, clusters and the grid. */
#include "block_kernels.h"
#if defined(CGX_PASS_CUDA)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/block/block_reduce.cuh>
#include <cuda/barrier>
#include <cuda_awbarrier_primitives.h>
namespace cg = cooperative_groups;
typedef cuda::barrier<cuda::thread_scope_block> libcu_barrier;
typedef cub::BlockReduce<uint32_t, 256> cub_u32_256;
typedef cub::BlockReduce<uint32_t, 512> cub_u32_512;
typedef cub::BlockReduce<uint32_t, 1024> cub_u32_1024;
typedef cub::BlockReduce<float, 256> cub_f32_256;

static __device__ uint32_t block_synced_native(uint32_t v)
{
    __syncthreads();
    MICRO_OPAQUE(v);
    return v;
}
template <typename G> static __device__ uint32_t synced_cg(const G &g, uint32_t v)
{
    g.sync();
    MICRO_OPAQUE(v);
    return v;
}
/* CUB gives the sum to one thread; the rest is what it takes to give it to all, as cgx_reduce does. */
template <typename R, typename T> static __device__ T sum_cub(typename R::TempStorage &storage, T &all, T v)
{
    const T sum = R(storage).Sum(v);
    if (threadIdx.x == 0)
        all = sum;
    __syncthreads();
    const T mine = all;
    __syncthreads();
    return mine;
}
static __device__ uint32_t tested(__mbarrier_t *b, uint32_t v)
{
    const __mbarrier_token_t token = __mbarrier_arrive(b);
    while (!__mbarrier_test_wait(b, token))
        ;
    MICRO_OPAQUE(v);
    return v;
}
static __device__ uint32_t tried(__mbarrier_t *b, uint32_t v)
{
    const __mbarrier_token_t token = __mbarrier_arrive(b);
#if __CUDA_ARCH__ >= 900
    while (!__mbarrier_try_wait(b, token, 1000000))
#else
    while (!__mbarrier_test_wait(b, token))
#endif
        ;
    MICRO_OPAQUE(v);
    return v;
}
static __device__ void start_libcu(libcu_barrier *b)
{
    if (threadIdx.x == 0)
        init(b, blockDim.x);
    __syncthreads();
}
static __device__ uint32_t arrived(libcu_barrier *b, uint32_t v)
{
    b->arrive_and_wait();
    MICRO_OPAQUE(v);
    return v;
}
#endif
/* Chips without clusters take a block for one. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CLUSTER_SYNC_CG cg::cluster_group::sync()
#else
#define CLUSTER_SYNC_CG __syncthreads()
#endif

#define SYNCED(name, G, sync)                    \
    CGX_DEVICE_FN uint32_t name(G g, uint32_t v) \
    {                                            \
        CGX_IN_GROUP(g);                         \
        sync(g);                                 \
        MICRO_OPAQUE(v);                         \
        return v;                                \
    }
SYNCED(block_synced, cgx_block, cgx_sync)
SYNCED(tile64_synced, cgx_tile_64, cgx_sync)
SYNCED(tile128_synced, cgx_tile_128, cgx_sync)

#define BLOCK const cgx_block b = cgx_this_block();
#define TILE(n) const cgx_tile_##n t = cgx_tiled_partition(cgx_this_block(), n);
#define TILE_CG(n) const auto t = cg::tiled_partition<n>(cg::this_thread_block());
#define CUB(R, T)                      \
    __shared__ R::TempStorage storage; \
    __shared__ T all;

MICRO(block_sync, uint32_t, BLOCK, block_synced(b, v))
MICRO(block_sync_native, uint32_t, , block_synced_native(v))
MICRO_BLOCK(tile128_sync, uint32_t, 512, TILE(128), tile128_synced(t, v))
MICRO_BLOCK(tile128_sync_cg, uint32_t, 512, TILE_CG(128), synced_cg(t, v))
MICRO_BLOCK(tile64_sync, uint32_t, 512, TILE(64), tile64_synced(t, v))
MICRO_BLOCK(tile64_sync_cg, uint32_t, 512, TILE_CG(64), synced_cg(t, v))
MICRO_BLOCK(tile64_sync_1024, uint32_t, 1024, TILE(64), tile64_synced(t, v))
MICRO_BLOCK(tile64_sync_1024_cg, uint32_t, 1024, TILE_CG(64), synced_cg(t, v))
MICRO_BLOCK(tile128_add_u32, uint32_t, 512, TILE(128), cgx_reduce(t, v, CGX_PLUS))
MICRO_BLOCK(tile128_add_u32_cg, uint32_t, 512, TILE_CG(128), cg::reduce(t, v, cg::plus<uint32_t>()))
MICRO_BLOCK(tile128_add_f32, float, 512, TILE(128), cgx_reduce(t, v, CGX_PLUS))
MICRO_BLOCK(tile128_add_f32_cg, float, 512, TILE_CG(128), cg::reduce(t, v, cg::plus<float>()))
MICRO_BLOCK(block_add_u32_256, uint32_t, 256, BLOCK, cgx_reduce(b, v, CGX_PLUS))
MICRO_BLOCK(block_add_u32_256_cg, uint32_t, 256, TILE_CG(256), cg::reduce(t, v, cg::plus<uint32_t>()))
MICRO_BLOCK(block_add_u32_256_cub, uint32_t, 256, CUB(cub_u32_256, uint32_t), sum_cub<cub_u32_256>(storage, all, v))
MICRO_BLOCK(block_add_u32_512, uint32_t, 512, BLOCK, cgx_reduce(b, v, CGX_PLUS))
MICRO_BLOCK(block_add_u32_512_cg, uint32_t, 512, TILE_CG(512), cg::reduce(t, v, cg::plus<uint32_t>()))
MICRO_BLOCK(block_add_u32_512_cub, uint32_t, 512, CUB(cub_u32_512, uint32_t), sum_cub<cub_u32_512>(storage, all, v))
MICRO_BLOCK(block_add_u32_1024, uint32_t, 1024, BLOCK, cgx_reduce(b, v, CGX_PLUS))
MICRO_BLOCK(block_add_u32_1024_cub, uint32_t, 1024, CUB(cub_u32_1024, uint32_t), sum_cub<cub_u32_1024>(storage, all, v))
MICRO_BLOCK(block_add_f32_256, float, 256, BLOCK, cgx_reduce(b, v, CGX_PLUS))
MICRO_BLOCK(block_add_f32_256_cub, float, 256, CUB(cub_f32_256, float), sum_cub<cub_f32_256>(storage, all, v))
#define TILE_CG_1024                                  \
    __shared__ cg::block_tile_memory<1024> memory;    \
    const auto whole = cg::this_thread_block(memory); \
    const auto t = cg::tiled_partition<1024>(whole);
MICRO_BLOCK(block_add_u32_1024_cg, uint32_t, 1024, TILE_CG_1024, cg::reduce(t, v, cg::plus<uint32_t>()))

#define MBARRIER                                                       \
    CGX_SHARED(cgx_mbarrier, barrier);                                 \
    if (cgx_thread_rank(cgx_this_block()) == 0)                        \
        cgx_mbarrier_init(barrier, cgx_num_threads(cgx_this_block())); \
    cgx_sync(cgx_this_block());
/* Statements as an expression: what is measured is the pair, in the loop's body. */
#define ROUND_BY_TOKEN(v) (cgx_mbarrier_wait(barrier, cgx_mbarrier_arrive(barrier)), opaque(v))
#define ROUND_BY_PARITY(v) \
    ((void)cgx_mbarrier_arrive(barrier), cgx_mbarrier_wait_parity(barrier, phase), phase ^= 1, opaque(v))
CGX_DEVICE_FN uint32_t opaque(uint32_t v)
{
    MICRO_OPAQUE(v);
    return v;
}
MICRO(mbarrier_token, uint32_t, MBARRIER, ROUND_BY_TOKEN(v))
MICRO(mbarrier_parity, uint32_t, MBARRIER uint32_t phase = 0;, ROUND_BY_PARITY(v))
#define MBARRIER_NATIVE                        \
    __shared__ __mbarrier_t barrier;           \
    if (threadIdx.x == 0)                      \
        __mbarrier_init(&barrier, blockDim.x); \
    __syncthreads();
MICRO(mbarrier_test, uint32_t, MBARRIER_NATIVE, tested(&barrier, v))
MICRO(mbarrier_try, uint32_t, MBARRIER_NATIVE, tried(&barrier, v))
#define MBARRIER_LIBCU                                                       \
    __shared__ __align__(8) unsigned char place[sizeof(libcu_barrier)];      \
    libcu_barrier *const barrier = reinterpret_cast<libcu_barrier *>(place); \
    start_libcu(barrier);
MICRO(mbarrier_libcu, uint32_t, MBARRIER_LIBCU, arrived(barrier, v))

MICRO(cluster_sync, uint32_t, const cgx_cluster c = cgx_this_cluster();, (cgx_sync(c), opaque(v)))
MICRO(cluster_sync_cg, uint32_t, , (CLUSTER_SYNC_CG, opaque(v)))
MICRO(cluster_execution, uint32_t, const cgx_cluster c = cgx_this_cluster();, (cgx_sync_execution(c), opaque(v)))

/* Rounds of a grid barrier. CHECKED: each block leaves the round's number, and looks at its neighbour's behind the barrier. */
CGX_KERNEL_EXTERN_COOPERATIVE(grid_rounds, (uint32_t *, slots), (uint32_t *, wrong), (int, rounds), (int, checked))
{
    const cgx_grid g = cgx_this_grid();
    const bool first = cgx_thread_rank(cgx_this_block()) == 0;
    volatile uint32_t *const mine = slots + cgx_block_rank(g);
    volatile uint32_t *const next = slots + (cgx_block_rank(g) + 1) % cgx_num_blocks(g);
    for (int i = 1; i <= rounds; i++) {
        if (checked && first)
            *mine = (uint32_t)i;
        cgx_sync(g);
        if (checked && first && *next < (uint32_t)i)
            *wrong = 1;
    }
}
CGX_KERNEL_EXTERN_COOPERATIVE(grid_rounds_cg, (uint32_t *, slots), (uint32_t *, wrong), (int, rounds), (int, checked))
{
#if defined(CGX_PASS_CUDA)
    const auto g = cg::this_grid();
    const bool first = threadIdx.x == 0;
    volatile uint32_t *const mine = slots + blockIdx.x, *const next = slots + (blockIdx.x + 1) % gridDim.x;
    for (int i = 1; i <= rounds; i++) {
        if (checked && first)
            *mine = (uint32_t)i;
        g.sync();
        if (checked && first && *next < (uint32_t)i)
            *wrong = 1;
    }
#else
    (void)slots, (void)wrong, (void)rounds, (void)checked;
#endif
}

/* SPDX-License-Identifier: MIT */
/* CUDA pass: the primitives. The only file with threadIdx and inline PTX; what can be written once for both makes of GPU is
 * in backends/gpu. hip.h has the same names. */
#ifndef CGX_CUDA_H
#define CGX_CUDA_H
#include <cgx/kernel.h>

#define CGX__INLINE CGX_UNUSED static __device__ __forceinline__
/* Long code that need not be fast. */
#define CGX__OUTLINE CGX_UNUSED static __device__ __noinline__
/* Of a kernel with these limits. Without any it takes the largest block there is: nvcc may not give it registers for
 * fewer threads. */
#define CGX__BOUNDS(flags, x, y, z) __launch_bounds__((x) * (y) * (z) ? (x) * (y) * (z) : 1024)

/* Threads of a warp, for which the shared layer says wave. */
enum { CGX__WAVE = 32 };

extern "C++" { /* the header may be included inside extern "C" */

/* ---- where the thread is ---- */

CGX__INLINE cgx_dim3 cgx__gpu_thread(void)
{
    return { (int)threadIdx.x, (int)threadIdx.y, (int)threadIdx.z };
}
CGX__INLINE cgx_dim3 cgx__gpu_block(void)
{
    return { (int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z };
}
CGX__INLINE cgx_dim3 cgx__gpu_threads(void)
{
    return { (int)blockDim.x, (int)blockDim.y, (int)blockDim.z };
}
CGX__INLINE cgx_dim3 cgx__gpu_blocks(void)
{
    return { (int)gridDim.x, (int)gridDim.y, (int)gridDim.z };
}

/* The cluster's shape in blocks, and the block's place in it; one block where there are no clusters. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
CGX__INLINE cgx_dim3 cgx__gpu_cluster_blocks(void)
{
    cgx_dim3 n;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(n.x));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(n.y));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(n.z));
    return n;
}
CGX__INLINE cgx_dim3 cgx__gpu_block_in_cluster(void)
{
    cgx_dim3 at;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(at.x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(at.y));
    asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(at.z));
    return at;
}
#else
CGX__INLINE cgx_dim3 cgx__gpu_cluster_blocks(void)
{
    return { 1, 1, 1 };
}
CGX__INLINE cgx_dim3 cgx__gpu_block_in_cluster(void)
{
    return { 0, 0, 0 };
}
#endif

/* ---- the wave: LANES are all those that call, with the same mask ---- */

CGX__INLINE int cgx__wave_lane(void)
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return (int)lane;
}
/* Some lanes that are here together, the caller's among them. */
CGX__INLINE uint64_t cgx__wave_active(void)
{
    return __activemask();
}
CGX__INLINE void cgx__wave_sync(uint64_t lanes)
{
    __syncwarp((unsigned)lanes);
}
CGX__INLINE uint64_t cgx__wave_ballot(uint64_t lanes, int predicate)
{
    return __ballot_sync((unsigned)lanes, predicate);
}
CGX__INLINE uint32_t cgx__wave_shuffle(uint64_t lanes, uint32_t v, int lane)
{
    return __shfl_sync((unsigned)lanes, v, lane);
}

/* ---- the block: threads that have ended count as arrived ---- */

CGX__INLINE void cgx__gpu_sync(void)
{
    __syncthreads();
}

/* Bytes of dynamic shared memory that the launch gave. */
CGX__INLINE unsigned cgx__gpu_dynamic_bytes(void)
{
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

/* ---- arithmetic ---- */

CGX__INLINE int cgx__bit_count(uint64_t v)
{
    return __popcll(v);
}
/* Number of the lowest bit that is set; v is not 0. */
CGX__INLINE int cgx__lowest_bit(uint64_t v)
{
    return __ffsll((long long)v) - 1;
}
/* Never contracted with a multiplication of the caller. */
CGX__INLINE float cgx__plus(float a, float b)
{
    return __fadd_rn(a, b);
}
CGX__INLINE double cgx__plus(double a, double b)
{
    return __dadd_rn(a, b);
}

/* ---- timers (PARITY K07) ---- */

CGX__INLINE uint64_t cgx_clock_cycles(void)
{
    return (uint64_t)clock64();
}
CGX__INLINE uint64_t cgx_clock_nanoseconds(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

/* ---- misuse, where it is looked for: says the text with block, thread and line, and ends the launch ---- */

CGX__INLINE void cgx__gpu_misuse(const char *text, int line)
{
#if defined(__CUDA_ARCH__) /* nvcc's host pass does not know it */
    __assert_fail(text, __BASE_FILE__, (unsigned)line, "cgx");
#else
    (void)text, (void)line;
#endif
}

} /* extern "C++" */

#include <cgx/cuda_atomic.h>
#include <cgx/cuda_barrier.h>
#include <cgx/cuda_async.h>
#include <cgx/gpu_kernel.h>
#endif

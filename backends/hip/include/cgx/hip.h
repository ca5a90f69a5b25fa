/* SPDX-License-Identifier: MIT */
/* HIP pass: the primitives. The only file with __builtin_amdgcn_*; what can be written once for both makes of GPU is in
 * backends/gpu. cuda.h has the same names. No header of the vendor is read: a clang alone builds kernels. */
#ifndef CGX_HIP_H
#define CGX_HIP_H
#include <cgx/kernel.h>

/* As the vendor's headers have them, which may come before or after. */
#ifndef __host__
#define __host__ __attribute__((host))
#endif
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#ifndef __constant__
#define __constant__ __attribute__((constant))
#endif

#define CGX__INLINE CGX_UNUSED static __device__ __attribute__((always_inline)) inline
/* What a kernel that is right never does: out of the way, and does not come back. */
#define CGX__RARE CGX_UNUSED static __device__ __attribute__((noinline, cold, noreturn))
/* Of a kernel with these limits; no threads are no bound. */
#define CGX__BOUNDS(flags, x, y, z)                                                                  \
    __attribute__((amdgpu_flat_work_group_size((flags)&CGX_KERNEL_FIXED_BLOCK ? (x) * (y) * (z) : 1, \
                                               (x) * (y) * (z) ? (x) * (y) * (z) : 1024)))

/* Lanes of a wave, a property of the chip. A constant, unlike __builtin_amdgcn_wavefrontsize(), which clang 19 knows only
 * when it has left the branches of the other width in the code. The host's side of a file has none and is not used. */
#if defined(__AMDGCN_WAVEFRONT_SIZE__)
enum { CGX__WAVE = __AMDGCN_WAVEFRONT_SIZE__ };
#elif defined(__GFX8__) || defined(__GFX9__)
enum { CGX__WAVE = 64 };
#else
enum { CGX__WAVE = 32 };
#endif

/* Barriers of the hardware beside the block's own, and clusters of more than one block: none. */
enum { CGX__NAMED_BARRIERS = 0, CGX__CLUSTERS = 0 };

extern "C++" { /* the header may be included inside extern "C" */

/* ---- where the thread is ---- */

CGX__INLINE cgx_dim3 cgx__gpu_thread(void)
{
    return { (int)__builtin_amdgcn_workitem_id_x(), (int)__builtin_amdgcn_workitem_id_y(),
             (int)__builtin_amdgcn_workitem_id_z() };
}
CGX__INLINE cgx_dim3 cgx__gpu_block(void)
{
    return { (int)__builtin_amdgcn_workgroup_id_x(), (int)__builtin_amdgcn_workgroup_id_y(),
             (int)__builtin_amdgcn_workgroup_id_z() };
}
CGX__INLINE cgx_dim3 cgx__gpu_threads(void)
{
    return { (int)__builtin_amdgcn_workgroup_size_x(), (int)__builtin_amdgcn_workgroup_size_y(),
             (int)__builtin_amdgcn_workgroup_size_z() };
}
/* The grid's size is kept in threads, and from version 5 of code objects on in blocks, too: the first of the hidden arguments.
 * cgxcc says which version it is, which compilers do not. */
CGX__INLINE cgx_dim3 cgx__gpu_blocks(void)
{
#if defined(__AMDGCN__) && defined(CGX__CODE_OBJECT) && CGX__CODE_OBJECT >= 5
    const int *blocks = (const int *)__builtin_amdgcn_implicitarg_ptr();
    return { blocks[0], blocks[1], blocks[2] };
#else
    return { (int)(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()),
             (int)(__builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y()),
             (int)(__builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z()) };
#endif
}

/* Clusters are of one block. */
CGX__INLINE cgx_dim3 cgx__gpu_cluster_blocks(void)
{
    return { 1, 1, 1 };
}
CGX__INLINE cgx_dim3 cgx__gpu_block_in_cluster(void)
{
    return { 0, 0, 0 };
}

/* ---- the wave: LANES are all those that call, with the same mask ---- */

/* The lanes that are here with a predicate, in 64 bits of which a wave of 32 has the lower half. clang 15 has it as a comparison
 * alone; 33 is "not equal". */
#if __has_builtin(__builtin_amdgcn_ballot_w64)
#define CGX__LANES_WITH(predicate) __builtin_amdgcn_ballot_w64(predicate)
#else
#define CGX__LANES_WITH(predicate) __builtin_amdgcn_uicmp((predicate) ? 1u : 0u, 0u, 33)
#endif

CGX__INLINE int cgx__wave_lane(void)
{
    return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
/* How many of LANES are below the caller's. */
CGX__INLINE int cgx__wave_rank(uint64_t lanes)
{
    const uint32_t low = __builtin_amdgcn_mbcnt_lo((uint32_t)lanes, 0u);
    return (int)(CGX__WAVE <= 32 ? low : __builtin_amdgcn_mbcnt_hi((uint32_t)(lanes >> 32), low));
}
/* The lanes that are here together. */
CGX__INLINE uint64_t cgx__wave_active(void)
{
    return CGX__LANES_WITH(true);
}
/* Lanes go in step: only the compiler has to be kept from moving accesses. */
CGX__INLINE void cgx__wave_sync(uint64_t)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
CGX__INLINE uint64_t cgx__wave_ballot(uint64_t lanes, int predicate)
{
    return CGX__LANES_WITH(predicate != 0) & lanes;
}
CGX__INLINE uint32_t cgx__wave_shuffle(uint64_t, uint32_t v, int lane)
{
    return (uint32_t)__builtin_amdgcn_ds_bpermute(lane * 4, (int)v);
}

#if defined(__AMDGCN__)
#define CGX__GLOBAL __attribute__((address_space(1)))
#else
#define CGX__GLOBAL
#endif
/* Makes the compiler forget what it knows of a variable's bits, and which of them matter. No instruction. */
#if defined(__AMDGCN__)
#define CGX__ANY_BITS(variable) asm("" : "+v"(variable))
#else
#define CGX__ANY_BITS(variable) ((void)0)
#endif
/* The lane to shuffle from for RANK modulo SIZE, a power of two, in the caller's tile of that size. ds_bpermute takes lanes modulo
 * the wave. v_bfi_b32 puts the two together, which clang sees as long as it does not narrow the mask of the upper bits. */
CGX__INLINE int cgx__lane_in_tile(int size, int rank)
{
    if (size == CGX__WAVE)
        return rank;
    int lane = cgx__wave_lane();
    CGX__ANY_BITS(lane);
    lane = (lane & -size) | (rank & (size - 1));
    CGX__ANY_BITS(lane);
    return lane;
}
/* Of the lane whose number differs in these bits. */
CGX__INLINE uint32_t cgx__wave_shuffle_xor(uint64_t lanes, uint32_t v, int bits)
{
    return cgx__wave_shuffle(lanes, v, cgx__wave_lane() ^ bits);
}
/* Of the lane that many below; a lane without one gets anything. */
CGX__INLINE uint32_t cgx__wave_shuffle_up(uint64_t lanes, uint32_t v, int distance)
{
    return cgx__wave_shuffle(lanes, v, cgx__wave_lane() - distance);
}
/* Masks are not looked at. */
enum { CGX__FULL_MASK_IS_FASTER = 0 };
CGX__INLINE uint64_t cgx__other_mask(uint64_t lanes)
{
    return lanes;
}

/* ---- the block: threads that have ended count as arrived ---- */

CGX__INLINE void cgx__gpu_sync(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Of dynamic shared memory; nobody asks here, since static memory may be as large as the chip's. */
CGX__INLINE unsigned cgx__gpu_dynamic_bytes(void)
{
    return 0;
}
/* Never called: there are no such barriers. */
CGX__INLINE void cgx__gpu_named_sync(int, int)
{
}

/* Addresses of shared memory are constants: nothing has to be kept. */
CGX__INLINE uint32_t cgx__hold_shared(const void *)
{
    return 0;
}

/* ---- fences, and words that threads poll ---- */

CGX__INLINE void cgx__fence_block(void)
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
CGX__INLINE void cgx__fence_system(void)
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
/* Adds to a word of shared memory and returns what was there; orders nothing. */
CGX__INLINE uint32_t cgx__shared_add(uint32_t *p, uint32_t v)
{
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
/* Adds to a word in device memory, returns what was there, and releases. */
CGX__INLINE uint32_t cgx__device_add_release(uint32_t *p, uint32_t v)
{
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}
CGX__INLINE uint32_t cgx__device_exchange(uint32_t *p, uint32_t v)
{
    return __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
/* Polls a word in device memory, for one thread of the block: until its highest bit is another than OLD's. Its lane is the only one here,
 * and so the first, which makes it a loop without masks. */
CGX__INLINE void cgx__await_flip(const uint32_t *p, uint32_t old)
{
    const uint32_t before = (uint32_t)__builtin_amdgcn_readfirstlane((int)old);
    for (;;) {
        __builtin_amdgcn_wave_barrier(); /* no instruction: clang does not put a copy of the first round before the loop */
        const uint32_t now =
            __hip_atomic_load((const CGX__GLOBAL uint32_t *)p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
        if (((uint32_t)__builtin_amdgcn_readfirstlane((int)now) ^ before) & 0x80000000u)
            break;
        __builtin_amdgcn_s_sleep(1);
    }
}
/* Between two looks at a word. */
CGX__INLINE void cgx__gpu_pause(void)
{
    __builtin_amdgcn_s_sleep(1);
}
/* Ends the thread, and the others of its wave that are here. */
CGX__INLINE __attribute__((noreturn)) void cgx__gpu_exit(void)
{
    __builtin_amdgcn_endpgm();
    __builtin_unreachable();
}

/* ---- the cluster is one block; arrival is part of the wait ---- */

CGX__INLINE void cgx__cluster_arrive(void)
{
}
CGX__INLINE void cgx__cluster_arrive_relaxed(void)
{
}
CGX__INLINE void cgx__cluster_wait(void)
{
    cgx__gpu_sync();
}
CGX__INLINE void *cgx__cluster_map(const void *p, int)
{
    return const_cast<void *>(p);
}
CGX__INLINE int cgx__cluster_rank_of(const void *)
{
    return 0;
}

/* ---- arithmetic ---- */

CGX__INLINE int cgx__bit_count(uint64_t v)
{
    return __builtin_popcountll(v);
}
/* Number of the lowest bit that is set; v is not 0. */
CGX__INLINE int cgx__lowest_bit(uint64_t v)
{
    return __builtin_ctzll(v);
}
/* And of the highest. */
CGX__INLINE int cgx__highest_bit(uint32_t v)
{
    return 31 - __builtin_clz(v);
}
CGX__INLINE int cgx__highest_bit(uint64_t v)
{
    return 63 - __builtin_clzll(v);
}
CGX__INLINE int cgx__bit_count(uint32_t v)
{
    return __builtin_popcount(v);
}
CGX__INLINE int cgx__lowest_bit(uint32_t v)
{
    return __builtin_ctz(v);
}
/* Never contracted with a multiplication of the caller. */
CGX__INLINE float cgx__plus(float a, float b)
{
    CGX__NO_CONTRACTION
    return a + b;
}
CGX__INLINE double cgx__plus(double a, double b)
{
    CGX__NO_CONTRACTION
    return a + b;
}

/* ---- misuse, where it is looked for: ends the launch ---- */

CGX__INLINE void cgx__gpu_misuse(const char *, int)
{
    __builtin_trap();
}

} /* extern "C++" */

#include <cgx/hip_atomic.h>
#include <cgx/hip_async.h>
#include <cgx/hip_math.h>
#include <cgx/hip_print.h>
#include <cgx/gpu_kernel.h>

extern "C++" {

/* ---- timers (PARITY K07) ---- */

/* The steady counter has 100 MHz from gfx908 on. Of older chips only the driver knows the frequency: 25 MHz is assumed. clang 15
 * has no name for all of them. */
#if __has_builtin(__builtin_readsteadycounter)
#define CGX__STEADY_COUNTER() __builtin_readsteadycounter()
#elif defined(__GFX11__)
CGX__INLINE uint64_t cgx__steady_counter(void)
{
    uint64_t v;
    asm volatile("s_sendmsg_rtn_b64 %0, sendmsg(MSG_RTN_GET_REALTIME)\n\ts_waitcnt lgkmcnt(0)" : "=s"(v)::"memory");
    return v;
}
#define CGX__STEADY_COUNTER() cgx__steady_counter()
#else
#define CGX__STEADY_COUNTER() __builtin_amdgcn_s_memrealtime()
#endif
CGX__INLINE uint64_t cgx_clock_nanoseconds(void)
{
#if defined(__gfx900__) || defined(__gfx902__) || defined(__gfx904__) || defined(__gfx906__) || defined(__gfx909__) || \
    defined(__gfx90c__)
    return CGX__STEADY_COUNTER() * 40;
#else
    return CGX__STEADY_COUNTER() * 10;
#endif
}
/* The cycle counter of gfx11 has 20 bits, which is no timer. */
CGX__INLINE uint64_t cgx_clock_cycles(void)
{
#if defined(__GFX11__)
    return cgx_clock_nanoseconds();
#else
    return __builtin_readcyclecounter();
#endif
}

} /* extern "C++" */
#endif

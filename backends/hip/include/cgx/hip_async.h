/* SPDX-License-Identifier: MIT */
/* HIP pass: primitives of asynchronous copies, as cuda_async.h has them. Part of hip.h.
 *
 * AMD's chips to gfx10 load from global to shared memory past the registers, a wave at a time: each lane's 4 bytes go to an
 * address that the whole wave gives in M0, plus 4 times the lane. That serves copies by groups of whole waves
 * (CGX__HAS_WAVE_COPY); a thread's own copies have addresses of their own, and are plain ones. */
#ifndef CGX_HIP_ASYNC_H
#define CGX_HIP_ASYNC_H
#include <cgx/hip.h>

#define CGX__HAS_ASYNC_COPY 0
#define CGX__HAS_BULK_COPY 0

#if (defined(__GFX9__) || defined(__GFX10__)) && !defined(CGX_NO_OVERLAYS)
#define CGX__HAS_WAVE_COPY 1

extern "C++" {

/* TO is the same in all lanes, and where the wave's lane 0 writes, or would. MI300 ISA 9.1.9, "LDS DMA"; Vega and RDNA 2 ISA, "Memory
 * Buffer Load to LDS". By its text: the builtin of clang 19 knows gfx940 alone, and crashes the scheduler there. An
 * instruction that reads M0 comes one wait state after the one that wrote it. */
CGX__INLINE void cgx__gpu_wave_copy(uint32_t to, const void *source)
{
    const uint32_t m0 = __builtin_amdgcn_readfirstlane(to);
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dword %1, off" ::"s"(m0), "v"(source) : "memory");
#else
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_dword %1, off lds" ::"s"(m0), "v"(source) : "memory");
#endif
}
/* Until the thread's copies have landed. */
CGX__INLINE void cgx__gpu_wave_copy_wait(void)
{
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
}
CGX__INLINE uint32_t cgx__gpu_shared_address(const void *p)
{
    return (uint32_t)(uintptr_t)(const __attribute__((address_space(3))) char *)p;
}

} /* extern "C++" */
#else
#define CGX__HAS_WAVE_COPY 0
#endif
#endif

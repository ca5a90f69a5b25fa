/* SPDX-License-Identifier: MIT */
/* CUDA pass: primitives of mbarriers in hardware. Part of cuda.h.
 *
 * CGX__HAS_MBARRIER: whether there are such, with counts of bytes. Those of sm_80 have none, and a word that the hardware
 * owns has no room for them; gpu_barrier.h has the form that every chip can have. All is of PTX ISA 9.7.13.15, "mbarrier";
 * addresses are those of the block's own shared memory in 32 bits. */
#ifndef CGX_CUDA_BARRIER_H
#define CGX_CUDA_BARRIER_H
#include <cgx/cuda.h>

extern "C++" {

/* isspacep.shared, isspacep.global: PTX ISA 9.7.9.21, sm_20. Shared memory is the block's own. */
CGX__INLINE bool cgx__gpu_is_shared(const void *p)
{
    return __isShared(p);
}
CGX__INLINE bool cgx__gpu_is_global(const void *p)
{
    return __isGlobal(p);
}
/* cvta.to.shared: PTX ISA 9.7.9.20. */
CGX__INLINE uint32_t cgx__gpu_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !defined(CGX_NO_OVERLAYS)
#define CGX__HAS_MBARRIER 1

/* 9.7.13.15.9: sm_80. And the fence after which other blocks may use it, 9.7.13.4: sm_90. */
CGX__INLINE void cgx__gpu_mbarrier_init(uint64_t *b, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(cgx__gpu_shared_address(b)), "r"(count) : "memory");
}
CGX__INLINE void cgx__gpu_fence_mbarrier_init(void)
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/* 9.7.13.15.10: sm_80. */
CGX__INLINE void cgx__gpu_mbarrier_inval(uint64_t *b)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(cgx__gpu_shared_address(b)) : "memory");
}

/* Arrivals: 9.7.13.15.13 and .14. One: sm_80; a count, bytes: sm_90. The first form gives the state before; lanes that arrive
 * together are given one state, that before all of them. A state that nobody uses costs nothing. The other form is for the barrier
 * of another block of the cluster, and has none to give: sm_90. */
#define CGX__MBARRIER_ARRIVE(name, operation)                                                          \
    CGX__INLINE uint64_t cgx__gpu_mbarrier_##name(uint64_t *b)                                         \
    {                                                                                                  \
        uint64_t state;                                                                                \
        asm volatile("mbarrier." operation ".shared::cta.b64 %0, [%1];"                                \
                     : "=l"(state)                                                                     \
                     : "r"(cgx__gpu_shared_address(b))                                                 \
                     : "memory");                                                                      \
        return state;                                                                                  \
    }                                                                                                  \
    CGX__INLINE void cgx__gpu_mbarrier_##name##_far(uint64_t *b)                                       \
    {                                                                                                  \
        asm volatile("mbarrier." operation                                                             \
                     ".release.cluster.shared::cluster.b64 _, [%0];" ::"r"(cgx__gpu_shared_address(b)) \
                     : "memory");                                                                      \
    }
#define CGX__MBARRIER_ARRIVE_WITH(name, operation)                                                          \
    CGX__INLINE uint64_t cgx__gpu_mbarrier_##name(uint64_t *b, uint32_t n)                                  \
    {                                                                                                       \
        uint64_t state;                                                                                     \
        asm volatile("mbarrier." operation ".shared::cta.b64 %0, [%1], %2;"                                 \
                     : "=l"(state)                                                                          \
                     : "r"(cgx__gpu_shared_address(b)), "r"(n)                                              \
                     : "memory");                                                                           \
        return state;                                                                                       \
    }                                                                                                       \
    CGX__INLINE void cgx__gpu_mbarrier_##name##_far(uint64_t *b, uint32_t n)                                \
    {                                                                                                       \
        asm volatile("mbarrier." operation                                                                  \
                     ".release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(cgx__gpu_shared_address(b)), \
                     "r"(n)                                                                                 \
                     : "memory");                                                                           \
    }
CGX__MBARRIER_ARRIVE(arrive, "arrive")
CGX__MBARRIER_ARRIVE(arrive_drop, "arrive_drop")
CGX__MBARRIER_ARRIVE_WITH(arrive_n, "arrive")
CGX__MBARRIER_ARRIVE_WITH(arrive_bytes, "arrive.expect_tx")
/* 9.7.13.15.17: sm_80. */
CGX__INLINE uint32_t cgx__gpu_mbarrier_pending(uint64_t state)
{
    uint32_t count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

/* Blocks of the cluster: special register %cluster_nctarank, PTX ISA 10, sm_90. */
CGX__INLINE uint32_t cgx__gpu_cluster_count(void)
{
    uint32_t blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

/* Tests, tests that may sleep for NS nanoseconds, and waits: 9.7.13.15.16, sm_80 and sm_90. The parity names the phase that
 * is to be over, and so does the state. They acquire at the scope of the block; where there is a cluster, another of whose
 * blocks may have arrived, a second test acquires at its scope. Where there is none it costs two instructions that are
 * not executed; a branch round a fence took 12 ns of 46. Waits loop in the text, so that the answer never leaves its
 * predicate. */
#define CGX__MBARRIER_TESTS(name, form, T, C)                                                                \
    CGX__INLINE bool cgx__gpu_mbarrier_test##name(const uint64_t *b, T phase)                                \
    {                                                                                                        \
        int over;                                                                                            \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %3, 1;\n\t"                                    \
                     "mbarrier.test_wait" form ".shared::cta.b64 p, [%1], %2;\n\t"                           \
                     "@c mbarrier.test_wait" form ".acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"        \
                     "selp.s32 %0, 1, 0, p;\n\t}"                                                            \
                     : "=r"(over)                                                                            \
                     : "r"(cgx__gpu_shared_address(b)), C(phase), "r"(cgx__gpu_cluster_count())              \
                     : "memory");                                                                            \
        return over != 0;                                                                                    \
    }                                                                                                        \
    CGX__INLINE bool cgx__gpu_mbarrier_try##name(const uint64_t *b, T phase, uint32_t ns)                    \
    {                                                                                                        \
        int over;                                                                                            \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %4, 1;\n\t"                                    \
                     "mbarrier.try_wait" form ".shared::cta.b64 p, [%1], %2, %3;\n\t"                        \
                     "@c mbarrier.test_wait" form ".acquire.cluster.shared::cta.b64 p, [%1], %2;\n\t"        \
                     "selp.s32 %0, 1, 0, p;\n\t}"                                                            \
                     : "=r"(over)                                                                            \
                     : "r"(cgx__gpu_shared_address(b)), C(phase), "r"(ns), "r"(cgx__gpu_cluster_count())     \
                     : "memory");                                                                            \
        return over != 0;                                                                                    \
    }                                                                                                        \
    CGX__INLINE void cgx__gpu_mbarrier_wait##name(const uint64_t *b, T phase)                                \
    {                                                                                                        \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %2, 1;\nAGAIN:\n\t"                            \
                     "mbarrier.try_wait" form ".shared::cta.b64 p, [%0], %1;\n\t@!p bra AGAIN;\n\t"          \
                     "@c mbarrier.test_wait" form                                                            \
                     ".acquire.cluster.shared::cta.b64 p, [%0], %1;\n\t}" ::"r"(cgx__gpu_shared_address(b)), \
                     C(phase), "r"(cgx__gpu_cluster_count())                                                 \
                     : "memory");                                                                            \
    }
CGX__MBARRIER_TESTS(, "", uint64_t, "l")
CGX__MBARRIER_TESTS(_parity, ".parity", uint32_t, "r")

#else
#define CGX__HAS_MBARRIER 0
#endif

} /* extern "C++" */
#endif

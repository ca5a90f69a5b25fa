/* SPDX-License-Identifier: MIT */
/* CUDA pass: primitives of mbarriers in hardware. Part of cuda.h.
 *
 * CGX__HAS_MBARRIER: whether there are such; CGX__HAS_BARRIER_BYTES: whether they count bytes, and have a wait of their own. Those of
 * sm_80 to 89 do not, and a word that the hardware owns has no room for a count: they serve in files where no barrier counts bytes,
 * as cgxcc says (CGX__NO_BARRIER_BYTES). gpu_barrier.h has the form that every chip can have. All is of PTX ISA 9.7.13.15,
 * "mbarrier"; addresses are those of the block's own shared memory in 32 bits. */
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

#ifndef CGX__NO_BARRIER_BYTES
#define CGX__NO_BARRIER_BYTES 0
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && CGX__OVERLAYS
#define CGX__HAS_BARRIER_BYTES 1
#else
#define CGX__HAS_BARRIER_BYTES 0
#endif
#if CGX__HAS_BARRIER_BYTES || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && CGX__OVERLAYS && CGX__NO_BARRIER_BYTES)
#define CGX__HAS_MBARRIER 1

/* 9.7.13.15.9: sm_80. And the fence after which other blocks may use it, 9.7.13.4: sm_90. */
CGX__INLINE void cgx__gpu_mbarrier_init(uint64_t *b, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(cgx__gpu_shared_address(b)), "r"(count) : "memory");
}
CGX__INLINE void cgx__gpu_fence_mbarrier_init(void)
{
#if CGX__HAS_BARRIER_BYTES
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}
/* 9.7.13.15.10: sm_80. */
CGX__INLINE void cgx__gpu_mbarrier_inval(uint64_t *b)
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(cgx__gpu_shared_address(b)) : "memory");
}

/* Arrivals: 9.7.13.15.13 and .14. One: sm_80; a count, bytes: sm_90. The first form gives the state before; lanes that arrive
 * together are given one state, that before all of them. A state that nobody uses costs nothing. The other form is for the barrier
 * of another block of the cluster, and has none to give: sm_90. */
#define CGX__MBARRIER_ARRIVE(name, operation)  \
    CGX__MBARRIER_ARRIVE_NEAR(name, operation) \
    CGX__MBARRIER_ARRIVE_FAR(name, operation)
#define CGX__MBARRIER_ARRIVE_NEAR(name, operation)                      \
    CGX__INLINE uint64_t cgx__gpu_mbarrier_##name(uint64_t *b)          \
    {                                                                   \
        uint64_t state;                                                 \
        asm volatile("mbarrier." operation ".shared::cta.b64 %0, [%1];" \
                     : "=l"(state)                                      \
                     : "r"(cgx__gpu_shared_address(b))                  \
                     : "memory");                                       \
        return state;                                                   \
    }
#define CGX__MBARRIER_ARRIVE_FAR(name, operation)                                                      \
    CGX__INLINE void cgx__gpu_mbarrier_##name##_far(uint64_t *b)                                       \
    {                                                                                                  \
        asm volatile("mbarrier." operation                                                             \
                     ".release.cluster.shared::cluster.b64 _, [%0];" ::"r"(cgx__gpu_shared_address(b)) \
                     : "memory");                                                                      \
    }
#define CGX__MBARRIER_ARRIVE_WITH(name, operation)  \
    CGX__MBARRIER_ARRIVE_WITH_NEAR(name, operation) \
    CGX__MBARRIER_ARRIVE_WITH_FAR(name, operation)
#define CGX__MBARRIER_ARRIVE_WITH_NEAR(name, operation)                     \
    CGX__INLINE uint64_t cgx__gpu_mbarrier_##name(uint64_t *b, uint32_t n)  \
    {                                                                       \
        uint64_t state;                                                     \
        asm volatile("mbarrier." operation ".shared::cta.b64 %0, [%1], %2;" \
                     : "=l"(state)                                          \
                     : "r"(cgx__gpu_shared_address(b)), "r"(n)              \
                     : "memory");                                           \
        return state;                                                       \
    }
#define CGX__MBARRIER_ARRIVE_WITH_FAR(name, operation)                                                      \
    CGX__INLINE void cgx__gpu_mbarrier_##name##_far(uint64_t *b, uint32_t n)                                \
    {                                                                                                       \
        asm volatile("mbarrier." operation                                                                  \
                     ".release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(cgx__gpu_shared_address(b)), \
                     "r"(n)                                                                                 \
                     : "memory");                                                                           \
    }
#if CGX__HAS_BARRIER_BYTES
CGX__MBARRIER_ARRIVE(arrive, "arrive")
CGX__MBARRIER_ARRIVE(arrive_drop, "arrive_drop")
CGX__MBARRIER_ARRIVE_WITH(arrive_n, "arrive")
CGX__MBARRIER_ARRIVE_WITH(arrive_bytes, "arrive.expect_tx")
#else
CGX__MBARRIER_ARRIVE_NEAR(arrive, "arrive")
CGX__MBARRIER_ARRIVE_NEAR(arrive_drop, "arrive_drop")
/* Arrivals that do not end the phase: sm_80. */
CGX__MBARRIER_ARRIVE_WITH_NEAR(arrive_some, "arrive.noComplete")
#endif
/* 9.7.13.15.17: sm_80. */
CGX__INLINE uint32_t cgx__gpu_mbarrier_pending(uint64_t state)
{
    uint32_t count;
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(state));
    return count;
}

#if CGX__HAS_BARRIER_BYTES
/* Whether there is a cluster: special register %cluster_nctarank, PTX ISA 10, sm_90. */
CGX__INLINE uint32_t cgx__gpu_cluster_count(void)
{
    uint32_t blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return blocks;
}

/* Zero, by way of the clock, which compilers cannot know and which takes about 10 cycles: PTX ISA 10, %clock. A wait
 * for a parity needs nothing of the arrival before it, and when its first look comes right behind, the barrier's
 * unit is asked once more: on an H200 1,024 threads then take 111 ns a round instead of 100, 512 take 78 instead of
 * 59, 256 take 47 instead of 42; 32 take 34 instead of 37. */
CGX__INLINE uint32_t cgx__gpu_clock_zero(void)
{
    uint32_t zero;
    asm volatile("{\n\t.reg .b32 t;\n\tmov.u32 t, %%clock;\n\tand.b32 %0, t, %1;\n\t}"
                 : "=r"(zero)
                 : "r"(blockDim.x >> 16)
                 : "memory");
    return zero;
}
#define CGX__NO_DELAY(phase)
#define CGX__DELAY(phase) phase ^= cgx__gpu_clock_zero()
/* Tests, looks that may last a while (4 us on an H200), and tests that may sleep for NS nanoseconds: 9.7.13.15.16, sm_80 and
 * sm_90. The state names the phase that is to be over, and so does a parity, of which the lowest bit counts. A yes acquires at the scope
 * of the block, which takes no instruction. In a cluster, where another block may have arrived, it acquires at the cluster's:
 * CCTL.IVALL, which empties the first-level cache; elsewhere that one instruction is there and not executed. Any branch behind
 * the test costs more: 3 to 40 ns of 34 on an H200. fence.acquire: 9.7.13.4, PTX ISA 8.6, sm_90. */
#define CGX__PTX_ACQUIRED \
    "fence.acquire.cta;\n\tand.pred c, c, p;\n\t@c fence.acquire.cluster;\n\tselp.s32 %0, 1, 0, p;\n\t}"
#define CGX__MBARRIER_TESTS(name, form, T, C, prepare, delay)                                                  \
    CGX__INLINE bool cgx__gpu_mbarrier_test##name(const uint64_t *b, T phase)                                  \
    {                                                                                                          \
        int over;                                                                                              \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %3, 1;\n\t" prepare(                             \
                         "%2") "mbarrier.test_wait" form                                                       \
                               ".relaxed.cluster.shared::cta.b64 p, [%1], phase;\n\t" CGX__PTX_ACQUIRED        \
                     : "=r"(over)                                                                              \
                     : "r"(cgx__gpu_shared_address(b)), C(phase), "r"(cgx__gpu_cluster_count())                \
                     : "memory");                                                                              \
        return over != 0;                                                                                      \
    }                                                                                                          \
    CGX__INLINE bool cgx__gpu_mbarrier_look##name(const uint64_t *b, T phase)                                  \
    {                                                                                                          \
        int over;                                                                                              \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %3, 1;\n\t" prepare(                             \
                         "%2") "mbarrier.try_wait" form                                                        \
                               ".relaxed.cluster.shared::cta.b64 p, [%1], phase;\n\t" CGX__PTX_ACQUIRED        \
                     : "=r"(over)                                                                              \
                     : "r"(cgx__gpu_shared_address(b)), C(phase), "r"(cgx__gpu_cluster_count())                \
                     : "memory");                                                                              \
        return over != 0;                                                                                      \
    }                                                                                                          \
    CGX__INLINE bool cgx__gpu_mbarrier_try##name(const uint64_t *b, T phase, uint32_t ns)                      \
    {                                                                                                          \
        int over;                                                                                              \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %3, 1;\n\t" prepare(                             \
                         "%2") "mbarrier.try_wait" form                                                        \
                               ".relaxed.cluster.shared::cta.b64 p, [%1], phase, %4;\n\t" CGX__PTX_ACQUIRED    \
                     : "=r"(over)                                                                              \
                     : "r"(cgx__gpu_shared_address(b)), C(phase), "r"(cgx__gpu_cluster_count()), "r"(ns)       \
                     : "memory");                                                                              \
        return over != 0;                                                                                      \
    }                                                                                                          \
    /* Until it is over. The loop is in the text, so that the answer never leaves its predicate. */            \
    CGX__INLINE void cgx__gpu_mbarrier_wait##name(const uint64_t *b, T phase)                                  \
    {                                                                                                          \
        delay(phase);                                                                                          \
        asm volatile("{\n\t.reg .pred p, c;\n\tsetp.gt.u32 c, %2, 1;\n\t" prepare(                             \
                         "%1") "AGAIN:\n\tmbarrier.try_wait" form                                              \
                               ".relaxed.cluster.shared::cta.b64 p, [%0], phase;\n\t"                          \
                               "@!p bra AGAIN;\n\tfence.acquire.cta;\n\t@c fence.acquire.cluster;\n\t}" ::"r"( \
                                   cgx__gpu_shared_address(b)),                                                \
                     C(phase), "r"(cgx__gpu_cluster_count())                                                   \
                     : "memory");                                                                              \
    }
#else
/* Tests: 9.7.13.15.16, sm_80. A yes acquires at the scope of the block. Waits are loops over tests and have no delay. */
#define CGX__MBARRIER_TESTS(name, form, T, C, prepare, delay)                                                        \
    CGX__INLINE bool cgx__gpu_mbarrier_test##name(const uint64_t *b, T phase)                                        \
    {                                                                                                                \
        int over;                                                                                                    \
        asm volatile("{\n\t.reg .pred p;\n\t" prepare(                                                               \
                         "%2") "mbarrier.test_wait" form ".shared.b64 p, [%1], phase;\n\tselp.s32 %0, 1, 0, p;\n\t}" \
                     : "=r"(over)                                                                                    \
                     : "r"(cgx__gpu_shared_address(b)), C(phase)                                                     \
                     : "memory");                                                                                    \
        return over != 0;                                                                                            \
    }
#endif
#define CGX__PTX_STATE(operand) ".reg .b64 phase;\n\tmov.b64 phase, " operand ";\n\t"
#define CGX__PTX_PARITY(operand) ".reg .b32 phase;\n\tand.b32 phase, " operand ", 1;\n\t"
CGX__MBARRIER_TESTS(, "", uint64_t, "l", CGX__PTX_STATE, CGX__NO_DELAY)
CGX__MBARRIER_TESTS(_parity, ".parity", uint32_t, "r", CGX__PTX_PARITY, CGX__DELAY)

#else
#define CGX__HAS_MBARRIER 0
#endif

} /* extern "C++" */
#endif

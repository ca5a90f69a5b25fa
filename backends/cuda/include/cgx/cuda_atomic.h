/* SPDX-License-Identifier: MIT */
/* CUDA pass: primitives of atomics and fences, one PTX instruction each (sm_70). Addresses are generic. Part of cuda.h.
 *
 * ORDER is one of the compilers' __ATOMIC_*, SCOPE one of CGX__SCOPE_*; where both are constants, as they are in nearly every
 * call, one instruction is left of the choice. PTX has no sequentially consistent accesses: it has fence.sc before
 * them (PTX ISA 8.x, "Memory consistency model", Fence-SC). */
#ifndef CGX_CUDA_ATOMIC_H
#define CGX_CUDA_ATOMIC_H
#include <cgx/cuda.h>

/* Those of <cgx/atomic.h>, which comes later. */
enum { CGX__SCOPE_BLOCK, CGX__SCOPE_CLUSTER, CGX__SCOPE_DEVICE, CGX__SCOPE_SYSTEM };

extern "C++" {

/* Clusters exist from sm_90 on; before, a cluster is a block. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define CGX__PTX_CLUSTER ".cta"
#else
#define CGX__PTX_CLUSTER ".cluster"
#endif
/* Chooses X(order, scope, ...) with the texts of the order and the scope. */
#define CGX__BY_SCOPE(scope, X, order, ...)                                  \
    switch (scope) {                                                         \
    case CGX__SCOPE_BLOCK: X(order, ".cta", __VA_ARGS__); break;             \
    case CGX__SCOPE_CLUSTER: X(order, CGX__PTX_CLUSTER, __VA_ARGS__); break; \
    case CGX__SCOPE_DEVICE: X(order, ".gpu", __VA_ARGS__); break;            \
    default: X(order, ".sys", __VA_ARGS__); break;                           \
    }
#define CGX__BY_ORDER(order, scope, X, ...)                                                       \
    switch (order) {                                                                              \
    case __ATOMIC_RELAXED: CGX__BY_SCOPE(scope, X, ".relaxed", __VA_ARGS__) break;                \
    case __ATOMIC_RELEASE: CGX__BY_SCOPE(scope, X, ".release", __VA_ARGS__) break;                \
    case __ATOMIC_ACQ_REL: CGX__BY_SCOPE(scope, X, ".acq_rel", __VA_ARGS__) break;                \
    default: CGX__BY_SCOPE(scope, X, ".acquire", __VA_ARGS__) break; /* what fence.sc precedes */ \
    }

/* fence.acq_rel, fence.sc: PTX ISA 9.7.13.4, "membar, fence". */
#define CGX__PTX_FENCE(order, scope, ...) asm volatile("fence" order scope ";" ::: "memory")
CGX__INLINE void cgx__gpu_fence(int order, int scope)
{
    if (order == __ATOMIC_SEQ_CST) {
        CGX__BY_SCOPE(scope, CGX__PTX_FENCE, ".sc", ~)
    } else if (order != __ATOMIC_RELAXED) {
        CGX__BY_SCOPE(scope, CGX__PTX_FENCE, ".acq_rel", ~)
    }
}
CGX__INLINE void cgx__fence_before(int order, int scope)
{
    if (order == __ATOMIC_SEQ_CST)
        cgx__gpu_fence(order, scope);
}

/* ld, st with an order: PTX ISA 9.7.9.8 and 9.7.9.11. */
#define CGX__PTX_LOAD(order, scope, bits, C, v, p) \
    asm volatile("ld" order scope "." bits " %0, [%1];" : "=" C(v) : "l"(p) : "memory")
#define CGX__PTX_STORE(order, scope, bits, C, v, p) \
    asm volatile("st" order scope "." bits " [%0], %1;" ::"l"(p), C(v) : "memory")
#define CGX__LOAD_STORE(T, bits, C)                                           \
    CGX__INLINE T cgx__gpu_load(const volatile T *p, int order, int scope)    \
    {                                                                         \
        T v;                                                                  \
        cgx__fence_before(order, scope);                                      \
        if (order == __ATOMIC_RELAXED) {                                      \
            CGX__BY_SCOPE(scope, CGX__PTX_LOAD, ".relaxed", bits, C, v, p)    \
        } else {                                                              \
            CGX__BY_SCOPE(scope, CGX__PTX_LOAD, ".acquire", bits, C, v, p)    \
        }                                                                     \
        return v;                                                             \
    }                                                                         \
    CGX__INLINE void cgx__gpu_store(volatile T *p, T v, int order, int scope) \
    {                                                                         \
        cgx__fence_before(order, scope);                                      \
        if (order == __ATOMIC_RELEASE) {                                      \
            CGX__BY_SCOPE(scope, CGX__PTX_STORE, ".release", bits, C, v, p)   \
        } else {                                                              \
            CGX__BY_SCOPE(scope, CGX__PTX_STORE, ".relaxed", bits, C, v, p)   \
        }                                                                     \
    }
CGX__LOAD_STORE(uint32_t, "b32", "r")
CGX__LOAD_STORE(uint64_t, "b64", "l")

/* atom: PTX ISA 9.7.13.5. Each gives what was there before. */
#define CGX__PTX_ATOM(order, scope, operation, C, old, p, v) \
    asm volatile("atom" order scope "." operation " %0, [%1], %2;" : "=" C(old) : "l"(p), C(v) : "memory")
#define CGX__ATOM(name, T, operation, C)                                    \
    CGX__INLINE T cgx__gpu_##name(volatile T *p, T v, int order, int scope) \
    {                                                                       \
        T old;                                                              \
        cgx__fence_before(order, scope);                                    \
        CGX__BY_ORDER(order, scope, CGX__PTX_ATOM, operation, C, old, p, v) \
        return old;                                                         \
    }
CGX__ATOM(exchange, uint32_t, "exch.b32", "r")
CGX__ATOM(exchange, uint64_t, "exch.b64", "l")
CGX__ATOM(fetch_add, uint32_t, "add.u32", "r")
CGX__ATOM(fetch_add, uint64_t, "add.u64", "l")
/* In global memory subnormal numbers count as zero, and so does a subnormal sum. */
CGX__ATOM(fetch_add, float, "add.f32", "f")
CGX__ATOM(fetch_add, double, "add.f64", "d")
CGX__ATOM(fetch_min, int32_t, "min.s32", "r")
CGX__ATOM(fetch_min, uint32_t, "min.u32", "r")
CGX__ATOM(fetch_min, int64_t, "min.s64", "l")
CGX__ATOM(fetch_min, uint64_t, "min.u64", "l")
CGX__ATOM(fetch_max, int32_t, "max.s32", "r")
CGX__ATOM(fetch_max, uint32_t, "max.u32", "r")
CGX__ATOM(fetch_max, int64_t, "max.s64", "l")
CGX__ATOM(fetch_max, uint64_t, "max.u64", "l")
CGX__ATOM(fetch_and, uint32_t, "and.b32", "r")
CGX__ATOM(fetch_and, uint64_t, "and.b64", "l")
CGX__ATOM(fetch_or, uint32_t, "or.b32", "r")
CGX__ATOM(fetch_or, uint64_t, "or.b64", "l")
CGX__ATOM(fetch_xor, uint32_t, "xor.b32", "r")
CGX__ATOM(fetch_xor, uint64_t, "xor.b64", "l")

#define CGX__PTX_CAS(order, scope, bits, C, found, p, expected, desired) \
    asm volatile("atom" order scope ".cas." bits " %0, [%1], %2, %3;"    \
                 : "=" C(found)                                          \
                 : "l"(p), C(expected), C(desired)                       \
                 : "memory")
#define CGX__COMPARE_EXCHANGE(T, bits, C)                                                               \
    CGX__INLINE T cgx__gpu_compare_exchange(volatile T *p, T expected, T desired, int order, int scope) \
    {                                                                                                   \
        T found;                                                                                        \
        cgx__fence_before(order, scope);                                                                \
        CGX__BY_ORDER(order, scope, CGX__PTX_CAS, bits, C, found, p, expected, desired)                 \
        return found;                                                                                   \
    }
CGX__COMPARE_EXCHANGE(uint32_t, "b32", "r")
CGX__COMPARE_EXCHANGE(uint64_t, "b64", "l")

/* A moment's rest of a thread that polls: nanosleep, sm_70, PTX ISA 9.7.20.4. */
CGX__INLINE void cgx__gpu_rest(void)
{
    __nanosleep(20);
}

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* HIP pass: primitives of atomics and fences, as cuda_atomic.h has them. Addresses are generic. Part of hip.h. */
#ifndef CGX_HIP_ATOMIC_H
#define CGX_HIP_ATOMIC_H
#include <cgx/hip.h>

/* Those of <cgx/atomic.h>, which comes later. */
enum { CGX__SCOPE_BLOCK, CGX__SCOPE_CLUSTER, CGX__SCOPE_DEVICE, CGX__SCOPE_SYSTEM };

extern "C++" {

/* Chooses X(scope, ...); a cluster is a block. */
#define CGX__BY_SCOPE(scope, X, ...)                                               \
    ((scope) <= CGX__SCOPE_CLUSTER  ? X(__HIP_MEMORY_SCOPE_WORKGROUP, __VA_ARGS__) \
     : (scope) == CGX__SCOPE_DEVICE ? X(__HIP_MEMORY_SCOPE_AGENT, __VA_ARGS__)     \
                                    : X(__HIP_MEMORY_SCOPE_SYSTEM, __VA_ARGS__))

/* The builtin takes constants alone. */
#define CGX__AMD_FENCE(order)                           \
    do {                                                \
        if (scope <= CGX__SCOPE_CLUSTER)                \
            __builtin_amdgcn_fence(order, "workgroup"); \
        else if (scope == CGX__SCOPE_DEVICE)            \
            __builtin_amdgcn_fence(order, "agent");     \
        else                                            \
            __builtin_amdgcn_fence(order, "");          \
    } while (0)
CGX__INLINE void cgx__gpu_fence(int order, int scope)
{
    if (order == __ATOMIC_SEQ_CST)
        CGX__AMD_FENCE(__ATOMIC_SEQ_CST);
    else if (order == __ATOMIC_ACQ_REL)
        CGX__AMD_FENCE(__ATOMIC_ACQ_REL);
    else if (order == __ATOMIC_ACQUIRE)
        CGX__AMD_FENCE(__ATOMIC_ACQUIRE);
    else if (order == __ATOMIC_RELEASE)
        CGX__AMD_FENCE(__ATOMIC_RELEASE);
}

/* Not volatile: of such accesses the compiler does not find out which memory they go to, and they stay generic. The builtins are
 * as strict without. */
template <class T> CGX__INLINE T *cgx__plain(const volatile T *p)
{
    return const_cast<T *>(p);
}
#define CGX__AMD_LOAD(scope, p, order) __hip_atomic_load(cgx__plain(p), order, scope)
#define CGX__AMD_RMW(scope, name, p, v, order) __hip_atomic_##name(cgx__plain(p), v, order, scope)
#define CGX__AMD_RMW_FN(name, T)                                            \
    CGX__INLINE T cgx__gpu_##name(volatile T *p, T v, int order, int scope) \
    {                                                                       \
        return CGX__BY_SCOPE(scope, CGX__AMD_RMW, name, p, v, order);       \
    }
#define CGX__AMD_WORD(T)                                                                                \
    CGX__INLINE T cgx__gpu_load(const volatile T *p, int order, int scope)                              \
    {                                                                                                   \
        return CGX__BY_SCOPE(scope, CGX__AMD_LOAD, p, order);                                           \
    }                                                                                                   \
    CGX__INLINE void cgx__gpu_store(volatile T *p, T v, int order, int scope)                           \
    {                                                                                                   \
        CGX__BY_SCOPE(scope, CGX__AMD_RMW, store, p, v, order);                                         \
    }                                                                                                   \
    CGX__AMD_RMW_FN(exchange, T)                                                                        \
    CGX__AMD_RMW_FN(fetch_add, T)                                                                       \
    CGX__AMD_RMW_FN(fetch_min, T)                                                                       \
    CGX__AMD_RMW_FN(fetch_max, T)                                                                       \
    CGX__AMD_RMW_FN(fetch_and, T)                                                                       \
    CGX__AMD_RMW_FN(fetch_or, T)                                                                        \
    CGX__AMD_RMW_FN(fetch_xor, T)                                                                       \
    /* What was there before. */                                                                        \
    CGX__INLINE T cgx__gpu_compare_exchange(volatile T *p, T expected, T desired, int order, int scope) \
    {                                                                                                   \
        CGX__BY_SCOPE(scope, CGX__AMD_CAS, p, expected, desired, order);                                \
        return expected;                                                                                \
    }
#define CGX__AMD_CAS(scope, p, expected, desired, order) \
    __hip_atomic_compare_exchange_strong(cgx__plain(p), &expected, desired, order, __ATOMIC_RELAXED, scope)
CGX__AMD_WORD(uint32_t)
CGX__AMD_WORD(uint64_t)
CGX__AMD_RMW_FN(fetch_add, float)
CGX__AMD_RMW_FN(fetch_add, double)
CGX__AMD_RMW_FN(fetch_min, int32_t)
CGX__AMD_RMW_FN(fetch_min, int64_t)
CGX__AMD_RMW_FN(fetch_max, int32_t)
CGX__AMD_RMW_FN(fetch_max, int64_t)

/* A moment's rest of a thread that polls: 64 cycles. */
CGX__INLINE void cgx__gpu_rest(void)
{
    __builtin_amdgcn_s_sleep(1);
}

/* Shared memory is the block's own. */
CGX__INLINE bool cgx__gpu_is_shared(const void *p)
{
    return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)p);
}
CGX__INLINE bool cgx__gpu_is_global(const void *p)
{
    return !cgx__gpu_is_shared(p) && !__builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)p);
}

} /* extern "C++" */
#endif

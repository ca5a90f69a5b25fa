/* SPDX-License-Identifier: MIT */
/* CUDA pass: primitives of asynchronous copies. Part of cuda.h.
 *
 * CGX__HAS_ASYNC_COPY: whether a thread has copies from global to shared memory beside it. CGX__HAS_BULK_COPY: whether it has
 * such of any multiple of 16 bytes. gpu_async.h does without what is missing. */
#ifndef CGX_CUDA_ASYNC_H
#define CGX_CUDA_ASYNC_H
#include <cgx/cuda.h>

extern "C++" {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CGX__HAS_ASYNC_COPY 1

/* cvta.to.global: PTX ISA 9.7.9.20. */
CGX__INLINE uint64_t cgx__gpu_global_address(const void *p)
{
    return (uint64_t)__cvta_generic_to_global(p);
}

/* cp.async: PTX ISA 9.7.9.25.3.1, sm_80. 4, 8 or 16 bytes, of which READ are read and the rest become zero. 16 bytes go
 * past the first-level cache. */
template <int BYTES> CGX__INLINE void cgx__gpu_copy_async(void *destination, const void *source)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cgx: no such copy");
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(cgx__gpu_shared_address(destination)),
                     "l"(cgx__gpu_global_address(source))
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(cgx__gpu_shared_address(destination)),
                     "l"(cgx__gpu_global_address(source)), "n"(BYTES)
                     : "memory");
}
template <int BYTES> CGX__INLINE void cgx__gpu_copy_async(void *destination, const void *source, uint32_t read)
{
    static_assert(BYTES == 4 || BYTES == 8 || BYTES == 16, "cgx: no such copy");
    if constexpr (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(cgx__gpu_shared_address(destination)),
                     "l"(cgx__gpu_global_address(source)), "r"(read)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(cgx__gpu_shared_address(destination)),
                     "l"(cgx__gpu_global_address(source)), "n"(BYTES), "r"(read)
                     : "memory");
}
/* cp.async.commit_group, cp.async.wait_group, cp.async.wait_all: PTX ISA 9.7.9.25.3.2 and .3, sm_80. */
CGX__INLINE void cgx__gpu_copy_commit(void)
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> CGX__INLINE void cgx__gpu_copy_wait(void)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
CGX__INLINE void cgx__gpu_copy_wait_all(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
/* cp.async.mbarrier.arrive: PTX ISA 9.7.13.15.15, sm_80. One arrival more is pending until the thread's copies so far have
 * landed. */
CGX__INLINE void cgx__gpu_copy_arrive(uint64_t *b)
{
    asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(cgx__gpu_shared_address(b)) : "memory");
}
#else
#define CGX__HAS_ASYNC_COPY 0
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && CGX__OVERLAYS
#define CGX__HAS_BULK_COPY 1

/* fence.proxy.async: PTX ISA 9.7.13.4, sm_90. What was done to the block's shared memory, or to global memory, before is
 * seen by bulk copies after. Both together take 9 ns on an H200; the one that takes in the cluster's shared memory as
 * well, 77. */
CGX__INLINE void cgx__gpu_fence_bulk_shared(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
CGX__INLINE void cgx__gpu_fence_bulk_global(void)
{
    asm volatile("fence.proxy.async.global;" ::: "memory");
}
/* cp.async.bulk: PTX ISA 9.7.9.25.4.1, sm_90. */
CGX__INLINE void cgx__gpu_bulk_load(void *destination, const void *source, uint32_t bytes, uint64_t *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     cgx__gpu_shared_address(destination)),
                 "l"(cgx__gpu_global_address(source)), "r"(bytes), "r"(cgx__gpu_shared_address(b))
                 : "memory");
}
CGX__INLINE void cgx__gpu_bulk_store(void *destination, const void *source, uint32_t bytes)
{
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(cgx__gpu_global_address(destination)),
        "r"(cgx__gpu_shared_address(source)), "r"(bytes)
        : "memory");
}
/* cp.async.bulk.commit_group, cp.async.bulk.wait_group: PTX ISA 9.7.9.25.4.4 and .5, sm_90. */
CGX__INLINE void cgx__gpu_bulk_commit(void)
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int N> CGX__INLINE void cgx__gpu_bulk_wait(void)
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
#else
#define CGX__HAS_BULK_COPY 0
#endif

} /* extern "C++" */
#endif

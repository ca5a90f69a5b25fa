/* SPDX-License-Identifier: MIT */
/* Copies from global to shared memory that may run beside the thread (guide 5.6.2 and 5.6.3.2).
 *
 * Source and destination belong to the copy until it is waited for. How copies complete on a device is in
 * cgx_device_info.async_copy; synchronous is always legal. */
#ifndef CGX_ASYNC_H
#define CGX_ASYNC_H
#include <cgx/barrier.h>

/* void cgx_memcpy_async(g, void *destination, const void *source, size_t bytes): collective over a block, tile or coalesced
 * group, with the same arguments in all its threads; one stage. Any size and alignment. Asynchronous only from global to
 * shared memory; other directions are synchronous. Guide 5.6.3.2.1. */
#define cgx_memcpy_async(g, destination, source, bytes) \
    cgx__memcpy_async(cgx__any(g), (destination), (source), (bytes), __LINE__)
/* Two layouts, in elements of the destination: the smaller count is copied. */
#define cgx_memcpy_async_n(g, destination, destination_count, source, source_count) \
    cgx__memcpy_async(cgx__any(g), (destination), (source),                         \
                      sizeof(*(destination)) * cgx__fewer((destination_count), (source_count)), __LINE__)
/* The caller promises that both pointers and the size in bytes are multiples of N, a power of two (the guide's
 * aligned_size_t<N>). A broken promise is misuse. */
#define cgx_memcpy_async_aligned(g, destination, source, bytes, N) \
    cgx__memcpy_async_aligned(cgx__any(g), (destination), (source), (bytes), (N), __LINE__)
#define cgx_memcpy_async_n_aligned(g, destination, destination_count, source, source_count, N) \
    cgx__memcpy_async_aligned(cgx__any(g), (destination), (source),                            \
                              sizeof(*(destination)) * cgx__fewer((destination_count), (source_count)), (N), __LINE__)
/* void cgx_wait(g): collective; waits for every copy of the group's threads, then synchronises the group. Guide 5.6.3.2.2. */
#define cgx_wait(g) cgx__wait_prior(cgx__any(g), 0, __LINE__)
/* The same, but the newest N stages may still be under way. N is the same in the whole group. */
#define cgx_wait_prior(g, n) cgx__wait_prior(cgx__any(g), (uint32_t)(n), __LINE__)

/* One thread's copies (guide 5.6.2): N is 4, 8 or 16 and both pointers are aligned to it; the last ZFILL of the N bytes
 * become zero and are not read. Commit closes a stage; wait_prior waits for all but the newest N stages of the thread, which
 * group copies count in as well. Until the wait, storing to the source or touching the destination is a race. */
#define cgx_pipeline_memcpy_async(destination, source, n) \
    cgx__pipeline_copy(CGX__SELF, (destination), (source), (n), 0, __LINE__)
#define cgx_pipeline_memcpy_async_zfill(destination, source, n, zfill) \
    cgx__pipeline_copy(CGX__SELF, (destination), (source), (n), (zfill), __LINE__)
/* Any size and any alignment. */
#define cgx_pipeline_memcpy_async_any(destination, source, bytes) \
    cgx__pipeline_copy_any(CGX__SELF, (destination), (source), (bytes), __LINE__)
#define cgx_pipeline_commit() cgx__pipeline_commit(CGX__SELF)
#define cgx_pipeline_wait_prior(n) cgx__pipeline_wait(CGX__SELF, (uint32_t)(n))
/* The copies of this thread so far complete on the barrier: its phase does not end before they have landed, and its count of
 * arrivals is what it was. For that time one arrival more is pending, which must stay within the maximum. */
#define cgx_pipeline_arrive_on(barrier) cgx__pipeline_arrive_on(CGX__SELF, (barrier), __LINE__)

/* One thread copies BYTES, a multiple of 16, both pointers aligned to 16; completes on BARRIER by BYTES, which an
 * arrive_expect_tx announces. (PTX ISA, cp.async.bulk) */
#define cgx_bulk_copy_async(destination, source, bytes, barrier) \
    cgx__bulk_copy(CGX__SELF, (destination), (source), (bytes), (barrier), __LINE__)
/* One thread copies from shared to global memory; stages of their own: commit closes one, wait_prior waits until all but the
 * newest N are done: read from and written. (PTX ISA, cp.async.bulk with bulk_group) */
#define cgx_bulk_store_async(destination, source, bytes) \
    cgx__bulk_store(CGX__SELF, (destination), (source), (bytes), __LINE__)
#define cgx_bulk_store_commit() cgx__bulk_commit(CGX__SELF)
#define cgx_bulk_store_wait_prior(n) cgx__bulk_wait(CGX__SELF, (uint32_t)(n))

#if defined(CGX_PASS_CPU)
#include <cgx/cpu_async.h>
#else
#include <cgx/gpu_async.h>
#endif
#endif

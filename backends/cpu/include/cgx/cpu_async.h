/* SPDX-License-Identifier: MIT */
/* CPU pass of <cgx/async.h>: copies are done when they are asked for, which is always legal; or, for testing, as late as
 * they may be (backends/cpu/async.c). */
#ifndef CGX_CPU_ASYNC_H
#define CGX_CPU_ASYNC_H
#include <cgx/async.h>

CGX__EXTERN_C_BEGIN
CGX_API void cgx__cpu_group_copy(const cgx_group *g, void *destination, const void *source, size_t bytes, int line);
CGX_API void cgx__cpu_pipeline_copy(cgx_cpu_thread *t, void *destination, const void *source, size_t bytes,
                                    size_t zeros, int line);
CGX_API void cgx__cpu_commit(cgx_cpu_thread *t);
CGX_API void cgx__cpu_wait_stages(cgx_cpu_thread *t, uint32_t newest);
CGX_API void cgx__cpu_wait_group(const cgx_group *g, uint32_t newest);
CGX_API void cgx__cpu_arrive_on(cgx_cpu_thread *t, cgx_mbarrier *barrier, int line);
CGX_API void cgx__cpu_bulk_copy(cgx_cpu_thread *t, void *destination, const void *source, size_t bytes,
                                cgx_mbarrier *barrier, int line);
CGX_API void cgx__cpu_bulk_store(cgx_cpu_thread *t, void *destination, const void *source, size_t bytes, int line);
CGX_API void cgx__cpu_bulk_commit(cgx_cpu_thread *t);
CGX_API void cgx__cpu_bulk_wait(cgx_cpu_thread *t, uint32_t newest);
CGX__EXTERN_C_END

/* Where copies may be put off; launches for which they are do not run compiled entries. */
#define CGX__LATE(g) CGX__UNLIKELY(!CGX__IS_COMPILED((g).level) && (g).t->block->worker->late)

CGX__INLINE size_t cgx__fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

CGX__INLINE void cgx__memcpy_async(cgx_group g, void *destination, const void *source, size_t bytes, int line)
{
    if (CGX__LATE(g)) {
        const cgx_group in_memory = g; /* here alone: threads that pass the copy by would store the group for nothing */
        cgx__cpu_group_copy(&in_memory, destination, source, bytes, line);
    } else if (g.rank == 0) {
        memmove(destination, source, bytes);
    }
}

CGX__INLINE void cgx__memcpy_async_aligned(cgx_group g, void *destination, const void *source, size_t bytes,
                                           size_t alignment, int line)
{
    if (CGX__UNLIKELY(!alignment || alignment & (alignment - 1) ||
                      ((bytes | (uintptr_t)destination | (uintptr_t)source) & (alignment - 1))))
        cgx__cpu_misuse(g.t, line, "memcpy_async: pointers or size are not aligned as promised");
    cgx__memcpy_async(g, destination, source, bytes, line);
}

/* The group's synchronisation makes the copies everybody's. */
CGX__INLINE void cgx__wait_prior(cgx_group g, uint32_t stages, int line)
{
    if (CGX__LATE(g)) {
        const cgx_group in_memory = g;
        cgx__cpu_wait_group(&in_memory, stages);
    }
    cgx__sync(g, line);
}

CGX__INLINE void cgx__pipeline_copy(cgx_block self, void *destination, const void *source, size_t bytes, size_t zfill,
                                    int line)
{
    if (CGX__UNLIKELY((bytes != 4 && bytes != 8 && bytes != 16) || zfill > bytes ||
                      (((uintptr_t)destination | (uintptr_t)source) & (bytes - 1))))
        cgx__cpu_misuse(self.t, line,
                        "pipeline_memcpy_async: 4, 8 or 16 bytes, both pointers aligned to as many, zfill within");
    if (CGX__LATE(self)) {
        cgx__cpu_pipeline_copy(self.t, destination, source, bytes - zfill, zfill, line);
    } else {
        memcpy(destination, source, bytes - zfill);
        memset((char *)destination + bytes - zfill, 0, zfill);
    }
}
CGX__INLINE void cgx__pipeline_copy_any(cgx_block self, void *destination, const void *source, size_t bytes, int line)
{
    if (CGX__LATE(self))
        cgx__cpu_pipeline_copy(self.t, destination, source, bytes, 0, line);
    else
        memcpy(destination, source, bytes);
}
CGX__INLINE void cgx__pipeline_commit(cgx_block self)
{
    if (CGX__LATE(self))
        cgx__cpu_commit(self.t);
}
CGX__INLINE void cgx__pipeline_wait(cgx_block self, uint32_t n)
{
    if (CGX__LATE(self))
        cgx__cpu_wait_stages(self.t, n);
}
CGX__INLINE void cgx__pipeline_arrive_on(cgx_block self, cgx_mbarrier *barrier, int line)
{
    cgx__cpu_arrive_on(self.t, barrier, line);
}

CGX__INLINE void cgx__check_bulk(cgx_block self, const void *a, const void *b, size_t bytes, int line)
{
    if (CGX__UNLIKELY((bytes | (uintptr_t)a | (uintptr_t)b) & 15))
        cgx__cpu_misuse(self.t, line, "bulk copy: size and pointers must be multiples of 16");
}
CGX__INLINE void cgx__bulk_copy(cgx_block self, void *destination, const void *source, size_t bytes, cgx_mbarrier *b,
                                int line)
{
    cgx__check_bulk(self, destination, source, bytes, line);
    if (CGX__LATE(self)) {
        cgx__cpu_bulk_copy(self.t, destination, source, bytes, b, line);
    } else {
        memcpy(destination, source, bytes);
        cgx__cpu_mbarrier_arrive(self.t, b, 0, 0, -(int64_t)bytes, line);
    }
}
CGX__INLINE void cgx__bulk_store(cgx_block self, void *destination, const void *source, size_t bytes, int line)
{
    cgx__check_bulk(self, destination, source, bytes, line);
    if (CGX__LATE(self))
        cgx__cpu_bulk_store(self.t, destination, source, bytes, line);
    else
        memcpy(destination, source, bytes);
}
CGX__INLINE void cgx__bulk_commit(cgx_block self)
{
    if (CGX__LATE(self))
        cgx__cpu_bulk_commit(self.t);
}
CGX__INLINE void cgx__bulk_wait(cgx_block self, uint32_t n)
{
    if (CGX__LATE(self))
        cgx__cpu_bulk_wait(self.t, n);
}
#endif

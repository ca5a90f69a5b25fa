/* SPDX-License-Identifier: MIT */
/* CPU pass of <cgx/async.h>: copies are done when they are asked for, which is always legal. */
#ifndef CGX_CPU_ASYNC_H
#define CGX_CPU_ASYNC_H
#include <cgx/async.h>

CGX__INLINE size_t cgx__fewer(size_t a, size_t b) { return a < b ? a : b; }

CGX__INLINE void cgx__memcpy_async(cgx_group g, void *destination, const void *source, size_t bytes, int line)
{
    (void)line;
    if (g.rank == 0)
        memcpy(destination, source, bytes);
}

/* The group's synchronisation makes rank 0's copy everybody's. */
CGX__INLINE void cgx__wait_prior(cgx_group g, int stages, int line)
{
    (void)stages;
    cgx__sync(g, line);
}

CGX__INLINE void cgx__pipeline_copy(void *destination, const void *source, size_t bytes, size_t zfill)
{
    memcpy(destination, source, bytes - zfill);
    memset((char *)destination + bytes - zfill, 0, zfill);
}
#define cgx__pipeline_commit(self) ((void)(self).t)
#define cgx__pipeline_wait(self, n) ((void)(self).t, (void)(n))
#define cgx__pipeline_arrive_on(self, barrier, line) ((void)(self).t, (void)(barrier))

CGX__INLINE void cgx__bulk_copy(cgx_block self, void *destination, const void *source, size_t bytes, cgx_mbarrier *b,
                                int line)
{
    if (CGX__UNLIKELY((bytes | (uintptr_t)destination | (uintptr_t)source) & 15))
        cgx__cpu_misuse(self.t, line, "bulk copy: size and pointers must be multiples of 16");
    memcpy(destination, source, bytes);
    cgx__cpu_mbarrier_arrive(self.t, b, 0, 0, -(int64_t)bytes, line);
}
#endif

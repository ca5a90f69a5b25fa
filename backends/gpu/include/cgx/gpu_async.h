/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/async.h>. */
#ifndef CGX_GPU_ASYNC_H
#define CGX_GPU_ASYNC_H
#include <cgx/async.h>

extern "C++" {

CGX__INLINE size_t cgx__fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- declared here, defined by the CUDA and HIP backends ---- */

CGX__DECLARED void cgx__memcpy_async(cgx_group g, void *destination, const void *source, size_t bytes, int line);
CGX__DECLARED void cgx__wait_prior(cgx_group g, int stages, int line);
CGX__DECLARED void cgx__pipeline_copy(void *destination, const void *source, size_t bytes, size_t zfill);
CGX__DECLARED void cgx__pipeline_commit(cgx_block self);
CGX__DECLARED void cgx__pipeline_wait(cgx_block self, int stages);
CGX__DECLARED void cgx__pipeline_arrive_on(cgx_block self, cgx_mbarrier *b, int line);
CGX__DECLARED void cgx__bulk_copy(cgx_block self, void *destination, const void *source, size_t bytes, cgx_mbarrier *b,
                                  int line);

} /* extern "C++" */
#endif

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

template <class G>
CGX__DECLARED void cgx__memcpy_async(G g, void *destination, const void *source, size_t bytes, int line);
template <class G>
CGX__DECLARED void cgx__memcpy_async_aligned(G g, void *destination, const void *source, size_t bytes, size_t alignment,
                                             int line);
template <class G> CGX__DECLARED void cgx__wait_prior(G g, uint32_t stages, int line);
CGX__DECLARED void cgx__pipeline_copy(cgx_block self, void *destination, const void *source, size_t bytes, size_t zfill,
                                      int line);
CGX__DECLARED void cgx__pipeline_copy_any(cgx_block self, void *destination, const void *source, size_t bytes,
                                          int line);
CGX__DECLARED void cgx__pipeline_commit(cgx_block self);
CGX__DECLARED void cgx__pipeline_wait(cgx_block self, uint32_t stages);
CGX__DECLARED void cgx__pipeline_arrive_on(cgx_block self, cgx_mbarrier *b, int line);
CGX__DECLARED void cgx__bulk_copy(cgx_block self, void *destination, const void *source, size_t bytes, cgx_mbarrier *b,
                                  int line);
CGX__DECLARED void cgx__bulk_store(cgx_block self, void *destination, const void *source, size_t bytes, int line);
CGX__DECLARED void cgx__bulk_commit(cgx_block self);
CGX__DECLARED void cgx__bulk_wait(cgx_block self, uint32_t stages);

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* HIP pass: kernels launch nothing yet. A kernel declared for it is refused by the host (CGX_CAN_DEVICE_LAUNCH), so none of
 * this is ever called; it compiles, so that a file with such a kernel has images for its others. */
#ifndef CGX_HIP_DEVICE_RUNTIME_H
#define CGX_HIP_DEVICE_RUNTIME_H
#include <cgx/gpu_device_runtime.h>

extern "C++" {

#define CGX__NOT_HERE(name, parameters)     \
    CGX__RUNTIME cgx_status name parameters \
    {                                       \
        return CGX_ERROR_UNSUPPORTED;       \
    }
CGX__NOT_HERE(cgx_launch_buffer, (cgx_device_kernel, size_t, void **))
CGX__NOT_HERE(cgx_launch_with_buffer, (cgx_stream, cgx_device_kernel, cgx_config, void *))
CGX__NOT_HERE(cgx_stream_create, (cgx_stream *, unsigned))
CGX__NOT_HERE(cgx_stream_destroy, (cgx_stream))
CGX__NOT_HERE(cgx_stream_wait_event, (cgx_stream, cgx_stream_event))
CGX__NOT_HERE(cgx_stream_event_create, (cgx_stream_event *, unsigned))
CGX__NOT_HERE(cgx_stream_event_destroy, (cgx_stream_event))
CGX__NOT_HERE(cgx_stream_event_record, (cgx_stream_event, cgx_stream))
CGX__NOT_HERE(cgx_heap_alloc, (size_t, void **))
CGX__NOT_HERE(cgx_heap_free, (void *))
CGX__NOT_HERE(cgx_stream_copy, (cgx_stream, void *, const void *, size_t))
CGX__NOT_HERE(cgx_stream_copy_2d, (cgx_stream, void *, size_t, const void *, size_t, size_t, size_t))
CGX__NOT_HERE(cgx_stream_copy_3d,
              (cgx_stream, void *, size_t, size_t, const void *, size_t, size_t, size_t, size_t, size_t))
CGX__NOT_HERE(cgx_stream_fill, (cgx_stream, void *, uint8_t, size_t))
CGX__NOT_HERE(cgx_stream_fill_2d, (cgx_stream, void *, size_t, uint8_t, size_t, size_t))
CGX__NOT_HERE(cgx_stream_fill_3d, (cgx_stream, void *, size_t, size_t, uint8_t, size_t, size_t, size_t))
CGX__NOT_HERE(cgx_runtime_device_count, (int *))
CGX__NOT_HERE(cgx_runtime_device, (int *))
CGX__NOT_HERE(cgx_runtime_attribute, (cgx_attribute, int, int *))
CGX__NOT_HERE(cgx_runtime_limit, (cgx_limit, size_t *))
CGX__NOT_HERE(cgx_runtime_cache_config, (cgx_cache_config *))
CGX__NOT_HERE(cgx_runtime_version, (int *))
CGX__NOT_HERE(cgx_runtime_kernel_info, (cgx_device_kernel, cgx_device_kernel_info *))
CGX__NOT_HERE(cgx_runtime_occupancy, (cgx_device_kernel, int, size_t, int *))
CGX__NOT_HERE(cgx_runtime_best_block, (cgx_device_kernel, size_t, int *, int *))
CGX__NOT_HERE(cgx_runtime_best_block_with, (cgx_device_kernel, size_t, size_t, int *, int *))
CGX__NOT_HERE(cgx_runtime_last_error, (void))
CGX__NOT_HERE(cgx_runtime_peek_error, (void))
#undef CGX__NOT_HERE

/* Register HW_ID on gfx9, HW_ID1 later; of both, the compute unit in its shader engine. */
CGX__INLINE int cgx__unit_id(cgx_block)
{
#if defined(__GFX9__)
    return (int)__builtin_amdgcn_s_getreg(4 | 8 << 6 | (8 - 1) << 11);
#else
    return (int)__builtin_amdgcn_s_getreg(23 | 8 << 6 | (8 - 1) << 11);
#endif
}
CGX__INLINE int cgx__warp_id(cgx_block b)
{
    return cgx_thread_rank(b) / CGX__WAVE;
}

} /* extern "C++" */
#endif

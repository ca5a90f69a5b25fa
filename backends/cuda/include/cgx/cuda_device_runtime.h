/* SPDX-License-Identifier: MIT */
/* CUDA pass: the device runtime over CUDA's own (cudadevrt). Only in a relocatable image, which cgxcc makes of a file that
 * declares a kernel which launches; in another file a call compiles and the image does not link. */
#ifndef CGX_CUDA_DEVICE_RUNTIME_H
#define CGX_CUDA_DEVICE_RUNTIME_H
#include <cgx/gpu_device_runtime.h>

extern "C++" {

#if defined(CGX__RELOCATABLE)
CGX__INLINE cgx_status cgx__cuda_status(cudaError_t e)
{
    switch (e) {
    case cudaSuccess: return CGX_OK;
    case cudaErrorMemoryAllocation: return CGX_ERROR_OUT_OF_MEMORY;
    case cudaErrorInvalidConfiguration: /* of too many threads, or too much shared memory: zeros are refused here */
    case cudaErrorLaunchOutOfResources:
    case cudaErrorLaunchPendingCountExceeded:
    case cudaErrorLaunchMaxDepthExceeded: return CGX_ERROR_LIMIT;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidPitchValue: return CGX_ERROR_INVALID;
    case cudaErrorInvalidDevice: return CGX_ERROR_NO_DEVICE;
    case cudaErrorNotSupported:
    case cudaErrorNotPermitted: return CGX_ERROR_UNSUPPORTED;
    default: return CGX_ERROR_FAULT;
    }
}
#define CGX__CUDA(call) cgx__cuda_status(call)
/* What only cgx refuses: an invalid value, for CUDA's last error too. Of what CUDA 13's runtime for kernels refuses as such, a question
 * for an attribute that does not exist does nothing else. (It takes a stream without the flag, for one.) */
CGX_UNUSED static __device__ __noinline__ cgx_status cgx__cuda_refuse(void)
{
    int none;
    cudaDeviceGetAttribute(&none, (cudaDeviceAttr)0x7fff, 0);
    return CGX_ERROR_INVALID;
}
#else
/* Has this name for the message of the linker. */
extern "C" __device__ cgx_status cgx__no_kernel_of_the_file_is_declared_CGX_KERNEL_LAUNCHING(void);
#define CGX__CUDA(call) cgx__no_kernel_of_the_file_is_declared_CGX_KERNEL_LAUNCHING()
#define cgx__cuda_refuse() CGX__CUDA(0)
#endif

/* ---- memory ---- */

CGX__RUNTIME cgx_status cgx_heap_alloc(size_t bytes, void **memory)
{
#if defined(CGX__RELOCATABLE)
    void *p = 0;
    const cgx_status s = CGX__CUDA(cudaMalloc(&p, bytes ? bytes : 1)); /* malloc, with a last error */
    if (!s)
        *memory = p;
    return s;
#else
    return (void)bytes, (void)memory, CGX__CUDA(0);
#endif
}
CGX__RUNTIME cgx_status cgx_heap_free(void *memory)
{
    return memory ? CGX__CUDA(cudaFree(memory)) : CGX_OK;
}

/* ---- launches ---- */

/* What cgx itself refuses. */
CGX__INLINE cgx_status cgx__cuda_check(const cgx_config &c, int flags)
{
    if (c.grid.x <= 0 || c.grid.y <= 0 || c.grid.z <= 0 || c.block.x <= 0 || c.block.y <= 0 || c.block.z <= 0 ||
        c.size < sizeof c)
        return cgx__cuda_refuse();
    if ((c.flags & CGX_LAUNCH_COOPERATIVE) || (flags & CGX_KERNEL_IS_COOPERATIVE) || c.cluster.x > 1 ||
        c.cluster.y > 1 || c.cluster.z > 1) {
        cgx__cuda_refuse(); /* the last error is an invalid value: the runtime has nothing nearer to it */
        return CGX_ERROR_UNSUPPORTED;
    }
    return CGX_OK;
}
/* Beyond the limits of every device, or of the kernel, which was declared for MOST threads if not 0. Such a launch has a status of its own,
 * whatever the runtime calls it. The runtime gives a buffer for it that nobody reads, which compute-sanitizer does not know. */
CGX__INLINE bool cgx__cuda_beyond(const cgx_config &c, int most)
{
    return (int64_t)c.block.x * c.block.y * c.block.z > (most ? most : 1024) || c.block.z > 64 || c.grid.y > 65535 ||
           c.grid.z > 65535 || c.dynamic_shared > 48 * 1024;
}
CGX__INLINE cgx_status cgx__cuda_failure(const cgx_config &c, int most, cgx_status s)
{
    return cgx__cuda_beyond(c, most) ? CGX_ERROR_LIMIT : s;
}
#if defined(CGX__RELOCATABLE)
CGX__INLINE dim3 cgx__cuda_dim(const cgx_dim3 &d)
{
    return dim3((unsigned)d.x, (unsigned)d.y, (unsigned)d.z);
}
/* The runtime takes 32 bits of the shared memory's size. */
CGX__INLINE unsigned cgx__cuda_dynamic(const cgx_config &c)
{
    return c.dynamic_shared < 0xffffffffu ? (unsigned)c.dynamic_shared : 0xffffffffu;
}
#endif

/* The two calls that nvcc makes of <<<>>>. */
template <class P>
CGX__INLINE cgx_status cgx__cuda_dlaunch(cgx_stream stream, const void *kernel, const cgx_config &c, int flags,
                                         const cgx_dim3 &declared, const P &parameters)
{
    const int most = declared.x * declared.y * declared.z; /* 0: nothing was declared */
    cgx_status s = cgx__cuda_check(c, flags);
    if (s)
        return s;
    if ((flags & CGX_KERNEL_FIXED_BLOCK) &&
        (c.block.x != declared.x || c.block.y != declared.y || c.block.z != declared.z)) {
        cgx__cuda_refuse();
        return CGX_ERROR_LIMIT;
    }
#if defined(CGX__RELOCATABLE)
    void *buffer = cudaGetParameterBufferV2(const_cast<void *>(kernel), cgx__cuda_dim(c.grid), cgx__cuda_dim(c.block),
                                            cgx__cuda_dynamic(c));
    if (!buffer) {
        s = CGX__CUDA(cudaPeekAtLastError());
        return cgx__cuda_failure(c, most, s ? s : CGX_ERROR_LIMIT);
    }
    if (!cgx__cuda_beyond(c, most))
        memcpy(__builtin_assume_aligned(buffer, 64), &parameters, sizeof parameters); /* in few stores */
    s = CGX__CUDA(cudaLaunchDeviceV2(buffer, (cudaStream_t)stream));
    return s ? cgx__cuda_failure(c, most, s) : s;
#else
    return (void)stream, (void)kernel, (void)most, (void)parameters, CGX__CUDA(0);
#endif
}

/* CUDA's own pair, which asks for the shape with the launch, refuses the streams without an order (seen with CUDA 13), and the other
 * asks for it with the buffer. So the buffer is of the heap, with its size and the kernel before it. */
struct cgx__cuda_buffer {
    uint64_t bytes;
    cgx_device_kernel kernel; /* NULL: used up */
};
CGX__RUNTIME cgx_status cgx_launch_buffer(cgx_device_kernel kernel, size_t bytes, void **buffer)
{
    if (!kernel || !buffer || bytes < sizeof(cgx__thread) || bytes > 4096 + sizeof(cgx__thread))
        return cgx__cuda_refuse();
    void *memory = 0;
    const cgx_status s = cgx_heap_alloc(sizeof(cgx__cuda_buffer) + bytes, &memory);
    if (s)
        return s;
    cgx__cuda_buffer *head = static_cast<cgx__cuda_buffer *>(memory);
    head->bytes = bytes;
    head->kernel = kernel;
    memset(head + 1, 0, bytes);
    /* The hidden parameter is the last one. Which kernel it is only its address says. */
    reinterpret_cast<cgx__thread *>(reinterpret_cast<char *>(head + 1) + bytes)[-1] =
        cgx__hidden_of("a kernel launched with a buffer");
    *buffer = head + 1;
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_launch_with_buffer(cgx_stream stream, cgx_device_kernel kernel, cgx_config config,
                                               void *buffer)
{
    cgx__cuda_buffer *head = static_cast<cgx__cuda_buffer *>(buffer) - 1;
    if (!buffer || !kernel || head->kernel != kernel)
        return cgx__cuda_refuse();
    head->kernel = 0;
    cgx_status s = cgx__cuda_check(config, 0);
#if defined(CGX__RELOCATABLE)
    if (!s) {
        void *parameters = cudaGetParameterBufferV2(const_cast<void *>(kernel), cgx__cuda_dim(config.grid),
                                                    cgx__cuda_dim(config.block), cgx__cuda_dynamic(config));
        if (parameters) {
            if (!cgx__cuda_beyond(config, 0))
                memcpy(parameters, buffer, head->bytes);
            s = CGX__CUDA(cudaLaunchDeviceV2(parameters, (cudaStream_t)stream));
        } else {
            s = CGX__CUDA(cudaPeekAtLastError());
            s = s ? s : CGX_ERROR_LIMIT;
        }
        s = s ? cgx__cuda_failure(config, 0, s) : s;
    }
#else
    (void)stream;
#endif
    cgx_heap_free(head);
    return s;
}

/* ---- streams and events ---- */

CGX__RUNTIME cgx_status cgx_stream_create(cgx_stream *stream, unsigned flags)
{
    if (flags != CGX_STREAM_NON_BLOCKING)
        return cgx__cuda_refuse();
    return CGX__CUDA(cudaStreamCreateWithFlags((cudaStream_t *)stream, flags));
}
CGX__RUNTIME cgx_status cgx_stream_destroy(cgx_stream stream)
{
    return CGX__CUDA(cudaStreamDestroy((cudaStream_t)stream));
}
CGX__RUNTIME cgx_status cgx_stream_wait_event(cgx_stream stream, cgx_stream_event event)
{
    if (stream == CGX_FIRE_AND_FORGET || stream == CGX_TAIL_LAUNCH)
        return cgx__cuda_refuse();
    return CGX__CUDA(cudaStreamWaitEvent((cudaStream_t)stream, (cudaEvent_t)event, 0));
}
CGX__RUNTIME cgx_status cgx_stream_event_create(cgx_stream_event *event, unsigned flags)
{
    if (flags != CGX_EVENT_NO_TIMING)
        return cgx__cuda_refuse();
    return CGX__CUDA(cudaEventCreateWithFlags((cudaEvent_t *)event, flags));
}
CGX__RUNTIME cgx_status cgx_stream_event_destroy(cgx_stream_event event)
{
    return CGX__CUDA(cudaEventDestroy((cudaEvent_t)event));
}
CGX__RUNTIME cgx_status cgx_stream_event_record(cgx_stream_event event, cgx_stream stream)
{
    if (stream == CGX_FIRE_AND_FORGET || stream == CGX_TAIL_LAUNCH)
        return cgx__cuda_refuse();
    return CGX__CUDA(cudaEventRecord((cudaEvent_t)event, (cudaStream_t)stream));
}

/* ---- copies and fills ---- */

CGX__INLINE bool cgx__cuda_private(const void *p)
{
    return __isShared(p) || __isLocal(p);
}

#if defined(__CUDACC_RDC__) /* a kernel has to be there in nvcc's pass for the host too */
/* A kernel of ours: the fills of CUDA 13's runtime for kernels write zeros, whatever they are asked for (seen on an H200). */
struct cgx__cuda_fill_arguments {
    unsigned char *memory;
    uint64_t pitch, rows, width, height, depth;
    uint8_t value;
};
static __global__ void cgx__cuda_fill_rows(cgx__cuda_fill_arguments a)
{
    const uint64_t first = blockIdx.x * blockDim.x + threadIdx.x, step = (uint64_t)gridDim.x * blockDim.x;
    const uint32_t word = a.value * 0x01010101u;
    for (uint64_t r = blockIdx.y; r < a.height * a.depth; r += gridDim.y) {
        unsigned char *row = a.memory + (r / a.height * a.rows + r % a.height) * a.pitch;
        uint64_t head = (0 - (uint64_t)row) & 15;
        head = head < a.width ? head : a.width;
        const uint64_t words = (a.width - head) / 16;
        for (uint64_t i = first; i < words; i += step)
            reinterpret_cast<uint4 *>(row + head)[i] = make_uint4(word, word, word, word);
        for (uint64_t i = first; i < head; i += step)
            row[i] = a.value;
        for (uint64_t i = head + 16 * words + first; i < a.width; i += step)
            row[i] = a.value;
    }
}
#endif

CGX__RUNTIME cgx_status cgx_stream_copy(cgx_stream stream, void *destination, const void *source, size_t bytes)
{
    if (!bytes)
        return CGX_OK;
    if (cgx__cuda_private(destination) || cgx__cuda_private(source))
        return cgx__cuda_refuse();
    return CGX__CUDA(cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t)stream));
}
CGX__RUNTIME cgx_status cgx_stream_copy_2d(cgx_stream stream, void *destination, size_t destination_pitch,
                                           const void *source, size_t source_pitch, size_t width, size_t height)
{
    if (!width || !height)
        return CGX_OK;
    if (cgx__cuda_private(destination) || cgx__cuda_private(source) ||
        (height > 1 && (destination_pitch < width || source_pitch < width)))
        return cgx__cuda_refuse();
    return CGX__CUDA(cudaMemcpy2DAsync(destination, destination_pitch, source, source_pitch, width, height,
                                       cudaMemcpyDeviceToDevice, (cudaStream_t)stream));
}
CGX__RUNTIME cgx_status cgx_stream_copy_3d(cgx_stream stream, void *destination, size_t destination_pitch,
                                           size_t destination_rows, const void *source, size_t source_pitch,
                                           size_t source_rows, size_t width, size_t height, size_t depth)
{
    if (!width || !height || !depth)
        return CGX_OK;
    if (cgx__cuda_private(destination) || cgx__cuda_private(source) || destination_pitch < width ||
        source_pitch < width || (depth > 1 && (destination_rows < height || source_rows < height)))
        return cgx__cuda_refuse();
#if defined(CGX__RELOCATABLE)
    cudaMemcpy3DParms p;
    memset(&p, 0, sizeof p);
    p.srcPtr.ptr = const_cast<void *>(source), p.srcPtr.pitch = source_pitch;
    p.srcPtr.xsize = source_pitch, p.srcPtr.ysize = source_rows;
    p.dstPtr.ptr = destination, p.dstPtr.pitch = destination_pitch;
    p.dstPtr.xsize = destination_pitch, p.dstPtr.ysize = destination_rows;
    p.extent.width = width, p.extent.height = height, p.extent.depth = depth;
    p.kind = cudaMemcpyDeviceToDevice;
#endif
    return CGX__CUDA(cudaMemcpy3DAsync(&p, (cudaStream_t)stream));
}

CGX__RUNTIME cgx_status cgx_stream_fill(cgx_stream stream, void *memory, uint8_t value, size_t bytes)
{
    if (!bytes)
        return CGX_OK;
    return cgx_stream_fill_3d(stream, memory, bytes, 1, value, bytes, 1, 1);
}
CGX__RUNTIME cgx_status cgx_stream_fill_2d(cgx_stream stream, void *memory, size_t pitch, uint8_t value, size_t width,
                                           size_t height)
{
    if (!width || !height)
        return CGX_OK;
    return cgx_stream_fill_3d(stream, memory, pitch, height, value, width, height, 1);
}
CGX__RUNTIME cgx_status cgx_stream_fill_3d(cgx_stream stream, void *memory, size_t pitch, size_t rows, uint8_t value,
                                           size_t width, size_t height, size_t depth)
{
    if (!width || !height || !depth)
        return CGX_OK;
    if (cgx__cuda_private(memory) || pitch < width || (depth > 1 && rows < height))
        return cgx__cuda_refuse();
#if defined(CGX__RELOCATABLE)
    const uint64_t parts = (width + 64 * 1024 - 1) / (64 * 1024), rows_in_all = (uint64_t)height * depth;
    const cgx__cuda_fill_arguments a = {
        static_cast<unsigned char *>(memory), pitch, rows, width, height, depth, value
    };
    cgx_config c = cgx_config_1d((int)(parts < 1024 ? parts : 1024), width < 256 ? 32 : 256);
    c.grid.y = (int)(rows_in_all < 1024 ? rows_in_all : 1024);
    return cgx__cuda_dlaunch(stream, (const void *)cgx__cuda_fill_rows, c, 0, cgx_dim3(), a);
#else
    return (void)stream, (void)rows, (void)value, CGX__CUDA(0);
#endif
}

/* ---- questions ---- */

CGX__RUNTIME cgx_status cgx_runtime_device_count(int *count)
{
    return CGX__CUDA(cudaGetDeviceCount(count));
}
CGX__RUNTIME cgx_status cgx_runtime_device(int *device)
{
    return CGX__CUDA(cudaGetDevice(device));
}
CGX__RUNTIME cgx_status cgx_runtime_attribute(cgx_attribute attribute, int device, int *value)
{
    switch (attribute) {
#define CGX__CASE(symbol, member, cuda) \
    case CGX_ATTRIBUTE_##symbol: return CGX__CUDA(cudaDeviceGetAttribute(value, cuda, device));
        CGX_FOREACH_ATTRIBUTE(CGX__CASE)
#undef CGX__CASE
    default: return cgx__cuda_refuse();
    }
}
CGX__RUNTIME cgx_status cgx_runtime_limit(cgx_limit limit, size_t *value)
{
    switch (limit) {
    case CGX_LIMIT_HEAP_BYTES: return CGX__CUDA(cudaDeviceGetLimit(value, cudaLimitMallocHeapSize));
    case CGX_LIMIT_PENDING_LAUNCHES: return CGX__CUDA(cudaDeviceGetLimit(value, cudaLimitDevRuntimePendingLaunchCount));
    default: return cgx__cuda_refuse();
    }
}
CGX__RUNTIME cgx_status cgx_runtime_cache_config(cgx_cache_config *config)
{
#if defined(CGX__RELOCATABLE)
    cudaFuncCache preference = cudaFuncCachePreferNone;
    const cgx_status s = CGX__CUDA(cudaDeviceGetCacheConfig(&preference));
    if (!s)
        *config = preference == cudaFuncCachePreferShared  ? CGX_CACHE_SHARED
                  : preference == cudaFuncCachePreferL1    ? CGX_CACHE_L1
                  : preference == cudaFuncCachePreferEqual ? CGX_CACHE_EQUAL
                                                           : CGX_CACHE_DEFAULT;
    return s;
#else
    return (void)config, CGX__CUDA(0);
#endif
}
CGX__RUNTIME cgx_status cgx_runtime_version(int *version)
{
    return CGX__CUDA(cudaRuntimeGetVersion(version));
}
CGX__RUNTIME cgx_status cgx_runtime_kernel_info(cgx_device_kernel kernel, cgx_device_kernel_info *info)
{
#if defined(CGX__RELOCATABLE)
    cudaFuncAttributes a;
    const cgx_status s = CGX__CUDA(cudaFuncGetAttributes(&a, kernel));
    if (!s) {
        info->static_shared_bytes = a.sharedSizeBytes;
        info->local_bytes = a.localSizeBytes;
        info->registers = a.numRegs;
        info->max_threads = a.maxThreadsPerBlock;
    }
    return s;
#else
    return (void)kernel, (void)info, CGX__CUDA(0);
#endif
}
CGX__RUNTIME cgx_status cgx_runtime_occupancy(cgx_device_kernel kernel, int threads, size_t dynamic_shared,
                                              int *blocks_per_unit)
{
    return CGX__CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks_per_unit, kernel, threads, dynamic_shared));
}
/* ---- errors ---- */

CGX__RUNTIME cgx_status cgx_runtime_last_error(void)
{
    return CGX__CUDA(cudaGetLastError());
}
CGX__RUNTIME cgx_status cgx_runtime_peek_error(void)
{
    return CGX__CUDA(cudaPeekAtLastError());
}

CGX__INLINE int cgx__unit_id(cgx_block)
{
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return (int)id;
}
CGX__INLINE int cgx__warp_id(cgx_block)
{
    unsigned id;
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(id));
    return (int)id;
}

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* Types of the device runtime: what <cgx/device_runtime.h> and the macros of kernels both need. */
#ifndef CGX_STREAM_H
#define CGX_STREAM_H
#include <cgx/host.h>

/* Handles of kernels, by value: of a queue of launches, and of a point in one. */
typedef struct cgx__stream *cgx_stream;
typedef struct cgx__stream_event *cgx_stream_event;
/* A kernel as device code names it: CGX_DEVICE_KERNEL(name). */
typedef const void *cgx_device_kernel;

enum { CGX_STREAM_NON_BLOCKING = 1, CGX_EVENT_NO_TIMING = 2 };

/* X(symbol, cgx_device_info's, CUDA's) */
#define CGX_FOREACH_ATTRIBUTE(X)                                                               \
    X(UNITS, units, cudaDevAttrMultiProcessorCount)                                            \
    X(LANES, lanes, cudaDevAttrWarpSize)                                                       \
    X(MAX_THREADS_PER_BLOCK, max_threads_per_block, cudaDevAttrMaxThreadsPerBlock)             \
    X(MAX_THREADS_PER_UNIT, max_threads_per_unit, cudaDevAttrMaxThreadsPerMultiProcessor)      \
    X(MAX_BLOCK_X, max_block.x, cudaDevAttrMaxBlockDimX)                                       \
    X(MAX_BLOCK_Y, max_block.y, cudaDevAttrMaxBlockDimY)                                       \
    X(MAX_BLOCK_Z, max_block.z, cudaDevAttrMaxBlockDimZ)                                       \
    X(MAX_GRID_X, max_grid.x, cudaDevAttrMaxGridDimX)                                          \
    X(MAX_GRID_Y, max_grid.y, cudaDevAttrMaxGridDimY)                                          \
    X(MAX_GRID_Z, max_grid.z, cudaDevAttrMaxGridDimZ)                                          \
    X(SHARED_BYTES_PER_BLOCK, shared_bytes_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin) \
    X(SHARED_BYTES_PER_UNIT, shared_bytes_per_unit, cudaDevAttrMaxSharedMemoryPerMultiprocessor)
typedef enum {
#define CGX__ENUMERATOR(symbol, member, cuda) CGX_ATTRIBUTE_##symbol,
    CGX_FOREACH_ATTRIBUTE(CGX__ENUMERATOR)
#undef CGX__ENUMERATOR
        CGX__ATTRIBUTE_COUNT
} cgx_attribute;

typedef enum { CGX_CACHE_DEFAULT, CGX_CACHE_SHARED, CGX_CACHE_L1, CGX_CACHE_EQUAL } cgx_cache_config;

/* A kernel as the device sees it: bytes, registers of a thread (0 on a CPU), and the largest block. */
typedef struct {
    size_t static_shared_bytes, local_bytes;
    int registers, max_threads;
} cgx_device_kernel_info;
#endif

/* SPDX-License-Identifier: MIT */
/* The driver functions that CUDA and HIP have alike, loaded at first use: libcgx links no vendor library and is built without
 * a toolkit. Signatures and values are those of the CUDA Driver API and the HIP API references, which agree in all of this;
 * what differs is in backends/cuda/driver.h and backends/hip/driver.h, one of which is read before. */
#ifndef CGX_GPU_DRIVER_H
#define CGX_GPU_DRIVER_H
#include <stddef.h>
#include <stdint.h>
#include "../backend.h"

typedef struct gpu_module_handle *gpu_module;
typedef struct gpu_function_handle *gpu_function;
typedef struct gpu_stream_handle *gpu_stream;
typedef struct gpu_event_handle *gpu_event;
#ifndef GPU_ADDRESS /* of device memory, as the driver takes it */
#error "read by the driver.h of a backend only"
#endif
typedef GPU_ADDRESS gpu_address;

enum {
    GPU_SUCCESS = 0,
    GPU_ERROR_OUT_OF_MEMORY = 2,
    GPU_ERROR_NO_DEVICE = 100,
    GPU_ERROR_NO_BINARY = 209,
    GPU_ERROR_NOT_READY = 600
};
enum {
    FUNCTION_MAX_THREADS = 0,
    FUNCTION_SHARED_BYTES = 1,
    FUNCTION_BINARY_VERSION = 6,
    FUNCTION_MAX_DYNAMIC_SHARED = 8
};
enum {
    STREAM_NON_BLOCKING = 1,
    HOST_ALLOC_PORTABLE = 1,
    HOST_ALLOC_DEVICEMAP = 2,
    MEM_ATTACH_GLOBAL = 1,
    EVENT_DEFAULT = 0
};

/* X(name, symbol of CUDA, symbol of HIP, parameters) */
#define FOREACH_GPU_FUNCTION(X)                                                                                       \
    X(Init, cuInit, hipInit, (unsigned))                                                                              \
    X(DriverGetVersion, cuDriverGetVersion, hipDriverGetVersion, (int *))                                             \
    X(DeviceGetCount, cuDeviceGetCount, hipGetDeviceCount, (int *))                                                   \
    X(DeviceGet, cuDeviceGet, hipDeviceGet, (int *, int))                                                             \
    X(DeviceGetName, cuDeviceGetName, hipDeviceGetName, (char *, int, int))                                           \
    X(DeviceGetAttribute, cuDeviceGetAttribute, hipDeviceGetAttribute, (int *, int, int))                             \
    X(DeviceTotalMem, cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t *, int))                                        \
    X(DeviceCanAccessPeer, cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, (int *, int, int))                          \
    X(ModuleLoadData, cuModuleLoadData, hipModuleLoadData, (gpu_module *, const void *))                              \
    X(ModuleUnload, cuModuleUnload, hipModuleUnload, (gpu_module))                                                    \
    X(ModuleGetFunction, cuModuleGetFunction, hipModuleGetFunction, (gpu_function *, gpu_module, const char *))       \
    X(ModuleGetGlobal, cuModuleGetGlobal_v2, hipModuleGetGlobal, (gpu_address *, size_t *, gpu_module, const char *)) \
    X(FuncGetAttribute, cuFuncGetAttribute, hipFuncGetAttribute, (int *, int, gpu_function))                          \
    X(OccupancyMaxActiveBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                          \
      hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, (int *, gpu_function, int, size_t))                         \
    X(MemAlloc, cuMemAlloc_v2, hipMalloc, (gpu_address *, size_t))                                                    \
    X(MemAllocManaged, cuMemAllocManaged, hipMallocManaged, (gpu_address *, size_t, unsigned))                        \
    X(MemFree, cuMemFree_v2, hipFree, (gpu_address))                                                                  \
    X(MemHostAlloc, cuMemHostAlloc, hipHostMalloc, (void **, size_t, unsigned))                                       \
    X(MemFreeHost, cuMemFreeHost, hipHostFree, (void *))                                                              \
    X(MemAllocAsync, cuMemAllocAsync, hipMallocAsync, (gpu_address *, size_t, gpu_stream))                            \
    X(MemFreeAsync, cuMemFreeAsync, hipFreeAsync, (gpu_address, gpu_stream))                                          \
    X(MemsetD8Async, cuMemsetD8Async, hipMemsetD8Async, (gpu_address, unsigned char, size_t, gpu_stream))             \
    X(MemsetD16Async, cuMemsetD16Async, hipMemsetD16Async, (gpu_address, unsigned short, size_t, gpu_stream))         \
    X(MemsetD32Async, cuMemsetD32Async, hipMemsetD32Async, (gpu_address, unsigned, size_t, gpu_stream))               \
    X(StreamCreate, cuStreamCreate, hipStreamCreateWithFlags, (gpu_stream *, unsigned))                               \
    X(StreamDestroy, cuStreamDestroy_v2, hipStreamDestroy, (gpu_stream))                                              \
    X(StreamSynchronize, cuStreamSynchronize, hipStreamSynchronize, (gpu_stream))                                     \
    X(StreamQuery, cuStreamQuery, hipStreamQuery, (gpu_stream))                                                       \
    X(StreamWaitEvent, cuStreamWaitEvent, hipStreamWaitEvent, (gpu_stream, gpu_event, unsigned))                      \
    X(EventCreate, cuEventCreate, hipEventCreateWithFlags, (gpu_event *, unsigned))                                   \
    X(EventDestroy, cuEventDestroy_v2, hipEventDestroy, (gpu_event))                                                  \
    X(EventRecord, cuEventRecord, hipEventRecord, (gpu_event, gpu_stream))                                            \
    X(EventSynchronize, cuEventSynchronize, hipEventSynchronize, (gpu_event))                                         \
    X(EventQuery, cuEventQuery, hipEventQuery, (gpu_event))                                                           \
    X(EventElapsedTime, cuEventElapsedTime, hipEventElapsedTime, (float *, gpu_event, gpu_event))

/* What cgx makes of a driver error: X(value, status, sticky, explanation). Sticky ones leave the device unusable (CUDA
 * Driver API, CUresult; HIP, hipError_t, which has the same values). */
#define FOREACH_GPU_ERROR(X)                                                              \
    X(1, CGX_ERROR_INVALID, 0, "the driver refuses an argument")                          \
    X(2, CGX_ERROR_OUT_OF_MEMORY, 0, "not enough device memory")                          \
    X(9, CGX_ERROR_INVALID, 0, "the driver refuses the launch's shape")                   \
    X(4, CGX_ERROR_DRIVER, 0, "the driver is shutting down: the process ends")            \
    X(46, CGX_ERROR_NO_DEVICE, 0, "another process has the GPU for itself")               \
    X(100, CGX_ERROR_NO_DEVICE, 0, "there is no GPU")                                     \
    X(101, CGX_ERROR_NO_DEVICE, 0, "there is no such GPU")                                \
    X(201, CGX_ERROR_INVALID, 0, "there is no valid context")                             \
    X(209, CGX_ERROR_UNSUPPORTED, 0, "the file has no image for this GPU")                \
    X(214, CGX_ERROR_FAULT, 1, "the GPU's memory failed (ECC)")                           \
    X(218, CGX_ERROR_UNSUPPORTED, 0, "the driver cannot compile the PTX")                 \
    X(220, CGX_ERROR_FAULT, 1, "a link between GPUs failed")                              \
    X(222, CGX_ERROR_DRIVER, 0, "the driver is older than the PTX")                       \
    X(500, CGX_ERROR_INVALID, 0, "not found in the image")                                \
    X(700, CGX_ERROR_FAULT, 1, "a kernel accessed memory that is not its")                \
    X(701, CGX_ERROR_LIMIT, 0, "the launch needs more than the GPU has")                  \
    X(702, CGX_ERROR_FAULT, 1, "a kernel ran longer than the system allows")              \
    X(709, CGX_ERROR_DEVICE_LOST, 1, "the context has been destroyed")                    \
    X(710, CGX_ERROR_FAULT, 1, "an assertion in a kernel failed")                         \
    X(714, CGX_ERROR_FAULT, 1, "a kernel's stack overflowed or its hardware failed")      \
    X(715, CGX_ERROR_FAULT, 1, "a kernel executed an illegal instruction")                \
    X(716, CGX_ERROR_FAULT, 1, "a kernel accessed a misaligned address")                  \
    X(717, CGX_ERROR_FAULT, 1, "a kernel accessed an address in the wrong memory")        \
    X(718, CGX_ERROR_FAULT, 1, "a kernel jumped to an invalid address")                   \
    X(719, CGX_ERROR_FAULT, 1, "a kernel failed")                                         \
    X(720, CGX_ERROR_LIMIT, 0, "the cooperative launch has more blocks than fit at once") \
    X(801, CGX_ERROR_UNSUPPORTED, 0, "the GPU or driver cannot do this")                  \
    X(912, CGX_ERROR_LIMIT, 0, "the GPU takes no such cluster")
#endif

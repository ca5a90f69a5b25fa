/* SPDX-License-Identifier: MIT */
/* The CUDA driver API, as much of it as cgx uses, loaded at first use: libcgx links no vendor library and is built without
 * the toolkit. Names, values and signatures are those of the CUDA Driver API reference; _v2 where cuda.h maps a name to it. */
#ifndef CGX_DRIVER_H
#define CGX_DRIVER_H
#include <stddef.h>
#include "../backend.h"

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
};
/* CUdevice_attribute */
enum {
    ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    ATTRIBUTE_MAX_GRID_DIM_X = 5,
    ATTRIBUTE_WARP_SIZE = 10,
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    ATTRIBUTE_CC_MAJOR = 75,
    ATTRIBUTE_CC_MINOR = 76,
    ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR = 81,
    ATTRIBUTE_MANAGED_MEMORY = 83,
    ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    ATTRIBUTE_MAX_SHARED_OPTIN = 97,
    ATTRIBUTE_MEMORY_POOLS = 115,
    ATTRIBUTE_CLUSTER_LAUNCH = 120
};
/* CUfunction_attribute */
enum {
    FUNCTION_MAX_THREADS = 0,
    FUNCTION_SHARED_BYTES = 1,
    FUNCTION_BINARY_VERSION = 6,
    FUNCTION_MAX_DYNAMIC_SHARED = 8,
    FUNCTION_NON_PORTABLE_CLUSTER = 14
};
enum {
    STREAM_NON_BLOCKING = 1,
    HOST_ALLOC_PORTABLE = 1,
    HOST_ALLOC_DEVICEMAP = 2,
    MEM_ATTACH_GLOBAL = 1,
    EVENT_DEFAULT = 0
};
enum { MEMORY_TYPE_UNIFIED = 4 };

typedef struct {
    size_t srcXInBytes, srcY;
    unsigned srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    unsigned dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;

enum { LAUNCH_ATTRIBUTE_COOPERATIVE = 2, LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };
typedef union {
    char pad[64];
    int cooperative;
    struct {
        unsigned x, y, z;
    } clusterDim;
} CUlaunchAttributeValue;
typedef struct {
    int id;
    char pad[8 - sizeof(int)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

/* X(name without "cu", symbol, parameters) */
#define FOREACH_DRIVER_FUNCTION(X)                                                                               \
    X(Init, "cuInit", (unsigned))                                                                                \
    X(DriverGetVersion, "cuDriverGetVersion", (int *))                                                           \
    X(GetErrorName, "cuGetErrorName", (CUresult, const char **))                                                 \
    X(GetErrorString, "cuGetErrorString", (CUresult, const char **))                                             \
    X(DeviceGetCount, "cuDeviceGetCount", (int *))                                                               \
    X(DeviceGet, "cuDeviceGet", (CUdevice *, int))                                                               \
    X(DeviceGetName, "cuDeviceGetName", (char *, int, CUdevice))                                                 \
    X(DeviceGetAttribute, "cuDeviceGetAttribute", (int *, int, CUdevice))                                        \
    X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, CUdevice))                                               \
    X(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int *, CUdevice, CUdevice))                                 \
    X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                               \
    X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                                           \
    X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                                        \
    X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                                        \
    X(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", (CUcontext, unsigned))                                       \
    X(ModuleLoadData, "cuModuleLoadData", (CUmodule *, const void *))                                            \
    X(ModuleUnload, "cuModuleUnload", (CUmodule))                                                                \
    X(ModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *))                          \
    X(ModuleGetGlobal, "cuModuleGetGlobal_v2", (CUdeviceptr *, size_t *, CUmodule, const char *))                \
    X(FuncGetAttribute, "cuFuncGetAttribute", (int *, int, CUfunction))                                          \
    X(FuncSetAttribute, "cuFuncSetAttribute", (CUfunction, int, int))                                            \
    X(OccupancyMaxActiveBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, CUfunction, int, size_t)) \
    X(LaunchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig *, CUfunction, void **, void **))                \
    X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t))                                                        \
    X(MemAllocManaged, "cuMemAllocManaged", (CUdeviceptr *, size_t, unsigned))                                   \
    X(MemFree, "cuMemFree_v2", (CUdeviceptr))                                                                    \
    X(MemHostAlloc, "cuMemHostAlloc", (void **, size_t, unsigned))                                               \
    X(MemFreeHost, "cuMemFreeHost", (void *))                                                                    \
    X(MemAllocAsync, "cuMemAllocAsync", (CUdeviceptr *, size_t, CUstream))                                       \
    X(MemFreeAsync, "cuMemFreeAsync", (CUdeviceptr, CUstream))                                                   \
    X(MemcpyAsync, "cuMemcpyAsync", (CUdeviceptr, CUdeviceptr, size_t, CUstream))                                \
    X(MemcpyPeerAsync, "cuMemcpyPeerAsync", (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))  \
    X(Memcpy2DAsync, "cuMemcpy2DAsync_v2", (const CUDA_MEMCPY2D *, CUstream))                                    \
    X(MemsetD8Async, "cuMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                          \
    X(MemsetD16Async, "cuMemsetD16Async", (CUdeviceptr, unsigned short, size_t, CUstream))                       \
    X(MemsetD32Async, "cuMemsetD32Async", (CUdeviceptr, unsigned, size_t, CUstream))                             \
    X(StreamCreate, "cuStreamCreate", (CUstream *, unsigned))                                                    \
    X(StreamDestroy, "cuStreamDestroy_v2", (CUstream))                                                           \
    X(StreamSynchronize, "cuStreamSynchronize", (CUstream))                                                      \
    X(StreamQuery, "cuStreamQuery", (CUstream))                                                                  \
    X(StreamWaitEvent, "cuStreamWaitEvent", (CUstream, CUevent, unsigned))                                       \
    X(EventCreate, "cuEventCreate", (CUevent *, unsigned))                                                       \
    X(EventDestroy, "cuEventDestroy_v2", (CUevent))                                                              \
    X(EventRecord, "cuEventRecord", (CUevent, CUstream))                                                         \
    X(EventSynchronize, "cuEventSynchronize", (CUevent))                                                         \
    X(EventQuery, "cuEventQuery", (CUevent))                                                                     \
    X(EventElapsedTime, "cuEventElapsedTime", (float *, CUevent, CUevent))

typedef struct {
#define MEMBER(name, symbol, parameters) CUresult(*name) parameters;
    FOREACH_DRIVER_FUNCTION(MEMBER)
#undef MEMBER
} cuda_driver;
CGX__HIDDEN_API extern cuda_driver cgx__cu;

/* Loads the driver and initialises it. On failure which absence it is, and the reason. */
CGX__HIDDEN_API cgx_status cgx__cuda_driver_load(char *reason, size_t bytes);
/* CGX_OK, or the cgx status of a driver error with a text: what was done, what it means, and CUDA's own name. */
CGX__HIDDEN_API cgx_status cgx__cuda_check(int device, CUresult result, const char *what);
/* CGX_OK, or CGX_ERROR_DEVICE_LOST if an earlier fault has made the device's context unusable. */
CGX__HIDDEN_API cgx_status cgx__cuda_alive(int device);
enum { CUDA_MAX_DEVICES = 64 };
#endif

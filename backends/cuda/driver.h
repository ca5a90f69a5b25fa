/* SPDX-License-Identifier: MIT */
/* What the CUDA driver API has of its own, as much of it as cgx uses. Names, values and signatures are those of the CUDA
 * Driver API reference; _v2 where cuda.h maps a name to it. */
#ifndef CGX_CUDA_DRIVER_H
#define CGX_CUDA_DRIVER_H
#define GPU_NAME "cuda"
#define GPU_TITLE "CUDA"
#define GPU_BACKEND cgx_backend_cuda
#define GPU_LIBRARIES "libcuda.so.1", "libcuda.so"
#define GPU_IMAGE CGX__IMAGE_CUDA
#define GPU_SYMBOL(cuda, hip) #cuda
#define GPU_ADDRESS unsigned long long
#define GPU_MOVES_LARGE_SHARED 1 /* arrays above CGX__LARGE_SHARED are in dynamic memory */
#define GPU_COPIES_WAIT 1        /* copies of pageable memory wait for the work before them */
#include "../gpu/driver.h"

typedef struct CUctx_st *CUcontext;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct {
    int type, id; /* CUmemLocation */
    int flags;
} CUmemAccessDesc;
enum { MEM_LOCATION_TYPE_DEVICE = 1, MEM_ACCESS_READWRITE = 3 };

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
enum { FUNCTION_PTX_VERSION = 5, FUNCTION_NON_PORTABLE_CLUSTER = 14 };
enum { MEMORY_TYPE_NONE = 0, MEMORY_TYPE_HOST = 1, MEMORY_TYPE_UNIFIED = 4 };
enum { POINTER_MEMORY_TYPE = 2, POINTER_IS_MANAGED = 8 }; /* CUpointer_attribute */

typedef struct {
    size_t srcXInBytes, srcY;
    unsigned srcMemoryType;
    const void *srcHost;
    gpu_address srcDevice;
    void *srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    unsigned dstMemoryType;
    void *dstHost;
    gpu_address dstDevice;
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
    gpu_stream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

/* X(type, name, symbol, parameters) */
#define FOREACH_OWN_FUNCTION(X)                                                                                        \
    X(int, GetErrorName, "cuGetErrorName", (int, const char **))                                                       \
    X(int, DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, int))                                     \
    X(int, CtxGetCurrent, "cuCtxGetCurrent", (CUcontext *))                                                            \
    X(int, LaunchKernel, "cuLaunchKernel",                                                                             \
      (gpu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, void **,        \
       void **))                                                                                                       \
    X(int, CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                                         \
    X(int, CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                                         \
    X(int, CtxSetLimit, "cuCtxSetLimit", (int, size_t))                                                                \
    X(int, CtxGetLimit, "cuCtxGetLimit", (size_t *, int))                                                              \
    X(int, CtxEnablePeerAccess, "cuCtxEnablePeerAccess", (CUcontext, unsigned))                                        \
    X(int, DeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", (CUmemoryPool *, int))                                \
    X(int, MemPoolSetAccess, "cuMemPoolSetAccess", (CUmemoryPool, const CUmemAccessDesc *, size_t))                    \
    X(int, StreamGetCtx, "cuStreamGetCtx", (gpu_stream, CUcontext *))                                                  \
    X(int, OccupancyMaxPotentialClusterSize, "cuOccupancyMaxPotentialClusterSize",                                     \
      (int *, gpu_function, const CUlaunchConfig *))                                                                   \
    X(int, OccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters", (int *, gpu_function, const CUlaunchConfig *))  \
    X(int, LaunchHostFunc, "cuLaunchHostFunc", (gpu_stream, void (*)(void *), void *))                                 \
    X(int, PointerGetAttributes, "cuPointerGetAttributes", (unsigned, const int *, void **, gpu_address))              \
    X(int, FuncSetAttribute, "cuFuncSetAttribute", (gpu_function, int, int))                                           \
    X(int, LaunchKernelEx, "cuLaunchKernelEx", (const CUlaunchConfig *, gpu_function, void **, void **))               \
    X(int, MemcpyAsync, "cuMemcpyAsync", (gpu_address, gpu_address, size_t, gpu_stream))                               \
    X(int, MemcpyPeerAsync, "cuMemcpyPeerAsync", (gpu_address, CUcontext, gpu_address, CUcontext, size_t, gpu_stream)) \
    X(int, Memcpy2DAsync, "cuMemcpy2DAsync_v2", (const CUDA_MEMCPY2D *, gpu_stream))
#endif

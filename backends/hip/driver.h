/* SPDX-License-Identifier: MIT */
/* What the HIP API has of its own, as much of it as cgx uses. Names, values and signatures are those of the HIP API
 * reference (hip_runtime_api.h of ROCm 5.2 and 6.2 agree on all of them but the properties, which have two layouts). */
#ifndef CGX_HIP_DRIVER_H
#define CGX_HIP_DRIVER_H
#define GPU_NAME "hip"
#define GPU_TITLE "HIP"
#define GPU_BACKEND cgx_backend_hip
#define GPU_LIBRARIES "libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5", "libamdhip64.so"
#define GPU_IMAGE CGX__IMAGE_HIP
#define GPU_SYMBOL(cuda, hip) #hip
#define GPU_ADDRESS void *
#define GPU_MOVES_LARGE_SHARED 0
#include "../gpu/driver.h"

/* hipDeviceAttribute_t */
enum {
    ATTRIBUTE_COOPERATIVE_LAUNCH = 10,
    ATTRIBUTE_MAX_BLOCK_DIM_X = 26,
    ATTRIBUTE_MAX_GRID_DIM_X = 29,
    ATTRIBUTE_MAX_THREADS_PER_BLOCK = 56,
    ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 57,
    ATTRIBUTE_MULTIPROCESSOR_COUNT = 63,
    ATTRIBUTE_MAX_SHARED_PER_BLOCK = 74,
    ATTRIBUTE_WARP_SIZE = 87,
    ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR = 10002
};
enum { MEMCPY_DEFAULT = 4 }; /* hipMemcpyKind: by the addresses */

/* Where gcnArchName is in hipDeviceProp_t, 256 bytes of it, for hipGetDevicePropertiesR0600 of ROCm 6 and for
 * hipGetDeviceProperties of ROCm 5. */
enum { PROPERTIES_BYTES = 1472, PROPERTIES_ARCH_R0600 = 1160, PROPERTIES_ARCH = 396 };

/* X(type, name, symbol, parameters) */
#define FOREACH_OWN_FUNCTION(X)                                                                                 \
    X(const char *, GetErrorName, "hipGetErrorName", (int))                                                     \
    X(int, GetDevice, "hipGetDevice", (int *))                                                                  \
    X(int, SetDevice, "hipSetDevice", (int))                                                                    \
    X(int, LaunchKernel, "hipModuleLaunchKernel",                                                               \
      (gpu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, void **, \
       void **))                                                                                                \
    X(int, MemcpyAsync, "hipMemcpyAsync", (gpu_address, const void *, size_t, int, gpu_stream))                 \
    X(int, MemcpyPeerAsync, "hipMemcpyPeerAsync", (gpu_address, int, const void *, int, size_t, gpu_stream))    \
    X(int, Memcpy2DAsync, "hipMemcpy2DAsync",                                                                   \
      (gpu_address, size_t, const void *, size_t, size_t, size_t, int, gpu_stream))
#endif

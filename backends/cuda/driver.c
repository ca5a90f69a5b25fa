/* SPDX-License-Identifier: MIT */
#include "driver.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

cuda_driver cgx__cu;

enum {
    OLDEST_DRIVER = 12000
}; /* cuLaunchKernelEx with clusters came with CUDA 11.8; images are CUDA 13's, served from 12 on */

cgx_status cgx__cuda_driver_load(char *reason, size_t bytes)
{
    static const char *const names[] = { "libcuda.so.1", "libcuda.so" };
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, bytes, "%s is not installed", names[0]);
        return CGX_ERROR_DRIVER;
    }
#define LOAD(name, symbol, parameters)                                              \
    {                                                                               \
        void *address = dlsym(library, symbol);                                     \
        if (!address) {                                                             \
            snprintf(reason, bytes, "the driver is too old: it has no %s", symbol); \
            return CGX_ERROR_DRIVER;                                                \
        }                                                                           \
        memcpy(&cgx__cu.name, &address, sizeof address);                            \
    }
    FOREACH_DRIVER_FUNCTION(LOAD)
#undef LOAD
    int version = 0;
    CUresult result = cgx__cu.Init(0);
    if (result == CUDA_ERROR_NO_DEVICE) {
        snprintf(reason, bytes, "the driver finds no GPU");
        return CGX_ERROR_NO_DEVICE;
    }
    if (result) {
        const char *name = "?";
        cgx__cu.GetErrorName(result, &name);
        snprintf(reason, bytes, "the driver does not start: %s", name ? name : "?");
        return CGX_ERROR_DRIVER;
    }
    if (cgx__cu.DriverGetVersion(&version) || version < OLDEST_DRIVER) {
        snprintf(reason, bytes, "the driver serves CUDA %d.%d, cgx needs %d.0", version / 1000, version % 1000 / 10,
                 OLDEST_DRIVER / 1000);
        return CGX_ERROR_DRIVER;
    }
    return CGX_OK;
}

/* What cgx makes of a driver error: X(value, status, sticky, explanation). Sticky ones leave the context unusable (CUDA
 * Driver API, CUresult). */
#define FOREACH_DRIVER_ERROR(X)                                                           \
    X(1, CGX_ERROR_INVALID, 0, "the driver refuses an argument")                          \
    X(2, CGX_ERROR_OUT_OF_MEMORY, 0, "not enough device memory")                          \
    X(100, CGX_ERROR_NO_DEVICE, 0, "there is no GPU")                                     \
    X(201, CGX_ERROR_INVALID, 0, "there is no valid context")                             \
    X(209, CGX_ERROR_UNSUPPORTED, 0, "the file has no image for this GPU")                \
    X(218, CGX_ERROR_UNSUPPORTED, 0, "the driver cannot compile the PTX")                 \
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
    X(801, CGX_ERROR_UNSUPPORTED, 0, "the GPU or driver cannot do this")

static struct {
    int lost;
    char text[256];
} devices[CUDA_MAX_DEVICES];

cgx_status cgx__cuda_alive(int device)
{
    if (!__atomic_load_n(&devices[device].lost, __ATOMIC_ACQUIRE))
        return CGX_OK;
    return cgx__fail(CGX_ERROR_DEVICE_LOST, "cuda:%d is lost since: %s", device, devices[device].text);
}

cgx_status cgx__cuda_check(int device, CUresult result, const char *what)
{
    if (!result)
        return CGX_OK;
    cgx_status status = CGX_ERROR_DRIVER;
    int sticky = 0;
    const char *explanation = "the driver reports an error", *name = NULL;
    switch (result) {
#define CASE(value, its_status, is_sticky, text) \
    case value: status = its_status, sticky = is_sticky, explanation = text; break;
        FOREACH_DRIVER_ERROR(CASE)
#undef CASE
    }
    cgx__cu.GetErrorName(result, &name);
    cgx__fail(status, "%s on cuda:%d: %s (%s)", what, device, explanation, name ? name : "unknown CUDA error");
    if (sticky && !__atomic_load_n(&devices[device].lost, __ATOMIC_ACQUIRE)) {
        snprintf(devices[device].text, sizeof devices[device].text, "%s", cgx_last_error());
        __atomic_store_n(&devices[device].lost, 1, __ATOMIC_RELEASE);
    }
    return status;
}

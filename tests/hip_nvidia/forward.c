/* SPDX-License-Identifier: MIT */
/* A stand-in for libamdhip64 over CUDA's driver, so that the host side of the HIP backend runs on an NVIDIA GPU, whose streams,
 * events and errors are real. Functions that both APIs have alike are passed on as they are, from the backend's own list of
 * them; the rest is written here. In place of each AMD code object the CUDA images in CGX_NVIDIA_IMAGES (files, with a colon
 * between) are loaded, which were compiled of the same kernels. README.md says what that shows. */
#include "../../backends/hip/driver.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
enum { INVALID_VALUE = 1, NOT_FOUND = 500, MOST_IMAGES = 8, MOST_DEVICES = 16 };

/* ---- alike in both: a jump, whatever the parameters ---- */

#define FORWARD(name, cuda, hip, parameters)                                                                         \
    __attribute__((visibility("hidden"), used)) void *forward_##name;                                                \
    __asm__(".text\n.globl " #hip "\n.type " #hip ", @function\n" #hip ": jmp *forward_" #name "(%rip)\n.size " #hip \
            ", .-" #hip);
FOREACH_GPU_FUNCTION(FORWARD)

/* ---- CUDA's, where they differ ---- */

typedef struct CUctx_st *context;
#define FOREACH_CUDA_FUNCTION(X)                                                                                 \
    X(GetErrorName, cuGetErrorName, (int, const char **))                                                        \
    X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (context *, int))                                        \
    X(CtxSetCurrent, cuCtxSetCurrent, (context))                                                                 \
    X(DeviceGetAttribute, cuDeviceGetAttribute, (int *, int, int))                                               \
    X(DeviceGetName, cuDeviceGetName, (char *, int, int))                                                        \
    X(ModuleLoadData, cuModuleLoadData, (gpu_module *, const void *))                                            \
    X(ModuleUnload, cuModuleUnload, (gpu_module))                                                                \
    X(ModuleGetFunction, cuModuleGetFunction, (gpu_function *, gpu_module, const char *))                        \
    X(ModuleGetGlobal, cuModuleGetGlobal_v2, (gpu_address *, size_t *, gpu_module, const char *))                \
    X(LaunchKernel, cuLaunchKernel,                                                                              \
      (gpu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, void **,  \
       void **))                                                                                                 \
    X(LaunchCooperativeKernel, cuLaunchCooperativeKernel,                                                        \
      (gpu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, gpu_stream, void **)) \
    X(MemcpyAsync, cuMemcpyAsync, (gpu_address, const void *, size_t, gpu_stream))                               \
    X(MemcpyPeerAsync, cuMemcpyPeerAsync, (gpu_address, context, const void *, context, size_t, gpu_stream))
static struct {
#define MEMBER(name, symbol, parameters) int(*name) parameters;
    FOREACH_CUDA_FUNCTION(MEMBER)
#undef MEMBER
} cuda;

static context contexts[MOST_DEVICES];
static _Thread_local int current = -1;

API const char *hipGetErrorName(int error)
{
    const char *name = NULL;
    cuda.GetErrorName(error, &name);
    return name;
}
API int hipGetDevice(int *device)
{
    *device = current;
    return 0;
}
API int hipSetDevice(int device)
{
    int e = device < 0 || device >= MOST_DEVICES ? INVALID_VALUE : 0;
    if (!e && !contexts[device])
        e = cuda.DevicePrimaryCtxRetain(&contexts[device], device);
    if (!e && !(e = cuda.CtxSetCurrent(contexts[device])))
        current = device;
    return e;
}
/* hipDeviceAttribute_t to CUdevice_attribute. */
static int get_attribute(int *value, int which, int device)
{
    static const int pairs[][2] = { { 10, 95 }, { 23, 75 }, { 26, 2 }, { 27, 3 },    { 28, 4 },  { 29, 5 },
                                    { 30, 6 },  { 31, 7 },  { 56, 1 }, { 57, 39 },   { 61, 76 }, { 63, 16 },
                                    { 74, 8 },  { 87, 10 }, { 5, 13 }, { 10002, 81 } };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (pairs[i][0] == which)
            return cuda.DeviceGetAttribute(value, pairs[i][1], device);
    *value = 0;
    return 0;
}
/* The processor whose images it takes. */
API int hipGetDevicePropertiesR0600(void *properties, int device)
{
    const char *arch = getenv("CGX_NVIDIA_ARCH");
    memset(properties, 0, PROPERTIES_BYTES);
    snprintf((char *)properties + PROPERTIES_ARCH_R0600, 256, "%s", arch ? arch : "gfx942");
    return cuda.DeviceGetName(properties, 256, device);
}

typedef struct {
    int count;
    gpu_module image[MOST_IMAGES];
} module;

static int load(const char *path, gpu_module *out)
{
    FILE *file = fopen(path, "rb");
    char *image = NULL;
    int e = NOT_FOUND;
    if (!file)
        return e;
    if (!fseek(file, 0, SEEK_END)) {
        const long bytes = ftell(file);
        rewind(file);
        image = calloc(1, (size_t)bytes + 1);
        if (image && fread(image, 1, (size_t)bytes, file) == (size_t)bytes)
            e = cuda.ModuleLoadData(out, image);
    }
    fclose(file);
    free(image);
    return e;
}
static int load_data(module **out, const void *code_object)
{
    const char *paths = getenv("CGX_NVIDIA_IMAGES");
    module *m = calloc(1, sizeof *m);
    char path[4096];
    int e = m && paths ? 0 : NOT_FOUND;
    if (!e && memcmp(code_object, "\177ELF", 4)) /* the backend has to find the AMD code object all the same */
        e = INVALID_VALUE;
    for (const char *at = paths; !e && *at && m->count < MOST_IMAGES; at += *at == ':') {
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s", (int)length, at);
        if (!(e = load(path, &m->image[m->count])))
            m->count++;
        at += length;
    }
    if (e)
        free(m);
    else
        *out = m;
    return e;
}
static int unload(module *m)
{
    int e = 0;
    for (int i = 0; i < m->count; i++) {
        const int one = cuda.ModuleUnload(m->image[i]);
        e = e ? e : one;
    }
    free(m);
    return e;
}
static int get_function(gpu_function *f, module *m, const char *name)
{
    int e = NOT_FOUND;
    for (int i = 0; i < m->count && e; i++)
        e = cuda.ModuleGetFunction(f, m->image[i], name);
    return e;
}
static int get_global(gpu_address *address, size_t *bytes, module *m, const char *name)
{
    int e = NOT_FOUND;
    for (int i = 0; i < m->count && e; i++)
        e = cuda.ModuleGetGlobal(address, bytes, m->image[i], name);
    return e;
}
API int hipModuleLaunchKernel(gpu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, gpu_stream s, void **parameters, void **extra)
{
    return cuda.LaunchKernel(f, gx, gy, gz, bx, by, bz, shared, s, parameters, extra);
}
API int hipModuleLaunchCooperativeKernel(gpu_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                         unsigned by, unsigned bz, unsigned shared, gpu_stream s, void **parameters)
{
    return cuda.LaunchCooperativeKernel(f, gx, gy, gz, bx, by, bz, shared, s, parameters);
}
API int hipMemcpyAsync(gpu_address to, const void *from, size_t bytes, int kind, gpu_stream s)
{
    return kind != MEMCPY_DEFAULT ? INVALID_VALUE : cuda.MemcpyAsync(to, from, bytes, s);
}
API int hipMemcpyPeerAsync(gpu_address to, int to_device, const void *from, int from_device, size_t bytes, gpu_stream s)
{
    return cuda.MemcpyPeerAsync(to, contexts[to_device], from, contexts[from_device], bytes, s);
}
API int hipMemcpy2DAsync(gpu_address to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                         size_t height, int kind, gpu_stream s)
{
    int e = kind != MEMCPY_DEFAULT || width > to_pitch || width > from_pitch ? INVALID_VALUE : 0;
    for (size_t row = 0; row < height && !e; row++)
        e = cuda.MemcpyAsync((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, s);
    return e;
}

static int no_driver(void)
{
    return GPU_ERROR_NO_DEVICE;
}
static void find(void *library, const char *symbol, void *pointer)
{
    void *address = library ? dlsym(library, symbol) : NULL;
    int (*none)(void) = no_driver;
    memcpy(pointer, address ? (void *)&address : (void *)&none, sizeof address);
}
__attribute__((constructor)) static void connect(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name, symbol, hip, parameters) find(library, #symbol, &forward_##name);
    FOREACH_GPU_FUNCTION(FIND)
#undef FIND
#define FIND(name, symbol, parameters) find(library, #symbol, &cuda.name);
    FOREACH_CUDA_FUNCTION(FIND)
#undef FIND
    int (*attribute)(int *, int, int) = get_attribute;
    int (*loads)(module **, const void *) = load_data;
    int (*unloads)(module *) = unload;
    int (*function)(gpu_function *, module *, const char *) = get_function;
    int (*global)(gpu_address *, size_t *, module *, const char *) = get_global;
    memcpy(&forward_DeviceGetAttribute, &attribute, sizeof attribute);
    memcpy(&forward_ModuleLoadData, &loads, sizeof loads);
    memcpy(&forward_ModuleUnload, &unloads, sizeof unloads);
    memcpy(&forward_ModuleGetFunction, &function, sizeof function);
    memcpy(&forward_ModuleGetGlobal, &global, sizeof global);
}

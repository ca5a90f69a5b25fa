/* SPDX-License-Identifier: MIT */
/* The functions of libamdhip64 that cgx calls. Streams are synchronous, which is a legal order of asynchronous work; errors
 * of a kernel appear at the next call, as on a device, and stay. */
#include "emulator.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))

static const chip chips[] = {
    { "gfx90a", ":sramecc+:xnack-", 0x3f, 64, 9, 0, 4, 8, 512, 8, "cdna" },
    { "gfx942", ":sramecc+:xnack-", 0x4c, 64, 9, 4, 4, 8, 512, 8, "cdna" },
    { "gfx1100", "", 0x41, 32, 11, 0, 2, 16, 1536, 24, "rdna3" },
};
const chip *the_chip;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hip_error sticky;
static _Thread_local hip_error last;

typedef struct {
    struct timespec time;
    bool recorded;
} event;
typedef struct {
    unsigned flags;
} stream;

uint64_t setting(const char *variable, uint64_t otherwise)
{
    const char *value = getenv(variable);
    return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static hip_error set_up(void)
{
    const char *name = getenv("CGX_EMU_ARCH");
    if (the_chip)
        return hipSuccess;
    for (size_t i = 0; i < sizeof chips / sizeof chips[0] && !the_chip; i++)
        if (!strcmp(name ? name : "gfx942", chips[i].name))
            the_chip = chips + i;
    return the_chip ? arena_open() : hipErrorInvalidDevice;
}

static hip_error begin(void)
{
    pthread_mutex_lock(&lock);
    hip_error e = set_up();
    return e ? e : sticky;
}
static hip_error end(hip_error e)
{
    pthread_mutex_unlock(&lock);
    if (e)
        last = e;
    return e;
}
/* A function whose work is done under the lock, unless an error is there already. */
#define LOCKED(work)           \
    do {                       \
        hip_error e = begin(); \
        if (!e)                \
            e = (work);        \
        return end(e);         \
    } while (0)

/* ---- the library, errors ---- */

API hip_error hipInit(unsigned flags)
{
    LOCKED(flags ? hipErrorInvalidValue : hipSuccess);
}
API hip_error hipDriverGetVersion(int *version)
{
    *version = 60443483;
    return hipSuccess;
}
API hip_error hipGetLastError(void)
{
    hip_error e = last;
    last = hipSuccess;
    return e;
}
API const char *hipGetErrorName(hip_error e)
{
    switch (e) {
#define CASE(value, name, text) \
    case name: return #name;
        FOREACH_HIP_ERROR(CASE)
#undef CASE
    }
    return "hipErrorUnknown";
}
API const char *hipGetErrorString(hip_error e)
{
    switch (e) {
#define CASE(value, name, text) \
    case name: return text;
        FOREACH_HIP_ERROR(CASE)
#undef CASE
    }
    return "unknown error";
}

/* How often the program has waited for the device; none of HIP's. */
static unsigned long synchronizations;
API unsigned long hipEmulatorSynchronizations(void)
{
    return __atomic_load_n(&synchronizations, __ATOMIC_RELAXED);
}

/* ---- the device ---- */

API hip_error hipGetDeviceCount(int *count)
{
    *count = 1;
    LOCKED(hipSuccess);
}
API hip_error hipDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    LOCKED(ordinal ? hipErrorInvalidDevice : hipSuccess);
}
API hip_error hipSetDevice(int device)
{
    return device ? hipErrorInvalidDevice : hipSuccess;
}
API hip_error hipGetDevice(int *device)
{
    *device = 0;
    return hipSuccess;
}
API hip_error hipDeviceGetName(char *name, int bytes, int device)
{
    hip_error e = begin();
    if (!e && device)
        e = hipErrorInvalidDevice;
    if (!e)
        snprintf(name, (size_t)bytes, "emulated %s", the_chip->name);
    return end(e);
}
API hip_error hipDeviceTotalMem(size_t *bytes, int device)
{
    hip_error e = begin();
    if (!e)
        *bytes = arena_bytes() - CODE_BYTES;
    return end(e ? e : device ? hipErrorInvalidDevice : hipSuccess);
}
API hip_error hipMemGetInfo(size_t *available, size_t *total)
{
    hip_error e = begin();
    if (!e) {
        *total = arena_bytes() - CODE_BYTES;
        *available = arena_free();
    }
    return end(e);
}
API hip_error hipDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = 0;
    LOCKED(device || peer ? hipErrorInvalidDevice : hipSuccess);
}
/* Numbers of hipDeviceAttribute_t from HIP 5.0 to 6.4. */
static int attribute(int which)
{
    switch (which) {
    case 5: return 1000000;               /* clock rate, kHz */
    case 10: return 1;                    /* cooperative launch */
    case 23: return (int)the_chip->major; /* compute capability */
    case 26:
    case 27:
    case 28:
    case 56: return 1024;       /* block shape, threads a block */
    case 29: return 0x7fffffff; /* grid shape */
    case 30:
    case 31: return 65535;
    case 57: return (int)(the_chip->waves_per_simd * the_chip->simds * the_chip->wave);
    case 61: return (int)the_chip->minor;
    case 63: return (int)setting("CGX_EMU_CUS", 8); /* units */
    case 74:
    case 10002: return 65536; /* shared memory of a block, of a unit */
    case 87: return (int)the_chip->wave;
    case 10017: return 100000; /* rate of the steady counter, kHz */
    default: return 0;
    }
}
API hip_error hipDeviceGetAttribute(int *value, int which, int device)
{
    hip_error e = begin();
    if (!e && device)
        e = hipErrorInvalidDevice;
    if (!e)
        *value = attribute(which);
    return end(e);
}
/* hipDeviceProp_tR0600: name at 0, gcnArchName at 1160; nothing else is filled. */
API hip_error hipGetDevicePropertiesR0600(void *properties, int device)
{
    hip_error e = begin();
    if (!e && device)
        e = hipErrorInvalidDevice;
    if (!e) {
        memset(properties, 0, 1472);
        snprintf(properties, 256, "emulated %s", the_chip->name);
        snprintf((char *)properties + 1160, 256, "%s%s", the_chip->name, the_chip->features);
    }
    return end(e);
}
API hip_error hipDeviceSynchronize(void)
{
    __atomic_add_fetch(&synchronizations, 1, __ATOMIC_RELAXED);
    LOCKED(hipSuccess);
}
API hip_error hipDeviceReset(void)
{
    pthread_mutex_lock(&lock);
    launch_stop_worker();
    sticky = last = hipSuccess;
    pthread_mutex_unlock(&lock);
    return hipSuccess;
}

/* ---- memory ---- */

static hip_error alloc(void **memory, size_t bytes, memory_kind kind)
{
    uint64_t address = 0;
    *memory = NULL;
    if (!bytes)
        return hipSuccess;
    hip_error e = begin();
    if (!e && !(e = arena_alloc(bytes, kind, &address)))
        *memory = (void *)address;
    return end(e);
}
API hip_error hipMalloc(void **memory, size_t bytes)
{
    return alloc(memory, bytes, MEMORY_DEVICE);
}
API hip_error hipMallocManaged(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    return alloc(memory, bytes, MEMORY_MANAGED);
}
API hip_error hipHostMalloc(void **memory, size_t bytes, unsigned flags)
{
    (void)flags;
    return alloc(memory, bytes, MEMORY_HOST);
}
API hip_error hipMallocAsync(void **memory, size_t bytes, stream *s)
{
    (void)s;
    return alloc(memory, bytes, MEMORY_DEVICE);
}
API hip_error hipFree(void *memory)
{
    LOCKED(arena_release((uint64_t)memory, 1 << MEMORY_DEVICE | 1 << MEMORY_MANAGED));
}
API hip_error hipFreeAsync(void *memory, stream *s)
{
    (void)s;
    return hipFree(memory);
}
API hip_error hipHostFree(void *memory)
{
    LOCKED(arena_release((uint64_t)memory, 1 << MEMORY_HOST));
}

/* Where the library reads or writes BYTES from P on, or NULL if they are no memory of the device's nor the host's;
 * *device: the program itself cannot. */
static unsigned char *reachable(const void *p, size_t bytes, bool *device)
{
    const uint64_t address = (uint64_t)p;
    *device = false;
    if (!arena_has(address))
        return (unsigned char *)(uintptr_t)p;
    const block_of_memory *b = arena_find(address, bytes);
    if (!b && !arena_is_code(address, bytes)) /* variables lie among the code */
        return NULL;
    *device = !b || b->kind == MEMORY_DEVICE;
    return arena_host(address);
}
static hip_error copy(void *to, const void *from, size_t bytes, int kind)
{
    bool to_device, from_device;
    unsigned char *d = reachable(to, bytes, &to_device), *s = reachable(from, bytes, &from_device);
    if (!bytes)
        return hipSuccess;
    if (!d || !s)
        return hipErrorInvalidValue;
    switch (kind) {
    case 0: /* host to host */
        if (to_device || from_device)
            return hipErrorInvalidValue;
        break;
    case 1: /* host to device */
        if (!arena_has((uint64_t)to) || from_device)
            return hipErrorInvalidValue;
        break;
    case 2: /* device to host */
        if (to_device || !arena_has((uint64_t)from))
            return hipErrorInvalidValue;
        break;
    case 3: /* device to device */
        if (!arena_has((uint64_t)to) || !arena_has((uint64_t)from))
            return hipErrorInvalidValue;
        break;
    case 4: break; /* by the addresses */
    default: return hipErrorInvalidValue;
    }
    memmove(d, s, bytes);
    return hipSuccess;
}
API hip_error hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    LOCKED(copy(to, from, bytes, kind));
}
API hip_error hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *s)
{
    (void)s;
    return hipMemcpy(to, from, bytes, kind);
}
API hip_error hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, stream *s)
{
    (void)s;
    LOCKED(to_device || from_device ? hipErrorInvalidDevice : copy(to, from, bytes, 3));
}
API hip_error hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                               size_t height, int kind, stream *s)
{
    (void)s;
    hip_error e = begin();
    if (!e && (width > to_pitch || width > from_pitch))
        e = hipErrorInvalidValue;
    for (size_t row = 0; row < height && !e; row++)
        e = copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
    return end(e);
}

static hip_error fill(void *memory, const void *value, size_t value_bytes, size_t count)
{
    bool device;
    unsigned char *to = reachable(memory, value_bytes * count, &device);
    if (!to || !arena_has((uint64_t)memory))
        return hipErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * value_bytes, value, value_bytes);
    return hipSuccess;
}
API hip_error hipMemsetD8Async(void *memory, unsigned char value, size_t count, stream *s)
{
    (void)s;
    LOCKED(fill(memory, &value, sizeof value, count));
}
API hip_error hipMemsetD16Async(void *memory, unsigned short value, size_t count, stream *s)
{
    (void)s;
    LOCKED(fill(memory, &value, sizeof value, count));
}
API hip_error hipMemsetD32Async(void *memory, int value, size_t count, stream *s)
{
    (void)s;
    LOCKED(fill(memory, &value, sizeof value, count));
}

/* ---- streams and events ---- */

API hip_error hipStreamCreateWithFlags(stream **s, unsigned flags)
{
    hip_error e = begin();
    if (!e && !(*s = calloc(1, sizeof **s)))
        e = hipErrorOutOfMemory;
    if (!e)
        (*s)->flags = flags;
    return end(e);
}
API hip_error hipStreamDestroy(stream *s)
{
    free(s);
    return s ? hipSuccess : hipErrorInvalidHandle;
}
API hip_error hipStreamSynchronize(stream *s)
{
    (void)s;
    __atomic_add_fetch(&synchronizations, 1, __ATOMIC_RELAXED);
    LOCKED(hipSuccess);
}
API hip_error hipStreamQuery(stream *s)
{
    (void)s;
    LOCKED(hipSuccess);
}
API hip_error hipStreamWaitEvent(stream *s, event *e_, unsigned flags)
{
    (void)s;
    LOCKED(!e_ ? hipErrorInvalidHandle : flags ? hipErrorInvalidValue : hipSuccess);
}
API hip_error hipEventCreateWithFlags(event **e, unsigned flags)
{
    (void)flags;
    *e = calloc(1, sizeof **e);
    return *e ? hipSuccess : hipErrorOutOfMemory;
}
API hip_error hipEventDestroy(event *e)
{
    free(e);
    return e ? hipSuccess : hipErrorInvalidHandle;
}
API hip_error hipEventRecord(event *at, stream *s)
{
    (void)s;
    hip_error e = begin();
    if (!e && !at)
        e = hipErrorInvalidHandle;
    if (!e) {
        clock_gettime(CLOCK_MONOTONIC, &at->time);
        at->recorded = true;
    }
    return end(e);
}
API hip_error hipEventSynchronize(event *e_)
{
    __atomic_add_fetch(&synchronizations, 1, __ATOMIC_RELAXED);
    LOCKED(e_ ? hipSuccess : hipErrorInvalidHandle);
}
API hip_error hipEventQuery(event *e_)
{
    LOCKED(e_ ? hipSuccess : hipErrorInvalidHandle);
}
API hip_error hipEventElapsedTime(float *milliseconds, event *first, event *second)
{
    hip_error e = begin();
    if (!e && (!first || !second || !first->recorded || !second->recorded))
        e = hipErrorInvalidHandle;
    if (!e)
        *milliseconds = (float)((double)(second->time.tv_sec - first->time.tv_sec) * 1e3 +
                                (double)(second->time.tv_nsec - first->time.tv_nsec) / 1e6);
    return end(e);
}

/* ---- modules and launches ---- */

API hip_error hipModuleLoadData(module **m, const void *image)
{
    if (!m || !image)
        return hipErrorInvalidValue;
    LOCKED(module_load(image, m));
}
API hip_error hipModuleUnload(module *m)
{
    hip_error e = begin();
    if (!e && !m)
        e = hipErrorInvalidHandle;
    if (!e)
        module_free(m);
    return end(e);
}
API hip_error hipModuleGetFunction(function **f, module *m, const char *name)
{
    if (!f || !m || !name)
        return hipErrorInvalidValue;
    LOCKED(module_function(m, name, f));
}
API hip_error hipModuleGetGlobal(void **address, size_t *bytes, module *m, const char *name)
{
    uint64_t at = 0;
    size_t size = 0;
    if (!m || !name)
        return hipErrorInvalidValue;
    hip_error e = begin();
    if (!e && !(e = module_variable(m, name, &at, &size))) {
        if (address)
            *address = (void *)at;
        if (bytes)
            *bytes = size;
    }
    return end(e);
}
API hip_error hipFuncGetAttribute(int *value, int which, const function *f)
{
    if (!value || !f)
        return hipErrorInvalidValue;
    switch (which) {
    case 0: *value = (int)f->most_threads; return hipSuccess;
    case 1: *value = (int)f->lds; return hipSuccess;
    case 3: *value = (int)f->scratch; return hipSuccess;
    case 4: *value = (int)f->vgprs; return hipSuccess;
    default: return hipErrorInvalidValue;
    }
}
API hip_error hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const function *f, int threads,
                                                                 size_t dynamic_lds)
{
    if (!blocks || !f || threads < 1)
        return hipErrorInvalidValue;
    hip_error e = begin();
    if (!e)
        *blocks = (int)launch_occupancy(f, (uint32_t)threads, dynamic_lds);
    return end(e);
}
/* What is wrong with the launch is said here; what goes wrong in the kernel at the next call. */
static hip_error launch(const function *f, const uint32_t grid[3], const uint32_t block[3], unsigned lds,
                        void **parameters, bool cooperative)
{
    hip_error e = begin();
    if (!e && !f)
        e = hipErrorInvalidHandle;
    if (!e) {
        e = launch_run(f, grid, block, lds, parameters, cooperative);
        if (e == hipErrorIllegalAddress || e == hipErrorLaunchTimeOut || e == hipErrorLaunchFailure) {
            sticky = e;
            e = setting("HIP_LAUNCH_BLOCKING", 0) ? e : hipSuccess;
        }
    }
    return end(e);
}
API hip_error hipModuleLaunchKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned lds, stream *s, void **parameters, void **extra)
{
    (void)s;
    if (extra)
        return hipErrorNotSupported;
    return launch(f, (uint32_t[]){ gx, gy, gz }, (uint32_t[]){ bx, by, bz }, lds, parameters, false);
}
API hip_error hipModuleLaunchCooperativeKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                               unsigned by, unsigned bz, unsigned lds, stream *s, void **parameters)
{
    (void)s;
    return launch(f, (uint32_t[]){ gx, gy, gz }, (uint32_t[]){ bx, by, bz }, lds, parameters, true);
}

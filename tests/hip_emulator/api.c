/* SPDX-License-Identifier: MIT */
/* The functions of libamdhip64 that cgx calls. Arguments are checked at the call; what a stream is given is done by its thread
 * (streams.c), also copies from and to pageable memory, and an error of a kernel appears at a later call, as on a device,
 * and stays. */
#include "emulator.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

static const chip chips[] = {
    { "gfx90a", ":sramecc+:xnack-", 0x3f, 64, 9, 0, 4, 8, 512, 8, "cdna" },
    { "gfx942", ":sramecc+:xnack-", 0x4c, 64, 9, 4, 4, 8, 512, 8, "cdna" },
    { "gfx1100", "", 0x41, 32, 11, 0, 2, 16, 1536, 24, "rdna3" },
};
const chip *the_chip;

static _Thread_local hip_error last;

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
    streams_lock();
    hip_error e = set_up();
    return e ? e : streams_error();
}
static hip_error end(hip_error e)
{
    streams_unlock();
    if (e && e != hipErrorNotReady)
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
    LOCKED(streams_wait());
}
API hip_error hipDeviceReset(void)
{
    streams_lock();
    streams_reset();
    last = hipSuccess;
    streams_unlock();
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
/* These wait for the device, as the real ones do. */
static hip_error release(void *memory, unsigned kinds)
{
    if (!memory)
        return hipSuccess;
    hip_error e = streams_wait();
    if (!e && !(e = arena_forget((uint64_t)memory, kinds)))
        arena_release((uint64_t)memory);
    return e;
}
API hip_error hipFree(void *memory)
{
    LOCKED(release(memory, 1 << MEMORY_DEVICE | 1 << MEMORY_MANAGED));
}
API hip_error hipHostFree(void *memory)
{
    LOCKED(release(memory, 1 << MEMORY_HOST));
}
static hip_error run_release(void *payload, bool drop)
{
    (void)drop;
    arena_release(*(uint64_t *)payload);
    return hipSuccess;
}
/* Unknown to later calls at once, and there for the stream's earlier work. */
static hip_error release_later(uint64_t address, stream *s)
{
    hip_error e = address ? arena_forget(address, 1 << MEMORY_DEVICE | 1 << MEMORY_MANAGED) : hipSuccess;
    return !e && address ? stream_submit(s, run_release, &address, sizeof address) : e;
}
API hip_error hipFreeAsync(void *memory, stream *s)
{
    LOCKED(release_later((uint64_t)memory, s));
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
typedef struct {
    unsigned char *to;
    const unsigned char *from;
    size_t to_pitch, from_pitch, width, height;
} copy_job;
static hip_error run_copy(void *payload, bool drop)
{
    const copy_job *c = payload;
    for (size_t row = 0; row < c->height && !drop; row++)
        memmove(c->to + row * c->to_pitch, c->from + row * c->from_pitch, c->width);
    return hipSuccess;
}
/* KIND: hipMemcpyKind. Rows of WIDTH bytes; one row's pitches mean nothing. */
static hip_error copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                      int kind, stream *s)
{
    if (!width || !height)
        return hipSuccess;
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return hipErrorInvalidValue;
    bool to_device, from_device;
    copy_job job = { reachable(to, (height - 1) * to_pitch + width, &to_device),
                     reachable(from, (height - 1) * from_pitch + width, &from_device),
                     to_pitch,
                     from_pitch,
                     width,
                     height };
    const bool to_arena = arena_has((uint64_t)to), from_arena = arena_has((uint64_t)from);
    if (!job.to || !job.from)
        return hipErrorInvalidValue;
    const bool fits[] = { !to_device && !from_device, to_arena && !from_device, !to_device && from_arena,
                          to_arena && from_arena, true /* by the addresses */ };
    if (kind < 0 || kind > 4 || !fits[kind])
        return hipErrorInvalidValue;
    return stream_submit(s, run_copy, &job, sizeof job);
}
API hip_error hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    hip_error e = begin();
    if (!e && !(e = copy(to, 0, from, 0, bytes, 1, kind, NULL)))
        e = stream_wait(NULL);
    return end(e);
}
API hip_error hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, stream *s)
{
    LOCKED(copy(to, 0, from, 0, bytes, 1, kind, s));
}
API hip_error hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, stream *s)
{
    LOCKED(to_device || from_device ? hipErrorInvalidDevice : copy(to, 0, from, 0, bytes, 1, 3, s));
}
API hip_error hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                               size_t height, int kind, stream *s)
{
    LOCKED(copy(to, to_pitch, from, from_pitch, width, height, kind, s));
}

typedef struct {
    unsigned char *to;
    uint32_t value;
    uint32_t value_bytes;
    size_t count;
} fill_job;
static hip_error run_fill(void *payload, bool drop)
{
    const fill_job *f = payload;
    for (size_t i = 0; i < f->count && !drop; i++)
        memcpy(f->to + i * f->value_bytes, &f->value, f->value_bytes); /* x86: the low bytes come first */
    return hipSuccess;
}
static hip_error fill(void *memory, uint32_t value, uint32_t value_bytes, size_t count, stream *s)
{
    bool device;
    const fill_job job = { reachable(memory, value_bytes * count, &device), value, value_bytes, count };
    if (!job.to || !arena_has((uint64_t)memory))
        return hipErrorInvalidValue;
    return stream_submit(s, run_fill, &job, sizeof job);
}
API hip_error hipMemsetD8Async(void *memory, unsigned char value, size_t count, stream *s)
{
    LOCKED(fill(memory, value, sizeof value, count, s));
}
API hip_error hipMemsetD16Async(void *memory, unsigned short value, size_t count, stream *s)
{
    LOCKED(fill(memory, value, sizeof value, count, s));
}
API hip_error hipMemsetD32Async(void *memory, int value, size_t count, stream *s)
{
    LOCKED(fill(memory, (uint32_t)value, sizeof value, count, s));
}

/* ---- streams and events ---- */

API hip_error hipStreamCreateWithFlags(stream **s, unsigned flags)
{
    enum { NON_BLOCKING = 1 };
    LOCKED(flags == NON_BLOCKING ? stream_create(s)
                                 : hipErrorNotSupported); /* the others wait for the default stream */
}
/* Also after an error: the thread ends. */
API hip_error hipStreamDestroy(stream *s)
{
    begin();
    return end(stream_destroy(s));
}
API hip_error hipStreamSynchronize(stream *s)
{
    __atomic_add_fetch(&synchronizations, 1, __ATOMIC_RELAXED);
    LOCKED(stream_wait(s));
}
API hip_error hipStreamQuery(stream *s)
{
    LOCKED(stream_query(s));
}
API hip_error hipStreamWaitEvent(stream *s, event *e_, unsigned flags)
{
    LOCKED(!e_ ? hipErrorInvalidHandle : flags ? hipErrorInvalidValue : event_hold_back(s, e_));
}
API hip_error hipEventCreateWithFlags(event **e_, unsigned flags)
{
    LOCKED(flags ? hipErrorNotSupported : event_create(e_));
}
API hip_error hipEventDestroy(event *e_)
{
    if (!e_)
        return hipErrorInvalidHandle;
    begin();
    event_destroy(e_);
    return end(hipSuccess);
}
API hip_error hipEventRecord(event *e_, stream *s)
{
    LOCKED(e_ ? event_record(e_, s) : hipErrorInvalidHandle);
}
API hip_error hipEventSynchronize(event *e_)
{
    __atomic_add_fetch(&synchronizations, 1, __ATOMIC_RELAXED);
    LOCKED(e_ ? event_wait(e_) : hipErrorInvalidHandle);
}
API hip_error hipEventQuery(event *e_)
{
    LOCKED(e_ ? event_query(e_) : hipErrorInvalidHandle);
}
API hip_error hipEventElapsedTime(float *milliseconds, event *first, event *second)
{
    LOCKED(first && second ? event_elapsed(milliseconds, first, second) : hipErrorInvalidHandle);
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
    if (!e && !(e = streams_wait()))
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
/* What is wrong with the launch is said here; what goes wrong in the kernel at a later call. */
static hip_error launch(const function *f, const uint32_t grid[3], const uint32_t block[3], unsigned lds,
                        void **parameters, bool cooperative, stream *s)
{
    prepared_launch *p = NULL;
    hip_error e = begin();
    if (!e && !f)
        e = hipErrorInvalidHandle;
    if (!e)
        e = launch_prepare(f, grid, block, lds, parameters, cooperative, &p);
    if (!e)
        e = stream_launch(s, p);
    if (!e && setting("HIP_LAUNCH_BLOCKING", 0))
        e = stream_wait(s);
    return end(e);
}
API hip_error hipModuleLaunchKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                    unsigned bz, unsigned lds, stream *s, void **parameters, void **extra)
{
    if (extra)
        return hipErrorNotSupported;
    return launch(f, (uint32_t[]){ gx, gy, gz }, (uint32_t[]){ bx, by, bz }, lds, parameters, false, s);
}
API hip_error hipModuleLaunchCooperativeKernel(const function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                               unsigned by, unsigned bz, unsigned lds, stream *s, void **parameters)
{
    return launch(f, (uint32_t[]){ gx, gy, gz }, (uint32_t[]){ bx, by, bz }, lds, parameters, true, s);
}

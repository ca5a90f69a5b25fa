/* SPDX-License-Identifier: MIT */
/* The host side that CUDA and HIP share: modules from the images that cgxcc put into the objects, streams, events, memory and
 * launches, all through the driver. Not a header of declarations: it is the body of backends/cuda/host.c and of
 * backends/hip/host.c, compiled once for each, after the driver.h of that backend. What the two do differently is declared
 * under "what a backend adds" and defined behind the #include. */
#ifndef CGX_GPU_HOST_H
#define CGX_GPU_HOST_H
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 16, MAX_DEVICES = 64 };

typedef struct {
    int handle;
    int lost;              /* after a fault that leaves it unusable, with lost_text */
    void *context;         /* CUDA: the primary one, retained at first use: the CUDA runtime's too. HIP has none */
    int units, max_blocks; /* the most that can be resident at once */
    size_t shared;         /* memory of a block, opt-in included */
    char description[128];
    char target[64]; /* "sm_90", "gfx942:sramecc+:xnack-" */
    char lost_text[256];
} device;

/* A cgx__launch_record, in device memory, and where it puts errors, in memory of the host's. */
typedef struct {
    gpu_address record;
    cgx__launch_error *error;
} launch_state;

typedef struct {
    int device;
    gpu_stream stream;
    int owned;
    launch_state state;    /* from the first launch on */
    int has_launching;     /* kernels that launch kernels were put into it since the last wait */
    struct family *family; /* of what they ask the host for, where the host launches */
    char *stage;           /* of pageable.h, from the first such copy on */
    pthread_mutex_t staging;
} queue;

/* A function of a module, looked up once. */
typedef struct function {
    const cgx_kernel *kernel;
    const cgx__image *image;
    gpu_function handle;
    int device;
    int max_threads,
        static_shared;  /* of the image: registers limit the one, the library's own arrays are in the other */
    int dynamic_shared; /* as set so far */
    uint64_t fit;       /* the last answer about occupancy, packed */
    const struct module *module;
    struct function *next, *next_found;
} function;

/* What is loaded of a unit on a device. Hangs in the unit's slot 1 + nothing else: the list dies with the unit. */
typedef struct module {
    const cgx__unit *unit;
    int device;
    const cgx__image *image;
    gpu_module handle;
    function *functions;
    void *children; /* kernels that kernels launch, where the host does it */
    struct module *next;
} module;

static device devices[MAX_DEVICES];
static int device_count;
static launch_state children[MAX_DEVICES];               /* of launches by kernels, which do not know their queue */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of contexts and modules */
static module *modules;
/* Functions by kernel and device. Read without the lock: entries are added in front, and taken out only when the shared object
 * of the kernel is unloaded, which nobody may launch from at the same time. */
enum { BUCKETS = 1024 };
static function *found[BUCKETS];

static struct {
#define MEMBER(name, cuda, hip, parameters) int(*name) parameters;
    FOREACH_GPU_FUNCTION(MEMBER)
#undef MEMBER
#define MEMBER(type, name, symbol, parameters) type(*name) parameters;
    FOREACH_OWN_FUNCTION(MEMBER)
#undef MEMBER
} driver;
static void *library; /* the driver's */

#define CHECK(call)                  \
    do {                             \
        cgx_status status_ = (call); \
        if (status_)                 \
            return status_;          \
    } while (0)

/* ---- what a backend adds ---- */

static const char *error_name(int result);                   /* the driver's own, or NULL */
static cgx_status check_version(char *reason, size_t bytes); /* is the driver new enough */
static void describe(int d, cgx_device_info *info);          /* what the makes differ in; sets target */
/* Makes the device the calling thread's; *pushed says what leave() has to undo. */
static cgx_status enter(int d, int *pushed);
static cgx_status leave(int pushed, cgx_status status);
static int copy(gpu_address to, gpu_address from, size_t bytes, gpu_stream stream);
static int copy_2d(gpu_address to, size_t to_pitch, gpu_address from, size_t from_pitch, size_t width, size_t height,
                   gpu_stream stream);
static int copy_peer(int to_device, gpu_address to, int from_device, gpu_address from, size_t bytes, gpu_stream stream);
#if GPU_COPIES_WAIT /* copies of pageable memory wait for the work before them */
typedef enum { ON_DEVICE, PINNED, PAGEABLE } host_place;
static host_place place_of(const void *p);
#endif
/* The image that serves the device, or NULL. */
static const cgx__image *image_for(int d, const cgx__images *images);
/* The processor whose code runs. */
static cgx_status kernel_target(int d, const function *f, char *target, size_t bytes);
/* Whether a stream of the user's can serve the device, of which it is to be a queue. */
static cgx_status check_stream(int d, gpu_stream stream);
/* Lets kernels and stream-ordered allocations of D reach memory of PEER; the driver says that they can. */
static int enable_peer(int d, int peer);
/* Lets the kernel have as much dynamic shared memory as this launch asks for. */
static cgx_status allow_shared(int d, function *f, size_t bytes);
/* DYNAMIC is what the driver is asked for, arrays that the image has not included. */
/* Makes a loaded module ready for what its kernels tell the host, under the lock; prints what kernels have printed. */
static cgx_status connect(module *m);
static cgx_status take_prints(int d);
static cgx_status launch(const queue *q, function *f, const cgx_launch_request *r, size_t dynamic, void **parameters);
static cgx_status set_limit(int d, cgx_limit limit, size_t value);
static cgx_status get_limit(int d, cgx_limit limit, size_t *value);
/* Where the host launches what kernels ask for: around a launch of a kernel that may ask, in the device's context; before anything else
 * is put into the queue, and if that must not wait; what went wrong, when all is over. */
static cgx_status begin_family(queue *q, const function *f, cgx__thread *thread);
static void begun_family(queue *q, cgx_status s);
static cgx_status settle(queue *q);
static cgx_status settle_some(queue *q);
static cgx_status take_failure(queue *q);
static void destroy_family(queue *q);

/* ---- errors ---- */

static cgx_status alive(int d)
{
    if (!__atomic_load_n(&devices[d].lost, __ATOMIC_ACQUIRE))
        return CGX_OK;
    return cgx__fail(CGX_ERROR_DEVICE_LOST, GPU_NAME ":%d is lost since: %s", d, devices[d].lost_text);
}

/* CGX_OK, or the cgx status of a driver error with a text: what was done, what it means, and the driver's own name. */
static cgx_status check(int d, int result, const char *what)
{
    if (!result)
        return CGX_OK;
    cgx_status status = CGX_ERROR_DRIVER;
    int sticky = 0;
    const char *explanation = "the driver reports an error", *name = error_name(result);
    switch (result) {
#define CASE(value, its_status, is_sticky, text) \
    case value: status = its_status, sticky = is_sticky, explanation = text; break;
        FOREACH_GPU_ERROR(CASE)
#undef CASE
    }
    cgx__fail(status, "%s on " GPU_NAME ":%d: %s (%s)", what, d, explanation,
              name ? name : "unknown " GPU_TITLE " error");
    if (sticky && !__atomic_load_n(&devices[d].lost, __ATOMIC_ACQUIRE)) {
        snprintf(devices[d].lost_text, sizeof devices[d].lost_text, "%s", cgx_last_error());
        __atomic_store_n(&devices[d].lost, 1, __ATOMIC_RELEASE);
    }
    return status;
}

/* ---- devices ---- */

static cgx_status load_driver(char *reason, size_t bytes)
{
    static const char *const names[] = { GPU_LIBRARIES };
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, bytes, "%s is not installed", names[0]);
        return CGX_ERROR_DRIVER;
    }
#define LOAD(name, symbol)                                                          \
    {                                                                               \
        void *address = dlsym(library, symbol);                                     \
        if (!address) {                                                             \
            snprintf(reason, bytes, "the driver is too old: it has no %s", symbol); \
            return CGX_ERROR_DRIVER;                                                \
        }                                                                           \
        memcpy(&driver.name, &address, sizeof address);                             \
    }
#define LOAD_SHARED(name, cuda, hip, parameters) LOAD(name, GPU_SYMBOL(cuda, hip))
#define LOAD_OWN(type, name, symbol, parameters) LOAD(name, symbol)
    FOREACH_GPU_FUNCTION(LOAD_SHARED)
    FOREACH_OWN_FUNCTION(LOAD_OWN)
    int result = driver.Init(0);
    if (result == GPU_ERROR_NO_DEVICE) {
        snprintf(reason, bytes, "the driver finds no GPU");
        return CGX_ERROR_NO_DEVICE;
    }
    if (result) {
        const char *name = error_name(result);
        snprintf(reason, bytes, "the driver does not start: %s", name ? name : "?");
        return CGX_ERROR_DRIVER;
    }
    return check_version(reason, bytes);
}

static cgx_status start(int *count, char *reason, size_t reason_bytes)
{
    CHECK(load_driver(reason, reason_bytes));
    if (driver.DeviceGetCount(&device_count) || device_count == 0) {
        snprintf(reason, reason_bytes, "the driver finds no GPU");
        return CGX_ERROR_NO_DEVICE;
    }
    device_count = device_count > MAX_DEVICES ? MAX_DEVICES : device_count;
    *count = device_count;
    return CGX_OK;
}

static int attribute(int d, int which)
{
    int value = 0;
    driver.DeviceGetAttribute(&value, which, devices[d].handle);
    return value;
}
/* How grids synchronise: the barrier is the library's own either way, a cooperative launch is the driver's promise that all
 * blocks run at once. CGX_GPU_COOPERATIVE is for tests, as CGX_CPU_COOPERATIVE is. */
static uint64_t grid_capabilities(int cooperative)
{
    const char *told = getenv("CGX_GPU_COOPERATIVE");
    if (told && !strcmp(told, "no"))
        return 0;
    return (cooperative && !(told && !strcmp(told, "software")) ? CGX_CAN_COOPERATIVE : 0) | CGX_CAN_SOFTWARE_GRID;
}
/* Whether a launch asks the driver for it. */
static int is_cooperative(const cgx_config *c)
{
    return c->flags & CGX_LAUNCH_COOPERATIVE && !(c->flags & CGX_LAUNCH_SOFTWARE_GRID);
}

static cgx_status device_info(int d, cgx_device_info *info)
{
    device *v = devices + d;
    CHECK(check(d, driver.DeviceGet(&v->handle, d), "finding the device"));
    CHECK(check(d, driver.DeviceGetName(v->description, sizeof v->description, v->handle), "asking its name"));
    CHECK(check(d, driver.DeviceTotalMem(&info->memory_bytes, v->handle), "asking its memory"));
    info->description = v->description;
    info->engine = "native";
    info->max_argument_bytes = 4096;
    info->units = v->units = attribute(d, ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->lanes = attribute(d, ATTRIBUTE_WARP_SIZE);
    info->max_threads_per_block = attribute(d, ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->max_threads_per_unit = attribute(d, ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    info->threads_at_once = info->max_threads_per_unit;
    info->max_block = cgx_dim(attribute(d, ATTRIBUTE_MAX_BLOCK_DIM_X), attribute(d, ATTRIBUTE_MAX_BLOCK_DIM_X + 1),
                              attribute(d, ATTRIBUTE_MAX_BLOCK_DIM_X + 2));
    info->max_grid = cgx_dim(attribute(d, ATTRIBUTE_MAX_GRID_DIM_X), attribute(d, ATTRIBUTE_MAX_GRID_DIM_X + 1),
                             attribute(d, ATTRIBUTE_MAX_GRID_DIM_X + 2));
    info->shared_bytes_per_unit = (size_t)attribute(d, ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR);
    describe(d, info);
    v->shared = info->shared_bytes_per_block;
    for (int peer = 0; peer < device_count; peer++) {
        int handle, can = 0;
        if (peer != d && !driver.DeviceGet(&handle, peer) && !driver.DeviceCanAccessPeer(&can, v->handle, handle) &&
            can)
            info->capabilities |= CGX_CAN_PEER;
    }
    v->max_blocks = v->units * (info->max_threads_per_unit / info->lanes);
    return CGX_OK;
}

/* A driver call inside the device's context. */
#define IN_CONTEXT(d, call, what)                          \
    do {                                                   \
        int pushed_;                                       \
        CHECK(enter((d), &pushed_));                       \
        return leave(pushed_, check((d), (call), (what))); \
    } while (0)

/* ---- queues and events ---- */

static cgx_status queue_create(int d, void *native, void **out)
{
    int pushed;
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, GPU_NAME ": not enough memory for a queue");
    q->device = d;
    q->stream = native;
    q->owned = !native;
    pthread_mutex_init(&q->staging, NULL);
    cgx_status s = enter(d, &pushed);
    if (!s) {
        s = q->owned ? check(d, driver.StreamCreate(&q->stream, STREAM_NON_BLOCKING), "creating a stream")
                     : check_stream(d, q->stream);
        leave(pushed, s);
    }
    if (s) {
        pthread_mutex_destroy(&q->staging);
        free(q);
    } else {
        *out = q;
    }
    return s;
}

static void queue_destroy(void *queue_)
{
    queue *q = queue_;
    int pushed;
    if ((q->owned || q->state.record || q->stage) && !enter(q->device, &pushed)) {
        if (q->state.record)
            settle(q);
        if (q->state.record || q->stage)
            driver.StreamSynchronize(q->stream); /* a stream of the user's may still run launches and copies */
        if (q->state.record) {
            destroy_family(q);
            driver.MemFree(q->state.record);
            driver.MemFreeHost(q->state.error);
        }
        if (q->stage)
            driver.MemFreeHost(q->stage);
        if (q->owned)
            driver.StreamDestroy(q->stream);
        leave(pushed, CGX_OK);
    }
    pthread_mutex_destroy(&q->staging);
    free(q);
}

/* Of a pointer in device memory, in two halves, since fills take no host memory; both APIs have one address space. */
static cgx_status set_pointer(int d, gpu_address at, const void *value, gpu_stream stream, const char *what)
{
    for (size_t i = 0; i < 2; i++)
        CHECK(check(d,
                    driver.MemsetD32Async((gpu_address)((uintptr_t)at + 4 * i),
                                          (unsigned)((uint64_t)(uintptr_t)value >> (32 * i)), 1, stream),
                    what));
    return CGX_OK;
}

/* The record of a queue's launches, at its first; in the device's context. Launches of one queue never overlap, so that
 * one record serves them all. */
static cgx_status make_record(int d, gpu_stream stream, launch_state *state)
{
    const size_t bytes = CGX__LAUNCH_RECORD_BYTES(devices[d].max_blocks);
    gpu_address record = 0;
    void *error = NULL;
    cgx_status s = check(d, driver.MemAlloc(&record, bytes), "allocating the record of launches");
    if (!s)
        s = check(d, driver.MemHostAlloc(&error, sizeof *state->error, HOST_ALLOC_PORTABLE | HOST_ALLOC_DEVICEMAP),
                  "allocating the record of launches");
    if (!s) {
        memset(error, 0, sizeof *state->error);
        s = check(d, driver.MemsetD32Async(record, 0, sizeof(cgx__launch_record) / 4, stream),
                  "clearing the record of launches");
    }
    if (!s)
        s = set_pointer(d, (gpu_address)((uintptr_t)record + offsetof(cgx__launch_record, error)), error, stream,
                        "setting up the record of launches");
    if (s) {
        if (record)
            driver.MemFree(record);
        if (error)
            driver.MemFreeHost(error);
        return s;
    }
    state->error = error;
    __atomic_store_n(&state->record, record, __ATOMIC_RELEASE);
    return CGX_OK;
}

/* What a kernel said of itself, once; when all of the queue's work is done. */
static cgx_status take_misuse(const queue *q, const launch_state *state)
{
    static const char *const texts[CGX__MISUSE_COUNT] = { NULL,
#define TEXT(name, text) text,
                                                          CGX_FOREACH_DEVICE_MISUSE(TEXT)
#undef TEXT
    };
    if (!state->error || !__atomic_load_n(&state->error->misuse, __ATOMIC_ACQUIRE))
        return CGX_OK;
    const cgx__launch_error e = *state->error;
    const cgx_kernel *k = e.name[0] ? NULL : (const cgx_kernel *)(uintptr_t)e.kernel;
    state->error->misuse = CGX__MISUSE_NONE;
    CHECK(check(q->device,
                driver.MemsetD32Async((gpu_address)((uintptr_t)state->record + offsetof(cgx__launch_record, claimed)),
                                      0, 1, q->stream),
                "clearing the record of launches"));
    char line[32] = "";
    if (e.line)
        snprintf(line, sizeof line, k ? ":%d" : "line %d", e.line);
    return cgx__fail(CGX_ERROR_MISUSE, "%s, block (%d, %d, %d), thread %d: %s (%s%s)", k ? k->name : e.name, e.block.x,
                     e.block.y, e.block.z, e.thread, e.misuse < CGX__MISUSE_COUNT ? texts[e.misuse] : "unknown",
                     k ? k->file : "launched by a kernel, ", line);
}

static cgx_status queue_wait(void *queue_)
{
    queue *q = queue_;
    int pushed;
    CHECK(settle(q));
    CHECK(enter(q->device, &pushed));
    cgx_status s = check(q->device, driver.StreamSynchronize(q->stream), "waiting for the queue's work");
    if (!s)
        s = take_prints(q->device);
    if (!s)
        s = take_misuse(q, &q->state);
    if (!s && q->has_launching) {
        q->has_launching = 0;
        s = take_misuse(q, children + q->device);
        s = s ? s : take_failure(q);
    }
    return leave(pushed, s);
}

static cgx_status not_ready_or(int d, int result, const char *what)
{
    return result == GPU_ERROR_NOT_READY ? CGX_NOT_READY : check(d, result, what);
}

static cgx_status queue_query(void *queue_)
{
    queue *q = queue_;
    int pushed;
    CHECK(settle_some(q));
    CHECK(enter(q->device, &pushed));
    return leave(pushed, not_ready_or(q->device, driver.StreamQuery(q->stream), "asking for the queue's work"));
}

static cgx_status queue_native(void *queue_, void **context, void **stream)
{
    const queue *q = queue_;
    *context = devices[q->device].context;
    *stream = q->stream;
    return CGX_OK;
}

typedef struct {
    int device;
    gpu_event handle;
} event;

static cgx_status event_create(int d, void **out)
{
    int pushed;
    event *e = calloc(1, sizeof *e);
    if (!e)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, GPU_NAME ": not enough memory for an event");
    e->device = d;
    cgx_status s = enter(d, &pushed);
    if (!s)
        s = leave(pushed, check(d, driver.EventCreate(&e->handle, EVENT_DEFAULT), "creating an event"));
    if (s)
        free(e);
    else
        *out = e;
    return s;
}

static void event_destroy(void *event_)
{
    event *e = event_;
    int pushed;
    if (!enter(e->device, &pushed)) {
        driver.EventDestroy(e->handle);
        leave(pushed, CGX_OK);
    }
    free(e);
}

static cgx_status enqueue_record(void *event_, void *queue_)
{
    queue *q = queue_;
    CHECK(settle(q));
    IN_CONTEXT(q->device, driver.EventRecord(((event *)event_)->handle, q->stream), "recording an event");
}
static cgx_status enqueue_wait(void *queue_, void *event_)
{
    queue *q = queue_;
    CHECK(settle(q));
    IN_CONTEXT(q->device, driver.StreamWaitEvent(q->stream, ((event *)event_)->handle, 0), "waiting for an event");
}
static cgx_status event_wait(void *event_)
{
    const event *e = event_;
    IN_CONTEXT(e->device, driver.EventSynchronize(e->handle), "waiting for an event");
}
static cgx_status event_query(void *event_)
{
    const event *e = event_;
    int pushed;
    CHECK(enter(e->device, &pushed));
    return leave(pushed, not_ready_or(e->device, driver.EventQuery(e->handle), "asking for an event"));
}
static cgx_status event_elapsed(void *first, void *last, double *seconds)
{
    const event *a = first, *b = last;
    float milliseconds = 0;
    int pushed;
    CHECK(enter(a->device, &pushed));
    cgx_status s = leave(pushed, not_ready_or(a->device, driver.EventElapsedTime(&milliseconds, a->handle, b->handle),
                                              "asking for the time between events"));
    if (!s)
        *seconds = milliseconds * 1e-3;
    return s;
}

/* ---- memory ---- */

/* Which kind an allocation is decides how it is freed. A sorted array would do as well; programs have few. */
typedef struct allocation {
    void *memory;
    int device;
    cgx_memory_kind kind;
    struct allocation *next;
} allocation;
static allocation *allocations;

static cgx_status remember(int d, void *memory, cgx_memory_kind kind)
{
    allocation *a = malloc(sizeof *a);
    if (!a)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, GPU_NAME ": not enough memory for the list of allocations");
    pthread_mutex_lock(&lock);
    *a = (allocation){ memory, d, kind, allocations };
    allocations = a;
    pthread_mutex_unlock(&lock);
    return CGX_OK;
}

/* Takes an allocation off the list; false if it is not there. */
static int forget(int d, const void *memory, cgx_memory_kind *kind)
{
    int found = 0;
    pthread_mutex_lock(&lock);
    for (allocation **at = &allocations; *at; at = &(*at)->next)
        if ((*at)->memory == memory && (*at)->device == d) {
            allocation *a = *at;
            *kind = a->kind;
            *at = a->next;
            free(a);
            found = 1;
            break;
        }
    pthread_mutex_unlock(&lock);
    return found;
}

static cgx_status alloc(int d, size_t bytes, cgx_memory_kind kind, void **memory)
{
    gpu_address address = 0;
    void *host = NULL;
    int pushed;
    char what[96];
    bytes = bytes ? bytes : 1;
    snprintf(what, sizeof what, "allocating %s bytes", cgx__size(bytes));
    CHECK(enter(d, &pushed));
    int r = kind == CGX_MEM_DEVICE   ? driver.MemAlloc(&address, bytes)
            : kind == CGX_MEM_SHARED ? driver.MemAllocManaged(&address, bytes, MEM_ATTACH_GLOBAL)
                                     : driver.MemHostAlloc(&host, bytes, HOST_ALLOC_PORTABLE | HOST_ALLOC_DEVICEMAP);
    CHECK(leave(pushed, check(d, r, what)));
    *memory = kind == CGX_MEM_PINNED ? host : (void *)(uintptr_t)address;
    return remember(d, *memory, kind);
}

static cgx_status release(int d, void *memory)
{
    cgx_memory_kind kind;
    if (!forget(d, memory, &kind))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_free: %p was not allocated on " GPU_NAME ":%d, or is freed already",
                         memory, d);
    IN_CONTEXT(d, kind == CGX_MEM_PINNED ? driver.MemFreeHost(memory) : driver.MemFree((gpu_address)(uintptr_t)memory),
               "freeing memory");
}

static cgx_status enqueue_alloc(void *queue_, size_t bytes, void **memory)
{
    queue *q = queue_;
    gpu_address address = 0;
    int pushed;
    char what[96];
    CHECK(settle(q));
    snprintf(what, sizeof what, "allocating %s bytes", cgx__size(bytes));
    CHECK(enter(q->device, &pushed));
    CHECK(leave(pushed, check(q->device, driver.MemAllocAsync(&address, bytes ? bytes : 1, q->stream), what)));
    *memory = (void *)(uintptr_t)address;
    return remember(q->device, *memory, CGX_MEM_DEVICE);
}

static cgx_status enqueue_free(void *queue_, void *memory)
{
    queue *q = queue_;
    cgx_memory_kind kind;
    CHECK(settle(q));
    if (!forget(q->device, memory, &kind))
        return cgx__fail(CGX_ERROR_INVALID,
                         "cgx_free_async: %p was not allocated on " GPU_NAME ":%d, or is freed already", memory,
                         q->device);
    IN_CONTEXT(q->device, driver.MemFreeAsync((gpu_address)(uintptr_t)memory, q->stream), "freeing memory");
}

/* ---- copies and fills ---- */

#if GPU_COPIES_WAIT
#include "pageable.h"
#endif

static cgx_status enqueue_copy(void *queue_, void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height)
{
    queue *q = queue_;
    gpu_address to = (gpu_address)(uintptr_t)destination, from = (gpu_address)(uintptr_t)source;
    CHECK(settle(q));
    const int flat = height == 1 || (destination_pitch == width && source_pitch == width);
#if GPU_COPIES_WAIT
    const host_place to_is = place_of(destination), from_is = place_of(source);
    if (to_is == PAGEABLE || from_is == PAGEABLE) {
        int pushed;
        CHECK(enter(q->device, &pushed));
        if (driver.StreamQuery(q->stream) == GPU_ERROR_NOT_READY) {
            const host_copy c = {
                destination, source, destination_pitch, source_pitch, flat ? width * height : width, flat ? 1 : height
            };
            return leave(pushed,
                         check(q->device, copy_pageable(q, c, to_is != ON_DEVICE, from_is != ON_DEVICE), "copying"));
        }
        leave(pushed, CGX_OK);
    }
#endif
    IN_CONTEXT(q->device,
               flat ? copy(to, from, width * height, q->stream)
                    : copy_2d(to, destination_pitch, from, source_pitch, width, height, q->stream),
               "copying");
}

static cgx_status enqueue_copy_peer(void *queue_, void *destination, const void *source, int source_device,
                                    size_t bytes)
{
    queue *q = queue_;
    int pushed;
    CHECK(settle(q));
    CHECK(enter(source_device, &pushed)); /* so that its context exists */
    leave(pushed, CGX_OK);
    IN_CONTEXT(q->device,
               copy_peer(q->device, (gpu_address)(uintptr_t)destination, source_device, (gpu_address)(uintptr_t)source,
                         bytes, q->stream),
               "copying between devices");
}

/* Access is enabled by the first question: mapping every allocation on every device costs programs that never ask. */
static int can_access(int d, int peer)
{
    int can = 0, pushed;
    if (driver.DeviceCanAccessPeer(&can, devices[d].handle, devices[peer].handle) || !can)
        return 0;
    if (enter(peer, &pushed)) /* so that its context exists */
        return 0;
    leave(pushed, CGX_OK);
    if (enter(d, &pushed))
        return 0;
    can = enable_peer(d, peer);
    leave(pushed, CGX_OK);
    return can;
}

static gpu_address offset(gpu_address address, size_t bytes)
{
    return (gpu_address)((uintptr_t)address + bytes);
}

/* The driver fills 1, 2 and 4 bytes. Longer patterns are written once and doubled by copies. */
static int fill_long(const queue *q, gpu_address to, const void *pattern, size_t pattern_bytes, size_t total)
{
    uint32_t words[4];
    memcpy(words, pattern, pattern_bytes);
    int same = 1;
    for (size_t i = 1; i < pattern_bytes / 4; i++)
        same &= words[i] == words[0];
    if (same)
        return driver.MemsetD32Async(to, words[0], total / 4, q->stream);
    int r = GPU_SUCCESS;
    for (size_t i = 0; i < pattern_bytes / 4 && !r; i++)
        r = driver.MemsetD32Async(offset(to, 4 * i), words[i], 1, q->stream);
    for (size_t have = pattern_bytes; have < total && !r; have *= 2)
        r = copy(offset(to, have), to, have < total - have ? have : total - have, q->stream);
    return r;
}

static cgx_status enqueue_fill(void *queue_, void *memory, const void *pattern, size_t pattern_bytes, size_t count)
{
    queue *q = queue_;
    gpu_address to = (gpu_address)(uintptr_t)memory;
    int pushed;
    int r;
    uint16_t two;
    uint32_t four;
    CHECK(settle(q));
    CHECK(enter(q->device, &pushed));
    switch (pattern_bytes) {
    case 1: r = driver.MemsetD8Async(to, *(const unsigned char *)pattern, count, q->stream); break;
    case 2:
        memcpy(&two, pattern, 2);
        r = driver.MemsetD16Async(to, two, count, q->stream);
        break;
    case 4:
        memcpy(&four, pattern, 4);
        r = driver.MemsetD32Async(to, four, count, q->stream);
        break;
    default: r = fill_long(q, to, pattern, pattern_bytes, pattern_bytes * count);
    }
    return leave(pushed, check(q->device, r, "filling memory"));
}

/* ---- modules ---- */

static cgx_status wrong_image(int d, const char *kernel, const char *targets)
{
    const char *name = error_name(GPU_ERROR_NO_BINARY);
    return cgx__fail(CGX_ERROR_UNSUPPORTED,
                     "%s: " GPU_NAME ":%d is %s, its file has images for %s; add it to cgxcc --" GPU_NAME "-arch (%s)",
                     kernel, d, devices[d].target, targets, name ? name : "?");
}

/* Under the lock, in the device's context. */
static cgx_status load_module(int d, const cgx__unit *u, const char *kernel, module **out)
{
    for (module *m = modules; m; m = m->next)
        if (m->unit == u && m->device == d) {
            *out = m;
            return CGX_OK;
        }
    char targets[256] = "";
    const cgx__image *image = image_for(d, u->images);
    const cgx__image *table = (const cgx__image *)(u->images + 1);
    for (int i = 0; i < u->images->count; i++)
        if (table[i].kind == GPU_IMAGE)
            snprintf(targets + strlen(targets), sizeof targets - strlen(targets), "%s%s", targets[0] ? " " : "",
                     table[i].target);
    if (!targets[0])
        return cgx__fail(CGX_ERROR_UNSUPPORTED,
                         "%s: its file was built without " GPU_TITLE
                         " images; build it with cgxcc --backends=cpu," GPU_NAME,
                         kernel);
    if (!image)
        return wrong_image(d, kernel, targets);
    module *m = calloc(1, sizeof *m);
    if (!m)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, GPU_NAME ": not enough memory for a module");
    int r = driver.ModuleLoadData(&m->handle, (const char *)u->images + image->offset);
    if (r) {
        free(m);
        if (r == GPU_ERROR_NO_BINARY)
            return wrong_image(d, kernel, targets);
        return check(d, r, "loading the image");
    }
    m->unit = u;
    m->image = image;
    m->device = d;
    cgx_status s = connect(m);
    if (s) {
        driver.ModuleUnload(m->handle);
        free(m);
        return s;
    }
    m->next = modules;
    modules = m;
    *out = m;
    return CGX_OK;
}

static function **bucket(int d, const cgx_kernel *k)
{
    const uint64_t mixed = ((uint64_t)(uintptr_t)k / 8 + (uint64_t)d) * 0x9e3779b97f4a7c15u;
    return found + mixed / (UINT64_MAX / BUCKETS + 1);
}

static function *look_up(int d, const cgx_kernel *k)
{
    function *f = __atomic_load_n(bucket(d, k), __ATOMIC_ACQUIRE);
    while (f && (f->kernel != k || f->device != d))
        f = f->next_found;
    return f;
}

/* Under the lock, in the device's context. */
static cgx_status load_function(int d, const cgx_kernel *k, function **out)
{
    module *m = NULL;
    char symbol[256];
    CHECK(load_module(d, k->unit, k->name, &m));
    function *f = calloc(1, sizeof *f);
    if (!f)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, GPU_NAME ": not enough memory for a kernel");
    snprintf(symbol, sizeof symbol, "%s__device", k->name);
    int r = driver.ModuleGetFunction(&f->handle, m->handle, symbol);
    r = r ? r : driver.FuncGetAttribute(&f->max_threads, FUNCTION_MAX_THREADS, f->handle);
    r = r ? r : driver.FuncGetAttribute(&f->static_shared, FUNCTION_SHARED_BYTES, f->handle);
    if (r) {
        free(f);
        return check(d, r, symbol);
    }
    function **at = bucket(d, k);
    f->kernel = k, f->image = m->image, f->device = d, f->module = m;
    f->next = m->functions, f->next_found = *at;
    m->functions = f;
    __atomic_store_n(at, f, __ATOMIC_RELEASE);
    *out = f;
    return CGX_OK;
}

/* In the device's context. */
static cgx_status find_function(int d, const cgx_kernel *k, function **out)
{
    cgx_status s = CGX_OK;
    *out = look_up(d, k);
    if (*out)
        return CGX_OK;
    pthread_mutex_lock(&lock);
    *out = look_up(d, k); /* another thread may have been first */
    if (!*out)
        s = load_function(d, k, out);
    pthread_mutex_unlock(&lock);
    return s;
}

/* Under the lock. */
static void forget_function(function *f)
{
    function **at = bucket(f->device, f->kernel);
    while (*at != f)
        at = &(*at)->next_found;
    __atomic_store_n(at, f->next_found, __ATOMIC_RELEASE);
    free(f);
}

static void unit_gone(const cgx__unit *u)
{
    int pushed;
    pthread_mutex_lock(&lock);
    for (module **at = &modules; *at;) {
        module *m = *at;
        if (m->unit != u) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        for (function *f = m->functions, *next; f; f = next) {
            next = f->next;
            forget_function(f);
        }
        pthread_mutex_unlock(&lock);
        if (!enter(m->device, &pushed)) {
            driver.ModuleUnload(m->handle);
            leave(pushed, CGX_OK);
        }
        free(m->children);
        free(m);
        pthread_mutex_lock(&lock);
        at = &modules;
    }
    pthread_mutex_unlock(&lock);
}

/* The dynamic shared memory that the driver is asked for, and a check that the device has it beside what the image takes. */
static cgx_status dynamic_shared(int d, const function *f, const cgx_shared_use *use, size_t *bytes)
{
    const size_t fixed = (size_t)f->static_shared, limit = devices[d].shared;
    const char *name = f->kernel->name;
    size_t large = 0;
    if (GPU_MOVES_LARGE_SHARED && use->large_arrays > 1)
        return cgx__fail(CGX_ERROR_LIMIT,
                         "%s: %d arrays of more than %s bytes of shared memory, " GPU_NAME
                         ":%d takes one a kernel; put them into one struct",
                         name, use->large_arrays, cgx__size(CGX__LARGE_SHARED), d);
    if (GPU_MOVES_LARGE_SHARED && use->large_arrays)
        large = use->large + (-use->dynamic & 127);
    if (fixed + large > limit)
        return cgx__fail(CGX_ERROR_LIMIT, "%s: the kernel declares %s bytes of shared memory, " GPU_NAME ":%d takes %s",
                         name, cgx__size(fixed + large), d, cgx__size(limit));
    if (use->dynamic > limit - fixed - large)
        return cgx__fail(CGX_ERROR_LIMIT,
                         "%s: %s bytes of dynamic shared memory asked beside %s static ones (some of them the "
                         "library's), " GPU_NAME ":%d takes %s a block; %s would fit",
                         name, cgx__size(use->dynamic), cgx__size(fixed + large), d, cgx__size(limit),
                         cgx__size((limit - fixed - large) & ~(size_t)127));
    *bytes = use->dynamic + large;
    return CGX_OK;
}

/* What the library's collectives have of the kernel's static memory; before dynamic memory begins, there may be a gap. */
static size_t library_shared(const function *f, const cgx_shared_use *use)
{
    const size_t declared = (use->fixed - (GPU_MOVES_LARGE_SHARED ? use->large : 0) + 127) & ~(size_t)127;
    return (size_t)f->static_shared > declared ? (size_t)f->static_shared - declared : 0;
}

static cgx_status kernel_info(int d, const cgx_kernel *k, const cgx_shared_use *shared, cgx_kernel_info *info)
{
    function *f = NULL;
    int pushed;
    static _Thread_local char target[sizeof(cgx__image)];
    CHECK(enter(d, &pushed));
    cgx_status s = find_function(d, k, &f);
    if (!s)
        s = kernel_target(d, f, target, sizeof target);
    CHECK(leave(pushed, s));
    info->max_threads = f->max_threads < info->max_threads ? f->max_threads : info->max_threads;
    info->static_shared_bytes = shared->fixed + library_shared(f, shared);
    info->engine = "native";
    info->target = target;
    return CGX_OK;
}

/* A cooperative launch asks this before each launch, mostly the same: the last answer is kept. */
static cgx_status occupancy(int d, const cgx_kernel *k, int threads, const cgx_shared_use *shared, int *per_unit,
                            int *cooperative)
{
    function *f = NULL;
    int pushed;
    size_t dynamic = 0;
    CHECK(enter(d, &pushed));
    cgx_status s = find_function(d, k, &f);
    if (s)
        return leave(pushed, s);
    *per_unit = *cooperative = 0;
    if (threads > f->max_threads || dynamic_shared(d, f, shared, &dynamic))
        return leave(pushed, CGX_OK); /* none fits; the launch says why */
    const uint64_t question = (uint64_t)threads << 48 | (uint64_t)dynamic << 16;
    const uint64_t known = __atomic_load_n(&f->fit, __ATOMIC_RELAXED);
    if (known && (known & ~(uint64_t)0xffff) == question) {
        *per_unit = (int)(known & 0xffff);
    } else {
        s = allow_shared(d, f, dynamic);
        if (!s)
            s = check(d, driver.OccupancyMaxActiveBlocks(per_unit, f->handle, threads, dynamic), k->name);
        if (!s)
            __atomic_store_n(&f->fit, question | (uint64_t)(*per_unit & 0xffff), __ATOMIC_RELAXED);
    }
    *cooperative = *per_unit * devices[d].units;
    return leave(pushed, s);
}

static void explain(int d, const cgx_launch_request *r, char *text, size_t bytes)
{
    snprintf(text, bytes, "native on %s%s", devices[d].description,
             r->config->flags & CGX_LAUNCH_COOPERATIVE ? ", cooperative" : "");
}

static cgx_status check_threads(const queue *q, const function *f, const cgx_config *c)
{
    const int threads = c->block.x * c->block.y * c->block.z;
    if (threads <= f->max_threads)
        return CGX_OK;
    return cgx__fail(CGX_ERROR_LIMIT,
                     "%s: %s threads a block asked, " GPU_NAME
                     ":%d has registers for %s of this kernel; %s would fit, or declare CGX_MAX_THREADS",
                     f->kernel->name, cgx__number(threads), q->device, cgx__number(f->max_threads),
                     cgx__number(f->max_threads));
}

/* Finds the kernel's function, and asks for what it needs. In the device's context. */
static cgx_status prepare_launch(queue *q, const cgx_launch_request *r)
{
    function *f = NULL;
    if (!__atomic_load_n(&q->state.record, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        cgx_status s = q->state.record ? CGX_OK : make_record(q->device, q->stream, &q->state);
        pthread_mutex_unlock(&lock);
        CHECK(s);
    }
    if (r->kernel->flags & CGX_KERNEL_LAUNCHES)
        q->has_launching = 1;
    CHECK(find_function(q->device, r->kernel, &f));
    CHECK(check_threads(q, f, r->config));
    CHECK(dynamic_shared(q->device, f, &r->shared, &r->notes->dynamic_shared));
    CHECK(allow_shared(q->device, f, r->notes->dynamic_shared));
    r->notes->function = f;
    return CGX_OK;
}

static cgx_status enqueue_launch(void *queue_, const cgx_launch_request *r)
{
    queue *q = queue_;
    const cgx_kernel *k = r->kernel;
    int pushed;
    cgx_status s = CGX_OK;
    cgx__thread thread = { .kernel = (uint64_t)(uintptr_t)k };
    void *parameters[MAX_PARAMETERS + 1];
    for (uint32_t i = 0; i < k->parameter_count; i++)
        parameters[i] = (char *)(uintptr_t)r->arguments + k->parameters[i].offset;
    parameters[k->parameter_count] = &thread;
    CHECK(settle(q));
    CHECK(enter(q->device, &pushed));
    if (!r->notes->function)
        s = prepare_launch(q, r);
    function *f = r->notes->function;
    thread.record = (uint64_t)(uintptr_t)q->state.record |
                    (r->config->flags & CGX_LAUNCH_COOPERATIVE ? (uint64_t)CGX__IS_COOPERATIVE : 0);
    if (!s && k->flags & CGX_KERNEL_LAUNCHES) {
        s = begin_family(q, f, &thread);
        if (!s) {
            s = launch(q, f, r, r->notes->dynamic_shared, parameters);
            begun_family(q, s);
        }
    } else if (!s) {
        s = launch(q, f, r, r->notes->dynamic_shared, parameters);
    }
    return leave(pushed, s);
}

static cgx_status variable_address(int d, cgx_variable v, void **address, size_t *bytes)
{
    module *m = NULL;
    gpu_address at = 0;
    int pushed;
    CHECK(enter(d, &pushed));
    pthread_mutex_lock(&lock);
    cgx_status s = load_module(d, v.unit, v.name, &m);
    pthread_mutex_unlock(&lock);
    if (!s)
        s = check(d, driver.ModuleGetGlobal(&at, bytes, m->handle, v.name), v.name);
    CHECK(leave(pushed, s));
    *address = (void *)(uintptr_t)at;
    return CGX_OK;
}

const cgx_backend GPU_BACKEND = {
    .name = GPU_NAME,
    .start = start,
    .device_info = device_info,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_wait = queue_wait,
    .queue_query = queue_query,
    .queue_native = queue_native,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .enqueue_record = enqueue_record,
    .enqueue_wait = enqueue_wait,
    .event_wait = event_wait,
    .event_query = event_query,
    .event_elapsed = event_elapsed,
    .alloc = alloc,
    .free = release,
    .enqueue_alloc = enqueue_alloc,
    .enqueue_free = enqueue_free,
    .enqueue_copy = enqueue_copy,
    .enqueue_copy_peer = enqueue_copy_peer,
    .can_access = can_access,
    .enqueue_fill = enqueue_fill,
    .kernel_info = kernel_info,
    .enqueue_launch = enqueue_launch,
    .explain = explain,
    .occupancy = occupancy,
    .variable_address = variable_address,
    .unit_gone = unit_gone,
    .set_limit = set_limit,
    .get_limit = get_limit,
};
#endif

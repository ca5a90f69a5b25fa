/* SPDX-License-Identifier: MIT */
/* CUDA's host side: primary contexts, modules from the images that cgxcc put into the objects, streams, events, memory and
 * launches, all through the driver API. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "driver.h"

enum { MAX_PARAMETERS = 16 };

typedef struct {
    CUdevice handle;
    CUcontext context; /* the primary one, retained at first use: the CUDA runtime's too */
    int major, minor, units;
    char description[128];
} device;

typedef struct {
    int device;
    CUstream stream;
    int owned;
} queue;

/* A function of a module, looked up once. */
typedef struct function {
    const cgx_kernel *kernel;
    CUfunction handle;
    int dynamic_shared; /* as set so far */
    struct function *next;
} function;

/* What is loaded of a unit on a device. Hangs in the unit's slot 1 + nothing else: the list dies with the unit. */
typedef struct module {
    const cgx__unit *unit;
    int device;
    CUmodule handle;
    function *functions;
    struct module *next;
} module;

static device devices[CUDA_MAX_DEVICES];
static int device_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of contexts and modules */
static module *modules;

#define CHECK(call)                  \
    do {                             \
        cgx_status status_ = (call); \
        if (status_)                 \
            return status_;          \
    } while (0)

/* ---- devices and contexts ---- */

static cgx_status start(int *count, char *reason, size_t reason_bytes)
{
    CHECK(cgx__cuda_driver_load(reason, reason_bytes));
    if (cgx__cu.DeviceGetCount(&device_count) || device_count == 0) {
        snprintf(reason, reason_bytes, "the driver finds no GPU");
        return CGX_ERROR_NO_DEVICE;
    }
    device_count = device_count > CUDA_MAX_DEVICES ? CUDA_MAX_DEVICES : device_count;
    *count = device_count;
    return CGX_OK;
}

static int attribute(int d, int which)
{
    int value = 0;
    cgx__cu.DeviceGetAttribute(&value, which, devices[d].handle);
    return value;
}

static cgx_status device_info(int d, cgx_device_info *info)
{
    device *v = devices + d;
    CHECK(cgx__cuda_check(d, cgx__cu.DeviceGet(&v->handle, d), "finding the device"));
    CHECK(
        cgx__cuda_check(d, cgx__cu.DeviceGetName(v->description, sizeof v->description, v->handle), "asking its name"));
    CHECK(cgx__cuda_check(d, cgx__cu.DeviceTotalMem(&info->memory_bytes, v->handle), "asking its memory"));
    v->major = attribute(d, ATTRIBUTE_CC_MAJOR);
    v->minor = attribute(d, ATTRIBUTE_CC_MINOR);
    v->units = attribute(d, ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->description = v->description;
    info->units = v->units;
    info->lanes = attribute(d, ATTRIBUTE_WARP_SIZE);
    info->max_threads_per_block = attribute(d, ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->max_threads_per_unit = attribute(d, ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    info->max_block = cgx_dim(attribute(d, ATTRIBUTE_MAX_BLOCK_DIM_X), attribute(d, ATTRIBUTE_MAX_BLOCK_DIM_X + 1),
                              attribute(d, ATTRIBUTE_MAX_BLOCK_DIM_X + 2));
    info->max_grid = cgx_dim(attribute(d, ATTRIBUTE_MAX_GRID_DIM_X), attribute(d, ATTRIBUTE_MAX_GRID_DIM_X + 1),
                             attribute(d, ATTRIBUTE_MAX_GRID_DIM_X + 2));
    info->shared_bytes_per_block = (size_t)attribute(d, ATTRIBUTE_MAX_SHARED_OPTIN);
    info->shared_bytes_per_unit = (size_t)attribute(d, ATTRIBUTE_MAX_SHARED_PER_MULTIPROCESSOR);
    info->max_cluster_blocks = v->major >= 9 && attribute(d, ATTRIBUTE_CLUSTER_LAUNCH) ? 16 : 1;
    info->max_argument_bytes = 4096;
    info->capabilities = (attribute(d, ATTRIBUTE_COOPERATIVE_LAUNCH) ? CGX_CAN_COOPERATIVE : 0) |
                         (info->max_cluster_blocks > 1 ? CGX_CAN_CLUSTER : 0) |
                         (v->major >= 8 ? CGX_CAN_ASYNC_COPY : 0) | (v->major >= 9 ? CGX_CAN_BULK_COPY : 0);
    info->engine = "native";
    info->async_copy = v->major >= 9 ? "bulk" : v->major >= 8 ? "per thread" : "synchronous";
    return CGX_OK;
}

/* Makes the device's context current; *pushed says whether leave() has to undo it. A program that uses the CUDA runtime
 * has the same context current already. */
static cgx_status enter(int d, int *pushed)
{
    device *v = devices + d;
    CUcontext current = NULL;
    *pushed = 0;
    CHECK(cgx__cuda_alive(d));
    if (!__atomic_load_n(&v->context, __ATOMIC_ACQUIRE)) {
        CUcontext context = NULL;
        pthread_mutex_lock(&lock);
        cgx_status s = CGX_OK;
        if (!v->context && !(s = cgx__cuda_check(d, cgx__cu.DevicePrimaryCtxRetain(&context, v->handle),
                                                 "retaining its primary context")))
            __atomic_store_n(&v->context, context, __ATOMIC_RELEASE);
        pthread_mutex_unlock(&lock);
        CHECK(s);
    }
    if (!cgx__cu.CtxGetCurrent(&current) && current == v->context)
        return CGX_OK;
    CHECK(cgx__cuda_check(d, cgx__cu.CtxPushCurrent(v->context), "making its context current"));
    *pushed = 1;
    return CGX_OK;
}

static cgx_status leave(int pushed, cgx_status status)
{
    CUcontext old;
    if (pushed)
        cgx__cu.CtxPopCurrent(&old);
    return status;
}

/* A driver call inside the device's context. */
#define IN_CONTEXT(d, call, what)                                    \
    do {                                                             \
        int pushed_;                                                 \
        CHECK(enter((d), &pushed_));                                 \
        return leave(pushed_, cgx__cuda_check((d), (call), (what))); \
    } while (0)

/* ---- queues and events ---- */

static cgx_status queue_create(int d, void *native, void **out)
{
    int pushed;
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cuda: not enough memory for a queue");
    q->device = d;
    q->stream = native;
    q->owned = !native;
    cgx_status s = enter(d, &pushed);
    if (!s && q->owned)
        s = cgx__cuda_check(d, cgx__cu.StreamCreate(&q->stream, STREAM_NON_BLOCKING), "creating a stream");
    leave(pushed, s);
    if (s)
        free(q);
    else
        *out = q;
    return s;
}

static void queue_destroy(void *queue_)
{
    queue *q = queue_;
    int pushed;
    if (q->owned && !enter(q->device, &pushed)) {
        cgx__cu.StreamDestroy(q->stream);
        leave(pushed, CGX_OK);
    }
    free(q);
}

static cgx_status queue_wait(void *queue_)
{
    const queue *q = queue_;
    IN_CONTEXT(q->device, cgx__cu.StreamSynchronize(q->stream), "waiting for the queue's work");
}

static cgx_status not_ready_or(int d, CUresult result, const char *what)
{
    return result == CUDA_ERROR_NOT_READY ? CGX_NOT_READY : cgx__cuda_check(d, result, what);
}

static cgx_status queue_query(void *queue_)
{
    const queue *q = queue_;
    int pushed;
    CHECK(enter(q->device, &pushed));
    return leave(pushed, not_ready_or(q->device, cgx__cu.StreamQuery(q->stream), "asking for the queue's work"));
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
    CUevent handle;
} event;

static cgx_status event_create(int d, void **out)
{
    int pushed;
    event *e = calloc(1, sizeof *e);
    if (!e)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cuda: not enough memory for an event");
    e->device = d;
    cgx_status s = enter(d, &pushed);
    if (!s)
        s = leave(pushed, cgx__cuda_check(d, cgx__cu.EventCreate(&e->handle, EVENT_DEFAULT), "creating an event"));
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
        cgx__cu.EventDestroy(e->handle);
        leave(pushed, CGX_OK);
    }
    free(e);
}

static cgx_status enqueue_record(void *event_, void *queue_)
{
    const queue *q = queue_;
    IN_CONTEXT(q->device, cgx__cu.EventRecord(((event *)event_)->handle, q->stream), "recording an event");
}
static cgx_status enqueue_wait(void *queue_, void *event_)
{
    const queue *q = queue_;
    IN_CONTEXT(q->device, cgx__cu.StreamWaitEvent(q->stream, ((event *)event_)->handle, 0), "waiting for an event");
}
static cgx_status event_wait(void *event_)
{
    const event *e = event_;
    IN_CONTEXT(e->device, cgx__cu.EventSynchronize(e->handle), "waiting for an event");
}
static cgx_status event_query(void *event_)
{
    const event *e = event_;
    int pushed;
    CHECK(enter(e->device, &pushed));
    return leave(pushed, not_ready_or(e->device, cgx__cu.EventQuery(e->handle), "asking for an event"));
}
static cgx_status event_elapsed(void *first, void *last, double *seconds)
{
    const event *a = first, *b = last;
    float milliseconds = 0;
    int pushed;
    CHECK(enter(a->device, &pushed));
    cgx_status s = leave(pushed, not_ready_or(a->device, cgx__cu.EventElapsedTime(&milliseconds, a->handle, b->handle),
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
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cuda: not enough memory for the list of allocations");
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
    CUdeviceptr address = 0;
    void *host = NULL;
    int pushed;
    char what[96];
    bytes = bytes ? bytes : 1;
    snprintf(what, sizeof what, "allocating %s bytes", cgx__size(bytes));
    CHECK(enter(d, &pushed));
    CUresult r = kind == CGX_MEM_DEVICE ? cgx__cu.MemAlloc(&address, bytes)
                 : kind == CGX_MEM_SHARED
                     ? cgx__cu.MemAllocManaged(&address, bytes, MEM_ATTACH_GLOBAL)
                     : cgx__cu.MemHostAlloc(&host, bytes, HOST_ALLOC_PORTABLE | HOST_ALLOC_DEVICEMAP);
    CHECK(leave(pushed, cgx__cuda_check(d, r, what)));
    *memory = kind == CGX_MEM_PINNED ? host : (void *)(uintptr_t)address;
    return remember(d, *memory, kind);
}

static cgx_status release(int d, void *memory)
{
    cgx_memory_kind kind;
    if (!forget(d, memory, &kind))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_free: %p was not allocated on cuda:%d, or is freed already", memory,
                         d);
    IN_CONTEXT(d,
               kind == CGX_MEM_PINNED ? cgx__cu.MemFreeHost(memory) : cgx__cu.MemFree((CUdeviceptr)(uintptr_t)memory),
               "freeing memory");
}

static cgx_status enqueue_alloc(void *queue_, size_t bytes, void **memory)
{
    const queue *q = queue_;
    CUdeviceptr address = 0;
    int pushed;
    CHECK(enter(q->device, &pushed));
    CHECK(leave(pushed, cgx__cuda_check(q->device, cgx__cu.MemAllocAsync(&address, bytes ? bytes : 1, q->stream),
                                        "allocating memory")));
    *memory = (void *)(uintptr_t)address;
    return remember(q->device, *memory, CGX_MEM_DEVICE);
}

static cgx_status enqueue_free(void *queue_, void *memory)
{
    const queue *q = queue_;
    cgx_memory_kind kind;
    if (!forget(q->device, memory, &kind))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_free_async: %p was not allocated on cuda:%d, or is freed already",
                         memory, q->device);
    IN_CONTEXT(q->device, cgx__cu.MemFreeAsync((CUdeviceptr)(uintptr_t)memory, q->stream), "freeing memory");
}

/* ---- copies and fills ---- */

static cgx_status enqueue_copy(void *queue_, void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height)
{
    const queue *q = queue_;
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)destination, from = (CUdeviceptr)(uintptr_t)source;
    if (height == 1 || (destination_pitch == width && source_pitch == width))
        IN_CONTEXT(q->device, cgx__cu.MemcpyAsync(to, from, width * height, q->stream), "copying");
    CUDA_MEMCPY2D c = { .srcMemoryType = MEMORY_TYPE_UNIFIED,
                        .srcDevice = from,
                        .srcPitch = source_pitch,
                        .dstMemoryType = MEMORY_TYPE_UNIFIED,
                        .dstDevice = to,
                        .dstPitch = destination_pitch,
                        .WidthInBytes = width,
                        .Height = height };
    IN_CONTEXT(q->device, cgx__cu.Memcpy2DAsync(&c, q->stream), "copying");
}

static cgx_status enqueue_copy_peer(void *queue_, void *destination, const void *source, int source_device,
                                    size_t bytes)
{
    const queue *q = queue_;
    int pushed;
    CHECK(enter(source_device, &pushed)); /* so that its context exists */
    leave(pushed, CGX_OK);
    IN_CONTEXT(q->device,
               cgx__cu.MemcpyPeerAsync((CUdeviceptr)(uintptr_t)destination, devices[q->device].context,
                                       (CUdeviceptr)(uintptr_t)source, devices[source_device].context, bytes,
                                       q->stream),
               "copying between devices");
}

static int can_access(int d, int peer)
{
    int can = 0;
    return !cgx__cu.DeviceCanAccessPeer(&can, devices[d].handle, devices[peer].handle) && can;
}

/* The driver fills 1, 2 and 4 bytes. Longer patterns are written once and doubled by copies. */
static CUresult fill_long(const queue *q, CUdeviceptr to, const void *pattern, size_t pattern_bytes, size_t total)
{
    uint32_t words[4];
    memcpy(words, pattern, pattern_bytes);
    int same = 1;
    for (size_t i = 1; i < pattern_bytes / 4; i++)
        same &= words[i] == words[0];
    if (same)
        return cgx__cu.MemsetD32Async(to, words[0], total / 4, q->stream);
    CUresult r = CUDA_SUCCESS;
    for (size_t i = 0; i < pattern_bytes / 4 && !r; i++)
        r = cgx__cu.MemsetD32Async(to + 4 * i, words[i], 1, q->stream);
    for (size_t have = pattern_bytes; have < total && !r; have *= 2)
        r = cgx__cu.MemcpyAsync(to + have, to, have < total - have ? have : total - have, q->stream);
    return r;
}

static cgx_status enqueue_fill(void *queue_, void *memory, const void *pattern, size_t pattern_bytes, size_t count)
{
    const queue *q = queue_;
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)memory;
    int pushed;
    CUresult r;
    uint16_t two;
    uint32_t four;
    CHECK(enter(q->device, &pushed));
    switch (pattern_bytes) {
    case 1: r = cgx__cu.MemsetD8Async(to, *(const unsigned char *)pattern, count, q->stream); break;
    case 2:
        memcpy(&two, pattern, 2);
        r = cgx__cu.MemsetD16Async(to, two, count, q->stream);
        break;
    case 4:
        memcpy(&four, pattern, 4);
        r = cgx__cu.MemsetD32Async(to, four, count, q->stream);
        break;
    default: r = fill_long(q, to, pattern, pattern_bytes, pattern_bytes * count);
    }
    return leave(pushed, cgx__cuda_check(q->device, r, "filling memory"));
}

/* ---- modules ---- */

static const cgx__image *image_of(const cgx__unit *u)
{
    const cgx__image *table = (const cgx__image *)(u->images + 1);
    for (int i = 0; i < u->images->count; i++)
        if (table[i].kind == CGX__IMAGE_CUDA)
            return table + i;
    return NULL;
}

/* Under the lock, in the device's context. */
static cgx_status load_module(int d, const cgx__unit *u, const char *kernel, module **out)
{
    for (module *m = modules; m; m = m->next)
        if (m->unit == u && m->device == d) {
            *out = m;
            return CGX_OK;
        }
    const cgx__image *image = image_of(u);
    if (!image)
        return cgx__fail(CGX_ERROR_UNSUPPORTED,
                         "%s: its file was built without CUDA images; build it with cgxcc --backends=cpu,cuda", kernel);
    module *m = calloc(1, sizeof *m);
    if (!m)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cuda: not enough memory for a module");
    CUresult r = cgx__cu.ModuleLoadData(&m->handle, (const char *)u->images + image->offset);
    if (r) {
        free(m);
        if (r == CUDA_ERROR_NO_BINARY_FOR_GPU)
            return cgx__fail(CGX_ERROR_UNSUPPORTED,
                             "%s: cuda:%d is sm_%d%d, its file has images for %s; add it to cgxcc --cuda-arch "
                             "(CUDA_ERROR_NO_BINARY_FOR_GPU)",
                             kernel, d, devices[d].major, devices[d].minor, image->target);
        return cgx__cuda_check(d, r, "loading the image");
    }
    m->unit = u;
    m->device = d;
    m->next = modules;
    modules = m;
    *out = m;
    return CGX_OK;
}

/* In the device's context. */
static cgx_status find_function(int d, const cgx_kernel *k, function **out)
{
    module *m = NULL;
    function *f = NULL;
    char symbol[256];
    pthread_mutex_lock(&lock);
    cgx_status s = load_module(d, k->unit, k->name, &m);
    if (!s)
        for (f = m->functions; f && f->kernel != k; f = f->next)
            ;
    if (!s && !f) {
        f = calloc(1, sizeof *f);
        snprintf(symbol, sizeof symbol, "%s__device", k->name);
        s = !f ? cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cuda: not enough memory for a kernel")
               : cgx__cuda_check(d, cgx__cu.ModuleGetFunction(&f->handle, m->handle, symbol), symbol);
        if (s) {
            free(f);
        } else {
            f->kernel = k;
            f->next = m->functions;
            m->functions = f;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!s)
        *out = f;
    return s;
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
            free(f);
        }
        pthread_mutex_unlock(&lock);
        if (!enter(m->device, &pushed)) {
            cgx__cu.ModuleUnload(m->handle);
            leave(pushed, CGX_OK);
        }
        free(m);
        pthread_mutex_lock(&lock);
        at = &modules;
    }
    pthread_mutex_unlock(&lock);
}

static cgx_status kernel_info(int d, const cgx_kernel *k, size_t static_shared, cgx_kernel_info *info)
{
    function *f = NULL;
    int pushed, threads = 0, bytes = 0, binary = 0;
    static _Thread_local char target[16];
    (void)static_shared;
    CHECK(enter(d, &pushed));
    cgx_status s = find_function(d, k, &f);
    if (!s && !(s = cgx__cuda_check(d, cgx__cu.FuncGetAttribute(&threads, FUNCTION_MAX_THREADS, f->handle), k->name)) &&
        !(s = cgx__cuda_check(d, cgx__cu.FuncGetAttribute(&bytes, FUNCTION_SHARED_BYTES, f->handle), k->name)))
        s = cgx__cuda_check(d, cgx__cu.FuncGetAttribute(&binary, FUNCTION_BINARY_VERSION, f->handle), k->name);
    CHECK(leave(pushed, s));
    snprintf(target, sizeof target, "sm_%d", binary);
    info->max_threads = threads < info->max_threads ? threads : info->max_threads;
    info->static_shared_bytes = (size_t)bytes;
    info->engine = "native";
    info->target = target;
    return CGX_OK;
}

/* Lets the kernel have as much dynamic shared memory as this launch asks for; in the device's context. */
static cgx_status allow_shared(int d, function *f, size_t bytes)
{
    if ((int)bytes <= __atomic_load_n(&f->dynamic_shared, __ATOMIC_ACQUIRE) || bytes <= 48 * 1024 - 1024)
        return CGX_OK;
    CHECK(cgx__cuda_check(d, cgx__cu.FuncSetAttribute(f->handle, FUNCTION_MAX_DYNAMIC_SHARED, (int)bytes),
                          f->kernel->name));
    __atomic_store_n(&f->dynamic_shared, (int)bytes, __ATOMIC_RELEASE);
    return CGX_OK;
}

static cgx_status occupancy(int d, const cgx_kernel *k, int threads, size_t shared, int *per_unit, int *cooperative)
{
    function *f = NULL;
    int pushed;
    CHECK(enter(d, &pushed));
    cgx_status s = find_function(d, k, &f);
    if (!s)
        s = allow_shared(d, f, shared);
    if (!s)
        s = cgx__cuda_check(d, cgx__cu.OccupancyMaxActiveBlocks(per_unit, f->handle, threads, shared), k->name);
    CHECK(leave(pushed, s));
    *cooperative = *per_unit * devices[d].units;
    return CGX_OK;
}

static void explain(int d, const cgx_launch_request *r, char *text, size_t bytes)
{
    snprintf(text, bytes, "native on %s%s", devices[d].description,
             r->config->flags & CGX_LAUNCH_COOPERATIVE ? ", cooperative" : "");
}

static cgx_status enqueue_launch(void *queue_, const cgx_launch_request *r)
{
    const queue *q = queue_;
    const cgx_config *c = r->config;
    const cgx_kernel *k = r->kernel;
    const int clustered = c->cluster.x * c->cluster.y * c->cluster.z > 1;
    function *f = NULL;
    int pushed;
    CUlaunchAttribute attributes[2];
    CUlaunchConfig config = { (unsigned)c->grid.x,
                              (unsigned)c->grid.y,
                              (unsigned)c->grid.z,
                              (unsigned)c->block.x,
                              (unsigned)c->block.y,
                              (unsigned)c->block.z,
                              (unsigned)c->dynamic_shared,
                              q->stream,
                              attributes,
                              0 };
    void *parameters[MAX_PARAMETERS + 1];
    for (uint32_t i = 0; i < k->parameter_count; i++)
        parameters[i] = (char *)(uintptr_t)r->arguments + k->parameters[i].offset;
    if (c->flags & CGX_LAUNCH_COOPERATIVE)
        attributes[config.numAttrs++] =
            (CUlaunchAttribute){ .id = LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
    if (clustered)
        attributes[config.numAttrs++] =
            (CUlaunchAttribute){ .id = LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = { (unsigned)c->cluster.x, (unsigned)c->cluster.y,
                                                       (unsigned)c->cluster.z } };
    CHECK(enter(q->device, &pushed));
    cgx_status s = find_function(q->device, k, &f);
    if (!s)
        s = allow_shared(q->device, f, c->dynamic_shared);
    if (!s && c->cluster.x * c->cluster.y * c->cluster.z > 8)
        s = cgx__cuda_check(q->device, cgx__cu.FuncSetAttribute(f->handle, FUNCTION_NON_PORTABLE_CLUSTER, 1), k->name);
    if (!s)
        s = cgx__cuda_check(q->device, cgx__cu.LaunchKernelEx(&config, f->handle, parameters, NULL), k->name);
    return leave(pushed, s);
}

static cgx_status variable_address(int d, cgx_variable v, void **address, size_t *bytes)
{
    module *m = NULL;
    CUdeviceptr at = 0;
    int pushed;
    CHECK(enter(d, &pushed));
    pthread_mutex_lock(&lock);
    cgx_status s = load_module(d, v.unit, v.name, &m);
    pthread_mutex_unlock(&lock);
    if (!s)
        s = cgx__cuda_check(d, cgx__cu.ModuleGetGlobal(&at, bytes, m->handle, v.name), v.name);
    CHECK(leave(pushed, s));
    *address = (void *)(uintptr_t)at;
    return CGX_OK;
}

const cgx_backend cgx_backend_cuda = {
    .name = "cuda",
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
};

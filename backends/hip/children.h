/* SPDX-License-Identifier: MIT */
/* The driver's part of launches by kernels (backends/requests.h): what kernels ask of the host is written into memory of the host's, and
 * the host does it in the queue's stream, behind the launch that asked. Not a header of declarations: a part of host.c.
 *
 * Who launches such a kernel comes back at once. The host sees to what it asked for when something else is put into the queue or the
 * queue is waited for; until then nothing stands behind the launch in the stream. */
#include "../requests.h"

enum { DEFAULT_PENDING = 2048, DEFAULT_HEAP = 8 << 20, BYTES_A_REQUEST = 256, LEAST_BYTES = 1 << 20 };

typedef struct {
    gpu_function handle;
    uint64_t name; /* in device memory */
    uint32_t flags, parameter_count;
    uint32_t offsets[MAX_PARAMETERS + 1];
} child;

/* Of a device, under the lock of modules. */
static struct {
    size_t heap_bytes, pending;
    gpu_address heap;
} family_limits[MAX_DEVICES];

/* Of a queue. */
typedef struct family {
    pthread_mutex_t lock;
    queue *q;
    const module *module; /* whose kernels run */
    request_family requests;
    gpu_address on_device; /* cgx__requests, then its tables */
    gpu_address last_errors;
    cgx__requests *seen; /* in host memory: what the device has of it, after a round */
    char *memory;
    uint64_t room_words;
} family;

static size_t heap_limit(int d)
{
    return family_limits[d].heap_bytes ? family_limits[d].heap_bytes : DEFAULT_HEAP;
}
static size_t pending_limit(int d)
{
    return family_limits[d].pending ? family_limits[d].pending : DEFAULT_PENDING;
}
static cgx_status set_limit(int d, cgx_limit limit, size_t value)
{
    if (limit == CGX_LIMIT_PENDING_LAUNCHES && (value < 1 || value > 1 << 24))
        return cgx__fail(CGX_ERROR_LIMIT, "setting a limit on hip:%d: %s pending launches asked, 1 to %s may be", d,
                         cgx__number((int64_t)value), cgx__number(1 << 24));
    pthread_mutex_lock(&lock);
    *(limit == CGX_LIMIT_HEAP_BYTES ? &family_limits[d].heap_bytes : &family_limits[d].pending) = value;
    pthread_mutex_unlock(&lock);
    return CGX_OK;
}
static cgx_status get_limit(int d, cgx_limit limit, size_t *value)
{
    *value = limit == CGX_LIMIT_HEAP_BYTES ? heap_limit(d) : pending_limit(d);
    return CGX_OK;
}

/* ---- the kernels of a module that kernels launch ---- */

static cgx_status read_device(int d, void *to, uint64_t from, size_t bytes)
{
    int r = copy(to, (gpu_address)(uintptr_t)from, bytes, NULL);
    r = r ? r : driver.StreamSynchronize(NULL);
    return check(d, r, "reading what kernels launch");
}

static cgx_status connect_child(int d, module *m, cgx__child *k, child *c)
{
    enum { LOCAL_BYTES = 3, REGISTERS = 4 };
    char symbol[320];
    int facts[4] = { 0, 0, 0, 0 };
    if (k->name_bytes > sizeof symbol - 16 || k->parameter_count > MAX_PARAMETERS + 1)
        return cgx__fail(CGX_ERROR_LIMIT, "a kernel that is launched by a kernel has a name of %u bytes",
                         k->name_bytes);
    CHECK(read_device(d, symbol, (uint64_t)(uintptr_t)k->name, k->name_bytes));
    CHECK(read_device(d, c->offsets, (uint64_t)(uintptr_t)k->offsets, k->parameter_count * sizeof c->offsets[0]));
    memcpy(symbol + k->name_bytes - 1, "__device", sizeof "__device");
    int r = driver.ModuleGetFunction(&c->handle, m->handle, symbol);
    r = r ? r : driver.FuncGetAttribute(facts, FUNCTION_MAX_THREADS, c->handle);
    r = r ? r : driver.FuncGetAttribute(facts + 1, FUNCTION_SHARED_BYTES, c->handle);
    r = r ? r : driver.FuncGetAttribute(facts + 2, LOCAL_BYTES, c->handle);
    r = r ? r : driver.FuncGetAttribute(facts + 3, REGISTERS, c->handle);
    c->name = (uint64_t)(uintptr_t)k->name;
    c->flags = k->flags;
    c->parameter_count = k->parameter_count;
    k->fits_threads = (uint32_t)facts[0];
    k->static_shared = (uint32_t)facts[1];
    k->local_bytes = (uint32_t)facts[2];
    k->registers = (uint32_t)facts[3];
    for (int i = 0; i < CGX__OCCUPANCIES && !r && 32 * (i + 1) <= facts[0]; i++) {
        int blocks = 0;
        r = driver.OccupancyMaxActiveBlocks(&blocks, c->handle, 32 * (i + 1), 0);
        k->occupancy[i] = (uint16_t)blocks;
    }
    return check(d, r, symbol);
}

/* In the device's context, under the lock. An image whose kernels launch has the table. */
static cgx_status connect_children(module *m)
{
    const int d = m->device;
    gpu_address variable;
    size_t bytes;
    uint64_t ends[2];
    if (driver.ModuleGetGlobal(&variable, &bytes, m->handle, "cgx__image_children"))
        return CGX_OK;
    CHECK(read_device(d, ends, (uint64_t)(uintptr_t)variable, sizeof ends));
    const size_t count = (size_t)(ends[1] - ends[0]) / sizeof(cgx__child);
    cgx__child *table = calloc(count + 1, sizeof *table);
    child *children_ = calloc(count + 1, sizeof *children_);
    cgx_status s =
        table && children_ ? CGX_OK : cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "hip: not enough memory for kernels");
    if (!s && count)
        s = read_device(d, table, ends[0], count * sizeof *table);
    for (size_t i = 0; i < count && !s; i++)
        s = connect_child(d, m, table + i, children_ + i);
    if (!s && count) {
        int r = copy((gpu_address)(uintptr_t)ends[0], table, count * sizeof *table, NULL);
        r = r ? r : driver.StreamSynchronize(NULL);
        s = check(d, r, "setting up what kernels launch");
    }
    free(table);
    if (s)
        free(children_);
    else
        m->children = children_;
    return s;
}

/* ---- what the family needs of the device ---- */

static int asks(void *context, uint32_t kernel)
{
    const family *f = context;
    return !!(((const child *)f->module->children)[kernel].flags & CGX_KERNEL_LAUNCHES);
}

static cgx_status begin_round(void *context, uint32_t room)
{
    family *f = context;
    const gpu_stream stream = f->q->stream;
    int r = driver.MemsetD32Async(f->on_device, 0, offsetof(cgx__requests, room) / 4, stream);
    r = r ? r : driver.MemsetD32Async(offset(f->on_device, offsetof(cgx__requests, room)), room, 1, stream);
    if (!r && f->seen->errors)
        r = driver.MemsetD32Async(f->last_errors, 0, CGX__LAST_ERRORS * sizeof(cgx__last_error) / 4, stream);
    return check(f->q->device, r, "setting up what kernels launch");
}

static cgx_status finish_round(void *context, char **memory, uint64_t *words)
{
    family *f = context;
    int r = copy(f->seen, f->on_device, offsetof(cgx__requests, pad), f->q->stream);
    r = r ? r : driver.StreamSynchronize(f->q->stream);
    CHECK(check(f->q->device, r, "waiting for kernels that launch kernels"));
    *memory = f->memory;
    *words = f->seen->words < f->room_words ? f->seen->words : f->room_words;
    return CGX_OK;
}

static cgx_status launch_child(void *context, const cgx__request *r, void *arguments, uint32_t grid)
{
    const family *f = context;
    const child *c = (const child *)f->module->children + r->of.launch.kernel;
    const cgx_dim3 *g = &r->of.launch.grid, *b = &r->of.launch.block;
    void *parameters[MAX_PARAMETERS + 1];
    cgx__thread thread = { .record = (uint64_t)(uintptr_t)f->q->state.record | (uint64_t)CGX__IS_CHILD,
                           .kernel = c->name,
                           .grid = grid };
    for (uint32_t i = 0; i < c->parameter_count; i++)
        parameters[i] = (char *)arguments + c->offsets[i];
    parameters[c->parameter_count - 1] = &thread;
    return check(f->q->device,
                 driver.LaunchKernel(c->handle, (unsigned)g->x, (unsigned)g->y, (unsigned)g->z, (unsigned)b->x,
                                     (unsigned)b->y, (unsigned)b->z, r->of.launch.dynamic_shared, f->q->stream,
                                     parameters, NULL),
                 "a launch by a kernel");
}

static cgx_status transfer(void *context, const cgx__request *r)
{
    const family *f = context;
    const gpu_stream stream = f->q->stream;
    const size_t width = r->of.transfer.width, height = r->of.transfer.height, depth = r->of.transfer.depth;
    const size_t to_pitch = r->of.transfer.to_pitch, from_pitch = r->of.transfer.from_pitch;
    const size_t to_rows = r->of.transfer.to_rows, from_rows = r->of.transfer.from_rows;
    int result = GPU_SUCCESS;
    for (size_t z = 0; z < depth && !result; z++) {
        const gpu_address to = (gpu_address)(uintptr_t)(r->of.transfer.to + z * to_rows * to_pitch);
        const gpu_address from = (gpu_address)(uintptr_t)(r->of.transfer.from + z * from_rows * from_pitch);
        if (r->kind == CGX__ASK_COPY)
            result = height == 1 || (to_pitch == width && from_pitch == width)
                         ? copy(to, from, width * height, stream)
                         : copy_2d(to, to_pitch, from, from_pitch, width, height, stream);
        else if (height == 1 || to_pitch == width)
            result = driver.MemsetD8Async(to, (unsigned char)r->of.transfer.value, width * height, stream);
        else
            for (size_t y = 0; y < height && !result; y++)
                result =
                    driver.MemsetD8Async(offset(to, y * to_pitch), (unsigned char)r->of.transfer.value, width, stream);
    }
    return check(f->q->device, result, "a copy or a fill by a kernel");
}

/* ---- a queue's family ---- */

/* The device's heap: one free block. Under the lock. */
static cgx_status make_heap(int d, gpu_stream stream)
{
    struct {
        cgx__heap heap;
        cgx__heap_head first;
    } begin = { .heap = { .bytes = heap_limit(d) / 16 * 16 } };
    if (family_limits[d].heap)
        return CGX_OK;
    begin.heap.bytes = begin.heap.bytes < sizeof begin.first ? sizeof begin.first : begin.heap.bytes;
    begin.first.size = begin.heap.bytes;
    gpu_address heap = 0;
    CHECK(check(d, driver.MemAlloc(&heap, sizeof begin.heap + begin.heap.bytes), "allocating the kernels' heap"));
    int r = copy(heap, &begin, sizeof begin, stream);
    r = r ? r : driver.StreamSynchronize(stream);
    if (r) {
        driver.MemFree(heap);
        return check(d, r, "setting up the kernels' heap");
    }
    family_limits[d].heap = heap;
    return CGX_OK;
}

static cgx_status fill_attributes(int32_t *attributes)
{
    for (int d = 0; d < device_count; d++) {
        cgx_device_info info = CGX_DEVICE_INFO_INIT;
        CHECK(device_info(d, &info));
#define VALUE(symbol, member, cuda) \
    attributes[(int)CGX__ATTRIBUTE_COUNT * d + CGX_ATTRIBUTE_##symbol] = (int)info.member;
        CGX_FOREACH_ATTRIBUTE(VALUE)
#undef VALUE
    }
    return CGX_OK;
}

/* What the device knows: the struct and its tables in one allocation. */
static cgx_status make_requests(family *f)
{
    enum { OWNERS = sizeof(cgx__requests), OWNERS_BYTES = CGX__HANDLES * 4, ERRORS = OWNERS + OWNERS_BYTES };
    enum { ERRORS_BYTES = CGX__LAST_ERRORS * sizeof(cgx__last_error), ATTRIBUTES = ERRORS + ERRORS_BYTES };
    const int d = f->q->device;
    const size_t attribute_bytes = (size_t)device_count * CGX__ATTRIBUTE_COUNT * 4;
    const uint64_t bytes = (uint64_t)pending_limit(d) * BYTES_A_REQUEST + LEAST_BYTES;
    void *host = NULL;
    CHECK(make_heap(d, f->q->stream));
    CHECK(check(d,
                driver.MemHostAlloc(&host, sizeof *f->seen + attribute_bytes + bytes,
                                    HOST_ALLOC_PORTABLE | HOST_ALLOC_DEVICEMAP),
                "allocating memory for what kernels launch"));
    f->seen = host;
    f->memory = (char *)host + (sizeof *f->seen + attribute_bytes + 15) / 16 * 16;
    f->room_words = (bytes - 16) / 8;
    memset(host, 0, sizeof *f->seen + attribute_bytes + bytes);
    CHECK(check(d, driver.MemAlloc(&f->on_device, ATTRIBUTES + attribute_bytes),
                "allocating memory for what kernels launch"));
    f->last_errors = offset(f->on_device, ERRORS);
    cgx__requests *q = f->seen;
    q->room_words = f->room_words;
    q->memory = f->memory;
    q->owners = (uint32_t *)(uintptr_t)offset(f->on_device, OWNERS);
    q->last_errors = (cgx__last_error *)(uintptr_t)f->last_errors;
    q->heap = (cgx__heap *)(uintptr_t)family_limits[d].heap;
    q->attributes = (int32_t *)(uintptr_t)offset(f->on_device, ATTRIBUTES);
    q->heap_limit = heap_limit(d);
    q->pending_limit = pending_limit(d);
    q->device = d;
    q->devices = device_count;
    q->version = 1000 * CGX_VERSION_MAJOR + 10 * CGX_VERSION_MINOR;
    CHECK(fill_attributes((int32_t *)(void *)(q + 1)));
    int r = driver.MemsetD32Async(f->on_device, 0, ATTRIBUTES / 4, f->q->stream);
    r = r ? r : copy(f->on_device, q, sizeof *q, f->q->stream);
    r = r ? r : copy(offset(f->on_device, ATTRIBUTES), q + 1, attribute_bytes, f->q->stream);
    r = r ? r : driver.StreamSynchronize(f->q->stream);
    CHECK(check(d, r, "setting up what kernels launch"));
    return set_pointer(d, offset(f->q->state.record, offsetof(cgx__launch_record, requests)),
                       (const void *)(uintptr_t)f->on_device, f->q->stream, "setting up what kernels launch");
}

static void free_family(family *f)
{
    if (f->on_device)
        driver.MemFree(f->on_device);
    if (f->seen)
        driver.MemFreeHost(f->seen);
    cgx__requests_destroy(&f->requests);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

/* In the device's context. */
static cgx_status make_family(queue *q)
{
    family *f = calloc(1, sizeof *f);
    if (!f)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "hip: not enough memory for what kernels launch");
    const request_operations operations = { f, begin_round, finish_round, asks, launch_child, transfer };
    f->q = q;
    pthread_mutex_init(&f->lock, NULL);
    cgx__requests_make(&f->requests, &operations, pending_limit(q->device));
    const cgx_status s = make_requests(f);
    if (s)
        free_family(f);
    else
        __atomic_store_n(&q->family, f, __ATOMIC_RELEASE);
    return s;
}

/* In the device's context: a launch of the host's, of a kernel that launches, is about to be put into the queue. Locks the family until
 * end_of_begin(). */
static cgx_status begin_family(queue *q, const function *f, cgx__thread *thread)
{
    cgx_status s = CGX_OK;
    if (!__atomic_load_n(&q->family, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&lock);
        s = q->family ? CGX_OK : make_family(q);
        pthread_mutex_unlock(&lock);
    }
    CHECK(s);
    family *of = q->family;
    pthread_mutex_lock(&of->lock);
    while (!s && of->requests.running) /* another thread was faster */
        s = cgx__requests_round(&of->requests);
    of->module = f->module;
    if (!s)
        s = cgx__requests_begin(&of->requests, &thread->grid);
    if (s)
        pthread_mutex_unlock(&of->lock);
    return s;
}
/* It was put there, or with an error was not. */
static void begun_family(queue *q, cgx_status s)
{
    family *of = q->family;
    if (s) {
        of->requests.running = 0;
        cgx__order_reset(&of->requests.order);
    }
    pthread_mutex_unlock(&of->lock);
}

/* Sees to what kernels of the queue have asked for: all of it, or as much as can be done without waiting, and then
 * CGX_NOT_READY if that is not all. */
static cgx_status settle_until(queue *q, int all)
{
    family *f = __atomic_load_n(&q->family, __ATOMIC_ACQUIRE);
    cgx_status s = CGX_OK;
    int pushed;
    if (!f || !__atomic_load_n(&f->requests.running, __ATOMIC_ACQUIRE))
        return CGX_OK;
    CHECK(enter(q->device, &pushed));
    if (all)
        pthread_mutex_lock(&f->lock);
    else if (pthread_mutex_trylock(&f->lock))
        return leave(pushed, CGX_NOT_READY);
    while (!s && f->requests.running) {
        if (!all)
            s = not_ready_or(q->device, driver.StreamQuery(q->stream), "asking for the queue's work");
        s = s ? s : cgx__requests_round(&f->requests);
    }
    pthread_mutex_unlock(&f->lock);
    return leave(pushed, s);
}
/* Before something else is put into the queue. */
static cgx_status settle(queue *q)
{
    return settle_until(q, 1);
}
static cgx_status settle_some(queue *q)
{
    return settle_until(q, 0);
}

/* What could not be launched, once. */
static cgx_status take_failure(queue *q)
{
    family *f = q->family;
    if (!f || !f->requests.status)
        return CGX_OK;
    const cgx_status s = f->requests.status;
    f->requests.status = CGX_OK;
    return cgx__fail(s, "%s", f->requests.text);
}

static void destroy_family(queue *q)
{
    if (q->family)
        free_family(q->family);
}

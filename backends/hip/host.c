/* SPDX-License-Identifier: MIT */
/* HIP's part of the host side: the current device, a code object for each processor, cooperative launches. */
#include "driver.h"
#include "../gpu/host.h"

/* What not every release has. */
static int (*launch_cooperative)(gpu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 gpu_stream, void **); /* from ROCm 5.5 on */
static int (*get_properties)(void *, int);
static size_t properties_arch; /* offset of gcnArchName in what it fills */

static cgx_status check_version(char *reason, size_t bytes)
{
    void *address = dlsym(library, "hipModuleLaunchCooperativeKernel");
    memcpy(&launch_cooperative, &address, sizeof address);
    properties_arch = PROPERTIES_ARCH_R0600;
    if (!(address = dlsym(library, "hipGetDevicePropertiesR0600"))) {
        address = dlsym(library, "hipGetDeviceProperties");
        properties_arch = PROPERTIES_ARCH;
    }
    if (!address) {
        snprintf(reason, bytes, "the driver has no hipGetDeviceProperties");
        return CGX_ERROR_DRIVER;
    }
    memcpy(&get_properties, &address, sizeof address);
    return CGX_OK;
}

static const char *error_name(int result)
{
    return driver.GetErrorName(result);
}

static int starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static void describe(int d, cgx_device_info *info)
{
    device *v = devices + d;
    char properties[2 * PROPERTIES_BYTES] = { 0 }; /* room for what later releases append */
    if (!get_properties(properties, d))
        snprintf(v->target, sizeof v->target, "%.*s", (int)sizeof v->target - 1, properties + properties_arch);
    const int lds_dma = starts_with(v->target, "gfx9") || starts_with(v->target, "gfx10");
    info->shared_bytes_per_block = (size_t)attribute(d, ATTRIBUTE_MAX_SHARED_PER_BLOCK);
    info->max_cluster_blocks = 1;
    info->capabilities = grid_capabilities(launch_cooperative && attribute(d, ATTRIBUTE_COOPERATIVE_LAUNCH)) |
                         (lds_dma ? CGX_CAN_ASYNC_COPY : 0) | CGX_CAN_DEVICE_LAUNCH;
    info->async_copy = lds_dma ? "per thread" : "synchronous";
}

/* HIP has a current device for each thread, and the driver's contexts are its own business. */
static cgx_status enter(int d, int *pushed)
{
    int current = -1;
    *pushed = 0;
    CHECK(alive(d));
    CHECK(check(d, driver.GetDevice(&current), "asking for the current device"));
    if (current == d)
        return CGX_OK;
    CHECK(check(d, driver.SetDevice(d), "making it the current device"));
    *pushed = current + 1;
    return CGX_OK;
}

static cgx_status leave(int pushed, cgx_status status)
{
    if (pushed)
        driver.SetDevice(pushed - 1);
    return status;
}

static int copy(gpu_address to, gpu_address from, size_t bytes, gpu_stream stream)
{
    return driver.MemcpyAsync(to, from, bytes, MEMCPY_DEFAULT, stream);
}

static int copy_2d(gpu_address to, size_t to_pitch, gpu_address from, size_t from_pitch, size_t width, size_t height,
                   gpu_stream stream)
{
    return driver.Memcpy2DAsync(to, to_pitch, from, from_pitch, width, height, MEMCPY_DEFAULT, stream);
}

static int copy_peer(int to_device, gpu_address to, int from_device, gpu_address from, size_t bytes, gpu_stream stream)
{
    return driver.MemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
}

/* "gfx942" and "gfx942:xnack-" serve a "gfx942:sramecc+:xnack-", "gfx942:xnack+" does not: the processors are equal, and
 * so is each feature that the image names (Clang Offload Bundler, "Target ID"). */
static int serves(const char *image, const char *target)
{
    size_t processor = strcspn(image, ":");
    if (strncmp(image, target, processor) || (target[processor] && target[processor] != ':'))
        return 0;
    for (const char *feature = image + processor; *feature; feature += 1 + strcspn(feature + 1, ":")) {
        const size_t length = 1 + strcspn(feature + 1, ":");
        const char *at = target;
        while (at && strncmp(at, feature, length))
            at = strchr(at + 1, ':');
        if (!at)
            return 0;
    }
    return 1;
}

/* The one that says most. */
static const cgx__image *image_for(int d, const cgx__images *images)
{
    const cgx__image *table = (const cgx__image *)(images + 1), *best = NULL;
    for (int i = 0; i < images->count; i++)
        if (table[i].kind == GPU_IMAGE && serves(table[i].target, devices[d].target) &&
            (!best || strlen(table[i].target) > strlen(best->target)))
            best = table + i;
    return best;
}

static cgx_status kernel_target(int d, const function *f, char *target, size_t bytes)
{
    (void)d;
    snprintf(target, bytes, "%s", f->image->target);
    return CGX_OK;
}

/* All of it without asking. */
static cgx_status allow_shared(int d, function *f, size_t bytes)
{
    (void)d, (void)f, (void)bytes;
    return CGX_OK;
}

/* Streams of HIP know their device themselves. */
static cgx_status check_stream(int d, gpu_stream stream)
{
    (void)d, (void)stream;
    return CGX_OK;
}

/* Not among the functions without which the driver is too old: programs with one GPU do without. */
static int enable_peer(int d, int peer)
{
    enum { ALREADY_ENABLED = 704 };
    int (*enable)(int, unsigned);
    void *address = dlsym(library, "hipDeviceEnablePeerAccess");
    (void)d; /* the current one */
    if (!address)
        return 0;
    memcpy(&enable, &address, sizeof address);
    const int r = enable(peer, 0);
    return r == GPU_SUCCESS || r == ALREADY_ENABLED;
}

#include "children.h"

/* ---- what kernels print ---- */

static struct {
    cgx__print_ring *ring;
    pthread_mutex_t lock; /* of who takes from it */
} prints[MAX_DEVICES];

/* An image that prints has the variable. */
static cgx_status connect_prints(int d, gpu_module loaded)
{
    void *ring = prints[d].ring;
    gpu_address variable;
    size_t bytes;
    if (driver.ModuleGetGlobal(&variable, &bytes, loaded, "cgx__image_print_ring"))
        return CGX_OK;
    if (!ring) {
        CHECK(check(d, driver.MemHostAlloc(&ring, sizeof(cgx__print_ring), HOST_ALLOC_PORTABLE | HOST_ALLOC_DEVICEMAP),
                    "allocating memory for what kernels print"));
        memset(ring, 0, sizeof(cgx__print_ring));
        pthread_mutex_init(&prints[d].lock, NULL);
        __atomic_store_n(&prints[d].ring, ring, __ATOMIC_RELEASE);
    }
    CHECK(set_pointer(d, variable, ring, NULL, "setting up what kernels print"));
    return check(d, driver.StreamSynchronize(NULL), "setting up what kernels print");
}

static cgx_status connect(module *m)
{
    CHECK(connect_prints(m->device, m->handle));
    return connect_children(m);
}

/* The next value of a message; a string is the caller's to free. */
typedef struct {
    uint64_t kind, word;
    char *text;
} printed;
static printed next_value(const cgx__print_ring *ring, uint64_t *at, uint64_t end)
{
    printed v = { CGX__PRINTED_INTEGER, 0, NULL };
    if (*at >= end)
        return v;
    const uint64_t head = ring->words[(*at)++ % CGX__RING_WORDS], bytes = head >> 8;
    v.kind = head & 255;
    if (v.kind != CGX__PRINTED_STRING) {
        v.word = ring->words[(*at)++ % CGX__RING_WORDS];
        return v;
    }
    v.text = calloc(1, bytes + 8);
    for (uint64_t i = 0; i < bytes; i += 8, (*at)++)
        if (v.text)
            memcpy(v.text + i, &ring->words[*at % CGX__RING_WORDS], 8);
    if (v.text)
        v.text[bytes] = 0;
    return v;
}

/* One conversion of a format, from its % to its letter, with the values it takes. */
static const char *print_conversion(const char *at, const cgx__print_ring *ring, uint64_t *value, uint64_t end)
{
    char spec[64] = "%";
    size_t n = 1;
    for (at++; *at && strchr("-+ #0123456789.*hlLqjzt", *at); at++)
        if (*at == '*')
            n += (size_t)snprintf(spec + n, n < 40 ? sizeof spec - n : 0, "%d", (int)next_value(ring, value, end).word);
        else if (strchr("-+ #0123456789.", *at) && n < 40)
            spec[n++] = *at;
    if (*at == '%' || !*at) {
        putchar('%');
        return *at ? at + 1 : at;
    }
    printed v = next_value(ring, value, end);
    double number;
    memcpy(&number, &v.word, sizeof number);
    if (strchr("diouxX", *at)) {
        /* A 32-bit value came with its sign extended; unsigned conversions of int want it without. */
        const int wide = at[-1] == 'l' || at[-1] == 'j' || at[-1] == 'z' || at[-1] == 't' || at[-1] == 'q';
        snprintf(spec + n, sizeof spec - n, "ll%c", *at);
        printf(spec, !wide && strchr("ouxX", *at) ? (long long)(uint32_t)v.word : (long long)v.word);
    } else {
        snprintf(spec + n, sizeof spec - n, "%c", *at);
        if (*at == 'c')
            printf(spec, (int)v.word);
        else if (*at == 's')
            printf(spec, v.text ? v.text : "(null)");
        else if (*at == 'p')
            printf(spec, (void *)(uintptr_t)v.word);
        else if (strchr("aAeEfFgG", *at))
            printf(spec, number);
    }
    free(v.text);
    return at + 1;
}

static cgx_status print_message(int d, const cgx__print_ring *ring, uint64_t at, uint64_t end, uint64_t kind)
{
    printed text = next_value(ring, &at, end);
    cgx_status s = CGX_OK;
    if (kind == CGX__PRINT_ASSERTION) {
        printed file = next_value(ring, &at, end), function = next_value(ring, &at, end);
        printed line = next_value(ring, &at, end);
        s = cgx__fail(CGX_ERROR_FAULT, GPU_NAME ":%d: an assertion in a kernel failed: %s (%s:%d, %s)", d,
                      text.text ? text.text : "?", file.text ? file.text : "?", (int)line.word,
                      function.text ? function.text : "?");
        free(file.text);
        free(function.text);
    } else if (text.text) {
        for (const char *c = text.text; *c;)
            if (*c == '%')
                c = print_conversion(c, ring, &at, end);
            else
                putchar(*c++);
    }
    free(text.text);
    return s;
}

/* Up to the first message that is not complete: another queue's kernels may still write it. */
static cgx_status take_prints(int d)
{
    cgx__print_ring *ring = __atomic_load_n(&prints[d].ring, __ATOMIC_ACQUIRE);
    cgx_status s = CGX_OK;
    if (!ring || __atomic_load_n(&ring->reserved, __ATOMIC_ACQUIRE) == __atomic_load_n(&ring->taken, __ATOMIC_RELAXED))
        return CGX_OK;
    pthread_mutex_lock(&prints[d].lock);
    for (uint64_t at = ring->taken; at < __atomic_load_n(&ring->reserved, __ATOMIC_ACQUIRE);) {
        const uint64_t head = __atomic_load_n(&ring->words[at % CGX__RING_WORDS], __ATOMIC_ACQUIRE);
        if (!(head >> 63))
            break;
        const uint64_t end = at + (uint32_t)head;
        cgx_status its = print_message(d, ring, at + 1, end, head >> 32 & 255);
        s = s ? s : its;
        for (; at < end; at++)
            ring->words[at % CGX__RING_WORDS] = 0;
        __atomic_store_n(&ring->taken, at, __ATOMIC_RELEASE);
    }
    const uint64_t lost = __atomic_exchange_n(&ring->lost, 0, __ATOMIC_RELAXED);
    if (lost)
        printf("[cgx: %s messages of kernels found no room]\n", cgx__number((int64_t)lost));
    pthread_mutex_unlock(&prints[d].lock);
    return s;
}

static cgx_status launch(const queue *q, function *f, const cgx_launch_request *r, size_t dynamic, void **parameters)
{
    const cgx_config *c = r->config;
    const unsigned gx = (unsigned)c->grid.x, gy = (unsigned)c->grid.y, gz = (unsigned)c->grid.z;
    const unsigned bx = (unsigned)c->block.x, by = (unsigned)c->block.y, bz = (unsigned)c->block.z;
    const unsigned shared = (unsigned)dynamic;
    const int64_t threads = (int64_t)gx * bx;
    /* The packet that starts a grid counts threads, in 32 bits (HSA, kernel dispatch packet). */
    if (threads > UINT32_MAX)
        return cgx__fail(CGX_ERROR_LIMIT,
                         "%s: %s threads in x asked, " GPU_NAME ":%d takes %s in one dimension; %s blocks would fit",
                         f->kernel->name, cgx__number(threads), q->device, cgx__number(UINT32_MAX),
                         cgx__number(UINT32_MAX / bx));
    return check(q->device,
                 is_cooperative(c)
                     ? launch_cooperative(f->handle, gx, gy, gz, bx, by, bz, shared, q->stream, parameters)
                     : driver.LaunchKernel(f->handle, gx, gy, gz, bx, by, bz, shared, q->stream, parameters, NULL),
                 f->kernel->name);
}

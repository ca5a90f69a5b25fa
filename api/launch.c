/* SPDX-License-Identifier: MIT */
/* Launches: every limit is checked here, with a text that says what was asked, what the device takes and what would fit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static int is_within(cgx_dim3 asked, cgx_dim3 limit)
{
    return asked.x > 0 && asked.x <= limit.x && asked.y > 0 && asked.y <= limit.y && asked.z > 0 && asked.z <= limit.z;
}

/* What is wrong with a shape, if anything is. */
static __attribute__((noinline)) cgx_status explain_shape(const cgx_device_info *d, const cgx_kernel *k,
                                                          const cgx_config *c)
{
    const struct {
        const char *what;
        cgx_dim3 asked, limit;
    } sizes[] = { { "grid", c->grid, d->max_grid }, { "block", c->block, d->max_block } };
    int asked[2][3], limit[2][3];
    for (int i = 0; i < 2; i++) {
        memcpy(asked[i], &sizes[i].asked, sizeof asked[i]);
        memcpy(limit[i], &sizes[i].limit, sizeof limit[i]);
        for (int axis = 0; axis < 3; axis++)
            if (asked[i][axis] <= 0)
                return cgx__fail(CGX_ERROR_INVALID, "%s: %s size %s in %c; at least 1 is needed", k->name,
                                 sizes[i].what, cgx__number(asked[i][axis]), "xyz"[axis]);
    }
    /* Before the single sizes: a row of too many threads is too many threads first. */
    int64_t threads;
    if (__builtin_mul_overflow((int64_t)c->block.x * c->block.y, c->block.z, &threads))
        threads = INT64_MAX;
    if (threads > d->max_threads_per_block)
        return cgx__fail(CGX_ERROR_LIMIT, "%s: %s threads a block asked, %s takes %s; %s would fit", k->name,
                         cgx__number(threads), d->name, cgx__number(d->max_threads_per_block),
                         cgx__number(d->max_threads_per_block));
    for (int i = 0; i < 2; i++)
        for (int axis = 0; axis < 3; axis++)
            if (asked[i][axis] > limit[i][axis])
                return cgx__fail(CGX_ERROR_LIMIT, "%s: %s size %s in %c asked, %s takes %s; %s would fit", k->name,
                                 sizes[i].what, cgx__number(asked[i][axis]), "xyz"[axis], d -> name,
                                 cgx__number(limit[i][axis]), cgx__number(limit[i][axis]));
    if (k->flags & CGX_KERNEL_FIXED_BLOCK) {
        if (c->block.x != k->block.x || c->block.y != k->block.y || c->block.z != k->block.z)
            return cgx__fail(CGX_ERROR_LIMIT,
                             "%s: block of %d x %d x %d asked, the kernel is declared for %d x %d x %d", k->name,
                             c->block.x, c->block.y, c->block.z, k->block.x, k->block.y, k->block.z);
    } else if (k->max_threads && threads > k->max_threads) {
        return cgx__fail(CGX_ERROR_LIMIT,
                         "%s: %s threads a block asked, the kernel is declared for at most %s; %s would fit", k->name,
                         cgx__number(threads), cgx__number(k->max_threads), cgx__number(k->max_threads));
    }
    return CGX_OK;
}

/* A launch has no time for texts: 5 % of a cuLaunchKernel are 150 ns. */
static cgx_status check_shape(const cgx_device_info *d, const cgx_kernel *k, const cgx_config *c)
{
    const cgx_dim3 *b = &c->block;
    const int64_t row = (int64_t)b->x * b->y;
    if (is_within(c->grid, d->max_grid) && is_within(*b, d->max_block) && row <= d->max_threads_per_block) {
        const int64_t threads = row * b->z;
        const int as_declared = k->flags & CGX_KERNEL_FIXED_BLOCK
                                    ? b->x == k->block.x && b->y == k->block.y && b->z == k->block.z
                                    : !k->max_threads || threads <= k->max_threads;
        if (threads <= d->max_threads_per_block && as_declared)
            return CGX_OK;
    }
    return explain_shape(d, k, c);
}

static cgx_status check_shared(const cgx_device_info *d, const cgx_kernel *k, size_t fixed, size_t dynamic)
{
    size_t limit = d->shared_bytes_per_block;
    if (fixed > limit)
        return cgx__fail(CGX_ERROR_LIMIT, "%s: the kernel declares %s bytes of shared memory, %s takes %s a block",
                         k->name, cgx__size(fixed), d->name, cgx__size(limit));
    size_t at = (fixed + 127) & ~(size_t)127, room = at < limit ? limit - at : 0;
    if (dynamic > room)
        return cgx__fail(CGX_ERROR_LIMIT,
                         "%s: %s bytes of dynamic shared memory asked beside %s static ones, %s takes %s a block; "
                         "%s would fit",
                         k->name, cgx__size(dynamic), cgx__size(fixed), d->name, cgx__size(limit), cgx__size(room));
    return CGX_OK;
}

static cgx_status check_cluster(const cgx_device_info *d, const cgx_kernel *k, cgx_config *c)
{
    cgx_dim3 *s = &c->cluster;
    if (!s->x && !s->y && !s->z) {
        *s = cgx_dim(1, 1, 1);
        return CGX_OK;
    }
    if (s->x <= 0 || s->y <= 0 || s->z <= 0)
        return cgx__fail(CGX_ERROR_INVALID,
                         "%s: cluster of %d x %d x %d blocks; sizes are positive, or all zero for none", k->name, s->x,
                         s->y, s->z);
    int64_t blocks = (int64_t)s->x * s->y * s->z;
    if (blocks > d->max_cluster_blocks)
        return cgx__fail(CGX_ERROR_LIMIT, "%s: clusters of %s blocks asked, %s takes %d; %d would fit", k->name,
                         cgx__number(blocks), d->name, d->max_cluster_blocks, d->max_cluster_blocks);
    if (c->grid.x % s->x || c->grid.y % s->y || c->grid.z % s->z)
        return cgx__fail(CGX_ERROR_INVALID, "%s: the grid is no multiple of the cluster", k->name);
    return CGX_OK;
}

static cgx_status check_cooperative(const cgx_device *device, const cgx_kernel *k, cgx_config *c,
                                    const cgx_shared_use *shared)
{
    const cgx_device_info *d = &device->info;
    if (!(c->flags & CGX_LAUNCH_COOPERATIVE)) {
        if (k->flags & CGX_KERNEL_IS_COOPERATIVE)
            return cgx__fail(CGX_ERROR_UNSUPPORTED,
                             "%s synchronises its grid and needs a cooperative launch: wrap the "
                             "configuration in cgx_cooperative()",
                             k->name);
        return CGX_OK;
    }
    if (d->capabilities & CGX_CAN_COOPERATIVE)
        c->flags &= ~(uint32_t)CGX_LAUNCH_SOFTWARE_GRID; /* the driver's promise is the better one */
    else if (!(d->capabilities & CGX_CAN_SOFTWARE_GRID))
        return cgx__fail(CGX_ERROR_UNSUPPORTED, "%s: %s has no cooperative launch", k->name, d->name);
    else if (!(c->flags & CGX_LAUNCH_SOFTWARE_GRID))
        return cgx__fail(CGX_ERROR_UNSUPPORTED,
                         "%s: %s has no cooperative launch; cgx_cooperative_or_software() asks for the library's own "
                         "grid barrier, if nothing else runs on the device",
                         k->name, d->name);
    int per_unit = 0, fit = 0, threads = c->block.x * c->block.y * c->block.z;
    cgx_status s = device->backend->occupancy(device->index, k, threads, shared, &per_unit, &fit);
    if (s)
        return s;
    int64_t blocks = (int64_t)c->grid.x * c->grid.y * c->grid.z;
    if (blocks > fit)
        return cgx__fail(CGX_ERROR_LIMIT,
                         "%s: %s cooperative blocks of %s threads asked, %s takes %s at once; %s would fit", k->name,
                         cgx__number(blocks), cgx__number(threads), d->name, cgx__number(fit), cgx__number(fit));
    return CGX_OK;
}

/* CGX_EXPLAIN=1: a line on stderr at the first launch of each kernel. */
static int explanations_wanted = -1; /* not asked yet */
static __attribute__((noinline)) void explain(const cgx_device *device, const cgx_launch_request *r,
                                              kernel_record *record)
{
    int asked = __atomic_load_n(&explanations_wanted, __ATOMIC_RELAXED);
    if (asked < 0) {
        const char *variable = getenv("CGX_EXPLAIN");
        asked = variable && *variable && strcmp(variable, "0");
        __atomic_store_n(&explanations_wanted, asked, __ATOMIC_RELAXED);
    }
    if (!asked || __atomic_exchange_n(&record->explained, 1, __ATOMIC_RELAXED))
        return;
    char text[512] = ""; /* here: clearing it at each launch takes 30 ns */
    const cgx_config *c = r->config;
    device->backend->explain(device->index, r, text, sizeof text);
    fprintf(stderr, "%s  %s  %s blocks x %d threads, %zu bytes of shared memory; %s\n", r->kernel->name, device->name,
            cgx__number((int64_t)c->grid.x * c->grid.y * c->grid.z), c->block.x * c->block.y * c->block.z,
            r->shared.fixed + c->dynamic_shared, text);
}

static cgx_status check_launch(const cgx_device *device, const cgx_kernel *kernel, const kernel_record *record,
                               cgx_config *config, const void *arguments, size_t bytes, cgx_launch_request *request)
{
    cgx_status s;
    if (bytes != kernel->argument_bytes || !arguments)
        return cgx__fail(CGX_ERROR_INVALID, "%s: %s bytes of arguments given, the kernel takes %s", kernel->name,
                         cgx__size(bytes), cgx__number(kernel->argument_bytes));
    if (config->size < sizeof *config)
        return cgx__fail(CGX_ERROR_INVALID, "%s: the configuration's size is not set; use cgx_config_make",
                         kernel->name);
    cgx_shared_use shared = record->shared;
    shared.dynamic = config->dynamic_shared;
    if ((s = check_shape(&device->info, kernel, config)) ||
        (s = check_shared(&device->info, kernel, shared.fixed, shared.dynamic)) ||
        (s = check_cluster(&device->info, kernel, config)) || (s = check_cooperative(device, kernel, config, &shared)))
        return s;
    *request = (cgx_launch_request){ kernel, config, arguments, bytes, shared, NULL };
    return CGX_OK;
}

cgx_status cgx__check_launch(const cgx_device *device, const cgx_kernel *kernel, cgx_config *config,
                             const void *arguments, size_t bytes, cgx_launch_request *request)
{
    kernel_record *record;
    cgx_status s = cgx__kernel_find(kernel, "cgx_launch", &record);
    return s ? s : check_launch(device, kernel, record, config, arguments, bytes, request);
}

/* ---- the same launch again ----
 * Most launches are one of a few of before with other arguments, and the driver pushes out of the caches what a launch looks at each time. A
 * thread keeps its last ones, checked; of those it looks at three lines. */

typedef struct {
    const cgx_queue *queue;
    uint64_t epoch;
    cgx_config config;
    cgx_launch_request request;
    cgx_launch_notes notes;
} known_launch;
enum { KNOWN = 8 }; /* a power of two */

uint64_t cgx__launch_epoch = 1;

void cgx__forget_launches(void)
{
    __atomic_add_fetch(&cgx__launch_epoch, 1, __ATOMIC_RELEASE);
}

static known_launch *place_of_launch(const cgx_queue *queue, const cgx_kernel *kernel)
{
    static _Thread_local known_launch known[KNOWN];
    return known + (((uintptr_t)kernel ^ (uintptr_t)queue) * 0x9e3779b97f4a7c15u >> 32 & (KNOWN - 1));
}

static int is_same(cgx_dim3 a, cgx_dim3 b)
{
    return !((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z));
}
static int is_known(const known_launch *l, const cgx_queue *queue, const cgx_kernel *kernel, const cgx_config *c,
                    size_t bytes)
{
    return l->queue == queue && l->request.kernel == kernel && l->request.argument_bytes == bytes &&
           l->epoch == __atomic_load_n(&cgx__launch_epoch, __ATOMIC_ACQUIRE) && c->size == sizeof *c &&
           is_same(c->grid, l->config.grid) && is_same(c->block, l->config.block) &&
           is_same(c->cluster, cgx_dim(0, 0, 0)) && c->dynamic_shared == l->config.dynamic_shared &&
           c->flags == l->config.flags;
}
/* What asks the driver anew each time, or is not the same each time, is not kept. */
static void know(known_launch *l, uint64_t epoch, const cgx_queue *queue, const cgx_config *asked,
                 const cgx_launch_request *r)
{
    if (r->config->flags & CGX_LAUNCH_COOPERATIVE || r->kernel->flags & CGX_KERNEL_LAUNCHES ||
        asked->size != sizeof *asked || !is_same(asked->cluster, cgx_dim(0, 0, 0)))
        return;
    *l = (known_launch){ queue, epoch, *r->config, *r, *r->notes };
    l->request.config = &l->config;
    l->request.notes = &l->notes;
}

cgx_status cgx__launch(cgx_queue *queue, const cgx_kernel *kernel, const cgx_config *config, const void *arguments,
                       size_t bytes)
{
    known_launch *l = place_of_launch(queue, kernel);
    if (queue && config && arguments && is_known(l, queue, kernel, config, bytes)) {
        l->request.arguments = arguments;
        return queue->h.device->backend->enqueue_launch(queue->h.implementation, &l->request);
    }
    const uint64_t epoch = __atomic_load_n(&cgx__launch_epoch, __ATOMIC_ACQUIRE);
    kernel_record *record;
    cgx_launch_request request;
    cgx_launch_notes notes = { NULL, 0 };
    cgx_status s = cgx__check_process("cgx_launch");
    /* The version first: what else a descriptor of another one holds is not known. */
    if (s || (s = cgx__kernel_find(kernel, "cgx_launch", &record)) || (s = cgx__check_queue(queue, kernel->name)))
        return s;
    cgx_device *device = queue->h.device;
    cgx_config c;
    if (config && config->size >= sizeof c)
        c = *config;
    else
        memset(&c, 0, sizeof c);
    if ((s = check_launch(device, kernel, record, &c, arguments, bytes, &request)))
        return s;
    if (kernel->flags & CGX_KERNEL_LAUNCHES && !(device->info.capabilities & CGX_CAN_DEVICE_LAUNCH))
        return cgx__fail(CGX_ERROR_UNSUPPORTED, "%s launches kernels, which kernels on %s cannot", kernel->name,
                         device->name);
    if (__atomic_load_n(&explanations_wanted, __ATOMIC_RELAXED))
        explain(device, &request, record);
    if (!__atomic_load_n(&device->launched, __ATOMIC_RELAXED))
        __atomic_store_n(&device->launched, 1, __ATOMIC_RELAXED);
    request.notes = &notes;
    s = device->backend->enqueue_launch(queue->h.implementation, &request);
    if (!s)
        know(l, epoch, queue, config, &request);
    return s;
}

cgx_status cgx_launch(cgx_queue *queue, const cgx_kernel *kernel, cgx_config config, void *const *arguments, int count)
{
    _Alignas(16) char packed[4096];
    kernel_record *record;
    cgx_status s = cgx__check_process("cgx_launch");
    if (s || (s = cgx__kernel_find(kernel, "cgx_launch", &record)))
        return s;
    if (count != (int)kernel->parameter_count)
        return cgx__fail(CGX_ERROR_INVALID, "%s: %d arguments given, the kernel takes %u", kernel->name, count,
                         kernel->parameter_count);
    memset(packed, 0, kernel->argument_bytes);
    for (int i = 0; i < count; i++) {
        if (!arguments || !arguments[i])
            return cgx__fail(CGX_ERROR_INVALID, "%s: the pointer to argument %d is NULL", kernel->name, i);
        memcpy(packed + kernel->parameters[i].offset, arguments[i], kernel->parameters[i].size);
    }
    return cgx__launch(queue, kernel, &config, packed, kernel->argument_bytes);
}

cgx_config cgx_fit(cgx_queue *queue, int64_t n, int threads)
{
    cgx_device_info d = CGX_DEVICE_INFO_INIT;
    cgx_config c = cgx_cover(n > 0 ? n : 1, threads);
    if (threads <= 0 || cgx_queue_get_info(queue, &d))
        return c;                 /* the launch says what is wrong */
    const int64_t most = 1 << 26; /* blocks: beyond, threads take several items each */
    int64_t per_unit = threads <= d.max_threads_per_unit ? d.max_threads_per_unit / threads : 1;
    int64_t busy = d.threads_at_once == 1 ? most : d.units * (per_unit > 8 ? per_unit : 8);
    int64_t need = (n > 0 ? n - 1 : 0) / threads + 1;
    c.grid.x = (int)(need < busy ? need : busy);
    return c;
}

cgx_status cgx_kernel_get_info(cgx_queue *queue, const cgx_kernel *kernel, cgx_kernel_info *info)
{
    kernel_record *record;
    cgx_status s = cgx__check_queue(queue, "cgx_kernel_get_info");
    if (s || (s = cgx__kernel_find(kernel, "cgx_kernel_get_info", &record)))
        return s;
    if (!info || info->size < sizeof *info)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_kernel_get_info: info is NULL or its size is not set");
    const cgx_device *device = queue->h.device;
    cgx_kernel_info i = CGX_KERNEL_INFO_INIT;
    i.name = kernel->name, i.file = kernel->file, i.line = (int)kernel->line;
    i.argument_count = (int)kernel->parameter_count, i.argument_bytes = kernel->argument_bytes;
    i.static_shared_bytes = record->shared.fixed;
    i.block = kernel->block;
    i.cooperative = !!(kernel->flags & CGX_KERNEL_IS_COOPERATIVE);
    i.max_threads = device->info.max_threads_per_block;
    if (kernel->max_threads && (int)kernel->max_threads < i.max_threads)
        i.max_threads = (int)kernel->max_threads;
    if ((s = device->backend->kernel_info(device->index, kernel, &record->shared, &i)))
        return s;
    *info = i;
    return CGX_OK;
}

cgx_status cgx__check_occupancy(const cgx_device *device, const cgx_kernel *kernel, int threads, size_t dynamic_shared,
                                const char *what, int *per_unit, int *cooperative)
{
    kernel_record *record;
    cgx_status s = cgx__kernel_find(kernel, what, &record);
    if (s)
        return s;
    if (threads <= 0)
        return cgx__fail(CGX_ERROR_INVALID, "%s: %d threads a block; at least 1 is needed", what, threads);
    *per_unit = *cooperative = 0;
    if (kernel->flags & CGX_KERNEL_FIXED_BLOCK && threads != (int)kernel->max_threads)
        return CGX_OK; /* the declared size alone is launched */
    if (threads > device->info.max_threads_per_block || (kernel->max_threads && threads > (int)kernel->max_threads) ||
        check_shared(&device->info, kernel, record->shared.fixed, dynamic_shared))
        return CGX_OK;
    cgx_shared_use shared = record->shared;
    shared.dynamic = dynamic_shared;
    return device->backend->occupancy(device->index, kernel, threads, &shared, per_unit, cooperative);
}

static cgx_status occupancy(cgx_queue *queue, const cgx_kernel *kernel, int threads, size_t dynamic_shared,
                            const char *what, int *per_unit, int *cooperative)
{
    cgx_status s = cgx__check_queue(queue, what);
    return s ? s : cgx__check_occupancy(queue->h.device, kernel, threads, dynamic_shared, what, per_unit, cooperative);
}

cgx_status cgx_max_cooperative_blocks(cgx_queue *queue, const cgx_kernel *kernel, int threads, size_t dynamic_shared,
                                      int *blocks)
{
    int per_unit, cooperative;
    if (!blocks)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_max_cooperative_blocks: blocks is NULL");
    cgx_status s =
        occupancy(queue, kernel, threads, dynamic_shared, "cgx_max_cooperative_blocks", &per_unit, &cooperative);
    if (!s)
        *blocks = queue->h.device->info.capabilities & (CGX_CAN_COOPERATIVE | CGX_CAN_SOFTWARE_GRID) ? cooperative : 0;
    return s;
}

cgx_status cgx_occupancy(cgx_queue *queue, const cgx_kernel *kernel, int threads, size_t dynamic_shared,
                         int *blocks_per_unit)
{
    int per_unit, cooperative;
    if (!blocks_per_unit)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_occupancy: blocks_per_unit is NULL");
    cgx_status s = occupancy(queue, kernel, threads, dynamic_shared, "cgx_occupancy", &per_unit, &cooperative);
    if (!s)
        *blocks_per_unit = per_unit;
    return s;
}

cgx_status cgx__find_best_block(const cgx_device *device, const cgx_kernel *kernel, size_t dynamic_shared,
                                size_t bytes_a_thread, int *threads, int *blocks)
{
    int best = 0, best_running = 0, best_per_unit = 0, per_unit, cooperative;
    const cgx_device_info *d = &device->info;
    /* Most threads running on a unit; of equals the size nearest to 256, where scheduling and sharing balance. */
    static const int candidates[] = { 256, 512, 128, 1024, 64, 32 };
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        int n = kernel && kernel->flags & CGX_KERNEL_FIXED_BLOCK ? (int)kernel->max_threads : candidates[i];
        cgx_status s = cgx__check_occupancy(device, kernel, n, dynamic_shared + bytes_a_thread * (size_t)n,
                                            "cgx_best_block", &per_unit, &cooperative);
        if (s)
            return s;
        if (per_unit * n > best_running)
            best = n, best_running = per_unit * n, best_per_unit = per_unit;
    }
    if (!best)
        return cgx__fail(CGX_ERROR_LIMIT, "%s: no block fits with %s bytes of dynamic shared memory", kernel->name,
                         cgx__size(dynamic_shared));
    *threads = best;
    *blocks = best_per_unit * d->units;
    return CGX_OK;
}

cgx_status cgx_best_block(cgx_queue *queue, const cgx_kernel *kernel, size_t dynamic_shared, int *threads, int *blocks)
{
    if (!threads || !blocks)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_best_block: NULL argument");
    cgx_status s = cgx__check_queue(queue, "cgx_best_block");
    return s ? s : cgx__find_best_block(queue->h.device, kernel, dynamic_shared, 0, threads, blocks);
}

cgx_status cgx__variable_address(cgx_queue *queue, cgx_variable variable, void **address, size_t *bytes)
{
    cgx_status s = cgx__check_queue(queue, variable.name);
    if (s)
        return s;
    return queue->h.device->backend->variable_address(queue->h.device->index, variable, address, bytes);
}

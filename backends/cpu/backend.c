/* SPDX-License-Identifier: MIT */
/* The CPU as a device: its limits, its memory, and launches over OpenMP threads. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "children.h"
#include "device.h"
#include "executor.h"
#include "heap.h"
#include "pointers.h"
#include <cgx/device_runtime.h>
#include "settings.h"
#include "team.h"

enum {
    SHARED_BYTES = 256 * 1024, /* a block's; what a level-2 cache holds */
    MAX_WORKERS = 1024,
    MAX_CLUSTER = 16
};

static struct {
    int workers, lanes, level, engine;
    uint32_t grid; /* capabilities */
    uint64_t seed;
    size_t memory;
    char description[128];
} cpu;
static worker *workers; /* by OpenMP thread number; the executor's alone */

/* ---- the device ---- */

static int level_of_this_machine(void)
{
    int level = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
        level = 2;
    if (level == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        level = 3;
    if (level == 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        level = 4;
#endif
    return level;
}

static const char *level_name(int level)
{
    switch (level) {
#define CASE(number, part, name) \
    case number: return name;
        CGX_FOREACH_LEVEL(CASE)
#undef CASE
    }
    return "baseline";
}

/* The model name as the system tells it, or what the compiler was built for. */
static void read_model(char *text, size_t bytes)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(text, bytes, "processor");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!strncmp(line, "model name", 10) && colon) {
            colon[1 + strcspn(colon + 1, "\n")] = 0;
            snprintf(text, bytes, "%s", colon + 1 + strspn(colon + 1, " \t"));
            break;
        }
    }
    if (f)
        fclose(f);
}

static cgx_status start(int *device_count, char *reason, size_t reason_bytes)
{
    cpu_set_t set;
    cpu_settings settings;
    cgx_status s = cgx__read_settings(&settings, reason, reason_bytes);
    if (s)
        return s;
    /* As many as the process may use: an MPI launcher binds each rank to its share. */
    int allowed = !sched_getaffinity(0, sizeof set, &set) ? CPU_COUNT(&set) : omp_get_num_procs();
    int n = settings.workers ? settings.workers : getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : allowed;
    int level = level_of_this_machine();
    cpu.workers = n < 1 ? 1 : n > MAX_WORKERS ? MAX_WORKERS : n;
    cpu.lanes = settings.lanes;
    cpu.level = level < settings.level ? level : settings.level;
    cpu.seed = settings.seed;
    /* Copies that are put off and threads that go on in random order are the fibers' business. */
    cpu.engine = settings.async != CGX__ASYNC_EARLY || settings.seed ? ENGINE_FIBER : settings.engine;
    cpu.grid = settings.grid;
    cgx__executor_configure(cpu.workers, allowed);
    cgx__async_configure(settings.async);
    cgx__stack_configure(settings.stack, (size_t)sysconf(_SC_PAGESIZE));
    cpu.memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    char model[96];
    read_model(model, sizeof model);
    snprintf(cpu.description, sizeof cpu.description, "%s, %d %s", model, cpu.workers,
             cpu.workers == 1 ? "core" : "cores");
    workers = calloc((size_t)cpu.workers, sizeof *workers);
    if (!workers)
        return CGX_ERROR_OUT_OF_MEMORY;
    cgx__family_configure(workers, cpu.workers);
    *device_count = 1;
    return CGX_OK;
}

static cgx_status device_info(int device, cgx_device_info *info)
{
    (void)device;
    info->description = cpu.description;
    info->units = cpu.workers;
    info->lanes = cpu.lanes;
    info->max_threads_per_block = CGX__MAX_THREADS;
    info->max_threads_per_unit = CGX__MAX_THREADS;
    info->threads_at_once = 1;
    info->max_block = cgx_dim(CGX__MAX_THREADS, CGX__MAX_THREADS, 64);
    info->max_grid = cgx_dim(INT32_MAX, 65535, 65535);
    info->max_cluster_blocks = MAX_CLUSTER;
    info->shared_bytes_per_block = SHARED_BYTES;
    info->shared_bytes_per_unit = SHARED_BYTES;
    info->memory_bytes = cpu.memory;
    info->max_argument_bytes = 4096;
    info->capabilities = cpu.grid | CGX_CAN_CLUSTER | CGX_CAN_DEVICE_LAUNCH | CGX_CAN_PEER | CGX_CAN_UNIFIED |
                         CGX_CAN_EXPLAIN | CGX_CAN_INDEPENDENT;
    static char engine[64];
    snprintf(engine, sizeof engine, "%s, %s",
             cpu.engine == ENGINE_FIBER ? "fibers" : "compiled where kernels are, else fibers", level_name(cpu.level));
    info->engine = engine;
    info->async_copy = cgx__async_is_late() ? "deferred" : "synchronous";
    return CGX_OK;
}

/* ---- queues and events ---- */

static cgx_status queue_create(int device, void *native, void **queue)
{
    (void)device;
    if (native)
        return cgx__fail(CGX_ERROR_UNSUPPORTED, "cpu: there are no native queues on the CPU");
    if (!(*queue = cgx__executor_queue_new()))
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cpu: not enough memory for a queue");
    return CGX_OK;
}
static void queue_destroy(void *queue)
{
    cgx__executor_queue_free(queue);
}
static cgx_status queue_wait(void *queue)
{
    return cgx__executor_wait(queue);
}
static cgx_status queue_query(void *queue)
{
    return cgx__executor_query(queue);
}
static cgx_status queue_native(void *queue, void **context, void **stream)
{
    (void)queue, (void)context, (void)stream;
    return cgx__fail(CGX_ERROR_UNSUPPORTED, "cpu: there are no native queues on the CPU");
}
static cgx_status event_create(int device, void **event)
{
    (void)device;
    if (!(*event = cgx__executor_event_new()))
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cpu: not enough memory for an event");
    return CGX_OK;
}
static void event_destroy(void *event)
{
    cgx__executor_event_free(event);
}
static cgx_status enqueue_record(void *event, void *queue)
{
    return cgx__executor_record(event, queue);
}
static cgx_status enqueue_wait(void *queue, void *event)
{
    return cgx__executor_wait_for(queue, event);
}
static cgx_status event_wait(void *event)
{
    return cgx__executor_event_wait(event);
}
static cgx_status event_query(void *event)
{
    return cgx__executor_event_query(event);
}
static cgx_status event_elapsed(void *first, void *last, double *seconds)
{
    return cgx__executor_event_elapsed(first, last, seconds);
}

/* ---- memory ---- */

enum { MEMORY_ALIGNMENT = 256 };
static pointer_set allocations = POINTER_SET_INIT;

static cgx_status alloc(int device, size_t bytes, cgx_memory_kind kind, void **memory)
{
    (void)device, (void)kind; /* one memory serves all kinds */
    size_t rounded =
        bytes > SIZE_MAX - MEMORY_ALIGNMENT ? 0 : (bytes + MEMORY_ALIGNMENT) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
    void *p = rounded ? aligned_alloc(MEMORY_ALIGNMENT, rounded) : NULL;
    if (!p || !cgx__pointer_add(&allocations, p)) {
        free(p);
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cpu:0: %s bytes asked, the machine has %s in all", cgx__size(bytes),
                         cgx__size(cpu.memory));
    }
    *memory = p;
    return CGX_OK;
}

static cgx_status release(int device, void *memory)
{
    (void)device;
    if (!cgx__pointer_remove(&allocations, memory))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_free: %p was not allocated on cpu:0, or is freed already", memory);
    free(memory);
    return CGX_OK;
}

static cgx_status enqueue_alloc(void *queue, size_t bytes, void **memory)
{
    (void)queue;
    return alloc(0, bytes, CGX_MEM_DEVICE, memory);
}

typedef struct {
    command c;
    void *memory;
} free_command;
static cgx_status run_free(command *c, char *text, size_t text_bytes)
{
    (void)text, (void)text_bytes;
    free(((free_command *)c)->memory);
    return CGX_OK;
}
static cgx_status enqueue_free(void *queue, void *memory)
{
    if (!cgx__pointer_remove(&allocations, memory))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_free_async: %p was not allocated on cpu:0, or is freed already",
                         memory);
    free_command *f = (free_command *)cgx__command_new(sizeof *f);
    if (f) {
        f->c.run = run_free;
        f->memory = memory;
    }
    return cgx__executor_enqueue(queue, &f->c);
}

/* ---- copies and fills ---- */

typedef struct {
    command c;
    char *destination;
    const char *source;
    size_t destination_pitch, source_pitch, width, height;
} copy_command;
static cgx_status run_copy(command *c, char *text, size_t text_bytes)
{
    const copy_command *k = (copy_command *)c;
    (void)text, (void)text_bytes;
    for (size_t row = 0; row < k->height; row++)
        memmove(k->destination + row * k->destination_pitch, k->source + row * k->source_pitch, k->width);
    return CGX_OK;
}
static cgx_status enqueue_copy(void *queue, void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height)
{
    copy_command *k = (copy_command *)cgx__command_new(sizeof *k);
    if (k) {
        k->c.run = run_copy;
        k->destination = destination, k->destination_pitch = destination_pitch;
        k->source = source, k->source_pitch = source_pitch;
        k->width = width, k->height = height;
    }
    return cgx__executor_enqueue(queue, &k->c);
}
static cgx_status enqueue_copy_peer(void *queue, void *destination, const void *source, int source_device, size_t bytes)
{
    (void)source_device;
    return enqueue_copy(queue, destination, bytes, source, bytes, bytes, 1);
}
static int can_access(int device, int peer)
{
    return (void)device, (void)peer, 1;
}

typedef struct {
    command c;
    char *memory;
    size_t pattern_bytes, count;
    _Alignas(16) char pattern[16];
} fill_command;
static cgx_status run_fill(command *c, char *text, size_t text_bytes)
{
    const fill_command *f = (fill_command *)c;
    (void)text, (void)text_bytes;
    size_t total = f->count * f->pattern_bytes;
    if (f->pattern_bytes == 1) {
        memset(f->memory, f->pattern[0], total);
        return CGX_OK;
    }
    /* A page filled piece by piece, then copied: doubling. */
    size_t have = f->pattern_bytes, page = total < 4096 ? total : 4096;
    memcpy(f->memory, f->pattern, have);
    while (have < page) {
        size_t n = have < page - have ? have : page - have;
        memcpy(f->memory + have, f->memory, n);
        have += n;
    }
    for (size_t at = have; at < total; at += have)
        memcpy(f->memory + at, f->memory, have < total - at ? have : total - at);
    return CGX_OK;
}
static cgx_status enqueue_fill(void *queue, void *memory, const void *pattern, size_t pattern_bytes, size_t count)
{
    fill_command *f = (fill_command *)cgx__command_new(sizeof *f);
    if (f) {
        f->c.run = run_fill;
        f->memory = memory, f->pattern_bytes = pattern_bytes, f->count = count;
        memcpy(f->pattern, pattern, pattern_bytes);
    }
    return cgx__executor_enqueue(queue, &f->c);
}

/* ---- kernels ---- */

static const cgx__entry *choose_entry(const cgx_kernel *k, int engine)
{
    const cgx__entry *best = NULL;
    for (uint32_t i = 0; i < k->entry_count; i++) {
        const cgx__entry *e = k->entries + i;
        if (e->engine == engine && e->run && e->level <= cpu.level && (!best || e->level >= best->level))
            best = e;
    }
    return best;
}

/* NULL: the kernel runs on fibers. */
static const cgx__entry *choose_compiled(const cgx_kernel *k)
{
    /* The device runtime finds a thread by its stack. */
    return cpu.engine == ENGINE_FIBER || k->flags & CGX_KERNEL_LAUNCHES ? NULL : choose_entry(k, CGX__ENGINE_COMPILED);
}

/* The engine, and what the plug-in says of the kernel, which starts with the engine's name. */
static void describe_engine(const cgx_kernel *k, char *text, size_t bytes)
{
    if (choose_compiled(k))
        snprintf(text, bytes, "%s", k->remark ? k->remark : "compiled");
    else if (cpu.engine == ENGINE_FIBER)
        snprintf(text, bytes, "fibers");
    else if (k->flags & CGX_KERNEL_LAUNCHES)
        snprintf(text, bytes, "fibers: the kernel launches kernels");
    else
        snprintf(text, bytes, "%s", k->remark ? k->remark : "fibers: built without the compiled engine");
}

static cgx_status kernel_info(int device, const cgx_kernel *kernel, const cgx_shared_use *shared, cgx_kernel_info *info)
{
    (void)device, (void)shared;
    const cgx__entry *compiled = choose_compiled(kernel);
    info->engine = compiled ? "compiled" : "fibers";
    info->target = level_name((compiled ? compiled : choose_entry(kernel, CGX__ENGINE_FIBERS))->level);
    return CGX_OK;
}

/* A worker runs one block at a time, so one is resident. Under a cooperative launch all are, as many as half of the
 * machine's memory takes: per thread the pages of a stack that waiting touches, per block its shared memory and what
 * collectives use. */
static cgx_status occupancy(int device, const cgx_kernel *kernel, int threads, const cgx_shared_use *shared,
                            int *per_unit, int *cooperative)
{
    (void)device, (void)kernel;
    size_t block =
        (size_t)threads * (STACK_RESIDENT_BYTES + 2 * CGX__VALUE_BYTES) + shared->fixed + shared->dynamic + 16384;
    size_t fit = cpu.memory / 2 / block;
    *per_unit = 1;
    *cooperative = fit > 65535 ? 65535 : (int)fit;
    return CGX_OK;
}

static cgx_status variable_address(int device, cgx_variable variable, void **address, size_t *bytes)
{
    (void)device;
    *address = variable.host;
    *bytes = variable.bytes;
    return CGX_OK;
}

/* ---- launches ---- */

typedef struct {
    command c;
    launch l;
    int workers;
    int64_t begun;        /* clusters that were run before the others were shared out */
    uint64_t nanoseconds; /* that worker 0 took */
    _Alignas(64) char arguments[];
} launch_command;

static int64_t share(int64_t clusters, int part, int parts)
{
    return clusters / parts * part + clusters % parts * part / parts;
}

static void run_clusters(launch *l, worker *w, int64_t first, int64_t end)
{
    cgx__worker_run(w, l, first * l->cluster_blocks, end * l->cluster_blocks);
}

static void run_part(void *argument, int part, int parts)
{
    launch_command *k = argument;
    launch *l = &k->l;
    int64_t left = l->shape.blocks / l->cluster_blocks - k->begun;
    uint64_t start = part ? 0 : cgx__cpu_nanoseconds();
    run_clusters(l, workers + part, k->begun + share(left, part, parts), k->begun + share(left, part + 1, parts));
    if (!part)
        k->nanoseconds = cgx__cpu_nanoseconds() - start;
}

/* How long a cluster of blocks took in a kernel's last launch, kept by place: a kernel that takes another's is measured anew. Only
 * who executes commands is here. */
enum { COST_PLACES = 256, SHORT_NANOSECONDS = 4000 };
typedef struct {
    const cgx_kernel *kernel;
    uint64_t nanoseconds;
} cost;
static cost *cost_of(const cgx_kernel *kernel)
{
    static cost costs[COST_PLACES];
    cost *c = costs + ((uintptr_t)kernel / sizeof *kernel) % COST_PLACES;
    if (c->kernel != kernel)
        *c = (cost){ kernel, UINT64_MAX / 2 };
    return c;
}
static int is_short(const cost *c, int64_t clusters)
{
    return c->nanoseconds < SHORT_NANOSECONDS && c->nanoseconds * (uint64_t)clusters < SHORT_NANOSECONDS;
}

/* N workers share the clusters. Waking one takes longer than a short launch, so a kernel whose last launch was short is begun by one
 * worker, which goes on alone if the first cluster was as fast. */
static void share_out(launch_command *k, int64_t clusters, int n)
{
    launch *l = &k->l;
    cost *c = cost_of(l->kernel);
    if (is_short(c, clusters)) {
        uint64_t start = cgx__cpu_nanoseconds();
        run_clusters(l, workers, 0, 1);
        k->begun = 1;
        c->nanoseconds = cgx__cpu_nanoseconds() - start;
        if (l->failed)
            return;
        if (is_short(c, clusters)) {
            run_clusters(l, workers, 1, clusters);
            return;
        }
        n = n < clusters - 1 ? n : (int)(clusters - 1);
    }
    int64_t of_first = share(clusters - k->begun, 1, n);
    cgx__team_run(run_part, k, n, 0);
    c->nanoseconds = k->nanoseconds / (uint64_t)of_first;
}

/* The device as the front end has it, for what kernels ask. */
static cgx_device *this_device;
const cgx_device *cgx__cpu_device(void)
{
    return __atomic_load_n(&this_device, __ATOMIC_ACQUIRE);
}

int cgx__cpu_unit(const cgx_cpu_worker *w)
{
    return (int)((const worker *)w - workers);
}

static cgx_status run_launch(command *c, char *text, size_t text_bytes)
{
    launch_command *k = (launch_command *)c;
    launch *l = &k->l;
    int64_t clusters = l->shape.blocks / l->cluster_blocks;
    const int team = k->workers < cgx__team_size() ? k->workers : cgx__team_size();
    const int n = team < clusters ? team : (int)clusters;
    if (l->cooperative && !(l->partials = calloc((size_t)l->shape.blocks, 2 * CGX__VALUE_BYTES))) {
        snprintf(text, text_bytes, "%s: no memory for the grid's collectives", l->kernel->name);
        return CGX_ERROR_OUT_OF_MEMORY;
    }
    const int launches = l->kernel->flags & CGX_KERNEL_LAUNCHES;
    if (launches && cgx__family_begin(l)) {
        free(l->partials);
        snprintf(text, text_bytes, "%s: no memory for what it launches", l->kernel->name);
        return CGX_ERROR_OUT_OF_MEMORY;
    }
    l->text = text;
    l->text_bytes = text_bytes;
    l->participants = n;
    if (n == 1)
        run_clusters(l, workers, 0, clusters);
    else if (l->cooperative || l->dynamic || l->seed) /* a schedule that is replayed does not depend on the time */
        cgx__team_run(run_part, k, n, l->cooperative);
    else
        share_out(k, clusters, n);
    free(l->partials);
    if (launches)
        cgx__family_finish(l, team);
    return l->failed ? l->status : CGX_OK;
}

static void explain(int device, const cgx_launch_request *r, char *text, size_t bytes)
{
    const cgx_config *c = r->config;
    (void)device;
    char engine[256];
    const cgx__entry *compiled = choose_compiled(r->kernel);
    describe_engine(r->kernel, engine, sizeof engine);
    snprintf(text, bytes, "%s, %s, %d %s, stacks of %zu KiB%s", engine,
             level_name((compiled ? compiled : choose_entry(r->kernel, CGX__ENGINE_FIBERS))->level), cpu.workers,
             cpu.workers == 1 ? "worker" : "workers", cgx__stack_bytes() / 1024,
             c->flags & CGX_LAUNCH_COOPERATIVE ? ", all blocks resident" : "");
}

void cgx__cpu_prepare_launch(launch *l, const cgx_launch_request *r)
{
    const cgx_config *c = r->config;
    memset(l, 0, sizeof *l);
    l->kernel = r->kernel;
    const cgx__entry *compiled = choose_compiled(r->kernel);
    l->run = choose_entry(r->kernel, CGX__ENGINE_FIBERS)->run;
    l->compiled = compiled ? compiled->run : NULL;
    l->frame_bytes = compiled ? compiled->frame_bytes : 0;
    l->shape.grid = c->grid, l->shape.block = c->block, l->shape.cluster = c->cluster;
    l->shape.threads = c->block.x * c->block.y * c->block.z;
    l->shape.lanes = cpu.lanes;
    l->shape.blocks = (int64_t)c->grid.x * c->grid.y * c->grid.z;
    l->cluster_blocks = c->cluster.x * c->cluster.y * c->cluster.z;
    l->seed = cpu.seed;
    l->static_shared = r->shared.spread;
    l->dynamic_shared = c->dynamic_shared;
}

static cgx_status set_limit(int device, cgx_limit limit, size_t value)
{
    (void)device;
    if (limit == CGX_LIMIT_HEAP_BYTES)
        cgx__heap_set_limit(value);
    else
        cgx__family_set_limit(value);
    return CGX_OK;
}
static cgx_status get_limit(int device, cgx_limit limit, size_t *value)
{
    (void)device;
    *value = limit == CGX_LIMIT_HEAP_BYTES ? cgx__heap_limit() : cgx__family_limit();
    return CGX_OK;
}

static cgx_status enqueue_launch(void *queue, const cgx_launch_request *r)
{
    const cgx_config *c = r->config;
    launch_command *k = (launch_command *)cgx__command_new(sizeof *k + r->argument_bytes);
    if (!k)
        return cgx__executor_enqueue(queue, NULL);
    k->c.run = run_launch;
    /* The user's own team is busy with the region this call comes from. */
    k->workers = omp_in_parallel() ? 1 : cpu.workers;
    memcpy(k->arguments, r->arguments, r->argument_bytes);
    launch *l = &k->l;
    cgx__cpu_prepare_launch(l, r);
    l->arguments = k->arguments;
    l->cooperative = !!(c->flags & CGX_LAUNCH_COOPERATIVE);
    l->dynamic = !l->cooperative && c->flags & CGX_LAUNCH_DYNAMIC;
    if (r->kernel->flags & CGX_KERNEL_LAUNCHES && !cgx__cpu_device()) {
        cgx_device *device = NULL;
        cgx_device_get("cpu", 0, &device);
        __atomic_store_n(&this_device, device, __ATOMIC_RELEASE);
    }
    return cgx__executor_enqueue(queue, &k->c);
}

const cgx_backend cgx_backend_cpu = {
    .name = "cpu",
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
    .explain = explain,
    .enqueue_launch = enqueue_launch,
    .occupancy = occupancy,
    .variable_address = variable_address,
    .set_limit = set_limit,
    .get_limit = get_limit,
};

/* SPDX-License-Identifier: MIT */
/* The device runtime's functions: who calls, in which grid, and what is wrong with it. The work is in children.c. */
#include <stdlib.h>
#include <string.h>
#include "children.h"
#include "device.h"
#include "heap.h"
#include <cgx/device_runtime.h>

/* What a block keeps of its threads while they launch. Of another block, or another grid, when these two are not the same. */
struct callers {
    uint64_t grid;
    int64_t block_rank;
    order_place last; /* of the block's stream */
    struct {
        cgx_status error;
        order_place last;
    } threads[CGX__MAX_THREADS];
};

typedef struct {
    const cgx_cpu_thread *thread;
    worker *w;
    item *grid;
    struct callers *block;
    int rank;
} caller;

cgx_cpu_thread **cgx__cpu_caller(const cgx_cpu_block *b)
{
    const worker *w = (const worker *)b->worker;
    const int index = cgx__stack_of(&w->stacks, __builtin_frame_address(0));
    return (cgx_cpu_thread **)(void *)w->stacks.all[index].top; /* above it 64 bytes are free */
}

/* Finds the calling thread by the stack it runs on. Misuse where the kernel has not said that it launches: its entry does
 * not say where the thread is. */
static __attribute__((noinline)) cgx_status called_by(caller *c)
{
    worker *w = cgx__fault_watched();
    if (!w || !w->launch)
        return cgx__fail(CGX_ERROR_INVALID, "the device runtime is for kernels, and no kernel runs here");
    const cgx_kernel *k = w->launch->kernel;
    if (!(k->flags & CGX_KERNEL_LAUNCHES)) {
        cgx__launch_fail(w->launch, CGX_ERROR_MISUSE,
                         "%s uses the device runtime and is not declared for it: CGX_KERNEL_LAUNCHING, or "
                         "CGX_LAUNCHING(limits) (%s:%u)",
                         k->name, k->file, k->line);
        cgx__worker_abandon(w);
    }
    const int index = cgx__stack_of(&w->stacks, __builtin_frame_address(0));
    const cgx_cpu_thread *t = *(cgx_cpu_thread **)(void *)w->stacks.all[index].top;
    block *b = (block *)t->block;
    if (!b->callers && !(b->callers = calloc(1, sizeof *b->callers)))
        return CGX_ERROR_OUT_OF_MEMORY;
    struct callers *them = b->callers;
    c->thread = t;
    c->w = w;
    c->grid = w->launch->item;
    c->block = them;
    c->rank = t->rank;
    if (them->grid != c->grid->order.serial || them->block_rank != b->pub.shape.block_rank) {
        memset(them->threads, 0, (size_t)b->pub.shape.threads * sizeof them->threads[0]);
        memset(&them->last, 0, sizeof them->last);
        them->grid = c->grid->order.serial;
        them->block_rank = b->pub.shape.block_rank;
    }
    return CGX_OK;
}

static cgx_status result(const caller *c, cgx_status s)
{
    if (s)
        c->block->threads[c->rank].error = s;
    return s;
}

/* ---- streams and events ---- */

/* A handle has the grid's serial, which is in no other grid's; the lowest bit says stream or event. */
enum { HANDLE_SERIAL = 24, MAX_HANDLES = 1 << 23 };

static cgx_status new_handle(const caller *c, stream_table *t, int is_event, void **handle)
{
    cgx__family_lock();
    int i = t->count < MAX_HANDLES ? cgx__stream_add(t) : -1;
    cgx__family_unlock();
    if (i < 0)
        return CGX_ERROR_OUT_OF_MEMORY;
    *handle = (void *)(uintptr_t)(c->grid->order.serial << HANDLE_SERIAL | (uint64_t)i << 1 | (uint64_t)is_event);
    return CGX_OK;
}

static stream_slot *find_handle(const caller *c, stream_table *t, int is_event, const void *handle)
{
    const uint64_t h = (uintptr_t)handle;
    const int64_t i = (int64_t)(h >> 1 & (MAX_HANDLES - 1));
    if (h >> HANDLE_SERIAL != c->grid->order.serial || (int)(h & 1) != is_event || i >= t->count || !t->slots[i].live)
        return NULL;
    return t->slots + i;
}

/* Locked. *LAST is NULL for the two streams without an order of their own. */
static cgx_status find_stream(const caller *c, cgx_stream stream, order_place **last)
{
    *last = NULL;
    if (stream == CGX_FIRE_AND_FORGET || stream == CGX_TAIL_LAUNCH)
        return CGX_OK;
    if (stream == CGX_BLOCK_STREAM) {
        *last = &c->block->last;
        return CGX_OK;
    }
    if (stream == CGX_THREAD_STREAM) {
        *last = &c->block->threads[c->rank].last;
        return CGX_OK;
    }
    stream_slot *s = find_handle(c, &c->grid->streams, 0, stream);
    if (!s)
        return CGX_ERROR_INVALID;
    *last = &s->last;
    return CGX_OK;
}

static cgx_status create(int legal, int is_event, void **handle)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    s = legal ? new_handle(&c, is_event ? &c.grid->events : &c.grid->streams, is_event, handle) : CGX_ERROR_INVALID;
    return result(&c, s);
}
cgx_status cgx_stream_create(cgx_stream *stream, unsigned flags)
{
    void *handle;
    cgx_status s = create(stream && flags == CGX_STREAM_NON_BLOCKING, 0, &handle);
    if (!s)
        *stream = handle;
    return s;
}
cgx_status cgx_stream_event_create(cgx_stream_event *event, unsigned flags)
{
    void *handle;
    cgx_status s = create(event && flags == CGX_EVENT_NO_TIMING, 1, &handle);
    if (!s)
        *event = handle;
    return s;
}

static cgx_status destroy(const void *handle, int is_event)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    cgx__family_lock();
    stream_slot *slot = find_handle(&c, is_event ? &c.grid->events : &c.grid->streams, is_event, handle);
    if (slot)
        slot->live = 0;
    cgx__family_unlock();
    return result(&c, slot ? CGX_OK : CGX_ERROR_INVALID);
}
cgx_status cgx_stream_destroy(cgx_stream stream)
{
    return destroy(stream, 0);
}
cgx_status cgx_stream_event_destroy(cgx_stream_event event)
{
    return destroy(event, 1);
}

/* The two of a stream with an order and an event; locked when CGX_OK. */
static cgx_status find_both(caller *c, cgx_stream stream, cgx_stream_event event, order_place **last, order_place **at)
{
    cgx_status s = called_by(c);
    if (s)
        return s;
    cgx__family_lock();
    stream_slot *e = find_handle(c, &c->grid->events, 1, event);
    s = find_stream(c, stream, last);
    if (!e || s || !*last) {
        cgx__family_unlock();
        return result(c, CGX_ERROR_INVALID);
    }
    *at = &e->last;
    return CGX_OK;
}

cgx_status cgx_stream_event_record(cgx_stream_event event, cgx_stream stream)
{
    caller c;
    order_place *last, *at;
    cgx_status s = find_both(&c, stream, event, &last, &at);
    if (s)
        return s;
    *at = *last;
    cgx__family_unlock();
    return CGX_OK;
}

cgx_status cgx_stream_wait_event(cgx_stream stream, cgx_stream_event event)
{
    caller c;
    order_place *last, *at;
    cgx_status s = find_both(&c, stream, event, &last, &at);
    if (s)
        return s;
    s = cgx__stream_wait(c.grid, last, at);
    cgx__family_unlock();
    return result(&c, s);
}

/* ---- launches ---- */

static cgx_status submit(const caller *c, item *i, cgx_stream stream)
{
    order_place *last;
    cgx__family_lock();
    cgx_status s = find_stream(c, stream, &last);
    if (s)
        cgx__item_drop(i);
    else if (!cgx__item_submit(i, last, stream == CGX_TAIL_LAUNCH))
        s = CGX_ERROR_LIMIT;
    cgx__family_unlock();
    return s;
}

/* I has room for the arguments, and has them if they are not given. It is used up. */
static cgx_status launch_item(const caller *c, cgx_stream stream, item *i, const cgx_kernel *kernel, cgx_config *config,
                              const void *arguments)
{
    cgx_launch_request request;
    const cgx_dim3 *n = &config->cluster;
    cgx_status s = CGX_OK;
    if ((kernel->flags & CGX_KERNEL_IS_COOPERATIVE) || (config->flags & CGX_LAUNCH_COOPERATIVE) || n->x > 1 ||
        n->y > 1 || n->z > 1)
        s = CGX_ERROR_UNSUPPORTED;
    if (s ||
        (s = cgx__check_launch(cgx__cpu_device(), kernel, config, i->arguments, kernel->argument_bytes, &request))) {
        cgx__family_lock();
        cgx__item_drop(i);
        cgx__family_unlock();
        return s;
    }
    if (arguments)
        memcpy(i->arguments, arguments, kernel->argument_bytes);
    cgx__cpu_prepare_launch(&i->own, &request);
    const launch *above = c->w->launch;
    i->own.arguments = i->arguments;
    i->own.item = i;
    i->own.root = above->root ? above->root : c->w->launch;
    i->own.participants = 1;
    i->clusters = i->own.shape.blocks;
    return submit(c, i, stream);
}

cgx_status cgx__cpu_dlaunch(cgx_stream stream, const cgx_kernel *kernel, const cgx_config *config,
                            const void *arguments, size_t bytes)
{
    caller c;
    cgx_config own = *config;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    item *i = cgx__item_new(c.w, c.grid, ITEM_LAUNCH, bytes);
    return result(&c, i ? launch_item(&c, stream, i, kernel, &own, arguments) : CGX_ERROR_OUT_OF_MEMORY);
}

cgx_status cgx_launch_buffer(cgx_device_kernel kernel, size_t bytes, void **buffer)
{
    caller c;
    const cgx_kernel *k = kernel;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!k || !buffer || bytes != k->argument_bytes)
        return result(&c, CGX_ERROR_INVALID);
    item *i = cgx__item_new(c.w, c.grid, ITEM_LAUNCH, bytes);
    if (!i)
        return result(&c, CGX_ERROR_OUT_OF_MEMORY);
    cgx__family_lock();
    i->next_buffer = c.grid->buffers;
    c.grid->buffers = i;
    cgx__family_unlock();
    i->own.kernel = k;
    *buffer = i->arguments;
    return CGX_OK;
}

cgx_status cgx_launch_with_buffer(cgx_stream stream, cgx_device_kernel kernel, cgx_config config, void *buffer)
{
    caller c;
    item *i = NULL;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    cgx__family_lock();
    for (item **at = &c.grid->buffers; *at; at = &(*at)->next_buffer)
        if ((*at)->arguments == buffer && (*at)->own.kernel == kernel) {
            i = *at;
            *at = i->next_buffer;
            break;
        }
    cgx__family_unlock();
    return result(&c, i ? launch_item(&c, stream, i, kernel, &config, NULL) : CGX_ERROR_INVALID);
}

/* ---- copies and fills ---- */

/* Memory that ends with the block: another worker may get to the copy later. */
static int is_private(const caller *c, const void *p)
{
    return cgx__stack_of(&c->w->stacks, p) >= 0 || cgx__block_of(c->thread, p);
}

static cgx_status transfer(cgx_stream stream, const item *what)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!what->width || !what->height || !what->depth)
        return CGX_OK;
    if (!what->to || (what->kind == ITEM_COPY && !what->from) || is_private(&c, what->to) ||
        (what->kind == ITEM_COPY && is_private(&c, what->from)) ||
        (what->height * what->depth > 1 && what->to_pitch < what->width) ||
        (what->depth > 1 && what->to_rows < what->height) ||
        (what->kind == ITEM_COPY && ((what->height * what->depth > 1 && what->from_pitch < what->width) ||
                                     (what->depth > 1 && what->from_rows < what->height))))
        return result(&c, CGX_ERROR_INVALID);
    item *i = cgx__item_new(c.w, c.grid, what->kind, 0);
    if (!i)
        return result(&c, CGX_ERROR_OUT_OF_MEMORY);
    i->to = what->to, i->to_pitch = what->to_pitch, i->to_rows = what->to_rows;
    i->from = what->from, i->from_pitch = what->from_pitch, i->from_rows = what->from_rows;
    i->width = what->width, i->height = what->height, i->depth = what->depth;
    i->value = what->value;
    return result(&c, submit(&c, i, stream));
}

cgx_status cgx_stream_copy_3d(cgx_stream stream, void *destination, size_t destination_pitch, size_t destination_rows,
                              const void *source, size_t source_pitch, size_t source_rows, size_t width, size_t height,
                              size_t depth)
{
    item what;
    what.kind = ITEM_COPY;
    what.to = destination, what.to_pitch = destination_pitch, what.to_rows = destination_rows;
    what.from = source, what.from_pitch = source_pitch, what.from_rows = source_rows;
    what.width = width, what.height = height, what.depth = depth;
    what.value = 0;
    return transfer(stream, &what);
}
cgx_status cgx_stream_copy_2d(cgx_stream stream, void *destination, size_t destination_pitch, const void *source,
                              size_t source_pitch, size_t width, size_t height)
{
    return cgx_stream_copy_3d(stream, destination, destination_pitch, height, source, source_pitch, height, width,
                              height, 1);
}
cgx_status cgx_stream_copy(cgx_stream stream, void *destination, const void *source, size_t bytes)
{
    return cgx_stream_copy_3d(stream, destination, bytes, 1, source, bytes, 1, bytes, 1, 1);
}

cgx_status cgx_stream_fill_3d(cgx_stream stream, void *memory, size_t pitch, size_t rows, uint8_t value, size_t width,
                              size_t height, size_t depth)
{
    item what;
    what.kind = ITEM_FILL;
    what.to = memory, what.to_pitch = pitch, what.to_rows = rows;
    what.from = NULL, what.from_pitch = what.from_rows = 0;
    what.width = width, what.height = height, what.depth = depth;
    what.value = value;
    return transfer(stream, &what);
}
cgx_status cgx_stream_fill_2d(cgx_stream stream, void *memory, size_t pitch, uint8_t value, size_t width, size_t height)
{
    return cgx_stream_fill_3d(stream, memory, pitch, height, value, width, height, 1);
}
cgx_status cgx_stream_fill(cgx_stream stream, void *memory, uint8_t value, size_t bytes)
{
    return cgx_stream_fill_3d(stream, memory, bytes, 1, value, bytes, 1, 1);
}

/* ---- the heap ---- */

cgx_status cgx_heap_alloc(size_t bytes, void **memory)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!memory)
        return result(&c, CGX_ERROR_INVALID);
    void *p = cgx__heap_take(bytes);
    if (!p)
        return result(&c, CGX_ERROR_OUT_OF_MEMORY);
    *memory = p;
    return CGX_OK;
}

cgx_status cgx_heap_free(void *memory)
{
    caller c;
    cgx_status s = called_by(&c);
    return s ? s : result(&c, !memory || cgx__heap_give_back(memory) ? CGX_OK : CGX_ERROR_INVALID);
}

/* ---- questions ---- */

/* Of any thread of a kernel: S, with nothing written, if the question itself fails. */
#define ASK(pointer, answer)                  \
    caller c;                                 \
    cgx_status s = called_by(&c);             \
    if (s)                                    \
        return s;                             \
    if (!(pointer))                           \
        return result(&c, CGX_ERROR_INVALID); \
    *(pointer) = (answer);                    \
    return CGX_OK

cgx_status cgx_runtime_device_count(int *count)
{
    ASK(count, 1);
}
cgx_status cgx_runtime_device(int *device)
{
    ASK(device, 0);
}
cgx_status cgx_runtime_cache_config(cgx_cache_config *config)
{
    ASK(config, CGX_CACHE_DEFAULT);
}
cgx_status cgx_runtime_version(int *version)
{
    ASK(version, 1000 * CGX_VERSION_MAJOR + 10 * CGX_VERSION_MINOR);
}

cgx_status cgx_runtime_attribute(cgx_attribute attribute, int device, int *value)
{
    caller c;
    cgx_device_info d = CGX_DEVICE_INFO_INIT;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (device != 0)
        return result(&c, CGX_ERROR_NO_DEVICE);
    if (!value || (unsigned)attribute >= CGX__ATTRIBUTE_COUNT || cgx_device_get_info(cgx__cpu_device(), &d))
        return result(&c, CGX_ERROR_INVALID);
    switch (attribute) {
#define CASE(symbol, member, cuda) \
    case CGX_ATTRIBUTE_##symbol: *value = (int)d.member; break;
        CGX_FOREACH_ATTRIBUTE(CASE)
#undef CASE
    case CGX__ATTRIBUTE_COUNT: break;
    }
    return CGX_OK;
}

cgx_status cgx_runtime_limit(cgx_limit limit, size_t *value)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!value || (limit != CGX_LIMIT_HEAP_BYTES && limit != CGX_LIMIT_PENDING_LAUNCHES))
        return result(&c, CGX_ERROR_INVALID);
    *value = limit == CGX_LIMIT_HEAP_BYTES ? cgx__heap_limit() : cgx__family_limit();
    return CGX_OK;
}

cgx_status cgx_runtime_occupancy(cgx_device_kernel kernel, int threads, size_t dynamic_shared, int *blocks_per_unit)
{
    caller c;
    int per_unit, cooperative;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!kernel || !blocks_per_unit)
        return result(&c, CGX_ERROR_INVALID);
    s = cgx__check_occupancy(cgx__cpu_device(), kernel, threads, dynamic_shared, "cgx_runtime_occupancy", &per_unit,
                             &cooperative);
    if (!s)
        *blocks_per_unit = per_unit;
    return result(&c, s);
}

cgx_status cgx_runtime_best_block_with(cgx_device_kernel kernel, size_t dynamic_shared, size_t bytes_a_thread,
                                       int *threads, int *blocks)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!kernel || !threads || !blocks)
        return result(&c, CGX_ERROR_INVALID);
    return result(&c, cgx__find_best_block(cgx__cpu_device(), kernel, dynamic_shared, bytes_a_thread, threads, blocks));
}
cgx_status cgx_runtime_best_block(cgx_device_kernel kernel, size_t dynamic_shared, int *threads, int *blocks)
{
    return cgx_runtime_best_block_with(kernel, dynamic_shared, 0, threads, blocks);
}

cgx_status cgx_runtime_kernel_info(cgx_device_kernel kernel, cgx_device_kernel_info *info)
{
    caller c;
    const cgx_kernel *k = kernel;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    if (!k || !info)
        return result(&c, CGX_ERROR_INVALID);
    cgx_config one = cgx_config_make(cgx_dim(1, 1, 1), k->flags & CGX_KERNEL_FIXED_BLOCK ? k->block : cgx_dim(1, 1, 1));
    cgx_launch_request r;
    if (k->flags & CGX_KERNEL_IS_COOPERATIVE)
        one.flags |= CGX_LAUNCH_COOPERATIVE;
    if ((s = cgx__check_launch(cgx__cpu_device(), k, &one, "", k->argument_bytes, &r)))
        return result(&c, s);
    info->static_shared_bytes = r.shared.fixed;
    info->local_bytes = cgx__stack_bytes();
    info->registers = 0;
    info->max_threads =
        k->max_threads && (int)k->max_threads < CGX__MAX_THREADS ? (int)k->max_threads : CGX__MAX_THREADS;
    return CGX_OK;
}

/* ---- errors ---- */

cgx_status cgx_runtime_peek_error(void)
{
    caller c;
    cgx_status s = called_by(&c);
    return s ? s : c.block->threads[c.rank].error;
}
cgx_status cgx_runtime_last_error(void)
{
    caller c;
    cgx_status s = called_by(&c);
    if (s)
        return s;
    s = c.block->threads[c.rank].error;
    c.block->threads[c.rank].error = CGX_OK;
    return s;
}
const char *cgx_runtime_status_name(cgx_status status)
{
    return cgx_status_name(status);
}
const char *cgx_runtime_status_text(cgx_status status)
{
    return cgx_status_text(status);
}

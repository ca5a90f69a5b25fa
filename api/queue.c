/* SPDX-License-Identifier: MIT */
/* Queues, events, memory and copies: arguments are checked here, once, for every backend. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* ---- handles ---- */

static pthread_mutex_t handles = PTHREAD_MUTEX_INITIALIZER;
static handle *retired_first, *retired_last;
static int retired;
enum { KEEP_RETIRED = 256 };

handle *cgx__handle_new(size_t bytes)
{
    handle *h = NULL;
    pthread_mutex_lock(&handles);
    if (retired > KEEP_RETIRED) {
        h = retired_first;
        retired_first = h->next;
        retired--;
    }
    pthread_mutex_unlock(&handles);
    if (!h)
        h = malloc(bytes);
    if (h)
        memset(h, 0, bytes);
    return h;
}

void cgx__handle_retire(handle *h)
{
    pthread_mutex_lock(&handles);
    h->state = HANDLE_DEAD;
    h->next = NULL;
    if (retired++)
        retired_last->next = h;
    else
        retired_first = h;
    retired_last = h;
    pthread_mutex_unlock(&handles);
}

static cgx_status check_handle(const handle *h, const char *what, const char *kind)
{
    cgx_status s = cgx__check_process(what);
    if (s)
        return s;
    if (!h)
        return cgx__fail(CGX_ERROR_INVALID, "%s: the %s is NULL", what, kind);
    if (h->state != HANDLE_LIVE)
        return cgx__fail(CGX_ERROR_INVALID, "%s: the %s has been destroyed", what, kind);
    return CGX_OK;
}
cgx_status cgx__check_queue(const cgx_queue *queue, const char *what)
{
    return check_handle((const handle *)queue, what, "queue"); /* may be NULL */
}
cgx_status cgx__check_event(const cgx_event *event, const char *what)
{
    return check_handle((const handle *)event, what, "event");
}

#define CHECK(call)                  \
    do {                             \
        cgx_status status_ = (call); \
        if (status_)                 \
            return status_;          \
    } while (0)
#define BACKEND(x) ((x)->h.device->backend)

/* ---- queues ---- */

static cgx_status make_queue(cgx_device *device, void *native, const char *what, cgx_queue **queue)
{
    CHECK(cgx__check_process(what));
    if (!device || !queue)
        return cgx__fail(CGX_ERROR_INVALID, "%s: NULL argument", what);
    cgx_queue *q = (cgx_queue *)cgx__handle_new(sizeof(union {
        cgx_queue q;
        cgx_event e;
    }));
    if (!q)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "%s: not enough memory", what);
    cgx_status s = device->backend->queue_create(device->index, native, &q->h.implementation);
    if (s) {
        free(q);
        return s;
    }
    q->h.device = device;
    q->h.state = HANDLE_LIVE;
    *queue = q;
    return CGX_OK;
}

cgx_status cgx_queue_create(cgx_device *device, cgx_queue **queue)
{
    return make_queue(device, NULL, "cgx_queue_create", queue);
}

cgx_status cgx_queue_open(const char *name, cgx_queue **queue)
{
    cgx_device *device = NULL;
    CHECK(cgx_device_find(name, &device));
    return make_queue(device, NULL, "cgx_queue_open", queue);
}

cgx_status cgx_queue_from_native(cgx_device *device, void *stream, cgx_queue **queue)
{
    if (device && !stream)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_queue_from_native: the stream is NULL");
    return make_queue(device, stream, "cgx_queue_from_native", queue);
}

cgx_status cgx_queue_close(cgx_queue **queue)
{
    if (!queue || !*queue)
        return CGX_OK;
    cgx_queue *q = *queue;
    CHECK(cgx__check_queue(q, "cgx_queue_close"));
    cgx_status s = BACKEND(q)->queue_wait(q->h.implementation);
    cgx__forget_launches();
    BACKEND(q)->queue_destroy(q->h.implementation);
    cgx__handle_retire(&q->h);
    *queue = NULL;
    return s;
}

cgx_status cgx_queue_wait(cgx_queue *queue)
{
    CHECK(cgx__check_queue(queue, "cgx_queue_wait"));
    return BACKEND(queue)->queue_wait(queue->h.implementation);
}

cgx_status cgx_queue_query(cgx_queue *queue)
{
    CHECK(cgx__check_queue(queue, "cgx_queue_query"));
    return BACKEND(queue)->queue_query(queue->h.implementation);
}

cgx_status cgx_queue_get_device(const cgx_queue *queue, cgx_device **device)
{
    CHECK(cgx__check_queue(queue, "cgx_queue_get_device"));
    if (!device)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_queue_get_device: device is NULL");
    *device = queue->h.device;
    return CGX_OK;
}

cgx_status cgx_queue_get_info(const cgx_queue *queue, cgx_device_info *info)
{
    CHECK(cgx__check_queue(queue, "cgx_queue_get_info"));
    return cgx_device_get_info(queue->h.device, info);
}

cgx_status cgx_queue_get_native(cgx_queue *queue, void **context, void **stream)
{
    CHECK(cgx__check_queue(queue, "cgx_queue_get_native"));
    if (!context || !stream)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_queue_get_native: NULL argument");
    return BACKEND(queue)->queue_native(queue->h.implementation, context, stream);
}

/* ---- events ---- */

cgx_status cgx_event_create(cgx_queue *queue, cgx_event **event)
{
    CHECK(cgx__check_queue(queue, "cgx_event_create"));
    if (!event)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_event_create: event is NULL");
    cgx_event *e = (cgx_event *)cgx__handle_new(sizeof(union {
        cgx_queue q;
        cgx_event e;
    }));
    if (!e)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cgx_event_create: not enough memory");
    e->h.device = queue->h.device;
    cgx_status s = BACKEND(e)->event_create(e->h.device->index, &e->h.implementation);
    if (s) {
        free(e);
        return s;
    }
    e->h.state = HANDLE_LIVE;
    *event = e;
    return CGX_OK;
}

cgx_status cgx_event_destroy(cgx_event **event)
{
    if (!event || !*event)
        return CGX_OK;
    cgx_event *e = *event;
    CHECK(cgx__check_event(e, "cgx_event_destroy"));
    BACKEND(e)->event_wait(e->h.implementation);
    BACKEND(e)->event_destroy(e->h.implementation);
    cgx__handle_retire(&e->h);
    *event = NULL;
    return CGX_OK;
}

static cgx_status check_pair(const cgx_event *event, const cgx_queue *queue, const char *what)
{
    CHECK(cgx__check_event(event, what));
    CHECK(cgx__check_queue(queue, what));
    if (BACKEND(event) != BACKEND(queue))
        return cgx__fail(CGX_ERROR_INVALID,
                         "%s: the event belongs to %s, the queue to %s; wait for the event on the host", what,
                         event->h.device->name, queue->h.device->name);
    return CGX_OK;
}

cgx_status cgx_event_record(cgx_event *event, cgx_queue *queue)
{
    CHECK(check_pair(event, queue, "cgx_event_record"));
    CHECK(BACKEND(queue)->enqueue_record(event->h.implementation, queue->h.implementation));
    __atomic_store_n(&event->recorded, 1, __ATOMIC_RELEASE);
    return CGX_OK;
}

cgx_status cgx_queue_wait_event(cgx_queue *queue, cgx_event *event)
{
    CHECK(check_pair(event, queue, "cgx_queue_wait_event"));
    return BACKEND(queue)->enqueue_wait(queue->h.implementation, event->h.implementation);
}

cgx_status cgx_event_wait(cgx_event *event)
{
    CHECK(cgx__check_event(event, "cgx_event_wait"));
    return BACKEND(event)->event_wait(event->h.implementation);
}

cgx_status cgx_event_query(cgx_event *event)
{
    CHECK(cgx__check_event(event, "cgx_event_query"));
    return BACKEND(event)->event_query(event->h.implementation);
}

cgx_status cgx_event_elapsed(cgx_event *first, cgx_event *last, double *seconds)
{
    CHECK(cgx__check_event(first, "cgx_event_elapsed"));
    CHECK(cgx__check_event(last, "cgx_event_elapsed"));
    if (!seconds || first->h.device != last->h.device)
        return cgx__fail(CGX_ERROR_INVALID,
                         "cgx_event_elapsed: seconds is NULL, or the events are of different devices");
    if (!__atomic_load_n(&first->recorded, __ATOMIC_ACQUIRE) || !__atomic_load_n(&last->recorded, __ATOMIC_ACQUIRE))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_event_elapsed: an event was never recorded");
    return BACKEND(first)->event_elapsed(first->h.implementation, last->h.implementation, seconds);
}

/* ---- memory ---- */

cgx_status cgx_alloc(cgx_queue *queue, size_t bytes, cgx_memory_kind kind, void **memory)
{
    CHECK(cgx__check_queue(queue, "cgx_alloc"));
    if (!memory || (int)kind < CGX_MEM_DEVICE || kind > CGX_MEM_SHARED)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_alloc: memory is NULL or the kind is unknown");
    return BACKEND(queue)->alloc(queue->h.device->index, bytes, kind, memory);
}

cgx_status cgx_free(cgx_queue *queue, void *memory)
{
    CHECK(cgx__check_queue(queue, "cgx_free"));
    if (!memory)
        return CGX_OK;
    cgx_status s = BACKEND(queue)->queue_wait(queue->h.implementation);
    cgx_status f = BACKEND(queue)->free(queue->h.device->index, memory);
    return f ? f : s;
}

cgx_status cgx_alloc_async(cgx_queue *queue, size_t bytes, void **memory)
{
    CHECK(cgx__check_queue(queue, "cgx_alloc_async"));
    if (!memory)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_alloc_async: memory is NULL");
    return BACKEND(queue)->enqueue_alloc(queue->h.implementation, bytes, memory);
}

cgx_status cgx_free_async(cgx_queue *queue, void *memory)
{
    CHECK(cgx__check_queue(queue, "cgx_free_async"));
    return memory ? BACKEND(queue)->enqueue_free(queue->h.implementation, memory) : CGX_OK;
}

/* ---- copies and fills ---- */

cgx_status cgx_copy_2d(cgx_queue *queue, void *destination, size_t destination_pitch, const void *source,
                       size_t source_pitch, size_t width, size_t height)
{
    CHECK(cgx__check_queue(queue, "cgx_copy"));
    if (!width || !height)
        return CGX_OK;
    if (!destination || !source)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_copy: %s is NULL", destination ? "the source" : "the destination");
    if (height > 1 && (destination_pitch < width || source_pitch < width))
        return cgx__fail(CGX_ERROR_INVALID,
                         "cgx_copy_2d: rows of %s bytes, pitches of %s and %s; a pitch is at least a row",
                         cgx__size(width), cgx__size(destination_pitch), cgx__size(source_pitch));
    size_t span;
    if (__builtin_mul_overflow(destination_pitch, height, &span) || __builtin_mul_overflow(source_pitch, height, &span))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_copy_2d: more bytes than there are addresses");
    return BACKEND(queue)->enqueue_copy(queue->h.implementation, destination, destination_pitch, source, source_pitch,
                                        width, height);
}

cgx_status cgx_copy(cgx_queue *queue, void *destination, const void *source, size_t bytes)
{
    return cgx_copy_2d(queue, destination, bytes, source, bytes, bytes, 1);
}

cgx_status cgx_copy_peer(cgx_queue *queue, void *destination, const void *source, cgx_device *source_device,
                         size_t bytes)
{
    CHECK(cgx__check_queue(queue, "cgx_copy_peer"));
    if (!source_device || (bytes && (!destination || !source)))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_copy_peer: NULL argument");
    if (!bytes)
        return CGX_OK;
    if (source_device->backend != BACKEND(queue)) {
        /* Only the CPU's memory is reachable from another backend's queue, as host memory. */
        if (source_device->info.capabilities & CGX_CAN_UNIFIED)
            return cgx_copy(queue, destination, source, bytes);
        return cgx__fail(CGX_ERROR_UNSUPPORTED, "cgx_copy_peer: %s cannot read memory of %s; copy through host memory",
                         queue->h.device->name, source_device->name);
    }
    return BACKEND(queue)->enqueue_copy_peer(queue->h.implementation, destination, source, source_device->index, bytes);
}

cgx_status cgx_fill(cgx_queue *queue, void *memory, const void *pattern, size_t pattern_bytes, size_t count)
{
    size_t bytes;
    CHECK(cgx__check_queue(queue, "cgx_fill"));
    if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4 && pattern_bytes != 8 && pattern_bytes != 16)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_fill: a pattern of %s bytes asked; 1, 2, 4, 8 and 16 work",
                         cgx__size(pattern_bytes));
    if (__builtin_mul_overflow(pattern_bytes, count, &bytes))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_fill: more bytes than there are addresses");
    if (!pattern || (count && !memory))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_fill: NULL argument");
    if (!count)
        return CGX_OK;
    return BACKEND(queue)->enqueue_fill(queue->h.implementation, memory, pattern, pattern_bytes, count);
}

#define FILL(suffix, T)                                                                 \
    cgx_status cgx_fill_##suffix(cgx_queue *queue, void *memory, T value, size_t count) \
    {                                                                                   \
        return cgx_fill(queue, memory, &value, sizeof value, count);                    \
    }
FILL(u8, uint8_t)
FILL(i32, int32_t)
FILL(i64, int64_t)
FILL(f32, float)
FILL(f64, double)

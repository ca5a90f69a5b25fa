/* SPDX-License-Identifier: MIT */
/* HIP pass: the device runtime. The hardware launches nothing: what a thread asks for is written down (<cgx/requests.h>), and the host
 * does it when the thread's grid is over. What can be known at once is answered at once. */
#ifndef CGX_HIP_DEVICE_RUNTIME_H
#define CGX_HIP_DEVICE_RUNTIME_H
#include <cgx/gpu_device_runtime.h>
#include <cgx/requests.h>

extern "C++" {

/* ---- who asks ---- */

/* The hidden parameter, without being given it: it is the last of the kernel's own, and the compiler's follow it. What the kernel
 * has of it may have changed; record, kernel and grid do not. */
CGX__INLINE const cgx__thread *cgx__hidden(void)
{
    return (const cgx__thread *)__builtin_amdgcn_implicitarg_ptr() - 1;
}
CGX__INLINE uint64_t cgx__block_number(void)
{
    const cgx_dim3 at = cgx__gpu_block(), n = cgx__gpu_blocks();
    return ((uint64_t)at.z * (uint64_t)n.y + (uint64_t)at.y) * (uint64_t)n.x + (uint64_t)at.x;
}
/* The queue of requests; ends the thread in a kernel that may not ask. */
CGX__NOINLINE cgx__requests *cgx__requests_here(void)
{
    const cgx__thread *t = cgx__hidden();
    if (!t->grid)
        cgx__misuse(t, CGX__MISUSE_NOT_LAUNCHING, 0);
    return cgx__record(t)->requests;
}
CGX__INLINE uint32_t cgx__ask_add(uint32_t *p, uint32_t v)
{
    return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* ---- the thread's last error: few have one, so that there is a table of those ---- */

CGX__INLINE uint64_t cgx__thread_number(void)
{
    return (uint64_t)cgx__hidden()->grid << 53 | cgx__block_number() << 10 | (uint64_t)cgx__rank_in_block();
}
/* The thread's entry, or with MAKE a new one; NULL if there is none. */
CGX__NOINLINE cgx__last_error *cgx__find_error(cgx__requests *q, int make)
{
    const uint64_t me = cgx__thread_number();
    uint64_t at = me * 0x9e3779b97f4a7c15u >> 40;
    for (int i = 0; i < CGX__LAST_ERRORS; i++, at++) {
        cgx__last_error *e = q->last_errors + at % CGX__LAST_ERRORS;
        uint64_t whose = __hip_atomic_load(&e->thread, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        if (whose == 0 && make &&
            __hip_atomic_compare_exchange_strong(&e->thread, &whose, me, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_AGENT)) {
            cgx__ask_add(&q->errors, 1);
            return e;
        }
        if (whose == me)
            return e;
        if (whose == 0 && !make)
            return 0;
    }
    return 0;
}
/* S, which becomes the thread's last error if it is one. */
CGX__NOINLINE cgx_status cgx__failed(cgx__requests *q, cgx_status s)
{
    cgx__last_error *e = s ? cgx__find_error(q, 1) : 0;
    if (e)
        e->status = (int64_t)s;
    return s;
}
CGX__RUNTIME cgx_status cgx_runtime_peek_error(void)
{
    const cgx__last_error *e = cgx__find_error(cgx__requests_here(), 0);
    return e ? (cgx_status)e->status : CGX_OK;
}
CGX__RUNTIME cgx_status cgx_runtime_last_error(void)
{
    cgx__last_error *e = cgx__find_error(cgx__requests_here(), 0);
    const cgx_status s = e ? (cgx_status)e->status : CGX_OK;
    if (e)
        e->status = CGX_OK;
    return s;
}

/* ---- requests ---- */

/* Room for a request with BYTES behind it, of which all but its kind is filled in; or NULL. */
CGX__NOINLINE cgx__request *cgx__ask_open(cgx__requests *q, cgx_stream stream, uint64_t bytes)
{
    const uint64_t words = (sizeof(cgx__request) + bytes + 15) / 16 * 2;
    const uint64_t at = __hip_atomic_fetch_add(&q->words, words, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    if (at + words > q->room_words)
        return 0;
    cgx__request *r = reinterpret_cast<cgx__request *>(q->memory + 8 * at);
    r->words = (uint32_t)words;
    r->grid = cgx__hidden()->grid;
    r->thread = (uint32_t)cgx__rank_in_block();
    r->block = cgx__block_number();
    r->stream = (uint64_t)stream;
    return r;
}
CGX__INLINE cgx_status cgx__ask_close(cgx__request *r, uint32_t kind)
{
    __hip_atomic_store(&r->kind, kind, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
    return CGX_OK;
}
/* Whether one more may be on its way. */
CGX__INLINE bool cgx__ask_counted(cgx__requests *q)
{
    return __hip_atomic_load(&q->asked, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) < q->room &&
           cgx__ask_add(&q->asked, 1) < q->room;
}

/* ---- streams and events: a number, and whose it is ---- */

CGX__INLINE cgx_status cgx__make_handle(int is_event, uint64_t *handle)
{
    cgx__requests *q = cgx__requests_here();
    const uint32_t grid = cgx__hidden()->grid, i = cgx__ask_add(&q->handles, 1);
    if (i >= CGX__HANDLES)
        return cgx__failed(q, CGX_ERROR_OUT_OF_MEMORY);
    q->owners[i] = 2 * grid + (uint32_t)is_event;
    *handle = (uint64_t)grid << 32 | (uint64_t)i << 4 | (uint64_t)is_event << 3;
    return CGX_OK;
}
CGX__INLINE bool cgx__is_handle(const cgx__requests *q, uint64_t handle, int is_event)
{
    const uint32_t grid = cgx__hidden()->grid, i = (uint32_t)handle >> 4;
    return handle >> 32 == grid && (handle & 15) == (uint64_t)is_event << 3 && i < CGX__HANDLES &&
           q->owners[i] == 2 * grid + (uint32_t)is_event;
}
CGX__INLINE bool cgx__is_ordered(const cgx__requests *q, cgx_stream stream)
{
    return stream == CGX_BLOCK_STREAM || stream == CGX_THREAD_STREAM || cgx__is_handle(q, (uint64_t)stream, 0);
}
CGX__INLINE bool cgx__is_stream(const cgx__requests *q, cgx_stream stream)
{
    return stream == CGX_FIRE_AND_FORGET || stream == CGX_TAIL_LAUNCH || cgx__is_ordered(q, stream);
}
template <class H> CGX__INLINE cgx_status cgx__create_handle(H *to, bool flags_are_right, int is_event)
{
    uint64_t handle;
    if (!to || !flags_are_right)
        return cgx__failed(cgx__requests_here(), CGX_ERROR_INVALID);
    const cgx_status s = cgx__make_handle(is_event, &handle);
    if (!s)
        *to = (H)handle;
    return s;
}
CGX__INLINE cgx_status cgx__destroy_handle(uint64_t handle, int is_event)
{
    cgx__requests *q = cgx__requests_here();
    if (!cgx__is_handle(q, handle, is_event))
        return cgx__failed(q, CGX_ERROR_INVALID);
    q->owners[(uint32_t)handle >> 4] = 0;
    return CGX_OK;
}
CGX__NOINLINE cgx_status cgx__ask_event(cgx_stream stream, cgx_stream_event event, uint32_t kind)
{
    cgx__requests *q = cgx__requests_here();
    if (!cgx__is_ordered(q, stream) || !cgx__is_handle(q, (uint64_t)event, 1))
        return cgx__failed(q, CGX_ERROR_INVALID);
    cgx__request *r = cgx__ask_open(q, stream, 0);
    if (!r)
        return cgx__failed(q, CGX_ERROR_OUT_OF_MEMORY);
    r->of.event = (uint64_t)event;
    return cgx__ask_close(r, kind);
}

CGX__RUNTIME cgx_status cgx_stream_create(cgx_stream *stream, unsigned flags)
{
    return cgx__create_handle(stream, flags == CGX_STREAM_NON_BLOCKING, 0);
}
CGX__RUNTIME cgx_status cgx_stream_destroy(cgx_stream stream)
{
    return cgx__destroy_handle((uint64_t)stream, 0);
}
CGX__RUNTIME cgx_status cgx_stream_wait_event(cgx_stream stream, cgx_stream_event event)
{
    return cgx__ask_event(stream, event, CGX__ASK_WAIT);
}
CGX__RUNTIME cgx_status cgx_stream_event_create(cgx_stream_event *event, unsigned flags)
{
    return cgx__create_handle(event, flags == CGX_EVENT_NO_TIMING, 1);
}
CGX__RUNTIME cgx_status cgx_stream_event_destroy(cgx_stream_event event)
{
    return cgx__destroy_handle((uint64_t)event, 1);
}
CGX__RUNTIME cgx_status cgx_stream_event_record(cgx_stream_event event, cgx_stream stream)
{
    return cgx__ask_event(stream, event, CGX__ASK_RECORD);
}

/* ---- launches ---- */

/* The image's kernels that are launched by kernels: cgx__children[0] is their table's begin, [1] its end. */
extern "C" {
extern __device__ __attribute__((weak, visibility("hidden"))) cgx__child __start_cgx_children[];
extern __device__ __attribute__((weak, visibility("hidden"))) cgx__child __stop_cgx_children[];
inline __device__ cgx__child *cgx__image_children[2] = { __start_cgx_children, __stop_cgx_children };
}

/* Whether KERNEL is one, and its number. */
CGX__INLINE bool cgx__child_number(cgx_device_kernel kernel, uint32_t *number)
{
    const uint64_t first = (uint64_t)cgx__image_children[0], at = (uint64_t)kernel - first;
    *number = (uint32_t)(at / sizeof(cgx__child));
    return (uint64_t)kernel >= first && (uint64_t)kernel < (uint64_t)cgx__image_children[1] &&
           at % sizeof(cgx__child) == 0;
}
CGX__INLINE int cgx__own_attribute(const cgx__requests *q, cgx_attribute which)
{
    return q->attributes[(int)CGX__ATTRIBUTE_COUNT * q->device + (int)which];
}
/* As api/launch.c does for the host. */
CGX__NOINLINE cgx_status cgx__check_child(const cgx__requests *q, const cgx__child *k, const cgx_config &c)
{
    if (c.size < sizeof c || c.grid.x <= 0 || c.grid.y <= 0 || c.grid.z <= 0 || c.block.x <= 0 || c.block.y <= 0 ||
        c.block.z <= 0)
        return CGX_ERROR_INVALID;
    if ((c.flags & CGX_LAUNCH_COOPERATIVE) || (k->flags & CGX_KERNEL_IS_COOPERATIVE) || c.cluster.x > 1 ||
        c.cluster.y > 1 || c.cluster.z > 1)
        return CGX_ERROR_UNSUPPORTED;
    const uint64_t row = (uint64_t)c.block.x * (uint64_t)c.block.y, most = (uint64_t)k->fits_threads;
    if (row > most || row * (uint64_t)c.block.z > most ||
        (k->max_threads && row * (uint64_t)c.block.z > k->max_threads) ||
        c.block.x > cgx__own_attribute(q, CGX_ATTRIBUTE_MAX_BLOCK_X) ||
        c.block.y > cgx__own_attribute(q, CGX_ATTRIBUTE_MAX_BLOCK_Y) ||
        c.block.z > cgx__own_attribute(q, CGX_ATTRIBUTE_MAX_BLOCK_Z) ||
        c.grid.x > cgx__own_attribute(q, CGX_ATTRIBUTE_MAX_GRID_X) ||
        c.grid.y > cgx__own_attribute(q, CGX_ATTRIBUTE_MAX_GRID_Y) ||
        c.grid.z > cgx__own_attribute(q, CGX_ATTRIBUTE_MAX_GRID_Z) ||
        (uint64_t)c.grid.x * (uint64_t)c.block.x > 0xffffffffu) /* the packet counts threads */
        return CGX_ERROR_LIMIT;
    if ((k->flags & CGX_KERNEL_FIXED_BLOCK) &&
        (c.block.x != k->block.x || c.block.y != k->block.y || c.block.z != k->block.z))
        return CGX_ERROR_LIMIT;
    const uint64_t shared = (uint64_t)cgx__own_attribute(q, CGX_ATTRIBUTE_SHARED_BYTES_PER_BLOCK);
    return k->static_shared > shared || c.dynamic_shared > shared - k->static_shared ? CGX_ERROR_LIMIT : CGX_OK;
}

CGX__NOINLINE cgx_status cgx__ask_launch(cgx_stream stream, cgx_device_kernel kernel, const cgx_config &c,
                                         const void *parameters)
{
    cgx__requests *q = cgx__requests_here();
    const cgx__child *k = static_cast<const cgx__child *>(kernel);
    uint32_t number;
    if (!cgx__child_number(kernel, &number) || !cgx__is_stream(q, stream))
        return cgx__failed(q, CGX_ERROR_INVALID);
    const cgx_status s = cgx__check_child(q, k, c);
    if (s)
        return cgx__failed(q, s);
    cgx__request *r = cgx__ask_counted(q) ? cgx__ask_open(q, stream, k->argument_bytes) : 0;
    if (!r)
        return cgx__failed(q, CGX_ERROR_LIMIT);
    r->of.launch.kernel = number;
    r->of.launch.dynamic_shared = (uint32_t)c.dynamic_shared;
    r->of.launch.grid = c.grid;
    r->of.launch.block = c.block;
    for (uint32_t i = 0; i < k->argument_bytes; i += 4) /* structs with the hidden parameter are multiples of 8 */
        *reinterpret_cast<uint32_t *>(reinterpret_cast<char *>(r + 1) + i) =
            *reinterpret_cast<const uint32_t *>(static_cast<const char *>(parameters) + i);
    return cgx__ask_close(r, CGX__ASK_LAUNCH);
}

/* A buffer is a request whose arguments are copied into the launch's. */
CGX__RUNTIME cgx_status cgx_launch_buffer(cgx_device_kernel kernel, size_t bytes, void **buffer)
{
    cgx__requests *q = cgx__requests_here();
    uint32_t number;
    if (!buffer || !cgx__child_number(kernel, &number) ||
        bytes != static_cast<const cgx__child *>(kernel)->argument_bytes)
        return cgx__failed(q, CGX_ERROR_INVALID);
    cgx__request *r = cgx__ask_open(q, 0, bytes);
    if (!r)
        return cgx__failed(q, CGX_ERROR_OUT_OF_MEMORY);
    r->of.launch.kernel = number;
    cgx__ask_close(r, CGX__ASK_BUFFER);
    *buffer = r + 1;
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_launch_with_buffer(cgx_stream stream, cgx_device_kernel kernel, cgx_config config,
                                               void *buffer)
{
    cgx__requests *q = cgx__requests_here();
    cgx__request *r = static_cast<cgx__request *>(buffer) - 1;
    const uint64_t at = (uint64_t)r - (uint64_t)q->memory;
    uint32_t number;
    if (!buffer || at % 16 || at >= 8 * q->room_words || r->kind != CGX__ASK_BUFFER || r->grid != cgx__hidden()->grid ||
        !cgx__child_number(kernel, &number) || r->of.launch.kernel != number)
        return cgx__failed(q, CGX_ERROR_INVALID);
    r->kind = CGX__ASK_NOTHING;
    return cgx__ask_launch(stream, kernel, config, buffer);
}

/* ---- copies and fills ---- */

CGX__INLINE bool cgx__is_private(const void *p)
{
    return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void *)p) ||
           __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void *)p);
}
CGX__NOINLINE cgx_status cgx__ask_transfer(cgx_stream stream, uint32_t kind, void *to, uint64_t to_pitch,
                                           uint64_t to_rows, const void *from, uint64_t from_pitch, uint64_t from_rows,
                                           uint64_t width, uint64_t height, uint64_t depth, uint8_t value)
{
    cgx__requests *q = cgx__requests_here();
    if (!width || !height || !depth)
        return CGX_OK;
    const bool copies = kind == CGX__ASK_COPY;
    if (!to || cgx__is_private(to) || (copies && (!from || cgx__is_private(from))) ||
        (height * depth > 1 && (to_pitch < width || (copies && from_pitch < width))) ||
        (depth > 1 && (to_rows < height || (copies && from_rows < height))) || !cgx__is_stream(q, stream))
        return cgx__failed(q, CGX_ERROR_INVALID);
    cgx__request *r = cgx__ask_counted(q) ? cgx__ask_open(q, stream, 0) : 0;
    if (!r)
        return cgx__failed(q, CGX_ERROR_LIMIT);
    r->of.transfer.to = (uint64_t)to, r->of.transfer.to_pitch = to_pitch, r->of.transfer.to_rows = to_rows;
    r->of.transfer.from = (uint64_t)from, r->of.transfer.from_pitch = from_pitch;
    r->of.transfer.from_rows = from_rows;
    r->of.transfer.width = width, r->of.transfer.height = height, r->of.transfer.depth = depth;
    r->of.transfer.value = value;
    return cgx__ask_close(r, kind);
}

CGX__RUNTIME cgx_status cgx_stream_copy_3d(cgx_stream stream, void *destination, size_t destination_pitch,
                                           size_t destination_rows, const void *source, size_t source_pitch,
                                           size_t source_rows, size_t width, size_t height, size_t depth)
{
    return cgx__ask_transfer(stream, CGX__ASK_COPY, destination, destination_pitch, destination_rows, source,
                             source_pitch, source_rows, width, height, depth, 0);
}
CGX__RUNTIME cgx_status cgx_stream_copy_2d(cgx_stream stream, void *destination, size_t destination_pitch,
                                           const void *source, size_t source_pitch, size_t width, size_t height)
{
    return cgx_stream_copy_3d(stream, destination, destination_pitch, height, source, source_pitch, height, width,
                              height, 1);
}
CGX__RUNTIME cgx_status cgx_stream_copy(cgx_stream stream, void *destination, const void *source, size_t bytes)
{
    return cgx_stream_copy_3d(stream, destination, bytes, 1, source, bytes, 1, bytes, 1, 1);
}
CGX__RUNTIME cgx_status cgx_stream_fill_3d(cgx_stream stream, void *memory, size_t pitch, size_t rows, uint8_t value,
                                           size_t width, size_t height, size_t depth)
{
    return cgx__ask_transfer(stream, CGX__ASK_FILL, memory, pitch, rows, 0, 0, 0, width, height, depth, value);
}
CGX__RUNTIME cgx_status cgx_stream_fill_2d(cgx_stream stream, void *memory, size_t pitch, uint8_t value, size_t width,
                                           size_t height)
{
    return cgx_stream_fill_3d(stream, memory, pitch, height, value, width, height, 1);
}
CGX__RUNTIME cgx_status cgx_stream_fill(cgx_stream stream, void *memory, uint8_t value, size_t bytes)
{
    return cgx_stream_fill_3d(stream, memory, bytes, 1, value, bytes, 1, 1);
}

/* ---- the heap ---- */

/* Under the lock: the block at OFFSET, grown by the free ones behind it. */
CGX__INLINE cgx__heap_head *cgx__heap_block(cgx__heap *h, uint64_t offset)
{
    char *const blocks = reinterpret_cast<char *>(h + 1);
    cgx__heap_head *b = reinterpret_cast<cgx__heap_head *>(blocks + offset);
    while (!(b->size & 1) && offset + b->size < h->bytes) {
        cgx__heap_head *next = reinterpret_cast<cgx__heap_head *>(blocks + offset + b->size);
        if (next->size & 1)
            break;
        next->check = 0;
        b->size += next->size;
    }
    return b;
}
CGX__INLINE void *cgx__heap_find(cgx__heap *h, uint64_t need)
{
    uint64_t at = h->rover;
    for (uint64_t seen = 0; seen < 2 * h->bytes;) {
        cgx__heap_head *b = cgx__heap_block(h, at);
        const uint64_t size = b->size & ~(uint64_t)1;
        if (!(b->size & 1) && size >= need) {
            if (size - need >= 2 * sizeof *b) {
                cgx__heap_head *rest = reinterpret_cast<cgx__heap_head *>(reinterpret_cast<char *>(b) + need);
                rest->size = size - need;
                rest->check = CGX__HEAP_CHECK ^ (at + need);
                b->size = need;
            }
            b->size |= 1;
            b->check = CGX__HEAP_CHECK ^ at;
            at += b->size & ~(uint64_t)1;
            h->rover = at < h->bytes ? at : 0;
            return b + 1;
        }
        seen += size;
        at = at + size < h->bytes ? at + size : 0;
    }
    h->rover = 0; /* where it was may be inside a block now */
    return 0;
}
/* One thread at a time. What is locked stands inside the loop: lanes that wait must not keep the one that is in from going on. */
CGX__NOINLINE void *cgx__heap_take(cgx__heap *h, uint64_t need)
{
    void *p = 0;
    for (bool waiting = true; waiting;) {
        if (!cgx__device_exchange(&h->lock, 1)) {
            __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
            p = cgx__heap_find(h, need);
            __hip_atomic_store(&h->lock, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
            waiting = false;
        } else {
            cgx__gpu_pause();
        }
    }
    return p;
}
CGX__NOINLINE bool cgx__heap_give_back(cgx__heap *h, void *memory)
{
    char *const blocks = reinterpret_cast<char *>(h + 1);
    const uint64_t at = (uint64_t)memory - sizeof(cgx__heap_head) - (uint64_t)blocks;
    if ((uint64_t)memory % 16 || at >= h->bytes)
        return false;
    cgx__heap_head *b = reinterpret_cast<cgx__heap_head *>(blocks + at);
    bool given = false;
    for (bool waiting = true; waiting;) {
        if (!cgx__device_exchange(&h->lock, 1)) {
            __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
            given = b->check == (CGX__HEAP_CHECK ^ at) && (b->size & 1);
            if (given)
                b->size &= ~(uint64_t)1;
            __hip_atomic_store(&h->lock, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
            waiting = false;
        } else {
            cgx__gpu_pause();
        }
    }
    return given;
}

CGX__RUNTIME cgx_status cgx_heap_alloc(size_t bytes, void **memory)
{
    cgx__requests *q = cgx__requests_here();
    if (!memory)
        return cgx__failed(q, CGX_ERROR_INVALID);
    void *p = bytes < q->heap->bytes
                  ? cgx__heap_take(q->heap, ((uint64_t)bytes + sizeof(cgx__heap_head) + 15) & ~(uint64_t)15)
                  : 0;
    if (!p)
        return cgx__failed(q, CGX_ERROR_OUT_OF_MEMORY);
    *memory = p;
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_heap_free(void *memory)
{
    cgx__requests *q = cgx__requests_here();
    return !memory || cgx__heap_give_back(q->heap, memory) ? CGX_OK : cgx__failed(q, CGX_ERROR_INVALID);
}

/* ---- questions ---- */

#define CGX__ANSWER(pointer, value)               \
    cgx__requests *q = cgx__requests_here();      \
    if (!(pointer))                               \
        return cgx__failed(q, CGX_ERROR_INVALID); \
    *(pointer) = (value);                         \
    return CGX_OK
CGX__RUNTIME cgx_status cgx_runtime_device_count(int *count)
{
    CGX__ANSWER(count, q->devices);
}
CGX__RUNTIME cgx_status cgx_runtime_device(int *device)
{
    CGX__ANSWER(device, q->device);
}
CGX__RUNTIME cgx_status cgx_runtime_cache_config(cgx_cache_config *config)
{
    CGX__ANSWER(config, CGX_CACHE_DEFAULT);
}
CGX__RUNTIME cgx_status cgx_runtime_version(int *version)
{
    CGX__ANSWER(version, q->version);
}
#undef CGX__ANSWER
CGX__RUNTIME cgx_status cgx_runtime_attribute(cgx_attribute attribute, int device, int *value)
{
    cgx__requests *q = cgx__requests_here();
    if (device < 0 || device >= q->devices)
        return cgx__failed(q, CGX_ERROR_NO_DEVICE);
    if (!value || (unsigned)attribute >= CGX__ATTRIBUTE_COUNT)
        return cgx__failed(q, CGX_ERROR_INVALID);
    *value = q->attributes[(int)CGX__ATTRIBUTE_COUNT * device + (int)attribute];
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_runtime_limit(cgx_limit limit, size_t *value)
{
    cgx__requests *q = cgx__requests_here();
    if (!value || (limit != CGX_LIMIT_HEAP_BYTES && limit != CGX_LIMIT_PENDING_LAUNCHES))
        return cgx__failed(q, CGX_ERROR_INVALID);
    *value = limit == CGX_LIMIT_HEAP_BYTES ? q->heap_limit : q->pending_limit;
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_runtime_kernel_info(cgx_device_kernel kernel, cgx_device_kernel_info *info)
{
    cgx__requests *q = cgx__requests_here();
    const cgx__child *k = static_cast<const cgx__child *>(kernel);
    uint32_t number;
    if (!info || !cgx__child_number(kernel, &number))
        return cgx__failed(q, CGX_ERROR_INVALID);
    info->static_shared_bytes = k->static_shared;
    info->local_bytes = k->local_bytes;
    info->registers = (int)k->registers;
    info->max_threads = (int)(k->max_threads && k->max_threads < k->fits_threads ? k->max_threads : k->fits_threads);
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_runtime_occupancy(cgx_device_kernel kernel, int threads, size_t dynamic_shared,
                                              int *blocks_per_unit)
{
    cgx__requests *q = cgx__requests_here();
    const cgx__child *k = static_cast<const cgx__child *>(kernel);
    uint32_t number;
    if (!blocks_per_unit || threads <= 0 || !cgx__child_number(kernel, &number))
        return cgx__failed(q, CGX_ERROR_INVALID);
    const uint64_t shared = k->static_shared + dynamic_shared;
    const uint64_t limit = (uint64_t)cgx__own_attribute(q, CGX_ATTRIBUTE_SHARED_BYTES_PER_BLOCK);
    *blocks_per_unit = 0;
    if ((uint32_t)threads > k->fits_threads || (k->max_threads && (uint32_t)threads > k->max_threads) ||
        ((k->flags & CGX_KERNEL_FIXED_BLOCK) && (uint32_t)threads != k->max_threads) || shared > limit)
        return CGX_OK;
    int blocks = k->occupancy[(threads - 1) / 32];
    if (shared) {
        const uint64_t fit = (uint64_t)cgx__own_attribute(q, CGX_ATTRIBUTE_SHARED_BYTES_PER_UNIT) / shared;
        blocks = fit < (uint64_t)blocks ? (int)fit : blocks;
    }
    *blocks_per_unit = blocks;
    return CGX_OK;
}

/* Register HW_ID on gfx9, HW_ID1 later; of both, the compute unit in its shader engine. */
CGX__INLINE int cgx__unit_id(cgx_block)
{
#if defined(__GFX9__)
    return (int)__builtin_amdgcn_s_getreg(4 | 8 << 6 | (8 - 1) << 11);
#else
    return (int)__builtin_amdgcn_s_getreg(23 | 8 << 6 | (8 - 1) << 11);
#endif
}
CGX__INLINE int cgx__warp_id(cgx_block b)
{
    return cgx_thread_rank(b) / CGX__WAVE;
}

} /* extern "C++" */
#endif

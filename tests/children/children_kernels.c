/* SPDX-License-Identifier: MIT */
#include "children_kernels.h"

CGX_DEVICE_FN void record(event_log *log, int entry)
{
    cgx_atomic_fence(CGX_ACQ_REL, CGX_SCOPE_DEVICE);
    int at = cgx_atomic_fetch_add(&log->used, 1, CGX_ACQ_REL, CGX_SCOPE_DEVICE);
    if (at < LOG_ROOM)
        log->entries[at] = entry;
}

CGX_KERNEL_EXTERN(note, (event_log *, log), (int, name))
{
    cgx_block b = cgx_this_block();
    if (cgx_elect(b))
        record(log, 2 * name);
    cgx_sync(b);
    if (cgx_elect(b))
        record(log, 2 * name + 1);
}

/* A child that launches GRANDCHILD, which has a tail, without waiting for anything. */
CGX_KERNEL_LAUNCHING(middle, (event_log *, log), (int, name))
{
    record(log, 2 * name);
    if (name == GRANDCHILD)
        note_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(2, 32), log, GRANDCHILDS_TAIL);
    else if (name == TAIL) {
        note_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(2, 32), log, C1);
        note_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(2, 32), log, C2);
    } else {
        middle_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(1, 1), log, GRANDCHILD);
    }
    record(log, 2 * name + 1);
}

CGX_KERNEL(look, (event_log *, log), (const int *, scratch), (int, expected))
{
    record(log, 2 * (scratch[0] == expected && scratch[63] == expected ? C1 : C2));
    record(log, 2 * (scratch[0] == expected && scratch[63] == expected ? C1 : C2) + 1);
}

CGX_KERNEL_EXTERN_LAUNCHING(parent, (event_log *, log), (int, what), (int *, scratch), (cgx_status *, status))
{
    cgx_block b = cgx_this_block();
    cgx_config c = cgx_config_1d(3, 32), one = cgx_config_1d(1, 1);
    const int block = (int)cgx_block_rank(cgx_this_grid()), name = FIRST_OF_BLOCKS + 2 * block;
    cgx_status s = CGX_OK;
    if (cgx_elect(b))
        record(log, 2 * PARENT);
    cgx_sync(b);
    if (cgx_elect(b) && what == BLOCK_STREAM) {
        s = note_dlaunch(CGX_BLOCK_STREAM, c, log, name);
        s = s ? s : note_dlaunch(CGX_BLOCK_STREAM, c, log, name + 1);
    } else if (cgx_elect(b) && block == 0) {
        cgx_stream one_stream = CGX_BLOCK_STREAM, other_stream = CGX_BLOCK_STREAM;
        cgx_stream_event event;
        switch (what) {
        case TWO_FIRE_AND_FORGET:
            s = note_dlaunch(CGX_FIRE_AND_FORGET, c, log, C1);
            s = s ? s : note_dlaunch(CGX_FIRE_AND_FORGET, c, log, C2);
            break;
        case TWO_TAILS:
            s = note_dlaunch(CGX_TAIL_LAUNCH, c, log, C1);
            s = s ? s : note_dlaunch(CGX_TAIL_LAUNCH, c, log, C2);
            break;
        case TAIL_AFTER_ALL:
            s = note_dlaunch(CGX_TAIL_LAUNCH, c, log, TAIL);
            s = s ? s : note_dlaunch(CGX_THREAD_STREAM, c, log, C1);
            s = s ? s : note_dlaunch(CGX_FIRE_AND_FORGET, c, log, C2);
            break;
        case ONE_TAIL: s = note_dlaunch(CGX_TAIL_LAUNCH, c, log, TAIL); break;
        case TAIL_THAT_FORKS: s = middle_dlaunch(CGX_TAIL_LAUNCH, one, log, TAIL); break;
        case GRANDCHILDREN:
            s = note_dlaunch(CGX_TAIL_LAUNCH, c, log, TAIL);
            s = s ? s : middle_dlaunch(CGX_FIRE_AND_FORGET, one, log, C1);
            break;
        case STREAM_IN_ORDER:
            s = cgx_stream_create(&one_stream, CGX_STREAM_NON_BLOCKING);
            for (int i = 0; i < 3; i++)
                s = s ? s : note_dlaunch(one_stream, c, log, FIRST_OF_BLOCKS + i);
            s = s ? s : cgx_stream_destroy(one_stream);
            break;
        case TWO_STREAMS:
            s = cgx_stream_create(&one_stream, CGX_STREAM_NON_BLOCKING);
            s = s ? s : cgx_stream_create(&other_stream, CGX_STREAM_NON_BLOCKING);
            s = s ? s : cgx_stream_event_create(&event, CGX_EVENT_NO_TIMING);
            s = s ? s : cgx_stream_wait_event(other_stream, event); /* never recorded: nothing to wait for */
            s = s ? s : note_dlaunch(other_stream, c, log, FIRST_OF_BLOCKS + 2);
            s = s ? s : note_dlaunch(one_stream, c, log, FIRST_OF_BLOCKS);
            s = s ? s : note_dlaunch(one_stream, c, log, FIRST_OF_BLOCKS + 1);
            s = s ? s : cgx_stream_event_record(event, one_stream);
            s = s ? s : cgx_stream_wait_event(other_stream, event);
            s = s ? s : cgx_stream_event_destroy(event);
            s = s ? s : note_dlaunch(other_stream, c, log, FIRST_OF_BLOCKS + 3);
            s = s ? s : cgx_stream_destroy(one_stream);
            s = s ? s : cgx_stream_destroy(other_stream);
            break;
        case TREE_IN_A_STREAM:
            s = cgx_stream_create(&one_stream, CGX_STREAM_NON_BLOCKING);
            s = s ? s : middle_dlaunch(one_stream, one, log, C1);
            s = s ? s : note_dlaunch(one_stream, c, log, C2);
            s = s ? s : cgx_stream_destroy(one_stream);
            break;
        case COPIES_IN_A_STREAM:
            s = cgx_stream_create(&one_stream, CGX_STREAM_NON_BLOCKING);
            s = s ? s : cgx_stream_fill(one_stream, scratch, 7, 64 * sizeof *scratch);
            s = s ? s : cgx_stream_copy(one_stream, scratch + 64, scratch, 64 * sizeof *scratch);
            s = s ? s : cgx_stream_fill(one_stream, scratch, 9, 64 * sizeof *scratch);
            s = s ? s : look_dlaunch(one_stream, one, log, scratch + 64, 0x07070707);
            s = s ? s : cgx_stream_destroy(one_stream);
            break;
        default: s = CGX_ERROR_INVALID;
        }
    }
    if (s)
        *status = s;
    cgx_sync(b);
    if (cgx_elect(b))
        record(log, 2 * PARENT + 1);
}

CGX_KERNEL_EXTERN_LAUNCHING(permute, (int, n), (int *, data))
{
    cgx_block b = cgx_this_block();
    CGX_DYNAMIC_SHARED(int, s);
    const int i = cgx_thread_rank(b);
    if (n <= 1)
        return;
    if (i < n) /* the guide goes past the end of smaller pieces */
        s[i] = data[i];
    cgx_sync(b);
    if (i < n)
        data[i] = s[n - 1 - i];
    cgx_sync(b);
    if (i == 0) {
        cgx_config c = cgx_with_shared(cgx_config_1d(1, 256), (size_t)(n / 2) * sizeof(int));
        permute_dlaunch(CGX_BLOCK_STREAM, c, n / 2, data);
        permute_dlaunch(CGX_BLOCK_STREAM, c, n / 2, data + n / 2);
    }
}

CGX_KERNEL_EXTERN_LAUNCHING(descend, (int, depth), (int, kind), (int *, reached))
{
    cgx_atomic_fetch_add(reached + depth, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    if (depth > 0)
        descend_dlaunch(kind == 0   ? CGX_FIRE_AND_FORGET
                        : kind == 1 ? CGX_TAIL_LAUNCH
                                    : CGX_BLOCK_STREAM,
                        cgx_config_1d(1, 1), depth - 1, kind, reached);
}

CGX_KERNEL_EXTERN_LAUNCHING(spread, (int, levels), (int, wide), (int *, leaves), (int *, failures))
{
    if (levels == 0) {
        cgx_atomic_fetch_add(leaves, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
        return;
    }
    for (int i = 0; i < wide; i++)
        if (spread_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(1, levels == 1 ? 1 : 10), levels - 1, wide, leaves,
                           failures))
            cgx_atomic_fetch_add(failures, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
}

CGX_KERNEL_EXTERN_LAUNCHING(transfers, (unsigned char *, from), (unsigned char *, to), (cgx_status *, status))
{
    cgx_stream s = CGX_BLOCK_STREAM;
    cgx_status r = cgx_stream_copy(s, to, from, 101);
    r = r ? r : cgx_stream_copy_2d(s, to + 200, 20, from, 16, 7, 5);
    r = r ? r : cgx_stream_copy_3d(s, to + 400, 8, 6, from, 9, 5, 7, 5, 3);
    r = r ? r : cgx_stream_fill(s, to + 600, 0x11, 99);
    r = r ? r : cgx_stream_fill_2d(s, to + 800, 20, 0x22, 7, 5);
    r = r ? r : cgx_stream_fill_3d(s, to + 1000, 8, 6, 0x33, 7, 5, 3);
    r = r ? r : cgx_stream_copy(s, to, from, 0);
    *status = r;
}

CGX_KERNEL_LAUNCHING(heap_child, (int, n), (int *, memory), (int *, out), (cgx_status *, status))
{
    for (int i = 0; i < n; i++)
        out[i] = memory[i];
    *status = cgx_heap_free(memory);
}
CGX_KERNEL_EXTERN_LAUNCHING(heap_parent, (int, n), (int *, out), (cgx_status *, status))
{
    void *memory = 0;
    cgx_status s = cgx_heap_alloc((size_t)n * sizeof(int), &memory);
    for (int i = 0; !s && i < n; i++)
        ((int *)memory)[i] = 3 * i + 1;
    s = s ? s : heap_child_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(1, 1), n, (int *)memory, out, status + 1);
    status[0] = s;
    memory = status;
    status[2] = cgx_heap_alloc((size_t)1 << 40, &memory);
    status[3] = memory == (void *)status ? CGX_OK : CGX_ERROR_FAULT;
    status[4] = cgx_heap_free(0);
}

CGX_KERNEL_EXTERN_LAUNCHING(heap_misuse, (int *, of_host), (void **, left), (cgx_status *, status))
{
    int local = 0;
    void *memory = 0;
    status[0] = cgx_heap_free(of_host);
    status[1] = cgx_heap_free(&local);
    status[2] = cgx_runtime_last_error();
    status[3] = cgx_heap_alloc(100, &memory);
    status[4] = cgx_heap_free((char *)memory + 16);
    status[5] = cgx_heap_free(memory);
    status[6] = cgx_heap_free(memory);
    status[7] = cgx_heap_alloc(100, left);
}
CGX_KERNEL_EXTERN_LAUNCHING(heap_last, (void *, left), (cgx_status *, status))
{
    *status = cgx_heap_free(left);
}

CGX_KERNEL_COOPERATIVE(cooperative, (int *, p))
{
    *p = 1;
}

CGX_KERNEL_EXTERN_LAUNCHING(refusals, (event_log *, log), (int *, memory), (cgx_status *, status))
{
    CGX_SHARED_ARRAY(int, shared, 4);
    int local[4] = { 1, 2, 3, 4 };
    cgx_stream stream = CGX_BLOCK_STREAM;
    cgx_stream_event event;
    cgx_config c = cgx_config_1d(1, 32), bad = c;
    int n = 0;
    shared[0] = local[0];
    status[n++] = cgx_stream_event_create(&event, 0);
    status[n++] = cgx_stream_create(&stream, 0);
    status[n++] = cgx_stream_event_create(&event, CGX_EVENT_NO_TIMING); /* is taken */
    status[n++] = cgx_stream_event_record(event, CGX_FIRE_AND_FORGET);
    status[n++] = cgx_stream_event_record(event, CGX_TAIL_LAUNCH);
    status[n++] = cgx_stream_wait_event(CGX_FIRE_AND_FORGET, event);
    status[n++] = cgx_stream_wait_event(CGX_TAIL_LAUNCH, event);
    status[n++] = cgx_stream_copy(CGX_BLOCK_STREAM, memory, shared, 16);
    status[n++] = cgx_stream_copy(CGX_BLOCK_STREAM, shared, memory, 16);
    status[n++] = cgx_stream_copy(CGX_BLOCK_STREAM, memory, local, 16);
    status[n++] = cgx_stream_fill(CGX_BLOCK_STREAM, local, 1, 16);
    bad.grid.x = 0;
    status[n++] = note_dlaunch(CGX_FIRE_AND_FORGET, bad, log, C1);
    bad = c;
    bad.block.x = 2000;
    status[n++] = note_dlaunch(CGX_FIRE_AND_FORGET, bad, log, C1);
    status[n++] = note_dlaunch(CGX_FIRE_AND_FORGET, cgx_with_shared(c, (size_t)1 << 30), log, C1);
    status[n++] = cooperative_dlaunch(CGX_FIRE_AND_FORGET, cgx_cooperative(c), memory);
    bad = c;
    bad.cluster = cgx_dim(2, 1, 1);
    bad.grid.x = 2;
    status[n++] = note_dlaunch(CGX_FIRE_AND_FORGET, bad, log, C1);
    status[n++] = cgx_stream_copy_2d(CGX_BLOCK_STREAM, memory, 4, memory + 64, 4, 8, 2);
    status[n++] = cgx_stream_event_destroy(event);               /* is taken */
    status[n++] = note_dlaunch(CGX_FIRE_AND_FORGET, c, log, C2); /* nothing else is lost */
    while (n < REFUSALS)
        status[n++] = CGX_OK;
    memory[32] = local[1] + shared[0];
}

CGX_KERNEL_EXTERN_LAUNCHING(last_errors, (event_log *, log), (cgx_status *, first), (cgx_status *, second),
                            (cgx_status *, third))
{
    cgx_block b = cgx_this_block();
    const int i = cgx_thread_rank(b);
    cgx_config bad = cgx_config_1d(1, 32);
    cgx_stream stream;
    bad.block.x = 0;
    if (i % 3 == 0)
        note_dlaunch(CGX_FIRE_AND_FORGET, bad, log, C1);
    if (i % 3 == 1)
        cgx_stream_create(&stream, 0);
    cgx_sync(b);
    first[i] = cgx_runtime_peek_error();
    second[i] = cgx_runtime_last_error();
    third[i] = cgx_runtime_last_error();
}

CGX_KERNEL_LAUNCHING(user_of_handles, (event_log *, log), (cgx_stream *, stream), (cgx_stream_event *, event),
                     (cgx_status *, status))
{
    status[0] = note_dlaunch(*stream, cgx_config_1d(1, 1), log, C1);
    status[1] = cgx_stream_event_record(*event, CGX_BLOCK_STREAM);
    status[2] = cgx_stream_destroy(*stream);
}
CGX_KERNEL_EXTERN_LAUNCHING(handles_of_another, (event_log *, log), (cgx_stream *, stream), (cgx_stream_event *, event),
                            (cgx_status *, status))
{
    cgx_stream_create(stream, CGX_STREAM_NON_BLOCKING);
    cgx_stream_event_create(event, CGX_EVENT_NO_TIMING);
    user_of_handles_dlaunch(*stream, cgx_config_1d(1, 1), log, stream, event, status);
    note_dlaunch(*stream, cgx_config_1d(1, 1), log, C2);
}

CGX_KERNEL(count, (int *, ran))
{
    cgx_atomic_fetch_add(ran, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL_EXTERN_LAUNCHING(too_many, (int, tries), (int *, accepted), (int *, ran), (cgx_status *, status))
{
    for (int i = 0; i < tries; i++) {
        cgx_status s = count_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(1, 1), ran);
        if (s) {
            *status = s;
            status[1] = cgx_runtime_last_error();
            return;
        }
        ++*accepted;
    }
}

CGX_KERNEL_EXTERN_LAUNCHING(raw_launch, (event_log *, log), (int, misuse), (cgx_status *, status))
{
    void *buffer = 0, *unused = 0;
    cgx_status s = cgx_launch_buffer(CGX_DEVICE_KERNEL(note), sizeof(CGX_ARGUMENTS_OF(note)), &buffer);
    if (!s) {
        CGX_ARGUMENTS_OF(note) *a = (CGX_ARGUMENTS_OF(note) *)buffer;
        a->log = log;
        a->name = C1;
        s = cgx_launch_with_buffer(CGX_FIRE_AND_FORGET, CGX_DEVICE_KERNEL(note), cgx_config_1d(2, 32), buffer);
    }
    s = s ? s : cgx_launch_buffer(CGX_DEVICE_KERNEL(note), sizeof(CGX_ARGUMENTS_OF(note)), &unused);
    status[0] = s;
    if (!misuse)
        return;
    status[1] = cgx_launch_buffer(CGX_DEVICE_KERNEL(note), 1, &unused);
    status[2] = cgx_launch_with_buffer(CGX_FIRE_AND_FORGET, CGX_DEVICE_KERNEL(note), cgx_config_1d(2, 32), buffer);
}

CGX_DEVICE_FN size_t length(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

CGX_KERNEL_EXTERN_LAUNCHING(questions, (answers *, out))
{
    answers a;
    cgx_cache_config cache = CGX_CACHE_EQUAL;
    cgx_status s = cgx_runtime_device_count(&a.count);
    s = s ? s : cgx_runtime_device(&a.device);
    s = s ? s : cgx_runtime_version(&a.version);
    s = s ? s : cgx_runtime_cache_config(&cache);
    a.cache = (int)cache;
    for (int i = 0; i < CGX__ATTRIBUTE_COUNT; i++)
        s = s ? s : cgx_runtime_attribute((cgx_attribute)i, a.device, a.attributes + i);
    s = s ? s : cgx_runtime_limit(CGX_LIMIT_HEAP_BYTES, &a.heap);
    s = s ? s : cgx_runtime_limit(CGX_LIMIT_PENDING_LAUNCHES, &a.pending);
    s = s ? s : cgx_runtime_occupancy(CGX_DEVICE_KERNEL(note), 256, 1024, &a.per_unit);
    s = s ? s : cgx_runtime_best_block(CGX_DEVICE_KERNEL(note), 0, &a.threads, &a.blocks);
    s = s ? s : cgx_runtime_best_block_with(CGX_DEVICE_KERNEL(note), 128, 16, &a.threads_with, &a.blocks_with);
    s = s ? s : cgx_runtime_kernel_info(CGX_DEVICE_KERNEL(note), &a.info);
    a.no_device = cgx_runtime_attribute(CGX_ATTRIBUTE_LANES, 1000, a.attributes);
    a.no_attribute = cgx_runtime_attribute((cgx_attribute)1000, a.device, a.attributes);
    a.unit_ids = cgx_unit_id();
    a.warp_ids = cgx_warp_id();
    if (s || !length(cgx_runtime_status_name(CGX_ERROR_LIMIT)) || !length(cgx_runtime_status_text(CGX_ERROR_LIMIT)))
        a.count = -1;
    *out = a;
}

CGX_DEVICE_VARIABLE(int, counter) = 5;
CGX_CONSTANT_VARIABLE(int, factor) = 2;
CGX_KERNEL_EXTERN_LAUNCHING(variables, (int, depth), (int *, seen))
{
    seen[depth] = cgx_atomic_fetch_add(&counter, factor, CGX_RELAXED, CGX_SCOPE_DEVICE);
    if (depth > 0)
        variables_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(1, 1), depth - 1, seen);
}
cgx_status variables_set(cgx_queue *q, int c, int f)
{
    cgx_status s = cgx_write_variable(q, counter, &c);
    s = s ? s : cgx_write_variable(q, factor, &f);
    return s ? s : cgx_queue_wait(q);
}
cgx_status variables_get(cgx_queue *q, int *c)
{
    return cgx_read_variable(q, counter, c);
}

CGX_KERNEL(shared_child, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, fixed, 64);
    CGX_DYNAMIC_SHARED(int, dynamic);
    const int i = cgx_thread_rank(b);
    fixed[i] = i;
    dynamic[i] = 100 * i;
    cgx_sync(b);
    out[64 * cgx_block_rank(cgx_this_grid()) + i] = fixed[63 - i] + dynamic[(i + 1) % 64];
}
CGX_KERNEL_EXTERN_LAUNCHING(shared_parent, (int *, out), (cgx_status *, status))
{
    *status = shared_child_dlaunch(CGX_FIRE_AND_FORGET, cgx_with_shared(cgx_config_1d(4, 64), 64 * sizeof(int)), out);
}

CGX_KERNEL_EXTERN(bad_child, (event_log *, log))
{
    cgx_block b = cgx_this_block();
    if (cgx_block_rank(cgx_this_grid()) == 1 && cgx_elect(b))
        cgx_sync(cgx_this_grid()); /* not cooperative */
    record(log, 2 * C1);
}
CGX_KERNEL_EXTERN_LAUNCHING(parent_of_bad, (event_log *, log))
{
    note_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(2, 32), log, TAIL);
    bad_child_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(2, 32), log);
    note_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(2, 32), log, C2);
}
CGX_KERNEL_EXTERN(not_declared, (event_log *, log))
{
    note_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(2, 32), log, C2);
}

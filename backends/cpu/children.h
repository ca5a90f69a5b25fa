/* SPDX-License-Identifier: MIT */
/* What kernels launch, and the copies and fills they ask for. One launch of the host is run at a time, so there is one
 * family: the host's launch and all its descendants. */
#ifndef CGX_CHILDREN_H
#define CGX_CHILDREN_H
#include "../order.h"
#include "fiber.h"

typedef struct item item;

/* A stream or an event of a grid. */
typedef struct {
    order_place last;
    int live;
} stream_slot;
typedef struct {
    stream_slot *slots;
    int count, capacity;
} stream_table;

typedef enum { ITEM_LAUNCH, ITEM_COPY, ITEM_FILL } item_kind;
enum { INLINE_ARGUMENTS = 128 };

struct item {
    order_item order;
    item_kind kind;
    /* A launch. */
    launch *l;
    int64_t clusters, begun; /* of them, by some worker */
    int parts;               /* workers that are at some now */
    item *buffers;           /* of arguments, that were not launched yet */
    item *next_buffer;
    stream_table streams, events;
    launch own; /* *l, but for the host's */
    void *arguments;
    /* A copy or a fill. */
    char *to;
    const char *from;
    size_t to_pitch, to_rows, from_pitch, from_rows, width, height, depth;
    int value;
    _Alignas(16) char few_arguments[INLINE_ARGUMENTS];
};

/* Before the first launch of such a kernel. */
INTERNAL void cgx__family_configure(worker *workers, int count);
INTERNAL void cgx__family_set_limit(size_t pending);
INTERNAL size_t cgx__family_limit(void);

/* The host's launch begins; its descendants wait until its blocks are over. */
INTERNAL cgx_status cgx__family_begin(launch *root);
/* Its blocks are over: runs the descendants, on up to WORKERS of the team. */
INTERNAL void cgx__family_finish(launch *root, int workers);

/* Under the lock, which the calls below take where they say so: streams of a grid may be used by several workers. */
INTERNAL void cgx__family_lock(void);
INTERNAL void cgx__family_unlock(void);
/* An item of the grid with room for arguments, or NULL. For the worker's own thread. */
INTERNAL item *cgx__item_new(worker *w, item *grid, item_kind kind, size_t argument_bytes);
/* One that is not submitted after all. Locked. */
INTERNAL void cgx__item_drop(item *i);
/* As those of order.h. Locked, as the next one. */
INTERNAL int cgx__item_submit(item *i, order_place *last, int tail);
INTERNAL cgx_status cgx__stream_wait(item *grid, order_place *last, const order_place *event);
/* The number of a new stream or event, or -1. */
INTERNAL int cgx__stream_add(stream_table *t);
#endif

/* SPDX-License-Identifier: MIT */
/* What kernels launch, and the copies and fills they ask for. One launch of the host is run at a time, so there is one
 * family: the host's launch and all its descendants. */
#ifndef CGX_CHILDREN_H
#define CGX_CHILDREN_H
#include "fiber.h"

typedef struct item item;

/* An item that was somewhere last: done, and perhaps used for another, when its serial is not this one. */
typedef struct {
    item *item;
    uint64_t serial;
} place;

/* Of a list of what waits for an item; part of the item that waits. */
typedef struct edge {
    item *to;
    struct edge *next;
} edge;

/* A stream or an event of a grid. */
typedef struct {
    place last;
    int live;
} stream_slot;
typedef struct {
    stream_slot *slots;
    int count, capacity;
} stream_table;

typedef enum { ITEM_LAUNCH, ITEM_COPY, ITEM_FILL, ITEM_MARK } item_kind;
enum { INLINE_ARGUMENTS = 128 };

struct item {
    uint64_t serial; /* of this use; 0 when it is nobody's */
    item_kind kind;
    int tail;     /* waits in its parent's tail stream */
    int blockers; /* items it waits for: the one before it in its stream, an event's */
    edge waits[2], *successors;
    item *parent;
    item *next, *before; /* in the list of those that may run, or of tails, or of spare ones */
    /* A launch. */
    launch *l;
    int64_t clusters, begun; /* of them, by some worker */
    int parts;               /* workers that are at some now */
    int children;            /* its blocks together, and what it launched but tails, that are not over */
    item *tails, *last_tail;
    item *buffers; /* of arguments, that were not launched yet; by `next` */
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
/* An item of the grid with room for arguments, or NULL. Locks. */
INTERNAL item *cgx__item_new(item *grid, item_kind kind, size_t argument_bytes);
/* One that is not submitted after all. Locked. */
INTERNAL void cgx__item_drop(item *i);
/* Puts the item behind *LAST, or with TAIL into the grid's tail stream; with neither it may run at once. False, and dropped,
 * if the limit of pending ones is reached. Locked. */
INTERNAL int cgx__item_submit(item *i, place *last, int tail);
/* What comes into the stream *LAST from now on waits for *EVENT. Locked, as the next two. CGX_ERROR_LIMIT or _OUT_OF_MEMORY. */
INTERNAL cgx_status cgx__stream_wait(item *grid, place *last, const place *event);
/* The number of a new stream or event, or -1. */
INTERNAL int cgx__stream_add(stream_table *t);
#endif

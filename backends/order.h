/* SPDX-License-Identifier: MIT */
/* What of a family may run: the family is a launch of the host and everything that its kernels, and theirs, launched. One text for the
 * backends that run launches of kernels themselves; what an item does, and on what, is theirs.
 *
 * An item is a launch, a copy, a fill, or a mark, which does nothing and waits for an event. It is over when it has ended itself and
 * everything it launched is over, its tails, one after the other, last. Only then do its successors in its stream begin, and its parent
 * hears of it. None of this locks. */
#ifndef CGX_ORDER_H
#define CGX_ORDER_H
#include "backend.h"

typedef struct order_item order_item;

/* An item that was somewhere last: over, and perhaps used for another, when its serial is not this one. A stream is such a place,
 * and an event is another. */
typedef struct {
    order_item *item;
    uint64_t serial;
} order_place;

/* Of a list of what waits for an item; part of the item that waits. */
typedef struct order_edge {
    order_item *to;
    struct order_edge *next;
} order_edge;

/* The first member of a backend's item. */
struct order_item {
    uint64_t serial; /* of this use; 0 when it is nobody's */
    int is_mark;
    int tail;     /* waits in its parent's tail stream */
    int blockers; /* items it waits for: the one before it in its stream, an event's */
    int children; /* itself, and what it launched but tails, that are not over */
    order_edge waits[2], *successors;
    order_item *parent;
    order_item *next, *before; /* in the list of those that may run, or of tails, or of spare ones */
    order_item *tails, *last_tail;
};

typedef struct order {
    /* Given by the backend. */
    size_t item_bytes;
    void (*release)(order_item *item); /* frees what the item holds; its memory stays an item's */
    void (*wake)(void);                /* may be NULL: something may run, and `sleeping` is not 0 */
    int sleeping;
    size_t limit; /* of launches, copies and fills on their way */
    /* What may run; newest first. */
    order_item *first, *last;
    int ready;
    int over; /* the root is */
    size_t pending;
    uint64_t serial;
    /* Items' memory stays items' while the family lives, so that a place may look at one that is over. */
    order_item *spare;
    void **slabs;
    int slab_count;
    order_item *finished; /* to be dealt with by who deals with one now */
    int finishing;
} order;

/* An item of GRID, or with NULL the root; or NULL: no memory. What follows the order_item in it is as it was left. */
CGX__HIDDEN_API order_item *cgx__order_new(order *o, order_item *grid);
/* One that is not submitted after all. */
CGX__HIDDEN_API void cgx__order_drop(order *o, order_item *i);
/* Puts the item behind *LAST, or with TAIL into the grid's tail stream; with neither it may run at once. False, and dropped,
 * if the limit of pending ones is reached. */
CGX__HIDDEN_API int cgx__order_submit(order *o, order_item *i, order_place *last, int tail);
/* What comes into the stream *LAST from now on waits for *EVENT. CGX_OK or CGX_ERROR_OUT_OF_MEMORY. */
CGX__HIDDEN_API cgx_status cgx__order_wait(order *o, order_item *grid, order_place *last, const order_place *event);
/* Takes one of those that may run. */
CGX__HIDDEN_API void cgx__order_take(order *o, order_item *i);
/* The item itself has ended: what it copied is there, its blocks are over. */
CGX__HIDDEN_API void cgx__order_ended(order *o, order_item *i);
/* Ends a family of which nothing will run any more. */
CGX__HIDDEN_API void cgx__order_reset(order *o);
/* The family is over. Gives back memory that only a large one needs. */
CGX__HIDDEN_API void cgx__order_trim(order *o);
#endif

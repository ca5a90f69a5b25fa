/* SPDX-License-Identifier: MIT */
#include "order.h"
#include <stdlib.h>
#include <string.h>

enum {
    SLAB_ITEMS = 64,
    KEEP_SLABS = 64, /* beyond, memory is given back when the family is over */
    ALIGNMENT = 64
};

/* ---- items ---- */

static int add_slab(order *o)
{
    const size_t bytes = (o->item_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void **slabs = realloc(o->slabs, (size_t)(o->slab_count + 1) * sizeof *slabs);
    if (!slabs)
        return 0;
    o->slabs = slabs;
    char *items = aligned_alloc(ALIGNMENT, SLAB_ITEMS * bytes);
    if (!items)
        return 0;
    o->slabs[o->slab_count++] = items;
    for (int k = SLAB_ITEMS - 1; k >= 0; k--) {
        order_item *i = (order_item *)(void *)(items + (size_t)k * bytes);
        i->serial = 0;
        i->next = o->spare;
        o->spare = i;
    }
    return 1;
}

order_item *cgx__order_new(order *o, order_item *grid)
{
    if (!o->spare && !add_slab(o))
        return NULL;
    order_item *i = o->spare;
    o->spare = i->next;
    memset(i, 0, sizeof *i);
    i->serial = ++o->serial;
    i->children = 1;
    i->parent = grid;
    if (!grid)
        o->over = 0;
    return i;
}

static void give_back(order *o, order_item *i)
{
    i->serial = 0;
    i->next = o->spare;
    o->spare = i;
}

void cgx__order_drop(order *o, order_item *i)
{
    if (!i->is_mark)
        o->release(i);
    give_back(o, i);
}

void cgx__order_reset(order *o)
{
    const size_t bytes = (o->item_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    o->first = o->last = o->spare = o->finished = NULL;
    o->ready = o->finishing = 0;
    o->pending = 0;
    o->over = 1;
    for (int s = 0; s < o->slab_count; s++)
        for (int k = 0; k < SLAB_ITEMS; k++) {
            order_item *i = (order_item *)(void *)((char *)o->slabs[s] + (size_t)k * bytes);
            if (i->serial && !i->is_mark)
                o->release(i);
            i->serial = 0;
            i->next = o->spare;
            o->spare = i;
        }
}

void cgx__order_trim(order *o)
{
    if (o->slab_count <= KEEP_SLABS)
        return;
    for (int i = 0; i < o->slab_count; i++)
        free(o->slabs[i]);
    o->slab_count = 0;
    o->spare = NULL;
}

/* ---- what may run ---- */

static void push(order *o, order_item *i)
{
    i->before = NULL;
    i->next = o->first;
    if (o->first)
        o->first->before = i;
    else
        o->last = i;
    o->first = i;
    o->ready++;
    if (o->sleeping)
        o->wake();
}

void cgx__order_take(order *o, order_item *i)
{
    if (i->before)
        i->before->next = i->next;
    else
        o->first = i->next;
    if (i->next)
        i->next->before = i->before;
    else
        o->last = i->before;
    o->ready--;
}

/* One thing less that has to be over before I is. Its next tail begins when it was the last. The item that is over then, or NULL. */
static order_item *one_less(order *o, order_item *i, int was_tail)
{
    if (!was_tail && --i->children)
        return NULL;
    order_item *tail = i->tails;
    if (!tail)
        return i;
    i->tails = tail->next;
    push(o, tail);
    return NULL;
}

/* Marks that are over meanwhile wait in a list: a stream may have thousands in a row. */
static void over(order *o, order_item *i)
{
    i->next = o->finished;
    o->finished = i;
    if (o->finishing)
        return;
    o->finishing = 1;
    while ((i = o->finished)) {
        o->finished = i->next;
        while (i) {
            order_item *parent = i->parent;
            const int was_tail = i->tail;
            for (order_edge *e = i->successors, *next; e; e = next) {
                next = e->next;
                if (--e->to->blockers)
                    continue;
                if (e->to->is_mark)
                    over(o, e->to);
                else
                    push(o, e->to);
            }
            if (!i->is_mark && parent)
                o->pending--;
            cgx__order_drop(o, i);
            if (!parent) {
                o->over = 1;
                if (o->sleeping)
                    o->wake();
            }
            i = parent ? one_less(o, parent, was_tail) : NULL;
        }
    }
    o->finishing = 0;
}

void cgx__order_ended(order *o, order_item *i)
{
    if ((i = one_less(o, i, 0)))
        over(o, i);
}

static void follow(order_edge *e, order_item *to, const order_place *after)
{
    if (!after->item || after->item->serial != after->serial)
        return;
    e->to = to;
    e->next = after->item->successors;
    after->item->successors = e;
    to->blockers++;
}

int cgx__order_submit(order *o, order_item *i, order_place *last, int tail)
{
    order_item *grid = i->parent;
    if (!i->is_mark) {
        if (o->pending >= o->limit) {
            cgx__order_drop(o, i);
            return 0;
        }
        o->pending++;
    }
    i->tail = tail;
    if (tail) {
        i->next = NULL;
        if (grid->tails)
            grid->last_tail->next = i;
        else
            grid->tails = i;
        grid->last_tail = i;
        return 1;
    }
    grid->children++;
    if (last) {
        follow(i->waits, i, last);
        *last = (order_place){ i, i->serial };
    }
    if (i->blockers)
        return 1;
    if (i->is_mark)
        over(o, i);
    else
        push(o, i);
    return 1;
}

cgx_status cgx__order_wait(order *o, order_item *grid, order_place *last, const order_place *event)
{
    if (!event->item || event->item->serial != event->serial)
        return CGX_OK;
    order_item *mark = cgx__order_new(o, grid);
    if (!mark)
        return CGX_ERROR_OUT_OF_MEMORY;
    mark->is_mark = 1;
    follow(mark->waits + 1, mark, event);
    cgx__order_submit(o, mark, last, 0);
    return CGX_OK;
}

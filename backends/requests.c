/* SPDX-License-Identifier: MIT */
#include "requests.h"
#include <cgx/device_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE_ARGUMENTS = 128 };

typedef struct {
    order_item order;
    cgx__request r;
    void *arguments;
    _Alignas(16) char few_arguments[INLINE_ARGUMENTS];
} item;

static void release(order_item *i_)
{
    item *i = (item *)i_;
    if (i->arguments != i->few_arguments)
        free(i->arguments);
}

void cgx__requests_make(request_family *f, const request_operations *operations, size_t limit)
{
    memset(f, 0, sizeof *f);
    f->operations = *operations;
    f->order.item_bytes = sizeof(item);
    f->order.release = release;
    f->order.limit = limit;
}

void cgx__requests_destroy(request_family *f)
{
    cgx__order_reset(&f->order);
    for (int s = 0; s < f->order.slab_count; s++)
        free(f->order.slabs[s]);
    free(f->order.slabs);
}

/* The text is the calling thread's last one. */
static void failed(request_family *f, cgx_status s, const char *what)
{
    if (f->status)
        return;
    f->status = s;
    snprintf(f->text, sizeof f->text, "%s", what ? what : cgx_last_error());
}

static cgx_status begin_round(request_family *f)
{
    f->first_grid = f->first_grid + f->grids >= 0x7fffffffu ? 1 : f->first_grid + f->grids;
    f->first_grid += !f->first_grid;
    f->grids = 0;
    return f->operations.begin(f->operations.context, (uint32_t)(f->order.limit - f->order.pending));
}

/* The number of a launch that asks. */
static uint32_t number(request_family *f, order_item *i)
{
    f->batch[f->grids] = i;
    return f->first_grid + f->grids++;
}

cgx_status cgx__requests_begin(request_family *f, uint32_t *grid)
{
    order_item *root = cgx__order_new(&f->order, NULL);
    if (!root)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "not enough memory for what kernels launch");
    ((item *)root)->arguments = ((item *)root)->few_arguments;
    const cgx_status s = begin_round(f);
    if (s) {
        cgx__order_reset(&f->order);
        return s;
    }
    f->running = 1;
    *grid = number(f, root);
    return CGX_OK;
}

/* ---- places of the round's streams and events: of a grid, a block or a thread ---- */

typedef struct {
    uint64_t handle, block;
    uint32_t grid, thread;
    order_place last;
} keyed_place;
typedef struct {
    keyed_place *places;
    size_t capacity; /* a power of two, and twice what can come */
} places;

static order_place *find(places *p, const cgx__request *r, uint64_t handle)
{
    const int of_block = handle == (uintptr_t)CGX_BLOCK_STREAM, of_thread = handle == (uintptr_t)CGX_THREAD_STREAM;
    const uint64_t block = of_block || of_thread ? r->block : 0;
    const uint32_t thread = of_thread ? r->thread : 0;
    uint64_t mixed =
        (handle ^ (uint64_t)r->grid << 20 ^ block * 0xff51afd7ed558ccdu ^ (uint64_t)thread << 50) * 0x9e3779b97f4a7c15u;
    for (size_t at = (size_t)(mixed >> 20);; at++) {
        keyed_place *k = p->places + (at & (p->capacity - 1));
        if (!k->grid)
            *k = (keyed_place){ handle, block, r->grid, thread, { NULL, 0 } };
        if (k->handle == handle && k->block == block && k->grid == r->grid && k->thread == thread)
            return &k->last;
    }
}

/* ---- a round ---- */

static void take_request(request_family *f, places *p, const cgx__request *r)
{
    order_place *last = NULL, *event;
    order_item *grid;
    if (r->grid < f->first_grid || r->grid - f->first_grid >= f->grids)
        return; /* nobody's */
    grid = f->batch[r->grid - f->first_grid];
    if (r->stream != (uintptr_t)CGX_FIRE_AND_FORGET && r->stream != (uintptr_t)CGX_TAIL_LAUNCH)
        last = find(p, r, r->stream);
    if (r->kind == CGX__ASK_RECORD || r->kind == CGX__ASK_WAIT) {
        event = find(p, r, r->of.event);
        if (r->kind == CGX__ASK_RECORD)
            *event = *last;
        else if (cgx__order_wait(&f->order, grid, last, event))
            failed(f, CGX_ERROR_OUT_OF_MEMORY, "not enough memory for what kernels launch");
        return;
    }
    item *i = (item *)cgx__order_new(&f->order, grid);
    const size_t bytes = (size_t)r->words * 8 - sizeof *r;
    if (i) {
        i->r = *r;
        i->arguments = bytes > INLINE_ARGUMENTS ? malloc(bytes) : i->few_arguments;
        if (i->arguments) {
            memcpy(i->arguments, r + 1, bytes);
            if (!cgx__order_submit(&f->order, &i->order, last, r->stream == (uintptr_t)CGX_TAIL_LAUNCH))
                failed(f, CGX_ERROR_LIMIT, "more launches by kernels are on their way than may be");
            return;
        }
        cgx__order_drop(&f->order, &i->order);
    }
    failed(f, CGX_ERROR_OUT_OF_MEMORY, "not enough memory for what kernels launch");
}

static cgx_status take_requests(request_family *f, char *memory, uint64_t words)
{
    places p = { NULL, 64 };
    while (p.capacity < words / (sizeof(cgx__request) / 8) * 4)
        p.capacity *= 2;
    if (!(p.places = calloc(p.capacity, sizeof *p.places)))
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "not enough memory for what kernels launch");
    for (uint64_t at = 0; at < words;) {
        const cgx__request *r = (const cgx__request *)(const void *)(memory + 8 * at);
        if (r->kind > CGX__ASK_BUFFER)
            take_request(f, &p, r);
        at += r->words ? r->words : 2; /* of a thread that was ended in between nothing is known */
    }
    memset(memory, 0, words * 8);
    free(p.places);
    return CGX_OK;
}

/* Puts into the queue what may run; true if there is a round to wait for. */
static cgx_status put(request_family *f)
{
    const request_operations *o = &f->operations;
    cgx_status s = begin_round(f);
    while (!s && f->order.first && f->grids < CGX__ROUND_LAUNCHES) {
        item *i = (item *)f->order.first;
        cgx__order_take(&f->order, &i->order);
        const int asks = i->r.kind == CGX__ASK_LAUNCH && o->asks(o->context, i->r.of.launch.kernel);
        const cgx_status its = i->r.kind == CGX__ASK_LAUNCH
                                   ? o->launch(o->context, &i->r, i->arguments, asks ? number(f, &i->order) : 0)
                                   : o->transfer(o->context, &i->r);
        if (its)
            failed(f, its, NULL);
        if (its && asks)
            f->grids--;
        if (its || !asks)
            cgx__order_ended(&f->order, &i->order);
    }
    return s;
}

cgx_status cgx__requests_round(request_family *f)
{
    char *memory = NULL;
    uint64_t words = 0;
    cgx_status s = f->operations.finish(f->operations.context, &memory, &words);
    if (!s)
        s = take_requests(f, memory, words);
    for (uint32_t k = 0; k < f->grids && !s; k++)
        cgx__order_ended(&f->order, f->batch[k]);
    if (!s && !f->order.over)
        s = put(f);
    if (s)
        cgx__order_reset(&f->order);
    f->running = !f->order.over;
    if (!f->running)
        cgx__order_trim(&f->order);
    return s;
}

/* SPDX-License-Identifier: MIT */
/* Asynchronous copies and reductions that take effect as late as they legally may (CGX_CPU_ASYNC=late), or at random
 * moments (random), so that a missing wait shows: until then the destination holds a pattern. With "early", the default,
 * everything is done when it is asked for and nothing here runs. */
#include <stdlib.h>
#include <string.h>
#include "fiber.h"
#include "settings.h"

enum { POISON = 0xcb };
enum kind { COPY, STORE, BULK, ARRIVE, REDUCED, DUE }; /* DUE: a copy whose group is synchronising for it */

struct deferred {
    deferred *next;
    enum kind kind;
    block *owner;
    cgx_cpu_thread thread; /* as it was: it may have ended when the effect takes place */
    int rank, line;
    int armed;      /* of REDUCED: the collective that made it is over */
    uint32_t stage; /* of COPY and STORE */
    char *destination;
    const char *source;
    size_t bytes, zeros;
    cgx_mbarrier *barrier;   /* of BULK and ARRIVE */
    cgx_cpu_collective what; /* of REDUCED */
    _Alignas(32) unsigned char value[CGX__VALUE_BYTES];
};

static int mode;

void cgx__async_configure(int chosen)
{
    mode = chosen;
}
int cgx__async_is_late(void)
{
    return mode != CGX__ASYNC_EARLY;
}

/* Whether to put off the next effect. */
static int put_off(worker *w)
{
    return mode == CGX__ASYNC_LATE || (mode == CGX__ASYNC_RANDOM && cgx__random_next(w) & 1);
}

static int in_shared(const block *b, const void *p)
{
    return (size_t)((const char *)p - b->pub.shared) < b->pub.shared_bytes;
}

/* ---- the list: in the order in which effects were asked for ---- */

static deferred *add(worker *w, enum kind kind, const cgx_cpu_thread *t, int line)
{
    deferred *d = aligned_alloc(64, (sizeof *d + 63) & ~(size_t)63);
    if (!d)
        return NULL; /* the caller does it at once */
    memset(d, 0, sizeof *d);
    d->kind = kind;
    d->owner = (block *)t->block;
    d->thread.block = t->block, d->thread.rank = t->rank, d->thread.index = t->index;
    d->thread.grid_rank = t->grid_rank;
    d->thread.shape = &t->block->shape;
    d->rank = t->rank;
    d->line = line;
    if (!w->first_deferred)
        w->last_deferred = &w->first_deferred;
    *w->last_deferred = d;
    w->last_deferred = &d->next;
    w->pub.deferred += kind == REDUCED;
    return d;
}

static deferred *take(worker *w, deferred **at)
{
    deferred *d = *at;
    *at = d->next;
    if (!d->next)
        w->last_deferred = at;
    w->pub.deferred -= d->kind == REDUCED || d->kind == DUE;
    return d;
}

/* Copies of no bytes may come with pointers to nothing. */
static void copy_now(char *destination, const char *source, size_t bytes, size_t zeros)
{
    if (bytes)
        memcpy(destination, source, bytes);
    if (zeros)
        memset(destination + bytes, 0, zeros);
}

static void perform_copy(const deferred *d)
{
    copy_now(d->destination, d->source, d->bytes, d->zeros);
}

static void perform(deferred *taken)
{
    unsigned char old[CGX__VALUE_BYTES];
    const deferred effect = *taken, *d = &effect;
    cgx_cpu_thread thread = effect.thread;
    free(taken); /* what follows may find misuse and not return */
    switch (d->kind) {
    case COPY:
    case DUE:
    case STORE: perform_copy(d); break;
    case BULK:
        perform_copy(d);
        cgx__cpu_mbarrier_arrive(&thread, d->barrier, 0, 0, -(int64_t)d->bytes, d->line);
        break;
    case ARRIVE: cgx__cpu_mbarrier_arrive(&thread, d->barrier, 1, 0, 0, d->line); break;
    case REDUCED:
        if (d->what.operation == CGX__OP_REDUCE_STORE_PLAIN)
            memcpy(d->what.target, d->value, d->what.bytes);
        else
            cgx__atomic_update(&d->what, d->value, d->what.operation == CGX__OP_REDUCE_STORE, old);
        break;
    }
}

/* Performs the thread's copies (or stores) of stages below END. */
static void complete(worker *w, const block *b, int rank, enum kind kind, uint32_t end)
{
    for (deferred **at = &w->first_deferred; *at;) {
        const deferred *d = *at;
        if (d->owner == b && d->rank == rank && d->kind == kind && (int32_t)(d->stage - end) < 0)
            perform(take(w, at));
        else
            at = &(*at)->next;
    }
}

int cgx__async_progress(worker *w)
{
    int did = 0;
    for (deferred **at = &w->first_deferred; *at;) {
        if ((*at)->kind != BULK && (*at)->kind != ARRIVE) {
            at = &(*at)->next;
            continue;
        }
        deferred *d = take(w, at);
        if (d->kind == ARRIVE)
            complete(w, d->owner, d->rank, COPY, d->stage);
        perform(d);
        did = 1;
        at = &w->first_deferred; /* what was performed may have taken others out */
    }
    return did;
}

void cgx__cpu_settle(cgx_cpu_worker *pub)
{
    worker *w = (worker *)pub;
    for (deferred **at = &w->first_deferred; *at;) {
        deferred *d = *at;
        if (d->kind == DUE || (d->kind == REDUCED && d->armed)) {
            perform(take(w, at));
        } else {
            d->armed = 1; /* this is the release of the reduction itself */
            at = &d->next;
        }
    }
}

void cgx__async_finish(block *b)
{
    worker *w = (worker *)b->pub.worker;
    for (deferred **at = &w->first_deferred; *at;) {
        if ((*at)->owner != b) {
            at = &(*at)->next;
            continue;
        }
        deferred *d = take(w, at);
        if (d->kind == BULK || d->kind == ARRIVE) /* the barrier is gone, and nobody waits for it */
            d->kind = COPY;
        perform(d);
    }
}

void cgx__async_drop(worker *w)
{
    while (w->first_deferred)
        free(take(w, &w->first_deferred));
}

/* ---- what kernels call ---- */

static uint32_t *counters(uint32_t **which)
{
    if (!*which)
        *which = calloc(CGX__MAX_THREADS, sizeof **which);
    return *which;
}

/* One copy of the thread's current stage. */
static void copy_later(cgx_cpu_thread *t, enum kind kind, uint32_t stage, void *destination, const void *source,
                       size_t bytes, size_t zeros, int line)
{
    worker *w = (worker *)t->block->worker;
    deferred *d = put_off(w) ? add(w, kind, t, line) : NULL;
    if (!d) {
        copy_now(destination, source, bytes, zeros);
        return;
    }
    d->stage = stage;
    d->destination = destination;
    d->source = source;
    d->bytes = bytes;
    d->zeros = zeros;
    if (bytes + zeros)
        memset(destination, POISON, bytes + zeros);
}

void cgx__cpu_group_copy(const cgx_group *g, void *destination, const void *source, size_t bytes, int line)
{
    block *b = (block *)g->t->block;
    uint32_t *stages = counters(&b->stages);
    if (!stages || !in_shared(b, destination) || cgx__block_of(g->t, source)) {
        if (g->rank == 0)
            memmove(destination, source, bytes);
    } else if (g->rank == 0) {
        copy_later(g->t, COPY, stages[g->t->rank], destination, source, bytes, 0, line);
    }
    if (stages)
        stages[g->t->rank]++;
}

void cgx__cpu_pipeline_copy(cgx_cpu_thread *t, void *destination, const void *source, size_t bytes, size_t zeros,
                            int line)
{
    block *b = (block *)t->block;
    uint32_t *stages = counters(&b->stages);
    if (stages)
        copy_later(t, COPY, stages[t->rank], destination, source, bytes, zeros, line);
    else
        copy_now(destination, source, bytes, zeros);
}

void cgx__cpu_commit(cgx_cpu_thread *t)
{
    uint32_t *stages = counters(&((block *)t->block)->stages);
    if (stages)
        stages[t->rank]++;
}

void cgx__cpu_wait_stages(cgx_cpu_thread *t, uint32_t newest)
{
    block *b = (block *)t->block;
    if (b->stages && b->stages[t->rank] >= newest)
        complete((worker *)t->block->worker, b, t->rank, COPY, b->stages[t->rank] - newest);
}

/* The copies that a group waits for land when its last thread has come. A wait for all of them takes in those that the thread
 * has not committed. */
void cgx__cpu_wait_group(const cgx_group *g, uint32_t newest)
{
    worker *w = (worker *)g->t->block->worker;
    block *b = (block *)g->t->block;
    if (!b->stages)
        return;
    const uint32_t end = b->stages[g->t->rank] + (newest == 0) - newest;
    if (g->size == 1) {
        if (b->stages[g->t->rank] >= newest)
            complete(w, b, g->t->rank, COPY, end);
        return;
    }
    for (deferred *d = w->first_deferred; d; d = d->next)
        if (d->owner == b && d->rank == g->t->rank && d->kind == COPY && (int32_t)(d->stage - end) < 0) {
            d->kind = DUE;
            w->pub.deferred++;
        }
}

void cgx__cpu_arrive_on(cgx_cpu_thread *t, cgx_mbarrier *barrier, int line)
{
    worker *w = (worker *)t->block->worker;
    block *b = (block *)t->block;
    const uint32_t end = b->stages ? b->stages[t->rank] + 1 : 0;
    cgx__cpu_mbarrier_arrive(t, barrier, -1, 0, 0, line); /* one arrival more to come */
    deferred *d = put_off(w) ? add(w, ARRIVE, t, line) : NULL;
    if (d) {
        d->barrier = barrier;
        d->stage = end;
    } else {
        complete(w, b, t->rank, COPY, end);
        cgx__cpu_mbarrier_arrive(t, barrier, 1, 0, 0, line);
    }
}

void cgx__cpu_bulk_copy(cgx_cpu_thread *t, void *destination, const void *source, size_t bytes, cgx_mbarrier *barrier,
                        int line)
{
    worker *w = (worker *)t->block->worker;
    deferred *d = put_off(w) ? add(w, BULK, t, line) : NULL;
    if (!d) {
        copy_now(destination, source, bytes, 0);
        cgx__cpu_mbarrier_arrive(t, barrier, 0, 0, -(int64_t)bytes, line);
        return;
    }
    d->destination = destination;
    d->source = source;
    d->bytes = bytes;
    d->barrier = barrier;
    if (bytes)
        memset(destination, POISON, bytes);
}

void cgx__cpu_bulk_store(cgx_cpu_thread *t, void *destination, const void *source, size_t bytes, int line)
{
    uint32_t *stores = counters(&((block *)t->block)->stores);
    if (stores)
        copy_later(t, STORE, stores[t->rank], destination, source, bytes, 0, line);
    else
        copy_now(destination, source, bytes, 0);
}

void cgx__cpu_bulk_commit(cgx_cpu_thread *t)
{
    uint32_t *stores = counters(&((block *)t->block)->stores);
    if (stores)
        stores[t->rank]++;
}

void cgx__cpu_bulk_wait(cgx_cpu_thread *t, uint32_t newest)
{
    block *b = (block *)t->block;
    if (b->stores && b->stores[t->rank] >= newest)
        complete((worker *)t->block->worker, b, t->rank, STORE, b->stores[t->rank] - newest);
}

void cgx__reduce_result(const cgx_group *g, const cgx_cpu_collective *what, const void *value)
{
    worker *w = (worker *)g->t->block->worker;
    unsigned char old[CGX__VALUE_BYTES];
    deferred *d = put_off(w) ? add(w, REDUCED, g->t, 0) : NULL;
    if (d) {
        d->what = *what;
        memcpy(d->value, value, what->bytes);
        if (what->operation == CGX__OP_REDUCE_STORE_PLAIN)
            memset(what->target, POISON, what->bytes);
    } else if (what->operation == CGX__OP_REDUCE_STORE_PLAIN) {
        memcpy(what->target, value, what->bytes);
    } else {
        cgx__atomic_update(what, value, what->operation == CGX__OP_REDUCE_STORE, old);
    }
}

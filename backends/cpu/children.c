/* SPDX-License-Identifier: MIT */
/* Launches by kernels. While the blocks of the host's launch run, what they launch is only noted; then the workers take
 * whatever may run, newest first, until nothing is left: a tree is walked in depth, which keeps few launches on their way.
 * What may run when is the business of order.c. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "children.h"
#include "team.h"

enum {
    DEFAULT_PENDING = 2048,
    ALONE_NANOSECONDS = 10000, /* before others are woken, which costs as much */
    IDLE_SPINS = 2000,
    MOST_AT_ONCE = 16,
    MOST_STASHED = 16
};

static void release(order_item *i);
static void wake(void);
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    order order;
    item *root;
    worker *workers;
    int worker_count;
    int parts; /* workers that share the work now */
} family = { .lock = PTHREAD_MUTEX_INITIALIZER,
             .more = PTHREAD_COND_INITIALIZER,
             .order = { .item_bytes = sizeof(item), .release = release, .wake = wake, .limit = DEFAULT_PENDING } };

void cgx__family_configure(worker *workers, int count)
{
    family.workers = workers;
    family.worker_count = count;
}
void cgx__family_set_limit(size_t pending)
{
    family.order.limit = pending;
}
size_t cgx__family_limit(void)
{
    return family.order.limit;
}
void cgx__family_lock(void)
{
    pthread_mutex_lock(&family.lock);
}
void cgx__family_unlock(void)
{
    pthread_mutex_unlock(&family.lock);
}

/* ---- items ---- */

static void prepare(item *i, item_kind kind)
{
    memset((char *)i + sizeof i->order, 0, offsetof(item, own) - sizeof i->order);
    i->kind = kind;
    i->l = &i->own;
    i->arguments = i->few_arguments;
}

static void release(order_item *i_)
{
    item *i = (item *)i_;
    if (i->arguments != i->few_arguments)
        free(i->arguments);
}

static void wake(void)
{
    if (family.order.over)
        pthread_cond_broadcast(&family.more);
    else
        pthread_cond_signal(&family.more);
}

/* Locks for several at a time: workers that launch much would meet at the lock twice a launch. */
static void refill(worker *w, item *grid)
{
    const int n = w->stash_refill =
        w->stash_refill ? w->stash_refill < MOST_STASHED ? 2 * w->stash_refill : MOST_STASHED : 1;
    pthread_mutex_lock(&family.lock);
    for (int k = 0; k < n; k++) {
        item *i = (item *)cgx__order_new(&family.order, &grid->order);
        if (!i)
            break;
        i->arguments = i->few_arguments;
        i->next_buffer = w->stash;
        w->stash = i;
    }
    pthread_mutex_unlock(&family.lock);
}

item *cgx__item_new(worker *w, item *grid, item_kind kind, size_t argument_bytes)
{
    void *large = NULL;
    if (!w->stash)
        refill(w, grid);
    item *i = w->stash;
    if (!i || (argument_bytes > INLINE_ARGUMENTS && !(large = malloc(argument_bytes))))
        return NULL;
    w->stash = i->next_buffer;
    prepare(i, kind);
    i->order.parent = &grid->order;
    if (large)
        i->arguments = large;
    return i;
}

void cgx__item_drop(item *i)
{
    cgx__order_drop(&family.order, &i->order);
}

int cgx__item_submit(item *i, order_place *last, int tail)
{
    return cgx__order_submit(&family.order, &i->order, last, tail);
}

cgx_status cgx__stream_wait(item *grid, order_place *last, const order_place *event)
{
    return cgx__order_wait(&family.order, &grid->order, last, event);
}

int cgx__stream_add(stream_table *t)
{
    if (t->count == t->capacity) {
        int capacity = t->capacity ? 2 * t->capacity : 8;
        stream_slot *slots = realloc(t->slots, (size_t)capacity * sizeof *slots);
        if (!slots)
            return -1;
        t->slots = slots;
        t->capacity = capacity;
    }
    t->slots[t->count] = (stream_slot){ { NULL, 0 }, 1 };
    return t->count++;
}

/* ---- workers ---- */

/* The blocks of the launch are over, and with them what belongs to its threads. */
static void blocks_over(item *i)
{
    free(i->streams.slots);
    free(i->events.slots);
    while (i->buffers) {
        item *next = i->buffers->next_buffer;
        cgx__item_drop(i->buffers);
        i->buffers = next;
    }
    cgx__order_ended(&family.order, &i->order);
}

static void copy(const item *i)
{
    for (size_t z = 0; z < i->depth; z++)
        for (size_t y = 0; y < i->height; y++) {
            char *to = i->to + (z * i->to_rows + y) * i->to_pitch;
            if (i->kind == ITEM_COPY)
                memmove(to, i->from + (z * i->from_rows + y) * i->from_pitch, i->width);
            else
                memset(to, i->value, i->width);
        }
}

/* Locked: takes some of what may run, and is unlocked while it runs it. When much is waiting, several at once: workers that meet at
 * the lock for each small launch only wait for one another. */
static void run_some(worker *w)
{
    struct {
        item *i;
        int64_t first, end;
    } taken[MOST_AT_ONCE];
    order *o = &family.order;
    int n = 0, many = o->ready / (4 * family.parts);
    many = many < 1 ? 1 : many > MOST_AT_ONCE ? MOST_AT_ONCE : many;
    while (n < many) {
        item *i = (item *)(family.root->l->seed && cgx__random_next(w) & 1 ? o->last : o->first);
        taken[n].i = i;
        if (i->kind != ITEM_LAUNCH) {
            cgx__order_take(o, &i->order);
            n++;
            continue;
        }
        int64_t left = i->clusters - i->begun, share = left / (2 * family.parts);
        taken[n].first = i->begun;
        i->begun += o->ready >= family.parts || family.parts == 1 ? left : share ? share : 1;
        taken[n++].end = i->begun;
        i->parts++;
        if (i->begun == i->clusters)
            cgx__order_take(o, &i->order);
    }
    pthread_mutex_unlock(&family.lock);
    for (int k = 0; k < n; k++) {
        const item *i = taken[k].i;
        if (i->kind == ITEM_LAUNCH)
            cgx__worker_run(w, i->l, taken[k].first * i->l->cluster_blocks, taken[k].end * i->l->cluster_blocks);
        else
            copy(i);
    }
    pthread_mutex_lock(&family.lock);
    for (int k = 0; k < n; k++) {
        item *i = taken[k].i;
        if (i->kind != ITEM_LAUNCH)
            cgx__order_ended(o, &i->order);
        else if (!--i->parts && i->begun == i->clusters)
            blocks_over(i);
    }
}

static void drain(void *argument, int part, int parts)
{
    (void)argument, (void)parts;
    pthread_mutex_lock(&family.lock);
    while (!family.order.over) {
        if (family.order.first) {
            run_some(family.workers + part);
            continue;
        }
        pthread_mutex_unlock(&family.lock);
        for (int i = 0; i < IDLE_SPINS && !__atomic_load_n(&family.order.first, __ATOMIC_RELAXED) &&
                        !__atomic_load_n(&family.order.over, __ATOMIC_RELAXED);
             i++)
            cgx__team_relax();
        pthread_mutex_lock(&family.lock);
        while (!family.order.first && !family.order.over) {
            family.order.sleeping++;
            pthread_cond_wait(&family.more, &family.lock);
            family.order.sleeping--;
        }
    }
    pthread_mutex_unlock(&family.lock);
}

cgx_status cgx__family_begin(launch *root)
{
    pthread_mutex_lock(&family.lock);
    item *i = (item *)cgx__order_new(&family.order, NULL);
    if (i) {
        prepare(i, ITEM_LAUNCH);
        i->l = root;
        root->item = i;
        family.root = i;
    }
    pthread_mutex_unlock(&family.lock);
    return i ? CGX_OK : CGX_ERROR_OUT_OF_MEMORY;
}

void cgx__family_finish(launch *root, int workers)
{
    uint64_t start = 0;
    pthread_mutex_lock(&family.lock);
    family.parts = workers;
    blocks_over(root->item);
    while (family.order.first && !family.order.over) {
        if (workers > 1) {
            uint64_t now = cgx__cpu_nanoseconds();
            start = start ? start : now;
            if (now - start > ALONE_NANOSECONDS)
                break;
        }
        run_some(family.workers);
    }
    int left = !family.order.over;
    pthread_mutex_unlock(&family.lock);
    if (left)
        cgx__team_run(drain, NULL, workers, 0);
    for (int k = 0; k < family.worker_count; k++) {
        worker *w = family.workers + k;
        for (item *i; (i = w->stash); cgx__item_drop(i))
            w->stash = i->next_buffer;
        w->stash_refill = 0;
    }
    cgx__order_trim(&family.order);
}

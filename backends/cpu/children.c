/* SPDX-License-Identifier: MIT */
/* Launches by kernels. While the blocks of the host's launch run, what they launch is only noted; then the workers take
 * whatever may run, newest first, until nothing is left: a tree is walked in depth, which keeps few launches on their way.
 * An item is over when its blocks have ended and everything it launched is over, the tails, one after the other, last. Only
 * then do its successors in its stream begin, and its parent hears of it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "children.h"
#include "team.h"

enum {
    SLAB_ITEMS = 64,
    KEEP_SLABS = 64, /* beyond, memory is given back when the family is over */
    DEFAULT_PENDING = 2048,
    ALONE_NANOSECONDS = 10000, /* before others are woken, which costs as much */
    IDLE_SPINS = 2000,
    MOST_AT_ONCE = 16
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    item *first, *last; /* may run; newest first */
    int ready;
    item *root;
    int over, sleeping;
    size_t pending, limit;
    uint64_t serial;
    item *spare, **slabs;
    int slab_count;
    worker *workers;
    int worker_count;
    int parts; /* workers that share the work now */
} family = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .limit = DEFAULT_PENDING };

void cgx__family_configure(worker *workers, int count)
{
    family.workers = workers;
    family.worker_count = count;
}
void cgx__family_set_limit(size_t pending)
{
    family.limit = pending;
}
size_t cgx__family_limit(void)
{
    return family.limit;
}
void cgx__family_lock(void)
{
    pthread_mutex_lock(&family.lock);
}
void cgx__family_unlock(void)
{
    pthread_mutex_unlock(&family.lock);
}

/* ---- items: their memory stays items', so that a place may look at one that is over ---- */

static int add_slab(void)
{
    item **slabs = realloc(family.slabs, (size_t)(family.slab_count + 1) * sizeof *slabs);
    if (!slabs)
        return 0;
    family.slabs = slabs;
    item *items = aligned_alloc(_Alignof(item), SLAB_ITEMS * sizeof *items);
    if (!items)
        return 0;
    family.slabs[family.slab_count++] = items;
    for (int i = SLAB_ITEMS - 1; i >= 0; i--) {
        items[i].serial = 0;
        items[i].next = family.spare;
        family.spare = items + i;
    }
    return 1;
}

static item *new_item(item_kind kind, size_t argument_bytes)
{
    void *large = NULL;
    if ((!family.spare && !add_slab()) || (argument_bytes > INLINE_ARGUMENTS && !(large = malloc(argument_bytes))))
        return NULL;
    item *i = family.spare;
    family.spare = i->next;
    memset(i, 0, offsetof(item, own));
    i->serial = ++family.serial;
    i->kind = kind;
    i->children = 1;
    i->l = &i->own;
    i->arguments = large ? large : i->few_arguments;
    return i;
}

static void release(item *i)
{
    if (i->arguments != i->few_arguments)
        free(i->arguments);
    i->serial = 0;
    i->next = family.spare;
    family.spare = i;
}

item *cgx__item_new(item *grid, item_kind kind, size_t argument_bytes)
{
    pthread_mutex_lock(&family.lock);
    item *i = new_item(kind, argument_bytes);
    if (i)
        i->parent = grid;
    pthread_mutex_unlock(&family.lock);
    return i;
}

void cgx__item_drop(item *i)
{
    release(i);
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

/* ---- what may run ---- */

static void push(item *i)
{
    i->before = NULL;
    i->next = family.first;
    if (family.first)
        family.first->before = i;
    else
        family.last = i;
    family.first = i;
    family.ready++;
    if (family.sleeping)
        pthread_cond_signal(&family.more);
}

static void unlink_ready(item *i)
{
    if (i->before)
        i->before->next = i->next;
    else
        family.first = i->next;
    if (i->next)
        i->next->before = i->before;
    else
        family.last = i->before;
    family.ready--;
}

static void over(item *i);

/* Its turn has come. */
static void start(item *i)
{
    if (i->kind == ITEM_MARK)
        over(i);
    else
        push(i);
}

/* One thing less that has to be over before I is. Its next tail begins when it was the last. The item that is over then, or NULL. */
static item *one_less(item *i, int was_tail)
{
    if (!was_tail && --i->children)
        return NULL;
    item *tail = i->tails;
    if (!tail)
        return i;
    i->tails = tail->next;
    push(tail);
    return NULL;
}

/* Marks that are over meanwhile wait in a list: a stream may have thousands in a row. */
static void over(item *i)
{
    static item *waiting;
    static int active;
    i->next = waiting;
    waiting = i;
    if (active)
        return;
    active = 1;
    while ((i = waiting)) {
        waiting = i->next;
        while (i) {
            item *parent = i->parent;
            int was_tail = i->tail;
            for (edge *e = i->successors, *next; e; e = next) {
                next = e->next;
                if (!--e->to->blockers)
                    start(e->to);
            }
            if (i->kind != ITEM_MARK && parent)
                family.pending--;
            release(i);
            if (!parent) {
                family.over = 1;
                pthread_cond_broadcast(&family.more);
            }
            i = parent ? one_less(parent, was_tail) : NULL;
        }
    }
    active = 0;
}

static void follow(edge *e, item *to, const place *after)
{
    if (!after->item || after->item->serial != after->serial)
        return;
    e->to = to;
    e->next = after->item->successors;
    after->item->successors = e;
    to->blockers++;
}

int cgx__item_submit(item *i, place *last, int tail)
{
    item *grid = i->parent;
    if (i->kind != ITEM_MARK) {
        if (family.pending >= family.limit) {
            release(i);
            return 0;
        }
        family.pending++;
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
        *last = (place){ i, i->serial };
    }
    if (!i->blockers)
        start(i);
    return 1;
}

cgx_status cgx__stream_wait(item *grid, place *last, const place *event)
{
    if (!event->item || event->item->serial != event->serial)
        return CGX_OK;
    item *mark = new_item(ITEM_MARK, 0);
    if (!mark)
        return CGX_ERROR_OUT_OF_MEMORY;
    mark->parent = grid;
    follow(mark->waits + 1, mark, event);
    cgx__item_submit(mark, last, 0);
    return CGX_OK;
}

/* ---- workers ---- */

/* The blocks of the launch are over, and with them what belongs to its threads. */
static void blocks_over(item *i)
{
    free(i->streams.slots);
    free(i->events.slots);
    while (i->buffers) {
        item *next = i->buffers->next;
        release(i->buffers);
        i->buffers = next;
    }
    if ((i = one_less(i, 0)))
        over(i);
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
    int n = 0, many = family.ready / (4 * family.parts);
    many = many < 1 ? 1 : many > MOST_AT_ONCE ? MOST_AT_ONCE : many;
    while (n < many) {
        item *i = family.root->l->seed && cgx__random_next(w) & 1 ? family.last : family.first;
        taken[n].i = i;
        if (i->kind != ITEM_LAUNCH) {
            unlink_ready(i);
            n++;
            continue;
        }
        int64_t left = i->clusters - i->begun, share = left / (2 * family.parts);
        taken[n].first = i->begun;
        i->begun += family.ready >= family.parts || family.parts == 1 ? left : share ? share : 1;
        taken[n++].end = i->begun;
        i->parts++;
        if (i->begun == i->clusters)
            unlink_ready(i);
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
            over(i);
        else if (!--i->parts && i->begun == i->clusters)
            blocks_over(i);
    }
}

static void drain(void *argument, int part, int parts)
{
    (void)argument, (void)parts;
    pthread_mutex_lock(&family.lock);
    while (!family.over) {
        if (family.first) {
            run_some(family.workers + part);
            continue;
        }
        pthread_mutex_unlock(&family.lock);
        for (int i = 0; i < IDLE_SPINS && !__atomic_load_n(&family.first, __ATOMIC_RELAXED) &&
                        !__atomic_load_n(&family.over, __ATOMIC_RELAXED);
             i++)
            cgx__team_relax();
        pthread_mutex_lock(&family.lock);
        while (!family.first && !family.over) {
            family.sleeping++;
            pthread_cond_wait(&family.more, &family.lock);
            family.sleeping--;
        }
    }
    pthread_mutex_unlock(&family.lock);
}

cgx_status cgx__family_begin(launch *root)
{
    pthread_mutex_lock(&family.lock);
    item *i = new_item(ITEM_LAUNCH, 0);
    if (i) {
        i->l = root;
        root->item = i;
        family.root = i;
        family.over = 0;
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
    while (family.first && !family.over) {
        if (workers > 1) {
            uint64_t now = cgx__cpu_nanoseconds();
            start = start ? start : now;
            if (now - start > ALONE_NANOSECONDS)
                break;
        }
        run_some(family.workers);
    }
    int left = !family.over;
    pthread_mutex_unlock(&family.lock);
    if (left)
        cgx__team_run(drain, NULL, workers, 0);
    if (family.slab_count > KEEP_SLABS) {
        for (int i = 0; i < family.slab_count; i++)
            free(family.slabs[i]);
        family.slab_count = 0;
        family.spare = NULL;
    }
}

/* SPDX-License-Identifier: MIT */
/* How a worker runs its blocks.
 *
 * The scheduler lives on the worker's own stack and runs when no thread can. It starts a fiber; the fiber runs block after
 * block, the threads of each in a plain loop on the fiber's one stack. When a thread has to wait for the first time it
 * keeps that stack, and a new fiber goes on with the threads behind it (fork). So threads that never wait cost a loop
 * iteration, and those that wait cost a switch each. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "team.h"

void cgx__launch_fail(launch *l, cgx_status status, const char *format, ...)
{
    launch *told = l->root ? l->root : l; /* the host's, which has ended when its descendants run */
    if (__atomic_exchange_n(&l->failed, 1, __ATOMIC_ACQ_REL) ||
        (told != l && __atomic_exchange_n(&told->failed, 1, __ATOMIC_ACQ_REL)))
        return;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(told->text, told->text_bytes, format, arguments);
    va_end(arguments);
    if (told != l && n >= 0 && (size_t)n < told->text_bytes)
        snprintf(told->text + n, told->text_bytes - (size_t)n, "; launched by a kernel, below %s", told->kernel->name);
    told->status = status;
}

static int failed(const launch *l)
{
    return __atomic_load_n(&l->failed, __ATOMIC_ACQUIRE);
}

/* ---- blocks ---- */

static block *new_block(void)
{
    const size_t n = CGX__MAX_THREADS, tiles = CGX__BARRIERS * sizeof(cgx_cpu_barrier), values = n * CGX__VALUE_BYTES;
    /* No multiple of 4 KiB, or the processor takes a read of one for a read of what was just stored into the other. */
    const size_t apart = 2048 + 64;
    const size_t head = (sizeof(block) + 127) & ~(size_t)127;
    /* Zero pages that are touched when used: a block of few threads with no collectives takes one or two. */
    char *memory = calloc(1, head + tiles + 2 * values + apart + n * sizeof(int) + 128);
    if (!memory)
        return NULL;
    block *b = (block *)memory; /* kept by its start, for free() */
    char *at = memory + head;
    b->pub.tiles = (cgx_cpu_barrier *)at;
    at = (char *)(((uintptr_t)at + tiles + 127) & ~(uintptr_t)127);
    b->pub.in = (unsigned char *)at;
    b->pub.out = b->pub.in + values + apart;
    b->pub.argument = (int *)(b->pub.out + values);
    return b;
}

/* Those of the block before: their words, too, which compiled entries look at without their records. */
static void forget_barriers(cgx_cpu_block *b)
{
    for (size_t i = 0; i < b->barrier_bytes / 8; i++)
        if (b->barriers[i].word)
            memset(b->shared + 8 * i, 0, 8);
    memset(b->barriers, 0, b->barrier_bytes / 8 * sizeof *b->barriers);
}

/* Where an address sanitizer watches: the last launch's arrays and red zones are forgotten. */
static void forget_shared(block *b)
{
    if (!__asan_unpoison_memory_region || !b->shared_memory)
        return;
    __asan_unpoison_memory_region(b->shared_memory, b->shared_capacity);
    if (b->has_barriers)
        forget_barriers(&b->pub);
    b->has_barriers = 0;
}

/* So many bytes are in use, the first of them by the kernel's own arrays. */
static void guard_shared(block *b, const cgx_kernel *kernel, size_t bytes, size_t fixed)
{
    cgx__kernel_red_zones(kernel, b->shared_memory, fixed);
    __asan_poison_memory_region(b->shared_memory + bytes, b->shared_capacity - bytes);
}

static int reserve_shared(block *b, size_t bytes)
{
    bytes = (bytes + 127) & ~(size_t)127;
    if (b->shared_capacity >= bytes)
        return 1;
    free(b->shared_memory);
    b->shared_memory = aligned_alloc(128, bytes);
    b->shared_capacity = b->shared_memory ? bytes : 0;
    return b->shared_memory != NULL;
}

/* What a compiled entry keeps from one region to the next. */
static int reserve_frame(block *b, const launch *l, int slot)
{
    const size_t bytes = l->frame_bytes * (((size_t)l->shape.threads + 63) & ~(size_t)63);
    /* Frames of resident blocks do not fall on the same cache sets. */
    enum { COLOURS = 13, COLOUR_BYTES = 320 };
    if (b->frame_capacity >= bytes)
        return 1;
    free(b->frame_memory);
    b->frame_memory = aligned_alloc(64, bytes + COLOURS * COLOUR_BYTES);
    b->pub.frame = b->frame_memory ? b->frame_memory + slot % COLOURS * COLOUR_BYTES : NULL;
    b->frame_capacity = b->frame_memory ? bytes : 0;
    return b->frame_memory != NULL;
}

/* Whether another block may start: of a cluster that has begun, or, when all blocks before it have ended, of the next
 * one. Under a cooperative launch all are resident. */
static int may_start(worker *w)
{
    launch *l = w->launch;
    if (failed(l))
        return 0;
    if (w->resident && !l->cooperative && (l->cluster_blocks == 1 || w->next_block % l->cluster_blocks == 0))
        return 0;
    if (w->next_block == w->end_block && l->dynamic) {
        int64_t cluster = __atomic_fetch_add(&l->next_dynamic, 1, __ATOMIC_RELAXED);
        if (cluster >= l->shape.blocks / l->cluster_blocks)
            return 0;
        w->next_block = cluster * l->cluster_blocks;
        w->end_block = w->next_block + l->cluster_blocks;
    }
    return w->next_block < w->end_block;
}

/* Blocks are counted cluster by cluster, and inside a cluster x fastest. Mostly I is behind the block that was in this place
 * before: that one's index is counted up, since a dozen divisions took a tenth of the time of small blocks. */
static void place(cgx_cpu_shape *s, int64_t i, int cluster_blocks)
{
    if (cluster_blocks == 1 && s->grid.y == 1 && s->grid.z == 1) { /* the common case */
        s->block_index.x = (int)i;
        s->block_rank = i;
        return;
    }
    if (cluster_blocks == 1 && s->block_rank == i - 1) {
        s->block_rank = i;
        if (++s->block_index.x == s->grid.x) {
            s->block_index.x = 0;
            if (++s->block_index.y == s->grid.y) {
                s->block_index.y = 0;
                s->block_index.z++;
            }
        }
        return;
    }
    const int64_t cluster = i / cluster_blocks;
    const int rank = (int)(i % cluster_blocks), nx = s->grid.x / s->cluster.x, ny = s->grid.y / s->cluster.y;
    s->block_index.x = (int)(cluster % nx) * s->cluster.x + rank % s->cluster.x;
    s->block_index.y = (int)(cluster / nx % ny) * s->cluster.y + rank / s->cluster.x % s->cluster.y;
    s->block_index.z = (int)(cluster / nx / ny) * s->cluster.z + rank / s->cluster.x / s->cluster.y;
    s->block_rank = ((int64_t)s->block_index.z * s->grid.y + s->block_index.y) * s->grid.x + s->block_index.x;
}

/* What all blocks that will use this place in the launch have in common. */
static void prepare_block(worker *w, block *b, int rank, int slot)
{
    const launch *l = w->launch;
    const size_t fixed = (l->static_shared + 127) & ~(size_t)127;
    b->pub.shape = l->shape;
    b->pub.shape.block_rank = -2; /* in front of none */
    b->pub.worker = &w->pub;
    b->pub.shared = b->shared_memory;
    b->pub.scratch = w->blocks[0]->shared_memory;
    b->pub.dynamic = b->shared_memory + fixed;
    b->pub.shared_bytes = fixed + l->dynamic_shared;
    b->pub.cluster = &w->blocks[slot - rank]->cluster;
    b->pub.peers = (cgx_cpu_block *const *)w->blocks + (slot - rank);
    b->pub.cluster_rank = rank;
    b->pub.cluster_blocks = l->cluster_blocks;
}

/* Makes B the I-th block of the launch. RANK: in its cluster. */
static inline void begin_block(block *b, const launch *l, int64_t i, int rank)
{
    place(&b->pub.shape, i, l->cluster_blocks);
    b->pub.next = 0;
    b->pub.exited = 0;
    b->pub.tiled = 0;
    b->pub.resume = 0;
    b->pub.barrier.arrived = 0;
    b->pub.barrier.expected = l->shape.threads;
    b->grid_round = b->cluster_round = 0;
    if (rank == 0) {
        b->cluster.arrived = 0;
        b->cluster.expected = l->cluster_blocks * l->shape.threads;
    }
    if (b->has_barriers)
        forget_barriers(&b->pub);
    b->has_barriers = 0;
    if (b->stages)
        memset(b->stages, 0, (size_t)l->shape.threads * sizeof *b->stages);
    if (b->stores)
        memset(b->stores, 0, (size_t)l->shape.threads * sizeof *b->stores);
}

/* The next block this worker is to run, ready to start, or NULL. */
static block *start_block(worker *w)
{
    const launch *l = w->launch;
    if (!may_start(w))
        return NULL;
    const int64_t i = w->next_block++;
    const int rank = l->cluster_blocks == 1 ? 0 : (int)(i % l->cluster_blocks),
              slot = l->cooperative ? w->started : rank;
    block *b = w->blocks[slot];
    w->started++;
    w->resident++;
    begin_block(b, l, i, rank);
    return b;
}

block *cgx__block_of(const cgx_cpu_thread *t, const void *address)
{
    for (int i = -1; i < t->block->cluster_blocks; i++) {
        cgx_cpu_block *b = i < 0 ? t->block : t->block->peers[i];
        if ((size_t)((const char *)address - b->shared) < b->shared_bytes)
            return (block *)b;
    }
    return NULL;
}

void *cgx__cpu_map_shared(cgx_cpu_thread *t, const void *address, int rank, int line)
{
    const cgx_cpu_block *b = t->block;
    if (rank < 0 || rank >= b->cluster_blocks)
        cgx__cpu_misuse(t, line, "map_shared_rank: the cluster has no block of this rank");
    if ((size_t)((const char *)address - b->shared) > b->shared_bytes)
        cgx__cpu_misuse(t, line, "map_shared_rank: the address is not in the block's shared memory");
    return b->peers[rank]->shared + ((const char *)address - b->shared);
}

int cgx__cpu_shared_rank(cgx_cpu_thread *t, const void *address, int line)
{
    const block *b = cgx__block_of(t, address);
    if (!b)
        cgx__cpu_misuse(t, line, "query_shared_rank: the address is in no shared memory of the cluster");
    return b->pub.cluster_rank;
}

/* How many blocks the entry may run behind this one without coming back: blocks of a row, alone on the worker, with nothing
 * to prepare between them. Few at a time, so that a launch that failed elsewhere ends soon. */
enum { FOLLOW = 64 };
static int may_follow(const worker *w, const block *b)
{
    const launch *l = w->launch;
    const int64_t left = w->end_block - w->next_block;
    if (b->pub.next || l->cooperative || l->cluster_blocks > 1 || l->shape.grid.y > 1 || l->shape.grid.z > 1 ||
        w->pub.late)
        return 0;
    return left < FOLLOW ? (int)left : FOLLOW;
}

void cgx__stop_following(block *b)
{
    b->follow -= b->pub.follow;
    b->pub.follow = 0;
}

/* Of those that were allowed, what is left did not run. */
static void blocks_followed(worker *w, block *b)
{
    cgx__stop_following(b);
    w->next_block += b->follow;
    w->started += b->follow;
    b->follow = 0;
}

/* ---- threads that end ---- */

static int ended_in(const block *b, int base, int size)
{
    int n = 0;
    for (int r = base; r < base + size;) {
        int step = 64 - r % 64 < base + size - r ? 64 - r % 64 : base + size - r;
        uint64_t word = b->ended[r / 64] >> r % 64;
        n += __builtin_popcountll(step == 64 ? word : word & (((uint64_t)1 << step) - 1));
        r += step;
    }
    return n;
}

int cgx__cpu_running(const cgx_cpu_block *b, int base, int size)
{
    return size - ended_in((const block *)b, base, size);
}

/* Releases the tiles up to the warp that waited only for threads that have ended. */
static void release_tiles(block *b, int first, int end)
{
    for (int size = 2; size <= b->pub.shape.lanes; size *= 2)
        for (int i = first / size; i <= (end - 1) / size; i++) {
            cgx_cpu_barrier *q = b->pub.tiles + CGX__MAX_THREADS / size + i;
            if (!q->arrived || q->operation != CGX__OP_SYNC)
                continue;
            q->expected = size - ended_in(b, i * size, size);
            if (q->arrived == q->expected)
                cgx__cpu_release(b->pub.worker, q);
        }
}

/* Threads FIRST to END - 1 have ended: they count as arrived at the barriers of the block and of the cluster, and at tiles up to
 * the warp. */
static inline void threads_ended(block *b, int first, int end)
{
    worker *w = (worker *)b->pub.worker;
    const int count = end - first, before = b->pub.exited;
    if (count <= 0)
        return;
    b->pub.exited = before + count;
    if (b->pub.cluster_blocks > 1 || b->pub.exited < b->pub.shape.threads) {
        cgx_cpu_barrier *c = b->pub.cluster;
        c->expected -= count;
        if (c->arrived && c->arrived == c->expected)
            cgx__cpu_release(&w->pub, c);
    }
    if (before + count == b->pub.shape.threads) {
        if (w->first_deferred)
            cgx__async_finish(b);
        w->resident--;
        return;
    }
    if (before == 0)
        memset(b->ended, 0, (size_t)(b->pub.shape.threads + 63) / 64 * sizeof b->ended[0]);
    for (int r = first; r < end; r++)
        b->ended[r / 64] |= (uint64_t)1 << r % 64;
    cgx_cpu_barrier *q = &b->pub.barrier;
    q->expected -= count;
    if (q->arrived && q->arrived == q->expected)
        cgx__cpu_release(&w->pub, q);
    if (b->pub.tiled)
        release_tiles(b, first, end);
}

/* ---- fibers ---- */

void cgx__worker_abandon(worker *w)
{
    w->abandoned = 1;
    if (w->escape)
        longjmp(*w->escape, 1);
    cgx__switch_jump(w, &w->pub.scheduler);
}

static void check_overflow(worker *w, int index, const block *b)
{
    if (CGX__UNLIKELY(cgx__stack_overflowed(&w->stacks, index))) {
        cgx__launch_fail(w->launch, CGX_ERROR_FAULT,
                         "%s: a thread of block %lld ran over its stack of %s bytes; CGX_CPU_STACK sets "
                         "the size",
                         w->launch->kernel->name, (long long)b->pub.shape.block_rank,
                         cgx__number((int64_t)cgx__stack_bytes()));
        cgx__worker_abandon(w);
    }
}

/* A compiled entry runs all threads of the block, none of which is ever left waiting. Where blocks are alone on the worker those behind
 * it follow, for which nothing is asked that cannot have changed: small blocks take no longer than this. */
static int run_compiled(worker *w, const launch *l, block *b)
{
    if (b->pub.next)
        return CGX__ENTRY_DECLINES;
    const int alone = !l->cooperative && l->cluster_blocks == 1;
    int rank;
    while ((rank = l->compiled(&b->pub, l->arguments)) == -1 && alone && w->next_block < w->end_block &&
           !w->first_deferred && !failed(l)) {
        w->started++;
        begin_block(b, l, w->next_block++, 0);
    }
    return rank;
}

static int wait_for_grid(worker *w);

/* A call of a compiled entry that comes back where its threads wait for the grid. */
static void run_to_grid(worker *w, const launch *l, block *b)
{
    const int result = l->compiled(&b->pub, l->arguments);
    if (result != CGX__ENTRY_WAITS)
        threads_ended(b, 0, b->pub.shape.threads);
    else if (!w->pub.grid.expected)
        cgx__cpu_misuse_of(&b->pub, 0, b->pub.resume_line, NOT_COOPERATIVE);
    else
        w->pub.grid.arrived += b->pub.shape.threads;
}

/* Where the first block's entry has come back to wait for the grid: all blocks of the worker on this one stack, in turn, from one
 * barrier of the grid to the next. Each second time from the last to the first, whose data are still in the cache. A stack for
 * each took 60 ns a block and barrier more. */
static void run_in_turn(worker *w, const launch *l, block *b)
{
    if (!w->pub.grid.expected)
        cgx__cpu_misuse_of(&b->pub, 0, b->pub.resume_line, NOT_COOPERATIVE);
    w->pub.grid.arrived += b->pub.shape.threads;
    while ((b = start_block(w)))
        run_to_grid(w, l, b);
    const int blocks = w->started;
    /* Until a block has ended, for which the others wait if they do: the scheduler reports it. */
    for (int backwards = 1; w->pub.grid.arrived == w->pub.grid.expected; backwards ^= 1) {
        cgx__cpu_grid_arrived(&w->pub);
        if (!wait_for_grid(w))
            cgx__worker_abandon(w);
        for (int i = 0; i < blocks && !failed(l); i++)
            run_to_grid(w, l, w->blocks[backwards ? blocks - 1 - i : i]);
    }
}

void cgx__fiber_main(worker *w, int index)
{
    const launch *l = w->launch;
    for (;;) {
        block *b = w->continuing;
        w->continuing = NULL;
        if (!b && !(b = start_block(w)))
            break;
        b->loop_start = b->pub.next;
        int rank = l->compiled ? run_compiled(w, l, b) : CGX__ENTRY_DECLINES;
        if (rank == CGX__ENTRY_WAITS) {
            run_in_turn(w, l, b);
            check_overflow(w, index, b);
            continue;
        }
        if (rank == CGX__ENTRY_DECLINES) {
            b->follow = b->pub.follow = may_follow(w, b);
            rank = l->run(&b->pub, l->arguments);
        }
        if (rank < 0) /* otherwise the fork has counted them */
            blocks_followed(w, b);
        check_overflow(w, index, b);
        if (rank < 0)
            threads_ended(b, b->loop_start, b->pub.shape.threads);
        else
            threads_ended(b, rank, rank + 1);
    }
    cgx__stack_release(&w->stacks, index); /* nobody takes it before this fiber has left it */
    cgx__switch_jump(w, cgx__cpu_pop(&w->pub));
}

/* A new fiber, ready to be switched to, or NULL if there is no stack for it, which fails the launch. */
static cgx_cpu_node *new_fiber(worker *w)
{
    int index = cgx__stack_acquire(&w->stacks);
    if (index < 0) {
        cgx__launch_fail(w->launch, CGX_ERROR_OUT_OF_MEMORY,
                         "%s: no memory for the stack of another thread (%s bytes; %d are in use); "
                         "CGX_CPU_STACK sets the size",
                         w->launch->kernel->name, cgx__number((int64_t)cgx__stack_bytes()),
                         w->stacks.made - w->stacks.unused);
        return NULL;
    }
    return cgx__switch_prepare(w, index);
}

cgx_cpu_node *cgx__cpu_fork(cgx_cpu_thread *thread)
{
    block *b = (block *)thread->block;
    worker *w = (worker *)thread->block->worker;
    thread->forked = 1;
    blocks_followed(w, b);
    threads_ended(b, b->loop_start, thread->rank);
    int more = thread->rank + 1 < b->pub.shape.threads;
    if (more) {
        b->pub.next = thread->rank + 1;
        w->continuing = b;
    }
    if (more || may_start(w)) {
        cgx_cpu_node *fiber = new_fiber(w);
        if (!fiber)
            cgx__worker_abandon(w);
        return fiber;
    }
    cgx_cpu_node *next = cgx__cpu_pop(&w->pub);
    return next == &thread->node ? NULL : next; /* the ends counted above may have released this very thread */
}

void cgx__cpu_misuse_of(cgx_cpu_block *b, int rank, int line, const char *text)
{
    worker *w = (worker *)b->worker;
    const cgx_dim3 i = b->shape.block_index;
    cgx__launch_fail(w->launch, CGX_ERROR_MISUSE, "%s, block (%d, %d, %d), thread %d: %s (%s:%d)",
                     w->launch->kernel->name, i.x, i.y, i.z, rank, text, w->launch->kernel->file, line);
    cgx__worker_abandon(w);
}

void cgx__cpu_misuse(cgx_cpu_thread *t, int line, const char *text)
{
    cgx__cpu_misuse_of(t->block, t->rank, line, text);
}

/* ---- coalesced_threads ---- */

/* A lane at a call of coalesced_threads, on its own stack. */
typedef struct coalescing {
    cgx_cpu_thread *thread;
    int line;
    cgx_mask lanes;
    struct coalescing *next;
} coalescing;

/* When nothing else can run, every other lane waits or has ended, so the group is as large as it can be: of each warp all lanes
 * at the call site of its lowest waiting rank go on together. */
static int coalesce_waiting(worker *w)
{
    coalescing *waiting = w->coalescing;
    w->coalescing = NULL;
    int any = waiting != NULL;
    while (waiting) {
        coalescing *leader = waiting, *group = NULL, *rest = NULL, **group_end = &group, **rest_end = &rest;
        const cgx_cpu_thread *l = leader->thread;
        const int warp = l->rank / l->shape->lanes;
        for (coalescing *c = waiting; c; c = c->next) {
            const cgx_cpu_thread *t = c->thread;
            if (t->block == l->block && t->rank / t->shape->lanes == warp && t->rank < leader->thread->rank)
                leader = c;
        }
        cgx_mask lanes = 0;
        for (coalescing *c = waiting, *next; c; c = next) {
            const cgx_cpu_thread *t = c->thread;
            next = c->next;
            c->next = NULL;
            if (t->block == l->block && t->rank / t->shape->lanes == warp) {
                if (c->line == leader->line) {
                    lanes |= (cgx_mask)1 << cgx__place(t);
                    *group_end = c, group_end = &c->next;
                } else { /* another site of this warp: its turn comes when these have gone on */
                    c->next = w->coalescing;
                    w->coalescing = c;
                }
            } else {
                *rest_end = c, rest_end = &c->next;
            }
        }
        for (coalescing *c = group, *next; c; c = next) {
            next = c->next;
            c->lanes = lanes;
            cgx__cpu_ready(&w->pub, &c->thread->node, &c->thread->node);
        }
        waiting = rest;
    }
    return any;
}

cgx_mask cgx__cpu_coalesce(cgx_cpu_thread *t, int line)
{
    worker *w = (worker *)t->block->worker;
    coalescing me = { t, line, 0, w->coalescing };
    w->coalescing = &me;
    t->node.line = line;
    t->node.operation = CGX__OP_COALESCE;
    cgx__cpu_suspend(t, -1);
    return me.lanes;
}

/* ---- random schedules ---- */

uint64_t cgx__random_next(worker *w)
{
    uint64_t z = w->random += 0x9e3779b97f4a7c15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Puts each thread at a random end of the ready list, in an order that varies. */
void cgx__cpu_shuffle(cgx_cpu_worker *pub, cgx_cpu_node *head)
{
    worker *w = (worker *)pub;
    while (head) {
        cgx_cpu_node *next = head->next;
        uint64_t r = cgx__random_next(w);
        if (pub->ready_head && r & 1) {
            cgx_cpu_node *after = pub->ready_head;
            for (int skip = (int)(r >> 1 & 7); skip && after->next; skip--)
                after = after->next;
            head->next = after->next;
            after->next = head;
            if (pub->ready_tail == after)
                pub->ready_tail = head;
        } else if (pub->ready_head && r & 2) {
            head->next = pub->ready_head;
            pub->ready_head = head;
        } else {
            cgx__cpu_ready(pub, head, head);
        }
        head = next;
    }
}

/* ---- polling ---- */

/* A polling thread lets the others run. It also does what the scheduler would, which does not get to run while a thread
 * polls. */
void cgx__cpu_yield(cgx_cpu_thread *t, int line)
{
    worker *w = (worker *)t->block->worker;
    cgx_cpu_barrier *grid = &w->pub.grid;
    if (failed(w->launch))
        cgx__worker_abandon(w);
    if (grid->expected && grid->arrived == grid->expected &&
        __atomic_load_n(&w->launch->grid_phase, __ATOMIC_ACQUIRE) != w->grid_phase) {
        w->grid_phase++;
        cgx__cpu_release(&w->pub, grid);
    }
    if (++w->yields >= (w->pub.ready_head ? 64 : 1)) { /* nothing else may be left to happen */
        w->yields = 0;
        cgx__async_progress(w);
        coalesce_waiting(w);
        if (!w->pub.ready_head && !may_start(w))
            sched_yield(); /* what is polled for is another worker's to do */
    }
    if (t->forked && !w->pub.ready_head && !may_start(w))
        return;
    t->node.line = line;
    t->node.operation = CGX__OP_YIELD;
    cgx__cpu_ready(&w->pub, &t->node, &t->node);
    cgx_cpu_node *to = !t->forked ? cgx__cpu_fork(t) : may_start(w) ? new_fiber(w) : cgx__cpu_pop(&w->pub);
    if (failed(w->launch))
        cgx__worker_abandon(w);
    if (to)
        cgx__switch_to(w, &t->node, to);
}

/* ---- grid synchronisation ---- */

void cgx__cpu_grid_arrived(cgx_cpu_worker *pub)
{
    launch *l = ((worker *)pub)->launch;
    if (pub->deferred)
        cgx__cpu_settle(pub); /* before the other workers are told */
    if (__atomic_add_fetch(&l->grid_arrived, 1, __ATOMIC_ACQ_REL) == l->participants) {
        l->grid_arrived = 0;
        __atomic_add_fetch(&l->grid_phase, 1, __ATOMIC_RELEASE);
    }
}

static int grid_waits(const worker *w)
{
    return __atomic_load_n(&w->launch->grid_phase, __ATOMIC_ACQUIRE) == w->grid_phase;
}

/* All threads here wait for the other workers. False if the launch failed meanwhile, or fails because a worker whose
 * blocks have all ended will not come: it had left the phases before, so if this one is not over then it never will be. */
static int wait_for_grid(worker *w)
{
    for (unsigned spins = 0; grid_waits(w); spins++) {
        if (failed(w->launch))
            return 0;
        if (__atomic_load_n(&w->launch->finished, __ATOMIC_ACQUIRE) && grid_waits(w)) {
            char text[900];
            const cgx_status status = cgx__report_deadlock(w, text, sizeof text);
            cgx__launch_fail(w->launch, status, "%s: %s; other blocks of the grid have ended", w->launch->kernel->name,
                             text);
            return 0;
        }
        if (spins < 4000)
            cgx__team_relax();
        else
            sched_yield();
    }
    w->grid_phase++;
    cgx__cpu_release(&w->pub, &w->pub.grid);
    return 1;
}

/* ---- the scheduler ---- */

static int reserve_scratch(worker *w, int64_t values)
{
    size_t bytes = ((size_t)values + (size_t)values / 16 + 8) * CGX__VALUE_BYTES;
    if (w->scratch_bytes >= bytes)
        return 1;
    free(w->scratch);
    w->scratch = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    w->scratch_bytes = w->scratch ? bytes : 0;
    return w->scratch != NULL;
}

static int prepare(worker *w, launch *l, int64_t first, int64_t end)
{
    int resident = l->cooperative ? (int)(end - first) : l->cluster_blocks;
    size_t shared = ((l->static_shared + 127) & ~(size_t)127) + l->dynamic_shared;
    w->launch = l;
    w->main_stack_bottom = NULL; /* of another thread than last time: whoever waits may run a worker */
    w->next_block = first, w->end_block = l->dynamic ? first : end;
    w->resident = w->started = 0;
    w->continuing = NULL;
    w->grid_phase = 0;
    w->random = l->seed ^ (uint64_t)first;
    w->pub.shuffled = l->seed != 0;
    w->pub.late = cgx__async_is_late();
    w->pub.ready_head = NULL;
    w->pub.grid = (cgx_cpu_barrier){ .expected = l->cooperative ? resident * l->shape.threads : 0 };
    if (!reserve_scratch(w, l->cooperative && l->shape.blocks > CGX__MAX_THREADS ? l->shape.blocks : CGX__MAX_THREADS))
        return 0;
    if (resident > w->block_capacity) {
        block **blocks = realloc(w->blocks, (size_t)resident * sizeof *blocks);
        if (!blocks)
            return 0;
        w->blocks = blocks;
        for (; w->block_capacity < resident; w->block_capacity++)
            if (!(w->blocks[w->block_capacity] = new_block()))
                return 0;
    }
    for (int i = 0; i < resident; i++) {
        forget_shared(w->blocks[i]);
        if (!reserve_shared(w->blocks[i], shared ? shared : 1) || !reserve_frame(w->blocks[i], l, i))
            return 0;
        prepare_block(w, w->blocks[i], i % l->cluster_blocks, i);
        if (__asan_poison_memory_region)
            guard_shared(w->blocks[i], l->kernel, shared, shared - l->dynamic_shared);
    }
    return 1;
}

/* A failed launch leaves waiting threads behind: their stacks are taken back and every list they stood in is emptied. */
static void clean_up(worker *w)
{
    cgx__stack_reset(&w->stacks);
    for (int i = 0; i < w->block_capacity; i++) {
        block *b = w->blocks[i];
        memset(b->pub.tiles, 0, CGX__BARRIERS * sizeof *b->pub.tiles);
        b->pub.barrier = b->cluster = (cgx_cpu_barrier){ 0 };
        b->coalesced = NULL;
    }
    cgx__async_drop(w);
    w->coalescing = NULL;
    w->pub.waiters = w->pub.grid = (cgx_cpu_barrier){ 0 };
    w->pub.ready_head = NULL;
    w->abandoned = 0;
}

/* Effects that were put off; whether there were any. One may break a rule, its barrier being gone. */
static int progress(worker *w)
{
    jmp_buf escape;
    int did = 1;
    if (!w->first_deferred)
        return 0;
    if (!setjmp(escape)) {
        w->escape = &escape;
        did = cgx__async_progress(w);
    }
    w->escape = NULL;
    return did;
}

/* Runs until the blocks are done; false if the launch failed and threads were left waiting. */
static int schedule(worker *w)
{
    while (!w->abandoned) {
        if (may_start(w)) {
            cgx_cpu_node *fiber = new_fiber(w);
            if (!fiber)
                return 0;
            cgx__switch_to(w, &w->pub.scheduler, fiber);
        } else if (w->pub.ready_head) {
            cgx__switch_to(w, &w->pub.scheduler, cgx__cpu_pop(&w->pub));
        } else if (!w->resident) {
            __atomic_add_fetch(&w->launch->finished, 1, __ATOMIC_RELEASE);
            return 1;
        } else if (progress(w) || coalesce_waiting(w)) {
            continue;
        } else if (w->pub.grid.expected && w->pub.grid.arrived == w->pub.grid.expected) {
            if (!wait_for_grid(w))
                return 0;
        } else {
            char text[900];
            const cgx_status status = cgx__report_deadlock(w, text, sizeof text);
            cgx__launch_fail(w->launch, status, "%s: %s", w->launch->kernel->name, text);
            return 0;
        }
    }
    return 0;
}

void cgx__worker_run(worker *w, launch *l, int64_t first, int64_t end)
{
    cgx__fault_watch(w);
    if (!prepare(w, l, first, end))
        cgx__launch_fail(l, CGX_ERROR_OUT_OF_MEMORY, "%s: no memory for %lld resident blocks", l->kernel->name,
                         (long long)(l->cooperative ? end - first : 1));
    else if (!schedule(w))
        clean_up(w);
    cgx__fault_watch(NULL);
}

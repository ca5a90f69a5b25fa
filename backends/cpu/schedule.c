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
#include "fiber.h"

void launch_fail(launch *l, cgx_status status, const char *format, ...)
{
    if (__atomic_exchange_n(&l->failed, 1, __ATOMIC_ACQ_REL))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(l->text, sizeof l->text, format, arguments);
    va_end(arguments);
    l->status = status;
}

static int failed(const launch *l) { return __atomic_load_n(&l->failed, __ATOMIC_ACQUIRE); }

/* ---- blocks ---- */

static block *new_block(void)
{
    const size_t n = CGX__MAX_THREADS, tiles = CGX__BARRIERS * sizeof(cgx_cpu_barrier), values = n * CGX__VALUE_BYTES;
    const size_t head = (sizeof(block) + 127) & ~(size_t)127;
    /* Zero pages that are touched when used: a block of few threads with no collectives takes one or two. */
    char *memory = calloc(1, head + tiles + 2 * values + n * sizeof(int) + 128);
    if (!memory)
        return NULL;
    block *b = (block *)memory; /* kept by its start, for free() */
    char *at = memory + head;
    b->pub.tiles = (cgx_cpu_barrier *)at;
    at = (char *)(((uintptr_t)at + tiles + 127) & ~(uintptr_t)127);
    b->pub.in = (unsigned char *)at;
    b->pub.out = b->pub.in + values;
    b->pub.argument = (int *)(b->pub.out + values);
    return b;
}

static int reserve_shared(block *b, size_t bytes)
{
    if (b->shared_bytes >= bytes)
        return 1;
    free(b->shared_memory);
    b->shared_memory = aligned_alloc(128, (bytes + 127) & ~(size_t)127);
    b->shared_bytes = b->shared_memory ? bytes : 0;
    return b->shared_memory != NULL;
}

/* The next block this worker is to run, ready to start, or NULL: none left, or as many resident as may be. */
static block *start_block(worker *w)
{
    launch *l = w->launch;
    if (w->resident == w->max_resident || failed(l))
        return NULL;
    int64_t i = l->dynamic ? __atomic_fetch_add(&l->next_dynamic, 1, __ATOMIC_RELAXED) : w->next_block++;
    if (i >= w->end_block) {
        w->next_block = w->end_block;
        return NULL;
    }
    block *b = w->blocks[w->max_resident == 1 ? 0 : w->started];
    w->started++;
    w->resident++;
    b->pub.shape = l->shape;
    b->pub.shape.block_rank = i;
    b->pub.shape.block_index.x = (int)(i % l->shape.grid.x);
    b->pub.shape.block_index.y = (int)(i / l->shape.grid.x % l->shape.grid.y);
    b->pub.shape.block_index.z = (int)(i / l->shape.grid.x / l->shape.grid.y);
    b->pub.next = 0;
    b->pub.exited = 0;
    b->pub.tiled = 0;
    b->pub.worker = &w->pub;
    b->pub.shared = b->shared_memory;
    b->pub.dynamic = b->shared_memory + ((l->static_shared + 127) & ~(size_t)127);
    b->pub.barrier.arrived = 0;
    b->pub.barrier.expected = l->shape.threads;
    memset(b->ended, 0, (size_t)(l->shape.threads + 63) / 64 * sizeof b->ended[0]);
    return b;
}

/* ---- threads that end ---- */

static int ended_in(const block *b, int base, int size)
{
    int n = 0;
    for (int r = base; r < base + size; ) {
        int step = 64 - r % 64 < base + size - r ? 64 - r % 64 : base + size - r;
        uint64_t word = b->ended[r / 64] >> r % 64;
        n += __builtin_popcountll(step == 64 ? word : word & (((uint64_t)1 << step) - 1));
        r += step;
    }
    return n;
}

int cgx__cpu_running(const cgx_cpu_block *b, int base, int size) { return size - ended_in((const block *)b, base, size); }

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

/* Threads FIRST to END - 1 have ended: they count as arrived at the block's barrier and at tiles up to the warp. */
static void threads_ended(block *b, int first, int end)
{
    if (first >= end)
        return;
    b->pub.exited += end - first;
    if (b->pub.exited == b->pub.shape.threads) {
        ((worker *)b->pub.worker)->resident--;
        return;
    }
    for (int r = first; r < end; r++)
        b->ended[r / 64] |= (uint64_t)1 << r % 64;
    cgx_cpu_barrier *q = &b->pub.barrier;
    q->expected -= end - first;
    if (q->arrived && q->arrived == q->expected)
        cgx__cpu_release(b->pub.worker, q);
    if (b->pub.tiled)
        release_tiles(b, first, end);
}

/* ---- fibers ---- */

/* Ends the launch from a fiber. */
static __attribute__((noreturn)) void abandon(worker *w)
{
    w->abandoned = 1;
    switch_jump(w, w->pub.scheduler.sp);
}

static void check_overflow(worker *w, int index, const block *b)
{
    if (CGX__UNLIKELY(stack_overflowed(&w->stacks, index))) {
        launch_fail(w->launch, CGX_ERROR_FAULT, "%s: a thread of block %lld ran over its stack of %s bytes; CGX_CPU_STACK sets "
                    "the size", w->launch->kernel->name, (long long)b->pub.shape.block_rank,
                    cgx__number((int64_t)stack_bytes()));
        abandon(w);
    }
}

void fiber_main(worker *w, int index)
{
    const launch *l = w->launch;
    for (;;) {
        block *b = w->continuing;
        w->continuing = NULL;
        if (!b && !(b = start_block(w)))
            break;
        b->loop_start = b->pub.next;
        int rank = l->run(&b->pub, l->arguments);
        check_overflow(w, index, b);
        if (rank < 0)
            threads_ended(b, b->loop_start, b->pub.shape.threads);
        else
            threads_ended(b, rank, rank + 1);
    }
    stack_release(&w->stacks, index); /* nobody takes it before this fiber has left it */
    switch_jump(w, cgx__cpu_pop(&w->pub)->sp);
}

/* The context of a new fiber, or NULL if there is no stack for it, which fails the launch. */
static void *new_fiber(worker *w)
{
    int index = stack_acquire(&w->stacks);
    if (index < 0) {
        launch_fail(w->launch, CGX_ERROR_OUT_OF_MEMORY, "%s: no memory for the stack of another thread (%s bytes; %d are in use); "
                    "CGX_CPU_STACK sets the size", w->launch->kernel->name, cgx__number((int64_t)stack_bytes()),
                    w->stacks.made - w->stacks.unused);
        return NULL;
    }
    return switch_prepare(w, index);
}

static int may_start(const worker *w)
{
    return w->resident < w->max_resident && w->next_block < w->end_block && !failed(w->launch);
}

void *cgx__cpu_fork(cgx_cpu_thread *thread, cgx_cpu_node *me)
{
    block *b = (block *)thread->block;
    worker *w = (worker *)thread->worker;
    thread->forked = 1;
    threads_ended(b, b->loop_start, thread->rank);
    int more = thread->rank + 1 < b->pub.shape.threads;
    if (more) {
        b->pub.next = thread->rank + 1;
        w->continuing = b;
    }
    if (more || may_start(w)) {
        void *fiber = new_fiber(w);
        if (!fiber)
            abandon(w);
        return fiber;
    }
    cgx_cpu_node *next = cgx__cpu_pop(&w->pub);
    return next == me ? NULL : next->sp; /* the ends counted above may have released this very thread */
}

void cgx__cpu_misuse(cgx_cpu_thread *t, int line, const char *text)
{
    worker *w = (worker *)t->worker;
    const cgx_dim3 b = t->shape->block_index;
    launch_fail(w->launch, CGX_ERROR_MISUSE, "%s, block (%d, %d, %d), thread %d: %s (%s:%d)", w->launch->kernel->name, b.x, b.y,
                b.z, t->rank, text, w->launch->kernel->file, line);
    abandon(w);
}

/* ---- grid synchronisation ---- */

void cgx__cpu_grid_arrived(cgx_cpu_worker *pub)
{
    launch *l = ((worker *)pub)->launch;
    if (__atomic_add_fetch(&l->grid_arrived, 1, __ATOMIC_ACQ_REL) == l->participants) {
        l->grid_arrived = 0;
        __atomic_add_fetch(&l->grid_phase, 1, __ATOMIC_RELEASE);
    }
}

/* A polling thread lets the others run. It also does what the scheduler would, which does not get to run while a thread
 * polls. */
void cgx__cpu_yield(cgx_cpu_thread *t, int line)
{
    worker *w = (worker *)t->worker;
    cgx_cpu_barrier *grid = &w->pub.grid;
    if (failed(w->launch))
        abandon(w);
    if (grid->expected && grid->arrived == grid->expected &&
        __atomic_load_n(&w->launch->grid_phase, __ATOMIC_ACQUIRE) != w->grid_phase) {
        w->grid_phase++;
        cgx__cpu_release(&w->pub, grid);
    }
    if (t->forked && !w->pub.ready_head && !may_start(w))
        return;
    cgx_cpu_node me = { .thread = t, .line = line, .operation = CGX__OP_YIELD };
    cgx__cpu_ready(&w->pub, &me, &me);
    void *to = !t->forked ? cgx__cpu_fork(t, &me) : may_start(w) ? new_fiber(w) : cgx__cpu_pop(&w->pub)->sp;
    if (failed(w->launch))
        abandon(w);
    if (to)
        switch_to(w, &me, to);
}

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
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
            report_deadlock(w, text, sizeof text);
            launch_fail(w->launch, CGX_ERROR_DEADLOCK, "%s: deadlock: %s; other blocks of the grid have ended",
                        w->launch->kernel->name, text);
            return 0;
        }
        if (spins < 4000)
            pause_a_little();
        else
            sched_yield();
    }
    w->grid_phase++;
    cgx__cpu_release(&w->pub, &w->pub.grid);
    return 1;
}

/* ---- the scheduler ---- */

static int prepare(worker *w, launch *l, int64_t first, int64_t end)
{
    int resident = l->cooperative ? (int)(end - first) : 1;
    size_t shared = ((l->static_shared + 127) & ~(size_t)127) + l->dynamic_shared;
    w->launch = l;
    w->next_block = first, w->end_block = end;
    w->resident = w->started = 0;
    w->max_resident = resident;
    w->continuing = NULL;
    w->grid_phase = 0;
    w->pub.ready_head = NULL;
    w->pub.grid = (cgx_cpu_barrier){ .expected = l->cooperative ? resident * l->shape.threads : 0 };
    if (!w->scratch && !(w->scratch = aligned_alloc(64, 2 * CGX__MAX_THREADS * CGX__VALUE_BYTES)))
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
    for (int i = 0; i < resident; i++)
        if (!reserve_shared(w->blocks[i], shared ? shared : 1))
            return 0;
    return 1;
}

/* A failed launch leaves waiting threads behind: their stacks are taken back and every list they stood in is emptied. */
static void clean_up(worker *w)
{
    stack_reset(&w->stacks);
    for (int i = 0; i < w->block_capacity; i++) {
        block *b = w->blocks[i];
        memset(b->pub.tiles, 0, CGX__BARRIERS * sizeof *b->pub.tiles);
        b->pub.barrier = (cgx_cpu_barrier){ 0 };
        b->coalesced = NULL;
    }
    w->pub.waiters = w->pub.grid = (cgx_cpu_barrier){ 0 };
    w->pub.ready_head = NULL;
    w->abandoned = 0;
}

/* Runs until the blocks are done; false if the launch failed and threads were left waiting. */
static int schedule(worker *w)
{
    while (!w->abandoned) {
        if (may_start(w)) {
            void *fiber = new_fiber(w);
            if (!fiber)
                return 0;
            switch_to(w, &w->pub.scheduler, fiber);
        } else if (w->pub.ready_head) {
            switch_to(w, &w->pub.scheduler, cgx__cpu_pop(&w->pub)->sp);
        } else if (!w->resident) {
            __atomic_add_fetch(&w->launch->finished, 1, __ATOMIC_RELEASE);
            return 1;
        } else if (w->pub.grid.expected && w->pub.grid.arrived == w->pub.grid.expected) {
            if (!wait_for_grid(w))
                return 0;
        } else {
            char text[900];
            report_deadlock(w, text, sizeof text);
            launch_fail(w->launch, CGX_ERROR_DEADLOCK, "%s: deadlock: %s", w->launch->kernel->name, text);
            return 0;
        }
    }
    return 0;
}

void worker_run(worker *w, launch *l, int64_t first, int64_t end)
{
    fault_watch(w);
    if (!prepare(w, l, first, end))
        launch_fail(l, CGX_ERROR_OUT_OF_MEMORY, "%s: no memory for %lld resident blocks", l->kernel->name,
                    (long long)(l->cooperative ? end - first : 1));
    else if (!schedule(w))
        clean_up(w);
    fault_watch(NULL);
}

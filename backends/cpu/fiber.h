/* SPDX-License-Identifier: MIT */
/* Private parts of the fiber engine: what a worker, a resident block and a launch hold beside what kernels see of them. */
#ifndef CGX_FIBER_H
#define CGX_FIBER_H
#include <stdint.h>
#include <cgx/collective.h>
#include <cgx/barrier.h>
#include "../backend.h"

#define INTERNAL CGX__HIDDEN_API

/* A group of coalesced threads in which someone waits; lives on the stack of the first to come. */
typedef struct pending {
    cgx_mask lanes;
    int warp;
    cgx_cpu_barrier barrier;
    struct pending *next;
} pending;

typedef struct {
    cgx_cpu_block pub;           /* first: kernels see only this */
    int loop_start;              /* first rank of the entry call that runs its threads in a plain loop now */
    uint64_t ended[CGX__MAX_THREADS / 64];
    pending *coalesced;
    char *shared_memory;         /* owned; as large as any launch needed so far */
    size_t shared_bytes;
} block;

/* A stack, by its top; `base` is its lowest usable address. */
typedef struct { char *base, *top; int guarded; } stack;
typedef struct {
    stack *all;                  /* every stack made */
    int *free;                   /* indices of those nobody runs on, most recently used last */
    int made, unused, capacity;
    struct { char *memory; size_t bytes; } *chunks;
    int chunk_count;
} stack_pool;

struct launch;
typedef struct {
    cgx_cpu_worker pub;          /* first */
    struct launch *launch;
    stack_pool stacks;
    block **blocks;              /* one for each block resident at once */
    int block_capacity;
    int resident, max_resident, started;
    int64_t next_block, end_block;
    block *continuing;           /* a block whose remaining threads the next fiber is to run */
    int abandoned;               /* fibers of a failed launch are on the stacks */
    unsigned grid_phase;
    unsigned char *scratch;      /* CGX__MAX_THREADS values, packed, for collectives */
    const void *main_stack_bottom;
    size_t main_stack_bytes;
    void *signal_stack;
} worker;

/* One launch, shared by its workers. */
typedef struct launch {
    const cgx_kernel *kernel;
    cgx__entry_fn *run;
    const void *arguments;
    cgx_cpu_shape shape;
    size_t static_shared, dynamic_shared;
    int cooperative, dynamic, lanes;
    int64_t next_dynamic;        /* atomic */
    int participants;            /* workers at the grid barrier */
    int grid_arrived;            /* atomic */
    unsigned grid_phase;         /* atomic */
    int finished;                /* atomic: workers whose blocks have all ended */
    int failed;                  /* atomic: 0, or 1 once status and text are being set */
    cgx_status status;
    char text[1024];
} launch;

/* ---- stack.c ---- */
/* A stack for a fiber, or -1. */
INTERNAL int stack_acquire(stack_pool *p);
INTERNAL void stack_release(stack_pool *p, int index);
/* Takes back every stack, whatever runs on it. */
INTERNAL void stack_reset(stack_pool *p);
/* Index of the stack that contains an address, or -1. */
INTERNAL int stack_of(const stack_pool *p, const void *address);
/* Whether the fiber ran over the end of a stack without guard page. */
INTERNAL int stack_overflowed(const stack_pool *p, int index);
/* Whether the address is in the guard page of one of the stacks. */
INTERNAL int stack_is_guard(const stack_pool *p, const void *address);
INTERNAL size_t stack_bytes(void);
/* Bytes of memory that a thread which waits costs: what resident blocks are counted by. */
enum { STACK_RESIDENT_BYTES = 8192 };

/* ---- switch.c ---- */
/* A context that, when it is resumed, runs fiber_main(w, index) on the stack of that index. */
INTERNAL void *switch_prepare(worker *w, int index);
/* Saves the caller in *save and resumes a context. */
INTERNAL void switch_to(worker *w, cgx_cpu_node *save, void *sp);
/* Resumes a context; the caller is lost. */
INTERNAL void switch_jump(worker *w, void *sp) __attribute__((noreturn));
/* Body of a fiber. */
INTERNAL void fiber_main(worker *w, int index) __attribute__((noreturn));

/* ---- schedule.c ---- */
/* Runs the worker's share of a launch to its end. */
INTERNAL void worker_run(worker *w, launch *l, int64_t first, int64_t end);
/* Records the launch's first error. */
INTERNAL void launch_fail(launch *l, cgx_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- fault.c ---- */
/* The calling thread runs this worker now, or none (NULL): stack overflows are explained. */
INTERNAL void fault_watch(worker *w);

/* ---- report.c ---- */
/* Writes who waits for what in the worker's resident blocks. */
INTERNAL void report_deadlock(worker *w, char *text, size_t bytes);
#endif

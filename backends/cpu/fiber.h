/* SPDX-License-Identifier: MIT */
/* Private parts of the fiber engine: what a worker, a resident block and a launch hold beside what kernels see of them. */
#ifndef CGX_FIBER_H
#define CGX_FIBER_H
#include <setjmp.h>
#include <stdint.h>
#define CGX__CALL_SWITCH 1 /* every switch inside libcgx is announced to a sanitizer that the program may have */
#include <cgx/async.h>
#include <cgx/atomic.h>
#include "../backend.h"

#define INTERNAL CGX__HIDDEN_API

/* A group of coalesced threads in which someone waits; lives on the stack of the first to come. */
typedef struct pending {
    cgx_mask lanes;
    int base; /* rank of the thread that bit 0 stands for */
    cgx_cpu_barrier barrier;
    struct pending *next;
} pending;

#define NOT_COOPERATIVE "grid synchronisation in a launch that is not cooperative"

typedef struct {
    cgx_cpu_block pub;                     /* first: kernels see only this */
    int follow;                            /* blocks that the entry call was allowed to run behind this one */
    int loop_start;                        /* first rank of the entry call that runs its threads in a plain loop now */
    uint64_t ended[CGX__MAX_THREADS / 64]; /* in use while pub.exited is neither 0 nor all */
    pending *coalesced;
    char *shared_memory; /* owned; as large as any launch needed so far */
    size_t shared_capacity;
    char *frame_memory; /* owned; pub.frame is in it */
    size_t frame_capacity;
    uint64_t barrier_phases;   /* of all mbarriers that have ended */
    int has_barriers;          /* some of pub.barriers, made when a kernel first has an mbarrier, is in use */
    cgx_cpu_barrier cluster;   /* of the cluster whose first block this is */
    unsigned cluster_round;    /* collectives of the cluster so far, as this block has seen them */
    uint32_t *stages, *stores; /* one a thread: copies committed so far; made when first needed */
    unsigned grid_round;       /* collectives of the grid so far, as this block has seen them */
    int combined;              /* below and result are those of this round */
    struct callers
        *callers; /* what the device runtime keeps of the block's threads (runtime.c); made when first needed */
    _Alignas(32) unsigned char partial[2][CGX__VALUE_BYTES]; /* the block's part of the cluster's, in turn */
    _Alignas(32) unsigned char below[CGX__VALUE_BYTES], result[CGX__VALUE_BYTES]; /* see wide.c */
} block;

/* An effect that is put off (async.c). */
typedef struct deferred deferred;

/* A stack, by its top; `base` is its lowest usable address. */
typedef struct {
    char *base, *top;
    int guarded;
} stack;
typedef struct {
    stack *all; /* every stack made */
    int *free;  /* indices of those nobody runs on, most recently used last */
    int made, unused, capacity;
    struct {
        char *memory;
        size_t bytes;
    } * chunks;
    int chunk_count;
} stack_pool;

struct launch;
typedef struct {
    cgx_cpu_worker pub; /* first */
    struct launch *launch;
    struct item *stash; /* for what its threads launch next (children.c) */
    int stash_refill;
    stack_pool stacks;
    block **blocks; /* one for each block resident at once */
    int block_capacity;
    int resident, started;
    int64_t next_block, end_block;
    block *continuing; /* a block whose remaining threads the next fiber is to run */
    int abandoned;     /* fibers of a failed launch are on the stacks */
    unsigned grid_phase;
    unsigned char *scratch; /* values of a collective, packed, and totals behind them */
    size_t scratch_bytes;
    deferred *first_deferred, **last_deferred;
    jmp_buf *escape;               /* where misuse goes that is found on the scheduler's own stack */
    struct coalescing *coalescing; /* lanes at calls of coalesced_threads */
    int yields;                    /* since a thread last did something else */
    uint64_t random;               /* state of the schedule's generator */
    const void *main_stack_bottom;
    size_t main_stack_bytes;
} worker;

/* One launch, shared by its workers. */
typedef struct launch {
    const cgx_kernel *kernel;
    cgx__entry_fn *run;      /* on fibers */
    cgx__entry_fn *compiled; /* or NULL; a block that it declines runs on fibers */
    size_t frame_bytes;      /* of the compiled entry, a thread */
    const void *arguments;
    cgx_cpu_shape shape;
    size_t static_shared, dynamic_shared;
    int cooperative, dynamic, lanes;
    int64_t next_dynamic; /* atomic */
    int participants;     /* workers at the grid barrier */
    int grid_arrived;     /* atomic */
    unsigned grid_phase;  /* atomic */
    int finished;         /* atomic: workers whose blocks have all ended */
    int cluster_blocks;
    uint64_t seed;           /* of the schedule, 0 for none */
    struct launch *root;     /* the host's launch whose descendant this is, or NULL */
    struct item *item;       /* of a kernel that may launch, and of every descendant (children.c) */
    unsigned char *partials; /* two values a block: the grid's collectives, in turn */
    int failed;              /* atomic: 0, or 1 once status and text are being set */
    cgx_status status;
    char *text; /* of the error: the executor's */
    size_t text_bytes;
} launch;

/* ---- stack.c ---- */
/* A stack for a fiber, or -1. */
INTERNAL int cgx__stack_acquire(stack_pool *p);
INTERNAL void cgx__stack_release(stack_pool *p, int index);
/* Takes back every stack, whatever runs on it. */
INTERNAL void cgx__stack_reset(stack_pool *p);
/* Index of the stack that contains an address, or -1. */
INTERNAL int cgx__stack_of(const stack_pool *p, const void *address);
/* Whether the fiber ran over the end of a stack without guard page. */
INTERNAL int cgx__stack_overflowed(const stack_pool *p, int index);
/* Whether the address is in the guard page of one of the stacks. */
INTERNAL int cgx__stack_is_guard(const stack_pool *p, const void *address);
/* Before the first stack; rounded up to pages. */
INTERNAL void cgx__stack_configure(size_t bytes, size_t page);
INTERNAL size_t cgx__stack_bytes(void);
/* Bytes of memory that a thread which waits costs: what resident blocks are counted by. */
enum { STACK_RESIDENT_BYTES = 8192 };

/* ---- switch.c ---- */
/* A context that, when it is resumed, runs cgx__fiber_main(w, index) on the stack of that index. */
INTERNAL cgx_cpu_node *cgx__switch_prepare(worker *w, int index);
/* Saves the caller in *save and resumes a context. */
INTERNAL void cgx__switch_to(worker *w, cgx_cpu_node *save, cgx_cpu_node *to);
/* Resumes a context; the caller is lost. */
INTERNAL void cgx__switch_jump(worker *w, cgx_cpu_node *to) __attribute__((noreturn));
/* Body of a fiber. */
INTERNAL void cgx__fiber_main(worker *w, int index) __attribute__((noreturn));

/* ---- schedule.c ---- */
/* Runs the worker's share of a launch to its end. */
INTERNAL void cgx__worker_run(worker *w, launch *l, int64_t first, int64_t end);
/* Records the launch's first error. */
INTERNAL void cgx__launch_fail(launch *l, cgx_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The block a shared-memory address belongs to: the thread's own or another of its cluster; NULL if none. */
INTERNAL block *cgx__block_of(const cgx_cpu_thread *t, const void *address);
/* The entry that runs the block is to come back before it goes on with another. */
INTERNAL void cgx__stop_following(block *b);
/* Ends the launch from a fiber, or from an effect that the scheduler performs. */
INTERNAL void cgx__worker_abandon(worker *w) __attribute__((noreturn));
/* Values for the schedule's decisions. */
INTERNAL uint64_t cgx__random_next(worker *w);

/* ---- async.c ---- */
/* Puts off the result of a reduce_*_async, or stores it. */
INTERNAL void cgx__reduce_result(const cgx_group *g, const cgx_cpu_collective *what, const void *value);
/* Copies that complete on a barrier and were put off until somebody needs them. Whether there were any. */
INTERNAL int cgx__async_progress(worker *w);
/* Everything the block's threads left behind. */
INTERNAL void cgx__async_finish(block *b);
INTERNAL void cgx__async_drop(worker *w);
/* At the backend's start: CGX__ASYNC_*. */
INTERNAL void cgx__async_configure(int mode);
INTERNAL int cgx__async_is_late(void);

/* ---- collective.c ---- */
/* left OP right, of one value each. */
INTERNAL void cgx__apply_operator(const cgx_cpu_collective *what, void *result, const void *left, const void *right);
/* Packed values: the canonical reduce into values[0], or inclusive scan; room for N / 32 + 2 values behind them. */
INTERNAL void cgx__fold_values(const cgx_cpu_collective *what, unsigned char *values, int n);
/* *target = what->op(*target, value) as the scope asks, or with STORE = value; the old value. */
INTERNAL void cgx__atomic_update(const cgx_cpu_collective *what, const void *value, int store, void *old);

/* ---- fault.c ---- */
/* The calling thread runs this worker now, or none (NULL): stack overflows are explained. */
INTERNAL void cgx__fault_watch(worker *w);
/* The worker whose code the calling thread runs, or NULL. */
INTERNAL worker *cgx__fault_watched(void);
/* A thread that is not of the team begins to run commands, and ends: between the two it has a signal stack. */
INTERNAL int cgx__fault_enter(void);
INTERNAL void cgx__fault_leave(int lent);

/* ---- report.c ---- */
/* Writes who waits for what in the worker's resident blocks. */
/* Who waits for what; the status that this deserves. */
INTERNAL cgx_status cgx__report_deadlock(worker *w, char *text, size_t bytes);
/* The same of the lanes of a compiled entry. */
typedef struct {
    int *state;
    const int *size;
    const cgx_mask *members;
    const cgx__boundary *boundaries;
} lane_states;
/* Of the group that lane I waits in. */
static inline int cgx__lane_group_size(const lane_states *l, int i)
{
    const int size = l->boundaries[l->state[i]].size;
    return size ? size : l->size[i];
}
INTERNAL cgx_status cgx__report_lanes(const cgx_cpu_block *b, const lane_states *l, char *text, size_t bytes);
#endif

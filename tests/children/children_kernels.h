/* SPDX-License-Identifier: MIT */
/* Kernels that launch kernels. What runs when is written into a log: two entries a block, one when it begins, one when it
 * is about to end. */
#ifndef TESTS_CHILDREN_KERNELS_H
#define TESTS_CHILDREN_KERNELS_H
#include <cgx.h>

enum { LOG_ROOM = 1 << 16 };
typedef struct {
    int used;
    int entries[LOG_ROOM]; /* 2 * name, and 1 more at the end */
} event_log;

/* What a parent does; each is one of the guide's examples 18 to 22, or a rule. */
typedef enum {
    TWO_FIRE_AND_FORGET, /* 18: C1, C2 */
    TWO_TAILS,           /* 19: C1, then C2 */
    TAIL_AFTER_ALL,      /* 20: C as a tail; X in the thread's stream, F */
    ONE_TAIL,            /* 21: C as a tail; the host's next launch follows */
    TAIL_THAT_FORKS,     /* 22: T as a tail, which launches C1 and C2 */
    GRANDCHILDREN,       /* a child whose child has a tail; then a tail of the parent */
    STREAM_IN_ORDER,     /* three in one stream of the grid */
    TWO_STREAMS,         /* A1, A2 in one stream and B1, B2 in another, B2 behind an event after A2 */
    BLOCK_STREAM,        /* two for each block, in the block's stream */
    TREE_IN_A_STREAM,    /* a child with a child of its own, and a second in the same stream */
    COPIES_IN_A_STREAM   /* a fill, a copy and a kernel that reads, in one stream */
} scene;
enum { PARENT = 1, C1, C2, TAIL, GRANDCHILD, GRANDCHILDS_TAIL, LATER, FIRST_OF_BLOCKS = 100 };

CGX_KERNEL_DECLARE(note, (event_log *, log), (int, name))
CGX_KERNEL_DECLARE(parent, (event_log *, log), (int, what), (int *, scratch), (cgx_status *, status))

/* Guide, example 17: reverses pieces of 256, 128, 64 ... numbers, a piece a launch. */
CGX_KERNEL_DECLARE(permute, (int, n), (int *, data))
/* A launch of itself down to DEPTH 0; reached[depth] counts. */
CGX_KERNEL_DECLARE(descend, (int, depth), (int, kind), (int *, reached))
/* WIDE children for each thread above the leaves. */
CGX_KERNEL_DECLARE(spread, (int, levels), (int, wide), (int *, leaves), (int *, failures))
/* 3 by 5 by 7 numbers, copied and filled in one, two and three dimensions. */
CGX_KERNEL_DECLARE(transfers, (unsigned char *, from), (unsigned char *, to), (cgx_status *, status))
/* Memory of the heap goes from a kernel to its tail, which frees it. */
CGX_KERNEL_DECLARE(heap_parent, (int, n), (int *, out), (cgx_status *, status))
/* What is not the heap's; *left is the memory of one allocation, which heap_last gives back. */
CGX_KERNEL_DECLARE(heap_misuse, (int *, of_host), (void **, left), (cgx_status *, status))
CGX_KERNEL_DECLARE(heap_last, (void *, left), (cgx_status *, status))
/* What is refused, a status each; the last error of every thread. */
enum { REFUSALS = 24 };
CGX_KERNEL_DECLARE(refusals, (event_log *, log), (int *, memory), (cgx_status *, status))
CGX_KERNEL_DECLARE(last_errors, (event_log *, log), (cgx_status *, first), (cgx_status *, second),
                   (cgx_status *, third))
CGX_KERNEL_DECLARE(handles_of_another, (event_log *, log), (cgx_stream *, stream), (cgx_stream_event *, event),
                   (cgx_status *, status))
/* Launches until it is refused; *accepted of them count themselves in *ran. */
CGX_KERNEL_DECLARE(too_many, (int, tries), (int *, accepted), (int *, ran), (cgx_status *, status))
/* MISUSE: also what no GPU finds out. */
CGX_KERNEL_DECLARE(raw_launch, (event_log *, log), (int, misuse), (cgx_status *, status))

typedef struct {
    int count, device, version, cache, unit_ids, warp_ids;
    int attributes[CGX__ATTRIBUTE_COUNT];
    size_t heap, pending;
    int per_unit, threads, blocks, threads_with, blocks_with;
    cgx_device_kernel_info info;
    cgx_status no_device, no_attribute;
} answers;
CGX_KERNEL_DECLARE(questions, (answers *, out))

/* Device variables: every launch of a tree adds to one, and reads the other. */
CGX_KERNEL_DECLARE(variables, (int, depth), (int *, seen))
cgx_status variables_set(cgx_queue *q, int counter, int factor);
cgx_status variables_get(cgx_queue *q, int *counter);

/* Dynamic and static shared memory of children. */
CGX_KERNEL_DECLARE(shared_parent, (int *, out), (cgx_status *, status))

/* A child that breaks a rule in one thread of block 1. */
CGX_KERNEL_DECLARE(bad_child, (event_log *, log))
CGX_KERNEL_DECLARE(parent_of_bad, (event_log *, log))
CGX_KERNEL_DECLARE(not_declared, (event_log *, log))
#endif

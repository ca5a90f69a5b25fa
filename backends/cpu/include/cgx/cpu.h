/* SPDX-License-Identifier: MIT */
/* CPU pass: how a kernel becomes entries, and the primitives that have to be inlined into it - the thread, the block,
 * and the switch from one waiting thread to the next. The layout is part of the object format (CGX__ABI).
 *
 * Every thread of a block that waits sits on a stack of its own; a waiting thread is a node: a stack pointer in a list.
 * docs/design.md, "Fibers", says how blocks start and end. */
#ifndef CGX_CPU_H
#define CGX_CPU_H
#include <string.h>
#include <cgx/kernel.h>

#define CGX__USERS_INLINE CGX_UNUSED __attribute__((always_inline)) static inline
/* What a sanitizer checks in our own helpers keeps the passes from seeing through them. */
#define CGX__UNCHECKED
#if defined(CGX__CPU_PASS) && defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#undef CGX__UNCHECKED
#define CGX__UNCHECKED no_sanitize("undefined")
#endif
#endif
#define CGX__INLINE CGX_UNUSED __attribute__((always_inline, CGX__UNCHECKED)) static inline
#define CGX__HIDDEN __attribute__((visibility("hidden")))
#define CGX__UNLIKELY(c) __builtin_expect(!!(c), 0)

/* The inline switch needs optimised code (at -O0 the clobber lists do not fold), a known processor and no sanitizer
 * that follows stacks; elsewhere the switch is a call. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CGX__SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CGX__SANITIZED 1
#endif
#endif
#if defined(__OPTIMIZE__) && !defined(CGX__SANITIZED) && !defined(CGX__UCONTEXT) && !defined(CGX__CALL_SWITCH)
#if (defined(__x86_64__) && defined(__LP64__)) || (defined(__aarch64__) && !defined(__ARM_FEATURE_SVE))
#define CGX__INLINE_SWITCH 1
#endif
#endif

enum { CGX__VALUE_BYTES = 32, CGX__MAX_THREADS = 1024, CGX__BARRIERS = 2 * CGX__MAX_THREADS };

/* In `level`, of a compiled entry: there threads wait at marks. */
enum { CGX__COMPILED = 0x100 };
#ifdef CGX__CPU_PASS
#define CGX__IS_COMPILED(level) ((level)&CGX__COMPILED)
#define CGX__WHERE_COMPILED(level, ...) \
    if (CGX__IS_COMPILED(level)) {      \
        __VA_ARGS__;                    \
    }
#else
#define CGX__IS_COMPILED(level) 0
#define CGX__WHERE_COMPILED(level, ...)
#endif

typedef struct cgx_cpu_thread cgx_cpu_thread;
typedef struct cgx_cpu_block cgx_cpu_block;
typedef struct cgx_cpu_worker cgx_cpu_worker;

/* A thread that waits: the beginning of its cgx_cpu_thread. Its context is here and not on its stack, so that one that waits touches one
 * cache line fewer. */
typedef struct cgx_cpu_node {
    void *sp, *pc, *bp; /* the frame pointer, which compilers do not let go in assembly */
    struct cgx_cpu_node *next;
    const void *object; /* the mbarrier a thread waits on */
    int line;           /* of the call, for reports */
    int operation;      /* CGX__OP_*, for reports */
} cgx_cpu_node;

/* What a thread waits in. `expected` counts the members that still have to come in this phase. */
typedef struct {
    cgx_cpu_node *head, *tail;
    int arrived, expected;
    unsigned phase;
    int operation;
} cgx_cpu_barrier;

/* What threads ask about themselves: copied into the entry's frame, so that stores of the kernel cannot alias it. */
typedef struct {
    cgx_dim3 grid, block, block_index, cluster;
    int threads, lanes;
    int64_t block_rank, blocks;
} cgx_cpu_shape;

/* What libcgx remembers of an mbarrier, found by its address: the word it wrote last - one there now that differs in more
 * than the pending arrivals was written by somebody else - and the number of the phase. */
typedef struct {
    uint64_t word, phase;
} cgx_cpu_barrier_record;

struct cgx_cpu_block {
    cgx_cpu_shape shape;
    int next;   /* rank at which the next entry call starts */
    int follow; /* how many blocks behind this one the entry may run as well */
    int exited; /* threads that have ended */
    int tiled;  /* some tile has synchronised: an ending thread has to look for waiters */
    cgx_cpu_worker *worker;
    char *shared, *dynamic;  /* static and dynamic shared memory, 128-byte aligned */
    size_t shared_bytes;     /* both */
    cgx_cpu_barrier barrier; /* of the whole block */
    cgx_cpu_barrier
        *tiles; /* by heap index: tile i of size N is CGX__MAX_THREADS / N + i; 0 is the block's collectives */
    unsigned char *in, *out;            /* CGX__VALUE_BYTES a thread: what it gives to and gets from a collective */
    int *argument;                      /* one a thread: source rank, predicate ... */
    cgx_cpu_barrier *cluster;           /* of all threads of the cluster */
    struct cgx_cpu_block *const *peers; /* the cluster's blocks by rank */
    int cluster_rank, cluster_blocks;
    char *frame; /* of a compiled entry: its frame_bytes for each thread, the number of threads rounded up to 64 */
    cgx_cpu_barrier_record *barriers; /* one for each 8 bytes of the first barrier_bytes of shared memory */
    size_t barrier_bytes;
    int resume; /* of a compiled entry that waits for the grid: where it goes on, and which wait it is; 0: from the start */
    int resume_line, resume_operation;
    char *
        scratch; /* as large as `shared`, and the same for all blocks of a worker: what holds nothing across a barrier of the grid */
};

struct cgx_cpu_worker {
    cgx_cpu_node *ready_head, *ready_tail;
    cgx_cpu_node scheduler;            /* runs when no thread can; its next is always NULL */
    cgx_cpu_barrier grid;              /* all threads of this worker's blocks; expected is 0 in a plain launch */
    cgx_cpu_barrier waiters;           /* on mbarriers */
    const volatile void *poll_address; /* what a thread has read last, and how often it found the same */
    uint64_t poll_bits;
    int polls;
    int loads;    /* since a thread last let others run because of them */
    int deferred; /* results of reduce_*_async that are still to be stored */
    int shuffled; /* threads become ready in random order (CGX_CPU_SCHEDULE) */
    int late;     /* asynchronous copies may be put off (CGX_CPU_ASYNC) */
};

/* A thread. What a wait touches comes first, in one cache line: with a thousand threads the caches are what a barrier costs.
 * `level` is not here but in the groups: it must stay a constant where the thread's address escapes. */
struct __attribute__((aligned(64))) cgx_cpu_thread {
    cgx_cpu_node node;
    cgx_cpu_block *block;
    int forked;  /* runs on a stack of its own */
    int arrived; /* kinds of group whose barrier it has arrived at and not yet waited for, a bit each */
    int rank;
    cgx_dim3 index;
    int64_t grid_rank; /* counted beside the rank: gcc splits a loop where this meets a bound, and not a sum */
    const cgx_cpu_shape *shape;
};

/* Operations, for mismatches and for reports: X(symbol, text). */
#define CGX_FOREACH_OPERATION(X)                   \
    X(SYNC, "sync")                                \
    X(SHFL, "shfl")                                \
    X(SHFL_UP, "shfl_up")                          \
    X(SHFL_DOWN, "shfl_down")                      \
    X(SHFL_XOR, "shfl_xor")                        \
    X(ANY, "any")                                  \
    X(ALL, "all")                                  \
    X(BALLOT, "ballot")                            \
    X(MATCH_ANY, "match_any")                      \
    X(MATCH_ALL, "match_all")                      \
    X(REDUCE, "reduce")                            \
    X(INCLUSIVE_SCAN, "inclusive_scan")            \
    X(EXCLUSIVE_SCAN, "exclusive_scan")            \
    X(REDUCE_UPDATE, "reduce_update_async")        \
    X(REDUCE_STORE, "reduce_store_async (atomic)") \
    X(REDUCE_STORE_PLAIN, "reduce_store_async")    \
    X(INCLUSIVE_UPDATE, "inclusive_scan_update")   \
    X(EXCLUSIVE_UPDATE, "exclusive_scan_update")   \
    X(PARTITION, "partition")                      \
    X(WAIT, "barrier_wait") X(MBARRIER_WAIT, "mbarrier wait") X(COALESCE, "coalesced_threads") X(YIELD, "yield")
enum {
#define CGX__ENUMERATOR(symbol, text) CGX__OP_##symbol,
    CGX_FOREACH_OPERATION(CGX__ENUMERATOR)
#undef CGX__ENUMERATOR
        CGX__OP_COUNT
};

CGX__EXTERN_C_BEGIN
/* First wait of a thread: prepares a new stack for the ranks behind it. Returns who runs next, or NULL if the
 * thread need not wait after all. */
CGX_API cgx_cpu_node *cgx__cpu_fork(cgx_cpu_thread *thread);
/* The same switch as the inline one below, as a call: for debug and sanitized code and other processors. */
CGX_API void cgx__cpu_switch(cgx_cpu_thread *thread, cgx_cpu_node *to);
/* Makes a list of threads ready in an order drawn from the schedule's seed. */
CGX_API void cgx__cpu_shuffle(cgx_cpu_worker *w, cgx_cpu_node *head);
/* Stores the results of reduce_*_async that wait for a synchronisation. */
CGX_API void cgx__cpu_settle(cgx_cpu_worker *w);
#ifdef CGX__CPU_PASS
/* Marks of a compiled entry: see cpu_compiled.h for those of waiting. The plug-in leaves none behind. */
void cgx__mark_kernel(int nx, int ny, int nz, int threads, char *frame) __attribute__((nothrow));
int cgx__mark_rank(void) __attribute__((const, nothrow));
int cgx__mark_x(void) __attribute__((const, nothrow));
int cgx__mark_y(void) __attribute__((const, nothrow));
int cgx__mark_z(void) __attribute__((const, nothrow));
#endif
/* Where the entry that calls keeps the address of the thread it runs, for kernels that launch: the functions of the device
 * runtime find the calling thread there. */
CGX_API cgx_cpu_thread **cgx__cpu_caller(const cgx_cpu_block *block);
/* What NAME_dlaunch calls. */
CGX_API cgx_status cgx__cpu_dlaunch(cgx_stream stream, const cgx_kernel *kernel, const cgx_config *config,
                                    const void *arguments, size_t bytes);
CGX__EXTERN_C_END

/* Makes a list of waiting threads ready to run. */
CGX__INLINE void cgx__cpu_ready(cgx_cpu_worker *w, cgx_cpu_node *head, cgx_cpu_node *tail)
{
    tail->next = NULL;
    if (w->ready_head)
        w->ready_tail->next = head;
    else
        w->ready_head = head;
    w->ready_tail = tail;
}

CGX__INLINE cgx_cpu_node *cgx__cpu_pop(cgx_cpu_worker *w)
{
    cgx_cpu_node *n = w->ready_head;
    if (CGX__UNLIKELY(!n))
        n = &w->scheduler;
    w->ready_head = n->next;
    return n;
}

#if defined(CGX__INLINE_SWITCH) && defined(__x86_64__)
/* Saves where to go on and rbp, and leaves the rest to the compiler, which knows what is live. No call and no ret: the return predictor
 * stays in step. Who is resumed finds its own node in CGX__SWITCH_NEXT; the functions of backends/cpu/switch.c keep to the same. */
#define CGX__SWITCH_TEXT                                                    \
    "leaq 1f(%%rip), %%rcx\n\tmovq %%rsp, (%0)\n\tmovq %%rcx, 8(%0)\n\t"    \
    "movq %%rbp, 16(%0)\n\tmovq (%1), %%rsp\n\tjmpq *8(%1)\n\t.p2align 4\n" \
    "1:\tmovq 16(%1), %%rbp"
#define CGX__SWITCH_CLOBBERS                                                                                          \
    "rbx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", \
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",  \
        "xmm15"
#define CGX__SWITCH_CLOBBERS_V4                                                                                 \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
/* Whoever compiles for AVX-512 has its registers at every level. */
#ifdef __AVX512F__
#define CGX__ALL_WIDE 1
#else
#define CGX__ALL_WIDE 0
#endif
#define CGX__SWITCH_SAVE "rax"
#define CGX__SWITCH_NEXT "rdx"
#elif defined(CGX__INLINE_SWITCH)
/* The same for aarch64, with x29. */
#define CGX__SWITCH_TEXT                                                       \
    "adr x9, 1f\n\tmov x10, sp\n\tstp x10, x9, [%0]\n\tstr x29, [%0, #16]\n\t" \
    "ldp x10, x9, [%1]\n\tmov sp, x10\n\tbr x9\n\t.p2align 3\n1:\tldr x29, [%1, #16]"
#define CGX__SWITCH_CLOBBERS                                                                                           \
    "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18",     \
        "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0", "v1", "v2", \
        "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",       \
        "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"
#define CGX__SWITCH_CLOBBERS_V4 "memory" /* one level only */
#define CGX__ALL_WIDE 0
#define CGX__SWITCH_SAVE "x0"
#define CGX__SWITCH_NEXT "x1"
#endif

/* Level of the loop over ranks of the grid (CGX__RUN_FLAT), which has no blocks: what is behind this is not compiled for it. */
enum { CGX__FLAT = 64 };
#define CGX__NEEDS_BLOCK(t, level)                                             \
    do {                                                                       \
        if (__builtin_constant_p(level) && (level) > 0 && (level)&CGX__FLAT) { \
            __asm__ volatile("" : : "r"((t)->block));                          \
            __builtin_trap();                                                  \
        }                                                                      \
    } while (0)

/* Parks the calling thread, whose node is in some list, and runs the next one. LEVEL must be a constant for the inline
 * switch: code of a level may use registers that the clobber list of a lower one leaves out. In a function that was
 * not inlined into an entry it is none, and a call lets the compiler save everything. */
CGX__INLINE void cgx__cpu_suspend(cgx_cpu_thread *t, int level)
{
    cgx_cpu_node *to;
    CGX__NEEDS_BLOCK(t, level);
    if (CGX__UNLIKELY(!t->forked)) {
        to = cgx__cpu_fork(t);
        if (!to)
            return;
    } else {
        to = cgx__cpu_pop(t->block->worker);
    }
#ifdef CGX__INLINE_SWITCH
    if (__builtin_constant_p(level)) {
        register cgx_cpu_node *save __asm__(CGX__SWITCH_SAVE) = &t->node;
        register cgx_cpu_node *next __asm__(CGX__SWITCH_NEXT) = to;
        if (level >= 4 || CGX__ALL_WIDE)
            __asm__ volatile(CGX__SWITCH_TEXT
                             : "+r"(save), "+r"(next)
                             :
                             : CGX__SWITCH_CLOBBERS, CGX__SWITCH_CLOBBERS_V4);
        else
            __asm__ volatile(CGX__SWITCH_TEXT : "+r"(save), "+r"(next) : : CGX__SWITCH_CLOBBERS);
        return;
    }
#endif
    (void)level;
    cgx__cpu_switch(t, to);
}

CGX__INLINE void cgx__cpu_park(cgx_cpu_thread *t, cgx_cpu_barrier *q, const void *object, int operation, int line,
                               int level)
{
    cgx_cpu_node *me = &t->node;
    me->next = NULL;
    me->line = line;
    me->operation = operation;
    me->object = object;
    if (q->head)
        q->tail->next = me;
    else
        q->head = me;
    q->tail = me;
    cgx__cpu_suspend(t, level);
}

CGX__INLINE void cgx__cpu_release(cgx_cpu_worker *w, cgx_cpu_barrier *q)
{
    q->arrived = 0;
    q->phase++;
    if (CGX__UNLIKELY(w->deferred))
        cgx__cpu_settle(w);
    if (q->head) {
        if (CGX__UNLIKELY(w->shuffled))
            cgx__cpu_shuffle(w, q->head);
        else
            cgx__cpu_ready(w, q->head, q->tail);
        q->head = NULL;
    }
}

CGX__INLINE void cgx__cpu_wait(cgx_cpu_thread *t, cgx_cpu_barrier *q, int operation, int line, int level)
{
    if (++q->arrived == q->expected)
        cgx__cpu_release(t->block->worker, q);
    else
        cgx__cpu_park(t, q, NULL, operation, line, level);
}

/* ---- kernels ---- */

CGX__EXTERN_C_DATA char __dso_handle CGX__HIDDEN __attribute__((weak));
CGX__EXTERN_C_DATA cgx__site __start_cgx_sites[] CGX__HIDDEN __attribute__((weak));
CGX__EXTERN_C_DATA cgx__site __stop_cgx_sites[] CGX__HIDDEN __attribute__((weak));
CGX_UNUSED static void *cgx__state[CGX__UNIT_SLOTS];
CGX_UNUSED __attribute__((section(".rodata.cgx_images"), aligned(64))) static const cgx__images cgx__placeholder = {
    { 'C', 'G', 'X', 'I' }, CGX__ABI, 0, sizeof(cgx__images)
};
CGX_UNUSED static const cgx__unit cgx__this_unit = { CGX__ABI,      sizeof(cgx__unit), &cgx__placeholder, cgx__state,
                                                     &__dso_handle, __start_cgx_sites, __stop_cgx_sites };

/* Levels. A feature list and not arch=: it adds to the user's -march, so that inlining stays legal. cgxcc --cpu-arch
 * sets the macros. */
#if defined(__x86_64__) && defined(__LP64__)
#ifndef CGX_CPU_V2
#define CGX_CPU_V2 0
#endif
#ifndef CGX_CPU_V3
#define CGX_CPU_V3 1
#endif
#ifndef CGX_CPU_V4
#define CGX_CPU_V4 1
#endif
#define CGX__FEATURES_V2 "sse4.2,popcnt"
#define CGX__FEATURES_V3 CGX__FEATURES_V2 ",avx2,fma,bmi,bmi2,f16c,lzcnt,movbe"
#ifdef __clang__ /* takes prefer-vector-width in a target attribute for a reason to ignore the whole attribute */
#define CGX__FEATURES_V4 CGX__FEATURES_V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
#else
#define CGX__FEATURES_V4 CGX__FEATURES_V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512"
#endif
#else
#undef CGX_CPU_V2
#undef CGX_CPU_V3
#undef CGX_CPU_V4
#define CGX_CPU_V2 0
#define CGX_CPU_V3 0
#define CGX_CPU_V4 0
#endif
#define CGX__IF_0(...)
#define CGX__IF_1(...) __VA_ARGS__
#define CGX__LEVELS(...)                                                                                          \
    CGX__ENTRY(base, 0, , __VA_ARGS__)                                                                            \
    CGX__CAT(CGX__IF_, CGX_CPU_V2)                                                                                \
    (CGX__ENTRY(v2, 2, __attribute__((target(CGX__FEATURES_V2))), __VA_ARGS__))                                   \
        CGX__CAT(CGX__IF_, CGX_CPU_V3)(CGX__ENTRY(v3, 3, __attribute__((target(CGX__FEATURES_V3))), __VA_ARGS__)) \
            CGX__CAT(CGX__IF_, CGX_CPU_V4)(CGX__ENTRY(v4, 4, __attribute__((target(CGX__FEATURES_V4))), __VA_ARGS__))
#define CGX__ENTRY_ROWS(name)                                                                    \
    { 0, CGX__ENGINE_FIBERS, 0, cgx__entry_base_##name },                                        \
        CGX__CAT(CGX__IF_, CGX_CPU_V2)({ 2, CGX__ENGINE_FIBERS, 0, cgx__entry_v2_##name }, )     \
            CGX__CAT(CGX__IF_, CGX_CPU_V3)({ 3, CGX__ENGINE_FIBERS, 0, cgx__entry_v3_##name }, ) \
                CGX__CAT(CGX__IF_, CGX_CPU_V4)({ 4, CGX__ENGINE_FIBERS, 0, cgx__entry_v4_##name }, )

/* Threads of a block owe each other no order between barriers, so the loop over them has no dependences. clang warns
 * where it cannot use the hint, which is not the user's business. */
#if defined(__clang__)
#define CGX__INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define CGX__QUIET_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wpass-failed\"")
#define CGX__QUIET_END _Pragma("clang diagnostic pop")
#else
#define CGX__INDEPENDENT _Pragma("GCC ivdep")
#define CGX__QUIET_BEGIN
#define CGX__QUIET_END
#endif

/* gcc vectorises a loop with conditions only if it may raise floating-point flags that the loop would not, and at -O2
 * hardly any loop. Neither changes a result. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#define CGX__VECTORISED \
    __attribute__((optimize("no-trapping-math", "tree-vectorize", "split-loops", "vect-cost-model=dynamic")))
#else
#define CGX__VECTORISED
#endif

/* Many kernels ask for nothing but the thread's rank in the grid. For them a second loop runs over ranks of the grid, through all blocks
 * that the entry may run, with nothing to do between two of them. Whether a kernel is one of these is what the compiler finds out: in
 * that loop everything else that a thread is told comes out of an asm statement, which goes away where nobody uses it and otherwise
 * defines a symbol, and then the loop is never run. (triad of 64 Ki floats in blocks of 256, one worker: 21.4 us by blocks.) */
#if defined(__OPTIMIZE__) && (defined(__x86_64__) || defined(__aarch64__))
#define CGX__DECLARE_FLAT(name) \
    CGX__EXTERN_C_DATA const char cgx__needs_block_##name[] CGX__HIDDEN __attribute__((weak));
#define CGX__NOT_IN_FLAT(name, variable)                                                                              \
    __asm__(".ifndef cgx__needs_block_" #name "\n\t.pushsection .rodata.cgx_needs_block,\"a\"\n"                      \
            "\t.weak cgx__needs_block_" #name "\n\t.hidden cgx__needs_block_" #name "\ncgx__needs_block_" #name ":\n" \
            "\t.byte 0\n\t.popsection\n\t.endif"                                                                      \
            : "=r"(variable))
/* A kernel's first integer is most often the bound of its ranks. Below it clang is told so, and needs no masks; gcc splits the loop by
 * itself. */
#if defined(__clang__) && !defined(__cplusplus)
#define CGX__IF_INTEGER(x, then)        \
    _Generic((x), short                 \
             : then, unsigned short     \
             : then, int                \
             : then, unsigned           \
             : then, long               \
             : then, unsigned long      \
             : then, long long          \
             : then, unsigned long long \
             : then, default : 0)
#define CGX__BOUND(c, p) CGX__BOUND_ p
#define CGX__BOUND_(T, n)                                          \
    if (!cgx__bounded) {                                           \
        cgx__bounded = CGX__IF_INTEGER(cgx__p.n, 1);               \
        cgx__bound = (int64_t)CGX__IF_INTEGER(cgx__p.n, cgx__p.n); \
    }
#define CGX__SPLIT_FLAT(number, name, ...)                                    \
    CGX_UNUSED int cgx__bounded = 0;                                          \
    int64_t cgx__bound = 0;                                                   \
    CGX__MAP(CGX__BOUND, ~, __VA_ARGS__)                                      \
    const int64_t cgx__split = cgx__bound < cgx__end ? cgx__bound : cgx__end; \
    CGX__FLAT_LOOP(cgx__split, if (cgx__g >= cgx__bound) __builtin_unreachable(), number, name, __VA_ARGS__)
#else
#define CGX__SPLIT_FLAT(number, name, ...)
#endif
#define CGX__FLAT_LOOP(end, known, number, name, ...)                                       \
    CGX__INDEPENDENT                                                                        \
    for (; cgx__g < (end); cgx__g++) {                                                      \
        cgx_cpu_thread cgx__t;                                                              \
        known;                                                                              \
        cgx__t.block = (cgx_cpu_block *)cgx__u;                                             \
        cgx__t.shape = &cgx__f, cgx__t.forked = cgx__t.arrived = cgx__t.rank = (int)cgx__u; \
        cgx__t.index.x = cgx__t.index.y = cgx__t.index.z = (int)cgx__u;                     \
        cgx__t.grid_rank = cgx__g;                                                          \
        name##__body(&cgx__t, (number) | CGX__FLAT, 0 CGX__MAP(CGX__LOAD, ~, __VA_ARGS__)); \
    }
#define CGX__RUN_FLAT(number, name, ...)                                                                            \
    if (!(name##__flags & CGX_KERNEL_LAUNCHES) && __builtin_expect(!cgx__needs_block_##name && !cgx__b->next, 1)) { \
        cgx_cpu_shape cgx__f = cgx__s;                                                                              \
        uintptr_t cgx__u;                                                                                           \
        CGX__NOT_IN_FLAT(name, cgx__u);                                                                             \
        cgx__f.block_rank = (int64_t)cgx__u;                                                                        \
        cgx__f.block_index.x = cgx__f.block_index.y = cgx__f.block_index.z = (int)cgx__u;                           \
        int64_t cgx__g = cgx__s.block_rank * cgx__s.threads;                                                        \
        const int64_t cgx__end = cgx__g + (int64_t)(1 + cgx__b->follow) * cgx__s.threads;                           \
        CGX__SPLIT_FLAT(number, name, __VA_ARGS__)                                                                  \
        CGX__FLAT_LOOP(cgx__end, (void)0, number, name, __VA_ARGS__)                                                \
        cgx__b->shape.block_index.x += cgx__b->follow, cgx__b->shape.block_rank += cgx__b->follow;                  \
        cgx__b->follow = 0;                                                                                         \
        return -1;                                                                                                  \
    }
#else
#define CGX__DECLARE_FLAT(name)
#define CGX__RUN_FLAT(number, name, ...)
#endif

/* Arguments and shape are copied before the loop: stores of the kernel cannot change them, and it vectorises. A block whose
 * threads all ended without waiting leaves nothing to tidy up, so the entry goes on with the block behind it, as often as
 * `follow` allows. */
#define CGX__ENTRY(part, number, target_attribute, name, ...)                                                      \
    target_attribute CGX__VECTORISED                                                                               \
        __attribute__((flatten)) static int cgx__entry_##part##_##name(cgx_cpu_block *cgx__b, const void *cgx__a)  \
    {                                                                                                              \
        const struct name##__arguments cgx__p = *(const struct name##__arguments *)cgx__a;                         \
        cgx_cpu_shape cgx__s = cgx__b->shape;                                                                      \
        const int cgx__nx = cgx__s.block.x, cgx__ny = cgx__s.block.y;                                              \
        int cgx__x0 = cgx__b->next, cgx__y0 = 0, cgx__z0 = 0;                                                      \
        cgx_cpu_thread **const cgx__caller = name##__flags & CGX_KERNEL_LAUNCHES ? cgx__cpu_caller(cgx__b) : NULL; \
        (void)cgx__p;                                                                                              \
        CGX__RUN_FLAT(number, name, __VA_ARGS__)                                                                   \
        if (cgx__x0 >= cgx__nx) { /* no division where the first row is meant */                                   \
            cgx__y0 = cgx__x0 / cgx__nx, cgx__x0 -= cgx__y0 * cgx__nx;                                             \
            cgx__z0 = cgx__y0 / cgx__ny, cgx__y0 -= cgx__z0 * cgx__ny;                                             \
        }                                                                                                          \
        for (;;) {                                                                                                 \
            for (int cgx__z = cgx__z0; cgx__z < cgx__s.block.z; cgx__z++, cgx__y0 = 0)                             \
                for (int cgx__y = cgx__y0; cgx__y < cgx__ny; cgx__y++, cgx__x0 = 0) {                              \
                    const int cgx__row = (cgx__z * cgx__ny + cgx__y) * cgx__nx;                                    \
                    int64_t cgx__g = cgx__s.block_rank * cgx__s.threads + cgx__row + cgx__x0;                      \
                    CGX__INDEPENDENT                                                                               \
                    for (int cgx__x = cgx__x0; cgx__x < cgx__nx; cgx__x++, cgx__g++) {                             \
                        cgx_cpu_thread cgx__t; /* the node is written when it is needed */                         \
                        cgx__t.block = cgx__b, cgx__t.shape = &cgx__s;                                             \
                        cgx__t.forked = cgx__t.arrived = 0, cgx__t.rank = cgx__row + cgx__x,                       \
                        cgx__t.grid_rank = cgx__g;                                                                 \
                        cgx__t.index.x = cgx__x, cgx__t.index.y = cgx__y, cgx__t.index.z = cgx__z;                 \
                        if (name##__flags & CGX_KERNEL_LAUNCHES)                                                   \
                            *cgx__caller = &cgx__t;                                                                \
                        name##__body(&cgx__t, number, 0 CGX__MAP(CGX__LOAD, ~, __VA_ARGS__));                      \
                        if (cgx__t.forked)                                                                         \
                            return cgx__t.rank;                                                                    \
                    }                                                                                              \
                }                                                                                                  \
            if (cgx__b->follow == 0 || cgx__b->barrier.arrived)                                                    \
                return -1;                                                                                         \
            cgx__b->follow--;                                                                                      \
            cgx__s.block_index.x = ++cgx__b->shape.block_index.x;                                                  \
            cgx__s.block_rank = ++cgx__b->shape.block_rank;                                                        \
            cgx__z0 = 0;                                                                                           \
        }                                                                                                          \
    }

/* The entry that the plug-in of the compiled engine rewrites (backends/cpu/pass): one thread of the block as it comes from
 * here, with marks for what differs from thread to thread and for where threads wait. Rows of compiled entries stand before
 * those of fibers. */
#ifdef CGX__CPU_PASS
#define CGX__COMPILED_ENTRY(part, number, target_attribute, name, ...)                                            \
    target_attribute __attribute__((flatten, noinline, CGX__UNCHECKED)) static int cgx__compiled_##part##_##name( \
        cgx_cpu_block *cgx__b, const void *cgx__a)                                                                \
    {                                                                                                             \
        cgx_cpu_shape cgx__s;                                                                                     \
        if (name##__x) /* declared: constants */                                                                  \
            cgx__s = cgx__b->shape, cgx__s.block.x = name##__x, cgx__s.block.y = name##__y,                       \
            cgx__s.block.z = name##__z, cgx__s.threads = name##__x * name##__y * name##__z;                       \
        const cgx_cpu_shape *const cgx__shape = name##__x ? &cgx__s : &cgx__b->shape;                             \
        cgx__mark_kernel(cgx__shape->block.x, cgx__shape->block.y, cgx__shape->block.z, cgx__shape->threads,      \
                         cgx__b->frame);                                                                          \
        const struct name##__arguments cgx__p = *(const struct name##__arguments *)cgx__a;                        \
        cgx_cpu_thread cgx__t;                                                                                    \
        (void)cgx__p;                                                                                             \
        /* The block's own, which outlives a thread that goes away to wait. */                                    \
        cgx__t.block = cgx__b, cgx__t.shape = &cgx__b->shape;                                                     \
        cgx__t.forked = 1, cgx__t.arrived = 0, cgx__t.rank = cgx__mark_rank();                                    \
        cgx__t.grid_rank = cgx__shape->block_rank * cgx__shape->threads + cgx__t.rank;                            \
        cgx__t.index.x = cgx__mark_x(), cgx__t.index.y = cgx__mark_y(), cgx__t.index.z = cgx__mark_z();           \
        name##__body(&cgx__t, CGX__COMPILED | (number), 0 CGX__MAP(CGX__LOAD, ~, __VA_ARGS__));                   \
        return -1;                                                                                                \
    }
#define CGX__COMPILED_LEVELS(...)                                                                                 \
    CGX__COMPILED_ENTRY(base, 0, , __VA_ARGS__)                                                                   \
    CGX__CAT(CGX__IF_, CGX_CPU_V2)                                                                                \
    (CGX__COMPILED_ENTRY(v2, 2, __attribute__((target(CGX__FEATURES_V2))), __VA_ARGS__)) CGX__CAT(                \
        CGX__IF_, CGX_CPU_V3)(CGX__COMPILED_ENTRY(v3, 3, __attribute__((target(CGX__FEATURES_V3))), __VA_ARGS__)) \
        CGX__CAT(CGX__IF_,                                                                                        \
                 CGX_CPU_V4)(CGX__COMPILED_ENTRY(v4, 4, __attribute__((target(CGX__FEATURES_V4))), __VA_ARGS__))
#define CGX__COMPILED_ROWS(name)                                                                      \
    { 0, CGX__ENGINE_COMPILED, 0, cgx__compiled_base_##name },                                        \
        CGX__CAT(CGX__IF_, CGX_CPU_V2)({ 2, CGX__ENGINE_COMPILED, 0, cgx__compiled_v2_##name }, )     \
            CGX__CAT(CGX__IF_, CGX_CPU_V3)({ 3, CGX__ENGINE_COMPILED, 0, cgx__compiled_v3_##name }, ) \
                CGX__CAT(CGX__IF_, CGX_CPU_V4)({ 4, CGX__ENGINE_COMPILED, 0, cgx__compiled_v4_##name }, )
#else
#define CGX__COMPILED_LEVELS(...)
#define CGX__COMPILED_ROWS(name)
#endif

#define CGX__BODY(name, ...)                                                \
    CGX__USERS_INLINE void name##__body(                                    \
        CGX_UNUSED cgx_cpu_thread *cgx__t, CGX_UNUSED const int cgx__level, \
        CGX_UNUSED const int cgx__shared_memory_is_declared_in_kernels_alone CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__))

#define CGX__DESCRIPTOR(link, limits, name, ...)                                                                       \
    CGX__BODY(name, __VA_ARGS__);                                                                                      \
    enum {                                                                                                             \
        name##__flags = CGX__FLAGS limits,                                                                             \
        name##__x = CGX__SIZE_X limits,                                                                                \
        name##__y = CGX__SIZE_Y limits,                                                                                \
        name##__z = CGX__SIZE_Z limits                                                                                 \
    };                                                                                                                 \
    CGX__DECLARE_FLAT(name)                                                                                            \
    CGX__QUIET_BEGIN CGX__LEVELS(name, __VA_ARGS__) CGX__COMPILED_LEVELS(name, __VA_ARGS__)                            \
        CGX__QUIET_END static const cgx__entry name##__entries[] = { CGX__COMPILED_ROWS(name) CGX__ENTRY_ROWS(name) }; \
    static const cgx__parameter name##__parameters[] = { CGX__MAP(CGX__ROW, name, __VA_ARGS__){ 0, 0 } };              \
    link const cgx_kernel name##__kernel = { CGX__ABI,                                                                 \
                                             sizeof(cgx_kernel),                                                       \
                                             #name,                                                                    \
                                             __FILE__,                                                                 \
                                             __LINE__,                                                                 \
                                             name##__flags,                                                            \
                                             &cgx__this_unit,                                                          \
                                             name##__parameters,                                                       \
                                             CGX__COUNT(__VA_ARGS__),                                                  \
                                             sizeof(struct name##__arguments),                                         \
                                             name##__entries,                                                          \
                                             sizeof name##__entries / sizeof name##__entries[0],                       \
                                             CGX__LIMIT limits,                                                        \
                                             { name##__x, name##__y, name##__z },                                      \
                                             0,                                                                        \
                                             NULL,                                                                     \
                                             { 0, 0 } };
#define CGX__FLAGS(flags, x, y, z) (flags)
#define CGX__LIMIT(flags, x, y, z) (x) * (y) * (z)
#define CGX__SIZE_X(flags, x, y, z) (flags) & CGX_KERNEL_FIXED_BLOCK ? (x) : 0
#define CGX__SIZE_Y(flags, x, y, z) (flags) & CGX_KERNEL_FIXED_BLOCK ? (y) : 0
#define CGX__SIZE_Z(flags, x, y, z) (flags) & CGX_KERNEL_FIXED_BLOCK ? (z) : 0
/* The launch by a kernel. Always inlined, never emitted: then the declaration in a header, which forbids the call, forbids
 * nothing behind the definition. */
#define CGX__DEVICE_LAUNCHER(linkage, name, ...)                                                         \
    linkage inline cgx_status name##_dlaunch(cgx_stream cgx__q,                                          \
                                             cgx_config cgx__c CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__)) \
    {                                                                                                    \
        struct name##__arguments cgx__p = { CGX__MAP(CGX__VALUE, ~, __VA_ARGS__)                         \
                                                CGX__CAT(CGX__ZERO_, CGX__COUNT(__VA_ARGS__)) };         \
        return cgx__cpu_dlaunch(cgx__q, &name##__kernel, &cgx__c, &cgx__p, sizeof cgx__p);               \
    }
#define CGX__OF_FILE CGX_UNUSED __attribute__((always_inline)) static
#ifdef __cplusplus
#define CGX__OF_HEADER extern "C" CGX_UNUSED __attribute__((always_inline))
#else
#define CGX__OF_HEADER extern CGX_UNUSED __attribute__((gnu_inline, always_inline))
#endif
#define CGX__NO_DEVICE_LAUNCHER(name, ...)             \
    CGX__EXTERN_C CGX__FORBIDDEN(CGX__ELSEWHERE(name)) \
        cgx_status name##_dlaunch(cgx_stream cgx__q, cgx_config cgx__c CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__));
#if defined(__has_attribute)
#if __has_attribute(error)
#define CGX__FORBIDDEN(text) __attribute__((error(text)))
#endif
#endif
#ifndef CGX__FORBIDDEN
#define CGX__FORBIDDEN(text)
#endif
#define CGX__DEVICE_KERNEL(name) ((cgx_device_kernel)&name##__kernel)
#define CGX__ARGUMENTS_OF(name) struct name##__arguments

#define CGX__KERNEL(link, limits, name, ...)                      \
    CGX__ARGUMENT_STRUCT(name, __VA_ARGS__)                       \
    CGX__DESCRIPTOR(CGX_UNUSED static, limits, name, __VA_ARGS__) \
    CGX__LAUNCHER(name, __VA_ARGS__)                              \
    CGX__DEVICE_LAUNCHER(CGX__OF_FILE, name, __VA_ARGS__)         \
    CGX__BODY(name, __VA_ARGS__)

/* The prototype of NAME__signature is never defined: it makes a definition that differs from its declaration an error. */
#define CGX__SIGNATURE(name, ...) \
    CGX__EXTERN_C void name##__signature(struct name##__arguments *CGX__MAP(CGX__PARAMETER, ~, __VA_ARGS__));
#define CGX__DECLARATION(name, ...)                     \
    CGX__ARGUMENT_STRUCT(name, __VA_ARGS__)             \
    CGX__SIGNATURE(name, __VA_ARGS__)                   \
    CGX__EXTERN_C_DATA const cgx_kernel name##__kernel; \
    CGX__LAUNCHER(name, __VA_ARGS__)                    \
    CGX__NO_DEVICE_LAUNCHER(name, __VA_ARGS__)
#define CGX__KERNEL_EXTERN(limits, name, ...)               \
    CGX__SIGNATURE(name, __VA_ARGS__)                       \
    CGX__DESCRIPTOR(, limits, name, __VA_ARGS__)            \
    CGX__DEVICE_LAUNCHER(CGX__OF_HEADER, name, __VA_ARGS__) \
    CGX__BODY(name, __VA_ARGS__)

/* A function for kernels. It gets the groups it needs as arguments. Inlined, so that it is compiled for every level. */
#define CGX_DEVICE_FN CGX__USERS_INLINE

/* In a device function, once: makes GROUP the caller's, for the functions that take no group (cgx_this_block, mbarriers,
 * pipeline copies). */
#define CGX_IN_GROUP(group)                              \
    CGX_UNUSED cgx_cpu_thread *const cgx__t = (group).t; \
    CGX_UNUSED const int cgx__level = (group).level

/* Timers (PARITY K07): processor cycles where there is a counter, and nanoseconds of a steady clock. */
CGX__EXTERN_C_BEGIN
CGX_API uint64_t cgx__cpu_nanoseconds(void);
CGX__EXTERN_C_END
CGX__INLINE uint64_t cgx_clock_cycles(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return cgx__cpu_nanoseconds();
#endif
}
CGX__INLINE uint64_t cgx_clock_nanoseconds(void)
{
    return cgx__cpu_nanoseconds();
}

/* ---- shared memory ---- */

/* Only in a kernel's body: the site names its kernel through __func__, and the block is the kernel's hidden one.
 * `used`, or compilers see that nobody writes the offset and fold it to 0. */
#define CGX__SITE(name, bytes, alignment)                                                              \
    static cgx__site name##__site                                                                      \
        __attribute__((used, section("cgx_sites"), aligned(64))) = { __func__,    cgx__state, (bytes), \
                                                                     (alignment), 0,          { 0, 0, 0 } }
#define CGX__SHARED_ADDRESS(name) \
    ((void)cgx__shared_memory_is_declared_in_kernels_alone, (void *)(cgx__t->block->shared + name##__site.offset))
#define CGX_SHARED(T, name)                      \
    CGX__SITE(name, sizeof(T), CGX__ALIGNOF(T)); \
    T *const name = (T *)CGX__SHARED_ADDRESS(name)
#define CGX_SHARED_ARRAY(T, name, n)                \
    CGX__SITE(name, sizeof(T[n]), CGX__ALIGNOF(T)); \
    T *const name = (T *)CGX__SHARED_ADDRESS(name)
#define CGX_SHARED_ARRAY2(T, name, n, m)               \
    CGX__SITE(name, sizeof(T[n][m]), CGX__ALIGNOF(T)); \
    T(*const name)[m] = (T(*)[m])CGX__SHARED_ADDRESS(name)
#define CGX_SHARED_ARRAY3(T, name, n, m, k)               \
    CGX__SITE(name, sizeof(T[n][m][k]), CGX__ALIGNOF(T)); \
    T(*const name)[m][k] = (T(*)[m][k])CGX__SHARED_ADDRESS(name)
#define CGX__TILE_MEMORY(name, threads) char *const name = (char *)cgx__t->block->shared
#define CGX_DYNAMIC_SHARED(T, name) T *const name = (T *)(void *)cgx__t->block->dynamic

/* ---- device variables ---- */

#define CGX_DEVICE_VARIABLE(T, name) CGX_UNUSED static T name
#define CGX_CONSTANT_VARIABLE(T, name) CGX_UNUSED static T name
CGX__INLINE cgx_variable cgx__variable(const char *name, void *host, size_t bytes)
{
    cgx_variable v;
    v.unit = &cgx__this_unit, v.name = name, v.host = host, v.bytes = bytes;
    return v;
}
#define CGX__VARIABLE(name) cgx__variable(#name, &name, sizeof(name))
CGX__INLINE cgx_status cgx__write_variable(cgx_queue *q, cgx_variable v, const void *source)
{
    void *address = NULL;
    size_t bytes = 0;
    cgx_status s = cgx__variable_address(q, v, &address, &bytes);
    return s ? s : cgx_copy(q, address, source, bytes);
}
CGX__INLINE cgx_status cgx__read_variable(cgx_queue *q, cgx_variable v, void *destination)
{
    void *address = NULL;
    size_t bytes = 0;
    cgx_status s = cgx__variable_address(q, v, &address, &bytes);
    return s ? s : cgx_copy(q, destination, address, bytes);
}
#endif

/* SPDX-License-Identifier: MIT */
#include "bare_fibers.h"

#ifdef BARE_FIBERS
#include <stdlib.h>
#include <sys/mman.h>

enum { MOST_THREADS = 1024, STACK_BYTES = 64 * 1024, GUARD_BYTES = 4096, COLOURS = 32, COLOUR_BYTES = 320 };

/* A thread that waits; lives on its stack. At sp lies the address where it goes on. */
typedef struct waiter {
    void *sp;
    struct waiter *next;
} waiter;
typedef struct {
    waiter *first, *last;
} line; /* first come, first served */
typedef struct {
    line waiting;
    int arrived, size;
} barrier;
typedef struct block {
    line ready;
    waiter *home; /* who runs the block; waits here for its last fiber */
    int threads, width, rounds;
    int next;   /* rank with which the next fiber starts */
    int fibers; /* running or waiting */
    int *out;
    char *memory, *unused[MOST_THREADS]; /* stacks, by their tops */
    int unused_count;
    barrier barriers[MOST_THREADS];
} block;
typedef struct {
    int rank, parted;
} thread;

/* bare_switch(&save, sp) goes on at SP. bare_start(&save, top, block) calls bare_fiber(block, top) on the stack that
 * ends at TOP; what that returns goes on. So every call is met by a return and the processor predicts both. */
void bare_switch(void **save, void *sp);
void bare_start(void **save, void *top, block *b);
__asm__(".text\n"
        ".macro bare_save\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tleaq bare_resumed(%rip), %rax\n\tpushq %rax\n\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n"
        ".endm\n"
        ".p2align 6\n"
        ".globl bare_switch\n.hidden bare_switch\nbare_switch:\n\tbare_save\n\tpopq %rcx\n\tjmpq *%rcx\n"
        "bare_resumed:\n"
        "\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".p2align 6\n"
        ".globl bare_start\n.hidden bare_start\nbare_start:\n\tbare_save\n"
        "\tmovq %rdx, %rdi\n\txorl %ebp, %ebp\n\tcallq bare_fiber\n\tmovq %rax, %rsp\n\tpopq %rcx\n\tjmpq *%rcx\n");

static inline __attribute__((always_inline)) void append(line *l, waiter *first, waiter *last)
{
    if (l->first)
        l->last->next = first;
    else
        l->first = first;
    l->last = last;
}

static inline __attribute__((always_inline)) waiter *take(line *l)
{
    waiter *w = l->first;
    l->first = w->next;
    return w;
}

/* The first wait of a thread that ran in a loop over threads: the loop goes on with the next rank on another stack. */
static __attribute__((noinline)) void part(block *b, thread *t, waiter *me)
{
    t->parted = 1;
    if (t->rank + 1 < b->threads) {
        b->next = t->rank + 1;
        b->fibers++;
        bare_start(&me->sp, b->unused[--b->unused_count], b);
    } else {
        bare_switch(&me->sp, take(&b->ready)->sp);
    }
}

static inline __attribute__((always_inline)) void wait_in(block *b, thread *t, barrier *q)
{
    if (++q->arrived == q->size) {
        q->arrived = 0;
        if (q->waiting.first) {
            append(&b->ready, q->waiting.first, q->waiting.last);
            q->waiting.first = NULL;
        }
        return;
    }
    waiter me = { NULL, NULL };
    append(&q->waiting, &me, &me);
    if (__builtin_expect(!t->parted, 0)) {
        part(b, t, &me);
        return;
    }
    waiter *save = &me;
    void *sp = take(&b->ready)->sp;
    /* Below the red zone; the compiler keeps what it needs across. */
    __asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushq %%rbp\n\tleaq 1f(%%rip), %%rcx\n\tpushq %%rcx\n\t"
                     "movq %%rsp, (%0)\n\tmovq %1, %%rsp\n\tpopq %%rcx\n\tjmpq *%%rcx\n\t.p2align 4\n"
                     "1:\tpopq %%rbp\n\tleaq 128(%%rsp), %%rsp"
                     : "+a"(save), "+d"(sp)
                     :
                     : "rbx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                       "xmm12", "xmm13", "xmm14", "xmm15"
#ifdef __AVX512F__
                       ,
                       "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
                       "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#endif
    );
}

static void run_threads(block *b)
{
    const int rounds = b->rounds, width = b->width, threads = b->threads;
    for (int rank = b->next; rank < threads; rank++) {
        thread t = { rank, 0 };
        barrier *q = b->barriers + rank / width;
        for (int i = 0; i < rounds; i++)
            wait_in(b, &t, q);
        b->out[rank] += rounds;
        if (t.parted)
            return;
    }
}

__attribute__((used, visibility("hidden"))) void *bare_fiber(block *b, char *top);
void *bare_fiber(block *b, char *top)
{
    run_threads(b);
    b->unused[b->unused_count++] = top;
    return --b->fibers || !b->home ? take(&b->ready)->sp : b->home->sp;
}

static block *new_block(void)
{
    const size_t stride = STACK_BYTES + GUARD_BYTES;
    block *b = calloc(1, sizeof *b);
    if (!b)
        abort();
    b->memory =
        mmap(NULL, stride * MOST_THREADS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (b->memory == MAP_FAILED)
        abort();
    madvise(b->memory, stride * MOST_THREADS, MADV_NOHUGEPAGE);
    for (int i = MOST_THREADS - 1; i >= 0; i--) {
        char *low = b->memory + (size_t)i * stride;
        mprotect(low, GUARD_BYTES, PROT_NONE);
        b->unused[b->unused_count++] = low + stride - 64 - i % COLOURS * COLOUR_BYTES;
    }
    return b;
}

void bare_fibers_run(int64_t blocks, int threads, int width, int rounds, int *out)
{
    static block *b;
    if (!b)
        b = new_block();
    b->threads = threads, b->width = width, b->rounds = rounds, b->out = out;
    for (int i = 0; i < threads / width; i++)
        b->barriers[i] = (barrier){ .size = width };
    for (int64_t i = 0; i < blocks; i++) {
        waiter me = { NULL, NULL };
        b->next = 0;
        b->home = NULL;
        run_threads(b); /* rank 0 and those that never wait */
        if (b->fibers) {
            b->home = &me;
            bare_switch(&me.sp, take(&b->ready)->sp);
        }
    }
}
#endif

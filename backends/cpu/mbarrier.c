/* SPDX-License-Identifier: MIT */
/* mbarrier: counts of arrivals and bytes in one word. */
#include <stdlib.h>
#include <time.h>
#include "fiber.h"

enum {
    COUNT_BITS = CGX__COUNT_BITS,
    TX_BITS = 21,
    EXPECTED_AT = COUNT_BITS,
    TX_AT = 2 * COUNT_BITS,
    PARITY_AT = CGX__PARITY_AT,
    VALID_AT = CGX__VALID_AT
};
static const uint64_t COUNT_MASK = CGX__COUNT_MASK, TX_MASK = (1u << TX_BITS) - 1, TX_ZERO = 1u << (TX_BITS - 1);
typedef cgx_cpu_barrier_record barrier_record;
CGX__STATIC_ASSERT((int)PARITY_AT == (int)TX_AT + (int)TX_BITS, "the parity is behind the bytes");

typedef struct {
    uint64_t pending, expected;
    int64_t tx;
    int parity;
} state;

static state unpack(uint64_t w)
{
    state s = { w & COUNT_MASK, w >> EXPECTED_AT & COUNT_MASK, (int64_t)(w >> TX_AT & TX_MASK) - (int64_t)TX_ZERO,
                (int)(w >> PARITY_AT & 1) };
    return s;
}

static uint64_t pack(state s)
{
    return s.pending | s.expected << EXPECTED_AT | (uint64_t)(s.tx + (int64_t)TX_ZERO) << TX_AT |
           (uint64_t)s.parity << PARITY_AT | (uint64_t)1 << VALID_AT;
}

/* The record of a barrier at this address, or of none: word 0. */
static barrier_record *record_of(cgx_cpu_thread *t, const cgx_mbarrier *b, int line)
{
    block *owner = cgx__block_of(t, b);
    if (CGX__UNLIKELY(!owner || (uintptr_t)b & 7))
        cgx__cpu_misuse(t, line, "an mbarrier is an aligned 64-bit word in shared memory");
    cgx_cpu_block *const of = &owner->pub;
    if (CGX__UNLIKELY(of->barrier_bytes < of->shared_bytes)) {
        free(of->barriers);
        of->barriers = calloc(of->shared_bytes / 8 + 1, sizeof *of->barriers);
        of->barrier_bytes = of->barriers ? (of->shared_bytes + 7) & ~(size_t)7 : 0;
        if (!of->barriers)
            cgx__cpu_misuse(t, line, "no memory for the records of mbarriers");
    }
    return of->barriers + ((const char *)b - of->shared) / 8;
}

static barrier_record *live_record(cgx_cpu_thread *t, const cgx_mbarrier *b, int line)
{
    barrier_record *r = record_of(t, b, line);
    if (CGX__UNLIKELY(!r->word))
        cgx__cpu_misuse(t, line, "the mbarrier is not initialised");
    if (CGX__UNLIKELY((r->word ^ b->word) >> COUNT_BITS))
        cgx__cpu_misuse(t, line, "the memory of an mbarrier was written without cgx_mbarrier_inval");
    return r;
}

static void write_word(barrier_record *r, cgx_mbarrier *b, state s)
{
    r->word = b->word = pack(s);
}

void cgx__cpu_mbarrier_init(cgx_cpu_thread *t, cgx_mbarrier *b, int64_t count, int line)
{
    barrier_record *r = record_of(t, b, line);
    if (count < 1 || count > CGX_MBARRIER_MAX_COUNT)
        cgx__cpu_misuse(t, line, "an mbarrier's count is 1 to 1,048,575");
    if (r->word)
        cgx__cpu_misuse(t, line, "an mbarrier is initialised again without cgx_mbarrier_inval");
    cgx__block_of(t, b)->has_barriers = 1;
    cgx__stop_following((block *)t->block); /* the records are to be cleared before the next block */
    r->phase = 0;
    write_word(r, b, (state){ (uint64_t)count, (uint64_t)count, 0, 0 });
}

void cgx__cpu_mbarrier_inval(cgx_cpu_thread *t, cgx_mbarrier *b, int line)
{
    live_record(t, b, line)->word = 0;
}

/* Makes ready who waits for this barrier. */
static void wake(cgx_cpu_worker *w, const cgx_mbarrier *b)
{
    cgx_cpu_node *n = w->waiters.head;
    w->waiters.head = NULL;
    while (n) {
        cgx_cpu_node *next = n->next;
        if (n->object == b) {
            cgx__cpu_ready(w, n, n);
        } else {
            n->next = NULL;
            if (w->waiters.head)
                w->waiters.tail->next = n;
            else
                w->waiters.head = n;
            w->waiters.tail = n;
        }
        n = next;
    }
}

static void end_phase(cgx_cpu_block *arrived, barrier_record *r, cgx_mbarrier *b, state s)
{
    s.pending = s.expected;
    s.parity ^= 1;
    r->phase++;
    ((block *)arrived)->barrier_phases++;
    write_word(r, b, s);
    wake(arrived->worker, b);
}

cgx_mbarrier_token cgx__cpu_mbarrier_arrive(cgx_cpu_thread *t, cgx_mbarrier *b, int64_t n, int drop, int64_t bytes,
                                            int line)
{
    barrier_record *r = live_record(t, b, line);
    state s = unpack(b->word);
    cgx_mbarrier_token token = { s.pending | r->phase << COUNT_BITS };
    if (n > (int64_t)s.pending)
        cgx__cpu_misuse(t, line, "more arrivals at an mbarrier than are pending");
    if ((int64_t)s.pending - n > CGX_MBARRIER_MAX_COUNT)
        cgx__cpu_misuse(t, line, "an mbarrier's count is 1 to 1,048,575");
    s.pending -= (uint64_t)n;
    s.expected -= (uint64_t)drop;
    s.tx += bytes;
    if (s.tx < -(int64_t)TX_ZERO || s.tx >= (int64_t)TX_ZERO)
        cgx__cpu_misuse(t, line, "an mbarrier's phase counts less than 2^20 bytes");
    if (s.pending == 0 && s.tx == 0)
        end_phase(t->block, r, b, s);
    else
        write_word(r, b, s);
    return token;
}

cgx_mbarrier_token cgx__cpu_mbarrier_announce(cgx_cpu_thread *t, cgx_mbarrier *b, int64_t bytes, int line)
{
    return cgx__cpu_mbarrier_arrive(t, b, 1, 0, bytes, line);
}

int cgx__cpu_mbarrier_parity(cgx_cpu_thread *t, const cgx_mbarrier *b, int line)
{
    return (int)(live_record(t, b, line)->phase & 1);
}

/* Whether the token's phase is over. */
static int token_over(cgx_cpu_thread *t, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    uint64_t now = live_record(t, b, line)->phase, phase = token.word >> COUNT_BITS;
    if (CGX__UNLIKELY(now != phase && now != phase + 1))
        cgx__cpu_misuse(t, line, "an mbarrier's token is good for its own phase and the next one alone");
    return now != phase;
}

int cgx__cpu_mbarrier_test_token(cgx_cpu_thread *t, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    int over = token_over(t, b, token, line);
    if (!over)
        cgx__cpu_yield(t, line);
    return over;
}

int cgx__cpu_mbarrier_test(cgx_cpu_thread *t, const cgx_mbarrier *b, int odd, int line)
{
    int over = cgx__cpu_mbarrier_parity(t, b, line) != odd;
    if (!over)
        cgx__cpu_yield(t, line);
    return over;
}

int cgx__cpu_mbarrier_token_parity(cgx_cpu_thread *t, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    token_over(t, b, token, line);
    return (int)(token.word >> COUNT_BITS & 1);
}

/* ---- what the lanes of compiled entries cannot do in line ---- */

cgx_mbarrier_token cgx__cpu_lane_arrive(cgx_cpu_block *block, int rank, cgx_mbarrier *b, int64_t n, int drop,
                                        int64_t bytes, int line)
{
    /* The end of a phase of a barrier that is as its record has it. */
    const size_t offset = (size_t)((const char *)b - block->shared);
    if (!drop && !bytes && offset < block->barrier_bytes && offset % sizeof *b == 0) {
        barrier_record *r = block->barriers + offset / sizeof *b;
        const state s = unpack(b->word);
        if (r->word && !((r->word ^ b->word) >> COUNT_BITS) && (int64_t)s.pending == n && s.tx == 0) {
            const cgx_mbarrier_token token = { s.pending | r->phase << COUNT_BITS };
            end_phase(block, r, b, s);
            return token;
        }
    }
    cgx_cpu_thread t = { .block = block, .forked = 1, .rank = rank, .shape = &block->shape };
    return cgx__cpu_mbarrier_arrive(&t, b, n, drop, bytes, line);
}

void cgx__cpu_lane_init(cgx_cpu_block *block, int rank, cgx_mbarrier *b, int64_t count, int line)
{
    cgx_cpu_thread t = { .block = block, .forked = 1, .rank = rank, .shape = &block->shape };
    cgx__cpu_mbarrier_init(&t, b, count, line);
}

void cgx__cpu_lane_inval(cgx_cpu_block *block, int rank, cgx_mbarrier *b, int line)
{
    cgx_cpu_thread t = { .block = block, .forked = 1, .rank = rank, .shape = &block->shape };
    cgx__cpu_mbarrier_inval(&t, b, line);
}

int cgx__cpu_lane_token_parity(cgx_cpu_block *block, int rank, const cgx_mbarrier *b, cgx_mbarrier_token token,
                               int line)
{
    cgx_cpu_thread t = { .block = block, .forked = 1, .rank = rank, .shape = &block->shape };
    return cgx__cpu_mbarrier_token_parity(&t, b, token, line);
}

int cgx__cpu_lane_parity(cgx_cpu_block *block, int rank, const cgx_mbarrier *b, int line)
{
    cgx_cpu_thread t = { .block = block, .forked = 1, .rank = rank, .shape = &block->shape };
    return cgx__cpu_mbarrier_parity(&t, b, line);
}

uint64_t cgx__cpu_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int cgx__cpu_mbarrier_try(cgx_cpu_thread *t, const cgx_mbarrier *b, int odd, uint32_t max_ns, int line)
{
    uint64_t start = max_ns ? cgx__cpu_nanoseconds() : 0;
    while (cgx__cpu_mbarrier_parity(t, b, line) == odd) {
        cgx__cpu_yield(t, line); /* who only tests may do so in a loop: those it waits for get their turn */
        if (!max_ns || cgx__cpu_nanoseconds() - start >= max_ns)
            return cgx__cpu_mbarrier_parity(t, b, line) != odd;
    }
    return 1;
}

uint32_t cgx__cpu_token_pending(cgx_mbarrier_token token)
{
    return (uint32_t)(token.word & COUNT_MASK);
}

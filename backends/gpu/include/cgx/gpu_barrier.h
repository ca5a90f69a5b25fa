/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/barrier.h>: over the hardware's mbarriers where it has such (CGX__HAS_MBARRIER), else over 64-bit atomics.
 * Without CGX__HAS_BARRIER_BYTES those of the hardware count arrivals alone.
 *
 * The word in software, low to high: 20 bits of arrivals that are pending, 20 bits that the next phase expects, 21 bits of
 * bytes still to land, offset by 2^20 so that bytes may land before they are announced, and the phase's number
 * modulo 8. An arrival is one addition to the whole word. No field ever runs over into the next one, unless more arrive
 * than are pending. Who brings the pending arrivals and the bytes to nothing begins the next phase by a second
 * addition; nobody may arrive in between, for nothing has told anybody yet that the phase is over. */
#ifndef CGX_GPU_BARRIER_H
#define CGX_GPU_BARRIER_H
#include <cgx/barrier.h>

extern "C++" {

#if CGX__HAS_MBARRIER

CGX__INLINE void cgx__barrier_word_init(cgx_mbarrier *b, uint32_t count)
{
    cgx__gpu_mbarrier_init(&b->word, count);
    cgx__gpu_fence_mbarrier_init();
}
CGX__INLINE void cgx__barrier_word_inval(cgx_mbarrier *b)
{
    cgx__gpu_mbarrier_inval(&b->word);
}
#if CGX__HAS_BARRIER_BYTES
/* Two forms of each arrival, of which one remains where the barrier's declaration is in sight. At another block's barrier there is
 * no token, and the order that it gives is wider. */
#define CGX__ARRIVE_AS(form)                                              \
    (drop         ? cgx__gpu_mbarrier_arrive_drop##form(&b->word)         \
     : bytes != 0 ? cgx__gpu_mbarrier_arrive_bytes##form(&b->word, bytes) \
     : n == 1     ? cgx__gpu_mbarrier_arrive##form(&b->word)              \
                  : cgx__gpu_mbarrier_arrive_n##form(&b->word, n))
CGX__INLINE uint64_t cgx__barrier_word_arrive(cgx_mbarrier *b, uint32_t n, int drop, uint32_t bytes)
{
    if (cgx__gpu_is_shared(b))
        return CGX__ARRIVE_AS();
    CGX__ARRIVE_AS(_far);
    return 0;
}
#undef CGX__ARRIVE_AS
#else
/* Where there are no clusters. Many arrive as all but one, which end no phase, and one. */
CGX__INLINE uint64_t cgx__barrier_word_arrive(cgx_mbarrier *b, uint32_t n, int drop, uint32_t)
{
    if (drop)
        return cgx__gpu_mbarrier_arrive_drop(&b->word);
    if (n == 1)
        return cgx__gpu_mbarrier_arrive(&b->word);
    const uint64_t before = cgx__gpu_mbarrier_arrive_some(&b->word, n - 1);
    cgx__gpu_mbarrier_arrive(&b->word);
    return before;
}
#endif
CGX__INLINE bool cgx__phase_test(const cgx_mbarrier *b, cgx_mbarrier_token token)
{
    return cgx__gpu_mbarrier_test(&b->word, token.word);
}
CGX__INLINE bool cgx__phase_test(const cgx_mbarrier *b, int odd)
{
    return cgx__gpu_mbarrier_test_parity(&b->word, (uint32_t)odd);
}
#if CGX__HAS_BARRIER_BYTES
CGX__INLINE bool cgx__phase_look(const cgx_mbarrier *b, cgx_mbarrier_token token)
{
    return cgx__gpu_mbarrier_look(&b->word, token.word);
}
CGX__INLINE bool cgx__phase_look(const cgx_mbarrier *b, int odd)
{
    return cgx__gpu_mbarrier_look_parity(&b->word, (uint32_t)odd);
}
CGX__INLINE bool cgx__phase_try(const cgx_mbarrier *b, cgx_mbarrier_token token, uint32_t ns)
{
    return cgx__gpu_mbarrier_try(&b->word, token.word, ns);
}
CGX__INLINE bool cgx__phase_try(const cgx_mbarrier *b, int odd, uint32_t ns)
{
    return cgx__gpu_mbarrier_try_parity(&b->word, (uint32_t)odd, ns);
}
CGX__INLINE void cgx__phase_wait(const cgx_mbarrier *b, cgx_mbarrier_token token)
{
    cgx__gpu_mbarrier_wait(&b->word, token.word);
}
CGX__INLINE void cgx__phase_wait(const cgx_mbarrier *b, int odd)
{
    cgx__gpu_mbarrier_wait_parity(&b->word, (uint32_t)odd);
}
#endif
/* The hardware's states are its own. */
CGX__INLINE bool cgx__token_is_good(const cgx_mbarrier *, cgx_mbarrier_token)
{
    return true;
}
CGX__INLINE uint32_t cgx__token_pending(cgx_mbarrier_token token)
{
    return cgx__gpu_mbarrier_pending(token.word);
}

#else

enum { CGX__COUNT_BITS = 20, CGX__EXPECTED_AT = 20, CGX__BYTES_AT = 40, CGX__PHASE_AT = 61 };
/* Of arrivals, and of bytes that are none. */
#define CGX__COUNT_MASK (((uint64_t)1 << CGX__COUNT_BITS) - 1)
#define CGX__NO_BYTES ((uint64_t)1 << (CGX__PHASE_AT - CGX__BYTES_AT - 1))

CGX__INLINE void cgx__barrier_word_init(cgx_mbarrier *b, uint32_t count)
{
    cgx__gpu_store(&b->word, count | (uint64_t)count << CGX__EXPECTED_AT | CGX__NO_BYTES << CGX__BYTES_AT,
                   __ATOMIC_RELAXED, CGX__SCOPE_CLUSTER);
}
CGX__INLINE void cgx__barrier_word_inval(cgx_mbarrier *)
{
}
/* Adds to the word, and begins the next phase if that ends this one. */
CGX__INLINE uint64_t cgx__barrier_word_add(cgx_mbarrier *b, uint64_t change)
{
    uint64_t old = cgx__gpu_fetch_add(&b->word, change, __ATOMIC_ACQ_REL, CGX__SCOPE_CLUSTER), now = old + change;
    const uint64_t over = ((((uint64_t)1 << CGX__PHASE_AT) - 1) ^ (CGX__COUNT_MASK << CGX__EXPECTED_AT));
    if ((now & over) == CGX__NO_BYTES << CGX__BYTES_AT)
        cgx__gpu_fetch_add(&b->word, (now >> CGX__EXPECTED_AT & CGX__COUNT_MASK) + ((uint64_t)1 << CGX__PHASE_AT),
                           __ATOMIC_ACQ_REL, CGX__SCOPE_CLUSTER);
    return old;
}
CGX__INLINE uint64_t cgx__barrier_word_arrive(cgx_mbarrier *b, uint32_t n, int drop, uint32_t bytes)
{
    return cgx__barrier_word_add(b, ((uint64_t)bytes << CGX__BYTES_AT) - ((uint64_t)drop << CGX__EXPECTED_AT) - n);
}
/* Bytes have landed; not none, or the phase might be ended twice. */
CGX__INLINE void cgx__barrier_word_landed(cgx_mbarrier *b, uint32_t bytes)
{
    if (bytes)
        cgx__barrier_word_add(b, -((uint64_t)bytes << CGX__BYTES_AT));
}
CGX__INLINE uint64_t cgx__barrier_word(const cgx_mbarrier *b)
{
    return cgx__gpu_load(&b->word, __ATOMIC_ACQUIRE, CGX__SCOPE_CLUSTER);
}
CGX__INLINE bool cgx__phase_test(const cgx_mbarrier *b, cgx_mbarrier_token token)
{
    return (cgx__barrier_word(b) ^ token.word) >> CGX__PHASE_AT != 0;
}
CGX__INLINE bool cgx__phase_test(const cgx_mbarrier *b, int odd)
{
    return ((cgx__barrier_word(b) >> CGX__PHASE_AT ^ (uint64_t)odd) & 1) != 0;
}
/* Of the current phase, or of the one before. */
CGX__INLINE bool cgx__token_is_good(const cgx_mbarrier *b, cgx_mbarrier_token token)
{
    return (cgx__barrier_word(b) - (token.word >> CGX__PHASE_AT << CGX__PHASE_AT)) >> CGX__PHASE_AT <= 1;
}
CGX__INLINE uint32_t cgx__token_pending(cgx_mbarrier_token token)
{
    return (uint32_t)(token.word & CGX__COUNT_MASK);
}

#endif
#if !CGX__HAS_BARRIER_BYTES
/* No instruction waits: polling. */
template <class PHASE> CGX__INLINE bool cgx__phase_look(const cgx_mbarrier *b, PHASE phase)
{
    return cgx__phase_test(b, phase);
}
template <class PHASE> CGX__INLINE bool cgx__phase_try(const cgx_mbarrier *b, PHASE phase, uint32_t)
{
    cgx__gpu_rest();
    return cgx__phase_test(b, phase);
}
template <class PHASE> CGX__INLINE void cgx__phase_wait(const cgx_mbarrier *b, PHASE phase)
{
    while (!cgx__phase_test(b, phase))
        cgx__gpu_rest();
}
#endif

/* What takes it looks at the lowest bit. */
#define CGX__PARITY(odd) ((int)(odd))

CGX__INLINE void cgx__mbarrier_init(cgx_block, cgx_mbarrier *b, int64_t count, int line)
{
    CGX__CHECK(cgx__gpu_is_shared(b) && ((uintptr_t)b & 7) == 0,
               "an mbarrier is an aligned 64-bit word in shared memory", line);
    CGX__CHECK(count >= 1 && count <= CGX_MBARRIER_MAX_COUNT, "an mbarrier's count is 1 to 1,048,575", line);
    cgx__barrier_word_init(b, (uint32_t)count);
}
CGX__INLINE void cgx__mbarrier_inval(cgx_block, cgx_mbarrier *b, int line)
{
    CGX__CHECK(cgx__gpu_is_shared(b) && ((uintptr_t)b & 7) == 0,
               "an mbarrier is an aligned 64-bit word in shared memory", line);
    cgx__barrier_word_inval(b);
}
/* N arrivals, DROP fewer from the next phase on, BYTES of copies more announced. */
CGX__INLINE cgx_mbarrier_token cgx__mbarrier_arrive(cgx_block, cgx_mbarrier *b, int64_t n, int drop, int64_t bytes,
                                                    int line)
{
    CGX__CHECK(!cgx__gpu_is_global(b) && ((uintptr_t)b & 7) == 0,
               "an mbarrier is an aligned 64-bit word in shared memory", line);
    CGX__CHECK(n >= 1 && n <= CGX_MBARRIER_MAX_COUNT, "arrivals at an mbarrier are 1 to 1,048,575", line);
    CGX__CHECK(bytes >= 0 && bytes < 1 << 20, "an mbarrier's phase counts less than 2^20 bytes", line);
    cgx_mbarrier_token token = { cgx__barrier_word_arrive(b, (uint32_t)n, drop, (uint32_t)bytes) };
    CGX__CHECK(!cgx__gpu_is_shared(b) || n <= cgx__token_pending(token),
               "more arrivals at an mbarrier than are pending", line);
    return token;
}
#if CGX__HAS_BARRIER_BYTES || !CGX__HAS_MBARRIER
CGX__INLINE cgx_mbarrier_token cgx__mbarrier_announce(cgx_block self, cgx_mbarrier *b, int64_t bytes, int line)
{
    return cgx__mbarrier_arrive(self, b, 1, 0, bytes, line);
}
#else
/* The host compiler, which cgxcc asks, has dropped the call as one that is never made. -Xcuda=-UCGX__NO_BARRIER_BYTES helps. */
cgx_mbarrier_token cgx__mbarrier_announce(cgx_block, cgx_mbarrier *, int64_t, int) = delete;
#endif
/* A wait takes a token or a parity: two overloads, as the hardware has two instructions. */
CGX__INLINE cgx_mbarrier_token cgx__token_parity(cgx_block, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    CGX__CHECK(cgx__token_is_good(b, token), "an mbarrier's token is good for its own phase and the next one alone",
               line);
    (void)b;
    return token;
}
CGX__INLINE bool cgx__mbarrier_test_token(cgx_block self, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    return cgx__phase_test(b, cgx__token_parity(self, b, token, line));
}
CGX__INLINE bool cgx__mbarrier_test(cgx_block, const cgx_mbarrier *b, int odd, int)
{
    return cgx__phase_test(b, odd);
}
/* The first look is as long as the hardware likes to wait, 4 us on an H200. After that the clock alone says when to give up. */
template <class PHASE>
CGX__INLINE bool cgx__mbarrier_try(cgx_block, const cgx_mbarrier *b, PHASE phase, uint32_t max_ns, int)
{
    if (max_ns == 0)
        return cgx__phase_test(b, phase);
    if (cgx__phase_look(b, phase))
        return true;
    const uint64_t start = cgx_clock_nanoseconds();
    uint64_t gone = 0;
    do {
        if (cgx__phase_try(b, phase, (uint32_t)(max_ns - gone)))
            return true;
        gone = cgx_clock_nanoseconds() - start;
    } while (gone < max_ns);
    return false;
}
template <class PHASE> CGX__INLINE void cgx__mbarrier_wait(cgx_block, const cgx_mbarrier *b, PHASE phase, int)
{
    cgx__phase_wait(b, phase);
}

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* CPU pass of <cgx/barrier.h>. The threads that share a barrier run on one worker, so the word needs no atomics. */
#ifndef CGX_CPU_BARRIER_H
#define CGX_CPU_BARRIER_H
#include <cgx/barrier.h>

#define CGX__SELF cgx__make_block(cgx__t, cgx__level)
#define CGX__PARITY(odd) ((int)((odd)&1))

CGX__EXTERN_C_BEGIN
CGX_API void cgx__cpu_mbarrier_init(cgx_cpu_thread *t, cgx_mbarrier *b, int64_t count, int line);
CGX_API void cgx__cpu_mbarrier_inval(cgx_cpu_thread *t, cgx_mbarrier *b, int line);
/* N arrivals, DROP fewer from the next phase on, BYTES more announced; negative bytes have landed. */
CGX_API cgx_mbarrier_token cgx__cpu_mbarrier_arrive(cgx_cpu_thread *t, cgx_mbarrier *b, int64_t n, int drop,
                                                    int64_t bytes, int line);
/* One arrival that announces BYTES. By its name, and that of cgx__cpu_bulk_copy, cgxcc sees whether a file's barriers count bytes. */
CGX_API cgx_mbarrier_token cgx__cpu_mbarrier_announce(cgx_cpu_thread *t, cgx_mbarrier *b, int64_t bytes, int line);
/* Parity of the current phase. */
CGX_API int cgx__cpu_mbarrier_parity(cgx_cpu_thread *t, const cgx_mbarrier *b, int line);
CGX_API int cgx__cpu_mbarrier_try(cgx_cpu_thread *t, const cgx_mbarrier *b, int odd, uint32_t max_ns, int line);
/* Whether a phase is over; if not, others get to run before the answer, since the caller may ask in a loop. */
CGX_API int cgx__cpu_mbarrier_test(cgx_cpu_thread *t, const cgx_mbarrier *b, int odd, int line);
CGX_API int cgx__cpu_mbarrier_test_token(cgx_cpu_thread *t, const cgx_mbarrier *b, cgx_mbarrier_token token, int line);
CGX_API int cgx__cpu_mbarrier_token_parity(cgx_cpu_thread *t, const cgx_mbarrier *b, cgx_mbarrier_token token,
                                           int line);
CGX_API uint32_t cgx__cpu_token_pending(cgx_mbarrier_token token);
/* The same for a lane of a compiled entry, which has no thread in memory. */
CGX_API cgx_mbarrier_token cgx__cpu_lane_arrive(cgx_cpu_block *block, int rank, cgx_mbarrier *b, int64_t n, int drop,
                                                int64_t bytes, int line);
CGX_API void cgx__cpu_lane_init(cgx_cpu_block *block, int rank, cgx_mbarrier *b, int64_t count, int line);
CGX_API void cgx__cpu_lane_inval(cgx_cpu_block *block, int rank, cgx_mbarrier *b, int line);
CGX_API int cgx__cpu_lane_token_parity(cgx_cpu_block *block, int rank, const cgx_mbarrier *b, cgx_mbarrier_token token,
                                       int line);
CGX_API int cgx__cpu_lane_parity(cgx_cpu_block *block, int rank, const cgx_mbarrier *b, int line);
CGX__EXTERN_C_END

/* The word, low to high: 20 bits pending arrivals, 20 bits expected ones, 21 bits bytes still to land (offset by 2^20, so that
 * bytes may land before they are announced), the phase's parity, and a mark of an initialised barrier. A token is the pending
 * count and, above it, the number of the phase. */
enum { CGX__COUNT_BITS = 20, CGX__COUNT_MASK = (1 << CGX__COUNT_BITS) - 1, CGX__PARITY_AT = 61, CGX__VALID_AT };

#ifdef CGX__CPU_PASS
/* In compiled entries the usual case is in line: a word with its mark, and an arrival that is not the last. The last one is libcgx's, which
 * also sees whether anybody else has written the word. Lanes of a loop see each other's arrivals, so the word is atomic for the
 * compiler's sake, and so are the records, which come with the first barrier. */
typedef int cgx__look_fn(cgx_cpu_block *block, int rank, const cgx_mbarrier *b, int line);
typedef uint64_t cgx__arrive_fn(cgx_cpu_block *block, int first, int count, cgx_mbarrier *b, int64_t n, int drop,
                                int64_t bytes, int line);
CGX__EXTERN_C_BEGIN
/* LOOK and ARRIVE of the calling thread; or, where the plug-in knows that the aligned 32 threads around it are here together, once for
 * them. */
int cgx__mark_look(cgx__look_fn *look, cgx_cpu_block *block, int rank, const cgx_mbarrier *b, int line)
    __attribute__((convergent, nothrow));
uint64_t cgx__mark_arrive(cgx__arrive_fn *arrive, cgx_cpu_block *block, int rank, cgx_mbarrier *b, int64_t n, int drop,
                          int64_t bytes, int line) __attribute__((convergent, nothrow));
CGX__EXTERN_C_END
CGX_UNUSED static int cgx__step_look(cgx_cpu_block *block, int rank, const cgx_mbarrier *b, int line)
{
    const uint64_t word = __atomic_load_n(&b->word, __ATOMIC_RELAXED);
    if (CGX__UNLIKELY(!(word >> CGX__VALID_AT & 1)))
        return cgx__cpu_lane_parity(block, rank, b, line);
    return (int)(word >> CGX__PARITY_AT & 1);
}
/* COUNT threads from FIRST on; the token of the first. Up to the end of a phase their arrivals are one of so many. */
CGX_UNUSED static uint64_t cgx__step_arrive(cgx_cpu_block *block, int first, int count, cgx_mbarrier *b, int64_t n,
                                            int drop, int64_t bytes, int line)
{
    const size_t offset = (size_t)((const char *)b - block->shared);
    const uint64_t word = n == 1 && !drop && !bytes && offset < __atomic_load_n(&block->barrier_bytes, __ATOMIC_RELAXED)
                              ? __atomic_load_n(&b->word, __ATOMIC_RELAXED)
                              : 0;
    const int usual = word >> CGX__VALID_AT & 1;
    if (CGX__UNLIKELY(!usual || (word & CGX__COUNT_MASK) <= (uint64_t)count)) {
        if (usual && (word & CGX__COUNT_MASK) == (uint64_t)count)
            return cgx__cpu_lane_arrive(block, first, b, count, 0, 0, line).word;
        const cgx_mbarrier_token token = cgx__cpu_lane_arrive(block, first, b, n, drop, bytes, line);
        for (int i = 1; i < count; i++)
            cgx__cpu_lane_arrive(block, first + i, b, n, drop, bytes, line);
        return token.word;
    }
    __atomic_store_n(&b->word, word - (uint64_t)count, __ATOMIC_RELAXED);
    const cgx_cpu_barrier_record *all = __atomic_load_n(&block->barriers, __ATOMIC_RELAXED);
    return (word & CGX__COUNT_MASK) | all[offset / 8].phase << CGX__COUNT_BITS;
}
CGX__INLINE int cgx__compiled_parity(cgx_block self, const cgx_mbarrier *b, int line)
{
    return cgx__mark_look(cgx__step_look, self.t->block, self.t->rank, b, line);
}
CGX__INLINE cgx_mbarrier_token cgx__compiled_arrive_at(cgx_block self, cgx_mbarrier *b, int64_t n, int drop,
                                                       int64_t bytes, int line)
{
    const cgx_mbarrier_token token = { cgx__mark_arrive(cgx__step_arrive, self.t->block, self.t->rank, b, n, drop,
                                                        bytes, line) };
    return token;
}
#endif

CGX__INLINE void cgx__mbarrier_init(cgx_block self, cgx_mbarrier *b, int64_t count, int line)
{
    CGX__WHERE_COMPILED(self.level, cgx__cpu_lane_init(self.t->block, self.t->rank, b, count, line); return )
    cgx__cpu_mbarrier_init(self.t, b, count, line);
}
CGX__INLINE void cgx__mbarrier_inval(cgx_block self, cgx_mbarrier *b, int line)
{
    CGX__WHERE_COMPILED(self.level, cgx__cpu_lane_inval(self.t->block, self.t->rank, b, line); return )
    cgx__cpu_mbarrier_inval(self.t, b, line);
}
CGX__INLINE int cgx__token_parity(cgx_block self, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    CGX__WHERE_COMPILED(self.level, return cgx__cpu_lane_token_parity(self.t->block, self.t->rank, b, token, line))
    return cgx__cpu_mbarrier_token_parity(self.t, b, token, line);
}
#define cgx__token_pending(token) cgx__cpu_token_pending(token)

CGX__INLINE cgx_mbarrier_token cgx__mbarrier_arrive(cgx_block self, cgx_mbarrier *b, int64_t n, int drop, int64_t bytes,
                                                    int line)
{
    if (CGX__UNLIKELY(n < 1))
        cgx__cpu_misuse(self.t, line, "arrivals at an mbarrier are 1 to 1,048,575");
    CGX__WHERE_COMPILED(self.level, return cgx__compiled_arrive_at(self, b, n, drop, bytes, line))
    return cgx__cpu_mbarrier_arrive(self.t, b, n, drop, bytes, line);
}
CGX__INLINE cgx_mbarrier_token cgx__mbarrier_announce(cgx_block self, cgx_mbarrier *b, int64_t bytes, int line)
{
    if (CGX__UNLIKELY(bytes < 0))
        cgx__cpu_misuse(self.t, line, "bytes announced at an mbarrier are not negative");
    CGX__WHERE_COMPILED(self.level, return cgx__compiled_arrive_at(self, b, 1, 0, bytes, line))
    return cgx__cpu_mbarrier_announce(self.t, b, bytes, line);
}

CGX__INLINE int cgx__mbarrier_test(cgx_block self, const cgx_mbarrier *b, int odd, int line)
{
    CGX__WHERE_COMPILED(self.level, const int over = cgx__compiled_parity(self, b, line) != odd;
                        if (!over) cgx__compiled_poll(self, line); return over)
    return cgx__cpu_mbarrier_test(self.t, b, odd, line);
}
CGX__INLINE int cgx__mbarrier_test_token(cgx_block self, const cgx_mbarrier *b, cgx_mbarrier_token token, int line)
{
    CGX__WHERE_COMPILED(self.level, return cgx__mbarrier_test(self, b, cgx__token_parity(self, b, token, line), line))
    return cgx__cpu_mbarrier_test_token(self.t, b, token, line);
}
CGX__INLINE int cgx__mbarrier_try(cgx_block self, const cgx_mbarrier *b, int odd, uint32_t max_ns, int line)
{
    CGX__WHERE_COMPILED(
        self.level, const uint64_t start = max_ns ? cgx__cpu_nanoseconds() : 0;
        while (cgx__compiled_parity(self, b, line) == odd) {
            cgx__compiled_poll(self, line);
            if (!max_ns || cgx__cpu_nanoseconds() - start >= max_ns)
                return cgx__compiled_parity(self, b, line) != odd;
        } return 1)
    return cgx__cpu_mbarrier_try(self.t, b, odd, max_ns, line);
}

CGX__INLINE void cgx__mbarrier_wait(cgx_block self, const cgx_mbarrier *b, int odd, int line)
{
    CGX__WHERE_COMPILED(
        self.level, while (cgx__compiled_parity(self, b, line) == odd) cgx__compiled_at_mbarrier(self, line); return )
    while (cgx__cpu_mbarrier_parity(self.t, b, line) == odd)
        cgx__cpu_park(self.t, &self.t->block->worker->waiters, b, CGX__OP_MBARRIER_WAIT, line, self.level);
}
#endif

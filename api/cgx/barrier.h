/* SPDX-License-Identifier: MIT */
/* Asynchronous barriers in shared memory: mbarrier (guide 5.6.1, PTX ISA "mbarrier").
 *
 * A barrier counts arrivals of a phase; when as many have come as it was told to expect, and as many bytes of
 * asynchronous copies as were announced, the phase ends and the next one begins with the same count. Phases are numbered from
 * 0 and seen by their parity. A fresh barrier is in phase 0, so that a wait for odd parity returns at once.
 * A phase counts less than 2^20 bytes.
 * All functions may be called by any thread of the block, converged or not; none is collective. Threads of other blocks
 * of the cluster may arrive (cgx_map_shared_rank) and not wait. Arrivals release, a wait that returns true acquires, at
 * the scope of the block, or of the cluster where another block arrives. docs/semantics.md has the rules. */
#ifndef CGX_BARRIER_H
#define CGX_BARRIER_H
#include <cgx/group.h>

/* One 64-bit word in shared memory; the members are the library's. */
typedef struct {
    uint64_t word;
} cgx_mbarrier;
/* The state a barrier had before an arrival; good for the phase it was made in and the one after. */
typedef struct {
    uint64_t word;
} cgx_mbarrier_token;

/* Highest count, 2^20 - 1 on every backend (PTX ISA; CUDA's own header says 2^14 - 1). */
enum { CGX_MBARRIER_MAX_COUNT = (1 << 20) - 1 };
#define cgx_mbarrier_max_count() ((uint32_t)CGX_MBARRIER_MAX_COUNT)

/* void cgx_mbarrier_init(cgx_mbarrier *, uint32_t count): 1 to the maximum; one thread, before a sync of the users. */
#define cgx_mbarrier_init(barrier, count) cgx__mbarrier_init(CGX__SELF, (barrier), (count), __LINE__)
/* void: before the memory is used for something else, another mbarrier included. */
#define cgx_mbarrier_inval(barrier) cgx__mbarrier_inval(CGX__SELF, (barrier), __LINE__)
/* cgx_mbarrier_token: one arrival, or N; the pending count must be at least that. */
#define cgx_mbarrier_arrive(barrier) cgx__mbarrier_arrive(CGX__SELF, (barrier), 1, 0, 0, __LINE__)
#define cgx_mbarrier_arrive_n(barrier, n) cgx__mbarrier_arrive(CGX__SELF, (barrier), (n), 0, 0, __LINE__)
/* The same, and the phases after this one expect one arrival less. */
#define cgx_mbarrier_arrive_and_drop(barrier) cgx__mbarrier_arrive(CGX__SELF, (barrier), 1, 1, 0, __LINE__)
/* One arrival that also announces BYTES of copies which complete on the barrier (see cgx_bulk_copy_async). */
#define cgx_mbarrier_arrive_expect_tx(barrier, bytes) cgx__mbarrier_announce(CGX__SELF, (barrier), (bytes), __LINE__)
/* bool: whether the token's phase is over. */
#define cgx_mbarrier_test_wait(barrier, token) cgx__mbarrier_test_token(CGX__SELF, (barrier), (token), __LINE__)
/* bool: whether the phase of this parity is over: it is the one before the current. The lowest bit of ODD counts, so that the
 * number of a phase will do. */
#define cgx_mbarrier_test_wait_parity(barrier, odd) cgx__mbarrier_test(CGX__SELF, (barrier), CGX__PARITY(odd), __LINE__)
/* bool: the same, waiting for at most MAX_NS nanoseconds, and no less; 0 only tests. */
#define cgx_mbarrier_try_wait(barrier, token, max_ns)                                                             \
    cgx__mbarrier_try(CGX__SELF, (barrier), cgx__token_parity(CGX__SELF, (barrier), (token), __LINE__), (max_ns), \
                      __LINE__)
#define cgx_mbarrier_try_wait_parity(barrier, odd, max_ns) \
    cgx__mbarrier_try(CGX__SELF, (barrier), CGX__PARITY(odd), (max_ns), __LINE__)
/* void: until it is over. */
#define cgx_mbarrier_wait(barrier, token) \
    cgx__mbarrier_wait(CGX__SELF, (barrier), cgx__token_parity(CGX__SELF, (barrier), (token), __LINE__), __LINE__)
#define cgx_mbarrier_wait_parity(barrier, odd) cgx__mbarrier_wait(CGX__SELF, (barrier), CGX__PARITY(odd), __LINE__)
/* uint32_t: the pending count before the arrival that made the token, or before all arrivals of the warp that were made
 * together with it. */
#define cgx_mbarrier_token_pending(token) cgx__token_pending(token)

#if defined(CGX_PASS_CPU)
#include <cgx/cpu_barrier.h>
#else
#include <cgx/gpu_barrier.h>
#endif
#endif

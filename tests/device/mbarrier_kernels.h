/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MBARRIER_KERNELS_H
#define TESTS_MBARRIER_KERNELS_H
#include <cgx.h>

/* One thread alone: out[i] is what step i of the test gave. */
enum { MB_STEPS = 40 };
CGX_KERNEL_DECLARE(mb_steps, (int *, out))
/* All threads, PHASES times: write, arrive, wait, read the next one's. By: token, parity, polling test_wait with a bound
 * on the work between, try_wait in a loop. */
enum { MB_TOKEN, MB_PARITY, MB_TRY, MB_TRY_PARITY, MB_WAYS };
CGX_KERNEL_DECLARE(mb_phases, (int, phases), (int, way), (int *, out))
/* Polling with functions that only test, in a loop without an end. */
CGX_KERNEL_DECLARE(mb_poll, (int, way), (int *, out))
/* Tokens carry the pending counts: every number from N down to 1 once. */
CGX_KERNEL_DECLARE(mb_pending, (int *, out))
/* Every round one more thread drops out; the others go on with the smaller count. */
CGX_KERNEL_DECLARE(mb_drop, (int *, out))
/* Half of the threads arrive for two each. */
CGX_KERNEL_DECLARE(mb_arrive_n, (int, rounds), (int *, out))
/* A try_wait that times out, with the nanoseconds it took. */
CGX_KERNEL_DECLARE(mb_timeout, (int, max_ns), (int *, result), (uint64_t *, took))
/* Bytes of bulk copies, announced before and after they land, in several pieces. */
CGX_KERNEL_DECLARE(mb_bytes, (const int *, in), (int *, out))
/* One memory used for a barrier, for numbers, for a barrier of another count. */
CGX_KERNEL_DECLARE(mb_reuse, (int *, out))
/* Two barriers as full and empty flags of a ring between the first 32 threads and the rest. */
CGX_KERNEL_DECLARE(mb_ring, (int, items), (const int *, in), (int *, out))
#endif

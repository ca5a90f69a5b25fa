/* SPDX-License-Identifier: MIT */
#ifndef TESTS_POLLING_KERNELS_H
#define TESTS_POLLING_KERNELS_H
#include <cgx.h>

/* What a thread waits for, in a loop of its own. */
enum {
    POLL_ONE,          /* a flag of the thread behind it */
    POLL_TWO,          /* two flags in one condition, one of which is set already */
    POLL_MANY,         /* a look at eight flags a turn */
    POLL_COUNTER,      /* a number that others increase */
    POLL_FLOAT,        /* a float, by bits */
    POLL_EXCHANGE,     /* takes a token out of a box */
    POLL_IN_FUNCTION,  /* in a device function */
    POLL_WITH_BARRIER, /* while others are at a barrier of their own */
    POLLS
};
CGX_KERNEL_DECLARE(poll_in_block, (int, what), (int *, out))
/* Block I waits for block I + 1: all are resident. */
CGX_KERNEL_DECLARE(poll_later_block, (int *, flags), (int *, out))
/* A barrier of the whole grid, of atomics alone: phases of plain stores. */
CGX_KERNEL_DECLARE(software_grid_barrier, (int, rounds), (int *, barrier), (int *, data), (int *, bad))
/* A flag that the host sets. */
CGX_KERNEL_DECLARE(poll_host, (int *, flag), (int *, out))

/* A scan of the whole grid in one pass: every block takes the next part, publishes its sum and looks back. Statuses are
 * one word a part: 0, or state << 32 | sum. */
enum { SCAN_THREADS = 64 };
CGX_KERNEL_DECLARE(look_back_scan, (const unsigned *, in), (unsigned long long *, status), (int *, next),
                   (unsigned *, out))
/* The same with parts by block index, and 32 threads looking back at once. */
CGX_KERNEL_DECLARE(look_back_wide, (const unsigned *, in), (unsigned long long *, status), (unsigned *, out))
#endif

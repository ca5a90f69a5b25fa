/* SPDX-License-Identifier: MIT */
#ifndef TESTS_COPIES_KERNELS_H
#define TESTS_COPIES_KERNELS_H
#include <cgx.h>

/* Every size SMALLEST to LARGEST at every pair of offsets 0 to 16: block B takes the sizes SMALLEST + B, + gridDim ...
 * The bytes around the destination have to stay. `report`: how many bytes were wrong, then size, offsets, place and
 * byte of one. */
enum {
    COPY_BLOCK,
    COPY_TILE,
    COPY_WIDE_TILE,
    COPY_ONE,
    COPY_COALESCED,
    COPY_BRANCH,
    COPY_ANY,
    COPY_ELEMENTS,
    COPY_ALIGNED_1,
    COPY_KINDS
};
enum { COPY_MOST = 300, COPY_OFFSETS = 17, COPY_ROOM = COPY_MOST + 2 * 32, REPORT_INTS = 6 };
CGX_KERNEL_DECLARE(copy_sizes, (int, kind), (int, smallest), (int, largest), (const unsigned char *, in),
                   (int *, report))
/* Multiples of N with both pointers aligned to N. */
CGX_KERNEL_DECLARE(copy_aligned, (int, n), (int, kind), (const unsigned char *, in), (int *, report))
/* Every N and zfill, at each thread's own place, with the zeros' source at an address that may not be read if READABLE
 * is 0 (then zfill = N alone). */
CGX_KERNEL_DECLARE(copy_zfill, (const unsigned char *, in), (const unsigned char *, unreadable), (int *, report))
/* Both directions that are not global to shared, and within a cluster. */
CGX_KERNEL_DECLARE(copy_directions, (const int *, in), (int *, out))

/* A thread's own ring of copies: ITEMS are asked for DEPTH ahead, wait_prior takes a run-time N. */
CGX_KERNEL_DECLARE(pipeline_ring, (int, depth), (int, items), (int, width), (const int *, in), (int *, out))
/* A group's: kind of copy_sizes up to COPY_COALESCED. */
CGX_KERNEL_DECLARE(group_ring, (int, kind), (int, depth), (int, items), (const int *, in), (int *, out))
/* Stages of group copies and of the thread's own count together. out[step * 64 + rank]: bit I is set when copy I is
 * there. */
enum { MIXED_STEPS = 6, MIXED_LATE = 0x100 };
CGX_KERNEL_DECLARE(mixed_stages, (const int *, in), (int *, out))
/* A group's wait takes in what its threads have not committed. */
CGX_KERNEL_DECLARE(uncommitted, (int, kind), (const int *, in), (int *, out))
/* What is read before and after each wait, one thread: pairs of words. */
enum {
    SEEN_PIPELINE,
    SEEN_ANY,
    SEEN_ZFILL,
    SEEN_TILE,
    SEEN_BULK,
    SEEN_STORE,
    SEEN_REDUCED,
    SEEN_ARRIVE_ON,
    SEEN_MANY,
    SEENS
};
CGX_KERNEL_DECLARE(seen_early, (const int *, in), (int *, stored), (unsigned *, before), (unsigned *, after))

/* Every thread's own copies complete on a barrier that all wait for. */
CGX_KERNEL_DECLARE(arrive_on, (int, rounds), (const int *, in), (int *, out))
/* Bulk copies of all sizes, in pieces, by several threads; then bulk stores back. */
CGX_KERNEL_DECLARE(bulk_round_trip, (int, bytes), (int, pieces), (const int *, in), (int *, out))
/* A ring of STAGES filled by one thread with bulk copies, read by all others, results stored back in bulk. */
CGX_KERNEL_DECLARE(bulk_ring, (int, stages), (int, items), (const int *, in), (int *, out))
/* Bulk stores in stages: wait_prior with a run-time N, the source used again. */
CGX_KERNEL_DECLARE(bulk_store_stages, (int, depth), (int, items), (int *, out))
/* Kernels that end with copies under way. */
CGX_KERNEL_DECLARE(never_waits, (const int *, in), (int *, out))
#endif

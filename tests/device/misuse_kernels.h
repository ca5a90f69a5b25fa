/* SPDX-License-Identifier: MIT */
#ifndef TESTS_MISUSE_KERNELS_H
#define TESTS_MISUSE_KERNELS_H
#include <cgx.h>
#include "good.h"

/* X(name, what the error says): what thread 3 of block (1, 0, 0) does, 40 threads a block, in a plain launch. */
#define FOREACH_MISUSE(X)                         \
    X(GRID_SYNC, "not cooperative")               \
    X(GRID_ARRIVE, "cooperative")                 \
    X(TILE_16_OF_40, "multiple of 16")            \
    X(TILE_1024_OF_40, "multiple of 1024")        \
    X(TILE_N_3, "power of two")                   \
    X(TILE_N_0, "power of two")                   \
    X(TILE_N_NEGATIVE, "power of two")            \
    X(TILE_N_TOO_LARGE, "power of two")           \
    X(TILE_N_16_OF_40, "divides")                 \
    X(TILE_OF_TILE, "multiple of 8")              \
    X(TILE_ARRIVE, "barrier_arrive")              \
    X(MBARRIER_ARRIVE, "not initialised")         \
    X(MBARRIER_TEST, "not initialised")           \
    X(MBARRIER_TRY, "not initialised")            \
    X(MBARRIER_WAIT, "not initialised")           \
    X(MBARRIER_INVAL, "not initialised")          \
    X(MBARRIER_AFTER_INVAL, "not initialised")    \
    X(MBARRIER_INIT_0, "1 to 1,048,575")          \
    X(MBARRIER_INIT_TOO_MANY, "1 to 1,048,575")   \
    X(MBARRIER_OVER_ARRIVAL, "more arrivals")     \
    X(MBARRIER_DROP_THEN_ARRIVE, "more arrivals") \
    X(MBARRIER_TOO_MANY_BYTES, "bytes")           \
    X(BULK_SIZE, "multiples of 16")               \
    X(BULK_DESTINATION, "multiples of 16")        \
    X(BULK_SOURCE, "multiples of 16")             \
    X(BALLOT_OF_MANY, "more than 64")             \
    X(MATCH_OF_MANY, "more than 64")              \
    X(PARTITION_OF_MANY, "partition")
enum {
#define MISUSE_ENUMERATOR(name, text) MISUSE_##name,
    FOREACH_MISUSE(MISUSE_ENUMERATOR)
#undef MISUSE_ENUMERATOR
        MISUSES
};
/* LATE: after a barrier, so that the thread has a stack of its own. THREADS is 40, or 128 for groups of many. */
CGX_KERNEL_DECLARE(misuse, (int, which), (int, late), (char *, memory), (int *, out))

/* Threads of one group call different collectives: rank 0 one, the others another. */
CGX_KERNEL_DECLARE(reduce_or_scan, (int *, out))
CGX_KERNEL_DECLARE(sync_or_reduce, (int *, out))
CGX_KERNEL_DECLARE(reduce_or_sync, (int *, out))
/* Of the block, whose syncs wait apart from its other collectives: found when nobody can go on. */
CGX_KERNEL_DECLARE(block_sync_or_reduce, (int, who), (int *, out))
CGX_KERNEL_DECLARE(any_or_all_coalesced, (int *, out))
CGX_KERNEL_DECLARE(tile_of_coalesced, (int *, out))

/* Needs its grid. */
CGX_KERNEL_DECLARE(needs_grid, (int *, out))
#endif

/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RULES_KERNELS_H
#define TESTS_RULES_KERNELS_H
#include <cgx.h>
#include "../device/good.h"

/* X(name, status, what the error says): what thread 3 of block (1, 0, 0) does; 4 blocks of 64 threads in clusters of
 * 2. */
#define FOREACH_RULE(X)                                                  \
    X(ARRIVE_WITHOUT_INIT, MISUSE, "not initialised")                    \
    X(DROP_WITHOUT_INIT, MISUSE, "not initialised")                      \
    X(EXPECT_WITHOUT_INIT, MISUSE, "not initialised")                    \
    X(ARRIVE_ON_WITHOUT_INIT, MISUSE, "not initialised")                 \
    X(BULK_WITHOUT_INIT, MISUSE, "not initialised")                      \
    X(NEIGHBOUR_WITHOUT_INIT, MISUSE, "not initialised")                 \
    X(INIT_ABOVE_MAXIMUM, MISUSE, "1 to 1,048,575")                      \
    X(INIT_FOR_NOBODY, MISUSE, "1 to 1,048,575")                         \
    X(INIT_AGAIN, MISUSE, "without cgx_mbarrier_inval")                  \
    X(MEMORY_WRITTEN, MISUSE, "without cgx_mbarrier_inval")              \
    X(MEMORY_WRITTEN_AFTER_PHASES, MISUSE, "without cgx_mbarrier_inval") \
    X(BARRIER_IN_GLOBAL_MEMORY, MISUSE, "shared memory")                 \
    X(BARRIER_NOT_ALIGNED, MISUSE, "aligned")                            \
    X(NOTHING_PENDING, MISUSE, "more arrivals")                          \
    X(MORE_THAN_PENDING, MISUSE, "more arrivals")                        \
    X(ARRIVE_FOR_NONE, MISUSE, "1 to 1,048,575")                         \
    X(ARRIVE_FOR_LESS, MISUSE, "1 to 1,048,575")                         \
    X(ARRIVE_ON_A_FULL_BARRIER, MISUSE, "1 to 1,048,575")                \
    X(TOO_MANY_BYTES, MISUSE, "bytes")                                   \
    X(OLD_TOKEN_TEST, MISUSE, "token is good for")                       \
    X(OLD_TOKEN_TRY, MISUSE, "token is good for")                        \
    X(OLD_TOKEN_WAIT, MISUSE, "token is good for")                       \
    X(WAIT_TWICE, MISUSE, "same token")                                  \
    X(WAIT_TWICE_CLUSTER, MISUSE, "same token")                          \
    X(ARRIVE_TWICE, MISUSE, "second barrier_arrive")                     \
    X(ARRIVE_TWICE_CLUSTER, MISUSE, "second barrier_arrive")             \
    X(ALIGNED_SIZE, MISUSE, "not aligned as promised")                   \
    X(ALIGNED_DESTINATION, MISUSE, "not aligned as promised")            \
    X(ALIGNED_SOURCE, MISUSE, "not aligned as promised")                 \
    X(ALIGNED_TO_NO_POWER, MISUSE, "not aligned as promised")            \
    X(PIPELINE_SIZE, MISUSE, "4, 8 or 16 bytes")                         \
    X(PIPELINE_DESTINATION, MISUSE, "aligned")                           \
    X(PIPELINE_SOURCE, MISUSE, "aligned")                                \
    X(ZFILL_TOO_LARGE, MISUSE, "zfill")                                  \
    X(BULK_SIZE, MISUSE, "multiples of 16")                              \
    X(BULK_STORE_SOURCE, MISUSE, "multiples of 16")                      \
    X(MAP_BEHIND_THE_CLUSTER, MISUSE, "no block of this rank")           \
    X(MAP_BELOW_THE_CLUSTER, MISUSE, "no block of this rank")            \
    X(MAP_GLOBAL_MEMORY, MISUSE, "not in the block's shared memory")     \
    X(QUERY_GLOBAL_MEMORY, MISUSE, "no shared memory of the cluster")    \
    X(TILE_THAT_DOES_NOT_DIVIDE, MISUSE, "multiple of 128")              \
    X(TILE_N_THAT_DOES_NOT_DIVIDE, MISUSE, "divides")                    \
    X(GRID_SYNC_IN_PLAIN_LAUNCH, MISUSE, "not cooperative")              \
    X(GRID_REDUCE_IN_PLAIN_LAUNCH, MISUSE, "not cooperative")            \
    X(NOBODY_ARRIVES, DEADLOCK, "mbarrier wait")                         \
    X(SKIPS_BLOCK_REDUCE, DEADLOCK, "reduce of the block")               \
    X(SKIPS_BLOCK_SCAN, DEADLOCK, "inclusive_scan of the block")         \
    X(SKIPS_TILE_SHUFFLE, DEADLOCK, "the tile of 16")                    \
    X(SKIPS_WIDE_TILE_SYNC, DEADLOCK, "the tile of 64")                  \
    X(SKIPS_UPDATE, DEADLOCK, "reduce_update_async of the block")        \
    X(SKIPS_COALESCED, DEADLOCK, "coalesced group")                      \
    X(SKIPS_CLUSTER_REDUCE, DEADLOCK, "reduce of the block")             \
    X(BYTES_NEVER_COME, DEADLOCK, "mbarrier wait")
enum {
#define RULE_ENUMERATOR(name, status, text) RULE_##name,
    FOREACH_RULE(RULE_ENUMERATOR)
#undef RULE_ENUMERATOR
        RULES
};
CGX_KERNEL_DECLARE(break_rule, (int, which), (char *, memory), (int *, out))
/* Broken by a copy that is put off, when nobody runs: its barrier is gone. */
CGX_KERNEL_DECLARE(break_rule_late, (int, which), (char *, memory), (int *, out))
/* In a cooperative launch: thread 3 of block 1 does not come. */
enum { SKIPS_GRID_SYNC, SKIPS_GRID_WAIT, SKIPS_GRID_REDUCE, WAITS_TWICE_GRID, GRID_RULES };
CGX_KERNEL_DECLARE(break_grid_rule, (int, which), (int *, out))
#endif

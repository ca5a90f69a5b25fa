/* SPDX-License-Identifier: MIT */
/* Kernels for the rules of docs/semantics.md that no other test shows. */
#ifndef TESTS_SEMANTICS_KERNELS_H
#define TESTS_SEMANTICS_KERNELS_H
#include "../device/good.h"

/* sizeof the ranks of a block, a tile, a cluster and the grid. */
CGX_KERNEL_DECLARE(sem_types_of_ranks, (int *, out))
/* Thread 5 alone makes a tile of 4: rank, size, meta rank, meta size. */
CGX_KERNEL_DECLARE(sem_tile_alone, (int *, out))

/* ---- clusters ---- */
typedef struct {
    int rank, threads, block_rank, blocks, mapped;
    cgx_dim3 dim_threads, dim_blocks, block_index, group_index;
    int64_t grid_rank, grid_block_rank, cluster_rank, clusters;
    cgx_dim3 dim_clusters, cluster_index;
} sem_cluster_view;
CGX_KERNEL_DECLARE(sem_cluster_places, (sem_cluster_view *, out))
/* Odd threads end at once, or all but the first block of each cluster. The others see what thread 0 of the first block
 * writes, three times. */
CGX_KERNEL_DECLARE(sem_ended_in_cluster, (int, blocks_end), (int *, out))
/* Each block counts the threads of its cluster that have come, by atomics; no other memory is ordered. */
CGX_KERNEL_DECLARE(sem_sync_execution, (int *, counts), (int *, out))
/* Each block's barrier is arrived at by the threads of the block before it. */
CGX_KERNEL_DECLARE(sem_neighbour_barrier, (int *, out))

/* ---- progress: blocks of 128; threads 0 to 63 wait for thread 64 ---- */
enum { SEM_LOAD, SEM_EXCHANGE, SEM_COMPARE, SEM_TWO_LOADS, SEM_POLLS };
enum { SEM_WAIT_THREADS = 128 };
CGX_KERNEL_DECLARE(sem_flag, (int, way), (int, in_shared), (int *, flags), (int *, data), (int *, out))
/* The thread that waits is in the block before. */
CGX_KERNEL_DECLARE(sem_flag_of_next_block, (int *, flags), (int *, data), (int *, out))
/* A single-pass scan: every block waits for the block before. */
CGX_KERNEL_DECLARE(sem_look_back, (int *, flags), (int *, prefix), (int *, out))
/* One thread of each 64 adds ROUNDS times to *counter under a lock. */
CGX_KERNEL_DECLARE(sem_lock, (int, rounds), (int *, lock), (int *, counter))
/* Thread 5 ends and does not arrive. */
CGX_KERNEL_DECLARE(sem_owed_arrival, (int *, out))

/* ---- misuse: thread 3 of block (1, 0, 0), as in misuse_kernels.h ---- */
#define FOREACH_SEM_MISUSE(X)                                     \
    X(SECOND_ARRIVE, "a second barrier_arrive")                   \
    X(SECOND_WAIT, "a second one with the same token")            \
    X(WAIT_ALONE, "without barrier_arrive")                       \
    X(OLD_TOKEN, "good for its own phase and the next")           \
    X(INIT_TWICE, "initialised again without cgx_mbarrier_inval") \
    X(OVERWRITTEN, "written without cgx_mbarrier_inval")          \
    X(IN_GLOBAL, "aligned 64-bit word in shared memory")          \
    X(UNALIGNED, "aligned 64-bit word in shared memory")          \
    X(ALIGNED_SIZE, "not aligned as promised")                    \
    X(ALIGNED_DESTINATION, "not aligned as promised")             \
    X(ALIGNED_SOURCE, "not aligned as promised")                  \
    X(ALIGNED_TO_3, "not aligned as promised")                    \
    X(PIPELINE_SIZE, "4, 8 or 16 bytes")                          \
    X(PIPELINE_ALIGNMENT, "both pointers aligned")                \
    X(PIPELINE_ZFILL, "zfill within")                             \
    X(STORE_SIZE, "multiples of 16")                              \
    X(MAP_RANK, "no block of this rank")                          \
    X(MAP_NEGATIVE, "no block of this rank")                      \
    X(MAP_ADDRESS, "not in the block's shared memory")            \
    X(QUERY_ADDRESS, "in no shared memory of the cluster")        \
    X(GRID_REDUCE, "not cooperative")
enum {
#define SEM_ENUMERATOR(name, text) SEM_##name,
    FOREACH_SEM_MISUSE(SEM_ENUMERATOR)
#undef SEM_ENUMERATOR
        SEM_MISUSES
};
CGX_KERNEL_DECLARE(sem_misuse, (int, which), (char *, memory), (int *, out))
/* A thread tests the parity of a phase that is two behind: no error, the answer for the phase of that parity. */
CGX_KERNEL_DECLARE(sem_old_parity, (int *, out))

/* ---- asynchronous copies ---- */
/* Four numbers before the wait and four after it, of each way: what is read before is the copy's, so this is a race
 * by the rules, for devices where its outcome is known. */
enum { SEM_GROUP, SEM_THREAD, SEM_UNCOMMITTED, SEM_ZEROS, SEM_BULK, SEM_STORE, SEM_REDUCED, SEM_WAYS };
CGX_KERNEL_DECLARE(sem_before_the_wait, (int, way), (const cgx_int4 *, in), (cgx_int4 *, out), (cgx_int4 *, stored))
/* The thread's own stages and the group's are counted together. */
CGX_KERNEL_DECLARE(sem_stages, (const cgx_int4 *, in), (cgx_int4 *, out))
/* Every size to 63 and every place, one thread a copy; then by the group with promises of 1, 2, 4, 8, 16 and 32. */
CGX_KERNEL_DECLARE(sem_any_size, (const unsigned char *, in), (unsigned char *, out))
CGX_KERNEL_DECLARE(sem_aligned, (int, to_count), (int, from_count), (const cgx_int4 *, in), (cgx_int4 *, out))
/* Bulk stores in two stages. */
CGX_KERNEL_DECLARE(sem_bulk_store, (int *, out))

/* ---- collectives ---- */
/* The operator writes down what it is given: (ab). */
typedef struct {
    char text[32];
} sem_text;
CGX_KERNEL_DECLARE(sem_written_order, (int, of_cluster), (sem_text *, out))
typedef struct {
    float reduced, inclusive, exclusive, largest;
    int64_t sum;
} sem_wide;
CGX_KERNEL_DECLARE(sem_collectives_of_clusters, (const float *, in), (sem_wide *, out))
CGX_KERNEL_DECLARE(sem_collectives_of_the_grid, (const float *, in), (sem_wide *, out))

/* ---- updates: tiles of SIZE or, with 0, the block, one after the other on the same atomics ---- */
#define FOREACH_SEM_UPDATED(X) \
    X(i32, int32_t) X(u32, uint32_t) X(i64, int64_t) X(u64, uint64_t) X(f32, float) X(f64, double)
#define DECLARE_UPDATES(s, T)                                                                           \
    CGX_KERNEL_DECLARE(sem_updates_##s, (int, size), (const T *, in), (T *, atomics), (T *, inclusive), \
                       (T *, exclusive))
FOREACH_SEM_UPDATED(DECLARE_UPDATES)
/* A value of two bytes and one of twelve, stored by reduce_store_async. */
CGX_KERNEL_DECLARE(sem_store_any_type, (short *, least), (sem_text *, text))

/* ---- atomics: out gets what each operation returned, then what was left ---- */
enum { SEM_ATOMIC_STEPS = 12 };
#define FOREACH_SEM_ATOMIC(X) FOREACH_SEM_UPDATED(X)
#define DECLARE_ATOMICS(s, T) \
    CGX_KERNEL_DECLARE(sem_atomics_##s, (int, scope), (int, in_shared), (T *, place), (T *, out))
FOREACH_SEM_ATOMIC(DECLARE_ATOMICS)
CGX_KERNEL_DECLARE(sem_atomic_bits, (int, scope), (uint32_t *, p), (uint64_t *, q), (uint64_t *, out))
/* Each A with each B: what fetch_min and fetch_max leave, float and double. */
CGX_KERNEL_DECLARE(sem_atomic_numbers, (const float *, a), (const float *, b), (float *, out), (double *, wide))
/* All threads of all blocks at the same places. */
typedef struct {
    int sum, least, most;
    unsigned mask;
    int64_t wide;
    float real;
    double precise;
} sem_totals;
CGX_KERNEL_DECLARE(sem_concurrent, (sem_totals *, totals))
#endif

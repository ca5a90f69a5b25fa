/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CLUSTER_KERNELS_H
#define TESTS_CLUSTER_KERNELS_H
#include <cgx.h>

/* What a thread is told of its cluster and of the grid of clusters. */
typedef struct {
    int rank, size, block_rank, blocks, own_rank_of_shared;
    cgx_dim3 dim_threads, dim_blocks, block_index;
    int64_t cluster_rank, clusters, grid_block_rank, grid_rank;
    cgx_dim3 dim_clusters, cluster_index, group_index;
} cluster_answers;
CGX_KERNEL_DECLARE(cluster_queries, (cluster_answers *, out))

/* Each block writes, waits and reads every other block's shared memory. WAY: of waiting. */
enum { CLUSTER_SYNC, CLUSTER_ARRIVE_WAIT, CLUSTER_EXECUTION, CLUSTER_WAYS };
CGX_KERNEL_DECLARE(cluster_neighbours, (int, way), (int, rounds), (int *, bad))
/* Writes into the next block, and atomics on block 0's counter. */
CGX_KERNEL_DECLARE(cluster_writes, (int, rounds), (int *, out))
/* Threads end before the barrier: rank R of block B when (R + B) % 3 is 0, and some whole blocks if BLOCKS_TOO. */
CGX_KERNEL_DECLARE(cluster_exits, (int, blocks_too), (int, split), (int *, out))
/* mbarriers of the other blocks: everybody arrives at everybody's. */
CGX_KERNEL_DECLARE(cluster_remote_arrive, (int, rounds), (int *, out))
/* A block hands a value round the ring through the next one's barrier and memory. */
CGX_KERNEL_DECLARE(cluster_ring, (int, rounds), (int *, out))
/* Work of unequal length between the halves of many barriers of block, cluster and (when GRID) grid. */
CGX_KERNEL_DECLARE(split_barriers, (int, rounds), (int *, out))
CGX_KERNEL_DECLARE(split_barriers_grid, (int, rounds), (int *, counters), (int *, out))
/* A histogram whose bins are spread over the cluster's shared memory. */
enum { BINS = 240 };
CGX_KERNEL_DECLARE(cluster_histogram, (int, n), (const int *, in), (int *, bins))
#endif

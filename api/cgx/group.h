/* SPDX-License-Identifier: MIT */
/* Groups of threads: this block, this grid, tiles, coalesced groups; ranks, synchronisation, shuffles, votes, partitions.
 *
 * Source of the rules: CUDA Programming Guide, section 5.6.3.1 (groups), 5.6.3.3 (partitions), 5.6.3.6
 * (synchronisation). The functions here are macros in C, because one name takes groups and values of any type; each is
 * used as a function of the type shown. "Collective" means: every thread of the group must call it, and until all have
 * none returns; a member that has ended its kernel, or takes another branch for good, leaves the others waiting, which the
 * CPU engines report as CGX_ERROR_DEADLOCK with the absent ranks. Values may be of any type up to 32 bytes.
 *
 * Types, all passed by value, none meant to be stored in memory that outlives the kernel:
 *   cgx_block                   every thread of the block
 *   cgx_cluster                 every thread of the cluster; of the block, in a launch without clusters
 *   cgx_grid                    every thread of the launch
 *   cgx_tile_1 ... cgx_tile_1024  2^k consecutive ranks of a block or tile
 *   cgx_tile                    the same with a size known at run time
 *   cgx_coalesced               a subset of a warp
 *   cgx_group                   any of block, tile and coalesced
 * Ranks and sizes are int; for the grid int64_t. */
#ifndef CGX_GROUP_H
#define CGX_GROUP_H
#include <cgx/kernel.h>

/* ---- making groups ---- */

/* cgx_block cgx_this_block(void), cgx_grid cgx_this_grid(void): in a kernel's body only; a device function receives the
 * group as an argument. Guide 5.6.3.1.1, 5.6.3.1.3. */
#define cgx_this_block() cgx__this_block()
#define cgx_this_grid() cgx__this_grid()
/* cgx_cluster cgx_this_cluster(void): the blocks that a launch's cgx_config.cluster put together. Guide 5.6.3.1.2. */
#define cgx_this_cluster() cgx__this_cluster()
/* cgx_coalesced cgx_coalesced_threads(void): threads of the caller's warp that are at this call together. Which ones is the
 * device's choice; on the CPU all that come here before the others wait or end. Guide 5.6.3.1.5. */
#define cgx_coalesced_threads() cgx__coalesced_threads()
/* Memory for tiles above the warp, as some devices need; accepted everywhere, costs nothing here. CGX_BLOCK_TILE_MEMORY(name,
 * most threads of a block) declares it in shared memory, cgx_this_block_with(name) is collective over the block. Guide
 * 5.6.3.1.4, block_tile_memory. */
#define CGX_BLOCK_TILE_MEMORY(name, threads) CGX__TILE_MEMORY(name, threads)
#define cgx_this_block_with(memory) ((void)(memory), cgx__this_block())

/* cgx_tile_N cgx_tiled_partition(block or tile, N), N a literal power of two up to 1024: N consecutive ranks, row-major. The
 * parent's size must be a multiple of N, else misuse. Not collective here, though the guide lets it be (5.6.3.3.1). */
#define cgx_tiled_partition(parent, N) CGX__CAT(cgx__tiled_, N)(cgx__any(parent), __LINE__)
/* cgx_tile cgx_tiled_partition_n(block or tile, int n): the same with a run-time size. */
#define cgx_tiled_partition_n(parent, n) cgx__tiled_n(cgx__any(parent), (n), __LINE__)
/* cgx_coalesced cgx_labeled_partition(tile up to 64 or coalesced, any integer label): threads of equal label form a group;
 * groups are numbered by their lowest member. Collective over the parent. Guide 5.6.3.3.2. */
#define cgx_labeled_partition(parent, label) cgx__labeled(cgx__any(parent), (uint64_t)(label), __LINE__)
/* The same for a predicate: meta rank is the predicate, of 2 groups; 0 of 1 when all agree. Guide 5.6.3.3.3. */
#define cgx_binary_partition(parent, predicate) cgx__binary(cgx__any(parent), (predicate) ? 1 : 0, __LINE__)
/* cgx_group cgx_as_group(g): erased, for functions that take any group. */
#define cgx_as_group(g) cgx__as_group(g)

/* ---- who am I: any thread may ask, nothing is waited for ---- */

/* Rank of the calling thread in the group, 0 to cgx_num_threads - 1: x fastest, then y, then z; in the grid block by
 * block. int, int64_t for the grid. */
#define cgx_thread_rank(g) cgx__thread_rank(g)
#define cgx_num_threads(g) cgx__num_threads(g)
#define cgx_size(g) cgx__num_threads(g)
/* Number of groups the parent was split into, and the rank of this one among them. */
#define cgx_meta_group_size(g) cgx__meta_size(cgx__any(g))
#define cgx_meta_group_rank(g) cgx__meta_rank(cgx__any(g))

/* cgx_dim3, of a cgx_block: the thread's index in the block, the block's index in the grid, the block's shape. */
#define cgx_thread_index(block) cgx__thread_index(block)
#define cgx_group_index(block) cgx__group_index(block)
/* cgx_dim3, of a block or cluster: its shape in threads. */
#define cgx_dim_threads(g) cgx__dim_threads(g)
#define cgx_group_dim(g) cgx__dim_threads(g)
/* Of a cluster or grid: its shape in blocks, the caller's block's index (cgx_dim3) and rank in it, the number of blocks (int,
 * int64_t for the grid). */
#define cgx_dim_blocks(g) cgx__dim_blocks(g)
#define cgx_block_index(g) cgx__block_index(g)
#define cgx_block_rank(g) cgx__block_rank(g)
#define cgx_num_blocks(g) cgx__num_blocks(g)
/* Of a grid: its shape in clusters, the caller's cluster's index (cgx_dim3), rank, and the number of clusters (int64_t). */
#define cgx_dim_clusters(grid) cgx__dim_clusters(grid)
#define cgx_cluster_index(grid) cgx__cluster_index(grid)
#define cgx_cluster_rank(grid) cgx__cluster_rank_in_grid(grid)
#define cgx_num_clusters(grid) cgx__num_clusters(grid)
/* T *cgx_map_shared_rank(cluster, T *p, int rank): where block RANK of the cluster has what the caller's block has at p, in
 * shared memory. Valid while that block runs: synchronise the cluster before the first and after the last access. */
#define cgx_map_shared_rank(cluster, p, rank) cgx__map_shared_rank((cluster), (p), (rank), __LINE__)
/* int: the rank of the block whose shared memory p is in. */
#define cgx_query_shared_rank(cluster, p) cgx__query_shared_rank((cluster), (p), __LINE__)
/* bool: whether this grid may synchronise, which a cooperative launch allows. Guide 5.6.3.1.3. */
#define cgx_is_valid(grid) cgx__grid_is_valid(grid)
/* bool: true in one thread of the group, the one with rank 0. */
#define cgx_elect(g) (cgx__thread_rank(g) == 0)

/* ---- synchronisation (guide 5.6.3.6) ---- */

/* void cgx_sync(g): waits until all threads of the group are here; what each wrote before is visible to all after. Block,
 * cluster, and tiles up to the warp: threads that have ended count as arrived. Wider tiles, the grid, coalesced groups:
 * every member must come. Grid: cooperative launches only; in a plain launch it is misuse, which ends the kernel with
 * CGX_ERROR_MISUSE. */
#define cgx_sync(g) cgx__sync(cgx__any_or_grid(g), __LINE__)
/* void cgx_sync_execution(cluster): waits as cgx_sync does but orders no memory. */
#define cgx_sync_execution(cluster) cgx__sync_execution((cluster), __LINE__)
/* cgx_token cgx_barrier_arrive(g); void cgx_barrier_wait(g, cgx_token), of a block, cluster or grid: sync in two halves. Each
 * thread does both, once a phase, with no other collective of the group in between. Arrive releases, wait acquires. */
#define cgx_barrier_arrive(g) cgx__barrier_arrive(cgx__any_or_grid(g), __LINE__)
#define cgx_barrier_wait(g, token) cgx__barrier_wait(cgx__any_or_grid(g), (token), __LINE__)

/* ---- shuffles: collective, block, tile and coalesced groups (guide 5.6.3.1.4) ---- */

/* T cgx_shfl(g, T v, int source): the v of rank SOURCE, taken modulo the size. */
#define cgx_shfl(g, v, source) CGX__SHUFFLE(g, v, SHFL, source)
/* From the rank that much lower or higher; a thread without such a rank gets its own v. */
#define cgx_shfl_up(g, v, delta) CGX__SHUFFLE(g, v, SHFL_UP, delta)
#define cgx_shfl_down(g, v, delta) CGX__SHUFFLE(g, v, SHFL_DOWN, delta)
/* From rank ^ MASK; its own v where the group has no such rank. */
#define cgx_shfl_xor(g, v, mask) CGX__SHUFFLE(g, v, SHFL_XOR, mask)

/* ---- votes and matches: collective ---- */

/* int: non-zero if the predicate is, for any or for all threads of a block, tile or coalesced group. */
#define cgx_any(g, predicate) cgx__vote(cgx__any(g), CGX__OP_ANY, !!(predicate), __LINE__)
#define cgx_all(g, predicate) cgx__vote(cgx__any(g), CGX__OP_ALL, !!(predicate), __LINE__)
/* cgx_mask, groups up to 64 threads: bit i is the predicate of rank i. A larger tile does not compile. */
#define cgx_ballot(g, predicate) cgx__ballot(cgx__narrow(g), !!(predicate), __LINE__)
/* cgx_mask of the ranks whose v has the same bytes as the caller's. */
#define cgx_match_any(g, v) CGX__MATCH(g, v, MATCH_ANY, NULL)
/* All ranks and *same = 1 if every v has the same bytes, else 0 and *same = 0. */
#define cgx_match_all(g, v, same) CGX__MATCH(g, v, MATCH_ALL, same)

/* Every tile size. Each gives a type cgx_tile_N. For users' macros: what X writes may call functions of groups. Those are macros
 * over the same list in C, and no macro expands inside itself, so the library has a list of its own. */
#define CGX_FOREACH_TILE(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64) X(128) X(256) X(512) X(1024)
#define CGX__FOREACH_TILE(X) CGX__FOREACH_NARROW_TILE(X) CGX__FOREACH_WIDE_TILE(X)
#define CGX__FOREACH_NARROW_TILE(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64)
#define CGX__FOREACH_WIDE_TILE(X) X(128) X(256) X(512) X(1024)

#define CGX__SUM(N) +N
CGX__STATIC_ASSERT((0 CGX_FOREACH_TILE(CGX__SUM)) == (0 CGX__FOREACH_TILE(CGX__SUM)), "both lists have the same sizes");
#undef CGX__SUM

/* Bit i is rank i of the group. 64 bits everywhere, whatever the warp. */
typedef uint64_t cgx_mask;

#if defined(CGX_PASS_CPU)
#include <cgx/cpu_group.h>
#else
#include <cgx/gpu_group.h>
#endif
#endif

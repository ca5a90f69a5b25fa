/* SPDX-License-Identifier: MIT */
/* The examples of CUDA's Programming Guide, section 5.6, numbered as in PARITY. */
#ifndef TESTS_GUIDE_KERNELS_H
#define TESTS_GUIDE_KERNELS_H
#include <cgx.h>

/* 1: thread 0 loads a number into shared memory for everybody: out[rank of the grid] = *in + rank in the block. */
CGX_KERNEL_DECLARE(guide_leader_loads, (const int *, in), (int *, out))
/* 2: what a thread sees of its tiles of 32 and of 4, and the ranks of the block that their first threads have. */
typedef struct {
    int rank, size, meta_rank, meta_size, first;
} guide_place;
CGX_KERNEL_DECLARE(guide_tiles_of_32_and_4, (guide_place *, of_32), (guide_place *, of_4))
/* 3: a tile of 128 threads with memory of its own: what comes from the thread opposite in the tile, and a sum. */
enum { GUIDE_TILE_THREADS = 256 };
CGX_KERNEL_DECLARE(guide_tile_of_128, (const int *, in), (int *, opposite), (int *, sum))
/* 4: the threads for which in[rank] is not 0 form a group in a branch; the others get size 0. */
typedef struct {
    int rank, size, meta_rank, meta_size, first, sum;
} guide_active;
CGX_KERNEL_DECLARE(guide_coalesced_branch, (const int *, in), (guide_active *, out))
/* 5 and 6: N numbers through shared memory, GUIDE_CHUNK at a time, in one stage or two. Every chunk comes out
 * reversed. */
enum { GUIDE_CHUNK = 128 };
CGX_KERNEL_DECLARE(guide_one_stage, (int, n), (const int *, in), (int *, out))
CGX_KERNEL_DECLARE(guide_two_stages, (int, n), (const int *, in), (int *, out))
/* 7: odd and even numbers of each tile of 32 apart: the number of its kind in the tile, and their sum. */
CGX_KERNEL_DECLARE(guide_odd_even, (const int *, in), (int *, count), (int *, sum))
/* 8: reductions of a tile of 32. */
typedef struct {
    int sum, custom;
    float real;
    cgx_int4 vector;
} guide_sums;
CGX_KERNEL_DECLARE(guide_reductions, (const int *, in), (guide_sums *, out))
/* 9: an update and its scan at once, and the guide's words for it step by step: both of one tile of 32, with an
 * operator that does not commute. */
typedef struct {
    uint16_t a, b; /* x -> a x + b modulo 2^16 */
} guide_affine;
typedef struct {
    guide_affine inclusive, inclusive_by_steps, exclusive, exclusive_by_steps;
} guide_updates;
CGX_KERNEL_DECLARE(guide_scan_update, (const guide_affine *, in), (guide_affine *, atomics), (guide_updates *, out))
/* 10: those of the COUNT numbers that are no multiple of 3, in their order; *total is how many. By the block, or in
 * each tile of 32 a part of its own: COUNT numbers each. */
CGX_KERNEL_DECLARE(guide_compaction, (int, by_tile), (int, count), (int *, in), (int *, out), (int *, totals))
/* 11: tiles allocate from one buffer in dynamic shared memory; the block's buffer is copied to OUT. */
enum { GUIDE_BUFFER_TILES = 4, GUIDE_BUFFER = GUIDE_BUFFER_TILES * 48 };
CGX_KERNEL_DECLARE(guide_buffer_space, (int *, out), (int *, used), (int *, offsets))
/* 12: each block fills its shared memory and reads that of the next block in its cluster. */
enum { GUIDE_CLUSTER_THREADS = 64 };
CGX_KERNEL_DECLARE(guide_cluster, (int *, out), (int *, local))
/* 13 to 15: every thread of the grid sees what every block wrote before the grid synchronised. */
CGX_KERNEL_DECLARE(guide_grid_sync, (int *, shares), (int *, out))
/* 16: whether the grid may synchronise. */
CGX_KERNEL_DECLARE(guide_is_valid, (int *, out))
/* 17: one step of the guide's permute: every block has N numbers in dynamic shared memory, and moves the even places
 * to the front. */
CGX_KERNEL_DECLARE(guide_permute, (int, n), (int *, data))
#endif

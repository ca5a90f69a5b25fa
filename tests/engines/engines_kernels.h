/* SPDX-License-Identifier: MIT */
/* Kernels whose results both engines of the CPU must agree on, bit for bit. Each reads one float a thread and writes one. */
#ifndef ENGINES_KERNELS_H
#define ENGINES_KERNELS_H
#include <cgx.h>

/* X(name, engine that a build with the plug-in must choose): "any" where that is not the point. */
#define FOREACH_ENGINE_KERNEL(X)         \
    X(block_reduce, "compiled")          \
    X(block_scan, "compiled")            \
    X(tile_shuffles, "compiled")         \
    X(reduce_collective, "compiled")     \
    X(tiles_collective, "compiled")      \
    X(votes_and_loops, "compiled")       \
    X(matrix_tiles, "compiled")          \
    X(private_arrays, "compiled")        \
    X(helpers, "compiled")               \
    X(early_exit, "compiled")            \
    X(ragged_loop, "compiled")           \
    X(first_warp, "compiled")            \
    X(ring, "compiled")                  \
    X(declared_ring, "compiled")         \
    X(polling_warps, "compiled")         \
    X(warps_leave, "compiled")           \
    X(warps_apart, "compiled")           \
    X(pointers, "compiled")              \
    X(declared_pointers, "compiled")     \
    X(appended, "compiled")              \
    X(labels, "compiled")                \
    X(in_a_switch, "compiled")           \
    X(rounds_of_ones_own, "compiled")    \
    X(agreed_by_value, "compiled")       \
    X(many_conditions, "compiled")       \
    X(whole_blocks_leave, "compiled")    \
    X(kept_over_a_barrier, "compiled")   \
    X(read_before_a_barrier, "compiled") \
    X(declared_line, "compiled")         \
    X(declared_plane, "compiled")        \
    X(neighbours, "compiled")            \
    X(rows_read_alike, "compiled")       \
    X(many_sums, "compiled")             \
    X(kept_and_replaced, "compiled")     \
    X(exchanges, "compiled")             \
    X(declared_exchanges, "compiled")    \
    X(wrapping_strides, "compiled")      \
    X(small_arrays, "compiled")          \
    X(declared_small_arrays, "compiled") \
    X(plain_loop, "fibers")

#define DECLARE(name, engine) CGX_KERNEL_DECLARE(name, (int, n), (const float *, in), (float *, out))
FOREACH_ENGINE_KERNEL(DECLARE)
#undef DECLARE
#endif

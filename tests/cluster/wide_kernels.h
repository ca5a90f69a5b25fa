/* SPDX-License-Identifier: MIT */
#ifndef TESTS_WIDE_KERNELS_H
#define TESTS_WIDE_KERNELS_H
#include "../device/values.h"

/* Reduce and scans of the cluster, or of the grid: of every operator, ROUNDS times one after the other with the values
 * turned by one place each. out[((round * rows + row) * 3 + which) * threads of the grid + rank] */
enum { WIDE_REDUCE, WIDE_INCLUSIVE, WIDE_EXCLUSIVE, WIDES };
#define FOREACH_WIDE_INTEGER(X) X(u8, uint8_t) X(i32, int32_t) X(u64, uint64_t)
#define FOREACH_WIDE_FLOAT(X) X(f16, cgx_half) X(f32, float) X(f64, double)
#define FOREACH_WIDE(X) FOREACH_WIDE_INTEGER(X) FOREACH_WIDE_FLOAT(X)
#define DECLARE_WIDE(s, T)                                                           \
    CGX_KERNEL_DECLARE(wide_cluster_##s, (int, rounds), (const T *, in), (T *, out)) \
    CGX_KERNEL_DECLARE(wide_grid_##s, (int, rounds), (const T *, in), (T *, out))
FOREACH_WIDE(DECLARE_WIDE)
/* User operators that do not commute. */
CGX_KERNEL_DECLARE(wide_cluster_matrix, (int, rounds), (const matrix *, in), (matrix *, out))
CGX_KERNEL_DECLARE(wide_grid_matrix, (int, rounds), (const matrix *, in), (matrix *, out))
CGX_KERNEL_DECLARE(wide_grid_affine, (int, rounds), (const affine *, in), (affine *, out))
/* Collectives of block, cluster and grid in turn. */
CGX_KERNEL_DECLARE(wide_mixed, (int, rounds), (int *, bad))
/* The grid's ones in a plain launch, and one that a thread does not come to. */
CGX_KERNEL_DECLARE(wide_in_plain_launch, (int *, out))
CGX_KERNEL_DECLARE(wide_absent, (int, grid), (int *, out))
#endif

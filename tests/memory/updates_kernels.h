/* SPDX-License-Identifier: MIT */
#ifndef TESTS_UPDATES_KERNELS_H
#define TESTS_UPDATES_KERNELS_H
#include "../device/values.h"

/* Types of 4 and 8 bytes, and all others that a plain store takes. */
#define FOREACH_UPDATE_INTEGER(X) X(i32, int32_t) X(u32, uint32_t) X(i64, int64_t) X(u64, uint64_t)
#define FOREACH_UPDATE_FLOAT(X) X(f32, float) X(f64, double)
#define FOREACH_UPDATE(X) FOREACH_UPDATE_INTEGER(X) FOREACH_UPDATE_FLOAT(X)
#define FOREACH_STORE_ONLY(X) X(i8, int8_t) X(u8, uint8_t) X(i16, int16_t) X(u16, uint16_t) X(f16, cgx_half)

/* Which groups: the block, tiles of 1 to 1024, what a binary partition of tiles of 32 gives (the predicate is in bit 0
 * of `labels`). Group I of the block has cell I of each operator and operation: cells[(row * UPDATES + operation) *
 * threads + I] goes from a start value to what the operation makes of it. `seen` is the cell as each thread reads it
 * after a sync of the group, `out` what the scans return: [(row * UPDATES + operation) * threads + rank]. */
enum { UPDATE_REDUCE, UPDATE_STORE_ATOMIC, UPDATE_STORE, UPDATE_INCLUSIVE, UPDATE_EXCLUSIVE, UPDATES };
enum { GROUP_BLOCK = 0, GROUP_COALESCED = -1 };
#define DECLARE_UPDATE(s, T)                                                                                    \
    CGX_KERNEL_DECLARE(update_##s, (int, kind), (const unsigned char *, labels), (const T *, in), (T *, cells), \
                       (T *, seen), (T *, out))
FOREACH_UPDATE(DECLARE_UPDATE)
#define DECLARE_STORE(s, T)                                                                                    \
    CGX_KERNEL_DECLARE(store_##s, (int, kind), (const unsigned char *, labels), (const T *, in), (T *, cells), \
                       (T *, seen))
FOREACH_STORE_ONLY(DECLARE_STORE)

/* User operators: affine maps (8 bytes, not commutative) by all five, matrices (32 bytes) by the plain store. */
CGX_KERNEL_DECLARE(update_affine, (int, kind), (const unsigned char *, labels), (const affine *, in), (affine *, cells),
                   (affine *, seen), (affine *, out))
CGX_KERNEL_DECLARE(store_matrix, (int, kind), (const unsigned char *, labels), (const matrix *, in), (matrix *, cells),
                   (matrix *, seen))

/* All groups of the grid at one word. */
CGX_KERNEL_DECLARE(update_together, (int, size), (const int *, wanted), (int *, words), (int *, first))
/* One after another, with other synchronisation between: what has to be there after which wait. */
enum { UPDATE_STEPS = 8 };
CGX_KERNEL_DECLARE(update_steps, (int *, out))
/* A reduction of a block of the grid is there for all blocks after a sync of the grid. */
CGX_KERNEL_DECLARE(update_then_grid, (int, rounds), (int *, words), (int *, bad))
#endif

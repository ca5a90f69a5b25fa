/* SPDX-License-Identifier: MIT */
/* One kernel file, compiled several ways into one program: every variant has its own names. */
#ifndef TESTS_BITWISE_KERNELS_H
#define TESTS_BITWISE_KERNELS_H
#include "../device/values.h"

/* x -> a x + b, of floats: a product and a sum that compilers like to contract. */
typedef struct {
    float a, b;
} line;

/* What a thread gives. No padding here or below: files of results are compared. */
typedef struct {
    double p, q;
    matrix m;
    float x, y;
    line l;
} bitwise_in;
/* The three collectives of a value, then the other operators. The products x * y and p * q are the user's code: the library's
 * additions must not take them in. */
enum { REDUCED, INCLUSIVE, EXCLUSIVE, COLLECTIVES };
typedef struct {
    double sum[COLLECTIVES];
    matrix product[COLLECTIVES];
    line composed[COLLECTIVES];
    float sum_f[COLLECTIVES], least, most;
    int rank; /* in the group */
} bitwise_out;

/* Kinds of group. LABELED: the threads of a tile of 32 with the same rank % 5. BRANCH: threads with rank % 64 < 32 and
 * rank % 3 != 0, which is a part of one warp whether it has 32 lanes or 64. TYPED: a tile of 16 whose size the compiler
 * knows. */
enum { KIND_BLOCK, KIND_TILE, KIND_LABELED, KIND_BRANCH, KIND_TYPED };
CGX_UNUSED static const int labels = 5;
#define IN_BRANCH(rank) ((rank) % 64 < 32 && (rank) % 3 != 0)

/* USER is x * y + b, contracted or not as the compiler is told. */
#define DECLARE_BITWISE(variant)                                                                                   \
    CGX_KERNEL_DECLARE(narrow_##variant, (int, kind), (int, size), (const bitwise_in *, in), (bitwise_out *, out), \
                       (float *, user))                                                                            \
    CGX_KERNEL_DECLARE(cluster_##variant, (const bitwise_in *, in), (bitwise_out *, out))                          \
    CGX_KERNEL_DECLARE(grid_##variant, (const bitwise_in *, in), (bitwise_out *, out))
#endif

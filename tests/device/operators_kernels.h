/* SPDX-License-Identifier: MIT */
#ifndef TESTS_OPERATORS_KERNELS_H
#define TESTS_OPERATORS_KERNELS_H
#include "values.h"

/* User operators of FOREACH_USER_OPERATOR: reduce, inclusive and exclusive scan of every thread, out[k * threads + rank],
 * in tiles of SIZE or, with size 0, in the block. */
#define FOREACH_USER_OPERATOR(X) X(compose, affine) X(product, matrix) X(join, run) X(argmax, argmax_t) X(left, int64_t)
#define DECLARE_USER(name, T) CGX_KERNEL_DECLARE(user_##name, (int, size), (const T *, in), (T *, out))
FOREACH_USER_OPERATOR(DECLARE_USER)
/* The same in coalesced groups: odd and even threads of each tile of 32. */
#define DECLARE_USER_SPLIT(name, T) CGX_KERNEL_DECLARE(split_##name, (const T *, in), (T *, out))
FOREACH_USER_OPERATOR(DECLARE_USER_SPLIT)
#endif

/* SPDX-License-Identifier: MIT */
/* What the project wants to read like, run: a kernel with its launch, collectives, a copy that overlaps with work,
 * a producer with consumers. */
#ifndef TESTS_NORTHSTAR_KERNELS_H
#define TESTS_NORTHSTAR_KERNELS_H
#include "values.h"

CGX_KERNEL_DECLARE(saxpy, (int64_t, n), (float, a), (const float *, x), (float *, y))

typedef struct {
    float sum;
    int slot;
    argmax_t best;
    int same;
} star_results;
CGX_KERNEL_DECLARE(star_collectives, (const float *, values), (star_results *, out))

CGX_KERNEL_DECLARE(star_overlap, (int64_t, tiles), (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(star_pipeline, (int, items), (const float *, in), (float *, out))
#endif

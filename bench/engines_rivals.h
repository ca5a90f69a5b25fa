/* SPDX-License-Identifier: MIT */
#ifndef ENGINES_RIVALS_H
#define ENGINES_RIVALS_H
#include "engines_data.h"

/* The kernel's own algorithm as loops over the threads of a block, broken up at the barriers. run_time_: the size of a block is NX * NY;
 * constant_: it is a constant. */
#define ENGINES_FISSION(X) \
    X(triad)               \
    X(sgemm) X(sgemm_tiles) X(reduce) X(scan) X(shuffle) X(warps) X(stencil) X(transpose) X(histogram) X(jacobi) X(ring)
#define ENGINES_DECLARE(name) engines_part_fn run_time_##name, constant_##name;
ENGINES_FISSION(ENGINES_DECLARE)
#undef ENGINES_DECLARE

/* The same result by plain loops, as one writes them for OpenMP. */
#define ENGINES_PLAIN(X) \
    X(triad) X(sgemm) X(sums_256) X(sums_32) X(scan) X(stencil) X(transpose) X(histogram) X(jacobi) X(ring)
#define ENGINES_DECLARE(name) engines_part_fn plain_##name;
ENGINES_PLAIN(ENGINES_DECLARE)
#undef ENGINES_DECLARE
#endif

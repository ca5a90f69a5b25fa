/* SPDX-License-Identifier: MIT */
/* Quicksort that launches itself: a block splits its range at a pivot and launches a block for each side. */
#ifndef EXAMPLES_QUICKSORT_KERNELS_H
#define EXAMPLES_QUICKSORT_KERNELS_H

#include <cgx.h>

enum {
    SORT_THREADS = 128,
    SORT_ITEMS = 8,
    SORT_SMALL = 1024, /* numbers that one block sorts in shared memory */
    SORT_DEPTH = 20    /* of launches, below what CUDA takes; deeper ranges are sorted by one thread */
};

/*
 * Sorts the N numbers at FROM into RESULT, which is FROM or OTHER; OTHER is room for as many. One block of SORT_THREADS threads. The first launch that is refused leaves why in *status.
 */
CGX_KERNEL_DECLARE(quicksort, (int64_t, n), (uint32_t *, from), (uint32_t *, other), (uint32_t *, result), (int, depth),
                   (cgx_status *, status))

#endif

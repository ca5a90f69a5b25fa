/* SPDX-License-Identifier: MIT */
/* Kernels of the host API's tests. */
#ifndef TESTS_HOST_KERNELS_H
#define TESTS_HOST_KERNELS_H
#include <cgx.h>

typedef struct {
    int32_t small;
    double large;
    char text[5];
} host_record;

CGX_KERNEL_DECLARE(nothing)
/* *out = value, by one thread of the grid. */
CGX_KERNEL_DECLARE(store_value, (int *, out), (int, value))
/* *counter += 1, by one thread of the grid. */
CGX_KERNEL_DECLARE(count_up, (int *, counter))
/* out[i] = out[i] * factor + term, for i below n. */
CGX_KERNEL_DECLARE(affine, (int64_t, n), (int *, out), (int, factor), (int, term))
/* One thread waits until the host sets *flag, at most ten seconds; then *out = what it saw. */
CGX_KERNEL_DECLARE(wait_for_flag, (const volatile int *, flag), (int *, out))
/* Keeps the device busy for that long. */
CGX_KERNEL_DECLARE(be_busy, (uint64_t, nanoseconds))
/* out[i] = a / b, for each thread of the grid. */
CGX_KERNEL_DECLARE(divide, (double, a), (double, b), (double *, out))
/* What each thread is told about its place: six numbers, and the ranks. */
CGX_KERNEL_DECLARE(write_place, (int *, out))
/* out[block] = sum of what the threads wrote into dynamic shared memory of n bytes. */
CGX_KERNEL_DECLARE(use_dynamic, (int, n), (unsigned *, out))
/* The same by a collective of the block. */
CGX_KERNEL_DECLARE(use_collective, (int, n), (unsigned *, out))
/* As use_dynamic, beside 1,000 static bytes. */
CGX_KERNEL_DECLARE(use_both, (int, n), (unsigned *, out))
CGX_KERNEL_DECLARE(mixed_arguments, (signed char, c), (double, d), (host_record, r), (double *, out), (short, s))
CGX_KERNEL_DECLARE(at_most_64, (int *, out))
CGX_KERNEL_DECLARE(exactly_8_4_2, (int *, out))
/* Each block adds its rank; after the grid's synchronisation each sees the sum of all. */
CGX_KERNEL_DECLARE(sum_over_grid, (int *, ranks), (int *, sums))
CGX_KERNEL_DECLARE(cooperative_at_most_64, (int *, out))
#endif

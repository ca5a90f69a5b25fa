/* SPDX-License-Identifier: MIT */
#ifndef BENCH_LAUNCH_KERNELS_H
#define BENCH_LAUNCH_KERNELS_H
#include <cgx.h>

CGX_KERNEL_DECLARE(empty)
/* Adds 1 to count[block], from one thread of each. */
CGX_KERNEL_DECLARE(count_launches, (int64_t *, count))
#endif

/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CHILDREN_KERNELS_H
#define BENCH_CHILDREN_KERNELS_H
#include <cgx.h>

/* Launches N empty blocks, or blocks that count themselves, in a stream of a kind. */
enum { CHILDREN_FREE, CHILDREN_IN_ORDER, CHILDREN_TAIL };
CGX_KERNEL_DECLARE(launch_empty, (int, n), (int, kind))
CGX_KERNEL_DECLARE(launch_counting, (int, n), (int, kind), (int64_t *, count))
/* Launches itself twice, DEPTH levels deep. */
CGX_KERNEL_DECLARE(fork_down, (int, depth))
#endif

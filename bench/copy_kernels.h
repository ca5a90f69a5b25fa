/* SPDX-License-Identifier: MIT */
#ifndef BENCH_COPY_KERNELS_H
#define BENCH_COPY_KERNELS_H
#include <cgx.h>

enum { COPY_FLOATS = 4096 }; /* 16 KiB */
/* Copies IN, two buffers of COPY_FLOATS in turn, into shared memory, STAGES times, a multiple of BETWEEN, and waits after
 * every BETWEEN copies; the last copy ends in OUT. One block. */
CGX_KERNEL_DECLARE(group_copies, (int, stages), (int, between), (const float *, in), (float *, out))
#endif

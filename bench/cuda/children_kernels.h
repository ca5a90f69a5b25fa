/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_CHILDREN_KERNELS_H
#define BENCH_CUDA_CHILDREN_KERNELS_H
#include <cgx.h>

/* Each thread launches N blocks of 32 threads, of which one adds 1 to *ran; through cgx, and as CUDA's own text has it. */
enum { CHILDREN_FREE, CHILDREN_IN_ORDER, CHILDREN_TAIL };
CGX_KERNEL_DECLARE(children_cgx, (int, n), (int, kind), (uint32_t *, ran))
CGX_KERNEL_DECLARE(children_cuda, (int, n), (int, kind), (uint32_t *, ran))
#endif

/* SPDX-License-Identifier: MIT */
#ifndef BENCH_ENGINES_KERNELS_H
#define BENCH_ENGINES_KERNELS_H
#include <cgx.h>

enum { ENGINES_TILE = 16, ENGINES_THREADS = 256 };
CGX_KERNEL_DECLARE(engines_triad, (float *, a), (const float *, b), (const float *, c), (float, s), (int, n))
CGX_KERNEL_DECLARE(engines_sgemm, (const float *, a), (const float *, b), (float *, c), (int, n))
CGX_KERNEL_DECLARE(engines_reduce, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_collective, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_scan, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_shuffle, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_stencil, (const float *, in), (float *, out), (int, n))
CGX_KERNEL_DECLARE(engines_ring, (int, stages), (const int *, in), (int *, out))
#endif

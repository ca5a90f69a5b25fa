/* SPDX-License-Identifier: MIT */
#ifndef BENCH_CUDA_LAUNCH_KERNELS_H
#define BENCH_CUDA_LAUNCH_KERNELS_H
#include <cgx.h>
CGX_KERNEL_DECLARE(nothing)
CGX_KERNEL_DECLARE(store, (uint32_t *, out), (uint32_t, value), (int64_t, unused), (double, unused_too))
#endif

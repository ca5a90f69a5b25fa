/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CUDA_KERNELS_H
#define TESTS_CUDA_KERNELS_H
#include <cgx.h>
enum { LARGE_WORDS = 25 * 1024 };
CGX_KERNEL_DECLARE(write_to, (int *, where))
CGX_KERNEL_DECLARE(large_static, (int *, out))
CGX_KERNEL_DECLARE(two_large, (int *, out))
CGX_KERNEL_DECLARE(for_another_chip, (int *, out))
/* *out = threads of the cluster. */
CGX_KERNEL_DECLARE(for_older_chip, (int *, out))
#endif

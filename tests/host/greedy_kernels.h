/* SPDX-License-Identifier: MIT */
/* A kernel that no device can run. Its file is its own, for a device compiler may refuse it. */
#ifndef TESTS_HOST_GREEDY_KERNELS_H
#define TESTS_HOST_GREEDY_KERNELS_H
#include <cgx.h>
enum { GREEDY_BYTES = 16 << 20 };
CGX_KERNEL_DECLARE(greedy, (int *, out))
#endif

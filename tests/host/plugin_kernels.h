/* SPDX-License-Identifier: MIT */
#ifndef TESTS_HOST_PLUGIN_KERNELS_H
#define TESTS_HOST_PLUGIN_KERNELS_H
#include <cgx.h>
CGX_KERNEL_DECLARE(plugin_triple, (int, n), (int *, out))
#endif

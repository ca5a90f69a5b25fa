/* SPDX-License-Identifier: MIT */
#ifndef BENCH_STACKS_KERNELS_H
#define BENCH_STACKS_KERNELS_H
#include <cgx.h>

CGX_KERNEL_DECLARE(pass, (int *, out))            /* nobody waits */
CGX_KERNEL_DECLARE(wait_once, (int *, out))       /* all wait at once */
CGX_KERNEL_DECLARE(wait_with_array, (int *, out)) /* with a kibibyte of variables each */
CGX_KERNEL_DECLARE(reduce_once, (int *, out))     /* all wait in a collective */
#endif

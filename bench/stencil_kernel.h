/* SPDX-License-Identifier: MIT */
#ifndef BENCH_STENCIL_KERNEL_H
#define BENCH_STENCIL_KERNEL_H
#include <cgx.h>

enum { STENCIL_X = 32, STENCIL_Y = 8 };

/* out = mean of a cell and its four neighbours, over SIZE x SIZE cells inside a rim of one cell; blocks of STENCIL_X by
 * STENCIL_Y threads, which divide SIZE, one thread a cell. */
CGX_KERNEL_DECLARE(stencil, (int, size), (const float *, in), (float *, out))
#endif

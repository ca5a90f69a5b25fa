/* SPDX-License-Identifier: MIT */
#ifndef ENGINES_KERNELS_H
#define ENGINES_KERNELS_H
#include <cgx.h>
#include "engines_data.h"
CGX_KERNEL_DECLARE(engines_triad, (float *, a), (const float *, b), (const float *, c), (float, s), (int, n))
CGX_KERNEL_DECLARE(engines_sgemm, (const float *, a), (const float *, b), (float *, c), (int, n))
CGX_KERNEL_DECLARE(engines_sgemm_tiles, (const float *, a), (const float *, b), (float *, c), (int, n))
CGX_KERNEL_DECLARE(engines_reduce, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_block_sum, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_scan, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_block_scan, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_shuffle, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_warp_sum, (const float *, in), (float *, out))
CGX_KERNEL_DECLARE(engines_stencil, (const float *, in), (float *, out), (int, n))
CGX_KERNEL_DECLARE(engines_stencil_declared, (const float *, in), (float *, out), (int, n))
CGX_KERNEL_DECLARE(engines_transpose, (const float *, in), (float *, out), (int, n))
CGX_KERNEL_DECLARE(engines_transpose_declared, (const float *, in), (float *, out), (int, n))
CGX_KERNEL_DECLARE(engines_histogram, (const int *, keys), (float *, out), (int, n))
CGX_KERNEL_DECLARE(engines_jacobi, (const float *, a), (const float *, b), (float *, out), (float *, swap), (int, n),
                   (int, steps))
CGX_KERNEL_DECLARE(engines_ring, (int, stages), (const float *, in), (float *, out))
#endif

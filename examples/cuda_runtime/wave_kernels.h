/* SPDX-License-Identifier: MIT */
#ifndef WAVE_KERNELS_H
#define WAVE_KERNELS_H
#include <cgx.h>
/* A step of the wave equation on a ring of n points: next from now and before. */
CGX_KERNEL_DECLARE(wave_step, (int, n), (float, c2), (const float *, before), (const float *, now), (float *, next))
#endif

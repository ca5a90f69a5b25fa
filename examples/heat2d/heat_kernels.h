/* SPDX-License-Identifier: MIT */
/* One explicit step of the heat equation du/dt = k (d2u/dx2 + d2u/dy2) on a periodic grid. */
#ifndef EXAMPLES_HEAT_KERNELS_H
#define EXAMPLES_HEAT_KERNELS_H

#include <cgx.h>

/* The cells of a block, and its threads: each computes every HEAT_THREADS_Y-th row of one column. */
#define HEAT_TILE_X 32
#define HEAT_TILE_Y 32
#define HEAT_THREADS_Y 8

/*
 * next = now + c * (left + right + up + down - 4 now), with c = k dt / dx^2; stable up to c = 1/4. Both are
 * height rows of width cells, and neither side is shorter than a tile. Blocks of HEAT_TILE_X x HEAT_THREADS_Y
 * threads, as many as it takes tiles to cover the grid.
 */
CGX_KERNEL_DECLARE(heat_step, (int, width), (int, height), (float, c), (const float *, now), (float *, next))

#endif

/* SPDX-License-Identifier: MIT */
#include "heat_kernels.h"

/* The index that a periodic grid has in place of i, which is less than one grid outside. */
CGX_DEVICE_FN int wrap(int i, int n)
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

CGX_KERNEL_EXTERN(heat_step, (int, width), (int, height), (float, c), (const float *, now), (float *, next))
{
    /* The block's cells and one more on every side: a cell is read from memory about once, not five times. */
    enum { COLUMNS = HEAT_TILE_X + 2, ROWS = HEAT_TILE_Y + 2 };
    CGX_SHARED_ARRAY2(float, tile, ROWS, COLUMNS);

    cgx_block b = cgx_this_block();
    cgx_dim3 block = cgx_group_index(b), thread = cgx_thread_index(b);
    int left = block.x * HEAT_TILE_X - 1, top = block.y * HEAT_TILE_Y - 1; /* where tile[0][0] lies */

    for (int i = cgx_thread_rank(b); i < ROWS * COLUMNS; i += cgx_num_threads(b)) {
        int row = i / COLUMNS, column = i % COLUMNS;
        tile[row][column] = now[(int64_t)wrap(top + row, height) * width + wrap(left + column, width)];
    }
    cgx_sync(b);

    int column = thread.x + 1, x = left + column;
    for (int row = thread.y + 1; row <= HEAT_TILE_Y; row += HEAT_THREADS_Y) {
        int y = top + row;
        if (x < width && y < height) {
            float here = tile[row][column], across = tile[row][column - 1] + tile[row][column + 1];
            float around = across + tile[row - 1][column] + tile[row + 1][column];
            next[(int64_t)y * width + x] = here + c * (around - 4 * here);
        }
    }
}

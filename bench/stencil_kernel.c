/* SPDX-License-Identifier: MIT */
#include "stencil_kernel.h"

CGX_KERNEL_EXTERN(stencil, (int, size), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY2(float, tile, STENCIL_Y + 2, STENCIL_X + 2);
    cgx_block b = cgx_this_block();
    cgx_dim3 block = cgx_group_index(b), thread = cgx_thread_index(b);
    int x = thread.x + 1, y = thread.y + 1;
    int64_t pitch = size + 2, at = (block.y * STENCIL_Y + y) * pitch + block.x * STENCIL_X + x;

    tile[y][x] = in[at];
    if (y == 1)
        tile[0][x] = in[at - pitch];
    if (y == STENCIL_Y)
        tile[y + 1][x] = in[at + pitch];
    if (x == 1)
        tile[y][0] = in[at - 1];
    if (x == STENCIL_X)
        tile[y][x + 1] = in[at + 1];
    cgx_sync(b);
    out[at] = 0.2f * (tile[y][x] + tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1]);
}

/* SPDX-License-Identifier: MIT */
#include "launch_kernels.h"

CGX_KERNEL_EXTERN(empty)
{
}

CGX_KERNEL_EXTERN(count_launches, (int64_t *, count))
{
    if (cgx_elect(cgx_this_block()))
        count[cgx_block_rank(cgx_this_grid())]++;
}

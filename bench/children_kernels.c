/* SPDX-License-Identifier: MIT */
#include "children_kernels.h"

CGX_DEVICE_FN cgx_stream stream_of(int kind)
{
    return kind == CHILDREN_FREE ? CGX_FIRE_AND_FORGET : kind == CHILDREN_TAIL ? CGX_TAIL_LAUNCH : CGX_BLOCK_STREAM;
}

CGX_KERNEL(empty_child)
{
}
CGX_KERNEL_EXTERN_LAUNCHING(launch_empty, (int, n), (int, kind))
{
    cgx_config c = cgx_config_1d(1, 32);
    for (int i = 0; i < n; i++)
        empty_child_dlaunch(stream_of(kind), c);
}

CGX_KERNEL(counting_child, (int64_t *, count))
{
    if (cgx_elect(cgx_this_block()))
        cgx_atomic_fetch_add(count, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL_EXTERN_LAUNCHING(launch_counting, (int, n), (int, kind), (int64_t *, count))
{
    cgx_config c = cgx_config_1d(1, 32);
    for (int i = 0; i < n; i++)
        counting_child_dlaunch(stream_of(kind), c, count);
}

CGX_KERNEL_EXTERN_LAUNCHING(fork_down, (int, depth))
{
    cgx_config c = cgx_config_1d(1, 1);
    for (int i = 0; i < 2 && depth; i++)
        fork_down_dlaunch(CGX_FIRE_AND_FORGET, c, depth - 1);
}

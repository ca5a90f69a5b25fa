/* SPDX-License-Identifier: MIT */
#include "ranks_kernels.h"

#define BELOW                                         \
    {                                                 \
        int64_t i = cgx_thread_rank(cgx_this_grid()); \
        if (i < (int64_t)n)                           \
            out[i] += 3 * i + 1;                      \
    }
CGX_KERNEL_EXTERN(below_i64, (int64_t, n), (int64_t *, out))
BELOW CGX_KERNEL_EXTERN(below_i32, (int, n), (int64_t *, out)) BELOW
    CGX_KERNEL_EXTERN(below_u32, (int64_t *, out), (unsigned, n)) BELOW
    CGX_KERNEL_EXTERN(below_u64, (uint64_t, n), (int64_t *, out)) BELOW

    CGX_KERNEL_EXTERN(scaled, (short, factor), (int64_t, n), (int64_t *, out))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i < n)
        out[i] += factor * i;
}

CGX_KERNEL_EXTERN(from_bound, (int64_t, n), (int64_t, end), (int64_t *, out))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i >= n && i < end)
        out[i] += 2 * i;
}

CGX_KERNEL_EXTERN(both_sides, (int64_t, n), (int64_t, end), (int64_t *, out))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i >= end)
        return;
    if (i < n)
        out[i] += i;
    else
        out[i] -= i;
}

CGX_KERNEL_EXTERN(strided, (int64_t, n), (int64_t *, out))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        out[i] += 5 * i;
}

CGX_KERNEL_EXTERN(early, (int64_t, n), (int64_t *, out))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i >= n || i % 3 == 0)
        return;
    out[i] += i;
    if (i % 3 == 1)
        return;
    out[i] += 1000;
}

CGX_KERNEL_EXTERN(sized, (int64_t, n), (int64_t *, out))
{
    cgx_grid g = cgx_this_grid();
    int64_t i = cgx_thread_rank(g);
    cgx_dim3 blocks = cgx_dim_blocks(g);
    if (i < n)
        out[i] += cgx_num_threads(g) + 1000000 * cgx_num_blocks(g) + blocks.x - blocks.y;
}

CGX_KERNEL_EXTERN(with_block, (int64_t, n), (int64_t *, out))
{
    cgx_grid g = cgx_this_grid();
    int64_t i = cgx_thread_rank(g);
    if (i < n)
        out[i] += cgx_block_rank(g);
}

CGX_KERNEL_EXTERN(with_rank, (int64_t, n), (int64_t *, out))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i < n)
        out[i] += cgx_thread_rank(cgx_this_block());
}

CGX_KERNEL_EXTERN(with_index, (int64_t, n), (int64_t *, out))
{
    cgx_dim3 at = cgx_thread_index(cgx_this_block()), of = cgx_block_index(cgx_this_grid());
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i < n)
        out[i] += at.x + 100 * at.y + 10000 * at.z + 1000000 * ((int64_t)of.x + 1000 * of.y);
}

CGX_KERNEL_EXTERN(with_shared, (int64_t, n), (int64_t *, out))
{
    CGX_SHARED_ARRAY(int64_t, kept, 1024);
    int64_t i = cgx_thread_rank(cgx_this_grid());
    kept[i % 1024] = i;
    if (i < n)
        out[i] += kept[i % 1024];
}

CGX_KERNEL_EXTERN(sometimes, (int64_t, n), (int64_t *, out))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i < n && i % 7 == 3)
        out[i] += 1 + cgx_thread_rank(cgx_this_block());
}

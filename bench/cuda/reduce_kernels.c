/* SPDX-License-Identifier: MIT */
/* One number of a whole array, in one kernel and in two. */
#include "reduce_kernels.h"
#include <stdbool.h>
#if defined(CGX_PASS_CUDA)
#include <cooperative_groups.h>
#endif

#define LIMITS CGX_BLOCK_SIZE(REDUCE_THREADS, 1, 1)
#define COOPERATIVE_LIMITS CGX_COOPERATIVE_BLOCK_SIZE(REDUCE_THREADS, 1, 1)

CGX_DEVICE_FN uint32_t sum_of(cgx_uint4 v)
{
    return v.x + v.y + v.z + v.w;
}

/* What the caller's block has of the array. */
CGX_DEVICE_FN uint32_t part_of(cgx_block b, const cgx_uint4 *in, int64_t n, int64_t blocks)
{
    const int64_t step = blocks * REDUCE_THREADS;
    int64_t i = (int64_t)cgx_group_index(b).x * REDUCE_THREADS + cgx_thread_rank(b);
    uint32_t sum = 0;
    CGX_IN_GROUP(b);
    for (; i + 3 * step < n; i += 4 * step)
        sum += sum_of(in[i]) + sum_of(in[i + step]) + sum_of(in[i + 2 * step]) + sum_of(in[i + 3 * step]);
    for (; i < n; i += step)
        sum += sum_of(in[i]);
    return cgx_reduce(b, sum, CGX_PLUS);
}

CGX_DEVICE_FN uint32_t sum_of_all_parts(cgx_block b, const volatile uint32_t *parts, int n)
{
    uint32_t sum = 0;
    CGX_IN_GROUP(b);
    for (int i = cgx_thread_rank(b); i < n; i += REDUCE_THREADS)
        sum += parts[i];
    return cgx_reduce(b, sum, CGX_PLUS);
}

/* Whichever block comes last adds the parts up: nobody waits. */
CGX_KERNEL_EXTERN_WITH(LIMITS, sum_last_block, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, parts),
                       (uint32_t *, count), (uint32_t *, sum))
{
    CGX_SHARED(int, last);
    const cgx_block b = cgx_this_block();
    const uint32_t blocks = (uint32_t)cgx_num_blocks(cgx_this_grid());
    const uint32_t part = part_of(b, in, n, blocks);
    if (cgx_thread_rank(b) == 0) {
        parts[cgx_group_index(b).x] = part;
        *last = cgx_atomic_fetch_add(count, 1u, CGX_ACQ_REL, CGX_SCOPE_DEVICE) == blocks - 1;
    }
    cgx_sync(b);
    if (!*last)
        return;
    const uint32_t all = sum_of_all_parts(b, parts, (int)blocks);
    if (cgx_thread_rank(b) == 0)
        *sum = all, *count = 0;
}

CGX_KERNEL_EXTERN_WITH(COOPERATIVE_LIMITS, sum_grid_sync, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, parts),
                       (uint32_t *, count), (uint32_t *, sum))
{
    const cgx_block b = cgx_this_block();
    const cgx_grid g = cgx_this_grid();
    const uint32_t part = part_of(b, in, n, cgx_num_blocks(g));
    (void)count;
    if (cgx_thread_rank(b) == 0)
        parts[cgx_group_index(b).x] = part;
    cgx_sync(g);
    if (cgx_group_index(b).x == 0) {
        const uint32_t all = sum_of_all_parts(b, parts, (int)cgx_num_blocks(g));
        if (cgx_thread_rank(b) == 0)
            *sum = all;
    }
}

CGX_KERNEL_EXTERN_WITH(COOPERATIVE_LIMITS, sum_grid_sync_cg, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, parts),
                       (uint32_t *, count), (uint32_t *, sum))
{
    const cgx_block b = cgx_this_block();
    const uint32_t part = part_of(b, in, n, cgx_num_blocks(cgx_this_grid()));
    (void)count;
    if (cgx_thread_rank(b) == 0)
        parts[cgx_group_index(b).x] = part;
#if defined(CGX_PASS_CUDA)
    cooperative_groups::this_grid().sync();
#endif
    if (cgx_group_index(b).x == 0) {
        const uint32_t all = sum_of_all_parts(b, parts, (int)cgx_num_blocks(cgx_this_grid()));
        if (cgx_thread_rank(b) == 0)
            *sum = all;
    }
}

/* Two kernels; the launch order is the barrier. */
CGX_KERNEL_EXTERN_WITH(LIMITS, sum_parts, (const cgx_uint4 *, in), (int64_t, n), (uint32_t *, parts))
{
    const cgx_block b = cgx_this_block();
    const uint32_t part = part_of(b, in, n, cgx_num_blocks(cgx_this_grid()));
    if (cgx_thread_rank(b) == 0)
        parts[cgx_group_index(b).x] = part;
}
CGX_KERNEL_EXTERN_WITH(LIMITS, sum_of_parts, (const uint32_t *, parts), (int, n), (uint32_t *, sum))
{
    const cgx_block b = cgx_this_block();
    const uint32_t all = sum_of_all_parts(b, parts, n);
    if (cgx_thread_rank(b) == 0)
        *sum = all;
}

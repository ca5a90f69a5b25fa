/* SPDX-License-Identifier: MIT */
#include "host_kernels.h"

CGX_KERNEL_EXTERN(nothing)
{
}

CGX_KERNEL_EXTERN(store_value, (int *, out), (int, value))
{
    if (cgx_thread_rank(cgx_this_grid()) == 0)
        *out = value;
}

CGX_KERNEL_EXTERN(count_up, (int *, counter))
{
    if (cgx_thread_rank(cgx_this_grid()) == 0)
        *counter += 1;
}

CGX_KERNEL_EXTERN(affine, (int64_t, n), (int *, out), (int, factor), (int, term))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        out[i] = out[i] * factor + term;
}

CGX_KERNEL_EXTERN(wait_for_flag, (const volatile int *, flag), (int *, out))
{
    uint64_t start = cgx_clock_nanoseconds();
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    /* A bound, so that a test that goes wrong ends. */
    while (!*flag && cgx_clock_nanoseconds() - start < 10000000000u)
        ;
    *out = *flag;
}

CGX_KERNEL_EXTERN(be_busy, (uint64_t, nanoseconds))
{
    uint64_t start = cgx_clock_nanoseconds();
    if (cgx_thread_rank(cgx_this_grid()) == 0)
        while (cgx_clock_nanoseconds() - start < nanoseconds)
            ;
}

CGX_KERNEL_EXTERN(divide, (double, a), (double, b), (double *, out))
{
    out[cgx_thread_rank(cgx_this_grid())] = a / b;
}

CGX_KERNEL_EXTERN(write_place, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    cgx_dim3 thread = cgx_thread_index(b), block = cgx_group_index(b), size = cgx_dim_threads(b),
             grid = cgx_dim_blocks(g);
    int64_t rank = cgx_thread_rank(g);
    int *mine = out + 8 * rank;
    mine[0] = thread.x, mine[1] = thread.y, mine[2] = thread.z;
    mine[3] = block.x, mine[4] = block.y, mine[5] = block.z;
    mine[6] = size.x * 10000 + size.y * 100 + size.z;
    mine[7] = grid.x * 10000 + grid.y * 100 + grid.z;
}

/* Thread by thread writes its share of the bytes; after a sync everybody could read all of them. */
CGX_DEVICE_FN unsigned share_of_bytes(cgx_block b, unsigned char *bytes, int n)
{
    unsigned sum = 0;
    for (int i = cgx_thread_rank(b); i < n; i += cgx_num_threads(b))
        bytes[i] = (unsigned char)(i * 7 + 1);
    cgx_sync(b);
    for (int i = cgx_num_threads(b) - 1 - cgx_thread_rank(b); i < n; i += cgx_num_threads(b))
        sum += bytes[i];
    return sum;
}
/* Without a collective, which may have shared memory of its own. */
CGX_DEVICE_FN void sum_bytes(cgx_block b, unsigned char *bytes, int n, unsigned *out)
{
    if (cgx_thread_rank(b) == 0)
        out[cgx_group_index(b).x] = 0;
    cgx_sync(b);
    cgx_atomic_fetch_add(out + cgx_group_index(b).x, share_of_bytes(b, bytes, n), CGX_RELAXED, CGX_SCOPE_BLOCK);
    cgx_sync(b);
}

CGX_KERNEL_EXTERN(use_dynamic, (int, n), (unsigned *, out))
{
    CGX_DYNAMIC_SHARED(unsigned char, bytes);
    sum_bytes(cgx_this_block(), bytes, n, out);
}

CGX_KERNEL_EXTERN(use_collective, (int, n), (unsigned *, out))
{
    CGX_DYNAMIC_SHARED(unsigned char, bytes);
    cgx_block b = cgx_this_block();
    const unsigned sum = cgx_reduce(b, share_of_bytes(b, bytes, n), CGX_PLUS);
    if (cgx_thread_rank(b) == 0)
        out[cgx_group_index(b).x] = sum;
}

CGX_KERNEL_EXTERN(use_both, (int, n), (unsigned *, out))
{
    CGX_SHARED_ARRAY(unsigned char, fixed, 1000);
    CGX_DYNAMIC_SHARED(unsigned char, bytes);
    cgx_block b = cgx_this_block();
    for (int i = cgx_thread_rank(b); i < 1000; i += cgx_num_threads(b))
        fixed[i] = 200;
    cgx_sync(b);
    sum_bytes(b, bytes, n, out);
    if (cgx_thread_rank(b) == 0)
        for (int i = 0; i < 1000; i++)
            out[cgx_group_index(b).x] += fixed[i] != 200; /* they do not overlap */
}

CGX_KERNEL_EXTERN(mixed_arguments, (signed char, c), (double, d), (host_record, r), (double *, out), (short, s))
{
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    out[0] = c;
    out[1] = d;
    out[2] = r.small;
    out[3] = r.large;
    out[4] = r.text[4];
    out[5] = s;
}

CGX_KERNEL_EXTERN_WITH(CGX_MAX_THREADS(64), at_most_64, (int *, out))
{
    out[cgx_thread_rank(cgx_this_grid())] = 1;
}

CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(8, 4, 2), exactly_8_4_2, (int *, out))
{
    out[cgx_thread_rank(cgx_this_grid())] = 1;
}

CGX_KERNEL_EXTERN_COOPERATIVE(sum_over_grid, (int *, ranks), (int *, sums))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int mine = (int)cgx_block_rank(g), sum = 0;
    if (cgx_thread_rank(b) == 0)
        ranks[mine] = mine;
    cgx_sync(g);
    if (cgx_thread_rank(b))
        return;
    for (int i = 0; i < (int)cgx_num_blocks(g); i++)
        sum += ranks[i];
    sums[mine] = sum;
}

CGX_KERNEL_EXTERN_WITH(CGX_COOPERATIVE_MAX_THREADS(64), cooperative_at_most_64, (int *, out))
{
    cgx_sync(cgx_this_grid());
    out[cgx_thread_rank(cgx_this_grid())] = 1;
}

/* SPDX-License-Identifier: MIT */
#include "exit_kernels.h"

/* The next thread of the block that did not end, in a circle; the caller did not. */
CGX_DEVICE_FN int next_there(int mode, int k, int rank, int n)
{
    do {
        rank = rank + 1 == n ? 0 : rank + 1;
    } while (ends_at_once(mode, k, rank));
    return rank;
}

CGX_KERNEL_EXTERN(exit_before_sync, (int, mode), (int, k), (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), sum = 0;
    out[cgx_thread_rank(g)] = -1;
    if (ends_at_once(mode, k, rank))
        return;
    int next = next_there(mode, k, rank, cgx_num_threads(b));
    for (int i = 0; i < rounds; i++) {
        s[rank] = rank * rounds + i;
        cgx_sync(b);
        sum += s[next];
        cgx_sync(b);
    }
    out[cgx_thread_rank(g)] = sum;
}

CGX_KERNEL_EXTERN(exit_before_arrive, (int, mode), (int, k), (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), sum = 0;
    out[cgx_thread_rank(g)] = -1;
    if (ends_at_once(mode, k, rank))
        return;
    int next = next_there(mode, k, rank, cgx_num_threads(b));
    for (int i = 0; i < rounds; i++) {
        s[rank] = rank * rounds + i;
        cgx_barrier_wait(b, cgx_barrier_arrive(b));
        sum += s[next];
        cgx_token token = cgx_barrier_arrive(b);
        cgx_barrier_wait(b, token);
    }
    out[cgx_thread_rank(g)] = sum;
}

CGX_KERNEL_EXTERN(exit_in_steps, (int *, wrong))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), bad = 0;
    s[rank] = -1;
    cgx_sync(b);
    for (int i = 0; i < EXIT_STEPS; i++) {
        int there = 0, expected = 0;
        if (rank % EXIT_STEPS < i)
            break;
        s[rank] = i;
        cgx_sync(b);
        for (int r = 0; r < n; r++) {
            there += s[r] == i;
            expected += r % EXIT_STEPS >= i;
        }
        bad += there != expected;
        cgx_sync(b);
    }
    wrong[cgx_thread_rank(cgx_this_grid())] = bad;
}

CGX_KERNEL_EXTERN(exit_before_tile_sync, (int, size), (int, mode), (int, k), (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    cgx_tile t = cgx_tiled_partition_n(b, size);
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(t), at = cgx_thread_rank(b) - rank, sum = 0;
    out[cgx_thread_rank(g)] = -1;
    if (ends_at_once(mode, k, rank))
        return;
    int next = next_there(mode, k, rank, size);
    for (int i = 0; i < rounds; i++) {
        s[at + rank] = rank * rounds + i;
        cgx_sync(t);
        sum += s[at + next];
        cgx_sync(t);
    }
    out[cgx_thread_rank(g)] = sum;
}

CGX_KERNEL_EXTERN(exit_of_tiles, (int, k), (int *, sums))
{
    cgx_block b = cgx_this_block();
    cgx_tile_64 t = cgx_tiled_partition(b, 64);
    int rank = cgx_thread_rank(b);
    sums[rank] = -1;
    if (cgx_meta_group_rank(t) % 2 == k)
        return;
    int sum = cgx_reduce(t, rank, CGX_PLUS);
    cgx_sync(b);
    sum += cgx_shfl(t, rank, 63) - cgx_inclusive_scan(t, rank, CGX_GREATER);
    sums[rank] = sum;
}

CGX_KERNEL_EXTERN(exit_everybody, (int, mode), (int, k), (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    out[cgx_thread_rank(cgx_this_grid())] = rank;
    if (ends_at_once(mode, k, rank))
        return;
    cgx_sync(b);
}

CGX_KERNEL_EXTERN_COOPERATIVE(exit_after_grid_sync, (int *, shares), (int *, sum))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    shares[cgx_thread_rank(g)] = (int)cgx_thread_rank(g);
    cgx_sync(g);
    if (cgx_thread_rank(g) != 7)
        return;
    cgx_sync(b); /* alone */
    int all = 0;
    for (int64_t i = 0; i < cgx_num_threads(g); i++)
        all += shares[i];
    *sum = all;
}

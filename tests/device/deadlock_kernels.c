/* SPDX-License-Identifier: MIT */
#define DEFINE_GOOD_KERNEL
#include "deadlock_kernels.h"

CGX_KERNEL_EXTERN(half_and_half, (int, bad), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_256 t = cgx_tiled_partition(b, 256);
    cgx_grid g = cgx_this_grid();
    out[cgx_thread_rank(g)] = 1;
    if (cgx_block_rank(g) == bad && cgx_thread_rank(b) >= 128)
        cgx_sync(t);
    cgx_sync(b);
    out[cgx_thread_rank(g)] = 2;
}

CGX_KERNEL_EXTERN(ended_before_reduce, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    if (rank == 5)
        return;
    out[rank] = cgx_reduce(b, rank, CGX_PLUS);
}

CGX_KERNEL_EXTERN(ended_before_scan, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    cgx_sync(b);
    if (rank == 5)
        return;
    out[rank] = cgx_exclusive_scan(b, rank, CGX_PLUS);
}

CGX_KERNEL_EXTERN(ended_before_shuffle, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    if (rank == 5)
        return;
    out[rank] = cgx_shfl(t, rank, 0);
}

CGX_KERNEL_EXTERN(ended_before_ballot, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile t = cgx_tiled_partition_n(b, 8);
    int rank = cgx_thread_rank(b);
    if (rank == 5)
        return;
    out[rank] = (int)cgx_ballot(t, 1);
}

CGX_KERNEL_EXTERN(ended_before_wide_sync, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_128 t = cgx_tiled_partition(b, 128);
    int rank = cgx_thread_rank(b);
    if (rank == 5)
        return;
    cgx_sync(t);
    out[rank] = rank;
}

CGX_KERNEL_EXTERN(ended_before_coalesced, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    cgx_coalesced c = cgx_labeled_partition(t, rank % 4);
    if (rank == 5)
        return;
    out[rank] = cgx_reduce(c, rank, CGX_PLUS);
}

CGX_KERNEL_EXTERN(branch_before_vote, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    if (rank < 16)
        out[rank] = cgx_any(t, rank == 3);
    cgx_sync(b);
}

CGX_KERNEL_EXTERN(mbarrier_never_complete, (int, count))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)count);
    cgx_sync(b);
    cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
}

CGX_KERNEL_EXTERN_COOPERATIVE(grid_without_thread, (int *, out))
{
    cgx_grid g = cgx_this_grid();
    out[cgx_thread_rank(g)] = 1;
    if (cgx_block_rank(g) == 1 && cgx_thread_rank(cgx_this_block()) == 5)
        return;
    cgx_sync(g);
    out[cgx_thread_rank(g)] = 2;
}

CGX_KERNEL_EXTERN_COOPERATIVE(grid_without_block, (int, bad))
{
    cgx_grid g = cgx_this_grid();
    if (cgx_block_rank(g) == bad)
        return;
    cgx_sync(g);
}

CGX_KERNEL_EXTERN_COOPERATIVE(grid_and_block, (int *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    if (cgx_thread_rank(b) < 64)
        cgx_sync(g);
    cgx_sync(b);
    out[cgx_thread_rank(g)] = 2;
}

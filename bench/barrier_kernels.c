/* SPDX-License-Identifier: MIT */
#include "barrier_kernels.h"

CGX_KERNEL_EXTERN(sync_block, (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    for (int i = 0; i < rounds; i++)
        cgx_sync(b);
    out[cgx_thread_rank(b)] += rounds;
}

CGX_KERNEL_EXTERN(sync_tile_32, (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    for (int i = 0; i < rounds; i++)
        cgx_sync(t);
    out[cgx_thread_rank(b)] += rounds;
}

/* All sums are of small integers and halves: exact in any order. */
CGX_KERNEL_EXTERN(mean_block, (int, rounds), (float *, mean))
{
    cgx_block b = cgx_this_block();
    float v = (float)cgx_thread_rank(b), scale = 1.0f / (float)cgx_num_threads(b);
    for (int i = 0; i < rounds; i++)
        v = cgx_reduce(b, v, CGX_PLUS) * scale;
    mean[cgx_thread_rank(b)] = v;
}

CGX_KERNEL_EXTERN(mean_block_tree, (int, rounds), (float *, mean))
{
    CGX_SHARED_ARRAY(float, sum, 256);
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    float v = (float)rank;
    for (int i = 0; i < rounds; i++) {
        sum[rank] = v;
        cgx_sync(b);
        for (int d = 128; d > 0; d /= 2) {
            if (rank < d)
                sum[rank] += sum[rank + d];
            cgx_sync(b);
        }
        v = sum[0] * (1.0f / 256);
        cgx_sync(b);
    }
    mean[rank] = v;
}

CGX_KERNEL_EXTERN(mean_tile_32, (int, rounds), (float *, mean))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    float v = (float)cgx_thread_rank(t);
    for (int i = 0; i < rounds; i++)
        v = cgx_reduce(t, v, CGX_PLUS) * (1.0f / 32);
    mean[cgx_thread_rank(b)] = v;
}

CGX_KERNEL_EXTERN(mean_tile_32_shuffles, (int, rounds), (float *, mean))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    float v = (float)cgx_thread_rank(t);
    for (int i = 0; i < rounds; i++) {
        for (int mask = 16; mask > 0; mask /= 2)
            v += cgx_shfl_xor(t, v, mask);
        v *= 1.0f / 32;
    }
    mean[cgx_thread_rank(b)] = v;
}

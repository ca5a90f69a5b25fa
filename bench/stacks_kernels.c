/* SPDX-License-Identifier: MIT */
#include "stacks_kernels.h"

CGX_KERNEL_EXTERN(pass, (int *, out))
{
    int rank = cgx_thread_rank(cgx_this_block());
    out[rank] = rank;
}

CGX_KERNEL_EXTERN(wait_once, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    cgx_sync(b);
    out[rank] = rank;
}

CGX_KERNEL_EXTERN(wait_with_array, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), many[256];
    for (int i = 0; i < 256; i++)
        many[i] = rank + i;
    cgx_sync(b);
    out[rank] = many[rank & 255] - (rank & 255);
}

CGX_KERNEL_EXTERN(reduce_once, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    out[rank] = cgx_reduce(b, rank, CGX_GREATER) == cgx_num_threads(b) - 1 ? rank : -1;
}

/* SPDX-License-Identifier: MIT */
#include "greedy_kernels.h"

CGX_KERNEL_EXTERN(greedy, (int *, out))
{
    CGX_SHARED_ARRAY(char, hoard, GREEDY_BYTES);
    cgx_block b = cgx_this_block();
    hoard[cgx_thread_rank(b)] = 1;
    cgx_sync(b);
    out[0] = hoard[0];
}

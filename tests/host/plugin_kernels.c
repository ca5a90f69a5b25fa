/* SPDX-License-Identifier: MIT */
#include "plugin_kernels.h"

CGX_KERNEL_EXTERN(plugin_triple, (int, n), (int *, out))
{
    CGX_SHARED(int, three);
    cgx_block b = cgx_this_block();
    int i = (int)cgx_thread_rank(cgx_this_grid());
    if (cgx_thread_rank(b) == 0)
        *three = 3;
    cgx_sync(b);
    if (i < n)
        out[i] *= *three;
}

/* SPDX-License-Identifier: MIT */
#include "scale.h"

CGX_KERNEL_EXTERN(scale, (int64_t, n), (float, factor), (float *, x))
{
    CGX_SHARED(float, shared_factor);
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    if (cgx_thread_rank(b) == 0)
        *shared_factor = factor;
    cgx_sync(b);
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        x[i] *= *shared_factor;
}

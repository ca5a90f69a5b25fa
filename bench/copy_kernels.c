/* SPDX-License-Identifier: MIT */
#include "copy_kernels.h"

CGX_KERNEL_EXTERN(group_copies, (int, stages), (int, between), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY2(float, buffer, 2, COPY_FLOATS);
    cgx_block b = cgx_this_block();
    for (int s = 0; s < stages; s += between) {
        for (int k = s; k < s + between; k++)
            cgx_memcpy_async(b, buffer[k & 1], in + (k & 1) * COPY_FLOATS, COPY_FLOATS * sizeof(float));
        cgx_wait(b);
    }
    for (int i = cgx_thread_rank(b); i < COPY_FLOATS; i += cgx_num_threads(b))
        out[i] = buffer[(stages - 1) & 1][i];
}

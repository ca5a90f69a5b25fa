/* SPDX-License-Identifier: MIT */
/* Compiled for a chip without clusters, which a newer one runs from the PTX. */
#include "cuda_kernels.h"

CGX_KERNEL_EXTERN(for_older_chip, (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_sync(c);
    if (cgx_thread_rank(c) == 0)
        *out = cgx_num_threads(c);
}

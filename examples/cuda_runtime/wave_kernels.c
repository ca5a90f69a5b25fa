/* SPDX-License-Identifier: MIT */
#include "wave_kernels.h"

CGX_KERNEL_EXTERN(wave_step, (int, n), (float, c2), (const float *, before), (const float *, now), (float *, next))
{
    for (int64_t i = cgx_thread_rank(cgx_this_grid()); i < n; i += cgx_num_threads(cgx_this_grid())) {
        const float left = now[(i + n - 1) % n], right = now[(i + 1) % n];
        next[i] = 2 * now[i] - before[i] + c2 * (left - 2 * now[i] + right);
    }
}

/* SPDX-License-Identifier: MIT */
/* The names of k1.c again, meaning other things, and a kernel that other files launch. */
#include "parts.h"

CGX_DEVICE_VARIABLE(int, visits) = 100;

CGX_KERNEL(reduce, (const float *, in), (float *, out), (int, n))
{
    CGX_SHARED(double, sum);
    CGX_SHARED(float, best);
    cgx_block b = cgx_this_block();
    if (cgx_thread_rank(b) == 0) {
        *best = in[0];
        *sum = 0;
        for (int i = 0; i < n; i++) {
            *best = in[i] > *best ? in[i] : *best;
            *sum += in[i];
        }
        *out = *best;
        visits++;
    }
}

CGX_KERNEL_EXTERN(scale, (float *, x), (int, n), (float, by))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        x[i] *= by;
}

#ifdef CGX_HOST_PASS
static int same_name_helper(void)
{
    return 2;
}

int k2_reduce(cgx_queue *q, const float *in, float *out, int n)
{
    return reduce_launch(q, cgx_config_1d(1, 64), in, out, n) + same_name_helper() - 2;
}
int k2_visits(void)
{
    return visits;
}
const cgx_kernel *k2_reduce_kernel(void)
{
    return CGX_KERNEL_OF(reduce);
}
#endif

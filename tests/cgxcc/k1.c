/* SPDX-License-Identifier: MIT */
/* Kernels with a static variable, a constant table, shared memory and a barrier. k2.c has the same names. */
#include "parts.h"

CGX_DEVICE_VARIABLE(int, visits) = 0;
static const float bias[4] = { 1, 2, 3, 4 };

CGX_DEVICE_FN float axpy(float a, float x, float y)
{
    return a * x + y;
}

CGX_KERNEL(reduce, (const float *, in), (float *, out), (int, n))
{
    CGX_SHARED(float, total);
    cgx_block b = cgx_this_block();
    if (cgx_thread_rank(b) == 0) {
        *total = 0;
        for (int i = 0; i < n; i++)
            *total += in[i]; /* breakpoint */
        *out = *total;
    }
}

CGX_KERNEL(reverse, (float *, x))
{
    CGX_SHARED_ARRAY(float, stage, 64);
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), last = cgx_num_threads(b) - 1;
    stage[rank] = x[rank];
    cgx_sync(b);
    x[rank] = stage[last - rank];
}

CGX_KERNEL(saxpy, (int64_t, n), (float, a), (const float *, x), (float *, y))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        y[i] = axpy(a, x[i], y[i]);
}

/* Without a loop of its own: what compilers vectorise over the threads of a block. */
CGX_KERNEL(add, (const float *, x), (float *, y))
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    y[i] = x[i] * 3.0f + y[i];
}

/* One thread: the test is about the variable, not about races. */
CGX_KERNEL(count, (int, by))
{
    visits += by;
}

#ifdef CGX_HOST_PASS
static int same_name_helper(void)
{
    return 1;
}

int k1_reduce(cgx_queue *q, const float *in, float *out, int n)
{
    return reduce_launch(q, cgx_config_1d(1, 64), in, out, n) + same_name_helper() - 1;
}
int k1_reverse(cgx_queue *q, float *x)
{
    return reverse_launch(q, cgx_config_1d(1, 64), x);
}
int k1_saxpy(cgx_queue *q, int64_t n, float a, const float *x, float *y)
{
    return saxpy_launch(q, cgx_fit(q, n, 64), n, a, x, y);
}
int k1_add(cgx_queue *q, const float *x, float *y)
{
    return add_launch(q, cgx_config_1d(1, 64), x, y);
}
int k1_count(cgx_queue *q, int by)
{
    return count_launch(q, cgx_config_1d(1, 1), by);
}
int k1_visits(int i)
{
    return visits + 0 * (int)bias[i & 3];
}
const cgx_kernel *k1_reduce_kernel(void)
{
    return CGX_KERNEL_OF(reduce);
}
const cgx_kernel *k1_saxpy_kernel(void)
{
    return CGX_KERNEL_OF(saxpy);
}
#endif

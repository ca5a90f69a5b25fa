/* SPDX-License-Identifier: MIT */
/* The other same_names_*.c has a kernel, a variable and shared memory of the same names. */
#include "language_kernels.h"

CGX_DEVICE_VARIABLE(int, bias) = 1 * 100;

CGX_KERNEL(reduce, (int *, out))
{
    CGX_SHARED_ARRAY(int, values, 1 * 64);
    cgx_block b = cgx_this_block();
    int r = cgx_thread_rank(b);
    values[r] = 1;
    cgx_sync(b);
    if (r == 0) {
        int sum = bias;
        for (int i = 0; i < cgx_num_threads(b); i++)
            sum += values[i];
        *out = sum;
    }
}

#ifdef CGX_HOST_PASS
cgx_status run_same_names_1(cgx_queue *queue, int *out)
{
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    cgx_status s = cgx_kernel_get_info(queue, CGX_KERNEL_OF(reduce), &info);
    if (!s && info.static_shared_bytes != 1 * 64 * sizeof(int))
        return CGX_ERROR_FAULT;
    return s ? s : reduce_launch(queue, cgx_config_1d(1, 48), out);
}
#endif

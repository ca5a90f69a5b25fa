/* SPDX-License-Identifier: MIT */
#include "cuda_kernels.h"

CGX_KERNEL_EXTERN(write_to, (int *, where))
{
    where[cgx_thread_rank(cgx_this_block())] = 1;
}

/* 100 KiB of static shared memory, beside some of the usual kind and some of the launch's. */
CGX_KERNEL_EXTERN(large_static, (int *, out))
{
    CGX_SHARED_ARRAY(int, small, 32);
    CGX_SHARED_ARRAY(int, large, LARGE_WORDS);
    CGX_DYNAMIC_SHARED(int, dynamic);
    const cgx_block b = cgx_this_block();
    const int me = cgx_thread_rank(b), n = cgx_num_threads(b);
    for (int i = me; i < LARGE_WORDS; i += n)
        large[i] = i;
    for (int i = me; i < 32; i += n)
        small[i] = 1000000 + i;
    for (int i = me; i < 33; i += n)
        dynamic[i] = 2000000 + i;
    cgx_sync(b);
    for (int i = me; i < LARGE_WORDS; i += n)
        out[i] = large[LARGE_WORDS - 1 - i];
    for (int i = me; i < 32; i += n)
        out[LARGE_WORDS + i] = small[i] + dynamic[i + 1];
}

CGX_KERNEL_EXTERN(two_large, (int *, out))
{
    CGX_SHARED_ARRAY(int, a, 7 * 1024);
    CGX_SHARED_ARRAY(int, b, 7 * 1024);
    a[0] = 1, b[0] = 2;
    *out = a[0] + b[0];
}

/* SPDX-License-Identifier: MIT */
/* A function inside a function: gcc takes it and clang does not. */
#include <cgx.h>

CGX_KERNEL(nothing, (int *, out))
{
    out[cgx_thread_rank(cgx_this_grid())] = 0;
}

int with_gcc(int n);
int with_gcc(int n)
{
#ifdef GCC_ONLY
    int twice(int m)
    {
        return m + n;
    }
    return twice(n) + (CGX_KERNEL_OF(nothing) != NULL);
#else
    return n + (CGX_KERNEL_OF(nothing) != NULL);
#endif
}

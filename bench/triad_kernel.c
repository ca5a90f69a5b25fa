/* SPDX-License-Identifier: MIT */
/* Compiled with each host compiler there is, with its name as COMPILER. */
#include "triad_kernel.h"

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b

CGX_KERNEL_EXTERN(PASTE(triad_, COMPILER), TRIAD_PARAMETERS)
{
    int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i < n)
        a[i] = b[i] + s * c[i];
}

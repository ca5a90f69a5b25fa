/* SPDX-License-Identifier: MIT */
#include "launch_kernels.h"

CGX_KERNEL_EXTERN(nothing)
{
}

CGX_KERNEL_EXTERN(store, (uint32_t *, out), (uint32_t, value), (int64_t, unused), (double, unused_too))
{
    (void)unused, (void)unused_too;
    *out = value;
}

/* SPDX-License-Identifier: MIT */
/* Compiled for sm_100a alone, which has no PTX: no other chip can run it. */
#include "cuda_kernels.h"

CGX_KERNEL_EXTERN(for_another_chip, (int *, out))
{
    *out = 1;
}

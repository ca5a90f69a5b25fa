/* SPDX-License-Identifier: MIT */
#include <cgx.h>
#include "dep_all.h"
#if defined(CGX_PASS_CUDA)
#include "dep_cuda.h" /* fake-nvcc reads */
#elif defined(CGX_PASS_HIP)
#include "dep_hip.h" /* fake-clang reads */
#include "dep hip.h" /* fake-clang reads */
#endif
CGX_KERNEL(d, (int *, p))
{
    *p = DEP;
}
#ifdef CGX_HOST_PASS
int dep(cgx_queue *q, int *p)
{
    return d_launch(q, cgx_config_1d(1, 1), p);
}
#endif

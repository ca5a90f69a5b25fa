/* SPDX-License-Identifier: MIT */
#include "children_kernels.h"

CGX_KERNEL(child, (uint32_t *, ran))
{
    if (cgx_elect(cgx_this_block()))
        cgx_atomic_fetch_add(ran, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL_EXTERN_LAUNCHING(children_cgx, (int, n), (int, kind), (uint32_t *, ran))
{
    const cgx_stream stream = kind == CHILDREN_FREE       ? CGX_FIRE_AND_FORGET
                              : kind == CHILDREN_IN_ORDER ? CGX_BLOCK_STREAM
                                                          : CGX_TAIL_LAUNCH;
    for (int i = 0; i < n; i++)
        child_dlaunch(stream, cgx_config_1d(1, 32), ran);
}

#if defined(CGX_PASS_CUDA)
static __global__ void cuda_child(uint32_t *ran)
{
    if (threadIdx.x == 0)
        atomicAdd(ran, 1u);
}
#endif
CGX_KERNEL_EXTERN_LAUNCHING(children_cuda, (int, n), (int, kind), (uint32_t *, ran))
{
#if defined(CGX_PASS_CUDA)
    const cudaStream_t stream = kind == CHILDREN_FREE       ? cudaStreamFireAndForget
                                : kind == CHILDREN_IN_ORDER ? (cudaStream_t)0
                                                            : cudaStreamTailLaunch;
    for (int i = 0; i < n; i++)
        cuda_child<<<1, 32, 0, stream>>>(ran);
#else
    (void)n, (void)kind, (void)ran;
#endif
}

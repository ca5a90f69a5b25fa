// SPDX-License-Identifier: MIT
#include "damp.h"

static __global__ void damp_kernel(float *values, int n, float factor)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] *= factor;
}

cudaError_t damp(float *values, int n, float factor, cudaStream_t stream)
{
    damp_kernel<<<(n + 255) / 256, 256, 0, stream>>>(values, n, factor);
    return cudaGetLastError();
}

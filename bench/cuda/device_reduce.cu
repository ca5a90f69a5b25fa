// SPDX-License-Identifier: MIT
#include "device_reduce.h"
#include <cub/device/device_reduce.cuh>

size_t device_reduce_bytes(int64_t n)
{
    size_t bytes = 0;
    uint32_t *none = nullptr;
    return cub::DeviceReduce::Sum(nullptr, bytes, none, none, n) == cudaSuccess ? bytes : 0;
}

int device_reduce(void *temporary, size_t bytes, const uint32_t *in, uint32_t *sum, int64_t n, void *stream)
{
    return cub::DeviceReduce::Sum(temporary, bytes, in, sum, n, static_cast<cudaStream_t>(stream));
}

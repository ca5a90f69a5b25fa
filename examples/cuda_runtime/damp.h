/* SPDX-License-Identifier: MIT */
/* The part of the program that is CUDA C++ already. */
#ifndef DAMP_H
#define DAMP_H
#include <cuda_runtime_api.h>
#ifdef __cplusplus
extern "C"
#endif
    cudaError_t
    damp(float *values, int n, float factor, cudaStream_t stream);
#endif

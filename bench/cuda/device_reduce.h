/* SPDX-License-Identifier: MIT */
/* CUB's reduction of a whole array, through the CUDA runtime, on a stream of the driver API's. */
#ifndef BENCH_CUDA_DEVICE_REDUCE_H
#define BENCH_CUDA_DEVICE_REDUCE_H
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
/* Bytes of temporary memory for n numbers; 0 is an error. */
size_t device_reduce_bytes(int64_t n);
/* Enqueues *sum = the sum of n numbers. 0, or CUDA's error. */
int device_reduce(void *temporary, size_t bytes, const uint32_t *in, uint32_t *sum, int64_t n, void *stream);
#ifdef __cplusplus
}
#endif
#endif

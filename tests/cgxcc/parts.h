/* SPDX-License-Identifier: MIT */
/* What the files of the test program know of each other. Includable from C++. */
#ifndef PARTS_H
#define PARTS_H
#include <cgx.h>

CGX_KERNEL_DECLARE(scale, (float *, x), (int, n), (float, by))

#ifdef CGX_HOST_PASS
#ifdef __cplusplus
extern "C" {
#endif
int k1_reduce(cgx_queue *q, const float *in, float *out, int n);
int k1_reverse(cgx_queue *q, float *x);
int k1_saxpy(cgx_queue *q, int64_t n, float a, const float *x, float *y);
int k1_add(cgx_queue *q, const float *x, float *y);
int k1_count(cgx_queue *q, int by);
int k1_visits(int i);
const cgx_kernel *k1_reduce_kernel(void);
const cgx_kernel *k1_saxpy_kernel(void);
int k2_reduce(cgx_queue *q, const float *in, float *out, int n);
int k2_visits(void);
const cgx_kernel *k2_reduce_kernel(void);
int user_scale(cgx_queue *q, float *x, int n);
#ifdef __cplusplus
}
#endif
#endif
#endif

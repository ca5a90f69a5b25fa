/* SPDX-License-Identifier: MIT */
#ifndef RUN_RANDOM_H
#define RUN_RANDOM_H
#include <cgx.h>

typedef struct {
    int seed, any_size; /* of blocks; else whole warps */
    cgx_status (*launch)(cgx_queue *, cgx_config, int, const float *, float *);
    const cgx_kernel *kernel;
} random_kernel;
extern const random_kernel random_kernels[];
extern const int random_kernel_count;
#endif

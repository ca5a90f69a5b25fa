/* SPDX-License-Identifier: MIT */
/* The rival: compiled by the same compilers, for the machine that builds, with -O3. */
#include "triad_kernel.h"

#define PASTE(a, b) PASTE_(a, b)
#define PASTE_(a, b) a##b

void PASTE(triad_loop_, COMPILER)(int64_t first, int64_t end, float s, float *a, const float *b, const float *c)
{
#pragma omp simd
    for (int64_t i = first; i < end; i++)
        a[i] = b[i] + s * c[i];
}

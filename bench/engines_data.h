/* SPDX-License-Identifier: MIT */
/* What the cases of bench_cpu_engines work on, for the kernels and for all that is written in their place. */
#ifndef ENGINES_DATA_H
#define ENGINES_DATA_H

enum { ENGINES_TILE = 16, ENGINES_BINS = 256, ENGINES_STAGE = 32 };

typedef struct {
    const float *a, *b;
    const int *keys;
    float *out, *swap; /* swap: the other half of sweeps that go to and fro */
    int n, steps;      /* side or number of items; sweeps or stages */
} engines_data;

/* Part FIRST to LAST - 1 of a case's work, which is independent of the other parts: blocks of the kernel's grid, or rows. STEP: of
 * those with a barrier between them. */
typedef void engines_part_fn(const engines_data *d, int nx, int ny, int first, int last, int step);
#endif

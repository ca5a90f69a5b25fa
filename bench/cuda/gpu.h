/* SPDX-License-Identifier: MIT */
/* What the CUDA benchmarks share: the queue, memory, times by events, rows with the best of several rivals, geometric means.
 *
 * A case is measured so: fresh random input, and each form in turn, `bench_samples` times; before each timed launch the output
 * is poisoned, behind it checked. The median counts. A wrong result ends the program. */
#ifndef BENCH_CUDA_GPU_H
#define BENCH_CUDA_GPU_H
#include <cgx.h>
#include "../bench.h"

enum { GPU_FORMS = 10 };

extern cgx_queue *gpu_queue;
extern cgx_device_info gpu_info;

/* Reads the arguments and opens the device. Without a CUDA device it says why and exits with 77. */
void gpu_begin(int argc, char **argv, const char *bench);
/* Prints the means and ends the program's output. The exit code. */
int gpu_end(void);

uint64_t gpu_random(void);
void *gpu_alloc(size_t bytes);
void gpu_poison(void *memory, size_t bytes);
/* Seconds on the device from before to behind what WORK enqueues. */
double gpu_seconds(void (*work)(void *context), void *context);
double gpu_median(double *samples, int count);
int gpu_samples(void);
void gpu_fail(const char *what, const char *why);

/* One form of a case: cgx's, or CUDA's own. */
typedef struct {
    const char *name; /* NULL: cgx's */
    double seconds;   /* once; or 0: does not run here */
} gpu_form;

/* A row: the first form is cgx's, the rival is the fastest of the others. It counts in the mean MEAN of the program ("micro"),
 * or in none (NULL). SCALE and UNIT are of the printed cost: 1e9 and "ns". */
void gpu_row(const char *name, const gpu_form *forms, int count, double scale, const char *unit, const char *mean);
/* Counts a row's ratio in one more mean. */
void gpu_count(const char *name, const gpu_form *forms, int count, const char *mean);
#endif

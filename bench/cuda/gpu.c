/* SPDX-License-Identifier: MIT */
#include "gpu.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES = 11, MOST_MEANS = 8 };

cgx_queue *gpu_queue;
cgx_device_info gpu_info = CGX_DEVICE_INFO_INIT;
static cgx_event *before, *behind;
static uint64_t state;
static const char *program;
static struct {
    const char *name;
    double logs, capped_logs; /* sums */
    double worst;
    char worst_case[96];
    int count;
} means[MOST_MEANS];

void gpu_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, why);
    exit(1);
}

void gpu_begin(int argc, char **argv, const char *bench)
{
    static const bench_subject none[] = { { NULL, NULL, NULL, NULL } };
    program = bench;
    bench_begin(argc, argv, bench, none);
    const cgx_status s = cgx_queue_open("cuda", &gpu_queue);
    if (s == CGX_ERROR_NOT_BUILT || s == CGX_ERROR_DRIVER || s == CGX_ERROR_NO_DEVICE) {
        printf("skipped: %s\n", cgx_last_error());
        exit(77);
    }
    CGX_TRY(s);
    CGX_TRY(cgx_queue_get_info(gpu_queue, &gpu_info));
    CGX_TRY(cgx_event_create(gpu_queue, &before));
    CGX_TRY(cgx_event_create(gpu_queue, &behind));
    state = (uint64_t)time(NULL) * 0x9e3779b97f4a7c15u | 1;
    printf("%s: %s, %d units, seed %llu; ratio = rival / cgx, the rival is the fastest of CUDA's own forms\n",
           gpu_info.name, gpu_info.description, gpu_info.units, (unsigned long long)state);
}

int gpu_end(void)
{
    for (int i = 0; i < MOST_MEANS && means[i].count; i++) {
        char name[96];
        const double n = means[i].count;
        snprintf(name, sizeof name, "geometric mean, %s, %d rows", means[i].name, means[i].count);
        bench_row(name, 1, "", "native / cgx", exp(means[i].logs / n));
        snprintf(name, sizeof name, "the same, ratios capped at 3");
        bench_row(name, 1, "", "native / cgx", exp(means[i].capped_logs / n));
        snprintf(name, sizeof name, "slowest: %.60s", means[i].worst_case);
        bench_row(name, 1, "", "native / cgx", means[i].worst);
    }
    cgx_event_destroy(&before);
    cgx_event_destroy(&behind);
    CGX_TRY(cgx_queue_close(&gpu_queue));
    return bench_end();
}

uint64_t gpu_random(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545f4914f6cdd1du;
}

void *gpu_alloc(size_t bytes)
{
    void *memory = NULL;
    CGX_TRY(cgx_alloc(gpu_queue, bytes, CGX_MEM_DEVICE, &memory));
    return memory;
}

void gpu_poison(void *memory, size_t bytes)
{
    CGX_TRY(cgx_fill_u8(gpu_queue, memory, 0xa5, bytes));
}

double gpu_seconds(void (*work)(void *), void *context)
{
    double seconds = 0;
    CGX_TRY(cgx_event_record(before, gpu_queue));
    work(context);
    CGX_TRY(cgx_event_record(behind, gpu_queue));
    CGX_TRY(cgx_event_wait(behind));
    CGX_TRY(cgx_event_elapsed(before, behind, &seconds));
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double gpu_median(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return 0.5 * (samples[(count - 1) / 2] + samples[count / 2]);
}

int gpu_samples(void)
{
    return SAMPLES;
}

static void count_in(const char *mean, const char *name, double ratio)
{
    int i = 0;
    while (i < MOST_MEANS - 1 && means[i].count && strcmp(means[i].name, mean))
        i++;
    means[i].name = mean;
    means[i].logs += log(ratio);
    means[i].capped_logs += log(ratio < 3 ? ratio : 3);
    if (!means[i].count++ || ratio < means[i].worst) {
        means[i].worst = ratio;
        snprintf(means[i].worst_case, sizeof means[i].worst_case, "%s", name);
    }
}

static const gpu_form *best_rival(const gpu_form *forms, int count)
{
    const gpu_form *best = NULL;
    for (int i = 1; i < count; i++)
        if (forms[i].seconds > 0 && (!best || forms[i].seconds < best->seconds))
            best = forms + i;
    return best;
}

void gpu_count(const char *name, const gpu_form *forms, int count, const char *mean)
{
    const gpu_form *best = best_rival(forms, count);
    if (best)
        count_in(mean, name, best->seconds / forms[0].seconds);
}

void gpu_row(const char *name, const gpu_form *forms, int count, double scale, const char *unit, const char *mean)
{
    const gpu_form *best = best_rival(forms, count);
    bench_row(name, forms[0].seconds * scale, unit, best ? best->name : NULL, best ? best->seconds * scale : 0);
    if (mean)
        gpu_count(name, forms, count, mean);
}

/* SPDX-License-Identifier: MIT */
/* The sum of an array of 64 Ki to 1 Gi numbers: microseconds from the first launch to the last result. */
#include <stdio.h>
#include "device_reduce.h"
#include "gpu.h"
#include "reduce_kernels.h"
#include "stream_kernels.h"

enum { LAST_BLOCK, GRID_SYNC, GRID_SYNC_CG, TWO_KERNELS, CUB, WAYS };
static const char *const names[] = { "last block", "grid sync", "cg grid.sync", "two kernels", "cub::DeviceReduce" };

static uint32_t *in, *parts, *count, *sum;
static void *temporary, *stream;
static size_t temporary_bytes;
typedef struct {
    int way, blocks;
    int64_t n;
} work;

static void enqueue(void *context)
{
    const work *w = context;
    const int64_t vectors = w->n / 4;
    const cgx_uint4 *from = (const cgx_uint4 *)(const void *)in;
    const cgx_config c = cgx_config_1d(w->blocks, REDUCE_THREADS);
    switch (w->way) {
    case LAST_BLOCK: CGX_TRY(sum_last_block_launch(gpu_queue, c, from, vectors, parts, count, sum)); break;
    case GRID_SYNC:
        CGX_TRY(sum_grid_sync_launch(gpu_queue, cgx_cooperative(c), from, vectors, parts, count, sum));
        break;
    case GRID_SYNC_CG:
        CGX_TRY(sum_grid_sync_cg_launch(gpu_queue, cgx_cooperative(c), from, vectors, parts, count, sum));
        break;
    case TWO_KERNELS:
        CGX_TRY(sum_parts_launch(gpu_queue, c, from, vectors, parts));
        CGX_TRY(sum_of_parts_launch(gpu_queue, cgx_config_1d(1, REDUCE_THREADS), parts, w->blocks, sum));
        break;
    case CUB:
        if (device_reduce(temporary, temporary_bytes, in, sum, w->n, stream))
            gpu_fail("cub::DeviceReduce", "an error");
        break;
    }
}

static uint32_t word(const uint32_t *from)
{
    uint32_t w;
    CGX_TRY(cgx_copy(gpu_queue, &w, from, sizeof w));
    CGX_TRY(cgx_queue_wait(gpu_queue));
    return w;
}

static void measure(int64_t n)
{
    enum { MOST_SAMPLES = 100 };
    static double samples[WAYS][MOST_SAMPLES];
    double medians[WAYS];
    char name[64];
    int fit = 0;
    CGX_TRY(fill_random_launch(gpu_queue, cgx_fit(gpu_queue, n, 256), in, n, gpu_random()));
    CGX_TRY(cgx_fill_u8(gpu_queue, sum, 0, sizeof *sum));
    CGX_TRY(sum_all_launch(gpu_queue, cgx_fit(gpu_queue, n, 256), in, n, sum));
    const uint32_t expected = word(sum);
    CGX_TRY(cgx_max_cooperative_blocks(gpu_queue, CGX_KERNEL_OF(sum_grid_sync), REDUCE_THREADS, 0, &fit));
    if (fit > 4 * gpu_info.units)
        fit = 4 * gpu_info.units;
    const int64_t need = n / 4 / REDUCE_THREADS;
    const int blocks = need < 1 ? 1 : need < fit ? (int)need : fit;
    CGX_TRY(cgx_fill_u8(gpu_queue, count, 0, sizeof *count));
    /* The ways take turns in being first, for what a kernel finds in the caches is what the one before has left
     * there. Short ones are looked at more often: events count in steps of half a microsecond. */
    const int count_of_samples = n <= 1 << 20 ? MOST_SAMPLES : gpu_samples();
    for (int k = -2; k < count_of_samples; k++)
        for (int i = 0; i < WAYS; i++) {
            const int way = (i + (k < 0 ? 0 : k)) % WAYS;
            work w = { way, blocks, n };
            gpu_poison(parts, (size_t)blocks * sizeof *parts);
            gpu_poison(sum, sizeof *sum);
            samples[way][k < 0 ? 0 : k] = gpu_seconds(enqueue, &w);
            if (word(sum) != expected)
                gpu_fail(names[way], "the sum is wrong");
        }
    for (int way = 0; way < WAYS; way++)
        medians[way] = gpu_median(samples[way], count_of_samples);
    snprintf(name, sizeof name, "sum of %lld, last block", (long long)n);
    gpu_row(name,
            (gpu_form[]){ { NULL, medians[LAST_BLOCK] },
                          { names[TWO_KERNELS], medians[TWO_KERNELS] },
                          { names[CUB], medians[CUB] },
                          { names[GRID_SYNC_CG], medians[GRID_SYNC_CG] } },
            4, 1e6, "us", NULL);
    snprintf(name, sizeof name, "sum of %lld, grid sync", (long long)n);
    gpu_row(name, (gpu_form[]){ { NULL, medians[GRID_SYNC] }, { names[GRID_SYNC_CG], medians[GRID_SYNC_CG] } }, 2, 1e6,
            "us", "reductions");
}

int main(int argc, char **argv)
{
    void *context;
    int64_t most = (int64_t)1 << 30;
    gpu_begin(argc, argv, "cuda_reduce");
    while ((size_t)most * 4 > gpu_info.memory_bytes / 2)
        most /= 4;
    in = gpu_alloc((size_t)most * 4);
    parts = gpu_alloc(65536 * sizeof *parts);
    count = gpu_alloc(sizeof *count);
    sum = gpu_alloc(sizeof *sum);
    CGX_TRY(cgx_queue_get_native(gpu_queue, &context, &stream));
    temporary_bytes = device_reduce_bytes(most);
    if (!temporary_bytes)
        gpu_fail("cub::DeviceReduce", "does not say how much memory it needs");
    temporary = gpu_alloc(temporary_bytes);
    for (int64_t n = 1 << 16; n < most; n *= 16)
        measure(n);
    measure(most);
    void *const memory[] = { in, parts, count, sum, temporary };
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        CGX_TRY(cgx_free(gpu_queue, memory[i]));
    return gpu_end();
}

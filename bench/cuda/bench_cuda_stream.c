/* SPDX-License-Identifier: MIT */
/* Reading and copying 4 GiB: milliseconds a pass, terabytes a second beside it. Blocks: as many as are resident. */
#include <stdio.h>
#include <stdlib.h>
#include "gpu.h"
#include "stream_kernels.h"

typedef struct {
    const char *name;
    const cgx_kernel *kernel;
    int threads;
    size_t shared;
    int bulk; /* needs a device with bulk copies */
} form;
#define ROW(name, threads, shared) ROW_##name = __COUNTER__,
enum { FOREACH_READER(ROW) FOREACH_COPIER(ROW) ROWS };
#undef ROW
#define ROW(name, threads, shared) { #name, CGX_KERNEL_OF(name), threads, shared, 0 },
static const form forms[] = { FOREACH_READER(ROW) FOREACH_COPIER(ROW) };

static uint32_t *in, *out, *sums;
static int64_t numbers; /* of 4 bytes */
typedef struct {
    const form *form;
    int blocks, copies;
} work;

static void enqueue(void *context)
{
    const work *w = context;
    void *result = w->copies ? out : sums;
    int64_t n = numbers / 4;
    void *arguments[] = { &in, &n, &result };
    cgx_config c = cgx_with_shared(cgx_config_1d(w->blocks, w->form->threads), w->form->shared);
    CGX_TRY(cgx_launch(gpu_queue, w->form->kernel, c, arguments, 3));
}
static void enqueue_copy(void *context)
{
    (void)context;
    CGX_TRY(cgx_copy(gpu_queue, out, in, (size_t)numbers * 4));
}

static uint32_t fetch_word(const uint32_t *from)
{
    uint32_t word;
    CGX_TRY(cgx_copy(gpu_queue, &word, from, sizeof word));
    CGX_TRY(cgx_queue_wait(gpu_queue));
    return word;
}

static int blocks_of(const form *f)
{
    int per_unit = 0;
    CGX_TRY(cgx_occupancy(gpu_queue, f->kernel, f->threads, f->shared, &per_unit));
    return per_unit * gpu_info.units;
}

static uint32_t expected_sum(void)
{
    CGX_TRY(fill_random_launch(gpu_queue, cgx_fit(gpu_queue, numbers, 256), in, numbers, gpu_random()));
    CGX_TRY(cgx_fill_u8(gpu_queue, sums, 0, sizeof *sums));
    CGX_TRY(sum_all_launch(gpu_queue, cgx_fit(gpu_queue, numbers, 256), in, numbers, sums));
    return fetch_word(sums);
}

static double read_once(const form *f, uint32_t expected)
{
    const work w = { f, blocks_of(f), 0 };
    const size_t bytes = (size_t)w.blocks * sizeof *sums;
    uint32_t *host = malloc(bytes), sum = 0;
    gpu_poison(sums, bytes);
    const double seconds = gpu_seconds(enqueue, (void *)(uintptr_t)&w);
    CGX_TRY(cgx_copy(gpu_queue, host, sums, bytes));
    CGX_TRY(cgx_queue_wait(gpu_queue));
    for (int i = 0; i < w.blocks; i++)
        sum += host[i];
    free(host);
    if (sum != expected)
        gpu_fail(f->name, "the sum is wrong");
    return seconds;
}

static double copy_once(const form *f, int blocks)
{
    const work w = { f, blocks, 1 };
    gpu_poison(out, (size_t)numbers * 4);
    const double seconds = gpu_seconds(f ? enqueue : enqueue_copy, (void *)(uintptr_t)&w);
    CGX_TRY(cgx_fill_u8(gpu_queue, sums, 0, sizeof *sums));
    CGX_TRY(differ_launch(gpu_queue, cgx_fit(gpu_queue, numbers, 256), in, out, numbers, sums));
    if (fetch_word(sums))
        gpu_fail(f ? f->name : "cgx_copy", "the copy differs");
    return seconds;
}

static void rate(const char *name, double seconds, int passes)
{
    char text[96];
    snprintf(text, sizeof text, "%s, rate", name);
    bench_row(text, (double)numbers * 4 * passes / seconds * 1e-12, "TB/s", NULL, 0);
}

static double medians[ROWS];

static void row(const char *name, int cgx, const int *rivals, int count, const char *mean)
{
    gpu_form all[GPU_FORMS] = { { NULL, medians[cgx] } };
    for (int i = 0; i < count; i++)
        all[i + 1] = (gpu_form){ forms[rivals[i]].name, medians[rivals[i]] };
    gpu_row(name, all, count + 1, 1e3, "ms", mean);
    rate(name, medians[cgx], cgx >= ROW_copy_bulk_6x16k ? 2 : 1);
}

int main(int argc, char **argv)
{
    static double samples[ROWS][64];
    static const int plain[] = { ROW_read_plain_1, ROW_read_plain_4, ROW_read_plain_8 };
    static const int groups[] = { ROW_read_cg_4k, ROW_read_cg_16k, ROW_read_pipeline_2x16k, ROW_read_pipeline_4x8k };
    static const int threads[] = { ROW_read_primitive_4, ROW_read_primitive_8 };
    static const int barriers[] = { ROW_read_barrier_4x8k, ROW_read_barrier_4x16k };
    static const int copies[] = { ROW_copy_plain };
    gpu_begin(argc, argv, "cuda_stream");
    numbers = (int64_t)1 << 30;
    while ((size_t)numbers * 8 > gpu_info.memory_bytes * 3 / 4)
        numbers /= 2;
    in = gpu_alloc((size_t)numbers * 4);
    out = gpu_alloc((size_t)numbers * 4);
    sums = gpu_alloc(1 << 20);

    uint32_t expected = expected_sum();
    double engine[64];
    for (int k = -1; k < gpu_samples(); k++) {
        for (int f = 0; f < ROWS; f++) {
            const int blocks = f == ROW_copy_bulk_6x16k  ? 2 * gpu_info.units
                               : f == ROW_copy_bulk_8x8k ? 3 * gpu_info.units
                                                         : 8 * gpu_info.units;
            const double t = f < ROW_copy_bulk_6x16k ? read_once(forms + f, expected) : copy_once(forms + f, blocks);
            samples[f][k < 0 ? 0 : k] = t;
        }
        engine[k < 0 ? 0 : k] = copy_once(NULL, 0);
    }
    for (int f = 0; f < ROWS; f++)
        medians[f] = gpu_median(samples[f], gpu_samples());
    row("read, group copy of 4 KiB, loads", ROW_read_group_4k, plain, 3, NULL);
    row("read, group copy of 16 KiB, loads", ROW_read_group_16k, plain, 3, NULL);
    row("read, group copy of 16 KiB", ROW_read_group_16k, groups, 4, "streams");
    row("read, thread copies, 4 deep", ROW_read_thread_4, threads, 2, "streams");
    row("read, thread copies, 8 deep", ROW_read_thread_8, threads, 2, "streams");
    row("read, bulk copies 4 x 8 KiB", ROW_read_bulk_4x8k, barriers, 2, "streams");
    row("read, bulk copies 4 x 16 KiB", ROW_read_bulk_4x16k, barriers, 2, "streams");
    row("read, bulk copies 6 x 32 KiB, loads", ROW_read_bulk_6x32k, plain, 3, "streams");
    row("copy, bulk in and out, 6 x 16 KiB", ROW_copy_bulk_6x16k, copies, 1, "streams");
    row("copy, bulk in and out, 8 x 8 KiB", ROW_copy_bulk_8x8k, copies, 1, NULL);
    row("copy, loads and stores of vectors", ROW_copy_vectors, copies, 1, NULL);
    rate("copy, the engine (cgx_copy)", gpu_median(engine, gpu_samples()), 2);
    void *const memory[] = { in, out, sums };
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        CGX_TRY(cgx_free(gpu_queue, memory[i]));
    return gpu_end();
}

/* SPDX-License-Identifier: MIT */
/* What one operation costs in a chain of them: nanoseconds, the loop's own of about 15 included, which is the first row. One
 * block, or one cluster. Beside it cooperative groups, libcu++, CUB and what one would write by hand. */
#include <stdio.h>
#include <string.h>
#include "block_kernels.h"
#include "gpu.h"
#include "scan_kernels.h"
#include "warp_kernels.h"

enum { SHORT = 200, LONG = 8200, MOST_THREADS = 8 * 256 > 1024 ? 8 * 256 : 1024 };

/* What thread I of N has to get from the inputs of its block. */
typedef uint64_t expectation(const uint32_t *in, int i, int n);

static uint64_t sum(const uint32_t *in, int first, int count, uint32_t mask)
{
    uint64_t s = 0;
    for (int i = first; i < first + count; i++)
        s += in[i] & mask;
    return s;
}
#define EXPECT_SUM(name, width, mask)                                           \
    static uint64_t name(const uint32_t *in, int i, int n)                      \
    {                                                                           \
        return sum(in, i / (width) * (width), (width) < n ? (width) : n, mask); \
    }
EXPECT_SUM(sum_8_f, 8, 0xff)
EXPECT_SUM(sum_16, 16, 0xffff)
EXPECT_SUM(sum_32, 32, 0xffff)
EXPECT_SUM(sum_32_f, 32, 0xff)
EXPECT_SUM(sum_128, 128, 0xffff)
EXPECT_SUM(sum_128_f, 128, 0xff)
EXPECT_SUM(sum_block, n, 0xffff)
EXPECT_SUM(sum_block_f, n, 0xff)
static uint64_t same(const uint32_t *in, int i, int n)
{
    (void)n;
    return in[i] & 0xffff;
}
static uint64_t largest(const uint32_t *in, int i, int n)
{
    uint64_t m = 0;
    (void)n;
    for (int k = i & ~31; k < (i & ~31) + 32; k++)
        m = (in[k] & 0xff) > m ? in[k] & 0xff : m;
    return m;
}
static uint64_t sum_u64(const uint32_t *in, int i, int n)
{
    uint64_t s = 0;
    (void)n;
    for (int k = i & ~31; k < (i & ~31) + 32; k++)
        s += (uint64_t)in[k] * 0x10001;
    return s;
}
static uint64_t inclusive_f(const uint32_t *in, int i, int n)
{
    (void)n;
    return sum(in, i & ~31, i % 32 + 1, 0xff);
}
static uint64_t exclusive(const uint32_t *in, int i, int n)
{
    (void)n;
    return sum(in, i & ~31, i % 32, 0xffff);
}
static uint64_t inclusive_block(const uint32_t *in, int i, int n)
{
    (void)n;
    return sum(in, 0, i + 1, 0xffff);
}
static uint64_t inclusive_block_f(const uint32_t *in, int i, int n)
{
    (void)n;
    return sum(in, 0, i + 1, 0xff);
}
static uint64_t first_of_largest(const uint32_t *in, int i, int n)
{
    int at = i & ~31;
    (void)n;
    for (int k = i & ~31; k < (i & ~31) + 32; k++)
        at = (in[k] & 0xffff) > (in[at] & 0xffff) ? k : at;
    return (in[at] & 0xffff) | (uint64_t)(at & 31) << 16;
}
static uint64_t of_even(const uint32_t *in, int i, uint32_t mask)
{
    uint64_t s = 0;
    if (i & 1)
        return in[i] & mask;
    for (int k = i & ~31; k < (i & ~31) + 32; k += 2)
        s += in[k] & mask;
    return s;
}
static uint64_t even_f(const uint32_t *in, int i, int n)
{
    (void)n;
    return of_even(in, i, 0xff);
}
static uint64_t even(const uint32_t *in, int i, int n)
{
    (void)n;
    return of_even(in, i, 0xffff);
}
static uint64_t below_even(const uint32_t *in, int i, int n)
{
    uint64_t s = 0;
    (void)n;
    if (i & 1)
        return in[i] & 0xffff;
    for (int k = i & ~31; k < i; k += 2)
        s += in[k] & 0xffff;
    return s;
}
static uint64_t sum_of_same(const uint32_t *in, int i, int n)
{
    uint64_t s = 0;
    (void)n;
    for (int k = i & ~31; k < (i & ~31) + 32; k++)
        s += ((in[k] ^ in[i]) & 7) == 0 ? in[k] & 0xffff : 0;
    return s;
}
/* Size, rank and number of the group of one's label among MASK + 1; groups are numbered by their lowest members. */
static void place(const uint32_t *in, int i, uint32_t mask, int *size, int *rank, int *group)
{
    uint32_t seen = 0;
    *size = *rank = 0, *group = -1;
    for (int k = i & ~31; k < (i & ~31) + 32; k++) {
        if ((in[k] & mask) == (in[i] & mask)) {
            if (*group < 0)
                *group = __builtin_popcount(seen);
            ++*size, *rank += k < i;
        }
        seen |= 1u << (in[k] & mask);
    }
}
static uint64_t labels(const uint32_t *in, int i, int n)
{
    int size, rank, group;
    (void)n;
    place(in, i, 7, &size, &rank, &group);
    return (uint64_t)(size + 100 * rank + 10000 * group);
}
static uint64_t matches(const uint32_t *in, int i, int n)
{
    return labels(in, i, n) % 100;
}
static uint64_t all_matches(const uint32_t *in, int i, int n)
{
    uint64_t same = 0;
    (void)n;
    for (int k = i & ~31; k < (i & ~31) + 32; k++)
        same += (in[k] & 0xffff) == (in[i] & 0xffff);
    return same;
}
static uint64_t halves(const uint32_t *in, int i, int n)
{
    int size, rank, group;
    (void)n;
    place(in, i, 1, &size, &rank, &group);
    return (uint64_t)(size + 100 * rank);
}

typedef struct {
    const char *name;
    const cgx_kernel *kernel;
} form;
typedef struct {
    const char *name, *mean;
    int threads, blocks;
    expectation *expected;
    form forms[GPU_FORMS]; /* the first is cgx's */
} row;
#define K(name) CGX_KERNEL_OF(name)

/* Rows of the mean "micro" for which there is a form beside CUDA's that is not the same instruction, or the same
 * loop over it; clusters among them, for which there would be one if less order were asked. They have a mean of
 * their own, too. */
static const char PAIRED[] = "pairs";

static const row rows[] = {
    { "loop alone", NULL, 32, 1, same, { { 0, K(loop) } } },
    { "warp, sum of u32",
      "micro",
      32,
      1,
      sum_32,
      { { 0, K(warp_add_u32) },
        { "cg::reduce", K(warp_add_u32_cg) },
        { "__reduce_add_sync", K(warp_add_u32_redux) } } },
    { "warp, sum of f32",
      "micro",
      32,
      1,
      sum_32_f,
      { { 0, K(warp_add_f32) }, { "cg::reduce", K(warp_add_f32_cg) }, { "shuffles", K(warp_add_f32_shuffle) } } },
    { "warp, max of f32",
      PAIRED,
      32,
      1,
      largest,
      { { 0, K(warp_max_f32) },
        { "cg::reduce", K(warp_max_f32_cg) },
        { "fmaxf of shuffles", K(warp_max_f32_shuffle) } } },
    { "warp, sum of u64", PAIRED, 32, 1, sum_u64, { { 0, K(warp_add_u64) }, { "cg::reduce", K(warp_add_u64_cg) } } },
    { "warp, inclusive scan of f32",
      PAIRED,
      32,
      1,
      inclusive_f,
      { { 0, K(warp_scan_f32) }, { "cg::inclusive_scan", K(warp_scan_f32_cg) } } },
    { "warp, exclusive scan of u32",
      "micro",
      32,
      1,
      exclusive,
      { { 0, K(warp_exclusive_u32) }, { "cg::exclusive_scan", K(warp_exclusive_u32_cg) } } },
    { "tile of 8, sum of f32",
      PAIRED,
      32,
      1,
      sum_8_f,
      { { 0, K(tile8_add_f32) }, { "cg::reduce", K(tile8_add_f32_cg) } } },
    { "tile of 16, sum of u32",
      "micro",
      32,
      1,
      sum_16,
      { { 0, K(tile16_add_u32) }, { "cg::reduce", K(tile16_add_u32_cg) } } },
    { "tile of 8, sync", "micro", 32, 1, same, { { 0, K(tile8_sync) }, { "cg sync", K(tile8_sync_cg) } } },
    { "coalesced 16 of 32, sum of f32",
      PAIRED,
      32,
      1,
      even_f,
      { { 0, K(coalesced_add_f32) }, { "cg::reduce", K(coalesced_add_f32_cg) } } },
    { "coalesced 16 of 32, sum of u32",
      "micro",
      32,
      1,
      even,
      { { 0, K(coalesced_add_u32) }, { "cg::reduce", K(coalesced_add_u32_cg) } } },
    { "partition by 8 labels", "micro", 32, 1, labels, { { 0, K(labeled) }, { "cg", K(labeled_cg) } } },
    { "match of 8 labels", PAIRED, 32, 1, matches, { { 0, K(match) }, { "__match_any_sync", K(match_native) } } },
    { "partition by a predicate", "micro", 32, 1, halves, { { 0, K(binary) }, { "cg", K(binary_cg) } } },
    { "block of 256, sync",
      "micro",
      256,
      1,
      same,
      { { 0, K(block_sync) }, { "__syncthreads", K(block_sync_native) } } },
    { "block of 1024, sync",
      "micro",
      1024,
      1,
      same,
      { { 0, K(block_sync) }, { "__syncthreads", K(block_sync_native) } } },
    { "tile of 128 (512 threads), sync",
      PAIRED,
      512,
      1,
      same,
      { { 0, K(tile128_sync) }, { "cg sync", K(tile128_sync_cg) } } },
    { "tile of 64 (512 threads), sync",
      PAIRED,
      512,
      1,
      same,
      { { 0, K(tile64_sync) }, { "cg sync", K(tile64_sync_cg) } } },
    { "tile of 128 (512 thr.), sum of u32",
      PAIRED,
      512,
      1,
      sum_128,
      { { 0, K(tile128_add_u32) }, { "cg::reduce", K(tile128_add_u32_cg) } } },
    { "tile of 128 (512 thr.), sum of f32",
      "micro",
      512,
      1,
      sum_128_f,
      { { 0, K(tile128_add_f32) }, { "cg::reduce", K(tile128_add_f32_cg) } } },
    { "block of 256, sum of u32",
      PAIRED,
      256,
      1,
      sum_block,
      { { 0, K(block_add_u32_256) }, { "cg tile", K(block_add_u32_256_cg) }, { "CUB", K(block_add_u32_256_cub) } } },
    { "block of 512, sum of u32",
      PAIRED,
      512,
      1,
      sum_block,
      { { 0, K(block_add_u32_512) }, { "cg tile", K(block_add_u32_512_cg) }, { "CUB", K(block_add_u32_512_cub) } } },
    { "block of 1024, sum of u32",
      PAIRED,
      1024,
      1,
      sum_block,
      { { 0, K(block_add_u32_1024) }, { "cg tile", K(block_add_u32_1024_cg) }, { "CUB", K(block_add_u32_1024_cub) } } },
    { "block of 256, sum of f32",
      "micro",
      256,
      1,
      sum_block_f,
      { { 0, K(block_add_f32_256) }, { "CUB", K(block_add_f32_256_cub) } } },
#define MBARRIER(threads)                           \
    { "mbarrier by token, " #threads " thr.",       \
      "micro",                                      \
      threads,                                      \
      1,                                            \
      same,                                         \
      { { 0, K(mbarrier_token) },                   \
        { "test_wait", K(mbarrier_test) },          \
        { "try_wait", K(mbarrier_try) },            \
        { "cuda::barrier", K(mbarrier_libcu) } } }, \
        { "mbarrier by parity, " #threads " thr.",  \
          PAIRED,                                   \
          threads,                                  \
          1,                                        \
          same,                                     \
          { { 0, K(mbarrier_parity) },              \
            { "test_wait", K(mbarrier_test) },      \
            { "try_wait", K(mbarrier_try) },        \
            { "cuda::barrier", K(mbarrier_libcu) } } },
    MBARRIER(32) MBARRIER(256) MBARRIER(1024)
#define CLUSTER(blocks)                                                \
    { "cluster of " #blocks " x 256, sync",                            \
      PAIRED,                                                          \
      256,                                                             \
      blocks,                                                          \
      same,                                                            \
      { { 0, K(cluster_sync) }, { "cg sync", K(cluster_sync_cg) } } }, \
        { "cluster of " #blocks " x 256, execution only", NULL, 256, blocks, same, { { 0, K(cluster_execution) } } },
        CLUSTER(2) CLUSTER(4) CLUSTER(8)
#define BEYOND(name, threads, expected, ...) { name, "beyond", threads, 1, expected, { __VA_ARGS__ } },
            BEYOND("tile of 64 (1024 threads), sync", 1024, same, { 0, K(tile64_sync_1024) },
                   { "cg sync", K(tile64_sync_1024_cg) })
                BEYOND("warp, sum of f64", 32, sum_32, { 0, K(warp_add_f64) }, { "cg::reduce", K(warp_add_f64_cg) })
                    BEYOND("warp, argmax, user's operator", 32, first_of_largest, { 0, K(warp_argmax) },
                           { "cg::reduce", K(warp_argmax_cg) })
                        BEYOND("coalesced 16 of 32, exclusive scan", 32, below_even, { 0, K(coalesced_scan) },
                               { "cg::exclusive_scan", K(coalesced_scan_cg) })
                            BEYOND("sum of f32 by 8 labels", 32, sum_of_same, { 0, K(sum_by_label) },
                                   { "cg::reduce", K(sum_by_label_cg) })
                                BEYOND("match of 32-bit labels", 32, all_matches, { 0, K(match_any_label) },
                                       { "__match_any_sync", K(match_any_label_native) })
                                    BEYOND("block of 256, scan of u32", 256, inclusive_block,
                                           { 0, K(block_scan_u32_256) }, { "CUB", K(block_scan_u32_256_cub) },
                                           { "CUB's warp scans", K(block_scan_u32_256_warps) })
                                        BEYOND("block of 256, scan of f32", 256, inclusive_block_f,
                                               { 0, K(block_scan_f32_256) }, { "CUB", K(block_scan_f32_256_cub) },
                                               { "CUB's warp scans", K(block_scan_f32_256_warps) })
};

static uint32_t *in, host_in[MOST_THREADS];
static uint64_t *out, host_out[MOST_THREADS];
typedef struct {
    const row *row;
    const cgx_kernel *kernel;
    int iterations;
} work;

static void enqueue(void *context)
{
    const work *w = context;
    uint32_t zero = 0;
    void *arguments[] = { (void *)(uintptr_t)&w->iterations, &zero, &in, &out };
    cgx_config c = cgx_config_1d(w->row->blocks, w->row->threads);
    if (w->row->blocks > 1)
        c.cluster = cgx_dim(w->row->blocks, 1, 1);
    CGX_TRY(cgx_launch(gpu_queue, w->kernel, c, arguments, 4));
}

static double timed(const row *r, const form *f, int iterations)
{
    work w = { r, f->kernel, iterations };
    const int n = r->threads * r->blocks;
    gpu_poison(out, (size_t)n * sizeof *out);
    const double seconds = gpu_seconds(enqueue, &w);
    CGX_TRY(cgx_copy(gpu_queue, host_out, out, (size_t)n * sizeof *out));
    CGX_TRY(cgx_queue_wait(gpu_queue));
    for (int i = 0; i < n; i++) {
        const uint64_t expected = r->expected(host_in + i / r->threads * r->threads, i % r->threads, r->threads);
        if (host_out[i] != expected) {
            char text[160];
            snprintf(text, sizeof text, "%s: thread %d has %llu, not %llu", f->name ? f->name : "cgx", i,
                     (unsigned long long)host_out[i], (unsigned long long)expected);
            gpu_fail(r->name, text);
        }
    }
    return seconds;
}

static void measure(const row *r)
{
    static double samples[GPU_FORMS][64];
    gpu_form forms[GPU_FORMS] = { { NULL, 0 } };
    int count = 0;
    if (r->blocks > gpu_info.max_cluster_blocks)
        return;
    for (int i = 0; i < r->threads * r->blocks; i++)
        host_in[i] = (uint32_t)(gpu_random() >> 32);
    CGX_TRY(cgx_copy(gpu_queue, in, host_in, sizeof host_in));
    while (count < GPU_FORMS && r->forms[count].kernel)
        count++;
    for (int f = 0; f < count; f++)
        timed(r, r->forms + f, 1), timed(r, r->forms + f, SHORT);
    for (int k = 0; k < gpu_samples(); k++)
        for (int f = 0; f < count; f++) {
            const double a = timed(r, r->forms + f, SHORT), b = timed(r, r->forms + f, LONG);
            samples[f][k] = (b - a) / (LONG - SHORT);
        }
    for (int f = 0; f < count; f++)
        forms[f] = (gpu_form){ r->forms[f].name, gpu_median(samples[f], gpu_samples()) };
    const bool paired = r->mean && !strcmp(r->mean, PAIRED);
    gpu_row(r->name, forms, count, 1e9, "ns", paired ? "micro" : r->mean);
    if (paired)
        gpu_count(r->name, forms, count, PAIRED);
}

/* ---- the grid ---- */

typedef struct {
    const cgx_kernel *kernel;
    int blocks, threads, rounds, checked;
} grid_work;
static uint32_t *slots, *wrong;

static void enqueue_grid(void *context)
{
    const grid_work *w = context;
    void *arguments[] = { &slots, &wrong, (void *)(uintptr_t)&w->rounds, (void *)(uintptr_t)&w->checked };
    CGX_TRY(cgx_launch(gpu_queue, w->kernel, cgx_cooperative(cgx_config_1d(w->blocks, w->threads)), arguments, 4));
}

static double timed_grid(grid_work w, int rounds, int checked)
{
    uint32_t bad = 1;
    w.rounds = rounds, w.checked = checked;
    CGX_TRY(cgx_fill_u8(gpu_queue, slots, 0, (size_t)w.blocks * sizeof *slots));
    CGX_TRY(cgx_fill_u8(gpu_queue, wrong, 0, sizeof *wrong));
    const double seconds = gpu_seconds(enqueue_grid, &w);
    CGX_TRY(cgx_copy(gpu_queue, &bad, wrong, sizeof bad));
    CGX_TRY(cgx_queue_wait(gpu_queue));
    if (bad)
        gpu_fail("grid sync", "a block is through the barrier before another has come");
    return seconds;
}

static void measure_grid(int blocks, int threads)
{
    enum { FEW = 50, MANY = 550 };
    static double samples[2][64];
    const cgx_kernel *const kernels[] = { K(grid_rounds), K(grid_rounds_cg) };
    gpu_form forms[] = { { NULL, 0 }, { "cg grid.sync", 0 } };
    char name[64];
    int most = 0;
    CGX_TRY(cgx_max_cooperative_blocks(gpu_queue, kernels[0], threads, 0, &most));
    if (blocks > most)
        return;
    for (int f = 0; f < 2; f++)
        timed_grid((grid_work){ kernels[f], blocks, threads, 0, 0 }, FEW, 1);
    for (int k = 0; k < gpu_samples(); k++)
        for (int f = 0; f < 2; f++) {
            const grid_work w = { kernels[f], blocks, threads, 0, 0 };
            const double a = timed_grid(w, FEW, 0), b = timed_grid(w, MANY, 0);
            samples[f][k] = (b - a) / (MANY - FEW);
        }
    for (int f = 0; f < 2; f++)
        forms[f].seconds = gpu_median(samples[f], gpu_samples());
    snprintf(name, sizeof name, "grid of %d x %d, sync", blocks, threads);
    gpu_row(name, forms, 2, 1e9, "ns", "grid");
}

int main(int argc, char **argv)
{
    gpu_begin(argc, argv, "cuda_micro");
    in = gpu_alloc(sizeof host_in);
    out = gpu_alloc(sizeof host_out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        measure(rows + i);
    slots = gpu_alloc(65536 * sizeof *slots);
    wrong = gpu_alloc(sizeof *wrong);
    measure_grid(16, 128);
    for (int per_unit = 1; per_unit <= 16; per_unit *= 2)
        measure_grid(gpu_info.units * per_unit, 128);
    measure_grid(gpu_info.units, 1024);
    void *const memory[] = { in, out, slots, wrong };
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        CGX_TRY(cgx_free(gpu_queue, memory[i]));
    return gpu_end();
}

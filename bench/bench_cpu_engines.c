/* SPDX-License-Identifier: MIT */
/* The engines of the CPU on one core: kernels with barriers as the plug-in compiles them, on fibers, and what a person would
 * write instead: the kernel's own algorithm with its loop broken up at the barriers, and the plainest fast loops. Microseconds. */
#include <math.h>
#include <stdio.h>
#include "bench.h"
#include "engines_kernels.h"
#include "engines_rivals.h"

enum { TRIAD = 1 << 16, SIDE = 256, ITEMS = 1 << 18, GRID = 512, RING_BLOCKS = 16, RING_STAGES = 64 };
enum { SIZE = ENGINES_THREADS, BLOCKS = ITEMS / SIZE, PADDED = (GRID + 2) * (GRID + 2) };

static cgx_queue *queue;
static float a[ITEMS + PADDED], b[ITEMS + PADDED], c[ITEMS + PADDED], kept[ITEMS + PADDED];
static int ring_in[RING_STAGES * 32], ring_out[RING_BLOCKS * SIZE];

static void prepare(int64_t unused)
{
    (void)unused;
    if (!queue)
        CGX_TRY(cgx_queue_open("cpu", &queue));
    for (int i = 0; i < ITEMS + PADDED; i++) {
        a[i] = -1;
        b[i] = (float)((uint32_t)i * 2654435761u >> 20 & 255) / 256.0f;
        c[i] = b[i] * 0.5f;
        kept[i] = -1;
    }
    for (int i = 0; i < RING_STAGES * 32; i++)
        ring_in[i] = i % 101;
}

static int same(int from, int count)
{
    int right = 1;
    for (int i = from; i < from + count; i++)
        right &= fabsf(a[i] - kept[i]) <= 1e-4f * (1 + fabsf(kept[i]));
    return right;
}

/* NAME: by cgx; NAME_fission and NAME_hand; and the check against the plain loop. */
#define SUBJECTS(name, launch, fission, hand, reference, from, count) \
    static void name(int64_t u, int64_t n)                            \
    {                                                                 \
        (void)u;                                                      \
        for (; n; n--)                                                \
            CGX_TRY(launch);                                          \
        CGX_TRY(cgx_queue_wait(queue));                               \
    }                                                                 \
    static void name##_fission(int64_t u, int64_t n)                  \
    {                                                                 \
        (void)u;                                                      \
        for (; n; n--)                                                \
            fission;                                                  \
    }                                                                 \
    static void name##_hand(int64_t u, int64_t n)                     \
    {                                                                 \
        (void)u;                                                      \
        for (; n; n--)                                                \
            hand;                                                     \
    }                                                                 \
    static int name##_check(int64_t u)                                \
    {                                                                 \
        (void)u;                                                      \
        reference;                                                    \
        return same(from, count);                                     \
    }
#define LINE(n) cgx_config_1d((n) / SIZE, SIZE)
SUBJECTS(triad, engines_triad_launch(queue, LINE(TRIAD), a, b, c, 3.0f, TRIAD),
         fission_triad(a, b, c, 3.0f, TRIAD, SIZE), by_hand_triad(a, b, c, 3.0f, TRIAD),
         by_hand_triad(kept, b, c, 3.0f, TRIAD), 0, TRIAD)
SUBJECTS(sgemm,
         engines_sgemm_launch(queue, cgx_config_make(cgx_dim(SIDE / 16, SIDE / 16, 1), cgx_dim(16, 16, 1)), b, c, a,
                              SIDE),
         fission_sgemm(b, c, a, SIDE, 16, 16), by_hand_sgemm(b, c, a, SIDE), by_hand_sgemm(b, c, kept, SIDE), 0,
         SIDE *SIDE)
SUBJECTS(reduce, engines_reduce_launch(queue, LINE(ITEMS), b, a), fission_reduce(b, a, BLOCKS, SIZE),
         by_hand_reduce(b, a, BLOCKS, SIZE), by_hand_reduce(b, kept, BLOCKS, SIZE), 0, BLOCKS)
SUBJECTS(collective, engines_collective_launch(queue, LINE(ITEMS), b, a), fission_reduce(b, a, BLOCKS, SIZE),
         by_hand_reduce(b, a, BLOCKS, SIZE), by_hand_reduce(b, kept, BLOCKS, SIZE), 0, BLOCKS)
SUBJECTS(scan, engines_scan_launch(queue, LINE(ITEMS), b, a), fission_scan(b, a, BLOCKS, SIZE),
         by_hand_scan(b, a, BLOCKS, SIZE), by_hand_scan(b, kept, BLOCKS, SIZE), 0, ITEMS)
SUBJECTS(shuffle, engines_shuffle_launch(queue, LINE(ITEMS), b, a), fission_shuffle(b, a, BLOCKS, SIZE),
         by_hand_shuffle(b, a, BLOCKS, SIZE), by_hand_shuffle(b, kept, BLOCKS, SIZE), 0, ITEMS / 32)
SUBJECTS(stencil,
         engines_stencil_launch(queue, cgx_config_make(cgx_dim(GRID / 32, GRID / 8, 1), cgx_dim(32, 8, 1)), b, a, GRID),
         fission_stencil(b, a, GRID, 32, 8), by_hand_stencil(b, a, GRID), by_hand_stencil(b, kept, GRID), GRID + 3,
         GRID)

static void ring(int64_t u, int64_t n)
{
    (void)u;
    for (; n; n--)
        CGX_TRY(engines_ring_launch(queue, cgx_config_1d(RING_BLOCKS, SIZE), RING_STAGES, ring_in, ring_out));
    CGX_TRY(cgx_queue_wait(queue));
}
static int ring_check(int64_t u)
{
    int right = 1;
    (void)u;
    for (int i = 0; i < RING_BLOCKS * SIZE; i++) {
        int t = i % SIZE, sum = 0;
        for (int k = 0; k < RING_STAGES && t >= 32; k++)
            sum += ring_in[k * 32 + (t % 32 + t / 32) % 32];
        right &= ring_out[i] == sum;
        ring_out[i] = -1;
    }
    return right;
}

#define FOREACH_BENCH_KERNEL(X) X(triad) X(sgemm) X(reduce) X(collective) X(scan) X(shuffle) X(stencil)

int main(int argc, char **argv)
{
#define SUBJECT(name)                                                                                    \
    { #name, prepare, name, name##_check }, { #name "_fission", prepare, name##_fission, name##_check }, \
        { #name "_hand", prepare, name##_hand, name##_check },
    static const bench_subject subjects[] = { FOREACH_BENCH_KERNEL(SUBJECT){ "ring", prepare, ring, ring_check },
                                              { NULL, NULL, NULL, NULL } };
#define NAME(name) #name,
    static const char *const names[] = { FOREACH_BENCH_KERNEL(NAME) };
    char text[64], rival[64];
    bench_begin(argc, argv, "cpu_engines", subjects);
    bench_process *compiled = bench_start("CGX_CPU_WORKERS=1 CGX_CPU_ENGINE=compiled", BENCH_PROCESSOR_TIME),
                  *fibers = bench_start("CGX_CPU_WORKERS=1 CGX_CPU_ENGINE=fiber", BENCH_PROCESSOR_TIME);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char fission[64], hand[64];
        snprintf(fission, sizeof fission, "%s_fission", names[i]);
        snprintf(hand, sizeof hand, "%s_hand", names[i]);
        bench_side sides[] = { { compiled, names[i], 0, 0, NULL },
                               { fibers, names[i], 0, 0, NULL },
                               { compiled, fission, 0, 0, NULL },
                               { compiled, hand, 0, 0, NULL } };
        bench_compare(sides, 4);
        static const char *const rivals[] = { "fibers", "hand fission", "by hand" };
        for (int r = 1; r < 4; r++) {
            snprintf(text, sizeof text, "%s", names[i]);
            snprintf(rival, sizeof rival, "%s", rivals[r - 1]);
            bench_row(text, sides[0].seconds * 1e6, "us", rival, sides[r].seconds * 1e6);
        }
    }
    bench_side sides[] = { { compiled, "ring", 0, 0, NULL }, { fibers, "ring", 0, 0, NULL } };
    bench_compare(sides, 2);
    bench_row("ring (mbarriers)", sides[0].seconds * 1e6, "us", "fibers", sides[1].seconds * 1e6);
    return bench_end();
}

/* SPDX-License-Identifier: MIT */
/* What waiting costs, on one worker: nanoseconds for one thread to pass one barrier, beside the least that fibers with
 * a barrier can be (bare_fibers.c); and what collectives cost, beside the same written by hand. */
#include <stdio.h>
#include "bare_fibers.h"
#include "barrier_kernels.h"
#include "bench.h"

enum { MOST_THREADS = 1024, SYNC_ROUNDS = 1000, MEAN_ROUNDS = 100, COLLECTIVE_THREADS = 256 };

static cgx_queue *queue;
static int *passed, expected[MOST_THREADS];
static float *mean;

/* ---- the child: each subject does one block N times; the parameter is its number of threads ---- */

static void prepare(int64_t threads)
{
    if (!queue) {
        CGX_TRY(cgx_queue_open("cpu", &queue));
        CGX_TRY(cgx_alloc(queue, MOST_THREADS * sizeof *passed, CGX_MEM_DEVICE, (void **)&passed));
        CGX_TRY(cgx_alloc(queue, MOST_THREADS * sizeof *mean, CGX_MEM_DEVICE, (void **)&mean));
    }
    for (int i = 0; i < threads; i++) {
        passed[i] = expected[i] = 0;
        mean[i] = -1;
    }
}

static void expect(int64_t threads, int64_t n, int rounds)
{
    for (int i = 0; i < threads; i++)
        expected[i] = (int)((unsigned)expected[i] + (unsigned)n * (unsigned)rounds);
}

static int check_passed(int64_t threads)
{
    int right = 1;
    for (int i = 0; i < threads; i++)
        right &= passed[i] == expected[i];
    return right;
}

static int check_mean(int64_t size)
{
    int right = 1;
    for (int i = 0; i < COLLECTIVE_THREADS; i++) {
        right &= mean[i] == 0.5f * (float)(size - 1);
        mean[i] = -1;
    }
    return right;
}

#define SYNC(name, kernel, rounds)                                                            \
    static void name(int64_t threads, int64_t n)                                              \
    {                                                                                         \
        expect(threads, n, rounds);                                                           \
        CGX_TRY(kernel##_launch(queue, cgx_config_1d((int)n, (int)threads), rounds, passed)); \
        CGX_TRY(cgx_queue_wait(queue));                                                       \
    }
SYNC(block_rounds, sync_block, SYNC_ROUNDS)
SYNC(block_once, sync_block, 1)
SYNC(tile_rounds, sync_tile_32, SYNC_ROUNDS)

#define MEAN(name, kernel)                                                                             \
    static void name(int64_t size, int64_t n)                                                          \
    {                                                                                                  \
        (void)size;                                                                                    \
        CGX_TRY(kernel##_launch(queue, cgx_config_1d((int)n, COLLECTIVE_THREADS), MEAN_ROUNDS, mean)); \
        CGX_TRY(cgx_queue_wait(queue));                                                                \
    }
MEAN(reduce_block, mean_block)
MEAN(tree_block, mean_block_tree)
MEAN(reduce_tile, mean_tile_32)
MEAN(shuffle_tile, mean_tile_32_shuffles)

#ifdef BARE_FIBERS
#define BARE(name, width, rounds)                                \
    static void bare_##name(int64_t threads, int64_t n)          \
    {                                                            \
        expect(threads, n, rounds);                              \
        bare_fibers_run(n, (int)threads, width, rounds, passed); \
    }
BARE(block_rounds, (int)threads, SYNC_ROUNDS)
BARE(block_once, (int)threads, 1)
BARE(tile_rounds, 32, SYNC_ROUNDS)
#endif

static const bench_subject subjects[] = {
    { "block_rounds", prepare, block_rounds, check_passed },
    { "block_once", prepare, block_once, check_passed },
    { "tile_rounds", prepare, tile_rounds, check_passed },
    { "reduce_block", prepare, reduce_block, check_mean },
    { "tree_block", prepare, tree_block, check_mean },
    { "reduce_tile", prepare, reduce_tile, check_mean },
    { "shuffle_tile", prepare, shuffle_tile, check_mean },
#ifdef BARE_FIBERS
    { "bare_block_rounds", prepare, bare_block_rounds, check_passed },
    { "bare_block_once", prepare, bare_block_once, check_passed },
    { "bare_tile_rounds", prepare, bare_tile_rounds, check_passed },
#endif
    { NULL, NULL, NULL, NULL },
};

/* ---- the parent ---- */

static bench_process *process;

/* Nanoseconds for each of WAITS waits of a block. */
static void compare(const char *name, const char *subject, const char *rival_name, const char *rival, int parameter,
                    double waits)
{
    bench_side sides[] = { { process, subject, parameter, 0, NULL }, { process, rival, parameter, 0, NULL } };
    bench_compare(sides, rival ? 2 : 1);
    bench_row(name, sides[0].seconds / waits * 1e9, "ns", rival ? rival_name : NULL, sides[1].seconds / waits * 1e9);
}

static void compare_sync(const char *format, const char *subject, const char *rival, int threads, int rounds)
{
    char name[64];
    snprintf(name, sizeof name, format, threads);
#ifndef BARE_FIBERS
    rival = NULL;
#endif
    compare(name, subject, "bare fibers", rival, threads, (double)threads * rounds);
}

int main(int argc, char **argv)
{
    bench_begin(argc, argv, "barrier", subjects);
    process = bench_start("CGX_CPU_WORKERS=1 OMP_NUM_THREADS=1", BENCH_PROCESSOR_TIME);
    for (int threads = 32; threads <= MOST_THREADS; threads *= 2)
        compare_sync("block sync, %d threads", "block_rounds", "bare_block_rounds", threads, SYNC_ROUNDS);
    for (int threads = 32; threads <= MOST_THREADS; threads *= 2)
        compare_sync("one sync a block, %d threads", "block_once", "bare_block_once", threads, 1);
    compare_sync("tile-32 sync, %d threads", "tile_rounds", "bare_tile_rounds", 256, SYNC_ROUNDS);
    const double waits = (double)COLLECTIVE_THREADS * MEAN_ROUNDS;
    compare("block-256 reduce f32", "reduce_block", "tree in shared memory", "tree_block", 256, waits);
    compare("tile-32 reduce f32", "reduce_tile", "five shuffles", "shuffle_tile", 32, waits);
    return bench_end();
}

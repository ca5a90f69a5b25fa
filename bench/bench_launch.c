/* SPDX-License-Identifier: MIT */
/* What a launch costs, in microseconds: back to back on one queue, and with a wait after each; on one worker and on
 * two, beside what two threads need for an empty OpenMP region. */
#include <omp.h>
#include "bench.h"
#include "launch_kernels.h"

enum { BLOCKS = 2, THREADS = 32, WAITED_EVERY = 512 };

static cgx_queue *queue;
static int64_t *count, expected;

static void prepare(int64_t unused)
{
    (void)unused;
    if (!queue) {
        CGX_TRY(cgx_queue_open("cpu", &queue));
        CGX_TRY(cgx_alloc(queue, BLOCKS * sizeof *count, CGX_MEM_DEVICE, (void **)&count));
    }
    expected = 0;
    for (int i = 0; i < BLOCKS; i++)
        count[i] = 0;
}

static int check(int64_t unused)
{
    int right = 1;
    (void)unused;
    for (int i = 0; i < BLOCKS; i++)
        right &= count[i] == expected;
    return right;
}

static void back_to_back(int64_t unused, int64_t n)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++) {
        CGX_TRY(empty_launch(queue, cgx_config_1d(BLOCKS, THREADS)));
        if (i % WAITED_EVERY == WAITED_EVERY - 1) /* a program that never waits fills the memory */
            CGX_TRY(cgx_queue_wait(queue));
    }
    CGX_TRY(cgx_queue_wait(queue));
}

/* The same with a kernel that shows that it ran. */
static void counting(int64_t unused, int64_t n)
{
    (void)unused;
    expected += n;
    for (int64_t i = 0; i < n; i++)
        CGX_TRY(count_launches_launch(queue, cgx_config_1d(BLOCKS, THREADS), count));
    CGX_TRY(cgx_queue_wait(queue));
}

static void waited(int64_t unused, int64_t n)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++) {
        CGX_TRY(empty_launch(queue, cgx_config_1d(BLOCKS, THREADS)));
        CGX_TRY(cgx_queue_wait(queue));
    }
}

static void region(int64_t threads, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
#pragma omp parallel num_threads((int)threads)
        __asm__ volatile("" ::: "memory");
    }
}

static const bench_subject subjects[] = {
    { "back to back", prepare, back_to_back, NULL },
    { "counting", prepare, counting, check },
    { "waited", prepare, waited, NULL },
    { "region", NULL, region, NULL },
    { NULL, NULL, NULL, NULL },
};

static void compare(const char *name, bench_process *cgx, const char *subject, bench_process *openmp)
{
    bench_side sides[] = { { cgx, subject, 0, 0, NULL }, { openmp, "region", 2, 0, NULL } };
    bench_compare(sides, openmp ? 2 : 1);
    bench_row(name, sides[0].seconds * 1e6, "us", openmp ? "empty OpenMP region" : NULL, sides[1].seconds * 1e6);
}

int main(int argc, char **argv)
{
    bench_begin(argc, argv, "launch", subjects);
    bench_process *one = bench_start("CGX_CPU_WORKERS=1 OMP_NUM_THREADS=1", BENCH_WALL_TIME);
    bench_process *two = bench_start("CGX_CPU_WORKERS=2 OMP_NUM_THREADS=2", BENCH_WALL_TIME);
    /* In a process of its own: two teams in one slow each other down. */
    bench_process *openmp = bench_start("OMP_NUM_THREADS=2", BENCH_WALL_TIME);
    compare("back to back, 1 worker", one, "back to back", NULL);
    compare("back to back, 1 worker, one store a block", one, "counting", NULL);
    compare("launch and wait, 1 worker", one, "waited", NULL);
    compare("back to back, 2 workers", two, "back to back", openmp);
    compare("back to back, 2 workers, one store a block", two, "counting", openmp);
    compare("launch and wait, 2 workers", two, "waited", openmp);
    return bench_end();
}

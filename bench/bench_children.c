/* SPDX-License-Identifier: MIT */
/* What a launch by a kernel costs, in microseconds: of one block of 32 threads, from one thread, without order, one after
 * the other, and as tails; and in a tree. Asked: 0.5 us for an empty block. */
#include "bench.h"
#include "children_kernels.h"

enum { ROUND = 1000, DEPTH = 11 }; /* launches of one parent; levels of the tree, which has 4,094 children */

static cgx_queue *queue;
static int64_t *count, expected;

static void prepare(int64_t unused)
{
    (void)unused;
    if (!queue) {
        CGX_TRY(cgx_queue_open("cpu", &queue));
        CGX_TRY(cgx_alloc(queue, sizeof *count, CGX_MEM_DEVICE, (void **)&count));
    }
    expected = *count = 0;
}

static int check(int64_t unused)
{
    (void)unused;
    return *count == expected;
}

static void children(int64_t kind, int64_t n)
{
    for (int64_t left = n; left > 0; left -= ROUND)
        CGX_TRY(launch_empty_launch(queue, cgx_config_1d(1, 1), (int)(left < ROUND ? left : ROUND), (int)kind));
    CGX_TRY(cgx_queue_wait(queue));
}

/* The same with children that show that they ran. */
static void counting(int64_t kind, int64_t n)
{
    expected += n;
    for (int64_t left = n; left > 0; left -= ROUND)
        CGX_TRY(
            launch_counting_launch(queue, cgx_config_1d(1, 1), (int)(left < ROUND ? left : ROUND), (int)kind, count));
    CGX_TRY(cgx_queue_wait(queue));
}

static void tree(int64_t unused, int64_t n)
{
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        CGX_TRY(fork_down_launch(queue, cgx_config_1d(1, 1), DEPTH));
    CGX_TRY(cgx_queue_wait(queue));
}

static const bench_subject subjects[] = {
    { "children", prepare, children, NULL },
    { "counting", prepare, counting, check },
    { "tree", prepare, tree, NULL },
    { NULL, NULL, NULL, NULL },
};

static void measure(const char *name, bench_process *cgx, const char *subject, int64_t kind, double launches)
{
    bench_side side = { cgx, subject, kind, 0, 0 };
    bench_compare(&side, 1);
    bench_row(name, side.seconds / launches * 1e6, "us", NULL, 0);
}

int main(int argc, char **argv)
{
    bench_begin(argc, argv, "children", subjects);
    bench_process *one = bench_start("CGX_CPU_WORKERS=1 OMP_NUM_THREADS=1", BENCH_PROCESSOR_TIME);
    bench_process *two = bench_start("CGX_CPU_WORKERS=2 OMP_NUM_THREADS=2", BENCH_WALL_TIME);
    measure("fire and forget, 1 worker", one, "children", CHILDREN_FREE, 1);
    measure("fire and forget, 1 worker, one atomic a block", one, "counting", CHILDREN_FREE, 1);
    measure("in the block's stream, 1 worker", one, "children", CHILDREN_IN_ORDER, 1);
    measure("tails, 1 worker", one, "children", CHILDREN_TAIL, 1);
    measure("tree of two, 12 levels, 1 worker", one, "tree", 0, (2 << DEPTH) - 2);
    measure("fire and forget, 2 workers", two, "children", CHILDREN_FREE, 1);
    measure("in the block's stream, 2 workers", two, "children", CHILDREN_IN_ORDER, 1);
    measure("tree of two, 12 levels, 2 workers", two, "tree", 0, (2 << DEPTH) - 2);
    return bench_end();
}

/* SPDX-License-Identifier: MIT */
/* A group's copy of 16 KiB into shared memory, beside memcpy of as many bytes. One thread copies for the group: with one
 * thread in the block the copy is measured alone, with 32 what the others take to pass it as well. */
#include <string.h>
#include "bench.h"
#include "copy_kernels.h"

enum { STAGES = 512, SHIFT = 16 };
/* The parameter of a subject: threads of the block, and copies between two waits. */
#define SHAPE(threads, between) ((threads) << SHIFT | (between))

static cgx_queue *queue;
static float *in, *out;
static float scratch[2][COPY_FLOATS];

static void prepare(int64_t shape)
{
    (void)shape;
    if (!queue) {
        CGX_TRY(cgx_queue_open("cpu", &queue));
        CGX_TRY(cgx_alloc(queue, 2 * COPY_FLOATS * sizeof *in, CGX_MEM_SHARED, (void **)&in));
        CGX_TRY(cgx_alloc(queue, COPY_FLOATS * sizeof *out, CGX_MEM_SHARED, (void **)&out));
    }
    for (int i = 0; i < 2 * COPY_FLOATS; i++)
        in[i] = (float)i;
    memset(out, 0xcb, COPY_FLOATS * sizeof *out);
    memset(scratch, 0xcb, sizeof scratch);
}

static void group(int64_t shape, int64_t n)
{
    const int threads = (int)(shape >> SHIFT), between = (int)(shape & ((1 << SHIFT) - 1));
    for (int64_t i = 0; i < n; i++)
        CGX_TRY(group_copies_launch(queue, cgx_config_1d(1, threads), STAGES, between, in, out));
    CGX_TRY(cgx_queue_wait(queue));
}

static void plain(int64_t shape, int64_t n)
{
    (void)shape;
    for (int64_t i = 0; i < n; i++) {
        for (int s = 0; s < STAGES; s++) {
            memcpy(scratch[s & 1], in + (s & 1) * COPY_FLOATS, sizeof scratch[0]);
            __asm__ volatile("" : : "r"(scratch) : "memory"); /* every copy is wanted */
        }
        memcpy(out, scratch[(STAGES - 1) & 1], sizeof scratch[0]);
    }
}

static int check(int64_t shape)
{
    int right = 1;
    (void)shape;
    for (int i = 0; i < COPY_FLOATS; i++)
        right &= out[i] == in[((STAGES - 1) & 1) * COPY_FLOATS + i];
    return right;
}

static const bench_subject subjects[] = {
    { "group", prepare, group, check },
    { "memcpy", prepare, plain, check },
    { NULL, NULL, NULL, NULL },
};

int main(int argc, char **argv)
{
    bench_begin(argc, argv, "copy", subjects);
    bench_process *process = bench_start("CGX_CPU_WORKERS=1 OMP_NUM_THREADS=1", BENCH_WALL_TIME);
    static const struct {
        const char *name;
        int shape;
    } cases[] = { { "16 KiB, 1 thread", SHAPE(1, 8) },
                  { "16 KiB, 1 thread, a wait each", SHAPE(1, 1) },
                  { "16 KiB, 32 threads", SHAPE(32, 8) },
                  { "16 KiB, 32 threads, a wait each", SHAPE(32, 1) } };
    for (int i = 0; i < 4; i++) {
        bench_side sides[] = { { process, "group", cases[i].shape, 0, NULL },
                               { process, "memcpy", cases[i].shape, 0, NULL } };
        bench_compare(sides, 2);
        bench_row(cases[i].name, sides[0].seconds / STAGES * 1e9, "ns", "memcpy", sides[1].seconds / STAGES * 1e9);
    }
    return bench_end();
}

/* SPDX-License-Identifier: MIT */
/* How a kernel with a barrier scales: one step of a five-point stencil through shared tiles, two workers beside one. */
#include <math.h>
#include <stddef.h>
#include "bench.h"
#include "stencil_kernel.h"

enum { SIZE = 1024, PITCH = SIZE + 2, CELLS = PITCH * PITCH };

static cgx_queue *queue;
static float *in, *out;

static void prepare(int64_t unused)
{
    (void)unused;
    CGX_TRY(cgx_queue_open("cpu", &queue));
    CGX_TRY(cgx_alloc(queue, CELLS * sizeof *in, CGX_MEM_DEVICE, (void **)&in));
    CGX_TRY(cgx_alloc(queue, CELLS * sizeof *out, CGX_MEM_DEVICE, (void **)&out));
    for (int i = 0; i < CELLS; i++) {
        in[i] = (float)(i % 4093) * 0.01f;
        out[i] = -1;
    }
}

static void step(int64_t unused, int64_t n)
{
    cgx_config c = cgx_config_make(cgx_dim(SIZE / STENCIL_X, SIZE / STENCIL_Y, 1), cgx_dim(STENCIL_X, STENCIL_Y, 1));
    (void)unused;
    for (int64_t i = 0; i < n; i++)
        CGX_TRY(stencil_launch(queue, c, SIZE, in, out));
    CGX_TRY(cgx_queue_wait(queue));
}

static int check(int64_t unused)
{
    int right = 1;
    (void)unused;
    for (int y = 1; y <= SIZE; y++)
        for (int x = 1; x <= SIZE; x++) {
            const float *i = in + y * PITCH + x;
            float *o = out + y * PITCH + x;
            right &= fabsf(*o - 0.2f * (i[0] + i[-1] + i[1] + i[-PITCH] + i[PITCH])) < 1e-4f;
            *o = -1;
        }
    return right;
}

static const bench_subject subjects[] = { { "step", prepare, step, check }, { NULL, NULL, NULL, NULL } };

int main(int argc, char **argv)
{
    const char *one = "CGX_CPU_WORKERS=1 OMP_NUM_THREADS=1";
    bench_begin(argc, argv, "stencil", subjects);
    bench_side sides[] = {
        { bench_start("CGX_CPU_WORKERS=2 OMP_NUM_THREADS=2", BENCH_WALL_TIME), "step", 0, 0, NULL },
        { bench_start(one, BENCH_WALL_TIME), "step", 0, 0, NULL },
        { bench_start(one, BENCH_WALL_TIME), "step", 0, 0, bench_start(one, BENCH_WALL_TIME) },
    };
    bench_compare(sides, 3);
    bench_row("1024 x 1024, 2 workers", sides[0].seconds * 1e6, "us", "1 worker", sides[1].seconds * 1e6);
    /* What two cores of this machine give at most: two programs that share nothing, half the time each takes for its step. */
    bench_row("1024 x 1024, 2 workers", sides[0].seconds * 1e6, "us", "half of 2 x 1 worker",
              0.5 * sides[2].seconds * 1e6);
    return bench_end();
}

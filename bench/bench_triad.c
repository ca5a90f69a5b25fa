/* SPDX-License-Identifier: MIT */
/* a[i] = b[i] + s c[i], in the cache and in memory: a kernel with one thread an element beside a hand-written OpenMP
 * loop, both compiled by gcc and by clang. Every side has a process and so a team of its own, and takes its arrays and
 * fills them in the same way. A sample lies elsewhere in the arrays than the one before it: which sets of a cache the pages
 * of one place fall into changes its time by 10 %, and differs between processes. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"
#include "triad_kernel.h"

enum { THREADS = 256, IN_CACHE = 64 * 1024, IN_MEMORY = 16 * 1024 * 1024 };
static const float SCALE = 0.5f;

static cgx_queue *queue;
static float *arrays[3], *a, *b, *c;

static void lie_at(int64_t first)
{
    a = arrays[0] + first, b = arrays[1] + first, c = arrays[2] + first;
}

static void prepare(int64_t n)
{
    if (!queue) {
        CGX_TRY(cgx_queue_open("cpu", &queue));
        for (int k = 0; k < 3; k++)
            CGX_TRY(cgx_alloc(queue, IN_MEMORY * sizeof(float), CGX_MEM_DEVICE, (void **)&arrays[k]));
    }
    for (int64_t i = 0; i < IN_MEMORY; i++) {
        arrays[0][i] = -1;
        arrays[1][i] = (float)(i % n % 1021);
        arrays[2][i] = (float)(i % n % 509);
    }
    lie_at(0);
}

/* Whole numbers and halves: exact, contracted or not. The elements looked at are poisoned again. */
static int check(int64_t n)
{
    int right = 1;
    for (int64_t i = 0; i<n; i += n> 1 << 20 ? 97 : 1) {
        right &= a[i] == (float)(i % 1021) + SCALE * (float)(i % 509);
        a[i] = -1;
    }
    lie_at((a - arrays[0] + n) % IN_MEMORY);
    return right;
}

#define SUBJECTS(compiler)                                                                       \
    static void kernel_##compiler(int64_t n, int64_t times)                                      \
    {                                                                                            \
        for (int64_t k = 0; k < times; k++)                                                      \
            CGX_TRY(triad_##compiler##_launch(queue, cgx_cover(n, THREADS), n, SCALE, a, b, c)); \
        CGX_TRY(cgx_queue_wait(queue));                                                          \
    }                                                                                            \
    static void loop_##compiler(int64_t n, int64_t times)                                        \
    {                                                                                            \
        for (int64_t k = 0; k < times; k++) {                                                    \
            _Pragma("omp parallel")                                                              \
            {                                                                                    \
                int64_t parts = omp_get_num_threads(), part = omp_get_thread_num();              \
                triad_loop_##compiler(n *part / parts, n * (part + 1) / parts, SCALE, a, b, c);  \
            }                                                                                    \
        }                                                                                        \
    }
#ifdef BENCH_GCC
SUBJECTS(gcc)
#endif
#ifdef BENCH_CLANG
SUBJECTS(clang)
#endif

static const bench_subject subjects[] = {
#ifdef BENCH_GCC
    { "kernel gcc", prepare, kernel_gcc, check },
    { "loop gcc", prepare, loop_gcc, check },
#endif
#ifdef BENCH_CLANG
    { "kernel clang", prepare, kernel_clang, check },
    { "loop clang", prepare, loop_clang, check },
#endif
    { NULL, NULL, NULL, NULL },
};

static void compare(bench_process *const *processes, int threads, const char *compiler, int64_t n)
{
    char subject[32], rival[32], rival_name[64], name[64];
    snprintf(subject, sizeof subject, "kernel %s", compiler);
    snprintf(rival, sizeof rival, "loop %s", compiler);
    snprintf(rival_name, sizeof rival_name, "OpenMP loop, %s", compiler);
    snprintf(name, sizeof name, "%lld Ki floats, %d %s, %s", (long long)(n / 1024), threads,
             threads == 1 ? "thread" : "threads", compiler);
    bench_side sides[] = { { processes[0], subject, n, 0, NULL }, { processes[1], rival, n, 0, NULL } };
    bench_compare(sides, 2);
    bench_row(name, sides[0].seconds * 1e6, "us", rival_name, sides[1].seconds * 1e6);
}

int main(int argc, char **argv)
{
    bench_begin(argc, argv, "triad", subjects);
    for (int threads = 1; threads <= 2; threads++) {
        char variables[64];
        snprintf(variables, sizeof variables, "CGX_CPU_WORKERS=%d OMP_NUM_THREADS=%d", threads, threads);
        int time = BENCH_WALL_TIME;
        bench_process *processes[] = { bench_start(variables, time), bench_start(variables, time) };
        for (int64_t n = IN_CACHE; n <= IN_MEMORY; n *= IN_MEMORY / IN_CACHE) {
#ifdef BENCH_GCC
            compare(processes, threads, "gcc", n);
#endif
#ifdef BENCH_CLANG
            compare(processes, threads, "clang", n);
#endif
        }
    }
    return bench_end();
}

/* SPDX-License-Identifier: MIT */
/* toolchain KERNEL [N]: runs one of the kernels below in a block of 256 threads, N at 0 being what is right, and prints a sum of its
 * results. What toolchain.sh compiles with the options of users who look for faults. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cgx.h>

#define KERNEL(name) CGX_KERNEL(name, (int, n), (float *, out))
#define RANK cgx_thread_rank(cgx_this_block())
enum { THREADS = 256 };

KERNEL(locals)
{
    CGX_SHARED_ARRAY(float, s, THREADS);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    float mine[3] = { 1.5f, 2.5f, (float)t };
    double v = (double)t + 0.25;
    s[t] = (float)v;
    cgx_sync(b);
    float other = s[size - 1 - t];
    for (int round = 0; round < n + 3; round++) {
        mine[round % 3] += other;
        cgx_sync(b);
        v += (double)mine[(round + 1) % 3]; /* in a loop */
    }
    out[t] = (float)v + other; /* behind it */
}

/* Threads go different ways. */
KERNEL(parted)
{
    CGX_SHARED_ARRAY(float, s, THREADS);
    cgx_block b = cgx_this_block();
    cgx_tile_8 q = cgx_tiled_partition(b, 8);
    const int t = cgx_thread_rank(b);
    float r = (float)(t * 2);
    s[t] = (float)t;
    if (t / 8 % 2) {
        for (int i = 0; i < t / 8 + n; i++) {
            cgx_sync(q);
            r += s[t ^ 1];
        }
        r *= 0.5f; /* some threads */
    }
    cgx_sync(b);
    out[t] = r;
}

KERNEL(beyond_shared)
{
    CGX_SHARED_ARRAY(float, s, THREADS);
    s[RANK] = 1.0f;
    cgx_sync(cgx_this_block());
    s[RANK + n] = 2.0f; /* shared */
    cgx_sync(cgx_this_block());
    out[RANK] = s[RANK];
}

/* The first of two arrays, and the second of them is right behind it where no sanitizer watches. */
KERNEL(into_next)
{
    CGX_SHARED_ARRAY(float, first, THREADS);
    CGX_SHARED_ARRAY(float, second, THREADS);
    first[RANK] = 1.0f, second[RANK] = 3.0f;
    cgx_sync(cgx_this_block());
    first[RANK + n] = 2.0f; /* first */
    cgx_sync(cgx_this_block());
    out[RANK] = first[RANK] + second[RANK];
}

KERNEL(beyond_global)
{
    cgx_sync(cgx_this_block());
    out[RANK + n] = 1.0f; /* global */
}

KERNEL(overflow)
{
    int t = RANK;
    cgx_sync(cgx_this_block());
    t += n; /* signed */
    cgx_sync(cgx_this_block());
    out[RANK] = (float)t;
}

/* Much that lives from one region to the next. */
KERNEL(big_frame)
{
    float mine[4096];
    const int t = RANK;
    for (int i = 0; i < 4096; i++)
        mine[i] = (float)((i * 7 + t) & 31);
    cgx_sync(cgx_this_block());
    for (int i = 0; i < 64; i++)
        mine[(i * 61 + t) & 4095] += (float)n;
    cgx_sync(cgx_this_block());
    float sum = 0;
    for (int i = 0; i < 4096; i += 3)
        sum += mine[i];
    out[t] = sum;
}

/* An index that wraps, and what stands behind it. */
float behind[2 * THREADS];
KERNEL(strides)
{
    float mine[THREADS];
    for (int i = 0; i < THREADS; i++)
        mine[i] = behind[i * 3 & (THREADS - 1)];
    cgx_sync(cgx_this_block());
    out[RANK] = mine[RANK] + (float)n;
}

#ifdef REFUSED
KERNEL(variable_length)
{
    const int length = RANK % 4 + 1;
    float mine[length]; /* variable length */
    for (int i = 0; i < length; i++)
        mine[i] = (float)(n * i);
    cgx_sync(cgx_this_block());
    out[RANK] = mine[n % length];
}

static float waits(cgx_block b, float v)
{
    cgx_sync(b);
    return v + 1.0f;
}
float (*volatile waits_by_pointer)(cgx_block, float) = waits;
KERNEL(by_pointer)
{
    out[RANK] = waits_by_pointer(cgx_this_block(), (float)n); /* pointer */
}

float waits_elsewhere(cgx_block b, float v); /* in toolchain_elsewhere.c */
KERNEL(elsewhere)
{
    out[RANK] = waits_elsewhere(cgx_this_block(), (float)n); /* elsewhere */
}

/* What does not know the thread may be anywhere. */
float computes_elsewhere(float v);
static float computes(float v)
{
    return v * 3.0f;
}
float (*volatile computes_by_pointer)(float) = computes;
KERNEL(only_computes)
{
    CGX_SHARED_ARRAY(float, s, THREADS);
    s[RANK] = computes_elsewhere((float)(RANK + n));
    cgx_sync(cgx_this_block());
    out[RANK] = computes_by_pointer(s[THREADS - 1 - RANK]);
}
#define FOREACH_REFUSED(X) X(variable_length) X(by_pointer) X(elsewhere) X(only_computes)
#else
#define FOREACH_REFUSED(X)
#endif
#define FOREACH(X) \
    X(locals)      \
    X(parted) X(beyond_shared) X(into_next) X(beyond_global) X(overflow) X(big_frame) X(strides) FOREACH_REFUSED(X)

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "locals";
    const int n = argc > 2 ? atoi(argv[2]) : 0;
    float *out = calloc(THREADS, sizeof *out), sum = 0;
    cgx_queue *queue;
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    const cgx_config config = cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(THREADS, 1, 1));
    if (!out)
        return 1;
    CGX_TRY(cgx_queue_open("cpu", &queue));
#define RUN(kernel)                                                        \
    if (!strcmp(name, #kernel)) {                                          \
        CGX_TRY(cgx_kernel_get_info(queue, CGX_KERNEL_OF(kernel), &info)); \
        CGX_TRY(kernel##_launch(queue, config, n, out));                   \
    }
    for (int i = THREADS; i < 2 * THREADS; i++)
        behind[i] = 1.0f;
    FOREACH(RUN)
    CGX_TRY(cgx_queue_wait(queue));
    /* The host's own parallelism, in the same file. */
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum)
#endif
    for (int i = 0; i < THREADS; i++)
        sum += out[i];
    printf("%s %s %.9g\n", name, info.engine, (double)sum);
    free(out);
    CGX_TRY(cgx_queue_close(&queue));
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* run_engines [--expect]: runs every kernel of engines_kernels.h in blocks of several shapes and prints the bits of its results.
 * With --expect also checks that each kernel runs on the engine it is said to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engines_kernels.h"

enum { BLOCKS = 3, ROUNDS = 9 };

static uint64_t hash(const float *values, int n)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        h = (h ^ bits) * 1099511628211u;
    }
    return h;
}

typedef cgx_status launch_fn(cgx_queue *, cgx_config, int, const float *, float *);
static const struct {
    const char *name, *engine;
    launch_fn *launch;
    const cgx_kernel *kernel;
} kernels[] = {
#define ROW(name, engine) { #name, engine, name##_launch, CGX_KERNEL_OF(name) },
    FOREACH_ENGINE_KERNEL(ROW)
};

int main(int argc, char **argv)
{
    static const cgx_dim3 shapes[] = { { 256, 1, 1 }, { 32, 1, 1 },   { 16, 16, 1 }, { 8, 4, 4 },
                                       { 96, 1, 1 },  { 1024, 1, 1 }, { 32, 3, 2 },  { 64, 6, 1 } };
    const int expect = argc == 2 && !strcmp(argv[1], "--expect");
    int wrong = 0;
    cgx_queue *queue;
    CGX_TRY(cgx_queue_open("cpu", &queue));
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
        CGX_TRY(cgx_kernel_get_info(queue, kernels[k].kernel, &info));
        if (expect && strcmp(info.engine, kernels[k].engine)) {
            fprintf(stderr, "%s runs on %s and should be %s\n", kernels[k].name, info.engine, kernels[k].engine);
            wrong = 1;
        }
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
            const cgx_kernel *kernel = kernels[k].kernel;
            if (kernel->flags & CGX_KERNEL_FIXED_BLOCK && memcmp(&kernel->block, &shapes[i], sizeof shapes[i]))
                continue;
            const int n = BLOCKS * shapes[i].x * shapes[i].y * shapes[i].z;
            float *in = malloc((size_t)n * sizeof *in), *out = calloc((size_t)n, sizeof *out);
            if (!in || !out)
                return 1;
            for (int j = 0; j < n; j++)
                in[j] = (float)((uint32_t)j * 2654435761u >> 8 & 0xffff) / 65536.0f;
            if (kernels[k].launch(queue, cgx_config_make(cgx_dim(BLOCKS, 1, 1), shapes[i]), ROUNDS, in, out) ||
                cgx_queue_wait(queue)) {
                printf("%s %d x %d x %d: %s\n", kernels[k].name, shapes[i].x, shapes[i].y, shapes[i].z,
                       cgx_last_error());
                wrong = 1;
            } else {
                printf("%s %d x %d x %d: %016llx\n", kernels[k].name, shapes[i].x, shapes[i].y, shapes[i].z,
                       (unsigned long long)hash(out, n));
            }
            free(in);
            free(out);
        }
    }
    CGX_TRY(cgx_queue_close(&queue));
    return wrong;
}

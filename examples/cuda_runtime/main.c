/* SPDX-License-Identifier: MIT */
/* cgx inside a program that uses the CUDA runtime: its stream carries kernels of both in order, each works on memory of the
 * other, and there is one context. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <cuda_runtime_api.h>
#include "damp.h"
#include "wave_kernels.h"

enum { POINTS = 1 << 20, STEPS = 100, NO_GPU = 77 };

#define TRY_CUDA(call) try_cuda((call), #call)
static void try_cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}

/* The same on the host, for comparison. */
static float largest_error(const float *found, float c2, float factor)
{
    float *f[3], worst = 0;
    for (int k = 0; k < 3; k++)
        f[k] = malloc(POINTS * sizeof(float));
    for (int i = 0; i < POINTS; i++)
        f[0][i] = f[1][i] = i < 1000 ? sinf((float)i * 3.14159265f / 1000) : 0;
    for (int s = 0; s < STEPS; s++) {
        const float *before = f[s % 3], *now = f[(s + 1) % 3];
        float *next = f[(s + 2) % 3];
        for (int i = 0; i < POINTS; i++)
            next[i] = factor * (2 * now[i] - before[i] +
                                c2 * (now[(i + POINTS - 1) % POINTS] - 2 * now[i] + now[(i + 1) % POINTS]));
    }
    for (int i = 0; i < POINTS; i++)
        worst = fmaxf(worst, fabsf(found[i] - f[(STEPS + 1) % 3][i]));
    for (int k = 0; k < 3; k++)
        free(f[k]);
    return worst;
}

int main(void)
{
    const float c2 = 0.25f, factor = 0.999f;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        printf("skipped: the CUDA runtime finds no GPU\n");
        return NO_GPU;
    }

    /* The program as it was: a stream and memory of the runtime's. */
    cudaStream_t stream;
    float *f[3], *host = malloc(POINTS * sizeof *host);
    TRY_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int k = 0; k < 2; k++)
        TRY_CUDA(cudaMalloc((void **)&f[k], POINTS * sizeof(float)));

    /* The stream as a queue of cgx. It stays the program's, and so do its allocations. */
    cgx_device *device;
    cgx_queue *queue;
    CGX_TRY(cgx_device_get("cuda", 0, &device));
    CGX_TRY(cgx_queue_from_native(device, stream, &queue));
    CGX_TRY(cgx_alloc(queue, POINTS * sizeof(float), CGX_MEM_DEVICE, (void **)&f[2]));

    for (int i = 0; i < POINTS; i++)
        host[i] = i < 1000 ? sinf((float)i * 3.14159265f / 1000) : 0;
    TRY_CUDA(cudaMemcpyAsync(f[0], host, POINTS * sizeof *host, cudaMemcpyHostToDevice, stream));
    CGX_TRY(cgx_copy(queue, f[1], host, POINTS * sizeof *host)); /* either will do, on either's memory */
    TRY_CUDA(cudaMemsetAsync(f[2], 0, POINTS * sizeof *host, stream));

    for (int s = 0; s < STEPS; s++) {
        float *next = f[(s + 2) % 3];
        CGX_TRY(wave_step_launch(queue, cgx_fit(queue, POINTS, 256), POINTS, c2, f[s % 3], f[(s + 1) % 3], next));
        TRY_CUDA(damp(next, POINTS, factor, stream)); /* behind it: one stream, one order */
    }
    TRY_CUDA(cudaMemcpyAsync(host, f[(STEPS + 1) % 3], POINTS * sizeof *host, cudaMemcpyDeviceToHost, stream));
    CGX_TRY(cgx_queue_wait(queue)); /* waits for the stream */

    /* What cgx hands out is what the program gave. */
    void *context, *same_stream;
    CGX_TRY(cgx_queue_get_native(queue, &context, &same_stream));
    const float error = largest_error(host, c2, factor);
    printf("%d steps of %d points, kernels of cgx and of CUDA C++ in turn: largest error %.2g; %s\n", STEPS, POINTS,
           error, same_stream == (void *)stream ? "one stream" : "TWO STREAMS");

    CGX_TRY(cgx_free(queue, f[2]));
    CGX_TRY(cgx_queue_close(&queue));
    TRY_CUDA(cudaFree(f[0]));
    TRY_CUDA(cudaFree(f[1]));
    TRY_CUDA(cudaStreamDestroy(stream)); /* still the program's to destroy */
    free(host);
    return error < 1e-5f && same_stream == (void *)stream ? EXIT_SUCCESS : EXIT_FAILURE;
}

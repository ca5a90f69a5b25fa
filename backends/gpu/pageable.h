/* SPDX-License-Identifier: MIT */
/* Copies of pageable host memory behind work that is not done. The drivers' own wait for that work before they return (CUDA
 * Driver API, "API synchronization behavior"); these go through pinned memory, to and from which a function that the stream
 * calls copies. Part of host.h, for drivers with LaunchHostFunc. */
#ifndef CGX_GPU_PAGEABLE_H
#define CGX_GPU_PAGEABLE_H

enum { STAGE_BYTES = 4 << 20 };

/* Rows of WIDTH bytes, each PITCH bytes behind the one before. */
typedef struct {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, height;
} host_copy;

/* On a thread of the driver's, where no call to the driver is allowed. */
static void run_host_copy(void *job)
{
    const host_copy c = *(host_copy *)job;
    free(job);
    for (size_t i = 0; i < c.height; i++)
        memcpy(c.to + i * c.to_pitch, c.from + i * c.from_pitch, c.width);
}
static int enqueue_host_copy(const queue *q, host_copy c)
{
    host_copy *job = malloc(sizeof *job);
    if (!job)
        return GPU_ERROR_OUT_OF_MEMORY;
    *job = c;
    const int r = driver.LaunchHostFunc(q->stream, run_host_copy, job);
    if (r)
        free(job);
    return r;
}

static int copy_rows(gpu_address to, size_t to_pitch, gpu_address from, size_t from_pitch, const host_copy *c,
                     gpu_stream stream)
{
    return c->height == 1 ? copy(to, from, c->width, stream)
                          : copy_2d(to, to_pitch, from, from_pitch, c->width, c->height, stream);
}

/* As much as the stage holds; the queue's order keeps one part from the next. */
static int copy_part(const queue *q, const host_copy *c, int to_host, int from_host)
{
    const gpu_address to = (gpu_address)(uintptr_t)c->to, from = (gpu_address)(uintptr_t)c->from;
    const gpu_address stage = (gpu_address)(uintptr_t)q->stage;
    host_copy half = *c;
    if (to_host && from_host)
        return enqueue_host_copy(q, half);
    if (to_host) {
        const int r = copy_rows(stage, c->width, from, c->from_pitch, c, q->stream);
        half.from = q->stage, half.from_pitch = c->width;
        return r ? r : enqueue_host_copy(q, half);
    }
    half.to = q->stage, half.to_pitch = c->width;
    const int r = enqueue_host_copy(q, half);
    return r ? r : copy_rows(to, c->to_pitch, stage, c->width, c, q->stream);
}

/* In the device's context. TO_HOST, FROM_HOST: whether that side is host memory, of which one is pageable. */
static int copy_pageable(queue *q, host_copy c, int to_host, int from_host)
{
    void *stage = NULL;
    int r = GPU_SUCCESS;
    pthread_mutex_lock(&q->staging); /* the two halves of a part belong together */
    if (!q->stage && !(r = driver.MemHostAlloc(&stage, STAGE_BYTES, HOST_ALLOC_PORTABLE)))
        q->stage = stage;
    const size_t width = c.width, height = c.height;
    for (size_t row = 0, at = 0; row < height && !r;) {
        host_copy part = c;
        part.to += row * c.to_pitch + at;
        part.from += row * c.from_pitch + at;
        if (at || width > STAGE_BYTES) { /* a piece of a row */
            part.width = width - at < STAGE_BYTES ? width - at : STAGE_BYTES;
            part.height = 1;
        } else {
            part.height = height - row < STAGE_BYTES / width ? height - row : STAGE_BYTES / width;
        }
        r = copy_part(q, &part, to_host, from_host);
        at += part.width;
        if (at == width)
            at = 0, row += part.height;
    }
    pthread_mutex_unlock(&q->staging);
    return r;
}
#endif

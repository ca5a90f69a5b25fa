/* SPDX-License-Identifier: MIT */
/* A program outside the tree that knows of cgx only what is installed. */
#include "scale.h"
#include <stdio.h>

int main(void)
{
    enum { N = 10000 };
    static float host[N];
    cgx_queue *q = NULL;
    float *x = NULL;
    int wrong = 0;

    CGX_TRY(cgx_queue_open("any", &q));
    CGX_TRY(cgx_alloc(q, sizeof host, CGX_MEM_DEVICE, (void **)&x));
    CGX_TRY(cgx_fill_f32(q, x, 1.5f, N));
    CGX_TRY(scale_launch(q, cgx_fit(q, N, 128), N, 4.0f, x));
    CGX_TRY(cgx_copy(q, host, x, sizeof host));
    CGX_TRY(cgx_queue_wait(q));
    for (int i = 0; i < N; i++)
        wrong += host[i] != 6.0f;
    CGX_TRY(cgx_free(q, x));
    CGX_TRY(cgx_queue_close(&q));
    printf("cgx %s, %d wrong\n", cgx_version(), wrong);
    return wrong != 0;
}

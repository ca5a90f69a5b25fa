/* SPDX-License-Identifier: MIT */
/* Needs the kernels of k2.c only. */
#include "parts.h"

int main(void)
{
    float x[64] = { 1 };
    cgx_queue *q = NULL;
    CGX_TRY(cgx_queue_open("cpu", &q));
    int bad = user_scale(q, x, 64) || cgx_queue_close(&q) || x[0] != 2;
    return bad;
}

/* SPDX-License-Identifier: MIT */
/* A writable static of the host is the one that kernels of every level see. */
#include <cgx.h>

static int calls;

CGX_KERNEL(tick, (int, by))
{
    static int times;
    calls += by;
    times++;
}

int main(void)
{
    cgx_queue *q = NULL;
    CGX_TRY(cgx_queue_open("cpu", &q));
    CGX_TRY(tick_launch(q, cgx_config_1d(1, 1), 3));
    CGX_TRY(tick_launch(q, cgx_config_1d(1, 1), 4));
    CGX_TRY(cgx_queue_close(&q));
    return calls != 7;
}

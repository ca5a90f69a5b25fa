/* SPDX-License-Identifier: MIT */
/* Runs every kernel and prints one line that starts with OK, with the number of images of k1.c and k2.c. */
#include "parts.h"
#include <cgx/abi.h>
#include <stdio.h>

int main(void)
{
    static float x[64], y[64], out;
    cgx_queue *q = NULL;
    cgx_kernel_info a = CGX_KERNEL_INFO_INIT, b = CGX_KERNEL_INFO_INIT;
    int bad = 0;

    CGX_TRY(cgx_queue_open("cpu", &q));
    for (int i = 0; i < 64; i++) {
        x[i] = (float)i;
        y[i] = 1;
    }
    bad |= k1_reduce(q, x, &out, 64) || cgx_queue_wait(q) || out != 2016;
    bad |= (k2_reduce(q, x, &out, 64) || cgx_queue_wait(q) || out != 63) << 1;
    bad |= (k1_saxpy(q, 64, 2, x, y) || cgx_queue_wait(q) || y[10] != 21) << 2;
    bad |= (user_scale(q, x, 64) || cgx_queue_wait(q) || x[3] != 6) << 3;
    bad |= (k1_count(q, 48) || cgx_queue_wait(q) || k1_visits(0) != 48) << 4;
    bad |= (k2_visits() != 101) << 5;
    bad |= (k1_reverse(q, x) || cgx_queue_wait(q) || x[0] != 126 || x[60] != 6) << 6;
    bad |= (k1_add(q, x, y) || cgx_queue_wait(q) || y[0] != 379) << 9;
    bad |= (cgx_kernel_get_info(q, k1_reduce_kernel(), &a) || cgx_kernel_get_info(q, k2_reduce_kernel(), &b)) << 7;
    bad |= (a.static_shared_bytes < 4 || b.static_shared_bytes < 12) << 8;
    CGX_TRY(cgx_queue_close(&q));

    const cgx__images *images1 = k1_reduce_kernel()->unit->images, *images2 = k2_reduce_kernel()->unit->images;
    printf("%s bad=%#x images=%d,%d bytes=%lu target=%s shared=%zu,%zu\n", bad ? "BAD" : "OK", (unsigned)bad,
           images1->count, images2->count, (unsigned long)images1->size, a.target, a.static_shared_bytes,
           b.static_shared_bytes);
    return bad != 0;
}

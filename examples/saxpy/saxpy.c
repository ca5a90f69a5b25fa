/* SPDX-License-Identifier: MIT */
/* y = a x + y, the smallest whole program: one file, every device.
 *
 *     cgxcc saxpy.c -o saxpy -lcgx && ./saxpy && CGX_DEVICE=cpu ./saxpy
 */
#include <cgx.h>
#include <stdio.h>
#include <stdlib.h>

CGX_KERNEL(saxpy, (int64_t, n), (float, a), (const float *, x), (float *, y))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        y[i] = a * x[i] + y[i];
}

int main(void)
{
    cgx_queue *q = NULL;
    cgx_device_info device = CGX_DEVICE_INFO_INIT;
    float *x, *y, *result;
    int64_t n = 1 << 24, wrong = 0;

    CGX_TRY(cgx_queue_open("any", &q));
    CGX_TRY(cgx_alloc(q, n * sizeof *x, CGX_MEM_DEVICE, (void **)&x));
    CGX_TRY(cgx_alloc(q, n * sizeof *y, CGX_MEM_DEVICE, (void **)&y));
    CGX_TRY(cgx_alloc(q, n * sizeof *y, CGX_MEM_PINNED, (void **)&result));
    CGX_TRY(cgx_fill_f32(q, x, 1.0f, n));
    CGX_TRY(cgx_fill_f32(q, y, 2.0f, n));
    CGX_TRY(saxpy_launch(q, cgx_fit(q, n, 256), n, 3.0f, x, y));
    CGX_TRY(cgx_copy(q, result, y, n * sizeof *y));
    CGX_TRY(cgx_queue_wait(q));

    for (int64_t i = 0; i < n; i++)
        wrong += result[i] != 5.0f;
    CGX_TRY(cgx_queue_get_info(q, &device));
    printf("%s, %s: %lld elements, %lld wrong\n", device.name, device.description, (long long)n, (long long)wrong);

    CGX_TRY(cgx_free(q, x));
    CGX_TRY(cgx_free(q, y));
    CGX_TRY(cgx_free(q, result));
    CGX_TRY(cgx_queue_close(&q));
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* What a launch by a kernel costs, in microseconds: through cgx, and with CUDA's own text in the same image. Asked: 1.05 of
 * CUDA's at most. */
#include "gpu.h"
#include "children_kernels.h"

enum { LAUNCHES = 1024, SAMPLES = 31 };

typedef struct {
    int threads, kind, cuda;
    uint32_t *ran;
} work;

static void launch(void *context)
{
    const work *w = context;
    const cgx_config c = cgx_config_1d(1, w->threads);
    if (w->cuda)
        CGX_TRY(children_cuda_launch(gpu_queue, c, LAUNCHES / w->threads, w->kind, w->ran));
    else
        CGX_TRY(children_cgx_launch(gpu_queue, c, LAUNCHES / w->threads, w->kind, w->ran));
}

static void compare(const char *name, int threads, int kind, uint32_t *ran)
{
    double samples[2][SAMPLES];
    for (int k = -1; k < SAMPLES; k++)
        for (int side = 0; side < 2; side++) {
            work w = { threads, kind, side, ran };
            uint32_t count = 0;
            CGX_TRY(cgx_fill_u8(gpu_queue, ran, 0, sizeof *ran));
            samples[side][k < 0 ? 0 : k] = gpu_seconds(launch, &w) / LAUNCHES;
            CGX_TRY(cgx_copy(gpu_queue, &count, ran, sizeof count));
            CGX_TRY(cgx_queue_wait(gpu_queue));
            if (count != LAUNCHES)
                gpu_fail(name, "launches were lost");
        }
    gpu_row(name,
            (gpu_form[]){ { NULL, gpu_median(samples[0], SAMPLES) }, { "<<<>>>", gpu_median(samples[1], SAMPLES) } }, 2,
            1e6, "us", "children");
}

int main(int argc, char **argv)
{
    gpu_begin(argc, argv, "cuda_children");
    uint32_t *ran = gpu_alloc(sizeof *ran);
    compare("fire and forget, 1 thread", 1, CHILDREN_FREE, ran);
    compare("fire and forget, 64 threads", 64, CHILDREN_FREE, ran);
    compare("the block's stream, 1 thread", 1, CHILDREN_IN_ORDER, ran);
    compare("tails, 1 thread", 1, CHILDREN_TAIL, ran);
    CGX_TRY(cgx_free(gpu_queue, ran));
    return gpu_end();
}

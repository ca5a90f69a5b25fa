/* SPDX-License-Identifier: MIT */
/* Runs the kernels of a file that generate.py wrote, in blocks of several shapes, and prints the bits of their results and,
 * on standard error, the engine of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "run_random.h"

enum { BLOCKS = 3, SHAPES = 7, LARGEST = 512 };

int main(void)
{
    static const cgx_dim3 both_shapes[2][SHAPES] = {
        { { 64, 1, 1 }, { 256, 1, 1 }, { 16, 6, 1 }, { 16, 16, 1 }, { 64, 3, 1 }, { 32, 1, 1 }, { 128, 2, 2 } },
        { { 1, 1, 1 }, { 33, 1, 1 }, { 7, 3, 2 }, { 100, 1, 1 }, { 5, 1, 9 }, { 16, 16, 1 }, { 3, 5, 1 } },
    };
    static float in[BLOCKS * LARGEST], out[BLOCKS * LARGEST];
    cgx_queue *queue;
    CGX_TRY(cgx_queue_open("cpu", &queue));
    for (int i = 0; i < BLOCKS * LARGEST; i++)
        in[i] = (float)((uint32_t)i * 2654435761u >> 8 & 0xffff) / 65536.0f;
    for (int k = 0; k < random_kernel_count; k++) {
        cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
        CGX_TRY(cgx_kernel_get_info(queue, random_kernels[k].kernel, &info));
        fprintf(stderr, "%d %s\n", random_kernels[k].seed, info.engine);
        const cgx_dim3 *shapes = both_shapes[random_kernels[k].any_size];
        for (int s = 0; s < SHAPES; s++) {
            const cgx_kernel *kernel = random_kernels[k].kernel;
            if (kernel->flags & CGX_KERNEL_FIXED_BLOCK && memcmp(&kernel->block, &shapes[s], sizeof shapes[s]))
                continue;
            const int n = BLOCKS * shapes[s].x * shapes[s].y * shapes[s].z;
            uint64_t h = 1469598103934665603u;
            memset(out, 0, sizeof out);
            if (random_kernels[k].launch(queue, cgx_config_make(cgx_dim(BLOCKS, 1, 1), shapes[s]), 4, in, out) ||
                cgx_queue_wait(queue)) {
                printf("%d %d x %d x %d: %s\n", random_kernels[k].seed, shapes[s].x, shapes[s].y, shapes[s].z,
                       cgx_last_error());
                continue;
            }
            for (int i = 0; i < n; i++) {
                uint32_t bits;
                memcpy(&bits, out + i, sizeof bits);
                if ((bits & 0x7fffffffu) > 0x7f800000u)
                    bits = 0x7fc00000u; /* payloads of NaN are not promised */
                h = (h ^ bits) * 1099511628211u;
            }
            printf("%d %d x %d x %d: %016llx\n", random_kernels[k].seed, shapes[s].x, shapes[s].y, shapes[s].z,
                   (unsigned long long)h);
        }
    }
    CGX_TRY(cgx_queue_close(&queue));
    return 0;
}

/* SPDX-License-Identifier: MIT */
#include "requests_kernels.h"

CGX_KERNEL(leaf, (int *, count))
{
    cgx_atomic_fetch_add(count, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL_LAUNCHING(leaf_that_may_ask, (int *, count))
{
    cgx_atomic_fetch_add(count, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
}
CGX_KERNEL_EXTERN_LAUNCHING(launch_many, (int, each), (int, asks), (int, in_order), (int *, count),
                            (cgx_status *, status))
{
    const cgx_stream stream = in_order ? CGX_BLOCK_STREAM : CGX_FIRE_AND_FORGET;
    for (int i = 0; i < each; i++) {
        cgx_status s = asks ? leaf_that_may_ask_dlaunch(stream, cgx_config_1d(1, 1), count)
                            : leaf_dlaunch(stream, cgx_config_1d(1, 1), count);
        if (s)
            *status = s;
    }
}

CGX_KERNEL_EXTERN_LAUNCHING(crowd_heap, (int, rounds), (int *, wrong), (int *, none))
{
    const int me = (int)cgx_thread_rank(cgx_this_grid());
    for (int i = 0; i < rounds; i++) {
        const int n = 1 + (me * 7 + i * 3) % 40;
        void *memory;
        if (cgx_heap_alloc((size_t)n * sizeof(int), &memory)) {
            cgx_atomic_fetch_add(none, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
            continue;
        }
        int *numbers = (int *)memory, bad = 0;
        for (int k = 0; k < n; k++)
            numbers[k] = me + k;
        for (int k = 0; k < n; k++)
            bad += numbers[k] != me + k;
        if (bad || cgx_heap_free(memory))
            cgx_atomic_fetch_add(wrong, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    }
}
CGX_KERNEL_EXTERN_LAUNCHING(whole_heap, (size_t, bytes), (cgx_status *, status))
{
    void *memory = 0;
    status[0] = cgx_heap_alloc(bytes, &memory);
    status[1] = cgx_heap_free(memory);
}

CGX_KERNEL_EXTERN_LAUNCHING(many_handles, (int, n), (cgx_status *, status))
{
    cgx_stream stream;
    status[0] = CGX_OK;
    for (int i = 0; i < n && !status[0]; i++)
        status[0] = cgx_stream_create(&stream, CGX_STREAM_NON_BLOCKING);
    status[1] = cgx_runtime_last_error();
}

CGX_KERNEL(add_up, (large_argument, large), (int *, sum))
{
    int s = 0;
    for (int i = 0; i < 256; i++)
        s += large.numbers[i];
    *sum = s;
}
CGX_KERNEL_EXTERN_LAUNCHING(pass_large, (large_argument, large), (int *, sum), (cgx_status *, status))
{
    large.numbers[255] = 1000;
    *status = add_up_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(1, 1), large, sum);
}

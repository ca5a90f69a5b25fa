/* SPDX-License-Identifier: MIT */
#include "northstar_kernels.h"

CGX_KERNEL_EXTERN(saxpy, (int64_t, n), (float, a), (const float *, x), (float *, y))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        y[i] = a * x[i] + y[i];
}

CGX_OP(argmax_t, argmax, a, b, b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a)

CGX_KERNEL_EXTERN(star_collectives, (const float *, values), (star_results *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_16 t = cgx_tiled_partition(b, 16);
    int rank = cgx_thread_rank(b), wanted = values[rank] > 5, bucket = (int)values[rank] % 3;
    float v = values[rank];
    argmax_t mine = { v, rank };
    float sum = cgx_reduce(b, v, CGX_PLUS);
    int slot = cgx_exclusive_scan(t, wanted, CGX_PLUS);
    argmax_t best = cgx_reduce_op(t, mine, argmax);
    cgx_coalesced same = cgx_labeled_partition(t, bucket);
    out[rank].sum = sum;
    out[rank].slot = slot;
    out[rank].best = best;
    out[rank].same = cgx_num_threads(same);
}

CGX_KERNEL_EXTERN(star_overlap, (int64_t, tiles), (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(float, stage, 2, 1024);
    float sum = 0;
    int k = 0;
    cgx_memcpy_async(b, stage[0], in, 1024 * sizeof(float));
    for (int64_t i = 0; i < tiles; i++, k ^= 1) {
        if (i + 1 < tiles)
            cgx_memcpy_async(b, stage[k ^ 1], in + (i + 1) * 1024, 1024 * sizeof(float));
        cgx_wait_prior(b, i + 1 < tiles); /* the newest copy may still fly */
        for (int j = cgx_thread_rank(b); j < 1024; j += cgx_num_threads(b))
            sum += stage[k][1023 - j];
        cgx_sync(b);
    }
    out[cgx_thread_rank(b)] = sum;
}

CGX_KERNEL_EXTERN(star_pipeline, (int, items), (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_64 warp = cgx_tiled_partition(b, 64); /* a wave where one has 64 threads: both sides wait for each other */
    CGX_SHARED_ARRAY(cgx_mbarrier, full, 4);
    CGX_SHARED_ARRAY(cgx_mbarrier, empty, 4);
    CGX_SHARED_ARRAY(cgx_float4, stage, 4 * 64);
    int lane = cgx_thread_rank(warp), consumers = cgx_num_threads(b) - 64;
    if (cgx_elect(b))
        for (int i = 0; i < 4; i++) {
            cgx_mbarrier_init(&full[i], 1);
            cgx_mbarrier_init(&empty[i], (uint32_t)consumers);
        }
    cgx_sync(b);
    if (cgx_meta_group_rank(warp) == 0) {
        if (lane == 0)
            for (int i = 0; i < items; i++) {
                int s = i % 4, round = i / 4;
                cgx_mbarrier_wait_parity(&empty[s], (round & 1) ^ 1);
                cgx_mbarrier_arrive_expect_tx(&full[s], 1024);
                cgx_bulk_copy_async(stage + 64 * s, in + 256 * i, 1024, &full[s]);
            }
    } else {
        float sum = 0;
        for (int i = 0; i < items; i++) {
            int s = i % 4, round = i / 4;
            cgx_mbarrier_wait_parity(&full[s], round & 1);
            for (int j = cgx_thread_rank(b) - 64; j < 256; j += consumers)
                sum += ((const float *)(stage + 64 * s))[j];
            cgx_mbarrier_arrive(&empty[s]);
        }
        out[cgx_thread_rank(b) - 64] = sum;
    }
}

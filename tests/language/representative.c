/* SPDX-License-Identifier: MIT */
/* The kernel language in one file, for headers.sh: it is compiled by every compiler, and never run. */
#include "representative.h"

typedef struct {
    float v;
    int i;
} argmax_t;
CGX_OP(argmax_t, argmax, a, b, b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a)
CGX_OP_BODY(int, first_set, a, b, {
    if (a)
        return a;
    return b;
})

typedef struct {
    int values[4];
} table_t;
CGX_DEVICE_VARIABLE(int, counter) = 3;
CGX_CONSTANT_VARIABLE(table_t, table) = { { 1, 2, 3, 4 } };

CGX_DEVICE_FN float twice(float v)
{
    return 2.0f * v;
}

CGX_DEVICE_FN float block_mean(cgx_block b, float v)
{
    return cgx_reduce(b, v, CGX_PLUS) / (float)cgx_num_threads(b);
}

CGX_DEVICE_FN int ranks(cgx_group g, cgx_tile t)
{
    CGX_IN_GROUP(g);
    cgx_block b = cgx_this_block();
    return cgx_thread_rank(g) + cgx_meta_group_rank(t) + cgx_thread_rank(b);
}

CGX_KERNEL(nothing)
{
}

CGX_KERNEL(saxpy, (int64_t, n), (float, a), (const float *CGX_RESTRICT, x), (float *CGX_RESTRICT, y))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        y[i] = a * x[i] + y[i];
}

CGX_KERNEL_WITH(CGX_MAX_THREADS(256), limited, (int *, out))
{
    out[0] = 1;
}
CGX_KERNEL_WITH(CGX_BLOCK_SIZE(8, 4, 2), sized, (int *, out))
{
    out[0] = 1;
}
CGX_KERNEL_WITH(CGX_COOPERATIVE_BLOCK_SIZE(64, 1, 1), sized_grid, (int *, out))
{
    out[0] = 1;
    cgx_sync(cgx_this_grid());
}

CGX_KERNEL_EXTERN(representative_extern, (int, n), (int *, out))
{
    out[0] = n;
}

CGX_KERNEL(shared_shapes, (float *, out))
{
    CGX_SHARED(float, one);
    CGX_SHARED_ARRAY(float, line, 32);
    CGX_SHARED_ARRAY2(float, plane, 4, 8);
    CGX_SHARED_ARRAY3(float, cube, 2, 4, 8);
    CGX_DYNAMIC_SHARED(float, rest);
    cgx_block b = cgx_this_block();
    cgx_dim3 at = cgx_thread_index(b), size = cgx_dim_threads(b), where = cgx_group_index(b);
    int r = cgx_thread_rank(b);
    if (cgx_elect(b))
        *one = twice((float)(where.x + size.y));
    line[r & 31] = plane[r & 3][r & 7] = cube[r & 1][r & 3][r & 7] = (float)at.z;
    cgx_sync(b);
    out[r] = *one + line[0] + plane[0][0] + cube[0][0][0] + rest[0] + block_mean(b, (float)table.values[r & 3]);
    counter = r;
}

CGX_KERNEL(groups, (int *, out), (double *, sums))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_tile_8 t8 = cgx_tiled_partition(t, 8);
    cgx_tile n = cgx_tiled_partition_n(b, 16);
    cgx_coalesced odd = cgx_binary_partition(t, cgx_thread_rank(t) & 1);
    cgx_coalesced same = cgx_labeled_partition(t, cgx_thread_rank(t) / 3);
    cgx_token token = cgx_barrier_arrive(b);
    int all = 0, r = cgx_thread_rank(b);
    argmax_t mine = { (float)r, r };
    cgx_barrier_wait(b, token);
    all += cgx_shfl(t, r, 0) + cgx_shfl_up(t8, r, 1) + cgx_shfl_down(n, r, 1) + cgx_shfl_xor(t, r, 3);
    all += cgx_any(t, r > 3) + cgx_all(odd, r > 3) + (int)cgx_ballot(t, r & 1) + (int)cgx_match_any(t, r);
    int agree = 0;
    all += (int)cgx_match_all(same, r, &agree) + agree;
    all += cgx_inclusive_scan(t, r, CGX_BIT_XOR) + cgx_exclusive_scan(b, r, CGX_GREATER);
    all += cgx_reduce_op(b, mine, argmax).i + cgx_inclusive_scan_op(t, r, first_set);
    all += ranks(cgx_as_group(t), n) + (int)cgx_block_rank(g) + cgx_dim_blocks(g).x + cgx_block_index(g).y;
    sums[r] = cgx_reduce(t, (double)r, CGX_LESS);
    cgx_sync(t);
    cgx_sync(same);
    out[r] = all + (cgx_is_valid(g) ? 1 : 0);
}

CGX_KERNEL_COOPERATIVE(whole_grid, (int *, out))
{
    cgx_grid g = cgx_this_grid();
    out[cgx_thread_rank(g)] = 1;
    cgx_sync(g);
}

CGX_KERNEL(stages, (const float *, in), (float *, out), (int, tiles))
{
    CGX_SHARED_ARRAY2(float, stage, 2, 256);
    CGX_SHARED(cgx_mbarrier, full);
    cgx_block b = cgx_this_block();
    int r = cgx_thread_rank(b);
    if (r == 0)
        cgx_mbarrier_init(full, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_memcpy_async(b, stage[0], in, 256 * sizeof(float));
    for (int i = 0, k = 0; i < tiles; i++, k ^= 1) {
        if (i + 1 < tiles)
            cgx_memcpy_async(b, stage[k ^ 1], in + (i + 1) * 256, 256 * sizeof(float));
        cgx_wait_prior(b, i + 1 < tiles);
        out[i * 256 + (r & 255)] = stage[k][r & 255];
        cgx_sync(b);
    }
    cgx_pipeline_memcpy_async(&stage[0][r & 255], in, 4);
    cgx_pipeline_memcpy_async_zfill(&stage[1][r & 255], in, 4, 2);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(0);
    cgx_mbarrier_token token = cgx_mbarrier_arrive(full);
    while (!cgx_mbarrier_try_wait(full, token, 100))
        ;
    cgx_sync(b);
    if (r == 0)
        cgx_mbarrier_inval(full);
}

CGX_KERNEL(values, (cgx_half, h), (cgx_bf16, w), (cgx_float4, v), (uint64_t *, out))
{
    float sum = cgx_half_to_float(h) + cgx_bf16_to_float(w) + v.x + v.w;
    out[0] = cgx_float_to_half(sum).bits;
    out[1] = cgx_float_to_bf16(sum).bits;
    out[2] = cgx_clock_cycles();
    out[3] = cgx_clock_nanoseconds();
}

#ifdef CGX_HOST_PASS
cgx_status representative_run(cgx_queue *q, float *x, int *i, double *d, uint64_t *u);
cgx_status representative_run(cgx_queue *q, float *x, int *i, double *d, uint64_t *u)
{
    cgx_config c = cgx_config_1d(2, 64);
    int three = 3;
    cgx_half h = cgx_float_to_half(1.0f);
    cgx_bf16 w = cgx_float_to_bf16(1.0f);
    cgx_float4 v = { 1, 2, 3, 4 };
    CGX_TRY(cgx_write_variable(q, counter, &three));
    CGX_TRY(cgx_read_variable(q, table, i));
    CGX_TRY(nothing_launch(q, c));
    CGX_TRY(saxpy_launch(q, cgx_fit(q, 64, 32), 64, 1.0f, x, x + 64));
    CGX_TRY(limited_launch(q, c, i));
    CGX_TRY(sized_launch(q, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(8, 4, 2)), i));
    CGX_TRY(sized_grid_launch(q, cgx_cooperative(c), i));
    CGX_TRY(representative_extern_launch(q, c, 3, i));
    CGX_TRY(shared_shapes_launch(q, cgx_with_shared(c, 128), x));
    CGX_TRY(groups_launch(q, c, i, d));
    CGX_TRY(whole_grid_launch(q, cgx_cooperative(c), i));
    CGX_TRY(stages_launch(q, c, x, x, 2));
    CGX_TRY(values_launch(q, c, h, w, v, u));
    return cgx_queue_wait(q);
}
#endif

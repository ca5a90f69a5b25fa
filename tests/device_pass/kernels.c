/* SPDX-License-Identifier: MIT */
/* What the device passes have real code for; run.sh looks into the instructions. Compiled for every device and for the CPU,
 * never run. */
#include <cgx.h>

/* ---- parameters: none to sixteen ---- */

CGX_KERNEL(p0)
{
}
CGX_KERNEL(p1, (int *, a))
{
    *a = 1;
}
CGX_KERNEL(p2, (int *, a), (int, b))
{
    *a = b;
}
CGX_KERNEL(p3, (int *, a), (int, b), (int, c))
{
    *a = b + c;
}
CGX_KERNEL(p4, (int *, a), (int, b), (int, c), (int, d))
{
    *a = b + c + d;
}
CGX_KERNEL(p5, (int *, a), (int, b), (int, c), (int, d), (int, e))
{
    *a = b + c + d + e;
}
CGX_KERNEL(p6, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f))
{
    *a = b + c + d + e + f;
}
CGX_KERNEL(p7, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g))
{
    *a = b + c + d + e + f + g;
}
CGX_KERNEL(p8, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h))
{
    *a = b + c + d + e + f + g + h;
}
CGX_KERNEL(p9, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i))
{
    *a = b + c + d + e + f + g + h + i;
}
CGX_KERNEL(p10, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j))
{
    *a = b + c + d + e + f + g + h + i + j;
}
CGX_KERNEL(p11, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j),
           (int, k))
{
    *a = b + c + d + e + f + g + h + i + j + k;
}
CGX_KERNEL(p12, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j),
           (int, k), (int, l))
{
    *a = b + c + d + e + f + g + h + i + j + k + l;
}
CGX_KERNEL(p13, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j),
           (int, k), (int, l), (int, m))
{
    *a = b + c + d + e + f + g + h + i + j + k + l + m;
}
CGX_KERNEL(p14, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j),
           (int, k), (int, l), (int, m), (int, n))
{
    *a = b + c + d + e + f + g + h + i + j + k + l + m + n;
}
CGX_KERNEL(p15, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j),
           (int, k), (int, l), (int, m), (int, n), (int, o))
{
    *a = b + c + d + e + f + g + h + i + j + k + l + m + n + o;
}
CGX_KERNEL(p16, (int *, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i), (int, j),
           (int, k), (int, l), (int, m), (int, n), (int, o), (int, p))
{
    *a = b + c + d + e + f + g + h + i + j + k + l + m + n + o + p;
}

/* ---- kinds of kernels ---- */

typedef struct {
    double scale;
    int64_t count;
    const float *data;
} setup;

CGX_KERNEL_DECLARE(announced, (setup, s), (float *CGX_RESTRICT, out))
CGX_KERNEL_DECLARE(elsewhere, (int, n))
CGX_KERNEL_EXTERN(announced, (setup, s), (float *CGX_RESTRICT, out))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < s.count; i += cgx_num_threads(g))
        out[i] = (float)(s.data[i] * s.scale);
}
CGX_KERNEL_WITH(CGX_MAX_THREADS(320), at_most_320, (int *, out))
{
    *out = 1;
}
CGX_KERNEL_WITH(CGX_BLOCK_SIZE(8, 4, 3), exactly_96, (int *, out))
{
    *out = 1;
}
CGX_KERNEL_COOPERATIVE(cooperative, (int *, out))
{
    *out = 1;
}

/* ---- ranks ---- */

CGX_KERNEL(ranks, (int64_t *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    cgx_dim3 t = cgx_thread_index(b), s = cgx_dim_threads(b), i = cgx_group_index(b);
    cgx_dim3 d = cgx_dim_blocks(g), at = cgx_block_index(g);
    int64_t *o = out + 24 * cgx_thread_rank(g);
    o[0] = cgx_thread_rank(b), o[1] = cgx_num_threads(b), o[2] = cgx_size(b);
    o[3] = cgx_num_threads(g), o[4] = cgx_block_rank(g), o[5] = cgx_num_blocks(g);
    o[6] = t.x, o[7] = t.y, o[8] = t.z, o[9] = s.x, o[10] = s.y, o[11] = s.z, o[12] = i.x, o[13] = i.y, o[14] = i.z;
    o[15] = d.x, o[16] = d.y, o[17] = d.z, o[18] = at.x, o[19] = at.y, o[20] = at.z, o[21] = cgx_elect(b);
}

#define TILE_RANKS(N)                                                                 \
    cgx_tile_##N t##N = cgx_tiled_partition(b, N);                                    \
    *o++ = cgx_thread_rank(t##N) + cgx_num_threads(t##N) * cgx_meta_group_rank(t##N); \
    *o++ = cgx_num_threads(t##N) * cgx_meta_group_size(t##N);
CGX_KERNEL(tiles, (int *, out))
{
    cgx_block b = cgx_this_block();
    int *o = out + 30 * cgx_thread_rank(b);
    TILE_RANKS(1)
    TILE_RANKS(2)
    TILE_RANKS(4)
    TILE_RANKS(8)
    TILE_RANKS(16)
    TILE_RANKS(32)
    TILE_RANKS(64)
    TILE_RANKS(128) TILE_RANKS(256) TILE_RANKS(512) TILE_RANKS(1024) cgx_tile_4 small = cgx_tiled_partition(t16, 4);
    cgx_tile any = cgx_tiled_partition_n(b, 64);
    cgx_group erased = cgx_as_group(any);
    *o++ = cgx_thread_rank(small) + cgx_meta_group_size(small);
    *o++ = cgx_thread_rank(any) + cgx_num_threads(any);
    *o++ = cgx_thread_rank(erased) + cgx_num_threads(erased) + cgx_meta_group_rank(erased);
    cgx_sync(small);
    cgx_sync(t32);
}

CGX_KERNEL(cluster_ranks, (int64_t *, o))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_grid g = cgx_this_grid();
    cgx_dim3 t = cgx_dim_threads(c), n = cgx_dim_blocks(c), at = cgx_block_index(c);
    cgx_dim3 clusters = cgx_dim_clusters(g), here = cgx_cluster_index(g);
    o[0] = cgx_thread_rank(c), o[1] = cgx_num_threads(c), o[2] = cgx_block_rank(c), o[3] = cgx_num_blocks(c);
    o[4] = t.x + n.y + at.z, o[5] = clusters.x + here.y, o[6] = cgx_cluster_rank(g), o[7] = cgx_num_clusters(g);
}

CGX_KERNEL(coalesced, (int *, out))
{
    CGX_BLOCK_TILE_MEMORY(memory, 256);
    cgx_block b = cgx_this_block_with(memory);
    int r = cgx_thread_rank(b);
    if (out[r] > 0) {
        cgx_coalesced c = cgx_coalesced_threads();
        out[r] = cgx_reduce(c, r, CGX_PLUS) + cgx_thread_rank(c) + cgx_meta_group_size(c);
    }
}

/* ---- memory ---- */

typedef struct {
    int value[4];
} table;
CGX_DEVICE_VARIABLE(int, counter) = 3;
CGX_CONSTANT_VARIABLE(table, constants) = { { 1, 2, 3, 4 } };

CGX_KERNEL(variables, (int *, out))
{
    counter += 1;
    *out = constants.value[counter & 3];
}

/* A block barrier and nothing else that could wait. */
CGX_KERNEL(reverse, (float *, x))
{
    CGX_SHARED_ARRAY(float, stage, 1024);
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), last = cgx_num_threads(b) - 1;
    stage[rank] = x[rank];
    cgx_sync(b);
    x[rank] = stage[last - rank];
}

CGX_DEVICE_FN float sum_of_neighbours(cgx_block b, const float *line, int n)
{
    CGX_IN_GROUP(b);
    int rank = cgx_thread_rank(cgx_this_block());
    return line[(rank + 1) % n] + line[(rank + n - 1) % n];
}

CGX_KERNEL(shared, (float *, x), (int, n))
{
    CGX_SHARED(table, one);
    CGX_SHARED_ARRAY2(float, plane, 4, 33);
    CGX_SHARED_ARRAY3(double, cube, 2, 3, 5);
    CGX_DYNAMIC_SHARED(float, line);
    CGX_DYNAMIC_SHARED(double, same_memory);
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    if (rank == 0)
        one->value[0] = n, cube[1][2][4] = 0.5;
    plane[rank % 4][rank % 33] = x[rank];
    line[rank] = x[rank];
    cgx_sync(b);
    if (n < 0)
        same_memory[0] = 0;
    x[rank] = sum_of_neighbours(b, line, n) + plane[rank % 4][0] + (float)cube[1][2][4] + (float)one->value[0];
}

CGX_KERNEL(clocks, (uint64_t *, out))
{
    out[0] = cgx_clock_cycles();
    out[1] = cgx_clock_nanoseconds();
}

CGX_KERNEL(halves, (cgx_half, h), (cgx_bf16, w), (cgx_float4, v), (cgx_float4 *, out))
{
    v.x += cgx_half_to_float(h);
    v.y += cgx_bf16_to_float(w);
    v.z += cgx_half_to_float(cgx_float_to_half(v.w)) + cgx_bf16_to_float(cgx_float_to_bf16(v.w));
    *out = v;
}

/* ---- collectives of groups in one wave, and of blocks ---- */

typedef struct {
    float v;
    int i;
} best;
CGX_OP(best, argmax, a, b, b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a)
typedef struct {
    double m[4];
} matrix;
CGX_OP_BODY(matrix, times, a, b, {
    matrix c;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            c.m[2 * i + j] = a.m[2 * i] * b.m[j] + a.m[2 * i + 1] * b.m[2 + j];
    return c;
})
enum colour { RED, GREEN };

CGX_KERNEL(wave, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_16 t = cgx_tiled_partition(b, 16);
    int r = cgx_thread_rank(b), same;
    best mine = { (float)r, r };
    int *o = out + 20 * r;
    o[0] = cgx_shfl(t, r, 3) + cgx_shfl_up(t, r, 1), o[1] = cgx_shfl_down(t, r, 1) + cgx_shfl_xor(t, r, 5);
    o[2] = cgx_shfl(t, mine, 1).i + (int)cgx_shfl(t, (double)r, 2);
    o[3] = cgx_any(t, r == 3), o[4] = cgx_all(t, r < 16), o[5] = (int)cgx_ballot(t, r & 1);
    o[6] = (int)cgx_match_any(t, r / 3), o[7] = (int)cgx_match_all(t, r / 3, &same), o[8] = same;
    o[9] = cgx_reduce(t, r, CGX_PLUS), o[10] = cgx_inclusive_scan(t, r, CGX_BIT_XOR);
    o[11] = cgx_exclusive_scan(t, r, CGX_GREATER), o[12] = cgx_reduce_op(t, mine, argmax).i;
    cgx_coalesced c = cgx_labeled_partition(t, r % 3);
    o[13] = cgx_thread_rank(c) + 16 * cgx_num_threads(c) + 256 * cgx_meta_group_rank(c);
    o[14] = cgx_reduce(c, r, CGX_PLUS), o[15] = cgx_inclusive_scan(c, r, CGX_PLUS), o[16] = (int)cgx_ballot(c, r & 1);
    cgx_coalesced half = cgx_binary_partition(t, r & 1);
    o[17] = cgx_shfl(half, r, 1) + cgx_meta_group_rank(half), o[18] = (int)cgx_match_any(half, r / 4);
    cgx_sync(half);
    o[19] = cgx_any(half, r > 3) + cgx_reduce(t, r & 1 ? GREEN : RED, CGX_PLUS);
}

CGX_KERNEL(block_reduce, (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    float sum = cgx_reduce(b, in[cgx_thread_rank(b)], CGX_PLUS);
    if (cgx_thread_rank(b) == 0)
        *out = sum;
}

CGX_KERNEL(block, (const matrix *, in), (matrix *, out), (float *, x))
{
    cgx_block b = cgx_this_block();
    int r = cgx_thread_rank(b);
    out[3 * r] = cgx_reduce_op(b, in[r], times);
    out[3 * r + 1] = cgx_inclusive_scan_op(b, in[r], times);
    out[3 * r + 2] = cgx_exclusive_scan_op(b, in[r], times);
    if (cgx_any(b, x[r] < 0) || cgx_all(b, x[r] > 1))
        x[r] = cgx_reduce(b, x[r], CGX_LESS) + cgx_inclusive_scan(b, x[r], CGX_PLUS);
}

/* ---- host code of a one-file program, which device compilers read too ---- */

cgx_status run(cgx_queue *q, float *x, int *n);
cgx_status run(cgx_queue *q, float *x, int *n)
{
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    table t = { { 0, 0, 0, 0 } };
    CGX_TRY(p0_launch(q, cgx_config_1d(1, 32)));
    CGX_TRY(reverse_launch(q, cgx_fit(q, 64, 64), x));
    CGX_TRY(elsewhere_launch(q, cgx_config_1d(1, 32), 3));
    CGX_TRY(cgx_kernel_get_info(q, CGX_KERNEL_OF(reverse), &info));
    CGX_TRY(cgx_kernel_get_info(q, CGX_KERNEL_OF(elsewhere), &info));
    CGX_TRY(cgx_write_variable(q, constants, &t));
    return cgx_read_variable(q, counter, n);
}

/* ---- atomics, barriers, copies ---- */

CGX_OP(float, larger, a, b, a > b ? a : b)
CGX_KERNEL(atomics, (int *, i), (uint64_t *, u), (float *, f))
{
    cgx_tile_16 t = cgx_tiled_partition(cgx_this_block(), 16);
    int expected = cgx_atomic_load(i, CGX_ACQUIRE, CGX_SCOPE_DEVICE);
    cgx_atomic_store(i, 3, CGX_RELEASE, CGX_SCOPE_SYSTEM);
    if (cgx_atomic_compare_exchange(i, &expected, 4, CGX_ACQ_REL, CGX_RELAXED, CGX_SCOPE_BLOCK))
        cgx_atomic_fetch_add(u, 1, CGX_RELAXED, CGX_SCOPE_CLUSTER);
    cgx_atomic_fetch_max(f, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_atomic_fetch_xor(u, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    *i = cgx_atomic_exchange(i, 5, CGX_SEQ_CST, CGX_SCOPE_DEVICE);
    cgx_atomic_fence(CGX_SEQ_CST, CGX_SCOPE_DEVICE);
    cgx_reduce_update_async(t, i, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
    cgx_reduce_store_async_atomic(t, u, CGX_SCOPE_DEVICE, 1, CGX_BIT_OR);
    cgx_reduce_store_async(t, f, 1, CGX_LESS);
    f[1] = cgx_inclusive_scan_update(t, f, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
    f[2] = cgx_exclusive_scan_update_op(t, f, CGX_SCOPE_DEVICE, 1, larger);
    cgx_reduce_store_async_op(t, f, 1, larger);
}

CGX_KERNEL(barriers, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    cgx_mbarrier_init(m, 1);
    cgx_mbarrier_token token = cgx_mbarrier_arrive(m);
    *out = cgx_mbarrier_test_wait(m, token) + cgx_mbarrier_try_wait(m, token, 100);
    cgx_mbarrier_wait(m, token);
    token = cgx_mbarrier_arrive_n(m, 1);
    *out += cgx_mbarrier_test_wait_parity(m, 0) + cgx_mbarrier_try_wait_parity(m, 1, 100);
    cgx_mbarrier_wait_parity(m, 0);
    *out += (int)cgx_mbarrier_token_pending(token);
    cgx_mbarrier_arrive_expect_tx(m, 16);
    cgx_mbarrier_arrive_and_drop(m);
    cgx_mbarrier_inval(m);
}

CGX_KERNEL(copies, (const float *, in), (float *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(float, stage, 1024);
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_memcpy_async(b, stage, in, 1024 * sizeof(float));
    cgx_memcpy_async_n(t, stage, 64, in, 32);
    cgx_wait_prior(b, 1);
    cgx_wait(t);
    cgx_pipeline_memcpy_async(stage, in, 16);
    cgx_pipeline_memcpy_async_zfill(stage, in, 16, 4);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(0);
    cgx_pipeline_arrive_on(m);
    cgx_bulk_copy_async(stage, in, 1024, m);
    cgx_bulk_store_async(out, stage, 1024);
    cgx_bulk_store_commit();
    cgx_bulk_store_wait_prior(0);
    cgx_pipeline_memcpy_async_any(stage, in, 7);
    cgx_memcpy_async_aligned(b, stage, in, 1024, 16);
    cgx_memcpy_async_n_aligned(b, stage, 64, in, 32, 16);
    *out = stage[0];
}

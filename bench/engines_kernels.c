/* SPDX-License-Identifier: MIT */
#include "engines_kernels.h"

CGX_KERNEL_EXTERN(engines_triad, (float *, a), (const float *, b), (const float *, c), (float, s), (int, n))
{
    const int64_t i = cgx_thread_rank(cgx_this_grid());
    if (i < n)
        a[i] = b[i] + s * c[i];
}

CGX_KERNEL_EXTERN(engines_sgemm, (const float *, a), (const float *, b), (float *, c), (int, n))
{
    CGX_SHARED_ARRAY2(float, as, ENGINES_TILE, ENGINES_TILE);
    CGX_SHARED_ARRAY2(float, bs, ENGINES_TILE, ENGINES_TILE);
    cgx_block block = cgx_this_block();
    const cgx_dim3 t = cgx_thread_index(block), g = cgx_group_index(block);
    const int row = g.y * ENGINES_TILE + t.y, column = g.x * ENGINES_TILE + t.x;
    float sum = 0;
    for (int k = 0; k < n; k += ENGINES_TILE) {
        as[t.y][t.x] = a[row * n + k + t.x];
        bs[t.y][t.x] = b[(k + t.y) * n + column];
        cgx_sync(block);
        for (int j = 0; j < ENGINES_TILE; j++)
            sum += as[t.y][j] * bs[j][t.x];
        cgx_sync(block);
    }
    c[row * n + column] = sum;
}

/* 4 x 4 results a thread, which it keeps in registers. */
CGX_KERNEL_EXTERN(engines_sgemm_tiles, (const float *, a), (const float *, b), (float *, c), (int, n))
{
    CGX_SHARED_ARRAY2(float, as, 16, 64);
    CGX_SHARED_ARRAY2(float, bs, 16, 64);
    cgx_block block = cgx_this_block();
    const cgx_dim3 t = cgx_thread_index(block), g = cgx_group_index(block);
    const int row = g.y * 64 + t.y, column = g.x * 64 + t.x, x = t.x, y = t.y;
    float sum[4][4] = { { 0 } };
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 4; i++) {
            as[x][y + 16 * i] = a[(row + 16 * i) * n + k + x];
            bs[y][x + 16 * i] = b[(k + y) * n + column + 16 * i];
        }
        cgx_sync(block);
        for (int m = 0; m < 16; m++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += as[m][y + 16 * i] * bs[m][x + 16 * j];
        cgx_sync(block);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + 16 * i) * n + column + 16 * j] = sum[i][j];
}

CGX_KERNEL_EXTERN(engines_reduce, (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b);
    s[t] = in[cgx_thread_rank(cgx_this_grid())];
    cgx_sync(b);
    for (int d = cgx_num_threads(b) / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        cgx_sync(b);
    }
    if (t == 0)
        out[cgx_block_rank(cgx_this_grid())] = s[0];
}

CGX_KERNEL_EXTERN(engines_block_sum, (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    const float sum = cgx_reduce(b, in[cgx_thread_rank(cgx_this_grid())], CGX_PLUS);
    if (cgx_elect(b))
        out[cgx_block_rank(cgx_this_grid())] = sum;
}

CGX_KERNEL_EXTERN(engines_scan, (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(float, first, 1024);
    CGX_SHARED_ARRAY(float, second, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), n = cgx_num_threads(b);
    const int64_t i = cgx_thread_rank(cgx_this_grid());
    float *from = first, *to = second;
    from[t] = in[i];
    cgx_sync(b);
    for (int d = 1; d < n; d <<= 1) {
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        cgx_sync(b);
        float *other = from;
        from = to, to = other;
    }
    out[i] = from[t];
}

CGX_KERNEL_EXTERN(engines_block_scan, (const float *, in), (float *, out))
{
    const int64_t i = cgx_thread_rank(cgx_this_grid());
    out[i] = cgx_inclusive_scan(cgx_this_block(), in[i], CGX_PLUS);
}

CGX_KERNEL_EXTERN(engines_shuffle, (const float *, in), (float *, out))
{
    cgx_tile_32 w = cgx_tiled_partition(cgx_this_block(), 32);
    const int64_t i = cgx_thread_rank(cgx_this_grid());
    float v = in[i];
    for (int m = 16; m; m >>= 1)
        v += cgx_shfl_xor(w, v, m);
    if (cgx_elect(w))
        out[i / 32] = v;
}

CGX_KERNEL_EXTERN(engines_warp_sum, (const float *, in), (float *, out))
{
    cgx_tile_32 w = cgx_tiled_partition(cgx_this_block(), 32);
    const int64_t i = cgx_thread_rank(cgx_this_grid());
    const float sum = cgx_reduce(w, in[i], CGX_PLUS);
    if (cgx_elect(w))
        out[i / 32] = sum;
}

CGX_DEVICE_FN void stencil(cgx_block b, float (*s)[34], const float *in, float *out, int n)
{
    const cgx_dim3 t = cgx_thread_index(b), g = cgx_group_index(b);
    const int pitch = n + 2, x = t.x, y = t.y;
    const float *from = in + (size_t)(g.y * 8) * (size_t)pitch + g.x * 32;
    s[y + 1][x + 1] = from[(y + 1) * pitch + x + 1];
    if (y == 0)
        s[0][x + 1] = from[x + 1];
    if (y == 7)
        s[9][x + 1] = from[9 * pitch + x + 1];
    if (x == 0)
        s[y + 1][0] = from[(y + 1) * pitch];
    if (x == 31)
        s[y + 1][33] = from[(y + 1) * pitch + 33];
    cgx_sync(b);
    out[(g.y * 8 + y + 1) * pitch + g.x * 32 + x + 1] =
        0.2f * (s[y + 1][x + 1] + s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2]);
}
CGX_KERNEL_EXTERN(engines_stencil, (const float *, in), (float *, out), (int, n))
{
    CGX_SHARED_ARRAY2(float, s, 10, 34);
    stencil(cgx_this_block(), s, in, out, n);
}
CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(32, 8, 1), engines_stencil_declared, (const float *, in), (float *, out),
                       (int, n))
{
    CGX_SHARED_ARRAY2(float, s, 10, 34);
    stencil(cgx_this_block(), s, in, out, n);
}

CGX_DEVICE_FN void transpose(cgx_block b, float (*s)[33], const float *in, float *out, int n)
{
    const cgx_dim3 t = cgx_thread_index(b), g = cgx_group_index(b);
    const int row = g.y * 32, column = g.x * 32, x = t.x, y = t.y;
    for (int i = 0; i < 32; i += 8)
        s[y + i][x] = in[(row + y + i) * n + column + x];
    cgx_sync(b);
    for (int i = 0; i < 32; i += 8)
        out[(column + y + i) * n + row + x] = s[x][y + i];
}
CGX_KERNEL_EXTERN(engines_transpose, (const float *, in), (float *, out), (int, n))
{
    CGX_SHARED_ARRAY2(float, s, 32, 33);
    transpose(cgx_this_block(), s, in, out, n);
}
CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(32, 8, 1), engines_transpose_declared, (const float *, in), (float *, out),
                       (int, n))
{
    CGX_SHARED_ARRAY2(float, s, 32, 33);
    transpose(cgx_this_block(), s, in, out, n);
}

/* Each block counts a 64th of the keys. */
CGX_KERNEL_EXTERN(engines_histogram, (const int *, keys), (float *, out), (int, n))
{
    CGX_SHARED_ARRAY(int, counts, ENGINES_BINS);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b), items = n / 64;
    const int block = (int)cgx_block_rank(cgx_this_grid());
    for (int bin = t; bin < ENGINES_BINS; bin += size)
        counts[bin] = 0;
    cgx_sync(b);
    for (int i = t; i < items; i += size)
        cgx_atomic_fetch_add(&counts[keys[(int64_t)block * items + i]], 1, CGX_RELAXED, CGX_SCOPE_BLOCK);
    cgx_sync(b);
    for (int bin = t; bin < ENGINES_BINS; bin += size)
        out[block * ENGINES_BINS + bin] = (float)counts[bin];
}

CGX_KERNEL_EXTERN_COOPERATIVE(engines_jacobi, (const float *, a), (const float *, b), (float *, out), (float *, swap),
                              (int, n), (int, steps))
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block block = cgx_this_block();
    cgx_grid grid = cgx_this_grid();
    const int t = cgx_thread_rank(block), size = cgx_num_threads(block), i = (int)cgx_thread_rank(grid);
    const float keep = 0.5f * b[i], *from = a;
    float *to = swap;
    for (int k = 0; k < steps; k++) {
        s[t] = from[i];
        cgx_sync(block);
        const float left = t > 0 ? s[t - 1] : i > 0 ? from[i - 1] : 0;
        const float right = t < size - 1 ? s[t + 1] : i < n - 1 ? from[i + 1] : 0;
        to[i] = 0.25f * (left + right) + keep;
        cgx_sync(grid);
        from = to;
        to = to == swap ? out : swap;
    }
}

/* One warp fills a ring of two places, the others empty it. */
CGX_KERNEL_EXTERN(engines_ring, (int, stages), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(cgx_mbarrier, full, 2);
    CGX_SHARED_ARRAY(cgx_mbarrier, empty, 2);
    CGX_SHARED_ARRAY2(float, buffer, 2, 32);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), lane = t % 32, size = cgx_num_threads(b);
    float sum = 0;
    if (t == 0)
        for (int i = 0; i < 2; i++) {
            cgx_mbarrier_init(&full[i], 32);
            cgx_mbarrier_init(&empty[i], (uint32_t)size - 32);
        }
    cgx_sync(b);
    for (int k = 0; k < stages; k++) {
        const int at = k & 1, round = k >> 1;
        if (t < 32) {
            if (round > 0)
                cgx_mbarrier_wait_parity(&empty[at], (round - 1) & 1);
            buffer[at][lane] = in[k * 32 + lane];
            cgx_mbarrier_arrive(&full[at]);
        } else {
            cgx_mbarrier_wait_parity(&full[at], round & 1);
            sum += buffer[at][(lane + t / 32) % 32];
            cgx_mbarrier_arrive(&empty[at]);
        }
    }
    out[cgx_thread_rank(cgx_this_grid())] = sum;
}

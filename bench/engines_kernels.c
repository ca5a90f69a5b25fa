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

CGX_KERNEL_EXTERN(engines_collective, (const float *, in), (float *, out))
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

CGX_KERNEL_EXTERN(engines_stencil, (const float *, in), (float *, out), (int, n))
{
    CGX_SHARED_ARRAY2(float, s, 10, 34);
    cgx_block b = cgx_this_block();
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

/* One warp fills a ring of two places, the others empty it. */
CGX_KERNEL_EXTERN(engines_ring, (int, stages), (const int *, in), (int *, out))
{
    CGX_SHARED_ARRAY(cgx_mbarrier, full, 2);
    CGX_SHARED_ARRAY(cgx_mbarrier, empty, 2);
    CGX_SHARED_ARRAY2(int, buffer, 2, 32);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), lane = t % 32, size = cgx_num_threads(b);
    int sum = 0;
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

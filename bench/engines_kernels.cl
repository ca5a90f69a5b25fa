/* SPDX-License-Identifier: MIT */
/* The kernels of engines_kernels.c in OpenCL C. What a sub-group or a collective does there goes through local memory. */

kernel void triad(global float *a, global const float *b, global const float *c, float s, int n)
{
    const int i = (int)get_global_id(0);
    if (i < n)
        a[i] = b[i] + s * c[i];
}

kernel void sgemm(global const float *a, global const float *b, global float *c, int n)
{
    local float as[16][16], bs[16][16];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int row = (int)get_group_id(1) * 16 + y, column = (int)get_group_id(0) * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[y][x] = a[row * n + k + x];
        bs[y][x] = b[(k + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 16; j++)
            sum += as[y][j] * bs[j][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

kernel void sgemm_tiles(global const float *a, global const float *b, global float *c, int n)
{
    local float as[16][64], bs[16][64];
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int row = (int)get_group_id(1) * 64 + y, column = (int)get_group_id(0) * 64 + x;
    float sum[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            sum[i][j] = 0;
    for (int k = 0; k < n; k += 16) {
        for (int i = 0; i < 4; i++) {
            as[x][y + 16 * i] = a[(row + 16 * i) * n + k + x];
            bs[y][x + 16 * i] = b[(k + y) * n + column + 16 * i];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int m = 0; m < 16; m++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] += as[m][y + 16 * i] * bs[m][x + 16 * j];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + 16 * i) * n + column + 16 * j] = sum[i][j];
}

kernel void reduce(global const float *in, global float *out)
{
    local float s[1024];
    const int t = (int)get_local_id(0);
    s[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = (int)get_local_size(0) / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = s[0];
}

kernel void scan(global const float *in, global float *out)
{
    local float first[1024], second[1024];
    local float *from = first, *to = second;
    const int t = (int)get_local_id(0), n = (int)get_local_size(0);
    from[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < n; d <<= 1) {
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        barrier(CLK_LOCAL_MEM_FENCE);
        local float *const other = from;
        from = to, to = other;
    }
    out[get_global_id(0)] = from[t];
}

kernel void shuffle_sum(global const float *in, global float *out)
{
    local float w[2][1024];
    const int t = (int)get_local_id(0);
    int phase = 0;
    float v = in[get_global_id(0)];
    for (int m = 16; m; m >>= 1) {
        w[phase][t] = v;
        barrier(CLK_LOCAL_MEM_FENCE);
        v += w[phase][t ^ m];
        phase ^= 1;
    }
    if ((t & 31) == 0)
        out[get_global_id(0) / 32] = v;
}

kernel void stencil(global const float *in, global float *out, int n)
{
    local float s[10][34];
    const int pitch = n + 2, x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int row = (int)get_group_id(1) * 8, column = (int)get_group_id(0) * 32;
    global const float *from = in + row * pitch + column;
    s[y + 1][x + 1] = from[(y + 1) * pitch + x + 1];
    if (y == 0)
        s[0][x + 1] = from[x + 1];
    if (y == 7)
        s[9][x + 1] = from[9 * pitch + x + 1];
    if (x == 0)
        s[y + 1][0] = from[(y + 1) * pitch];
    if (x == 31)
        s[y + 1][33] = from[(y + 1) * pitch + 33];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(row + y + 1) * pitch + column + x + 1] =
        0.2f * (s[y + 1][x + 1] + s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2]);
}

kernel void transpose(global const float *in, global float *out, int n)
{
    local float s[32][33];
    const int row = (int)get_group_id(1) * 32, column = (int)get_group_id(0) * 32;
    const int x = (int)get_local_id(0), y = (int)get_local_id(1);
    for (int i = 0; i < 32; i += 8)
        s[y + i][x] = in[(row + y + i) * n + column + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 32; i += 8)
        out[(column + y + i) * n + row + x] = s[x][y + i];
}

kernel void histogram(global const int *keys, global float *out, int n)
{
    local int counts[256];
    const int t = (int)get_local_id(0), size = (int)get_local_size(0), items = n / 64, block = (int)get_group_id(0);
    for (int bin = t; bin < 256; bin += size)
        counts[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = t; i < items; i += size)
        atomic_inc(&counts[keys[block * items + i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int bin = t; bin < 256; bin += size)
        out[block * 256 + bin] = (float)counts[bin];
}

/* One sweep: there is no grid synchronisation. */
kernel void jacobi(global const float *from, global const float *b, global float *to, int n)
{
    local float s[1024];
    const int t = (int)get_local_id(0), size = (int)get_local_size(0), i = (int)get_global_id(0);
    s[t] = from[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const float left = t > 0 ? s[t - 1] : i > 0 ? from[i - 1] : 0;
    const float right = t < size - 1 ? s[t + 1] : i < n - 1 ? from[i + 1] : 0;
    to[i] = 0.25f * (left + right) + 0.5f * b[i];
}

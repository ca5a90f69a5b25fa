/* SPDX-License-Identifier: MIT */
/* What a person would write instead of the kernels of engines_kernels.c. by_hand_NAME: plain loops, as fast as they can be.
 * fission_NAME: the kernel's own algorithm, its loop over the threads of a block broken up at every barrier, block size known at
 * run time. One core; the number of threads is the caller's. */
#include "engines_rivals.h"

#if defined(__clang__)
#define SIMD _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMD _Pragma("GCC ivdep")
#endif
#define THREADS SIMD for (int t = 0; t < size; t++)
#define THREADS_2D               \
    for (int y = 0; y < ny; y++) \
    SIMD for (int x = 0; x < nx; x++)

void by_hand_triad(float *a, const float *b, const float *c, float s, int n)
{
    SIMD for (int i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
void fission_triad(float *a, const float *b, const float *c, float s, int n, int size)
{
    for (int block = 0; block < n / size; block++) {
        const int base = block * size;
        THREADS if (base + t < n) a[base + t] = b[base + t] + s * c[base + t];
    }
}

void by_hand_sgemm(const float *a, const float *b, float *c, int n)
{
    for (int i0 = 0; i0 < n; i0 += 16)
        for (int j0 = 0; j0 < n; j0 += 16) {
            float sum[16][16] = { { 0 } };
            for (int k = 0; k < n; k++)
                for (int i = 0; i < 16; i++) {
                    const float x = a[(i0 + i) * n + k];
                    SIMD for (int j = 0; j < 16; j++) sum[i][j] += x * b[k * n + j0 + j];
                }
            for (int i = 0; i < 16; i++)
                for (int j = 0; j < 16; j++)
                    c[(i0 + i) * n + j0 + j] = sum[i][j];
        }
}
void fission_sgemm(const float *a, const float *b, float *c, int n, int nx, int ny)
{
    static _Thread_local float as[16][16], bs[16][16], sum[16][16];
    for (int by = 0; by < n / ny; by++)
        for (int bx = 0; bx < n / nx; bx++) {
            THREADS_2D sum[y][x] = 0;
            for (int k = 0; k < n; k += 16) {
                THREADS_2D
                {
                    as[y][x] = a[(by * ny + y) * n + k + x];
                    bs[y][x] = b[(k + y) * n + bx * nx + x];
                }
                THREADS_2D
                {
                    float v = sum[y][x];
                    for (int j = 0; j < 16; j++)
                        v += as[y][j] * bs[j][x];
                    sum[y][x] = v;
                }
            }
            THREADS_2D c[(by * ny + y) * n + bx * nx + x] = sum[y][x];
        }
}

void by_hand_reduce(const float *in, float *out, int blocks, int size)
{
    for (int b = 0; b < blocks; b++) {
        float v[16] = { 0 }, sum = 0;
        for (int i = 0; i < size; i += 16)
            for (int k = 0; k < 16; k++)
                v[k] += in[(size_t)b * (size_t)size + (size_t)(i + k)];
        for (int k = 0; k < 16; k++)
            sum += v[k];
        out[b] = sum;
    }
}
void fission_reduce(const float *in, float *out, int blocks, int size)
{
    static _Thread_local float s[1024];
    for (int b = 0; b < blocks; b++) {
        const float *from = in + (size_t)b * (size_t)size;
        THREADS s[t] = from[t];
        for (int d = size / 2; d > 0; d >>= 1)
            THREADS if (t < d) s[t] += s[t + d];
        out[b] = s[0];
    }
}

void by_hand_scan(const float *in, float *out, int blocks, int size)
{
    for (int b = 0; b < blocks; b++) {
        float sum = 0;
        for (int i = 0; i < size; i++)
            out[(size_t)b * (size_t)size + (size_t)i] = sum += in[(size_t)b * (size_t)size + (size_t)i];
    }
}
void fission_scan(const float *in, float *out, int blocks, int size)
{
    static _Thread_local float first[1024], second[1024];
    for (int b = 0; b < blocks; b++) {
        const float *source = in + (size_t)b * (size_t)size;
        float *target = out + (size_t)b * (size_t)size, *from = first, *to = second;
        THREADS from[t] = source[t];
        for (int d = 1; d < size; d <<= 1) {
            THREADS to[t] = t >= d ? from[t] + from[t - d] : from[t];
            float *other = from;
            from = to, to = other;
        }
        THREADS target[t] = from[t];
    }
}

void by_hand_shuffle(const float *in, float *out, int blocks, int size)
{
    by_hand_reduce(in, out, blocks * size / 32, 32);
}
void fission_shuffle(const float *in, float *out, int blocks, int size)
{
    static _Thread_local float v[1024], w[1024];
    for (int b = 0; b < blocks; b++) {
        const float *from = in + (size_t)b * (size_t)size;
        THREADS v[t] = from[t];
        for (int m = 16; m; m >>= 1) {
            THREADS w[t] = v[t];
            THREADS v[t] += w[t ^ m];
        }
        for (int t = 0; t < size; t += 32)
            out[(b * size + t) / 32] = v[t];
    }
}

void by_hand_stencil(const float *in, float *out, int n)
{
    const int pitch = n + 2;
    for (int y = 1; y <= n; y++) {
        const float *from = in + (size_t)y * (size_t)pitch;
        float *to = out + (size_t)y * (size_t)pitch;
        SIMD for (int x = 1; x <= n; x++) to[x] =
            0.2f * (from[x] + from[x - pitch] + from[x + pitch] + from[x - 1] + from[x + 1]);
    }
}
void fission_stencil(const float *in, float *out, int n, int nx, int ny)
{
    static _Thread_local float s[10][34];
    const int pitch = n + 2;
    for (int by = 0; by < n / ny; by++)
        for (int bx = 0; bx < n / nx; bx++) {
            const float *from = in + (size_t)(by * 8) * (size_t)pitch + bx * 32;
            float *to = out + (size_t)(by * 8) * (size_t)pitch + bx * 32;
            THREADS_2D
            {
                s[y + 1][x + 1] = from[(y + 1) * pitch + x + 1];
                if (y == 0)
                    s[0][x + 1] = from[x + 1];
                if (y == 7)
                    s[9][x + 1] = from[9 * pitch + x + 1];
                if (x == 0)
                    s[y + 1][0] = from[(y + 1) * pitch];
                if (x == 31)
                    s[y + 1][33] = from[(y + 1) * pitch + 33];
            }
            THREADS_2D to[(y + 1) * pitch + x + 1] =
                0.2f * (s[y + 1][x + 1] + s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2]);
        }
}

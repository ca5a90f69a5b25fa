/* SPDX-License-Identifier: MIT */
/* Compiled twice: FISSION_CONSTANT says whether the size of a block is a constant. What a good programmer makes of a kernel by hand: no
 * loop over the threads asks in every round what holds for a range of them. */
#include "engines_rivals.h"
#include <stddef.h>
#include <string.h>

#if defined(__clang__)
#define SIMD _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMD _Pragma("GCC ivdep")
#endif
#ifdef FISSION_CONSTANT
#define FISSION(name) constant_##name
#define SIZE(x, y)                \
    const int nx = (x), ny = (y); \
    (void)size_x, (void)size_y, (void)ny, (void)step
#else
#define FISSION(name) run_time_##name
#define SIZE(x, y)                      \
    const int nx = size_x, ny = size_y; \
    (void)ny, (void)step
#endif
#define PART(name) void FISSION(name)(const engines_data *d, int size_x, int size_y, int first, int last, int step)
#define LANES(from, to) SIMD for (int t = from; t < (to); t++)
#define LANES_2D                 \
    for (int y = 0; y < ny; y++) \
    SIMD for (int x = 0; x < nx; x++)
enum { MOST = 1024, WARP = 32 };

PART(triad)
{
    SIZE(256, 1);
    const float *const b = d->a, *const c = d->b;
    float *const a = d->out;
    const int n = d->n;
    for (int block = first; block < last; block++) {
        const int base = block * nx, count = n - base < nx ? n - base : nx;
        LANES(base, base + count) a[t] = b[t] + 3.0f * c[t];
    }
}

PART(sgemm)
{
    SIZE(16, 16);
    static _Thread_local float as[16][16], bs[16][16], sums[MOST];
    const float *const a = d->a, *const b = d->b;
    float *const c = d->out;
    const int n = d->n;
    for (int block = first; block < last; block++) {
        const int row = block / (n / 16) * 16, column = block % (n / 16) * 16;
        LANES_2D sums[y * nx + x] = 0;
        for (int k = 0; k < n; k += 16) {
            LANES_2D
            {
                as[y][x] = a[(row + y) * n + k + x];
                bs[y][x] = b[(k + y) * n + column + x];
            }
            LANES_2D
            {
                float sum = sums[y * nx + x];
                for (int j = 0; j < 16; j++)
                    sum += as[y][j] * bs[j][x];
                sums[y * nx + x] = sum;
            }
        }
        LANES_2D c[(row + y) * n + column + x] = sums[y * nx + x];
    }
}

/* 4 x 4 results a thread; those of a row of threads are kept in registers. */
PART(sgemm_tiles)
{
    SIZE(16, 16);
    static _Thread_local float as[16][64], bs[16][64], sums[4][MOST / 16][4][16];
    const float *const a = d->a, *const b = d->b;
    float *const c = d->out;
    const int n = d->n;
    for (int block = first; block < last; block++) {
        const int row = block / (n / 64) * 64, column = block % (n / 64) * 64;
        memset(sums, 0, sizeof sums);
        for (int k = 0; k < n; k += 16) {
            for (int i = 0; i < 4; i++) {
                LANES_2D as[x][y + 16 * i] = a[(row + y + 16 * i) * n + k + x];
                LANES_2D bs[y][x + 16 * i] = b[(k + y) * n + column + x + 16 * i];
            }
            for (int i = 0; i < 4; i++)
                for (int y = 0; y < ny; y++) {
                    float sum[4][16];
                    memcpy(sum, sums[i][y], sizeof sum);
                    for (int m = 0; m < 16; m++)
                        for (int j = 0; j < 4; j++)
                            for (int x = 0; x < 16; x++)
                                sum[j][x] += as[m][y + 16 * i] * bs[m][x + 16 * j];
                    memcpy(sums[i][y], sum, sizeof sum);
                }
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                LANES_2D c[(row + y + 16 * i) * n + column + x + 16 * j] = sums[i][y][j][x];
    }
}

PART(reduce)
{
    SIZE(256, 1);
    static _Thread_local float s[MOST];
    for (int block = first; block < last; block++) {
        const float *const in = d->a + (ptrdiff_t)block * nx;
        LANES(0, nx) s[t] = in[t];
        for (int half = nx / 2; half > 0; half >>= 1)
            LANES(0, half) s[t] += s[t + half];
        d->out[block] = s[0];
    }
}

PART(scan)
{
    SIZE(256, 1);
    static _Thread_local float one[MOST], other[MOST];
    for (int block = first; block < last; block++) {
        const float *const in = d->a + (ptrdiff_t)block * nx;
        float *const out = d->out + (ptrdiff_t)block * nx, *from = one, *to = other;
        LANES(0, nx) from[t] = in[t];
        for (int distance = 1; distance < nx; distance <<= 1) {
            LANES(0, distance) to[t] = from[t];
            LANES(distance, nx) to[t] = from[t] + from[t - distance];
            float *const left = from;
            from = to, to = left;
        }
        LANES(0, nx) out[t] = from[t];
    }
}

PART(shuffle)
{
    SIZE(256, 1);
    static _Thread_local float v[MOST], w[MOST];
    for (int block = first; block < last; block++) {
        const float *const in = d->a + (ptrdiff_t)block * nx;
        LANES(0, nx) v[t] = in[t];
        for (int m = WARP / 2; m; m >>= 1) {
            LANES(0, nx) w[t] = v[t];
            for (int warp = 0; warp < nx; warp += 2 * m)
                for (int t = warp; t < warp + m; t++) {
                    v[t] += w[t + m];
                    v[t + m] += w[t];
                }
        }
        for (int warp = 0; warp < nx / WARP; warp++)
            d->out[block * (nx / WARP) + warp] = v[warp * WARP];
    }
}

/* One warp to its end and then the next, which a kernel without a barrier of the block allows. */
PART(warps)
{
    SIZE(256, 1);
    for (int block = first; block < last; block++)
        for (int warp = 0; warp < nx / WARP; warp++) {
            const float *const in = d->a + (ptrdiff_t)block * nx + warp * WARP;
            float v[WARP], w[WARP];
            LANES(0, WARP) v[t] = in[t];
            for (int m = WARP / 2; m; m >>= 1) {
                LANES(0, WARP) w[t] = v[t];
                LANES(0, WARP) v[t] += w[t ^ m];
            }
            d->out[block * (nx / WARP) + warp] = v[0];
        }
}

PART(stencil)
{
    SIZE(32, 8);
    static _Thread_local float s[10][34];
    const int n = d->n, pitch = n + 2;
    for (int block = first; block < last; block++) {
        const ptrdiff_t origin = (ptrdiff_t)(block / (n / 32)) * 8 * pitch + block % (n / 32) * 32;
        const float *const in = d->a + origin;
        float *const out = d->out + origin;
        LANES_2D s[y + 1][x + 1] = in[(y + 1) * pitch + x + 1];
        LANES(0, nx) s[0][t + 1] = in[t + 1];
        LANES(0, nx) s[9][t + 1] = in[9 * pitch + t + 1];
        for (int y = 0; y < ny; y++) {
            s[y + 1][0] = in[(y + 1) * pitch];
            s[y + 1][33] = in[(y + 1) * pitch + 33];
        }
        LANES_2D out[(y + 1) * pitch + x + 1] =
            0.2f * (s[y + 1][x + 1] + s[y][x + 1] + s[y + 2][x + 1] + s[y + 1][x] + s[y + 1][x + 2]);
    }
}

/* Tiles of 32 x 32 by blocks of 32 x 8. */
PART(transpose)
{
    SIZE(32, 8);
    static _Thread_local float s[32][33];
    const int n = d->n;
    for (int block = first; block < last; block++) {
        const int row = block / (n / 32) * 32, column = block % (n / 32) * 32;
        for (int i = 0; i < 32; i += ny)
            LANES_2D s[y + i][x] = d->a[(ptrdiff_t)(row + y + i) * n + column + x];
        for (int i = 0; i < 32; i += ny)
            LANES_2D d->out[(ptrdiff_t)(column + y + i) * n + row + x] = s[x][y + i];
    }
}

PART(histogram)
{
    SIZE(256, 1);
    static _Thread_local int counts[ENGINES_BINS];
    const int items = d->n / 64;
    for (int block = first; block < last; block++) {
        for (int bin = 0; bin < ENGINES_BINS; bin += nx)
            for (int t = 0; t < nx && bin + t < ENGINES_BINS; t++)
                counts[bin + t] = 0;
        for (int i = 0; i < items; i += nx)
            for (int t = 0; t < nx && i + t < items; t++)
                counts[d->keys[(ptrdiff_t)block * items + i + t]]++;
        for (int bin = 0; bin < ENGINES_BINS; bin += nx)
            for (int t = 0; t < nx && bin + t < ENGINES_BINS; t++)
                d->out[block * ENGINES_BINS + bin + t] = (float)counts[bin + t];
    }
}

PART(jacobi)
{
    SIZE(256, 1);
    static _Thread_local float s[MOST];
    const int n = d->n;
    const float *const from = step == 0 ? d->a : step & 1 ? d->swap : d->out, *const b = d->b;
    float *const to = step & 1 ? d->out : d->swap;
    for (int block = first; block < last; block++) {
        const int base = block * nx;
        LANES(0, nx) s[t] = from[base + t];
        const float left = base > 0 ? from[base - 1] : 0, right = base + nx < n ? from[base + nx] : 0;
        to[base] = 0.25f * (left + s[1]) + 0.5f * b[base];
        LANES(1, nx - 1) to[base + t] = 0.25f * (s[t - 1] + s[t + 1]) + 0.5f * b[base + t];
        to[base + nx - 1] = 0.25f * (s[nx - 2] + right) + 0.5f * b[base + nx - 1];
    }
}

PART(ring)
{
    SIZE(256, 1);
    static _Thread_local float stage[ENGINES_STAGE], sums[MOST];
    for (int block = first; block < last; block++) {
        LANES(0, nx) sums[t] = 0;
        for (int k = 0; k < d->steps; k++) {
            LANES(0, WARP) stage[t] = d->a[k * ENGINES_STAGE + t];
            for (int warp = 1; warp < nx / WARP; warp++)
                LANES(0, WARP) sums[warp * WARP + t] += stage[(t + warp) % WARP];
        }
        LANES(0, nx) d->out[block * nx + t] = sums[t];
    }
}

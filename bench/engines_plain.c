/* SPDX-License-Identifier: MIT */
/* Plain loops that leave what the kernels of engines_kernels.c leave. */
#include "engines_rivals.h"
#include <stddef.h>

#if defined(__clang__)
#define SIMD _Pragma("clang loop vectorize(assume_safety)")
#else
#define SIMD _Pragma("GCC ivdep")
#endif
#define PART(name) void plain_##name(const engines_data *d, int nx, int ny, int first, int last, int step)
#define UNUSED (void)nx, (void)ny, (void)step

PART(triad)
{
    const float *const b = d->a, *const c = d->b;
    float *const a = d->out;
    UNUSED;
    SIMD for (int i = first; i < last; i++) a[i] = b[i] + 3.0f * c[i];
}

/* In tiles of 16 x 16, four rows of which are kept in registers. */
PART(sgemm)
{
    const float *const a = d->a, *const b = d->b;
    float *const c = d->out;
    const int n = d->n;
    UNUSED;
    for (int tile = first; tile < last; tile++) {
        const int column = tile % (n / 16) * 16;
        for (int row = tile / (n / 16) * 16, end = row + 16; row < end; row += 4) {
            float sum[4][16] = { { 0 } };
            for (int k = 0; k < n; k++)
                for (int i = 0; i < 4; i++)
                    for (int j = 0; j < 16; j++)
                        sum[i][j] += a[(row + i) * n + k] * b[k * n + column + j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 16; j++)
                    c[(row + i) * n + column + j] = sum[i][j];
        }
    }
}

/* Sums of so many items each, in whatever order is fastest. */
static inline void sums(const float *in, float *out, int items, int first, int last)
{
    for (int b = first; b < last; b++) {
        float v[16] = { 0 }, sum = 0;
        for (int i = 0; i < items; i += 16)
            for (int k = 0; k < 16; k++)
                v[k] += in[(ptrdiff_t)b * items + i + k];
        for (int k = 0; k < 16; k++)
            sum += v[k];
        out[b] = sum;
    }
}
PART(sums_256)
{
    UNUSED;
    sums(d->a, d->out, 256, first, last);
}
PART(sums_32)
{
    UNUSED;
    sums(d->a, d->out, 32, first, last);
}

PART(scan)
{
    UNUSED;
    for (int b = first; b < last; b++) {
        const float *const in = d->a + (ptrdiff_t)b * 256;
        float *const out = d->out + (ptrdiff_t)b * 256, sum = 0;
        for (int i = 0; i < 256; i++)
            out[i] = sum += in[i];
    }
}

PART(stencil)
{
    const int n = d->n, pitch = n + 2;
    UNUSED;
    for (int y = first + 1; y <= last; y++) {
        const float *const in = d->a + (ptrdiff_t)y * pitch;
        float *const out = d->out + (ptrdiff_t)y * pitch;
        SIMD for (int x = 1; x <= n; x++) out[x] =
            0.2f * (in[x] + in[x - pitch] + in[x + pitch] + in[x - 1] + in[x + 1]);
    }
}

/* In tiles of 32 x 32. */
PART(transpose)
{
    const int n = d->n;
    UNUSED;
    for (int tile = first; tile < last; tile++) {
        const int row = tile / (n / 32) * 32, column = tile % (n / 32) * 32;
        for (int y = 0; y < 32; y++)
            SIMD for (int x = 0; x < 32; x++) d->out[(ptrdiff_t)(column + y) * n + row + x] =
                d->a[(ptrdiff_t)(row + x) * n + column + y];
    }
}

PART(histogram)
{
    const int items = d->n / 64;
    UNUSED;
    for (int b = first; b < last; b++) {
        int counts[ENGINES_BINS] = { 0 };
        for (int i = 0; i < items; i++)
            counts[d->keys[(ptrdiff_t)b * items + i]]++;
        for (int bin = 0; bin < ENGINES_BINS; bin++)
            d->out[b * ENGINES_BINS + bin] = (float)counts[bin];
    }
}

PART(jacobi)
{
    const int n = d->n;
    const float *const from = step == 0 ? d->a : step & 1 ? d->swap : d->out, *const b = d->b;
    float *const to = step & 1 ? d->out : d->swap;
    (void)nx, (void)ny;
    if (first == 0)
        to[0] = 0.25f * (0 + from[1]) + 0.5f * b[0];
    SIMD for (int i = first > 0 ? first : 1; i < (last < n ? last : n - 1); i++) to[i] =
        0.25f * (from[i - 1] + from[i + 1]) + 0.5f * b[i];
    if (last == n)
        to[n - 1] = 0.25f * (from[n - 2] + 0) + 0.5f * b[n - 1];
}

/* The kernel's pipeline: two places, filled by one warp and emptied by seven, each as far as the counts of arrivals let it. */
PART(ring)
{
    enum { WARP = 32, WARPS = 8, PLACES = 2, FULL = WARP, EMPTY = (WARPS - 1) * WARP };
    UNUSED;
    for (int b = first; b < last; b++) {
        float places[PLACES][WARP], sums[WARPS * WARP] = { 0 };
        int full[PLACES] = { 0 }, empty[PLACES] = { 0 }, at[WARPS] = { 0 };
        for (int done = 0; done < WARPS;)
            for (int warp = done = 0; warp < WARPS; warp++) {
                int k = at[warp];
                for (; k < d->steps; k++) {
                    float *const place = places[k % PLACES];
                    const int round = k / PLACES;
                    if (warp == 0) {
                        if (empty[k % PLACES] < round * EMPTY)
                            break;
                        SIMD for (int t = 0; t < WARP; t++) place[t] = d->a[k * WARP + t];
                        full[k % PLACES] += WARP;
                    } else {
                        if (full[k % PLACES] < (round + 1) * FULL)
                            break;
                        float *const sum = sums + warp * WARP;
                        SIMD for (int t = 0; t < WARP; t++) sum[t] += place[(t + warp) % WARP];
                        empty[k % PLACES] += WARP;
                    }
                }
                at[warp] = k;
                done += k == d->steps;
            }
        for (int t = 0; t < WARPS * WARP; t++)
            d->out[b * WARPS * WARP + t] = sums[t];
    }
}

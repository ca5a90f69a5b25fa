/* SPDX-License-Identifier: MIT */
/* Value types: half precision, bf16 and small vectors, the same bits and alignment in every pass (PARITY K05, K06). */
#ifndef CGX_TYPES_H
#define CGX_TYPES_H
#include <cgx/kernel.h>

#if defined(CGX_PASS_CPU)
#define CGX__HOST_DEVICE CGX__INLINE
#elif defined(CGX_PASS_CUDA)
#define CGX__HOST_DEVICE CGX_UNUSED static __host__ __device__ __forceinline__
#else
#define CGX__HOST_DEVICE CGX_UNUSED static __attribute__((host, device, always_inline)) inline
#endif

/* IEEE 754 binary16 and bfloat16: storage types; compute in float. */
typedef struct {
    uint16_t bits;
} cgx_half;
typedef struct {
    uint16_t bits;
} cgx_bf16;

CGX__HOST_DEVICE uint32_t cgx__float_bits(float v)
{
    uint32_t u;
    __builtin_memcpy(&u, &v, sizeof u);
    return u;
}
CGX__HOST_DEVICE float cgx__bits_float(uint32_t u)
{
    float v;
    __builtin_memcpy(&v, &u, sizeof v);
    return v;
}

/* Exact. */
CGX__HOST_DEVICE float cgx_half_to_float(cgx_half h)
{
    uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16, rest = h.bits & 0x7fffu;
    if (rest >= 0x7c00u)
        return cgx__bits_float(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest < 0x400u) { /* subnormal: an integer times 2^-24 */
        float v = (float)rest * 5.9604644775390625e-8f;
        return sign ? -v : v;
    }
    return cgx__bits_float(sign | ((rest << 13) + 0x38000000u));
}

/* To nearest, ties to even; too large gives infinity, NaN stays NaN. */
CGX__HOST_DEVICE cgx_half cgx_float_to_half(float v)
{
    uint32_t u = cgx__float_bits(v), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    cgx_half h;
    if (a > 0x7f800000u) {
        h.bits = (uint16_t)(sign | 0x7e00u | (a >> 13 & 0x3ffu));
    } else if (a >= 0x477ff000u) {
        h.bits = (uint16_t)(sign | 0x7c00u);
    } else if (a >= 0x38800000u) {
        uint32_t r = a - 0x38000000u;
        h.bits = (uint16_t)(sign | (r + 0xfffu + (r >> 13 & 1u)) >> 13);
    } else { /* subnormal: adding 2^-1 leaves the rounded multiple of 2^-24 in the low bits */
        h.bits = (uint16_t)(sign | (cgx__float_bits(cgx__bits_float(a) + 0.5f) - 0x3f000000u));
    }
    return h;
}

CGX__HOST_DEVICE float cgx_bf16_to_float(cgx_bf16 b)
{
    return cgx__bits_float((uint32_t)b.bits << 16);
}

CGX__HOST_DEVICE cgx_bf16 cgx_float_to_bf16(float v)
{
    uint32_t u = cgx__float_bits(v);
    cgx_bf16 b;
    if ((u & 0x7fffffffu) > 0x7f800000u)
        b.bits = (uint16_t)(u >> 16 | 0x40u);
    else
        b.bits = (uint16_t)((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
    return b;
}

/* Vectors of 2 and 4: cgx_float2, cgx_int4 ... Aligned to their size, 16 bytes at most, so that one access moves them. */
#define CGX__ALIGNED(n) __attribute__((aligned(n)))
#define CGX__VECTORS(name, T, align2, align4) \
    typedef struct CGX__ALIGNED(align2) {     \
        T x, y;                               \
    } cgx_##name##2;                          \
    typedef struct CGX__ALIGNED(align4) {     \
        T x, y, z, w;                         \
    } cgx_##name##4;
CGX__VECTORS(int, int32_t, 8, 16)
CGX__VECTORS(uint, uint32_t, 8, 16)
CGX__VECTORS(long, int64_t, 16, 16)
CGX__VECTORS(float, float, 8, 16)
CGX__VECTORS(double, double, 16, 16)
#endif

/* SPDX-License-Identifier: MIT */
/* HIP pass: the functions of <math.h>, and a few of <string.h> and <stdlib.h>, in kernels (PARITY K04). Part of hip.h. What is
 * exact on the chip is an instruction or a few; the rest comes from ocml, AMD's device library, of which cgxcc links what a
 * kernel uses. Without the library (CGX__NO_DEVICE_LIBRARY) the use of one of those is an error that says so.
 *
 * These are overloads of the host's functions by their target; kernels are compiled without the headers of C++, so that
 * what <math.h> declares is C's. */
#ifndef CGX_HIP_MATH_H
#define CGX_HIP_MATH_H
#include <cgx/hip.h>

/* X(name): of one number; of two. */
#define CGX__FOREACH_OCML_1(X) \
    X(acos)                    \
    X(acosh)                   \
    X(asin)                    \
    X(asinh)                   \
    X(atan)                    \
    X(atanh)                   \
    X(cbrt)                    \
    X(cos)                     \
    X(cosh)                    \
    X(erf)                     \
    X(erfc)                    \
    X(exp)                     \
    X(exp10) X(exp2) X(expm1) X(lgamma) X(log) X(log10) X(log1p) X(log2) X(logb) X(sin) X(sinh) X(tan) X(tanh) X(tgamma)
#define CGX__FOREACH_OCML_2(X) X(atan2) X(fdim) X(fmod) X(hypot) X(nextafter) X(pow) X(remainder)
#define CGX__FOREACH_EXACT_1(X) X(ceil) X(fabs) X(floor) X(nearbyint) X(rint) X(round) X(trunc)
#define CGX__FOREACH_EXACT_2(X) X(copysign) X(fmax) X(fmin)

#if defined(CGX__NO_DEVICE_LIBRARY)
#define CGX__OCML                                                                                                  \
    __device__ __attribute__((unavailable("in kernels this comes from AMD's device library, ocml.bc, which cgxcc " \
                                          "does not find: install rocm-device-libs, or name its folder in "        \
                                          "CGXCC_HIP_DEVICE_LIBRARY")))
#else
#define CGX__OCML __device__
#endif

extern "C++" {

/* ---- by instructions ---- */

#define CGX__EXACT_1(name)             \
    CGX__INLINE double name(double x)  \
    {                                  \
        return __builtin_##name(x);    \
    }                                  \
    CGX__INLINE float name##f(float x) \
    {                                  \
        return __builtin_##name##f(x); \
    }
#define CGX__EXACT_2(name)                      \
    CGX__INLINE double name(double x, double y) \
    {                                           \
        return __builtin_##name(x, y);          \
    }                                           \
    CGX__INLINE float name##f(float x, float y) \
    {                                           \
        return __builtin_##name##f(x, y);       \
    }
CGX__FOREACH_EXACT_1(CGX__EXACT_1)
CGX__FOREACH_EXACT_2(CGX__EXACT_2)
CGX__INLINE double sqrt(double x)
{
    return __builtin_sqrt(x);
}
CGX__INLINE float sqrtf(float x)
{
    return __builtin_sqrtf(x);
}
CGX__INLINE double fma(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
CGX__INLINE float fmaf(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
#define CGX__TO_INTEGER(T, name, rounding)    \
    CGX__INLINE T name(double x)              \
    {                                         \
        return (T)__builtin_##rounding(x);    \
    }                                         \
    CGX__INLINE T name##f(float x)            \
    {                                         \
        return (T)__builtin_##rounding##f(x); \
    }
CGX__TO_INTEGER(long, lrint, rint)
CGX__TO_INTEGER(long long, llrint, rint)
CGX__TO_INTEGER(long, lround, round)
CGX__TO_INTEGER(long long, llround, round)

CGX__INLINE int abs(int x)
{
    return x < 0 ? -x : x;
}
CGX__INLINE long labs(long x)
{
    return x < 0 ? -x : x;
}
CGX__INLINE long long llabs(long long x)
{
    return x < 0 ? -x : x;
}

CGX__INLINE void *memcpy(void *to, const void *from, size_t bytes)
{
    return __builtin_memcpy(to, from, bytes);
}
CGX__INLINE void *memmove(void *to, const void *from, size_t bytes)
{
    return __builtin_memmove(to, from, bytes);
}
CGX__INLINE void *memset(void *to, int value, size_t bytes)
{
    return __builtin_memset(to, value, bytes);
}

/* ---- by the device library ---- */

#define CGX__OCML_1(name)                                     \
    extern "C" __device__ double __ocml_##name##_f64(double); \
    extern "C" __device__ float __ocml_##name##_f32(float);   \
    CGX__OCML CGX__INLINE double name(double x)               \
    {                                                         \
        return __ocml_##name##_f64(x);                        \
    }                                                         \
    CGX__OCML CGX__INLINE float name##f(float x)              \
    {                                                         \
        return __ocml_##name##_f32(x);                        \
    }
#define CGX__OCML_2(name)                                             \
    extern "C" __device__ double __ocml_##name##_f64(double, double); \
    extern "C" __device__ float __ocml_##name##_f32(float, float);    \
    CGX__OCML CGX__INLINE double name(double x, double y)             \
    {                                                                 \
        return __ocml_##name##_f64(x, y);                             \
    }                                                                 \
    CGX__OCML CGX__INLINE float name##f(float x, float y)             \
    {                                                                 \
        return __ocml_##name##_f32(x, y);                             \
    }
CGX__FOREACH_OCML_1(CGX__OCML_1)
CGX__FOREACH_OCML_2(CGX__OCML_2)

/* Those with another signature. The library's results go to private memory. */
#define CGX__PRIVATE __attribute__((address_space(5)))
#define CGX__OCML_OTHERS(T, F, f)                                         \
    extern "C" __device__ T __ocml_ldexp_##F(T, int);                     \
    extern "C" __device__ int __ocml_ilogb_##F(T);                        \
    extern "C" __device__ T __ocml_frexp_##F(T, CGX__PRIVATE int *);      \
    extern "C" __device__ T __ocml_modf_##F(T, CGX__PRIVATE T *);         \
    extern "C" __device__ T __ocml_sincos_##F(T, CGX__PRIVATE T *);       \
    CGX__OCML CGX__INLINE T ldexp##f(T x, int e)                          \
    {                                                                     \
        return __ocml_ldexp_##F(x, e);                                    \
    }                                                                     \
    CGX__OCML CGX__INLINE T scalbn##f(T x, int e)                         \
    {                                                                     \
        return __ocml_ldexp_##F(x, e);                                    \
    }                                                                     \
    CGX__OCML CGX__INLINE int ilogb##f(T x)                               \
    {                                                                     \
        return __ocml_ilogb_##F(x);                                       \
    }                                                                     \
    CGX__OCML CGX__INLINE T frexp##f(T x, int *e)                         \
    {                                                                     \
        int power;                                                        \
        T fraction = __ocml_frexp_##F(x, (CGX__PRIVATE int *)&power);     \
        *e = power;                                                       \
        return fraction;                                                  \
    }                                                                     \
    CGX__OCML CGX__INLINE T modf##f(T x, T *integer)                      \
    {                                                                     \
        T whole, fraction = __ocml_modf_##F(x, (CGX__PRIVATE T *)&whole); \
        *integer = whole;                                                 \
        return fraction;                                                  \
    }                                                                     \
    CGX__OCML CGX__INLINE void sincos##f(T x, T *sine, T *cosine)         \
    {                                                                     \
        T c;                                                              \
        *sine = __ocml_sincos_##F(x, (CGX__PRIVATE T *)&c);               \
        *cosine = c;                                                      \
    }
CGX__OCML_OTHERS(double, f64, )
CGX__OCML_OTHERS(float, f32, f)

} /* extern "C++" */

/* What the library asks about chip and options, hidden in each image: full range, no relaxations. */
#if defined(CGX__AMD_VERSION) && !defined(CGX__NO_DEVICE_LIBRARY)
#define CGX__OCLC(T, name, value) \
    extern "C" __attribute__((visibility("hidden"), used)) __constant__ const T __oclc_##name = value;
CGX__OCLC(int, ISA_version, CGX__AMD_VERSION)
CGX__OCLC(unsigned char, correctly_rounded_sqrt32, 1)
CGX__OCLC(unsigned char, daz_opt, 0)
CGX__OCLC(unsigned char, finite_only_opt, 0)
CGX__OCLC(unsigned char, unsafe_math_opt, 0)
#endif
#endif

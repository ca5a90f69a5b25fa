/* SPDX-License-Identifier: MIT */
/* What the files with small kernels share: a chain of operations, each of which needs the result of the one before.
 *
 * Beside each kernel of cgx stand CUDA's own forms of the same thing, in kernels with the same arguments and the same loop.
 * All have a body in the CUDA pass alone, which is the pass that is measured. */
#ifndef BENCH_CUDA_MICRO_H
#define BENCH_CUDA_MICRO_H
#include <cgx.h>
#include <stdbool.h>

/* Every kernel takes these. `zero` is 0, which the compiler does not know: with it a result can be needed by the next
 * operation without changing it. */
#define MICRO_DECLARE(name) \
    CGX_KERNEL_DECLARE(name, (int, iterations), (uint32_t, zero), (const uint32_t *, in), (uint64_t *, out))

/* Starting values: small enough that sums of floats are exact, so that every order gives the same. */
#define MICRO_START_uint32_t(x) ((x)&0xffff)
#define MICRO_START_float(x) ((float)((x)&0xff))
#define MICRO_START_double(x) ((double)((x)&0xffff))
#define MICRO_START_uint64_t(x) ((uint64_t)(x)*0x10001)

#if defined(CGX_PASS_CUDA)
#define MICRO_OPAQUE(v) asm volatile("" : "+r"(v)) /* nothing moves across it, the value is unknown behind it */
#define MICRO_BEGIN(T)                                                                                               \
    const int micro_at =                                                                                             \
        cgx_thread_rank(cgx_this_block()) + cgx_group_index(cgx_this_block()).x * cgx_num_threads(cgx_this_block()); \
    const T first = MICRO_START_##T(in[micro_at]);                                                                   \
    T v = first, r = first;
#define MICRO_LOOP _Pragma("unroll 1") for (int micro_i = 0; micro_i < iterations; micro_i++)
#define MICRO_NEXT(T) v = first + r * (T)zero;
#define MICRO_END out[micro_at] = (uint64_t)r;
/* SETUP and RESULT may hold commas: they are put where they belong, and not handed on. */
#define MICRO(name, T, SETUP, RESULT)                                                                       \
    CGX_KERNEL_EXTERN(name, (int, iterations), (uint32_t, zero), (const uint32_t *, in), (uint64_t *, out)) \
    {                                                                                                       \
        MICRO_BEGIN(T) SETUP MICRO_LOOP                                                                     \
        {                                                                                                   \
            r = RESULT;                                                                                     \
            MICRO_NEXT(T)                                                                                   \
        }                                                                                                   \
        MICRO_END                                                                                           \
    }
#define MICRO_BLOCK(name, T, threads, SETUP, RESULT)                                                 \
    CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(threads, 1, 1), name, (int, iterations), (uint32_t, zero), \
                           (const uint32_t *, in), (uint64_t *, out))                                \
    {                                                                                                \
        MICRO_BEGIN(T) SETUP MICRO_LOOP                                                              \
        {                                                                                            \
            r = RESULT;                                                                              \
            MICRO_NEXT(T)                                                                            \
        }                                                                                            \
        MICRO_END                                                                                    \
    }
#else
#define MICRO_OPAQUE(v) ((void)(v))
#define MICRO(name, ...)                                                                                    \
    CGX_KERNEL_EXTERN(name, (int, iterations), (uint32_t, zero), (const uint32_t *, in), (uint64_t *, out)) \
    {                                                                                                       \
        (void)iterations, (void)zero, (void)in, (void)out;                                                  \
    }
#define MICRO_BLOCK(name, T, threads, ...)                                                           \
    CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(threads, 1, 1), name, (int, iterations), (uint32_t, zero), \
                           (const uint32_t *, in), (uint64_t *, out))                                \
    {                                                                                                \
        (void)iterations, (void)zero, (void)in, (void)out;                                           \
    }
#endif
#endif

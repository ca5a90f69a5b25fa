/* SPDX-License-Identifier: MIT */
/* Reductions and scans of compiled entries with built-in operators, compiled for the entry's level. The same operations in
 * the same order as backends/cpu/collective.c. */
#ifndef CGX_CPU_COMPILED_COLLECTIVE_H
#define CGX_CPU_COMPILED_COLLECTIVE_H
#include <cgx/atomic.h>
#include <cgx/cpu_compiled.h>
#ifdef CGX__CPU_PASS

/* left OP right. Integers wrap: sums and bits are those of the unsigned type. */
#define CGX__FOLD_INTEGER(s, T, code_of_type)                                              \
    CGX__INLINE T cgx__fold_##s(T a, T b, int code)                                        \
    {                                                                                      \
        switch (code) {                                                                    \
        case CGX__CODE_PLUS: return (T)((unsigned long long)a + (unsigned long long)b);    \
        case CGX__CODE_LESS: return b < a ? b : a;                                         \
        case CGX__CODE_GREATER: return a < b ? b : a;                                      \
        case CGX__CODE_BIT_AND: return (T)((unsigned long long)a & (unsigned long long)b); \
        case CGX__CODE_BIT_XOR: return (T)((unsigned long long)a ^ (unsigned long long)b); \
        default: return (T)((unsigned long long)a | (unsigned long long)b);                \
        }                                                                                  \
    }
CGX_FOREACH_INTEGER(CGX__FOLD_INTEGER)
#define CGX__FOLD_FLOAT(s, T)                                     \
    CGX__INLINE T cgx__fold_##s(T a, T b, int code)               \
    {                                                             \
        CGX__NO_CONTRACTION                                       \
        return code == CGX__CODE_PLUS   ? a + b                   \
               : code == CGX__CODE_LESS ? cgx__least_##s(a, b)    \
                                        : cgx__largest_##s(a, b); \
    }
CGX__FOLD_FLOAT(f32, float)
CGX__FOLD_FLOAT(f64, double)
CGX__INLINE cgx_half cgx__fold_f16(cgx_half a, cgx_half b, int code)
{
    return cgx_float_to_half(cgx__fold_f32(cgx_half_to_float(a), cgx_half_to_float(b), code));
}

/* Packed: groups lie side by side and have a power of two of members, or there is one: pairs of all groups at once. The values
 * go to and fro between two arrays, the first of which is block->in. */
#define CGX__COMPILED_STEPS(s, T, code_of_type)                                                                      \
    CGX__INLINE void cgx__step_reduce_##s(                                                                           \
        cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation, int type, int code,   \
        size_t bytes, void (*apply)(void *, const void *, const void *), void *target, int scope, cgx_mask members)  \
    {                                                                                                                \
        (void)kind, (void)operation, (void)type, (void)bytes, (void)apply, (void)target, (void)scope, (void)members; \
        T *CGX_RESTRICT from = (T *)(void *)b->in, *CGX_RESTRICT to = (T *)(void *)b->out;                           \
        if (packed) {                                                                                                \
            int n = count;                                                                                           \
            for (int members = size; members > 1; members = (members + 1) / 2) {                                     \
                T *const other = from;                                                                               \
                for (int i = 0; i < n / 2; i++)                                                                      \
                    to[i] = cgx__fold_##s(from[2 * i], from[2 * i + 1], code);                                       \
                if (n & 1) /* of one group */                                                                        \
                    to[n / 2] = from[n - 1];                                                                         \
                n = (n + 1) / 2;                                                                                     \
                from = to, to = other;                                                                               \
            }                                                                                                        \
            if ((void *)from != (void *)b->out)                                                                      \
                memcpy(b->out, from, (size_t)n * sizeof(T));                                                         \
            return;                                                                                                  \
        }                                                                                                            \
        enum { STRIDE = CGX__VALUE_BYTES / sizeof(T) };                                                              \
        for (int base = first; base < first + count; base += size) {                                                 \
            T *v = from + (size_t)base * STRIDE;                                                                     \
            for (int n = size; n > 1; n = (n + 1) / 2) {                                                             \
                for (int i = 0; i < n / 2; i++)                                                                      \
                    v[i * STRIDE] = cgx__fold_##s(v[2 * i * STRIDE], v[(2 * i + 1) * STRIDE], code);                 \
                if (n & 1)                                                                                           \
                    v[n / 2 * STRIDE] = v[(n - 1) * STRIDE];                                                         \
            }                                                                                                        \
            to[(size_t)base * STRIDE] = v[0];                                                                        \
        }                                                                                                            \
    }                                                                                                                \
    CGX__INLINE T cgx__compiled_reduce_##s(cgx_group g, T v, int code, int line)                                     \
    {                                                                                                                \
        if (g.kind == CGX__COALESCED) {                                                                              \
            const cgx_cpu_collective what = {                                                                        \
                CGX__OP_REDUCE, CGX__TYPE_##code_of_type, code, sizeof v, NULL, NULL, 0                              \
            };                                                                                                       \
            return *(T *)cgx__compiled_collect(g, &v, 0, &what, line);                                               \
        }                                                                                                            \
        cgx__compiled_check(&g, line);                                                                               \
        memcpy(cgx__compiled_in(&g, sizeof(T)), &v, sizeof(T));                                                      \
        cgx__mark_step(cgx__step_reduce_##s, g.t->block, line, g.size, g.kind, CGX__OP_REDUCE,                       \
                       CGX__TYPE_##code_of_type, code, sizeof(T), NULL, NULL, 0, 0);                                 \
        memcpy(&v, cgx__compiled_result(&g, sizeof(T)), sizeof(T));                                                  \
        return v;                                                                                                    \
    }                                                                                                                \
    CGX__COMPILED_SCAN(s, T, code_of_type, inclusive_scan, INCLUSIVE_SCAN)                                           \
    CGX__COMPILED_SCAN(s, T, code_of_type, exclusive_scan, EXCLUSIVE_SCAN)
#define CGX__COMPILED_SCAN(s, T, code_of_type, name, operation_name)                          \
    CGX__INLINE T cgx__compiled_##name##_##s(cgx_group g, T v, int code, int line)            \
    {                                                                                         \
        cgx_cpu_collective what = {                                                           \
            CGX__OP_##operation_name, CGX__TYPE_##code_of_type, code, sizeof v, NULL, NULL, 0 \
        };                                                                                    \
        return *(T *)cgx__compiled_collect(g, &v, 0, &what, line);                            \
    }
CGX_FOREACH_VALUE(CGX__COMPILED_STEPS)
#endif
#endif

/* SPDX-License-Identifier: MIT */
/* Reductions and scans of compiled entries with built-in operators, compiled for the entry's level. The same operations in
 * the same order as backends/cpu/collective.c. */
#ifndef CGX_CPU_COMPILED_COLLECTIVE_H
#define CGX_CPU_COMPILED_COLLECTIVE_H
#include <cgx/atomic.h>
#include <cgx/cpu_compiled.h>
#ifdef CGX__CPU_PASS

/* Integers of a size share their steps - every file that uses cgx reads this, so it is short. All are unsigned there, for sums wrap; a code says
 * whether the smaller and the larger are those of the signed type. */
enum { CGX__CODE_SIGNED = 64 };
CGX__INLINE int cgx__code_with_sign(int type, int code)
{
    return type == CGX__TYPE_I8 || type == CGX__TYPE_I16 || type == CGX__TYPE_I32 || type == CGX__TYPE_I64
               ? code | CGX__CODE_SIGNED
               : code;
}
#define CGX__STEP_OF_i8 u8
#define CGX__STEP_OF_u8 u8
#define CGX__STEP_OF_c8 u8
#define CGX__STEP_OF_i16 u16
#define CGX__STEP_OF_u16 u16
#define CGX__STEP_OF_i32 u32
#define CGX__STEP_OF_u32 u32
#if __SIZEOF_LONG__ == 8
#define CGX__STEP_OF_l u64
#define CGX__STEP_OF_ul u64
#else
#define CGX__STEP_OF_l u32
#define CGX__STEP_OF_ul u32
#endif
#define CGX__STEP_OF_i64 u64
#define CGX__STEP_OF_u64 u64
#define CGX__STEP_OF_f16 f16
#define CGX__STEP_OF_f32 f32
#define CGX__STEP_OF_f64 f64
#define CGX__STEP(name, s) CGX__STEP_NAMED(name, s)
#define CGX__STEP_NAMED(name, s) cgx__step_##name##_##s

/* left OP right */
#define CGX__FOLD_INTEGER(s, T, signed_T)                                                                     \
    CGX__INLINE T cgx__fold_##s(T a, T b, int code)                                                           \
    {                                                                                                         \
        switch (code & ~CGX__CODE_SIGNED) {                                                                   \
        case CGX__CODE_PLUS: return (T)(a + b);                                                               \
        case CGX__CODE_LESS: return (code & CGX__CODE_SIGNED ? (signed_T)b < (signed_T)a : b < a) ? b : a;    \
        case CGX__CODE_GREATER: return (code & CGX__CODE_SIGNED ? (signed_T)a < (signed_T)b : a < b) ? b : a; \
        case CGX__CODE_BIT_AND: return (T)(a & b);                                                            \
        case CGX__CODE_BIT_XOR: return (T)(a ^ b);                                                            \
        default: return (T)(a | b);                                                                           \
        }                                                                                                     \
    }
CGX__FOLD_INTEGER(u8, unsigned char, signed char)
CGX__FOLD_INTEGER(u16, unsigned short, short)
CGX__FOLD_INTEGER(u32, unsigned, int)
CGX__FOLD_INTEGER(u64, unsigned long long, long long)
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

/* Eight values at once, of the types and operators that processors have vectors for. By address, since functions would pass vectors;
 * and in functions, since macros in macros grow: every file that uses cgx reads this. */
#define CGX__EIGHT(T) __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias)) T
#define CGX__PICK __builtin_shufflevector
/* S: the vector of the signed type. */
#define CGX__JOIN_INTEGER(V, S, a, b)                                                                 \
    ((code & ~CGX__CODE_SIGNED) == CGX__CODE_PLUS      ? (a) + (b)                                    \
     : code == CGX__CODE_LESS                          ? __builtin_elementwise_min(a, b)              \
     : code == CGX__CODE_GREATER                       ? __builtin_elementwise_max(a, b)              \
     : code == (CGX__CODE_LESS | CGX__CODE_SIGNED)     ? (V)__builtin_elementwise_min((S)(a), (S)(b)) \
     : code == (CGX__CODE_GREATER | CGX__CODE_SIGNED)  ? (V)__builtin_elementwise_max((S)(a), (S)(b)) \
     : (code & ~CGX__CODE_SIGNED) == CGX__CODE_BIT_AND ? (a) & (b)                                    \
     : (code & ~CGX__CODE_SIGNED) == CGX__CODE_BIT_XOR ? (a) ^ (b)                                    \
                                                       : (a) | (b))
#define CGX__JOIN_FLOAT(V, S, a, b) ((a) + (b))

/* pairs: of two vectors the sums of adjacent pairs, as processors add them: those of the lower halves, those of the upper. fold_64: of
 * 64 values the sums of each eight. fold_fours: of 32 the sums of each four. fold_many: so many values as cgx__folds says - a power
 * of two - to one by adjacent pairs, pairs of pairs and so on, for each of N. scan: of 32 values, Kogge-Stone. */
#define CGX__VECTOR_STEPS(s, T, signed_T, JOIN)                                                                     \
    typedef CGX__EIGHT(T) cgx__eight_##s;                                                                           \
    typedef CGX__EIGHT(signed_T) cgx__signed_##s;                                                                   \
    CGX__INLINE void cgx__join_##s(cgx__eight_##s *to, const cgx__eight_##s *a, const cgx__eight_##s *b, int code)  \
    {                                                                                                               \
        CGX__NO_CONTRACTION(void) code;                                                                             \
        *to = JOIN(cgx__eight_##s, cgx__signed_##s, *a, *b);                                                        \
    }                                                                                                               \
    CGX__INLINE void cgx__pairs_##s(cgx__eight_##s *to, const cgx__eight_##s *a, const cgx__eight_##s *b, int code) \
    {                                                                                                               \
        const cgx__eight_##s left = CGX__PICK(*a, *b, 0, 2, 8, 10, 4, 6, 12, 14);                                   \
        const cgx__eight_##s right = CGX__PICK(*a, *b, 1, 3, 9, 11, 5, 7, 13, 15);                                  \
        cgx__join_##s(to, &left, &right, code);                                                                     \
    }                                                                                                               \
    CGX__INLINE void cgx__quads_##s(cgx__eight_##s *to, const cgx__eight_##s *v, int code)                          \
    {                                                                                                               \
        cgx__eight_##s ab, cd;                                                                                      \
        cgx__pairs_##s(&ab, v, v + 1, code);                                                                        \
        cgx__pairs_##s(&cd, v + 2, v + 3, code);                                                                    \
        cgx__pairs_##s(to, &ab, &cd, code);                                                                         \
    }                                                                                                               \
    CGX__INLINE void cgx__fold_64_##s(cgx__eight_##s *to, const cgx__eight_##s *v, int code)                        \
    {                                                                                                               \
        cgx__eight_##s a, b, left, right;                                                                           \
        cgx__quads_##s(&a, v, code);                                                                                \
        cgx__quads_##s(&b, v + 4, code);                                                                            \
        left = CGX__PICK(a, b, 0, 1, 2, 3, 8, 9, 10, 11), right = CGX__PICK(a, b, 4, 5, 6, 7, 12, 13, 14, 15);      \
        cgx__join_##s(to, &left, &right, code);                                                                     \
    }                                                                                                               \
    CGX__INLINE void cgx__fold_fours_##s(cgx__eight_##s *to, const cgx__eight_##s *v, int code)                     \
    {                                                                                                               \
        cgx__eight_##s a;                                                                                           \
        cgx__quads_##s(&a, v, code);                                                                                \
        *to = CGX__PICK(a, a, 0, 4, 1, 5, 2, 6, 3, 7);                                                              \
    }                                                                                                               \
    CGX__INLINE void cgx__fold_many_##s(T *CGX_RESTRICT to, const T *CGX_RESTRICT from, int n, int many, int code)  \
    {                                                                                                               \
        for (int i = 0; i < n; i += many == 256 || many == 32 ? 256 : many == 8 ? 64 : 32) {                        \
            const cgx__eight_##s *const v = (const cgx__eight_##s *)(const void *)(from + i);                       \
            cgx__eight_##s *const r = (cgx__eight_##s *)(void *)(to + i / many), q[4], all;                         \
            if (many == 8) {                                                                                        \
                cgx__fold_64_##s(r, v, code);                                                                       \
                continue;                                                                                           \
            }                                                                                                       \
            if (many == 4) {                                                                                        \
                cgx__fold_fours_##s(r, v, code);                                                                    \
                continue;                                                                                           \
            }                                                                                                       \
            cgx__fold_64_##s(q, v, code), cgx__fold_64_##s(q + 1, v + 8, code);                                     \
            cgx__fold_64_##s(q + 2, v + 16, code), cgx__fold_64_##s(q + 3, v + 24, code);                           \
            cgx__fold_fours_##s(&all, q, code);                                                                     \
            if (many == 32) {                                                                                       \
                *r = all;                                                                                           \
            } else {                                                                                                \
                cgx__pairs_##s(&all, &all, &all, code);                                                             \
                cgx__pairs_##s(&all, &all, &all, code);                                                             \
                to[i / 256] = cgx__fold_##s(all[0], all[4], code);                                                  \
            }                                                                                                       \
        }                                                                                                           \
    }                                                                                                               \
    CGX__INLINE void cgx__scan_32_##s(T *to, const T *from, int code)                                               \
    {                                                                                                               \
        const cgx__eight_##s *const v = (const cgx__eight_##s *)(const void *)from;                                 \
        cgx__eight_##s *const r = (cgx__eight_##s *)(void *)to, a = v[0], b = v[1], c = v[2], d = v[3], t;          \
        CGX__SCAN_BY(s, (7, 8, 9, 10, 11, 12, 13, 14), (8, 1, 2, 3, 4, 5, 6, 7))                                    \
        CGX__SCAN_BY(s, (6, 7, 8, 9, 10, 11, 12, 13), (8, 9, 2, 3, 4, 5, 6, 7))                                     \
        CGX__SCAN_BY(s, (4, 5, 6, 7, 8, 9, 10, 11), (8, 9, 10, 11, 4, 5, 6, 7))                                     \
        cgx__join_##s(&d, &c, &d, code), cgx__join_##s(&c, &b, &c, code), cgx__join_##s(&b, &a, &b, code);          \
        cgx__join_##s(r + 3, &b, &d, code), cgx__join_##s(r + 2, &a, &c, code);                                     \
        r[1] = b, r[0] = a;                                                                                         \
    }
/* Values move up by as many places as PLACES has of the vector before; those of the first stay where KEPT takes the second. */
#define CGX__SCAN_BY(s, places, kept)                                          \
    t = CGX__PICK_AT(c, d, CGX__LIST places), cgx__join_##s(&d, &t, &d, code); \
    t = CGX__PICK_AT(b, c, CGX__LIST places), cgx__join_##s(&c, &t, &c, code); \
    t = CGX__PICK_AT(a, b, CGX__LIST places), cgx__join_##s(&b, &t, &b, code); \
    t = CGX__PICK_AT(a, a, CGX__LIST places), cgx__join_##s(&t, &t, &a, code); \
    a = CGX__PICK_AT(t, a, CGX__LIST kept);
#define CGX__LIST(...) __VA_ARGS__
#define CGX__PICK_AT(...) CGX__PICK(__VA_ARGS__)
CGX__VECTOR_STEPS(u32, unsigned, int, CGX__JOIN_INTEGER)
CGX__VECTOR_STEPS(u64, unsigned long long, long long, CGX__JOIN_INTEGER)
CGX__VECTOR_STEPS(f32, float, float, CGX__JOIN_FLOAT)
CGX__VECTOR_STEPS(f64, double, double, CGX__JOIN_FLOAT)
/* Others have nothing of the kind. */
#define CGX__NO_VECTOR_STEPS(s, T)                                                       \
    CGX__INLINE void cgx__fold_many_##s(T *to, const T *from, int n, int many, int code) \
    {                                                                                    \
        (void)to, (void)from, (void)n, (void)many, (void)code;                           \
    }                                                                                    \
    CGX__INLINE void cgx__scan_32_##s(T *to, const T *from, int code)                    \
    {                                                                                    \
        (void)to, (void)from, (void)code;                                                \
    }
CGX__NO_VECTOR_STEPS(u8, unsigned char)
CGX__NO_VECTOR_STEPS(u16, unsigned short)
CGX__NO_VECTOR_STEPS(f16, cgx_half)
CGX__INLINE int cgx__has_vector_steps(int type, int code)
{
    return type == CGX__TYPE_F32 || type == CGX__TYPE_F64
               ? code == CGX__CODE_PLUS
               : type == CGX__TYPE_I32 || type == CGX__TYPE_U32 || type == CGX__TYPE_I64 || type == CGX__TYPE_U64;
}

/* How many of N values, MEMBERS each of a group, are folded to one at a time. */
CGX__INLINE int cgx__folds(int members, int n)
{
    return members % 256 == 0                  ? 256
           : members % 32 == 0 && n % 256 == 0 ? 32
           : members % 8 == 0 && n % 64 == 0   ? 8
           : members % 4 == 0 && n % 32 == 0   ? 4
                                               : 2;
}

/* Packed: groups lie side by side and have a power of two of members, or there is one: pairs of all groups at once. The values
 * go to and fro between two arrays, the first of which is block->in. */
#define CGX__COMPILED_STEPS(s, T)                                                                                      \
    CGX__INLINE void cgx__scan_segment_##s(T *v, int n, int code)                                                      \
    {                                                                                                                  \
        for (int d = 1; d < n; d *= 2)                                                                                 \
            for (int i = n - 1; i >= d; i--)                                                                           \
                v[i] = cgx__fold_##s(v[i - d], v[i], code);                                                            \
    }                                                                                                                  \
    CGX__INLINE void cgx__step_reduce_##s(                                                                             \
        cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation, int type, int code,     \
        size_t bytes, void (*apply)(void *, const void *, const void *), void *target, int scope, cgx_mask members)    \
    {                                                                                                                  \
        (void)kind, (void)operation, (void)bytes, (void)apply, (void)target, (void)scope, (void)members;               \
        const int fold = cgx__code_with_sign(type, code);                                                              \
        T *from = (T *)(void *)b->in, *to = (T *)(void *)b->out;                                                       \
        if (packed) {                                                                                                  \
            int n = count;                                                                                             \
            for (int members = size, fewer; members > 1; members = fewer) {                                            \
                T *const other = from;                                                                                 \
                const int many = cgx__has_vector_steps(type, code) ? cgx__folds(members, n) : 2;                       \
                fewer = (members + 1) / 2;                                                                             \
                if (many > 2) {                                                                                        \
                    cgx__fold_many_##s(to, from, n, many, fold);                                                       \
                    fewer = members / many, n /= many;                                                                 \
                    from = to, to = other;                                                                             \
                    continue;                                                                                          \
                }                                                                                                      \
                for (int i = 0; i < n / 2; i++)                                                                        \
                    to[i] = cgx__fold_##s(from[2 * i], from[2 * i + 1], fold);                                         \
                if (n & 1) /* of one group */                                                                          \
                    to[n / 2] = from[n - 1];                                                                           \
                n = (n + 1) / 2;                                                                                       \
                from = to, to = other;                                                                                 \
            }                                                                                                          \
            if ((void *)from != (void *)b->out)                                                                        \
                memcpy(b->out, from, (size_t)n * sizeof(T));                                                           \
            return;                                                                                                    \
        }                                                                                                              \
        enum { STRIDE = CGX__VALUE_BYTES / sizeof(T) };                                                                \
        for (int base = first; base < first + count; base += size) {                                                   \
            T *v = from + (size_t)base * STRIDE;                                                                       \
            for (int n = size; n > 1; n = (n + 1) / 2) {                                                               \
                for (int i = 0; i < n / 2; i++)                                                                        \
                    v[i * STRIDE] = cgx__fold_##s(v[2 * i * STRIDE], v[(2 * i + 1) * STRIDE], fold);                   \
                if (n & 1)                                                                                             \
                    v[n / 2 * STRIDE] = v[(n - 1) * STRIDE];                                                           \
            }                                                                                                          \
            to[(size_t)base * STRIDE] = v[0];                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    CGX__INLINE void cgx__step_scan_##s(                                                                               \
        cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation, int type, int code,     \
        size_t bytes, void (*apply)(void *, const void *, const void *), void *target, int scope, cgx_mask members)    \
    {                                                                                                                  \
        enum { SEGMENT = 32 };                                                                                         \
        const int fold = cgx__code_with_sign(type, code);                                                              \
        if (!packed) {                                                                                                 \
            cgx__cpu_complete_groups(b, packed, first, count, size, kind, operation, type, code, bytes, apply, target, \
                                     scope, members);                                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        for (int base = 0; base < count; base += size) {                                                               \
            const T *const from = (const T *)(const void *)b->in + base;                                               \
            T *const to = (T *)(void *)b->out + base, totals[CGX__MAX_THREADS / SEGMENT];                              \
            const int segments = (size + SEGMENT - 1) / SEGMENT;                                                       \
            for (int k = 0; k < segments; k++) {                                                                       \
                const int at = k * SEGMENT, n = size - at < SEGMENT ? size - at : SEGMENT;                             \
                if (n == SEGMENT && cgx__has_vector_steps(type, code)) {                                               \
                    cgx__scan_32_##s(to + at, from + at, fold);                                                        \
                } else {                                                                                               \
                    memcpy(to + at, from + at, (size_t)n * sizeof(T));                                                 \
                    cgx__scan_segment_##s(to + at, n, fold);                                                           \
                }                                                                                                      \
                totals[k] = to[at + n - 1];                                                                            \
            }                                                                                                          \
            if (segments > 1)                                                                                          \
                cgx__scan_segment_##s(totals, segments, fold);                                                         \
            for (int k = 1; k < segments; k++) {                                                                       \
                const int at = k * SEGMENT, n = size - at < SEGMENT ? size - at : SEGMENT;                             \
                const T below = totals[k - 1];                                                                         \
                for (int i = 0; i < n; i++)                                                                            \
                    to[at + i] = cgx__fold_##s(below, to[at + i], fold);                                               \
            }                                                                                                          \
            if (operation == CGX__OP_EXCLUSIVE_SCAN) {                                                                 \
                memmove(to + 1, to, (size_t)(size - 1) * sizeof(T));                                                   \
                memset(to, 0, sizeof(T));                                                                              \
            }                                                                                                          \
        }                                                                                                              \
    }
CGX__COMPILED_STEPS(u8, unsigned char)
CGX__COMPILED_STEPS(u16, unsigned short)
CGX__COMPILED_STEPS(u32, unsigned)
CGX__COMPILED_STEPS(u64, unsigned long long)
CGX__COMPILED_STEPS(f16, cgx_half)
CGX__COMPILED_STEPS(f32, float)
CGX__COMPILED_STEPS(f64, double)

/* A reduction or scan of the value at V, which becomes the result. */
CGX__INLINE void cgx__compiled_fold(cgx_group g, void *v, size_t bytes, cgx__step_fn *step, int operation, int type,
                                    int code, int line)
{
    if (g.kind == CGX__COALESCED) {
        const cgx_cpu_collective what = { operation, type, code, bytes, NULL, NULL, 0 };
        memcpy(v, cgx__compiled_collect(g, v, 0, &what, line), bytes);
        return;
    }
    cgx__compiled_check(&g, line);
    memcpy(cgx__compiled_in(&g, bytes), v, bytes);
    cgx__mark_step(step, g.t->block, line, g.size, g.kind, operation, type, code, bytes, NULL, NULL, 0, 0);
    memcpy(v,
           operation == CGX__OP_REDUCE ? cgx__compiled_result(&g, bytes)
                                       : g.t->block->out + (size_t)g.t->rank * cgx__compiled_stride(bytes),
           bytes);
}
#endif
#endif

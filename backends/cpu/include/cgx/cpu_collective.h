/* SPDX-License-Identifier: MIT */
/* CPU pass of <cgx/collective.h>. */
#ifndef CGX_CPU_COLLECTIVE_H
#define CGX_CPU_COLLECTIVE_H
#include <cgx/collective.h>

/* Two types, so that a bitwise operator on a float finds no function. */
typedef struct {
    int code;
} cgx_op_arithmetic;
typedef struct {
    int code;
} cgx_op_bitwise;
#define CGX__OPERATOR_FN(name, kind)                     \
    CGX__INLINE cgx_op_##kind cgx__operator_##name(void) \
    {                                                    \
        cgx_op_##kind op = { CGX__CODE_##name };         \
        return op;                                       \
    }
CGX_FOREACH_OPERATOR(CGX__OPERATOR_FN)
#define CGX_PLUS cgx__operator_PLUS()
#define CGX_LESS cgx__operator_LESS()
#define CGX_GREATER cgx__operator_GREATER()
#define CGX_BIT_AND cgx__operator_BIT_AND()
#define CGX_BIT_XOR cgx__operator_BIT_XOR()
#define CGX_BIT_OR cgx__operator_BIT_OR()

#ifdef CGX__CPU_PASS
#include <cgx/cpu_compiled_collective.h>
#endif
#define CGX__COLLECTIVE_FN(s, T, code_of_type, name, operation_name, step)                                      \
    CGX__INLINE T cgx__##name##_##s(cgx_group g, T v, int code, int line)                                       \
    {                                                                                                           \
        CGX__WHERE_COMPILED(g.level,                                                                            \
                            cgx__compiled_fold(g, &v, sizeof v, CGX__STEP(step, CGX__STEP_OF_##s),              \
                                               CGX__OP_##operation_name, CGX__TYPE_##code_of_type, code, line); \
                            return v)                                                                           \
        cgx_cpu_collective what = {                                                                             \
            CGX__OP_##operation_name, CGX__TYPE_##code_of_type, code, sizeof v, NULL, NULL, 0                   \
        };                                                                                                      \
        return *(T *)cgx__cpu_collect(g, &v, 0, &what, line);                                                   \
    }
#define CGX__COLLECTIVE_FNS(s, T, code)                                  \
    CGX__COLLECTIVE_FN(s, T, code, reduce, REDUCE, reduce)               \
    CGX__COLLECTIVE_FN(s, T, code, inclusive_scan, INCLUSIVE_SCAN, scan) \
    CGX__COLLECTIVE_FN(s, T, code, exclusive_scan, EXCLUSIVE_SCAN, scan)
CGX_FOREACH_VALUE(CGX__COLLECTIVE_FNS)

#ifdef __cplusplus
extern "C++" {
#define CGX__COLLECTIVE_OVERLOAD(s, T, code)                              \
    CGX__INLINE T cgx__reduce(cgx_group g, T v, int op, int line)         \
    {                                                                     \
        return cgx__reduce_##s(g, v, op, line);                           \
    }                                                                     \
    CGX__INLINE T cgx__inclusive_scan(cgx_group g, T v, int op, int line) \
    {                                                                     \
        return cgx__inclusive_scan_##s(g, v, op, line);                   \
    }                                                                     \
    CGX__INLINE T cgx__exclusive_scan(cgx_group g, T v, int op, int line) \
    {                                                                     \
        return cgx__exclusive_scan_##s(g, v, op, line);                   \
    }
CGX_FOREACH_VALUE(CGX__COLLECTIVE_OVERLOAD)
template <class T> struct cgx__is_integer {
    enum { value = 0 };
};
#define CGX__IS_INTEGER(s, T, code)         \
    template <> struct cgx__is_integer<T> { \
        enum { value = 1 };                 \
    };
CGX_FOREACH_INTEGER(CGX__IS_INTEGER)
template <class T> CGX__INLINE int cgx__operator_code(T, cgx_op_arithmetic op)
{
    return op.code;
}
template <class T> CGX__INLINE int cgx__operator_code(T, cgx_op_bitwise op)
{
    static_assert(cgx__is_integer<T>::value, "cgx: a bitwise operator needs an integer");
    return op.code;
}
}
#define CGX__COLLECT(g, v, op, name) cgx__##name(cgx__any_or_grid(g), (v), cgx__operator_code((v), (op)), __LINE__)
#else
/* Never defined and never called: their names are the error message. */
void cgx__a_builtin_operator_needs_an_integer_or_float(void);
void cgx__a_bitwise_operator_needs_an_integer(void);
#define CGX__CASE_reduce(s, T, code) \
    T:                               \
    cgx__reduce_##s,
#define CGX__CASE_inclusive_scan(s, T, code) \
    T:                                       \
    cgx__inclusive_scan_##s,
#define CGX__CASE_exclusive_scan(s, T, code) \
    T:                                       \
    cgx__exclusive_scan_##s,
#define CGX__COLLECT(g, v, op, name)                                          \
    _Generic((op), cgx_op_arithmetic                                          \
             : _Generic((v), CGX_FOREACH_VALUE(CGX__CASE_##name) default      \
                        : cgx__a_builtin_operator_needs_an_integer_or_float), \
               cgx_op_bitwise                                                 \
             : _Generic((v), CGX_FOREACH_INTEGER(CGX__CASE_##name) default    \
                        : cgx__a_bitwise_operator_needs_an_integer))(cgx__any_or_grid(g), (v), (op).code, __LINE__)
#endif

#define CGX__OPERATOR(T, name, a, b, ...)                                                                           \
    CGX__STATIC_ASSERT(sizeof(T) <= CGX__VALUE_BYTES, "operator " #name ": a value has at most 32 bytes");          \
    CGX__INLINE T name(T a, T b){                                                                                   \
        CGX__NO_CONTRACTION __VA_ARGS__                                                                             \
    } CGX_UNUSED CGX__NO_CONTRACTION_FUNCTION static void name##__apply(void *cgx__r, const void *cgx__l,           \
                                                                        const void *cgx__m)                         \
    {                                                                                                               \
        *(T *)cgx__r = name(*(const T *)cgx__l, *(const T *)cgx__m);                                                \
    }                                                                                                               \
    CGX__INLINE T name##__collect(cgx_group cgx__g, T cgx__v, int cgx__operation, int cgx__line)                    \
    {                                                                                                               \
        cgx_cpu_collective cgx__what = { cgx__operation, -1, 0, sizeof cgx__v, name##__apply, NULL, 0 };            \
        return *(T *)cgx__cpu_collect(cgx__g, &cgx__v, 0, &cgx__what, cgx__line);                                   \
    }                                                                                                               \
    CGX__INLINE T name##__update(cgx_group cgx__g, T *cgx__p, int cgx__scope, T cgx__v, int cgx__operation,         \
                                 int cgx__line)                                                                     \
    {                                                                                                               \
        cgx_cpu_collective cgx__what = { cgx__operation, -1, 0, sizeof cgx__v, name##__apply, cgx__p, cgx__scope }; \
        return *(T *)cgx__cpu_collect(cgx__g, &cgx__v, 0, &cgx__what, cgx__line);                                   \
    }
#endif

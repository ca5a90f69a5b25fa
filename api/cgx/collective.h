/* SPDX-License-Identifier: MIT */
/* Reductions and scans. Guide 5.6.3.4 and 5.6.3.5.
 *
 * Collective over any group; over the grid under a cooperative launch. Groups of the same shape give the same bits on every
 * backend, because the order of operations is fixed (docs/design.md, "One canonical order"):
 *   reduce  adjacent pairs of ranks, then pairs of pairs; the lower rank is the left operand;
 *   scan    Kogge-Stone in segments of 32 ranks, then the same over the segments' totals;
 *           the exclusive result of rank r is the inclusive one of rank r - 1, of rank 0 it is zero;
 *   cluster and grid: each block first, then the same over the blocks' results in the order of their ranks.
 * So operators need to be associative only as far as the caller minds, and need not be commutative. The last value of a
 * scan and the value of a reduce may differ in floating point. */
#ifndef CGX_COLLECTIVE_H
#define CGX_COLLECTIVE_H
#include <cgx/group.h>
#include <cgx/types.h>

/* Types that built-in operators take: X(suffix, type, CGX__TYPE_*). */
#define CGX_FOREACH_INTEGER(X)  \
    X(i8, signed char, I8)      \
    X(u8, unsigned char, U8)    \
    X(c8, char, CHAR)           \
    X(i16, short, I16)          \
    X(u16, unsigned short, U16) \
    X(i32, int, I32)            \
    X(u32, unsigned, U32)       \
    X(l, long, LONG) X(ul, unsigned long, ULONG) X(i64, long long, I64) X(u64, unsigned long long, U64)
#define CGX_FOREACH_FLOAT(X) X(f16, cgx_half, F16) X(f32, float, F32) X(f64, double, F64)
#define CGX_FOREACH_VALUE(X) CGX_FOREACH_INTEGER(X) CGX_FOREACH_FLOAT(X)
enum {
    CGX__TYPE_I8,
    CGX__TYPE_U8,
    CGX__TYPE_I16,
    CGX__TYPE_U16,
    CGX__TYPE_I32,
    CGX__TYPE_U32,
    CGX__TYPE_I64,
    CGX__TYPE_U64,
    CGX__TYPE_F16,
    CGX__TYPE_F32,
    CGX__TYPE_F64,
    CGX__TYPE_CHAR = (char)-1 < 0 ? CGX__TYPE_I8 : CGX__TYPE_U8,
    CGX__TYPE_LONG = sizeof(long) == 8 ? CGX__TYPE_I64 : CGX__TYPE_I32,
    CGX__TYPE_ULONG = sizeof(long) == 8 ? CGX__TYPE_U64 : CGX__TYPE_U32
};

/* Operators (guide 5.6.3.4.1): CGX_PLUS, CGX_LESS (the smaller), CGX_GREATER (the larger) for integers and floats;
 * CGX_BIT_AND, CGX_BIT_XOR, CGX_BIT_OR for integers. Less and greater of floats are IEEE 754-2019 minimumNumber and
 * maximumNumber: a NaN loses against a number, -0 is below +0; the guide's operator< is not associative with NaN.
 * Integer sums wrap. */
#define CGX_FOREACH_OPERATOR(X) \
    X(PLUS, arithmetic)         \
    X(LESS, arithmetic) X(GREATER, arithmetic) X(BIT_AND, bitwise) X(BIT_XOR, bitwise) X(BIT_OR, bitwise)
enum {
#define CGX__ENUMERATOR(name, kind) CGX__CODE_##name,
    CGX_FOREACH_OPERATOR(CGX__ENUMERATOR)
#undef CGX__ENUMERATOR
        CGX__CODE_COUNT
};

/* T cgx_reduce(g, T v, operator): the same result in every thread. */
#define cgx_reduce(g, v, op) CGX__COLLECT(g, v, op, reduce)
/* T cgx_inclusive_scan(g, T v, operator): of ranks 0 to the caller's. Without an operator, the sum. */
#define cgx_inclusive_scan(g, ...) CGX__SCAN(g, inclusive_scan, __VA_ARGS__, CGX_PLUS, ~)
/* T cgx_exclusive_scan(g, T v, operator): of the ranks below the caller's; zero for rank 0, whatever the operator. Without an
 * operator, the sum. */
#define cgx_exclusive_scan(g, ...) CGX__SCAN(g, exclusive_scan, __VA_ARGS__, CGX_PLUS, ~)
#define CGX__SCAN(g, name, v, op, ...) CGX__COLLECT(g, v, op, name)

/* CGX_OP(T, name, a, b, expression): a user operator, at file scope: T name(T a, T b), and the collectives below take NAME.
 * T is any type up to 32 bytes; a is the operand of lower rank. */
#define CGX_OP(T, name, a, b, expression) CGX_OP_BODY(T, name, a, b, { return (expression); })
/* The same with a body in braces that returns. */
#define CGX_OP_BODY(T, name, a, b, ...) CGX__OPERATOR(T, name, a, b, __VA_ARGS__)
#define cgx_reduce_op(g, v, name) name##__collect(cgx__any_or_grid(g), (v), CGX__OP_REDUCE, __LINE__)
#define cgx_inclusive_scan_op(g, v, name) name##__collect(cgx__any_or_grid(g), (v), CGX__OP_INCLUSIVE_SCAN, __LINE__)
#define cgx_exclusive_scan_op(g, v, name) name##__collect(cgx__any_or_grid(g), (v), CGX__OP_EXCLUSIVE_SCAN, __LINE__)

#if defined(CGX_PASS_CPU)
#include <cgx/cpu_collective.h>
#else
#include <cgx/gpu_collective.h>
#endif
#endif

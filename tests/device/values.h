/* SPDX-License-Identifier: MIT */
/* Types and operators that the tests of collectives go through, for kernels and for the host. */
#ifndef TESTS_VALUES_H
#define TESTS_VALUES_H
#include <cgx.h>

/* X(suffix, type): every type that built-in operators take. */
#define FOREACH_INTEGER_VALUE(X) \
    X(i8, int8_t)                \
    X(u8, uint8_t)               \
    X(i16, int16_t) X(u16, uint16_t) X(i32, int32_t) X(u32, uint32_t) X(i64, int64_t) X(u64, uint64_t)
#define FOREACH_FLOAT_VALUE(X) X(f16, cgx_half) X(f32, float) X(f64, double)
#define FOREACH_VALUE(X) FOREACH_INTEGER_VALUE(X) FOREACH_FLOAT_VALUE(X)

/* Rows of results, in the order in which the kernels write them. */
enum { ROW_PLUS, ROW_LESS, ROW_GREATER, ROW_BIT_AND, ROW_BIT_XOR, ROW_BIT_OR, INTEGER_ROWS, FLOAT_ROWS = ROW_BIT_AND };

/* Every tile size. Functions of groups are called in what it writes. */
#define FOREACH_TILE_SIZE(X) CGX_FOREACH_TILE(X)

/* Types that only move: three bytes, and the largest. */
typedef struct {
    unsigned char a, b, c;
} three_bytes;
typedef struct {
    int64_t a, b, c, d;
} four_longs;

/* User operators. */

/* x -> a x + b modulo 2^32: composition is associative, but not commutative. */
typedef struct {
    uint32_t a, b;
} affine;
/* A 2 x 2 matrix of doubles, 32 bytes: the product is neither commutative nor, in the last bit, associative, and has
 * the sums of products that compilers like to contract. */
typedef struct {
    double a, b, c, d;
} matrix;
/* Ranks in order or not: first, last, and whether all between followed one another. */
typedef struct {
    int first, last, in_order;
} run;
/* The largest value and where it is. */
typedef struct {
    float v;
    int i;
} argmax_t;
#endif

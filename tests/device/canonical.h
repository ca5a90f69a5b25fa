/* SPDX-License-Identifier: MIT */
/* The canonical order, evaluated serially on the host: what every collective has to give, bit for bit. Written down
 * from its definition and not from the library: recursion over pairs for reduce, a table of rounds for scan. */
#ifndef TESTS_CANONICAL_H
#define TESTS_CANONICAL_H
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "values.h"

enum { VALUE_BYTES = 32, SEGMENT = 32 };

/* result = left op right; result is neither of them. */
typedef void operator_fn(void *result, const void *left, const void *right);

static const char *value_at(const void *values, int i, size_t bytes)
{
    return (const char *)values + (size_t)i * bytes;
}

/* The tree of level L covers ranks FIRST to FIRST + 2^L - 1, of which those below N exist: pairs of pairs. */
static void canonical_tree(operator_fn *op, const void *values, size_t bytes, int first, int level, int n, void *result)
{
    char left[VALUE_BYTES], right[VALUE_BYTES];
    int middle;

    if (level == 0) {
        memcpy(result, value_at(values, first, bytes), bytes);
        return;
    }
    middle = first + (1 << (level - 1));
    canonical_tree(op, values, bytes, first, level - 1, n, left);
    if (middle >= n) {
        memcpy(result, left, bytes);
        return;
    }
    canonical_tree(op, values, bytes, middle, level - 1, n, right);
    op(result, left, right);
}

CGX_UNUSED static void canonical_reduce(operator_fn *op, const void *values, size_t bytes, int n, void *result)
{
    int level = 0;
    while (1 << level < n)
        level++;
    canonical_tree(op, values, bytes, 0, level, n, result);
}

/* Kogge-Stone over N values: in the round of distance d, rank r takes what rank r - d had before the round. */
static void kogge_stone(operator_fn *op, char *values, size_t bytes, int n)
{
    char *before = malloc((size_t)n * bytes);
    if (!before)
        abort();
    for (int d = 1; d < n; d *= 2) {
        memcpy(before, values, (size_t)n * bytes);
        for (int i = d; i < n; i++)
            op(values + (size_t)i * bytes, before + (size_t)(i - d) * bytes, before + (size_t)i * bytes);
    }
    free(before);
}

CGX_UNUSED static void canonical_inclusive(operator_fn *op, const void *values, size_t bytes, int n, void *results)
{
    int segments = (n + SEGMENT - 1) / SEGMENT;
    char *totals = malloc((size_t)segments * bytes), *r = results, sum[VALUE_BYTES];
    if (!totals)
        abort();
    memcpy(r, values, (size_t)n * bytes);
    for (int s = 0; s < segments; s++) {
        int length = s + 1 < segments ? SEGMENT : n - s * SEGMENT;
        char *segment = r + (size_t)s * SEGMENT * bytes;
        kogge_stone(op, segment, bytes, length);
        memcpy(totals + (size_t)s * bytes, segment + (size_t)(length - 1) * bytes, bytes);
    }
    kogge_stone(op, totals, bytes, segments);
    for (int i = SEGMENT; i < n; i++) {
        op(sum, totals + (size_t)(i / SEGMENT - 1) * bytes, r + (size_t)i * bytes);
        memcpy(r + (size_t)i * bytes, sum, bytes);
    }
    free(totals);
}

CGX_UNUSED static void canonical_exclusive(operator_fn *op, const void *values, size_t bytes, int n, void *results)
{
    char *inclusive = malloc((size_t)n * bytes);
    if (!inclusive)
        abort();
    canonical_inclusive(op, values, bytes, n, inclusive);
    memset(results, 0, bytes);
    memcpy((char *)results + bytes, inclusive, (size_t)(n - 1) * bytes);
    free(inclusive);
}

/* A group of BLOCKS blocks with PER threads each, a cluster or the grid: each block first, then the same over the blocks'
 * results. With one block all three are the group's own. */
CGX_UNUSED static void canonical_wide(operator_fn *op, const char *values, size_t bytes, int blocks, int per,
                                      char *reduced, char *inclusive, char *exclusive)
{
    char *sums = malloc((size_t)blocks * bytes), *totals = malloc((size_t)blocks * bytes);
    char *scanned = malloc((size_t)blocks * bytes), *in_block = malloc((size_t)per * bytes);

    if (!sums || !totals || !scanned || !in_block)
        abort();
    for (int b = 0; b < blocks; b++) {
        canonical_reduce(op, values + (size_t)b * (size_t)per * bytes, bytes, per, sums + (size_t)b * bytes);
        canonical_inclusive(op, values + (size_t)b * (size_t)per * bytes, bytes, per, in_block);
        memcpy(totals + (size_t)b * bytes, in_block + (size_t)(per - 1) * bytes, bytes);
    }
    canonical_reduce(op, sums, bytes, blocks, reduced);
    canonical_inclusive(op, totals, bytes, blocks, scanned);
    for (int b = 0; b < blocks; b++) {
        canonical_inclusive(op, values + (size_t)b * (size_t)per * bytes, bytes, per, in_block);
        for (int i = 0; i < per; i++) {
            char *to = inclusive + (size_t)(b * per + i) * bytes;
            if (b)
                op(to, scanned + (size_t)(b - 1) * bytes, in_block + (size_t)i * bytes);
            else
                memcpy(to, in_block + (size_t)i * bytes, bytes);
        }
    }
    memset(exclusive, 0, bytes);
    memcpy(exclusive + bytes, inclusive, (size_t)(blocks * per - 1) * bytes);
    free(sums), free(totals), free(scanned), free(in_block);
}

/* ---- the built-in operators ---- */

#define DEFINE_OPERATOR(name, T, expression)                                       \
    CGX_UNUSED static void name(void *result, const void *left, const void *right) \
    {                                                                              \
        T a, b, r;                                                                 \
        memcpy(&a, left, sizeof a);                                                \
        memcpy(&b, right, sizeof b);                                               \
        r = (expression);                                                          \
        memcpy(result, &r, sizeof r);                                              \
    }
#define DEFINE_INTEGER_OPERATORS(s, T)                           \
    DEFINE_OPERATOR(plus_##s, T, (T)((uint64_t)a + (uint64_t)b)) \
    DEFINE_OPERATOR(less_##s, T, a < b ? a : b)                  \
    DEFINE_OPERATOR(greater_##s, T, a > b ? a : b)               \
    DEFINE_OPERATOR(bit_and_##s, T, (T)(a & b))                  \
    DEFINE_OPERATOR(bit_xor_##s, T, (T)(a ^ b))                  \
    DEFINE_OPERATOR(bit_or_##s, T, (T)(a | b))
FOREACH_INTEGER_VALUE(DEFINE_INTEGER_OPERATORS)

/* minimumNumber and maximumNumber of IEEE 754-2019, 9.6. */
CGX_UNUSED static double minimum_number(double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == 0 && b == 0)
        return signbit(a) ? a : b;
    return a < b ? a : b;
}
CGX_UNUSED static double maximum_number(double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    if (a == 0 && b == 0)
        return signbit(a) ? b : a;
    return a > b ? a : b;
}
DEFINE_OPERATOR(plus_f32, float, a + b)
DEFINE_OPERATOR(less_f32, float, (float)minimum_number(a, b))
DEFINE_OPERATOR(greater_f32, float, (float)maximum_number(a, b))
DEFINE_OPERATOR(plus_f64, double, a + b)
DEFINE_OPERATOR(less_f64, double, minimum_number(a, b))
DEFINE_OPERATOR(greater_f64, double, maximum_number(a, b))

/* Half, converted by arithmetic and not by the library's functions: the value of eleven bits times a power of two is
 * exact in a double, and rint rounds to even. */
CGX_UNUSED static double half_value(cgx_half h)
{
    int exponent = h.bits >> 10 & 31, fraction = h.bits & 1023;
    double v = exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return h.bits & 0x8000 ? -v : v;
}
CGX_UNUSED static cgx_half half_of(double v)
{
    cgx_half h = { signbit(v) ? 0x8000 : 0 };
    double a = fabs(v);
    if (isnan(a)) {
        h.bits |= 0x7e00;
    } else if (a >= 65520) {
        h.bits |= 0x7c00;
    } else if (a < ldexp(1, -14)) {
        h.bits = (uint16_t)(h.bits + (int)rint(ldexp(a, 24))); /* may carry into the smallest normal number */
    } else {
        int exponent;
        double fraction = frexp(a, &exponent); /* 1/2 to 1 */
        h.bits = (uint16_t)(h.bits + (exponent + 13) * 1024 + (int)rint(ldexp(fraction, 11)));
    }
    return h;
}
DEFINE_OPERATOR(plus_f16, cgx_half, half_of(half_value(a) + half_value(b)))
DEFINE_OPERATOR(less_f16, cgx_half, half_of(minimum_number(half_value(a), half_value(b))))
DEFINE_OPERATOR(greater_f16, cgx_half, half_of(maximum_number(half_value(a), half_value(b))))

/* ---- equal bits; of NaNs only that they are NaNs, as payloads are not promised ---- */

typedef int is_nan_fn(const void *value);
CGX_UNUSED static int is_nan_f16(const void *value)
{
    cgx_half h;
    memcpy(&h, value, sizeof h);
    return (h.bits & 0x7fff) > 0x7c00;
}
CGX_UNUSED static int is_nan_f32(const void *value)
{
    float v;
    memcpy(&v, value, sizeof v);
    return isnan(v);
}
CGX_UNUSED static int is_nan_f64(const void *value)
{
    double v;
    memcpy(&v, value, sizeof v);
    return isnan(v);
}

CGX_UNUSED static int same_value(const void *a, const void *b, size_t bytes, is_nan_fn *is_nan)
{
    return !memcmp(a, b, bytes) || (is_nan && is_nan(a) && is_nan(b));
}
CGX_UNUSED static const char *hex_value(const void *value, size_t bytes)
{
    static char text[4][2 * VALUE_BYTES + 1];
    static int turn;
    char *t = text[turn++ % 4];
    for (size_t i = 0; i < bytes; i++) /* the most significant byte first, as numbers are read */
        snprintf(t + 2 * i, 3, "%02x", ((const unsigned char *)value)[bytes - 1 - i]);
    return t;
}

/* ---- a type with its operators ---- */

typedef struct {
    const char *name;
    size_t bytes;
    int rows;
    operator_fn *op[INTEGER_ROWS];
    is_nan_fn *is_nan;
} value_type;
#define INTEGER_TYPE(s, T) \
    { #s, sizeof(T), INTEGER_ROWS, { plus_##s, less_##s, greater_##s, bit_and_##s, bit_xor_##s, bit_or_##s }, NULL },
#define FLOAT_TYPE(s, T) { #s, sizeof(T), FLOAT_ROWS, { plus_##s, less_##s, greater_##s }, is_nan_##s },
static const value_type value_types[] = { FOREACH_INTEGER_VALUE(INTEGER_TYPE) FOREACH_FLOAT_VALUE(FLOAT_TYPE) };
static const char *const row_names[] = { "plus", "less", "greater", "bit_and", "bit_xor", "bit_or" };

/* Values that tell orders apart: of floats some have full mantissas and exponents near one another, some are special. */
CGX_UNUSED static void random_values(const value_type *type, uint64_t (*next)(void), int specials, void *values, int n)
{
    static const double special[] = { 0.0,   -0.0,   INFINITY, -INFINITY, NAN,  5e-324, -5e-324, 1e-310,
                                      1e-40, -1e-45, 6e-8,     -6e-8,     6e-5, 65504,  1e38,    -1e308 };
    for (int i = 0; i < n; i++) {
        char *to = (char *)values + (size_t)i * type->bytes;
        uint64_t bits = next();
        if (!type->is_nan) {
            memcpy(to, &bits, type->bytes);
            continue;
        }
        double v = ((double)(int64_t)bits) * ldexp(1, -60 + (int)(next() % 6));
        if (specials && next() % 3 == 0)
            v = special[next() % (sizeof special / sizeof special[0])];
        float f = (float)v;
        cgx_half h = half_of(v);
        memcpy(to, type->bytes == 8 ? (void *)&v : type->bytes == 4 ? (void *)&f : (void *)&h, type->bytes);
    }
}
#endif

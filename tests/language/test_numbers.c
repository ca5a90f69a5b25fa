/* SPDX-License-Identifier: MIT */
/* rows: K04 K05 K06
 * Half and bf16, all of them; vector types; math functions. Kernels and host must agree. */
#include "check.h"
#include "language_kernels.h"
#include <fenv.h>
#include <math.h>

enum { ALL = 65536 };

#if defined(__GNUC__) && !defined(__clang__) && defined(__FLT16_MANT_DIG__) && defined(__x86_64__)
__extension__ typedef _Float16 native_half; /* a second opinion */
#define HAVE_NATIVE_HALF 1
#endif

/* By the definition of binary16, in double. */
static double value_of_half(int bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* Nearest half, ties to even: rint of the value in units of its last place. */
static int half_of_value(float v)
{
    int sign = signbit(v) ? 0x8000 : 0, exponent;
    double a = fabs((double)v);
    if (a != a)
        return -1;
    if (a == INFINITY)
        return sign | 0x7c00;
    frexp(a, &exponent); /* a in [2^(e-1), 2^e) */
    int unit = exponent - 11 < -24 ? -24 : exponent - 11;
    double rounded = ldexp(rint(ldexp(a, -unit)), unit);
    if (rounded >= 65536)
        return sign | 0x7c00;
    if (rounded == 0)
        return sign;
    frexp(rounded, &exponent);
    if (exponent < -13)
        return sign | (int)ldexp(rounded, 24);
    return sign | (exponent + 14) << 10 | ((int)ldexp(rounded, 11 - exponent) & 1023);
}

static float float_of_bits(uint32_t u)
{
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}
static uint32_t bits_of_float(float v)
{
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static int bf16_of_value(float v)
{
    uint32_t u = bits_of_float(v), low = u & 0xffff, high = u >> 16;
    if (v != v)
        return -1;
    return (int)(high + (low > 0x8000 || (low == 0x8000 && high & 1)));
}

static void every_half_to_float(void **state)
{
    float *half = device_memory(ALL * sizeof *half), *bf16 = device_memory(ALL * sizeof *bf16);
    float *h = host_memory(ALL * sizeof *h), *b = host_memory(ALL * sizeof *b);
    (void)state;
    check_ok(halves_to_floats_launch(test_queue, cgx_fit(test_queue, ALL, 256), ALL, half, bf16));
    fetch(h, half, ALL * sizeof *h);
    fetch(b, bf16, ALL * sizeof *b);
    for (int i = 0; i < ALL; i++) {
        cgx_half on_host = { (uint16_t)i };
        cgx_bf16 bf16_on_host = { (uint16_t)i };
        double expected = value_of_half(i);
        float here = cgx_half_to_float(on_host);
        if (expected != expected) {
            assert_true(h[i] != h[i] && here != here);
        } else {
            if ((double)h[i] != expected || (double)here != expected || !!signbit(h[i]) != i >> 15)
                fail_msg("half %#x is %g on the device, %g here, not %g", (unsigned)i, (double)h[i], (double)here,
                         expected);
        }
        float wide = float_of_bits((uint32_t)i << 16), wide_here = cgx_bf16_to_float(bf16_on_host);
        if (wide != wide)
            assert_true(b[i] != b[i] && wide_here != wide_here);
        else if (bits_of_float(b[i]) != bits_of_float(wide) || bits_of_float(wide_here) != bits_of_float(wide))
            fail_msg("bf16 %#x is %g, not %g", (unsigned)i, (double)b[i], (double)wide);
    }
    free(h);
    free(b);
    device_free(half);
    device_free(bf16);
}

static void floats_round_to_nearest_even(void **state)
{
    enum { NEAR = 5, N = ALL * NEAR + ALL + 400000 };
    float *in = host_memory(N * sizeof *in);
    uint16_t *h = host_memory(N * sizeof *h), *b = host_memory(N * sizeof *b);
    int n = 0;
    (void)state;
    /* Every half, the middle between it and the next, and their neighbours. */
    for (int i = 0; i < ALL; i++) {
        float v = (float)value_of_half(i),
              next = (float)value_of_half(i + 1 < ALL && (i & 0x7fff) < 0x7bff ? i + 1 : i);
        float middle = (i & 0x7fff) == 0x7bff ? copysignf(65520.0f, v) : (float)(((double)v + next) / 2);
        in[n++] = v;
        in[n++] = middle;
        in[n++] = nextafterf(middle, INFINITY);
        in[n++] = nextafterf(middle, -INFINITY);
        in[n++] = nextafterf(v, 0);
    }
    /* The middles and neighbours of bf16. */
    for (int i = 0; i < ALL; i++)
        in[n++] = float_of_bits((uint32_t)i << 16 | 0x8000u);
    while (n < N)
        in[n++] = float_of_bits((uint32_t)random_u64());
    float *device = device_copy(in, N * sizeof *in);
    uint16_t *half = device_memory(N * sizeof *half), *bf16 = device_memory(N * sizeof *bf16);
    check_ok(floats_to_halves_launch(test_queue, cgx_fit(test_queue, N, 256), N, device, half, bf16));
    fetch(h, half, N * sizeof *h);
    fetch(b, bf16, N * sizeof *b);
    for (int i = 0; i < N; i++) {
        int expected = half_of_value(in[i]), here = cgx_float_to_half(in[i]).bits;
        if (expected < 0)
            assert_true((h[i] & 0x7fff) > 0x7c00 && (here & 0x7fff) > 0x7c00);
        else if (h[i] != expected || here != expected)
            fail_msg("%a is half %#x on the device, %#x here, not %#x", (double)in[i], h[i], (unsigned)here,
                     (unsigned)expected);
#ifdef HAVE_NATIVE_HALF
        native_half theirs = (native_half)in[i];
        uint16_t bits;
        memcpy(&bits, &theirs, sizeof bits);
        if (expected >= 0)
            assert_int_equal(bits, expected);
#endif
        expected = bf16_of_value(in[i]);
        here = cgx_float_to_bf16(in[i]).bits;
        if (expected < 0)
            assert_true((b[i] & 0x7fff) > 0x7f80 && (here & 0x7fff) > 0x7f80);
        else if (b[i] != expected || here != expected)
            fail_msg("%a is bf16 %#x on the device, %#x here, not %#x", (double)in[i], b[i], (unsigned)here,
                     (unsigned)expected);
    }
    free(in);
    free(h);
    free(b);
    device_free(device);
    device_free(half);
    device_free(bf16);
}

static void vectors_have_one_layout(void **state)
{
    static const int expected[] = {
        8, 8, 16, 16, 8, 8, 16, 16, 16, 16, 32, 16, 8, 8, 16, 16, 16, 16, 32, 16, 2, 2, 2, 2
    };
    int *out = device_memory(sizeof expected), seen[COUNT_OF(expected)];
    (void)state;
    check_ok(vector_layout_launch(test_queue, cgx_config_1d(1, 1), out));
    fetch(seen, out, sizeof seen);
    assert_memory_equal(seen, expected, sizeof expected);
#define ROW(T, size, alignment)        \
    assert_int_equal(sizeof(T), size); \
    assert_int_equal(_Alignof(T), alignment)
    ROW(cgx_int2, 8, 8), ROW(cgx_int4, 16, 16), ROW(cgx_uint2, 8, 8), ROW(cgx_uint4, 16, 16), ROW(cgx_long2, 16, 16);
    ROW(cgx_long4, 32, 16), ROW(cgx_float2, 8, 8), ROW(cgx_float4, 16, 16), ROW(cgx_double2, 16, 16),
        ROW(cgx_double4, 32, 16);
    ROW(cgx_half, 2, 2), ROW(cgx_bf16, 2, 2);
#undef ROW
    assert_int_equal(offsetof(cgx_float4, w), 12);
    assert_int_equal(offsetof(cgx_long4, z), 16);
    device_free(out);
}

/* Vendors state 1 to 4 units in the last place for what is used here, at worst 16: more is a wrong function. */
static void check_close(double seen, double expected, double epsilon, int what, double x)
{
    if (seen == expected || (seen != seen && expected != expected))
        return;
    if (!(fabs(seen - expected) <= 16 * epsilon * fmax(fabs(expected), 1e-3)))
        fail_msg("function %d of %a: %a, not %a", what, x, seen, expected);
}

static const double points[] = { 0,     -0.0,    1,      -1,       0.5, -0.5, 2.75, -3.25,
                                 1e-10, -7.5e-4, 10.125, -12.0625, 3.5, -2.5, 0.7,  20 };

static void reference(double x, double *o)
{
    const double r[MATH_RESULTS] = { sqrt(fabs(x)),
                                     exp(x),
                                     log(fabs(x) + 1e-3),
                                     sin(x),
                                     cos(x),
                                     tan(x),
                                     pow(fabs(x), 1.5),
                                     floor(x),
                                     ceil(x),
                                     round(x),
                                     trunc(x),
                                     fma(x, 3, 1),
                                     fmin(x, 1),
                                     fmax(x, 1),
                                     atan2(x, 2),
                                     tanh(x),
                                     cbrt(x),
                                     hypot(x, 3),
                                     fmod(x, 0.7),
                                     copysign(2, x),
                                     ldexp(x, 3),
                                     log2(fabs(x) + 1),
                                     exp2(x),
                                     erf(x) };
    memcpy(o, r, sizeof r);
}

static void math_functions(void **state)
{
    enum { N = COUNT_OF(points) };
    float singles[N], single[N * MATH_RESULTS];
    double seen[N * MATH_RESULTS], expected[MATH_RESULTS];
    (void)state;
    for (int i = 0; i < N; i++)
        singles[i] = (float)points[i];
    double *in = device_copy(points, sizeof points), *out = device_memory(sizeof seen);
    float *fin = device_copy(singles, sizeof singles), *fout = device_memory(sizeof single);
    check_ok(math_double_launch(test_queue, cgx_cover(N, 8), N, in, out));
    check_ok(math_float_launch(test_queue, cgx_cover(N, 8), N, fin, fout));
    fetch(seen, out, sizeof seen);
    fetch(single, fout, sizeof single);
    for (int i = 0; i < N; i++) {
        reference(points[i], expected);
        for (int f = 0; f < MATH_RESULTS; f++)
            check_close(seen[i * MATH_RESULTS + f], expected[f], 2.220446049250313e-16, f, points[i]);
        reference((double)singles[i], expected);
        expected[2] = log((double)(fabsf(singles[i]) + 1e-3f)); /* rounded before the logarithm, which is small */
        expected[21] = log2((double)(fabsf(singles[i]) + 1));
        expected[18] = fmod((double)singles[i], (double)0.7f);
        for (int f = 0; f < MATH_RESULTS; f++)
            check_close((double)single[i * MATH_RESULTS + f], expected[f], 1.1920929e-7, f, points[i]);
    }
    device_free(in);
    device_free(out);
    device_free(fin);
    device_free(fout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_to_float),
        cmocka_unit_test(floats_round_to_nearest_even),
        cmocka_unit_test(vectors_have_one_layout),
        cmocka_unit_test(math_functions),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("numbers", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
#include "language_kernels.h"
#include <assert.h>
#include <math.h>
#include <stdio.h>

CGX_KERNEL_EXTERN(take_nothing)
{
}

CGX_KERNEL_EXTERN(take_one, (int *, out))
{
    out[cgx_thread_rank(cgx_this_grid())] = 7;
}

CGX_KERNEL_EXTERN(take_eight, (double *, out), (signed char, a), (unsigned short, b), (float, c), (mixed_record, d),
                  (cgx_half, e), (int64_t, f), (cgx_float4, g))
{
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d.first, out[4] = d.middle, out[5] = d.last[2];
    out[6] = cgx_half_to_float(e), out[7] = (double)f, out[8] = g.x, out[9] = g.w;
}

CGX_KERNEL_EXTERN(take_sixteen, (int, a), (double, b), (char, c), (const float *, d), (uint64_t, e), (short, f),
                  (float, g), (cgx_double2, h), (unsigned char, i), (mixed_record, j), (cgx_bf16, k), (int, l),
                  (long long, m), (cgx_int4, n), (char, o), (double *, out))
{
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d[1], out[4] = (double)e, out[5] = f, out[6] = g, out[7] = h.x;
    out[8] = h.y, out[9] = i, out[10] = j.middle, out[11] = cgx_bf16_to_float(k), out[12] = l, out[13] = (double)m;
    out[14] = n.z, out[15] = o;
}

CGX_KERNEL_EXTERN(take_page, (argument_page, page), (int64_t, n), (int *, out))
{
    int sum = 0;
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    for (int64_t i = 0; i < n; i++)
        sum += page.bytes[i];
    out[0] = sum;
}

CGX_DEVICE_FN int address_modulo(const void *p, int n)
{
    return (int)((uintptr_t)p % (uintptr_t)n);
}

CGX_KERNEL_EXTERN(shared_forms, (int *, out))
{
    CGX_SHARED(char, one);
    CGX_SHARED(double, wide);
    CGX_SHARED_ARRAY(short, line, 5);
    CGX_SHARED_ARRAY2(float, plane, 3, 7);
    CGX_SHARED(cgx_float4, vector);
    CGX_SHARED_ARRAY3(unsigned char, cube, 2, 3, 5);
    cgx_block b = cgx_this_block();
    int r = cgx_thread_rank(b), n = cgx_num_threads(b);
    if (r == 0) {
        *one = 1, *wide = 2.5;
        vector->x = 3, vector->w = 4;
    }
    for (int i = r; i < 5; i += n)
        line[i] = (short)(100 + i);
    for (int i = r; i < 21; i += n)
        plane[i / 7][i % 7] = 1000.0f + (float)i;
    for (int i = r; i < 30; i += n)
        cube[i / 15][i / 5 % 3][i % 5] = (unsigned char)(50 + i);
    cgx_sync(b);
    if (r != n - 1)
        return;
    int good = *one == 1 && *wide == 2.5 && vector->x == 3 && vector->w == 4;
    for (int i = 0; i < 5; i++)
        good += line[i] == 100 + i;
    for (int i = 0; i < 21; i++)
        good += plane[i / 7][i % 7] == 1000.0f + (float)i;
    for (int i = 0; i < 30; i++)
        good += cube[i / 15][i / 5 % 3][i % 5] == 50 + i;
    int *mine = out + 8 * cgx_group_index(b).x;
    mine[0] = good;
    mine[1] = address_modulo(wide, 8) + address_modulo(line, 2) + address_modulo(plane, 4) + address_modulo(vector, 16);
    mine[2] = (int)(sizeof plane[0] + sizeof cube[0]);
}

/* Sites that no other kernel of the file has: sizes are counted for each kernel alone. */
CGX_KERNEL_EXTERN(shared_three, (int *, out))
{
    CGX_SHARED_ARRAY(char, three, 3);
    cgx_block b = cgx_this_block();
    if (cgx_thread_rank(b) < 3)
        three[cgx_thread_rank(b)] = 'x';
    cgx_sync(b);
    out[cgx_group_index(b).x] = three[0] + three[1] + three[2];
}

CGX_KERNEL_EXTERN(dynamic_alignment, (int *, out))
{
    CGX_SHARED_ARRAY(char, odd, 13);
    CGX_DYNAMIC_SHARED(double, numbers);
    CGX_DYNAMIC_SHARED(char, bytes); /* the same memory by another name */
    cgx_block b = cgx_this_block();
    if (cgx_thread_rank(b))
        return;
    odd[12] = 1;
    numbers[0] = 1.5;
    out[2 * cgx_group_index(b).x] = address_modulo(numbers, 128);
    out[2 * cgx_group_index(b).x + 1] = (const void *)numbers == (const void *)bytes;
}

CGX_DEVICE_FN int rank_by_group(cgx_group g)
{
    CGX_IN_GROUP(g);
    cgx_block b = cgx_this_block();
    cgx_grid whole = cgx_this_grid();
    cgx_sync(b); /* a function that synchronises on its own */
    return cgx_thread_rank(b) + 1000 * (int)cgx_block_rank(whole);
}

CGX_DEVICE_FN int factorial(int n)
{
    int result = 1;
    for (int i = 2; i <= n; i++)
        result *= i;
    return result;
}

CGX_DEVICE_FN int sum_of_tile(cgx_tile_16 t, int v)
{
    return cgx_reduce(t, v, CGX_PLUS);
}

CGX_KERNEL_EXTERN(device_functions, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_16 t = cgx_tiled_partition(b, 16);
    int r = (int)cgx_thread_rank(cgx_this_grid());
    out[3 * r] = rank_by_group(cgx_as_group(t));
    out[3 * r + 1] = factorial(r % 8);
    out[3 * r + 2] = sum_of_tile(t, cgx_thread_rank(b));
}

CGX_OP(argmax_t, argmax, a, b, b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a)
/* Not commutative: digits put behind one another. */
CGX_OP_BODY(int64_t, append, a, b, {
    int64_t shift = 10;
    while (shift <= b)
        shift *= 10;
    return a * shift + b;
})

CGX_KERNEL_EXTERN(user_operators, (const float *, in), (argmax_t *, best), (int64_t *, words))
{
    cgx_block b = cgx_this_block();
    cgx_tile_8 t = cgx_tiled_partition(b, 8);
    int r = cgx_thread_rank(b);
    argmax_t mine = { in[r], r };
    argmax_t winner = cgx_reduce_op(b, mine, argmax);
    best[r] = winner;
    words[3 * r] = cgx_reduce_op(t, (int64_t)(r % 8 + 1), append);
    words[3 * r + 1] = cgx_inclusive_scan_op(t, (int64_t)(r % 8 + 1), append);
    words[3 * r + 2] = cgx_exclusive_scan_op(t, (int64_t)(r % 8 + 1), append);
}

CGX_DEVICE_VARIABLE(int, counter) = 40;
CGX_CONSTANT_VARIABLE(constant_table, table) = { { 1, 2, 3, 4, 5, 6, 7, 8 }, 0.5 };

CGX_KERNEL_EXTERN(use_variables, (int, add), (double *, out))
{
    int r = (int)cgx_thread_rank(cgx_this_grid());
    out[r] = table.values[r % 8] * table.scale;
    if (r == 0)
        counter += add;
}

CGX_KERNEL_EXTERN(say_hello, (int, n))
{
    if (cgx_thread_rank(cgx_this_grid()) == 0)
        printf("hello %d from a kernel, %s %.2f\n", n, "half is", 0.5);
}

CGX_KERNEL_EXTERN(assert_positive, (int, n), (int *, out))
{
    assert(n > 0);
    if (cgx_thread_rank(cgx_this_grid()) == 0)
        *out = n;
}

CGX_KERNEL_EXTERN(math_double, (int, n), (const double *, in), (double *, out))
{
    int i = (int)cgx_thread_rank(cgx_this_grid());
    if (i >= n)
        return;
    double x = in[i], *o = out + i * MATH_RESULTS;
    o[0] = sqrt(fabs(x)), o[1] = exp(x), o[2] = log(fabs(x) + 1e-3), o[3] = sin(x), o[4] = cos(x), o[5] = tan(x);
    o[6] = pow(fabs(x), 1.5), o[7] = floor(x), o[8] = ceil(x), o[9] = round(x), o[10] = trunc(x), o[11] = fma(x, 3, 1);
    o[12] = fmin(x, 1), o[13] = fmax(x, 1), o[14] = atan2(x, 2), o[15] = tanh(x), o[16] = cbrt(x), o[17] = hypot(x, 3);
    o[18] = fmod(x, 0.7), o[19] = copysign(2, x), o[20] = ldexp(x, 3), o[21] = log2(fabs(x) + 1), o[22] = exp2(x);
    o[23] = erf(x);
}

CGX_KERNEL_EXTERN(math_float, (int, n), (const float *, in), (float *, out))
{
    int i = (int)cgx_thread_rank(cgx_this_grid());
    if (i >= n)
        return;
    float x = in[i], *o = out + i * MATH_RESULTS;
    o[0] = sqrtf(fabsf(x)), o[1] = expf(x), o[2] = logf(fabsf(x) + 1e-3f), o[3] = sinf(x), o[4] = cosf(x),
    o[5] = tanf(x);
    o[6] = powf(fabsf(x), 1.5f), o[7] = floorf(x), o[8] = ceilf(x), o[9] = roundf(x), o[10] = truncf(x);
    o[11] = fmaf(x, 3, 1), o[12] = fminf(x, 1), o[13] = fmaxf(x, 1), o[14] = atan2f(x, 2), o[15] = tanhf(x);
    o[16] = cbrtf(x), o[17] = hypotf(x, 3), o[18] = fmodf(x, 0.7f), o[19] = copysignf(2, x), o[20] = ldexpf(x, 3);
    o[21] = log2f(fabsf(x) + 1), o[22] = exp2f(x), o[23] = erff(x);
}

CGX_KERNEL_EXTERN(halves_to_floats, (int, n), (float *, out), (float *, bf16))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g)) {
        cgx_half h;
        cgx_bf16 b;
        h.bits = b.bits = (uint16_t)i;
        out[i] = cgx_half_to_float(h);
        bf16[i] = cgx_bf16_to_float(b);
    }
}

CGX_KERNEL_EXTERN(floats_to_halves, (int, n), (const float *, in), (uint16_t *, half), (uint16_t *, bf16))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g)) {
        half[i] = cgx_float_to_half(in[i]).bits;
        bf16[i] = cgx_float_to_bf16(in[i]).bits;
    }
}

CGX_KERNEL_EXTERN(timers, (uint64_t *, out))
{
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    out[0] = cgx_clock_cycles();
    out[1] = cgx_clock_nanoseconds();
    while (cgx_clock_nanoseconds() - out[1] < 3000000)
        ;
    out[2] = cgx_clock_cycles();
    out[3] = cgx_clock_nanoseconds();
}

/* Sizes and alignments as the kernel's compiler sees them. */
#define BEHIND_A_BYTE(T) \
    typedef struct {     \
        char byte;       \
        T value;         \
    } T##_behind_a_byte;
BEHIND_A_BYTE(cgx_int2)
BEHIND_A_BYTE(cgx_int4)
BEHIND_A_BYTE(cgx_uint2)
BEHIND_A_BYTE(cgx_uint4)
BEHIND_A_BYTE(cgx_long2)
BEHIND_A_BYTE(cgx_long4)
BEHIND_A_BYTE(cgx_float2)
BEHIND_A_BYTE(cgx_float4)
BEHIND_A_BYTE(cgx_double2)
BEHIND_A_BYTE(cgx_double4)
BEHIND_A_BYTE(cgx_half) BEHIND_A_BYTE(cgx_bf16) CGX_KERNEL_EXTERN(vector_layout, (int *, out))
{
    if (cgx_thread_rank(cgx_this_grid()))
        return;
    int i = 0;
#define ROW(T) out[i++] = (int)sizeof(T), out[i++] = (int)offsetof(T##_behind_a_byte, value)
    ROW(cgx_int2), ROW(cgx_int4), ROW(cgx_uint2), ROW(cgx_uint4), ROW(cgx_long2), ROW(cgx_long4), ROW(cgx_float2);
    ROW(cgx_float4), ROW(cgx_double2), ROW(cgx_double4), ROW(cgx_half), ROW(cgx_bf16);
#undef ROW
}

#ifdef CGX_HOST_PASS
cgx_status set_table(cgx_queue *queue, const constant_table *value)
{
    return cgx_write_variable(queue, table, value);
}
cgx_status get_table(cgx_queue *queue, constant_table *value)
{
    return cgx_read_variable(queue, table, value);
}
cgx_status set_counter(cgx_queue *queue, const int *value)
{
    return cgx_write_variable(queue, counter, value);
}
cgx_status get_counter(cgx_queue *queue, int *value)
{
    return cgx_read_variable(queue, counter, value);
}
#endif

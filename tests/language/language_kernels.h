/* SPDX-License-Identifier: MIT */
/* Kernels of the language's tests. */
#ifndef TESTS_LANGUAGE_KERNELS_H
#define TESTS_LANGUAGE_KERNELS_H
#include <cgx.h>

typedef struct {
    int8_t first;
    double middle;
    int16_t last[3];
} mixed_record;
typedef struct {
    char bytes[4080];
} argument_page;

CGX_KERNEL_DECLARE(take_nothing)
CGX_KERNEL_DECLARE(take_one, (int *, out))
CGX_KERNEL_DECLARE(take_eight, (double *, out), (signed char, a), (unsigned short, b), (float, c), (mixed_record, d),
                   (cgx_half, e), (int64_t, f), (cgx_float4, g))
CGX_KERNEL_DECLARE(take_sixteen, (int, a), (double, b), (char, c), (const float *, d), (uint64_t, e), (short, f),
                   (float, g), (cgx_double2, h), (unsigned char, i), (mixed_record, j), (cgx_bf16, k), (int, l),
                   (long long, m), (cgx_int4, n), (char, o), (double *, out))
CGX_KERNEL_DECLARE(take_page, (argument_page, page), (int64_t, n), (int *, out))

/* What shared memory is like: addresses modulo 128, sizes, whether pieces overlap. */
CGX_KERNEL_DECLARE(shared_forms, (int *, out))
CGX_KERNEL_DECLARE(shared_three, (int *, out))
CGX_KERNEL_DECLARE(dynamic_alignment, (int *, out))

/* A device function that asks for its groups by CGX_IN_GROUP. */
CGX_KERNEL_DECLARE(device_functions, (int *, out))

typedef struct {
    float v;
    int i;
} argmax_t;
CGX_KERNEL_DECLARE(user_operators, (const float *, in), (argmax_t *, best), (int64_t *, words))

/* Device and constant variables: adds to one, returns the other. */
typedef struct {
    int values[8];
    double scale;
} constant_table;
CGX_KERNEL_DECLARE(use_variables, (int, add), (double *, out))
cgx_status set_table(cgx_queue *queue, const constant_table *table);
cgx_status get_table(cgx_queue *queue, constant_table *table);
cgx_status set_counter(cgx_queue *queue, const int *value);
cgx_status get_counter(cgx_queue *queue, int *value);

CGX_KERNEL_DECLARE(say_hello, (int, n))
CGX_KERNEL_DECLARE(assert_positive, (int, n), (int *, out))

enum { MATH_RESULTS = 24 };
CGX_KERNEL_DECLARE(math_double, (int, n), (const double *, in), (double *, out))
CGX_KERNEL_DECLARE(math_float, (int, n), (const float *, in), (float *, out))

CGX_KERNEL_DECLARE(halves_to_floats, (int, n), (float *, out), (float *, bf16))
CGX_KERNEL_DECLARE(floats_to_halves, (int, n), (const float *, in), (uint16_t *, half), (uint16_t *, bf16))
CGX_KERNEL_DECLARE(timers, (uint64_t *, out))
CGX_KERNEL_DECLARE(vector_layout, (int *, out))

/* In two files there are kernels and variables of the same name: same_names_1.c and same_names_2.c. */
cgx_status run_same_names_1(cgx_queue *queue, int *out);
cgx_status run_same_names_2(cgx_queue *queue, int *out);
#endif

/* SPDX-License-Identifier: MIT */
/* rows: H05 K05 K06 K08 K09
 * Kernels of 0, 1, 8 and 16 arguments of mixed types, and of as many bytes as there may be; kernels of the same name. */
#include "check.h"
#include "language_kernels.h"

static void none_and_one(void **state)
{
    int *out = device_memory(70 * sizeof *out), seen[70];
    (void)state;
    check_ok(take_nothing_launch(test_queue, cgx_config_1d(3, 33)));
    check_ok(take_one_launch(test_queue, cgx_config_1d(2, 35), out));
    fetch(seen, out, sizeof seen);
    for (int i = 0; i < 70; i++)
        assert_int_equal(seen[i], 7);
    device_free(out);
}

static void eight(void **state)
{
    double *out = device_memory(10 * sizeof *out), seen[10];
    mixed_record record = { -5, 1e200, { 1, 2, -32768 } };
    cgx_float4 v = { 0.5f, 1, 2, -3.25f };
    (void)state;
    check_ok(take_eight_launch(test_queue, cgx_config_1d(1, 1), out, -128, 65535, 1.5f, record,
                               cgx_float_to_half(-0.125f), INT64_MIN, v));
    fetch(seen, out, sizeof seen);
    const double expected[10] = { -128, 65535, 1.5, -5, 1e200, -32768, -0.125, (double)INT64_MIN, 0.5, -3.25 };
    assert_memory_equal(seen, expected, sizeof seen);
    device_free(out);
}

static void sixteen(void **state)
{
    double *out = device_memory(16 * sizeof *out), seen[16];
    const float two[2] = { 8, 9.5f };
    float *d = device_copy(two, sizeof two);
    mixed_record j = { 1, -2.5, { 0, 0, 0 } };
    cgx_double2 h = { 7.25, 8.5 };
    cgx_int4 n = { 1, 2, 3, 4 };
    int a = -1, l = 12;
    double b = 2.5;
    char c = 3, o = 'z';
    uint64_t e = (uint64_t)1 << 60;
    short f = -6;
    float g = 6.5f;
    unsigned char i = 255;
    cgx_bf16 k = cgx_float_to_bf16(11.5f);
    long long m = -13;
    const double expected[16] = { -1, 2.5, 3, 9.5, 1152921504606846976.0, -6, 6.5, 7.25, 8.5, 255, -2.5, 11.5,
                                  12, -13, 3, 'z' };
    (void)state;
    check_ok(take_sixteen_launch(test_queue, cgx_config_1d(1, 1), a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, out));
    fetch(seen, out, sizeof seen);
    assert_memory_equal(seen, expected, sizeof seen);
    /* The array-argument launch gives the same. */
    void *arguments[16] = { &a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l, &m, &n, &o, &out };
    check_ok(cgx_fill_f64(test_queue, out, 0, 16));
    check_ok(cgx_launch(test_queue, CGX_KERNEL_OF(take_sixteen), cgx_config_1d(1, 1), arguments, 16));
    fetch(seen, out, sizeof seen);
    assert_memory_equal(seen, expected, sizeof seen);
    device_free(d);
    device_free(out);
}

static void four_kilobytes(void **state)
{
    argument_page page;
    int *out = device_memory(sizeof *out), seen = 0, expected = 0;
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    (void)state;
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(take_page), &info));
    assert_int_equal(info.argument_bytes, 4096);
    for (size_t i = 0; i < sizeof page.bytes; i++) {
        page.bytes[i] = (char)(i % 100);
        expected += (int)(i % 100);
    }
    for (int round = 0; round < 3; round++) { /* several in flight: each keeps its own copy */
        check_ok(take_page_launch(test_queue, cgx_config_1d(1, 1), page, sizeof page.bytes, out));
        memset(&page, round == 2, sizeof page);
        if (round == 0) {
            fetch(&seen, out, sizeof seen);
            assert_int_equal(seen, expected);
        }
    }
    void *pointer = out;
    int64_t n = 4080;
    void *arguments[3] = { &page, &n, &pointer };
    check_ok(cgx_launch(test_queue, CGX_KERNEL_OF(take_page), cgx_config_1d(1, 1), arguments, 3));
    fetch(&seen, out, sizeof seen);
    assert_int_equal(seen, 4080);
    device_free(out);
}

/* A kernel's identity is its descriptor, not its name. */
static void same_names_in_two_files(void **state)
{
    int *out = device_memory(2 * sizeof *out), seen[2];
    (void)state;
    for (int round = 0; round < 3; round++) {
        check_ok(run_same_names_1(test_queue, out));
        check_ok(run_same_names_2(test_queue, out + 1));
        fetch(seen, out, sizeof seen);
        assert_int_equal(seen[0], 100 + 48);
        assert_int_equal(seen[1], 200 + 96);
    }
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_and_one),
        cmocka_unit_test(eight),
        cmocka_unit_test(sixteen),
        cmocka_unit_test(four_kilobytes),
        cmocka_unit_test(same_names_in_two_files),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("arguments", tests, NULL, NULL));
}

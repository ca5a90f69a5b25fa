/* SPDX-License-Identifier: MIT */
#include "../common/check.h"
#include "canonical.h"
#include "northstar_kernels.h"

/* rows: H02 H05 H08 G03 */
static void a_kernel_and_its_launch(void **state)
{
    cgx_queue *q = test_queue;
    float *x, *y;
    int64_t n = (1 << 18) + 7;
    float *results = host_memory((size_t)n * sizeof *results);

    (void)state;
    check_ok(cgx_alloc(q, n * sizeof *x, CGX_MEM_DEVICE, (void **)&x));
    check_ok(cgx_alloc(q, n * sizeof *y, CGX_MEM_DEVICE, (void **)&y));
    check_ok(cgx_fill_f32(q, x, 1.0f, n));
    check_ok(cgx_fill_f32(q, y, 2.0f, n));
    check_ok(saxpy_launch(q, cgx_fit(q, n, 256), n, 3.0f, x, y)); /* typed: a wrong argument does not compile */
    check_ok(cgx_queue_wait(q));
    fetch(results, y, (size_t)n * sizeof *results);
    for (int64_t i = 0; i < n; i++)
        assert_true(results[i] == 5.0f);
    check_ok(cgx_free(q, x));
    check_ok(cgx_free(q, y));
    free(results);
    if (test_device.max_threads_per_block == 1024)
        check_says(saxpy_launch(q, cgx_config_1d(1, 1152), n, 3.0f, NULL, NULL), CGX_ERROR_LIMIT, "saxpy: ", "1,152",
                   test_device.name, "takes 1,024; 1,024 would fit");
}

/* rows: R02 R06 S02 T01 T03 */
static void collectives(void **state)
{
    enum { N = 160 };
    float values[N], sum;
    star_results results[N];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < N; i++)
        values[i] = (float)random_below(10) + (i % 7 ? 0 : 0.1f);
    in = device_copy(values, sizeof values);
    check_ok(star_collectives_launch(test_queue, cgx_config_1d(1, N), in, out));
    fetch(results, out, sizeof results);
    canonical_reduce(plus_f32, values, sizeof sum, N, &sum);
    for (int r = 0; r < N; r++) {
        int first = r / 16 * 16, slot = 0, best = first, same = 0;
        for (int i = first; i < first + 16; i++) {
            slot += i < r && values[i] > 5;
            best = values[i] > values[best] ? i : best;
            same += (int)values[i] % 3 == (int)values[r] % 3;
        }
        assert_memory_equal(&results[r].sum, &sum, sizeof sum);
        assert_int_equal(results[r].slot, slot);
        assert_int_equal(results[r].best.i, best);
        assert_int_equal(results[r].same, same);
    }
    device_free(in);
    device_free(out);
}

/* Sums of small integers, so exact. */
static void check_sums(int tile, int tiles, int threads, const float *values, const float *results)
{
    for (int r = 0; r < threads; r++) {
        float sum = 0;
        for (int i = 0; i < tiles; i++)
            for (int j = r; j < tile; j += threads)
                sum += values[i * tile + j];
        assert_true(results[r] == sum);
    }
}

/* rows: A01 A05 */
static void a_copy_that_overlaps_with_work(void **state)
{
    enum { TILES = 7, THREADS = 128 };
    float *values = host_memory(TILES * 1024 * sizeof *values), *mirror = host_memory(TILES * 1024 * sizeof *values);
    float results[THREADS];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < TILES * 1024; i++)
        mirror[i / 1024 * 1024 + 1023 - i % 1024] = values[i] = (float)random_below(50);
    in = device_copy(values, TILES * 1024 * sizeof *values);
    for (int tiles = 1; tiles <= TILES; tiles++) {
        check_ok(star_overlap_launch(test_queue, cgx_config_1d(1, THREADS), tiles, in, out));
        fetch(results, out, sizeof results);
        check_sums(1024, tiles, THREADS, mirror, results);
    }
    device_free(in);
    device_free(out);
    free(values);
    free(mirror);
}

/* rows: B04 B06 B09 B12 B13 P07 */
static void producer_and_consumers(void **state)
{
    enum { ITEMS = 23 };
    float values[ITEMS * 256], results[192];
    void *in, *out = device_memory(sizeof results);
    static const int threads[] = { 128, 192, 256 }; /* whole tiles of 64 */

    (void)state;
    for (int i = 0; i < ITEMS * 256; i++)
        values[i] = (float)random_below(50);
    in = device_copy(values, sizeof values);
    for (size_t k = 0; k < COUNT_OF(threads); k++)
        for (int items = 1; items <= ITEMS; items += 11) {
            check_ok(star_pipeline_launch(test_queue, cgx_config_1d(1, threads[k]), items, in, out));
            fetch(results, out, sizeof results);
            check_sums(256, items, threads[k] - 64, values, results);
        }
    device_free(in);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_and_its_launch),
        cmocka_unit_test(collectives),
        cmocka_unit_test(a_copy_that_overlaps_with_work),
        cmocka_unit_test(producer_and_consumers),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("northstar", tests, NULL, NULL));
}

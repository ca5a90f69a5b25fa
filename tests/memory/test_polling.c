/* SPDX-License-Identifier: MIT */
/* Loops that wait for another thread's store end: of the same block, of another block, of the host. */
#include <unistd.h>
#include "../common/modes.h"
#include "polling_kernels.h"

/* rows: X01 */
static void threads_of_one_block(void **state)
{
    static const int sizes[] = { 2, 32, 64, 130, 1024 };
    int results[1024], *out = device_memory(sizeof results);

    (void)state;
    if (!test_explains_misuse())
        return; /* lanes of one warp wait for one another */
    for (int what = 0; what < POLLS; what++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            int n = sizes[s];
            if (n > 130 && getenv("CGX_TEST_SMALL"))
                continue;
            printf("waiting for %d, %d threads\n", what, n);
            fflush(stdout);
            check_ok(poll_in_block_launch(test_queue, cgx_config_1d(1, n), what, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < n; i++)
                assert_int_equal(results[i], i);
        }
    device_free(out);
}

/* rows: X01 G03 */
static void later_blocks(void **state)
{
    enum { BLOCKS = 12, THREADS = 33, N = BLOCKS * THREADS };
    int results[N], *out = device_memory(sizeof results), *flags = device_memory(sizeof results);

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    for (int round = 0; round < test_scaled(20); round++) {
        check_ok(cgx_fill_i32(test_queue, flags, 0, N));
        check_ok(poll_later_block_launch(test_queue, cgx_cooperative(cgx_config_1d(BLOCKS, THREADS)), flags, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < N; i++)
            assert_int_equal(results[i], BLOCKS - i / THREADS);
    }
    device_free(out), device_free(flags);
}

/* What a library has to fall back on where the driver has no cooperative launch works where it has one, too: the
 * blocks are resident, atomics and waits do the rest. rows: Y04 X01 */
static void a_grid_barrier_in_software(void **state)
{
    enum { BLOCKS = 9, THREADS = 40 };
    int results[BLOCKS * THREADS], zeros[2] = { 0 }, *bad = device_memory(sizeof results),
                                   *data = device_memory(sizeof results);
    int *barrier = device_copy(zeros, sizeof zeros);

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_ok(software_grid_barrier_launch(test_queue, cgx_cooperative(cgx_config_1d(BLOCKS, THREADS)), test_scaled(200),
                                          barrier, data, bad));
    fetch(results, bad, sizeof results);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        assert_int_equal(results[i], 0);
    device_free(bad), device_free(data), device_free(barrier);
}

/* rows: X01 */
static void the_host(void **state)
{
    int *flag = NULL, *out = NULL;

    (void)state;
    if (!test_can(CGX_CAN_UNIFIED))
        return;
    check_ok(cgx_alloc(test_queue, sizeof *flag, CGX_MEM_SHARED, (void **)&flag));
    check_ok(cgx_alloc(test_queue, 3 * sizeof *out, CGX_MEM_SHARED, (void **)&out));
    *flag = 0, out[0] = out[1] = out[2] = 0;
    check_ok(poll_host_launch(test_queue, cgx_config_1d(1, 40), flag, out));
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 1)
        ;
    assert_int_equal(out[0], 1);
    out[1] = 41;
    __atomic_store_n(flag, 2, __ATOMIC_RELEASE);
    check_finished();
    assert_int_equal(out[2], 42);
    device_free(flag), device_free(out);
}

/* rows: X01 */
static void single_pass_scan(void **state)
{
    int parts = test_scaled(300), n = parts * SCAN_THREADS, zero = 0;
    unsigned *values = host_memory((size_t)n * sizeof *values), *results = host_memory((size_t)n * sizeof *results),
             *in, *out;
    unsigned long long *status = device_memory((size_t)parts * sizeof *status);

    (void)state;
    for (int i = 0; i < n; i++)
        values[i] = (unsigned)random_u64();
    in = device_copy(values, (size_t)n * sizeof *values);
    out = device_memory((size_t)n * sizeof *out);
    for (int way = 0; way < 4; way++) {
        cgx_config c = cgx_config_1d(parts, SCAN_THREADS);
        int *next = device_copy(&zero, sizeof zero);
        unsigned sum = 0;
        c.flags |= way & 1 ? CGX_LAUNCH_DYNAMIC : 0;
        check_ok(cgx_fill_u8(test_queue, status, 0, (size_t)parts * sizeof *status));
        if (way & 2)
            check_ok(look_back_wide_launch(test_queue, c, in, status, out));
        else
            check_ok(look_back_scan_launch(test_queue, c, in, status, next, out));
        fetch(results, out, (size_t)n * sizeof *results);
        for (int i = 0; i < n; i++)
            if (results[i] != (sum += values[i]))
                fail_msg("way %d, value %d", way, i);
        device_free(next);
    }
    device_free(in), device_free(out), device_free(status);
    free(values), free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_blocks),     cmocka_unit_test(a_grid_barrier_in_software), cmocka_unit_test(the_host),
        cmocka_unit_test(single_pass_scan), cmocka_unit_test(threads_of_one_block),
    };

    test_start_in_modes();
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("polling", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Launches that the host makes for kernels (docs/hip.md): how often it waits for the device, which the stand-in for the driver counts, and
 * the tables on the device. */
#include <dlfcn.h>
#include "../common/check.h"
#include "requests_kernels.h"

enum { LAUNCHES = 10000, HEAP = 200000 };
static unsigned long (*synchronizations)(void);
static int *count;
static cgx_status *status;

/* LAUNCHES of them by 100 threads; how often the host waited for the device until the last was over. */
static unsigned long waits_for(int asks, int in_order)
{
    int ran;
    cgx_status s;
    check_ok(cgx_fill_i32(test_queue, count, 0, 1));
    check_ok(cgx_fill_u8(test_queue, status, 0, 2 * sizeof *status));
    check_ok(cgx_queue_wait(test_queue));
    const unsigned long before = synchronizations();
    check_ok(launch_many_launch(test_queue, cgx_config_1d(10, 10), LAUNCHES / 100, asks, in_order, count, status));
    check_ok(cgx_queue_wait(test_queue));
    const unsigned long after = synchronizations();
    fetch(&ran, count, sizeof ran);
    fetch(&s, status, sizeof s);
    assert_int_equal(s, CGX_OK);
    assert_int_equal(ran, LAUNCHES);
    return after - before;
}

/* rows: D10 */
static void a_wait_for_a_thousand_launches(void **state)
{
    (void)state;
    waits_for(0, 0); /* sets up what the first family needs */
    const unsigned long of_askers = waits_for(1, 0);
    print_message("%lu waits for 10,000 launches that may launch\n", of_askers);
    assert_true(of_askers <= LAUNCHES / 1000 + 2); /* one for the parent, and the caller's own */
}

/* rows: D09 D10 */
static void no_wait_for_what_launches_nothing(void **state)
{
    (void)state;
    assert_int_equal(waits_for(0, 0), 2);
    assert_int_equal(waits_for(0, 1), 2);
}

/* rows: D02 */
static void a_heap_for_a_crowd(void **state)
{
    int results[2];
    cgx_status s[2];
    int *counts = device_memory(sizeof results);
    (void)state;
    check_ok(cgx_fill_i32(test_queue, counts, 0, 2));
    check_ok(crowd_heap_launch(test_queue, cgx_config_1d(3, 200), 4, counts, counts + 1));
    fetch(results, counts, sizeof results);
    assert_int_equal(results[0], 0);
    assert_int_equal(results[1], 0);
    check_ok(whole_heap_launch(test_queue, cgx_config_1d(1, 1), HEAP - 16, status));
    fetch(s, status, sizeof s);
    assert_int_equal(s[0], CGX_OK);
    assert_int_equal(s[1], CGX_OK);
    check_ok(whole_heap_launch(test_queue, cgx_config_1d(1, 1), HEAP, status));
    fetch(s, status, sizeof s);
    assert_int_equal(s[0], CGX_ERROR_OUT_OF_MEMORY);
    device_free(counts);
}

/* rows: D09 D13 */
static void handles_run_out(void **state)
{
    cgx_status s[2];
    (void)state;
    for (int n = 1000; n <= 100000; n *= 100) {
        check_ok(many_handles_launch(test_queue, cgx_config_1d(1, 1), n, status));
        fetch(s, status, sizeof s);
        assert_int_equal(s[0], n == 1000 ? CGX_OK : CGX_ERROR_OUT_OF_MEMORY);
        assert_int_equal(s[1], s[0]);
    }
}

/* rows: D01 */
static void large_arguments(void **state)
{
    large_argument large;
    int sum = 0, expected = 1000;
    (void)state;
    for (int i = 0; i < 256; i++)
        large.numbers[i] = random_below(1000);
    for (int i = 0; i < 255; i++)
        expected += large.numbers[i];
    check_ok(pass_large_launch(test_queue, cgx_config_1d(1, 1), large, count, status));
    fetch(&sum, count, sizeof sum);
    assert_int_equal(sum, expected);
}

/* rows: D13 */
static void asking_without_waiting(void **state)
{
    int ran = 0;
    cgx_status s;
    (void)state;
    check_ok(cgx_fill_i32(test_queue, count, 0, 1));
    check_ok(launch_many_launch(test_queue, cgx_config_1d(1, 1), 3, 1, 0, count, status));
    while ((s = cgx_queue_query(test_queue)) == CGX_NOT_READY) {
    }
    check_ok(s);
    fetch(&ran, count, sizeof ran);
    assert_int_equal(ran, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_a_thousand_launches),
        cmocka_unit_test(no_wait_for_what_launches_nothing),
        cmocka_unit_test(a_heap_for_a_crowd),
        cmocka_unit_test(handles_run_out),
        cmocka_unit_test(large_arguments),
        cmocka_unit_test(asking_without_waiting),
    };
    cgx_device *device;
    void *memory, *driver, *symbol;

    test_start();
    driver = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    symbol = driver ? dlsym(driver, "hipEmulatorSynchronizations") : NULL;
    if (!symbol)
        skip_program("the driver does not count how often it was waited for");
    memcpy(&synchronizations, &symbol, sizeof symbol);
    CGX_TRY(cgx_queue_get_device(test_queue, &device));
    CGX_TRY(cgx_device_set_limit(device, CGX_LIMIT_PENDING_LAUNCHES, LAUNCHES));
    CGX_TRY(cgx_device_set_limit(device, CGX_LIMIT_HEAP_BYTES, HEAP));
    CGX_TRY(cgx_alloc(test_queue, sizeof *count, CGX_MEM_DEVICE, &memory));
    count = memory;
    CGX_TRY(cgx_alloc(test_queue, 2 * sizeof *status, CGX_MEM_DEVICE, &memory));
    status = memory;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    CGX_TRY(cgx_free(test_queue, count));
    CGX_TRY(cgx_free(test_queue, status));
    return test_end(failed);
}

/* SPDX-License-Identifier: MIT */
/* Asynchronous barriers: counts, phases, tokens, bytes. */
#include <unistd.h>
#include "../common/check.h"
#include "mbarrier_kernels.h"

/* rows: B01 B02 B03 B04 B05 B06 B07 B08 B09 B10 B11 B12 */
static void step_by_step(void **state)
{
    static const int expected[] = { 1, 0, 0, 3, 0, 2, 1, 1, 1, 1, 0, 3, 0, 2, 1, 2, 1, 1, 1, 1, 8 };
    int results[MB_STEPS], *out = device_memory(sizeof results);

    (void)state;
    check_ok(mb_steps_launch(test_queue, cgx_config_1d(1, 1), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < (int)COUNT_OF(expected); i++)
        if (results[i] != expected[i])
            fail_msg("step %d: %d, not %d", i, results[i], expected[i]);
    device_free(out);
}

/* rows: B06 B08 B10 B11 B12 */
static void phases(void **state)
{
    static const int sizes[] = { 1, 2, 33, 64, 100, 1024 };
    enum { PHASES = 9, BLOCKS = 3 };
    int results[BLOCKS * 1024], *out = device_memory(sizeof results);

    (void)state;
    for (int way = 0; way < MB_WAYS; way++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            int n = sizes[s];
            check_ok(mb_phases_launch(test_queue, cgx_config_1d(BLOCKS, n), PHASES, way, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < BLOCKS * n; i++)
                if (results[i] != PHASES * ((i % n + 1) % n) + PHASES * (PHASES - 1) / 2)
                    fail_msg("way %d, %d threads, thread %d", way, n, i);
        }
    device_free(out);
}

/* A token may be polled any number of times; the loop ends though nothing in it waits. rows: B08 B09 B10 B11 */
static void polling(void **state)
{
    static const int sizes[] = { 1, 32, 100, 1024 };
    int results[1024], *out = device_memory(sizeof results);

    (void)state;
    for (int way = 0; way < 4; way++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            int n = sizes[s];
            check_ok(mb_poll_launch(test_queue, cgx_config_1d(1, n), way, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < n; i++)
                assert_int_equal(results[i], n - 1 - i);
        }
    device_free(out);
}

/* Threads of a warp that arrive together may be told one count: that before all of them. So going down from N, each count
 * that somebody was told is lower than the one before by as many as were told that. rows: B02 B06 B12 */
static void pending_counts(void **state)
{
    enum { N = 200 };
    int results[N], told[N + 1] = { 0 }, first[N + 1], *out = device_memory(sizeof results);

    (void)state;
    check_ok(mb_pending_launch(test_queue, cgx_config_1d(1, N), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < N; i++) {
        assert_in_range(results[i], 1, N);
        if (told[results[i]]++ == 0)
            first[results[i]] = i;
        assert_int_equal(i / test_device.lanes, first[results[i]] / test_device.lanes);
    }
    for (int count = N; count > 0; count -= told[count])
        if (!told[count])
            fail_msg("nobody was told %d", count);
    device_free(out);
}

/* rows: B07 */
static void dropping_out(void **state)
{
    enum { N = 96 };
    int results[N], *out = device_memory(sizeof results);

    (void)state;
    check_ok(mb_drop_launch(test_queue, cgx_config_1d(1, N), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < N; i++)
        assert_int_equal(results[i], i);
    device_free(out);
}

/* rows: B12 */
static void arriving_for_others(void **state)
{
    enum { N = 128, ROUNDS = 7 };
    int results[N], *out = device_memory(sizeof results);

    (void)state;
    check_ok(mb_arrive_n_launch(test_queue, cgx_config_1d(1, N), ROUNDS, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < N; i++)
        assert_int_equal(results[i], (N - 1 - i) * ROUNDS * (ROUNDS - 1) / 2);
    device_free(out);
}

/* It does not give up sooner, and not much later; how much is a matter of the machine. rows: B10 K07 */
static void time_out(void **state)
{
    static const int times[] = { 0, 1, 1000, 2000000 };
    int results[2], *out = device_memory(sizeof results);
    uint64_t took, *out_took = device_memory(sizeof took);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        check_ok(mb_timeout_launch(test_queue, cgx_config_1d(1, 40), times[i], out, out_took));
        fetch(results, out, sizeof results);
        fetch(&took, out_took, sizeof took);
        assert_int_equal(results[0], 0);
        assert_int_equal(results[1], 1);
        assert_in_range(took, times[i], 2000000000u);
    }
    device_free(out);
    device_free(out_took);
}

/* rows: B13 P07 */
static void bytes(void **state)
{
    int values[256], results[128], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 256; i++)
        values[i] = random_below(1 << 20);
    in = device_copy(values, sizeof values);
    check_ok(mb_bytes_launch(test_queue, cgx_config_1d(1, 128), in, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 128; i++)
        assert_int_equal(results[i], values[i] + values[128 + i]);
    device_free(in);
    device_free(out);
}

/* rows: B04 B05 */
static void memory_used_again(void **state)
{
    int results[50], *out = device_memory(sizeof results);

    (void)state;
    check_ok(mb_reuse_launch(test_queue, cgx_config_1d(1, 50), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 50; i++)
        assert_int_equal(results[i], 0);
    device_free(out);
}

/* rows: B09 B12 */
static void ring(void **state)
{
    static const int sizes[] = { 128, 192, 1024 };
    enum { ITEMS = 50 };
    int values[ITEMS * 64], results[1024], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < ITEMS * 64; i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        check_ok(mb_ring_launch(test_queue, cgx_config_1d(1, sizes[s]), ITEMS, in, out));
        fetch(results, out, sizeof results);
        for (int r = 64; r < sizes[s]; r++) {
            int sum = 0;
            for (int i = 0; i < ITEMS; i++)
                sum += values[i * 64 + (r + i) % 64] * (i + 1);
            assert_int_equal(results[r], sum);
        }
    }
    device_free(in);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_by_step),
        cmocka_unit_test(phases),
        cmocka_unit_test(pending_counts),
        cmocka_unit_test(dropping_out),
        cmocka_unit_test(arriving_for_others),
        cmocka_unit_test(time_out),
        cmocka_unit_test(bytes),
        cmocka_unit_test(memory_used_again),
        cmocka_unit_test(ring),
        cmocka_unit_test(polling),
    };

    test_start();
    test_alarm(50); /* for loops that poll */
    return test_end(cmocka_run_group_tests_name("mbarrier", tests, NULL, NULL));
}

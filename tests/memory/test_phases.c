/* SPDX-License-Identifier: MIT */
/* Asynchronous barriers for long: thousands of phases, all counts, drops, rings, time limits, and ten thousand rounds
 * of random operations. */
#include <unistd.h>
#include "../common/modes.h"
#include "phases_kernels.h"

static void check_none(const int *bad, int n, const char *what, unsigned seed)
{
    int *results = host_memory((size_t)n * sizeof *results);
    fetch(results, bad, (size_t)n * sizeof *results);
    for (int i = 0; i < n; i++)
        if (results[i])
            fail_msg("%s: thread %d counted %d errors; its seed is %u, the schedule %s", what, i, results[i], seed,
                     getenv("CGX_CPU_SCHEDULE") ? getenv("CGX_CPU_SCHEDULE") : "the usual one");
    free(results);
}

/* rows: B06 B08 B09 B10 B11 B12 */
static void thousands_of_phases(void **state)
{
    static const int sizes[] = { 1, 2, 33, 100 };
    int *bad = device_memory(256 * sizeof *bad);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        check_ok(many_phases_launch(test_queue, cgx_config_1d(1, sizes[s]), test_scaled(5001), bad));
        check_none(bad, sizes[s], "phases", 0);
    }
    device_free(bad);
}

/* rows: B03 B04 B05 B07 B12 */
static void counts_to_the_maximum(void **state)
{
    unsigned seed = (unsigned)random_u64();
    int *bad = device_memory(sizeof *bad);

    (void)state;
    check_ok(large_counts_launch(test_queue, cgx_config_1d(1, 1), test_scaled(500), seed, bad));
    check_none(bad, 1, "counts", seed);
    device_free(bad);
}

/* rows: B05 B07 */
static void drops_to_zero(void **state)
{
    static const int sizes[] = { 1, 2, 31, 128, 256 };
    int *bad = device_memory(256 * sizeof *bad);

    (void)state;
    if (!test_can(CGX_CAN_INDEPENDENT)) { /* threads of one wave wait for each other in its two branches */
        device_free(bad);
        return;
    }
    for (int round = 0; round < test_scaled(20); round++) {
        int n = sizes[round % 5];
        unsigned seed = (unsigned)random_u64();
        check_ok(drop_to_zero_launch(test_queue, cgx_config_1d(1, n), seed, bad));
        check_none(bad, n, "drops", seed);
    }
    device_free(bad);
}

/* rows: B09 B11 B12 */
static void rings(void **state)
{
    static const int threads[] = { 2, 32, 65, 256 };
    int results[256], *out = device_memory(sizeof results), items = test_scaled(60);

    (void)state;
    if (!test_can(CGX_CAN_INDEPENDENT)) { /* threads of one wave wait for each other in its two branches */
        device_free(out);
        return;
    }
    for (int stages = 1; stages <= 8; stages++)
        for (size_t s = 0; s < COUNT_OF(threads); s++) {
            int n = threads[s], producers = 1 + random_below(n - 1);
            check_ok(plain_ring_launch(test_queue, cgx_config_1d(1, n), stages, producers, items, out));
            fetch(results, out, sizeof results);
            for (int i = producers; i < n; i++)
                assert_int_equal(results[i], producers * items);
        }
    device_free(out);
}

/* False not before the limit, and not absurdly after it; 0 only tests. rows: B10 B11 K07 */
static void limits(void **state)
{
    static const unsigned times[LIMITS] = { 0, 1, 1000, 200000, 5000000, 60000000 };
    int results[2 * LIMITS], *out = device_memory(sizeof results);
    uint64_t took[2 * LIMITS], *d_took = device_memory(sizeof took);
    void *d_times = device_copy(times, sizeof times);

    (void)state;
    for (int by_token = 0; by_token < 2; by_token++) {
        check_ok(time_limits_launch(test_queue, cgx_config_1d(1, 33), by_token, d_times, out, d_took));
        fetch(results, out, sizeof results), fetch(took, d_took, sizeof took);
        for (int i = 0; i < LIMITS; i++) {
            assert_int_equal(results[2 * i], 0);
            assert_int_equal(results[2 * i + 1], 1);
            if (took[2 * i] < times[i] || took[2 * i] > times[i] + 3000000000u || took[2 * i + 1] > 3000000000u)
                fail_msg("a limit of %u ns: false after %llu, true after %llu", times[i],
                         (unsigned long long)took[2 * i], (unsigned long long)took[2 * i + 1]);
        }
    }
    device_free(out), device_free(d_took), device_free(d_times);
}

/* rows: B02 B08 B10 */
static void tokens_are_polled(void **state)
{
    int *bad = device_memory(64 * sizeof *bad);

    (void)state;
    if (!test_explains_misuse())
        return; /* lanes of one warp wait for one another */
    check_ok(polled_tokens_launch(test_queue, cgx_config_1d(1, 64), test_scaled(500), bad));
    check_none(bad, 64, "tokens", 0);
    device_free(bad);
}

/* rows: B06 B08 B09 B10 B11 B12 B13 P05 P07 */
static void ten_thousand_rounds(void **state)
{
    static const int sizes[] = { 16, 33, 64, 5 };
    int values[64 * 4 + 16], *in, *bad = device_memory(2 * 64 * sizeof *bad);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = random_below(1 << 20);
    in = device_copy(values, sizeof values);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        unsigned seed = (unsigned)random_u64();
        int rounds = test_scaled(s ? 2000 : 10000);
        check_ok(stress_launch(test_queue, cgx_config_1d(2, sizes[s]), rounds, seed, in, bad));
        check_none(bad, 2 * sizes[s], "stress", seed);
    }
    device_free(in), device_free(bad);
}

/* rows: B12 G01 G04 G06 Y01 Y02 */
static void with_groups_beside(void **state)
{
    int *bad = device_memory(2 * 128 * sizeof *bad);

    (void)state;
    for (int n = 32; n <= 128; n *= 2) {
        unsigned seed = (unsigned)random_u64();
        check_ok(stress_groups_launch(test_queue, cgx_config_1d(2, n), test_scaled(2000), seed, bad));
        check_none(bad, 2 * n, "groups", seed);
    }
    device_free(bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_phases),
        cmocka_unit_test(counts_to_the_maximum),
        cmocka_unit_test(drops_to_zero),
        cmocka_unit_test(rings),
        cmocka_unit_test(limits),
        cmocka_unit_test(tokens_are_polled),
        cmocka_unit_test(ten_thousand_rounds),
        cmocka_unit_test(with_groups_beside),
    };

    test_start_in_modes();
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("phases", tests, NULL, NULL));
}

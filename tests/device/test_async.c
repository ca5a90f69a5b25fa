/* SPDX-License-Identifier: MIT */
/* Copies from global to shared memory: every size and alignment to the last byte, stages, zeros, barriers. */
#include "../common/check.h"
#include "async_kernels.h"

static unsigned char bytes[1024];

static void check_copy(int kind, int threads, int from, int to, int n, void *in, void *out)
{
    unsigned char room[ASYNC_ROOM];

    check_ok(async_copy_launch(test_queue, cgx_config_1d(1, threads), kind, from, to, n, in, out));
    fetch(room, out, sizeof room);
    for (int i = 0; i < ASYNC_ROOM; i++)
        if (room[i] != (i >= to && i < to + n ? bytes[from + i - to] : 0xee))
            fail_msg("group kind %d, %d bytes from offset %d to %d: byte %d is 0x%02x", kind, n, from, to, i - to,
                     room[i]);
}

/* rows: A01 A04 G01 G04 G06 P06 */
static void sizes_and_alignments(void **state)
{
    void *in, *out = device_memory(ASYNC_ROOM);

    (void)state;
    for (int i = 0; i < 1024; i++)
        bytes[i] = (unsigned char)random_below(200);
    in = device_copy(bytes, sizeof bytes);
    for (int n = 0; n <= 40; n++)
        for (int from = 0; from < 5; from++)
            for (int to = 0; to < 5; to++)
                check_copy((n + from + to) % ASYNC_GROUPS, 64, from, to, n, in, out);
    for (int round = 0; round < 300; round++) {
        int n = random_below(450);
        check_copy(random_below(ASYNC_GROUPS), 32 * (1 + random_below(4)), random_below(40), random_below(40), n, in,
                   out);
    }
    device_free(in);
    device_free(out);
}

/* rows: A02 */
static void counts_of_two_layouts(void **state)
{
    int values[64], results[64], counts[] = { 0, 1, 17, 63, 64 };
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 64; i++)
        values[i] = i;
    in = device_copy(values, sizeof values);
    for (size_t a = 0; a < COUNT_OF(counts); a++)
        for (size_t k = 0; k < COUNT_OF(counts); k++) {
            int n = counts[a] < counts[k] ? counts[a] : counts[k];
            check_ok(async_counts_launch(test_queue, cgx_config_1d(1, 64), counts[a], counts[k], in, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < 64; i++)
                assert_int_equal(results[i], i < n ? i : -1);
        }
    device_free(in);
    device_free(out);
}

/* rows: A01 A05 */
static void stages(void **state)
{
    enum { STAGE = 96, BLOCKS = 3, MOST = 9 };
    float values[BLOCKS * MOST * STAGE], results[BLOCKS * STAGE];
    void *in, *out = device_memory(sizeof results);
    static const int threads[] = { 32, 96, 1 };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = (float)random_below(100);
    in = device_copy(values, sizeof values);
    for (size_t t = 0; t < COUNT_OF(threads); t++)
        for (int tiles = 1; tiles <= MOST; tiles++) {
            int n = threads[t];
            check_ok(async_stages_launch(test_queue, cgx_config_1d(BLOCKS, n), tiles, in, out));
            fetch(results, out, sizeof results);
            for (int r = 0; r < BLOCKS * n; r++) {
                const float *v = values + r / n * tiles * STAGE;
                float sum = 0; /* of small integers: exact */
                for (int i = 0; i < tiles; i++)
                    for (int k = r % n; k < STAGE; k += n)
                        sum += v[i * STAGE + STAGE - 1 - k] * (float)(i + 1);
                assert_true(results[r] == sum);
            }
        }
    device_free(in);
    device_free(out);
}

/* rows: A01 A04 G04 */
static void tiles_at_the_same_time(void **state)
{
    int values[33 * 16], results[256];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    check_ok(async_of_tiles_launch(test_queue, cgx_config_1d(1, 256), in, out));
    fetch(results, out, sizeof results);
    for (int r = 0; r < 256; r++) {
        int sum = 0;
        for (int i = 0; i <= r / 32; i++)
            sum += values[33 * (r / 32) + i + r % 32 + 1];
        assert_int_equal(results[r], sum);
    }
    device_free(in);
    device_free(out);
}

/* rows: A01 A06 */
static void other_directions(void **state)
{
    int values[64], results[64], copies[64];
    void *in, *out = device_memory(sizeof results), *copy = device_memory(sizeof copies);

    (void)state;
    for (int i = 0; i < 64; i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    check_ok(async_directions_launch(test_queue, cgx_config_1d(1, 48), in, out, copy));
    fetch(results, out, sizeof results);
    fetch(copies, copy, sizeof copies);
    assert_memory_equal(results, values, sizeof values);
    assert_memory_equal(copies, values, 63 * sizeof(int));
    assert_int_equal(copies[63], (int)0xa5a5a5a5);
    device_free(in);
    device_free(out);
    device_free(copy);
}

/* rows: P01 P02 P03 P04 */
static void zeros(void **state)
{
    unsigned char results[1024];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 1024; i++)
        bytes[i] = (unsigned char)(1 + random_below(200));
    in = device_copy(bytes, sizeof bytes);
    for (int n = 4; n <= 16; n *= 2)
        for (int zfill = 0; zfill <= n; zfill++) {
            check_ok(pipeline_copy_launch(test_queue, cgx_config_1d(1, 64), n, zfill, in, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < 1024; i++)
                assert_int_equal(results[i], i % 16 < n - zfill ? bytes[i] : i % 16 < n ? 0 : 0xee);
        }
    device_free(in);
    device_free(out);
}

/* rows: P01 P03 P04 */
static void stages_of_a_thread(void **state)
{
    enum { ROUNDS = 9, N = 64 };
    int values[ROUNDS * N], results[N];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < ROUNDS * N; i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    check_ok(pipeline_stages_launch(test_queue, cgx_config_1d(1, N), ROUNDS, in, out));
    fetch(results, out, sizeof results);
    for (int r = 0; r < N; r++) {
        int sum = 0;
        for (int i = 0; i < ROUNDS; i++)
            sum += values[i * N + N - 1 - r] * (i + 1);
        assert_int_equal(results[r], sum);
    }
    device_free(in);
    device_free(out);
}

/* rows: P05 */
static void completion_on_a_barrier(void **state)
{
    int values[64], results[64];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 64; i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    for (int n = 1; n <= 64; n += 9) {
        check_ok(pipeline_on_barrier_launch(test_queue, cgx_config_1d(1, n), in, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < n; i++)
            assert_int_equal(results[i], values[n - 1 - i]);
    }
    device_free(in);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_alignments),   cmocka_unit_test(counts_of_two_layouts),   cmocka_unit_test(stages),
        cmocka_unit_test(tiles_at_the_same_time), cmocka_unit_test(other_directions),        cmocka_unit_test(zeros),
        cmocka_unit_test(stages_of_a_thread),     cmocka_unit_test(completion_on_a_barrier),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("async", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Threads that end early count as arrived at block barriers and at tiles up to the wave (decision 6). */
#include "../common/check.h"
#include "exit_kernels.h"

typedef cgx_status rounds_launch(cgx_queue *queue, cgx_config config, int mode, int k, int rounds, int *out);

static int next_there(int mode, int k, int rank, int n)
{
    do {
        rank = (rank + 1) % n;
    } while (ends_at_once(mode, k, rank));
    return rank;
}

/* What a thread of a group of N reads in all rounds: next * rounds + i. */
static int expected_sum(int mode, int k, int rank, int n, int rounds)
{
    if (ends_at_once(mode, k, rank))
        return -1;
    return next_there(mode, k, rank, n) * rounds * rounds + rounds * (rounds - 1) / 2;
}

static void check_rounds(rounds_launch *launch, int blocks, int n, int mode, int k)
{
    const int rounds = 3;
    size_t bytes = (size_t)(blocks * n) * sizeof(int);
    int *results = host_memory(bytes), *out = device_memory(bytes);

    check_ok(launch(test_queue, cgx_config_1d(blocks, n), mode, k, rounds, out));
    fetch(results, out, bytes);
    for (int i = 0; i < blocks * n; i++)
        if (results[i] != expected_sum(mode, k, i % n, n, rounds))
            fail_msg("%d threads, mode %d, k %d: thread %d read %d, not %d", n, mode, k, i, results[i],
                     expected_sum(mode, k, i % n, n, rounds));
    device_free(out);
    free(results);
}

static void each_mode(rounds_launch *launch)
{
    static const int sizes[] = { 1, 2, 31, 33, 64, 100, 256, 1024 };
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (int mode = 0; mode < END_MODES; mode++) {
            int n = sizes[s], ks[] = { 0, 1, n / 2, n - 1 };
            for (size_t i = 0; i < COUNT_OF(ks); i++)
                check_rounds(launch, n > 256 ? 2 : 7, n, mode, ks[i]);
        }
}

/* rows: Y02 G01 */
static void before_a_block_barrier(void **state)
{
    (void)state;
    each_mode(exit_before_sync_launch);
}

/* rows: Y01 G01 */
static void before_arrive_and_wait(void **state)
{
    (void)state;
    each_mode(exit_before_arrive_launch);
}

/* rows: Y02 */
static void between_barriers(void **state)
{
    static const int sizes[] = { 1, 4, 5, 96, 193 };

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        int n = 3 * sizes[s], results[3 * 193], *out = device_memory(sizeof results);
        check_ok(exit_in_steps_launch(test_queue, cgx_config_1d(3, sizes[s]), out));
        fetch(results, out, (size_t)n * sizeof *out);
        for (int i = 0; i < n; i++)
            if (results[i] != 0)
                fail_msg("%d threads: %d wrong rounds in thread %d", sizes[s], results[i], i);
        device_free(out);
    }
}

/* rows: Y02 G04 */
static void before_a_tile_barrier(void **state)
{
    enum { N = 256, ROUNDS = 3 };
    int results[2 * N], *out = device_memory(sizeof results);

    (void)state;
    for (int size = 1; size <= test_device.lanes; size *= 2)
        for (int mode = 0; mode < END_MODES; mode++)
            for (int k = 0; k < size; k += k + 1) {
                check_ok(exit_before_tile_sync_launch(test_queue, cgx_config_1d(2, N), size, mode, k, ROUNDS, out));
                fetch(results, out, sizeof results);
                for (int i = 0; i < 2 * N; i++)
                    if (results[i] != expected_sum(mode, k, i % size, size, ROUNDS))
                        fail_msg("tile of %d, mode %d, k %d: thread %d read %d, not %d", size, mode, k, i, results[i],
                                 expected_sum(mode, k, i % size, size, ROUNDS));
            }
    device_free(out);
}

/* rows: R02 S01 G04 */
static void of_whole_tiles(void **state)
{
    enum { N = 640 };
    int results[N], *out = device_memory(sizeof results);

    (void)state;
    for (int k = 0; k < 2; k++) {
        check_ok(exit_of_tiles_launch(test_queue, cgx_config_1d(1, N), k, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < N; i++) {
            int first = i / 64 * 64, sum = 64 * first + 64 * 63 / 2;
            assert_int_equal(results[i], i / 64 % 2 == k ? -1 : sum + first + 63 - i);
        }
    }
    device_free(out);
}

/* Many blocks one after the other, of which most threads are gone. rows: Y02 */
static void in_many_blocks(void **state)
{
    enum { BLOCKS = 2000, N = 64 };
    int *results = host_memory(BLOCKS * N * sizeof *results), *out = device_memory(BLOCKS * N * sizeof *out);

    (void)state;
    for (int mode = 0; mode < END_MODES; mode++) {
        check_ok(cgx_fill_i32(test_queue, out, -1, BLOCKS * N));
        check_ok(exit_everybody_launch(test_queue, cgx_config_1d(BLOCKS, N), mode, mode == END_FROM ? 0 : 63, out));
        fetch(results, out, BLOCKS * N * sizeof *results);
        for (int i = 0; i < BLOCKS * N; i++)
            assert_int_equal(results[i], i % N);
    }
    device_free(out);
    free(results);
}

/* rows: Y03 */
static void after_the_last_grid_barrier(void **state)
{
    enum { BLOCKS = 6, N = 40 };
    int sum = 0, *shares, *out;

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    shares = device_memory(BLOCKS * N * sizeof *shares), out = device_memory(sizeof *out);
    check_ok(exit_after_grid_sync_launch(test_queue, cgx_cooperative(cgx_config_1d(BLOCKS, N)), shares, out));
    fetch(&sum, out, sizeof sum);
    assert_int_equal(sum, BLOCKS * N * (BLOCKS * N - 1) / 2);
    device_free(shares);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_block_barrier),
        cmocka_unit_test(before_arrive_and_wait),
        cmocka_unit_test(between_barriers),
        cmocka_unit_test(before_a_tile_barrier),
        cmocka_unit_test(of_whole_tiles),
        cmocka_unit_test(in_many_blocks),
        cmocka_unit_test(after_the_last_grid_barrier),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("exit", tests, NULL, NULL));
}

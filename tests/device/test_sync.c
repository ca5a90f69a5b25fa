/* SPDX-License-Identifier: MIT */
/* Barriers of blocks and tiles: nobody passes before all are there, and what was written before is seen after. */
#include "../common/check.h"
#include "sync_kernels.h"

static void check_block_rounds(cgx_dim3 grid, cgx_dim3 block, int halves, uint32_t flags)
{
    enum { ROUNDS = 20 };
    int n = block.x * block.y * block.z, blocks = grid.x * grid.y * grid.z;
    size_t bytes = (size_t)blocks * (size_t)n * sizeof(uint32_t);
    uint32_t *results = host_memory(bytes), *out = device_memory(bytes);
    cgx_config c = cgx_config_make(grid, block);

    c.flags |= flags;
    check_ok(block_rounds_launch(test_queue, c, ROUNDS, halves, out));
    fetch(results, out, bytes);
    for (int rank = 0; rank < n; rank++) {
        uint32_t sum = halves ? ROUNDS * (ROUNDS - 1) / 2 : 0;
        for (int i = 0; i < ROUNDS; i++)
            sum += mixed((uint32_t)((rank + i) % n + 1024 * i));
        for (int k = 0; k < blocks; k++)
            if (results[k * n + rank] != sum)
                fail_msg("%d x %d x %d threads, block %d, rank %d", block.x, block.y, block.z, k, rank);
    }
    device_free(out);
    free(results);
}

static void each_block(int halves)
{
    static const int sizes[] = { 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 257, 511, 512, 1000, 1023, 1024 };
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        check_block_rounds(cgx_dim(3, 1, 1), cgx_dim(sizes[s], 1, 1), halves, 0);
    check_block_rounds(cgx_dim(2, 2, 2), cgx_dim(7, 5, 3), halves, 0);
    check_block_rounds(cgx_dim(1, 3, 1), cgx_dim(1, 33, 1), halves, 0);
    check_block_rounds(cgx_dim(1, 1, 3), cgx_dim(1, 1, 64), halves, 0);
    check_block_rounds(cgx_dim(2, 1, 1), cgx_dim(32, 32, 1), halves, 0);
}

/* rows: Y02 G01 */
static void blocks(void **state)
{
    (void)state;
    each_block(0);
}

/* rows: Y01 G01 */
static void arrive_and_wait(void **state)
{
    (void)state;
    each_block(1);
}

/* rows: H05 */
static void many_blocks(void **state)
{
    (void)state;
    check_block_rounds(cgx_dim(3000, 1, 1), cgx_dim(64, 1, 1), 0, 0);
    check_block_rounds(cgx_dim(500, 1, 1), cgx_dim(100, 1, 1), 1, CGX_LAUNCH_DYNAMIC);
}

/* Many launches of different shapes, none waited for: the next finds the stacks as the last left them. */
static void many_launches(void **state)
{
    enum { LAUNCHES = 60, MOST = 3 * 1024 };
    uint32_t *out[LAUNCHES], *results = host_memory(MOST * sizeof *results);
    int sizes[LAUNCHES];

    (void)state;
    for (int i = 0; i < LAUNCHES; i++) {
        sizes[i] = 1 + random_below(1024);
        out[i] = device_memory(MOST * sizeof **out);
    }
    for (int i = 0; i < LAUNCHES; i++)
        check_ok(block_rounds_launch(test_queue, cgx_config_1d(3, sizes[i]), 2, i % 2, out[i]));
    for (int i = 0; i < LAUNCHES; i++) {
        fetch(results, out[i], 3 * (size_t)sizes[i] * sizeof *results);
        for (int k = 0; k < 3 * sizes[i]; k++) {
            int rank = k % sizes[i];
            uint32_t sum = mixed((uint32_t)rank) + mixed((uint32_t)((rank + 1) % sizes[i] + 1024));
            assert_int_equal(results[k], sum + (uint32_t)(i % 2));
        }
        device_free(out[i]);
    }
    free(results);
}

/* rows: Y02 */
static void barriers_at_two_places(void **state)
{
    enum { ROUNDS = 50 };
    int results[128], *out = device_memory(sizeof results);

    (void)state;
    check_ok(two_texts_launch(test_queue, cgx_config_1d(1, 128), ROUNDS, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 128; i++)
        assert_int_equal(results[i], (i < 64 ? 10 : 1) * ROUNDS * (ROUNDS - 1) / 2);
    device_free(out);
}

/* rows: Y02 G04 T02 */
static void tiles(void **state)
{
    uint32_t *results = host_memory(1024 * sizeof *results), *out = device_memory(1024 * sizeof *out);
    static const int blocks[] = { 1024, 512, 96, 320, 12, 1 };

    (void)state;
    for (size_t k = 0; k < COUNT_OF(blocks); k++)
        for (int size = 1, n = blocks[k]; n % size == 0; size *= 2) {
            check_ok(tile_rounds_launch(test_queue, cgx_config_1d(1, n), size, out));
            fetch(results, out, (size_t)n * sizeof *results);
            for (int r = 0; r < n; r++) {
                int at = r / size * size, other = n - 1 - r;
                uint32_t sum = mixed((uint32_t)(other + 1024 * (other / size % 7)));
                for (int i = 0; i < r / size % 7 + 1; i++)
                    sum += mixed((uint32_t)(at + (r - at + i) % size + 1024 * i));
                if (results[r] != sum)
                    fail_msg("%d threads, tiles of %d, rank %d", n, size, r);
            }
        }
    device_free(out);
    free(results);
}

/* rows: Y02 G04 T01 */
static void typed_tiles(void **state)
{
    int *results = host_memory(1024 * sizeof *results), *out = device_memory(1024 * sizeof *out);

    (void)state;
#define CHECK_TILE(N)                                                          \
    check_ok(tile_sync_##N##_launch(test_queue, cgx_config_1d(1, 1024), out)); \
    fetch(results, out, 1024 * sizeof *results);                               \
    for (int r = 0; r < 1024; r++)                                             \
        assert_int_equal(results[r], 3 * (r / N * N + N - 1 - r % N) + 3);
    FOREACH_TILE_SIZE(CHECK_TILE)
    device_free(out);
    free(results);
}

/* rows: Y02 K08 */
static void in_functions_loops_and_branches(void **state)
{
    enum { N = 256 };
    int results[N], v[N], before[N], *out = device_memory(sizeof results);

    (void)state;
    for (int rounds = 1; rounds <= 9; rounds++) {
        check_ok(nested_launch(test_queue, cgx_config_1d(1, N), rounds, out));
        fetch(results, out, sizeof results);
        for (int r = 0; r < N; r++)
            v[r] = r;
        for (int i = 0; i < rounds; i++) {
            memcpy(before, v, sizeof v);
            for (int r = 0; r < N; r++) {
                int from = r / 8 * 8 + (r + 1) % 8;
                v[r] = before[rounds > 2 && i % 2 == 0 ? N - 1 - from : from];
            }
        }
        assert_memory_equal(results, v, sizeof v);
    }
    device_free(out);
}

/* rows: H05 G03 */
static void without_barriers(void **state)
{
    enum { N = 100003, BLOCKS = 400, THREADS = 128, ALL = BLOCKS * THREADS };
    uint32_t *results = host_memory(N * sizeof *results), *out = device_memory(N * sizeof *out);
    const cgx_config shapes[] = { cgx_cover(N, 1024),
                                  cgx_cover(N, 33),
                                  cgx_config_1d(1, 1),
                                  cgx_config_1d(7, 1000),
                                  cgx_config_make(cgx_dim(3, 4, 5), cgx_dim(6, 7, 8)),
                                  cgx_fit(test_queue, N, 256) };

    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        check_ok(cgx_fill_i32(test_queue, (void *)out, 0, N));
        check_ok(no_barrier_launch(test_queue, shapes[s], N, out));
        fetch(results, out, N * sizeof *results);
        for (int i = 0; i < N; i++)
            assert_int_equal(results[i], mixed((uint32_t)i));
    }
    for (int64_t bad = 0; bad < BLOCKS; bad += 133) {
        check_ok(late_barrier_launch(test_queue, cgx_config_1d(BLOCKS, THREADS), bad, out));
        fetch(results, out, ALL * sizeof *results);
        for (int i = 0; i < ALL; i++)
            assert_int_equal(results[i], mixed((uint32_t)i));
    }
    device_free(out);
    free(results);
}

/* rows: H05 Y02 */
static void blocks_of_unequal_length(void **state)
{
    enum { BLOCKS = 100, N = 64 };
    int results[BLOCKS * N], *out = device_memory(sizeof results);

    (void)state;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        cgx_config c = cgx_config_1d(BLOCKS, N);
        c.flags |= dynamic ? CGX_LAUNCH_DYNAMIC : 0;
        check_ok(unequal_blocks_launch(test_queue, c, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < BLOCKS * N; i++) {
            int rounds = i / N % 11;
            assert_int_equal(results[i], rounds * (rounds - 1) / 2);
        }
    }
    device_free(out);
}

static void none_is_wrong(cgx_status (*launch)(cgx_queue *, cgx_config, int, int *))
{
    int wrong[1024], *out = device_memory(sizeof wrong);

    for (int n = 256; n <= 1024; n += 256) {
        check_ok(launch(test_queue, cgx_config_1d(1, n), 20, out));
        fetch(wrong, out, (size_t)n * sizeof *wrong);
        for (int i = 0; i < n; i++)
            assert_int_equal(wrong[i], 0);
    }
    device_free(out);
}
/* None disturbs another, whichever comes next. rows: G04 G07 R01 S01 */
static void collectives_of_every_size(void **state)
{
    (void)state;
    none_is_wrong(collectives_in_turn_launch);
}
/* rows: G04 G07 */
static void a_group_seen_in_two_ways(void **state)
{
    (void)state;
    none_is_wrong(two_views_launch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(arrive_and_wait),
        cmocka_unit_test(many_blocks),
        cmocka_unit_test(many_launches),
        cmocka_unit_test(barriers_at_two_places),
        cmocka_unit_test(tiles),
        cmocka_unit_test(typed_tiles),
        cmocka_unit_test(in_functions_loops_and_branches),
        cmocka_unit_test(without_barriers),
        cmocka_unit_test(blocks_of_unequal_length),
        cmocka_unit_test(collectives_of_every_size),
        cmocka_unit_test(a_group_seen_in_two_ways),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("sync", tests, NULL, NULL));
}

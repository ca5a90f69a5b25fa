/* SPDX-License-Identifier: MIT */
/* The grid: who is who in it, and its barrier under cooperative launches. */
#include "../common/check.h"
#include "canonical.h"
#include "grid_kernels.h"

static void check_views(const grid_view *views, cgx_dim3 grid, int threads, int valid)
{
    int64_t blocks = (int64_t)grid.x * grid.y * grid.z;
    for (int64_t i = 0; i < blocks * threads; i++) {
        const grid_view *v = views + i;
        int64_t block = i / threads;
        assert_true(v->rank == i && v->threads == blocks * threads);
        assert_true(v->block_rank == block && v->blocks == blocks);
        assert_true(v->dim.x == grid.x && v->dim.y == grid.y && v->dim.z == grid.z);
        assert_true(v->index.x == block % grid.x && v->index.y == block / grid.x % grid.y);
        assert_true(v->index.z == block / grid.x / grid.y);
        assert_true(!v->valid == !valid);
    }
}

/* rows: G03 Y03 */
static void ranks_and_sizes(void **state)
{
    static const cgx_dim3 grids[] = { { 1, 1, 1 }, { 7, 1, 1 }, { 3, 5, 1 }, { 2, 3, 4 }, { 1, 1, 9 }, { 1, 13, 1 } };
    static const cgx_dim3 blocks[] = { { 1, 1, 1 }, { 33, 1, 1 }, { 4, 3, 2 } };
    enum { MOST = 24 * 33 };
    grid_view *views = host_memory(MOST * sizeof *views), *out = device_memory(MOST * sizeof *out);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(grids); i++)
        for (size_t k = 0; k < COUNT_OF(blocks); k++) {
            cgx_config c = cgx_config_make(grids[i], blocks[k]);
            int threads = blocks[k].x * blocks[k].y * blocks[k].z;
            check_ok(grid_views_plain_launch(test_queue, c, out));
            fetch(views, out, MOST * sizeof *views);
            check_views(views, grids[i], threads, 0);
            if (!test_can_sync_grid())
                continue;
            check_ok(grid_views_launch(test_queue, cgx_cooperative_or_software(c), out));
            fetch(views, out, MOST * sizeof *views);
            check_views(views, grids[i], threads, 1);
        }
    device_free(out);
    free(views);
}

static void check_rounds(int blocks, int threads, int rounds, int halves)
{
    int n = blocks * threads;
    size_t bytes = (size_t)n * sizeof(uint32_t);
    uint32_t *now = host_memory(bytes), *next = host_memory(bytes), *results = host_memory(bytes);
    uint32_t *a, *b = device_memory(bytes);

    for (int i = 0; i < n; i++)
        now[i] = (uint32_t)random_u64();
    a = device_copy(now, bytes);
    check_ok(grid_rounds_launch(test_queue, cgx_cooperative_or_software(cgx_config_1d(blocks, threads)), rounds, halves,
                                a, b));
    fetch(results, rounds % 2 ? b : a, bytes);
    for (int i = 0; i < rounds; i++) {
        uint32_t *last = now;
        for (int k = 0; k < n; k++)
            next[k] = now[k] + now[(k + threads) % n];
        now = next, next = last;
    }
    for (int k = 0; k < n; k++)
        if (results[k] != now[k])
            fail_msg("%d blocks of %d, %d rounds, halves %d: thread %d", blocks, threads, rounds, halves, k);
    device_free(a);
    device_free(b);
    free(now);
    free(next);
    free(results);
}

/* As many blocks as fit, and no more than asked. */
static int fitting(const cgx_kernel *kernel, int threads, int blocks)
{
    int most = 0;
    check_ok(cgx_max_cooperative_blocks(test_queue, kernel, threads, 0, &most));
    return most < blocks ? most : blocks;
}

/* rows: Y02 Y03 G03 */
static void barrier(void **state)
{
    static const int shapes[][2] = { { 1, 1 }, { 1, 64 }, { 2, 1 }, { 3, 33 }, { 16, 128 }, { 5, 1024 }, { 60, 20 } };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        check_rounds(fitting(CGX_KERNEL_OF(grid_rounds), shapes[i][1], shapes[i][0]), shapes[i][1], 7, 0);
}

/* rows: Y01 G03 */
static void arrive_and_wait(void **state)
{
    static const int shapes[][2] = { { 1, 1 }, { 2, 64 }, { 7, 100 }, { 4, 1024 } };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        check_rounds(fitting(CGX_KERNEL_OF(grid_rounds), shapes[i][1], shapes[i][0]), shapes[i][1], 8, 1);
}

/* rows: Y02 Y03 */
static void shared_arrays(void **state)
{
    static const int shapes[][2] = { { 1, 1 }, { 2, 64 }, { 5, 256 }, { 7, 100 } };
    enum { ROUNDS = 6, MOST = 7 * GRID_ARRAYS };
    static int results[MOST];
    int *out = device_memory(sizeof results);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        const int n = shapes[s][1], blocks = fitting(CGX_KERNEL_OF(grid_arrays), n, shapes[s][0]);
        check_ok(
            grid_arrays_launch(test_queue, cgx_cooperative_or_software(cgx_config_1d(blocks, n)), (int)ROUNDS, out));
        fetch(results, out, (size_t)(blocks * n) * sizeof *results);
        for (int k = 0; k < blocks * n; k++) {
            const int me = k / n, t = k % n, other = n - 1 - t;
            int expected = me * 1000 + t + ROUNDS, halves = 0;
            for (int i = 0; i < ROUNDS; i++) {
                halves += other < n / 2 ? i : 0;
                expected += me * 7 + (t + 1) % n * 3 + i + me * 1000 + (t + i) % n + i + me + halves;
            }
            if (results[k] != expected)
                fail_msg("%d blocks of %d, thread %d: %d instead of %d", blocks, n, k, results[k], expected);
        }
    }
    device_free(out);
}

/* rows: Y02 Y03 */
static void a_thousand_barriers(void **state)
{
    (void)state;
    check_rounds(8, 64, 1000, 0);
    check_rounds(3, 32, 1000, 1);
}

/* Every thread of the grid gets the canonical sum of the blocks' canonical sums. rows: R02 Y03 */
static void sum_by_shares(void **state)
{
    enum { N = 54321, THREADS = 160, BLOCKS = 12, ALL = THREADS * BLOCKS };
    double *values = host_memory(N * sizeof *values), *results = host_memory(ALL * sizeof *results);
    double mine[ALL] = { 0 }, shares[THREADS] = { 0 }, sum;
    void *in, *out_shares = device_memory(BLOCKS * sizeof(double)), *out = device_memory(ALL * sizeof(double));
    int blocks = fitting(CGX_KERNEL_OF(grid_sum), THREADS, BLOCKS);

    (void)state;
    for (int i = 0; i < N; i++) {
        values[i] = (double)random_u64() * 0x1p-64 - 0.5;
        mine[i % (blocks * THREADS)] += values[i];
    }
    for (int k = 0; k < blocks; k++)
        canonical_reduce(plus_f64, mine + k * THREADS, sizeof sum, THREADS, shares + k);
    canonical_reduce(plus_f64, shares, sizeof sum, THREADS, &sum);
    in = device_copy(values, N * sizeof *values);
    for (int round = 0; round < 3; round++) {
        check_ok(grid_sum_launch(test_queue, cgx_cooperative_or_software(cgx_config_1d(blocks, THREADS)), N, in,
                                 out_shares, out));
        fetch(results, out, (size_t)(blocks * THREADS) * sizeof *results);
        for (int i = 0; i < blocks * THREADS; i++)
            assert_memory_equal(results + i, &sum, sizeof sum);
    }
    device_free(in);
    device_free(out);
    device_free(out_shares);
    free(values);
    free(results);
}

/* rows: Y02 Y03 G04 */
static void barriers_of_every_kind(void **state)
{
    enum { BLOCKS = 9, THREADS = 48 };
    int wrong[BLOCKS * THREADS], blocks = fitting(CGX_KERNEL_OF(grid_mixed), THREADS, BLOCKS);
    void *counts = device_memory(BLOCKS * sizeof(int)), *out = device_memory(sizeof wrong);

    (void)state;
    check_ok(
        grid_mixed_launch(test_queue, cgx_cooperative_or_software(cgx_config_1d(blocks, THREADS)), 30, counts, out));
    fetch(wrong, out, sizeof wrong);
    for (int i = 0; i < blocks * THREADS; i++)
        assert_int_equal(wrong[i], 0);
    device_free(counts);
    device_free(out);
}

/* One block more than fits is refused with the number that does. rows: Y03 H06 H07 */
static void too_many_blocks(void **state)
{
    int most = 0;
    char number[32], digits[32];
    void *a = device_memory(64);

    (void)state;
    check_ok(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(grid_rounds), 1024, 0, &most));
    assert_true(most >= 1);
    snprintf(digits, sizeof digits, "%d", most);
    for (size_t i = 0, k = 0, length = strlen(digits); i <= length; i++) { /* 1,234: as error texts write it */
        number[k++] = digits[i];
        if (i + 1 < length && (length - i - 1) % 3 == 0)
            number[k++] = ',';
    }
    check_says(grid_rounds_launch(test_queue, cgx_cooperative_or_software(cgx_config_1d(most + 1, 1024)), 1, 0, a, a),
               CGX_ERROR_LIMIT, "grid_rounds", number);
    device_free(a);
}

/* A status, no thread goes on behind it, and the device works on: in a cooperative launch the same kernel is right.
 * rows: Y03 G03 H07 */
static void misuse_in_a_plain_launch(void **state)
{
    enum { BLOCKS = 3, THREADS = 70 };
    int *out = device_memory(BLOCKS * THREADS * sizeof *out), results[BLOCKS * THREADS];
    const cgx_config c = cgx_config_1d(BLOCKS, THREADS);

    (void)state;
    for (int which = 0; which < GRID_MISUSES; which++) {
        check_ok(grid_in_any_launch_launch(test_queue, c, which, out));
        check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "grid_in_any_launch, block (", "thread ",
                   "in a launch that is not cooperative", "grid_kernels.c");
        check_ok(cgx_queue_wait(test_queue)); /* told once */
        check_ok(grid_in_any_launch_launch(test_queue, cgx_cooperative_or_software(c), which, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < BLOCKS * THREADS; i++)
            assert_int_equal(results[i], 1);
    }
    device_free(out);
}

/* Grids of several queues at once do not meet in one barrier. rows: Y01 H03 */
static void grids_of_several_queues(void **state)
{
    enum { QUEUES = 4, ROUNDS = 200, BLOCKS = 5, THREADS = 64, N = BLOCKS * THREADS };
    cgx_device *device = NULL;
    cgx_queue *queues[QUEUES];
    uint32_t *a[QUEUES], *b[QUEUES], first[N], expected[N], next[N], results[N];

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return; /* the software barrier wants the device for itself */
    for (int i = 0; i < N; i++)
        first[i] = expected[i] = (uint32_t)random_u64();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++)
            next[i] = expected[i] + expected[(i + THREADS) % N];
        memcpy(expected, next, sizeof next);
    }
    check_ok(cgx_queue_get_device(test_queue, &device));
    for (int q = 0; q < QUEUES; q++) {
        check_ok(cgx_queue_create(device, queues + q));
        a[q] = device_copy(first, sizeof first);
        b[q] = device_memory(sizeof first);
    }
    for (int q = 0; q < QUEUES; q++)
        check_ok(
            grid_rounds_launch(queues[q], cgx_cooperative(cgx_config_1d(BLOCKS, THREADS)), ROUNDS, q % 2, a[q], b[q]));
    for (int q = 0; q < QUEUES; q++) {
        check_ok(cgx_queue_wait(queues[q]));
        fetch(results, ROUNDS % 2 ? b[q] : a[q], sizeof results);
        assert_memory_equal(results, expected, sizeof results);
        check_ok(cgx_queue_close(queues + q));
        device_free(a[q]);
        device_free(b[q]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_and_sizes),         cmocka_unit_test(barrier),
        cmocka_unit_test(arrive_and_wait),         cmocka_unit_test(a_thousand_barriers),
        cmocka_unit_test(sum_by_shares),           cmocka_unit_test(barriers_of_every_kind),
        cmocka_unit_test(too_many_blocks),         cmocka_unit_test(misuse_in_a_plain_launch),
        cmocka_unit_test(grids_of_several_queues), cmocka_unit_test(shared_arrays),
    };
    const struct CMUnitTest plain[] = { cmocka_unit_test(ranks_and_sizes) };

    test_start();
    if (!test_can_sync_grid()) /* what is left is not worth a status of its own */
        return test_end(cmocka_run_group_tests_name("grid, plain launches", plain, NULL, NULL));
    return test_end(cmocka_run_group_tests_name("grid", tests, NULL, NULL));
}

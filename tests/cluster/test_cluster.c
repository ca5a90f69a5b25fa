/* SPDX-License-Identifier: MIT */
/* Clusters: who am I in 1, 2 and 3 dimensions, barriers whole and in halves, the neighbours' memory and barriers,
 * threads that end. */
#include <unistd.h>
#include "../common/modes.h"
#include "cluster_kernels.h"

static const struct {
    cgx_dim3 cluster, clusters, block;
} shapes[] = {
    { { 1, 1, 1 }, { 3, 1, 1 }, { 33, 1, 1 } },   { { 2, 1, 1 }, { 3, 1, 1 }, { 32, 1, 1 } },
    { { 3, 1, 1 }, { 2, 2, 1 }, { 7, 5, 1 } },    { { 16, 1, 1 }, { 2, 1, 1 }, { 64, 1, 1 } },
    { { 1, 4, 1 }, { 3, 2, 1 }, { 10, 1, 3 } },   { { 2, 2, 1 }, { 2, 3, 2 }, { 4, 4, 2 } },
    { { 4, 4, 1 }, { 1, 2, 1 }, { 20, 1, 1 } },   { { 2, 2, 2 }, { 2, 1, 3 }, { 3, 3, 3 } },
    { { 4, 2, 2 }, { 1, 1, 1 }, { 1, 1, 1 } },    { { 1, 1, 5 }, { 2, 2, 1 }, { 1, 40, 1 } },
    { { 1, 3, 5 }, { 2, 1, 1 }, { 8, 8, 1 } },    { { 7, 1, 2 }, { 1, 3, 1 }, { 5, 1, 1 } },
    { { 1, 1, 16 }, { 1, 1, 2 }, { 128, 1, 1 } },
};

static int volume(cgx_dim3 d)
{
    return d.x * d.y * d.z;
}

static cgx_config shaped(size_t i)
{
    cgx_dim3 c = shapes[i].cluster, n = shapes[i].clusters;
    cgx_config config = cgx_config_make(cgx_dim(c.x * n.x, c.y * n.y, c.z * n.z), shapes[i].block);
    config.cluster = c;
    return config;
}

static void check_dim(cgx_dim3 got, cgx_dim3 want, const char *what, size_t shape, int64_t thread)
{
    if (got.x != want.x || got.y != want.y || got.z != want.z)
        fail_msg("shape %d, thread %lld: %s is (%d, %d, %d), not (%d, %d, %d)", (int)shape, (long long)thread, what,
                 got.x, got.y, got.z, want.x, want.y, want.z);
}

/* rows: G02 G03 H05 */
static void who_am_i(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        cgx_dim3 c = shapes[i].cluster, n = shapes[i].clusters, b = shapes[i].block;
        int threads = volume(b), blocks = volume(c), total = threads * blocks * volume(n);
        cluster_answers *answers = host_memory((size_t)total * sizeof *answers);
        cluster_answers *out = device_memory((size_t)total * sizeof *out);
        check_ok(cluster_queries_launch(test_queue, shaped(i), out));
        fetch(answers, out, (size_t)total * sizeof *answers);
        for (int t = 0; t < total; t++) {
            const cluster_answers *a = answers + t;
            int block = t / threads, in_block = t % threads;
            cgx_dim3 at =
                cgx_dim(block % (c.x * n.x), block / (c.x * n.x) % (c.y * n.y), block / (c.x * n.x) / (c.y * n.y));
            cgx_dim3 inside = cgx_dim(at.x % c.x, at.y % c.y, at.z % c.z),
                     of = cgx_dim(at.x / c.x, at.y / c.y, at.z / c.z);
            int rank_inside = (inside.z * c.y + inside.y) * c.x + inside.x;
            check_dim(a->group_index, at, "the block's index", i, t);
            check_dim(a->block_index, inside, "the block's index in the cluster", i, t);
            check_dim(a->cluster_index, of, "the cluster's index", i, t);
            check_dim(a->dim_blocks, c, "the cluster's shape in blocks", i, t);
            check_dim(a->dim_clusters, n, "the grid's shape in clusters", i, t);
            check_dim(a->dim_threads, cgx_dim(c.x * b.x, c.y * b.y, c.z * b.z), "the cluster's shape in threads", i, t);
            assert_int_equal(a->grid_rank, t), assert_int_equal(a->grid_block_rank, block);
            assert_int_equal(a->block_rank, rank_inside), assert_int_equal(a->blocks, blocks);
            assert_int_equal(a->rank, rank_inside * threads + in_block), assert_int_equal(a->size, blocks * threads);
            assert_int_equal(a->cluster_rank, (of.z * n.y + of.y) * n.x + of.x),
                assert_int_equal(a->clusters, volume(n));
            assert_int_equal(a->own_rank_of_shared, rank_inside);
        }
        device_free(out), free(answers);
    }
}

/* Without clusters, each block is one. rows: G02 */
static void launches_without_clusters(void **state)
{
    enum { BLOCKS = 3, THREADS = 40 };
    cluster_answers answers[BLOCKS * THREADS], *out = device_memory(sizeof answers);
    int results[BLOCKS * THREADS], *bad = device_memory(sizeof results);

    (void)state;
    check_ok(cluster_queries_launch(test_queue, cgx_config_1d(BLOCKS, THREADS), out));
    fetch(answers, out, sizeof answers);
    for (int t = 0; t < BLOCKS * THREADS; t++) {
        const cluster_answers *a = answers + t;
        assert_int_equal(a->rank, t % THREADS), assert_int_equal(a->size, THREADS), assert_int_equal(a->blocks, 1);
        assert_int_equal(a->block_rank, 0), assert_int_equal(a->cluster_rank, t / THREADS);
        assert_int_equal(a->clusters, BLOCKS), assert_int_equal(a->own_rank_of_shared, 0);
    }
    for (int way = 0; way < CLUSTER_WAYS; way++) {
        check_ok(
            cluster_neighbours_launch(test_queue, cgx_with_shared(cgx_config_1d(BLOCKS, THREADS), 16), way, 3, bad));
        fetch(results, bad, sizeof results);
        for (int t = 0; t < BLOCKS * THREADS; t++)
            assert_int_equal(results[t], 0);
    }
    for (int split = 0; split < 2; split++) {
        check_ok(cluster_exits_launch(test_queue, cgx_config_1d(BLOCKS, THREADS), 0, split, bad));
        fetch(results, bad, sizeof results);
        for (int t = 0; t < BLOCKS * THREADS; t++)
            if (t % THREADS == 1)
                assert_int_equal(results[t], 6);
    }
    device_free(out), device_free(bad);
}

/* rows: G02 Y01 Y02 Y05 */
static void neighbours(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        for (int way = 0; way < CLUSTER_WAYS; way++) {
            int n = volume(shapes[i].cluster) * volume(shapes[i].clusters) * volume(shapes[i].block);
            int *results = host_memory((size_t)n * 4), *bad = device_memory((size_t)n * 4);
            check_ok(cluster_neighbours_launch(test_queue, cgx_with_shared(shaped(i), 16), way, 5, bad));
            fetch(results, bad, (size_t)n * 4);
            for (int t = 0; t < n; t++)
                if (results[t])
                    fail_msg("shape %d, way %d, thread %d: %d values are wrong", (int)i, way, t, results[t]);
            device_free(bad), free(results);
        }
}

static void writes_to_neighbours(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        int blocks = volume(shapes[i].cluster), threads = volume(shapes[i].block), rounds = 6;
        int n = blocks * volume(shapes[i].clusters) * threads;
        int *results = host_memory((size_t)n * 8), *out = device_memory((size_t)n * 8);
        cluster_answers *who = host_memory((size_t)n * sizeof *who), *d_who = device_memory((size_t)n * sizeof *who);
        check_ok(cluster_queries_launch(test_queue, shaped(i), d_who));
        check_ok(cluster_writes_launch(test_queue, shaped(i), rounds, out));
        fetch(results, out, (size_t)n * 8), fetch(who, d_who, (size_t)n * sizeof *who);
        for (int t = 0; t < n; t++) {
            int me = who[t].block_rank;
            assert_int_equal(results[2 * t], (me + blocks * rounds - rounds) % blocks + rounds);
            assert_int_equal(results[2 * t + 1], threads * blocks * (blocks + 1) / 2 * rounds);
        }
        device_free(out), free(results), device_free(d_who), free(who);
    }
}

/* Decision 6: ended threads count as arrived. rows: G02 Y01 Y02 */
static void threads_that_end(void **state)
{
    static const int clusters[] = { 1, 2, 3, 8, 16 };

    (void)state;
    for (size_t k = 0; k < COUNT_OF(clusters); k++)
        for (int flags = 0; flags < 4; flags++) {
            int blocks = clusters[k], threads = 40, n = 2 * blocks * threads, too = flags & 1;
            int *results = host_memory((size_t)n * 4), *out = device_memory((size_t)n * 4);
            cgx_config c = cgx_config_1d(2 * blocks, threads);
            c.cluster = cgx_dim(blocks, 1, 1);
            check_ok(cluster_exits_launch(test_queue, c, too, flags >> 1, out));
            fetch(results, out, (size_t)n * 4);
            for (int t = 0; t < n; t++) {
                int rank = t % threads, me = t / threads % blocks, sum = 0, want = (int)0xa5a5a5a5;
                for (int i = 0; i < 4; i++)
                    for (int b = 0; b < blocks; b += 1 + too)
                        sum += b + i;
                if ((rank == 1 || (rank + me) % 3) && !(too && me % 2) && !(rank >= 4 && rank < 8))
                    want = sum;
                if (results[t] != want)
                    fail_msg("%d blocks, flags %d, rank %d of block %d: %d, not %d", blocks, flags, rank, me,
                             results[t], want);
            }
            device_free(out), free(results);
        }
}

/* rows: B14 G02 */
static void barriers_of_neighbours(void **state)
{
    static const int clusters[] = { 1, 2, 5, 16 }, sizes[] = { 1, 33, 64 };
    int rounds = test_scaled(20), results[2 * 16 * 64], *out = device_memory(sizeof results);

    (void)state;
    for (size_t k = 0; k < COUNT_OF(clusters); k++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            int blocks = clusters[k], n = sizes[s], sum = 0;
            cgx_config c = cgx_config_1d(2 * blocks, n);
            c.cluster = cgx_dim(blocks, 1, 1);
            check_ok(cluster_remote_arrive_launch(test_queue, c, rounds, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < rounds; i++)
                for (int b = 0; b < blocks; b++)
                    sum += (100 * i + b) * (b + 1);
            for (int t = 0; t < 2 * blocks * n; t++)
                assert_int_equal(results[t], sum);
            check_ok(cluster_ring_launch(test_queue, c, rounds, out));
            fetch(results, out, sizeof results);
            assert_int_equal(results[0], blocks * rounds), assert_int_equal(results[1], blocks * rounds);
        }
    device_free(out);
}

/* rows: Y01 Y03 G01 G02 G03 */
static void barriers_in_halves(void **state)
{
    static const int sizes[] = { 1, 31, 64, 100 };
    int results[6 * 100], *out = device_memory(sizeof results), *counters = device_memory(sizeof results);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (int cluster = 1; cluster <= 3; cluster++) {
            int n = 6 * sizes[s];
            cgx_config c = cgx_config_1d(6, sizes[s]);
            c.cluster = cgx_dim(cluster, 1, 1);
            check_ok(split_barriers_launch(test_queue, c, test_scaled(200), out));
            fetch(results, out, sizeof results);
            for (int t = 0; t < n; t++)
                assert_int_equal(results[t], 0);
            check_ok(
                split_barriers_grid_launch(test_queue, cgx_cooperative_or_software(c), test_scaled(60), counters, out));
            fetch(results, out, sizeof results);
            for (int t = 0; t < n; t++)
                assert_int_equal(results[t], 0);
        }
    device_free(out), device_free(counters);
}

/* rows: G02 X01 */
static void histogram(void **state)
{
    enum { N = 5000 };
    int values[N], want[BINS] = { 0 }, results[BINS], *in, *bins = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < N; i++)
        want[values[i] = random_below(BINS)]++;
    in = device_copy(values, sizeof values);
    for (int blocks = 1; blocks <= 16; blocks++) {
        cgx_config c = cgx_config_1d(2 * blocks, 32);
        c.cluster = cgx_dim(blocks, 1, 1);
        check_ok(cgx_fill_i32(test_queue, bins, 0, BINS));
        check_ok(cluster_histogram_launch(test_queue, c, N, in, bins));
        fetch(results, bins, sizeof results);
        for (int i = 0; i < BINS; i++)
            assert_int_equal(results[i], want[i]);
    }
    device_free(in), device_free(bins);
}

/* rows: G02 H05 H07 */
static void shapes_that_are_refused(void **state)
{
    cluster_answers *out = device_memory(sizeof *out);
    cgx_config c = cgx_config_1d(34, 32);

    (void)state;
    c.cluster = cgx_dim(17, 1, 1);
    check_says(cluster_queries_launch(test_queue, c, out), CGX_ERROR_LIMIT, "cluster_queries", "17", "16");
    c.cluster = cgx_dim(3, 1, 1);
    check_says(cluster_queries_launch(test_queue, c, out), CGX_ERROR_INVALID, "cluster_queries",
               "multiple of the cluster");
    c.cluster = cgx_dim(2, 2, 1);
    check_says(cluster_queries_launch(test_queue, c, out), CGX_ERROR_INVALID, "multiple of the cluster");
    c.cluster = cgx_dim(-2, 1, 1);
    check_says(cluster_queries_launch(test_queue, c, out), CGX_ERROR_INVALID, "cluster");
    c.cluster = cgx_dim(2, 0, 1);
    check_says(cluster_queries_launch(test_queue, c, out), CGX_ERROR_INVALID, "cluster");
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_am_i),
        cmocka_unit_test(neighbours),
        cmocka_unit_test(writes_to_neighbours),
        cmocka_unit_test(threads_that_end),
        cmocka_unit_test(barriers_of_neighbours),
        cmocka_unit_test(barriers_in_halves),
        cmocka_unit_test(histogram),
        cmocka_unit_test(shapes_that_are_refused),
        cmocka_unit_test(launches_without_clusters),
    };

    test_start_in_modes();
    if (!test_can(CGX_CAN_CLUSTER))
        skip_program("this device has no clusters");
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("cluster", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Rules of docs/semantics.md that no other test shows. */
#include <math.h>
#include <unistd.h>
#include "../common/check.h"
#include "../device/canonical.h"
#include "semantics_kernels.h"

/* ---- groups ---- */

/* rows: G01 G02 G03 G04 */
static void types_of_ranks(void **state)
{
    int results[4], *out = device_memory(sizeof results);

    (void)state;
    check_ok(sem_types_of_ranks_launch(test_queue, cgx_config_1d(1, 4), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 3; i++)
        assert_int_equal(results[i], 2 * sizeof(int));
    assert_int_equal(results[3], 2 * sizeof(int64_t));
    device_free(out);
}

/* rows: T01 */
static void one_thread_makes_a_tile(void **state)
{
    int results[4], *out = device_memory(sizeof results);

    (void)state;
    check_ok(sem_tile_alone_launch(test_queue, cgx_config_1d(1, 12), out));
    fetch(results, out, sizeof results);
    assert_int_equal(results[0], 1);
    assert_int_equal(results[1], 4);
    assert_int_equal(results[2], 1);
    assert_int_equal(results[3], 3);
    device_free(out);
}

/* ---- clusters ---- */

static int fits_cluster(cgx_dim3 c)
{
    return c.x * c.y * c.z <= test_device.max_cluster_blocks;
}
static int same_dim(cgx_dim3 d, int x, int y, int z)
{
    return d.x == x && d.y == y && d.z == z;
}

static void check_cluster_places(cgx_dim3 grid, cgx_dim3 block, cgx_dim3 asked)
{
    const cgx_dim3 c = asked.x ? asked : cgx_dim(1, 1, 1), n = cgx_dim(grid.x / c.x, grid.y / c.y, grid.z / c.z);
    const int threads = block.x * block.y * block.z, all = grid.x * grid.y * grid.z * threads, blocks = c.x * c.y * c.z;
    sem_cluster_view *views = host_memory((size_t)all * sizeof *views), *out = device_memory((size_t)all * sizeof *out);
    cgx_config config = cgx_config_make(grid, block);

    config.cluster = asked;
    check_ok(sem_cluster_places_launch(test_queue, config, out));
    fetch(views, out, (size_t)all * sizeof *views);
    for (int i = 0; i < all; i++) {
        const sem_cluster_view *v = views + i;
        int b = i / threads, x = b % grid.x, y = b / grid.x % grid.y, z = b / grid.x / grid.y;
        int rank = (z % c.z * c.y + y % c.y) * c.x + x % c.x;
        assert_int_equal(v->block_rank, rank);
        assert_int_equal(v->rank, rank * threads + i % threads);
        assert_int_equal(v->blocks, blocks);
        assert_int_equal(v->threads, blocks * threads);
        assert_int_equal(v->mapped, blocks);
        assert_true(same_dim(v->dim_threads, c.x * block.x, c.y * block.y, c.z * block.z));
        assert_true(same_dim(v->dim_blocks, c.x, c.y, c.z) && same_dim(v->block_index, x % c.x, y % c.y, z % c.z));
        assert_true(same_dim(v->group_index, x, y, z) && v->grid_rank == i && v->grid_block_rank == b);
        assert_true(same_dim(v->dim_clusters, n.x, n.y, n.z) && same_dim(v->cluster_index, x / c.x, y / c.y, z / c.z));
        assert_true(v->clusters == n.x * n.y * n.z && v->cluster_rank == (z / c.z * n.y + y / c.y) * n.x + x / c.x);
    }
    device_free(out);
    free(views);
}

/* Clusters change no rank of block or grid. rows: G02 G03 */
static void ranks_in_clusters(void **state)
{
    static const cgx_dim3 shapes[] = { { 0, 0, 0 }, { 1, 1, 1 }, { 2, 1, 1 }, { 1, 3, 1 },
                                       { 2, 3, 1 }, { 4, 1, 2 }, { 4, 2, 2 } };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++)
        if (fits_cluster(shapes[i])) {
            check_cluster_places(cgx_dim(8, 6, 4), cgx_dim(3, 2, 1), shapes[i]);
            check_cluster_places(cgx_dim(4, 6, 2), cgx_dim(32, 1, 1), shapes[i]);
        }
}

static cgx_config clusters_of(int size, int clusters, int threads)
{
    cgx_config c = cgx_config_1d(size * clusters, threads);
    c.cluster = cgx_dim(size, 1, 1);
    return c;
}

/* rows: G02 Y01 Y02 */
static void ended_threads_of_a_cluster(void **state)
{
    enum { N = 64, MOST = 16 * 3 * N };
    int *results = host_memory(MOST * sizeof *results), *out = device_memory(MOST * sizeof *out);

    (void)state;
    for (int size = 1; size <= 16 && size <= test_device.max_cluster_blocks; size *= 2)
        for (int way = 0; way < 4; way++) {
            const int blocks_end = way & 1;
            cgx_config c = clusters_of(size, 3, N);
            if (way & 2 && test_can(CGX_CAN_COOPERATIVE))
                c = cgx_cooperative(c);
            check_ok(cgx_fill_i32(test_queue, out, -1, MOST));
            check_ok(sem_ended_in_cluster_launch(test_queue, c, blocks_end, out));
            fetch(results, out, MOST * sizeof *results);
            for (int i = 0; i < 3 * size * N; i++) {
                int ended = blocks_end ? i / N % size != 0 : i % 2;
                assert_int_equal(results[i], ended ? -1 : 33);
            }
        }
    /* Without clusters the cluster is the block. */
    check_ok(sem_ended_in_cluster_launch(test_queue, cgx_config_1d(3, N), 0, out));
    fetch(results, out, MOST * sizeof *results);
    for (int i = 0; i < 3 * N; i += 2)
        assert_int_equal(results[i], 33);
    device_free(out);
    free(results);
}

/* rows: Y05 */
static void execution_sync_of_a_cluster(void **state)
{
    enum { N = 40, CLUSTERS = 3, MOST = 8 * CLUSTERS * N };
    int results[MOST], *counts = device_memory(CLUSTERS * sizeof *counts), *out = device_memory(sizeof results);

    (void)state;
    for (int size = 1; size <= 8 && size <= test_device.max_cluster_blocks; size *= 2) {
        check_ok(cgx_fill_i32(test_queue, counts, 0, CLUSTERS));
        check_ok(sem_sync_execution_launch(test_queue, clusters_of(size, CLUSTERS, N), counts, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < size * CLUSTERS * N; i++)
            assert_int_equal(results[i], size * N);
    }
    device_free(counts);
    device_free(out);
}

/* rows: B14 G02 */
static void barrier_of_a_neighbour(void **state)
{
    enum { N = 64, CLUSTERS = 2, MOST = 8 * CLUSTERS * N };
    int results[MOST], *out = device_memory(sizeof results);

    (void)state;
    for (int size = 1; size <= 8 && size <= test_device.max_cluster_blocks; size++) {
        check_ok(sem_neighbour_barrier_launch(test_queue, clusters_of(size, CLUSTERS, N), out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < size * CLUSTERS * N; i++)
            assert_int_equal(results[i], 100 * ((i / N % size + size - 1) % size) + 63 - i % N);
    }
    device_free(out);
}

/* ---- progress ---- */

/* rows: X01 */
static void waiting_for_another_thread(void **state)
{
    enum { BLOCKS = 5 };
    int results[BLOCKS * 64], *out = device_memory(sizeof results);
    int *flags = device_memory(4 * BLOCKS * sizeof *flags), *data = device_memory(BLOCKS * sizeof *data);

    (void)state;
    for (int way = 0; way < SEM_POLLS; way++)
        for (int in_shared = 0; in_shared < 2; in_shared++) {
            check_ok(cgx_fill_i32(test_queue, out, -1, BLOCKS * 64));
            check_ok(
                sem_flag_launch(test_queue, cgx_config_1d(BLOCKS, SEM_WAIT_THREADS), way, in_shared, flags, data, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < BLOCKS * 64; i++)
                assert_int_equal(results[i], way == SEM_EXCHANGE && i % 64 ? -1 : 4711);
        }
    device_free(out);
    device_free(flags);
    device_free(data);
}

/* rows: X01 Y03 */
static void waiting_for_another_block(void **state)
{
    enum { BLOCKS = 24 };
    int results[BLOCKS], *out, *flags, *data;

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    out = device_memory(sizeof results), flags = device_memory(sizeof results), data = device_memory(sizeof results);
    check_ok(cgx_fill_i32(test_queue, flags, 0, BLOCKS));
    check_ok(sem_flag_of_next_block_launch(test_queue, cgx_cooperative(cgx_config_1d(BLOCKS, 40)), flags, data, out));
    fetch(results, out, sizeof results);
    for (int i = BLOCKS - 1, sum = 0; i >= 0; sum += i, i--)
        assert_int_equal(results[i], sum);
    device_free(out);
    device_free(flags);
    device_free(data);
}

/* rows: X01 H05 */
static void waiting_for_a_lower_block(void **state)
{
    enum { BLOCKS = 500, N = 64 };
    int *results = host_memory(BLOCKS * N * sizeof *results), *out = device_memory(BLOCKS * N * sizeof *out);
    int *flags = device_memory(BLOCKS * sizeof *flags), *prefix = device_memory(BLOCKS * sizeof *prefix);

    (void)state;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        cgx_config c = cgx_config_1d(BLOCKS, N);
        c.flags |= dynamic ? CGX_LAUNCH_DYNAMIC : 0;
        check_ok(cgx_fill_i32(test_queue, flags, 0, BLOCKS));
        check_ok(sem_look_back_launch(test_queue, c, flags, prefix, out));
        fetch(results, out, BLOCKS * N * sizeof *results);
        for (int b = 0, sum = 0; b < BLOCKS; b++) {
            for (int i = b * N; i < b * N + N; i++)
                sum += i % 10;
            for (int i = b * N; i < b * N + N; i++)
                assert_int_equal(results[i], sum);
        }
    }
    device_free(out);
    device_free(flags);
    device_free(prefix);
    free(results);
}

/* rows: X01 */
static void a_lock(void **state)
{
    enum { BLOCKS = 20, N = 256, ROUNDS = 30 };
    int count = -1, *places = device_memory(2 * sizeof *places);

    (void)state;
    check_ok(cgx_fill_i32(test_queue, places, 0, 2));
    check_ok(sem_lock_launch(test_queue, cgx_config_1d(BLOCKS, N), ROUNDS, places, places + 1));
    fetch(&count, places + 1, sizeof count);
    assert_int_equal(count, BLOCKS * N / 64 * ROUNDS);
    device_free(places);
}

/* rows: B06 */
static void ended_threads_owe_their_arrival(void **state)
{
    int *out = device_memory(40 * sizeof *out);

    (void)state;
    if (!test_explains_misuse())
        return;
    check_ok(sem_owed_arrival_launch(test_queue, cgx_config_1d(1, 40), out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_DEADLOCK, "ranks 0-4, 6-39 wait in mbarrier wait",
               "rank 5 has ended");
    check_still_works();
    device_free(out);
}

/* ---- misuse ---- */

/* rows: Y01 B04 B05 B06 B08 A03 P01 P02 P08 G02 R02 */
static void misuse_is_told(void **state)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        FOREACH_SEM_MISUSE(TEXT)
    };
    int *out;
    char *memory;

    (void)state;
    if (!test_explains_misuse())
        return;
    out = device_memory(64 * sizeof *out), memory = device_memory(64);
    for (int which = 0; which < SEM_MISUSES; which++) {
        check_ok(sem_misuse_launch(test_queue, cgx_config_1d(3, 40), which, memory, out));
        check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE,
                   "sem_misuse, block (1, 0, 0), thread 3: ", texts[which], "semantics_kernels.c:");
        check_still_works();
    }
    device_free(out);
    device_free(memory);
}

/* rows: B09 */
static void parity_knows_two_phases(void **state)
{
    int results[8], *out = device_memory(sizeof results);

    (void)state;
    check_ok(sem_old_parity_launch(test_queue, cgx_config_1d(1, 1), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(results[i], 0);
        assert_int_equal(results[4 + i], 1);
    }
    device_free(out);
}

/* ---- asynchronous copies ---- */

/* What the destination holds between a copy and its wait: nobody's business, but where copies are put off it is not
 * what was copied, and where they are not it is. rows: A01 A04 A06 P01 P02 P03 P04 P07 P08 */
static void the_destination_is_the_copys_until_the_wait(void **state)
{
    const cgx_int4 value = { 1, 2, 3, 4 }, none = { 0, 0, 0, 0 };
    cgx_int4 results[2], *in = device_copy(&value, sizeof value), *out = device_memory(sizeof results),
                         *stored = device_memory(16);
    const char *when = getenv("CGX_CPU_ASYNC");
    int late = when && !strcmp(when, "late"), early = !when || !strcmp(when, "early");
    cgx_int4 poison;

    (void)state;
    if (!test_explains_misuse())
        return;
    memset(&poison, 0xcb, sizeof poison);
    for (int way = 0; way < SEM_REDUCED; way++) {
        const cgx_int4 *after = way == SEM_ZEROS ? &none : &value;
        check_ok(sem_before_the_wait_launch(test_queue, cgx_config_1d(1, 40), way, in, out, stored));
        fetch(results, out, sizeof results);
        if (late || early)
            assert_memory_equal(results, late ? &poison : after, sizeof *after);
        assert_memory_equal(results + 1, after, sizeof *after);
    }
    device_free(in);
    device_free(out);
    device_free(stored);
}

/* rows: P03 P04 A01 A05 */
static void one_count_of_stages(void **state)
{
    enum { N = 64 };
    cgx_int4 values[3 * N], results[3 * N], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 3 * N; i++)
        values[i] = (cgx_int4){ i, random_below(1000), -i, 7 };
    in = device_copy(values, sizeof values);
    for (int round = 0; round < 3; round++) {
        check_ok(sem_stages_launch(test_queue, cgx_config_1d(2, N), in, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < N; i++) {
            assert_memory_equal(results + i, values + i, sizeof *values);
            assert_memory_equal(results + N + i, values + 2 * N - 1 - i, sizeof *values);
            assert_memory_equal(results + 2 * N + i, values + 3 * N - 1 - i, sizeof *values);
        }
    }
    device_free(in);
    device_free(out);
}

/* rows: P06 */
static void copies_of_a_thread_of_any_size(void **state)
{
    enum { N = 64, PLACES = 16, ROW = 96 };
    unsigned char values[96], *results = host_memory(PLACES * N * ROW), *in, *out = device_memory(PLACES * N * ROW);

    (void)state;
    for (size_t i = 0; i < sizeof values; i++)
        values[i] = (unsigned char)(1 + random_below(200));
    in = device_copy(values, sizeof values);
    check_ok(sem_any_size_launch(test_queue, cgx_config_1d(1, N), in, out));
    fetch(results, out, PLACES * N * ROW);
    for (int place = 0; place < PLACES; place++)
        for (int n = 0; n < N; n++)
            for (int i = 0; i < ROW; i++) {
                int copied = i >= place && i < place + n;
                assert_int_equal(results[(place * N + n) * ROW + i],
                                 copied ? values[16 - place % 5 + i - place] : 0xee);
            }
    device_free(in);
    device_free(out);
    free(results);
}

/* rows: A02 A03 */
static void copies_with_a_promise(void **state)
{
    static const int counts[][2] = { { 64, 64 }, { 10, 64 }, { 64, 11 }, { 0, 5 }, { 1, 1 } };
    cgx_int4 values[64], results[6 * 64], none, *in, *out = device_memory(sizeof results);

    (void)state;
    memset(&none, 0xff, sizeof none);
    for (int i = 0; i < 64; i++)
        values[i] = (cgx_int4){ i, 2 * i, 3 * i, random_below(1000) };
    in = device_copy(values, sizeof values);
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        int n = counts[k][0] < counts[k][1] ? counts[k][0] : counts[k][1];
        check_ok(sem_aligned_launch(test_queue, cgx_config_1d(1, 64), counts[k][0], counts[k][1], in, out));
        fetch(results, out, sizeof results);
        for (int way = 0; way < 6; way++)
            for (int i = 0; i < 64; i++)
                assert_memory_equal(results + 64 * way + i, i < (way < 5 ? n : n / 2 * 2) ? values + i : &none,
                                    sizeof none);
    }
    device_free(in);
    device_free(out);
}

/* rows: P08 */
static void stores_in_bulk(void **state)
{
    int results[512], *out = device_memory(sizeof results);

    (void)state;
    check_ok(sem_bulk_store_launch(test_queue, cgx_config_1d(1, 64), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 512; i++)
        assert_int_equal(results[i], 7 * (i % 256));
    device_free(out);
}

/* ---- collectives ---- */

static void check_texts(cgx_config c, int of_cluster, int n, const char *reduced, const char *const *scanned)
{
    sem_text results[3 * 8], *out = device_memory(sizeof results);

    check_ok(sem_written_order_launch(test_queue, c, of_cluster, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < n; i++) {
        assert_string_equal(results[i].text, reduced);
        assert_string_equal(results[n + i].text, scanned[i]);
        assert_string_equal(results[2 * n + i].text, i ? scanned[i - 1] : "");
    }
    device_free(out);
}

/* The example of docs/semantics.md. rows: R06 R07 S01 S02 */
static void the_order_written_down(void **state)
{
    static const char *const five[] = { "a", "(ab)", "(a(bc))", "((ab)(cd))", "(a((bc)(de)))" };
    static const char *const six[] = { "a", "(ab)", "(a(bc))", "((a(bc))d)", "((a(bc))(de))", "((a(bc))(d(ef)))" };
    cgx_config clusters = cgx_config_1d(2, 3);

    (void)state;
    check_texts(cgx_config_1d(1, 5), 0, 5, "(((ab)(cd))e)", five);
    check_texts(cgx_config_1d(1, 5), 1, 5, "(((ab)(cd))e)", five);
    if (test_device.max_cluster_blocks < 2)
        return;
    clusters.cluster = cgx_dim(2, 1, 1);
    check_texts(clusters, 1, 6, "(((ab)c)((de)f))", six);
}

/* Blocks of N threads each, BLOCKS of them a group: each block first, then the blocks' results. */
static void check_wide(const float *values, const sem_wide *results, int64_t first, int blocks, int n, const char *what)
{
    int all = blocks * n;
    float *totals = host_memory((size_t)blocks * sizeof *totals), *lasts = host_memory((size_t)blocks * sizeof *lasts);
    float *scans = host_memory((size_t)all * sizeof *scans), *scanned = host_memory((size_t)blocks * sizeof *scanned);
    float reduced, largest = values[0];
    int64_t sum = 0;

    for (int b = 0; b < blocks; b++) {
        canonical_reduce(plus_f32, values + b * n, sizeof *totals, n, totals + b);
        canonical_inclusive(plus_f32, values + b * n, sizeof *scans, n, scans + b * n);
        lasts[b] = scans[b * n + n - 1];
    }
    canonical_reduce(plus_f32, totals, sizeof *totals, blocks, &reduced);
    canonical_inclusive(plus_f32, lasts, sizeof *lasts, blocks, scanned);
    for (int i = 0; i < all; i++) {
        if (i >= n)
            scans[i] = scanned[i / n - 1] + scans[i];
        largest = values[i] > largest ? values[i] : largest;
    }
    for (int i = 0; i < all; i++) {
        float below = i ? scans[i - 1] : 0;
        sum += first + i;
        if (memcmp(&results[i].reduced, &reduced, 4) || memcmp(&results[i].inclusive, scans + i, 4) ||
            memcmp(&results[i].exclusive, &below, 4) || results[i].largest != largest || results[i].sum != sum)
            fail_msg("%s: %d blocks of %d, rank %d", what, blocks, n, i);
    }
    free(totals), free(lasts), free(scans), free(scanned);
}

/* rows: R02 S01 S02 R07 G02 G03 Y03 */
static void wide_collectives(void **state)
{
    static const int sizes[] = { 1, 5, 32, 33, 100, 256 };
    enum { MOST = 40 * 256 };
    float *values = host_memory(MOST * sizeof *values), *in;
    sem_wide *results = host_memory(MOST * sizeof *results), *out = device_memory(MOST * sizeof *out);

    (void)state;
    for (int i = 0; i < MOST; i++)
        values[i] = (float)random_u64() * 0x1p-60f - 8;
    in = device_copy(values, MOST * sizeof *values);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        int n = sizes[s];
        for (int size = 1; size <= 16 && size <= test_device.max_cluster_blocks; size += size < 4 ? 1 : 4) {
            check_ok(sem_collectives_of_clusters_launch(test_queue, clusters_of(size, 2, n), in, out));
            fetch(results, out, (size_t)(2 * size * n) * sizeof *results);
            for (int k = 0; k < 2; k++)
                check_wide(values + k * size * n, results + k * size * n, k * size * n, size, n, "cluster");
        }
        for (int blocks = 1; test_can(CGX_CAN_COOPERATIVE) && blocks <= 40; blocks = 3 * blocks - blocks / 2) {
            check_ok(
                sem_collectives_of_the_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(blocks, n)), in, out));
            fetch(results, out, (size_t)(blocks * n) * sizeof *results);
            check_wide(values, results, 0, blocks, n, "grid");
        }
    }
    device_free(in);
    device_free(out);
    free(values);
    free(results);
}

/* ---- updates ---- */

#define CHECK_UPDATES(s, T)                                                                                    \
    static void check_updates_##s(int n, int size)                                                             \
    {                                                                                                          \
        const value_type *type = value_types;                                                                  \
        int group = size ? size : n;                                                                           \
        T values[256], inclusive[256], exclusive[256], atomics[8] = { 3, 5, 7, -1, 0, 0, 0, 0 }, scan[256], r, \
                                                       now[4] = { 3, 5, 7, -1 };                               \
        T *in, *out[3];                                                                                        \
        while (strcmp(type->name, #s))                                                                         \
            type++;                                                                                            \
        random_values(type, random_u64, 0, values, n);                                                         \
        in = device_copy(values, sizeof values), out[0] = device_copy(atomics, sizeof atomics);                \
        out[1] = device_memory(sizeof inclusive), out[2] = device_memory(sizeof exclusive);                    \
        check_ok(sem_updates_##s##_launch(test_queue, cgx_config_1d(1, n), size, in, out[0], out[1], out[2])); \
        fetch(atomics, out[0], sizeof atomics);                                                                \
        fetch(inclusive, out[1], sizeof inclusive);                                                            \
        fetch(exclusive, out[2], sizeof exclusive);                                                            \
        for (int first = 0; first < n; first += group) {                                                       \
            T olds[2] = { now[0], now[1] };                                                                    \
            canonical_inclusive(plus_##s, values + first, sizeof(T), group, scan);                             \
            for (int i = 0; i < group; i++) {                                                                  \
                plus_##s(&now[0], &olds[0], scan + i);                                                         \
                assert_memory_equal(inclusive + first + i, &now[0], sizeof(T));                                \
                assert_memory_equal(exclusive + first + i, &now[1], sizeof(T));                                \
                plus_##s(&now[1], &olds[1], scan + i);                                                         \
            }                                                                                                  \
            canonical_reduce(plus_##s, values + first, sizeof(T), group, &r);                                  \
            assert_true(first + group < n || !memcmp(atomics + 4, &r, sizeof r));                              \
            plus_##s(&olds[0], &now[2], &r), now[2] = olds[0];                                                 \
            canonical_reduce(greater_##s, values + first, sizeof(T), group, &r);                               \
            greater_##s(&olds[0], &now[3], &r), now[3] = olds[0];                                              \
            canonical_reduce(less_##s, values + first, sizeof(T), group, &r);                                  \
            assert_true(first + group < n || !memcmp(atomics + 5, &r, sizeof r));                              \
        }                                                                                                      \
        assert_memory_equal(atomics, now, sizeof now);                                                         \
        assert_memory_equal(atomics + 6, atomics + 4, 2 * sizeof(T));                                          \
        device_free(in);                                                                                       \
        for (int i = 0; i < 3; i++)                                                                            \
            device_free(out[i]);                                                                               \
    }
FOREACH_SEM_UPDATED(CHECK_UPDATES)

/* The old value is the left operand, the new one is the last rank's inclusive result, bit for bit, and what the
 * asynchronous forms leave is there after the group's next synchronisation. rows: R03 R04 R05 S03 S04 R07 */
static void updates(void **state)
{
    (void)state;
    for (int size = 1; size <= 128; size *= 2) {
#define UPDATES_OF(s, T) check_updates_##s(256, size);
        FOREACH_SEM_UPDATED(UPDATES_OF)
    }
#define UPDATES_OF_BLOCKS(s, T) check_updates_##s(100, 0);
    FOREACH_SEM_UPDATED(UPDATES_OF_BLOCKS)
}

/* rows: R05 R06 */
static void stores_of_any_type(void **state)
{
    short least = 0, *out_least = device_memory(sizeof least);
    sem_text text, *out_text = device_memory(sizeof text);

    (void)state;
    check_ok(sem_store_any_type_launch(test_queue, cgx_config_1d(1, 5), out_least, out_text));
    fetch(&least, out_least, sizeof least);
    fetch(&text, out_text, sizeof text);
    assert_int_equal(least, -400);
    assert_string_equal(text.text, "(((ab)(cd))e)");
    device_free(out_least);
    device_free(out_text);
}

/* ---- atomics ---- */

#define CHECK_ATOMICS(s, T)                                                                                       \
    static void check_atomics_##s(int scope, int in_shared)                                                       \
    {                                                                                                             \
        const T expected[] = { 5, 5, 0, 7, 1, 20, 30, 30, 4, 4, 9, (T)(-1) };                                     \
        T results[SEM_ATOMIC_STEPS], *place = device_memory(sizeof *place), *out = device_memory(sizeof results); \
        check_ok(sem_atomics_##s##_launch(test_queue, cgx_config_1d(1, 1), scope, in_shared, place, out));        \
        fetch(results, out, sizeof results);                                                                      \
        for (size_t i = 0; i < COUNT_OF(expected); i++)                                                           \
            if (memcmp(results + i, expected + i, sizeof(T)))                                                     \
                fail_msg("atomics of " #s ", scope %d, step %zu", scope, i);                                      \
        device_free(place);                                                                                       \
        device_free(out);                                                                                         \
    }
FOREACH_SEM_ATOMIC(CHECK_ATOMICS)

/* rows: X01 */
static void each_atomic(void **state)
{
    uint32_t p = 0x12345678u, *in_p;
    uint64_t q = 0x123456789abcdef0u, results[8], *in_q, *out = device_memory(sizeof results);

    (void)state;
    for (int scope = CGX_SCOPE_BLOCK; scope <= CGX_SCOPE_SYSTEM; scope++) {
        for (int in_shared = 0; in_shared < 2; in_shared++) {
#define ATOMICS_OF(s, T) check_atomics_##s(scope, in_shared);
            FOREACH_SEM_ATOMIC(ATOMICS_OF)
        }
        in_p = device_copy(&p, sizeof p), in_q = device_copy(&q, sizeof q);
        check_ok(sem_atomic_bits_launch(test_queue, cgx_config_1d(1, 1), scope, in_p, in_q, out));
        fetch(results, out, sizeof results);
        uint32_t v = p;
        uint64_t w = q;
        assert_true(results[0] == v), v &= 0xff00ff0fu;
        assert_true(results[1] == v), v |= 0x11u;
        assert_true(results[2] == v), v = ~v;
        assert_true(results[3] == v);
        assert_true(results[4] == w), w &= 0xff00ff00ff00ff0fu;
        assert_true(results[5] == w), w |= 0x11u;
        assert_true(results[6] == w), w = ~w;
        assert_true(results[7] == w);
        device_free(in_p);
        device_free(in_q);
    }
    device_free(out);
}

/* As CGX_LESS and CGX_GREATER. rows: X01 */
static void atomics_of_special_numbers(void **state)
{
    static const float rows[][4] = {
        /* a, b, the smaller, the larger */
        { NAN, 1, 1, 1 },
        { 1, NAN, 1, 1 },
        { NAN, NAN, NAN, NAN },
        { -0.0f, 0, -0.0f, 0 },
        { 0, -0.0f, -0.0f, 0 },
        { -INFINITY, NAN, -INFINITY, -INFINITY },
        { INFINITY, 3, 3, INFINITY },
        { -2, -3, -3, -2 },
    };
    enum { N = COUNT_OF(rows) };
    float a[N], b[N], results[2 * N], *in[2], *out = device_memory(sizeof results);
    double wides[2 * N], *wide = device_memory(sizeof wides);

    (void)state;
    for (int i = 0; i < (int)N; i++)
        a[i] = rows[i][0], b[i] = rows[i][1];
    in[0] = device_copy(a, sizeof a), in[1] = device_copy(b, sizeof b);
    check_ok(sem_atomic_numbers_launch(test_queue, cgx_config_1d(1, N), in[0], in[1], out, wide));
    fetch(results, out, sizeof results);
    fetch(wides, wide, sizeof wides);
    for (int i = 0; i < 2 * (int)N; i++) {
        float expected = rows[i / 2][2 + i % 2];
        double expected_wide = (double)expected;
        assert_true(same_value(results + i, &expected, sizeof expected, is_nan_f32));
        assert_true(same_value(wides + i, &expected_wide, sizeof expected_wide, is_nan_f64));
    }
    device_free(in[0]);
    device_free(in[1]);
    device_free(out);
    device_free(wide);
}

/* rows: X01 */
static void atomics_of_all_threads(void **state)
{
    enum { BLOCKS = 50, N = 200, ALL = BLOCKS * N };
    sem_totals t, *totals;
    unsigned mask = 0;

    (void)state;
    memset(&t, 0, sizeof t);
    totals = device_copy(&t, sizeof t);
    check_ok(sem_concurrent_launch(test_queue, cgx_config_1d(BLOCKS, N), totals));
    fetch(&t, totals, sizeof t);
    for (int i = 0; i < ALL; i++)
        mask ^= (unsigned)i * 2654435761u;
    assert_int_equal(t.sum, ALL * (ALL - 1) / 2);
    assert_int_equal(t.least, -(ALL - 1));
    assert_int_equal(t.most, ALL - 1);
    assert_true(t.mask == mask && t.wide == (int64_t)(ALL * (ALL - 1) / 2) << 20);
    assert_true(t.real == ALL && t.precise == ALL * 0.5);
    device_free(totals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_ranks),
        cmocka_unit_test(one_thread_makes_a_tile),
        cmocka_unit_test(ranks_in_clusters),
        cmocka_unit_test(ended_threads_of_a_cluster),
        cmocka_unit_test(execution_sync_of_a_cluster),
        cmocka_unit_test(barrier_of_a_neighbour),
        cmocka_unit_test(waiting_for_another_thread),
        cmocka_unit_test(waiting_for_another_block),
        cmocka_unit_test(waiting_for_a_lower_block),
        cmocka_unit_test(a_lock),
        cmocka_unit_test(ended_threads_owe_their_arrival),
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(parity_knows_two_phases),
        cmocka_unit_test(the_destination_is_the_copys_until_the_wait),
        cmocka_unit_test(one_count_of_stages),
        cmocka_unit_test(copies_of_a_thread_of_any_size),
        cmocka_unit_test(copies_with_a_promise),
        cmocka_unit_test(stores_in_bulk),
        cmocka_unit_test(the_order_written_down),
        cmocka_unit_test(wide_collectives),
        cmocka_unit_test(updates),
        cmocka_unit_test(stores_of_any_type),
        cmocka_unit_test(each_atomic),
        cmocka_unit_test(atomics_of_special_numbers),
        cmocka_unit_test(atomics_of_all_threads),
    };

    test_start();
    test_alarm(50); /* for loops that poll */
    return test_end(cmocka_run_group_tests_name("semantics", tests, NULL, NULL));
}

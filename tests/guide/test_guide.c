/* SPDX-License-Identifier: MIT */
/* Examples 1 to 17 of CUDA's Programming Guide, section 5.6, counted as they come there, written for cgx and without
 * the faults of the guide's text. 18 to 22, and 17 with its launches, are in ../children. */
#include "../common/check.h"
#include "../device/canonical.h"
#include "guide_kernels.h"

static void random_ints(int *values, int n, int below)
{
    for (int i = 0; i < n; i++)
        values[i] = random_below(below);
}

/* rows: G01 Y02 */
static void guide_01_leader_loads_for_the_block(void **state)
{
    static const int sizes[] = { 1, 31, 64, 100, 1024 };
    enum { BLOCKS = 3 };
    int value = 1 + random_below(1000000), results[BLOCKS * 1024], *in = device_copy(&value, sizeof value);
    int *out = device_memory(sizeof results);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        check_ok(guide_leader_loads_launch(test_queue, cgx_config_1d(BLOCKS, sizes[s]), in, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < BLOCKS * sizes[s]; i++)
            assert_int_equal(results[i], value + i % sizes[s]);
    }
    device_free(in);
    device_free(out);
}

static void check_places(const guide_place *places, int n, int size)
{
    for (int i = 0; i < n; i++) {
        assert_int_equal(places[i].rank, i % size);
        assert_int_equal(places[i].size, size);
        assert_int_equal(places[i].meta_rank, i / size);
        assert_int_equal(places[i].meta_size, n / size);
        assert_int_equal(places[i].first, i / size * size);
    }
}

/* rows: G04 T01 */
static void guide_02_tiles_of_32_and_4(void **state)
{
    enum { N = 96 };
    guide_place results[2][N], *out[2] = { device_memory(sizeof results[0]), device_memory(sizeof results[1]) };

    (void)state;
    check_ok(guide_tiles_of_32_and_4_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(12, 4, 2)), out[0],
                                            out[1]));
    for (int k = 0; k < 2; k++) {
        fetch(results[k], out[k], sizeof results[k]);
        check_places(results[k], N, k ? 4 : 32);
        device_free(out[k]);
    }
}

/* rows: G04 G05 T01 R02 */
static void guide_03_tile_of_128_with_tile_memory(void **state)
{
    enum { N = GUIDE_TILE_THREADS };
    int values[N], opposite[N], sums[N], *in, *out[2] = { device_memory(sizeof opposite), device_memory(sizeof sums) };

    (void)state;
    random_ints(values, N, 1000000);
    in = device_copy(values, sizeof values);
    check_ok(guide_tile_of_128_launch(test_queue, cgx_config_1d(1, N), in, out[0], out[1]));
    fetch(opposite, out[0], sizeof opposite);
    fetch(sums, out[1], sizeof sums);
    for (int i = 0; i < N; i++) {
        int first = i / 128 * 128, sum = 0;
        for (int k = first; k < first + 128; k++)
            sum += values[k];
        assert_int_equal(opposite[i], values[first + 127 - (i - first)]);
        assert_int_equal(sums[i], sum);
    }
    device_free(in);
    device_free(out[0]);
    device_free(out[1]);
}

/* Which of the threads in the branch form a group is the device's choice; that they do, and what the group
 * computes, is not. Of a device that shares the host's memory, which is the CPU, the group is known: all of the warp.
 * rows: G06 */
static void guide_04_coalesced_branch(void **state)
{
    enum { N = 192 };
    int values[N];
    guide_active results[N], *out = device_memory(sizeof results);

    (void)state;
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < N; i++) /* first the guide's threads 2, 4 and 8 */
            values[i] = round ? (random_below(20) < round ? 1 + random_below(1000) : 0)
                              : i % 32 == 2 || i % 32 == 4 || i % 32 == 8;
        int *in = device_copy(values, sizeof values);
        check_ok(guide_coalesced_branch_launch(test_queue, cgx_config_1d(1, N), in, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < N; i++) {
            const guide_active *r = results + i;
            int rank = 0, size = 0, sum = 0, first_of_warp = -1;
            if (!values[i]) {
                assert_int_equal(r->size, 0);
                continue;
            }
            for (int k = i / test_device.lanes * test_device.lanes;
                 k < N && k / test_device.lanes == i / test_device.lanes; k++) {
                if (!values[k])
                    continue;
                first_of_warp = first_of_warp < 0 ? k : first_of_warp;
                if (results[k].first != r->first)
                    continue;
                rank += k < i;
                size++;
                sum += values[k];
            }
            assert_int_equal(r->rank, rank);
            assert_int_equal(r->size, size);
            assert_int_equal(r->sum, sum);
            assert_int_equal(r->meta_rank, 0);
            assert_int_equal(r->meta_size, 1);
            assert_int_equal(results[r->first].rank, 0);
            if (test_can(CGX_CAN_UNIFIED))
                assert_int_equal(r->first, first_of_warp);
        }
        device_free(in);
    }
    device_free(out);
}

typedef cgx_status chunks_launch(cgx_queue *queue, cgx_config config, int n, const int *in, int *out);

/* Lengths of the guide, and others that leave a rest. */
static void check_chunks(chunks_launch *launch)
{
    static const int lengths[] = { 16 * 1024, 16 * 1024 + 64, 16 * 1024 + 127, 1, 127, 128, 129, 1000 };
    static const int threads[] = { 32, 100, 256 };
    enum { MOST = 16 * 1024 + 127 };
    int *values = host_memory(MOST * sizeof *values), *results = host_memory(MOST * sizeof *results);
    int *in, *out = device_memory(MOST * sizeof *out);

    random_ints(values, MOST, 1 << 30);
    in = device_copy(values, MOST * sizeof *values);
    for (size_t k = 0; k < COUNT_OF(lengths); k++)
        for (size_t t = 0; t < COUNT_OF(threads); t++) {
            int n = lengths[k];
            check_ok(cgx_fill_i32(test_queue, out, -1, MOST));
            check_ok(launch(test_queue, cgx_config_1d(1, threads[t]), n, in, out));
            fetch(results, out, MOST * sizeof *results);
            for (int i = 0; i < n; i++) {
                int first = i / GUIDE_CHUNK * GUIDE_CHUNK, count = n - first < GUIDE_CHUNK ? n - first : GUIDE_CHUNK;
                if (results[i] != values[first + count - 1 - (i - first)])
                    fail_msg("%d numbers, %d threads: number %d", n, threads[t], i);
            }
            for (int i = n; i < MOST; i++)
                assert_int_equal(results[i], -1);
        }
    device_free(in);
    device_free(out);
    free(values);
    free(results);
}

/* rows: A02 A04 */
static void guide_05_one_stage_copy(void **state)
{
    (void)state;
    check_chunks(guide_one_stage_launch);
}

/* rows: A02 A04 A05 */
static void guide_06_two_stage_copy(void **state)
{
    (void)state;
    check_chunks(guide_two_stages_launch);
}

/* rows: T04 G06 */
static void guide_07_odd_and_even(void **state)
{
    enum { N = 128 };
    int values[N], counts[N], sums[N], *in, *out[2] = { device_memory(sizeof counts), device_memory(sizeof sums) };

    (void)state;
    for (int round = 0; round < 10; round++) {
        random_ints(values, N, 1000);
        for (int i = 0; i < N && round == 0; i++)
            values[i] |= 1; /* all agree: one group */
        in = device_copy(values, sizeof values);
        check_ok(guide_odd_even_launch(test_queue, cgx_config_1d(1, N), in, out[0], out[1]));
        fetch(counts, out[0], sizeof counts);
        fetch(sums, out[1], sizeof sums);
        for (int i = 0; i < N; i++) {
            int count = 0, sum = 0;
            for (int k = i / 32 * 32; k < i / 32 * 32 + 32; k++) {
                count += values[k] % 2 == values[i] % 2;
                sum += values[k] % 2 == values[i] % 2 ? values[k] : 0;
            }
            assert_int_equal(counts[i], count);
            assert_int_equal(sums[i], sum);
        }
        device_free(in);
    }
    device_free(out[0]);
    device_free(out[1]);
}

/* rows: R01 R02 R06 R07 K06 */
static void guide_08_reductions(void **state)
{
    enum { N = 64 };
    int values[N], *in;
    float reals[N];
    guide_sums results[N], *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < N; i++) {
        values[i] = random_below(1 << 25) - (1 << 24);
        reals[i] = (float)values[i];
    }
    in = device_copy(values, sizeof values);
    check_ok(guide_reductions_launch(test_queue, cgx_config_1d(1, N), in, out));
    fetch(results, out, sizeof results);
    for (int first = 0; first < N; first += 32) {
        int sum = 0;
        float real;
        for (int i = first; i < first + 32; i++)
            sum += values[i];
        canonical_reduce(plus_f32, reals + first, sizeof real, 32, &real);
        for (int i = first; i < first + 32; i++) {
            assert_int_equal(results[i].sum, sum);
            assert_int_equal(results[i].custom, sum);
            assert_memory_equal(&results[i].real, &real, sizeof real);
            assert_int_equal(results[i].vector.x, sum);
            assert_int_equal(results[i].vector.y, 2 * sum);
            assert_int_equal(results[i].vector.z, -sum);
            assert_int_equal(results[i].vector.w, 32 * first + 31 * 32 / 2);
        }
    }
    device_free(in);
    device_free(out);
}

static guide_affine affine_then(guide_affine f, guide_affine g)
{
    guide_affine h = { (uint16_t)(g.a * (unsigned)f.a), (uint16_t)(g.a * (unsigned)f.b + g.b) };
    return h;
}

/* The operator is exact, so that one order of evaluation is as good as another, but does not commute: the old value
 * is the left operand. rows: S03 S04 R06 */
static void guide_09_what_scan_update_means(void **state)
{
    enum { N = 32, ATOMICS = 4 };
    guide_affine values[N], olds[ATOMICS], news[ATOMICS], *in, *atomics;
    guide_updates results[N], *out = device_memory(sizeof results);

    (void)state;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < N; i++)
            values[i] = (guide_affine){ (uint16_t)(2 * random_below(1 << 15) + 1), (uint16_t)random_below(1 << 16) };
        for (int i = 0; i < ATOMICS; i++)
            olds[i] = (guide_affine){ (uint16_t)(3 + 2 * round), (uint16_t)(77 + round) };
        in = device_copy(values, sizeof values), atomics = device_copy(olds, sizeof olds);
        check_ok(guide_scan_update_launch(test_queue, cgx_config_1d(1, N), in, atomics, out));
        fetch(results, out, sizeof results);
        fetch(news, atomics, sizeof news);
        guide_affine before = olds[0], after;
        for (int i = 0; i < N; i++, before = after) {
            after = affine_then(before, values[i]);
            assert_memory_equal(&results[i].inclusive, &after, sizeof after);
            assert_memory_equal(&results[i].inclusive_by_steps, &after, sizeof after);
            assert_memory_equal(&results[i].exclusive, &before, sizeof before);
            assert_memory_equal(&results[i].exclusive_by_steps, &before, sizeof before);
        }
        for (int i = 0; i < ATOMICS; i++)
            assert_memory_equal(news + i, &before, sizeof before);
        device_free(in);
        device_free(atomics);
    }
    device_free(out);
}

/* rows: S02 S05 G01 G04 */
static void guide_10_stream_compaction(void **state)
{
    static const int counts[] = { 0, 1, 5, 31, 32, 33, 95, 96, 97, 1000, 1001 };
    enum { N = 96, TILES = N / 32, MOST = TILES * 1001 };
    int values[MOST], results[MOST], totals[N], *in, *out = device_memory(sizeof results),
                                                     *out_totals = device_memory(sizeof totals);

    (void)state;
    random_ints(values, MOST, 1000);
    for (size_t k = 0; k < COUNT_OF(counts); k++)
        for (int by_tile = 0; by_tile < 2; by_tile++) {
            int count = counts[k], group = by_tile ? 32 : N;
            in = device_copy(values, sizeof values);
            check_ok(guide_compaction_launch(test_queue, cgx_config_1d(1, N), by_tile, count, in, out, out_totals));
            fetch(results, out, sizeof results);
            fetch(totals, out_totals, sizeof totals);
            for (int part = 0; part < N / group; part++) {
                int kept = 0;
                for (int i = part * count; i < part * count + count; i++)
                    if (values[i] % 3)
                        assert_int_equal(results[part * count + kept++], values[i]);
                for (int i = part * group; i < part * group + group; i++)
                    assert_int_equal(totals[i], kept);
            }
            device_free(in);
        }
    device_free(out);
    device_free(out_totals);
}

/* Tiles come to the buffer in any order; inside a tile the parts follow one another. rows: S04 S05 X01 D04 */
static void guide_11_buffer_space_by_scan_update(void **state)
{
    enum { N = 32 * GUIDE_BUFFER_TILES };
    int results[GUIDE_BUFFER], offsets[N], taken[GUIDE_BUFFER_TILES] = { 0 }, used = 0;
    int *out = device_memory(sizeof results), *out_used = device_memory(sizeof used),
        *out_offsets = device_memory(sizeof offsets);
    cgx_config c = cgx_with_shared(cgx_config_1d(1, N), sizeof results);

    (void)state;
    check_ok(guide_buffer_space_launch(test_queue, c, out, out_used, out_offsets));
    fetch(results, out, sizeof results);
    fetch(&used, out_used, sizeof used);
    fetch(offsets, out_offsets, sizeof offsets);
    assert_int_equal(used, GUIDE_BUFFER);
    for (int i = 0; i < GUIDE_BUFFER; i++) /* 0, 0 1, 0, 0 1 ... */
        assert_int_equal(results[i], i % 3 == 2);
    for (int i = 0; i < N; i++) {
        int first = offsets[i / 32 * 32];
        assert_int_equal(first % 48, 0);
        assert_int_equal(offsets[i], first + i % 32 / 2 * 3 + i % 2);
        if (i % 32 == 0)
            assert_int_equal(taken[first / 48]++, 0);
    }
    device_free(out);
    device_free(out_used);
    device_free(out_offsets);
}

/* rows: G02 Y01 Y02 H05 */
static void guide_12_cluster(void **state)
{
    enum { N = GUIDE_CLUSTER_THREADS, BLOCKS = 48, ALL = BLOCKS * N };
    int results[ALL], ranks[ALL], *out = device_memory(sizeof results), *local = device_memory(sizeof ranks);

    (void)state;
    for (int size = 1; size <= test_device.max_cluster_blocks && size <= 16; size += size < 4 ? 1 : 4) {
        cgx_config c = cgx_with_shared(cgx_config_1d(BLOCKS, N), N * sizeof(int));
        c.cluster = cgx_dim(size, 1, 1);
        check_ok(guide_cluster_launch(test_queue, c, out, local));
        fetch(results, out, sizeof results);
        fetch(ranks, local, sizeof ranks);
        for (int i = 0; i < ALL; i++) {
            int block = i / N, next = block / size * size + (block % size + 1) % size;
            assert_int_equal(results[i], 1000 * next + N - 1 - i % N);
            assert_int_equal(ranks[i], block % size * N + i % N);
        }
    }
    device_free(out);
    device_free(local);
}

static void check_grid_sync(int blocks, int threads)
{
    int n = blocks * threads, *results = host_memory((size_t)n * sizeof *results);
    int *shares = device_memory((size_t)blocks * sizeof *shares), *out = device_memory((size_t)n * sizeof *out);

    assert_true(blocks > 0);
    check_ok(guide_grid_sync_launch(test_queue, cgx_cooperative(cgx_config_1d(blocks, threads)), shares, out));
    fetch(results, out, (size_t)n * sizeof *results);
    for (int i = 0; i < n; i++)
        assert_int_equal(results[i], (int)(uint32_t)((uint64_t)n * (uint64_t)(n - 1) / 2));
    device_free(shares);
    device_free(out);
    free(results);
}

/* rows: G03 Y02 Y03 */
static void guide_13_grid_synchronisation(void **state)
{
    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_grid_sync(1, 1);
    check_grid_sync(2, 33);
    check_grid_sync(7, 128);
}

/* rows: H01 H05 Y03 */
static void guide_14_as_many_blocks_as_multiprocessors(void **state)
{
    int most = 0;

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_grid_sync(test_device.units, 128);
    check_ok(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(guide_grid_sync), 128, 0, &most));
    assert_true(most >= test_device.units);
}

/* rows: H06 H05 Y03 */
static void guide_15_as_many_blocks_as_are_resident(void **state)
{
    enum { THREADS = 128 };
    int per_unit = 0, most = 0;

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(guide_grid_sync), THREADS, 0, &per_unit));
    assert_true(per_unit >= 1);
    check_grid_sync(per_unit * test_device.units, THREADS);
    check_ok(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(guide_grid_sync), THREADS, 0, &most));
    assert_true(most >= per_unit * test_device.units);
}

/* A program asks before it launches; what it is told is what happens. rows: H01 G03 Y03 */
static void guide_16_asking_for_cooperative_launches(void **state)
{
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    int results[40], most = -1, *out = device_memory(sizeof results);

    (void)state;
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(guide_grid_sync), &info));
    assert_int_equal(info.cooperative, 1);
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(guide_is_valid), &info));
    assert_int_equal(info.cooperative, 0);
    check_ok(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(guide_is_valid), 20, 0, &most));
    assert_int_equal(most > 0, test_can_sync_grid());
    if (test_can(CGX_CAN_COOPERATIVE)) {
        check_ok(guide_is_valid_launch(test_queue, cgx_cooperative(cgx_config_1d(2, 20)), out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < 40; i++)
            assert_true(results[i]);
    } else {
        check_says(guide_is_valid_launch(test_queue, cgx_cooperative(cgx_config_1d(2, 20)), out), CGX_ERROR_UNSUPPORTED,
                   "cooperative");
    }
    check_ok(guide_is_valid_launch(test_queue, cgx_config_1d(2, 20), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 40; i++)
        assert_false(results[i]);
    device_free(out);
}

/* Not the whole example yet: the guide's kernel launches itself on either half, here the host launches each level.
 * What is tested is its shared memory, as large as the launch says; the guide's 256 threads index past it from the
 * second level on. rows: D04 H05 */
static void guide_17_permute_level_by_level(void **state)
{
    enum { N = 256 };
    int values[N], results[N], *data;

    (void)state;
    for (int threads = 256; threads >= 16; threads /= 4) {
        random_ints(values, N, 1000000);
        data = device_copy(values, sizeof values);
        for (int n = N; n >= 1; n /= 2)
            check_ok(guide_permute_launch(
                test_queue, cgx_with_shared(cgx_config_1d(N / n, threads), (size_t)n * sizeof(int)), n, data));
        fetch(results, data, sizeof results);
        for (int i = 0; i < N; i++) { /* even places to the front at every level: the bits of the place reversed */
            int from = 0;
            for (int bit = 0; bit < 8; bit++)
                from |= (i >> bit & 1) << (7 - bit);
            assert_int_equal(results[i], values[from]);
        }
        device_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guide_01_leader_loads_for_the_block),
        cmocka_unit_test(guide_02_tiles_of_32_and_4),
        cmocka_unit_test(guide_03_tile_of_128_with_tile_memory),
        cmocka_unit_test(guide_04_coalesced_branch),
        cmocka_unit_test(guide_05_one_stage_copy),
        cmocka_unit_test(guide_06_two_stage_copy),
        cmocka_unit_test(guide_07_odd_and_even),
        cmocka_unit_test(guide_08_reductions),
        cmocka_unit_test(guide_09_what_scan_update_means),
        cmocka_unit_test(guide_10_stream_compaction),
        cmocka_unit_test(guide_11_buffer_space_by_scan_update),
        cmocka_unit_test(guide_12_cluster),
        cmocka_unit_test(guide_13_grid_synchronisation),
        cmocka_unit_test(guide_14_as_many_blocks_as_multiprocessors),
        cmocka_unit_test(guide_15_as_many_blocks_as_are_resident),
        cmocka_unit_test(guide_16_asking_for_cooperative_launches),
        cmocka_unit_test(guide_17_permute_level_by_level),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("guide", tests, NULL, NULL));
}

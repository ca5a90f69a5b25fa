/* SPDX-License-Identifier: MIT */
/* Scans: every type, operator, tile size and block shape, compared bit for bit with the canonical order. */
#include "../common/check.h"
#include "canonical.h"
#include "scan_kernels.h"

static const int block_sizes[] = { 1,   2,   3,   5,   7,   16,  31,  32,  33,  63,  64,   65,   96,  97,
                                   100, 127, 128, 129, 255, 257, 500, 511, 513, 777, 1000, 1023, 1024 };

static cgx_status launch(int type, cgx_config c, int size, const void *in, void *inclusive, void *exclusive)
{
    int next = 0;
#define LAUNCH(s, T)    \
    if (type == next++) \
        return scan_##s##_launch(test_queue, c, size, (const T *)in, (T *)inclusive, (T *)exclusive);
    FOREACH_VALUE(LAUNCH)
    return CGX_ERROR_INVALID;
}

static void compare(const value_type *type, int row, const char *kind, const char *got, const char *expected, int first,
                    int group, int n)
{
    for (int i = 0; i < group; i++)
        if (!same_value(value_at(got, i, type->bytes), value_at(expected, i, type->bytes), type->bytes, type->is_nan))
            fail_msg("%s %s of %s, group of %d from rank %d of %d on, rank %d: 0x%s, not 0x%s", kind, row_names[row],
                     type->name, group, first, n, i, hex_value(value_at(got, i, type->bytes), type->bytes),
                     hex_value(value_at(expected, i, type->bytes), type->bytes));
}

static void check_block(int type_index, cgx_dim3 block, int size, int specials)
{
    const value_type *type = value_types + type_index;
    int n = block.x * block.y * block.z, group = size ? size : n;
    size_t bytes = (size_t)n * type->bytes, all = bytes * (size_t)type->rows;
    char *values = host_memory(bytes), *expected = host_memory(bytes);
    char *results[2] = { host_memory(all), host_memory(all) };
    void *in, *out[2] = { device_memory(all), device_memory(all) };

    random_values(type, random_u64, specials, values, n);
    in = device_copy(values, bytes);
    check_ok(launch(type_index, cgx_config_make(cgx_dim(1, 1, 1), block), size, in, out[0], out[1]));
    fetch(results[0], out[0], all);
    fetch(results[1], out[1], all);
    for (int row = 0; row < type->rows; row++)
        for (int first = 0; first < n; first += group) {
            const char *from = value_at(values, first, type->bytes);
            canonical_inclusive(type->op[row], from, type->bytes, group, expected);
            compare(type, row, "inclusive", value_at(results[0], row * n + first, type->bytes), expected, first, group,
                    n);
            canonical_exclusive(type->op[row], from, type->bytes, group, expected);
            compare(type, row, "exclusive", value_at(results[1], row * n + first, type->bytes), expected, first, group,
                    n);
        }
    device_free(in);
    for (int i = 0; i < 2; i++) {
        device_free(out[i]);
        free(results[i]);
    }
    free(values);
    free(expected);
}

/* rows: S01 S02 R01 R07 G04 T02 K05 */
static void tiles(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++)
        for (int size = 1; size <= 1024; size *= 2)
            check_block(type, cgx_dim(1024, 1, 1), size, 0);
}

static void tiles_of_odd_blocks(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++) {
        check_block(type, cgx_dim(12, 1, 1), 4, 0);
        check_block(type, cgx_dim(96, 1, 1), 32, 0);
        check_block(type, cgx_dim(10, 4, 4), 16, 0);
        check_block(type, cgx_dim(320, 1, 1), 64, 0);
        check_block(type, cgx_dim(5, 128, 1), 128, 0);
    }
}

/* rows: S01 S02 G01 */
static void blocks(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++) {
        for (size_t i = 0; i < COUNT_OF(block_sizes); i++)
            check_block(type, cgx_dim(block_sizes[i], 1, 1), 0, 0);
        check_block(type, cgx_dim(5, 7, 3), 0, 0);
        check_block(type, cgx_dim(33, 31, 1), 0, 0);
    }
}

static void special_values(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++) {
        if (!value_types[type].is_nan)
            continue;
        for (int size = 2; size <= 1024; size *= 4)
            check_block(type, cgx_dim(1024, 1, 1), size, 1);
        for (int round = 0; round < 20; round++)
            check_block(type, cgx_dim(1 + random_below(200), 1, 1), 0, 1);
    }
}

static void check_typed(int size, int n)
{
    int32_t i[1024], wanted[1024], inclusive[1024], exclusive[1024], slots[1024];
    float f[1024], sums[1024], sums_below[1024];
    double d[1024], precise[1024];
    cgx_half h[1024], half[1024];
    typed_scan *results = host_memory(1024 * sizeof *results);
    void *in[4], *out = device_memory(1024 * sizeof *results);
    cgx_config c = cgx_config_1d(1, n);

    for (int r = 0; r < 1024; r++) {
        i[r] = random_below(1 << 20) - (1 << 19);
        wanted[r] = i[r] > 0;
        f[r] = (float)i[r] * 0.1f;
        d[r] = (double)i[r] * 0.1;
        h[r] = half_of((double)i[r] * 1e-4);
    }
    in[0] = device_copy(i, sizeof i), in[1] = device_copy(f, sizeof f);
    in[2] = device_copy(d, sizeof d), in[3] = device_copy(h, sizeof h);
#define LAUNCH_TYPED(N) \
    if (size == N)      \
        check_ok(scan_tile_##N##_launch(test_queue, c, in[0], in[1], in[2], in[3], out));
    FOREACH_TILE_SIZE(LAUNCH_TYPED)
    fetch(results, out, (size_t)n * sizeof *results);
    for (int first = 0; first < n; first += size) {
        canonical_inclusive(plus_i32, i + first, 4, size, inclusive + first);
        canonical_exclusive(greater_i32, i + first, 4, size, exclusive + first);
        canonical_exclusive(plus_i32, wanted + first, 4, size, slots + first);
        canonical_inclusive(plus_f32, f + first, 4, size, sums + first);
        canonical_exclusive(plus_f32, f + first, 4, size, sums_below + first);
        canonical_inclusive(plus_f64, d + first, 8, size, precise + first);
        canonical_exclusive(plus_f16, h + first, 2, size, half + first);
    }
    for (int r = 0; r < n; r++) {
        const typed_scan *g = results + r;
        if (g->inclusive != inclusive[r] || g->exclusive != exclusive[r] || g->slot != slots[r] ||
            memcmp(&g->sum, sums + r, 4) || memcmp(&g->sum_below, sums_below + r, 4) ||
            memcmp(&g->precise, precise + r, 8) || g->half.bits != half[r].bits)
            fail_msg("tile of %d, %d threads, rank %d", size, n, r);
    }
    for (int k = 0; k < 4; k++)
        device_free(in[k]);
    device_free(out);
    free(results);
}

/* rows: T01 S01 S02 */
static void typed_tiles(void **state)
{
    (void)state;
    for (int size = 1; size <= 1024; size *= 2) {
        check_typed(size, 1024);
        check_typed(size, size);
        if (3 * size <= 1024)
            check_typed(size, 3 * size);
    }
}

/* The guide's example 10, with a size that is no multiple of the block. rows: S02 R02 */
static void stream_compaction(void **state)
{
    enum { N = 10007, THREADS = 224, BLOCKS = (N + THREADS - 1) / THREADS };
    int32_t *values = host_memory(N * sizeof *values), *results = host_memory(N * sizeof *results);
    int32_t counts[BLOCKS];
    void *in, *out = device_memory(N * sizeof *results), *out_counts = device_memory(sizeof counts);

    (void)state;
    for (int i = 0; i < N; i++)
        values[i] = random_below(100) - 40;
    in = device_copy(values, N * sizeof *values);
    check_ok(compact_launch(test_queue, cgx_cover(N, THREADS), N, in, out, out_counts));
    fetch(results, out, N * sizeof *results);
    fetch(counts, out_counts, sizeof counts);
    for (int block = 0; block < BLOCKS; block++) {
        int kept = 0;
        for (int i = block * THREADS; i < N && i < (block + 1) * THREADS; i++)
            if (values[i] > 0)
                assert_int_equal(results[block * THREADS + kept++], values[i]);
        assert_int_equal(counts[block], kept);
    }
    device_free(in);
    device_free(out);
    device_free(out_counts);
    free(values);
    free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),          cmocka_unit_test(tiles_of_odd_blocks), cmocka_unit_test(blocks),
        cmocka_unit_test(special_values), cmocka_unit_test(typed_tiles),         cmocka_unit_test(stream_compaction),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("scan", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Reductions: every type, operator, tile size and block shape, compared bit for bit with the canonical tree. */
#include "../common/check.h"
#include "canonical.h"
#include "reduce_kernels.h"

static const int block_sizes[] = { 1,   2,   3,   5,   7,   16,  31,  32,  33,  63,  64,   65,   96,  97,
                                   100, 127, 128, 129, 255, 257, 500, 511, 513, 777, 1000, 1023, 1024 };

static cgx_status launch(int type, cgx_config c, int size, const void *in, void *out)
{
    int next = 0;
#define LAUNCH(s, T)    \
    if (type == next++) \
        return reduce_##s##_launch(test_queue, c, size, (const T *)in, (T *)out);
    FOREACH_VALUE(LAUNCH)
    return CGX_ERROR_INVALID;
}

/* One launch of a block that may be of any shape, in tiles of SIZE or whole. */
static void check_block(int type_index, cgx_dim3 block, int size, int specials)
{
    const value_type *type = value_types + type_index;
    int n = block.x * block.y * block.z, group = size ? size : n;
    size_t bytes = (size_t)n * type->bytes, all = bytes * (size_t)type->rows;
    char *values = host_memory(bytes), *results = host_memory(all);
    void *in, *out = device_memory(all);

    random_values(type, random_u64, specials, values, n);
    in = device_copy(values, bytes);
    check_ok(launch(type_index, cgx_config_make(cgx_dim(1, 1, 1), block), size, in, out));
    fetch(results, out, all);
    for (int row = 0; row < type->rows; row++)
        for (int first = 0; first < n; first += group) {
            char expected[VALUE_BYTES];
            canonical_reduce(type->op[row], value_at(values, first, type->bytes), type->bytes, group, expected);
            for (int i = first; i < first + group; i++) {
                const char *got = value_at(results, row * n + i, type->bytes);
                if (!same_value(got, expected, type->bytes, type->is_nan))
                    fail_msg("%s of %s, group of %d from rank %d of %d on, rank %d: 0x%s, not 0x%s", row_names[row],
                             type->name, group, first, n, i, hex_value(got, type->bytes),
                             hex_value(expected, type->bytes));
            }
        }
    device_free(in);
    device_free(out);
    free(values);
    free(results);
}

/* rows: R01 R02 R07 G04 T02 K05 */
static void tiles(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++)
        for (int size = 1; size <= 1024; size *= 2)
            check_block(type, cgx_dim(1024, 1, 1), size, 0);
}

/* Blocks that are no power of two but a multiple of the tile. */
static void tiles_of_odd_blocks(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++) {
        check_block(type, cgx_dim(12, 1, 1), 4, 0);
        check_block(type, cgx_dim(96, 1, 1), 32, 0);
        check_block(type, cgx_dim(10, 4, 4), 16, 0);
        check_block(type, cgx_dim(7, 3, 32), 32, 0);
        check_block(type, cgx_dim(320, 1, 1), 64, 0);
        check_block(type, cgx_dim(5, 128, 1), 128, 0);
    }
}

/* rows: R02 R07 G01 */
static void blocks(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++) {
        for (size_t i = 0; i < COUNT_OF(block_sizes); i++)
            check_block(type, cgx_dim(block_sizes[i], 1, 1), 0, 0);
        check_block(type, cgx_dim(5, 7, 3), 0, 0);
        check_block(type, cgx_dim(33, 31, 1), 0, 0);
        check_block(type, cgx_dim(1, 1, 64), 0, 0);
    }
}

/* NaN, infinities, both zeros and denormals at random places. */
static void special_values(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(value_types); type++) {
        if (!value_types[type].is_nan)
            continue;
        for (int size = 2; size <= 1024; size *= 2)
            check_block(type, cgx_dim(1024, 1, 1), size, 1);
        for (int round = 0; round < 20; round++)
            check_block(type, cgx_dim(1 + random_below(200), 1, 1), 0, 1);
    }
}

/* Decision 5 spelt out: each pair of special values as the two ranks of a tile, with answers that are no formula. */
static void minimum_and_maximum_number(void **state)
{
    static const struct {
        float a, b, least, largest;
    } rows[] = {
        { 1, 2, 1, 2 },
        { -0.0f, 0.0f, -0.0f, 0.0f },
        { 0.0f, -0.0f, -0.0f, 0.0f },
        { NAN, 1, 1, 1 },
        { 1, NAN, 1, 1 },
        { -NAN, 1, 1, 1 },
        { 1, -NAN, 1, 1 },
        { NAN, -INFINITY, -INFINITY, -INFINITY },
        { INFINITY, NAN, INFINITY, INFINITY },
        { INFINITY, -INFINITY, -INFINITY, INFINITY },
        { -0.0f, NAN, -0.0f, -0.0f },
        { NAN, 0.0f, 0.0f, 0.0f },
        { NAN, NAN, NAN, NAN },
        { 1e-45f, 0.0f, 0.0f, 1e-45f },
        { -1e-45f, -0.0f, -1e-45f, -0.0f },
        { 1e-45f, 2e-45f, 1e-45f, 2e-45f },
    };
    enum { N = 2 * COUNT_OF(rows) };
    float f[N], rf[3 * N];
    double d[N], rd[3 * N];
    cgx_half h[N], rh[3 * N];
    void *in[3], *out[3];

    (void)state;
    for (int i = 0; i < (int)N; i++) {
        f[i] = i % 2 ? rows[i / 2].b : rows[i / 2].a;
        d[i] = (double)f[i];
        h[i] = half_of((double)f[i]);
    }
    in[0] = device_copy(f, sizeof f), in[1] = device_copy(d, sizeof d), in[2] = device_copy(h, sizeof h);
    out[0] = device_memory(sizeof rf), out[1] = device_memory(sizeof rd), out[2] = device_memory(sizeof rh);
    check_ok(reduce_f32_launch(test_queue, cgx_config_1d(1, N), 2, in[0], out[0]));
    check_ok(reduce_f64_launch(test_queue, cgx_config_1d(1, N), 2, in[1], out[1]));
    check_ok(reduce_f16_launch(test_queue, cgx_config_1d(1, N), 2, in[2], out[2]));
    fetch(rf, out[0], sizeof rf), fetch(rd, out[1], sizeof rd), fetch(rh, out[2], sizeof rh);
    for (int i = 0; i < (int)N; i++)
        for (int k = 0; k < 2; k++) {
            float expected = k ? rows[i / 2].largest : rows[i / 2].least;
            double expected_d = (double)expected;
            cgx_half expected_h = half_of(expected_d);
            int at = (k ? ROW_GREATER : ROW_LESS) * (int)N + i;
            if (!same_value(rf + at, &expected, 4, is_nan_f32) || !same_value(rd + at, &expected_d, 8, is_nan_f64) ||
                !same_value(rh + at, &expected_h, 2, is_nan_f16))
                fail_msg("%s of %g and %g: %g, %g, %g", row_names[k ? ROW_GREATER : ROW_LESS], (double)f[i & ~1],
                         (double)f[i | 1], (double)rf[at], rd[at], half_value(rh[at]));
        }
    for (int i = 0; i < 3; i++)
        device_free(in[i]), device_free(out[i]);
}

/* ---- tiles of a size the compiler knows ---- */

static void check_typed(int size, int n)
{
    int32_t i[1024];
    uint64_t u[1024];
    float f[1024];
    double d[1024];
    cgx_half h[1024];
    typed_reduce *results = host_memory(1024 * sizeof *results);
    void *values[] = { i, u, f, d, h }, *in[5], *out = device_memory(1024 * sizeof *results);
    static const char *const names[] = { "i32", "u64", "f32", "f64", "f16" };
    const value_type *types[5];
    cgx_config c = cgx_config_1d(1, n);

    for (int k = 0; k < 5; k++) {
        for (size_t t = 0; t < COUNT_OF(value_types); t++)
            if (!strcmp(value_types[t].name, names[k]))
                types[k] = value_types + t;
        random_values(types[k], random_u64, 0, values[k], 1024);
        in[k] = device_copy(values[k], 1024 * types[k]->bytes);
    }
#define LAUNCH_TYPED(N) \
    if (size == N)      \
        check_ok(reduce_tile_##N##_launch(test_queue, c, in[0], in[1], in[2], in[3], in[4], out));
    FOREACH_TILE_SIZE(LAUNCH_TYPED)
    fetch(results, out, (size_t)n * sizeof *results);
    for (int first = 0; first < n; first += size) {
        typed_reduce e;
        canonical_reduce(plus_i32, i + first, 4, size, &e.plus);
        canonical_reduce(less_i32, i + first, 4, size, &e.less);
        canonical_reduce(bit_xor_i32, i + first, 4, size, &e.bits);
        canonical_reduce(plus_u64, u + first, 8, size, &e.wide);
        canonical_reduce(plus_f32, f + first, 4, size, &e.sum);
        canonical_reduce(greater_f32, f + first, 4, size, &e.largest);
        canonical_reduce(plus_f64, d + first, 8, size, &e.precise);
        canonical_reduce(plus_f16, h + first, 2, size, &e.half);
        for (int r = first; r < first + size; r++) {
            const typed_reduce *g = results + r;
            if (g->plus != e.plus || g->less != e.less || g->bits != e.bits || g->wide != e.wide ||
                memcmp(&g->sum, &e.sum, 4) || memcmp(&g->largest, &e.largest, 4) ||
                memcmp(&g->precise, &e.precise, 8) || g->half.bits != e.half.bits)
                fail_msg("tile of %d, %d threads, rank %d", size, n, r);
        }
    }
    for (int k = 0; k < 5; k++)
        device_free(in[k]);
    device_free(out);
    free(results);
}

/* rows: T01 R02 R07 */
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

/* rows: R02 K03 */
static void blocks_of_declared_size(void **state)
{
    const struct {
        cgx_status (*launch)(cgx_queue *, cgx_config, const uint32_t *, const float *, uint32_t *, float *);
        cgx_dim3 block;
    } cases[] = { { reduce_sized_256_launch, { 64, 2, 2 } },
                  { reduce_sized_100_launch, { 10, 5, 2 } },
                  { reduce_sized_20_launch, { 20, 1, 1 } } };
    uint32_t u[256], sums[256];
    float f[256], rounded[256];

    (void)state;
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        const int n = cases[c].block.x * cases[c].block.y * cases[c].block.z;
        uint32_t sum;
        float rounded_sum;
        for (int i = 0; i < n; i++) {
            u[i] = (uint32_t)random_u64();
            f[i] = (float)random_below(1 << 20) * 0.1f;
        }
        canonical_reduce(plus_u32, u, sizeof u[0], n, &sum);
        canonical_reduce(plus_f32, f, sizeof f[0], n, &rounded_sum);
        void *in[] = { device_copy(u, sizeof u), device_copy(f, sizeof f) };
        void *out[] = { device_memory(sizeof sums), device_memory(sizeof rounded) };
        check_ok(cases[c].launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cases[c].block), in[0], in[1], out[0],
                                 out[1]));
        fetch(sums, out[0], sizeof sums), fetch(rounded, out[1], sizeof rounded);
        for (int i = 0; i < n; i++)
            assert_true(sums[i] == sum && !memcmp(rounded + i, &rounded_sum, sizeof rounded_sum));
        for (int i = 0; i < 2; i++)
            device_free(in[i]), device_free(out[i]);
    }
}

/* rows: R01 */
static void the_other_integer_types(void **state)
{
    enum { N = 77 };
    int32_t values[N];
    long sums[N], sum = 0;
    unsigned long masks[N], mask = 0;
    char least[N], low = 127;
    long long largest[N], high = INT64_MIN;
    void *in, *out[4];

    (void)state;
    for (int i = 0; i < N; i++) {
        values[i] = random_below(100) - (i % 2 ? 1 << 30 : 0);
        sum += values[i];
        mask |= (unsigned long)values[i];
        low = (char)values[i] < low ? (char)values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    in = device_copy(values, sizeof values);
    out[0] = device_memory(sizeof sums), out[1] = device_memory(sizeof masks);
    out[2] = device_memory(sizeof least), out[3] = device_memory(sizeof largest);
    check_ok(reduce_native_launch(test_queue, cgx_config_1d(1, N), in, out[0], out[1], out[2], out[3]));
    fetch(sums, out[0], sizeof sums), fetch(masks, out[1], sizeof masks);
    fetch(least, out[2], sizeof least), fetch(largest, out[3], sizeof largest);
    for (int i = 0; i < N; i++) {
        assert_true(sums[i] == sum && masks[i] == mask);
        assert_true(least[i] == low && largest[i] == high);
    }
    device_free(in);
    for (int i = 0; i < 4; i++)
        device_free(out[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),
        cmocka_unit_test(tiles_of_odd_blocks),
        cmocka_unit_test(blocks),
        cmocka_unit_test(special_values),
        cmocka_unit_test(minimum_and_maximum_number),
        cmocka_unit_test(typed_tiles),
        cmocka_unit_test(blocks_of_declared_size),
        cmocka_unit_test(the_other_integer_types),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("reduce", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Reduce and scans of clusters and of the grid, bit for bit against a serial evaluation: each block's canonical order,
 * then the same over the blocks' results. */
#include <unistd.h>
#include "../common/modes.h"
#include "../device/canonical.h"
#include "wide_kernels.h"

enum { ROUNDS = 3 };

/* Ranks of the grid by rank in the cluster: block (x, y, z) of the cluster, x fastest. */
static int64_t grid_rank(const cgx_config *c, int64_t cluster, int block, int thread, int threads)
{
    cgx_dim3 s = c->cluster, n = cgx_dim(c->grid.x / s.x, c->grid.y / s.y, c->grid.z / s.z);
    int x = (int)(cluster % n.x) * s.x + block % s.x, y = (int)(cluster / n.x % n.y) * s.y + block / s.x % s.y;
    int z = (int)(cluster / n.x / n.y) * s.z + block / s.x / s.y;
    return (((int64_t)z * c->grid.y + y) * c->grid.x + x) * threads + thread;
}

/* The results in OUT, of ROWS operators. Without a cluster the group is the grid. */
static void check_all(const cgx_config *c, int grid, const char *name, operator_fn *const *ops, int rows,
                      is_nan_fn *is_nan, size_t bytes, const char *in, const char *out)
{
    int threads = c->block.x * c->block.y * c->block.z, all_blocks = c->grid.x * c->grid.y * c->grid.z;
    int blocks = grid ? all_blocks : c->cluster.x * c->cluster.y * c->cluster.z, size = blocks * threads;
    int64_t n = (int64_t)all_blocks * threads;
    char *values = host_memory((size_t)size * bytes), *want[WIDES];

    for (int w = 0; w < WIDES; w++)
        want[w] = host_memory((size_t)size * bytes);
    for (int round = 0; round < ROUNDS; round++)
        for (int row = 0; row < rows; row++)
            for (int64_t g = 0; g < n / size; g++) {
                for (int i = 0; i < size; i++) {
                    int64_t r = grid ? i : grid_rank(c, g, i / threads, i % threads, threads);
                    memcpy(values + (size_t)i * bytes, in + (size_t)((r + round) % n) * bytes, bytes);
                }
                canonical_wide(ops[row], values, bytes, blocks, threads, want[0], want[1], want[2]);
                for (int w = 0; w < WIDES; w++)
                    for (int i = 0; i < size; i++) {
                        int64_t r = grid ? i : grid_rank(c, g, i / threads, i % threads, threads);
                        const char *got = out + (size_t)((((int64_t)round * rows + row) * WIDES + w) * n + r) * bytes;
                        const char *right = want[w] + (w ? (size_t)i * bytes : 0);
                        if (!same_value(got, right, bytes, is_nan))
                            fail_msg(
                                "%s of %s, round %d, operator %d, collective %d, %d blocks of %d, rank %d of group %d: "
                                "0x%s, not 0x%s",
                                grid ? "grid" : "cluster", name, round, row, w, blocks, threads, i, (int)g,
                                hex_value(got, bytes), hex_value(right, bytes));
                    }
            }
    for (int w = 0; w < WIDES; w++)
        free(want[w]);
    free(values);
}

static cgx_status launch(int type, int grid, cgx_config c, const void *in, void *out)
{
    int next = 0;
#define LAUNCH(s, T)                                                                         \
    if (type == next++)                                                                      \
        return grid ? wide_grid_##s##_launch(test_queue, c, ROUNDS, (const T *)in, (T *)out) \
                    : wide_cluster_##s##_launch(test_queue, c, ROUNDS, (const T *)in, (T *)out);
    FOREACH_WIDE(LAUNCH)
    return CGX_ERROR_INVALID;
}
#define NAME(s, T) #s,
static const char *const names[] = { FOREACH_WIDE(NAME) };

static void check_shape(cgx_config c, int grid, int specials)
{
    int n = c.block.x * c.block.y * c.block.z * c.grid.x * c.grid.y * c.grid.z;

    if (grid)
        c = cgx_cooperative_or_software(c);
    for (int t = 0; t < (int)COUNT_OF(names); t++) {
        const value_type *type = value_types;
        while (strcmp(type->name, names[t]))
            type++;
        size_t all = (size_t)n * type->bytes * (size_t)(type->rows * WIDES * ROUNDS);
        char *in = host_memory((size_t)n * type->bytes), *results = host_memory(all);
        random_values(type, random_u64, specials, in, n);
        void *d_in = device_copy(in, (size_t)n * type->bytes), *out = device_memory(all);
        check_ok(launch(t, grid, c, d_in, out));
        fetch(results, out, all);
        check_all(&c, grid, type->name, type->op, type->rows, type->is_nan, type->bytes, in, results);
        device_free(d_in), device_free(out), free(in), free(results);
    }
}

static cgx_config clusters_of(cgx_dim3 cluster, int clusters, cgx_dim3 block)
{
    cgx_config c = cgx_config_make(cgx_dim(cluster.x * clusters, cluster.y, cluster.z), block);
    c.cluster = cluster;
    return c;
}

/* rows: R02 R07 S01 S02 G02 */
static void clusters(void **state)
{
    (void)state;
    check_shape(clusters_of(cgx_dim(1, 1, 1), 3, cgx_dim(40, 1, 1)), 0, 0);
    check_shape(clusters_of(cgx_dim(1, 1, 1), 2, cgx_dim(257, 1, 1)), 0, 1);
    if (!test_can(CGX_CAN_CLUSTER))
        return;
    for (int blocks = 1; blocks <= 16; blocks += test_scaled(10) > 1 ? 1 : 5)
        check_shape(clusters_of(cgx_dim(blocks, 1, 1), 2, cgx_dim(1 + random_below(70), 1, 1)), 0, 0);
    check_shape(clusters_of(cgx_dim(2, 2, 2), 3, cgx_dim(5, 3, 1)), 0, 0);
    check_shape(clusters_of(cgx_dim(1, 3, 1), 2, cgx_dim(32, 1, 1)), 0, 1);
    check_shape(clusters_of(cgx_dim(3, 1, 1), 1, cgx_dim(257, 1, 1)), 0, 0);
    check_shape(clusters_of(cgx_dim(4, 1, 1), 1, cgx_dim(1, 1, 1)), 0, 1);
}

/* rows: R02 R07 S01 S02 G03 Y03 */
static void grids(void **state)
{
    static const int counts[] = { 1, 2, 3, 7, 32, 33, 70 };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        check_shape(cgx_config_1d(counts[i], 1 + random_below(counts[i] > 30 ? 20 : 80)), 1, i % 2);
    check_shape(cgx_config_make(cgx_dim(2, 3, 2), cgx_dim(3, 2, 5)), 1, 0);
    check_shape(cgx_config_1d(2, 300), 1, 0);
    check_shape(cgx_config_1d(40, 1), 1, 1);
    if (test_can(CGX_CAN_CLUSTER))
        check_shape(clusters_of(cgx_dim(2, 2, 1), 3, cgx_dim(17, 1, 1)), 1, 0); /* blocks by their rank in the grid */
}

DEFINE_OPERATOR(product, matrix,
                ((matrix){ a.a * b.a + a.b * b.c, a.a *b.b + a.b *b.d, a.c *b.a + a.d *b.c, a.c *b.b + a.d *b.d }))
DEFINE_OPERATOR(compose, affine, ((affine){ a.a * b.a, a.b *b.a + b.b }))

/* rows: R02 R06 R07 S01 S02 G02 G03 */
static void operators_that_do_not_commute(void **state)
{
    static operator_fn *const products[] = { product }, *const composes[] = { compose };
    enum { MOST = 12 * 50 };
    matrix m[MOST], *m_out = host_memory(sizeof m * WIDES * ROUNDS);
    affine f[MOST], *f_out = host_memory(sizeof f * WIDES * ROUNDS);

    (void)state;
    for (int round = 0; round < test_scaled(20); round++) {
        int blocks = 1 + random_below(12), threads = 1 + random_below(50);
        cgx_config c = cgx_config_1d(blocks, threads), cooperative = cgx_cooperative_or_software(c);
        size_t n = (size_t)(blocks * threads);
        for (size_t i = 0; i < n; i++) {
            m[i] = (matrix){ random_below(1000) * 1e-3, random_below(1000) * -1e-3, random_below(1000) * 1e-3, 0.7 };
            f[i] = (affine){ (uint32_t)random_u64(), (uint32_t)random_u64() };
        }
        c.cluster = cgx_dim(test_can(CGX_CAN_CLUSTER) ? blocks : 1, 1, 1);
        void *d_m = device_copy(m, n * sizeof *m), *d_f = device_copy(f, n * sizeof *f);
        void *d_m_out = device_memory(n * sizeof *m * WIDES * ROUNDS),
             *d_f_out = device_memory(n * sizeof *f * WIDES * ROUNDS);
        check_ok(wide_cluster_matrix_launch(test_queue, c, ROUNDS, d_m, d_m_out));
        fetch(m_out, d_m_out, n * sizeof *m * WIDES * ROUNDS);
        check_all(&c, 0, "matrix", products, 1, NULL, sizeof *m, (char *)m, (char *)m_out);
        check_ok(wide_grid_matrix_launch(test_queue, cooperative, ROUNDS, d_m, d_m_out));
        fetch(m_out, d_m_out, n * sizeof *m * WIDES * ROUNDS);
        check_all(&c, 1, "matrix", products, 1, NULL, sizeof *m, (char *)m, (char *)m_out);
        check_ok(wide_grid_affine_launch(test_queue, cooperative, ROUNDS, d_f, d_f_out));
        fetch(f_out, d_f_out, n * sizeof *f * WIDES * ROUNDS);
        check_all(&c, 1, "affine", composes, 1, NULL, sizeof *f, (char *)f, (char *)f_out);
        device_free(d_m), device_free(d_f), device_free(d_m_out), device_free(d_f_out);
    }
    free(m_out), free(f_out);
}

/* rows: R02 S01 S02 G01 G02 G03 */
static void groups_in_turn(void **state)
{
    enum { BLOCKS = 6 };
    static const int sizes[] = { 1, 7, 64 };
    int results[BLOCKS * 64], *bad = device_memory(sizeof results);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++)
        for (int cluster = 1; cluster <= (test_can(CGX_CAN_CLUSTER) ? 6 : 1); cluster++) {
            cgx_config c = cgx_cooperative_or_software(cgx_config_1d(BLOCKS, sizes[s]));
            c.cluster = cgx_dim(BLOCKS % cluster ? 1 : cluster, 1, 1);
            check_ok(wide_mixed_launch(test_queue, c, test_scaled(40), bad));
            fetch(results, bad, sizeof results);
            for (int t = 0; t < BLOCKS * sizes[s]; t++)
                if (results[t])
                    fail_msg("%d threads, clusters of %d, thread %d: %d results are wrong", sizes[s], cluster, t,
                             results[t]);
        }
    device_free(bad);
}

/* rows: R02 G03 Y03 H07 */
static void misuse(void **state)
{
    int *out = device_memory(4096), results[4];

    (void)state;
    if (!test_explains_misuse())
        return;
    check_ok(wide_in_plain_launch_launch(test_queue, cgx_config_1d(2, 32), out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "wide_in_plain_launch, block (", "not cooperative");
    for (int grid = 0; grid < 2; grid++) {
        cgx_config c = cgx_cooperative_or_software(cgx_config_1d(4, 32));
        c.cluster = cgx_dim(4, 1, 1);
        check_ok(wide_absent_launch(test_queue, c, grid, out));
        check_says(cgx_queue_wait(test_queue), CGX_ERROR_DEADLOCK, "wide_absent", "deadlock", " 6 ", "ended");
    }
    check_ok(wide_mixed_launch(test_queue, cgx_cooperative_or_software(cgx_config_1d(2, 2)), 3, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 4; i++)
        assert_int_equal(results[i], 0);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clusters),       cmocka_unit_test(grids),  cmocka_unit_test(operators_that_do_not_commute),
        cmocka_unit_test(groups_in_turn), cmocka_unit_test(misuse),
    };

    test_start_in_modes();
    if (!test_can_sync_grid())
        skip_program("the grids of this device cannot synchronise");
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("wide", tests, NULL, NULL));
}

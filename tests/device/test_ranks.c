/* SPDX-License-Identifier: MIT */
/* rows: G03 H05
 * Kernels of grid ranks in every shape: a backend may run them in a loop of its own, and nobody may see that. */
#include "../common/check.h"
#include "ranks_kernels.h"

enum { SPARE = 64 }; /* elements behind the last that nobody may touch */

typedef struct {
    cgx_config config;
    int64_t n, total; /* bound; threads of the grid */
} shape;

static int64_t expect_below(const shape *s, int64_t i)
{
    return i < s->n ? 3 * i + 1 : 0;
}
static int64_t expect_scaled(const shape *s, int64_t i)
{
    return i < s->n ? -7 * i : 0;
}
static int64_t expect_from_bound(const shape *s, int64_t i)
{
    return i >= s->n && i < s->total ? 2 * i : 0;
}
static int64_t expect_both_sides(const shape *s, int64_t i)
{
    return i < s->n ? i : i < s->total ? -i : 0;
}
static int64_t expect_strided(const shape *s, int64_t i)
{
    return i < s->n ? 5 * i : 0;
}
static int64_t expect_early(const shape *s, int64_t i)
{
    return i >= s->n || i % 3 == 0 ? 0 : i % 3 == 1 ? i : i + 1000;
}
static int64_t expect_sized(const shape *s, int64_t i)
{
    cgx_dim3 g = s->config.grid;
    return i < s->n ? s->total + 1000000 * ((int64_t)g.x * g.y * g.z) + g.x - g.y : 0;
}
static int threads_of(const shape *s)
{
    return s->config.block.x * s->config.block.y * s->config.block.z;
}
static int64_t expect_block(const shape *s, int64_t i)
{
    return i < s->n ? i / threads_of(s) : 0;
}
static int64_t expect_rank(const shape *s, int64_t i)
{
    return i < s->n ? i % threads_of(s) : 0;
}
static int64_t expect_index(const shape *s, int64_t i)
{
    cgx_dim3 b = s->config.block, g = s->config.grid;
    int64_t rank = i % threads_of(s), block = i / threads_of(s);
    int64_t at = rank % b.x + 100 * (rank / b.x % b.y) + 10000 * (rank / b.x / b.y);
    return i < s->n ? at + 1000000 * (block % g.x + 1000 * (block / g.x % g.y)) : 0;
}
static int64_t expect_shared(const shape *s, int64_t i)
{
    return i < s->n ? i : 0;
}
static int64_t expect_sometimes(const shape *s, int64_t i)
{
    return i < s->n && i % 7 == 3 ? 1 + i % threads_of(s) : 0;
}

static cgx_status run_below_i64(const shape *s, int64_t *out)
{
    return below_i64_launch(test_queue, s->config, s->n, out);
}
static cgx_status run_below_i32(const shape *s, int64_t *out)
{
    return below_i32_launch(test_queue, s->config, (int)s->n, out);
}
static cgx_status run_below_u32(const shape *s, int64_t *out)
{
    return below_u32_launch(test_queue, s->config, out, s->n < 0 ? 0 : (unsigned)s->n);
}
static cgx_status run_below_u64(const shape *s, int64_t *out)
{
    return below_u64_launch(test_queue, s->config, s->n < 0 ? 0 : (uint64_t)s->n, out);
}
static cgx_status run_scaled(const shape *s, int64_t *out)
{
    return scaled_launch(test_queue, s->config, -7, s->n, out);
}
static cgx_status run_from_bound(const shape *s, int64_t *out)
{
    return from_bound_launch(test_queue, s->config, s->n, s->total, out);
}
static cgx_status run_both_sides(const shape *s, int64_t *out)
{
    return both_sides_launch(test_queue, s->config, s->n, s->total, out);
}
#define RUN(name)                                               \
    static cgx_status run_##name(const shape *s, int64_t *out)  \
    {                                                           \
        return name##_launch(test_queue, s->config, s->n, out); \
    }
RUN(strided)
RUN(early)
RUN(sized)
RUN(with_block)
RUN(with_rank)
RUN(with_index)
RUN(with_shared)
RUN(sometimes)

static const struct {
    const char *name;
    cgx_status (*run)(const shape *s, int64_t *out);
    int64_t (*expected)(const shape *s, int64_t i);
} kernels[] = {
    { "below_i64", run_below_i64, expect_below },
    { "below_i32", run_below_i32, expect_below },
    { "below_u32", run_below_u32, expect_below },
    { "below_u64", run_below_u64, expect_below },
    { "scaled", run_scaled, expect_scaled },
    { "from_bound", run_from_bound, expect_from_bound },
    { "both_sides", run_both_sides, expect_both_sides },
    { "strided", run_strided, expect_strided },
    { "early", run_early, expect_early },
    { "sized", run_sized, expect_sized },
    { "with_block", run_with_block, expect_block },
    { "with_rank", run_with_rank, expect_rank },
    { "with_index", run_with_index, expect_index },
    { "with_shared", run_with_shared, expect_shared },
    { "sometimes", run_sometimes, expect_sometimes },
};

static void every_shape(void **state)
{
    static const cgx_dim3 grids[] = { { 1, 1, 1 }, { 2, 1, 1 }, { 67, 1, 1 }, { 150, 1, 1 }, { 5, 3, 2 } };
    static const cgx_dim3 blocks[] = {
        { 1, 1, 1 }, { 7, 1, 1 }, { 64, 1, 1 }, { 16, 4, 1 }, { 5, 3, 2 }, { 256, 1, 1 }
    };
    static const unsigned flags[] = { 0, CGX_LAUNCH_DYNAMIC };
    (void)state;
    for (size_t f = 0; f < COUNT_OF(flags); f++)
        for (size_t g = 0; g < COUNT_OF(grids); g++)
            for (size_t b = 0; b < COUNT_OF(blocks); b++) {
                shape s = { cgx_config_make(grids[g], blocks[b]), 0, 0 };
                s.config.flags |= flags[f];
                s.total = (int64_t)grids[g].x * grids[g].y * grids[g].z * threads_of(&s);
                const size_t count = (size_t)s.total + SPARE;
                int64_t *out = device_memory(count * sizeof *out), *seen = host_memory(count * sizeof *seen);
                const int64_t bounds[] = { -1, 0, 1, s.total / 2, s.total - 1, s.total };
                for (size_t n = 0; n < COUNT_OF(bounds); n++)
                    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
                        s.n = bounds[n];
                        check_ok(cgx_fill_i64(test_queue, out, 0, count));
                        check_ok(kernels[k].run(&s, out));
                        fetch(seen, out, count * sizeof *seen);
                        for (size_t i = 0; i < count; i++)
                            if (seen[i] != kernels[k].expected(&s, (int64_t)i))
                                fail_msg(
                                    "%s: grid %d x %d x %d, block %d x %d x %d, n %lld: element %zu is %lld, not %lld",
                                    kernels[k].name, grids[g].x, grids[g].y, grids[g].z, blocks[b].x, blocks[b].y,
                                    blocks[b].z, (long long)s.n, i, (long long)seen[i],
                                    (long long)kernels[k].expected(&s, (int64_t)i));
                    }
                free(seen);
                device_free(out);
            }
}

/* More items than threads. */
static void strides(void **state)
{
    enum { N = 100001 };
    int64_t *out = device_memory(N * sizeof *out), *seen = host_memory(N * sizeof *seen);
    (void)state;
    for (int blocks = 1; blocks <= 391; blocks += 39) {
        check_ok(cgx_fill_i64(test_queue, out, 0, N));
        check_ok(strided_launch(test_queue, cgx_config_1d(blocks, 256), N, out));
        fetch(seen, out, N * sizeof *seen);
        for (int64_t i = 0; i < N; i++)
            assert_int_equal(seen[i], 5 * i);
    }
    free(seen);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(strides),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("ranks", tests, NULL, NULL));
}

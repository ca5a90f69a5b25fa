/* SPDX-License-Identifier: MIT */
/* Shuffles: values of every size, arguments in and out of range. */
#include <limits.h>
#include "../common/check.h"
#include "shuffle_kernels.h"

static cgx_status launch(int type, cgx_config c, int size, const int *argument, const void *in, void *out)
{
    int next = 0;
#define LAUNCH(s, T)    \
    if (type == next++) \
        return shuffle_##s##_launch(test_queue, c, size, argument, (const T *)in, (T *)out);
    FOREACH_SHUFFLED(LAUNCH)
    return CGX_ERROR_INVALID;
}

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
#define TYPE(s, T) { #s, sizeof(T) },
    FOREACH_SHUFFLED(TYPE)
};

static int source_of(int which, int rank, int n, int argument)
{
    int64_t r = rank;
    switch (which) {
    case SHFL: return (int)(((int64_t)argument % n + n) % n);
    case SHFL_UP: r = (int64_t)rank - argument; return argument >= 0 && r >= 0 ? (int)r : rank;
    case SHFL_DOWN: r = (int64_t)rank + argument; return argument >= 0 && r < n ? (int)r : rank;
    default: r = rank ^ argument; return r >= 0 && r < n ? (int)r : rank;
    }
}

static void check_shuffle(int type, int n, int size, int (*argument_of)(int rank, int group))
{
    int group = size ? size : n, arguments[1024];
    size_t value = types[type].bytes, bytes = (size_t)n * value;
    unsigned char *values = host_memory(bytes), *results = host_memory(SHUFFLES * bytes);
    void *in, *in_arguments, *out = device_memory(SHUFFLES * bytes);

    for (size_t i = 0; i < bytes; i++)
        values[i] = (unsigned char)random_below(256);
    for (int i = 0; i < n; i++)
        arguments[i] = argument_of(i % group, group);
    in = device_copy(values, bytes), in_arguments = device_copy(arguments, (size_t)n * sizeof(int));
    check_ok(launch(type, cgx_config_1d(1, n), size, in_arguments, in, out));
    fetch(results, out, SHUFFLES * bytes);
    for (int which = 0; which < SHUFFLES; which++)
        for (int i = 0; i < n; i++) {
            int from = i / group * group + source_of(which, i % group, group, arguments[i]);
            if (memcmp(results + (size_t)(which * n + i) * value, values + (size_t)from * value, value))
                fail_msg("shuffle %d of %s in groups of %d, rank %d, argument %d", which, types[type].name, group,
                         i % group, arguments[i]);
        }
    device_free(in);
    device_free(in_arguments);
    device_free(out);
    free(values);
    free(results);
}

static int in_range(int rank, int group)
{
    (void)rank;
    return random_below(group);
}
/* On both sides of the size and of its multiples. */
static int around_the_edges(int rank, int group)
{
    const int arguments[] = {
        0, 1, group - 1, group, group + 1, group / 2, 2 * group, 3 * group + 1, 1 << 20, INT_MAX
    };
    return arguments[rank % (int)COUNT_OF(arguments)];
}
static int negative(int rank, int group)
{
    const int arguments[] = { -1, -2, -group, -group - 1, 1 - group, INT_MIN, INT_MIN + 1 };
    return arguments[rank % (int)COUNT_OF(arguments)];
}

/* rows: G04 G07 T02 K05 K06 */
static void tiles(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(types); type++)
        for (int size = 1; size <= 1024; size *= 2) {
            check_shuffle(type, 1024, size, in_range);
            check_shuffle(type, size < 342 ? 3 * size : size, size, in_range);
        }
}

/* rows: G04 G07 */
static void arguments_out_of_range(void **state)
{
    (void)state;
    for (int type = 0; type < (int)COUNT_OF(types); type += 3)
        for (int size = 1; size <= 1024; size *= 2) {
            check_shuffle(type, 1024, size, around_the_edges);
            check_shuffle(type, 1024, size, negative);
        }
}

/* rows: G01 G07 */
static void blocks(void **state)
{
    static const int sizes[] = { 1, 2, 3, 31, 32, 33, 64, 65, 100, 257, 1000, 1023, 1024 };

    (void)state;
    for (int type = 0; type < (int)COUNT_OF(types); type++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            check_shuffle(type, sizes[i], 0, in_range);
            check_shuffle(type, sizes[i], 0, around_the_edges);
        }
}

/* A source below zero in a group whose size is no power of two: modulo the size is still a rank from the end. */
static void negative_in_odd_blocks(void **state)
{
    (void)state;
    for (int n = 1; n <= 101; n += 10)
        check_shuffle(4, n, 0, negative);
}

/* rows: G04 T01 */
static void typed_tiles(void **state)
{
    int *results = host_memory(4 * 1024 * sizeof *results), *out = device_memory(4 * 1024 * sizeof *out);

    (void)state;
#define CHECK_TILE(N)                                                             \
    check_ok(shuffle_tile_##N##_launch(test_queue, cgx_config_1d(1, 1024), out)); \
    fetch(results, out, 4 * 1024 * sizeof *results);                              \
    for (int r = 0; r < 1024; r++) {                                              \
        assert_int_equal(results[4 * r], r / N * N + N - 1);                      \
        assert_int_equal(results[4 * r + 1], r % N ? r - 1 : r);                  \
        assert_int_equal(results[4 * r + 2], r % N + 1 < N ? r + 1 : r);          \
        assert_int_equal(results[4 * r + 3], N > 1 ? r ^ 1 : r);                  \
    }
    FOREACH_TILE_SIZE(CHECK_TILE)
    device_free(out);
    free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),       cmocka_unit_test(arguments_out_of_range), cmocka_unit_test(blocks),
        cmocka_unit_test(typed_tiles), cmocka_unit_test(negative_in_odd_blocks),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("shuffle", tests, NULL, NULL));
}

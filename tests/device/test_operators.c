/* SPDX-License-Identifier: MIT */
/* User operators: not commutative, not associative in the last bit, up to 32 bytes; never contracted. */
#include "../common/check.h"
#include "canonical.h"
#include "operators.h"
#include "operators_kernels.h"

#define REFERENCE(name, T, EXPRESSION)                                         \
    static void host_##name(void *result, const void *left, const void *right) \
    {                                                                          \
        T l, m, r;                                                             \
        memcpy(&l, left, sizeof l);                                            \
        memcpy(&m, right, sizeof m);                                           \
        EXPRESSION(r, l, m);                                                   \
        memcpy(result, &r, sizeof r);                                          \
    }
#define ARGMAX(r, l, m) (r = m.v > l.v || (m.v == l.v && m.i < l.i) ? m : l)
#define LEFT(r, l, m) (r = l, (void)m)
REFERENCE(compose, affine, COMPOSE)
REFERENCE(product, matrix, PRODUCT)
REFERENCE(join, run, JOIN)
REFERENCE(argmax, argmax_t, ARGMAX)
REFERENCE(left, int64_t, LEFT)

static const struct {
    const char *name;
    size_t bytes;
    operator_fn *op;
} operators[] = {
#define ROW(name, T) { #name, sizeof(T), host_##name },
    FOREACH_USER_OPERATOR(ROW)
};

static cgx_status launch(int k, cgx_config c, int size, const void *in, void *out)
{
    int next = 0;
#define LAUNCH(name, T)                                                                 \
    if (k == next++)                                                                    \
        return size < 0 ? split_##name##_launch(test_queue, c, (const T *)in, (T *)out) \
                        : user_##name##_launch(test_queue, c, size, (const T *)in, (T *)out);
    FOREACH_USER_OPERATOR(LAUNCH)
    return CGX_ERROR_INVALID;
}

static void random_operands(int k, void *values, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t bits = random_u64();
        affine a = { (uint32_t)bits, (uint32_t)(bits >> 32) };
        run r = { i, i, 1 };
        argmax_t m = { (float)random_below(20), i };
        matrix x;
        double *e = &x.a;
        for (int j = 0; j < 4; j++) /* rotations, nearly: products stay as large as they are */
            e[j] = ((double)random_u64() * 0x1p-64 - 0.5) * 1.7;
        const void *from[] = { &a, &x, &r, &m, &bits };
        memcpy((char *)values + (size_t)i * operators[k].bytes, from[k], operators[k].bytes);
    }
}

/* STEP 1: groups of consecutive threads; 2: odd and even threads of groups of 32. */
static void check_operator(int k, int n, int size)
{
    size_t value = operators[k].bytes, bytes = (size_t)n * value;
    char *values = host_memory(bytes), *results = host_memory(3 * bytes), *members = host_memory(bytes);
    char *expected = host_memory(3 * bytes);
    int step = size < 0 ? 2 : 1, group = size > 0 ? size : size < 0 ? 16 : n;
    void *in, *out = device_memory(3 * bytes);

    random_operands(k, values, n);
    in = device_copy(values, bytes);
    check_ok(launch(k, cgx_config_1d(1, n), size, in, out));
    fetch(results, out, 3 * bytes);
    for (int first = 0; first < n; first += group * step)
        for (int odd = 0; odd < step; odd++) {
            for (int i = 0; i < group; i++)
                memcpy(members + (size_t)i * value, value_at(values, first + odd + i * step, value), value);
            canonical_reduce(operators[k].op, members, value, group, expected);
            canonical_inclusive(operators[k].op, members, value, group, expected + bytes);
            canonical_exclusive(operators[k].op, members, value, group, expected + 2 * bytes);
            for (int i = 0; i < group; i++)
                for (int kind = 0; kind < 3; kind++) {
                    const char *e = value_at(expected + (size_t)kind * bytes, kind ? i : 0, value);
                    const char *g = value_at(results, kind * n + first + odd + i * step, value);
                    if (memcmp(e, g, value))
                        fail_msg("%s, collective %d, group of %d of %d, rank %d: 0x%s, not 0x%s", operators[k].name,
                                 kind, group, n, i, hex_value(g, value), hex_value(e, value));
                }
        }
    device_free(in);
    device_free(out);
    free(values);
    free(results);
    free(members);
    free(expected);
}

/* rows: R06 S01 S02 R07 G04 */
static void tiles(void **state)
{
    (void)state;
    for (int k = 0; k < (int)COUNT_OF(operators); k++)
        for (int size = 1; size <= 1024; size *= 2) {
            check_operator(k, 1024, size);
            check_operator(k, size <= 256 ? 3 * size : size, size);
        }
}

/* rows: R06 S01 S02 R07 G01 */
static void blocks(void **state)
{
    static const int sizes[] = { 1, 2, 3, 31, 32, 33, 63, 65, 97, 100, 129, 257, 511, 777, 1000, 1023 };

    (void)state;
    for (int k = 0; k < (int)COUNT_OF(operators); k++)
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            check_operator(k, sizes[i], 0);
}

/* rows: R06 R07 G06 T04 */
static void coalesced_groups(void **state)
{
    (void)state;
    for (int k = 0; k < (int)COUNT_OF(operators); k++)
        for (int n = 32; n <= 1024; n += 160)
            check_operator(k, n, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),
        cmocka_unit_test(blocks),
        cmocka_unit_test(coalesced_groups),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("operators", tests, NULL, NULL));
}

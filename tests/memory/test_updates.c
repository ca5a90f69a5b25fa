/* SPDX-License-Identifier: MIT */
/* Reductions and scans that end in an atomic or a store: bit for bit what the serial evaluation gives, the rule about
 * the last rank, and when results are there. */
#include <unistd.h>
#include "../common/modes.h"
#include "../device/canonical.h"
#include "updates_kernels.h"

static unsigned char labels[1024];

/* The groups of a block of N threads: members[i] are those of group number i, -1 ends. */
static int members_of(int kind, int n, int first, int *members)
{
    int count = 0, begin = 0, end = n;
    if (kind == GROUP_COALESCED)
        begin = first / 32 * 32, end = begin + 32;
    else if (kind != GROUP_BLOCK)
        begin = first / kind * kind, end = begin + kind;
    for (int r = begin; r < end; r++)
        if (kind != GROUP_COALESCED || labels[r] == labels[first])
            members[count++] = r;
    return members[0] == first ? count : 0; /* numbered by its first thread */
}

static const value_type *type_named(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(value_types); i++)
        if (!strcmp(value_types[i].name, name))
            return value_types + i;
    fail_msg("no type %s", name);
    return NULL;
}

static void check_value(const void *got, const void *want, size_t bytes, is_nan_fn *is_nan, const char *what, int row,
                        int operation, int kind, int n, int rank)
{
    if (!same_value(got, want, bytes, is_nan))
        fail_msg("%s, operator %d, operation %d, group kind %d, %d threads, rank %d: 0x%s, not 0x%s", what, row,
                 operation, kind, n, rank, hex_value(got, bytes), hex_value(want, bytes));
}

/* What five operations make of group NUMBER's cells. */
static void check_group(const char *name, operator_fn *op, is_nan_fn *is_nan, size_t bytes, int row, int kind, int n,
                        const int *members, int size, const char *in, const char *start, const char *cells,
                        const char *seen, const char *out)
{
    char values[1024 * 8] = { 0 }, scan[1024 * 8], total[8], want[8];
    for (int i = 0; i < size; i++)
        memcpy(values + (size_t)i * bytes, in + (size_t)members[i] * bytes, bytes);
    canonical_reduce(op, values, bytes, size, total);
    canonical_inclusive(op, values, bytes, size, scan);
    for (int o = 0; o < UPDATES; o++) {
        size_t cell = (size_t)((row * UPDATES + o) * n + members[0]) * bytes;
        const char *old = start + cell;
        if (o == UPDATE_REDUCE)
            op(want, old, total);
        else if (o == UPDATE_STORE || o == UPDATE_STORE_ATOMIC)
            memcpy(want, total, bytes);
        else
            op(want, old, scan + (size_t)(size - 1) * bytes);
        check_value(cells + cell, want, bytes, is_nan, name, row, o, kind, n, members[0]);
        for (int i = 0; i < size; i++) {
            size_t at = (size_t)((row * UPDATES + o) * n + members[i]) * bytes;
            check_value(seen + at, want, bytes, is_nan, "seen after the sync", row, o, kind, n, members[i]);
            if (o < UPDATE_INCLUSIVE)
                continue;
            char result[8];
            if (o == UPDATE_EXCLUSIVE && i == 0)
                memcpy(result, old, bytes);
            else
                op(result, old, scan + (size_t)(i - (o == UPDATE_EXCLUSIVE)) * bytes);
            check_value(out + at, result, bytes, is_nan, name, row, o, kind, n, members[i]);
            if (o == UPDATE_INCLUSIVE && i == size - 1) /* decision 4 */
                check_value(out + at, cells + cell, bytes, is_nan, "the last rank's result", row, o, kind, n,
                            members[i]);
        }
    }
}

#define CHECK_UPDATE(s, T)                                                                                            \
    static void check_update_##s(int kind, int n)                                                                     \
    {                                                                                                                 \
        const value_type *type = type_named(#s);                                                                      \
        size_t cells = (size_t)type->rows * UPDATES * (size_t)n, bytes = cells * sizeof(T);                           \
        T *in = host_memory((size_t)n * sizeof(T)), *start = host_memory(bytes), *end = host_memory(bytes);           \
        T *seen = host_memory(bytes), *out = host_memory(bytes);                                                      \
        void *d_labels = device_copy(labels, sizeof labels), *d_in, *d_cells;                                         \
        void *d_seen = device_memory(bytes), *d_out = device_memory(bytes);                                           \
        random_values(type, random_u64, 0, in, n);                                                                    \
        random_values(type, random_u64, 0, start, (int)cells);                                                        \
        d_in = device_copy(in, (size_t)n * sizeof(T)), d_cells = device_copy(start, bytes);                           \
        check_ok(update_##s##_launch(test_queue, cgx_config_1d(1, n), kind, d_labels, d_in, d_cells, d_seen, d_out)); \
        fetch(end, d_cells, bytes), fetch(seen, d_seen, bytes), fetch(out, d_out, bytes);                             \
        for (int row = 0; row < type->rows; row++)                                                                    \
            for (int first = 0; first < n; first++) {                                                                 \
                int members[1024], size = members_of(kind, n, first, members);                                        \
                if (size)                                                                                             \
                    check_group(#s, type->op[row], type->is_nan, sizeof(T), row, kind, n, members, size, (char *)in,  \
                                (char *)start, (char *)end, (char *)seen, (char *)out);                               \
            }                                                                                                         \
        device_free(d_labels), device_free(d_in), device_free(d_cells), device_free(d_seen), device_free(d_out);      \
        free(in), free(start), free(end), free(seen), free(out);                                                      \
    }
FOREACH_UPDATE(CHECK_UPDATE)

static void draw_labels(void)
{
    for (int i = 0; i < 1024; i++)
        labels[i] = (unsigned char)(random_u64() >> 40 & 1);
}

/* rows: R03 R04 R05 S03 S04 X01 */
static void built_in_operators(void **state)
{
    (void)state;
    for (int kind = GROUP_COALESCED; kind <= 512; kind = kind < 1 ? kind + 1 : 2 * kind) {
        draw_labels();
#define UPDATE_OF(s, T)                             \
    check_update_##s(kind, kind > 128 ? 512 : 128); \
    if (kind <= 32)                                 \
        check_update_##s(kind, 96);
        FOREACH_UPDATE(UPDATE_OF)
    }
#define UPDATE_OF_BLOCK(s, T)                             \
    check_update_##s(GROUP_BLOCK, 1 + random_below(300)); \
    check_update_##s(GROUP_BLOCK, 1);
    FOREACH_UPDATE(UPDATE_OF_BLOCK)
}

#define CHECK_STORE(s, T)                                                                                              \
    static void check_store_##s(int kind, int n)                                                                       \
    {                                                                                                                  \
        const value_type *type = type_named(#s);                                                                       \
        T in[1024], end[3 * 1024], seen[3 * 1024], values[1024], want;                                                 \
        void *d_labels = device_copy(labels, sizeof labels), *d_in, *d_cells = device_memory(sizeof end);              \
        void *d_seen = device_memory(sizeof seen);                                                                     \
        random_values(type, random_u64, 0, in, n);                                                                     \
        d_in = device_copy(in, sizeof in);                                                                             \
        check_ok(store_##s##_launch(test_queue, cgx_config_1d(1, n), kind, d_labels, d_in, d_cells, d_seen));          \
        fetch(end, d_cells, sizeof end), fetch(seen, d_seen, sizeof seen);                                             \
        for (int row = 0; row < 3; row++)                                                                              \
            for (int first = 0; first < n; first++) {                                                                  \
                int members[1024], size = members_of(kind, n, first, members);                                         \
                if (!size)                                                                                             \
                    continue;                                                                                          \
                for (int i = 0; i < size; i++)                                                                         \
                    values[i] = in[members[i]];                                                                        \
                canonical_reduce(type->op[row], values, sizeof(T), size, &want);                                       \
                check_value(end + row * n + first, &want, sizeof(T), type->is_nan, #s, row, 0, kind, n, first);        \
                for (int i = 0; i < size; i++)                                                                         \
                    check_value(seen + row * n + members[i], &want, sizeof(T), type->is_nan, #s " seen", row, 0, kind, \
                                n, members[i]);                                                                        \
            }                                                                                                          \
        device_free(d_labels), device_free(d_in), device_free(d_cells), device_free(d_seen);                           \
    }
FOREACH_STORE_ONLY(CHECK_STORE)

/* rows: R05 K05 */
static void plain_stores_of_small_types(void **state)
{
    (void)state;
    for (int kind = GROUP_COALESCED; kind <= 128; kind = kind < 1 ? kind + 1 : 2 * kind) {
        draw_labels();
#define STORE_OF(s, T) check_store_##s(kind, 128);
        FOREACH_STORE_ONLY(STORE_OF)
    }
}

/* ---- user operators ---- */

DEFINE_OPERATOR(compose, affine, ((affine){ a.a * b.a, a.b *b.a + b.b }))
DEFINE_OPERATOR(product, matrix,
                ((matrix){ a.a * b.a + a.b * b.c, a.a *b.b + a.b *b.d, a.c *b.a + a.d *b.c, a.c *b.b + a.d *b.d }))

/* rows: R03 R04 R05 R06 S03 S04 */
static void user_operators(void **state)
{
    enum { N = 128 };
    affine in[N], start[UPDATES * N], end[UPDATES * N], seen[UPDATES * N], out[UPDATES * N];
    matrix m[N], m_end[N], m_seen[N], m_values[N], want;

    (void)state;
    for (int kind = GROUP_COALESCED; kind <= N; kind = kind < 1 ? kind + 1 : 2 * kind) {
        draw_labels();
        for (int i = 0; i < N; i++) {
            in[i] = (affine){ (uint32_t)random_u64(), (uint32_t)random_u64() };
            m[i] = (matrix){ random_below(1000) * 1e-3, random_below(1000) * 1e-3, random_below(1000) * 1e-3, 0.3 };
        }
        for (int i = 0; i < UPDATES * N; i++)
            start[i] = (affine){ (uint32_t)random_u64(), (uint32_t)random_u64() };
        void *d_labels = device_copy(labels, sizeof labels), *d_in = device_copy(in, sizeof in);
        void *d_cells = device_copy(start, sizeof start), *d_seen = device_memory(sizeof seen);
        void *d_out = device_memory(sizeof out), *d_m = device_copy(m, sizeof m);
        void *d_m_end = device_memory(sizeof m_end), *d_m_seen = device_memory(sizeof m_seen);
        check_ok(update_affine_launch(test_queue, cgx_config_1d(1, N), kind, d_labels, d_in, d_cells, d_seen, d_out));
        check_ok(store_matrix_launch(test_queue, cgx_config_1d(1, N), kind, d_labels, d_m, d_m_end, d_m_seen));
        fetch(end, d_cells, sizeof end), fetch(seen, d_seen, sizeof seen), fetch(out, d_out, sizeof out);
        fetch(m_end, d_m_end, sizeof m_end), fetch(m_seen, d_m_seen, sizeof m_seen);
        for (int first = 0; first < N; first++) {
            int members[N], size = members_of(kind, N, first, members);
            if (!size)
                continue;
            check_group("affine", compose, NULL, sizeof(affine), 0, kind, N, members, size, (char *)in, (char *)start,
                        (char *)end, (char *)seen, (char *)out);
            for (int i = 0; i < size; i++)
                m_values[i] = m[members[i]];
            canonical_reduce(product, m_values, sizeof(matrix), size, &want);
            check_value(m_end + first, &want, sizeof want, NULL, "matrix", 0, 0, kind, N, first);
            for (int i = 0; i < size; i++)
                check_value(m_seen + members[i], &want, sizeof want, NULL, "matrix seen", 0, 0, kind, N, members[i]);
        }
        device_free(d_labels), device_free(d_in), device_free(d_cells), device_free(d_seen), device_free(d_out);
        device_free(d_m), device_free(d_m_end), device_free(d_m_seen);
    }
}

/* ---- many groups at one word ---- */

/* Every thread gets a piece of its own of the room, and a group's pieces follow one another. rows: R03 S04 X01 */
static void groups_together(void **state)
{
    enum { BLOCKS = 7, THREADS = 64, N = BLOCKS * THREADS };
    int wanted[N], first[N], words[5], start[5] = { 0 }, sum = 0, most = 0, bits = 0, odd = 0;
    char *taken;

    (void)state;
    for (int size = 1; size <= 64; size *= 4) {
        sum = most = bits = odd = 0;
        for (int i = 0; i < N; i++) {
            wanted[i] = random_below(10);
            sum += wanted[i], bits ^= wanted[i], odd += wanted[i] % 2 ? wanted[i] : 0;
            most = wanted[i] > most ? wanted[i] : most;
        }
        int *d_wanted = device_copy(wanted, sizeof wanted), *d_words = device_copy(start, sizeof start);
        int *d_first = device_memory(sizeof first);
        check_ok(update_together_launch(test_queue, cgx_config_1d(BLOCKS, THREADS), size, d_wanted, d_words, d_first));
        fetch(first, d_first, sizeof first), fetch(words, d_words, sizeof words);
        assert_int_equal(words[0], sum), assert_int_equal(words[1], sum), assert_int_equal(words[2], most);
        assert_int_equal(words[3], bits), assert_int_equal(words[4], odd);
        taken = host_memory((size_t)sum);
        memset(taken, 0, (size_t)sum);
        for (int i = 0; i < N; i++) {
            if (i % size)
                assert_int_equal(first[i], first[i - 1] + wanted[i - 1]);
            for (int k = 0; k < wanted[i]; k++) {
                assert_in_range(first[i] + k, 0, sum - 1);
                assert_int_equal(taken[first[i] + k]++, 0);
            }
        }
        free(taken);
        device_free(d_wanted), device_free(d_words), device_free(d_first);
    }
}

/* rows: R03 R04 R05 Y02 G02 */
static void when_results_are_there(void **state)
{
    int results[UPDATE_STEPS * 64], *out = device_memory(sizeof results);

    (void)state;
    check_ok(update_steps_launch(test_queue, cgx_config_1d(1, 64), out));
    fetch(results, out, sizeof results);
    for (int r = 0; r < 64; r++) {
        int want[UPDATE_STEPS] = { 64, 1, 320, r, 8, r % 8 == 3 ? 1 : 7, 64, 63 };
        for (int i = 0; i < UPDATE_STEPS; i++)
            if (results[i * 64 + r] != want[i])
                fail_msg("step %d, rank %d: %d, not %d", i, r, results[i * 64 + r], want[i]);
    }
    device_free(out);
}

/* rows: R03 R05 Y03 */
static void after_a_grid_sync(void **state)
{
    enum { BLOCKS = 6, THREADS = 20 };
    int results[BLOCKS * THREADS], *bad = device_memory(sizeof results),
                                   *words = device_memory((BLOCKS + 1) * sizeof *words);

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_ok(cgx_fill_i32(test_queue, words, 0, BLOCKS + 1));
    check_ok(update_then_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(BLOCKS, THREADS)), test_scaled(300),
                                     words, bad));
    fetch(results, bad, sizeof results);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        if (results[i])
            fail_msg("thread %d saw %d old words", i, results[i]);
    device_free(bad), device_free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_operators),     cmocka_unit_test(plain_stores_of_small_types),
        cmocka_unit_test(user_operators),         cmocka_unit_test(groups_together),
        cmocka_unit_test(when_results_are_there), cmocka_unit_test(after_a_grid_sync),
    };

    test_start_in_modes();
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("updates", tests, NULL, NULL));
}

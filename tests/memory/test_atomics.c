/* SPDX-License-Identifier: MIT */
/* Atomics: every operation, type, order and scope; sums under contention; locks; messages; fences. */
#include <math.h>
#include <unistd.h>
#include "../common/modes.h"
#include "atomics_kernels.h"

/* ---- one thread, against C ---- */

static double least(double a, double b)
{
    return isnan(a) || (b < a) || (a == b && signbit(b)) ? b : a;
}
static double largest(double a, double b)
{
    return isnan(a) || (b > a) || (a == b && !signbit(b)) ? b : a;
}
#define INTEGER_SUM(T, a, b) (T)((unsigned long long)(a) + (unsigned long long)(b))
#define FLOAT_SUM(T, a, b) (T)((a) + (b))
#define INTEGER_LEAST(T, a, b) ((a) < (b) ? (a) : (b))
#define INTEGER_LARGEST(T, a, b) ((a) > (b) ? (a) : (b))
#define FLOAT_LEAST(T, a, b) (T) least((double)(a), (double)(b))
#define FLOAT_LARGEST(T, a, b) (T) largest((double)(a), (double)(b))
#define INTEGER_BITS              \
    want[GOT_AND] = w, w &= v[7]; \
    want[GOT_OR] = w, w |= v[8];  \
    want[GOT_XOR] = w, w ^= v[0]; \
    want[GOT_LAST] = w;
#define FLOAT_BITS

/* Any NaN is as good as another where arithmetic made it (rule 10.10). */
#define INTEGER_SAME(a, b) !memcmp(&(a), &(b), sizeof(a))
#define FLOAT_SAME(a, b) (!memcmp(&(a), &(b), sizeof(a)) || (isnan(a) && isnan(b)))
/* A sum of floats in global memory may take subnormal numbers for zero (rule 14.6): the same in every row of results. */
static double without_subnormals(double v)
{
    return fabs(v) < 0x1p-126 ? copysign(0, v) : v;
}
#define INTEGER_MAY_FLUSH(T, shared) 0
#define FLOAT_MAY_FLUSH(T, shared) (sizeof(T) == 4 && !(shared))
#define INTEGER_FLUSHED(T, v) (v)
#define FLOAT_FLUSHED(T, v) (T) without_subnormals((double)(v))

#define CHECK_ALL(s, T, KIND)                                                                               \
    static void expect_##s(const T *v, int flush, T *want)                                                  \
    {                                                                                                       \
        T w = v[2], a = flush ? KIND##_FLUSHED(T, v[3]) : v[3], b = flush ? KIND##_FLUSHED(T, v[4]) : v[4]; \
        want[GOT_LOAD] = want[GOT_EXCHANGE] = v[0], want[GOT_FAILED] = 0, want[GOT_FOUND] = w;              \
        want[GOT_DONE] = 1, want[GOT_AFTER] = want[GOT_ADD] = v[3];                                         \
        w = KIND##_SUM(T, a, b);                                                                            \
        want[GOT_MIN] = w = flush ? KIND##_FLUSHED(T, w) : w;                                               \
        want[GOT_MAX] = w = KIND##_LEAST(T, w, v[5]);                                                       \
        want[GOT_END] = w = KIND##_LARGEST(T, w, v[6]);                                                     \
        KIND##_BITS                                                                                         \
    }                                                                                                       \
    static int same_##s(const T *got, const T *want)                                                        \
    {                                                                                                       \
        for (int i = 0; i < GOTS; i++)                                                                      \
            if (i < GOT_MIN ? memcmp(got + i, want + i, sizeof *got) : !KIND##_SAME(got[i], want[i]))       \
                return i;                                                                                   \
        return GOTS;                                                                                        \
    }                                                                                                       \
    static void check_all_##s(const T *v, int shared)                                                       \
    {                                                                                                       \
        T got[ORDERS * SCOPES * GOTS], want[GOTS] = { 0 }, flushed[GOTS] = { 0 };                           \
        T *in = device_copy(v, OPERANDS * sizeof *v), *word = device_memory(sizeof *word);                  \
        T *out = device_memory(sizeof got);                                                                 \
        memset(got, 0, sizeof got);                                                                         \
        check_ok(cgx_copy(test_queue, out, got, sizeof got));                                               \
        check_ok(atomics_##s##_launch(test_queue, cgx_config_1d(1, 1), shared, in, word, out));             \
        expect_##s(v, 0, want), expect_##s(v, KIND##_MAY_FLUSH(T, shared), flushed);                        \
        fetch(got, out, sizeof got);                                                                        \
        for (int row = 0; row < ORDERS * SCOPES; row++) {                                                   \
            const T *here = got + row * GOTS;                                                               \
            int i = same_##s(here, want);                                                                   \
            if (i < GOTS && same_##s(here, flushed) < GOTS)                                                 \
                fail_msg(#s " in %s memory, order %d, scope %d, result %d: %.17g, not %.17g",               \
                         shared ? "shared" : "global", row / SCOPES, row % SCOPES, i, (double)here[i],      \
                         (double)want[i]);                                                                  \
        }                                                                                                   \
        device_free(in), device_free(word), device_free(out);                                               \
    }
#define CHECK_ALL_INTEGER(s, T) CHECK_ALL(s, T, INTEGER)
#define CHECK_ALL_FLOAT(s, T) CHECK_ALL(s, T, FLOAT)
FOREACH_ATOMIC_INTEGER(CHECK_ALL_INTEGER)
FOREACH_ATOMIC_FLOAT(CHECK_ALL_FLOAT)

/* rows: X01 */
static void every_operation(void **state)
{
    (void)state;
    for (int round = 0; round < test_scaled(20); round++) {
        int shared = round % 2;
#define RANDOM_INTEGERS(s, T)                         \
    {                                                 \
        T v[OPERANDS];                                \
        for (int i = 0; i < OPERANDS; i++)            \
            v[i] = (T)random_u64();                   \
        v[1] = (T)(v[2] + 1); /* not what is found */ \
        check_all_##s(v, shared);                     \
    }
        FOREACH_ATOMIC_INTEGER(RANDOM_INTEGERS)
#define RANDOM_FLOATS(s, T)                               \
    {                                                     \
        T v[OPERANDS];                                    \
        for (int i = 0; i < OPERANDS; i++)                \
            v[i] = (T)(int64_t)random_u64() * (T)0x1p-40; \
        v[1] = v[2] + v[2];                               \
        check_all_##s(v, shared);                         \
    }
        FOREACH_ATOMIC_FLOAT(RANDOM_FLOATS)
    }
}

/* Decision 5: a number beats a NaN, -0 is below +0. v[3] + v[4] meets v[5] in a minimum and v[6] in a maximum. */
static void special_floats(void **state)
{
    static const double rows[][4] = {
        { -0.0, -0.0, 0.0, -0.0 },
        { 0.0, 0.0, -0.0, 0.0 },
        { NAN, 1, 2, 1 },
        { 1, 0, NAN, NAN },
        { INFINITY, 1, INFINITY, -INFINITY },
        { -INFINITY, 1, 1, 2 },
        { 1, 1, INFINITY, INFINITY },
        { 0x1p-149, 0, 0.0, -0.0 },
        { -0x1p-149, 0, -0.0, -0x1p-148 },
    };

    (void)state;
    for (size_t r = 0; r < COUNT_OF(rows); r++)
        for (int shared = 0; shared < 2; shared++) {
#define SPECIAL_FLOATS(s, T)                                                                           \
    {                                                                                                  \
        T v[OPERANDS] = { 1, 2, 3, (T)rows[r][0], (T)rows[r][1], (T)rows[r][2], (T)rows[r][3], 0, 0 }; \
        check_all_##s(v, shared);                                                                      \
    }
            FOREACH_ATOMIC_FLOAT(SPECIAL_FLOATS)
        }
}

/* ---- many threads ---- */

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

#define CHECK_CONTENDED(s, T)                                                                                       \
    static void check_contended_##s(int blocks, int threads, int rounds)                                            \
    {                                                                                                               \
        int n = blocks * threads * rounds, *ids = host_memory((size_t)(n + 1) * sizeof *ids);                       \
        int *counts = host_memory((size_t)n * sizeof *counts), *tickets, all;                                       \
        T start[CONTENDED] = { 0, 1000000, 0, (T)-1, 0, 0, 0, 5 }, *got = host_memory((size_t)n * sizeof *got);     \
        T end[CONTENDED], *words, *exchanged = device_memory((size_t)n * sizeof *exchanged);                        \
        T bits = (T)-1, ors = 0, xors = 0;                                                                          \
        start[WORD_EXCHANGE] = (T)n; /* nobody's number */                                                          \
        words = device_copy(start, sizeof start);                                                                   \
        tickets = device_memory((size_t)n * sizeof *tickets);                                                       \
        check_ok(cgx_fill_i32(test_queue, tickets, 0, (size_t)n));                                                  \
        check_ok(                                                                                                   \
            contended_##s##_launch(test_queue, cgx_config_1d(blocks, threads), rounds, words, exchanged, tickets)); \
        fetch(end, words, sizeof end);                                                                              \
        fetch(got, exchanged, (size_t)n * sizeof *got);                                                             \
        fetch(counts, tickets, (size_t)n * sizeof *counts);                                                         \
        for (int i = 0; i < n; i++) {                                                                               \
            assert_int_equal(counts[i], 1); /* each sum was seen once */                                            \
            ids[i] = (int)got[i];                                                                                   \
            bits &= (T) ~((T)1 << i % 30), ors |= (T)1 << i % 31, xors ^= (T)i;                                     \
        }                                                                                                           \
        ids[n] = (int)end[WORD_EXCHANGE];                                                                           \
        qsort(ids, (size_t)n + 1, sizeof *ids, compare_ints);                                                       \
        for (all = 0; all <= n; all++)                                                                              \
            assert_int_equal(ids[all], all); /* nothing was lost or doubled on the way */                           \
        assert_true(end[WORD_ADD] == (T)n && end[WORD_MIN] == (T)(1000000 - n + 1) && end[WORD_MAX] == (T)(n - 1)); \
        assert_true(end[WORD_AND] == bits && end[WORD_OR] == ors && end[WORD_XOR] == xors);                         \
        assert_true(end[WORD_CAS] == (T)(5 + 3 * n));                                                               \
        free(ids), free(counts), free(got);                                                                         \
        device_free(words), device_free(exchanged), device_free(tickets);                                           \
    }
FOREACH_ATOMIC_INTEGER(CHECK_CONTENDED)

#define CHECK_CONTENDED_FLOAT(s, T)                                                                  \
    static void check_contended_##s(int blocks, int threads, int rounds)                             \
    {                                                                                                \
        int n = blocks * threads * rounds;                                                           \
        T end[CONTENDED] = { 0 }, sum = 0, *words = device_copy(end, sizeof end);                    \
        check_ok(contended_##s##_launch(test_queue, cgx_config_1d(blocks, threads), rounds, words)); \
        fetch(end, words, sizeof end);                                                               \
        for (int i = 0; i < n; i++)                                                                  \
            sum += (T)(i % 7) * (T)0.25;                                                             \
        assert_true(end[WORD_ADD] == sum && end[WORD_CAS] == (T)n * (T)0.5);                         \
        assert_true(end[WORD_MIN] == (T)(1 - n) && end[WORD_MAX] == (T)(n - 1));                     \
        device_free(words);                                                                          \
    }
FOREACH_ATOMIC_FLOAT(CHECK_CONTENDED_FLOAT)

/* rows: X01 */
static void contention(void **state)
{
    (void)state;
#define CONTENDED(s, T) check_contended_##s(9, 100, test_scaled(30));
    FOREACH_ATOMIC(CONTENDED)
#undef CONTENDED
}

static void contention_in_a_block(void **state)
{
    enum { BLOCKS = 3, THREADS = 100 };
    int rounds = test_scaled(200);
    unsigned long long sums[3 * BLOCKS], *out = device_memory(sizeof sums);

    (void)state;
    check_ok(contended_in_block_launch(test_queue, cgx_config_1d(BLOCKS, THREADS), rounds, out));
    fetch(sums, out, sizeof sums);
    for (int i = 0; i < BLOCKS; i++) {
        assert_true(sums[3 * i] == (unsigned long long)(THREADS * (THREADS - 1) / 2 * rounds) << 20);
        assert_true(sums[3 * i + 1] == (unsigned long long)(THREADS * rounds));
        assert_true(sums[3 * i + 2] == (unsigned long long)(THREADS * rounds));
    }
    device_free(out);
}

/* ---- locks ---- */

/* rows: X01 */
static void locks(void **state)
{
    (void)state;
    for (int way = 0; way < LOCK_WAYS; way++)
        for (int one = 0; one < 2; one++) {
            long long start[4] = { 0 }, end[4], *plain;
            int zeros[2] = { 0 }, *lock = device_copy(zeros, sizeof zeros), rounds = test_scaled(one ? 100 : 10);
            long long n = one ? 6 * rounds : 6 * 50 * rounds;
            if (!one && !test_explains_misuse())
                continue; /* lanes of one warp that wait for one another: see docs, "Progress" */
            plain = device_copy(start, sizeof start);
            check_ok(locked_launch(test_queue, cgx_config_1d(6, 50), way, rounds, one, lock, plain));
            fetch(end, plain, sizeof end);
            assert_true(end[0] == n && end[1] == n * (n - 1) / 2 && end[2] == 0);
            device_free(plain), device_free(lock);
        }
}

static void a_lock_in_shared_memory(void **state)
{
    int results[3 * 40], *out = device_memory(sizeof results), rounds = test_scaled(20);

    (void)state;
    if (!test_explains_misuse())
        return;
    check_ok(locked_in_block_launch(test_queue, cgx_config_1d(3, 40), rounds, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 3 * 40; i++)
        assert_int_equal(results[i], 40 * rounds);
    device_free(out);
}

/* ---- messages ---- */

/* rows: X01 */
static void messages_between_blocks(void **state)
{
    enum { PAIRS = 3, THREADS = 20 };
    int start[PAIRS * PASS_INTS], results[2 * PAIRS * THREADS], rounds = test_scaled(200);

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    for (int i = 0; i < PAIRS * PASS_INTS; i++)
        start[i] = i % PASS_INTS;
    for (int way = 0; way < PASS_WAYS; way++) {
        int *flags = device_memory(PAIRS * 64 * sizeof *flags), *data = device_copy(start, sizeof start);
        int *bad = device_memory(sizeof results);
        check_ok(cgx_fill_i32(test_queue, flags, 0, PAIRS * 64));
        check_ok(ping_pong_launch(test_queue, cgx_cooperative(cgx_config_1d(2 * PAIRS, THREADS)), way, rounds, flags,
                                  data, bad));
        fetch(results, bad, sizeof results);
        for (size_t i = 0; i < COUNT_OF(results); i++)
            if (results[i])
                fail_msg("way %d: %d plain integers were old, thread %d", way, results[i], (int)i);
        device_free(flags), device_free(data), device_free(bad);
    }
}

static void messages_in_a_block(void **state)
{
    static const int sizes[] = { 2, 31, 64, 100 };
    int results[1024], *out = device_memory(sizeof results), rounds = test_scaled(20);

    (void)state;
    if (!test_explains_misuse())
        return;
    for (int way = 0; way < PASS_WAYS; way++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            int n = sizes[s];
            check_ok(pass_in_block_launch(test_queue, cgx_config_1d(1, n), way, rounds, out));
            fetch(results, out, sizeof results);
            for (int r = 0; r < n; r++) {
                int sum = 0;
                for (int i = 0; i < rounds; i++)
                    sum += i + (i % 2 ? n - 1 - r : r);
                if (results[r] != sum)
                    fail_msg("way %d, %d threads, thread %d: %d, not %d", way, n, r, results[r], sum);
            }
        }
    device_free(out);
}

/* rows: X01 */
static void sequential_consistency(void **state)
{
    int rounds = test_scaled(2000);
    int *seen = host_memory((size_t)rounds * 2 * sizeof *seen), *out = device_memory((size_t)rounds * 2 * sizeof *out);
    int *x = device_memory(128 * sizeof *x);

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    for (int way = 0; way < 2; way++) {
        check_ok(cgx_fill_i32(test_queue, x, 0, 128));
        check_ok(store_buffering_launch(test_queue, cgx_cooperative(cgx_config_1d(2, 1)), way, rounds, x, out));
        fetch(seen, out, (size_t)rounds * 2 * sizeof *seen);
        for (int i = 0; i < rounds; i++)
            if (!seen[i] && !seen[rounds + i])
                fail_msg("way %d, round %d: neither thread saw the other's store", way, i);
    }
    device_free(x), device_free(out), free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation),
        cmocka_unit_test(special_floats),
        cmocka_unit_test(contention),
        cmocka_unit_test(contention_in_a_block),
        cmocka_unit_test(locks),
        cmocka_unit_test(a_lock_in_shared_memory),
        cmocka_unit_test(messages_between_blocks),
        cmocka_unit_test(messages_in_a_block),
        cmocka_unit_test(sequential_consistency),
    };

    test_start_in_modes();
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("atomics", tests, NULL, NULL));
}

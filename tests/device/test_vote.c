/* SPDX-License-Identifier: MIT */
/* Votes, ballots and matches. */
#include <math.h>
#include "../common/check.h"
#include "vote_kernels.h"

enum { N = 1024 };
static int values[N];
static votes results[N];

static void random_numbers(int n, int group, int kind)
{
    for (int i = 0; i < n; i++) {
        values[i] = kind == 0 ? random_below(16) : kind == 1 ? 8 + random_below(4) : 13;
        if (kind == 1 && i % (3 * group) == group / 2)
            values[i] = 4;
    }
}

static void check_votes(int n, int group, int narrow)
{
    for (int i = 0; i < n; i++) {
        votes e = { 0, 1, 0, 0, 0, 0, 0, 1 };
        int first = i / group * group;
        for (int k = first; k < first + group; k++) {
            cgx_mask bit = narrow ? (cgx_mask)1 << (k - first) : 0;
            e.any |= !!(values[k] & 4);
            e.all &= !!(values[k] & 8);
            e.ballot |= values[k] & 2 ? bit : 0;
            e.match |= values[k] == values[i] ? bit : 0;
            e.match_long |= (values[k] & 1) == (values[i] & 1) ? bit : 0;
            e.everybody |= bit;
            e.same &= values[k] == values[i];
        }
        e.match_longs = e.match;
        e.everybody = e.same ? e.everybody : 0;
        if (results[i].any != e.any || results[i].all != e.all)
            fail_msg("group of %d, thread %d: any %d, all %d", group, i, results[i].any, results[i].all);
        if (narrow && (results[i].ballot != e.ballot || results[i].match != e.match ||
                       results[i].match_long != e.match_long || results[i].match_longs != e.match_longs))
            fail_msg("group of %d, thread %d: ballot or match_any", group, i);
        if (narrow && (results[i].everybody != e.everybody || !results[i].same != !e.same))
            fail_msg("group of %d, thread %d: match_all", group, i);
    }
}

static void check(cgx_status (*launch)(cgx_queue *, cgx_config, int, const int *, votes *), int n, int size, int narrow)
{
    for (int kind = 0; kind < 3; kind++) {
        void *in, *out = device_memory(sizeof results);
        random_numbers(n, size ? size : n, kind);
        in = device_copy(values, sizeof values);
        check_ok(launch(test_queue, cgx_config_1d(1, n), size, in, out));
        fetch(results, out, sizeof results);
        check_votes(n, size ? size : n, narrow);
        device_free(in);
        device_free(out);
    }
}

/* rows: G04 G08 T02 */
static void narrow_tiles(void **state)
{
    (void)state;
    for (int size = 1; size <= 64; size *= 2) {
        check(vote_launch, N, size, 1);
        check(vote_launch, 3 * size, size, 1);
    }
}

/* rows: G04 T01 G08 */
static void typed_tiles(void **state)
{
    void *in, *out = device_memory(sizeof results);

    (void)state;
    random_numbers(N, 16, 0);
    in = device_copy(values, sizeof values);
#define CHECK_TILE(SIZE)                                                           \
    check_ok(vote_tile_##SIZE##_launch(test_queue, cgx_config_1d(1, N), in, out)); \
    fetch(results, out, sizeof results);                                           \
    check_votes(N, SIZE, 1);
    FOREACH_NARROW_SIZE(CHECK_TILE)
    device_free(in);
    device_free(out);
}

/* rows: G01 G08 */
static void small_blocks(void **state)
{
    (void)state;
    for (int n = 1; n <= 64; n++)
        check(vote_launch, n, 0, 1);
}

/* rows: G01 G04 G07 */
static void wide_groups(void **state)
{
    static const int sizes[] = { 65, 100, 257, 511, 777, 1023, 1024 };

    (void)state;
    for (int size = 1; size <= 1024; size *= 2)
        check(vote_wide_launch, N, size, 0);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        check(vote_wide_launch, sizes[i], 0, 0);
}

/* rows: G04 */
static void matches_are_of_bytes(void **state)
{
    const float numbers[8] = { 0.0f, -0.0f, NAN, 1, 0.0f, NAN, -0.0f, 1 };
    const cgx_mask expected[8] = { 0x11, 0x42, 0x24, 0x88, 0x11, 0x24, 0x42, 0x88 };
    cgx_mask masks[8];
    void *in = device_copy(numbers, sizeof numbers), *out = device_memory(sizeof masks);

    (void)state;
    check_ok(match_bytes_launch(test_queue, cgx_config_1d(1, 8), in, out));
    fetch(masks, out, sizeof masks);
    for (int i = 0; i < 8; i++)
        assert_int_equal(masks[i], expected[i]);
    device_free(in);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_tiles), cmocka_unit_test(typed_tiles),          cmocka_unit_test(small_blocks),
        cmocka_unit_test(wide_groups),  cmocka_unit_test(matches_are_of_bytes),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("vote", tests, NULL, NULL));
}

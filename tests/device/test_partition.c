/* SPDX-License-Identifier: MIT */
/* Groups that labels and predicates make, and collectives in them, several groups of one warp at the same time. */
#include "../common/check.h"
#include "canonical.h"
#include "partition_kernels.h"

enum { N = 256 };
static int64_t labels[N];
static float values[N];
static group_view views[N];

/* The group of thread R among threads FIRST to FIRST + SIZE - 1 that KEY splits: what it has to see. */
static void check_view(const int64_t *key, int first, int size, int r, int binary, const char *what)
{
    int members[64], n = 0, rank = 0, meta_rank = 0, meta_size = 0, any = 0, all = 1;
    const group_view *v = views + r;
    float of_members[64], scan[64], sum, zero = 0;
    cgx_mask ballot = 0, match = 0;

    for (int i = first; i < first + size; i++) {
        int is_new = 1;
        for (int k = first; k < i; k++)
            is_new &= key[k] != key[i];
        if (key[i] == key[r] && is_new)
            meta_rank = meta_size;
        meta_size += is_new;
        if (key[i] != key[r])
            continue;
        if (i == r)
            rank = n;
        any |= i % 16 == 3;
        all &= i % 16 < 14;
        ballot |= (cgx_mask)(i % 3 == 0) << n;
        match |= (cgx_mask)(i % 5 == r % 5) << n;
        of_members[n] = values[i];
        members[n++] = i;
    }
    if (binary)
        meta_rank = meta_size == 2 ? (int)key[r] : 0;
    canonical_reduce(plus_f32, of_members, sizeof sum, n, &sum);
    canonical_inclusive(plus_f32, of_members, sizeof sum, n, scan);
    if (v->rank != rank || v->size != n || v->meta_rank != meta_rank || v->meta_size != meta_size ||
        v->elected != (rank == 0))
        fail_msg("%s, tile of %d, thread %d: rank %d of %d, group %d of %d, not %d of %d, %d of %d", what, size, r,
                 v->rank, v->size, v->meta_rank, v->meta_size, rank, n, meta_rank, meta_size);
    if (memcmp(&v->sum, &sum, 4) || memcmp(&v->upto, scan + rank, 4) ||
        memcmp(&v->below, rank ? scan + rank - 1 : &zero, 4) || v->largest != (int64_t)members[n - 1] << 33)
        fail_msg("%s, tile of %d, thread %d: reduce or scan", what, size, r);
    if (v->from_first != members[0] || v->from_next != members[rank + 1 < n ? rank + 1 : rank] ||
        v->from_last != members[n - 1])
        fail_msg("%s, tile of %d, thread %d: shuffles", what, size, r);
    if (v->any != any || v->all != all || v->ballot != ballot || v->match != match)
        fail_msg("%s, tile of %d, thread %d: votes", what, size, r);
}

typedef cgx_status view_launch(cgx_queue *queue, cgx_config config, int size, const int64_t *labels,
                               const float *values, group_view *out);

static void each_size(view_launch *launch, int kinds, int binary, int most, const char *what)
{
    void *in_labels, *in_values, *out = device_memory(sizeof views);
    int64_t key[N];

    for (int i = 0; i < N; i++) {
        labels[i] = (int64_t)random_below(kinds) * 0x100000001 - (binary ? 0 : 5);
        values[i] = (float)random_u64() * 0x1p-64f;
        key[i] = binary ? labels[i] & 1 : labels[i];
    }
    in_labels = device_copy(labels, sizeof labels), in_values = device_copy(values, sizeof values);
    for (int size = 1; size <= most; size *= 2) {
        check_ok(launch(test_queue, cgx_config_1d(1, N), size, in_labels, in_values, out));
        fetch(views, out, sizeof views);
        for (int r = 0; r < N; r++)
            check_view(key, r / size * size, size, r, binary, what);
    }
    device_free(in_labels);
    device_free(in_values);
    device_free(out);
}

/* rows: T03 G06 R02 S01 S02 R07 G08 */
static void by_label(void **state)
{
    (void)state;
    for (int kinds = 1; kinds <= 64; kinds *= 2)
        each_size(labelled_launch, kinds, 0, 32, "labelled");
}

/* Tiles of 64 where a warp has 32 threads, too: the parents go up to 64. rows: T03 */
static void by_label_in_tiles_of_64(void **state)
{
    (void)state;
    each_size(labelled_launch, 5, 0, 64, "labelled");
    each_size(binary_launch, 8, 1, 64, "binary");
}

/* rows: T04 G06 */
static void by_predicate(void **state)
{
    (void)state;
    for (int round = 0; round < 5; round++)
        each_size(binary_launch, 1 + round, 1, 32, "binary");
}

/* A group of a group: meta ranks count the groups of the same parent only. rows: T03 G06 */
static void twice(void **state)
{
    void *in_labels, *in_values, *out = device_memory(sizeof views);

    (void)state;
    for (int i = 0; i < N; i++) {
        labels[i] = random_below(16);
        values[i] = 1;
    }
    in_labels = device_copy(labels, sizeof labels), in_values = device_copy(values, sizeof values);
    check_ok(labelled_twice_launch(test_queue, cgx_config_1d(1, N), 32, in_labels, in_values, out));
    fetch(views, out, sizeof views);
    for (int r = 0; r < N; r++) {
        int first = r / 32 * 32, n = 0, rank = 0, meta_rank = 0, meta_size = 0;
        for (int i = first; i < first + 32; i++) {
            int is_new = (labels[i] & 3) == (labels[r] & 3);
            for (int k = first; k < i; k++)
                is_new &= labels[k] != labels[i];
            if (labels[i] == labels[r] && is_new)
                meta_rank = meta_size;
            meta_size += is_new;
            rank += labels[i] == labels[r] && i < r;
            n += labels[i] == labels[r];
        }
        assert_int_equal(views[r].rank, rank);
        assert_int_equal(views[r].size, n);
        assert_int_equal(views[r].meta_rank, meta_rank);
        assert_int_equal(views[r].meta_size, meta_size);
        assert_true(views[r].sum == (float)n && views[r].below == (float)rank);
    }
    device_free(in_labels);
    device_free(in_values);
    device_free(out);
}

/* rows: G06 T03 T04 R02 S01 */
static void groups_that_do_different_things(void **state)
{
    int kinds[N], results[N];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < N; i++)
        kinds[i] = random_below(4);
    in = device_copy(kinds, sizeof kinds);
    check_ok(different_branches_launch(test_queue, cgx_config_1d(1, N), in, out));
    fetch(results, out, sizeof results);
    for (int r = 0; r < N; r++) {
        int expected = 0, previous = r;
        for (int i = r / 32 * 32; i < r / 32 * 32 + 32; i++) {
            if (kinds[i] != kinds[r])
                continue;
            if (kinds[r] == 0)
                expected += i;
            else if (kinds[r] == 1)
                expected += i <= r ? 2 * i : 0;
            else if (kinds[r] == 2)
                previous = i < r ? i : previous;
            else
                for (int bit = 0; bit < 4; bit++)
                    expected += !(i & 1 << bit) == !(r & 1 << bit);
        }
        assert_int_equal(results[r], kinds[r] == 2 ? 3 * previous : expected);
    }
    device_free(in);
    device_free(out);
}

/* rows: Y02 G06 */
static void synchronisation(void **state)
{
    enum { ROUNDS = 5 };
    int kinds[N], results[N];
    void *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < N; i++)
        kinds[i] = random_below(6);
    in = device_copy(kinds, sizeof kinds);
    check_ok(synchronised_launch(test_queue, cgx_config_1d(1, N), in, ROUNDS, out));
    fetch(results, out, sizeof results);
    for (int r = 0; r < N; r++) {
        int first = r / 32 * 32, members[32], n = 0, rank = 0, groups_before = 0;
        for (int i = first; i < first + 32; i++)
            if (kinds[i] == kinds[r]) {
                rank = i == r ? n : rank;
                members[n++] = i;
            }
        for (int i = first; i < members[0]; i++) {
            int is_new = 1;
            for (int k = first; k < i; k++)
                is_new &= kinds[k] != kinds[i];
            groups_before += is_new;
        }
        assert_int_equal(results[r], members[(rank + ROUNDS * (groups_before + 1)) % n]);
    }
    device_free(in);
    device_free(out);
}

/* rows: T03 */
static void types_of_labels(void **state)
{
    int counts[4 * 64], *out = device_memory(sizeof counts);

    (void)state;
    check_ok(label_types_launch(test_queue, cgx_config_1d(1, 64), out));
    fetch(counts, out, sizeof counts);
    for (int r = 0; r < 64; r++) {
        assert_int_equal(counts[4 * r], 16);
        assert_int_equal(counts[4 * r + 1], 8);
        assert_int_equal(counts[4 * r + 2], 4);
        assert_int_equal(counts[4 * r + 3], 16);
    }
    device_free(out);
}

/* rows: T04 */
static void odd_and_even(void **state)
{
    int results[64], *out = device_memory(sizeof results);

    (void)state;
    check_ok(odd_even_launch(test_queue, cgx_config_1d(1, 64), out));
    fetch(results, out, sizeof results);
    for (int r = 0; r < 64; r++)
        assert_int_equal(results[r], 16 * (r / 32 * 32 + r % 2) + 2 * 15 * 16 / 2);
    device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_label),        cmocka_unit_test(by_predicate),
        cmocka_unit_test(twice),           cmocka_unit_test(groups_that_do_different_things),
        cmocka_unit_test(synchronisation), cmocka_unit_test(types_of_labels),
        cmocka_unit_test(odd_and_even),    cmocka_unit_test(by_label_in_tiles_of_64),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("partition", tests, NULL, NULL));
}

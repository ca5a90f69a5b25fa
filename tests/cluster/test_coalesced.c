/* SPDX-License-Identifier: MIT */
/* Coalesced groups in branches that random numbers choose: thousands of masks, each with all collectives bit for bit,
 * and partitions of partitions. */
#include <unistd.h>
#include "../common/modes.h"
#include "../device/canonical.h"
#include "coalesced_kernels.h"

DEFINE_OPERATOR(product, matrix,
                ((matrix){ a.a * b.a + a.b * b.c, a.a *b.b + a.b *b.d, a.c *b.a + a.d *b.c, a.c *b.b + a.d *b.d }))

static const coalesced_value *values;
static const coalesced_answers *answers;

/* Everything member K of N is told, from the serial evaluation. MEMBERS are indices of values and answers. */
#define SAME(a, b) !memcmp(&(a), &(b), sizeof(b))
#define EXPECT(what, want)                                                                         \
    do {                                                                                           \
        __typeof__(answers->what) expected = (want);                                               \
        if (!SAME(a->what, expected))                                                              \
            fail_msg("member %d of %d, index %d: " #what " is 0x%s, not 0x%s", k, n, members[k],   \
                     hex_value(&a->what, sizeof expected), hex_value(&expected, sizeof expected)); \
    } while (0)

static float float_reduce(const int *members, int n)
{
    float v[64], r;
    for (int i = 0; i < n; i++)
        v[i] = values[members[i]].v;
    canonical_reduce(plus_f32, v, 4, n, &r);
    return r;
}

static int select_members(const int *members, int n, int mask, int value, int *chosen)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        if ((values[members[i]].i & mask) == value)
            chosen[count++] = members[i];
    return count;
}

static void check_group(const int *members, int n, int threads)
{
    int32_t ints[64], scan[64], before[64], sum;
    float floats[64], inclusive[64], exclusive[64], reduced;
    matrix m[64], m_scan[64], m_product;
    int any = 0, all = 1, labels[4], label_count = 0;
    cgx_mask ballot = 0;

    for (int i = 0; i < n; i++) {
        const coalesced_value *v = values + members[i];
        ints[i] = v->i, floats[i] = v->v, m[i] = v->m;
        any |= v->i % 16 == 0, all &= v->i % 8 != 0;
        ballot |= (cgx_mask)(v->i & 1) << i;
        int known = 0;
        for (int l = 0; l < label_count; l++)
            known |= labels[l] == (v->i & 3);
        if (!known)
            labels[label_count++] = v->i & 3;
    }
    canonical_reduce(plus_i32, ints, 4, n, &sum);
    canonical_inclusive(greater_i32, ints, 4, n, scan);
    canonical_exclusive(bit_xor_i32, ints, 4, n, before);
    canonical_reduce(plus_f32, floats, 4, n, &reduced);
    canonical_inclusive(plus_f32, floats, 4, n, inclusive);
    canonical_exclusive(plus_f32, floats, 4, n, exclusive);
    canonical_reduce(product, m, sizeof *m, n, &m_product);
    canonical_inclusive(product, m, sizeof *m, n, m_scan);
    for (int k = 0; k < n; k++) {
        const coalesced_answers *a = answers + members[k];
        int same[64], count, place, meta = 0, other;
        float child_floats[64], child_scan[64];
        cgx_mask match = 0;
        EXPECT(size, n);
        EXPECT(rank, k);
        EXPECT(first, members[0] % threads);
        EXPECT(meta_size, 1);
        EXPECT(meta_rank, 0);
        EXPECT(from_next, ints[(k + 1) % n]);
        EXPECT(up, ints[k >= 2 ? k - 2 : k]);
        EXPECT(down, ints[k + 3 < n ? k + 3 : k]);
        EXPECT(any, any);
        EXPECT(all, all);
        EXPECT(ballot, ballot);
        for (int i = 0; i < n; i++)
            match |= (cgx_mask)((ints[i] & 3) == (ints[k] & 3)) << i;
        EXPECT(match, match);
        EXPECT(sum, sum);
        EXPECT(scan, scan[k]);
        EXPECT(before, before[k]);
        EXPECT(reduced, reduced);
        EXPECT(inclusive, inclusive[k]);
        EXPECT(exclusive, exclusive[k]);
        EXPECT(product, m_product);
        EXPECT(product_scan, m_scan[k]);
        count = select_members(members, n, 3, ints[k] & 3, same);
        for (place = 0; same[place] != members[k]; place++)
            ;
        for (int i = 0; i < count; i++)
            child_floats[i] = values[same[i]].v;
        canonical_inclusive(plus_f32, child_floats, 4, count, child_scan);
        while (labels[meta] != (ints[k] & 3))
            meta++;
        EXPECT(child_size, count);
        EXPECT(child_rank, place);
        EXPECT(child_meta_size, label_count);
        EXPECT(child_meta_rank, meta);
        EXPECT(child_reduced, float_reduce(same, count));
        EXPECT(child_scan, child_scan[place]);
        other = select_members(members, n, 7, ints[k] & 7, same);
        for (place = 0; same[place] != members[k]; place++)
            ;
        EXPECT(grandchild_size, other);
        EXPECT(grandchild_rank, place);
        EXPECT(grandchild_meta_size, other == count ? 1 : 2);
        EXPECT(grandchild_meta_rank, other == count ? 0 : !!(ints[k] & 4));
        EXPECT(grandchild_reduced, float_reduce(same, other));
        if (a->branch == 3 && ints[k] & 8) {
            int32_t inner = 0;
            count = select_members(members, n, 8, 8, same);
            for (int i = 0; i < count; i++)
                inner += values[same[i]].i;
            EXPECT(inner_size, count);
            EXPECT(inner_sum, inner);
        }
    }
}

/* rows: G06 T03 T04 R02 R06 R07 S01 S02 G08 */
static void random_masks(void **state)
{
    static const int sizes[] = { 64, 32, 100, 17 };
    static const int odds[] = { 50, 90, 10, 2 };
    int masks = 0, launches = test_scaled(20), lanes = test_device.lanes;

    (void)state;
    for (int launch = 0; launch < launches; launch++) {
        int threads = sizes[launch % 4], blocks = 2 + launch % 3, rounds = 24, total = blocks * rounds * threads;
        unsigned char *branches = host_memory((size_t)total), *d_branches;
        coalesced_value *in = host_memory((size_t)total * sizeof *in), *d_in;
        coalesced_answers *got = host_memory((size_t)total * sizeof *got), *out;
        for (int i = 0; i < total; i++) {
            int likely = random_below(100) < odds[(launch + i / threads) % 4];
            branches[i] = (unsigned char)(likely ? 1 + random_below(launch % 2 ? 3 : 1) : random_below(4));
            in[i].i = random_below(1 << 16) << 4 | random_below(16);
            in[i].v = (float)(int64_t)random_u64() * 0x1p-60f;
            in[i].m = (matrix){ random_below(1000) * 1e-3, random_below(1000) * 1e-3, random_below(1000) * -1e-3, 0.9 };
        }
        d_branches = device_copy(branches, (size_t)total), d_in = device_copy(in, (size_t)total * sizeof *in);
        out = device_memory((size_t)total * sizeof *out);
        check_ok(coalesced_rounds_launch(test_queue, cgx_config_1d(blocks, threads), rounds, d_branches, d_in, out));
        fetch(got, out, (size_t)total * sizeof *got);
        values = in, answers = got;
        for (int row = 0; row < total; row += threads)
            for (int warp = row; warp < row + threads; warp += lanes)
                for (int branch = 1; branch < 4; branch++) {
                    int members[64], n = 0;
                    for (int i = warp; i < warp + lanes && i < row + threads; i++)
                        if (branches[i] == branch) {
                            assert_int_equal(got[i].branch, branch);
                            members[n++] = i;
                        }
                    if (n) {
                        check_group(members, n, threads);
                        masks++;
                    }
                }
        device_free(d_branches), device_free(d_in), device_free(out);
        free(branches), free(in), free(got);
    }
    printf("%d masks\n", masks);
    assert_true(masks >= 100 * launches);
}

/* The group shrinks as threads leave the loop; nobody is left out while it is in. rows: G06 */
static void loops(void **state)
{
    enum { N = 3 * 128 };
    int trips[N], results[N], *in, *out = device_memory(sizeof results), lanes = test_device.lanes;

    (void)state;
    for (int round = 0; round < test_scaled(10); round++) {
        for (int i = 0; i < N; i++)
            trips[i] = random_below(12);
        in = device_copy(trips, sizeof trips);
        check_ok(coalesced_loops_launch(test_queue, cgx_config_1d(3, 128), in, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < N; i++) {
            int sum = 0;
            for (int k = i / lanes * lanes; k < i / lanes * lanes + lanes; k++)
                sum += trips[k] < trips[i] ? trips[k] : trips[i];
            assert_int_equal(results[i], sum);
        }
        device_free(in);
    }
    device_free(out);
}

/* rows: G06 Y02 */
static void beside_barriers(void **state)
{
    int results[128], *out = device_memory(sizeof results);

    (void)state;
    check_ok(coalesced_beside_launch(test_queue, cgx_config_1d(1, 128), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 128; i++)
        assert_int_equal(results[i], i % 4 == 3 ? (int)0xa5a5a5a5 : i % 2 ? test_device.lanes / 4 : 0);
    device_free(out);
}

/* rows: G06 S04 X01 */
static void room_in_a_buffer(void **state)
{
    enum { N = 5 * 96 };
    int wanted[N], room[N * 4], *in, *d_room = device_memory(sizeof room), zero = 0, used, total, counts[N];

    (void)state;
    for (int round = 0; round < test_scaled(20); round++) {
        total = 0;
        for (int i = 0; i < N; i++)
            total += wanted[i] = random_below(3) ? 0 : random_below(5);
        in = device_copy(wanted, sizeof wanted);
        int *d_used = device_copy(&zero, sizeof zero);
        check_ok(coalesced_room_launch(test_queue, cgx_config_1d(5, 96), in, d_used, d_room));
        fetch(&used, d_used, sizeof used), fetch(room, d_room, sizeof room);
        assert_int_equal(used, total);
        memset(counts, 0, sizeof counts);
        for (int i = 0; i < total; i++) {
            assert_in_range(room[i], 0, N - 1);
            counts[room[i]]++;
            assert_true(counts[room[i]] == 1 || room[i - 1] == room[i]); /* in one piece */
        }
        for (int i = 0; i < N; i++)
            assert_int_equal(counts[i], wanted[i]);
        device_free(in), device_free(d_used);
    }
    device_free(d_room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_masks),
        cmocka_unit_test(loops),
        cmocka_unit_test(beside_barriers),
        cmocka_unit_test(room_in_a_buffer),
    };

    test_start_in_modes();
    if (!test_can(CGX_CAN_UNIFIED))
        skip_program("which threads come together is this device's choice"); /* on the CPU it is a promise */
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("coalesced", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* Copies that may run beside the threads: every size and alignment to the last byte, zeros, stages with N known at run
 * time, barriers that copies complete on, bulk copies and stores; and that a missing wait is seen where copies are
 * late. */
#include <sys/mman.h>
#include <unistd.h>
#include "../common/modes.h"
#include "copies_kernels.h"

static const unsigned POISON = 0xcbcbcbcb;
static unsigned char bytes[4096];

static void check_report(int *report, const char *what, int kind)
{
    int r[REPORT_INTS];
    fetch(r, report, sizeof r);
    if (r[0])
        fail_msg("%s, kind %d: %d bytes are wrong; one is 0x%02x: %d bytes, offsets or N %d and %d, place %d", what,
                 kind, r[0], r[5], r[1], r[2], r[3], r[4]);
    device_free(report);
}

static int *new_report(void)
{
    int *report = device_memory(REPORT_INTS * sizeof *report);
    check_ok(cgx_fill_i32(test_queue, report, 0, REPORT_INTS));
    return report;
}

static void *random_bytes(void)
{
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)random_below(200); /* neither 0xcb nor 0xee */
    return device_copy(bytes, sizeof bytes);
}

/* rows: A01 A02 A03 A04 P06 G01 G04 G06 */
static void every_size_and_alignment(void **state)
{
    unsigned char *in = random_bytes();

    (void)state;
    for (int kind = 0; kind < COPY_KINDS; kind++) {
        int *report = new_report(), smallest = 0, largest = COPY_MOST;
        if (getenv("CGX_TEST_SMALL"))
            smallest = random_below(2) ? random_below(COPY_MOST - 10) : 0, largest = smallest + 10;
        check_ok(copy_sizes_launch(test_queue, cgx_config_1d(4, 64), kind, smallest, largest, in, report));
        check_report(report, "sizes", kind);
    }
    device_free(in);
}

/* rows: A01 A04 */
static void sizes_by_blocks_of_other_shapes(void **state)
{
    static const cgx_dim3 blocks[] = { { 1, 1, 1 }, { 3, 1, 1 }, { 7, 5, 2 }, { 1024, 1, 1 } };
    unsigned char *in = random_bytes();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(blocks); i++) {
        int *report = new_report(), smallest = random_below(COPY_MOST - 4);
        check_ok(copy_sizes_launch(test_queue, cgx_config_make(cgx_dim(2, 1, 1), blocks[i]), COPY_BLOCK, smallest,
                                   smallest + (blocks[i].x > 100 ? 1 : 4), in, report));
        check_report(report, "blocks", (int)i);
    }
    device_free(in);
}

/* rows: A03 */
static void aligned_sizes(void **state)
{
    unsigned char *in = random_bytes();

    (void)state;
    for (int n = 1; n <= 16; n *= 2)
        for (int kind = 0; kind < 3; kind++) {
            int *report = new_report();
            check_ok(copy_aligned_launch(test_queue, cgx_config_1d(1, 64), n, kind, in, report));
            check_report(report, "aligned", kind);
        }
    device_free(in);
}

/* The last zfill bytes become zero and their source is not read. rows: P01 P02 P03 P04 */
static void zeros(void **state)
{
    unsigned char *in = random_bytes(), *guard = NULL;
    int *report = new_report();

    (void)state;
    if (test_can(CGX_CAN_UNIFIED)) {
        guard = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(guard != MAP_FAILED);
    }
    check_ok(copy_zfill_launch(test_queue, cgx_config_1d(2, 64), in, guard, report));
    check_report(report, "zfill", 0);
    if (guard)
        munmap(guard, 4096);
    device_free(in);
}

/* rows: A01 A06 G02 */
static void other_directions(void **state)
{
    static const int clusters[] = { 1, 2, 5 };
    int values[5 * 64], results[5 * 256];

    (void)state;
    for (size_t k = 0; k < COUNT_OF(clusters); k++) {
        int n = clusters[k], *in, *out = device_memory(sizeof results);
        cgx_config c = cgx_config_1d(n, 48);
        if (n > 1 && !test_can(CGX_CAN_CLUSTER))
            continue;
        c.cluster = cgx_dim(n, 1, 1);
        for (int i = 0; i < 5 * 64; i++)
            values[i] = random_below(1 << 20);
        in = device_copy(values, sizeof values);
        check_ok(copy_directions_launch(test_queue, c, in, out));
        fetch(results, out, sizeof results);
        for (int b = 0; b < n; b++)
            for (int i = 0; i < 64; i++) {
                const int *r = results + 256 * b, next = (b + 1) % n, last = (b + n - 1) % n;
                assert_int_equal(r[i], i < 63 ? values[64 * b + i] : (int)0xa5a5a5a5);
                assert_int_equal(r[64 + i], i < 63 ? values[i] : (int)0xa5a5a5a5);
                assert_int_equal(r[128 + i], values[64 * next + i]);
                assert_int_equal(r[192 + i], values[64 * last + i]);
            }
        device_free(in), device_free(out);
    }
}

/* ---- stages ---- */

/* rows: P01 P03 P04 */
static void stages_of_a_thread(void **state)
{
    enum { ITEMS = 20, N = 2 * 64 };
    int values[ITEMS * 64 * 4], results[N], *in, *out = device_memory(sizeof results);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    for (int depth = 0; depth < 8; depth++)
        for (int width = 4; width <= 16; width *= 2)
            for (int items = 1; items <= ITEMS; items += 1 + random_below(7)) {
                check_ok(pipeline_ring_launch(test_queue, cgx_config_1d(2, 64), depth, items, width, in, out));
                fetch(results, out, sizeof results);
                for (int r = 0; r < N; r++) {
                    int sum = 0;
                    for (int i = 0; i < items; i++)
                        for (int k = 0; k < width / 4; k++)
                            sum += values[(i * 64 + r % 64) * 4 + k] * (i + 1);
                    if (results[r] != sum)
                        fail_msg("depth %d, width %d, %d items, rank %d: %d, not %d", depth, width, items, r,
                                 results[r], sum);
                }
            }
    device_free(in), device_free(out);
}

/* rows: A01 A04 A05 G04 G06 */
static void stages_of_groups(void **state)
{
    enum { ITEMS = 12 };
    int values[ITEMS * 128], results[128], *in, *out = device_memory(sizeof results);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(values); i++)
        values[i] = random_below(1000);
    in = device_copy(values, sizeof values);
    for (int kind = 0; kind <= COPY_COALESCED; kind++)
        for (int depth = 0; depth < 8; depth++)
            for (int items = 1; items <= ITEMS; items += 1 + random_below(6)) {
                check_ok(group_ring_launch(test_queue, cgx_config_1d(1, 128), kind, depth, items, in, out));
                fetch(results, out, sizeof results);
                for (int r = 0; r < 128; r++) {
                    int sum = 0, base = 0, size = 128, me = r;
                    if (kind == COPY_TILE)
                        base = r / 32 * 32, size = 32, me = r % 32;
                    else if (kind == COPY_WIDE_TILE)
                        base = r / 64 * 64, size = 64, me = r % 64;
                    else if (kind == COPY_ONE)
                        base = r, size = 1, me = 0;
                    else if (kind == COPY_COALESCED) {
                        size = 0;
                        for (int k = r / 32 * 32; k < r / 32 * 32 + 32; k++) {
                            me = k == r ? size : me;
                            size += (k % 3 == 0) == (r % 3 == 0);
                        }
                        base = 32 * (r / 32) + (r % 3 == 0 ? 0 : 32 - size);
                    }
                    for (int i = 0; i < items; i++)
                        sum += values[i * 128 + base + (me + i) % size] * (i + 1);
                    if (results[r] != sum)
                        fail_msg("kind %d, depth %d, %d items, rank %d: %d, not %d", kind, depth, items, r, results[r],
                                 sum);
                }
            }
    device_free(in), device_free(out);
}

/* The counter of stages is the thread's, for its own copies and its groups'. rows: P03 P04 A04 A05 */
static void one_counter_of_stages(void **state)
{
    static const int there[MIXED_STEPS] = { 0, 1, 3, 7, 15, 31 };
    int values[320], results[MIXED_STEPS * 64], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 320; i++)
        values[i] = random_below(1 << 20);
    in = device_copy(values, sizeof values);
    check_ok(mixed_stages_launch(test_queue, cgx_config_1d(1, 64), in, out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < MIXED_STEPS * 64; i++) {
        int want = there[i / 64], got = results[i];
        if ((got & want) != want)
            fail_msg("step %d, rank %d: copies 0x%x are there, 0x%x have been waited for", i / 64, i % 64, got, want);
        /* Late copies come when they are waited for and not before; a block's come with its leader's wait. */
        if (test_copies_are_late() && i % 64 == 0 && got != want)
            fail_msg("step %d, rank %d: copies 0x%x are there, but 0x%x have been waited for", i / 64, i % 64, got,
                     want);
    }
    device_free(in), device_free(out);
}

/* rows: A04 P01 */
static void copies_without_a_commit(void **state)
{
    static const int kinds[] = { COPY_BLOCK, COPY_TILE, COPY_ONE };
    int values[64], results[64], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < 64; i++)
        values[i] = random_below(1 << 20);
    in = device_copy(values, sizeof values);
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        check_ok(uncommitted_launch(test_queue, cgx_config_1d(1, 64), kinds[k], in, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < 64; i++)
            assert_int_equal(results[i], values[kinds[k] == COPY_BLOCK  ? (i + 1) % 64
                                                : kinds[k] == COPY_TILE ? i ^ 1
                                                                        : i]);
    }
    device_free(in), device_free(out);
}

/* A program that does not wait reads poison where copies are late, and a right one never. rows: A06 P01 P02 P06 P07
 * P08 R05 */
static void a_missing_wait_is_seen(void **state)
{
    int values[4] = { 1234567, 2, 3, 4 }, *in = device_copy(values, sizeof values), *stored = device_memory(64);
    unsigned before[SEENS], after[SEENS], *d_before = device_memory(sizeof before),
                                          *d_after = device_memory(sizeof after);

    (void)state;
    check_ok(seen_early_launch(test_queue, cgx_config_1d(1, 1), in, stored, d_before, d_after));
    fetch(before, d_before, sizeof before), fetch(after, d_after, sizeof after);
    for (int i = 0; i < SEENS; i++) {
        unsigned want = i == SEEN_ZFILL ? 0 : i == SEEN_REDUCED ? 5 : 1234567;
        if (test_copies_are_late() && before[i] != POISON)
            fail_msg("copy %d was there before its wait: 0x%x", i, before[i]);
        if (after[i] != want)
            fail_msg("copy %d is not there after its wait: 0x%x", i, after[i]);
    }
    device_free(in), device_free(stored), device_free(d_before), device_free(d_after);
}

/* ---- barriers and bulk copies ---- */

/* rows: P05 B08 B11 */
static void copies_that_arrive(void **state)
{
    static const int sizes[] = { 1, 32, 45, 128 };
    int rounds = test_scaled(40), n = 128 * 4 * rounds;
    int *values = host_memory((size_t)n * 4), results[128], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < n; i++)
        values[i] = random_below(1000);
    in = device_copy(values, (size_t)n * 4);
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        int threads = sizes[s];
        check_ok(arrive_on_launch(test_queue, cgx_config_1d(1, threads), rounds, in, out));
        fetch(results, out, (size_t)threads * 4);
        for (int r = 0; r < threads; r++) {
            int sum = 0;
            for (int i = 0; i < rounds; i++)
                for (int k = 0; k < 4; k++)
                    sum += values[(i * threads + (r + i) % threads) * 4 + k] * (k + 1);
            if (results[r] != sum)
                fail_msg("%d threads, rank %d: %d, not %d", threads, r, results[r], sum);
        }
    }
    device_free(in), device_free(out), free(values);
}

/* rows: P07 P08 B13 */
static void bulk_there_and_back(void **state)
{
    enum { MOST = 4096 };
    int values[MOST / 4], results[MOST / 4 + 4], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < MOST / 4; i++)
        values[i] = random_below(1 << 20);
    in = device_copy(values, sizeof values);
    for (int size = 16; size <= MOST; size += size < 320 ? 16 : 16 * (1 + random_below(40)))
        for (int pieces = 1; pieces <= 4 && pieces <= size / 16; pieces++) {
            cgx_config c = cgx_with_shared(cgx_config_1d(1, 40), (size_t)size);
            check_ok(cgx_fill_i32(test_queue, out, -1, COUNT_OF(results)));
            check_ok(bulk_round_trip_launch(test_queue, c, size, pieces, in, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < size / 4 + 4; i++)
                if (results[i] != (i < size / 4 ? values[i] + i : -1))
                    fail_msg("%d bytes in %d pieces, word %d: %d", size, pieces, i, results[i]);
        }
    device_free(in), device_free(out);
}

/* rows: P07 P08 B09 B12 B13 */
static void a_ring_of_bulk_copies(void **state)
{
    static const int sizes[] = { 128, 192, 320 }; /* whole tiles of 64 */
    enum { ITEMS = 40, CHUNK = 32 };
    int values[ITEMS * CHUNK], results[ITEMS * CHUNK], *in, *out = device_memory(sizeof results);

    (void)state;
    for (int i = 0; i < ITEMS * CHUNK; i++)
        values[i] = random_below(1 << 20);
    in = device_copy(values, sizeof values);
    for (int stages = 1; stages <= 6; stages++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            check_ok(bulk_ring_launch(test_queue, cgx_config_1d(1, sizes[s]), stages, ITEMS, in, out));
            fetch(results, out, sizeof results);
            for (int i = 0; i < ITEMS * CHUNK; i++)
                if (results[i] != values[i / CHUNK * CHUNK + CHUNK - 1 - i % CHUNK] + i / CHUNK)
                    fail_msg("%d stages, %d threads, word %d", stages, sizes[s], i);
        }
    device_free(in), device_free(out);
}

/* rows: P08 */
static void stages_of_bulk_stores(void **state)
{
    enum { ITEMS = 30 };
    int results[16 * ITEMS + 1], *out = device_memory(sizeof results);

    (void)state;
    for (int depth = 0; depth < 8; depth++) {
        check_ok(bulk_store_stages_launch(test_queue, cgx_config_1d(1, 33), depth, ITEMS, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < 16 * ITEMS; i++)
            assert_int_equal(results[i], i);
        assert_int_equal(results[16 * ITEMS], 16 * ITEMS * (16 * ITEMS - 1) / 2);
    }
    device_free(out);
}

/* What a kernel leaves behind is done when it ends, and does not disturb the next one. */
static void kernels_that_never_wait(void **state)
{
    int values[256], results[66], *in, *out = device_memory(sizeof results);

    (void)state;
    if (!test_explains_misuse())
        return;
    for (int i = 0; i < 256; i++)
        values[i] = i;
    in = device_copy(values, sizeof values);
    for (int round = 0; round < 30; round++) {
        check_ok(cgx_fill_i32(test_queue, out, 0, 66));
        check_ok(never_waits_launch(test_queue, cgx_config_1d(round % 5 + 1, 64), in, out));
        fetch(results, out, sizeof results);
        assert_int_equal(results[64], 63);
        assert_int_equal(results[65], 64 * (round % 5 + 1));
    }
    device_free(in), device_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_and_alignment),
        cmocka_unit_test(sizes_by_blocks_of_other_shapes),
        cmocka_unit_test(aligned_sizes),
        cmocka_unit_test(zeros),
        cmocka_unit_test(other_directions),
        cmocka_unit_test(stages_of_a_thread),
        cmocka_unit_test(stages_of_groups),
        cmocka_unit_test(one_counter_of_stages),
        cmocka_unit_test(copies_without_a_commit),
        cmocka_unit_test(a_missing_wait_is_seen),
        cmocka_unit_test(copies_that_arrive),
        cmocka_unit_test(bulk_there_and_back),
        cmocka_unit_test(a_ring_of_bulk_copies),
        cmocka_unit_test(stages_of_bulk_stores),
        cmocka_unit_test(kernels_that_never_wait),
    };

    test_start_in_modes();
    printf("copies complete: %s\n", test_device.async_copy);
    test_alarm(55);
    return test_end(cmocka_run_group_tests_name("copies", tests, NULL, NULL));
}

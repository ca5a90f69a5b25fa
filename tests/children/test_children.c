/* SPDX-License-Identifier: MIT */
/* Launches by kernels: guide, section 5.6.4, with its examples 17 to 22 (docs/semantics.md, section 16). */
#include "../common/modes.h"
#include "children_kernels.h"

enum { PENDING = 120000 };

/* Whether a thread is told of what a GPU need not find out. Of the device runtimes of GPUs, HIP's does: its suite says so. */
static int finds_misuse(void)
{
    return test_explains_misuse() || getenv("CGX_TEST_FINDS_MISUSE");
}

static event_log *device_log, host_log;
static cgx_status *device_status;

static void clear_log(void)
{
    check_ok(cgx_fill_u8(test_queue, &device_log->used, 0, sizeof device_log->used));
    check_ok(cgx_fill_u8(test_queue, device_status, 0, REFUSALS * sizeof *device_status));
}
static void fetch_log(void)
{
    cgx_status s;
    fetch(&host_log, device_log, sizeof host_log);
    fetch(&s, device_status, sizeof s);
    assert_int_equal(s, CGX_OK);
    assert_true(host_log.used <= LOG_ROOM);
}

/* Entries of BLOCKS blocks, with their ends. */
static void check_ran(int name, int blocks)
{
    int begun = 0, ended = 0;
    for (int i = 0; i < host_log.used; i++) {
        begun += host_log.entries[i] == 2 * name;
        ended += host_log.entries[i] == 2 * name + 1;
    }
    if (begun != blocks || ended != blocks)
        fail_msg("%d: %d blocks began and %d ended, not %d", name, begun, ended, blocks);
}
/* FIRST had ended as a whole before any block of SECOND began. */
static void check_order(int first, int second)
{
    int last_end = -1, begin = host_log.used;
    for (int i = host_log.used - 1; i >= 0; i--)
        if (host_log.entries[i] == 2 * second)
            begin = i;
    for (int i = 0; i < host_log.used; i++)
        if (host_log.entries[i] == 2 * first + 1)
            last_end = i;
    if (last_end < 0 || last_end >= begin)
        fail_msg("%d ended at entry %d, %d began at %d", first, last_end, second, begin);
}

static void act_with(scene what, int blocks, int *scratch)
{
    clear_log();
    check_ok(parent_launch(test_queue, cgx_config_1d(blocks, 64), device_log, what, scratch, device_status));
    check_ok(note_launch(test_queue, cgx_config_1d(2, 32), device_log, LATER));
    fetch_log();
    check_ran(PARENT, blocks);
    check_ran(LATER, 2);
    check_order(PARENT, LATER);
}
static void act(scene what, int blocks)
{
    act_with(what, blocks, NULL);
}

enum { ROUNDS = 20 };

/* rows: D01 D10 */
static void guide_18_two_fire_and_forget(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(TWO_FIRE_AND_FORGET, 4);
        check_ran(C1, 3);
        check_ran(C2, 3);
        check_order(C1, LATER);
        check_order(C2, LATER);
    }
}

/* rows: D11 */
static void guide_19_two_tails_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(TWO_TAILS, 4);
        check_ran(C1, 3);
        check_ran(C2, 3);
        check_order(PARENT, C1);
        check_order(C1, C2);
        check_order(C2, LATER);
    }
}

/* rows: D09 D11 */
static void guide_20_tail_after_everything(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(TAIL_AFTER_ALL, 4);
        check_ran(C1, 3);
        check_ran(C2, 3);
        check_ran(TAIL, 3);
        check_order(PARENT, TAIL);
        check_order(C1, TAIL);
        check_order(C2, TAIL);
        check_order(TAIL, LATER);
    }
}

/* rows: D11 */
static void guide_21_successor_after_the_tail(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(ONE_TAIL, 4);
        check_ran(TAIL, 3);
        check_order(PARENT, TAIL);
        check_order(TAIL, LATER);
    }
}

/* rows: D10 D11 */
static void guide_22_tail_that_starts_concurrent_work(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(TAIL_THAT_FORKS, 4);
        check_ran(TAIL, 1);
        check_ran(C1, 2);
        check_ran(C2, 2);
        check_order(PARENT, TAIL);
        check_order(PARENT, C1);
        check_order(PARENT, C2);
        check_order(C1, LATER);
        check_order(C2, LATER);
    }
}

/* rows: D11 */
static void grandchildren(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(GRANDCHILDREN, 4);
        check_ran(C1, 1);
        check_ran(GRANDCHILD, 1);
        check_ran(GRANDCHILDS_TAIL, 2);
        check_ran(TAIL, 3);
        check_order(GRANDCHILD, GRANDCHILDS_TAIL);
        check_order(GRANDCHILDS_TAIL, TAIL);
        check_order(TAIL, LATER);
    }
}

/* rows: D09 */
static void streams(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(STREAM_IN_ORDER, 2);
        for (int k = 0; k < 3; k++)
            check_ran(FIRST_OF_BLOCKS + k, 3);
        check_order(FIRST_OF_BLOCKS, FIRST_OF_BLOCKS + 1);
        check_order(FIRST_OF_BLOCKS + 1, FIRST_OF_BLOCKS + 2);
        check_order(FIRST_OF_BLOCKS + 2, LATER);
        act(TREE_IN_A_STREAM, 2);
        check_ran(GRANDCHILDS_TAIL, 2);
        check_order(GRANDCHILDS_TAIL, C2);
        check_order(C2, LATER);
    }
}

/* rows: D09 */
static void a_stream_for_each_block(void **state)
{
    enum { BLOCKS = 70 }; /* more than an entry runs in a row */
    (void)state;
    act(BLOCK_STREAM, BLOCKS);
    for (int k = 0; k < BLOCKS; k++) {
        check_ran(FIRST_OF_BLOCKS + 2 * k, 3);
        check_ran(FIRST_OF_BLOCKS + 2 * k + 1, 3);
        check_order(FIRST_OF_BLOCKS + 2 * k, FIRST_OF_BLOCKS + 2 * k + 1);
        check_order(FIRST_OF_BLOCKS + 2 * k + 1, LATER);
    }
}

/* rows: D12 */
static void events(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act(TWO_STREAMS, 2);
        for (int k = 0; k < 4; k++)
            check_ran(FIRST_OF_BLOCKS + k, 3);
        check_order(FIRST_OF_BLOCKS, FIRST_OF_BLOCKS + 1);
        check_order(FIRST_OF_BLOCKS + 1, FIRST_OF_BLOCKS + 3);
        check_order(FIRST_OF_BLOCKS + 2, FIRST_OF_BLOCKS + 3);
        check_order(FIRST_OF_BLOCKS + 3, LATER);
    }
}

/* rows: D08 */
static void copies_are_in_the_streams_order(void **state)
{
    int *scratch = device_memory(128 * sizeof *scratch);
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        act_with(COPIES_IN_A_STREAM, 2, scratch);
        check_ran(C1, 1);
        check_ran(C2, 0);
        check_order(C1, LATER);
    }
    device_free(scratch);
}

static void reversed(int *data, int n)
{
    for (int i = 0; i < n / 2; i++) {
        int t = data[i];
        data[i] = data[n - 1 - i];
        data[n - 1 - i] = t;
    }
    if (n > 1) {
        reversed(data, n / 2);
        reversed(data + n / 2, n / 2);
    }
}

/* rows: D01 D04 D09 */
static void guide_17_recursive_permute(void **state)
{
    enum { N = 256 };
    int expected[N], results[N];
    (void)state;
    for (int i = 0; i < N; i++)
        expected[i] = random_below(1000000);
    int *data = device_copy(expected, sizeof expected);
    reversed(expected, N);
    check_ok(permute_launch(test_queue, cgx_with_shared(cgx_config_1d(1, N), N * sizeof(int)), N, data));
    fetch(results, data, sizeof results);
    assert_memory_equal(results, expected, sizeof expected);
    device_free(data);
}

/* rows: D01 */
static void recursion_to_depth_24(void **state)
{
    enum { DEPTH = 24 };
    int results[DEPTH + 1], *reached = device_memory(sizeof results);
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        check_ok(cgx_fill_i32(test_queue, reached, 0, DEPTH + 1));
        check_ok(descend_launch(test_queue, cgx_config_1d(1, 1), DEPTH, kind, reached));
        fetch(results, reached, sizeof results);
        for (int i = 0; i <= DEPTH; i++)
            assert_int_equal(results[i], 1);
    }
    device_free(reached);
}

/* 100 blocks of 10 threads launch 10 children of 10 threads each, and these 10 leaves: 110,000 launches.
 * rows: D01 D10 */
static void a_hundred_thousand_launches(void **state)
{
    int results[2], *counts = device_memory(sizeof results);
    (void)state;
    check_ok(cgx_fill_i32(test_queue, counts, 0, 2));
    check_ok(spread_launch(test_queue, cgx_config_1d(10, 10), 2, 10, counts, counts + 1));
    fetch(results, counts, sizeof results);
    assert_int_equal(results[1], 0);
    assert_int_equal(results[0], 10 * 10 * 10 * 10 * 10);
    device_free(counts);
}

/* rows: D08 */
static void copies_and_fills(void **state)
{
    unsigned char from[256], expected[1200], results[1200];
    cgx_status status;
    (void)state;
    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)random_below(256);
    memset(expected, 0xa5, sizeof expected);
    memcpy(expected, from, 101);
    memset(expected + 600, 0x11, 99);
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 5; y++) {
            if (!z) {
                memcpy(expected + 200 + 20 * y, from + 16 * y, 7);
                memset(expected + 800 + 20 * y, 0x22, 7);
            }
            memcpy(expected + 400 + 8 * (6 * z + y), from + 9 * (5 * z + y), 7);
            memset(expected + 1000 + 8 * (6 * z + y), 0x33, 7);
        }
    unsigned char *source = device_copy(from, sizeof from), *to = device_memory(sizeof results);
    check_ok(transfers_launch(test_queue, cgx_config_1d(1, 1), source, to, device_status));
    fetch(results, to, sizeof results);
    fetch(&status, device_status, sizeof status);
    assert_int_equal(status, CGX_OK);
    assert_memory_equal(results, expected, sizeof expected);
    device_free(source);
    device_free(to);
}

/* rows: D02 */
static void heap(void **state)
{
    enum { N = 1000 };
    int results[N], *out = device_memory(sizeof results);
    cgx_status s[5];
    (void)state;
    for (int round = 0; round < 100; round++) /* 100 times 4,000 bytes would not fit if they were not freed: see main */
        check_ok(heap_parent_launch(test_queue, cgx_config_1d(1, 1), N, out, device_status));
    fetch(results, out, sizeof results);
    fetch(s, device_status, sizeof s);
    for (int i = 0; i < N; i++)
        assert_int_equal(results[i], 3 * i + 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(s[i], i == 2 ? CGX_ERROR_OUT_OF_MEMORY : CGX_OK);
    device_free(out);
}

/* rows: D02 */
static void what_is_not_of_the_heap(void **state)
{
    static const cgx_status expected[] = { CGX_ERROR_INVALID, CGX_ERROR_INVALID,
                                           CGX_ERROR_INVALID, CGX_OK,
                                           CGX_ERROR_INVALID, CGX_OK,
                                           CGX_ERROR_INVALID, CGX_OK };
    cgx_status s[COUNT_OF(expected)];
    int *of_host = device_memory(256);
    void *left, **place = device_memory(sizeof left);
    (void)state;
    if (finds_misuse()) {
        check_ok(heap_misuse_launch(test_queue, cgx_config_1d(1, 1), of_host, place, device_status));
        fetch(&left, place, sizeof left);
        fetch(s, device_status, sizeof s);
        for (size_t i = 0; i < COUNT_OF(expected); i++)
            assert_int_equal(s[i], expected[i]);
        check_says(cgx_free(test_queue, left), CGX_ERROR_INVALID, "was not allocated");
        check_ok(heap_last_launch(test_queue, cgx_config_1d(1, 1), left, device_status));
        fetch(s, device_status, sizeof *s);
        assert_int_equal(s[0], CGX_OK);
    }
    device_free(of_host);
    device_free(place);
}

/* rows: D06 */
static void the_raw_pair(void **state)
{
    cgx_status s[3];
    (void)state;
    clear_log();
    check_ok(raw_launch_launch(test_queue, cgx_config_1d(1, 1), device_log, finds_misuse(), device_status));
    fetch_log();
    fetch(s, device_status, sizeof s);
    check_ran(C1, 2);
    if (finds_misuse()) {
        assert_int_equal(s[1], CGX_ERROR_INVALID);
        assert_int_equal(s[2], CGX_ERROR_INVALID);
    }
}

/* rows: D09 D10 D11 D12 D13 */
static void what_is_refused(void **state)
{
    static const cgx_status expected[] = {
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_OK,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_INVALID,
        CGX_ERROR_LIMIT,
        CGX_ERROR_LIMIT,
        CGX_ERROR_UNSUPPORTED,
        CGX_ERROR_UNSUPPORTED,
        CGX_ERROR_INVALID,
        CGX_OK,
        CGX_OK,
    };
    cgx_status s[REFUSALS];
    int *memory = device_memory(128 * sizeof *memory);
    (void)state;
    clear_log();
    check_ok(refusals_launch(test_queue, cgx_config_1d(1, 1), device_log, memory, device_status));
    fetch(&host_log, device_log, sizeof host_log);
    fetch(s, device_status, sizeof s);
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        if (s[i] != expected[i])
            fail_msg("number %zu is %s, not %s", i, cgx_status_name(s[i]), cgx_status_name(expected[i]));
    check_ran(C1, 0);
    check_ran(C2, 1);
    device_free(memory);
}

/* rows: D13 */
static void errors_are_the_threads_own(void **state)
{
    enum { N = 96 };
    cgx_status results[3][N], *out[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        out[i] = device_memory(sizeof results[i]);
    clear_log();
    check_ok(last_errors_launch(test_queue, cgx_config_1d(1, N), device_log, out[0], out[1], out[2]));
    for (int i = 0; i < 3; i++) {
        fetch(results[i], out[i], sizeof results[i]);
        device_free(out[i]);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(results[0][i], i % 3 == 2 ? CGX_OK : CGX_ERROR_INVALID);
        assert_int_equal(results[1][i], results[0][i]);
        assert_int_equal(results[2][i], CGX_OK);
    }
}

/* rows: D09 */
static void handles_are_the_grids_own(void **state)
{
    cgx_stream *stream = device_memory(sizeof *stream);
    cgx_stream_event *event = device_memory(sizeof *event);
    cgx_status s[3];
    (void)state;
    if (finds_misuse()) {
        clear_log();
        check_ok(handles_of_another_launch(test_queue, cgx_config_1d(1, 1), device_log, stream, event, device_status));
        fetch(&host_log, device_log, sizeof host_log);
        fetch(s, device_status, sizeof s);
        for (int i = 0; i < 3; i++)
            assert_int_equal(s[i], CGX_ERROR_INVALID);
        check_ran(C1, 0);
        check_ran(C2, 1);
    }
    device_free(stream);
    device_free(event);
}

/* rows: D13 */
static void more_than_may_be_pending(void **state)
{
    int results[2], *counts = device_memory(sizeof results);
    /* CUDA gives even a launch that it refuses a place for its arguments, of which compute-sanitizer knows nothing. */
    const int tries = getenv("CGX_TEST_MEMCHECK") ? PENDING : 2 * PENDING;
    cgx_status s[2];
    (void)state;
    clear_log();
    check_ok(cgx_fill_i32(test_queue, counts, 0, 2));
    check_ok(too_many_launch(test_queue, cgx_config_1d(1, 1), tries, counts, counts + 1, device_status));
    fetch(results, counts, sizeof results);
    fetch(s, device_status, sizeof s);
    assert_int_equal(results[1], results[0]); /* none is lost */
    if (finds_misuse() || s[0]) {             /* a GPU may have more room than it was asked for */
        assert_int_equal(s[0], CGX_ERROR_LIMIT);
        assert_int_equal(s[1], CGX_ERROR_LIMIT);
    }
    if (finds_misuse())
        assert_int_equal(results[0], PENDING);
    else
        assert_true(results[0] >= PENDING);
    device_free(counts);
}

/* rows: D05 D07 D14 */
static void questions_of_kernels(void **state)
{
    answers a, *out = device_memory(sizeof a);
    int per_unit, threads, blocks;
    (void)state;
    check_ok(questions_launch(test_queue, cgx_config_1d(1, 1), out));
    fetch(&a, out, sizeof a);
    assert_true(a.count >= 1);
    assert_int_equal(a.device, test_device.index);
    assert_true(a.version > 0);
    assert_int_equal(a.cache, CGX_CACHE_DEFAULT);
#define CHECK(symbol, member, cuda) assert_int_equal(a.attributes[CGX_ATTRIBUTE_##symbol], (int)test_device.member);
    CGX_FOREACH_ATTRIBUTE(CHECK)
#undef CHECK
    assert_true(a.pending >= PENDING);
    assert_true(a.heap >= (size_t)300000);
    check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(note), 256, 1024, &per_unit));
    assert_int_equal(a.per_unit, per_unit);
    check_ok(cgx_best_block(test_queue, CGX_KERNEL_OF(note), 0, &threads, &blocks));
    assert_int_equal(a.threads, threads);
    assert_int_equal(a.blocks, blocks);
    assert_true(a.threads_with >= 32 && a.blocks_with >= test_device.units);
    assert_int_equal(a.info.static_shared_bytes, 0);
    assert_true(a.info.max_threads >= 256);
    assert_int_equal(a.no_device, CGX_ERROR_NO_DEVICE);
    assert_int_equal(a.no_attribute, CGX_ERROR_INVALID);
    assert_true(a.unit_ids >= 0 && a.unit_ids < 4096); /* chips number their units with gaps */
    assert_true(a.warp_ids >= 0 && a.warp_ids < 64);
    device_free(out);
}

/* rows: D03 */
static void device_variables(void **state)
{
    enum { DEPTH = 5 };
    int results[DEPTH + 1], counter, *seen = device_memory(sizeof results);
    (void)state;
    check_ok(variables_set(test_queue, 100, 7));
    check_ok(variables_launch(test_queue, cgx_config_1d(1, 1), DEPTH, seen));
    check_ok(variables_get(test_queue, &counter));
    fetch(results, seen, sizeof results);
    for (int i = 0; i <= DEPTH; i++)
        assert_int_equal(results[DEPTH - i], 100 + 7 * i);
    assert_int_equal(counter, 100 + 7 * (DEPTH + 1));
    device_free(seen);
}

/* rows: D04 */
static void shared_memory_of_children(void **state)
{
    int results[256], *out = device_memory(sizeof results);
    cgx_status s;
    (void)state;
    check_ok(shared_parent_launch(test_queue, cgx_config_1d(1, 1), out, device_status));
    fetch(results, out, sizeof results);
    fetch(&s, device_status, sizeof s);
    assert_int_equal(s, CGX_OK);
    for (int i = 0; i < 256; i++)
        assert_int_equal(results[i], 63 - i % 64 + 100 * ((i + 1) % 64));
    device_free(out);
}

/* rows: D13 D15 */
static void a_childs_fault_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        clear_log();
        check_ok(parent_of_bad_launch(test_queue, cgx_config_1d(1, 1), device_log));
        const cgx_status s = cgx_queue_wait(test_queue);
        check_says(s, CGX_ERROR_MISUSE, "bad_child", "block (1, 0, 0)", "grid synchronisation");
        if (test_explains_misuse())
            check_says(s, CGX_ERROR_MISUSE, "parent_of_bad");
        fetch(&host_log, device_log, sizeof host_log);
        check_ran(C2, 2); /* nothing else is lost */
        check_ran(TAIL, 2);
        check_order(C2, TAIL);
        check_ok(cgx_queue_wait(test_queue));
    }
    act(TWO_TAILS, 4);
    check_order(C1, C2);
}

/* rows: D01 */
static void a_kernel_that_does_not_say_so(void **state)
{
    (void)state;
    if (!finds_misuse())
        return;
    clear_log();
    check_ok(not_declared_launch(test_queue, cgx_config_1d(1, 1), device_log));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "not_declared", "CGX_KERNEL_LAUNCHING");
    fetch(&host_log, device_log, sizeof host_log);
    check_ran(C2, 0);
}

static void limits(void **state)
{
    cgx_device *device;
    size_t value = 0;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(note_launch(test_queue, cgx_config_1d(1, 1), device_log, C1));
    check_says(cgx_device_set_limit(device, CGX_LIMIT_HEAP_BYTES, 1 << 20), CGX_ERROR_INVALID, "before the first");
    check_ok(cgx_device_get_limit(device, CGX_LIMIT_PENDING_LAUNCHES, &value));
    assert_true(value >= PENDING);
    check_says(cgx_device_get_limit(device, (cgx_limit)17, &value), CGX_ERROR_INVALID, "no such limit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guide_17_recursive_permute),
        cmocka_unit_test(guide_18_two_fire_and_forget),
        cmocka_unit_test(guide_19_two_tails_in_order),
        cmocka_unit_test(guide_20_tail_after_everything),
        cmocka_unit_test(guide_21_successor_after_the_tail),
        cmocka_unit_test(guide_22_tail_that_starts_concurrent_work),
        cmocka_unit_test(grandchildren),
        cmocka_unit_test(streams),
        cmocka_unit_test(a_stream_for_each_block),
        cmocka_unit_test(events),
        cmocka_unit_test(copies_are_in_the_streams_order),
        cmocka_unit_test(recursion_to_depth_24),
        cmocka_unit_test(a_hundred_thousand_launches),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(heap),
        cmocka_unit_test(what_is_not_of_the_heap),
        cmocka_unit_test(the_raw_pair),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(errors_are_the_threads_own),
        cmocka_unit_test(handles_are_the_grids_own),
        cmocka_unit_test(more_than_may_be_pending),
        cmocka_unit_test(questions_of_kernels),
        cmocka_unit_test(device_variables),
        cmocka_unit_test(shared_memory_of_children),
        cmocka_unit_test(a_childs_fault_is_told),
        cmocka_unit_test(a_kernel_that_does_not_say_so),
        cmocka_unit_test(limits),
    };
    cgx_device *device;
    void *memory;

    test_start_in_modes();
    if (!test_can(CGX_CAN_DEVICE_LAUNCH))
        skip_program("kernels on this device launch no kernels");
    CGX_TRY(cgx_queue_get_device(test_queue, &device));
    CGX_TRY(cgx_device_set_limit(device, CGX_LIMIT_PENDING_LAUNCHES, PENDING));
    CGX_TRY(cgx_device_set_limit(device, CGX_LIMIT_HEAP_BYTES, 300000));
    CGX_TRY(cgx_alloc(test_queue, sizeof *device_log, CGX_MEM_DEVICE, &memory));
    device_log = memory;
    CGX_TRY(cgx_alloc(test_queue, REFUSALS * sizeof *device_status, CGX_MEM_DEVICE, &memory));
    device_status = memory;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    CGX_TRY(cgx_free(test_queue, device_log));
    CGX_TRY(cgx_free(test_queue, device_status));
    return test_end(failed);
}

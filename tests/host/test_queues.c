/* SPDX-License-Identifier: MIT */
/* rows: H03 H07 H09
 * Queues: asynchronous, in order, several of them, closed ones. */
#include "check.h"
#include "host_kernels.h"

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A flag that kernels see while they run. */
static int *new_flag(void)
{
    void *flag = NULL;
    check_ok(cgx_alloc(test_queue, sizeof(int), CGX_MEM_PINNED, &flag));
    __atomic_store_n((int *)flag, 0, __ATOMIC_SEQ_CST);
    return flag;
}
static void set_flag(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
}

static void launches_are_asynchronous(void **state)
{
    int *flag = new_flag(), *out = device_memory(sizeof *out), seen = 0;
    (void)state;
    check_ok(cgx_queue_wait(test_queue));
    assert_int_equal(cgx_queue_query(test_queue), CGX_OK);
    /* A launch that waited for its kernel would return after the kernel's ten seconds, with 0. */
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    assert_int_equal(cgx_queue_query(test_queue), CGX_NOT_READY);
    set_flag(flag);
    fetch(&seen, out, sizeof seen);
    assert_int_equal(seen, 1);
    assert_int_equal(cgx_queue_query(test_queue), CGX_OK);
    device_free(out);
    device_free(flag);
}

static void copies_and_fills_are_asynchronous(void **state)
{
    enum { N = 100000 };
    int *flag = new_flag(), *out = device_memory(sizeof *out);
    unsigned char *device = device_memory(N), *host = host_memory(N);
    (void)state;
    check_ok(cgx_queue_wait(test_queue));
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    check_ok(cgx_fill_u8(test_queue, device, 7, N));
    check_ok(cgx_copy(test_queue, host, device, N));
    assert_int_equal(cgx_queue_query(test_queue), CGX_NOT_READY);
    assert_int_equal(host[0], 0x5a); /* behind a kernel that still waits */
    assert_int_equal(host[N - 1], 0x5a);
    set_flag(flag);
    check_ok(cgx_queue_wait(test_queue));
    for (int i = 0; i < N; i++)
        if (host[i] != 7)
            fail_msg("byte %d is %d", i, host[i]);
    free(host);
    device_free(device);
    device_free(out);
    device_free(flag);
}

static void work_is_in_order(void **state)
{
    enum { N = 3000, STEPS = 299 };
    int *data = device_memory(N * sizeof *data), *host = host_memory(N * sizeof *host), expected = 0;
    (void)state;
    check_ok(cgx_fill_i32(test_queue, data, 0, N));
    /* x * 3 + i does not commute; a fill every 10 steps keeps it from overflowing and is in the same order. */
    for (int i = 0; i < STEPS; i++) {
        if (i % 10 == 0) {
            check_ok(cgx_fill_i32(test_queue, data, i, N));
            expected = i;
        }
        check_ok(affine_launch(test_queue, cgx_cover(N, 128), N, data, 3, i % 7));
        expected = expected * 3 + i % 7;
    }
    fetch(host, data, N * sizeof *host);
    for (int i = 0; i < N; i++)
        if (host[i] != expected)
            fail_msg("element %d is %d, not %d", i, host[i], expected);
    free(host);
    device_free(data);
}

static void many_launches_in_flight(void **state)
{
    enum { N = 20000 };
    int *counter = device_memory(sizeof *counter), seen = 0;
    (void)state;
    check_ok(cgx_fill_i32(test_queue, counter, 0, 1));
    for (int i = 0; i < N; i++)
        check_ok(count_up_launch(test_queue, cgx_config_1d(1, 1), counter));
    fetch(&seen, counter, sizeof seen);
    assert_int_equal(seen, N);
    device_free(counter);
}

static void queues_are_independent(void **state)
{
    enum { QUEUES = 12, N = 50 };
    cgx_device *device = NULL;
    cgx_queue *q[QUEUES];
    int *data = device_memory(QUEUES * sizeof *data), host[QUEUES];
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(cgx_fill_i32(test_queue, data, 0, QUEUES));
    check_ok(cgx_queue_wait(test_queue));
    for (int i = 0; i < QUEUES; i++)
        check_ok(cgx_queue_create(device, &q[i]));
    for (int n = 0; n < N; n++)
        for (int i = 0; i < QUEUES; i++)
            check_ok(affine_launch(q[i], cgx_config_1d(1, 1), 1, data + i, 1, i + 1));
    for (int i = QUEUES - 1; i >= 0; i--)
        check_ok(cgx_queue_wait(q[i]));
    fetch(host, data, sizeof host);
    for (int i = 0; i < QUEUES; i++) {
        assert_int_equal(host[i], N * (i + 1));
        check_ok(cgx_queue_close(&q[i]));
        assert_null(q[i]);
    }
    device_free(data);
}

static void close_waits_for_the_work(void **state)
{
    cgx_queue *q = NULL;
    int *out = device_memory(sizeof *out), seen = 0;
    (void)state;
    check_ok(cgx_queue_wait(test_queue));
    for (int i = 0; i < 20; i++) {
        check_ok(cgx_queue_open("any", &q));
        check_ok(be_busy_launch(q, cgx_config_1d(1, 1), 1000000));
        check_ok(store_value_launch(q, cgx_config_1d(1, 1), out, i));
        check_ok(cgx_queue_close(&q));
        assert_null(q);
        fetch(&seen, out, sizeof seen);
        assert_int_equal(seen, i);
    }
    check_ok(cgx_queue_close(&q));
    check_ok(cgx_queue_close(NULL));
    device_free(out);
}

/* The wait is not a busy loop of the device's whole work: it is as long as the work, not longer. */
static void wait_returns_when_done(void **state)
{
    (void)state;
    check_ok(cgx_queue_wait(test_queue));
    uint64_t start = now();
    check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 30000000));
    check_ok(cgx_queue_wait(test_queue));
    uint64_t took = now() - start;
    assert_true(took >= 29000000);
    assert_true(took < 5000000000u);
    check_ok(cgx_queue_wait(test_queue)); /* of an empty queue */
}

static void queue_knows_its_device(void **state)
{
    cgx_device *device = NULL, *again = NULL;
    cgx_device_info a = CGX_DEVICE_INFO_INIT, b = CGX_DEVICE_INFO_INIT;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(cgx_queue_get_info(test_queue, &a));
    check_ok(cgx_device_get_info(device, &b));
    assert_string_equal(a.name, b.name);
    check_ok(cgx_device_find(a.name, &again));
    assert_ptr_equal(device, again);
    check_says(cgx_queue_get_device(test_queue, NULL), CGX_ERROR_INVALID, "cgx_queue_get_device", "NULL");
    check_says(cgx_queue_get_info(test_queue, NULL), CGX_ERROR_INVALID, "NULL");
}

static void native_handles(void **state)
{
    void *context = NULL, *stream = NULL;
    cgx_queue *q = NULL;
    cgx_device *device = NULL;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_says(cgx_queue_from_native(device, NULL, &q), CGX_ERROR_INVALID, "stream");
    check_says(cgx_queue_get_native(test_queue, NULL, &stream), CGX_ERROR_INVALID, "NULL");
    cgx_status s = cgx_queue_get_native(test_queue, &context, &stream);
    if (s == CGX_ERROR_UNSUPPORTED) { /* a device that has no such thing */
        assert_true(strlen(cgx_last_error()) > 0);
        check_says(cgx_queue_from_native(device, &q, &q), CGX_ERROR_UNSUPPORTED, "native");
        assert_null(q);
        return;
    }
    check_ok(s);
    assert_non_null(stream);
    check_ok(cgx_queue_from_native(device, stream, &q));
    check_ok(nothing_launch(q, cgx_config_1d(1, 1)));
    check_ok(cgx_queue_close(&q));
    check_ok(nothing_launch(test_queue, cgx_config_1d(1, 1))); /* the stream was not closed with it */
    check_ok(cgx_queue_wait(test_queue));
}

/* Every function that takes a queue, with a queue that is none. */
static void refuses_queue(cgx_queue *q, const char *word)
{
    int value = 0;
    void *p = NULL, *memory = &value;
    cgx_device *device = NULL;
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    cgx_kernel_info kernel = CGX_KERNEL_INFO_INIT;
    cgx_event *e = NULL;
    cgx_event *good = NULL;
    check_ok(cgx_event_create(test_queue, &good));

    check_says(cgx_queue_wait(q), CGX_ERROR_INVALID, "cgx_queue_wait", "queue", word);
    check_says(cgx_queue_query(q), CGX_ERROR_INVALID, "cgx_queue_query", word);
    check_says(cgx_queue_get_device(q, &device), CGX_ERROR_INVALID, "cgx_queue_get_device", word);
    check_says(cgx_queue_get_info(q, &info), CGX_ERROR_INVALID, "cgx_queue_get_info", word);
    check_says(cgx_queue_get_native(q, &p, &p), CGX_ERROR_INVALID, "cgx_queue_get_native", word);
    check_says(cgx_event_create(q, &e), CGX_ERROR_INVALID, "cgx_event_create", word);
    check_says(cgx_event_record(good, q), CGX_ERROR_INVALID, "cgx_event_record", word);
    check_says(cgx_queue_wait_event(q, good), CGX_ERROR_INVALID, "cgx_queue_wait_event", word);
    check_says(cgx_alloc(q, 4, CGX_MEM_DEVICE, &p), CGX_ERROR_INVALID, "cgx_alloc", word);
    check_says(cgx_free(q, memory), CGX_ERROR_INVALID, "cgx_free", word);
    check_says(cgx_alloc_async(q, 4, &p), CGX_ERROR_INVALID, "cgx_alloc_async", word);
    check_says(cgx_free_async(q, memory), CGX_ERROR_INVALID, "cgx_free_async", word);
    check_says(cgx_copy(q, memory, memory, 4), CGX_ERROR_INVALID, "cgx_copy", word);
    check_says(cgx_copy_2d(q, memory, 4, memory, 4, 4, 1), CGX_ERROR_INVALID, "cgx_copy", word);
    check_says(cgx_copy_peer(q, memory, memory, device, 4), CGX_ERROR_INVALID, "cgx_copy_peer", word);
    check_says(cgx_fill(q, memory, &value, 4, 1), CGX_ERROR_INVALID, "cgx_fill", word);
    check_says(cgx_fill_i32(q, memory, 0, 1), CGX_ERROR_INVALID, "cgx_fill", word);
    check_says(nothing_launch(q, cgx_config_1d(1, 1)), CGX_ERROR_INVALID, "nothing", word);
    check_says(cgx_launch(q, CGX_KERNEL_OF(nothing), cgx_config_1d(1, 1), NULL, 0), CGX_ERROR_INVALID, word);
    check_says(cgx_kernel_get_info(q, CGX_KERNEL_OF(nothing), &kernel), CGX_ERROR_INVALID, "cgx_kernel_get_info", word);
    check_says(cgx_occupancy(q, CGX_KERNEL_OF(nothing), 32, 0, &value), CGX_ERROR_INVALID, "cgx_occupancy", word);
    check_says(cgx_max_cooperative_blocks(q, CGX_KERNEL_OF(nothing), 32, 0, &value), CGX_ERROR_INVALID, word);
    check_says(cgx_best_block(q, CGX_KERNEL_OF(nothing), 0, &value, &value), CGX_ERROR_INVALID, "cgx_best_block", word);
    cgx_config c = cgx_fit(q, 1000, 100); /* returns no status: the launch refuses */
    check_says(nothing_launch(q, c), CGX_ERROR_INVALID, "nothing", word);

    assert_null(p);
    assert_null(e);
    assert_null(device);
    assert_null(info.name);
    assert_null(kernel.name);
    assert_int_equal(value, 0);
    check_ok(cgx_event_destroy(&good));
}

static void null_queue_is_refused(void **state)
{
    (void)state;
    refuses_queue(NULL, "NULL");
}

static void destroyed_queue_is_refused(void **state)
{
    cgx_queue *q = NULL, *stale;
    (void)state;
    check_ok(cgx_queue_open("any", &q));
    stale = q;
    check_ok(nothing_launch(q, cgx_config_1d(1, 1)));
    check_ok(cgx_queue_close(&q));
    refuses_queue(stale, "destroyed");
    q = stale;
    check_says(cgx_queue_close(&q), CGX_ERROR_INVALID, "destroyed");
}

static void destroyed_among_many_is_recognised(void **state)
{
    cgx_queue *q[40], *stale[40];
    (void)state;
    for (int i = 0; i < 40; i++) {
        check_ok(cgx_queue_open("any", &q[i]));
        stale[i] = q[i];
    }
    for (int i = 0; i < 40; i += 2)
        check_ok(cgx_queue_close(&q[i]));
    for (int i = 0; i < 40; i++)
        if (i % 2)
            check_ok(cgx_queue_wait(stale[i]));
        else
            check_says(cgx_queue_wait(stale[i]), CGX_ERROR_INVALID, "destroyed");
    for (int i = 1; i < 40; i += 2)
        check_ok(cgx_queue_close(&q[i]));
}

static void creation_checks_arguments(void **state)
{
    cgx_queue *q = NULL;
    cgx_device *device = NULL;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_says(cgx_queue_create(NULL, &q), CGX_ERROR_INVALID, "cgx_queue_create", "NULL");
    check_says(cgx_queue_create(device, NULL), CGX_ERROR_INVALID, "cgx_queue_create", "NULL");
    check_says(cgx_queue_open("any", NULL), CGX_ERROR_INVALID, "cgx_queue_open", "NULL");
    check_says(cgx_queue_open("no such thing", &q), CGX_ERROR_UNKNOWN_BACKEND, "no such thing");
    assert_null(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_asynchronous),
        cmocka_unit_test(copies_and_fills_are_asynchronous),
        cmocka_unit_test(work_is_in_order),
        cmocka_unit_test(many_launches_in_flight),
        cmocka_unit_test(queues_are_independent),
        cmocka_unit_test(close_waits_for_the_work),
        cmocka_unit_test(wait_returns_when_done),
        cmocka_unit_test(queue_knows_its_device),
        cmocka_unit_test(native_handles),
        cmocka_unit_test(null_queue_is_refused),
        cmocka_unit_test(destroyed_queue_is_refused),
        cmocka_unit_test(destroyed_among_many_is_recognised),
        cmocka_unit_test(creation_checks_arguments),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("queues", tests, NULL, NULL));
}

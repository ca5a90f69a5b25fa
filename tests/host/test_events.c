/* SPDX-License-Identifier: MIT */
/* rows: H04
 * Events: reached in order, times, waits across queues, records that replace older ones. */
#include "check.h"
#include "host_kernels.h"

static cgx_queue *other;

static cgx_event *new_event(void)
{
    cgx_event *e = NULL;
    check_ok(cgx_event_create(test_queue, &e));
    assert_non_null(e);
    return e;
}

static int *new_flag(void)
{
    void *flag = NULL;
    check_ok(cgx_alloc(test_queue, sizeof(int), CGX_MEM_PINNED, &flag));
    __atomic_store_n((int *)flag, 0, __ATOMIC_SEQ_CST);
    return flag;
}

static void reached_after_the_work_before_it(void **state)
{
    int *flag = new_flag(), *out = device_memory(sizeof *out);
    cgx_event *e = new_event();
    (void)state;
    assert_int_equal(cgx_event_query(e), CGX_OK); /* never recorded */
    check_ok(cgx_event_wait(e));
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    check_ok(cgx_event_record(e, test_queue));
    assert_int_equal(cgx_event_query(e), CGX_NOT_READY);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check_ok(cgx_event_wait(e));
    assert_int_equal(cgx_event_query(e), CGX_OK);
    check_ok(cgx_event_destroy(&e));
    assert_null(e);
    check_ok(cgx_queue_wait(test_queue));
    device_free(out);
    device_free(flag);
}

/* Waiting for an event makes what was done before it visible, without waiting for the queue. */
static void waiting_makes_results_visible(void **state)
{
    enum { N = 1000 };
    int *data = device_memory(N * sizeof *data), *host = host_memory(N * sizeof *host);
    int *flag = new_flag(), *out = device_memory(sizeof *out);
    cgx_event *e = new_event();
    (void)state;
    for (int round = 0; round < 20; round++) {
        check_ok(cgx_fill_i32(test_queue, data, round, N));
        check_ok(cgx_copy(test_queue, host, data, N * sizeof *host));
        check_ok(cgx_event_record(e, test_queue));
        if (round == 19) /* work behind the event is not waited for */
            check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
        check_ok(cgx_event_wait(e));
        for (int i = 0; i < N; i++)
            assert_int_equal(host[i], round);
    }
    assert_int_equal(cgx_queue_query(test_queue), CGX_NOT_READY);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check_ok(cgx_queue_wait(test_queue));
    check_ok(cgx_event_destroy(&e));
    free(host);
    device_free(data);
    device_free(out);
    device_free(flag);
}

static void times(void **state)
{
    cgx_event *e[4];
    double seconds = -1, sum = 0, whole;
    (void)state;
    for (int i = 0; i < 4; i++)
        e[i] = new_event();
    check_says(cgx_event_elapsed(e[0], e[1], &seconds), CGX_ERROR_INVALID, "cgx_event_elapsed", "recorded");
    assert_true(seconds == -1);
    for (int i = 0; i < 4; i++) {
        check_ok(cgx_event_record(e[i], test_queue));
        check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 5000000));
    }
    check_ok(cgx_event_wait(e[3]));
    for (int i = 0; i < 3; i++) {
        check_ok(cgx_event_elapsed(e[i], e[i + 1], &seconds));
        assert_true(seconds > 0.004 && seconds < 5);
        sum += seconds;
    }
    check_ok(cgx_event_elapsed(e[0], e[3], &whole));
    assert_true(whole > 0.013 && whole > sum - 1e-4 && whole < sum + 1e-4);
    check_ok(cgx_event_elapsed(e[3], e[0], &seconds)); /* backwards */
    assert_true(seconds < -0.013);
    check_ok(cgx_event_elapsed(e[2], e[2], &seconds));
    assert_true(seconds == 0);
    check_says(cgx_event_elapsed(e[0], e[1], NULL), CGX_ERROR_INVALID, "NULL");
    check_ok(cgx_queue_wait(test_queue));
    for (int i = 0; i < 4; i++)
        check_ok(cgx_event_destroy(&e[i]));
}

static void elapsed_of_unreached_events(void **state)
{
    int *flag = new_flag(), *out = device_memory(sizeof *out);
    cgx_event *first = new_event(), *last = new_event();
    double seconds = -1;
    (void)state;
    check_ok(cgx_event_record(first, test_queue));
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    check_ok(cgx_event_record(last, test_queue));
    assert_int_equal(cgx_event_elapsed(first, last, &seconds), CGX_NOT_READY);
    assert_true(seconds == -1);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check_ok(cgx_event_wait(last));
    check_ok(cgx_event_elapsed(first, last, &seconds));
    assert_true(seconds > 0);
    check_ok(cgx_queue_wait(test_queue));
    check_ok(cgx_event_destroy(&first));
    check_ok(cgx_event_destroy(&last));
    device_free(out);
    device_free(flag);
}

static void the_last_record_counts(void **state)
{
    int *flag = new_flag(), *out = device_memory(sizeof *out);
    cgx_event *e = new_event(), *start = new_event();
    double first = 0, second = 0;
    (void)state;
    check_ok(cgx_event_record(start, test_queue));
    check_ok(cgx_event_record(e, test_queue));
    check_ok(cgx_event_wait(e));
    check_ok(cgx_event_elapsed(start, e, &first));
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    check_ok(cgx_event_record(e, test_queue));
    assert_int_equal(cgx_event_query(e), CGX_NOT_READY); /* although its first record was reached */
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check_ok(cgx_event_wait(e));
    check_ok(cgx_event_elapsed(start, e, &second));
    assert_true(second > first && first >= 0);
    check_ok(cgx_event_destroy(&e));
    check_ok(cgx_event_destroy(&start));
    check_ok(cgx_queue_wait(test_queue));
    device_free(out);
    device_free(flag);
}

/* A chain over two queues: each waits for the other's last step. */
static void queues_wait_for_each_other(void **state)
{
    enum { STEPS = 200 };
    int *value = device_memory(sizeof *value), seen = 0, expected = 1;
    cgx_event *e = new_event();
    cgx_queue *q[2] = { test_queue, other };
    (void)state;
    check_ok(cgx_fill_i32(test_queue, value, 1, 1));
    for (int i = 0; i < STEPS; i++) {
        check_ok(affine_launch(q[i % 2], cgx_config_1d(1, 1), 1, value, i % 5 == 0 ? -1 : 1, i));
        expected = (i % 5 == 0 ? -expected : expected) + i;
        check_ok(cgx_event_record(e, q[i % 2])); /* one event serves all steps: a wait is for the record before it */
        check_ok(cgx_queue_wait_event(q[1 - i % 2], e));
    }
    fetch(&seen, value, sizeof seen);
    assert_int_equal(seen, expected);
    check_ok(cgx_queue_wait(other));
    check_ok(cgx_event_destroy(&e));
    device_free(value);
}

static void a_wait_holds_back_only_what_is_behind_it(void **state)
{
    int *flag = new_flag(), *out = device_memory(2 * sizeof *out), seen[2];
    cgx_event *e = new_event(), *before = new_event();
    (void)state;
    check_ok(cgx_fill_i32(test_queue, out, 0, 2));
    check_ok(cgx_queue_wait(test_queue));
    check_ok(store_value_launch(other, cgx_config_1d(1, 1), out + 1, 4));
    check_ok(cgx_event_record(before, other));
    check_ok(cgx_event_wait(before));
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    check_ok(cgx_event_record(e, test_queue));
    check_ok(cgx_queue_wait_event(other, e));
    check_ok(affine_launch(other, cgx_config_1d(1, 1), 1, out + 1, 10, 2));
    assert_int_equal(cgx_queue_query(other), CGX_NOT_READY);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check_ok(cgx_queue_wait(other));
    fetch(seen, out, sizeof seen);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 42);
    check_ok(cgx_event_destroy(&e));
    check_ok(cgx_event_destroy(&before));
    device_free(out);
    device_free(flag);
}

/* Recorded on two queues: the second record counts, although the first is reached after it. */
static void an_older_record_comes_last(void **state)
{
    int *flag = new_flag(), *out = device_memory(sizeof *out);
    (void)state;
    cgx_event *e = new_event(), *gate = new_event(), *start = new_event();
    cgx_queue *third = NULL;
    double late = -1;
    check_ok(cgx_queue_open("any", &third));
    check_ok(cgx_event_record(start, test_queue));
    check_ok(cgx_queue_wait(test_queue)); /* nothing else orders it before the record on the third queue */
    check_ok(wait_for_flag_launch(test_queue, cgx_config_1d(1, 1), flag, out));
    check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 20000000));
    check_ok(cgx_event_record(gate, test_queue));
    check_ok(cgx_queue_wait_event(other, gate));
    check_ok(cgx_event_record(e, other));
    check_ok(cgx_event_record(e, third));
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    check_ok(cgx_queue_wait(other));
    check_ok(cgx_queue_wait(third));
    check_ok(cgx_event_wait(e)); /* does not wait for ever */
    assert_int_equal(cgx_event_query(e), CGX_OK);
    check_ok(cgx_event_elapsed(start, e, &late));
    assert_true(late > 0);
    check_ok(cgx_queue_close(&third));
    check_ok(cgx_queue_wait(test_queue));
    check_ok(cgx_event_destroy(&e));
    check_ok(cgx_event_destroy(&gate));
    check_ok(cgx_event_destroy(&start));
    device_free(out);
    device_free(flag);
}

/* Waiting for an event that was never recorded waits for nothing. */
static void wait_for_an_event_never_recorded(void **state)
{
    cgx_event *e = new_event();
    (void)state;
    check_ok(cgx_queue_wait_event(other, e));
    check_ok(cgx_queue_wait(other));
    check_ok(cgx_event_destroy(&e));
}

/* The event goes while a queue still has to look at it. */
static void destroyed_while_a_queue_waits(void **state)
{
    int *out = device_memory(sizeof *out), seen = 0;
    (void)state;
    for (int round = 0; round < 20; round++) {
        int *flag = new_flag();
        cgx_event *e = new_event();
        check_ok(cgx_event_record(e, test_queue));
        check_ok(cgx_event_wait(e));
        check_ok(wait_for_flag_launch(other, cgx_config_1d(1, 1), flag, out));
        check_ok(cgx_queue_wait_event(other, e)); /* behind the kernel that still waits */
        check_ok(store_value_launch(other, cgx_config_1d(1, 1), out, 100 + round));
        check_ok(cgx_event_destroy(&e));
        __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
        check_ok(cgx_queue_wait(other));
        fetch(&seen, out, sizeof seen);
        assert_int_equal(seen, 100 + round);
        device_free(flag);
    }
    device_free(out);
}

/* Destroying waits for a record that is still to be reached. */
static void destroyed_before_it_is_reached(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        cgx_event *e = new_event();
        check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 200000));
        check_ok(cgx_event_record(e, test_queue));
        check_ok(cgx_event_destroy(&e));
    }
    check_ok(cgx_queue_wait(test_queue));
}

static void bad_handles(void **state)
{
    cgx_event *e = new_event(), *stale = e, *good = new_event(), *none = NULL;
    double seconds = -1;
    (void)state;
    check_ok(cgx_event_record(good, test_queue));
    check_ok(cgx_event_wait(good));
    check_ok(cgx_event_destroy(&e));
    check_ok(cgx_event_destroy(&e)); /* NULL now */
    check_ok(cgx_event_destroy(NULL));
    cgx_event *bad[] = { NULL, stale };
    static const char *const words[] = { "NULL", "destroyed" };
    for (int i = 0; i < 2; i++) {
        check_says(cgx_event_record(bad[i], test_queue), CGX_ERROR_INVALID, "cgx_event_record", "event", words[i]);
        check_says(cgx_event_wait(bad[i]), CGX_ERROR_INVALID, "cgx_event_wait", words[i]);
        check_says(cgx_event_query(bad[i]), CGX_ERROR_INVALID, "cgx_event_query", words[i]);
        check_says(cgx_queue_wait_event(test_queue, bad[i]), CGX_ERROR_INVALID, "cgx_queue_wait_event", words[i]);
        check_says(cgx_event_elapsed(bad[i], good, &seconds), CGX_ERROR_INVALID, "cgx_event_elapsed", words[i]);
        check_says(cgx_event_elapsed(good, bad[i], &seconds), CGX_ERROR_INVALID, "cgx_event_elapsed", words[i]);
    }
    e = stale;
    check_says(cgx_event_destroy(&e), CGX_ERROR_INVALID, "destroyed");
    check_says(cgx_event_create(test_queue, NULL), CGX_ERROR_INVALID, "cgx_event_create", "NULL");
    assert_null(none);
    assert_true(seconds == -1);
    check_ok(cgx_event_destroy(&good));
}

static void many_events(void **state)
{
    enum { N = 2000 };
    cgx_event **e = host_memory(N * sizeof *e);
    double seconds;
    (void)state;
    for (int i = 0; i < N; i++) {
        e[i] = new_event();
        check_ok(cgx_event_record(e[i], i % 2 ? test_queue : other));
    }
    for (int i = 0; i < N; i++)
        check_ok(cgx_event_wait(e[i]));
    for (int i = 2; i < N; i += 2) {
        check_ok(cgx_event_elapsed(e[i - 2], e[i], &seconds));
        assert_true(seconds >= 0);
    }
    for (int i = 0; i < N; i++)
        check_ok(cgx_event_destroy(&e[i]));
    free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reached_after_the_work_before_it),
        cmocka_unit_test(waiting_makes_results_visible),
        cmocka_unit_test(times),
        cmocka_unit_test(elapsed_of_unreached_events),
        cmocka_unit_test(the_last_record_counts),
        cmocka_unit_test(queues_wait_for_each_other),
        cmocka_unit_test(a_wait_holds_back_only_what_is_behind_it),
        cmocka_unit_test(an_older_record_comes_last),
        cmocka_unit_test(wait_for_an_event_never_recorded),
        cmocka_unit_test(destroyed_while_a_queue_waits),
        cmocka_unit_test(destroyed_before_it_is_reached),
        cmocka_unit_test(bad_handles),
        cmocka_unit_test(many_events),
    };
    test_start();
    CGX_TRY(cgx_queue_open("any", &other));
    int failed = cmocka_run_group_tests_name("events", tests, NULL, NULL);
    CGX_TRY(cgx_queue_close(&other));
    return test_end(failed);
}

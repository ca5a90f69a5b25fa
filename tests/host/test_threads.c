/* SPDX-License-Identifier: MIT */
/* rows: H12 H03
 * Many threads at once on one queue and on their own; launches from inside the user's own parallel region. */
#include "check.h"
#include "host_kernels.h"
#include <fenv.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>

enum { THREADS = 8 };

/* CMocka's asserts belong to the main thread: the others count what went wrong. */
#define EXPECT(condition)                                       \
    do {                                                        \
        if (!(condition))                                       \
            __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED); \
    } while (0)
static int failures;

typedef struct {
    int number;
    int *counter, *shared_counter;
    pthread_barrier_t *start;
} job;

static void run_threads(void *(*body)(void *), job *jobs)
{
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    failures = 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].number = i;
        jobs[i].start = &start;
        assert_int_equal(pthread_create(&threads[i], NULL, body, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    assert_int_equal(failures, 0);
}

enum { LAUNCHES = 500 };

/* On one queue: whatever the order, nothing is lost and nothing runs at the same time. */
static void *hammer_one_queue(void *argument)
{
    job *j = argument;
    cgx_config one = cgx_config_1d(1, 1);
    pthread_barrier_wait(j->start);
    for (int i = 0; i < LAUNCHES; i++) {
        EXPECT(count_up_launch(test_queue, one, j->shared_counter) == CGX_OK);
        EXPECT(count_up_launch(test_queue, one, j->counter) == CGX_OK);
        if (i % 50 == j->number)
            EXPECT(cgx_queue_wait(test_queue) == CGX_OK);
        if (i % 20 == 0)
            EXPECT(cgx_queue_query(test_queue) >= 0);
        if (i % 100 == 0) { /* failures of one thread are no business of the others */
            EXPECT(count_up_launch(test_queue, cgx_config_1d(0, 1), j->counter) == CGX_ERROR_INVALID);
            EXPECT(strstr(cgx_last_error(), "count_up: grid size 0") != NULL);
        }
    }
    EXPECT(cgx_queue_wait(test_queue) == CGX_OK);
    return NULL;
}

static void one_queue(void **state)
{
    job jobs[THREADS];
    int *counters = device_memory((THREADS + 1) * sizeof *counters), seen[THREADS + 1];
    (void)state;
    check_ok(cgx_fill_i32(test_queue, counters, 0, THREADS + 1));
    check_ok(cgx_queue_wait(test_queue));
    for (int i = 0; i < THREADS; i++)
        jobs[i].counter = counters + i, jobs[i].shared_counter = counters + THREADS;
    run_threads(hammer_one_queue, jobs);
    fetch(seen, counters, sizeof seen);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(seen[i], LAUNCHES);
    assert_int_equal(seen[THREADS], THREADS * LAUNCHES);
    device_free(counters);
}

/* Each thread with a queue of its own, opened, used for everything, and closed, over and over. */
static void *hammer_own_queues(void *argument)
{
    enum { N = 300 };
    job *j = argument;
    pthread_barrier_wait(j->start);
    for (int round = 0; round < 25; round++) {
        cgx_queue *q = NULL;
        cgx_event *first = NULL, *last = NULL;
        int *p = NULL, *r = NULL, seen[N], value = j->number * 100 + round;
        double seconds = -1;
        EXPECT(cgx_queue_open("any", &q) == CGX_OK);
        if (!q)
            return NULL;
        EXPECT(cgx_alloc(q, sizeof seen, CGX_MEM_DEVICE, (void **)&p) == CGX_OK);
        EXPECT(cgx_alloc_async(q, sizeof seen, (void **)&r) == CGX_OK);
        EXPECT(cgx_event_create(q, &first) == CGX_OK);
        EXPECT(cgx_event_create(q, &last) == CGX_OK);
        EXPECT(cgx_event_record(first, q) == CGX_OK);
        EXPECT(cgx_fill_i32(q, p, value, N) == CGX_OK);
        EXPECT(affine_launch(q, cgx_fit(q, N, 64), N, p, 3, 1) == CGX_OK);
        EXPECT(cgx_copy(q, r, p, sizeof seen) == CGX_OK);
        EXPECT(cgx_copy(q, seen, r, sizeof seen) == CGX_OK);
        EXPECT(cgx_event_record(last, q) == CGX_OK);
        EXPECT(cgx_queue_wait_event(q, last) == CGX_OK);
        EXPECT(cgx_free_async(q, r) == CGX_OK);
        EXPECT(cgx_event_wait(last) == CGX_OK);
        EXPECT(cgx_event_elapsed(first, last, &seconds) == CGX_OK && seconds >= 0);
        for (int i = 0; i < N; i++)
            EXPECT(seen[i] == 3 * value + 1);
        EXPECT(cgx_event_destroy(&first) == CGX_OK);
        EXPECT(cgx_event_destroy(&last) == CGX_OK);
        EXPECT(cgx_free(q, p) == CGX_OK);
        EXPECT(cgx_queue_close(&q) == CGX_OK);
    }
    return NULL;
}

static void own_queues(void **state)
{
    job jobs[THREADS];
    (void)state;
    run_threads(hammer_own_queues, jobs);
}

/* All threads start the same kernel for the first time: it is laid out once. */
static void *first_launch(void *argument)
{
    job *j = argument;
    unsigned *out = (unsigned *)j->counter;
    pthread_barrier_wait(j->start);
    EXPECT(use_both_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), 10), 10, out) == CGX_OK);
    EXPECT(use_dynamic_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), 10), 10, out + 1) == CGX_OK);
    return NULL;
}

static void first_launches_at_once(void **state)
{
    job jobs[THREADS];
    unsigned *out = device_memory(2 * THREADS * sizeof *out), seen[2 * THREADS], expected = 0;
    (void)state;
    check_ok(cgx_queue_wait(test_queue));
    for (int i = 0; i < THREADS; i++)
        jobs[i].counter = (int *)out + 2 * i;
    run_threads(first_launch, jobs);
    fetch(seen, out, sizeof seen);
    for (int i = 0; i < 10; i++)
        expected += (unsigned char)(i * 7 + 1);
    for (int i = 0; i < 2 * THREADS; i++)
        assert_int_equal(seen[i], expected);
    device_free(out);
}

/* A kernel with barriers and several blocks, from each thread of the user's team and beside it. */
static void inside_a_parallel_region(void **state)
{
    enum { N = 2000, ROUNDS = 10 };
    int team = 0;
    int *data = device_memory(4 * N * sizeof *data), *seen = host_memory(4 * N * sizeof *seen);
    (void)state;
    failures = 0;
    check_ok(cgx_fill_i32(test_queue, data, 1, 4 * N));
    check_ok(cgx_queue_wait(test_queue));
#pragma omp parallel num_threads(4)
    {
        int me = omp_get_thread_num();
#pragma omp single
        team = omp_get_num_threads();
        if (me < 4) {
            cgx_queue *q = NULL;
            EXPECT(cgx_queue_open("any", &q) == CGX_OK);
            for (int i = 0; q && i < ROUNDS; i++)
                EXPECT(affine_launch(q, cgx_cover(N, 64), N, data + me * N, 2, 1) == CGX_OK);
            EXPECT(cgx_queue_close(&q) == CGX_OK);
        }
    }
    assert_int_equal(failures, 0);
    assert_true(team >= 1);
    fetch(seen, data, 4 * N * sizeof *seen);
    for (int i = 0; i < team * N; i++)
        assert_int_equal(seen[i], (2 << ROUNDS) - 1);

    /* The team is the user's again. */
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000; i++)
        sum += i;
    assert_int_equal(sum, 499500);
    /* And outside, launches use the device's workers again. */
    check_ok(affine_launch(test_queue, cgx_cover(N, 64), N, data, 0, 5));
    fetch(seen, data, N * sizeof *seen);
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 5);
    free(seen);
    device_free(data);
}

/* A cooperative launch from a region: all its blocks are resident, whoever launches. */
static void cooperative_inside_a_parallel_region(void **state)
{
    enum { BLOCKS = 6 };
    int *data = device_memory(2 * BLOCKS * sizeof *data), seen[2 * BLOCKS];
    (void)state;
    failures = 0;
    if (test_can(CGX_CAN_COOPERATIVE)) {
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            EXPECT(sum_over_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(BLOCKS, 48)), data, data + BLOCKS) ==
                   CGX_OK);
        }
        assert_int_equal(failures, 0);
        fetch(seen, data, sizeof seen);
        for (int i = 0; i < BLOCKS; i++)
            assert_int_equal(seen[BLOCKS + i], BLOCKS * (BLOCKS - 1) / 2);
    }
    device_free(data);
}

/* A thread that waits may be made to work: it has another rounding, hardly any stack and no signal stack, and none of this changes
 * what a kernel does, nor is it changed. */
static void *wait_often(void *argument)
{
    enum { SHORT = 2, LONG = 4096, N = 64 };
    job *j = argument;
    volatile double one = 1, three = 3;
    double third = one / three, *out = (double *)(void *)j->shared_counter;
    stack_t before, after;
    EXPECT(!sigaltstack(NULL, &before));
    EXPECT(!fesetround(FE_UPWARD));
    for (int i = 0; i < 200; i++) {
        int blocks = i % 8 == 7 ? LONG : SHORT;
        EXPECT(divide_launch(test_queue, cgx_config_1d(blocks, N), 1, 3, out) == CGX_OK);
        EXPECT(cgx_queue_wait(test_queue) == CGX_OK);
        EXPECT(fegetround() == FE_UPWARD);
    }
    EXPECT(!sigaltstack(NULL, &after));
    EXPECT(before.ss_flags == after.ss_flags && before.ss_sp == after.ss_sp);
    EXPECT(!fesetround(FE_TONEAREST));
    double *seen = calloc((size_t)LONG * N, sizeof *seen);
    EXPECT(cgx_copy(test_queue, seen, out, (size_t)LONG * N * sizeof *seen) == CGX_OK);
    EXPECT(cgx_queue_wait(test_queue) == CGX_OK);
    for (int i = 0; i < LONG * N; i++)
        EXPECT(seen[i] == third);
    free(seen);
    return NULL;
}

static void a_thread_that_waits_is_left_as_it_was(void **state)
{
    job j = { .shared_counter = device_memory(4096 * 64 * sizeof(double)) };
    pthread_attr_t small;
    pthread_t thread;
    (void)state;
    failures = 0;
    pthread_attr_init(&small);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN + 32 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &small, wait_often, &j), 0);
    pthread_attr_destroy(&small);
    pthread_join(thread, NULL);
    assert_int_equal(failures, 0);
    device_free(j.shared_counter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_launches_at_once), /* first: afterwards none is the first */
        cmocka_unit_test(one_queue),
        cmocka_unit_test(own_queues),
        cmocka_unit_test(inside_a_parallel_region),
        cmocka_unit_test(cooperative_inside_a_parallel_region),
        cmocka_unit_test(a_thread_that_waits_is_left_as_it_was),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("threads", tests, NULL, NULL));
}

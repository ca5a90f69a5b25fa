/* SPDX-License-Identifier: MIT */
/* rows: H02 H07
 * Memory: its kinds, sizes from zero to absurd, pointers that are none, stream-ordered allocation. */
#include "check.h"
#include "host_kernels.h"

static const cgx_memory_kind kinds[] = { CGX_MEM_DEVICE, CGX_MEM_PINNED, CGX_MEM_SHARED };

#if defined(__SANITIZE_ADDRESS__)
/* The absurd sizes are asked for on purpose. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}
#endif

static void kernels_use_every_kind(void **state)
{
    enum { N = 5000 };
    int *seen = host_memory(N * sizeof *seen);
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        int *p = NULL;
        check_ok(cgx_alloc(test_queue, N * sizeof *p, kinds[k], (void **)&p));
        assert_int_equal((uintptr_t)p % 256, 0);
        check_ok(cgx_fill_i32(test_queue, p, 3, N));
        check_ok(affine_launch(test_queue, cgx_fit(test_queue, N, 64), N, p, 5, (int)k));
        fetch(seen, p, N * sizeof *seen);
        for (int i = 0; i < N; i++)
            assert_int_equal(seen[i], 15 + (int)k);
        check_ok(cgx_free(test_queue, p));
    }
    free(seen);
}

/* Host code may read and write pinned and shared memory, and device memory where there is only one memory. */
static void host_reaches_what_it_may(void **state)
{
    enum { N = 1000 };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        int *p = NULL;
        if (kinds[k] == CGX_MEM_DEVICE && !test_can(CGX_CAN_UNIFIED))
            continue;
        check_ok(cgx_alloc(test_queue, N * sizeof *p, kinds[k], (void **)&p));
        for (int i = 0; i < N; i++)
            p[i] = i;
        check_ok(affine_launch(test_queue, cgx_cover(N, 32), N, p, 2, 1));
        check_ok(cgx_queue_wait(test_queue));
        for (int i = 0; i < N; i++)
            assert_int_equal(p[i], 2 * i + 1);
        check_ok(cgx_free(test_queue, p));
    }
}

static void sizes(void **state)
{
    static const size_t bytes[] = { 0, 1, 2, 255, 256, 257, 4095, 4096, 65537, 1 << 20, 33554432 };
    void *p[COUNT_OF(bytes)];
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        for (size_t i = 0; i < COUNT_OF(bytes); i++) {
            p[i] = NULL;
            check_ok(cgx_alloc(test_queue, bytes[i], kinds[k], &p[i]));
            assert_non_null(p[i]);
            assert_int_equal((uintptr_t)p[i] % 256, 0);
            check_ok(cgx_fill_u8(test_queue, p[i], (uint8_t)i, bytes[i]));
            for (size_t j = 0; j < i; j++)
                assert_ptr_not_equal(p[i], p[j]);
        }
        for (size_t i = 0; i < COUNT_OF(bytes); i++)
            check_ok(cgx_free(test_queue, p[i]));
    }
}

static void absurd_sizes_are_out_of_memory(void **state)
{
    static const size_t bytes[] = { SIZE_MAX, SIZE_MAX - 255, SIZE_MAX - 256, SIZE_MAX / 2 + 1, (size_t)1 << 60 };
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (size_t i = 0; i < COUNT_OF(bytes); i++) {
            void *p = NULL;
            check_says(cgx_alloc(test_queue, bytes[i], kinds[k], &p), CGX_ERROR_OUT_OF_MEMORY, test_device.name,
                       "bytes");
            assert_null(strstr(cgx_last_error(), "-")); /* SIZE_MAX is no negative number of bytes */
            assert_null(p);
        }
    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        void *p = NULL;
        check_says(cgx_alloc_async(test_queue, bytes[i], &p), CGX_ERROR_OUT_OF_MEMORY, "bytes");
        assert_null(p);
    }
    check_ok(cgx_queue_wait(test_queue));
}

static void arguments_are_checked(void **state)
{
    void *p = NULL;
    (void)state;
    check_says(cgx_alloc(test_queue, 4, CGX_MEM_DEVICE, NULL), CGX_ERROR_INVALID, "cgx_alloc", "NULL");
    check_says(cgx_alloc(test_queue, 4, (cgx_memory_kind)3, &p), CGX_ERROR_INVALID, "cgx_alloc", "kind");
    check_says(cgx_alloc(test_queue, 4, (cgx_memory_kind)-1, &p), CGX_ERROR_INVALID, "cgx_alloc", "kind");
    check_says(cgx_alloc_async(test_queue, 4, NULL), CGX_ERROR_INVALID, "cgx_alloc_async", "NULL");
    assert_null(p);
}

static void pointers_that_are_none(void **state)
{
    static int here;
    int on_stack = 0;
    int *on_heap = host_memory(64), *p = NULL;
    (void)state;
    check_ok(cgx_free(test_queue, NULL));
    check_ok(cgx_free_async(test_queue, NULL));
    check_ok(cgx_alloc(test_queue, 64, CGX_MEM_DEVICE, (void **)&p));
    void *bad[] = { &here,
                    &on_stack,
                    on_heap,
                    p + 1,
                    (char *)p + 63,
                    (void *)(uintptr_t)1,
                    (void *)(uintptr_t)4096,
                    (void *)~(uintptr_t)0 };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        check_says(cgx_free(test_queue, bad[i]), CGX_ERROR_INVALID, "not allocated", test_device.name);
        check_says(cgx_free_async(test_queue, bad[i]), CGX_ERROR_INVALID, "not allocated", test_device.name);
    }
    check_ok(cgx_free(test_queue, p));
    check_says(cgx_free(test_queue, p), CGX_ERROR_INVALID, "freed already");
    check_says(cgx_free_async(test_queue, p), CGX_ERROR_INVALID, "freed already");
    free(on_heap);
    check_ok(cgx_queue_wait(test_queue)); /* nothing of it became the queue's error */
}

static void free_waits_for_the_queue(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        int *p = NULL, seen = 0;
        check_ok(cgx_alloc(test_queue, sizeof *p, CGX_MEM_DEVICE, (void **)&p));
        check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 300000));
        check_ok(store_value_launch(test_queue, cgx_config_1d(1, 1), p, i));
        check_ok(cgx_copy(test_queue, &seen, p, sizeof seen));
        check_ok(cgx_free(test_queue, p));
        assert_int_equal(seen, i);
        assert_int_equal(cgx_queue_query(test_queue), CGX_OK);
    }
}

static void stream_ordered(void **state)
{
    enum { N = 3000, ROUNDS = 100 };
    int *results = device_memory(ROUNDS * sizeof *results), seen[ROUNDS];
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        int *p = NULL;
        check_ok(cgx_alloc_async(test_queue, N * sizeof *p, (void **)&p));
        assert_int_equal((uintptr_t)p % 256, 0);
        check_ok(cgx_fill_i32(test_queue, p, i, N));
        check_ok(affine_launch(test_queue, cgx_cover(N, 128), N, p, 2, 1));
        check_ok(cgx_copy(test_queue, results + i, p + N - 1, sizeof *p));
        check_ok(cgx_free_async(test_queue, p)); /* while all of it is under way */
        check_says(cgx_free_async(test_queue, p), CGX_ERROR_INVALID, "freed already");
    }
    fetch(seen, results, sizeof seen);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(seen[i], 2 * i + 1);
    void *nothing = NULL;
    check_ok(cgx_alloc_async(test_queue, 0, &nothing));
    assert_non_null(nothing);
    check_ok(cgx_free_async(test_queue, nothing));
    /* Each kind of free takes the other's memory. */
    void *p = NULL;
    check_ok(cgx_alloc_async(test_queue, 100, &p));
    check_ok(cgx_free(test_queue, p));
    check_ok(cgx_alloc(test_queue, 100, CGX_MEM_DEVICE, &p));
    check_ok(cgx_free_async(test_queue, p));
    check_finished();
    device_free(results);
}

/* Many live at once, freed in an order of their own: whatever remembers them grows, shrinks and collides. */
static void many_allocations(void **state)
{
    enum { N = 5000, ROUNDS = 3 };
    void **p = host_memory(N * sizeof *p);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < N; i++) {
            p[i] = NULL;
            check_ok(cgx_alloc(test_queue, (size_t)random_below(600), CGX_MEM_DEVICE, &p[i]));
        }
        for (int i = N - 1; i > 0; i--) {
            int j = random_below(i + 1);
            void *t = p[i];
            p[i] = p[j], p[j] = t;
        }
        for (int i = 0; i < N; i++)
            check_ok(cgx_free(test_queue, p[i]));
        for (int i = 0; i < N; i += 97)
            check_says(cgx_free(test_queue, p[i]), CGX_ERROR_INVALID, "freed already");
    }
    free(p);
}

/* One pointer is taken and given back over and over: a table of addresses must not fill up with what is gone. */
static void allocation_and_free_by_turns(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        void *p = NULL;
        check_ok(cgx_alloc(test_queue, (size_t)(i % 3000), CGX_MEM_DEVICE, &p));
        check_ok(cgx_free(test_queue, p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_use_every_kind),
        cmocka_unit_test(host_reaches_what_it_may),
        cmocka_unit_test(sizes),
        cmocka_unit_test(absurd_sizes_are_out_of_memory),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(pointers_that_are_none),
        cmocka_unit_test(free_waits_for_the_queue),
        cmocka_unit_test(stream_ordered),
        cmocka_unit_test(many_allocations),
        cmocka_unit_test(allocation_and_free_by_turns),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("memory", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* rows: H06 H07 K03 Y03
 * What a kernel needs, how many blocks of it fit, what block size is best. */
#include "check.h"
#include "host_kernels.h"
#include <cgx/abi.h>

static void kernel_info(void **state)
{
    static const struct {
        const cgx_kernel *kernel;
        const char *name;
        int arguments, limit, cooperative, x, y, z;
        size_t bytes, shared;
    } rows[] = {
        { CGX_KERNEL_OF(nothing), "nothing", 0, 0, 0, 0, 0, 0, 1, 0 },
        { CGX_KERNEL_OF(affine), "affine", 4, 0, 0, 0, 0, 0, 24, 0 },
        { CGX_KERNEL_OF(use_both), "use_both", 2, 0, 0, 0, 0, 0, 16, 1000 },
        { CGX_KERNEL_OF(at_most_64), "at_most_64", 1, 64, 0, 0, 0, 0, 8, 0 },
        { CGX_KERNEL_OF(exactly_8_4_2), "exactly_8_4_2", 1, 64, 0, 8, 4, 2, 8, 0 },
        { CGX_KERNEL_OF(sum_over_grid), "sum_over_grid", 2, 0, 1, 0, 0, 0, 16, 0 },
        { CGX_KERNEL_OF(cooperative_at_most_64), "cooperative_at_most_64", 1, 64, 1, 0, 0, 0, 8, 0 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cgx_kernel_info k = CGX_KERNEL_INFO_INIT;
        check_ok(cgx_kernel_get_info(test_queue, rows[i].kernel, &k));
        assert_string_equal(k.name, rows[i].name);
        assert_non_null(strstr(k.file, "host_kernels.c"));
        assert_true(k.line > 1);
        assert_int_equal(k.argument_count, rows[i].arguments);
        assert_int_equal(k.argument_bytes, rows[i].bytes);
        assert_int_equal(k.static_shared_bytes, rows[i].shared);
        assert_int_equal(k.max_threads, rows[i].limit ? rows[i].limit : test_device.max_threads_per_block);
        assert_int_equal(k.cooperative, rows[i].cooperative);
        assert_true(k.block.x == rows[i].x && k.block.y == rows[i].y && k.block.z == rows[i].z);
        assert_true(k.engine && *k.engine && k.target && *k.target);
    }
}

static void occupancy(void **state)
{
    const cgx_kernel *k = CGX_KERNEL_OF(use_dynamic);
    const int limit = test_device.max_threads_per_block;
    const size_t shared = test_device.shared_bytes_per_block;
    int n = -1, before = 1 << 30;
    (void)state;
    for (int threads = 32; threads <= limit; threads *= 2) {
        check_ok(cgx_occupancy(test_queue, k, threads, 0, &n));
        assert_true(n >= 1 && n <= before); /* larger blocks, fewer of them */
        before = n;
    }
    check_ok(cgx_occupancy(test_queue, k, limit + 1, 0, &n)); /* what cannot be launched: none */
    assert_int_equal(n, 0);
    check_ok(cgx_occupancy(test_queue, k, 64, shared, &n));
    assert_int_equal(n, (int)(test_device.shared_bytes_per_unit / shared));
    check_ok(cgx_occupancy(test_queue, k, 64, shared + 1, &n));
    assert_int_equal(n, 0);
    check_ok(cgx_occupancy(test_queue, k, 64, SIZE_MAX, &n));
    assert_int_equal(n, 0);
    check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(at_most_64), 64, 0, &n));
    assert_true(n >= 1);
    check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(at_most_64), 65, 0, &n));
    assert_int_equal(n, 0);
}

static void cooperative_blocks(void **state)
{
    const cgx_kernel *k = CGX_KERNEL_OF(sum_over_grid);
    int n = -1, before = 1 << 30;
    (void)state;
    for (int threads = 32; threads <= test_device.max_threads_per_block; threads *= 2) {
        check_ok(cgx_max_cooperative_blocks(test_queue, k, threads, 0, &n));
        assert_true(n <= before);
        assert_int_equal(n > 0, test_can_sync_grid());
        before = n;
    }
    int without = n;
    check_ok(cgx_max_cooperative_blocks(test_queue, k, test_device.max_threads_per_block,
                                        test_device.shared_bytes_per_block, &n));
    assert_true(n <= without);
    check_ok(cgx_max_cooperative_blocks(test_queue, k, test_device.max_threads_per_block + 1, 0, &n));
    assert_int_equal(n, 0);
    check_ok(cgx_max_cooperative_blocks(test_queue, k, 32, test_device.shared_bytes_per_block + 1, &n));
    assert_int_equal(n, 0);
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    /* As many as it says do work: the guide's examples 14 and 15. */
    check_ok(cgx_max_cooperative_blocks(test_queue, k, 32, 0, &n));
    n = n > 2000 ? 2000 : n;
    int *data = device_memory(2 * (size_t)n * sizeof *data), *seen = host_memory((size_t)n * sizeof *seen);
    check_ok(sum_over_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(n, 32)), data, data + n));
    fetch(seen, data + n, (size_t)n * sizeof *seen);
    for (int i = 0; i < n; i++)
        assert_int_equal(seen[i], n * (n - 1) / 2);
    free(seen);
    device_free(data);
}

static void best_block(void **state)
{
    static const size_t shared[] = { 0, 1000, 40000 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shared); i++) {
        int threads = -1, blocks = -1, n = -1;
        check_ok(cgx_best_block(test_queue, CGX_KERNEL_OF(use_dynamic), shared[i], &threads, &blocks));
        assert_true(threads >= 32 && threads <= test_device.max_threads_per_block && threads % 32 == 0);
        check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(use_dynamic), threads, shared[i], &n));
        assert_int_equal(blocks, n * test_device.units);
        unsigned *out = device_memory((size_t)blocks * sizeof *out);
        check_ok(use_dynamic_launch(test_queue, cgx_with_shared(cgx_config_1d(blocks, threads), shared[i]),
                                    (int)shared[i], out));
        check_finished();
        device_free(out);
    }
    int threads = -1, blocks = -1;
    check_ok(cgx_best_block(test_queue, CGX_KERNEL_OF(at_most_64), 0, &threads, &blocks));
    assert_true(threads <= 64 && blocks >= 1);
    /* A declared block size is the only one there is. */
    check_ok(cgx_best_block(test_queue, CGX_KERNEL_OF(exactly_8_4_2), 0, &threads, &blocks));
    assert_int_equal(threads, 64);
}

static void arguments_are_checked(void **state)
{
    const cgx_kernel *k = CGX_KERNEL_OF(nothing);
    int n = -1, m = -1;
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    (void)state;
    check_says(cgx_occupancy(test_queue, k, 32, 0, NULL), CGX_ERROR_INVALID, "cgx_occupancy", "NULL");
    check_says(cgx_occupancy(test_queue, NULL, 32, 0, &n), CGX_ERROR_INVALID, "cgx_occupancy", "kernel", "NULL");
    check_says(cgx_occupancy(test_queue, k, 0, 0, &n), CGX_ERROR_INVALID, "cgx_occupancy", "0 threads");
    check_says(cgx_occupancy(test_queue, k, -5, 0, &n), CGX_ERROR_INVALID, "cgx_occupancy", "-5 threads");
    check_says(cgx_max_cooperative_blocks(test_queue, k, 32, 0, NULL), CGX_ERROR_INVALID, "cgx_max_cooperative_blocks",
               "NULL");
    check_says(cgx_max_cooperative_blocks(test_queue, NULL, 32, 0, &n), CGX_ERROR_INVALID,
               "cgx_max_cooperative_blocks");
    check_says(cgx_max_cooperative_blocks(test_queue, k, 0, 0, &n), CGX_ERROR_INVALID, "cgx_max_cooperative_blocks");
    check_says(cgx_best_block(test_queue, NULL, 0, &n, &m), CGX_ERROR_INVALID, "cgx_best_block");
    check_says(cgx_best_block(test_queue, k, 0, NULL, &m), CGX_ERROR_INVALID, "cgx_best_block", "NULL");
    check_says(cgx_best_block(test_queue, k, 0, &n, NULL), CGX_ERROR_INVALID, "cgx_best_block", "NULL");
    check_says(cgx_best_block(test_queue, k, SIZE_MAX, &n, &m), CGX_ERROR_LIMIT, "nothing", "dynamic shared");
    check_says(cgx_kernel_get_info(test_queue, k, NULL), CGX_ERROR_INVALID, "cgx_kernel_get_info", "NULL");
    check_says(cgx_kernel_get_info(test_queue, NULL, &info), CGX_ERROR_INVALID, "cgx_kernel_get_info", "kernel");
    info.size = 8;
    check_says(cgx_kernel_get_info(test_queue, k, &info), CGX_ERROR_INVALID, "cgx_kernel_get_info", "size");
    assert_int_equal(n, -1);
    assert_int_equal(m, -1);
    assert_null(info.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_info),           cmocka_unit_test(occupancy),
        cmocka_unit_test(cooperative_blocks),    cmocka_unit_test(best_block),
        cmocka_unit_test(arguments_are_checked),
    };
    test_start();
    return test_end(cmocka_run_group_tests_name("occupancy", tests, NULL, NULL));
}

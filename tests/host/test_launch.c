/* SPDX-License-Identifier: MIT */
/* rows: H05 H07 K03 K09 K10 Y03
 * Launches: shapes, limits and the texts they give, cooperative, dynamic shared memory, arrays of arguments, versions. */
#include "check.h"
#include "greedy_kernels.h"
#include "host_kernels.h"
#include <cgx/abi.h>
#include <limits.h>

/* "1,152" */
static const char *comma(int64_t n)
{
    static char texts[8][32];
    static int turn;
    char digits[24], *text = texts[turn = (turn + 1) % 8], *at = text;
    int length = snprintf(digits, sizeof digits, "%lld", (long long)n);
    for (int i = 0; i < length; i++) {
        *at++ = digits[i];
        if (i + 1 < length && (length - 1 - i) % 3 == 0 && digits[i] != '-')
            *at++ = ',';
    }
    *at = 0;
    return text;
}

static void check_text(cgx_status s, cgx_status expected, const char *text)
{
    check_says(s, expected, "");
    assert_string_equal(cgx_last_error(), text);
}

static int *out;
static int host[4096];

static void nothing_ran(void)
{
    fetch(host, out, sizeof host);
    for (size_t i = 0; i < COUNT_OF(host); i++)
        assert_int_equal(host[i], 0);
}

static int set_up(void **state)
{
    (void)state;
    if (!out && cgx_alloc(test_queue, sizeof host, CGX_MEM_DEVICE, (void **)&out))
        return -1;
    return cgx_fill_i32(test_queue, out, 0, COUNT_OF(host)) || cgx_queue_wait(test_queue);
}

static void shapes_in_three_dimensions(void **state)
{
    static const cgx_dim3 grids[] = { { 1, 1, 1 }, { 5, 1, 1 }, { 2, 3, 4 }, { 1, 7, 1 }, { 1, 1, 6 } };
    static const cgx_dim3 blocks[] = { { 1, 1, 1 }, { 33, 1, 1 }, { 4, 3, 2 }, { 1, 9, 1 }, { 2, 1, 8 } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(grids); i++)
        for (size_t j = 0; j < COUNT_OF(blocks); j++) {
            cgx_dim3 g = grids[i], b = blocks[j];
            int n = g.x * g.y * g.z * b.x * b.y * b.z, rank = 0;
            int *place = device_memory((size_t)n * 8 * sizeof *place),
                *seen = host_memory((size_t)n * 8 * sizeof *seen);
            check_ok(write_place_launch(test_queue, cgx_config_make(g, b), place));
            fetch(seen, place, (size_t)n * 8 * sizeof *seen);
            for (int gz = 0; gz < g.z; gz++)
                for (int gy = 0; gy < g.y; gy++)
                    for (int gx = 0; gx < g.x; gx++)
                        for (int bz = 0; bz < b.z; bz++)
                            for (int by = 0; by < b.y; by++)
                                for (int bx = 0; bx < b.x; bx++, rank++) {
                                    const int expected[8] = { bx,
                                                              by,
                                                              bz,
                                                              gx,
                                                              gy,
                                                              gz,
                                                              b.x * 10000 + b.y * 100 + b.z,
                                                              g.x * 10000 + g.y * 100 + g.z };
                                    assert_memory_equal(seen + 8 * rank, expected, sizeof expected);
                                }
            free(seen);
            device_free(place);
        }
}

/* A launch that differs from one of before in a single thing is another launch, and is checked. */
static void almost_the_same_launch(void **state)
{
    const cgx_config one = cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(2, 1, 1));
    cgx_config c[12];
    void *pair[2] = { &out, NULL };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(c); i++)
        c[i] = one;
    c[0].grid.x = c[1].grid.y = c[2].grid.z = c[3].block.x = c[4].block.y = c[5].block.z = 0;
    c[6].cluster.x = c[7].cluster.y = c[8].cluster.z = -1;
    c[9].dynamic_shared = test_device.shared_bytes_per_block + 1;
    c[10].size = 8;
    c[11].block.z = test_device.max_block.z + 1;
    for (int value = 1; value <= 3; value++) {
        for (size_t i = 0; i < COUNT_OF(c); i++) {
            check_ok(store_value_launch(test_queue, one, out, value * 100 + (int)i));
            assert_int_not_equal(store_value_launch(test_queue, c[i], out, -1), CGX_OK);
            fetch(host, out, sizeof host[0]);
            assert_int_equal(host[0], value * 100 + (int)i);
        }
        assert_int_not_equal(cgx__launch(test_queue, CGX_KERNEL_OF(store_value), &one, pair, 4), CGX_OK);
        assert_int_not_equal(cgx__launch(test_queue, CGX_KERNEL_OF(store_value), &one, NULL, 16), CGX_OK);
    }
    /* Other shapes of the same kernel, each by turns. */
    for (int round = 0; round < 20; round++)
        for (int n = 1; n <= 3; n++) {
            check_ok(cgx_fill_i32(test_queue, out, 1, 64));
            check_ok(affine_launch(test_queue, cgx_config_1d(n, 5 + n), 64, out, 10 * n, round));
            fetch(host, out, 64 * sizeof host[0]);
            for (int i = 0; i < 64; i++)
                assert_int_equal(host[i], 10 * n + round);
        }
}

/* More of them by turns than anybody remembers; two kernels differ in nothing but the kernel. */
static void many_launches_by_turns(void **state)
{
    enum { QUEUES = 40, ROUNDS = 6 };
    cgx_queue *queues[QUEUES];
    (void)state;
    for (int q = 0; q < QUEUES; q++)
        check_ok(cgx_queue_open(test_device.backend, queues + q));
    for (int round = 0; round < ROUNDS; round++)
        for (int q = 0; q < QUEUES; q++) {
            check_ok(store_value_launch(queues[q], cgx_config_1d(1, 1), out + 4 * q, q));
            check_ok(affine_launch(queues[q], cgx_config_1d(1, 1), 1, out + 4 * q, 10, round));
            check_ok(count_up_launch(queues[q], cgx_config_1d(1, 1), out + 4 * q + 1));
            check_ok(at_most_64_launch(queues[q], cgx_config_1d(1, 1), out + 4 * q + 2));
            if (q == round) { /* and one that is closed, whose place the next may get */
                check_ok(cgx_queue_close(queues + q));
                check_ok(cgx_queue_open(test_device.backend, queues + q));
            }
        }
    for (int q = 0; q < QUEUES; q++)
        check_ok(cgx_queue_close(queues + q));
    fetch(host, out, sizeof host);
    for (int q = 0; q < QUEUES; q++) {
        const int expected[4] = { 10 * q + ROUNDS - 1, ROUNDS, 1, 0 };
        assert_memory_equal(host + 4 * q, expected, sizeof expected);
    }
}

static void sizes_that_are_not_positive(void **state)
{
    static const int bad[] = { 0, -1, INT_MIN };
    char text[200];
    (void)state;
    for (int axis = 0; axis < 3; axis++)
        for (size_t i = 0; i < COUNT_OF(bad); i++) {
            int d[3] = { 1, 1, 1 };
            d[axis] = bad[i];
            cgx_dim3 size = cgx_dim(d[0], d[1], d[2]);
            snprintf(text, sizeof text, "store_value: grid size %s in %c; at least 1 is needed", comma(bad[i]),
                     "xyz"[axis]);
            check_text(store_value_launch(test_queue, cgx_config_make(size, cgx_dim(1, 1, 1)), out, 1),
                       CGX_ERROR_INVALID, text);
            snprintf(text, sizeof text, "store_value: block size %s in %c; at least 1 is needed", comma(bad[i]),
                     "xyz"[axis]);
            check_text(store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), size), out, 1),
                       CGX_ERROR_INVALID, text);
        }
    /* Two negative sizes whose product is positive, and a zero beside a huge one. */
    check_says(store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(-2, -2, 1)), out, 1),
               CGX_ERROR_INVALID, "block size");
    check_says(store_value_launch(test_queue, cgx_config_make(cgx_dim(INT_MAX, 0, 1), cgx_dim(1, 1, 1)), out, 1),
               CGX_ERROR_INVALID, "grid size 0 in y");
    nothing_ran();
}

/* NORTHSTAR: "saxpy: 1,152 threads a block asked, cpu:0 takes 1,024; 1,024 would fit" */
static void too_many_threads(void **state)
{
    char text[200];
    const int limit = test_device.max_threads_per_block;
    const cgx_dim3 shapes[] = {
        { limit + 128, 1, 1 }, { limit + 1, 1, 1 }, { limit, 2, 1 }, { limit / 2, 2, 2 }, { 1, limit, 4 }
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        cgx_dim3 b = shapes[i];
        snprintf(text, sizeof text, "store_value: %s threads a block asked, %s takes %s; %s would fit",
                 comma((int64_t)b.x * b.y * b.z), test_device.name, comma(limit), comma(limit));
        check_text(store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), b), out, 1), CGX_ERROR_LIMIT, text);
    }
    /* No overflow makes it small again: 2^16 * 2^16, and 2^93. */
    check_says(store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(65536, 65536, 1)), out, 1),
               CGX_ERROR_LIMIT, "store_value");
    check_says(
        store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(INT_MAX, INT_MAX, INT_MAX)), out, 1),
        CGX_ERROR_LIMIT, "store_value");
    check_says(store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(1 << 30, 4, 1 << 30)), out, 1),
               CGX_ERROR_LIMIT, "store_value");
    nothing_ran();
    check_ok(store_value_launch(test_queue, cgx_config_1d(1, limit), out, 9)); /* the limit itself */
    fetch(host, out, sizeof host);
    assert_int_equal(host[0], 9);
}

static void too_large_in_one_dimension(void **state)
{
    char text[200];
    const cgx_dim3 block = test_device.max_block, grid = test_device.max_grid;
    (void)state;
    if (block.z < test_device.max_threads_per_block) {
        snprintf(text, sizeof text, "store_value: block size %s in z asked, %s takes %s; %s would fit",
                 comma(block.z + 1), test_device.name, comma(block.z), comma(block.z));
        check_text(
            store_value_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(1, 1, block.z + 1)), out, 1),
            CGX_ERROR_LIMIT, text);
        check_ok(nothing_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(1, 1, block.z))));
    }
    const int limits[3] = { grid.x, grid.y, grid.z };
    for (int axis = 0; axis < 3; axis++) {
        int d[3] = { 1, 1, 1 };
        if (limits[axis] == INT_MAX)
            continue;
        d[axis] = limits[axis] + 1;
        snprintf(text, sizeof text, "store_value: grid size %s in %c asked, %s takes %s; %s would fit", comma(d[axis]),
                 "xyz"[axis], test_device.name, comma(limits[axis]), comma(limits[axis]));
        check_text(store_value_launch(test_queue, cgx_config_make(cgx_dim(d[0], d[1], d[2]), cgx_dim(1, 1, 1)), out, 1),
                   CGX_ERROR_LIMIT, text);
    }
    nothing_ran();
}

static void declared_limits(void **state)
{
    char text[200];
    (void)state;
    check_ok(at_most_64_launch(test_queue, cgx_config_1d(1, 64), out));
    check_ok(at_most_64_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(3, 3, 3)), out));
    fetch(host, out, sizeof host);
    assert_int_equal(host[63], 1);
    assert_int_equal(host[64], 0);
    snprintf(text, sizeof text,
             "at_most_64: 65 threads a block asked, the kernel is declared for at most 64; 64 would fit");
    check_text(at_most_64_launch(test_queue, cgx_config_1d(1, 65), out), CGX_ERROR_LIMIT, text);

    check_ok(exactly_8_4_2_launch(test_queue, cgx_config_make(cgx_dim(2, 1, 1), cgx_dim(8, 4, 2)), out));
    fetch(host, out, sizeof host);
    assert_int_equal(host[127], 1);
    assert_int_equal(host[128], 0);
    /* As many threads in another shape. */
    check_says(exactly_8_4_2_launch(test_queue, cgx_config_1d(1, 64), out), CGX_ERROR_LIMIT, "exactly_8_4_2",
               "64 x 1 x 1", "8 x 4 x 2");
    check_says(exactly_8_4_2_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), cgx_dim(4, 8, 2)), out),
               CGX_ERROR_LIMIT, "4 x 8 x 2", "8 x 4 x 2");
    if (test_can(CGX_CAN_COOPERATIVE)) {
        check_ok(cooperative_at_most_64_launch(test_queue, cgx_cooperative(cgx_config_1d(1, 64)), out));
        check_says(cooperative_at_most_64_launch(test_queue, cgx_cooperative(cgx_config_1d(1, 96)), out),
                   CGX_ERROR_LIMIT, "96 threads", "64 would fit");
    }
    check_says(cooperative_at_most_64_launch(test_queue, cgx_config_1d(1, 64), out), CGX_ERROR_UNSUPPORTED,
               "cooperative_at_most_64");
    check_finished();
}

/* ---- shared memory ---- */

static unsigned byte_sum(int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++)
        sum += (unsigned char)(i * 7 + 1);
    return sum;
}

static void dynamic_shared_memory(void **state)
{
    const int limit = (int)test_device.shared_bytes_per_block;
    const int sizes[] = { 0, 1, 127, 128, 4096, 48 * 1024, 48 * 1024 + 1, limit - 1, limit };
    unsigned sums[3];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        int n = sizes[i];
        if (n > limit)
            continue;
        check_ok(use_dynamic_launch(test_queue, cgx_with_shared(cgx_config_1d(3, 96), (size_t)n), n, (unsigned *)out));
        fetch(sums, out, sizeof sums);
        for (int b = 0; b < 3; b++)
            assert_int_equal(sums[b], byte_sum(n));
    }
    /* 1,000 static bytes are 1,024 before dynamic memory starts. */
    check_ok(use_both_launch(test_queue, cgx_with_shared(cgx_config_1d(2, 64), (size_t)limit - 1024), limit - 1024,
                             (unsigned *)out));
    fetch(sums, out, sizeof sums);
    assert_int_equal(sums[1], byte_sum(limit - 1024));
}

/* Collectives may have shared memory of their own: a kernel's info says how much, and the rest of the limit is there. */
static void shared_memory_of_collectives(void **state)
{
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    unsigned sums[2];
    (void)state;
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(use_collective), &info));
    assert_true(info.static_shared_bytes < 1024);
    const size_t most = (test_device.shared_bytes_per_block - info.static_shared_bytes) & ~(size_t)127;
    check_ok(
        use_collective_launch(test_queue, cgx_with_shared(cgx_config_1d(2, 96), most), (int)most, (unsigned *)out));
    fetch(sums, out, sizeof sums);
    for (int b = 0; b < 2; b++)
        assert_int_equal(sums[b], byte_sum((int)most));
    check_says(use_collective_launch(test_queue, cgx_with_shared(cgx_config_1d(2, 96), most + 128), 1, (unsigned *)out),
               CGX_ERROR_LIMIT, "use_collective", test_device.name, comma((int64_t)most), "would fit");
    check_finished();
}

static void too_much_dynamic_shared_memory(void **state)
{
    char text[300];
    const size_t limit = test_device.shared_bytes_per_block;
    (void)state;
    snprintf(text, sizeof text,
             "use_dynamic: %s bytes of dynamic shared memory asked beside 0 static ones, %s takes %s a block; "
             "%s would fit",
             comma((int64_t)limit + 1), test_device.name, comma((int64_t)limit), comma((int64_t)limit));
    check_text(use_dynamic_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), limit + 1), 1, (unsigned *)out),
               CGX_ERROR_LIMIT, text);
    snprintf(text, sizeof text,
             "use_both: %s bytes of dynamic shared memory asked beside 1,000 static ones, %s takes %s a block; "
             "%s would fit",
             comma((int64_t)limit), test_device.name, comma((int64_t)limit), comma((int64_t)limit - 1024));
    check_text(use_both_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), limit), 1, (unsigned *)out),
               CGX_ERROR_LIMIT, text);
    check_says(use_both_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), SIZE_MAX), 1, (unsigned *)out),
               CGX_ERROR_LIMIT, "would fit");
    check_says(use_both_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), SIZE_MAX - 1000), 1, (unsigned *)out),
               CGX_ERROR_LIMIT, "would fit");
    nothing_ran();
}

static void too_much_static_shared_memory(void **state)
{
    char text[200];
    int value = -1, threads = -1;
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    (void)state;
    if (GREEDY_BYTES <= test_device.shared_bytes_per_block)
        return;
    snprintf(text, sizeof text, "greedy: the kernel declares %s bytes of shared memory, %s takes %s a block",
             comma(GREEDY_BYTES), test_device.name, comma((int64_t)test_device.shared_bytes_per_block));
    check_text(greedy_launch(test_queue, cgx_config_1d(1, 32), out), CGX_ERROR_LIMIT, text);
    check_text(greedy_launch(test_queue, cgx_cooperative(cgx_config_1d(1, 32)), out), CGX_ERROR_LIMIT, text);
    nothing_ran();
    /* It can be asked about before. */
    if (cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(greedy), &info) == CGX_ERROR_UNSUPPORTED) {
        /* Some device compilers refuse it, and there is nothing to ask about (meson.build). */
        assert_non_null(strstr(cgx_last_error(), "greedy: its file was built without"));
        return;
    }
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(greedy), &info));
    assert_int_equal(info.static_shared_bytes, GREEDY_BYTES);
    check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(greedy), 32, 0, &value));
    assert_int_equal(value, 0);
    value = -1;
    check_says(cgx_best_block(test_queue, CGX_KERNEL_OF(greedy), 0, &threads, &value), CGX_ERROR_LIMIT, "greedy");
    assert_int_equal(value, -1);
    assert_int_equal(threads, -1);
}

/* ---- cooperative launches ---- */

static void cooperative_launch(void **state)
{
    (void)state;
    check_says(sum_over_grid_launch(test_queue, cgx_config_1d(2, 32), out, out + 1000), CGX_ERROR_UNSUPPORTED,
               "sum_over_grid", "cooperative");
    nothing_ran();
    if (!test_can(CGX_CAN_COOPERATIVE)) {
        check_says(sum_over_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(2, 32)), out, out + 1000),
                   CGX_ERROR_UNSUPPORTED, test_device.name, "cooperative");
        return;
    }
    check_ok(sum_over_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(7, 40)), out, out + 1000));
    fetch(host, out, sizeof host);
    for (int i = 0; i < 7; i++)
        assert_int_equal(host[1000 + i], 21);
    /* A kernel that does not need it may be launched so. */
    check_ok(store_value_launch(test_queue, cgx_cooperative(cgx_config_1d(3, 32)), out, 5));
    fetch(host, out, sizeof host);
    assert_int_equal(host[0], 5);
}

/* The library's own grid barrier: taken only when it is asked for, only where the driver has none, and only for blocks
 * that fit. Devices can be told what to say of themselves. rows: Y04 Y03 */
static void grid_barrier_of_the_library(void **state)
{
    const char *told = getenv("CGX_CPU_COOPERATIVE") ? getenv("CGX_CPU_COOPERATIVE") : getenv("CGX_GPU_COOPERATIVE");
    const int native = test_can(CGX_CAN_COOPERATIVE), software = test_can(CGX_CAN_SOFTWARE_GRID);
    const cgx_config plain = cgx_config_1d(7, 40);
    cgx_config c = plain;
    int most = -1;

    (void)state;
    if (told) {
        assert_int_equal(native, !strcmp(told, "yes"));
        assert_int_equal(software, strcmp(told, "no") != 0);
    }
    /* The flag alone is not a cooperative launch. */
    c.flags |= CGX_LAUNCH_SOFTWARE_GRID;
    check_says(sum_over_grid_launch(test_queue, c, out, out + 1000), CGX_ERROR_UNSUPPORTED, "sum_over_grid",
               "cooperative");
    nothing_ran();
    if (!native) {
        check_says(sum_over_grid_launch(test_queue, cgx_cooperative(plain), out, out + 1000), CGX_ERROR_UNSUPPORTED,
                   test_device.name, "no cooperative launch", software ? "cgx_cooperative_or_software" : "");
        nothing_ran();
    }
    c = cgx_cooperative_or_software(plain);
    check_ok(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(sum_over_grid), 40, 0, &most));
    if (!native && !software) {
        assert_int_equal(most, 0);
        check_says(sum_over_grid_launch(test_queue, c, out, out + 1000), CGX_ERROR_UNSUPPORTED, test_device.name,
                   "no cooperative launch");
        nothing_ran();
        return;
    }
    assert_true(most >= 7);
    check_ok(sum_over_grid_launch(test_queue, c, out, out + 1000));
    fetch(host, out, sizeof host);
    for (int i = 0; i < 7; i++)
        assert_int_equal(host[1000 + i], 21);
    c.grid.x = most < INT_MAX ? most + 1 : most;
    check_says(sum_over_grid_launch(test_queue, c, out, out), CGX_ERROR_LIMIT, "sum_over_grid", "cooperative blocks");
}

static void too_many_cooperative_blocks(void **state)
{
    char text[200];
    int fit = -1;
    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_ok(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(sum_over_grid), 64, 0, &fit));
    assert_true(fit >= test_device.units);
    snprintf(text, sizeof text,
             "sum_over_grid: %s cooperative blocks of 64 threads asked, %s takes %s at once; %s would fit",
             comma(fit + 1), test_device.name, comma(fit), comma(fit));
    check_text(sum_over_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(fit + 1, 64)), out, out), CGX_ERROR_LIMIT,
               text);
    check_says(sum_over_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(INT_MAX, 64)), out, out), CGX_ERROR_LIMIT,
               "would fit");
    check_says(sum_over_grid_launch(test_queue,
                                    cgx_cooperative(cgx_config_make(cgx_dim(INT_MAX, 65535, 65535), cgx_dim(64, 1, 1))),
                                    out, out),
               CGX_ERROR_LIMIT, "would fit");
    nothing_ran();
}

static void clusters(void **state)
{
    cgx_config c = cgx_config_1d(8, 32);
    const int limit = test_device.max_cluster_blocks;
    char text[200];
    (void)state;
    c.cluster = cgx_dim(1, 1, 1);
    check_ok(store_value_launch(test_queue, c, out, 0));
    if (limit >= 2) {
        c.cluster = cgx_dim(2, 1, 1);
        check_ok(store_value_launch(test_queue, c, out, 0));
    }
    c.grid = cgx_dim(4 * (limit + 1), 1, 1), c.cluster = cgx_dim(limit + 1, 1, 1);
    snprintf(text, sizeof text, "store_value: clusters of %d blocks asked, %s takes %d; %d would fit", limit + 1,
             test_device.name, limit, limit);
    check_text(store_value_launch(test_queue, c, out, 1), CGX_ERROR_LIMIT, text);
    c.grid = cgx_dim(7, 1, 1), c.cluster = cgx_dim(2, 1, 1);
    check_says(store_value_launch(test_queue, c, out, 1), limit >= 2 ? CGX_ERROR_INVALID : CGX_ERROR_LIMIT, "cluster");
    static const cgx_dim3 bad[] = { { -1, 1, 1 }, { 2, 0, 1 }, { 0, 0, 1 }, { -2, -1, 1 } };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        c = cgx_config_1d(8, 32);
        c.cluster = bad[i];
        check_says(store_value_launch(test_queue, c, out, 1), CGX_ERROR_INVALID, "store_value", "cluster");
    }
    c.grid = cgx_dim(65535, 65535, 4),
    c.cluster = cgx_dim(65535, 65535, 4); /* 2^34 blocks: no overflow to a small number */
    check_says(store_value_launch(test_queue, c, out, 1), CGX_ERROR_LIMIT, "would fit");
    nothing_ran();
}

/* ---- arguments ---- */

static void array_of_arguments(void **state)
{
    signed char c = -7;
    double d = 2.5, *results = device_memory(6 * sizeof *results), seen[6];
    host_record r = { 11, 0.125, "abcd" };
    short s = -300;
    void *arguments[] = { &c, &d, &r, &results, &s };
    const cgx_kernel *k = CGX_KERNEL_OF(mixed_arguments);
    cgx_config one = cgx_config_1d(1, 1);
    (void)state;
    r.text[4] = 'e';
    check_ok(cgx_launch(test_queue, k, one, arguments, 5));
    /* The values were copied. */
    c = 0, d = 0, s = 0;
    memset(&r, 0, sizeof r);
    memset(arguments, 0, sizeof arguments);
    fetch(seen, results, sizeof seen);
    static const double expected[6] = { -7, 2.5, 11, 0.125, 'e', -300 };
    assert_memory_equal(seen, expected, sizeof seen);

    c = 1, d = 2, s = 4;
    r.small = 3;
    check_ok(mixed_arguments_launch(test_queue, one, c, d, r, results, s)); /* the typed one gives the same */
    fetch(seen, results, sizeof seen);
    static const double typed[6] = { 1, 2, 3, 0, 0, 4 };
    assert_memory_equal(seen, typed, sizeof seen);
    device_free(results);
    check_ok(cgx_launch(test_queue, CGX_KERNEL_OF(nothing), one, NULL, 0));
    check_finished();
}

static void wrong_arrays_of_arguments(void **state)
{
    static const int counts[] = { 0, 1, 3, -1, 17, INT_MAX, INT_MIN };
    int value = 5;
    void *arguments[] = { &out, &value };
    const cgx_kernel *k = CGX_KERNEL_OF(store_value);
    cgx_config one = cgx_config_1d(1, 1);
    char text[100];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        snprintf(text, sizeof text, "store_value: %d arguments given, the kernel takes 2", counts[i]);
        check_text(cgx_launch(test_queue, k, one, arguments, counts[i]), CGX_ERROR_INVALID, text);
    }
    check_says(cgx_launch(test_queue, k, one, NULL, 2), CGX_ERROR_INVALID, "store_value", "argument 0", "NULL");
    arguments[1] = NULL;
    check_says(cgx_launch(test_queue, k, one, arguments, 2), CGX_ERROR_INVALID, "store_value", "argument 1", "NULL");
    arguments[1] = &value;
    check_says(cgx_launch(NULL, k, one, arguments, 2), CGX_ERROR_INVALID, "queue", "NULL");
    check_says(cgx_launch(test_queue, NULL, one, arguments, 2), CGX_ERROR_INVALID, "kernel", "NULL");
    check_says(cgx_launch(NULL, NULL, one, NULL, -1), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_launch(test_queue, k, cgx_config_1d(0, 1), arguments, 2), CGX_ERROR_INVALID, "grid size 0");
    nothing_ran();
}

static void configuration_without_size(void **state)
{
    cgx_config c;
    (void)state;
    memset(&c, 0, sizeof c);
    check_says(store_value_launch(test_queue, c, out, 1), CGX_ERROR_INVALID, "store_value", "size", "cgx_config_make");
    c = cgx_config_1d(1, 1);
    c.size = sizeof c - 1;
    check_says(store_value_launch(test_queue, c, out, 1), CGX_ERROR_INVALID, "size");
    check_says(cgx__launch(test_queue, CGX_KERNEL_OF(nothing), NULL, "", 1), CGX_ERROR_INVALID, "size");
    c = cgx_config_1d(1, 1);
    check_says(cgx__launch(test_queue, CGX_KERNEL_OF(store_value), &c, NULL, sizeof(void *)), CGX_ERROR_INVALID,
               "arguments");
    nothing_ran();
}

/* A descriptor of another cgxcc: a copy of ours with another number. */
static void other_versions_are_refused(void **state)
{
    static const uint32_t versions[] = { 0, 2, 99, UINT32_MAX };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        cgx_kernel copy = *CGX_KERNEL_OF(nothing);
        int value = -1, threads = -1;
        cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
        copy.version = versions[i];
        check_says(cgx_launch(test_queue, &copy, cgx_config_1d(1, 1), NULL, 0), CGX_ERROR_VERSION, "object format",
                   "build it again");
        check_says(cgx_kernel_get_info(test_queue, &copy, &info), CGX_ERROR_VERSION, "object format");
        check_says(cgx_occupancy(test_queue, &copy, 32, 0, &value), CGX_ERROR_VERSION, "object format");
        check_says(cgx_max_cooperative_blocks(test_queue, &copy, 32, 0, &value), CGX_ERROR_VERSION, "object format");
        check_says(cgx_best_block(test_queue, &copy, 0, &threads, &value), CGX_ERROR_VERSION, "object format");
        /* Where another version keeps what is anybody's guess: nothing but version and size may be read. */
        memset((char *)&copy + 8, 0xff, sizeof copy - 8);
        check_says(cgx_launch(test_queue, &copy, cgx_config_1d(1, 1), NULL, 0), CGX_ERROR_VERSION, "object format");
        char argument = 0;
        cgx_config c = cgx_config_1d(1, 1);
        check_says(cgx__launch(test_queue, &copy, &c, &argument, 1), CGX_ERROR_VERSION, "object format");
        check_says(cgx__launch(NULL, &copy, &c, &argument, 1), CGX_ERROR_VERSION, "object format");
        assert_int_equal(value, -1);
        assert_int_equal(threads, -1);
        assert_null(info.name);
    }
    cgx_kernel small = *CGX_KERNEL_OF(nothing);
    small.size = 16;
    check_says(cgx_launch(test_queue, &small, cgx_config_1d(1, 1), NULL, 0), CGX_ERROR_VERSION, "build it again");
    cgx_kernel longer = *CGX_KERNEL_OF(nothing); /* what a newer one might append is not looked at */
    longer.size += 64;
    check_ok(cgx_launch(test_queue, &longer, cgx_config_1d(1, 1), NULL, 0));
    check_finished();
}

/* ---- shapes that are computed ---- */

static void cover_has_one_thread_an_item(void **state)
{
    static const struct {
        int64_t n;
        int threads, blocks;
    } rows[] = {
        { 1, 256, 1 },
        { 256, 256, 1 },
        { 257, 256, 2 },
        { 1000000, 128, 7813 },
        { 0, 256, 0 },
        { -5, 256, 0 },
        { 10, 0, 0 },
        { 10, -1, 0 },
        { (int64_t)INT_MAX * 32, 32, INT_MAX },
        { (int64_t)INT_MAX * 32 + 1, 32, -1 },
        { INT64_MAX, 1, -1 },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cgx_config c = cgx_cover(rows[i].n, rows[i].threads);
        assert_int_equal(c.grid.x, rows[i].blocks);
        assert_int_equal(c.block.x, rows[i].threads);
        assert_true(c.grid.y == 1 && c.grid.z == 1 && c.block.y == 1 && c.block.z == 1);
        assert_true(c.size == sizeof c && c.flags == 0 && c.dynamic_shared == 0 && c.cluster.x == 0);
    }
    check_says(store_value_launch(test_queue, cgx_cover(0, 256), out, 1), CGX_ERROR_INVALID, "grid size 0");
    check_says(store_value_launch(test_queue, cgx_cover(INT64_MAX, 1), out, 1), CGX_ERROR_INVALID, "grid size");
    nothing_ran();
}

static void fit_keeps_the_device_busy(void **state)
{
    static const int threads[] = { 1, 32, 64, 256, 1000 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        cgx_config few = cgx_fit(test_queue, 5, threads[i]), none = cgx_fit(test_queue, 0, threads[i]);
        cgx_config negative = cgx_fit(test_queue, -7, threads[i]), many = cgx_fit(test_queue, INT64_MAX, threads[i]);
        assert_int_equal(few.grid.x, (5 + threads[i] - 1) / threads[i]);
        assert_int_equal(none.grid.x, 1);
        assert_int_equal(negative.grid.x, 1);
        assert_true(many.grid.x >= test_device.units);
        assert_true(many.grid.x <= 100000000);
        assert_int_equal(many.block.x, threads[i]);
        if (test_device.threads_at_once == 1)
            assert_int_equal(cgx_fit(test_queue, 1000000, threads[i]).grid.x, (1000000 + threads[i] - 1) / threads[i]);
        check_ok(nothing_launch(test_queue, few));
    }
    check_says(store_value_launch(test_queue, cgx_fit(test_queue, 10, 0), out, 1), CGX_ERROR_INVALID, "size 0");
    check_says(store_value_launch(test_queue, cgx_fit(test_queue, 10, -3), out, 1), CGX_ERROR_INVALID, "store_value");
    check_says(store_value_launch(test_queue, cgx_fit(test_queue, 10, INT_MAX), out, 1), CGX_ERROR_LIMIT, "would fit");
    nothing_ran();
}

static void grid_stride_covers_everything(void **state)
{
    static const int sizes[] = { 1, 31, 1000, 100001 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        int n = sizes[i];
        int *data = device_memory((size_t)n * sizeof *data), *seen = host_memory((size_t)n * sizeof *seen);
        cgx_config shapes[] = { cgx_fit(test_queue, n, 96), cgx_cover(n, 17), cgx_config_1d(1, 1),
                                cgx_config_1d(3, 7) };
        for (size_t j = 0; j < COUNT_OF(shapes); j++)
            for (int dynamic = 0; dynamic < 2; dynamic++) {
                cgx_config c = shapes[j];
                c.flags |= dynamic ? CGX_LAUNCH_DYNAMIC : 0;
                check_ok(cgx_fill_i32(test_queue, data, 4, (size_t)n));
                check_ok(affine_launch(test_queue, c, n, data, 2, 1));
                fetch(seen, data, (size_t)n * sizeof *seen);
                for (int k = 0; k < n; k++)
                    if (seen[k] != 9)
                        fail_msg("n %d, shape %zu: element %d is %d", n, j, k, seen[k]);
            }
        free(seen);
        device_free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(shapes_in_three_dimensions, set_up),
        cmocka_unit_test_setup(almost_the_same_launch, set_up),
        cmocka_unit_test_setup(many_launches_by_turns, set_up),
        cmocka_unit_test_setup(sizes_that_are_not_positive, set_up),
        cmocka_unit_test_setup(too_many_threads, set_up),
        cmocka_unit_test_setup(too_large_in_one_dimension, set_up),
        cmocka_unit_test_setup(declared_limits, set_up),
        cmocka_unit_test_setup(dynamic_shared_memory, set_up),
        cmocka_unit_test_setup(shared_memory_of_collectives, set_up),
        cmocka_unit_test_setup(too_much_dynamic_shared_memory, set_up),
        cmocka_unit_test_setup(too_much_static_shared_memory, set_up),
        cmocka_unit_test_setup(cooperative_launch, set_up),
        cmocka_unit_test_setup(grid_barrier_of_the_library, set_up),
        cmocka_unit_test_setup(too_many_cooperative_blocks, set_up),
        cmocka_unit_test_setup(clusters, set_up),
        cmocka_unit_test_setup(array_of_arguments, set_up),
        cmocka_unit_test_setup(wrong_arrays_of_arguments, set_up),
        cmocka_unit_test_setup(configuration_without_size, set_up),
        cmocka_unit_test_setup(other_versions_are_refused, set_up),
        cmocka_unit_test_setup(cover_has_one_thread_an_item, set_up),
        cmocka_unit_test_setup(fit_keeps_the_device_busy, set_up),
        cmocka_unit_test_setup(grid_stride_covers_everything, set_up),
    };
    test_start();
    int failed = cmocka_run_group_tests_name("launch", tests, NULL, NULL);
    CGX_TRY(cgx_free(test_queue, out));
    return test_end(failed);
}

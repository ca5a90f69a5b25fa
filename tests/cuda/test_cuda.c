/* SPDX-License-Identifier: MIT */
/* rows: H05 H07 H09 H11
 * What CUDA's host side has of its own: images, limits that only the driver knows, shared memory above nvcc's limit, handles
 * of its API, and what a fault leaves. The fault comes last: it costs the device. */
#include "check.h"
#include "cuda_kernels.h"

static void an_image_is_missing(void **state)
{
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    (void)state;
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(write_to), &info));
    if (!strcmp(info.target, "sm_100"))
        return; /* this is the other chip */
    int *out = device_memory(sizeof *out);
    check_says(for_another_chip_launch(test_queue, cgx_config_1d(1, 32), out), CGX_ERROR_UNSUPPORTED,
               "for_another_chip", test_device.name, info.target, "sm_100a", "--cuda-arch",
               "CUDA_ERROR_NO_BINARY_FOR_GPU");
    check_finished(); /* nothing was launched, nothing is lost */
    device_free(out);
}

static void clusters_of_an_older_image(void **state)
{
    cgx_config c = cgx_config_1d(2, 64);
    int *out = device_memory(sizeof *out), threads = 0;
    (void)state;
    if (!test_can(CGX_CAN_ASYNC_COPY))
        return; /* this is older still */
    check_ok(for_older_chip_launch(test_queue, cgx_config_1d(1, 64), out));
    fetch(&threads, out, sizeof threads);
    assert_int_equal(threads, 64);
    c.cluster = cgx_dim(2, 1, 1);
    if (test_can(CGX_CAN_CLUSTER))
        check_says(for_older_chip_launch(test_queue, c, out), CGX_ERROR_UNSUPPORTED, "for_older_chip", test_device.name,
                   "compute_80", "--cuda-arch");
    check_finished();
    device_free(out);
}

static void large_arrays(void **state)
{
    enum { WORDS = LARGE_WORDS + 32 };
    static int host[WORDS];
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    int blocks = 0;
    (void)state;
    if (test_device.shared_bytes_per_block < 110 * 1024)
        return; /* sm_75, 86 and 89 have less than that */
    int *out = device_memory(sizeof host);
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(large_static), &info));
    assert_true(info.static_shared_bytes >= LARGE_WORDS * sizeof(int) + 32 * sizeof(int));
    check_ok(cgx_occupancy(test_queue, CGX_KERNEL_OF(large_static), 256, 132, &blocks));
    assert_int_equal(blocks, (int)(test_device.shared_bytes_per_unit / (103 * 1024)));
    check_ok(large_static_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 256), 132), out));
    fetch(host, out, sizeof host);
    for (int i = 0; i < LARGE_WORDS; i++)
        assert_int_equal(host[i], LARGE_WORDS - 1 - i);
    for (int i = 0; i < 32; i++)
        assert_int_equal(host[LARGE_WORDS + i], 3000000 + 2 * i + 1);
    check_says(two_large_launch(test_queue, cgx_config_1d(1, 32), out), CGX_ERROR_LIMIT, "two_large", "2 arrays",
               "one struct");
    device_free(out);
}

static void limits_of_the_launch(void **state)
{
    char most[32];
    (void)state;
    int *out = device_memory(1024 * sizeof *out);
    snprintf(most, sizeof most, "%d would fit", test_device.max_cluster_blocks);
    cgx_config c = cgx_config_1d(64, 32);
    c.cluster = cgx_dim(64, 1, 1);
    check_says(write_to_launch(test_queue, c, out), CGX_ERROR_LIMIT, "write_to", "64", most);
    check_says(write_to_launch(test_queue,
                               cgx_with_shared(cgx_config_1d(1, 32), test_device.shared_bytes_per_block + 128), out),
               CGX_ERROR_LIMIT, "write_to", "would fit");
    check_ok(
        write_to_launch(test_queue, cgx_with_shared(cgx_config_1d(1, 32), test_device.shared_bytes_per_block), out));
    check_ok(write_to_launch(test_queue, cgx_config_1d(1, 1024), out)); /* no bounds declared: the largest block runs */
    check_finished();
    device_free(out);
}

static void native_handles(void **state)
{
    void *context = NULL, *stream = NULL, *same_context = NULL, *same_stream = NULL;
    cgx_device *device;
    cgx_queue *shared = NULL;
    (void)state;
    check_ok(cgx_queue_get_native(test_queue, &context, &stream));
    assert_true(context && stream);
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(cgx_queue_from_native(device, stream, &shared));
    check_ok(cgx_queue_get_native(shared, &same_context, &same_stream));
    assert_true(context == same_context && stream == same_stream); /* the primary context: there is no second one */
    int *out = device_memory(32 * sizeof *out), host[32] = { 0 };
    check_ok(write_to_launch(shared, cgx_config_1d(1, 32), out));
    fetch(host, out, sizeof host); /* the other queue is the same stream: behind it */
    assert_int_equal(host[31], 1);
    check_ok(cgx_queue_close(&shared));
    check_ok(cgx_queue_query(test_queue)); /* closing the one has not destroyed the stream */
    device_free(out);
}

static void a_fault_is_told(void **state)
{
    int *memory = NULL;
    void *more = NULL;
    cgx_queue *cpu = NULL;
    (void)state;
    check_ok(cgx_alloc(test_queue, 256, CGX_MEM_DEVICE, (void **)&memory));
    check_ok(write_to_launch(test_queue, cgx_config_1d(1, 32), (int *)(uintptr_t)0x100)); /* nobody's memory */
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_FAULT, test_device.name, "memory that is not its",
               "CUDA_ERROR_ILLEGAL_ADDRESS");
    /* From here on every call says so. */
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_DEVICE_LOST, test_device.name, "lost",
               "CUDA_ERROR_ILLEGAL_ADDRESS");
    check_says(write_to_launch(test_queue, cgx_config_1d(1, 32), memory), CGX_ERROR_DEVICE_LOST,
               "CUDA_ERROR_ILLEGAL_ADDRESS");
    check_says(cgx_alloc(test_queue, 256, CGX_MEM_DEVICE, &more), CGX_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
    check_says(cgx_free(test_queue, memory), CGX_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
    /* The process lives, and so does the rest. */
    check_ok(cgx_queue_open("cpu", &cpu));
    int value = 0;
    check_ok(write_to_launch(cpu, cgx_config_1d(1, 1), &value));
    check_ok(cgx_queue_close(&cpu));
    assert_int_equal(value, 1);
    check_says(cgx_queue_close(&test_queue), CGX_ERROR_DEVICE_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_null(test_queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_is_missing), cmocka_unit_test(clusters_of_an_older_image),
        cmocka_unit_test(large_arrays),        cmocka_unit_test(limits_of_the_launch),
        cmocka_unit_test(native_handles),      cmocka_unit_test(a_fault_is_told),
    };
    test_start();
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}

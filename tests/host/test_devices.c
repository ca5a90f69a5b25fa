/* SPDX-License-Identifier: MIT */
/* rows: H01 H10 H11 H13
 * Backends, the kinds of absence, names of devices, CGX_DEVICE, what devices say of themselves. */
#include "check.h"
#include "host_kernels.h"

static void backends_describe_themselves(void **state)
{
    int n = cgx_backend_count();
    (void)state;
    assert_true(n >= 1);
    for (int i = 0; i < n; i++) {
        cgx_backend_info b = CGX_BACKEND_INFO_INIT;
        check_ok(cgx_backend_get_info(i, &b));
        assert_true(b.name && *b.name && b.reason);
        switch (b.status) {
        case CGX_OK:
            assert_string_equal(b.reason, "");
            assert_true(b.device_count >= 1);
            break;
        case CGX_ERROR_NOT_BUILT:
        case CGX_ERROR_DRIVER:
        case CGX_ERROR_NO_DEVICE:
            assert_true(strlen(b.reason) > 3);
            assert_int_equal(b.device_count, 0);
            break;
        default: fail_msg("%s: %s", b.name, cgx_status_name(b.status));
        }
        for (int j = 0; j < i; j++) {
            cgx_backend_info other = CGX_BACKEND_INFO_INIT;
            check_ok(cgx_backend_get_info(j, &other));
            assert_string_not_equal(other.name, b.name);
        }
    }
}

static void backend_info_checks_arguments(void **state)
{
    int n = cgx_backend_count();
    cgx_backend_info b = CGX_BACKEND_INFO_INIT;
    (void)state;
    check_says(cgx_backend_get_info(-1, &b), CGX_ERROR_INVALID, "-1");
    check_says(cgx_backend_get_info(n, &b), CGX_ERROR_INVALID, "there are");
    check_says(cgx_backend_get_info(0, NULL), CGX_ERROR_INVALID, "NULL");
    b.size = 0;
    check_says(cgx_backend_get_info(0, &b), CGX_ERROR_INVALID, "size");
    assert_null(b.name);
}

/* A backend without devices answers a question for one with its own kind of absence. */
static void absence_has_its_kind(void **state)
{
    (void)state;
    for (int i = 0; i < cgx_backend_count(); i++) {
        cgx_backend_info b = CGX_BACKEND_INFO_INIT;
        cgx_device *d = NULL;
        cgx_queue *q = NULL;
        char name[64];
        check_ok(cgx_backend_get_info(i, &b));
        snprintf(name, sizeof name, "%s:%d", b.name, b.device_count);
        if (b.status) {
            check_says(cgx_device_find(b.name, &d), b.status, b.name, b.reason);
            check_says(cgx_device_find(name, &d), b.status, b.name, b.reason);
            check_says(cgx_device_get(b.name, 0, &d), b.status, b.name, b.reason);
            check_says(cgx_queue_open(b.name, &q), b.status, b.name, b.reason);
        } else { /* one more than there are */
            check_says(cgx_device_find(name, &d), CGX_ERROR_NO_DEVICE, name);
            check_says(cgx_device_get(b.name, -1, &d), CGX_ERROR_NO_DEVICE, b.name);
            check_says(cgx_queue_open(name, &q), CGX_ERROR_NO_DEVICE, name);
        }
        assert_null(d);
        assert_null(q);
    }
}

static void names_that_are_none(void **state)
{
    static const struct {
        const char *name;
        cgx_status status;
    } rows[] = {
        { "abacus", CGX_ERROR_UNKNOWN_BACKEND },
        { "abacus:0", CGX_ERROR_UNKNOWN_BACKEND },
        { "CPU", CGX_ERROR_UNKNOWN_BACKEND },
        { " cpu", CGX_ERROR_UNKNOWN_BACKEND },
        { "cpu ", CGX_ERROR_UNKNOWN_BACKEND },
        { "cp", CGX_ERROR_UNKNOWN_BACKEND },
        { "cpu0", CGX_ERROR_UNKNOWN_BACKEND },
        { ":0", CGX_ERROR_UNKNOWN_BACKEND },
        { "cpu,cpu", CGX_ERROR_UNKNOWN_BACKEND },
        { "any:0", CGX_ERROR_UNKNOWN_BACKEND },
        { "a name that is longer than the name of any backend could be", CGX_ERROR_UNKNOWN_BACKEND },
        { "cpu:", CGX_ERROR_INVALID },
        { "cpu:x", CGX_ERROR_INVALID },
        { "cpu:-1", CGX_ERROR_INVALID },
        { "cpu:+1", CGX_ERROR_INVALID },
        { "cpu:0x0", CGX_ERROR_INVALID },
        { "cpu: 0", CGX_ERROR_INVALID },
        { "cpu:0 ", CGX_ERROR_INVALID },
        { "cpu:0:0", CGX_ERROR_INVALID },
        { "cpu::0", CGX_ERROR_INVALID },
        { "cpu:99999999999999999999", CGX_ERROR_INVALID },
        { "cpu:4294967296", CGX_ERROR_INVALID },
        { "cpu:1.5", CGX_ERROR_INVALID },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        cgx_device *d = NULL;
        char said[100]; /* the text quotes at least what stands for the backend */
        snprintf(said, sizeof said, "%s", rows[i].name);
        if (rows[i].status == CGX_ERROR_UNKNOWN_BACKEND && said[0] != ':')
            said[strcspn(said, ":")] = 0;
        check_says(cgx_device_find(rows[i].name, &d), rows[i].status, said);
        setenv("CGX_DEVICE", rows[i].name, 1);
        check_says(cgx_device_find("any", &d), rows[i].status, said, "CGX_DEVICE");
        check_says(cgx_device_find(NULL, &d), rows[i].status, said, "CGX_DEVICE");
        unsetenv("CGX_DEVICE");
        assert_null(d);
    }
    cgx_device *d = NULL;
    check_says(cgx_device_find("abacus", &d), CGX_ERROR_UNKNOWN_BACKEND, "abacus", "known", "cpu");
    check_says(cgx_device_find("any", NULL), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_device_get(NULL, 0, &d), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_device_get("cpu", 0, NULL), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_device_get("abacus", 0, &d), CGX_ERROR_UNKNOWN_BACKEND, "abacus");
}

static void environment_chooses(void **state)
{
    cgx_device *any = NULL, *named = NULL, *d = NULL;
    (void)state;
    check_ok(cgx_device_find("any", &any));
    check_ok(cgx_device_find(NULL, &d));
    assert_ptr_equal(d, any);
    check_ok(cgx_device_find("", &d));
    assert_ptr_equal(d, any);
    check_ok(cgx_device_find(test_device.name, &named));
    for (int i = 0; i < cgx_backend_count(); i++) {
        cgx_backend_info b = CGX_BACKEND_INFO_INIT;
        check_ok(cgx_backend_get_info(i, &b));
        if (b.status)
            continue;
        cgx_device *by_name = NULL, *by_index = NULL;
        check_ok(cgx_device_find(b.name, &by_name));
        check_ok(cgx_device_get(b.name, 0, &by_index));
        assert_ptr_equal(by_name, by_index);
        setenv("CGX_DEVICE", b.name, 1);
        check_ok(cgx_device_find("any", &d));
        assert_ptr_equal(d, by_name);
        check_ok(cgx_device_find("", &d));
        assert_ptr_equal(d, by_name);
        check_ok(cgx_device_find(test_device.name, &d)); /* a name beats the environment */
        assert_ptr_equal(d, named);
    }
    static const char *const same_as_none[] = { "", "any" };
    for (int i = 0; i < 2; i++) {
        setenv("CGX_DEVICE", same_as_none[i], 1);
        check_ok(cgx_device_find("any", &d));
        assert_ptr_equal(d, any);
    }
    unsetenv("CGX_DEVICE");
}

static int positive(cgx_dim3 d)
{
    return d.x > 0 && d.y > 0 && d.z > 0;
}

static void device_info_is_sane(void **state)
{
    (void)state;
    for (int i = 0; i < cgx_backend_count(); i++) {
        cgx_backend_info b = CGX_BACKEND_INFO_INIT;
        check_ok(cgx_backend_get_info(i, &b));
        for (int j = 0; j < b.device_count; j++) {
            cgx_device *d = NULL, *same = NULL;
            cgx_device_info n = CGX_DEVICE_INFO_INIT;
            char name[64];
            check_ok(cgx_device_get(b.name, j, &d));
            check_ok(cgx_device_get_info(d, &n));
            snprintf(name, sizeof name, "%s:%d", b.name, j);
            assert_string_equal(n.name, name);
            check_ok(cgx_device_find(n.name, &same));
            assert_ptr_equal(d, same);
            assert_string_equal(n.backend, b.name);
            assert_int_equal(n.index, j);
            assert_int_equal(n.size, sizeof n);
            assert_true(n.description && *n.description && n.engine && *n.engine && n.async_copy && *n.async_copy);
            assert_true(n.units >= 1 && n.units < 1000000);
            assert_true(n.lanes == 32 || n.lanes == 64);
            assert_true(n.max_threads_per_block >= 256 && n.max_threads_per_unit >= n.max_threads_per_block);
            assert_true(n.threads_at_once >= 1 && n.threads_at_once <= n.max_threads_per_unit);
            assert_true(positive(n.max_block) && positive(n.max_grid));
            assert_true(n.max_block.x <= n.max_threads_per_block && n.max_grid.x >= 65535 && n.max_grid.y >= 65535);
            assert_true(n.max_cluster_blocks >= 1);
            assert_int_equal(n.max_cluster_blocks > 1, !!(n.capabilities & CGX_CAN_CLUSTER));
            assert_true(n.shared_bytes_per_block >= 48 * 1024 && n.shared_bytes_per_unit >= n.shared_bytes_per_block);
            assert_true(n.memory_bytes >= (size_t)64 << 20);
            assert_true(n.max_argument_bytes >= 4096);
            int known = 0;
#define CASE(name, bit, word, text) known |= name;
            CGX_FOREACH_CAPABILITY(CASE)
#undef CASE
            assert_int_equal(n.capabilities & ~(uint32_t)known, 0);
        }
    }
}

static void device_info_checks_arguments(void **state)
{
    cgx_device *d = NULL;
    cgx_device_info n = CGX_DEVICE_INFO_INIT;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &d));
    check_says(cgx_device_get_info(NULL, &n), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_device_get_info(d, NULL), CGX_ERROR_INVALID, "NULL");
    n.size = sizeof n - 1;
    check_says(cgx_device_get_info(d, &n), CGX_ERROR_INVALID, "size");
    assert_null(n.name);
}

static void access_between_devices(void **state)
{
    cgx_device *d = NULL;
    int can = -1;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &d));
    check_ok(cgx_device_can_access(d, d, &can));
    assert_int_equal(can, 1);
    check_says(cgx_device_can_access(NULL, d, &can), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_device_can_access(d, NULL, &can), CGX_ERROR_INVALID, "NULL");
    check_says(cgx_device_can_access(d, d, NULL), CGX_ERROR_INVALID, "NULL");
}

/* Every device of every backend at once, one queue each, and the same answer from all. */
static void all_devices_work_at_once(void **state)
{
    enum { MOST = 32, N = 10000 };
    cgx_queue *q[MOST];
    int *data[MOST], *host = host_memory(N * sizeof *host), n = 0;
    (void)state;
    for (int i = 0; i < cgx_backend_count(); i++) {
        cgx_backend_info b = CGX_BACKEND_INFO_INIT;
        check_ok(cgx_backend_get_info(i, &b));
        for (int j = 0; j < b.device_count && n < MOST; j++, n++) {
            char name[64];
            snprintf(name, sizeof name, "%s:%d", b.name, j);
            check_ok(cgx_queue_open(name, &q[n]));
            check_ok(cgx_alloc(q[n], N * sizeof *host, CGX_MEM_DEVICE, (void **)&data[n]));
        }
    }
    assert_true(n >= 1);
    for (int i = 0; i < n; i++) {
        check_ok(cgx_fill_i32(q[i], data[i], i, N));
        check_ok(affine_launch(q[i], cgx_fit(q[i], N, 128), N, data[i], 10, 7));
    }
    for (int i = 0; i < n; i++) {
        check_ok(cgx_copy(q[i], host, data[i], N * sizeof *host));
        check_ok(cgx_queue_wait(q[i]));
        for (int k = 0; k < N; k++)
            assert_int_equal(host[k], 10 * i + 7);
        check_ok(cgx_free(q[i], data[i]));
        check_ok(cgx_queue_close(&q[i]));
    }
    free(host);
}

/* For choosing a device before MPI_Init. */
static void local_rank_comes_from_the_launcher(void **state)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
                                             "FLUX_TASK_LOCAL_ID" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(variables); i++)
        unsetenv(variables[i]);
    unsetenv("MV2_COMM_WORLD_LOCAL_RANK");
    unsetenv("PMI_LOCAL_RANK");
    assert_int_equal(cgx_local_rank(), 0);
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        setenv(variables[i], "5", 1);
        assert_int_equal(cgx_local_rank(), 5);
        setenv(variables[i], "rubbish", 1);
        assert_int_equal(cgx_local_rank(), 0);
        setenv(variables[i], "", 1);
        assert_int_equal(cgx_local_rank(), 0);
        setenv(variables[i], "-1", 1);
        assert_int_equal(cgx_local_rank(), 0);
        unsetenv(variables[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backends_describe_themselves), cmocka_unit_test(backend_info_checks_arguments),
        cmocka_unit_test(absence_has_its_kind),         cmocka_unit_test(names_that_are_none),
        cmocka_unit_test(environment_chooses),          cmocka_unit_test(device_info_is_sane),
        cmocka_unit_test(device_info_checks_arguments), cmocka_unit_test(access_between_devices),
        cmocka_unit_test(all_devices_work_at_once),     cmocka_unit_test(local_rank_comes_from_the_launcher),
    };
    test_start();
    unsetenv("CGX_DEVICE"); /* the tests set it */
    return test_end(cmocka_run_group_tests_name("devices", tests, NULL, NULL));
}

/* SPDX-License-Identifier: MIT */
/* rows: H07
 * Names and texts of statuses, and the text of the last error. */
#include "check.h"
#include <pthread.h>

static void every_status_has_name_and_text(void **state)
{
    static const struct {
        cgx_status value;
        const char *name;
    } all[] = {
#define ROW(name, value, text) { name, #name },
        CGX_FOREACH_STATUS(ROW)
#undef ROW
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_string_equal(cgx_status_name(all[i].value), all[i].name);
        assert_true(strlen(cgx_status_text(all[i].value)) > 5);
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(all[i].value, all[j].value);
            assert_string_not_equal(cgx_status_text(all[i].value), cgx_status_text(all[j].value));
        }
    }
    assert_int_equal(CGX_OK, 0);
    assert_true(CGX_NOT_READY > 0);
}

/* Part of the ABI: they may not move. */
static void values_never_change(void **state)
{
    (void)state;
    assert_int_equal(CGX_NOT_READY, 1);
    assert_int_equal(CGX_ERROR_INVALID, -1);
    assert_int_equal(CGX_ERROR_LIMIT, -8);
    assert_int_equal(CGX_ERROR_FORKED, -14);
    assert_int_equal(CGX_ERROR_SYSTEM, -15);
}

static void unknown_status_is_said_so(void **state)
{
    static const int unknown[] = { -99, 2, 12345, -2147483647 - 1, 2147483647 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        cgx_status s;
        memcpy(&s, &unknown[i], sizeof s); /* what a newer library might return */
        assert_string_equal(cgx_status_name(s), "unknown status");
        assert_string_equal(cgx_status_text(s), "unknown status");
    }
}

static void *fails_alone(void *out)
{
    int *result = out;
    cgx_device *d = NULL;
    result[0] = cgx_last_error()[0] == 0; /* a new thread has no error */
    result[1] = cgx_device_find("nonsense", &d) == CGX_ERROR_UNKNOWN_BACKEND && strstr(cgx_last_error(), "nonsense");
    return NULL;
}

static void last_error_is_of_the_thread(void **state)
{
    cgx_device *d = NULL;
    int other[2] = { 0, 0 };
    pthread_t thread;

    (void)state;
    assert_string_equal(cgx_last_error(), "");
    assert_int_equal(cgx_device_find("rubbish", &d), CGX_ERROR_UNKNOWN_BACKEND);
    assert_int_equal(pthread_create(&thread, NULL, fails_alone, other), 0);
    pthread_join(thread, NULL);
    assert_true(other[0] && other[1]);
    assert_non_null(strstr(cgx_last_error(), "rubbish"));
    assert_null(d);
}

static void success_keeps_the_last_error(void **state)
{
    cgx_device *d = NULL;
    (void)state;
    cgx_backend_info b = CGX_BACKEND_INFO_INIT;
    assert_int_equal(cgx_device_find("rubbish", &d), CGX_ERROR_UNKNOWN_BACKEND);
    check_ok(cgx_backend_get_info(0, &b));
    assert_non_null(strstr(cgx_last_error(), "rubbish"));
}

/* A name longer than any buffer. */
static void long_texts_are_cut(void **state)
{
    char *name = host_memory(100001);
    cgx_device *d = NULL;
    (void)state;
    memset(name, 'x', 100000);
    name[100000] = 0;
    assert_int_equal(cgx_device_find(name, &d), CGX_ERROR_UNKNOWN_BACKEND);
    assert_true(strlen(cgx_last_error()) > 100 && strlen(cgx_last_error()) < 4096);
    memcpy(name, "cpu:", 4);
    memset(name + 4, '1', 99996);
    assert_true(cgx_device_find(name, &d) < 0);
    free(name);
}

static void version_is_the_headers(void **state)
{
    char text[32];
    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", CGX_VERSION_MAJOR, CGX_VERSION_MINOR, CGX_VERSION_PATCH);
    assert_string_equal(cgx_version(), text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_error_is_of_the_thread), /* first: it wants a thread without an error */
        cmocka_unit_test(every_status_has_name_and_text),
        cmocka_unit_test(values_never_change),
        cmocka_unit_test(unknown_status_is_said_so),
        cmocka_unit_test(success_keeps_the_last_error),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(version_is_the_headers),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}

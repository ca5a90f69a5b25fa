/* SPDX-License-Identifier: MIT */
/* What the programs of the suite share: the queue they run on, memory on both sides, statuses, random numbers.
 * One program, one queue: `test_queue` is opened before CMocka starts, because a program that is skipped as a
 * whole has to exit with 77 there (CMocka 1.1.5 counts skip() wrongly). */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <cgx.h>

enum { TEST_SKIPPED = 77 };

static cgx_queue *test_queue;
static cgx_device_info test_device = CGX_DEVICE_INFO_INIT;
static uint64_t test_random_state;

/* ---- random numbers: xorshift64*, the seed is printed and may be given in CGX_TEST_SEED ---- */

CGX_UNUSED static uint64_t random_u64(void)
{
    test_random_state ^= test_random_state >> 12;
    test_random_state ^= test_random_state << 25;
    test_random_state ^= test_random_state >> 27;
    return test_random_state * 0x2545f4914f6cdd1du;
}
CGX_UNUSED static int random_below(int n)
{
    return (int)((random_u64() >> 32) * (uint64_t)n >> 32);
}

/* ---- before CMocka ---- */

CGX_UNUSED static void skip_program(const char *why)
{
    printf("skipped: %s\n", why);
    exit(TEST_SKIPPED);
}

/* Opens the queue, or ends the program: with 77 if there is no device, with 1 if there is one that does not work. */
CGX_UNUSED static void test_start(void)
{
    const char *seed = getenv("CGX_TEST_SEED");
    cgx_status s = cgx_queue_open("any", &test_queue);

    if (s == CGX_ERROR_NOT_BUILT || s == CGX_ERROR_NO_DEVICE || s == CGX_ERROR_DRIVER)
        skip_program(cgx_last_error());
    CGX_TRY(s);
    CGX_TRY(cgx_queue_get_info(test_queue, &test_device));
    test_random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 2654435761u;
    test_random_state |= 1; /* of all states only zero is a dead end */
    printf("%s, %d lanes, %s; CGX_TEST_SEED=%llu\n", test_device.name, test_device.lanes, test_device.engine,
           (unsigned long long)test_random_state);
    fflush(stdout);
}

/* Ends a program that hangs. CGX_TEST_PATIENCE: how many times as long a device takes that is emulated. */
CGX_UNUSED static void test_alarm(unsigned seconds)
{
    const char *patience = getenv("CGX_TEST_PATIENCE");
    alarm(seconds * (patience ? (unsigned)atoi(patience) : 1));
}

CGX_UNUSED static int test_can(uint32_t capabilities)
{
    return (test_device.capabilities & capabilities) == capabilities;
}

/* Grids that synchronise, in whatever way the device has: by the driver, or by the library where it is asked to. */
CGX_UNUSED static int test_can_sync_grid(void)
{
    return test_can(CGX_CAN_COOPERATIVE) || test_can(CGX_CAN_SOFTWARE_GRID);
}

/* Whether a kernel's misuse and deadlocks come back as a status and a text, and leave the device usable. */
CGX_UNUSED static int test_explains_misuse(void)
{
    return test_can(CGX_CAN_EXPLAIN);
}

/* ---- which tests run ---- */

/* Whether a list has the name; commas are between names. */
CGX_UNUSED static int test_is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; at && *at; at = strchr(at, ','), at += at != NULL)
        if (!strncmp(at, name, n) && (at[n] == ',' || !at[n]))
            return 1;
    return 0;
}
/* CGX_TEST_ONLY and CGX_TEST_SKIP: tests of the program that alone are run, and that are not run this time. For compute-sanitizer:
 * what it says of a listed test must not hide what it says of the others, so scripts/run_sanitizer.py runs the others together and each
 * listed test in a process of its own. No other run sets these. CMocka's own filters take one pattern. */
CGX_UNUSED static int test_run(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                               CMFixtureFunction teardown)
{
    const char *only = getenv("CGX_TEST_ONLY"), *skip = getenv("CGX_TEST_SKIP");
    struct CMUnitTest *chosen = malloc(count * sizeof *chosen);
    size_t n = 0;
    if (!chosen)
        return 1;
    for (size_t i = 0; i < count; i++) {
        if ((only && !test_is_listed(only, tests[i].name)) || (skip && test_is_listed(skip, tests[i].name)))
            printf("left out: %s\n", tests[i].name);
        else
            chosen[n++] = tests[i];
    }
    fflush(stdout);
    const int failed =
        n ? _cmocka_run_group_tests(name, chosen, n, setup, teardown) : 1; /* no test is a mistake in a list */
    free(chosen);
    return failed;
}
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    test_run(name, tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown) cmocka_run_group_tests_name(#tests, tests, setup, teardown)

/* ---- statuses ---- */

CGX_UNUSED static void check_ok_at(cgx_status s, const char *what, const char *file, int line)
{
    if (s == CGX_OK)
        return;
    print_error("%s: %s: %s\n", what, cgx_status_name(s), cgx_last_error());
    _fail(file, line);
}
#define check_ok(expression) check_ok_at((expression), #expression, __FILE__, __LINE__)

/* What a failed call says: the status, and each of the texts, the list of which ends with NULL. */
CGX_UNUSED static void check_says_at(cgx_status s, cgx_status expected, const char *file, int line, ...)
{
    char text[2048];
    const char *part;
    va_list parts;

    snprintf(text, sizeof text, "%s", cgx_last_error());
    if (s != expected) {
        print_error("%s, not %s: %s\n", cgx_status_name(s), cgx_status_name(expected), s ? text : "");
        _fail(file, line);
    }
    va_start(parts, line);
    while ((part = va_arg(parts, const char *)))
        if (!strstr(text, part)) {
            print_error("'%s' does not say '%s'\n", text, part);
            _fail(file, line);
        }
    va_end(parts);
}
#define check_says(expression, expected, ...) \
    check_says_at((expression), (expected), __FILE__, __LINE__, __VA_ARGS__, NULL)

/* Waits for what was launched and fails if it did. */
CGX_UNUSED static void check_finished_at(const char *file, int line)
{
    check_ok_at(cgx_queue_wait(test_queue), "cgx_queue_wait", file, line);
}
#define check_finished() check_finished_at(__FILE__, __LINE__)

/* ---- memory ---- */

/* Device memory of BYTES, filled with a byte that is no small number and no pointer, so that what a kernel forgot to
 * write is seen. It is filled when this returns: other queues than the test's may use it. */
CGX_UNUSED static void *device_memory(size_t bytes)
{
    void *memory = NULL;
    check_ok(cgx_alloc(test_queue, bytes ? bytes : 1, CGX_MEM_DEVICE, &memory));
    check_ok(cgx_fill_u8(test_queue, memory, 0xa5, bytes ? bytes : 1));
    check_ok(cgx_queue_wait(test_queue));
    return memory;
}
CGX_UNUSED static void *device_copy(const void *source, size_t bytes)
{
    void *memory = device_memory(bytes);
    check_ok(cgx_copy(test_queue, memory, source, bytes));
    check_ok(cgx_queue_wait(test_queue)); /* the source is the caller's again */
    return memory;
}
/* Waits for the kernels and brings their results. */
CGX_UNUSED static void fetch(void *destination, const void *source, size_t bytes)
{
    check_ok(cgx_copy(test_queue, destination, source, bytes));
    check_ok(cgx_queue_wait(test_queue));
}
CGX_UNUSED static void device_free(void *memory)
{
    check_ok(cgx_free(test_queue, memory));
}

CGX_UNUSED static void *host_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        fail_msg("no memory");
    memset(memory, 0x5a, bytes ? bytes : 1);
    return memory;
}

/* Closes the queue and gives the program's result. */
CGX_UNUSED static int test_end(int failed)
{
    cgx_status s = cgx_queue_close(&test_queue);
    if (s)
        fprintf(stderr, "closing the queue: %s: %s\n", cgx_status_name(s), cgx_last_error());
    return failed || s;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#endif

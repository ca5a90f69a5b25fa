/* SPDX-License-Identifier: MIT */
/* How the CPU is told to behave for a test: which schedule, which copies, and how much of the test to run. */
#ifndef TESTS_MODES_H
#define TESTS_MODES_H
#include <string.h>
#include "check.h"

/* N, or a tenth of it where the test runs many times over (CGX_TEST_SMALL). */
CGX_UNUSED static int test_scaled(int n)
{
    return getenv("CGX_TEST_SMALL") ? (n + 9) / 10 : n;
}

/* Whether asynchronous copies are put off to the latest legal moment, so that what was not waited for is seen. */
CGX_UNUSED static int test_copies_are_late(void)
{
    const char *mode = getenv("CGX_CPU_ASYNC");
    return mode && !strcmp(mode, "late") && !strcmp(test_device.async_copy, "deferred");
}

/* What has to be set again to see a failure again. */
CGX_UNUSED static void test_start_in_modes(void)
{
    static const char *const names[] = { "CGX_CPU_SCHEDULE", "CGX_CPU_ASYNC", "CGX_CPU_LANES", "CGX_CPU_WORKERS",
                                         "CGX_TEST_SMALL" };
    test_start();
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (getenv(names[i]))
            printf("%s=%s\n", names[i], getenv(names[i]));
    fflush(stdout);
}
#endif

/* SPDX-License-Identifier: MIT */
/* Stacks of threads: large arrays, deep calls, the smallest and the largest block; and what happens without memory for
 * them. What would end or starve the process runs in a child: this program again, with an argument. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../common/check.h"
#include "stack_kernels.h"

extern char **environ;
static const char *program;

/* AddressSanitizer reserves terabytes of address space, and puts more than the arrays on the stack. */
#if defined(__SANITIZE_ADDRESS__)
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif

static uint32_t locals_result(int rank, int size, int stride)
{
    uint32_t *array = malloc((size_t)size * sizeof *array), sum = 0;
    if (!array)
        abort();
    for (int i = 0; i < size; i += stride)
        array[i] = (uint32_t)(rank * 7 + i);
    for (int i = 0; i < size; i += stride)
        array[i] ^= array[size - stride - i];
    for (int i = 0; i < size; i += stride)
        sum = sum * 31 + array[i];
    free(array);
    return sum;
}

/* rows: K03 Y02 */
static void large_arrays(void **state)
{
    enum { STRIDE = 64 };
    static const int sizes[] = { 1, 33, 256, 1024 };
    uint32_t results[2 * 1024], *out = device_memory(sizeof results);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        check_ok(big_locals_launch(test_queue, cgx_config_1d(2, sizes[s]), STRIDE, out));
        fetch(results, out, sizeof results);
        for (int i = 0; i < 2 * sizes[s]; i += 13)
            assert_int_equal(results[i], locals_result(i % sizes[s], BIG, STRIDE));
    }
    device_free(out);
}

/* The same on the host, for the threads of a tile of 32 together. */
static void levels(int n, int *v)
{
    int mine[32][4], before[32];
    if (n == 0)
        return;
    memcpy(before, v, sizeof before);
    for (int i = 0; i < 32; i++) {
        for (int k = 0; k < 4; k++)
            mine[i][k] = before[i] + k;
        mine[i][before[i] & 3] += before[i ^ 1];
        v[i] = mine[i][n & 3];
    }
    levels(n - 1, v);
    for (int i = 0; i < 32; i++)
        v[i] += mine[i][0] - mine[n][0];
}

/* rows: Y02 G04 K08 */
static void deep_call_chains(void **state)
{
    enum { N = 256, BLOCKS = 3 };
    int results[BLOCKS * N], *out = device_memory(sizeof results);

    (void)state;
    check_ok(deep_calls_launch(test_queue, cgx_config_1d(BLOCKS, N), out));
    fetch(results, out, sizeof results);
    for (int first = 0; first < BLOCKS * N; first += 32) {
        int v[32];
        for (int i = 0; i < 32; i++)
            v[i] = (first + i) % N % 100;
        levels(12, v);
        assert_memory_equal(results + first, v, sizeof v);
    }
    device_free(out);
}

static int check_one_barrier(int n, int *out)
{
    int results[1024], wrong = 0;
    if (one_barrier_launch(test_queue, cgx_config_1d(1, n), out) ||
        cgx_copy(test_queue, results, out, sizeof results) || cgx_queue_wait(test_queue))
        return -1;
    for (int i = 0; i < n; i++)
        wrong += results[i] != n - 1 - i;
    return wrong;
}

/* ---- children ---- */

enum { CHILD_OK = 0, CHILD_FAILED = 10 };

/* Runs this program with ARGUMENT and, if it is not NULL, one more environment variable; gives what it wrote. */
static int run_child(const char *argument, const char *variable, char *text, size_t size)
{
    char *arguments[] = { (char *)program, (char *)argument, NULL }, *environment[512];
    posix_spawn_file_actions_t actions;
    int pipe_ends[2], status, n = 0;
    size_t length = 0;
    ssize_t got;
    pid_t child;

    for (; environ[n] && n < 500; n++)
        environment[n] = environ[n];
    if (variable) /* in front: the first of equal names counts */
        memmove(environment + 1, environment, (size_t)n++ * sizeof *environment), environment[0] = (char *)variable;
    environment[n] = NULL;
    if (pipe(pipe_ends))
        fail_msg("pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 2);
    posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
    if ((errno = posix_spawn(&child, program, &actions, NULL, arguments, environment)))
        fail_msg("%s: %s", program, strerror(errno));
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
    while ((got = read(pipe_ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = 0;
    close(pipe_ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static void check_child(const char *argument, const char *variable)
{
    char text[8192];
    int status = run_child(argument, variable, text, sizeof text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != CHILD_OK)
        fail_msg("%s: status %#x: %s", argument, (unsigned)status, text);
}

static size_t address_space(void)
{
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu", &pages) != 1)
        exit(CHILD_FAILED);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* No more address space than now and a little: 1,024 stacks cannot be had, but what is there can be used. */
static int starved(void)
{
    int *out = NULL;
    struct rlimit limit, before;

    CGX_TRY(cgx_alloc(test_queue, 1024 * sizeof *out, CGX_MEM_DEVICE, (void **)&out));
    if (check_one_barrier(8, out)) /* starts the threads of the library */
        return CHILD_FAILED;
    getrlimit(RLIMIT_AS, &before);
    for (int more = 0; more <= 32; more += 8) {
        limit = before;
        limit.rlim_cur = address_space() + ((size_t)more << 20);
        if (setrlimit(RLIMIT_AS, &limit))
            return CHILD_FAILED;
        cgx_status s = one_barrier_launch(test_queue, cgx_config_1d(1, 1024), out);
        s = s ? s : cgx_queue_wait(test_queue);
        if (s != CGX_ERROR_OUT_OF_MEMORY) {
            printf("%d MiB more: %s: %s\n", more, cgx_status_name(s), s ? cgx_last_error() : "");
            return CHILD_FAILED;
        }
        if (!strstr(cgx_last_error(), "one_barrier") || !strstr(cgx_last_error(), "memory"))
            return printf("%s\n", cgx_last_error()), CHILD_FAILED;
        if (check_one_barrier(200, out))
            return printf("%d MiB more, 200 threads: %s\n", more, cgx_last_error()), CHILD_FAILED;
    }
    setrlimit(RLIMIT_AS, &before);
    if (check_one_barrier(1024, out))
        return printf("with memory again: %s\n", cgx_last_error()), CHILD_FAILED;
    return test_end(0) ? CHILD_FAILED : CHILD_OK;
}

/* rows: H07 */
static void no_memory_for_stacks(void **state)
{
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;
    (void)state;
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(one_barrier), &info));
    /* A compiled kernel's threads have no stacks that could be missing. */
    if (!UNDER_ASAN && test_can(CGX_CAN_UNIFIED) && strcmp(info.engine, "compiled"))
        check_child("starved", NULL);
}

static int huge(void)
{
    enum { STRIDE = 64, N = 64 };
    uint32_t results[N], *out = NULL;

    CGX_TRY(cgx_alloc(test_queue, sizeof results, CGX_MEM_DEVICE, (void **)&out));
    CGX_TRY(huge_locals_launch(test_queue, cgx_config_1d(1, N), STRIDE, out));
    CGX_TRY(cgx_copy(test_queue, results, out, sizeof results));
    CGX_TRY(cgx_queue_wait(test_queue));
    for (int i = 0; i < N; i++)
        if (results[i] != locals_result(i, HUGE_LOCALS, STRIDE))
            return CHILD_FAILED;
    return test_end(0) ? CHILD_FAILED : CHILD_OK;
}

/* A device that has the room for it takes it as it is; CGX_CPU_STACK gives it to threads on the CPU. */
static void larger_stacks(void **state)
{
    (void)state;
    check_child("huge", "CGX_CPU_STACK=1048576");
}

/* Without it the program ends, but not without a word: the kernel and what to set. */
static void overflow(void **state)
{
    char text[8192];
    int status;

    (void)state;
    if (UNDER_ASAN || !test_can(CGX_CAN_UNIFIED))
        return;
    status = run_child("huge", NULL, text, sizeof text);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_OK)
        return; /* it had the room */
    if (!strstr(text, "huge_locals") || !strstr(text, "CGX_CPU_STACK"))
        fail_msg("status %#x: %s", (unsigned)status, text);
}

/* rows: H05 G01 */
static void smallest_and_largest_block(void **state)
{
    int *out = device_memory(1024 * sizeof *out);

    (void)state;
    for (int round = 0; round < 20; round++) {
        assert_int_equal(check_one_barrier(1, out), 0);
        assert_int_equal(check_one_barrier(test_device.max_threads_per_block < 1024 ? 256 : 1024, out), 0);
        assert_int_equal(check_one_barrier(2, out), 0);
    }
    device_free(out);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_arrays),
        cmocka_unit_test(deep_call_chains),
        cmocka_unit_test(smallest_and_largest_block),
        cmocka_unit_test(larger_stacks),
        cmocka_unit_test(no_memory_for_stacks),
        cmocka_unit_test(overflow),
    };

    program = argv[0];
    test_start();
    if (argc > 1)
        return strcmp(argv[1], "starved") ? huge() : starved();
    return test_end(cmocka_run_group_tests_name("stack", tests, NULL, NULL));
}

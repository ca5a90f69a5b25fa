/* SPDX-License-Identifier: MIT */
/* rows: H14 H12
 * fork, exec, exit with work in flight, dlopen and dlclose, affinity, several processes at once.
 * The program calls itself with a word that says what to be; CMocka runs only in the first process. */
#include "check.h"
#include "host_kernels.h"
#include "plugin_kernels.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self, *plugin;

#if defined(__SANITIZE_ADDRESS__)
/* Processes that end in the middle of their work leak by intention. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

/* ---- what a child process does ---- */

/* Opens a queue, runs a kernel, checks the result: 0 if all is well. */
static int work(void)
{
    enum { N = 10000 };
    cgx_queue *q = NULL;
    int *p = NULL, *host = malloc(N * sizeof *host), wrong = 0;
    CGX_TRY(cgx_queue_open("any", &q));
    CGX_TRY(cgx_alloc(q, N * sizeof *p, CGX_MEM_DEVICE, (void **)&p));
    for (int round = 0; round < 50; round++) {
        CGX_TRY(cgx_fill_i32(q, p, round, N));
        CGX_TRY(affine_launch(q, cgx_fit(q, N, 128), N, p, 3, 1));
        CGX_TRY(cgx_copy(q, host, p, N * sizeof *host));
        CGX_TRY(cgx_queue_wait(q));
        for (int i = 0; i < N; i++)
            wrong += host[i] != 3 * round + 1;
    }
    CGX_TRY(cgx_free(q, p));
    CGX_TRY(cgx_queue_close(&q));
    free(host);
    return wrong != 0;
}

/* Leaves while kernels run, more are queued, and memory is still allocated. */
static int leave_in_the_middle(int how)
{
    static int host[100000]; /* static: the copies may still run while the process ends */
    cgx_queue *q = NULL, *other = NULL;
    cgx_event *e = NULL;
    int *p = NULL;
    CGX_TRY(cgx_queue_open("any", &q));
    CGX_TRY(cgx_queue_open("any", &other));
    CGX_TRY(cgx_alloc(q, sizeof host, CGX_MEM_DEVICE, (void **)&p));
    CGX_TRY(cgx_event_create(q, &e));
    CGX_TRY(cgx_fill_i32(q, p, 0, 100000));
    CGX_TRY(be_busy_launch(q, cgx_config_1d(64, 64), 3000000));
    for (int i = 0; i < 100; i++) {
        CGX_TRY(affine_launch(q, cgx_fit(q, 100000, 256), 100000, p, 1, 1));
        CGX_TRY(be_busy_launch(i % 2 ? q : other, cgx_config_1d(1, 1), 100000));
        CGX_TRY(cgx_copy(q, host, p, sizeof host));
    }
    CGX_TRY(cgx_event_record(e, q));
    CGX_TRY(cgx_queue_wait_event(other, e));
    if (how == 1)
        usleep(2000); /* in the middle of the first kernel */
    if (how == 2)
        _exit(5);
    exit(5);
}

/* One core is left to this process: the device must not take more. */
static int on_one_core(void)
{
    cpu_set_t set;
    cgx_device *d = NULL;
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    int core = 0;
    unsetenv("OMP_NUM_THREADS");
    unsetenv("CGX_CPU_WORKERS");
    if (sched_getaffinity(0, sizeof set, &set))
        return 3;
    while (core < CPU_SETSIZE && !CPU_ISSET(core, &set))
        core++;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        return 3;
    if (cgx_device_find("cpu", &d) || cgx_device_get_info(d, &info))
        return 3;
    if (info.units != 1)
        return 4;
    setenv("CGX_DEVICE", "cpu", 1);
    return work();
}

static int be(const char *what)
{
    if (!strcmp(what, "work"))
        return work();
    if (!strcmp(what, "leave"))
        return leave_in_the_middle(0);
    if (!strcmp(what, "leave-later"))
        return leave_in_the_middle(1);
    if (!strcmp(what, "leave-at-once"))
        return leave_in_the_middle(2);
    if (!strcmp(what, "one-core"))
        return on_one_core();
    return 2;
}

/* ---- the tests ---- */

static pid_t start_self(const char *what)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, what, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    return pid;
}

/* The exit status of the child; one that hangs is ended and fails the test. */
static int result_of(pid_t pid)
{
    int status = 0;
    for (int i = 0; i < 6000; i++) {
        pid_t r = waitpid(pid, &status, WNOHANG);
        if (r == pid) {
            if (WIFSIGNALED(status))
                fail_msg("the child got signal %d", WTERMSIG(status));
            return WEXITSTATUS(status);
        }
        usleep(5000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    fail_msg("the child hung");
    return -1;
}

/* Before the first use of cgx a fork is nobody's business. Runs before test_start. */
static int fork_before_use_works;
static void fork_before_use(void)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(work());
    fork_before_use_works = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void forked_before_the_first_use(void **state)
{
    (void)state;
    assert_true(fork_before_use_works);
}

static void run_here(int value)
{
    int *p = device_memory(sizeof *p), seen = 0;
    check_ok(store_value_launch(test_queue, cgx_config_1d(1, 1), p, value));
    fetch(&seen, p, sizeof seen);
    assert_int_equal(seen, value);
    device_free(p);
}

/* Counts the calls of a forked child that did not answer CGX_ERROR_FORKED with a text. */
static int calls_of_a_child(cgx_event *e, cgx_device *device, void *memory)
{
    int wrong = 0, value = 0;
    void *p = NULL;
    double seconds;
    cgx_device *d = NULL;
    cgx_queue *q = NULL;
    cgx_event *f = NULL;
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    cgx_backend_info b = CGX_BACKEND_INFO_INIT;
    cgx_kernel_info k = CGX_KERNEL_INFO_INIT;
    cgx_config one = cgx_config_1d(1, 1);
    cgx_queue *kept = test_queue;
    cgx_event *kept_event = e;
#define REFUSED(call)                                                                 \
    do {                                                                              \
        cgx_status s = (call);                                                        \
        if (s != CGX_ERROR_FORKED || !strstr(cgx_last_error(), "forked")) {           \
            fprintf(stderr, "%s in a forked child: %s\n", #call, cgx_status_name(s)); \
            wrong++;                                                                  \
        }                                                                             \
    } while (0)
    REFUSED(cgx_queue_wait(test_queue));
    REFUSED(cgx_queue_query(test_queue));
    REFUSED(cgx_queue_open("any", &q));
    REFUSED(cgx_queue_create(device, &q));
    REFUSED(cgx_queue_close(&kept));
    REFUSED(cgx_queue_get_device(test_queue, &d));
    REFUSED(cgx_queue_get_info(test_queue, &info));
    REFUSED(cgx_queue_get_native(test_queue, &p, &p));
    REFUSED(cgx_device_find("any", &d));
    REFUSED(cgx_device_get(test_device.backend, 0, &d));
    REFUSED(cgx_device_get_info(device, &info));
    REFUSED(cgx_device_can_access(device, device, &value));
    REFUSED(cgx_backend_get_info(0, &b));
    REFUSED(cgx_event_create(test_queue, &f));
    REFUSED(cgx_event_record(e, test_queue));
    REFUSED(cgx_event_wait(e));
    REFUSED(cgx_event_query(e));
    REFUSED(cgx_event_elapsed(e, e, &seconds));
    REFUSED(cgx_queue_wait_event(test_queue, e));
    REFUSED(cgx_event_destroy(&kept_event));
    REFUSED(cgx_alloc(test_queue, 4, CGX_MEM_DEVICE, &p));
    REFUSED(cgx_free(test_queue, memory));
    REFUSED(cgx_alloc_async(test_queue, 4, &p));
    REFUSED(cgx_free_async(test_queue, memory));
    REFUSED(cgx_copy(test_queue, &value, memory, 4));
    REFUSED(cgx_copy_2d(test_queue, &value, 4, memory, 4, 4, 1));
    REFUSED(cgx_copy_peer(test_queue, &value, memory, device, 4));
    REFUSED(cgx_fill_i32(test_queue, memory, 1, 1));
    REFUSED(nothing_launch(test_queue, one));
    REFUSED(cgx_launch(test_queue, CGX_KERNEL_OF(nothing), one, NULL, 0));
    REFUSED(cgx_launch(test_queue, CGX_KERNEL_OF(plugin_triple), one, NULL, 0)); /* never launched by the parent */
    REFUSED(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(nothing), &k));
    REFUSED(cgx_occupancy(test_queue, CGX_KERNEL_OF(nothing), 32, 0, &value));
    REFUSED(cgx_max_cooperative_blocks(test_queue, CGX_KERNEL_OF(nothing), 32, 0, &value));
    REFUSED(cgx_best_block(test_queue, CGX_KERNEL_OF(nothing), 0, &value, &value));
#undef REFUSED
    return wrong;
}

static void child_is_told_and_parent_goes_on(void **state)
{
    cgx_event *e = NULL;
    cgx_device *device = NULL;
    int *memory = device_memory(sizeof *memory), seen = 0;
    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(cgx_event_create(test_queue, &e));
    check_ok(cgx_event_record(e, test_queue));
    for (int round = 0; round < 5; round++) {
        /* Work is under way while it forks. */
        check_ok(be_busy_launch(test_queue, cgx_config_1d(4, 1), 2000000));
        check_ok(store_value_launch(test_queue, cgx_config_1d(1, 1), memory, round));
        check_ok(nothing_launch(test_queue, cgx_config_1d(1, 1))); /* the child tries the same launch */
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            _exit(calls_of_a_child(e, device, memory) ? 1 : 0);
        assert_true(pid > 0);
        assert_int_equal(result_of(pid), 0);
        fetch(&seen, memory, sizeof seen);
        assert_int_equal(seen, round);
        run_here(round + 10);
    }
    check_ok(cgx_event_destroy(&e));
    device_free(memory);
}

/* A child that leaves by exit() runs every handler that the parent registered. */
static void child_may_exit(void **state)
{
    (void)state;
    check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 1000000));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        fclose(stdout);
        exit(6);
    }
    assert_true(pid > 0);
    assert_int_equal(result_of(pid), 6);
    run_here(3);
}

static void exec_after_fork_works(void **state)
{
    (void)state;
    check_ok(be_busy_launch(test_queue, cgx_config_1d(1, 1), 2000000));
    assert_int_equal(result_of(start_self("work")), 0);
    check_finished();
}

static void two_processes_at_once(void **state)
{
    (void)state;
    pid_t first = start_self("work"), second = start_self("work");
    run_here(8);
    assert_int_equal(result_of(first), 0);
    assert_int_equal(result_of(second), 0);
}

static void exit_with_work_in_flight(void **state)
{
    static const char *const ways[] = { "leave", "leave-later", "leave-at-once" };
    (void)state;
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < COUNT_OF(ways); i++)
            assert_int_equal(result_of(start_self(ways[i])), 5);
}

static void affinity_is_respected(void **state)
{
    (void)state;
    int result = result_of(start_self("one-core"));
    if (result == 3) {
        print_message("no affinity to set, or no device of the host's own cores\n");
        return;
    }
    assert_int_equal(result, 0);
}

typedef cgx_status plugin_fn(cgx_queue *queue, int n, int *out);

static void kernels_in_a_shared_object(void **state)
{
    enum { N = 1000 };
    const int rounds = getenv("CGX_TEST_SMALL") ? 2 : 20;
    int *data = device_memory(N * sizeof *data), *seen = host_memory(N * sizeof *seen);
    (void)state;
    for (int round = 0; round < rounds; round++) {
        void *object = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
        if (!object)
            fail_msg("%s", dlerror());
        void *symbol = dlsym(object, "plugin_run");
        plugin_fn *run;
        assert_non_null(symbol);
        memcpy(&run, &symbol, sizeof run);
        check_ok(cgx_fill_i32(test_queue, data, round, N));
        check_ok(run(test_queue, N, data));
        fetch(seen, data, N * sizeof *seen);
        for (int i = 0; i < N; i++)
            assert_int_equal(seen[i], 3 * round);
        assert_int_equal(dlclose(object), 0);
        run_here(round); /* the program's own kernels are still known */
    }
    free(seen);
    device_free(data);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forked_before_the_first_use),
        cmocka_unit_test(child_is_told_and_parent_goes_on),
        cmocka_unit_test(child_may_exit),
        cmocka_unit_test(exec_after_fork_works),
        cmocka_unit_test(two_processes_at_once),
        cmocka_unit_test(exit_with_work_in_flight),
        cmocka_unit_test(affinity_is_respected),
        cmocka_unit_test(kernels_in_a_shared_object),
    };
    self = argv[0];
    if (argc < 2)
        return 2;
    if (!strchr(argv[1], '/'))
        return be(argv[1]);
    plugin = argv[1];
    fork_before_use();
    test_start();
    return test_end(cmocka_run_group_tests_name("process", tests, NULL, NULL));
}

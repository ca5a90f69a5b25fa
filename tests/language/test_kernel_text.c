/* SPDX-License-Identifier: MIT */
/* rows: D03 D04 K01 K02 K07 K08 R06 G01
 * Shared memory, device functions, operators, variables, printf, assert, timers. */
#include "check.h"
#include "language_kernels.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *self;

static void forms_of_shared_memory(void **state)
{
    static const int threads[] = { 1, 7, 64, 256 };
    enum { BLOCKS = 3 };
    int *out = device_memory(8 * BLOCKS * sizeof *out), seen[8 * BLOCKS];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        check_ok(shared_forms_launch(test_queue, cgx_config_1d(BLOCKS, threads[i]), out));
        fetch(seen, out, sizeof seen);
        for (int b = 0; b < BLOCKS; b++) {
            assert_int_equal(seen[8 * b], 1 + 5 + 21 + 30);
            assert_int_equal(seen[8 * b + 1], 0);
            assert_int_equal(seen[8 * b + 2], 7 * 4 + 3 * 5);
        }
    }
    device_free(out);
}

static void sizes_are_counted_for_each_kernel(void **state)
{
    cgx_kernel_info three = CGX_KERNEL_INFO_INIT, forms = CGX_KERNEL_INFO_INIT, none = CGX_KERNEL_INFO_INIT;
    int *out = device_memory(2 * sizeof *out), seen[2];
    (void)state;
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(shared_three), &three));
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(shared_forms), &forms));
    check_ok(cgx_kernel_get_info(test_queue, CGX_KERNEL_OF(take_nothing), &none));
    assert_int_equal(three.static_shared_bytes, 3);
    assert_int_equal(none.static_shared_bytes, 0);
    /* 1 + 8 + 10 + 84 + 16 + 30 bytes and what alignment puts between. */
    assert_true(forms.static_shared_bytes >= 149 && forms.static_shared_bytes <= 192);
    check_ok(shared_three_launch(test_queue, cgx_config_1d(2, 32), out));
    fetch(seen, out, sizeof seen);
    assert_int_equal(seen[1], 3 * 'x');
    device_free(out);
}

static void dynamic_memory_is_aligned(void **state)
{
    static const size_t bytes[] = { 8, 9, 100, 1000, 40000 };
    int *out = device_memory(8 * sizeof *out), seen[8];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bytes); i++) {
        check_ok(dynamic_alignment_launch(test_queue, cgx_with_shared(cgx_config_1d(4, 32), bytes[i]), out));
        fetch(seen, out, sizeof seen);
        for (int b = 0; b < 4; b++) {
            assert_int_equal(seen[2 * b], 0);
            assert_int_equal(seen[2 * b + 1], 1);
        }
    }
    device_free(out);
}

static void functions_of_kernels(void **state)
{
    enum { BLOCKS = 3, THREADS = 64, N = BLOCKS * THREADS };
    static const int factorials[8] = { 1, 1, 2, 6, 24, 120, 720, 5040 };
    int *out = device_memory(3 * N * sizeof *out), seen[3 * N];
    (void)state;
    check_ok(device_functions_launch(test_queue, cgx_config_1d(BLOCKS, THREADS), out));
    fetch(seen, out, sizeof seen);
    for (int i = 0; i < N; i++) {
        int r = i % THREADS, first = r / 16 * 16;
        assert_int_equal(seen[3 * i], r + 1000 * (i / THREADS));
        assert_int_equal(seen[3 * i + 1], factorials[i % 8]);
        assert_int_equal(seen[3 * i + 2], 16 * first + 120);
    }
    device_free(out);
}

static void operators_of_users(void **state)
{
    enum { N = 64 };
    float in[N];
    argmax_t best[N];
    int64_t words[3 * N], inclusive = 0;
    (void)state;
    for (int i = 0; i < N; i++)
        in[i] = i == 17 || i == 40 ? 100 : (float)(i % 13); /* the lower of equals wins */
    float *values = device_copy(in, sizeof in);
    argmax_t *winner = device_memory(sizeof best);
    int64_t *out = device_memory(sizeof words);
    check_ok(user_operators_launch(test_queue, cgx_config_1d(1, N), values, winner, out));
    fetch(best, winner, sizeof best);
    fetch(words, out, sizeof words);
    for (int i = 0; i < N; i++) {
        assert_int_equal(best[i].i, 17);
        assert_true(words[3 * i] == 12345678); /* rank order */
        assert_true(words[3 * i + 2] == (i % 8 ? inclusive : 0));
        inclusive = (i % 8 ? inclusive * 10 : 0) + i % 8 + 1;
        assert_true(words[3 * i + 1] == inclusive);
    }
    device_free(values);
    device_free(winner);
    device_free(out);
}

static void variables(void **state)
{
    double *out = device_memory(8 * sizeof *out), seen[8];
    constant_table table = { { 0 }, 0 };
    int counter = 0;
    (void)state;
    check_ok(get_counter(test_queue, &counter));
    check_ok(get_table(test_queue, &table));
    check_ok(cgx_queue_wait(test_queue));
    assert_int_equal(counter, 40); /* as it was initialised */
    assert_true(table.values[7] == 8 && table.scale == 0.5);
    check_ok(use_variables_launch(test_queue, cgx_config_1d(1, 8), 2, out));
    check_ok(get_counter(test_queue, &counter));
    fetch(seen, out, sizeof seen);
    assert_int_equal(counter, 42);
    for (int i = 0; i < 8; i++)
        assert_true(seen[i] == (i + 1) * 0.5);
    /* Written in the queue's order, between two kernels. */
    for (int i = 0; i < 8; i++)
        table.values[i] = 10 * i;
    table.scale = 2;
    counter = 1000;
    check_ok(set_table(test_queue, &table));
    check_ok(set_counter(test_queue, &counter));
    check_ok(use_variables_launch(test_queue, cgx_config_1d(1, 8), 5, out));
    check_ok(use_variables_launch(test_queue, cgx_config_1d(1, 8), 5, out));
    fetch(seen, out, sizeof seen);
    for (int i = 0; i < 8; i++)
        assert_true(seen[i] == 20.0 * i);
    check_ok(get_counter(test_queue, &counter));
    check_ok(cgx_queue_wait(test_queue));
    assert_int_equal(counter, 1010);
    check_says(get_counter(NULL, &counter), CGX_ERROR_INVALID, "counter", "NULL");
    check_says(get_counter(test_queue, NULL), CGX_ERROR_INVALID, "NULL");
    device_free(out);
}

static void timers_count(void **state)
{
    uint64_t *out = device_memory(4 * sizeof *out), seen[4];
    (void)state;
    check_ok(timers_launch(test_queue, cgx_config_1d(1, 32), out));
    fetch(seen, out, sizeof seen);
    assert_true(seen[3] - seen[1] >= 3000000 && seen[3] - seen[1] < 10000000000u);
    assert_true(seen[2] > seen[0]);
    device_free(out);
}

/* ---- in processes of their own: printf goes to stdout, a failed assert may end the process ---- */

static int print_something(void)
{
    CGX_TRY(cgx_queue_open("any", &test_queue));
    for (int i = 0; i < 3; i++)
        CGX_TRY(say_hello_launch(test_queue, cgx_config_1d(2, 32), 40 + i));
    CGX_TRY(cgx_queue_wait(test_queue)); /* what kernels printed is out, or in the host's buffer */
    CGX_TRY(cgx_queue_close(&test_queue));
    return 0;
}

static int assert_something(int n)
{
    int *out = NULL, seen = 0;
    CGX_TRY(cgx_queue_open("any", &test_queue));
    CGX_TRY(cgx_alloc(test_queue, sizeof *out, CGX_MEM_DEVICE, (void **)&out));
    CGX_TRY(assert_positive_launch(test_queue, cgx_config_1d(1, 32), n, out));
    CGX_TRY(cgx_copy(test_queue, &seen, out, sizeof seen));
    CGX_TRY(cgx_queue_wait(test_queue));
    return seen != n;
}

/* What the program says when it calls itself with a word; *status is of waitpid. */
static char *run_self(const char *what, int *status)
{
    static char text[10000];
    int ends[2];
    size_t length = 0;
    ssize_t n;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execl(self, self, what, (char *)NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    close(ends[1]);
    while ((n = read(ends[0], text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(pid, status, 0), pid);
    return text;
}

static void kernels_print(void **state)
{
    int status = -1;
    (void)state;
    char *text = run_self("print", &status);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_string_equal(text, "hello 40 from a kernel, half is 0.50\nhello 41 from a kernel, half is 0.50\n"
                              "hello 42 from a kernel, half is 0.50\n");
}

static void kernels_assert(void **state)
{
    int status = -1;
    (void)state;
    run_self("assert-good", &status);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    char *text = run_self("assert-bad", &status);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0); /* an error of the queue, or the end */
    assert_non_null(strstr(text, "n > 0"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables), /* first: they are as initialised */
        cmocka_unit_test(forms_of_shared_memory),
        cmocka_unit_test(sizes_are_counted_for_each_kernel),
        cmocka_unit_test(dynamic_memory_is_aligned),
        cmocka_unit_test(functions_of_kernels),
        cmocka_unit_test(operators_of_users),
        cmocka_unit_test(timers_count),
        cmocka_unit_test(kernels_print),
        cmocka_unit_test(kernels_assert),
    };
    self = argv[0];
    if (argc > 1)
        return !strcmp(argv[1], "print") ? print_something()
                                         : assert_something(!strcmp(argv[1], "assert-good") ? 3 : -3);
    test_start();
    return test_end(cmocka_run_group_tests_name("kernel_text", tests, NULL, NULL));
}

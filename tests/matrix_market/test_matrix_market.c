/* SPDX-License-Identifier: MIT */
/*
 * The Matrix Market reader: what it accepts, what it refuses and with which words, and that no file makes it
 * crash.
 *
 *     test_matrix_market lund_a.mtx [conjugate_gradient]
 *
 * With the solver's program as well: that a bad file makes it print the reason and exit with 1.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "matrix_market.h"

#define HEADER "%%MatrixMarket matrix coordinate real symmetric\n"
#define INTEGER_HEADER "%%MatrixMarket matrix coordinate integer symmetric\n"

static const char *lund_a, *solver; /* from the command line */
static char folder[256], path[300]; /* a temporary folder, and the file in it that every test writes */

static void write_bytes(const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* What every matrix that is accepted must be. */
static void check_matrix(const csr_matrix *a)
{
    assert_true(a->n >= 1);
    assert_int_equal(a->row_start[0], 0);
    for (int32_t i = 0; i < a->n; i++) {
        assert_true(a->row_start[i] <= a->row_start[i + 1]);
        for (int64_t k = a->row_start[i]; k < a->row_start[i + 1]; k++) {
            int32_t j = a->column[k];
            int64_t mirror;
            assert_in_range(j, 0, a->n - 1);
            assert_true(k == a->row_start[i] || a->column[k - 1] < j);
            assert_true(isfinite(a->value[k]));
            for (mirror = a->row_start[j]; mirror < a->row_start[j + 1] && a->column[mirror] != i; mirror++)
                continue;
            assert_true(mirror < a->row_start[j + 1]);
            assert_true(a->value[mirror] == a->value[k]);
        }
    }
}

/* ---- what is accepted ---- */

static void reads_lund_a(void **state)
{
    csr_matrix a = { 0 };
    char error[256] = "";
    double sum = 0;

    (void)state;
    assert_int_equal(matrix_market_read(lund_a, &a, error, sizeof error), 0);
    assert_string_equal(error, "");
    assert_int_equal(a.n, 147);
    assert_int_equal(a.row_start[147], 2 * 1298 - 147);
    check_matrix(&a);
    for (int64_t k = 0; k < a.row_start[1]; k++)
        sum += a.value[k];
    assert_true(sum == 7.5e7 + 961538.81 - 12179486.0 - 2617521.0 + 28846144.0 + 5769230.0);
    csr_free(&a);
    assert_null(a.value);
}

static void expands_and_sorts(const char *text)
{
    static const int64_t row_start[] = { 0, 2, 5, 7 };
    static const int32_t column[] = { 0, 1, 0, 1, 2, 1, 2 };
    static const double value[] = { 4, -1, -1, 5, -2, -2, 600 };
    csr_matrix a = { 0 };
    char error[256] = "";

    write_bytes(text, strlen(text));
    assert_int_equal(matrix_market_read(path, &a, error, sizeof error), 0);
    assert_int_equal(a.n, 3);
    assert_memory_equal(a.row_start, row_start, sizeof row_start);
    assert_memory_equal(a.column, column, sizeof column);
    assert_memory_equal(a.value, value, sizeof value);
    csr_free(&a);
}

static void accepts(void **state)
{
    static char long_comment[5000];

    (void)state;
    expands_and_sorts(HEADER "3 3 5\n1 1 4\n2 1 -1\n2 2 5\n3 2 -2\n3 3 6e2\n");
    expands_and_sorts(HEADER "3 3 5\n3 3 6e2\n3 2 -2\n2 2 5\n2 1 -1\n1 1 4"); /* any order, no last line end */
    expands_and_sorts(HEADER "3 3 5\r\n1 1 4.\r\n2 1 -1\r\n2 2 5.0\r\n3 2 -.2E+1\r\n3 3 +6e2\r\n");
    expands_and_sorts(HEADER "%\n% words\n\n 3\t3  5 \n\n1 1 4\n  2 1 -1\n% here too\n2 2 5 \n3 2 -2\n3 3 600\n\n\n");
    expands_and_sorts(INTEGER_HEADER "3 3 5\n1 1 4\n2 1 -1\n2 2 5\n3 2 -2\n3 3 600\n");
    expands_and_sorts(
        "%%MatrixMarket MATRIX Coordinate Real  SYMMETRIC \n3 3 5\n1 1 4\n2 1 -1\n2 2 5\n3 2 -2\n3 3 600\n");

    memset(long_comment, 'c', sizeof long_comment - 1);
    memcpy(long_comment, HEADER "%", sizeof HEADER);
    strcpy(long_comment + sizeof long_comment - 60, "\n3 3 5\n1 1 4\n2 1 -1\n2 2 5\n3 2 -2\n3 3 600\n");
    expands_and_sorts(long_comment);
}

/* ---- what is refused ---- */

static const struct {
    const char *text;
    int line;
    const char *reason;
} bad[] = {
    /* the header */
    { "", 1, "the file is empty" },
    { "\n", 1, "no %%MatrixMarket header" },
    { "1 1 1\n1 1 4\n", 1, "no %%MatrixMarket header, but '1'" },
    { "#!/bin/sh\necho rubbish\n", 1, "no %%MatrixMarket header, but '#!/bin/sh'" },
    { "\x1f\x8b\x08\x1b[31m\n", 1, "but '???" },
    { "%%MatrixMarketplace matrix coordinate real symmetric\n1 1 1\n1 1 4\n", 1, "no %%MatrixMarket header" },
    { "%%MatrixMarket\n", 1, "names no object" },
    { "%%MatrixMarket matrix coordinate real\n1 1 1\n1 1 4\n", 1, "names no symmetry" },
    { "%%MatrixMarket vector coordinate real symmetric\n", 1, "the object is 'vector'" },
    { "%%MatrixMarket matrix array real symmetric\n1 1\n4\n", 1, "the format is 'array', but 'coordinate'" },
    { "%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 4 0\n", 1, "'complex', but 'real' or 'integer'" },
    { "%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1\n", 1, "the field is 'pattern'" },
    { "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n", 1, "the symmetry is 'general'" },
    { "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n", 1, "'skew-symmetric'" },
    { "%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 4 0\n", 1, "the field is 'complex'" },
    { "%%MatrixMarket matrix coordinate real symmetric lower\n1 1 1\n1 1 4\n", 1, "'lower' behind the header" },
    /* the size line */
    { HEADER, 1, "ends before its size line" },
    { HEADER "% only\n% comments\n", 3, "ends before its size line" },
    { HEADER "one 1 1\n1 1 4\n", 2, "number of rows 'one' is not an integer" },
    { HEADER "1.5 1 1\n1 1 4\n", 2, "number of rows '1.5' is not an integer" },
    { HEADER "1 1\n1 1 4\n", 2, "no number of entries" },
    { HEADER "1\n", 2, "no number of columns" },
    { HEADER "1 1 1 1\n1 1 4\n", 2, "'1' behind the size" },
    { HEADER "3 4 1\n1 1 4\n", 2, "3 x 4 is not square" },
    { HEADER "0 0 0\n", 2, "number of rows 0 is out of range" },
    { HEADER "-3 -3 1\n1 1 4\n", 2, "number of rows -3 is out of range" },
    { HEADER "1 1 -1\n", 2, "number of entries -1 is out of range" },
    { HEADER "2147483648 2147483648 1\n1 1 4\n", 2, "number of rows 2147483648 is out of range, 1 to 2147483647" },
    { HEADER "18446744073709551617 1 1\n1 1 4\n", 2, "number of rows 18446744073709551617 is out of range" },
    { HEADER "2147483647 2147483647 1\n1 1 4\n", 2, "the matrix is singular" },
    { HEADER "3 3 0\n", 2, "the matrix is singular" },
    { HEADER "3 3 7\n1 1 4\n", 2, "7 entries, but a triangle of 3 rows has room for 6" },
    { HEADER "3 3 9223372036854775807\n1 1 4\n", 2, "room for 6" },
    /* the number of entries */
    { HEADER "3 3 3\n1 1 4\n2 2 4\n", 4, "the file ends after 2 of 3 entries" },
    { HEADER "3 3 3\n", 2, "the file ends after 0 of 3 entries" },
    { HEADER "2000000000 2000000000 1000000000000000000\n1 1 4\n", 3, "after 1 of 1000000000000000000 entries" },
    { HEADER "2 2 2\n1 1 4\n2 2 4\n2 1 1\n", 5, "more than the 2 entries" },
    { HEADER "2 2 2\n1 1 4\n2 2 4\n\n%\nend\n", 7, "more than the 2 entries" },
    /* the entries */
    { HEADER "2 2 2\n1 1 4\n0 1 4\n", 4, "row 0 is out of range, 1 to 2 is legal" },
    { HEADER "2 2 2\n1 1 4\n3 1 4\n", 4, "row 3 is out of range, 1 to 2 is legal" },
    { HEADER "2 2 2\n1 1 4\n2 -1 4\n", 4, "column -1 is out of range" },
    { HEADER "2 2 2\n1 1 4\n2 4294967297 4\n", 4, "column 4294967297 is out of range" },
    { HEADER "2 2 2\n1 1 4\n99999999999999999999 1 4\n", 4, "row 99999999999999999999 is out of range" },
    { HEADER "2 2 2\n1 1 4\n1 2 4\n", 4, "entry (1, 2) is above the diagonal" },
    { HEADER "2 2 3\n1 1 4\n2 2 5\n1 1 4\n", 5, "entry (1, 1) stands here and in line 3" },
    { HEADER "3 3 4\n3 1 4\n% a comment\n2 2 5\n3 1 4\n3 3 1\n", 6, "entry (3, 1) stands here and in line 3" },
    { HEADER "2 2 2\n1 1 4\n2 2 nan\n", 4, "value 'nan' is not finite" },
    { HEADER "2 2 2\n1 1 4\n2 2 NaN(7)\n", 4, "value 'NaN(7)' is not finite" },
    { HEADER "2 2 2\n1 1 -inf\n2 2 1\n", 3, "value '-inf' is not finite" },
    { HEADER "2 2 2\n1 1 Infinity\n2 2 1\n", 3, "value 'Infinity' is not finite" },
    { HEADER "2 2 2\n1 1 1e999\n2 2 1\n", 3, "value 1e999 is too large for a double" },
    { HEADER "2 2 2\n1 1 0x10\n2 2 1\n", 3, "value '0x10' is not a number" },
    { HEADER "2 2 2\n1 1 1.5D3\n2 2 1\n", 3, "value '1.5D3' is not a number" },
    { HEADER "2 2 2\n1 1 1,5\n2 2 1\n", 3, "value '1,5' is not a number" },
    { HEADER "2 2 2\n1 1 4 0\n2 2 1\n", 3, "'0' behind the entry" },
    { HEADER "2 2 2\n1 1\n2 2 1\n", 3, "the value is missing" },
    { HEADER "2 2 2\n1\n2 2 1\n", 3, "the column is missing" },
    { HEADER "2 2 2\nlines of rubbish\n", 3, "row 'lines' is not an integer" },
    { HEADER "2 2 2\n1 of 4\n", 3, "column 'of' is not an integer" },
    { HEADER "2 2 2\n1.0 1 4\n", 3, "row '1.0' is not an integer" },
    { INTEGER_HEADER "2 2 2\n1 1 4.5\n2 2 1\n", 3, "value '4.5' is not an integer" },
    { INTEGER_HEADER "2 2 2\n1 1 9007199254740993\n2 2 1\n", 3, "value 9007199254740993 is out of range" },
    { HEADER "2 2 2\n1 1 a-very-long-word-that-would-fill-the-terminal\n", 3, "'a-very-long-word-that-would-...'" },
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        csr_matrix a = { .n = -7 };
        char error[512] = "", expected[400];

        write_bytes(bad[i].text, strlen(bad[i].text));
        snprintf(expected, sizeof expected, "%s:%d: ", path, bad[i].line);
        if (matrix_market_read(path, &a, error, sizeof error) != -1)
            fail_msg("accepted, but should say '%s': %s", bad[i].reason, bad[i].text);
        if (strncmp(error, expected, strlen(expected)) != 0 || !strstr(error, bad[i].reason))
            fail_msg("said '%s', not '%s... %s'", error, expected, bad[i].reason);
        assert_int_equal(a.n, -7);
    }
}

static void expect_refusal(const char *file, const char *reason)
{
    csr_matrix a = { 0 };
    char error[512] = "";

    assert_int_equal(matrix_market_read(file, &a, error, sizeof error), -1);
    assert_int_equal(strncmp(error, file, strlen(file)), 0);
    if (!strstr(error, reason))
        fail_msg("said '%s', not '%s'", error, reason);
}

static void refuses_what_is_no_text(void **state)
{
    static const char zero[] = HEADER "1 1 1\n1 1 \0004\n";
    char long_line[sizeof HEADER + 3000] = HEADER;

    (void)state;
    expect_refusal("no-such-folder/no-such-file.mtx", "cannot be opened: No such file or directory");
    expect_refusal(folder, "cannot be read: Is a directory");
    if (access("/dev/zero", R_OK) == 0)
        expect_refusal("/dev/zero", "not a text file");
    write_bytes(zero, sizeof zero - 1);
    expect_refusal(path, ":3: a zero byte: this is not a text file");
    memset(long_line + sizeof HEADER - 1, '1', 3000);
    write_bytes(long_line, sizeof long_line - 1);
    expect_refusal(path, ":2: more than 1024 characters in one line");
}

/* The text is cut, not written beyond its end; every size is legal. */
static void error_text_has_bounds(void **state)
{
    (void)state;
    write_bytes("rubbish\n", 8);
    for (size_t size = 0; size < 400; size++) {
        csr_matrix a = { 0 };
        char *error = malloc(size ? size : 1); /* on the heap, so that AddressSanitizer sees its end */
        assert_int_equal(matrix_market_read(path, &a, error, size), -1);
        assert_true(size == 0 || strlen(error) < size);
        free(error);
    }
}

/* ---- that nothing crashes ---- */

static uint32_t random_state = 1;
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)random_state * n) >> 32);
}

static void read_anything(const char *bytes, size_t count)
{
    csr_matrix a = { 0 };
    char error[512] = "";

    write_bytes(bytes, count);
    if (matrix_market_read(path, &a, error, sizeof error) == 0) {
        check_matrix(&a);
        csr_free(&a);
    } else {
        assert_true(strlen(error) > strlen(path));
    }
}

static const char small[] =
    HEADER "% a comment\n4 4 7\n1 1 4.0e0\n2 1 -1.0\n2 2 4.0\n3 2 -1.0\n3 3 4.0\n4 3 -1.0\n4 4 4.25\n";

static void survives_truncation(void **state)
{
    csr_matrix a = { 0 };
    char error[512];

    (void)state;
    for (size_t length = 0; length < sizeof small - 1; length++)
        read_anything(small, length);
    write_bytes(small, sizeof small - 1 - strlen("4 4 4.25\n"));
    assert_int_equal(matrix_market_read(path, &a, error, sizeof error), -1);
    assert_non_null(strstr(error, ":9: the file ends after 6 of 7 entries"));
}

/* Bytes changed, deleted and doubled at random; the generator is the same in every run. */
static void survives_damage(void **state)
{
    static const char alphabet[] = "0123456789 .-+eE\n\r\t%naif\xff";

    (void)state;
    for (int round = 0; round < 2000; round++) {
        char text[2 * sizeof small];
        size_t length = sizeof small - 1;

        memcpy(text, small, length);
        for (uint32_t i = 0, changes = 1 + random_below(4); i < changes; i++) {
            size_t at = random_below((uint32_t)length);
            switch (random_below(3)) {
            case 0: text[at] = alphabet[random_below(sizeof alphabet)]; break;
            case 1: memmove(text + at, text + at + 1, --length - at); break;
            default: memmove(text + at + 1, text + at, length++ - at); break;
            }
        }
        read_anything(text, length);
    }
}

static void survives_noise(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        char text[sizeof HEADER + 500] = HEADER;
        size_t start = round % 3 ? sizeof HEADER - 1 : 0;
        for (size_t i = start; i < sizeof text; i++)
            text[i] = (char)random_below(256);
        read_anything(text, sizeof text);
    }
}

/* ---- the solver's program ---- */

/* Runs the solver on `path`: its exit status, and what it wrote to stderr. */
static int run_solver(char *output, size_t size)
{
    char command[1024];
    size_t length;
    FILE *pipe;

    snprintf(command, sizeof command, "'%s' '%s' 2>&1 >/dev/null", solver, path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    length = fread(output, 1, size - 1, pipe);
    output[length] = '\0';
    return pclose(pipe);
}

static void solver_explains(const char *text, const char *reason)
{
    char output[2048];
    int status;

    write_bytes(text, strlen(text));
    status = run_solver(output, sizeof output);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
        fail_msg("status %#x: %s", (unsigned)status, output);
    if (!strstr(output, path) || !strstr(output, reason))
        fail_msg("said '%s', not '%s'", output, reason);
}

static void solver_exits_with_1(void **state)
{
    (void)state;
    if (!solver)
        return;
    solver_explains("", ":1: the file is empty");
    solver_explains(HEADER "2 2 3\n1 1 4\n2 2 4\n", ":4: the file ends after 2 of 3 entries");
    solver_explains(HEADER "2 2 2\n1 1 4\n2 2 nan\n", ":4: value 'nan' is not finite");
    /* Good files, but not for conjugate gradients. */
    solver_explains(HEADER "2 2 2\n1 1 4\n2 2 -4\n", "row 2 has -4 on the diagonal");
    solver_explains(HEADER "2 2 2\n1 1 4\n2 1 4\n", "row 2 has 0 on the diagonal");
    solver_explains(HEADER "2 2 3\n1 1 1\n2 1 2\n2 2 1\n", "not positive definite");
}

static int make_folder(void **state)
{
    const char *temporary = getenv("TMPDIR");

    (void)state;
    snprintf(folder, sizeof folder, "%s/cgx-matrix-market-XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/test.mtx", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lund_a),
        cmocka_unit_test(accepts),
        cmocka_unit_test(refuses),
        cmocka_unit_test(refuses_what_is_no_text),
        cmocka_unit_test(error_text_has_bounds),
        cmocka_unit_test(survives_truncation),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_noise),
        cmocka_unit_test(solver_exits_with_1),
    };

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: test_matrix_market lund_a.mtx [conjugate_gradient]\n");
        return 2;
    }
    lund_a = argv[1];
    solver = argc > 2 ? argv[2] : NULL;
    return cmocka_run_group_tests_name("matrix_market", tests, make_folder, remove_folder);
}

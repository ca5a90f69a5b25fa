/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* strcasecmp, getc_unlocked */
#include "matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LONGEST_LINE = 1024 }; /* what the format allows; comments may be longer here */

typedef struct {
    int32_t row, column; /* from 0, column <= row */
    double value;
    int64_t line; /* where it stood, for the error text */
} entry;

typedef struct {
    FILE *file;
    const char *path;
    int64_t line; /* number of the line in `text`, from 1 */
    char text[LONGEST_LINE + 1];
    bool too_long, has_zero_byte;
    char *error;
    size_t error_size;
} reader;

/* Writes "FILE:LINE: reason"; returns false, so that a check can end in `return fail(...)`. */
__attribute__((format(printf, 2, 3))) static bool fail(reader *in, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(in->error, in->error_size, "%s:%" PRId64 ": ", in->path, in->line);
    if (used >= 0 && (size_t)used < in->error_size) {
        va_start(arguments, format);
        vsnprintf(in->error + used, in->error_size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return false;
}

/* ---- lines and words ---- */

/* The next line without its end, false at the end of the file. Bounded: a file without line ends, such as
   /dev/zero, must not grow a buffer. */
static bool next_line(reader *in)
{
    size_t length = 0;
    int c = getc_unlocked(in->file);

    if (c == EOF)
        return false;
    in->line++;
    in->too_long = in->has_zero_byte = false;
    for (; c != EOF && c != '\n'; c = getc_unlocked(in->file)) {
        if (c == '\0')
            in->has_zero_byte = true;
        if (length < LONGEST_LINE)
            in->text[length++] = (char)c;
        else
            in->too_long = true;
        if (in->too_long && in->text[0] != '%') /* refused anyway: no need to see its end */
            break;
    }
    if (length > 0 && in->text[length - 1] == '\r')
        length--;
    in->text[length] = '\0';
    return true;
}

static const char *skip_blanks(const char *s)
{
    while (*s == ' ' || *s == '\t')
        s++;
    return s;
}

/* The next line that says something: neither blank nor a comment. At the end of the file *found is false. */
static bool next_content(reader *in, bool *found)
{
    *found = false;
    while (next_line(in)) {
        const char *s = skip_blanks(in->text);
        if (in->text[0] == '%')
            continue;
        if (in->has_zero_byte)
            return fail(in, "a zero byte: this is not a text file");
        if (in->too_long)
            return fail(in, "more than %d characters in one line", LONGEST_LINE);
        if (*s != '\0') {
            *found = true;
            return true;
        }
    }
    if (ferror(in->file))
        return fail(in, "cannot be read: %s", strerror(errno));
    return true;
}

/* Cuts the next blank-separated word out of *cursor, NULL when there is none. */
static char *next_word(char **cursor)
{
    char *word = *cursor + (skip_blanks(*cursor) - *cursor);
    char *end = word;

    while (*end != '\0' && *end != ' ' && *end != '\t')
        end++;
    *cursor = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

/* A word of the file for an error text: short, and without what would upset a terminal. */
static const char *printable(const char *word, char out[32])
{
    size_t i = 0;
    for (; word[i] != '\0' && i < 28; i++)
        out[i] = isprint((unsigned char)word[i]) ? word[i] : '?';
    if (word[i] != '\0') {
        memcpy(out + i, "...", 3);
        i += 3;
    }
    out[i] = '\0';
    return out;
}

static bool parse_integer(reader *in, const char *what, const char *word, int64_t lowest, int64_t highest,
                          int64_t *result)
{
    char shown[32], *end;
    long long number;

    errno = 0;
    number = strtoll(word, &end, 10);
    if (end == word || *end != '\0')
        return fail(in, "%s '%s' is not an integer", what, printable(word, shown));
    if (errno == ERANGE || number < lowest || number > highest)
        return fail(in, "%s %s is out of range, %" PRId64 " to %" PRId64 " is legal", what, printable(word, shown),
                    lowest, highest);
    *result = number;
    return true;
}

static bool parse_real(reader *in, const char *word, double *result)
{
    char shown[32], *end;
    double number;

    errno = 0;
    number = strtod(word, &end);
    if (end == word || *end != '\0' || strpbrk(word, "xX")) /* strtod would take hexadecimal as well */
        return fail(in, "value '%s' is not a number", printable(word, shown));
    if (errno == ERANGE && fabs(number) > 1) /* a value too small for a double may be 0 */
        return fail(in, "value %s is too large for a double", printable(word, shown));
    if (!isfinite(number))
        return fail(in, "value '%s' is not finite", printable(word, shown));
    *result = number;
    return true;
}

/* ---- the three parts of the file ---- */

static bool read_header(reader *in, bool *integers)
{
    static const struct {
        const char *name, *wanted, *also, *needed;
    } part[] = {
        { "object", "matrix", NULL, "'matrix'" },
        { "format", "coordinate", NULL, "'coordinate'" },
        { "field", "real", "integer", "'real' or 'integer'" },
        { "symmetry", "symmetric", NULL, "'symmetric'" },
    };
    char shown[32], *cursor = in->text, *word;

    if (!next_line(in)) {
        in->line = 1;
        return ferror(in->file) ? fail(in, "cannot be read: %s", strerror(errno)) : fail(in, "the file is empty");
    }
    if (in->has_zero_byte)
        return fail(in, "no %%%%MatrixMarket header: this is not a text file");
    word = next_word(&cursor);
    if (!word || strcmp(word, "%%MatrixMarket") != 0)
        return fail(in, "no %%%%MatrixMarket header, but '%s'", printable(word ? word : "", shown));
    *integers = false;
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        word = next_word(&cursor);
        if (!word)
            return fail(in, "the header names no %s, %s is needed", part[i].name, part[i].needed);
        if (part[i].also && strcasecmp(word, part[i].also) == 0)
            *integers = true;
        else if (strcasecmp(word, part[i].wanted) != 0)
            return fail(in, "the %s is '%s', but %s is needed", part[i].name, printable(word, shown), part[i].needed);
    }
    word = next_word(&cursor);
    return !word || fail(in, "'%s' behind the header", printable(word, shown));
}

static bool read_size(reader *in, int32_t *n, int64_t *entries)
{
    static const char *const name[] = { "number of rows", "number of columns", "number of entries" };
    int64_t size[3];
    char shown[32], *cursor = in->text, *word;
    bool found;

    if (!next_content(in, &found))
        return false;
    if (!found)
        return fail(in, "the file ends before its size line");
    for (int i = 0; i < 3; i++) {
        word = next_word(&cursor);
        if (!word)
            return fail(in, "the size line has no %s", name[i]);
        if (!parse_integer(in, name[i], word, i < 2 ? 1 : 0, i < 2 ? INT32_MAX : INT64_MAX, &size[i]))
            return false;
    }
    if ((word = next_word(&cursor)) != NULL)
        return fail(in, "'%s' behind the size", printable(word, shown));
    if (size[0] != size[1])
        return fail(in, "%" PRId64 " x %" PRId64 " is not square, a symmetric matrix is", size[0], size[1]);
    if (size[2] > size[0] * (size[0] + 1) / 2) /* below 2^62: no overflow */
        return fail(in, "%" PRId64 " entries, but a triangle of %" PRId64 " rows has room for %" PRId64, size[2],
                    size[0], size[0] * (size[0] + 1) / 2);
    if (size[0] > 2 * size[2]) /* an entry touches two rows at most */
        return fail(in, "%" PRId64 " entries leave some of %" PRId64 " rows empty: the matrix is singular", size[2],
                    size[0]);
    *n = (int32_t)size[0];
    *entries = size[2];
    return true;
}

static bool parse_entry(reader *in, int32_t n, bool integers, entry *e)
{
    /* Integers become doubles, so only those up to 2^53 arrive unchanged. */
    const int64_t exact = (int64_t)1 << 53;
    int64_t row, column, number;
    char shown[32], *cursor = in->text, *word;

    if (!parse_integer(in, "row", next_word(&cursor), 1, n, &row))
        return false;
    if ((word = next_word(&cursor)) == NULL)
        return fail(in, "an entry is a row, a column and a value; the column is missing");
    if (!parse_integer(in, "column", word, 1, n, &column))
        return false;
    if ((word = next_word(&cursor)) == NULL)
        return fail(in, "an entry is a row, a column and a value; the value is missing");
    if (integers) {
        if (!parse_integer(in, "value", word, -exact, exact, &number))
            return false;
        e->value = (double)number;
    } else if (!parse_real(in, word, &e->value)) {
        return false;
    }
    if ((word = next_word(&cursor)) != NULL)
        return fail(in, "'%s' behind the entry", printable(word, shown));
    if (column > row)
        return fail(in, "entry (%" PRId64 ", %" PRId64 ") is above the diagonal of a symmetric matrix", row, column);
    e->row = (int32_t)row - 1;
    e->column = (int32_t)column - 1;
    e->line = in->line;
    return true;
}

/* Reads all entries. The array grows with what the file holds, not with what its header promises. */
static bool read_entries(reader *in, int32_t n, bool integers, int64_t promised, entry **entries)
{
    int64_t count = 0, room = 0;
    bool found;

    while (next_content(in, &found)) {
        if (!found && count < promised)
            return fail(in, "the file ends after %" PRId64 " of %" PRId64 " entries", count, promised);
        if (!found)
            return true;
        if (count == promised)
            return fail(in, "more than the %" PRId64 " entries that the size line promises", promised);
        if (count == room) {
            int64_t more = room ? 2 * room : 1024;
            entry *grown = realloc(*entries, (size_t)more * sizeof **entries);
            if (!grown)
                return fail(in, "not enough memory for more than %" PRId64 " entries", count);
            *entries = grown;
            room = more;
        }
        if (!parse_entry(in, n, integers, &(*entries)[count]))
            return false;
        count++;
    }
    return false;
}

/* ---- from entries to rows ---- */

/* Names both lines of an entry that stands twice. */
static bool fail_twice(reader *in, const entry *entries, int64_t count, int32_t row, int32_t column)
{
    int64_t first = 0;
    for (int64_t i = 0; i < count; i++) {
        if (entries[i].row != row || entries[i].column != column)
            continue;
        if (first) {
            in->line = entries[i].line;
            break;
        }
        first = entries[i].line;
    }
    return fail(in, "entry (%" PRId32 ", %" PRId32 ") stands here and in line %" PRId64, row + 1, column + 1, first);
}

/*
 * Mirrors the lower triangle and sorts every row, in linear time by transposing twice: first every entry and
 * its mirror go into the bucket of their column, in any order; reading the buckets in column order then fills
 * every row in column order. The matrix being symmetric, rows and columns have the same bounds.
 */
static bool build_rows(reader *in, int32_t n, const entry *entries, int64_t count, csr_matrix *out)
{
    int64_t total = 0, *next = calloc((size_t)n, sizeof *next);
    int32_t *row_in_bucket;
    double *value_in_bucket;
    bool done = false;

    for (int64_t i = 0; i < count; i++)
        total += entries[i].row == entries[i].column ? 1 : 2;
    out->n = n;
    out->row_start = calloc((size_t)n + 1, sizeof *out->row_start);
    out->column = malloc((size_t)total * sizeof *out->column);
    out->value = malloc((size_t)total * sizeof *out->value);
    row_in_bucket = malloc((size_t)total * sizeof *row_in_bucket);
    value_in_bucket = malloc((size_t)total * sizeof *value_in_bucket);
    if (!next || !out->row_start || !out->column || !out->value || !row_in_bucket || !value_in_bucket) {
        fail(in, "not enough memory for %" PRId32 " rows and %" PRId64 " entries", n, total);
        goto end;
    }

    for (int64_t i = 0; i < count; i++) {
        out->row_start[entries[i].row + 1]++;
        if (entries[i].row != entries[i].column)
            out->row_start[entries[i].column + 1]++;
    }
    for (int32_t i = 0; i < n; i++)
        out->row_start[i + 1] += out->row_start[i];

    memcpy(next, out->row_start, (size_t)n * sizeof *next);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = next[entries[i].column]++;
        row_in_bucket[at] = entries[i].row;
        value_in_bucket[at] = entries[i].value;
        if (entries[i].row == entries[i].column)
            continue;
        at = next[entries[i].row]++;
        row_in_bucket[at] = entries[i].column;
        value_in_bucket[at] = entries[i].value;
    }

    memcpy(next, out->row_start, (size_t)n * sizeof *next);
    for (int32_t column = 0; column < n; column++) {
        for (int64_t i = out->row_start[column]; i < out->row_start[column + 1]; i++) {
            int32_t row = row_in_bucket[i];
            int64_t at = next[row]++;
            if (at > out->row_start[row] && out->column[at - 1] == column) {
                fail_twice(in, entries, count, row > column ? row : column, row > column ? column : row);
                goto end;
            }
            out->column[at] = column;
            out->value[at] = value_in_bucket[i];
        }
    }
    done = true;
end:
    free(next);
    free(row_in_bucket);
    free(value_in_bucket);
    return done;
}

int matrix_market_read(const char *path, csr_matrix *matrix, char *error, size_t error_size)
{
    reader in = { .path = path, .error = error, .error_size = error_size };
    csr_matrix result = { 0 };
    entry *entries = NULL;
    int64_t count = 0;
    int32_t n = 0;
    bool integers = false, done;

    in.file = fopen(path, "r");
    if (!in.file) {
        snprintf(error, error_size, "%s: cannot be opened: %s", path, strerror(errno));
        return -1;
    }
    done = read_header(&in, &integers) && read_size(&in, &n, &count) &&
           read_entries(&in, n, integers, count, &entries) && build_rows(&in, n, entries, count, &result);
    fclose(in.file);
    free(entries);
    if (!done) {
        csr_free(&result);
        return -1;
    }
    *matrix = result;
    return 0;
}

void csr_free(csr_matrix *matrix)
{
    free(matrix->row_start);
    free(matrix->column);
    free(matrix->value);
    *matrix = (csr_matrix){ 0 };
}

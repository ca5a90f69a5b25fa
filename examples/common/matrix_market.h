/* SPDX-License-Identifier: MIT */
/* Reads a real symmetric sparse matrix from a Matrix Market file. */
#ifndef EXAMPLES_MATRIX_MARKET_H
#define EXAMPLES_MATRIX_MARKET_H

#include <stddef.h>
#include <stdint.h>

/*
 * A square sparse matrix by rows (CSR), both triangles stored. Row i holds the entries
 * row_start[i] ... row_start[i + 1] - 1, its columns ascending, each at most once; indices count from 0.
 *
 * Columns have 32 bits: the solver streams them, and no matrix that fits a device has 2^31 rows. Row starts
 * have 64, because the expanded entries of a large matrix do pass 2^31 - and they are only n + 1 words.
 */
typedef struct {
    int32_t n;
    int64_t *row_start; /* n + 1 of them; row_start[n] is the number of entries */
    int32_t *column;
    double *value;
} csr_matrix;

/*
 * Reads `path` into *matrix. Returns 0, or -1 with one line "FILE:LINE: REASON" in `error` (a file that can
 * not be opened has no LINE) and *matrix untouched. Free the matrix with csr_free.
 *
 * Accepted is `%%MatrixMarket matrix coordinate real|integer symmetric`, read strictly - a solver that ran on
 * half a matrix would be worse than an error:
 *   - exactly the promised number of entries, all within the matrix and none above the diagonal: the format
 *     stores the lower triangle, and a file that holds both would count every entry twice;
 *   - no entry twice: the format gives no meaning to it, and programs disagree (the sum, or the last);
 *   - finite values only, integers only where the header says integer, nothing behind an entry;
 *   - 1 to 2^31 - 1 rows, and at most twice as many rows as entries, for a row without entries makes the
 *     matrix singular. So what is allocated is bounded by what the file holds, whatever its header says.
 * Comment lines and blank lines may stand anywhere after the header. Lines end in LF or CR LF.
 *
 * Numbers are read with strtod, which follows LC_NUMERIC: a program that has set a locale with a decimal
 * comma gets an error for the first value with a point, never a wrong value.
 */
int matrix_market_read(const char *path, csr_matrix *matrix, char *error, size_t error_size);

/* Frees what matrix_market_read allocated; a zeroed matrix is fine. */
void csr_free(csr_matrix *matrix);

#endif

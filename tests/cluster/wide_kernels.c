/* SPDX-License-Identifier: MIT */
#include "wide_kernels.h"

#define WIDE_ROW(OP, row)                                            \
    do {                                                             \
        int64_t at = ((int64_t)i * rows + (row)) * WIDES * n + rank; \
        out[at] = cgx_reduce(g, v, OP);                              \
        out[at + n] = cgx_inclusive_scan(g, v, OP);                  \
        out[at + 2 * n] = cgx_exclusive_scan(g, v, OP);              \
    } while (0)
#define WIDE_BITS                       \
    WIDE_ROW(CGX_BIT_AND, ROW_BIT_AND); \
    WIDE_ROW(CGX_BIT_XOR, ROW_BIT_XOR); \
    WIDE_ROW(CGX_BIT_OR, ROW_BIT_OR);
#define WIDE_BODY(GROUP, ROWS, BITS)                                                    \
    {                                                                                   \
        cgx_grid whole = cgx_this_grid();                                               \
        GROUP;                                                                          \
        int64_t n = cgx_num_threads(whole), rank = cgx_thread_rank(whole), rows = ROWS; \
        for (int i = 0; i < rounds; i++) {                                              \
            const __typeof__(*in) v = in[(rank + i) % n];                               \
            WIDE_ROW(CGX_PLUS, ROW_PLUS);                                               \
            WIDE_ROW(CGX_LESS, ROW_LESS);                                               \
            WIDE_ROW(CGX_GREATER, ROW_GREATER);                                         \
            BITS                                                                        \
        }                                                                               \
    }
#define WIDE_INTEGER(s, T)                                                                   \
    CGX_KERNEL_EXTERN(wide_cluster_##s, (int, rounds), (const T *, in), (T *, out))          \
    WIDE_BODY(cgx_cluster g = cgx_this_cluster(), INTEGER_ROWS, WIDE_BITS)                   \
    CGX_KERNEL_EXTERN_COOPERATIVE(wide_grid_##s, (int, rounds), (const T *, in), (T *, out)) \
    WIDE_BODY(cgx_grid g = whole, INTEGER_ROWS, WIDE_BITS)
#define WIDE_FLOAT(s, T)                                                                     \
    CGX_KERNEL_EXTERN(wide_cluster_##s, (int, rounds), (const T *, in), (T *, out))          \
    WIDE_BODY(cgx_cluster g = cgx_this_cluster(), FLOAT_ROWS, )                              \
    CGX_KERNEL_EXTERN_COOPERATIVE(wide_grid_##s, (int, rounds), (const T *, in), (T *, out)) \
    WIDE_BODY(cgx_grid g = whole, FLOAT_ROWS, )
FOREACH_WIDE_INTEGER(WIDE_INTEGER)
FOREACH_WIDE_FLOAT(WIDE_FLOAT)

CGX_OP_BODY(matrix, product, m, n, {
    matrix r = { m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d, m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d };
    return r;
})
CGX_OP_BODY(affine, compose, f, g, {
    affine r = { f.a * g.a, f.b * g.a + g.b };
    return r;
})
#define WIDE_USER(T, op, GROUP)                                                         \
    {                                                                                   \
        cgx_grid whole = cgx_this_grid();                                               \
        GROUP;                                                                          \
        int64_t n = cgx_num_threads(whole), rank = cgx_thread_rank(whole);              \
        for (int i = 0; i < rounds; i++) {                                              \
            T v = in[(rank + i) % n];                                                   \
            out[(int64_t)i * WIDES * n + rank] = cgx_reduce_op(g, v, op);               \
            out[((int64_t)i * WIDES + 1) * n + rank] = cgx_inclusive_scan_op(g, v, op); \
            out[((int64_t)i * WIDES + 2) * n + rank] = cgx_exclusive_scan_op(g, v, op); \
        }                                                                               \
    }
CGX_KERNEL_EXTERN(wide_cluster_matrix, (int, rounds), (const matrix *, in), (matrix *, out))
WIDE_USER(matrix, product, cgx_cluster g = cgx_this_cluster())
CGX_KERNEL_EXTERN_COOPERATIVE(wide_grid_matrix, (int, rounds), (const matrix *, in), (matrix *, out))
WIDE_USER(matrix, product, cgx_grid g = whole)
CGX_KERNEL_EXTERN_COOPERATIVE(wide_grid_affine, (int, rounds), (const affine *, in), (affine *, out))
WIDE_USER(affine, compose, cgx_grid g = whole)

CGX_KERNEL_EXTERN_COOPERATIVE(wide_mixed, (int, rounds), (int *, bad))
{
    cgx_grid g = cgx_this_grid();
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    int n = (int)cgx_num_threads(g), nc = cgx_num_threads(c), nb = cgx_num_threads(b), wrong = 0;
    for (int i = 0; i < rounds; i++) {
        wrong += cgx_reduce(g, i, CGX_PLUS) != n * i;
        wrong += cgx_inclusive_scan(c, 1, CGX_PLUS) != cgx_thread_rank(c) + 1;
        wrong += cgx_exclusive_scan(b, 1, CGX_PLUS) != cgx_thread_rank(b);
        wrong += cgx_reduce(c, cgx_thread_rank(c), CGX_GREATER) != nc - 1;
        if (i % 3 == 0)
            cgx_sync(c);
        wrong += cgx_exclusive_scan(g, 1, CGX_PLUS) != (int)cgx_thread_rank(g);
        if (i % 5 == 0)
            cgx_sync(g);
        wrong += cgx_reduce(g, (int)cgx_thread_rank(g) + i, CGX_LESS) != i;
        wrong += cgx_reduce(b, 1, CGX_PLUS) != nb;
    }
    bad[cgx_thread_rank(g)] = wrong;
}

CGX_KERNEL_EXTERN(wide_in_plain_launch, (int *, out))
{
    out[cgx_thread_rank(cgx_this_block())] = cgx_reduce(cgx_this_grid(), 1, CGX_PLUS);
}

CGX_KERNEL_EXTERN_COOPERATIVE(wide_absent, (int, grid), (int *, out))
{
    cgx_grid g = cgx_this_grid();
    if (cgx_thread_rank(g) == 70)
        return;
    out[cgx_thread_rank(g)] = grid ? cgx_reduce(g, 1, CGX_PLUS) : cgx_reduce(cgx_this_cluster(), 1, CGX_PLUS);
}

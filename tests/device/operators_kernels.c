/* SPDX-License-Identifier: MIT */
#include "operators_kernels.h"
#include "operators.h"

CGX_OP_BODY(affine, compose, l, m, {
    affine r;
    COMPOSE(r, l, m);
    return r;
})
CGX_OP_BODY(matrix, product, l, m, {
    matrix r;
    PRODUCT(r, l, m);
    return r;
})
CGX_OP_BODY(run, join, l, m, {
    run r;
    JOIN(r, l, m);
    return r;
})
CGX_OP(argmax_t, argmax, a, b, b.v > a.v || (b.v == a.v && b.i < a.i) ? b : a)
CGX_OP(int64_t, left, a, b, ((void)b, a))

#define USER(name, T)                                                                        \
    CGX_KERNEL_EXTERN(user_##name, (int, size), (const T *, in), (T *, out))                 \
    {                                                                                        \
        cgx_block b = cgx_this_block();                                                      \
        cgx_group g = size ? cgx_as_group(cgx_tiled_partition_n(b, size)) : cgx_as_group(b); \
        int rank = cgx_thread_rank(b), n = cgx_num_threads(b);                               \
        out[rank] = cgx_reduce_op(g, in[rank], name);                                        \
        out[n + rank] = cgx_inclusive_scan_op(g, in[rank], name);                            \
        out[2 * n + rank] = cgx_exclusive_scan_op(g, in[rank], name);                        \
    }                                                                                        \
    CGX_KERNEL_EXTERN(split_##name, (const T *, in), (T *, out))                             \
    {                                                                                        \
        cgx_block b = cgx_this_block();                                                      \
        cgx_tile_32 t = cgx_tiled_partition(b, 32);                                          \
        int rank = cgx_thread_rank(b), n = cgx_num_threads(b);                               \
        cgx_coalesced c = cgx_binary_partition(t, rank & 1);                                 \
        out[rank] = cgx_reduce_op(c, in[rank], name);                                        \
        out[n + rank] = cgx_inclusive_scan_op(c, in[rank], name);                            \
        out[2 * n + rank] = cgx_exclusive_scan_op(c, in[rank], name);                        \
    }
FOREACH_USER_OPERATOR(USER)

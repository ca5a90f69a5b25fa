/* SPDX-License-Identifier: MIT */
/* Compiled once for each VARIANT, which is the end of the kernels' names. */
#include "bitwise_kernels.h"

#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define DECLARE_VARIANT_(variant) DECLARE_BITWISE(variant)
#define DECLARE_VARIANT(variant) DECLARE_VARIANT_(variant)
DECLARE_VARIANT(VARIANT)

CGX_OP_BODY(matrix, product, l, m, {
    matrix r = { l.a * m.a + l.b * m.c, l.a * m.b + l.b * m.d, l.c * m.a + l.d * m.c, l.c * m.b + l.d * m.d };
    return r;
})
CGX_OP_BODY(line, compose, f, g, {
    line r = { f.a * g.a, f.b * g.a + g.b };
    return r;
})

#define OF_EACH(to, v, op)                            \
    do {                                              \
        to[REDUCED] = cgx_reduce(g, v, op);           \
        to[INCLUSIVE] = cgx_inclusive_scan(g, v, op); \
        to[EXCLUSIVE] = cgx_exclusive_scan(g, v, op); \
    } while (0)
#define OF_EACH_USER(to, v, op)                          \
    do {                                                 \
        to[REDUCED] = cgx_reduce_op(g, v, op);           \
        to[INCLUSIVE] = cgx_inclusive_scan_op(g, v, op); \
        to[EXCLUSIVE] = cgx_exclusive_scan_op(g, v, op); \
    } while (0)
#define COLLECT                                         \
    do {                                                \
        const bitwise_in v = in[at];                    \
        bitwise_out r;                                  \
        OF_EACH(r.sum, v.p *v.q, CGX_PLUS);             \
        OF_EACH(r.sum_f, v.x *v.y, CGX_PLUS);           \
        OF_EACH_USER(r.product, v.m, product);          \
        OF_EACH_USER(r.composed, v.l, compose);         \
        r.least = cgx_reduce(g, v.x * v.y, CGX_LESS);   \
        r.most = cgx_reduce(g, v.x * v.y, CGX_GREATER); \
        r.rank = (int)cgx_thread_rank(g);               \
        out[at] = r;                                    \
    } while (0)

CGX_KERNEL_EXTERN(PASTE(narrow, VARIANT), (int, kind), (int, size), (const bitwise_in *, in), (bitwise_out *, out),
                  (float *, user))
{
    cgx_block b = cgx_this_block();
    int64_t at = cgx_thread_rank(cgx_this_grid());
    const int rank = cgx_thread_rank(b);
    user[at] = in[at].x * in[at].y + in[at].l.b;
    if (kind == KIND_BRANCH) {
        if (IN_BRANCH(rank)) {
            cgx_coalesced g = cgx_coalesced_threads();
            COLLECT;
        }
    } else if (kind == KIND_TYPED) {
        cgx_tile_16 g = cgx_tiled_partition(b, 16);
        COLLECT;
    } else {
        cgx_group g = cgx_as_group(b);
        if (kind == KIND_TILE)
            g = cgx_as_group(cgx_tiled_partition_n(b, size));
        else if (kind == KIND_LABELED)
            g = cgx_as_group(cgx_labeled_partition(cgx_tiled_partition(b, 32), rank % labels));
        COLLECT;
    }
}

CGX_KERNEL_EXTERN(PASTE(cluster, VARIANT), (const bitwise_in *, in), (bitwise_out *, out))
{
    cgx_cluster g = cgx_this_cluster();
    int64_t at = cgx_thread_rank(cgx_this_grid());
    COLLECT;
}

CGX_KERNEL_EXTERN_COOPERATIVE(PASTE(grid, VARIANT), (const bitwise_in *, in), (bitwise_out *, out))
{
    cgx_grid g = cgx_this_grid();
    int64_t at = cgx_thread_rank(g);
    COLLECT;
}

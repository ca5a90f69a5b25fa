/* SPDX-License-Identifier: MIT */
#include "reduce_kernels.h"

#define REDUCE(s, T, BITWISE)                                                                \
    CGX_KERNEL_EXTERN(reduce_##s, (int, size), (const T *, in), (T *, out))                  \
    {                                                                                        \
        cgx_block b = cgx_this_block();                                                      \
        cgx_group g = size ? cgx_as_group(cgx_tiled_partition_n(b, size)) : cgx_as_group(b); \
        int rank = cgx_thread_rank(b), n = cgx_num_threads(b);                               \
        T v = in[rank];                                                                      \
        out[ROW_PLUS * n + rank] = cgx_reduce(g, v, CGX_PLUS);                               \
        out[ROW_LESS * n + rank] = cgx_reduce(g, v, CGX_LESS);                               \
        out[ROW_GREATER * n + rank] = cgx_reduce(g, v, CGX_GREATER);                         \
        BITWISE                                                                              \
    }
#define REDUCE_BITS                                              \
    out[ROW_BIT_AND * n + rank] = cgx_reduce(g, v, CGX_BIT_AND); \
    out[ROW_BIT_XOR * n + rank] = cgx_reduce(g, v, CGX_BIT_XOR); \
    out[ROW_BIT_OR * n + rank] = cgx_reduce(g, v, CGX_BIT_OR);
#define REDUCE_INTEGER(s, T) REDUCE(s, T, REDUCE_BITS)
#define REDUCE_FLOAT(s, T) REDUCE(s, T, )
FOREACH_INTEGER_VALUE(REDUCE_INTEGER)
FOREACH_FLOAT_VALUE(REDUCE_FLOAT)

#define REDUCE_TYPED(N)                                                                                 \
    CGX_KERNEL_EXTERN(reduce_tile_##N, (const int32_t *, i), (const uint64_t *, u), (const float *, f), \
                      (const double *, d), (const cgx_half *, h), (typed_reduce *, out))                \
    {                                                                                                   \
        cgx_block b = cgx_this_block();                                                                 \
        cgx_tile_##N t = cgx_tiled_partition(b, N);                                                     \
        int rank = cgx_thread_rank(b);                                                                  \
        out[rank].plus = cgx_reduce(t, i[rank], CGX_PLUS);                                              \
        out[rank].less = cgx_reduce(t, i[rank], CGX_LESS);                                              \
        out[rank].bits = cgx_reduce(t, i[rank], CGX_BIT_XOR);                                           \
        out[rank].wide = cgx_reduce(t, u[rank], CGX_PLUS);                                              \
        out[rank].sum = cgx_reduce(t, f[rank], CGX_PLUS);                                               \
        out[rank].largest = cgx_reduce(t, f[rank], CGX_GREATER);                                        \
        out[rank].precise = cgx_reduce(t, d[rank], CGX_PLUS);                                           \
        out[rank].half = cgx_reduce(t, h[rank], CGX_PLUS);                                              \
    }
FOREACH_TILE_SIZE(REDUCE_TYPED)

CGX_KERNEL_EXTERN(reduce_native, (const int32_t *, in), (long *, sums), (unsigned long *, masks), (char *, least),
                  (long long *, largest))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    sums[rank] = cgx_reduce(b, (long)in[rank], CGX_PLUS);
    masks[rank] = cgx_reduce(b, (unsigned long)in[rank], CGX_BIT_OR);
    least[rank] = cgx_reduce(b, (char)in[rank], CGX_LESS);
    largest[rank] = cgx_reduce(b, (long long)in[rank], CGX_GREATER);
}

/* Blocks whose size compilers know. */
#define REDUCE_SIZED(name, x, y, z)                                                                                    \
    CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(x, y, z), name, (const uint32_t *, u), (const float *, f), (uint32_t *, us), \
                           (float *, fs))                                                                              \
    {                                                                                                                  \
        cgx_block b = cgx_this_block();                                                                                \
        int rank = cgx_thread_rank(b);                                                                                 \
        us[rank] = cgx_reduce(b, u[rank], CGX_PLUS);                                                                   \
        fs[rank] = cgx_reduce(b, f[rank], CGX_PLUS);                                                                   \
    }
REDUCE_SIZED(reduce_sized_256, 64, 2, 2)
REDUCE_SIZED(reduce_sized_100, 10, 5, 2)
REDUCE_SIZED(reduce_sized_20, 20, 1, 1)

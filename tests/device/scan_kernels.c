/* SPDX-License-Identifier: MIT */
#include "scan_kernels.h"

#define SCAN_ROW(ROW, op)                                     \
    inclusive[ROW * n + rank] = cgx_inclusive_scan(g, v, op); \
    exclusive[ROW * n + rank] = cgx_exclusive_scan(g, v, op);
#define SCAN(s, T, BITWISE)                                                                       \
    CGX_KERNEL_EXTERN(scan_##s, (int, size), (const T *, in), (T *, inclusive), (T *, exclusive)) \
    {                                                                                             \
        cgx_block b = cgx_this_block();                                                           \
        cgx_group g = size ? cgx_as_group(cgx_tiled_partition_n(b, size)) : cgx_as_group(b);      \
        int rank = cgx_thread_rank(b), n = cgx_num_threads(b);                                    \
        T v = in[rank];                                                                           \
        SCAN_ROW(ROW_PLUS, CGX_PLUS)                                                              \
        SCAN_ROW(ROW_LESS, CGX_LESS)                                                              \
        SCAN_ROW(ROW_GREATER, CGX_GREATER)                                                        \
        BITWISE                                                                                   \
    }
#define SCAN_BITS                      \
    SCAN_ROW(ROW_BIT_AND, CGX_BIT_AND) \
    SCAN_ROW(ROW_BIT_XOR, CGX_BIT_XOR) \
    SCAN_ROW(ROW_BIT_OR, CGX_BIT_OR)
#define SCAN_INTEGER(s, T) SCAN(s, T, SCAN_BITS)
#define SCAN_FLOAT(s, T) SCAN(s, T, )
FOREACH_INTEGER_VALUE(SCAN_INTEGER)
FOREACH_FLOAT_VALUE(SCAN_FLOAT)

#define SCAN_TYPED(N)                                                                               \
    CGX_KERNEL_EXTERN(scan_tile_##N, (const int32_t *, i), (const float *, f), (const double *, d), \
                      (const cgx_half *, h), (typed_scan *, out))                                   \
    {                                                                                               \
        cgx_block b = cgx_this_block();                                                             \
        cgx_tile_##N t = cgx_tiled_partition(b, N);                                                 \
        int rank = cgx_thread_rank(b);                                                              \
        out[rank].inclusive = cgx_inclusive_scan(t, i[rank], CGX_PLUS);                             \
        out[rank].exclusive = cgx_exclusive_scan(t, i[rank], CGX_GREATER);                          \
        out[rank].slot = cgx_exclusive_scan(t, (int32_t)(i[rank] > 0), CGX_PLUS);                   \
        out[rank].sum = cgx_inclusive_scan(t, f[rank], CGX_PLUS);                                   \
        out[rank].sum_below = cgx_exclusive_scan(t, f[rank], CGX_PLUS);                             \
        out[rank].precise = cgx_inclusive_scan(t, d[rank], CGX_PLUS);                               \
        out[rank].half = cgx_exclusive_scan(t, h[rank], CGX_PLUS);                                  \
    }
FOREACH_TILE_SIZE(SCAN_TYPED)

CGX_KERNEL_EXTERN(compact, (int, n), (const int32_t *, in), (int32_t *, out), (int32_t *, counts))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    int64_t i = cgx_thread_rank(g), first = cgx_block_rank(g) * cgx_num_threads(b);
    int wanted = i < n && in[i] > 0; /* the threads behind the end take part in the scan */
    int slot = cgx_exclusive_scan(b, wanted, CGX_PLUS);
    int count = cgx_reduce(b, wanted, CGX_PLUS);
    if (wanted)
        out[first + slot] = in[i];
    if (cgx_elect(b))
        counts[cgx_block_rank(g)] = count;
}

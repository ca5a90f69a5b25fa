/* SPDX-License-Identifier: MIT */
#include "shuffle_kernels.h"

#define SHUFFLE(s, T)                                                                                 \
    CGX_KERNEL_EXTERN(shuffle_##s, (int, size), (const int *, argument), (const T *, in), (T *, out)) \
    {                                                                                                 \
        cgx_block b = cgx_this_block();                                                               \
        cgx_group g = size ? cgx_as_group(cgx_tiled_partition_n(b, size)) : cgx_as_group(b);          \
        int rank = cgx_thread_rank(b), n = cgx_num_threads(b), a = argument[rank];                    \
        T v = in[rank];                                                                               \
        out[SHFL * n + rank] = cgx_shfl(g, v, a);                                                     \
        out[SHFL_UP * n + rank] = cgx_shfl_up(g, v, a);                                               \
        out[SHFL_DOWN * n + rank] = cgx_shfl_down(g, v, a);                                           \
        out[SHFL_XOR * n + rank] = cgx_shfl_xor(g, v, a);                                             \
    }
FOREACH_SHUFFLED(SHUFFLE)

#define SHUFFLE_TYPED(N)                               \
    CGX_KERNEL_EXTERN(shuffle_tile_##N, (int *, out))  \
    {                                                  \
        cgx_block b = cgx_this_block();                \
        cgx_tile_##N t = cgx_tiled_partition(b, N);    \
        int rank = cgx_thread_rank(b);                 \
        out[4 * rank] = cgx_shfl(t, rank, N - 1);      \
        out[4 * rank + 1] = cgx_shfl_up(t, rank, 1);   \
        out[4 * rank + 2] = cgx_shfl_down(t, rank, 1); \
        out[4 * rank + 3] = cgx_shfl_xor(t, rank, 1);  \
    }
FOREACH_TILE_SIZE(SHUFFLE_TYPED)

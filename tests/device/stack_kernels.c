/* SPDX-License-Identifier: MIT */
#include "stack_kernels.h"

#define LOCALS(name, SIZE)                                    \
    CGX_KERNEL_EXTERN(name, (int, stride), (uint32_t *, out)) \
    {                                                         \
        cgx_block b = cgx_this_block();                       \
        uint32_t array[SIZE], sum = 0;                        \
        int rank = cgx_thread_rank(b);                        \
        for (int i = 0; i < SIZE; i += stride)                \
            array[i] = (uint32_t)(rank * 7 + i);              \
        cgx_sync(b);                                          \
        for (int i = 0; i < SIZE; i += stride)                \
            array[i] ^= array[SIZE - stride - i];             \
        cgx_sync(b);                                          \
        for (int i = 0; i < SIZE; i += stride)                \
            sum = sum * 31 + array[i];                        \
        out[cgx_thread_rank(cgx_this_grid())] = sum;          \
    }
LOCALS(big_locals, BIG)
LOCALS(huge_locals, HUGE_LOCALS)

CGX_DEVICE_FN int level_0(cgx_block b, int v)
{
    cgx_sync(b);
    return v;
}
#define LEVEL(n, below)                               \
    CGX_DEVICE_FN int level_##n(cgx_block b, int v)   \
    {                                                 \
        cgx_tile_32 t = cgx_tiled_partition(b, 32);   \
        int mine[4] = { v, v + 1, v + 2, v + 3 };     \
        mine[v & 3] += cgx_shfl_xor(t, v, 1);         \
        v = level_##below(b, mine[n & 3]);            \
        cgx_sync(b);                                  \
        return v + mine[0] - cgx_shfl(t, mine[0], n); \
    }
LEVEL(1, 0)
LEVEL(2, 1)
LEVEL(3, 2)
LEVEL(4, 3)
LEVEL(5, 4)
LEVEL(6, 5)
LEVEL(7, 6)
LEVEL(8, 7)
LEVEL(9, 8)
LEVEL(10, 9)
LEVEL(11, 10)
LEVEL(12, 11)

CGX_KERNEL_EXTERN(deep_calls, (int *, out))
{
    cgx_block b = cgx_this_block();
    out[cgx_thread_rank(cgx_this_grid())] = level_12(b, cgx_thread_rank(b) % 100);
}

CGX_KERNEL_EXTERN(one_barrier, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b);
    s[rank] = rank;
    cgx_sync(b);
    out[rank] = s[cgx_num_threads(b) - 1 - rank];
}

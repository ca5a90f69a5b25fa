/* SPDX-License-Identifier: MIT */
#include "sync_kernels.h"

CGX_KERNEL_EXTERN(block_rounds, (int, rounds), (int, halves), (uint32_t *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(uint32_t, s, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    uint32_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        s[rank] = mixed((uint32_t)(rank + 1024 * i));
        if (halves) {
            cgx_token token = cgx_barrier_arrive(b);
            sum += (uint32_t)i; /* work that needs nobody */
            cgx_barrier_wait(b, token);
        } else {
            cgx_sync(b);
        }
        sum += s[(rank + i) % n];
        cgx_sync(b);
    }
    out[cgx_thread_rank(cgx_this_grid())] = sum;
}

CGX_KERNEL_EXTERN(two_texts, (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 128);
    int rank = cgx_thread_rank(b), sum = 0;
    for (int i = 0; i < rounds; i++) {
        if (rank < 64) {
            s[rank] = i;
            cgx_sync(b);
            sum += s[127 - rank];
            cgx_sync(b);
        } else {
            s[rank] = 10 * i;
            cgx_sync(b);
            sum += s[127 - rank];
            cgx_sync(b);
        }
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(tile_rounds, (int, size), (uint32_t *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile t = cgx_tiled_partition_n(b, size);
    CGX_SHARED_ARRAY(uint32_t, s, 1024);
    int rank = cgx_thread_rank(t), at = cgx_thread_rank(b) - rank;
    uint32_t sum = 0;
    for (int i = 0; i < cgx_meta_group_rank(t) % 7 + 1; i++) {
        s[at + rank] = mixed((uint32_t)(at + rank + 1024 * i));
        cgx_sync(t);
        sum += s[at + (rank + i) % size];
        cgx_sync(t);
    }
    cgx_sync(b);
    sum += s[cgx_num_threads(b) - 1 - at - rank];
    out[at + rank] = sum;
}

#define TILE_SYNC(N)                                                            \
    CGX_KERNEL_EXTERN(tile_sync_##N, (int *, out))                              \
    {                                                                           \
        cgx_block b = cgx_this_block();                                         \
        cgx_tile_##N t = cgx_tiled_partition(b, N);                             \
        CGX_SHARED_ARRAY(int, s, 1024);                                         \
        int rank = cgx_thread_rank(t), at = cgx_thread_rank(b) - rank, sum = 0; \
        for (int i = 0; i < 3; i++) {                                           \
            s[at + rank] = at + rank + i;                                       \
            cgx_sync(t);                                                        \
            sum += s[at + N - 1 - rank];                                        \
            cgx_sync(t);                                                        \
        }                                                                       \
        out[at + rank] = sum;                                                   \
    }
FOREACH_TILE_SIZE(TILE_SYNC)

CGX_DEVICE_FN int swap_halves(cgx_block b, int *s, int v)
{
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    s[rank] = v;
    cgx_sync(b);
    v = s[n - 1 - rank];
    cgx_sync(b);
    return v;
}

CGX_KERNEL_EXTERN(nested, (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 outer = cgx_tiled_partition(b, 32);
    cgx_tile_8 inner = cgx_tiled_partition(outer, 8);
    CGX_SHARED_ARRAY(int, s, 256);
    CGX_SHARED_ARRAY(int, small, 256);
    int rank = cgx_thread_rank(b), v = rank;
    for (int i = 0; i < rounds; i++) {
        if (rounds > 2) {
            v = swap_halves(b, s, v);
            if (i % 2)
                v = swap_halves(b, s, v);
        }
        small[rank] = v;
        cgx_sync(inner);
        v = small[rank - cgx_thread_rank(inner) + (cgx_thread_rank(inner) + 1) % 8];
        cgx_sync(outer);
    }
    out[rank] = v;
}

CGX_KERNEL_EXTERN(collectives_in_turn, (int, rounds), (int *, wrong))
{
    cgx_block b = cgx_this_block();
    cgx_tile_64 small = cgx_tiled_partition(b, 64);
    cgx_tile_128 middle = cgx_tiled_partition(b, 128);
    cgx_tile_256 large = cgx_tiled_partition(b, 256);
    cgx_group erased = cgx_as_group(cgx_tiled_partition_n(b, 64));
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), bad = 0;
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k <= cgx_meta_group_rank(small) % 3; k++)
            bad += cgx_reduce(small, rank + k, CGX_PLUS) != 64 * (rank / 64 * 64 + k) + 63 * 32;
        bad += cgx_inclusive_scan(middle, 1, CGX_PLUS) != rank % 128 + 1;
        if (cgx_meta_group_rank(large) % 2)
            bad += cgx_reduce(cgx_as_group(large), 0.5, CGX_PLUS) != 128;
        bad += cgx_reduce(erased, rank + i, CGX_GREATER) != rank / 64 * 64 + 63 + i;
        bad += cgx_exclusive_scan(b, 1, CGX_PLUS) != rank;
        bad += cgx_reduce(cgx_as_group(middle), rank, CGX_LESS) != rank / 128 * 128;
        bad += !cgx_any(middle, rank % 128 == i % 128) + !!cgx_any(small, rank < 0);
        bad += !cgx_all(large, rank < n) + !!cgx_all(b, rank != i % n);
        bad += cgx_shfl(large, rank, i) != rank / 256 * 256 + i % 256;
        bad += cgx_reduce(b, (float)i, CGX_GREATER) != (float)i;
        bad += cgx_exclusive_scan(small, 2.0f, CGX_PLUS) != 2.0f * (float)(rank % 64);
    }
    wrong[rank] = bad;
}

CGX_KERNEL_EXTERN(two_views, (int, rounds), (int *, wrong))
{
    cgx_block b = cgx_this_block();
    cgx_tile_128 t = cgx_tiled_partition(b, 128);
    int rank = cgx_thread_rank(b), bad = 0;
    for (int i = 0; i < rounds; i++) {
        if (rank / 64 % 2)
            bad += cgx_reduce(t, rank + i, CGX_LESS) != rank / 128 * 128 + i;
        else
            bad += cgx_reduce(cgx_as_group(t), rank + i, CGX_LESS) != rank / 128 * 128 + i;
        bad += cgx_exclusive_scan(b, 1, CGX_PLUS) != rank;
    }
    wrong[rank] = bad;
}

CGX_KERNEL_EXTERN(no_barrier, (int64_t, n), (uint32_t *, out))
{
    cgx_grid g = cgx_this_grid();
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        out[i] = mixed((uint32_t)i);
}

CGX_KERNEL_EXTERN(late_barrier, (int64_t, bad), (uint32_t *, out))
{
    cgx_grid g = cgx_this_grid();
    uint32_t v = mixed((uint32_t)cgx_thread_rank(g));
    if (cgx_block_rank(g) == bad)
        cgx_sync(cgx_this_block());
    out[cgx_thread_rank(g)] = v;
}

CGX_KERNEL_EXTERN(unequal_blocks, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(int, s, 64);
    int rank = cgx_thread_rank(b), sum = 0;
    for (int i = 0; i < cgx_block_rank(g) % 11; i++) {
        s[rank] = i;
        cgx_sync(b);
        sum += s[63 - rank];
        cgx_sync(b);
    }
    out[cgx_thread_rank(g)] = sum;
}

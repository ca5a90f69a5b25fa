/* SPDX-License-Identifier: MIT */
#include "async_kernels.h"

CGX_KERNEL_EXTERN(async_copy, (int, kind), (int, from), (int, to), (int, bytes), (const unsigned char *, source),
                  (unsigned char *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, aligned, ASYNC_ROOM / 16);
    unsigned char *room = (unsigned char *)aligned;
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    for (int i = rank; i < ASYNC_ROOM; i += n)
        room[i] = 0xee;
    cgx_sync(b);
    if (rank < 32) {
        cgx_tile_32 t = cgx_tiled_partition(b, 32);
        cgx_coalesced c = cgx_binary_partition(t, rank & 1);
        if (kind == ASYNC_TILE) {
            cgx_memcpy_async(t, room + to, source + from, (size_t)bytes);
            cgx_wait(t);
        } else if (kind == ASYNC_COALESCED && cgx_meta_group_rank(c) == 1) {
            cgx_memcpy_async(c, room + to, source + from, (size_t)bytes);
            cgx_wait(c);
        }
    }
    if (kind == ASYNC_BLOCK) {
        cgx_memcpy_async(b, room + to, source + from, (size_t)bytes);
        cgx_wait(b);
    }
    cgx_sync(b);
    for (int i = rank; i < ASYNC_ROOM; i += n)
        out[i] = room[i];
}

CGX_KERNEL_EXTERN(async_counts, (int, to_count), (int, from_count), (const int *, source), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, room, 64);
    int rank = cgx_thread_rank(b);
    room[rank] = -1;
    cgx_sync(b);
    cgx_memcpy_async_n(b, room, (size_t)to_count, source, (size_t)from_count);
    cgx_wait(b);
    out[rank] = room[rank];
}

enum { STAGES = 3, STAGE = 96 };
CGX_KERNEL_EXTERN(async_stages, (int, tiles), (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY2(float, stage, STAGES, STAGE);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    float sum = 0;
    in += cgx_block_rank(g) * tiles * STAGE;
    for (int i = 0; i < STAGES - 1 && i < tiles; i++)
        cgx_memcpy_async(b, stage[i], in + i * STAGE, STAGE * sizeof(float));
    for (int i = 0; i < tiles; i++) {
        int ahead = tiles - i < STAGES ? tiles - i - 1 : STAGES - 1;
        if (i + STAGES - 1 < tiles)
            cgx_memcpy_async(b, stage[(i + STAGES - 1) % STAGES], in + (i + STAGES - 1) * STAGE, STAGE * sizeof(float));
        cgx_wait_prior(b, ahead);
        for (int k = rank; k < STAGE; k += n)
            sum += stage[i % STAGES][STAGE - 1 - k] * (float)(i + 1);
        cgx_sync(b);
    }
    out[cgx_thread_rank(g)] = sum;
}

CGX_KERNEL_EXTERN(async_of_tiles, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    CGX_SHARED_ARRAY2(int, room, 8, 33);
    int warp = cgx_meta_group_rank(t), lane = cgx_thread_rank(t), sum = 0;
    for (int i = 0; i <= warp; i++) {
        cgx_memcpy_async(t, room[warp], in + 33 * warp + i, 33 * sizeof(int));
        cgx_wait(t);
        sum += room[warp][lane + 1];
        cgx_sync(t);
    }
    out[cgx_thread_rank(b)] = sum;
}

CGX_KERNEL_EXTERN(async_directions, (const int *, in), (int *, out), (int *, copy))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, first, 64);
    CGX_SHARED_ARRAY(int, second, 64);
    cgx_memcpy_async(b, first, in, 64 * sizeof(int));
    cgx_wait(b);
    cgx_memcpy_async(b, second, first, 64 * sizeof(int));
    cgx_wait(b);
    cgx_memcpy_async(b, out, second, 64 * sizeof(int));
    cgx_memcpy_async(b, copy, in, 63 * sizeof(int));
    cgx_memcpy_async(b, copy + 63, in, 0);
    cgx_wait(b);
}

CGX_KERNEL_EXTERN(pipeline_copy, (int, n), (int, zfill), (const unsigned char *, in), (unsigned char *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, aligned, 64);
    unsigned char *room = (unsigned char *)aligned;
    int at = 16 * cgx_thread_rank(b);
    for (int i = 0; i < 16; i++)
        room[at + i] = 0xee;
    if (zfill)
        cgx_pipeline_memcpy_async_zfill(room + at, in + at, (size_t)n, (size_t)zfill);
    else
        cgx_pipeline_memcpy_async(room + at, in + at, (size_t)n);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(0);
    for (int i = 0; i < 16; i++)
        out[at + i] = room[at + i];
}

CGX_KERNEL_EXTERN(pipeline_stages, (int, rounds), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(int, room, 2, 64);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0;
    cgx_pipeline_wait_prior(7); /* more than was committed */
    cgx_pipeline_memcpy_async(&room[0][rank], in + rank, 4);
    cgx_pipeline_commit();
    for (int i = 0; i < rounds; i++) {
        if (i + 1 < rounds)
            cgx_pipeline_memcpy_async(&room[(i + 1) % 2][rank], in + (i + 1) * n + rank, 4);
        cgx_pipeline_commit(); /* an empty stage in the last round */
        cgx_pipeline_wait_prior(1);
        cgx_sync(b); /* the wait is for a thread's own copies */
        sum += room[i % 2][n - 1 - rank] * (i + 1);
        cgx_sync(b);
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(pipeline_on_barrier, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(int, room, 64);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)n);
    cgx_sync(b);
    cgx_pipeline_memcpy_async(room + rank, in + rank, 4);
    cgx_pipeline_arrive_on(m);
    cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
    out[rank] = room[n - 1 - rank];
}

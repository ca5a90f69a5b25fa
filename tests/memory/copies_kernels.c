/* SPDX-License-Identifier: MIT */
#include "copies_kernels.h"

CGX_DEVICE_FN void complain(int *report, int n, int from, int to, int at, int byte)
{
    if (cgx_atomic_fetch_add(report, 1, CGX_RELAXED, CGX_SCOPE_DEVICE) == 0)
        report[1] = n, report[2] = from, report[3] = to, report[4] = at, report[5] = byte;
}

/* One copy by the whole block, whatever groups do it: tiles copy a part each. */
CGX_DEVICE_FN void copy_as(cgx_block b, int kind, unsigned char *to, const unsigned char *from, int n)
{
    CGX_IN_GROUP(b);
    int rank = cgx_thread_rank(b);
    if (kind == COPY_BLOCK) {
        cgx_memcpy_async(b, to, from, (size_t)n);
        cgx_wait(b);
    } else if (kind == COPY_TILE || kind == COPY_COALESCED) { /* in two pieces that meet anywhere */
        cgx_tile_32 t = cgx_tiled_partition(b, 32);
        int half = n / 2, second = cgx_meta_group_rank(t) == 1;
        if (cgx_meta_group_rank(t) > 1) {
        } else if (kind == COPY_TILE) {
            cgx_memcpy_async(t, to + (second ? half : 0), from + (second ? half : 0),
                             (size_t)(second ? n - half : half));
            cgx_wait(t);
        } else {
            cgx_coalesced c = cgx_binary_partition(t, rank % 5 < 2); /* one of the two has nothing to do but waits */
            if (rank % 5 < 2)
                cgx_memcpy_async(c, to + (second ? half : 0), from + (second ? half : 0),
                                 (size_t)(second ? n - half : half));
            cgx_wait(c);
        }
    } else if (kind == COPY_WIDE_TILE) {
        cgx_tile_64 t = cgx_tiled_partition(b, 64);
        if (cgx_meta_group_rank(t) == 0)
            cgx_memcpy_async(t, to, from, (size_t)n);
        cgx_wait(t);
    } else if (kind == COPY_ONE) {
        cgx_tile_1 t = cgx_tiled_partition(b, 1);
        int first = n * rank / cgx_num_threads(b), end = n * (rank + 1) / cgx_num_threads(b);
        cgx_memcpy_async(t, to + first, from + first, (size_t)(end - first));
        cgx_wait(t);
    } else if (kind == COPY_BRANCH) {
        if (rank < 32 && (rank == 3 || rank % 7 == 0)) {
            cgx_coalesced c = cgx_coalesced_threads();
            cgx_memcpy_async(c, to, from, (size_t)n);
            cgx_wait(c);
        }
    } else if (kind == COPY_ANY) {
        int first = n * rank / cgx_num_threads(b), end = n * (rank + 1) / cgx_num_threads(b);
        cgx_pipeline_memcpy_async_any(to + first, from + first, (size_t)(end - first));
        cgx_pipeline_commit();
        cgx_pipeline_wait_prior(0);
    } else if (kind == COPY_ELEMENTS) {
        cgx_memcpy_async_n(b, to, (size_t)n + (size_t)(n % 3), from, (size_t)n + (size_t)(n % 3 ? 0 : 5));
        cgx_wait(b);
    } else {
        cgx_memcpy_async_aligned(b, to, from, (size_t)n, 1);
        cgx_wait(b);
    }
    cgx_sync(b);
}

CGX_KERNEL_EXTERN(copy_sizes, (int, kind), (int, smallest), (int, largest), (const unsigned char *, in),
                  (int *, report))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, aligned, COPY_ROOM / 16 + 1);
    unsigned char *room = (unsigned char *)aligned;
    int step = (int)cgx_num_blocks(cgx_this_grid()), rank = cgx_thread_rank(b), threads = cgx_num_threads(b);
    for (int n = smallest + cgx_group_index(b).x; n <= largest; n += step)
        for (int from = 0; from < COPY_OFFSETS; from++)
            for (int to = 0; to < COPY_OFFSETS; to++) {
                for (int i = rank; i < n + 2 * 32; i += threads)
                    room[i] = 0xee;
                cgx_sync(b);
                copy_as(b, kind, room + 16 + to, in + from, n);
                for (int i = rank; i < n + 2 * 32; i += threads) {
                    int at = i - 16 - to, want = at >= 0 && at < n ? in[from + at] : 0xee;
                    if (room[i] != want)
                        complain(report, n, from, to, at, room[i]);
                }
                cgx_sync(b);
            }
}

CGX_KERNEL_EXTERN(copy_aligned, (int, n), (int, kind), (const unsigned char *, in), (int *, report))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    CGX_SHARED_ARRAY(cgx_int4, aligned, COPY_ROOM / 16 + 1);
    unsigned char *room = (unsigned char *)aligned;
    int rank = cgx_thread_rank(b), threads = cgx_num_threads(b);
    for (int bytes = 0; bytes + n <= COPY_MOST; bytes += n) {
        for (int i = rank; i < COPY_ROOM; i += threads)
            room[i] = 0xee;
        cgx_sync(b);
        unsigned char *to = room + n;
        const unsigned char *from = in + (n < 32 ? 3 * n : n);
        if (kind == 0)
            cgx_memcpy_async_aligned(b, to, from, (size_t)bytes, n);
        else if (kind == 1 && cgx_meta_group_rank(t) == 1)
            cgx_memcpy_async_aligned(t, to, from, (size_t)bytes, n);
        else if (kind == 2)
            cgx_memcpy_async_n_aligned(b, to, (size_t)bytes, from, (size_t)(bytes + n), n);
        cgx_wait(b);
        for (int i = rank; i < COPY_ROOM; i += threads) {
            int at = i - n, want = at >= 0 && at < bytes ? from[at] : 0xee;
            if (room[i] != want)
                complain(report, bytes, n, kind, at, room[i]);
        }
        cgx_sync(b);
    }
}

CGX_KERNEL_EXTERN(copy_zfill, (const unsigned char *, in), (const unsigned char *, unreadable), (int *, report))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, aligned, 3 * 64);
    int rank = cgx_thread_rank(b);
    unsigned char *room = (unsigned char *)(aligned + 3 * rank);
    for (int n = 4; n <= 16; n *= 2)
        for (int z = 0; z <= n; z++) {
            int zfill = (z + rank) % (n + 1); /* another one in every thread */
            const unsigned char *from = unreadable && zfill == n ? unreadable : in + 16 * rank;
            for (int i = 0; i < 48; i++)
                room[i] = 0xee;
            cgx_pipeline_memcpy_async_zfill(room + 16, from, (size_t)n, (size_t)zfill);
            cgx_pipeline_commit();
            cgx_pipeline_wait_prior(0);
            for (int i = 0; i < 48; i++) {
                int at = i - 16, want = at < 0 || at >= n ? 0xee : at < n - zfill ? in[16 * rank + at] : 0;
                if (room[i] != want)
                    complain(report, n, zfill, rank, at, room[i]);
            }
        }
}

CGX_KERNEL_EXTERN(copy_directions, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_cluster c = cgx_this_cluster();
    CGX_SHARED_ARRAY(int, a, 64);
    CGX_SHARED_ARRAY(int, s, 64);
    int rank = cgx_thread_rank(b), me = cgx_block_rank(c), blocks = cgx_num_blocks(c);
    cgx_memcpy_async(b, a, in + 64 * me, 64 * sizeof *a);
    cgx_wait(b);
    cgx_memcpy_async(b, s, a, 64 * sizeof *a); /* shared to shared */
    cgx_wait(b);
    cgx_memcpy_async(b, out + 256 * me, s, 63 * sizeof *a);       /* shared to global */
    cgx_memcpy_async(b, out + 256 * me + 64, in, 63 * sizeof *a); /* global to global */
    cgx_wait(b);
    cgx_memcpy_async(b, s, s, 64 * sizeof *a); /* onto itself */
    cgx_wait(b);
    cgx_sync(c);
    cgx_memcpy_async(b, a, cgx_map_shared_rank(c, s, (me + 1) % blocks), 64 * sizeof *a); /* from a neighbour */
    cgx_wait(b);
    cgx_sync(c);
    for (int i = rank; i < 64; i += cgx_num_threads(b))
        out[256 * me + 128 + i] = a[i];
    cgx_sync(c);
    cgx_memcpy_async(b, cgx_map_shared_rank(c, s, (me + 1) % blocks), in + 64 * me,
                     64 * sizeof *a); /* to a neighbour */
    cgx_wait(b);
    cgx_sync(c);
    for (int i = rank; i < 64; i += cgx_num_threads(b))
        out[256 * me + 192 + i] = s[i];
}

enum { RING_MOST = 8 };

CGX_KERNEL_EXTERN(pipeline_ring, (int, depth), (int, items), (int, width), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, room, RING_MOST * 64);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0, words = width / 4;
    for (int i = 0; i < items + depth; i++) { /* as many commits as items, empty ones at the end */
        if (i < items)
            cgx_pipeline_memcpy_async(room + i % (depth + 1) * 64 + rank, in + (i * n + rank) * 4, (size_t)width);
        cgx_pipeline_commit();
        if (i >= depth) {
            const int *at = (const int *)(room + (i - depth) % (depth + 1) * 64 + rank);
            cgx_pipeline_wait_prior(depth);
            for (int k = 0; k < words; k++)
                sum += at[k] * (i - depth + 1);
        }
    }
    cgx_pipeline_wait_prior(1000); /* more than there are */
    out[cgx_thread_rank(cgx_this_grid())] = sum;
}

CGX_KERNEL_EXTERN(group_ring, (int, kind), (int, depth), (int, items), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, room, RING_MOST * 128);
    int rank = cgx_thread_rank(b), sum = 0;
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_group g = cgx_as_group(b);
    if (kind == COPY_TILE)
        g = cgx_as_group(t);
    else if (kind == COPY_WIDE_TILE)
        g = cgx_as_group(cgx_tiled_partition(b, 64));
    else if (kind == COPY_ONE)
        g = cgx_as_group(cgx_tiled_partition(b, 1));
    else if (kind == COPY_COALESCED)
        g = cgx_as_group(cgx_binary_partition(t, rank % 3 == 0));
    int first = cgx_shfl(g, rank, 0), size = cgx_num_threads(g), i_am = cgx_thread_rank(g);
    /* Each group copies as many words as it has threads. */
    int base = kind == COPY_COALESCED ? 32 * (rank / 32) + (rank % 3 == 0 ? 0 : 32 - size) : first;
    for (int i = 0; i < depth && i < items; i++)
        cgx_memcpy_async(g, room + i % (depth + 1) * 128 + base, in + i * 128 + base, (size_t)size * 4);
    for (int i = 0; i < items; i++) {
        if (i + depth < items) {
            cgx_memcpy_async(g, room + (i + depth) % (depth + 1) * 128 + base, in + (i + depth) * 128 + base,
                             (size_t)size * 4);
            cgx_wait_prior(g, depth);
        } else {
            cgx_wait_prior(g, items - 1 - i);
        }
        sum += room[i % (depth + 1) * 128 + base + (i_am + i) % size] * (i + 1); /* another member's word */
        cgx_sync(g);
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(mixed_stages, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, own, 64 * 3);
    CGX_SHARED_ARRAY(int, all, 64 * 2);
    int rank = cgx_thread_rank(b), step = 0;
    for (int i = 0; i < 3; i++)
        own[64 * i + rank] = -1;
    all[rank] = all[64 + rank] = -1;
    cgx_sync(b);
    cgx_pipeline_memcpy_async(own + rank, in + rank, 4);
    cgx_pipeline_commit();                     /* stage 0: the thread's */
    cgx_memcpy_async(b, all, in + 64, 64 * 4); /* stage 1: the block's */
    cgx_pipeline_memcpy_async(own + 64 + rank, in + 128 + rank, 4);
    cgx_pipeline_commit();                           /* stage 2 */
    cgx_memcpy_async(b, all + 64, in + 192, 64 * 4); /* stage 3 */
    cgx_pipeline_memcpy_async(own + 128 + rank, in + 256 + rank, 4);
    cgx_pipeline_commit(); /* stage 4 */
#define THERE                                                                                                \
    ((own[rank] == in[rank]) | (all[rank] == in[64 + rank]) << 1 | (own[64 + rank] == in[128 + rank]) << 2 | \
     (all[64 + rank] == in[192 + rank]) << 3 | (own[128 + rank] == in[256 + rank]) << 4)
    cgx_pipeline_wait_prior(7);
    out[step++ * 64 + rank] = THERE; /* nothing is promised */
    cgx_pipeline_wait_prior(4);
    out[step++ * 64 + rank] = THERE; /* copy 0 */
    cgx_wait_prior(b, 3);
    out[step++ * 64 + rank] = THERE; /* and 1 */
    cgx_pipeline_wait_prior(2);
    out[step++ * 64 + rank] = THERE; /* and 2 */
    cgx_wait_prior(b, 1);
    out[step++ * 64 + rank] = THERE; /* and 3 */
    cgx_wait(b);
    out[step++ * 64 + rank] = THERE; /* all */
}

CGX_KERNEL_EXTERN(uncommitted, (int, kind), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, room, 128);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    cgx_pipeline_memcpy_async(room + rank, in + rank, 4);
    if (rank % 2)
        cgx_pipeline_commit();
    if (kind == COPY_BLOCK)
        cgx_wait(b);
    else if (kind == COPY_TILE)
        cgx_wait(cgx_tiled_partition(b, 32));
    else if (kind == COPY_ONE)
        cgx_wait(cgx_tiled_partition(b, 1));
    out[rank] = room[kind == COPY_BLOCK ? (rank + 1) % n : kind == COPY_TILE ? rank ^ 1 : rank];
    cgx_sync(b);
}

CGX_KERNEL_EXTERN(seen_early, (const int *, in), (int *, stored), (unsigned *, before), (unsigned *, after))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, rooms, SEENS);
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED(cgx_mbarrier, own);
    CGX_SHARED(cgx_int4, source);
    unsigned *room[SEENS];
    for (int i = 0; i < SEENS; i++) {
        room[i] = i == SEEN_STORE ? (unsigned *)stored : (unsigned *)(rooms + i);
        for (int k = 0; k < 4; k++)
            room[i][k] = 7;
    }
    source->x = in[0];
    cgx_mbarrier_init(m, 1);
    cgx_mbarrier_init(own, 1);
    cgx_pipeline_memcpy_async(room[SEEN_PIPELINE], in, 4);
    cgx_pipeline_memcpy_async_any((char *)room[SEEN_ANY], in, 16);
    cgx_pipeline_memcpy_async_zfill(room[SEEN_ZFILL], in, 16, 16);
    cgx_pipeline_memcpy_async(room[SEEN_ARRIVE_ON], in, 16);
    cgx_pipeline_arrive_on(own);
    cgx_pipeline_commit();
    cgx_memcpy_async(cgx_tiled_partition(b, 1), room[SEEN_TILE], in, 16);
    cgx_memcpy_async(b, room[SEEN_MANY], in, 16);
    cgx_mbarrier_arrive_expect_tx(m, 16);
    cgx_bulk_copy_async(room[SEEN_BULK], in, 16, m);
    cgx_bulk_store_async(stored, source, 16);
    cgx_bulk_store_commit();
    cgx_reduce_store_async(cgx_tiled_partition(b, 1), room[SEEN_REDUCED], 5u, CGX_PLUS);
    for (int i = 0; i < SEENS; i++)
        before[i] = room[i][0];
    cgx_pipeline_wait_prior(0);
    cgx_wait(b);
    cgx_mbarrier_wait_parity(m, 0);
    cgx_mbarrier_wait(own, cgx_mbarrier_arrive(own));
    cgx_bulk_store_wait_prior(0);
    cgx_sync(b);
    for (int i = 0; i < SEENS; i++)
        after[i] = room[i][0];
}

CGX_KERNEL_EXTERN(arrive_on, (int, rounds), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, room, 2 * 128 * 4);
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0;
    if (cgx_elect(b))
        for (int i = 0; i < 2; i++)
            cgx_mbarrier_init(m + i, (uint32_t)n);
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        int s = i % 2, *stage = room + s * 512;
        for (int k = 0; k < 4; k++)
            cgx_pipeline_memcpy_async(stage + 4 * rank + k, in + (i * n + rank) * 4 + k, 4);
        cgx_pipeline_arrive_on(m + s); /* the count is what it was: each thread still arrives */
        if (rank % 3 == 1)
            cgx_pipeline_commit(); /* does not matter to the barrier */
        cgx_mbarrier_token t = cgx_mbarrier_arrive(m + s);
        if (rank % 2)
            cgx_mbarrier_wait(m + s, t);
        else
            while (!cgx_mbarrier_try_wait_parity(m + s, i / 2 & 1, 2000))
                ;
        for (int k = 0; k < 4; k++)
            sum += stage[4 * ((rank + i) % n) + k] * (k + 1);
        cgx_sync(b);
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(bulk_round_trip, (int, bytes), (int, pieces), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_DYNAMIC_SHARED(int, room);
    CGX_SHARED(cgx_mbarrier, m);
    int rank = cgx_thread_rank(b), words = bytes / 4;
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)pieces);
    cgx_sync(b);
    if (rank < pieces) {
        int first = bytes / 16 * rank / pieces * 4, end = bytes / 16 * (rank + 1) / pieces * 4;
        if (rank % 2) {
            cgx_bulk_copy_async(room + first, in + first, (size_t)(end - first) * 4, m); /* before it is announced */
            cgx_mbarrier_arrive_expect_tx(m, (end - first) * 4);
        } else {
            cgx_mbarrier_arrive_expect_tx(m, (end - first) * 4);
            cgx_bulk_copy_async(room + first, in + first, (size_t)(end - first) * 4, m);
        }
    }
    cgx_mbarrier_wait_parity(m, 0);
    for (int i = rank; i < words; i += cgx_num_threads(b))
        room[i] += i;
    cgx_sync(b);
    if (rank < pieces) {
        int first = bytes / 16 * rank / pieces * 4, end = bytes / 16 * (rank + 1) / pieces * 4;
        cgx_bulk_store_async(out + first, room + first, (size_t)(end - first) * 4);
        cgx_bulk_store_commit();
        cgx_bulk_store_wait_prior(0);
    }
    cgx_sync(b);
}

enum { CHUNK = 32 };
CGX_KERNEL_EXTERN(bulk_ring, (int, stages), (int, items), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, room, 6 * CHUNK / 4);
    CGX_SHARED_ARRAY(cgx_int4, back, 6 * CHUNK / 4);
    CGX_SHARED_ARRAY(cgx_mbarrier, full, 6);
    CGX_SHARED_ARRAY(cgx_mbarrier, done, 6);
    cgx_tile_64 t = cgx_tiled_partition(b, 64); /* a whole wave anywhere: both sides wait for each other */
    int consumers = cgx_num_threads(b) - 64, rank = cgx_thread_rank(b) - 64;
    if (cgx_elect(b))
        for (int i = 0; i < stages; i++) {
            cgx_mbarrier_init(full + i, 1);
            cgx_mbarrier_init(done + i, (uint32_t)consumers);
        }
    cgx_sync(b);
    if (cgx_meta_group_rank(t) == 0) {
        if (cgx_elect(t))
            for (int i = 0; i < items + stages; i++) {
                int s = i % stages;
                if (i >= stages) {
                    cgx_mbarrier_wait_parity(done + s, (i / stages - 1) & 1);
                    cgx_bulk_store_async(out + (i - stages) * CHUNK, back + s * CHUNK / 4, CHUNK * 4);
                    cgx_bulk_store_commit();
                    if (stages > 1 && i % 2)
                        cgx_bulk_store_wait_prior(stages - 1);
                    else
                        cgx_bulk_store_wait_prior(0); /* consumers write there again */
                }
                if (i < items) {
                    cgx_bulk_store_wait_prior(0);
                    cgx_mbarrier_arrive_expect_tx(full + s, CHUNK * 4);
                    cgx_bulk_copy_async(room + s * CHUNK / 4, in + i * CHUNK, CHUNK * 4, full + s);
                }
            }
        cgx_bulk_store_wait_prior(0);
    } else {
        for (int i = 0; i < items; i++) {
            int s = i % stages, *from = (int *)(room + s * CHUNK / 4), *to = (int *)(back + s * CHUNK / 4);
            cgx_mbarrier_wait_parity(full + s, i / stages & 1);
            for (int k = rank; k < CHUNK; k += consumers)
                to[k] = from[CHUNK - 1 - k] + i;
            cgx_mbarrier_arrive(done + s);
        }
    }
}

CGX_KERNEL_EXTERN(bulk_store_stages, (int, depth), (int, items), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, rooms, RING_MOST * 4);
    if (cgx_elect(b)) {
        for (int i = 0; i < items; i++) {
            int *room = (int *)(rooms + i % (depth + 1) * 4);
            for (int k = 0; k < 16; k++)
                room[k] = 16 * i + k;
            cgx_bulk_store_async(out + 16 * i, room, 64);
            cgx_bulk_store_commit();
            cgx_bulk_store_wait_prior(depth); /* the oldest is read: its room is free */
        }
        cgx_bulk_store_wait_prior(depth + 5);
        cgx_bulk_store_wait_prior(0);
        int sum = 0;
        for (int i = 0; i < 16 * items; i++)
            sum += out[i];
        out[16 * items] = sum;
    }
}

CGX_KERNEL_EXTERN(never_waits, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, room, 64);
    CGX_SHARED(cgx_mbarrier, m);
    int rank = cgx_thread_rank(b);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, 8);
    cgx_sync(b);
    cgx_pipeline_memcpy_async(room + rank, in + 4 * rank, 16);
    if (rank % 2)
        cgx_pipeline_commit();
    if (rank == 3)
        cgx_pipeline_arrive_on(m);
    cgx_memcpy_async(cgx_tiled_partition(b, 16), room + rank / 16 * 16, in + rank / 16 * 64, 256);
    if (cgx_elect(b)) {
        cgx_mbarrier_arrive_expect_tx(m, 64);
        cgx_bulk_copy_async(room, in, 64, m);
        cgx_bulk_store_async(out, room + 60, 64);
    }
    cgx_reduce_store_async(b, out + 64, rank, CGX_GREATER);
    cgx_reduce_update_async(b, out + 65, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
}

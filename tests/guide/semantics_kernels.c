/* SPDX-License-Identifier: MIT */
#define DEFINE_GOOD_KERNEL
#include "semantics_kernels.h"

CGX_KERNEL_EXTERN(sem_types_of_ranks, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_4 t = cgx_tiled_partition(b, 4);
    out[0] = (int)(sizeof cgx_thread_rank(b) + sizeof cgx_num_threads(b));
    out[1] = (int)(sizeof cgx_thread_rank(t) + sizeof cgx_num_threads(t));
    out[2] = (int)(sizeof cgx_thread_rank(cgx_this_cluster()) + sizeof cgx_num_threads(cgx_this_cluster()));
    out[3] = (int)(sizeof cgx_thread_rank(cgx_this_grid()) + sizeof cgx_num_threads(cgx_this_grid()));
}

CGX_KERNEL_EXTERN(sem_tile_alone, (int *, out))
{
    cgx_block b = cgx_this_block();
    if (cgx_thread_rank(b) == 5) {
        cgx_tile_4 t = cgx_tiled_partition(b, 4);
        out[0] = cgx_thread_rank(t), out[1] = cgx_num_threads(t);
        out[2] = cgx_meta_group_rank(t), out[3] = cgx_meta_group_size(t);
    }
}

/* ---- clusters ---- */

CGX_KERNEL_EXTERN(sem_cluster_places, (sem_cluster_view *, out))
{
    cgx_block b = cgx_this_block();
    cgx_cluster c = cgx_this_cluster();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(int, s, 2);
    sem_cluster_view v;
    memset(&v, 0, sizeof v);
    v.rank = cgx_thread_rank(c), v.threads = cgx_num_threads(c);
    v.block_rank = cgx_block_rank(c), v.blocks = cgx_num_blocks(c);
    for (int i = 0; i < cgx_num_blocks(c); i++)
        v.mapped += cgx_query_shared_rank(c, cgx_map_shared_rank(c, s + 1, i)) == i;
    v.dim_threads = cgx_dim_threads(c), v.dim_blocks = cgx_dim_blocks(c), v.block_index = cgx_block_index(c);
    v.group_index = cgx_group_index(b);
    v.grid_rank = cgx_thread_rank(g), v.grid_block_rank = cgx_block_rank(g);
    v.cluster_rank = cgx_cluster_rank(g), v.clusters = cgx_num_clusters(g);
    v.dim_clusters = cgx_dim_clusters(g), v.cluster_index = cgx_cluster_index(g);
    out[cgx_thread_rank(g)] = v;
}

CGX_KERNEL_EXTERN(sem_ended_in_cluster, (int, blocks_end), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_cluster c = cgx_this_cluster();
    CGX_SHARED(int, x);
    int sum = 0;
    if (blocks_end ? cgx_block_rank(c) != 0 : cgx_thread_rank(b) % 2 != 0)
        return;
    for (int i = 0; i < 3; i++) {
        if (cgx_elect(c))
            *x = 10 + i;
        cgx_sync(c);
        sum += *cgx_map_shared_rank(c, x, 0);
        cgx_barrier_wait(c, cgx_barrier_arrive(c));
    }
    out[cgx_thread_rank(cgx_this_grid())] = sum;
}

CGX_KERNEL_EXTERN(sem_sync_execution, (int *, counts), (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_grid g = cgx_this_grid();
    int *count = counts + cgx_cluster_rank(g);
    cgx_atomic_fetch_add(count, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_sync_execution(c);
    out[cgx_thread_rank(g)] = cgx_atomic_load(count, CGX_RELAXED, CGX_SCOPE_DEVICE);
}

CGX_KERNEL_EXTERN(sem_neighbour_barrier, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_cluster c = cgx_this_cluster();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(int, s, 64);
    int next = (cgx_block_rank(c) + 1) % cgx_num_blocks(c), rank = cgx_thread_rank(b);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)cgx_num_threads(b));
    cgx_sync(c);
    cgx_map_shared_rank(c, s, next)[rank] = 100 * cgx_block_rank(c) + rank;
    cgx_mbarrier_arrive(cgx_map_shared_rank(c, m, next));
    cgx_mbarrier_wait_parity(m, 0);
    out[cgx_thread_rank(cgx_this_grid())] = s[63 - rank];
    cgx_sync(c);
}

/* ---- progress ---- */

CGX_KERNEL_EXTERN(sem_flag, (int, way), (int, in_shared), (int *, flags), (int *, data), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(int, s, 4);
    int *flag = in_shared ? s : flags + 4 * cgx_block_rank(g), *value = in_shared ? s + 2 : data + cgx_block_rank(g);
    int rank = cgx_thread_rank(b), expected;
    cgx_scope scope = in_shared ? CGX_SCOPE_BLOCK : CGX_SCOPE_DEVICE;
    if (rank < 2)
        cgx_atomic_store(flag + rank, 0, CGX_RELAXED, scope);
    cgx_sync(b);
    if (rank == 64) {
        *value = 4711;
        cgx_atomic_store(flag, 1, CGX_RELEASE, scope);
    } else if (rank < 64) {
        switch (way) {
        case SEM_LOAD:
            while (!cgx_atomic_load(flag, CGX_ACQUIRE, scope))
                ;
            break;
        case SEM_EXCHANGE: /* one thread alone: it takes the flag and puts it back */
            if (rank == 0) {
                while (!cgx_atomic_exchange(flag, 0, CGX_ACQUIRE, scope))
                    ;
                cgx_atomic_store(flag, 1, CGX_RELEASE, scope);
            } else {
                return;
            }
            break;
        case SEM_COMPARE:
            do
                expected = 1;
            while (!cgx_atomic_compare_exchange(flag, &expected, 1, CGX_ACQUIRE, CGX_RELAXED, scope));
            break;
        default: /* whichever comes first */
            while (!cgx_atomic_load(flag + 1, CGX_ACQUIRE, scope) && !cgx_atomic_load(flag, CGX_ACQUIRE, scope))
                ;
            break;
        }
        out[64 * cgx_block_rank(g) + rank] = *value;
    }
}

CGX_KERNEL_EXTERN_COOPERATIVE(sem_flag_of_next_block, (int *, flags), (int *, data), (int *, out))
{
    int64_t me = cgx_block_rank(cgx_this_grid()), last = cgx_num_blocks(cgx_this_grid()) - 1;
    if (cgx_thread_rank(cgx_this_block()) != 0)
        return;
    if (me < last)
        while (!cgx_atomic_load(flags + me + 1, CGX_ACQUIRE, CGX_SCOPE_DEVICE))
            ;
    out[me] = me < last ? data[me + 1] : 0;
    data[me] = out[me] + (int)me;
    cgx_atomic_store(flags + me, 1, CGX_RELEASE, CGX_SCOPE_DEVICE);
}

CGX_KERNEL_EXTERN(sem_look_back, (int *, flags), (int *, prefix), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    int64_t me = cgx_block_rank(g);
    int mine = cgx_reduce(b, (int)cgx_thread_rank(g) % 10, CGX_PLUS);
    if (cgx_elect(b)) {
        if (me > 0)
            while (!cgx_atomic_load(flags + me - 1, CGX_ACQUIRE, CGX_SCOPE_DEVICE))
                ;
        prefix[me] = (me > 0 ? prefix[me - 1] : 0) + mine;
        cgx_atomic_store(flags + me, 1, CGX_RELEASE, CGX_SCOPE_DEVICE);
    }
    cgx_sync(b);
    out[cgx_thread_rank(g)] = prefix[me];
}

CGX_KERNEL_EXTERN(sem_lock, (int, rounds), (int *, lock), (int *, counter))
{
    if (cgx_thread_rank(cgx_this_block()) % 64 != 0)
        return;
    for (int i = 0; i < rounds; i++) {
        int expected = 0;
        while (!cgx_atomic_compare_exchange(lock, &expected, 1, CGX_ACQUIRE, CGX_RELAXED, CGX_SCOPE_DEVICE))
            expected = 0;
        ++*counter;
        cgx_atomic_store(lock, 0, CGX_RELEASE, CGX_SCOPE_DEVICE);
    }
}

CGX_KERNEL_EXTERN(sem_owed_arrival, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    if (cgx_thread_rank(b) == 5)
        return;
    cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
    out[cgx_thread_rank(b)] = 1;
}

/* ---- misuse ---- */

CGX_KERNEL_EXTERN(sem_misuse, (int, which), (char *, memory), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(cgx_int4, room, 4);
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    cgx_tile_1 t = cgx_tiled_partition(b, 1);
    cgx_mbarrier_token token;
    cgx_token arrival;
    char *s = (char *)room;
    if (cgx_block_rank(g) != 1 || cgx_thread_rank(b) != 3)
        return;
    switch (which) {
    case SEM_SECOND_ARRIVE:
        cgx_barrier_arrive(b);
        cgx_barrier_arrive(b);
        break;
    case SEM_SECOND_WAIT: /* the others have ended: nobody is waited for */
        arrival = cgx_barrier_arrive(b);
        cgx_barrier_wait(b, arrival);
        cgx_barrier_wait(b, arrival);
        break;
    case SEM_WAIT_ALONE:
        memset(&arrival, 0, sizeof arrival);
        cgx_barrier_wait(b, arrival);
        break;
    case SEM_OLD_TOKEN:
        cgx_mbarrier_init(m, 1);
        token = cgx_mbarrier_arrive(m);
        cgx_mbarrier_arrive(m);
        cgx_mbarrier_arrive(m);
        *out = cgx_mbarrier_test_wait(m, token);
        break;
    case SEM_INIT_TWICE:
        cgx_mbarrier_init(m, 2);
        cgx_mbarrier_init(m, 2);
        break;
    case SEM_OVERWRITTEN:
        cgx_mbarrier_init(m, 2);
        memset(m, 0x55, sizeof *m);
        cgx_mbarrier_arrive(m);
        break;
    case SEM_IN_GLOBAL: cgx_mbarrier_init((cgx_mbarrier *)(void *)memory, 2); break;
    case SEM_UNALIGNED: cgx_mbarrier_init((cgx_mbarrier *)(void *)(s + 4), 2); break;
    case SEM_ALIGNED_SIZE: cgx_memcpy_async_aligned(t, s, memory, 12, 8); break;
    case SEM_ALIGNED_DESTINATION: cgx_memcpy_async_aligned(t, s + 4, memory, 16, 8); break;
    case SEM_ALIGNED_SOURCE: cgx_memcpy_async_n_aligned(t, s, 16, memory + 2, 16, 4); break;
    case SEM_ALIGNED_TO_3: cgx_memcpy_async_aligned(t, s, memory, 12, 3); break;
    case SEM_PIPELINE_SIZE: cgx_pipeline_memcpy_async(s, memory, 12); break;
    case SEM_PIPELINE_ALIGNMENT: cgx_pipeline_memcpy_async(s + 4, memory, 8); break;
    case SEM_PIPELINE_ZFILL: cgx_pipeline_memcpy_async_zfill(s, memory, 8, 9); break;
    case SEM_STORE_SIZE: cgx_bulk_store_async(memory, s, 8); break;
    case SEM_MAP_RANK:
        *out = *cgx_map_shared_rank(cgx_this_cluster(), (int *)(void *)s, cgx_num_blocks(cgx_this_cluster()));
        break;
    case SEM_MAP_NEGATIVE: *out = *cgx_map_shared_rank(cgx_this_cluster(), (int *)(void *)s, -1); break;
    case SEM_MAP_ADDRESS: *out = *cgx_map_shared_rank(cgx_this_cluster(), out, 0); break;
    case SEM_QUERY_ADDRESS: *out = cgx_query_shared_rank(cgx_this_cluster(), out); break;
    case SEM_GRID_REDUCE: *out = cgx_reduce(g, 1, CGX_PLUS); break;
    }
}

CGX_KERNEL_EXTERN(sem_old_parity, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    cgx_mbarrier_init(m, 1);
    for (int i = 0; i < 4; i++) { /* in phase i: the parity of phase i - 2, taken for that of i, is not over */
        out[i] = cgx_mbarrier_test_wait_parity(m, i & 1);
        out[4 + i] = cgx_mbarrier_test_wait_parity(m, !(i & 1));
        cgx_mbarrier_arrive(m);
    }
}

/* ---- asynchronous copies ---- */

CGX_KERNEL_EXTERN(sem_before_the_wait, (int, way), (const cgx_int4 *, in), (cgx_int4 *, out), (cgx_int4 *, stored))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED(cgx_int4, room);
    cgx_tile_1 t = cgx_tiled_partition(b, 1);
    if (cgx_thread_rank(b) != 0)
        return;
    switch (way) {
    case SEM_GROUP:
        cgx_memcpy_async(t, room, in, 16);
        out[0] = *room;
        cgx_wait(t);
        break;
    case SEM_THREAD:
        cgx_pipeline_memcpy_async(room, in, 16);
        cgx_pipeline_commit();
        out[0] = *room;
        cgx_pipeline_wait_prior(0);
        break;
    case SEM_UNCOMMITTED: /* is in no stage, so it is not waited for */
        cgx_pipeline_memcpy_async(room, in, 16);
        cgx_pipeline_wait_prior(0);
        out[0] = *room;
        cgx_pipeline_commit();
        cgx_pipeline_wait_prior(0);
        break;
    case SEM_ZEROS:
        cgx_pipeline_memcpy_async_zfill(room, in, 16, 16);
        cgx_pipeline_commit();
        out[0] = *room;
        cgx_pipeline_wait_prior(0);
        break;
    case SEM_BULK:
        cgx_mbarrier_init(m, 1);
        cgx_bulk_copy_async(room, in, 16, m);
        out[0] = *room;
        cgx_mbarrier_arrive_expect_tx(m, 16);
        cgx_mbarrier_wait_parity(m, 0);
        break;
    case SEM_STORE:
        *room = *in;
        cgx_bulk_store_async(stored, room, 16);
        cgx_bulk_store_commit();
        out[0] = *stored;
        cgx_bulk_store_wait_prior(0);
        out[1] = *stored;
        return;
    default: break;
    }
    out[1] = *room;
}

CGX_KERNEL_EXTERN(sem_stages, (const cgx_int4 *, in), (cgx_int4 *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(cgx_int4, room, 4, 64);
    int rank = cgx_thread_rank(b);
    cgx_pipeline_wait_prior(1000); /* more than there were: at once */
    cgx_pipeline_memcpy_async(room[0] + rank, in + rank, 16);
    cgx_pipeline_commit();
    cgx_memcpy_async(b, room[1], in + 64, 64 * sizeof **room); /* a stage of every thread */
    cgx_pipeline_memcpy_async(room[2] + rank, in + 128 + rank, 16);
    cgx_pipeline_commit();
    cgx_pipeline_wait_prior(2); /* all but the group's copy and the last */
    out[rank] = room[0][rank];
    cgx_wait_prior(b, 1); /* all but the last, and of every thread */
    out[64 + rank] = room[1][63 - rank];
    cgx_wait(b);
    out[128 + rank] = room[2][63 - rank];
    cgx_memcpy_async(b, room[3], in, 0); /* no bytes are a stage as well */
    cgx_wait(b);
}

CGX_KERNEL_EXTERN(sem_any_size, (const unsigned char *, in), (unsigned char *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(unsigned char, s, 64, 96);
    int n = cgx_thread_rank(b);
    for (int place = 0; place < 16; place++) {
        for (int i = 0; i < 96; i++)
            s[n][i] = 0xee;
        cgx_pipeline_memcpy_async_any(s[n] + place, in + 16 - place % 5, (size_t)n);
        cgx_pipeline_commit();
        cgx_pipeline_wait_prior(0);
        for (int i = 0; i < 96; i++)
            out[(64 * place + n) * 96 + i] = s[n][i];
    }
}

CGX_KERNEL_EXTERN(sem_aligned, (int, to_count), (int, from_count), (const cgx_int4 *, in), (cgx_int4 *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(cgx_double4, room, 6, 32);
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    for (int k = 0; k < 6; k++)
        for (int i = cgx_thread_rank(b); i < 64; i += cgx_num_threads(b)) {
            cgx_int4 none = { -1, -1, -1, -1 };
            ((cgx_int4 *)room[k])[i] = none;
        }
    cgx_sync(b);
    cgx_memcpy_async_n_aligned(b, (cgx_int4 *)room[0], to_count, in, from_count, 16);
    cgx_memcpy_async_n_aligned(b, (cgx_int4 *)room[1], to_count, in, from_count, 8);
    cgx_memcpy_async_aligned(b, room[2], in, 16 * (size_t)(to_count < from_count ? to_count : from_count), 4);
    cgx_memcpy_async_aligned(b, room[3], in, 16 * (size_t)(to_count < from_count ? to_count : from_count), 2);
    cgx_memcpy_async_aligned(b, room[4], in, 16 * (size_t)(to_count < from_count ? to_count : from_count), 1);
    cgx_wait(b);
    if (cgx_meta_group_rank(t) == 0) { /* 32 is more than the 16 that make a difference, and a promise all the same */
        cgx_memcpy_async_aligned(t, room[5], in, 32 * (size_t)((to_count < from_count ? to_count : from_count) / 2),
                                 32);
        cgx_wait(t);
    }
    cgx_sync(b);
    for (int k = 0; k < 6; k++)
        for (int i = cgx_thread_rank(b); i < 64; i += cgx_num_threads(b))
            out[64 * k + i] = ((cgx_int4 *)room[k])[i];
}

CGX_KERNEL_EXTERN(sem_bulk_store, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_int4, room, 64);
    int rank = cgx_thread_rank(b), *s = (int *)room;
    for (int i = rank; i < 256; i += cgx_num_threads(b))
        s[i] = 7 * i;
    cgx_sync(b);
    if (cgx_elect(b)) {
        cgx_bulk_store_async(out, s, 512);
        cgx_bulk_store_commit();
        cgx_bulk_store_async(out + 128, s + 128, 512);
        cgx_bulk_store_commit();
        cgx_bulk_store_wait_prior(1); /* the first half of the memory is free again */
        for (int i = 0; i < 128; i++)
            s[i] = -1;
        cgx_bulk_store_wait_prior(0);
    }
    cgx_sync(b);
    for (int i = rank; i < 256; i += cgx_num_threads(b))
        out[256 + i] = out[i];
}

/* ---- collectives ---- */

CGX_DEVICE_FN sem_text written(sem_text a, sem_text b)
{
    sem_text r;
    int n = 0;
    memset(&r, 0, sizeof r);
    r.text[n++] = '(';
    for (int i = 0; i < 31 && a.text[i]; i++)
        if (n < 30)
            r.text[n++] = a.text[i];
    for (int i = 0; i < 31 && b.text[i]; i++)
        if (n < 30)
            r.text[n++] = b.text[i];
    r.text[n] = ')';
    return r;
}
CGX_OP(sem_text, write_down, a, b, written(a, b))

CGX_KERNEL_EXTERN(sem_written_order, (int, of_cluster), (sem_text *, out))
{
    cgx_block b = cgx_this_block();
    cgx_cluster c = cgx_this_cluster();
    int rank = cgx_thread_rank(c), n = cgx_num_threads(c);
    sem_text mine;
    memset(&mine, 0, sizeof mine);
    mine.text[0] = (char)('a' + rank);
    if (of_cluster) {
        out[rank] = cgx_reduce_op(c, mine, write_down);
        out[n + rank] = cgx_inclusive_scan_op(c, mine, write_down);
        out[2 * n + rank] = cgx_exclusive_scan_op(c, mine, write_down);
    } else {
        out[rank] = cgx_reduce_op(b, mine, write_down);
        out[n + rank] = cgx_inclusive_scan_op(b, mine, write_down);
        out[2 * n + rank] = cgx_exclusive_scan_op(b, mine, write_down);
    }
}

CGX_KERNEL_EXTERN(sem_collectives_of_clusters, (const float *, in), (sem_wide *, out))
{
    cgx_cluster c = cgx_this_cluster();
    int64_t at = cgx_thread_rank(cgx_this_grid());
    sem_wide w;
    memset(&w, 0, sizeof w);
    w.reduced = cgx_reduce(c, in[at], CGX_PLUS);
    w.inclusive = cgx_inclusive_scan(c, in[at], CGX_PLUS);
    w.exclusive = cgx_exclusive_scan(c, in[at], CGX_PLUS);
    w.largest = cgx_reduce(c, in[at], CGX_GREATER);
    w.sum = cgx_inclusive_scan(c, at, CGX_PLUS);
    out[at] = w;
}

CGX_KERNEL_EXTERN_COOPERATIVE(sem_collectives_of_the_grid, (const float *, in), (sem_wide *, out))
{
    cgx_grid g = cgx_this_grid();
    int64_t at = cgx_thread_rank(g);
    sem_wide w;
    memset(&w, 0, sizeof w);
    w.reduced = cgx_reduce(g, in[at], CGX_PLUS);
    w.inclusive = cgx_inclusive_scan(g, in[at], CGX_PLUS);
    w.exclusive = cgx_exclusive_scan(g, in[at], CGX_PLUS);
    w.largest = cgx_reduce(g, in[at], CGX_GREATER);
    w.sum = cgx_inclusive_scan(g, at, CGX_PLUS);
    out[at] = w;
}

/* ---- updates ---- */

#define UPDATES(s, T)                                                                                          \
    CGX_DEVICE_FN void updates_##s(cgx_group g, const T *in, T *atomics, T *inclusive, T *exclusive, int rank) \
    {                                                                                                          \
        inclusive[rank] = cgx_inclusive_scan_update(g, atomics, CGX_SCOPE_BLOCK, in[rank], CGX_PLUS);          \
        exclusive[rank] = cgx_exclusive_scan_update(g, atomics + 1, CGX_SCOPE_BLOCK, in[rank], CGX_PLUS);      \
        cgx_reduce_update_async(g, atomics + 2, CGX_SCOPE_BLOCK, in[rank], CGX_PLUS);                          \
        cgx_reduce_update_async(g, atomics + 3, CGX_SCOPE_DEVICE, in[rank], CGX_GREATER);                      \
        cgx_reduce_store_async_atomic(g, atomics + 4, CGX_SCOPE_DEVICE, in[rank], CGX_PLUS);                   \
        cgx_reduce_store_async(g, atomics + 5, in[rank], CGX_LESS);                                            \
        cgx_sync(g);                                                                                           \
        if (cgx_elect(g)) /* it sees them */                                                                   \
            atomics[6] = atomics[4], atomics[7] = atomics[5];                                                  \
    }                                                                                                          \
    CGX_KERNEL_EXTERN(sem_updates_##s, (int, size), (const T *, in), (T *, atomics), (T *, inclusive),         \
                      (T *, exclusive))                                                                        \
    {                                                                                                          \
        cgx_block b = cgx_this_block();                                                                        \
        if (!size) {                                                                                           \
            updates_##s(cgx_as_group(b), in, atomics, inclusive, exclusive, cgx_thread_rank(b));               \
            return;                                                                                            \
        }                                                                                                      \
        cgx_tile t = cgx_tiled_partition_n(b, size);                                                           \
        for (int i = 0; i < cgx_meta_group_size(t); i++) {                                                     \
            if (i == cgx_meta_group_rank(t))                                                                   \
                updates_##s(cgx_as_group(t), in, atomics, inclusive, exclusive, cgx_thread_rank(b));           \
            cgx_sync(b);                                                                                       \
        }                                                                                                      \
    }
FOREACH_SEM_UPDATED(UPDATES)

CGX_KERNEL_EXTERN(sem_store_any_type, (short *, least), (sem_text *, text))
{
    cgx_block b = cgx_this_block();
    sem_text mine;
    memset(&mine, 0, sizeof mine);
    mine.text[0] = (char)('a' + cgx_thread_rank(b));
    cgx_reduce_store_async(b, least, (short)(-100 * cgx_thread_rank(b)), CGX_LESS);
    cgx_reduce_store_async_op(b, text, mine, write_down); /* nobody synchronises: it is there when the kernel is over */
}

/* ---- atomics ---- */

#define ATOMICS(s, T)                                                                            \
    CGX_KERNEL_EXTERN(sem_atomics_##s, (int, scope), (int, in_shared), (T *, place), (T *, out)) \
    {                                                                                            \
        CGX_SHARED(T, shared);                                                                   \
        T *p = in_shared ? shared : place, expected = 3;                                         \
        const cgx_scope sc = (cgx_scope)scope;                                                   \
        cgx_atomic_store(p, 5, CGX_RELEASE, sc);                                                 \
        out[0] = cgx_atomic_load(p, CGX_ACQUIRE, sc);                                            \
        out[1] = cgx_atomic_exchange(p, 7, CGX_ACQ_REL, sc);                                     \
        out[2] = (T)cgx_atomic_compare_exchange(p, &expected, 1, CGX_SEQ_CST, CGX_SEQ_CST, sc);  \
        out[3] = expected;                                                                       \
        out[4] = (T)cgx_atomic_compare_exchange(p, &expected, 20, CGX_SEQ_CST, CGX_RELAXED, sc); \
        out[5] = cgx_atomic_fetch_add(p, 10, CGX_RELAXED, sc);                                   \
        out[6] = cgx_atomic_fetch_min(p, 40, CGX_RELEASE, sc);                                   \
        out[7] = cgx_atomic_fetch_min(p, 4, CGX_ACQUIRE, sc);                                    \
        out[8] = cgx_atomic_fetch_max(p, 2, CGX_SEQ_CST, sc);                                    \
        out[9] = cgx_atomic_fetch_max(p, 9, CGX_ACQ_REL, sc);                                    \
        cgx_atomic_fence(CGX_SEQ_CST, sc);                                                       \
        out[10] = cgx_atomic_load(p, CGX_SEQ_CST, sc);                                           \
        cgx_atomic_fetch_add(p, -10, CGX_RELAXED, sc); /* of unsigned: wraps */                  \
        out[11] = cgx_atomic_load(p, CGX_RELAXED, sc);                                           \
    }
FOREACH_SEM_ATOMIC(ATOMICS)

CGX_KERNEL_EXTERN(sem_atomic_bits, (int, scope), (uint32_t *, p), (uint64_t *, q), (uint64_t *, out))
{
    const cgx_scope s = (cgx_scope)scope;
    out[0] = cgx_atomic_fetch_and(p, 0xff00ff0fu, CGX_RELAXED, s);
    out[1] = cgx_atomic_fetch_or(p, 0x11u, CGX_RELAXED, s);
    out[2] = cgx_atomic_fetch_xor(p, 0xffffffffu, CGX_RELAXED, s);
    out[3] = cgx_atomic_load(p, CGX_RELAXED, s);
    out[4] = cgx_atomic_fetch_and(q, 0xff00ff00ff00ff0fu, CGX_RELAXED, s);
    out[5] = cgx_atomic_fetch_or(q, 0x11u, CGX_RELAXED, s);
    out[6] = cgx_atomic_fetch_xor(q, ~(uint64_t)0, CGX_RELAXED, s);
    out[7] = cgx_atomic_load(q, CGX_RELAXED, s);
}

CGX_KERNEL_EXTERN(sem_atomic_numbers, (const float *, a), (const float *, b), (float *, out), (double *, wide))
{
    int i = cgx_thread_rank(cgx_this_block());
    for (int most = 0; most < 2; most++) {
        out[2 * i + most] = a[i];
        wide[2 * i + most] = (double)a[i];
        if (most) {
            cgx_atomic_fetch_max(out + 2 * i + 1, b[i], CGX_RELAXED, CGX_SCOPE_DEVICE);
            cgx_atomic_fetch_max(wide + 2 * i + 1, (double)b[i], CGX_RELAXED, CGX_SCOPE_BLOCK);
        } else {
            cgx_atomic_fetch_min(out + 2 * i, b[i], CGX_RELAXED, CGX_SCOPE_DEVICE);
            cgx_atomic_fetch_min(wide + 2 * i, (double)b[i], CGX_RELAXED, CGX_SCOPE_BLOCK);
        }
    }
}

CGX_KERNEL_EXTERN(sem_concurrent, (sem_totals *, totals))
{
    int rank = (int)cgx_thread_rank(cgx_this_grid());
    cgx_atomic_fetch_add(&totals->sum, rank, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_atomic_fetch_min(&totals->least, -rank, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_atomic_fetch_max(&totals->most, rank, CGX_RELAXED, CGX_SCOPE_SYSTEM);
    cgx_atomic_fetch_xor(&totals->mask, (unsigned)rank * 2654435761u, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_atomic_fetch_add(&totals->wide, (int64_t)rank << 20, CGX_RELAXED, CGX_SCOPE_SYSTEM);
    cgx_atomic_fetch_add(&totals->real, 1.0f, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_atomic_fetch_add(&totals->precise, 0.5, CGX_RELAXED, CGX_SCOPE_DEVICE);
}

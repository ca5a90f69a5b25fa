/* SPDX-License-Identifier: MIT */
#define DEFINE_GOOD_KERNEL
#include "rules_kernels.h"

CGX_KERNEL_EXTERN(break_rule, (int, which), (char *, memory), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_cluster c = cgx_this_cluster();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(cgx_mbarrier, mine, 2);
    CGX_SHARED_ARRAY(cgx_int4, room, 8);
    int rank = cgx_thread_rank(b), he = cgx_block_rank(g) == 1 && rank == 3;
    if (rank == 0)
        memset(m, 0, sizeof *m);
    cgx_sync(c);
    cgx_mbarrier_token t;
    cgx_token token;
    if (he)
        switch (which) {
        case RULE_ARRIVE_WITHOUT_INIT: cgx_mbarrier_arrive(m); break;
        case RULE_DROP_WITHOUT_INIT: cgx_mbarrier_arrive_and_drop(m); break;
        case RULE_EXPECT_WITHOUT_INIT: cgx_mbarrier_arrive_expect_tx(m, 16); break;
        case RULE_ARRIVE_ON_WITHOUT_INIT: cgx_pipeline_arrive_on(m); break;
        case RULE_BULK_WITHOUT_INIT:
            cgx_bulk_copy_async(room, memory, 16, m);
            cgx_mbarrier_test_wait_parity(mine, 0);
            break;
        case RULE_NEIGHBOUR_WITHOUT_INIT: cgx_mbarrier_arrive(cgx_map_shared_rank(c, m, 0)); break;
        case RULE_INIT_ABOVE_MAXIMUM: cgx_mbarrier_init(m, 1 << 20); break;
        case RULE_INIT_FOR_NOBODY: cgx_mbarrier_init(m, 0); break;
        case RULE_INIT_AGAIN:
            cgx_mbarrier_init(m, 2);
            cgx_mbarrier_init(m, 2);
            break;
        case RULE_MEMORY_WRITTEN:
            cgx_mbarrier_init(m, 2);
            *(int *)(void *)m = 1;
            cgx_mbarrier_arrive(m);
            break;
        case RULE_MEMORY_WRITTEN_AFTER_PHASES:
            cgx_mbarrier_init(m, 1);
            for (int i = 0; i < 5; i++)
                cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
            ((char *)(void *)m)[5] ^= 1;
            cgx_mbarrier_test_wait_parity(m, 0);
            break;
        case RULE_BARRIER_IN_GLOBAL_MEMORY: cgx_mbarrier_init((cgx_mbarrier *)(void *)memory, 1); break;
        case RULE_BARRIER_NOT_ALIGNED: cgx_mbarrier_init((cgx_mbarrier *)(void *)((char *)room + 4), 1); break;
        case RULE_NOTHING_PENDING:
            cgx_mbarrier_init(m, 1);
            cgx_mbarrier_arrive_and_drop(m);
            cgx_mbarrier_arrive(m);
            break;
        case RULE_MORE_THAN_PENDING:
            cgx_mbarrier_init(m, 5);
            cgx_mbarrier_arrive_n(m, 3);
            cgx_mbarrier_arrive_n(m, 3);
            break;
        case RULE_ARRIVE_FOR_NONE:
            cgx_mbarrier_init(m, 5);
            cgx_mbarrier_arrive_n(m, 0);
            break;
        case RULE_ARRIVE_FOR_LESS:
            cgx_mbarrier_init(m, 5);
            cgx_mbarrier_arrive_n(m, -1);
            break;
        case RULE_ARRIVE_ON_A_FULL_BARRIER:
            cgx_mbarrier_init(m, cgx_mbarrier_max_count());
            cgx_pipeline_memcpy_async(room, memory, 16);
            cgx_pipeline_arrive_on(m);
            break;
        case RULE_TOO_MANY_BYTES:
            cgx_mbarrier_init(m, 3);
            cgx_mbarrier_arrive_expect_tx(m, (1 << 20) - 16);
            cgx_mbarrier_arrive_expect_tx(m, 16);
            break;
        case RULE_OLD_TOKEN_TEST:
        case RULE_OLD_TOKEN_TRY:
        case RULE_OLD_TOKEN_WAIT:
            cgx_mbarrier_init(m, 1);
            t = cgx_mbarrier_arrive(m);
            *out = cgx_mbarrier_test_wait(m, t);
            cgx_mbarrier_arrive(m);
            if (which == RULE_OLD_TOKEN_TEST)
                *out = cgx_mbarrier_test_wait(m, t);
            else if (which == RULE_OLD_TOKEN_TRY)
                *out = cgx_mbarrier_try_wait(m, t, 100);
            else
                cgx_mbarrier_wait(m, t);
            break;
        case RULE_ALIGNED_SIZE: cgx_memcpy_async_aligned(cgx_tiled_partition(b, 1), room, memory, 20, 8); break;
        case RULE_ALIGNED_DESTINATION:
            cgx_memcpy_async_aligned(cgx_tiled_partition(b, 1), (char *)room + 4, memory, 16, 8);
            break;
        case RULE_ALIGNED_SOURCE: cgx_memcpy_async_aligned(cgx_tiled_partition(b, 1), room, memory + 2, 16, 4); break;
        case RULE_ALIGNED_TO_NO_POWER: cgx_memcpy_async_aligned(cgx_tiled_partition(b, 1), room, memory, 12, 12); break;
        case RULE_PIPELINE_SIZE: cgx_pipeline_memcpy_async(room, memory, 12); break;
        case RULE_PIPELINE_DESTINATION: cgx_pipeline_memcpy_async((char *)room + 8, memory, 16); break;
        case RULE_PIPELINE_SOURCE: cgx_pipeline_memcpy_async(room, memory + 4, 8); break;
        case RULE_ZFILL_TOO_LARGE: cgx_pipeline_memcpy_async_zfill(room, memory, 8, 9); break;
        case RULE_BULK_SIZE:
            cgx_mbarrier_init(m, 1);
            cgx_bulk_copy_async(room, memory, 40, m);
            break;
        case RULE_BULK_STORE_SOURCE: cgx_bulk_store_async(memory, (char *)room + 4, 16); break;
        case RULE_MAP_BEHIND_THE_CLUSTER: *out = *(int *)(void *)cgx_map_shared_rank(c, room, 2); break;
        case RULE_MAP_BELOW_THE_CLUSTER: *out = *(int *)(void *)cgx_map_shared_rank(c, room, -1); break;
        case RULE_MAP_GLOBAL_MEMORY: *out = *cgx_map_shared_rank(c, out, 0); break;
        case RULE_QUERY_GLOBAL_MEMORY: *out = cgx_query_shared_rank(c, memory); break;
        case RULE_TILE_THAT_DOES_NOT_DIVIDE: *out = cgx_num_threads(cgx_tiled_partition(b, 128)); break;
        case RULE_TILE_N_THAT_DOES_NOT_DIVIDE: *out = cgx_num_threads(cgx_tiled_partition_n(b, 1024)); break;
        case RULE_GRID_SYNC_IN_PLAIN_LAUNCH: cgx_sync(g); break;
        case RULE_GRID_REDUCE_IN_PLAIN_LAUNCH: break; /* below: it begins with the block */
        case RULE_NOBODY_ARRIVES:
            cgx_mbarrier_init(m, 2);
            cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
            break;
        case RULE_BYTES_NEVER_COME:
            cgx_mbarrier_init(m, 1);
            cgx_mbarrier_wait(m, cgx_mbarrier_arrive_expect_tx(m, 64));
            break;
        }
    switch (which) { /* what the others do, too */
    case RULE_WAIT_TWICE:
        token = cgx_barrier_arrive(b);
        cgx_barrier_wait(b, token);
        if (he)
            cgx_barrier_wait(b, token);
        break;
    case RULE_WAIT_TWICE_CLUSTER:
        token = cgx_barrier_arrive(c);
        cgx_barrier_wait(c, token);
        if (he)
            cgx_barrier_wait(c, token);
        break;
    case RULE_ARRIVE_TWICE:
        token = cgx_barrier_arrive(b);
        if (he)
            token = cgx_barrier_arrive(b);
        cgx_barrier_wait(b, token);
        break;
    case RULE_ARRIVE_TWICE_CLUSTER:
        token = cgx_barrier_arrive(c);
        if (he)
            token = cgx_barrier_arrive(c);
        cgx_barrier_wait(c, token);
        break;
    case RULE_GRID_REDUCE_IN_PLAIN_LAUNCH: out[rank] = cgx_reduce(g, 1, CGX_PLUS); break;
    case RULE_SKIPS_BLOCK_REDUCE: out[rank] = he ? 0 : cgx_reduce(b, 1, CGX_PLUS); break;
    case RULE_SKIPS_BLOCK_SCAN: out[rank] = he ? 0 : cgx_inclusive_scan(b, 1, CGX_PLUS); break;
    case RULE_SKIPS_TILE_SHUFFLE: out[rank] = he ? 0 : cgx_shfl(cgx_tiled_partition(b, 16), rank, 0); break;
    case RULE_SKIPS_WIDE_TILE_SYNC:
        if (!he)
            cgx_sync(cgx_tiled_partition_n(b, 64));
        break;
    case RULE_SKIPS_UPDATE:
        if (!he)
            cgx_reduce_update_async(b, out, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
        break;
    case RULE_SKIPS_COALESCED: {
        cgx_coalesced part = cgx_binary_partition(cgx_tiled_partition(b, 32), rank % 2);
        if (!he)
            out[rank] = cgx_all(part, 1);
        break;
    }
    case RULE_SKIPS_CLUSTER_REDUCE: out[rank] = he ? 0 : cgx_reduce(c, 1, CGX_PLUS); break;
    }
}

CGX_KERNEL_EXTERN(break_rule_late, (int, which), (char *, memory), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    CGX_SHARED_ARRAY(cgx_int4, room, 8);
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, 2);
        cgx_mbarrier_init(m + 1, 2);
    }
    cgx_sync(b);
    if (cgx_thread_rank(b) == 3) {
        if (which == 0) {
            cgx_bulk_copy_async(room, memory, 64, m);
        } else {
            cgx_pipeline_memcpy_async(room, memory, 16);
            cgx_pipeline_arrive_on(m);
        }
        cgx_mbarrier_inval(m); /* with a copy on its way */
        if (which == 2)
            *(int *)(void *)m = 17;
    }
    cgx_mbarrier_wait_parity(m + 1, 0); /* nobody can go on but what is put off */
    *out = 1;
}

CGX_KERNEL_EXTERN_COOPERATIVE(break_grid_rule, (int, which), (int *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int he = cgx_block_rank(g) == 1 && cgx_thread_rank(b) == 3;
    cgx_sync(g);
    if (which == WAITS_TWICE_GRID) {
        cgx_token t = cgx_barrier_arrive(g);
        cgx_barrier_wait(g, t);
        if (he)
            cgx_barrier_wait(g, t);
    } else if (he) {
        return;
    } else if (which == SKIPS_GRID_SYNC) {
        cgx_sync(g);
    } else if (which == SKIPS_GRID_WAIT) {
        cgx_barrier_wait(g, cgx_barrier_arrive(g));
    } else {
        out[cgx_thread_rank(b)] = cgx_reduce(g, 1, CGX_PLUS);
    }
}

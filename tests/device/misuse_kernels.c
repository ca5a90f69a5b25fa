/* SPDX-License-Identifier: MIT */
#define DEFINE_GOOD_KERNEL
#include "misuse_kernels.h"

CGX_KERNEL_EXTERN(misuse, (int, which), (int, late), (char *, memory), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(cgx_int4, room, 8);
    if (cgx_elect(b))
        memset(m, 0, sizeof *m); /* what was there before may look like a barrier */
    if (late)
        cgx_sync(b);
    out[cgx_thread_rank(g)] = 1;
    if (cgx_block_rank(g) != 1 || cgx_thread_rank(b) != 3)
        return;
    switch (which) {
    case MISUSE_GRID_SYNC: cgx_sync(g); break;
    case MISUSE_GRID_ARRIVE: cgx_barrier_wait(g, cgx_barrier_arrive(g)); break;
    case MISUSE_TILE_16_OF_40: *out = cgx_num_threads(cgx_tiled_partition(b, 16)); break;
    case MISUSE_TILE_1024_OF_40: *out = cgx_num_threads(cgx_tiled_partition(b, 1024)); break;
    case MISUSE_TILE_N_3: *out = cgx_num_threads(cgx_tiled_partition_n(b, 3)); break;
    case MISUSE_TILE_N_0: *out = cgx_num_threads(cgx_tiled_partition_n(b, 0)); break;
    case MISUSE_TILE_N_NEGATIVE: *out = cgx_num_threads(cgx_tiled_partition_n(b, -8)); break;
    case MISUSE_TILE_N_TOO_LARGE: *out = cgx_num_threads(cgx_tiled_partition_n(b, 2048)); break;
    case MISUSE_TILE_N_16_OF_40: *out = cgx_num_threads(cgx_tiled_partition_n(b, 16)); break;
    case MISUSE_TILE_OF_TILE: *out = cgx_num_threads(cgx_tiled_partition(cgx_tiled_partition(b, 4), 8)); break;
    case MISUSE_TILE_ARRIVE: {
        cgx_tile_8 t = cgx_tiled_partition(b, 8);
        cgx_token token = cgx_barrier_arrive(t);
        (void)token;
        break;
    }
    case MISUSE_MBARRIER_ARRIVE: cgx_mbarrier_arrive(m); break;
    case MISUSE_MBARRIER_TEST: *out = cgx_mbarrier_test_wait_parity(m, 0); break;
    case MISUSE_MBARRIER_TRY: *out = cgx_mbarrier_try_wait_parity(m, 0, 1000); break;
    case MISUSE_MBARRIER_WAIT: cgx_mbarrier_wait_parity(m, 0); break;
    case MISUSE_MBARRIER_INVAL: cgx_mbarrier_inval(m); break;
    case MISUSE_MBARRIER_AFTER_INVAL:
        cgx_mbarrier_init(m, 4);
        cgx_mbarrier_inval(m);
        cgx_mbarrier_arrive(m);
        break;
    case MISUSE_MBARRIER_INIT_0: cgx_mbarrier_init(m, 0); break;
    case MISUSE_MBARRIER_INIT_TOO_MANY: cgx_mbarrier_init(m, cgx_mbarrier_max_count() + 1); break;
    case MISUSE_MBARRIER_OVER_ARRIVAL:
        cgx_mbarrier_init(m, 4);
        cgx_mbarrier_arrive_n(m, 3);
        cgx_mbarrier_arrive_n(m, 2);
        break;
    case MISUSE_MBARRIER_DROP_THEN_ARRIVE: /* nobody is expected any more */
        cgx_mbarrier_init(m, 1);
        cgx_mbarrier_arrive_and_drop(m);
        cgx_mbarrier_arrive(m);
        break;
    case MISUSE_MBARRIER_TOO_MANY_BYTES:
        cgx_mbarrier_init(m, 4);
        cgx_mbarrier_arrive_expect_tx(m, 1 << 20);
        break;
    case MISUSE_BULK_SIZE:
        cgx_mbarrier_init(m, 1);
        cgx_bulk_copy_async(room, memory, 24, m);
        break;
    case MISUSE_BULK_DESTINATION:
        cgx_mbarrier_init(m, 1);
        cgx_bulk_copy_async((char *)room + 8, memory, 16, m);
        break;
    case MISUSE_BULK_SOURCE:
        cgx_mbarrier_init(m, 1);
        cgx_bulk_copy_async(room, memory + 4, 16, m);
        break;
    case MISUSE_BALLOT_OF_MANY: *out = (int)cgx_ballot(b, 1); break;
    case MISUSE_MATCH_OF_MANY: *out = (int)cgx_match_any(b, 1); break;
    case MISUSE_PARTITION_OF_MANY: *out = cgx_num_threads(cgx_labeled_partition(cgx_tiled_partition(b, 128), 1)); break;
    }
}

CGX_KERNEL_EXTERN(reduce_or_scan, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    if (rank == 0)
        *out = cgx_reduce(b, rank, CGX_PLUS);
    else
        *out = cgx_inclusive_scan(b, rank, CGX_PLUS);
}

CGX_KERNEL_EXTERN(sync_or_reduce, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    if (rank == 0)
        cgx_sync(t);
    else
        *out = cgx_reduce(t, rank, CGX_PLUS);
}

CGX_KERNEL_EXTERN(reduce_or_sync, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    if (rank == 0)
        *out = cgx_reduce(t, rank, CGX_PLUS);
    else
        cgx_sync(t);
}

CGX_KERNEL_EXTERN(block_sync_or_reduce, (int, who), (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    if (rank == who)
        cgx_sync(b);
    else
        *out = cgx_reduce(b, rank, CGX_PLUS);
}

CGX_KERNEL_EXTERN(any_or_all_coalesced, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_coalesced c = cgx_binary_partition(cgx_tiled_partition(b, 32), cgx_thread_rank(b) % 2);
    int rank = cgx_thread_rank(c);
    if (rank == 0)
        *out = cgx_any(c, rank);
    else
        *out = cgx_all(c, rank);
}

CGX_KERNEL_EXTERN(tile_of_coalesced, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_coalesced c = cgx_binary_partition(cgx_tiled_partition(b, 32), cgx_thread_rank(b) % 2);
    *out = cgx_num_threads(cgx_tiled_partition(c, 4));
}

CGX_KERNEL_EXTERN_COOPERATIVE(needs_grid, (int *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_sync(g);
    out[cgx_thread_rank(g)] = cgx_is_valid(g);
}

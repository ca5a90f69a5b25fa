/* SPDX-License-Identifier: MIT */
#include "cluster_kernels.h"

CGX_KERNEL_EXTERN(cluster_queries, (cluster_answers *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED(int, s);
    cluster_answers a;
    memset(&a, 0, sizeof a);
    a.rank = cgx_thread_rank(c), a.size = cgx_num_threads(c);
    a.block_rank = cgx_block_rank(c), a.blocks = cgx_num_blocks(c);
    a.dim_threads = cgx_dim_threads(c), a.dim_blocks = cgx_dim_blocks(c), a.block_index = cgx_block_index(c);
    a.cluster_rank = cgx_cluster_rank(g), a.clusters = cgx_num_clusters(g);
    a.grid_block_rank = cgx_block_rank(g), a.grid_rank = cgx_thread_rank(g);
    a.dim_clusters = cgx_dim_clusters(g), a.cluster_index = cgx_cluster_index(g);
    a.group_index = cgx_group_index(cgx_this_block());
    cgx_sync(c);
    a.own_rank_of_shared = cgx_query_shared_rank(c, s);
    for (int r = 0; r < a.blocks; r++)
        if (cgx_query_shared_rank(c, cgx_map_shared_rank(c, s, r)) != r)
            a.own_rank_of_shared = -1 - r;
    if (cgx_map_shared_rank(c, s, a.block_rank) != s || cgx_size(c) != a.size)
        a.own_rank_of_shared = -100;
    out[a.grid_rank] = a;
    cgx_sync(c);
}

CGX_KERNEL_EXTERN(cluster_neighbours, (int, way), (int, rounds), (int *, bad))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    CGX_DYNAMIC_SHARED(int, dynamic);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), me = cgx_block_rank(c), blocks = cgx_num_blocks(c),
        wrong = 0;
    for (int i = 0; i < rounds; i++) {
        s[rank] = 10000 * me + 10 * rank + i;
        if (rank == 0)
            *dynamic = me * rounds + i;
        if (way == CLUSTER_ARRIVE_WAIT) {
            cgx_token t = cgx_barrier_arrive(c);
            wrong += s[rank] != 10000 * me + 10 * rank + i; /* work that needs no neighbour */
            cgx_barrier_wait(c, t);
        } else if (way == CLUSTER_EXECUTION) {
            cgx_atomic_fence(CGX_RELEASE, CGX_SCOPE_CLUSTER); /* the memory is the user's business here */
            cgx_sync_execution(c);
            cgx_atomic_fence(CGX_ACQUIRE, CGX_SCOPE_CLUSTER);
        } else {
            cgx_sync(c);
        }
        for (int k = 0; k < blocks; k++) {
            int from = (rank + k + i) % n;
            wrong += *cgx_map_shared_rank(c, s + from, k) != 10000 * k + 10 * from + i;
            wrong += *cgx_map_shared_rank(c, dynamic, k) != k * rounds + i;
        }
        cgx_barrier_wait(c, cgx_barrier_arrive(c));
    }
    bad[cgx_thread_rank(cgx_this_grid())] = wrong;
}

CGX_KERNEL_EXTERN(cluster_writes, (int, rounds), (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, mail, 1024);
    CGX_SHARED(int, count);
    int rank = cgx_thread_rank(b), me = cgx_block_rank(c), blocks = cgx_num_blocks(c);
    int *next = cgx_map_shared_rank(c, mail, (me + 1) % blocks), *first = cgx_map_shared_rank(c, count, 0), v = me;
    if (rank == 0)
        *count = 0;
    cgx_sync(c);
    for (int i = 0; i < rounds; i++) {
        next[rank] = v + 1;
        cgx_atomic_fetch_add(first, me + 1, CGX_RELAXED, CGX_SCOPE_CLUSTER);
        cgx_sync(c);
        v = mail[rank];
        cgx_sync(c);
    }
    out[2 * cgx_thread_rank(cgx_this_grid())] = v;
    out[2 * cgx_thread_rank(cgx_this_grid()) + 1] = *first;
    cgx_sync(c);
}

CGX_KERNEL_EXTERN(cluster_exits, (int, blocks_too), (int, split), (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_SHARED(int, s);
    int rank = cgx_thread_rank(b), me = cgx_block_rank(c), sum = 0;
    if (rank == 1)
        *s = 0;
    cgx_sync(c);
    if (rank != 1 && (rank + me) % 3 == 0) /* before anything */
        return;
    if (blocks_too && me % 2) /* whole blocks: their memory is gone for the others */
        return;
    for (int i = 0; i < 4; i++) {
        if (rank == 1)
            *s = me + i;
        if (split)
            cgx_barrier_wait(c, cgx_barrier_arrive(c));
        else
            cgx_sync(c);
        for (int k = 0; k < cgx_num_blocks(c); k++)
            if (!blocks_too || k % 2 == 0)
                sum += *cgx_map_shared_rank(c, s, k);
        cgx_sync(c);
        if (rank == 4 + i) /* one more each round */
            return;
    }
    out[cgx_thread_rank(cgx_this_grid())] = sum;
    cgx_sync(c);
}

CGX_KERNEL_EXTERN(cluster_remote_arrive, (int, rounds), (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    CGX_SHARED_ARRAY(int, mail, 16);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), me = cgx_block_rank(c), blocks = cgx_num_blocks(c), sum = 0;
    if (rank == 0)
        for (int i = 0; i < 2; i++)
            cgx_mbarrier_init(m + i, (uint32_t)(n * blocks));
    cgx_sync(c);
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < blocks; k++) {
            if (rank == 0)
                cgx_map_shared_rank(c, mail, k)[me] = 100 * i + me;
            cgx_mbarrier_arrive(cgx_map_shared_rank(c, m, k));
        }
        if (rank % 2)
            cgx_mbarrier_wait_parity(m, i & 1);
        else
            while (!cgx_mbarrier_test_wait_parity(m, i & 1))
                ;
        for (int k = 0; k < blocks; k++)
            sum += mail[k] * (k + 1);
        for (int k = 0; k < blocks; k++) /* all have read: the next round may write */
            cgx_mbarrier_arrive(cgx_map_shared_rank(c, m + 1, k));
        cgx_mbarrier_wait_parity(m + 1, i & 1);
    }
    out[cgx_thread_rank(cgx_this_grid())] = sum;
    cgx_sync(c);
}

CGX_KERNEL_EXTERN(cluster_ring, (int, rounds), (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, full);
    CGX_SHARED(int, box);
    int me = cgx_block_rank(c), blocks = cgx_num_blocks(c), next = (me + 1) % blocks;
    if (cgx_elect(b))
        cgx_mbarrier_init(full, 1);
    cgx_sync(c);
    if (cgx_elect(b)) {
        for (int i = 0; i < rounds; i++) {
            int v = 1;
            if (me || i) {
                cgx_mbarrier_wait_parity(full, (me ? i : i - 1) & 1);
                v = *box + 1;
            }
            *cgx_map_shared_rank(c, box, next) = v;
            cgx_mbarrier_arrive(cgx_map_shared_rank(c, full, next));
        }
        if (me == 0) {
            cgx_mbarrier_wait_parity(full, (rounds - 1) & 1);
            out[cgx_cluster_rank(cgx_this_grid())] = *box;
        }
    }
    cgx_sync(c);
}

#define SPIN(n)                                     \
    for (volatile int spin = 0; spin < (n); spin++) \
        ;

CGX_KERNEL_EXTERN(split_barriers, (int, rounds), (int *, out))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, s, 1024);
    CGX_SHARED(int, leader);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), me = cgx_block_rank(c), blocks = cgx_num_blocks(c),
        wrong = 0;
    for (int i = 0; i < rounds; i++) {
        s[rank] = i * n + rank;
        if (rank == 0)
            *leader = i;
        cgx_token tc = cgx_barrier_arrive(c);
        cgx_token tb = cgx_barrier_arrive(b); /* two barriers at the same time */
        SPIN((rank * 7 + i) % 5)
        cgx_barrier_wait(b, tb);
        wrong += s[(rank + 1) % n] != i * n + (rank + 1) % n;
        cgx_barrier_wait(c, tc);
        wrong += *cgx_map_shared_rank(c, leader, (me + 1) % blocks) != i;
        tb = cgx_barrier_arrive(b);
        cgx_barrier_wait(b, tb);
        tc = cgx_barrier_arrive(c);
        cgx_barrier_wait(c, tc);
    }
    out[cgx_thread_rank(cgx_this_grid())] = wrong;
}

CGX_KERNEL_EXTERN_COOPERATIVE(split_barriers_grid, (int, rounds), (int *, counters), (int *, out))
{
    cgx_grid g = cgx_this_grid();
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    int64_t rank = cgx_thread_rank(g), n = cgx_num_threads(g);
    int wrong = 0;
    for (int i = 0; i < rounds; i++) {
        counters[rank] = i;
        cgx_token tg = cgx_barrier_arrive(g), tc = cgx_barrier_arrive(c), tb = cgx_barrier_arrive(b);
        SPIN((rank + i) % 4)
        if (i % 2) {
            cgx_barrier_wait(b, tb);
            cgx_barrier_wait(g, tg);
            cgx_barrier_wait(c, tc);
        } else {
            cgx_barrier_wait(g, tg);
            cgx_barrier_wait(c, tc);
            cgx_barrier_wait(b, tb);
        }
        for (int k = 1; k < 5; k++)
            wrong += counters[(rank + k * 37) % n] != i;
        cgx_sync(g);
    }
    out[rank] = wrong;
}

CGX_KERNEL_EXTERN(cluster_histogram, (int, n), (const int *, in), (int *, bins))
{
    cgx_cluster c = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    CGX_SHARED_ARRAY(int, mine, BINS);
    int blocks = cgx_num_blocks(c), share = (BINS + blocks - 1) / blocks, me = cgx_block_rank(c);
    for (int i = cgx_thread_rank(b); i < share; i += cgx_num_threads(b))
        mine[i] = 0;
    cgx_sync(c);
    for (int64_t i = cgx_thread_rank(g); i < n; i += cgx_num_threads(g))
        cgx_atomic_fetch_add(cgx_map_shared_rank(c, mine, in[i] / share) + in[i] % share, 1, CGX_RELAXED,
                             CGX_SCOPE_CLUSTER);
    cgx_sync(c);
    for (int i = cgx_thread_rank(b); i < share && me * share + i < BINS; i += cgx_num_threads(b))
        cgx_atomic_fetch_add(bins + me * share + i, mine[i], CGX_RELAXED, CGX_SCOPE_DEVICE);
}

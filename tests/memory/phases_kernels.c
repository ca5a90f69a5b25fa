/* SPDX-License-Identifier: MIT */
#include "phases_kernels.h"

CGX_DEVICE_FN unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

CGX_KERNEL_EXTERN(many_phases, (int, phases), (int *, bad))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(int, s, 2 * 256);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), wrong = 0;
    if (rank == n / 2)
        cgx_mbarrier_init(m, (uint32_t)n);
    cgx_sync(b);
    for (int i = 0; i < phases; i++) {
        int *mine = s + i % 2 * 256; /* two, so that one barrier a round is enough */
        mine[rank] = i;
        cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
        uint32_t pending = cgx_mbarrier_token_pending(t);
        wrong += pending < 1 || pending > (uint32_t)n;
        switch ((rank + i) % 6) {
        case 0: cgx_mbarrier_wait(m, t); break;
        case 1: cgx_mbarrier_wait_parity(m, i & 1); break;
        case 2:
            while (!cgx_mbarrier_test_wait(m, t))
                ;
            break;
        case 3:
            while (!cgx_mbarrier_test_wait_parity(m, i & 1))
                ;
            break;
        case 4:
            while (!cgx_mbarrier_try_wait(m, t, 100))
                ;
            break;
        case 5:
            while (!cgx_mbarrier_try_wait_parity(m, i & 1, 0))
                ;
            break;
        }
        wrong += !cgx_mbarrier_test_wait(m, t); /* it stays true */
        wrong += mine[(rank + 1) % n] != i || mine[(rank + 7) % n] != i;
    }
    bad[rank] = wrong;
}

CGX_KERNEL_EXTERN(large_counts, (int, rounds), (unsigned, seed), (int *, bad))
{
    CGX_SHARED(cgx_mbarrier, m);
    int wrong = 0;
    for (int i = 0; i < rounds; i++) {
        uint32_t most = cgx_mbarrier_max_count(), count = i == 0 ? most : i == 1 ? 1 : 1 + draw(&seed) % most;
        cgx_mbarrier_init(m, count);
        for (int phase = 0; phase < 5 && count; phase++) {
            uint32_t left = count, next = count;
            cgx_mbarrier_token first = cgx_mbarrier_arrive_n(m, 1), t = first;
            wrong += cgx_mbarrier_token_pending(first) != left;
            for (left--; left;) {
                uint32_t n = 1 + draw(&seed) % (left > 4 ? (left + 1) / 2 : left);
                wrong += cgx_mbarrier_test_wait(m, first) != 0;
                if (n == 1) {
                    t = cgx_mbarrier_arrive_and_drop(m);
                    next--;
                } else {
                    t = cgx_mbarrier_arrive_n(m, n);
                }
                wrong += cgx_mbarrier_token_pending(t) != left;
                left -= n;
            }
            wrong += !cgx_mbarrier_test_wait(m, first) || !cgx_mbarrier_test_wait(m, t);
            wrong += !cgx_mbarrier_try_wait_parity(m, phase & 1, 0) || cgx_mbarrier_test_wait_parity(m, !(phase & 1));
            count = next;
        }
        cgx_mbarrier_inval(m);
    }
    *bad = wrong;
}

CGX_KERNEL_EXTERN(drop_to_zero, (unsigned, seed), (int *, bad))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED(int, here);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), wrong = 0;
    unsigned mine = seed + 977u * (unsigned)rank;
    int rounds = rank == 0 ? 40 : (int)(draw(&mine) % 40u); /* thread 0 goes last */
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, (uint32_t)n);
        *here = n;
    }
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
        wrong += (int)cgx_mbarrier_token_pending(t) > cgx_atomic_load(here, CGX_RELAXED, CGX_SCOPE_BLOCK);
        cgx_mbarrier_wait(m, t);
    }
    cgx_mbarrier_token t = cgx_mbarrier_arrive_and_drop(m);
    if (rank == 0) { /* alone: nobody is expected any more */
        wrong += cgx_mbarrier_token_pending(t) != 1;
        wrong += !cgx_mbarrier_test_wait(m, t);
        cgx_mbarrier_inval(m);
    }
    bad[rank] = wrong;
}

CGX_KERNEL_EXTERN(plain_ring, (int, stages), (int, producers), (int, items), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, full, 8);
    CGX_SHARED_ARRAY(cgx_mbarrier, empty, 8);
    CGX_SHARED_ARRAY2(int, stage, 8, 256);
    int rank = cgx_thread_rank(b), consumers = cgx_num_threads(b) - producers, sum = 0;
    if (cgx_elect(b))
        for (int i = 0; i < stages; i++) {
            cgx_mbarrier_init(full + i, (uint32_t)producers);
            cgx_mbarrier_init(empty + i, (uint32_t)consumers);
        }
    cgx_sync(b);
    for (int i = 0; i < items; i++) {
        int s = i % stages, odd = i / stages & 1;
        if (rank < producers) {
            if (rank % 2)
                cgx_mbarrier_wait_parity(empty + s, !odd);
            else
                while (!cgx_mbarrier_try_wait_parity(empty + s, !odd, 500))
                    ;
            stage[s][rank] = 1000 * i + rank;
            cgx_mbarrier_arrive(full + s);
        } else {
            cgx_mbarrier_wait_parity(full + s, odd);
            for (int k = 0; k < producers; k++)
                sum += stage[s][k] - 1000 * i == k;
            cgx_mbarrier_arrive(empty + s);
        }
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(time_limits, (int, by_token), (const unsigned *, limits), (int *, result), (uint64_t *, took))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, 2);
        cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
        for (int i = 0; i < LIMITS; i++) {
            uint64_t start = cgx_clock_nanoseconds();
            result[2 * i] =
                by_token ? cgx_mbarrier_try_wait(m, t, limits[i]) : cgx_mbarrier_try_wait_parity(m, 0, limits[i]);
            took[2 * i] = cgx_clock_nanoseconds() - start;
        }
        cgx_mbarrier_arrive(m);
        for (int i = 0; i < LIMITS; i++) {
            uint64_t start = cgx_clock_nanoseconds();
            result[2 * i + 1] =
                by_token ? cgx_mbarrier_try_wait(m, t, limits[i]) : cgx_mbarrier_try_wait_parity(m, 0, limits[i]);
            took[2 * i + 1] = cgx_clock_nanoseconds() - start;
        }
    }
}

CGX_KERNEL_EXTERN(polled_tokens, (int, polls), (int *, bad))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED(int, go);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), wrong = 0;
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, (uint32_t)n);
        *go = 0;
    }
    cgx_sync(b);
    if (rank == 0) /* arrives when all the others have polled in vain */
        while (cgx_atomic_load(go, CGX_ACQUIRE, CGX_SCOPE_BLOCK) < n - 1)
            ;
    cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
    for (int i = 0; rank && i < polls; i++) {
        wrong += cgx_mbarrier_test_wait(m, t) != 0;
        wrong += cgx_mbarrier_try_wait(m, t, 0) != 0;
    }
    cgx_atomic_fetch_add(go, 1, CGX_RELEASE, CGX_SCOPE_BLOCK);
    while (!cgx_mbarrier_test_wait(m, t))
        ;
    for (int i = 0; i < polls; i++) {
        wrong += !cgx_mbarrier_test_wait(m, t);
        wrong += !cgx_mbarrier_try_wait(m, t, 1000000000);
        cgx_mbarrier_wait(m, t);
    }
    bad[rank] = wrong;
}

CGX_KERNEL_EXTERN(stress_groups, (int, rounds), (unsigned, seed), (int *, bad))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_tile_8 small = cgx_tiled_partition(t, 8);
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED(int, count);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), wrong = 0;
    unsigned all = seed, mine = seed + 7919u * (unsigned)rank;
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, (uint32_t)n);
        *count = 0;
    }
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        unsigned what = draw(&all) % 6u, how = draw(&mine);
        if (what == 0)
            wrong += cgx_reduce(small, 1, CGX_PLUS) != 8;
        else if (what == 1)
            wrong += cgx_exclusive_scan(t, 1, CGX_PLUS) != cgx_thread_rank(t);
        else if (what == 2)
            cgx_sync(b);
        else if (what == 3 && how % 2u) {
            cgx_coalesced g = cgx_coalesced_threads();
            wrong += cgx_reduce(g, 1, CGX_PLUS) != cgx_num_threads(g);
        } else if (what == 4)
            cgx_barrier_wait(b, cgx_barrier_arrive(b));
        else if (what == 5)
            wrong += cgx_shfl(t, rank, 5) != rank / 32 * 32 + 5;
        cgx_atomic_fetch_add(count, 1, CGX_RELAXED, CGX_SCOPE_BLOCK);
        cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
        wrong += cgx_atomic_load(count, CGX_RELAXED, CGX_SCOPE_BLOCK) < n * (i + 1);
    }
    bad[cgx_thread_rank(cgx_this_grid())] = wrong;
}

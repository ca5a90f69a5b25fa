/* SPDX-License-Identifier: MIT */
#include "mbarrier_kernels.h"

CGX_KERNEL_EXTERN(mb_steps, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, m);
    int i = 0;
    cgx_mbarrier_init(m, 3);
    out[i++] = cgx_mbarrier_test_wait_parity(m, 1);   /* 0: a fresh barrier's odd phase is over */
    out[i++] = cgx_mbarrier_test_wait_parity(m, 0);   /* 1: its even one is not */
    out[i++] = cgx_mbarrier_try_wait_parity(m, 0, 0); /* 2 */
    cgx_mbarrier_wait_parity(m, 1);
    cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
    out[i++] = (int)cgx_mbarrier_token_pending(t); /* 3: three were pending before */
    out[i++] = cgx_mbarrier_test_wait(m, t);       /* 4 */
    cgx_mbarrier_token t2 = cgx_mbarrier_arrive_n(m, 2);
    out[i++] = (int)cgx_mbarrier_token_pending(t2); /* 5 */
    out[i++] = cgx_mbarrier_test_wait(m, t);        /* 6: both tokens are of the phase that is over */
    out[i++] = cgx_mbarrier_test_wait(m, t2);       /* 7 */
    out[i++] = cgx_mbarrier_try_wait(m, t, 0);      /* 8 */
    cgx_mbarrier_wait(m, t);
    out[i++] = cgx_mbarrier_test_wait_parity(m, 0); /* 9: now the even phase is the one before */
    out[i++] = cgx_mbarrier_test_wait_parity(m, 1); /* 10 */
    t = cgx_mbarrier_arrive(m);
    out[i++] = (int)cgx_mbarrier_token_pending(t); /* 11: the count is back */
    out[i++] = cgx_mbarrier_test_wait(m, t);       /* 12 */
    t2 = cgx_mbarrier_arrive_and_drop(m);
    out[i++] = (int)cgx_mbarrier_token_pending(t2); /* 13 */
    cgx_mbarrier_arrive(m);
    out[i++] = cgx_mbarrier_test_wait(m, t); /* 14 */
    t = cgx_mbarrier_arrive(m);
    out[i++] = (int)cgx_mbarrier_token_pending(t); /* 15: one less */
    cgx_mbarrier_arrive(m);
    out[i++] = cgx_mbarrier_test_wait(m, t);               /* 16 */
    out[i++] = cgx_mbarrier_max_count() == (1u << 20) - 1; /* 17 */
    cgx_mbarrier_inval(m);
    cgx_mbarrier_init(m, cgx_mbarrier_max_count());
    t = cgx_mbarrier_arrive(m);
    out[i++] = cgx_mbarrier_token_pending(t) == cgx_mbarrier_max_count(); /* 18 */
    cgx_mbarrier_arrive_n(m, cgx_mbarrier_max_count() - 1);
    out[i++] = cgx_mbarrier_test_wait(m, t); /* 19 */
    out[i++] = (int)sizeof(cgx_mbarrier);    /* 20 */
}

CGX_KERNEL_EXTERN(mb_phases, (int, phases), (int, way), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0;
    if (rank == n - 1) {
        cgx_mbarrier_init(m, (uint32_t)n);
        cgx_mbarrier_init(m + 1, (uint32_t)n);
    }
    cgx_sync(b);
    for (int i = 0; i < phases; i++) {
        s[rank] = rank + i;
        for (int k = 0; k < 2; k++) { /* before reading and after it */
            cgx_mbarrier_token t = cgx_mbarrier_arrive(m + k);
            if (way == MB_TOKEN)
                cgx_mbarrier_wait(m + k, t);
            else if (way == MB_PARITY)
                cgx_mbarrier_wait_parity(m + k, i & 1);
            else if (way == MB_TRY)
                while (!cgx_mbarrier_try_wait(m + k, t, 1000))
                    ;
            else
                while (!cgx_mbarrier_try_wait_parity(m + k, i & 1, 1000))
                    ;
            if (k == 0)
                sum += s[(rank + 1) % n];
        }
    }
    out[cgx_thread_rank(cgx_this_grid())] = sum;
}

CGX_KERNEL_EXTERN(mb_poll, (int, way), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    if (rank == 0)
        cgx_mbarrier_init(m, (uint32_t)n);
    cgx_sync(b);
    s[rank] = rank;
    cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
    if (way == 0)
        while (!cgx_mbarrier_test_wait(m, t))
            ;
    else if (way == 1)
        while (!cgx_mbarrier_test_wait_parity(m, 0))
            ;
    else if (way == 2)
        while (!cgx_mbarrier_try_wait(m, t, 0))
            ;
    else
        while (!cgx_mbarrier_try_wait_parity(m, 0, 0))
            ;
    out[rank] = s[n - 1 - rank];
}

CGX_KERNEL_EXTERN(mb_pending, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
    cgx_mbarrier_wait(m, t);
    out[cgx_thread_rank(b)] = (int)cgx_mbarrier_token_pending(t);
}

CGX_KERNEL_EXTERN(mb_drop, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0;
    if (cgx_elect(b))
        cgx_mbarrier_init(m, (uint32_t)n);
    cgx_sync(b);
    cgx_tile_32 warp = cgx_tiled_partition(b, 32);
    for (int i = 0; i < n; i++) {     /* thread r leaves after round r */
        int *round = s + i % 2 * 512; /* two: some write the next round's while others read */
        round[rank] = i;
        cgx_mbarrier_token token = { 0 };
        if (rank == i)
            cgx_mbarrier_arrive_and_drop(m);
        else
            token = cgx_mbarrier_arrive(m);
        /* Where threads of a wave go in step, those that wait must not do so before another of the wave has arrived. */
        cgx_sync(warp);
        if (rank == i)
            break;
        cgx_mbarrier_wait(m, token);
        sum += round[n - 1] == i;
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(mb_arrive_n, (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    CGX_SHARED_ARRAY(int, s, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0;
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, (uint32_t)n);
        cgx_mbarrier_init(m + 1, (uint32_t)n);
    }
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        s[rank] = rank * i;
        cgx_sync(cgx_tiled_partition(b, 2)); /* the odd one arrives for both */
        if (rank % 2)
            cgx_mbarrier_arrive_n(m, 2);
        cgx_mbarrier_wait_parity(m, i & 1);
        sum += s[n - 1 - rank];
        cgx_mbarrier_wait(m + 1, cgx_mbarrier_arrive(m + 1));
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(mb_timeout, (int, max_ns), (int *, result), (uint64_t *, took))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, 2);
    cgx_sync(b);
    if (cgx_elect(b)) {
        cgx_mbarrier_token t = cgx_mbarrier_arrive(m);
        uint64_t start = cgx_clock_nanoseconds();
        result[0] = cgx_mbarrier_try_wait(m, t, (uint32_t)max_ns);
        *took = cgx_clock_nanoseconds() - start;
        cgx_mbarrier_arrive(m);
        result[1] = cgx_mbarrier_try_wait(m, t, (uint32_t)max_ns);
    }
}

CGX_KERNEL_EXTERN(mb_reuse, (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), bad = 0;
    for (int i = 0; i < 3; i++) {
        if (rank == i)
            cgx_mbarrier_init(m, (uint32_t)(n + i));
        cgx_sync(b);
        if (rank == 0)
            for (int k = 0; k < i; k++)
                cgx_mbarrier_arrive(m);
        cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
        cgx_sync(b);
        if (rank == n - 1) {
            cgx_mbarrier_inval(m);
            *(uint64_t *)(void *)m = 0x0123456789abcdefu + (uint64_t)i;
        }
        cgx_sync(b);
        bad += *(uint64_t *)(void *)m != 0x0123456789abcdefu + (uint64_t)i;
        cgx_sync(b);
    }
    out[rank] = bad;
}

enum { RING = 3 };
CGX_KERNEL_EXTERN(mb_ring, (int, items), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, full, RING);
    CGX_SHARED_ARRAY(cgx_mbarrier, empty, RING);
    CGX_SHARED_ARRAY2(int, stage, RING, 64);
    cgx_tile_64 warp = cgx_tiled_partition(b, 64); /* a wave where one has 64 threads: both sides wait for each other */
    int lane = cgx_thread_rank(warp), consumers = cgx_num_threads(b) - 64, sum = 0;
    if (cgx_elect(b))
        for (int i = 0; i < RING; i++) {
            cgx_mbarrier_init(full + i, 64);
            cgx_mbarrier_init(empty + i, (uint32_t)consumers);
        }
    cgx_sync(b);
    if (cgx_meta_group_rank(warp) == 0) {
        for (int i = 0; i < items; i++) {
            cgx_mbarrier_wait_parity(empty + i % RING, !(i / RING & 1)); /* at once in the first round */
            stage[i % RING][lane] = in[i * 64 + lane];
            cgx_mbarrier_arrive(full + i % RING);
        }
    } else {
        for (int i = 0; i < items; i++) {
            cgx_mbarrier_wait_parity(full + i % RING, i / RING & 1);
            sum += stage[i % RING][(lane + i) % 64] * (i + 1);
            cgx_mbarrier_arrive(empty + i % RING);
        }
    }
    out[cgx_thread_rank(b)] = sum;
}

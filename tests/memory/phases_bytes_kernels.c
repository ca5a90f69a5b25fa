/* SPDX-License-Identifier: MIT */
/* A file of its own: where one barrier counts bytes, all of its file are in software on sm_80 to 89. */
#include "phases_kernels.h"

CGX_DEVICE_FN unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

CGX_KERNEL_EXTERN(stress, (int, rounds), (unsigned, seed), (const int *, in), (int *, bad))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(cgx_mbarrier, m, 2);
    CGX_SHARED_ARRAY(cgx_int4, room, 64);
    CGX_SHARED_ARRAY(int, plain, 64);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), wrong = 0;
    unsigned mine = seed ^ 0x9e3779b9u * (unsigned)(rank + 1), all = seed; /* `all` draws the same in every thread */
    if (cgx_elect(b)) {
        cgx_mbarrier_init(m, (uint32_t)n);
        cgx_mbarrier_init(m + 1, (uint32_t)n);
    }
    plain[rank] = -1;
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        unsigned what = draw(&all) % 8u, how = draw(&mine);
        int copier = (int)(draw(&all) % (unsigned)n), from = (int)(draw(&all) % 64u), at = i & 1;
        cgx_mbarrier_token t;
        plain[rank] = i;
        if (what == 0 && rank == copier) { /* announces, then copies */
            t = cgx_mbarrier_arrive_expect_tx(m, 64);
            cgx_bulk_copy_async(room, in + 4 * from, 32, m);
            cgx_bulk_copy_async(room + 2, in + 4 * from + 8, 32, m);
        } else if (what == 1 && rank == copier) { /* copies, then announces */
            cgx_bulk_copy_async(room, in + 4 * from, 64, m);
            t = cgx_mbarrier_arrive_expect_tx(m, 64);
        } else if (what == 2) { /* everybody's own copy */
            cgx_pipeline_memcpy_async(room + rank, in + 4 * from, 16);
            cgx_pipeline_arrive_on(m);
            t = cgx_mbarrier_arrive(m);
        } else {
            t = cgx_mbarrier_arrive(m);
        }
        switch (how % 5u) {
        case 0: cgx_mbarrier_wait(m, t); break;
        case 1: cgx_mbarrier_wait_parity(m, at); break;
        case 2:
            while (!cgx_mbarrier_test_wait(m, t))
                ;
            break;
        case 3:
            while (!cgx_mbarrier_try_wait_parity(m, at, how % 300u))
                ;
            break;
        default:
            while (!cgx_mbarrier_try_wait(m, t, 50))
                ;
            break;
        }
        wrong += plain[how % (unsigned)n] != i;
        if (what < 2)
            for (int k = 0; k < 16; k++)
                wrong += ((const int *)room)[k] != in[4 * from + k];
        else if (what == 2)
            wrong += ((const int *)(room + (rank + 1) % n))[3] != in[4 * from + 3];
        t = cgx_mbarrier_arrive(m + 1);
        if (how & 1024)
            cgx_mbarrier_wait(m + 1, t);
        else
            while (!cgx_mbarrier_test_wait_parity(m + 1, at))
                ;
    }
    bad[cgx_thread_rank(cgx_this_grid())] = wrong;
}

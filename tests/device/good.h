/* SPDX-License-Identifier: MIT */
/* A kernel that is right, to be run after one that was not: the queue, the stacks and every barrier have to be as good
 * as new. One kernel file of a program defines DEFINE_GOOD_KERNEL, host files include check.h first. */
#ifndef TESTS_GOOD_H
#define TESTS_GOOD_H
#include <cgx.h>

enum { GOOD_BLOCKS = 5, GOOD_THREADS = 160, GOOD_LANE = 32 };

/* The rank of every thread in its block, found the long way round. */
CGX_KERNEL_DECLARE(good, (int, offset), (int *, out))

#ifdef DEFINE_GOOD_KERNEL
CGX_KERNEL_EXTERN(good, (int, offset), (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    CGX_SHARED_ARRAY(int, totals, GOOD_THREADS / GOOD_LANE);
    CGX_SHARED(cgx_mbarrier, m);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, GOOD_THREADS);
    cgx_sync(b);
    int below = cgx_exclusive_scan(t, 1, CGX_PLUS);
    if (cgx_thread_rank(t) == 31)
        totals[cgx_meta_group_rank(t)] = below + 1;
    cgx_mbarrier_wait(m, cgx_mbarrier_arrive(m));
    int before = cgx_thread_rank(t) < cgx_meta_group_rank(t) ? totals[cgx_thread_rank(t)] : 0;
    cgx_sync(t);
    before = cgx_reduce(t, before, CGX_PLUS);
    int all = cgx_reduce(b, 1, CGX_PLUS);
    out[cgx_thread_rank(g)] = offset + (all == GOOD_THREADS ? before + below : -1);
}
#endif

#ifdef TESTS_CHECK_H
/* Launches only: for a good kernel behind a bad one. */
CGX_UNUSED static int *good_start(int offset)
{
    int *out = device_memory(GOOD_BLOCKS * GOOD_THREADS * sizeof *out);
    check_ok(good_launch(test_queue, cgx_config_1d(GOOD_BLOCKS, GOOD_THREADS), offset, out));
    return out;
}
CGX_UNUSED static void good_check(int offset, int *out)
{
    int results[GOOD_BLOCKS * GOOD_THREADS];
    fetch(results, out, sizeof results);
    for (int i = 0; i < GOOD_BLOCKS * GOOD_THREADS; i++)
        assert_int_equal(results[i], offset + i % GOOD_THREADS);
    device_free(out);
}
CGX_UNUSED static void check_still_works(void)
{
    int offset = random_below(1000);
    good_check(offset, good_start(offset));
}
#endif
#endif

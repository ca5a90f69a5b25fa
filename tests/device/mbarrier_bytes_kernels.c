/* SPDX-License-Identifier: MIT */
/* A file of their own: where one barrier counts bytes, all of its file are in software on sm_80 to 89. */
#include "mbarrier_kernels.h"

CGX_KERNEL_EXTERN(mb_bytes, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(cgx_mbarrier, m);
    CGX_SHARED_ARRAY(cgx_int4, room, 64);
    int *s = (int *)room, rank = cgx_thread_rank(b);
    if (cgx_elect(b))
        cgx_mbarrier_init(m, 1);
    cgx_sync(b);
    if (cgx_elect(b)) {
        cgx_mbarrier_arrive_expect_tx(m, 512); /* all at once, in two pieces */
        cgx_bulk_copy_async(s, in, 256, m);
        cgx_bulk_copy_async(s + 64, in + 64, 256, m);
    }
    cgx_mbarrier_wait_parity(m, 0);
    int v = s[rank];
    cgx_sync(b);
    if (cgx_elect(b)) {
        cgx_bulk_copy_async(s, in + 128, 512, m); /* may land before it is announced */
        cgx_mbarrier_arrive_expect_tx(m, 512);
    }
    cgx_mbarrier_wait_parity(m, 1);
    out[rank] = v + s[rank];
}

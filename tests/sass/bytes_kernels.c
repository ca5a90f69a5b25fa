/* SPDX-License-Identifier: MIT */
/* What scripts/sass.sh looks at beside sass_kernels.c: a file whose mbarriers count bytes, which those of sm_80 to 89 cannot. */
#include <cgx.h>

/* As in sass_kernels.c. */
#define KERNEL(...) CGX_KERNEL_DECLARE(__VA_ARGS__) CGX_KERNEL_EXTERN(__VA_ARGS__)

KERNEL(bulk_copy, (const cgx_int4 *, in), (cgx_int4 *, out))
{
    CGX_SHARED_ARRAY(cgx_int4, s, 1024);
    CGX_SHARED(cgx_mbarrier, barrier);
    cgx_block b = cgx_this_block();
    if (cgx_elect(b)) {
        cgx_mbarrier_init(barrier, 1);
        cgx_mbarrier_arrive_expect_tx(barrier, 16384);
        cgx_bulk_copy_async(s, in, 16384, barrier);
    }
    cgx_sync(b);
    cgx_mbarrier_wait_parity(barrier, 0);
    out[cgx_thread_rank(b)] = s[cgx_thread_rank(b)];
}
KERNEL(mbarrier_beside_bytes, (int *, out))
{
    CGX_SHARED(cgx_mbarrier, barrier);
    cgx_block b = cgx_this_block();
    if (cgx_elect(b))
        cgx_mbarrier_init(barrier, (uint32_t)cgx_num_threads(b));
    cgx_sync(b);
    cgx_mbarrier_wait(barrier, cgx_mbarrier_arrive(barrier));
    out[cgx_thread_rank(b)] = 1;
}

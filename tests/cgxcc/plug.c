/* SPDX-License-Identifier: MIT */
/* A plug-in with a kernel. */
#include <cgx.h>

CGX_KERNEL(twice, (int *, p))
{
    p[cgx_thread_rank(cgx_this_block())] *= 2;
}

#ifdef CGX_HOST_PASS
__attribute__((visibility("default"))) int plug_run(cgx_queue *q);
int plug_run(cgx_queue *q)
{
    int v[4] = { 1, 2, 3, 4 };
    int error = twice_launch(q, cgx_config_1d(1, 4), v);
    return error || cgx_queue_wait(q) || v[3] != 8;
}
#endif

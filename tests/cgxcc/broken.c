/* SPDX-License-Identifier: MIT */
#include <cgx.h>
CGX_KERNEL(bad, (int *, p))
{
    *p = 1; /* fake-nvcc fails, fake-clang fails */
}
#ifdef CGX_HOST_PASS
int broken(cgx_queue *q, int *p)
{
    return bad_launch(q, cgx_config_1d(1, 1), p);
}
#endif

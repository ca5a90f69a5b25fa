/* SPDX-License-Identifier: MIT */
/* A launch across files does not compile: elsewhere.sh defines CASE 1 for it. Without it everything does, a launch
 * before the definition among it. */
#include "elsewhere.h"

CGX_KERNEL_LAUNCHING(before, (int, n), (int *, out))
{
    of_this_file_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(1, 1), n, out);
}

CGX_KERNEL_EXTERN_WITH(CGX_LAUNCHING(CGX_MAX_THREADS(64)), of_this_file, (int, n), (int *, out))
{
    if (n > 0)
        of_this_file_dlaunch(CGX_TAIL_LAUNCH, cgx_config_1d(1, 1), n - 1, out);
    before_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(1, 1), n, out);
#if CASE == 1
    of_another_file_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(1, 1), n, out);
#endif
}

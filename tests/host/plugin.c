/* SPDX-License-Identifier: MIT */
/* A shared object with a kernel, for dlopen. */
#include "plugin_kernels.h"

CGX_API cgx_status plugin_run(cgx_queue *queue, int n, int *out);

cgx_status plugin_run(cgx_queue *queue, int n, int *out)
{
    return plugin_triple_launch(queue, cgx_cover(n, 64), n, out);
}

/* SPDX-License-Identifier: MIT */
/* Every way to hand macros and folders to a compiler, with quotes, commas and blanks. */
#include <cgx.h>
#include <in_system_folder.h>
#include "in_quote_folder.h"

static const char *const text = NAME;

CGX_KERNEL(f, (int *, p))
{
    *p = PAIR + SYSTEM + QUOTE;
}

#ifdef CGX_HOST_PASS
int flags(cgx_queue *q, int *p)
{
    return (int)f_launch(q, cgx_config_1d(1, 1), p) + (text[0] != 'a');
}
#endif

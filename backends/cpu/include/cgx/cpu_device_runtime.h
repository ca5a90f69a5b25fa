/* SPDX-License-Identifier: MIT */
/* CPU pass: the part of the device runtime that is inlined; the rest are functions of libcgx. */
#ifndef CGX_CPU_DEVICE_RUNTIME_H
#define CGX_CPU_DEVICE_RUNTIME_H
#include <cgx/barrier.h>

CGX__EXTERN_C_BEGIN
CGX_API int cgx__cpu_unit(const cgx_cpu_worker *worker);
CGX__EXTERN_C_END

CGX__INLINE int cgx__unit_id(cgx_block b)
{
    CGX__NEEDS_BLOCK(b.t, b.level);
    return cgx__cpu_unit(b.t->block->worker);
}
CGX__INLINE int cgx__warp_id(cgx_block b)
{
    return b.t->rank / b.t->shape->lanes;
}
#endif

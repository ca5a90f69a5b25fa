/* SPDX-License-Identifier: MIT */
/* Both device passes: the texts of statuses, from the one list. */
#ifndef CGX_GPU_DEVICE_RUNTIME_H
#define CGX_GPU_DEVICE_RUNTIME_H
#include <cgx/device_runtime.h>
#include <cgx/group.h>

extern "C++" {

CGX__RUNTIME const char *cgx_runtime_status_name(cgx_status status)
{
    switch (status) {
#define CGX__CASE(name, value, text) \
    case name: return #name;
        CGX_FOREACH_STATUS(CGX__CASE)
#undef CGX__CASE
    default: return "unknown status";
    }
}
CGX__RUNTIME const char *cgx_runtime_status_text(cgx_status status)
{
    switch (status) {
#define CGX__CASE(name, value, text) \
    case name: return text;
        CGX_FOREACH_STATUS(CGX__CASE)
#undef CGX__CASE
    default: return "unknown status";
    }
}

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* Both device passes: what can be said of the device runtime without knowing how it launches. */
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

/* The host's choice (api/launch.c): most threads on a unit, of equals the size nearest to 256. */
CGX__RUNTIME cgx_status cgx_runtime_best_block_with(cgx_device_kernel kernel, size_t dynamic_shared,
                                                    size_t bytes_a_thread, int *threads, int *blocks)
{
    const int candidates[] = { 256, 512, 128, 1024, 64, 32 };
    int best = 0, best_running = 0, best_per_unit = 0, device = 0, units = 0;
    cgx_device_kernel_info info;
    cgx_status s = cgx_runtime_kernel_info(kernel, &info);
    for (int i = 0; !s && i < 6; i++) {
        const int n = candidates[i];
        int per_unit = 0;
        if (n > info.max_threads)
            continue;
        s = cgx_runtime_occupancy(kernel, n, dynamic_shared + bytes_a_thread * (size_t)n, &per_unit);
        if (per_unit * n > best_running)
            best = n, best_running = per_unit * n, best_per_unit = per_unit;
    }
    s = s ? s : cgx_runtime_device(&device);
    s = s ? s : cgx_runtime_attribute(CGX_ATTRIBUTE_UNITS, device, &units);
    if (s)
        return s;
    if (!best)
        return CGX_ERROR_LIMIT;
    *threads = best;
    *blocks = best_per_unit * units;
    return CGX_OK;
}
CGX__RUNTIME cgx_status cgx_runtime_best_block(cgx_device_kernel kernel, size_t dynamic_shared, int *threads,
                                               int *blocks)
{
    return cgx_runtime_best_block_with(kernel, dynamic_shared, 0, threads, blocks);
}

} /* extern "C++" */
#endif

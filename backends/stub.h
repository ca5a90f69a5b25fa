/* SPDX-License-Identifier: MIT */
/* A backend that is not built: it links, and says so. Each room's stub.c is this with its name. */
#ifndef CGX_STUB_H
#define CGX_STUB_H
#include <stdio.h>
#include "backend.h"

static cgx_status stub_start(int *device_count, char *reason, size_t reason_bytes)
{
    *device_count = 0;
    snprintf(reason, reason_bytes, "not built into this libcgx");
    return CGX_ERROR_NOT_BUILT;
}
#define CGX_STUB(backend) const cgx_backend cgx_backend_##backend = { .name = #backend, .start = stub_start }
#endif

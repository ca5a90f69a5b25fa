/* SPDX-License-Identifier: MIT */
/* What backend.c, the CPU as a device, has for the device runtime. */
#ifndef CGX_CPU_BACKEND_H
#define CGX_CPU_BACKEND_H
#include "fiber.h"

/* The device, once a kernel that may launch has been launched. */
INTERNAL const cgx_device *cgx__cpu_device(void);
/* All of a launch that comes from what was asked and from the device; the rest is the caller's, and zero. */
INTERNAL void cgx__cpu_prepare_launch(launch *l, const cgx_launch_request *r);
#endif

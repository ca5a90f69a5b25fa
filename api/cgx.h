/* SPDX-License-Identifier: MIT */
/* cgx.h: everything. A host program that launches no kernels of its own may include <cgx/host.h> alone. */
#ifndef CGX_H
#define CGX_H
#include <cgx/host.h>
#include <cgx/kernel.h>
#include <cgx/group.h>
#include <cgx/collective.h>
#include <cgx/barrier.h>
#include <cgx/async.h>
#include <cgx/atomic.h>
#include <cgx/device_runtime.h>
#include <cgx/types.h>
#endif

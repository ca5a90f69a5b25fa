/* SPDX-License-Identifier: MIT */
#ifndef CONSUMER_SCALE_H
#define CONSUMER_SCALE_H
#include <cgx.h>
CGX_KERNEL_DECLARE(scale, (int64_t, n), (float, factor), (float *, x))
#endif

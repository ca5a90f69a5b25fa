/* SPDX-License-Identifier: MIT */
#ifndef LANGUAGE_REPRESENTATIVE_H
#define LANGUAGE_REPRESENTATIVE_H
#include <cgx.h>
CGX_KERNEL_DECLARE(representative_extern, (int, n), (int *, out))
#endif

/* SPDX-License-Identifier: MIT */
#include <cgx.h>
CGX_KERNEL_DECLARE(of_another_file, (int, n), (int *, out))
CGX_KERNEL_DECLARE(of_this_file, (int, n), (int *, out))

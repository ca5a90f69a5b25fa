/* SPDX-License-Identifier: MIT */
#ifndef TESTS_STACK_KERNELS_H
#define TESTS_STACK_KERNELS_H
#include <cgx.h>

/* Arrays of 40 KiB in every thread, alive across barriers. */
enum { BIG = 10 * 1024 };
CGX_KERNEL_DECLARE(big_locals, (int, stride), (uint32_t *, out))
/* 200 KiB: more than a thread has on the CPU unless CGX_CPU_STACK says so. */
enum { HUGE_LOCALS = 28 * 1024 };
CGX_KERNEL_DECLARE(huge_locals, (int, stride), (uint32_t *, out))
/* Twelve functions deep, a barrier and a collective in each. */
CGX_KERNEL_DECLARE(deep_calls, (int *, out))
/* Sum over the block by a barrier: needs a stack for every thread. */
CGX_KERNEL_DECLARE(one_barrier, (int *, out))
#endif

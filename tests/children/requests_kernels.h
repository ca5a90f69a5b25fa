/* SPDX-License-Identifier: MIT */
#ifndef TESTS_REQUESTS_KERNELS_H
#define TESTS_REQUESTS_KERNELS_H
#include <cgx.h>

/* Each thread launches EACH blocks that add 1 to *count; with ASKS of a kernel that may launch, and with IN_ORDER in the block's stream. */
CGX_KERNEL_DECLARE(launch_many, (int, each), (int, asks), (int, in_order), (int *, count), (cgx_status *, status))
/* Threads of many waves take memory of the heap, write it, look at it and give it back. */
CGX_KERNEL_DECLARE(crowd_heap, (int, rounds), (int *, wrong), (int *, none))
/* All of the heap is one block again: takes BYTES at once. */
CGX_KERNEL_DECLARE(whole_heap, (size_t, bytes), (cgx_status *, status))
/* More handles than there is room for; more requests than memory. */
CGX_KERNEL_DECLARE(many_handles, (int, n), (cgx_status *, status))
/* Arguments of 1 KiB go to the child whole. */
typedef struct {
    int numbers[256];
} large_argument;
CGX_KERNEL_DECLARE(pass_large, (large_argument, large), (int *, sum), (cgx_status *, status))
#endif

/* SPDX-License-Identifier: MIT */
#ifndef TESTS_ASYNC_KERNELS_H
#define TESTS_ASYNC_KERNELS_H
#include <cgx.h>

enum { ASYNC_ROOM = 512 }; /* bytes of shared memory that a test looks at */

/* A group copies BYTES from source + FROM to shared memory + TO, which is full of 0xee before; out gets all of the
 * room. Groups: the block, a tile of 32, or the odd threads of one. */
enum { ASYNC_BLOCK, ASYNC_TILE, ASYNC_COALESCED, ASYNC_GROUPS };
CGX_KERNEL_DECLARE(async_copy, (int, kind), (int, from), (int, to), (int, bytes), (const unsigned char *, source),
                   (unsigned char *, out))
/* Two layouts, in ints: the smaller count is copied. */
CGX_KERNEL_DECLARE(async_counts, (int, to_count), (int, from_count), (const int *, source), (int *, out))
/* The tiles of each block through STAGES buffers with wait_prior. */
CGX_KERNEL_DECLARE(async_stages, (int, tiles), (const float *, in), (float *, out))
/* Every warp copies for itself. */
CGX_KERNEL_DECLARE(async_of_tiles, (const int *, in), (int *, out))
/* Shared to global, shared to shared, global to global. */
CGX_KERNEL_DECLARE(async_directions, (const int *, in), (int *, out), (int *, copy))
/* Each thread's own copies of N bytes with the last ZFILL zero. */
CGX_KERNEL_DECLARE(pipeline_copy, (int, n), (int, zfill), (const unsigned char *, in), (unsigned char *, out))
/* Stages of one thread each. */
CGX_KERNEL_DECLARE(pipeline_stages, (int, rounds), (const int *, in), (int *, out))
/* Copies that complete on an mbarrier. */
CGX_KERNEL_DECLARE(pipeline_on_barrier, (const int *, in), (int *, out))
#endif

/* SPDX-License-Identifier: MIT */
/* The rival of bench_barrier: the least that fibers with a barrier can be. One kernel, one thread, no errors found, no
 * early exits, no memory of who waits where. */
#ifndef BARE_FIBERS_H
#define BARE_FIBERS_H
#include <stdint.h>

/* Sanitizers follow stacks, and nothing here tells them. */
#if defined(__x86_64__) && defined(__LP64__) && defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define BARE_FIBERS 1
/* Runs BLOCKS blocks of THREADS threads, each of which waits ROUNDS times in the barrier of its WIDTH neighbours and
 * then adds ROUNDS to out[rank]. */
void bare_fibers_run(int64_t blocks, int threads, int width, int rounds, int *out);
#endif
#endif

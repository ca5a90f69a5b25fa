/* SPDX-License-Identifier: MIT */
#ifndef TESTS_PHASES_KERNELS_H
#define TESTS_PHASES_KERNELS_H
#include <cgx.h>

/* Thousands of phases; each thread waits as its rank says. `bad` counts what was wrong. */
CGX_KERNEL_DECLARE(many_phases, (int, phases), (int *, bad))
/* Counts from 1 to the maximum by arrive_n in pieces, drops among them; one thread. */
CGX_KERNEL_DECLARE(large_counts, (int, rounds), (unsigned, seed), (int *, bad))
/* All threads leave by arrive_and_drop, in an order that is drawn, until nobody is expected. */
CGX_KERNEL_DECLARE(drop_to_zero, (unsigned, seed), (int *, bad))
/* A ring of STAGES between PRODUCERS and the other threads, by plain stores. */
CGX_KERNEL_DECLARE(plain_ring, (int, stages), (int, producers), (int, items), (int *, out))
/* How long a try_wait that cannot succeed takes, and one that does. took[2 * i], for a limit of limits[i] ns. */
enum { LIMITS = 6 };
CGX_KERNEL_DECLARE(time_limits, (int, by_token), (const unsigned *, limits), (int *, result), (uint64_t *, took))
/* A token polled again and again, before its phase is over and after. */
CGX_KERNEL_DECLARE(polled_tokens, (int, polls), (int *, bad))
/* Random operations of all threads, ROUNDS phases: who arrives how, who copies, who drops out, how each waits. */
CGX_KERNEL_DECLARE(stress, (int, rounds), (unsigned, seed), (const int *, in), (int *, bad))
/* The same with tiles, block barriers and coalesced threads beside the mbarrier. */
CGX_KERNEL_DECLARE(stress_groups, (int, rounds), (unsigned, seed), (int *, bad))
#endif

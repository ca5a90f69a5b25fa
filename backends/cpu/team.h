/* SPDX-License-Identifier: MIT */
/* The CPU's team of threads: made once by OpenMP, so that its bindings and places apply, and then kept. Between launches its
 * members wait here - briefly on the core, then asleep - and not in OpenMP's barrier, which spins for milliseconds and, on a
 * machine that has other work, through whole time slices. */
#ifndef CGX_TEAM_H
#define CGX_TEAM_H
#include "fiber.h"

typedef void team_fn(void *argument, int part, int parts);
/* Opens the team of SIZE threads, the caller being thread 0, which runs LEAD; returns when LEAD does, which is never. */
INTERNAL void cgx__team_open(int size, void (*lead)(void));
/* From LEAD, or a thread in its place: runs FN(ARGUMENT, part, PARTS) for each part, part 0 on the caller. PARTS is at most
 * cgx__team_size(). TOGETHER: parts wait for each other. Otherwise the caller also runs, in their order, the parts that no member
 * has begun when its own is done: a member that sleeps, or whose core somebody else has, delays nobody. */
INTERNAL void cgx__team_run(team_fn *fn, void *argument, int parts, int together);
/* How many threads OpenMP gave. */
INTERNAL int cgx__team_size(void);
/* Tells the processor that this is a loop that waits. */
INTERNAL void cgx__team_relax(void);
#endif

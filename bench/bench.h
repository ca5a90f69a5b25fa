/* SPDX-License-Identifier: MIT */
/* The harness of the benchmarks.
 *
 * A program names subjects: pieces of work that can be done N times. Workers of the CPU backend are fixed at its first
 * use, so subjects run in child processes - this program again - each with an environment of its own. The parent only
 * compares: it asks the sides for samples in turn, so that a noisy machine is noisy for all of them. */
#ifndef BENCH_H
#define BENCH_H
#include <stdint.h>

typedef struct {
    const char *name;
    void (*prepare)(int64_t parameter); /* or NULL. Before the first sample, and poisons the results; not timed */
    void (*run)(int64_t parameter, int64_t n); /* the work, N times; finished on return */
    int (*check)(int64_t parameter);           /* or NULL. Whether what the last run left is right */
} bench_subject;

typedef struct bench_process bench_process;

/* One thing measured. */
typedef struct {
    bench_process *process;
    const char *subject;
    int64_t parameter;
    double seconds;        /* result: median of what doing the work once takes */
    bench_process *beside; /* or NULL. Does the same at the same time, and the slower one counts */
} bench_side;

/* Reads the arguments ([--json FILE] [--samples N] [--only CASE]). In a child it serves the parent and does not return. The last
 * subject has no name. */
void bench_begin(int argc, char **argv, const char *bench, const bench_subject *subjects);
/* A child with VARIABLES ("NAME=value NAME=value") added to its environment. Work on one core is timed by the processor
 * time of its process, which other programs disturb less. */
enum { BENCH_WALL_TIME, BENCH_PROCESSOR_TIME };
bench_process *bench_start(const char *variables, int time);
/* Medians of samples in turns. Each sample does the work as often as 10 ms take, after once more for warming up. The
 * results are checked after every sample; a wrong one ends the program. What takes longer than ten samples has fewer of them, and
 * no more are taken once the medians of the others hardly move: standard errors below a hundredth. */
void bench_compare(bench_side *sides, int count);
/* A row of the table. VALUE is a cost: the ratio is rival_value / value. RIVAL may be NULL. */
void bench_row(const char *name, double value, const char *unit, const char *rival, double rival_value);
/* The same for the file alone: where the program prints a table of its own. */
void bench_keep(const char *name, double value, const char *unit, const char *rival, double rival_value);
/* Whether the case is to be measured: programs with many of them ask. */
int bench_wants(const char *name);
/* Ends the children and writes the file. The program's exit code. */
int bench_end(void);
#endif

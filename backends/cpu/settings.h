/* SPDX-License-Identifier: MIT */
/* The environment variables of the CPU backend, read once at its start. */
#ifndef CGX_SETTINGS_H
#define CGX_SETTINGS_H
#include <stddef.h>
#include <stdint.h>
#include "../backend.h"

enum { ENGINE_AUTO, ENGINE_FIBER, ENGINE_COMPILED };
enum { CGX__ASYNC_EARLY, CGX__ASYNC_LATE, CGX__ASYNC_RANDOM };
typedef struct {
    int workers;   /* CGX_CPU_WORKERS: 1 to 1,024; 0 if not set */
    int lanes;     /* CGX_CPU_LANES: 32 or 64 */
    int level;     /* CGX_CPU_ISA: no higher instruction-set level than this */
    int async;     /* CGX_CPU_ASYNC: early, late or random */
    uint64_t seed; /* CGX_CPU_SCHEDULE=seed:N; 0 for none */
    int engine;    /* CGX_CPU_ENGINE: compiled entries, where a kernel has them, or fibers */
    size_t stack;  /* CGX_CPU_STACK: bytes of a thread's stack */
    uint32_t grid; /* CGX_CPU_COOPERATIVE: how the device says that grids synchronise, as capabilities */
} cpu_settings;

/* CGX_OK, or CGX_ERROR_INVALID with the variable, its value and what it takes. */
CGX__HIDDEN_API cgx_status cgx__read_settings(cpu_settings *settings, char *reason, size_t reason_bytes);
#endif

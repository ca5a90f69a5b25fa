/* SPDX-License-Identifier: MIT */
/* The CPU's queues: one executor thread serves all of them, so that only one OpenMP team exists beside the user's. */
#ifndef CGX_EXECUTOR_H
#define CGX_EXECUTOR_H
#include "fiber.h"

typedef struct executor_queue executor_queue;
typedef struct executor_event executor_event;

/* A piece of work. `run` gets the command; what it fails with is the queue's error. */
typedef struct command {
    struct command *next;
    cgx_status (*run)(struct command *c, char *text, size_t text_bytes);
    executor_event *event; /* to be recorded after, or waited for before `run`, which is NULL then */
    uint64_t ticket;       /* of the event */
    size_t bytes;          /* of the allocation, for reuse */
} command;

/* Before the first command: how many threads the team will have, and how many cores there are for them and the user's. */
INTERNAL void cgx__executor_configure(int workers, int cores);
/* Zeroed memory for a command of BYTES, or NULL. The executor frees it. */
INTERNAL command *cgx__command_new(size_t bytes);
INTERNAL executor_queue *cgx__executor_queue_new(void);
INTERNAL void cgx__executor_queue_free(executor_queue *q);
INTERNAL cgx_status cgx__executor_enqueue(executor_queue *q, command *c);
INTERNAL cgx_status cgx__executor_wait(executor_queue *q);
INTERNAL cgx_status cgx__executor_query(executor_queue *q);

INTERNAL executor_event *cgx__executor_event_new(void);
INTERNAL void cgx__executor_event_free(executor_event *e);
INTERNAL cgx_status cgx__executor_record(executor_event *e, executor_queue *q);
INTERNAL cgx_status cgx__executor_wait_for(executor_queue *q, executor_event *e);
INTERNAL cgx_status cgx__executor_event_wait(executor_event *e);
INTERNAL cgx_status cgx__executor_event_query(executor_event *e);
INTERNAL cgx_status cgx__executor_event_elapsed(executor_event *first, executor_event *last, double *seconds);
#endif

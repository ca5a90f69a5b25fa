/* SPDX-License-Identifier: MIT */
/* A family whose launches the host makes: reads what kernels asked for (<cgx/requests.h>), and says what is to be put into the device's
 * queue, in an order that the rules allow (order.h). The queue runs one thing after the other. So a launch that asks for nothing is over,
 * for what comes behind it in the queue, as soon as it is put there, and the host waits only for those that may ask: once for up to
 * CGX__ROUND_LAUNCHES of them, a round. Not for two threads at once. */
#ifndef CGX_BACKEND_REQUESTS_H
#define CGX_BACKEND_REQUESTS_H
#include <cgx/requests.h>
#include "order.h"

typedef struct {
    void *context;
    /* The device is told how much may be asked for in the round that begins. */
    cgx_status (*begin)(void *context, uint32_t room);
    /* Waits for the end of the round; where requests are, and how many words of them. */
    cgx_status (*finish)(void *context, char **memory, uint64_t *words);
    /* Whether the kernel may ask for something. */
    int (*asks)(void *context, uint32_t kernel);
    /* Puts a launch into the queue; GRID is 0 where it asks for nothing. */
    cgx_status (*launch)(void *context, const cgx__request *r, void *arguments, uint32_t grid);
    cgx_status (*transfer)(void *context, const cgx__request *r);
} request_operations;

typedef struct {
    request_operations operations;
    order order;
    uint32_t first_grid, grids; /* of the round: numbers from FIRST_GRID on */
    order_item *batch[CGX__ROUND_LAUNCHES];
    int running;
    cgx_status status; /* of the first thing that could not be put into the queue, */
    char text[512];    /* and its text */
} request_family;

CGX__HIDDEN_API void cgx__requests_make(request_family *f, const request_operations *operations, size_t limit);
/* The host's launch: begins a round. *GRID is the launch's number. */
CGX__HIDDEN_API cgx_status cgx__requests_begin(request_family *f, uint32_t *grid);
/* Finishes a round and begins the next one; f->running is 0 when none is left. On failure the family is given up. */
CGX__HIDDEN_API cgx_status cgx__requests_round(request_family *f);
/* Frees what it holds. */
CGX__HIDDEN_API void cgx__requests_destroy(request_family *f);
#endif

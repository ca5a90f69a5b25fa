/* SPDX-License-Identifier: MIT */
/* What the files of the front end share. */
#ifndef CGX_INTERNAL_H
#define CGX_INTERNAL_H
#include "../backends/backend.h"

#define INTERNAL CGX__HIDDEN_API

enum { MAX_DEVICES = 64 }; /* of one backend */

struct cgx_device {
    const cgx_backend *backend;
    int index;
    char name[32];
    int launched; /* atomic: some kernel has been */
    cgx_device_info info;
};

/* Handles are never given back to the allocator while they could still be in the user's hands: a stale one is
 * recognised by its state. */
enum { HANDLE_LIVE = 0x6c697665, HANDLE_DEAD = 0x64656164 };
typedef struct handle {
    int state;
    void *implementation;
    cgx_device *device;
    struct handle *next;
} handle;
struct cgx_queue {
    handle h;
};
struct cgx_event {
    handle h;
    int recorded;
};

INTERNAL handle *cgx__handle_new(size_t bytes);
INTERNAL void cgx__handle_retire(handle *h);

/* CGX_OK, or the error of a call that may not go on: a forked child, a bad handle. WHAT names the function. */
INTERNAL cgx_status cgx__check_process(const char *what);
INTERNAL cgx_status cgx__check_queue(const cgx_queue *queue, const char *what);
INTERNAL cgx_status cgx__check_event(const cgx_event *event, const char *what);

/* Counts what makes launches of before no longer the same: a queue closed, a unit gone, a fork. Atomic. */
extern INTERNAL uint64_t cgx__launch_epoch;
INTERNAL void cgx__forget_launches(void);

/* Tells every backend in use that a unit's shared object goes away. */
INTERNAL void cgx__backends_unit_gone(const cgx__unit *unit);

/* What libcgx remembers of a kernel: found by its descriptor, freed when its shared object is unloaded. */
typedef struct kernel_record {
    const cgx_kernel *kernel;
    cgx_shared_use shared; /* without dynamic memory */
    int explained;
    struct kernel_record *next;
} kernel_record;
/* Recognises the descriptor's version and lays out the kernel's shared memory. */
INTERNAL cgx_status cgx__kernel_find(const cgx_kernel *kernel, const char *what, kernel_record **record);
#endif

/* SPDX-License-Identifier: MIT */
/* A set of allocations, so that a pointer that is none of them is an error and not a crash. For any thread. */
#ifndef CGX_POINTERS_H
#define CGX_POINTERS_H
#include <pthread.h>
#include <stddef.h>
#include "../backend.h"

/* An open hash table; all zero but for the lock is empty. */
typedef struct {
    pthread_mutex_t lock;
    void **slots;
    size_t capacity, used;
} pointer_set;
#define POINTER_SET_INIT                      \
    {                                         \
        PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0 \
    }

/* Whether there was memory for it. */
CGX__HIDDEN_API int cgx__pointer_add(pointer_set *s, void *p);
/* Whether it was there. */
CGX__HIDDEN_API int cgx__pointer_remove(pointer_set *s, const void *p);
#endif

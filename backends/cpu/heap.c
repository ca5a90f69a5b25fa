/* SPDX-License-Identifier: MIT */
/* The heap of kernels: malloc with a limit, and with a memory of what it gave. */
#include <stdlib.h>
#include "heap.h"
#include "pointers.h"

enum { DEFAULT_LIMIT = 8 * 1024 * 1024, HEAD = 16 };

static pointer_set given = POINTER_SET_INIT;
static size_t limit = DEFAULT_LIMIT, used; /* used: atomic */

void cgx__heap_set_limit(size_t bytes)
{
    limit = bytes;
}
size_t cgx__heap_limit(void)
{
    return limit;
}

void *cgx__heap_take(size_t bytes)
{
    if (bytes > limit)
        return NULL;
    size_t whole = (bytes + HEAD + 15) & ~(size_t)15;
    char *memory = NULL;
    if (__atomic_add_fetch(&used, whole, __ATOMIC_RELAXED) <= limit && (memory = aligned_alloc(16, whole))) {
        *(size_t *)memory = whole;
        if (cgx__pointer_add(&given, memory + HEAD))
            return memory + HEAD;
    }
    __atomic_sub_fetch(&used, whole, __ATOMIC_RELAXED);
    free(memory);
    return NULL;
}

int cgx__heap_give_back(void *memory)
{
    if (!cgx__pointer_remove(&given, memory))
        return 0;
    char *start = (char *)memory - HEAD;
    __atomic_sub_fetch(&used, *(size_t *)start, __ATOMIC_RELAXED);
    free(start);
    return 1;
}

/* SPDX-License-Identifier: MIT */
#include "pointers.h"
#include <stdint.h>
#include <stdlib.h>

static char tombstone;

/* Allocations are aligned to 16 bytes at least. */
static size_t slot_of(const void *p)
{
    return (size_t)((uintptr_t)p / 16 * 0x9e3779b97f4a7c15u >> 20);
}

static void insert(void **slots, size_t capacity, void *p)
{
    size_t i = slot_of(p) & (capacity - 1);
    while (slots[i] && slots[i] != &tombstone)
        i = (i + 1) & (capacity - 1);
    slots[i] = p;
}

int cgx__pointer_add(pointer_set *s, void *p)
{
    int ok = 1;
    pthread_mutex_lock(&s->lock);
    if (2 * (s->used + 1) > s->capacity) {
        size_t live = 0;
        for (size_t i = 0; i < s->capacity; i++)
            live += s->slots[i] && s->slots[i] != &tombstone;
        size_t capacity = 256;
        while (capacity < 4 * (live + 1))
            capacity *= 2;
        void **slots = calloc(capacity, sizeof *slots);
        if ((ok = slots != NULL)) {
            for (size_t i = 0; i < s->capacity; i++)
                if (s->slots[i] && s->slots[i] != &tombstone)
                    insert(slots, capacity, s->slots[i]);
            free(s->slots);
            s->slots = slots;
            s->capacity = capacity;
            s->used = live;
        }
    }
    if (ok) {
        insert(s->slots, s->capacity, p);
        s->used++;
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

int cgx__pointer_remove(pointer_set *s, const void *p)
{
    int found = 0;
    pthread_mutex_lock(&s->lock);
    if (s->capacity)
        for (size_t i = slot_of(p) & (s->capacity - 1); s->slots[i] && !found; i = (i + 1) & (s->capacity - 1))
            if (s->slots[i] == p) {
                s->slots[i] = &tombstone;
                found = 1;
            }
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* SPDX-License-Identifier: MIT */
/* Stacks of fibers: mapped in chunks, reused most recent first, coloured so that the stacks of a block do not fall on
 * the same cache sets, guarded while the process may have more mappings and marked with a canary beyond. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fiber.h"

enum {
    CHUNK_STACKS = 256,
    COLOURS = 32,
    COLOUR_BYTES = 320, /* five cache lines: spreads over two and a half pages */
    /* Unmapped below each stack, in whole pages: a frame of a quarter of a mebibyte that does not fit hits it instead of stepping
     * over it. The odd 4 KiB keep equal places of neighbouring stacks out of the same sets of a level-2 cache. */
    GUARD_BYTES = 260 * 1024,
    /* Each guard splits a mapping in two; vm.max_map_count is 65,530 by default and is the whole process's. */
    MAX_GUARDS = 24 * 1024
};
static const uint64_t CANARY = 0x6e6f206d6f726521;
static int guards; /* atomic, of all workers */

static size_t configured, guard_bytes;

void cgx__stack_configure(size_t bytes, size_t page)
{
    configured = (bytes + page - 1) / page * page;
    guard_bytes = (GUARD_BYTES + page - 1) / page * page;
}
size_t cgx__stack_bytes(void)
{
    return configured;
}

static int add_chunk(stack_pool *p)
{
    size_t stride = cgx__stack_bytes() + guard_bytes, bytes = stride * CHUNK_STACKS;
    int n = p->made + CHUNK_STACKS;
    stack *all = realloc(p->all, (size_t)n * sizeof *all);
    if (all)
        p->all = all;
    int *unused = realloc(p->free, (size_t)n * sizeof *unused);
    if (unused)
        p->free = unused;
    void *chunks = realloc(p->chunks, (size_t)(p->chunk_count + 1) * sizeof *p->chunks);
    if (chunks)
        p->chunks = chunks;
    if (!all || !unused || !chunks)
        return 0;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    madvise(memory, bytes,
            MADV_NOHUGEPAGE); /* with huge pages the first block of 1,024 threads takes 67 MB and 120 ms */
    p->chunks[p->chunk_count].memory = memory;
    p->chunks[p->chunk_count++].bytes = bytes;
    /* Pushed in reverse, so that the first thread of the first block gets the first stack. */
    for (int i = CHUNK_STACKS - 1; i >= 0; i--) {
        stack *s = p->all + p->made + i;
        char *low = memory + (size_t)i * stride;
        s->guarded = -1;
        s->base = low + guard_bytes;
        s->top = low + stride - 64 - (i % COLOURS) * COLOUR_BYTES;
        s->top = (char *)((uintptr_t)s->top & ~(uintptr_t)63);
        p->free[p->unused++] = p->made + i;
    }
    p->made = n;
    return 1;
}

/* First use of a stack: its guard, or the canary in its place. A refused mprotect is no error: the canary serves. */
static void protect(stack *s)
{
    s->guarded = __atomic_fetch_add(&guards, 1, __ATOMIC_RELAXED) < MAX_GUARDS &&
                 !mprotect(s->base - guard_bytes, guard_bytes, PROT_NONE);
    if (!s->guarded)
        memcpy(s->base, &CANARY, sizeof CANARY);
}

int cgx__stack_acquire(stack_pool *p)
{
    if (!p->unused && !add_chunk(p))
        return -1;
    int index = p->free[--p->unused];
    if (p->all[index].guarded < 0)
        protect(p->all + index);
    return index;
}

void cgx__stack_release(stack_pool *p, int index)
{
    p->free[p->unused++] = index;
}

int cgx__stack_overflowed(const stack_pool *p, int index)
{
    const stack *s = p->all + index;
    return !s->guarded && memcmp(s->base, &CANARY, sizeof CANARY);
}

void cgx__stack_reset(stack_pool *p)
{
    p->unused = 0;
    for (int i = p->made - 1; i >= 0; i--) {
        stack *s = p->all + i;
        if (s->guarded == 0)
            memcpy(s->base, &CANARY, sizeof CANARY);
        if (__asan_unpoison_memory_region)
            __asan_unpoison_memory_region(s->base, (size_t)(s->top - s->base));
        p->free[p->unused++] = i;
    }
}

int cgx__stack_of(const stack_pool *p, const void *address)
{
    size_t stride = cgx__stack_bytes() + guard_bytes;
    for (int c = 0; c < p->chunk_count; c++) {
        size_t at = (size_t)((const char *)address - p->chunks[c].memory);
        if (at < p->chunks[c].bytes)
            return c * CHUNK_STACKS + (int)(at / stride);
    }
    return -1;
}

int cgx__stack_is_guard(const stack_pool *p, const void *address)
{
    int index = cgx__stack_of(p, address);
    return index >= 0 && p->all[index].guarded == 1 && (const char *)address < p->all[index].base;
}

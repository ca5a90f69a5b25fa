/* SPDX-License-Identifier: MIT */
#include "emulator.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEFAULT_BASE 0x200000000000ull /* outside what address randomisation uses on x86-64 Linux */
enum { PAGE = 4096, ALIGNMENT = 256, POISON = 0xa5 };
#define MOST_POISONED (64ull << 20)

static uint64_t base, total, cursor, code_end;
static unsigned char *view;
static int file = -1;
static block_of_memory *blocks; /* by address */
static uint32_t block_count, block_room;
static emulator_message *changes;
static uint32_t change_count, change_room;

hip_error arena_open(void)
{
    base = setting("CGX_EMU_BASE", DEFAULT_BASE);
    total = CODE_BYTES + (setting("CGX_EMU_MEM_MB", 4096) << 20);
    file = memfd_create("hip_emulator", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)total))
        return hipErrorOutOfMemory;
    if (mmap((void *)base, total, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) != (void *)base)
        return hipErrorOutOfMemory;
    void *p = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED)
        return hipErrorOutOfMemory;
    view = p;
    code_end = base + PAGE;
    cursor = base + CODE_BYTES;
    return hipSuccess;
}

uint64_t arena_base(void)
{
    return base;
}
uint64_t arena_bytes(void)
{
    return total;
}
int arena_file(void)
{
    return file;
}
void *arena_host(uint64_t address)
{
    return view + (address - base);
}
bool arena_has(uint64_t address)
{
    return address >= base && address < base + total;
}
uint64_t arena_free(void)
{
    uint64_t bytes = total - CODE_BYTES;
    for (uint32_t i = 0; i < block_count; i++)
        bytes -= blocks[i].end - blocks[i].start;
    return bytes;
}

void arena_protect(uint64_t start, uint64_t bytes, int protection)
{
    if (change_count == change_room) {
        change_room = change_room * 2 + 64;
        changes = realloc(changes, change_room * sizeof *changes);
    }
    changes[change_count++] = (emulator_message){
        .what = MESSAGE_PROTECT, .address = start, .bytes = bytes, .protection = (uint32_t)protection
    };
}
const emulator_message *arena_changes(uint32_t *count)
{
    *count = change_count;
    return changes;
}
void arena_changes_told(void)
{
    change_count = 0;
}
void arena_tell_all(void)
{
    change_count = 0;
    for (uint32_t i = 0; i < block_count; i++)
        arena_protect(blocks[i].start, blocks[i].end - blocks[i].start, PROT_READ | PROT_WRITE);
    arena_protect(base, code_end - base, PROT_READ | PROT_WRITE);
}

/* The first gap of SPAN bytes from START on, and the number of the block behind it. */
static uint64_t gap_from(uint64_t start, uint64_t span, uint32_t *behind)
{
    uint32_t i = 0;
    while (i < block_count && blocks[i].start < start)
        i++;
    for (; i < block_count && start + span > blocks[i].start; i++)
        start = blocks[i].end + PAGE;
    *behind = i;
    return start;
}

/* Addresses are used again late, and an inaccessible page follows each block, so that an access beyond its end faults. */
hip_error arena_alloc(uint64_t bytes, memory_kind kind, uint64_t *address)
{
    const uint64_t need = (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
    const uint64_t span = ((need + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + PAGE;
    uint32_t i;
    if (!bytes || bytes > total)
        return bytes ? hipErrorOutOfMemory : hipErrorInvalidValue;
    uint64_t start = gap_from(cursor, span, &i);
    if (start + span > base + total)
        start = gap_from(base + CODE_BYTES, span, &i);
    if (start + span > base + total)
        return hipErrorOutOfMemory;
    if (block_count == block_room) {
        block_room = block_room * 2 + 64;
        blocks = realloc(blocks, block_room * sizeof *blocks);
    }
    memmove(blocks + i + 1, blocks + i, (block_count++ - i) * sizeof *blocks);
    const uint64_t end = start + span - PAGE;
    blocks[i] = (block_of_memory){ end - need, bytes, start, end, kind, false };
    cursor = end + PAGE;
    *address = end - need;
    if (kind != MEMORY_DEVICE && mprotect((void *)start, end - start, PROT_READ | PROT_WRITE))
        return hipErrorOutOfMemory;
    memset(arena_host(start), POISON, end - start < MOST_POISONED ? end - start : MOST_POISONED);
    arena_protect(start, end - start, PROT_READ | PROT_WRITE);
    return hipSuccess;
}

const block_of_memory *arena_find(uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < block_count; i++) {
        const block_of_memory *b = blocks + i;
        if (!b->freed && address >= b->at && address - b->at <= b->bytes && bytes <= b->bytes - (address - b->at))
            return b;
    }
    return NULL;
}
const block_of_memory *arena_below(uint64_t address)
{
    const block_of_memory *below = NULL;
    for (uint32_t i = 0; i < block_count && blocks[i].start <= address; i++)
        below = blocks + i;
    return below;
}

static void release(uint32_t i)
{
    const block_of_memory b = blocks[i];
    mprotect((void *)b.start, b.end - b.start, PROT_NONE);
    arena_protect(b.start, b.end - b.start, PROT_NONE);
    /* Gives the memory back; where that fails it is only kept. */
    (void)!fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(b.start - base),
                     (off_t)(b.end - b.start));
    memmove(blocks + i, blocks + i + 1, (--block_count - i) * sizeof *blocks);
}
hip_error arena_forget(uint64_t address, unsigned kinds)
{
    const block_of_memory *b = arena_find(address, 0);
    if (!b || b->at != address || !(kinds >> b->kind & 1))
        return hipErrorInvalidValue;
    blocks[b - blocks].freed = true;
    return hipSuccess;
}
void arena_release(uint64_t address)
{
    for (uint32_t i = 0; i < block_count; i++)
        if (blocks[i].at == address) {
            release(i);
            return;
        }
}
hip_error arena_alloc_code(uint64_t bytes, uint64_t *address)
{
    if (code_end + bytes > base + CODE_BYTES)
        return hipErrorOutOfMemory;
    *address = code_end;
    code_end += bytes;
    arena_protect(*address, bytes, PROT_READ | PROT_WRITE);
    return hipSuccess;
}
bool arena_is_code(uint64_t address, uint64_t bytes)
{
    return address >= base && address + bytes <= code_end;
}

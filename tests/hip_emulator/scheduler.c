/* SPDX-License-Identifier: MIT */
/* The worker's side of a launch: runs the waves of its blocks in turn over functions, one for each GPU instruction, which
 * worker.py finds. Registers at the start of a wave are those of the AMDHSA ABI (AMDGPU back end of LLVM). */
#include "messages.h"
#include <cpuid.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

/* Numbers in the emulator's file of scalar registers, which worker.py compares with the emulator's own. */
enum { EXEC = 126, M0 = 124, SHARED_BASE = 236, PRIVATE_BASE = 238, PC = 256, SCRATCH_STRIDE = 259, SCALARS = 260 };
enum { VECTORS = 256, LDS_POISON = 0xcd };
#define LDS_WINDOW (4ull << 30) /* of addresses for each block, so that flat addresses work */

/* How an instruction is run. worker.py has the same numbers. */
enum {
    RUN,
    BARRIER,
    SLEEP,
    SKIP,       /* nothing to do: `argument` bytes further on */
    LDS_DMA,    /* `argument` words a lane */
    DPP,        /* v[argument] is copied to v255 first */
    DS,         /* reaches `copy` bytes beyond the lane's address */
    MOVE_PC,    /* see move_pc */
    COPY,       /* an altered copy of the instruction is run, which is at `copy` */
    PERMUTE,    /* ds_permute_b32 or, with `argument`, ds_bpermute_b32 */
    FLAT,       /* loads and stores of flat_ and global_ instructions, of the form `argument` */
    ATOMIC,     /* flat_ and global_ compare and swap of 8 bytes or, with `argument`, the addition of a double */
    CLOCK,      /* s_memtime, s_memrealtime and their like to the scalar register `argument`; its size << 8 */
    PRIVATE,    /* buffer_load_* and buffer_store_* of the thread's private memory, of the form `argument` */
    LDS_MEMORY, /* ds_read_*, ds_write_* and their names on gfx11, of the form `argument` */
    CARRY,      /* writes carries to the scalar register `argument`: those of inactive lanes are 0 */
    MAD         /* v_mad_f32 or, with `argument`, v_mac_f32 in its short form, of the chips before gfx940 */
};
typedef void (*instruction)(void *, void *, void *, void *, void *, void *);
typedef struct {
    instruction run;
    uint64_t copy;
    uint8_t buffer[6]; /* which buffer of the wave each parameter is */
    uint16_t kind, argument;
} entry;
typedef int (*decoder)(uint64_t pc, uint32_t wave, entry *e, char *error, int error_bytes); /* 0: found */

typedef struct {
    int live, arrived, phase;
    uint32_t id[3];
} block;
enum { SCALAR, VECTOR, MEMORY, LDS, SCRATCH, ACCUMULATOR };
typedef struct {
    void *buffer[6];
    block *block;
    uint32_t index, since; /* since: instructions after it last slept or waited */
    int waits_in;          /* phase of the block's barrier, -1: none */
    bool on;
} wave;

static int socket_file;
static uint64_t base;
static entry **table; /* one pointer a word of code */
static decoder decode;
/* For the handler of faults. */
static wave *current;
static uint64_t current_pc;
static emulator_reply reply;

static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
static uint32_t *scalars(wave *w)
{
    return w->buffer[SCALAR];
}
static uint64_t pair(const uint32_t *p)
{
    return p[0] | (uint64_t)p[1] << 32;
}
static void set_pair(uint32_t *p, uint64_t v)
{
    p[0] = (uint32_t)v;
    p[1] = (uint32_t)(v >> 32);
}
static void set_pc(wave *w, uint64_t pc)
{
    set_pair(scalars(w) + PC, pc);
}

static void finish(emulator_reply *r, uint32_t status)
{
    r->status = status;
    r->pc = current_pc;
    if (current) {
        memcpy(r->block, current->block->id, sizeof r->block);
        r->wave = current->index;
    }
}
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    finish(&reply, REPLY_FAULT);
    reply.address = (uint64_t)info->si_addr;
    snprintf(reply.text, sizeof reply.text, "signal %d", number);
    (void)!write(socket_file, &reply, sizeof reply);
    _exit(3);
}
static void *reserve(size_t bytes, int protection)
{
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("hip_emulator: mmap");
        _exit(4);
    }
    return p;
}

/* ---- a wave ---- */

static void start_wave(wave *w, const emulator_message *m, uint32_t first, uint32_t threads)
{
    static const float constants[] = { 0.5f, -0.5f, 1, -1, 2, -2, 4, -4, 0.15915494f };
    /* Bits of the kernel descriptor's properties, and how many scalar registers each takes. */
    static const struct {
        int bit, registers;
    } user[] = { { 0, 4 }, { 1, 2 }, { 2, 2 }, { 3, 2 }, { 4, 2 }, { 5, 2 }, { 6, 1 } };
    uint32_t *s = scalars(w), *v = w->buffer[VECTOR], n = 0;
    const uint32_t lanes = threads - first < m->wave ? threads - first : m->wave;
    uint32_t vectors = ((m->rsrc1 & 63) + 1) * 8;
    vectors = vectors > VECTORS ? VECTORS : vectors;
    memset(s, 0, SCALARS * 4);
    memset(v, 0, (size_t)vectors * m->wave * 4);
    if (w->buffer[ACCUMULATOR] != w->buffer[VECTOR])
        memset(w->buffer[ACCUMULATOR], 0, (size_t)vectors * m->wave * 4);
    for (uint32_t i = 0; i <= 64; i++)
        s[128 + i] = i;
    for (uint32_t i = 1; i <= 16; i++)
        s[192 + i] = -i;
    memcpy(s + 240, constants, sizeof constants);
    set_pair(s + EXEC, lanes == 64 ? ~0ull : (1ull << lanes) - 1);
    for (size_t u = 0; u < sizeof user / sizeof user[0]; u++)
        if (m->properties >> user[u].bit & 1) {
            const uint64_t value = user[u].bit == 3 ? m->arguments : user[u].bit == 1 ? m->packet : 0;
            for (int i = 0; i < user[u].registers; i++)
                s[n++] = i < 2 ? (uint32_t)(value >> 32 * i) : 0;
        }
    n = m->rsrc2 >> 1 & 31; /* user registers, arguments loaded before included */
    for (int d = 0; d < 3; d++)
        if (m->rsrc2 >> (7 + d) & 1)
            s[n++] = w->block->id[d];
    for (uint32_t lane = 0; lane < lanes; lane++) {
        const uint32_t t = first + lane, x = m->block[0], xy = x * m->block[1];
        v[lane] = t / xy << 20 | t / x % m->block[1] << 10 | t % x;
    }
    s[SHARED_BASE] = (uint32_t)((uint64_t)w->buffer[LDS] >> 32); /* flat addresses of LDS are the worker's own */
    s[PRIVATE_BASE] = 1;
    s[SCRATCH_STRIDE] = m->scratch;
    set_pc(w, m->entry);
    w->waits_in = -1;
    w->since = 0;
    w->on = true;
}

/* global_load_lds_*: the LDS at M0 + offset + lane * size gets what is at the lane's address (MI300 ISA, "LDS DMA"). */
static void lds_dma(wave *w, uint64_t pc, int words)
{
    const uint32_t *code = (const uint32_t *)pc, *v = w->buffer[VECTOR], *s = scalars(w);
    const int offset = (int)(code[0] << 19) >> 19;
    const unsigned vector = code[1] & 255, scalar = code[1] >> 16 & 127;
    const uint64_t exec = pair(s + EXEC);
    const uint32_t m0 = s[M0] & 0x1ffff;
    for (int lane = 0; lane < 64; lane++)
        if (exec >> lane & 1) {
            const uint64_t address = scalar == 127 ? v[vector * 64 + lane] | (uint64_t)v[(vector + 1) * 64 + lane] << 32
                                                   : pair(s + scalar) + v[vector * 64 + lane];
            memcpy((char *)w->buffer[LDS] + m0 + offset + lane * 4 * words, (void *)(address + offset),
                   4 * (size_t)words);
        }
}

/* One lane's access of `form`, an argument of worker.py: bytes, then 1 bit each for a store and a sign, then which half of the
 * register is meant, 0 all of it, 1 the upper, 2 the lower. Addresses need no alignment. */
static void access_memory(char *memory, uint32_t *data, uint32_t stride, int form)
{
    const uint32_t bytes = form & 31, store = form >> 5 & 1, sign = form >> 6 & 1, half = form >> 7;
    for (uint32_t i = 0; i < (bytes + 3) / 4; i++) {
        uint32_t *word = data + (size_t)i * stride, loaded = 0;
        const uint32_t n = bytes < 4 ? bytes : 4;
        if (store) {
            const uint32_t stored = *word >> (half == 1 ? 16 : 0);
            memcpy(memory + 4 * (size_t)i, &stored, n);
            continue;
        }
        memcpy(&loaded, memory + 4 * (size_t)i, n);
        if (sign)
            loaded = n == 1 ? (uint32_t)(int8_t)loaded : (uint32_t)(int16_t)loaded;
        *word = half == 0   ? loaded
                : half == 1 ? (*word & 0xffff) | loaded << 16
                            : (*word & 0xffff0000) | (loaded & 0xffff);
    }
}
static uint32_t *data_registers(wave *w, uint32_t code, unsigned number, uint32_t width)
{
    const bool accumulator = width == 64 && code >> 23 & 1;
    return (uint32_t *)w->buffer[accumulator ? ACCUMULATOR : VECTOR] + (size_t)number * width;
}

/* Private memory through a buffer, as before gfx940. Its descriptor interleaves the lanes' words; only the lane sees its own,
 * so that here they are apart, as the emulator has them for flat instructions. (Vega ISA, "MUBUF".) */
static bool private_memory(wave *w, uint64_t pc, int form, uint32_t room, uint64_t *outside)
{
    const uint32_t *code = (const uint32_t *)pc, *s = scalars(w), *v = w->buffer[VECTOR];
    /* The scalar, the stack pointer, counts the bytes of all 64 lanes. */
    const uint32_t offset = (code[0] & 0xfff) + s[code[1] >> 24] / 64;
    const uint64_t exec = pair(s + EXEC);
    uint32_t *data = data_registers(w, code[1], code[1] >> 8 & 255, 64);
    for (uint32_t lane = 0; lane < 64; lane++) {
        if (!(exec >> lane & 1))
            continue;
        const uint32_t at = offset + (code[0] >> 12 & 1 ? v[(code[1] & 255) * 64 + lane] : 0);
        if (at + (form & 31) > room) {
            *outside = at;
            return false;
        }
        access_memory((char *)w->buffer[SCRATCH] + (size_t)lane * room + at, data + lane, 64, form);
    }
    return true;
}

/* Loads and stores of flat_ and global_ instructions. The encodings of gfx9 and gfx11 differ in where the segment is and in what says
 * that there is no scalar base. Flat addresses of LDS are the worker's own, those of private memory have 1 in their upper half. */
static void flat_addresses(wave *w, uint64_t pc, uint32_t width, uint32_t room, uint64_t at[64])
{
    const uint32_t *code = (const uint32_t *)pc, *v = w->buffer[VECTOR], *s = scalars(w);
    const unsigned address = code[1] & 255, base_register = code[1] >> 16 & 127;
    const bool global = (width == 64 ? code[0] >> 14 & 3 : code[0] >> 16 & 3) == 2;
    const int64_t offset = global ? (int)(code[0] << 19) >> 19 : (int)(code[0] & 0xfff);
    const bool scalar_base = global && base_register != (width == 64 ? 127 : 124);
    for (uint32_t lane = 0; lane < width; lane++) {
        at[lane] = v[address * width + lane];
        at[lane] += scalar_base ? pair(s + base_register) : (uint64_t)v[(address + 1) * width + lane] << 32;
        at[lane] += (uint64_t)offset;
        if (!global && at[lane] >> 32 == s[PRIVATE_BASE])
            at[lane] = (uint64_t)w->buffer[SCRATCH] + (size_t)lane * room + (uint32_t)at[lane];
    }
}
static void flat_memory(wave *w, uint64_t pc, uint32_t width, int form, uint32_t room)
{
    const uint32_t *code = (const uint32_t *)pc;
    const uint64_t exec = pair(scalars(w) + EXEC);
    uint32_t *data = data_registers(w, code[1], form >> 5 & 1 ? code[1] >> 8 & 255 : code[1] >> 24, width);
    uint64_t at[64];
    flat_addresses(w, pc, width, room, at);
    for (uint32_t lane = 0; lane < width; lane++)
        if (exec >> lane & 1)
            access_memory((char *)at[lane], data + lane, width, form);
}
/* Compare and swap of 8 bytes, the new value before the expected one, or the addition of a double. */
static void flat_atomic(wave *w, uint64_t pc, uint32_t width, bool adds, uint32_t room)
{
    const uint32_t *code = (const uint32_t *)pc;
    const uint64_t exec = pair(scalars(w) + EXEC);
    const bool returns = code[0] >> (width == 64 ? 16 : 14) & 1;
    const uint32_t *data = data_registers(w, code[1], code[1] >> 8 & 255, width);
    uint32_t *result = data_registers(w, code[1], code[1] >> 24, width);
    uint64_t at[64], found[64];
    flat_addresses(w, pc, width, room, at);
    for (uint32_t lane = 0; lane < width; lane++)
        if (exec >> lane & 1) {
            uint64_t value = data[lane] | (uint64_t)data[width + lane] << 32;
            memcpy(found + lane, (void *)at[lane], 8);
            if (adds) {
                double sum, addend;
                memcpy(&sum, found + lane, 8);
                memcpy(&addend, &value, 8);
                sum += addend;
                memcpy(&value, &sum, 8);
            }
            if (adds || found[lane] == (data[2 * width + lane] | (uint64_t)data[3 * width + lane] << 32))
                memcpy((void *)at[lane], &value, 8);
        }
    for (uint32_t lane = 0; lane < width; lane++)
        if (returns && exec >> lane & 1) {
            result[lane] = (uint32_t)found[lane];
            result[width + lane] = (uint32_t)(found[lane] >> 32);
        }
}

/* Lanes send or fetch a word. Those that are inactive take no part: what is fetched from one is zero (MI300 and RDNA 3 ISA, "DS"). */
static void permute(wave *w, uint64_t pc, uint32_t width, bool fetch)
{
    const uint32_t *code = (const uint32_t *)pc, *v = w->buffer[VECTOR];
    const uint32_t *address = v + (code[1] & 255) * width, *data = v + (code[1] >> 8 & 255) * width;
    uint32_t *to = (uint32_t *)w->buffer[VECTOR] + (code[1] >> 24) * width, result[64] = { 0 };
    const uint64_t exec = pair(scalars(w) + EXEC);
    for (uint32_t lane = 0; lane < width; lane++) {
        const uint32_t other = (address[lane] + (code[0] & 0xffff)) / 4 % width;
        if (!(exec >> lane & 1))
            continue;
        if (!fetch)
            result[other] = data[lane];
        else if (exec >> other & 1)
            result[lane] = data[other];
    }
    for (uint32_t lane = 0; lane < width; lane++)
        if (exec >> lane & 1)
            to[lane] = result[lane];
}

/* 100 MHz, as the chips' steady counter. */
static uint64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 100000000 + (uint64_t)t.tv_nsec / 10;
}

static void call(const wave *w, const entry *e)
{
    void *const *b = w->buffer;
    e->run(b[e->buffer[0]], b[e->buffer[1]], b[e->buffer[2]], b[e->buffer[3]], b[e->buffer[4]], b[e->buffer[5]]);
}

/* The emulator touches LDS for inactive lanes too: they are lent an active lane's address. False, with the address, for an
 * access outside the block's LDS. */
static bool run_ds(wave *w, const entry *e, uint64_t pc, uint32_t width, uint32_t lds, uint64_t *outside)
{
    uint32_t *address = (uint32_t *)w->buffer[VECTOR] + (size_t)(((const uint32_t *)pc)[1] % 256 * width), kept[64];
    uint64_t exec = pair(scalars(w) + EXEC);
    if (width == 32)
        exec &= 0xffffffffu;
    if (!exec) {
        set_pc(w, pc + 8);
        return true;
    }
    for (uint64_t left = exec; left; left &= left - 1) {
        const uint32_t at = address[__builtin_ctzll(left)];
        if ((uint32_t)(at + e->copy - 1) >= lds) {
            *outside = at;
            return false;
        }
    }
    const uint32_t lent = address[__builtin_ctzll(exec)];
    memcpy(kept, address, width * 4);
    for (uint32_t lane = 0; lane < width; lane++)
        if (!(exec >> lane & 1))
            address[lane] = lent;
    call(w, e);
    for (uint32_t lane = 0; lane < width; lane++)
        if (!(exec >> lane & 1))
            address[lane] = kept[lane];
    return true;
}

/* A product and a sum, rounded each. Vega ISA, "VOP3A", "VOP2". */
static void multiply_add(wave *w, uint64_t pc, bool is_short)
{
    const uint32_t *code = (const uint32_t *)pc, *s = scalars(w);
    const uint64_t exec = pair(s + EXEC);
    const uint32_t to = is_short ? code[0] >> 17 & 255 : code[0] & 255, literal = 255;
    const uint32_t source[3] = { is_short ? code[0] & 511 : code[1] & 511,
                                 is_short ? 256 + (code[0] >> 9 & 255) : code[1] >> 9 & 511,
                                 is_short ? 256 + to : code[1] >> 18 & 511 };
    uint32_t *v = w->buffer[VECTOR];
    for (uint32_t lane = 0; lane < 64; lane++) {
        float x[3];
        if (!(exec >> lane & 1))
            continue;
        for (int i = 0; i < 3; i++) {
            uint32_t bits = source[i] > 255        ? v[(source[i] - 256) * 64 + lane]
                            : source[i] == literal ? code[1]
                                                   : s[source[i]];
            if (!is_short)
                bits = (bits & ~((code[0] >> (8 + i) & 1) << 31)) ^ (code[1] >> (29 + i) & 1) << 31;
            memcpy(x + i, &bits, 4);
        }
        const volatile float product = x[0] * x[1];
        const float sum = product + x[2];
        memcpy(v + to * 64 + lane, &sum, 4);
    }
}

/* Loads and stores of LDS, which the emulator takes for aligned. e->argument: the form. */
static bool lds_memory(wave *w, uint64_t pc, uint32_t width, int form, uint32_t lds, uint64_t *outside)
{
    const uint32_t *code = (const uint32_t *)pc,
                   *address = (uint32_t *)w->buffer[VECTOR] + (size_t)(code[1] & 255) * width;
    const uint64_t exec = pair(scalars(w) + EXEC);
    const bool accumulator = width == 64 && code[0] >> 25 & 1; /* where the others have it in the second word */
    const unsigned number = form >> 5 & 1 ? code[1] >> 8 & 255 : code[1] >> 24;
    uint32_t *data = (uint32_t *)w->buffer[accumulator ? ACCUMULATOR : VECTOR] + (size_t)number * width;
    uint32_t at[64]; /* a load may overwrite its address */
    for (uint32_t lane = 0; lane < width; lane++)
        at[lane] = address[lane] + (code[0] & 0xffff);
    for (uint32_t lane = 0; lane < width; lane++) {
        if (!(exec >> lane & 1))
            continue;
        if (at[lane] > lds || lds - at[lane] < (uint32_t)(form & 31)) {
            *outside = at[lane];
            return false;
        }
        access_memory((char *)w->buffer[LDS] + at[lane], data + lane, width, form);
    }
    return true;
}

/* e->copy: 0 s_getpc, 1 s_setpc, 2 s_swappc, 3 s_mov_b64 from an aperture. e->argument: destination, source << 8. */
static void move_pc(wave *w, const entry *e, uint64_t pc)
{
    uint32_t *s = scalars(w), *to = s + (e->argument & 255);
    const uint32_t *from = s + (e->argument >> 8);
    const uint64_t target = e->copy == 1 || e->copy == 2 ? pair(from) : pc + 4;
    if (e->copy == 3)
        set_pair(to, (uint64_t)from[1] << 32);
    else if (e->copy != 1)
        set_pair(to, pc + 4);
    set_pc(w, target);
}

/* ---- a launch ---- */

typedef struct {
    const emulator_message *message;
    emulator_reply *reply;
    uint32_t wave_count, waves_per_block, blocks_alive;
    wave *waves;
    block *blocks;
    uint32_t control; /* the worker's own MXCSR */
    bool timed;       /* a wave looked at a clock: it does not wait for ever */
} launch;

static entry *entry_at(launch *l, uint64_t pc)
{
    entry **slot = table + (pc - base) / 4;
    if (!*slot) {
        *slot = calloc(1, sizeof **slot);
        const uint32_t kernel = _mm_getcsr();
        _mm_setcsr(l->control);
        const int bad = decode(pc, l->message->wave, *slot, l->reply->text, sizeof l->reply->text);
        _mm_setcsr(kernel);
        if (bad) {
            free(*slot);
            *slot = NULL;
        }
    }
    return *slot;
}

/* A wave's turn, at most `quantum` instructions. True: go on; false: the launch is over, with the reply's status. *ended: the
 * wave has. */
static bool run_wave(launch *l, wave *w, uint32_t quantum, bool *ended)
{
    const emulator_message *m = l->message;
    emulator_reply *r = l->reply;
    for (; quantum; quantum--) {
        const uint64_t pc = pair(scalars(w) + PC);
        current_pc = pc;
        if (pc == ~0ull) {
            *ended = true;
            w->on = false;
            return true;
        }
        if (pc - base >= CODE_BYTES || pc & 3) {
            r->address = pc;
            snprintf(r->text, sizeof r->text, "jump outside code");
            finish(r, REPLY_FAULT);
            return false;
        }
        const entry *e = entry_at(l, pc);
        if (!e) {
            finish(r, REPLY_UNSUPPORTED);
            return false;
        }
        w->since++;
        if (++r->instructions > m->limit) {
            finish(r, REPLY_LIMIT);
            return false;
        }
        switch (e->kind) {
        case SKIP: set_pc(w, pc + e->argument); continue;
        case LDS_DMA:
            lds_dma(w, pc, e->argument);
            set_pc(w, pc + 8);
            continue;
        case MOVE_PC: move_pc(w, e, pc); continue;
        case DS:
            if (run_ds(w, e, pc, m->wave, m->lds, &r->address))
                continue;
            snprintf(r->text, sizeof r->text, "outside the %u bytes of LDS", m->lds);
            finish(r, REPLY_FAULT);
            return false;
        case LDS_MEMORY:
            if (lds_memory(w, pc, m->wave, e->argument, m->lds, &r->address)) {
                set_pc(w, pc + 8);
                continue;
            }
            snprintf(r->text, sizeof r->text, "outside the %u bytes of LDS", m->lds);
            finish(r, REPLY_FAULT);
            return false;
        case MAD:
            multiply_add(w, pc, e->argument);
            set_pc(w, pc + (e->argument && (*(const uint32_t *)pc & 511) != 255 ? 4 : 8));
            continue;
        case PERMUTE:
            permute(w, pc, m->wave, e->argument);
            set_pc(w, pc + 8);
            continue;
        case FLAT:
            flat_memory(w, pc, m->wave, e->argument, m->scratch);
            set_pc(w, pc + 8);
            continue;
        case ATOMIC:
            flat_atomic(w, pc, m->wave, e->argument, m->scratch);
            set_pc(w, pc + 8);
            continue;
        case CLOCK:
            l->timed = true;
            set_pair(scalars(w) + (e->argument & 255), clock_now());
            set_pc(w, pc + (e->argument >> 8));
            continue;
        case PRIVATE:
            if (private_memory(w, pc, e->argument, m->scratch, &r->address)) {
                set_pc(w, pc + 8);
                continue;
            }
            snprintf(r->text, sizeof r->text, "outside the %u bytes of private memory", m->scratch);
            finish(r, REPLY_FAULT);
            return false;
        case DPP: {
            uint32_t *v = w->buffer[VECTOR];
            memcpy(v + 255 * m->wave, v + (size_t)e->argument * m->wave, m->wave * 4);
            break;
        }
        }
        if (e->copy)
            set_pc(w, e->copy);
        const uint64_t active = pair(scalars(w) + EXEC);
        call(w, e);
        if (e->copy)
            set_pc(w, pc + 8);
        if (e->kind == CARRY) {
            uint32_t *carries = scalars(w) + e->argument;
            carries[0] &= (uint32_t)active;
            if (m->wave == 64)
                carries[1] &= (uint32_t)(active >> 32);
        }
        if (e->kind == BARRIER) {
            w->block->arrived++;
            w->waits_in = w->block->phase;
            w->since = 0;
            return true;
        }
        if (e->kind == SLEEP) {
            w->since = 0;
            return true;
        }
    }
    return true;
}

/* Starts the grid's next blocks where others have ended. */
static void start_blocks(launch *l, uint64_t *next, uint64_t count, char *lds, size_t lds_bytes)
{
    const emulator_message *m = l->message;
    const uint32_t threads = m->block[0] * m->block[1] * m->block[2];
    for (uint32_t i = 0; i < l->blocks_alive && *next < count; i++) {
        block *b = l->blocks + i;
        if (b->live)
            continue;
        const uint64_t number = (*next)++;
        *b = (block){ .live = (int)l->waves_per_block,
                      .id = { (uint32_t)(number % m->grid[0]), (uint32_t)(number / m->grid[0] % m->grid[1]),
                              (uint32_t)(number / m->grid[0] / m->grid[1]) } };
        if (lds_bytes)
            memset(lds + i * LDS_WINDOW, LDS_POISON, lds_bytes);
        for (uint32_t j = 0; j < l->waves_per_block; j++)
            start_wave(l->waves + i * l->waves_per_block + j, m, j * m->wave, threads);
    }
}

static void run(const emulator_message *m, emulator_reply *r)
{
    static char *pool; /* of registers and scratch, kept between launches */
    static size_t pool_bytes;
    const uint32_t threads = m->block[0] * m->block[1] * m->block[2];
    const uint64_t count = (uint64_t)m->grid[0] * m->grid[1] * m->grid[2];
    launch l = { .message = m, .reply = r, .waves_per_block = (threads + m->wave - 1) / m->wave };
    l.blocks_alive = m->resident && m->resident < count ? m->resident : (uint32_t)count;
    l.wave_count = l.blocks_alive * l.waves_per_block;
    const uint32_t accumulators = m->wave == 64;
    const size_t vector_bytes = (size_t)VECTORS * m->wave * 4,
                 registers = SCALARS * 4 + vector_bytes * (1 + accumulators);
    const size_t slot = (registers + (size_t)m->scratch * m->wave + 63) & ~(size_t)63;
    const size_t lds_bytes = ((size_t)m->lds + 4095) & ~(size_t)4095, room_bytes = LDS_WINDOW * (l.blocks_alive + 1);
    if (slot * l.wave_count > pool_bytes) {
        if (pool)
            munmap(pool, pool_bytes);
        pool = reserve(pool_bytes = slot * l.wave_count, PROT_READ | PROT_WRITE);
    }
    char *room = reserve(room_bytes, PROT_NONE);
    char *lds = (char *)(((uintptr_t)room + LDS_WINDOW - 1) & ~(uintptr_t)(LDS_WINDOW - 1));
    l.waves = calloc(l.wave_count, sizeof *l.waves);
    l.blocks = calloc(l.blocks_alive, sizeof *l.blocks);
    uint32_t *order = malloc(l.wave_count * sizeof *order);
    for (uint32_t i = 0; i < l.blocks_alive && lds_bytes; i++)
        mprotect(lds + i * LDS_WINDOW, lds_bytes, PROT_READ | PROT_WRITE);
    for (uint32_t i = 0; i < l.wave_count; i++) {
        char *p = pool + slot * i;
        wave *w = l.waves + i;
        order[i] = i;
        w->block = l.blocks + i / l.waves_per_block;
        w->index = i % l.waves_per_block;
        w->buffer[SCALAR] = p;
        w->buffer[VECTOR] = p + SCALARS * 4;
        w->buffer[ACCUMULATOR] = p + SCALARS * 4 + accumulators * vector_bytes;
        w->buffer[LDS] = lds + i / l.waves_per_block * LDS_WINDOW;
        w->buffer[SCRATCH] = p + registers;
    }
    l.control = _mm_getcsr();
    if ((m->rsrc1 >> 16 & 3) != 3) /* the kernel wants float denormals flushed */
        _mm_setcsr(l.control | 0x8040);
    current = NULL;
    current_pc = 0;
    uint64_t next = 0, left = count, seed = m->seed;
    uint32_t idle = 0;
    while (left) {
        bool busy = false;
        start_blocks(&l, &next, count, lds, lds_bytes);
        for (uint32_t i = l.wave_count - 1; seed && i > 0; i--) {
            const uint32_t j = (uint32_t)(random_bits(&seed) % (i + 1)), t = order[i];
            order[i] = order[j];
            order[j] = t;
        }
        for (uint32_t i = 0; i < l.wave_count; i++) {
            wave *w = l.waves + order[i];
            block *b = w->block;
            bool ended = false;
            if (!w->on || w->waits_in == b->phase)
                continue;
            w->waits_in = -1;
            current = w;
            if (!run_wave(&l, w, seed ? 1 + (uint32_t)(random_bits(&seed) % m->quantum) : m->quantum, &ended))
                goto out;
            if (ended && --b->live == 0)
                left--;
            if (ended || w->since > 1000) /* it did more than to poll */
                busy = true;
            if (b->arrived && b->arrived >= b->live) {
                b->arrived = 0;
                b->phase++;
                busy = true;
            }
        }
        idle = busy || l.timed ? 0 : idle + 1;
        l.timed = false;
        if (idle > m->spin) {
            finish(r, REPLY_DEADLOCK);
            goto out;
        }
    }
out:
    _mm_setcsr(l.control);
    munmap(room, room_bytes);
    free(l.waves);
    free(l.blocks);
    free(order);
}

/* ---- what worker.py calls ---- */

/* Code in the cache is compiled for this processor. The number of the core that answers is left out. */
void cpu_id(unsigned out[8])
{
    __cpuid(1, out[0], out[1], out[2], out[3]);
    out[1] = 0;
    __cpuid_count(7, 0, out[4], out[5], out[6], out[7]);
}

int serve(int socket_number, int memory_file, uint64_t address, uint64_t bytes, decoder d)
{
    socket_file = socket_number;
    base = address;
    decode = d;
    if (mmap((void *)base, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory_file, 0) != (void *)base) {
        perror("hip_emulator: arena");
        return 2;
    }
    table = reserve(CODE_BYTES / 4 * sizeof *table, PROT_READ | PROT_WRITE);
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    for (emulator_message m; read(socket_file, &m, sizeof m) == sizeof m;) {
        if (m.what == MESSAGE_PROTECT) {
            if (mprotect((void *)m.address, m.bytes, (int)m.protection))
                perror("hip_emulator: mprotect");
            continue;
        }
        reply = (emulator_reply){ 0 };
        run(&m, &reply);
        if (write(socket_file, &reply, sizeof reply) != sizeof reply)
            return 1;
    }
    return 0;
}

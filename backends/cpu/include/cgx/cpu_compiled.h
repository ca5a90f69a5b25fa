/* SPDX-License-Identifier: MIT */
/* The text of compiled entries, read by the clang that has the plug-in (backends/cpu/pass) alone: groups wait at marks,
 * which the plug-in turns into the ends of regions. Between two regions a *step* may run, once for a whole block or group: a
 * collective. Members put their values into block->in; the step leaves results in block->out. */
#ifndef CGX_CPU_COMPILED_H
#define CGX_CPU_COMPILED_H
#include <cgx/group.h>
#ifdef CGX__CPU_PASS

CGX__STATIC_ASSERT(offsetof(cgx_cpu_block, shared) == 96 && offsetof(cgx_cpu_block, in) == 160 &&
                       offsetof(cgx_cpu_block, out) == 168 && offsetof(cgx_cpu_block, resume) == 232 &&
                       offsetof(cgx_cpu_block, scratch) == 248,
                   "backends/cpu/pass/Marks.h has the offsets");

/* COUNT threads from FIRST on, in groups of SIZE. PACKED: values lie one behind the other, at rank * bytes; else at rank *
 * CGX__VALUE_BYTES, so that groups which call different collectives at the same time do not overlap. */
typedef void cgx__step_fn(cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation,
                          int type, int code, size_t bytes, void (*apply)(void *, const void *, const void *),
                          void *target, int scope, cgx_mask members);

CGX__EXTERN_C_BEGIN
/* A wait for all members of a group of KIND and SIZE (MEMBERS: of a coalesced group), and what is to be done when all are there
 * (NULL: nothing). */
void cgx__mark_step(cgx__step_fn *step, cgx_cpu_block *b, int line, int size, int kind, int operation, int type,
                    int code, size_t bytes, void (*apply)(void *, const void *, const void *), void *target, int scope,
                    cgx_mask members) __attribute__((convergent, nothrow));
/* Whether steps find their values packed: the plug-in's choice, one for a kernel. */
int cgx__mark_packed(void) __attribute__((const, nothrow));
/* Whether VALUE is the same in all threads and steps are told of it, and VALUE itself if so. */
int cgx__mark_same(int value) __attribute__((const, nothrow));
int cgx__mark_value(int value) __attribute__((const, nothrow));
/* What compiled entries cannot do: the kernel runs on fibers, and the plug-in says why. */
void cgx__mark_refuse(const char *what, int line) __attribute__((nothrow));
CGX__EXTERN_C_END

CGX__INLINE size_t cgx__compiled_stride(size_t bytes)
{
    return cgx__mark_packed() ? bytes : CGX__VALUE_BYTES;
}
CGX__INLINE void *cgx__compiled_in(const cgx_group *g, size_t bytes)
{
    return g->t->block->in + (size_t)g->t->rank * cgx__compiled_stride(bytes);
}
/* Where a step leaves what is the same for the whole group. */
CGX__INLINE const void *cgx__compiled_result(const cgx_group *g, size_t bytes)
{
    const size_t first = g->kind == CGX__BLOCK ? 0 : (unsigned)g->t->rank / (unsigned)g->size;
    return g->t->block->out + (cgx__mark_packed() ? first * bytes : first * (size_t)g->size * CGX__VALUE_BYTES);
}

/* Whether marks can stand for a collective of the group. */
CGX__INLINE void cgx__compiled_check(const cgx_group *g, int line)
{
    if (g->kind == CGX__CLUSTER)
        cgx__mark_refuse("a collective of a cluster", line);
    else if (g->kind == CGX__GRID)
        cgx__mark_refuse("a collective of the grid", line);
    else if (g->kind != CGX__BLOCK && g->kind != CGX__TILE && g->kind != CGX__COALESCED)
        cgx__mark_refuse("a group of a kind that is not known here", line);
}

/* Arriving is nothing where all threads run up to the wait before any goes on behind it; elsewhere the plug-in refuses. */
CGX__INLINE cgx_token cgx__compiled_arrive(cgx_group g, int line)
{
    cgx_token token = { 0 };
    if (CGX__UNLIKELY(g.t->arrived >> g.kind & 1))
        cgx__cpu_misuse(g.t, line, "a second barrier_arrive before the barrier_wait of the first");
    g.t->arrived |= 1 << g.kind;
    return token;
}
CGX__INLINE void cgx__compiled_meet(cgx_group g, int operation, int line)
{
    if (g.kind == CGX__CLUSTER || g.kind == CGX__GRID) {
        cgx__mark_step(cgx__cpu_wide_sync, g.t->block, line, 0, g.kind, operation, 0, line, 0, NULL, NULL, 0, 0);
        return;
    }
    cgx__compiled_check(&g, line);
    if (g.size > 1 || g.kind == CGX__BLOCK)
        cgx__mark_step(NULL, g.t->block, line, g.size, g.kind, operation, 0, 0, 0, NULL, NULL, 0, g.lanes);
}
CGX__INLINE void cgx__compiled_sync(cgx_group g, int line)
{
    cgx__compiled_meet(g, CGX__OP_SYNC, line);
}
CGX__STATIC_ASSERT(CGX__OP_WAIT == 19, "backends/cpu/pass/Marks.h has the number, OperationWait");
CGX__INLINE void cgx__compiled_wait(cgx_group g, int line)
{
    if (CGX__UNLIKELY(g.kind != CGX__BLOCK && g.kind != CGX__CLUSTER && g.kind != CGX__GRID))
        cgx__cpu_misuse(g.t, line, "barrier_arrive and barrier_wait take a block, a cluster or the grid");
    if (CGX__UNLIKELY(!(g.t->arrived >> g.kind & 1)))
        cgx__cpu_misuse(g.t, line, "a barrier_wait without barrier_arrive, or a second one with the same token");
    g.t->arrived &= ~(1 << g.kind);
    cgx__compiled_meet(g, CGX__OP_WAIT, line);
}

/* A thread that looks for what others do has to let them run. */
CGX__INLINE void cgx__compiled_poll(cgx_block self, int line)
{
    cgx__mark_step(NULL, self.t->block, line, 1, CGX__POLL, CGX__OP_YIELD, 0, 0, 0, NULL, NULL, 0, 0);
}
CGX__INLINE void cgx__compiled_at_mbarrier(cgx_block self, int line)
{
    cgx__mark_step(NULL, self.t->block, line, 1, CGX__AT_MBARRIER, CGX__OP_MBARRIER_WAIT, 0, 0, 0, NULL, NULL, 0, 0);
}
CGX__INLINE cgx_mask cgx__compiled_coalesce(cgx_cpu_thread *t, int line)
{
    cgx__mark_step(NULL, t->block, line, 1, CGX__COALESCING, CGX__OP_COALESCE, 0, 0, 0, NULL, NULL, 0, 0);
    return *(cgx_mask *)(void *)(t->block->out + (size_t)t->rank * CGX__VALUE_BYTES);
}

/* Any collective, as the fibers' library computes it. */
CGX__INLINE void *cgx__compiled_collect(cgx_group g, const void *value, int argument, const cgx_cpu_collective *what,
                                        int line)
{
    cgx_cpu_block *b = g.t->block;
    cgx__compiled_check(&g, line);
    memcpy(b->in + (size_t)g.t->rank * CGX__VALUE_BYTES, value, what->bytes);
    b->argument[g.t->rank] = argument;
    cgx__mark_step(cgx__cpu_complete_groups, b, line, g.size, g.kind, what->operation, what->type, what->code,
                   what->bytes, what->apply, what->target, what->scope, g.lanes);
    return b->out + (size_t)g.t->rank * CGX__VALUE_BYTES;
}

/* ---- shuffles: the step moves the values out of the way of the next ones, and each thread reads what it wants. Where all threads
 * want the same of their group - the neighbour, the one at distance 4 - the step moves the values to them. ---- */

CGX__INLINE int cgx__source_rank(int tile, int n, int i, int operation, int argument)
{
    switch (operation) {
    case CGX__OP_SHFL: return tile ? argument & (n - 1) : (argument % n + n) % n;
    case CGX__OP_SHFL_UP: return argument >= 0 && argument <= i ? i - argument : i;
    case CGX__OP_SHFL_DOWN: return argument >= 0 && argument < n - i ? i + argument : i;
    default: return (i ^ argument) >= 0 && (i ^ argument) < n ? i ^ argument : i;
    }
}

/* Values of whatever type. */
typedef uint8_t __attribute__((may_alias)) cgx__bits8;
typedef uint16_t __attribute__((may_alias)) cgx__bits16;
typedef uint32_t __attribute__((may_alias)) cgx__bits32;
typedef uint64_t __attribute__((may_alias)) cgx__bits64;

/* One loop for each kind, each of which vectorises. Masks below the group's size move pairs of runs. */
#define CGX__PERMUTE(T)                                                                                              \
    CGX__INLINE void cgx__permute_##T(cgx__##T *CGX_RESTRICT to, const cgx__##T *CGX_RESTRICT from, int n, int tile, \
                                      int operation, int argument)                                                   \
    {                                                                                                                \
        if (operation == CGX__OP_SHFL) {                                                                             \
            const cgx__##T v = from[cgx__source_rank(tile, n, 0, operation, argument)];                              \
            for (int i = 0; i < n; i++)                                                                              \
                to[i] = v;                                                                                           \
        } else if (operation == CGX__OP_SHFL_UP || operation == CGX__OP_SHFL_DOWN) {                                 \
            const int d = argument >= 0 && argument < n ? argument : 0, up = operation == CGX__OP_SHFL_UP;           \
            for (int i = 0; i < n - d; i++)                                                                          \
                to[up ? i + d : i] = from[up ? i : i + d];                                                           \
            for (int i = 0; i < d; i++)                                                                              \
                to[up ? i : n - d + i] = from[up ? i : n - d + i];                                                   \
        } else if (argument >= 8 && argument < n && !(argument & (argument - 1)) && !(n & (n - 1))) {                \
            for (int i = 0; i < n; i += 2 * argument)                                                                \
                for (int k = 0; k < argument; k++) {                                                                 \
                    to[i + k] = from[i + argument + k];                                                              \
                    to[i + argument + k] = from[i + k];                                                              \
                }                                                                                                    \
        } else if (argument >= 0 && argument < n && !(n & (n - 1)) && n >= 8) {                                      \
            const int low = argument & 7, high = argument & ~7;                                                      \
            for (int i = 0; i < n; i += 8) {                                                                         \
                const cgx__##T *const f = from + (i ^ high);                                                         \
                cgx__##T *const t = to + i;                                                                          \
                t[0] = f[low], t[1] = f[1 ^ low], t[2] = f[2 ^ low], t[3] = f[3 ^ low];                              \
                t[4] = f[4 ^ low], t[5] = f[5 ^ low], t[6] = f[6 ^ low], t[7] = f[7 ^ low];                          \
            }                                                                                                        \
        } else {                                                                                                     \
            for (int i = 0; i < n; i++)                                                                              \
                to[i] = from[cgx__source_rank(tile, n, i, operation, argument)];                                     \
        }                                                                                                            \
    }
CGX__PERMUTE(bits8)
CGX__PERMUTE(bits16)
CGX__PERMUTE(bits32)
CGX__PERMUTE(bits64)

/* TYPE: whether all threads have one argument; CODE: which. */
CGX_UNUSED static void cgx__step_shuffle(cgx_cpu_block *b, int packed, int first, int count, int size, int kind,
                                         int operation, int type, int code, size_t bytes,
                                         void (*apply)(void *, const void *, const void *), void *target, int scope,
                                         cgx_mask members)
{
    const size_t stride = packed ? bytes : CGX__VALUE_BYTES;
    unsigned char *CGX_RESTRICT to = b->out + (size_t)first * stride;
    const unsigned char *CGX_RESTRICT from = b->in + (size_t)first * stride;
    (void)apply, (void)target, (void)scope, (void)members;
    if (!type || !packed) {
        memcpy(to, from, (size_t)count * stride);
        return;
    }
    for (int g = 0; g < count; g += size, to += (size_t)size * bytes, from += (size_t)size * bytes) {
        const int tile = kind == CGX__TILE;
        if (bytes == 1)
            cgx__permute_bits8((cgx__bits8 *)to, (const cgx__bits8 *)from, size, tile, operation, code);
        else if (bytes == 2)
            cgx__permute_bits16((cgx__bits16 *)(void *)to, (const cgx__bits16 *)(const void *)from, size, tile,
                                operation, code);
        else if (bytes == 4)
            cgx__permute_bits32((cgx__bits32 *)(void *)to, (const cgx__bits32 *)(const void *)from, size, tile,
                                operation, code);
        else if (bytes == 8)
            cgx__permute_bits64((cgx__bits64 *)(void *)to, (const cgx__bits64 *)(const void *)from, size, tile,
                                operation, code);
        else
            for (int i = 0; i < size; i++)
                memcpy(to + (size_t)i * bytes, from + (size_t)cgx__source_rank(tile, size, i, operation, code) * bytes,
                       bytes);
    }
}

/* ---- votes: any and all as bytes, which an OR and an AND reduce; ballots as masks ---- */

CGX_UNUSED static void cgx__step_vote(cgx_cpu_block *b, int packed, int first, int count, int size, int kind,
                                      int operation, int type, int code, size_t bytes,
                                      void (*apply)(void *, const void *, const void *), void *target, int scope,
                                      cgx_mask members)
{
    const size_t stride = packed ? sizeof(int) : CGX__VALUE_BYTES, result = packed ? bytes : CGX__VALUE_BYTES;
    (void)kind, (void)type, (void)code, (void)apply, (void)target, (void)scope, (void)members;
    for (int i = first / size; i < (first + count) / size; i++) {
        const unsigned char *values = b->in + (size_t)i * (size_t)size * stride;
        unsigned char *to = b->out + (size_t)i * (packed ? 1 : (size_t)size) * result;
        int any = 0, all = 1;
        cgx_mask ballot = 0;
        for (int k = 0; k < size; k++) {
            const int p = *(const int *)(const void *)(values + (size_t)k * stride);
            any |= p, all &= p;
            if (operation == CGX__OP_BALLOT)
                ballot |= (cgx_mask)(unsigned)p << k;
        }
        if (operation == CGX__OP_BALLOT)
            memcpy(to, &ballot, sizeof ballot);
        else
            memcpy(to, operation == CGX__OP_ANY ? &any : &all, sizeof any);
    }
}

CGX__INLINE void *cgx__compiled_exchange(cgx_group g, const void *value, int argument, const cgx_cpu_collective *what,
                                         int line)
{
    cgx_cpu_block *b = g.t->block;
    const int operation = what->operation;
    if (g.kind == CGX__COALESCED)
        return cgx__compiled_collect(g, value, argument, what, line);
    if (operation == CGX__OP_ANY || operation == CGX__OP_ALL || operation == CGX__OP_BALLOT) {
        const size_t bytes = operation == CGX__OP_BALLOT ? sizeof(cgx_mask) : sizeof(int);
        cgx__compiled_check(&g, line);
        *(int *)cgx__compiled_in(&g, sizeof(int)) = argument;
        cgx__mark_step(cgx__step_vote, b, line, g.size, g.kind, operation, 0, 0, bytes, NULL, NULL, 0, 0);
        return (void *)(uintptr_t)cgx__compiled_result(&g, bytes);
    }
    if (operation == CGX__OP_SHFL || operation == CGX__OP_SHFL_UP || operation == CGX__OP_SHFL_DOWN ||
        operation == CGX__OP_SHFL_XOR) {
        cgx__compiled_check(&g, line);
        memcpy(cgx__compiled_in(&g, what->bytes), value, what->bytes);
        const int same = cgx__mark_same(argument);
        cgx__mark_step(cgx__step_shuffle, b, line, g.size, g.kind, operation, same, cgx__mark_value(argument),
                       what->bytes, NULL, NULL, 0, 0);
        const int source = cgx__source_rank(g.kind == CGX__TILE, g.size, g.rank, operation, argument);
        return b->out + (size_t)(same ? g.t->rank : g.t->rank - g.rank + source) * cgx__compiled_stride(what->bytes);
    }
    return cgx__compiled_collect(g, value, argument, what, line);
}
#endif
#endif

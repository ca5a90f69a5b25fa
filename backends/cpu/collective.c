/* SPDX-License-Identifier: MIT */
/* Collectives: the last thread to arrive computes everybody's result, in the canonical order. Built without contraction of
 * floating-point operations. */
#include <string.h>
#include "fiber.h"

enum { SEGMENT = 32 }; /* of the canonical scan; not the warp */

/* ---- reduce: adjacent pairs, the lower rank on the left, an odd one goes up as it is ---- */
/* ---- scan: Kogge-Stone in segments, then over the segments' totals ---- */
#define TYPED(name, T, OPERATION)                                               \
    static void reduce_##name(T *v, int n)                                      \
    {                                                                           \
        for (; n > 1; n = (n + 1) / 2) {                                        \
            for (int i = 0; i < n / 2; i++)                                     \
                v[i] = OPERATION(v[2 * i], v[2 * i + 1]);                       \
            if (n & 1)                                                          \
                v[n / 2] = v[n - 1];                                            \
        }                                                                       \
    }                                                                           \
    static void segment_##name(T *v, int n)                                     \
    {                                                                           \
        for (int d = 1; d < n; d *= 2)                                          \
            for (int i = n - 1; i >= d; i--)                                    \
                v[i] = OPERATION(v[i - d], v[i]);                               \
    }                                                                           \
    static void scan_##name(T *v, int n)                                        \
    {                                                                           \
        T *totals = v + n; /* behind the values */                              \
        int segments = (n + SEGMENT - 1) / SEGMENT;                             \
        for (int s = 0; s < segments; s++) {                                    \
            int length = n - s * SEGMENT < SEGMENT ? n - s * SEGMENT : SEGMENT; \
            segment_##name(v + s * SEGMENT, length);                            \
            totals[s] = v[s * SEGMENT + length - 1];                            \
        }                                                                       \
        if (segments > 1)                                                       \
            scan_##name(totals, segments);                                      \
        for (int i = SEGMENT; i < n; i++)                                       \
            v[i] = OPERATION(totals[i / SEGMENT - 1], v[i]);                    \
    }

#define ADD(a, b) ((a) + (b))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#define GREATER(a, b) ((a) < (b) ? (b) : (a))
#define AND(a, b) ((a) & (b))
#define XOR(a, b) ((a) ^ (b))
#define OR(a, b) ((a) | (b))
#define CAST_ADD_u8(a, b) (uint8_t)((a) + (b))
#define CAST_ADD_u16(a, b) (uint16_t)((a) + (b))
/* Sums and bits are those of the unsigned type; sign matters to less and greater alone. */
#define INTEGER(U, S, u, s, PLUS) \
    TYPED(add_##u, U, PLUS)       \
    TYPED(and_##u, U, AND)        \
    TYPED(xor_##u, U, XOR)        \
    TYPED(or_##u, U, OR)          \
    TYPED(less_##u, U, LESS) TYPED(greater_##u, U, GREATER) TYPED(less_##s, S, LESS) TYPED(greater_##s, S, GREATER)
INTEGER(uint8_t, int8_t, u8, i8, CAST_ADD_u8)
INTEGER(uint16_t, int16_t, u16, i16, CAST_ADD_u16)
INTEGER(uint32_t, int32_t, u32, i32, ADD)
INTEGER(uint64_t, int64_t, u64, i64, ADD)

#define FLOAT(T, f) TYPED(add_##f, T, ADD) TYPED(less_##f, T, cgx__least_##f) TYPED(greater_##f, T, cgx__largest_##f)
FLOAT(float, f32)
FLOAT(double, f64)

/* Half: every step is computed in float, which holds the operands, and rounded to half. */
static inline cgx_half add_half(cgx_half a, cgx_half b)
{
    return cgx_float_to_half(cgx_half_to_float(a) + cgx_half_to_float(b));
}
static inline cgx_half least_half(cgx_half a, cgx_half b)
{
    return cgx_float_to_half(cgx__least_f32(cgx_half_to_float(a), cgx_half_to_float(b)));
}
static inline cgx_half largest_half(cgx_half a, cgx_half b)
{
    return cgx_float_to_half(cgx__largest_f32(cgx_half_to_float(a), cgx_half_to_float(b)));
}
TYPED(add_f16, cgx_half, add_half)
TYPED(less_f16, cgx_half, least_half)
TYPED(greater_f16, cgx_half, largest_half)

typedef void array_fn(void *values, int n);
typedef struct {
    array_fn *reduce, *scan;
} operation_fns;
#define PAIR(name)                                         \
    {                                                      \
        (array_fn *)reduce_##name, (array_fn *)scan_##name \
    }
#define INTEGER_ROW(t, u)                                                                            \
    {                                                                                                \
        PAIR(add_##u), PAIR(less_##t), PAIR(greater_##t), PAIR(and_##u), PAIR(xor_##u), PAIR(or_##u) \
    }
#define FLOAT_ROW(t)                                     \
    {                                                    \
        PAIR(add_##t), PAIR(less_##t), PAIR(greater_##t) \
    }
static const operation_fns table[][CGX__CODE_COUNT] = {
    [CGX__TYPE_I8] = INTEGER_ROW(i8, u8),    [CGX__TYPE_U8] = INTEGER_ROW(u8, u8),
    [CGX__TYPE_I16] = INTEGER_ROW(i16, u16), [CGX__TYPE_U16] = INTEGER_ROW(u16, u16),
    [CGX__TYPE_I32] = INTEGER_ROW(i32, u32), [CGX__TYPE_U32] = INTEGER_ROW(u32, u32),
    [CGX__TYPE_I64] = INTEGER_ROW(i64, u64), [CGX__TYPE_U64] = INTEGER_ROW(u64, u64),
    [CGX__TYPE_F16] = FLOAT_ROW(f16),        [CGX__TYPE_F32] = FLOAT_ROW(f32),
    [CGX__TYPE_F64] = FLOAT_ROW(f64),
};

/* The same orders with a user operator, on values of any size. */
typedef struct {
    size_t bytes;
    void (*apply)(void *, const void *, const void *);
} user_operator;

static void apply(const user_operator *op, unsigned char *v, int to, int left, int right)
{
    _Alignas(32) unsigned char result[CGX__VALUE_BYTES];
    op->apply(result, v + (size_t)left * op->bytes, v + (size_t)right * op->bytes);
    memcpy(v + (size_t)to * op->bytes, result, op->bytes);
}

static void reduce_user(const user_operator *op, unsigned char *v, int n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++)
            apply(op, v, i, 2 * i, 2 * i + 1);
        if (n & 1)
            memmove(v + (size_t)(n / 2) * op->bytes, v + (size_t)(n - 1) * op->bytes, op->bytes);
    }
}

static void segment_user(const user_operator *op, unsigned char *v, int n)
{
    for (int d = 1; d < n; d *= 2)
        for (int i = n - 1; i >= d; i--)
            apply(op, v, i, i - d, i);
}

static void scan_user(const user_operator *op, unsigned char *v, int n)
{
    /* Totals go behind the values. */
    unsigned char *totals = v + (size_t)n * op->bytes;
    int segments = (n + SEGMENT - 1) / SEGMENT;
    for (int s = 0; s < segments; s++) {
        int length = n - s * SEGMENT < SEGMENT ? n - s * SEGMENT : SEGMENT;
        segment_user(op, v + (size_t)s * SEGMENT * op->bytes, length);
        memcpy(totals + (size_t)s * op->bytes, v + (size_t)(s * SEGMENT + length - 1) * op->bytes, op->bytes);
    }
    if (segments > 1)
        scan_user(op, totals, segments);
    for (int i = SEGMENT; i < n; i++)
        apply(op, v, i, n + i / SEGMENT - 1, i);
}

/* ---- members ---- */

/* Ranks in the block of a group's members, in the group's order. Contiguous groups need no list. */
typedef struct {
    int base, size;
    unsigned char lanes[64];
    int listed;
} members;

static members members_of(const cgx_group *g)
{
    members m = { g->t->rank - g->rank, g->size, { 0 }, g->kind == CGX__COALESCED };
    if (m.listed) {
        int n = 0;
        m.base = g->t->rank - cgx__place(g->t);
        for (cgx_mask left = g->lanes; left; left &= left - 1)
            m.lanes[n++] = (unsigned char)__builtin_ctzll(left);
    }
    return m;
}
static int member(const members *m, int i)
{
    return m->base + (m->listed ? m->lanes[i] : i);
}

static void *in(const cgx_cpu_block *b, int rank)
{
    return b->in + rank * CGX__VALUE_BYTES;
}
static void *out(const cgx_cpu_block *b, int rank)
{
    return b->out + rank * CGX__VALUE_BYTES;
}

static void gather(const cgx_cpu_block *b, const members *m, size_t bytes, unsigned char *packed)
{
#define COPY(n)                       \
    for (int i = 0; i < m->size; i++) \
    memcpy(packed + i * n, in(b, member(m, i)), n)
    switch (bytes) {
    case 4: COPY(4); break;
    case 8: COPY(8); break;
    default:
        for (int i = 0; i < m->size; i++)
            memcpy(packed + (size_t)i * bytes, in(b, member(m, i)), bytes);
    }
#undef COPY
}

void cgx__fold_values(const cgx_cpu_collective *what, unsigned char *values, int n)
{
    const user_operator op = { what->bytes, what->apply };
    const int scan = what->operation == CGX__OP_INCLUSIVE_SCAN || what->operation == CGX__OP_EXCLUSIVE_SCAN ||
                     what->operation == CGX__OP_INCLUSIVE_UPDATE || what->operation == CGX__OP_EXCLUSIVE_UPDATE;
    if (what->apply && scan)
        scan_user(&op, values, n);
    else if (what->apply)
        reduce_user(&op, values, n);
    else if (scan)
        table[what->type][what->code].scan(values, n);
    else
        table[what->type][what->code].reduce(values, n);
}

void cgx__apply_operator(const cgx_cpu_collective *what, void *result, const void *left, const void *right)
{
    _Alignas(32) unsigned char pair[3 * CGX__VALUE_BYTES];
    if (what->apply) {
        what->apply(result, left, right);
        return;
    }
    memcpy(pair, left, what->bytes);
    memcpy(pair + what->bytes, right, what->bytes);
    table[what->type][what->code].reduce(pair, 2);
    memcpy(result, pair, what->bytes);
}

#define UPDATE(T)                                                                                          \
    do {                                                                                                   \
        T *p = what->target, found = __atomic_load_n(p, __ATOMIC_RELAXED), desired;                        \
        do {                                                                                               \
            if (store)                                                                                     \
                memcpy(&desired, value, sizeof desired);                                                   \
            else                                                                                           \
                cgx__apply_operator(what, &desired, &found, value);                                        \
        } while (!__atomic_compare_exchange_n(p, &found, desired, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        memcpy(old, &found, sizeof found);                                                                 \
    } while (0)

void cgx__atomic_update(const cgx_cpu_collective *what, const void *value, int store, void *old)
{
    if (what->bytes == 4)
        UPDATE(uint32_t);
    else
        UPDATE(uint64_t);
}

static void reduce_members(const cgx_group *g, const members *m, const cgx_cpu_collective *what, unsigned char *scratch)
{
    const cgx_cpu_block *b = g->t->block;
    gather(b, m, what->bytes, scratch);
    cgx__fold_values(what, scratch, m->size);
    if (what->operation != CGX__OP_REDUCE)
        cgx__reduce_result(g, what, scratch);
    else
        for (int i = 0; i < m->size; i++)
            memcpy(out(b, member(m, i)), scratch, what->bytes);
}

static void scan_members(const cgx_group *g, const members *m, const cgx_cpu_collective *what, unsigned char *scratch)
{
    const cgx_cpu_block *b = g->t->block;
    const size_t bytes = what->bytes;
    const int shift = what->operation == CGX__OP_EXCLUSIVE_SCAN || what->operation == CGX__OP_EXCLUSIVE_UPDATE;
    _Alignas(32) unsigned char old[CGX__VALUE_BYTES] = { 0 };
    gather(b, m, bytes, scratch);
    cgx__fold_values(what, scratch, m->size);
    int update = what->operation == CGX__OP_INCLUSIVE_UPDATE || what->operation == CGX__OP_EXCLUSIVE_UPDATE;
    if (update)
        cgx__atomic_update(what, scratch + (size_t)(m->size - 1) * bytes, 0, old);
    if (shift)
        memcpy(out(b, member(m, 0)), old, bytes); /* zero, where there is no old value */
    for (int i = 0; i + shift < m->size; i++) {
        if (update)
            cgx__apply_operator(what, out(b, member(m, i + shift)), old, scratch + (size_t)i * bytes);
        else
            memcpy(out(b, member(m, i + shift)), scratch + (size_t)i * bytes, bytes);
    }
}

static void shuffle(const cgx_cpu_block *b, const members *m, const cgx_cpu_collective *what)
{
    for (int i = 0; i < m->size; i++) {
        int to = member(m, i), n = m->size, argument = b->argument[to], from = i;
        switch (what->operation) {
        case CGX__OP_SHFL: from = (argument % n + n) % n; break;
        case CGX__OP_SHFL_UP: from = argument >= 0 && argument <= i ? i - argument : i; break;
        case CGX__OP_SHFL_DOWN: from = argument >= 0 && argument < n - i ? i + argument : i; break;
        case CGX__OP_SHFL_XOR: from = (i ^ argument) >= 0 && (i ^ argument) < n ? i ^ argument : i; break;
        }
        memcpy(out(b, to), in(b, member(m, from)), what->bytes);
    }
}

static void vote(const cgx_cpu_block *b, const members *m, int operation)
{
    int any = 0, all = 1;
    cgx_mask ballot = 0;
    for (int i = 0; i < m->size; i++) {
        int p = b->argument[member(m, i)];
        any |= p, all &= p;
        if (i < 64)
            ballot |= (cgx_mask)p << i;
    }
    for (int i = 0; i < m->size; i++) {
        if (operation == CGX__OP_BALLOT)
            memcpy(out(b, member(m, i)), &ballot, sizeof ballot);
        else
            memcpy(out(b, member(m, i)), operation == CGX__OP_ANY ? &any : &all, sizeof any);
    }
}

static cgx_mask same_as(const cgx_cpu_block *b, const members *m, int i, size_t bytes)
{
    cgx_mask mask = 0;
    for (int j = 0; j < m->size; j++)
        mask |= (cgx_mask)!memcmp(in(b, member(m, i)), in(b, member(m, j)), bytes) << j;
    return mask;
}

static void match(const cgx_cpu_block *b, const members *m, const cgx_cpu_collective *what)
{
    const cgx_mask everyone = m->size == 64 ? ~(cgx_mask)0 : ((cgx_mask)1 << m->size) - 1;
    for (int i = 0; i < m->size; i++) {
        cgx_mask mask = same_as(b, m, i, what->bytes);
        if (what->operation == CGX__OP_MATCH_ALL && mask != everyone)
            mask = 0;
        memcpy(out(b, member(m, i)), &mask, sizeof mask);
    }
}

static void partition(const cgx_cpu_block *b, const members *m, const cgx_cpu_collective *what)
{
    cgx_cpu_part parts[64];
    int groups = 0;
    for (int i = 0; i < m->size; i++) {
        cgx_mask mask = same_as(b, m, i, what->bytes);
        int leader = __builtin_ctzll(mask);
        parts[i].lanes = 0;
        for (cgx_mask left = mask; left; left &= left - 1)
            parts[i].lanes |= (cgx_mask)1 << (member(m, __builtin_ctzll(left)) & 63);
        parts[i].meta_rank = leader == i ? groups++ : parts[leader].meta_rank;
    }
    for (int i = 0; i < m->size; i++) {
        parts[i].meta_size = groups;
        memcpy(out(b, member(m, i)), parts + i, sizeof parts[i]);
    }
}

void cgx__cpu_complete(const cgx_group *g, const cgx_cpu_collective *what)
{
    const cgx_cpu_block *b = g->t->block;
    const members m = members_of(g);
    switch (what->operation) {
    case CGX__OP_REDUCE:
    case CGX__OP_REDUCE_UPDATE:
    case CGX__OP_REDUCE_STORE:
    case CGX__OP_REDUCE_STORE_PLAIN: reduce_members(g, &m, what, ((worker *)g->t->block->worker)->scratch); break;
    case CGX__OP_INCLUSIVE_SCAN:
    case CGX__OP_EXCLUSIVE_SCAN:
    case CGX__OP_INCLUSIVE_UPDATE:
    case CGX__OP_EXCLUSIVE_UPDATE: scan_members(g, &m, what, ((worker *)g->t->block->worker)->scratch); break;
    case CGX__OP_ANY:
    case CGX__OP_ALL:
    case CGX__OP_BALLOT: vote(b, &m, what->operation); break;
    case CGX__OP_MATCH_ANY:
    case CGX__OP_MATCH_ALL: match(b, &m, what); break;
    case CGX__OP_PARTITION: partition(b, &m, what); break;
    case CGX__OP_SYNC: break;
    default: shuffle(b, &m, what); break;
    }
}

void cgx__cpu_complete_groups(cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation,
                              int type, int code, size_t bytes, void (*apply)(void *, const void *, const void *),
                              void *target, int scope, cgx_mask members)
{
    const cgx_cpu_collective what = { operation, type, code, bytes, apply, target, scope };
    (void)packed; /* values that this function reads always have a slot each */
    for (int base = first; base < first + count; base += size) {
        cgx_cpu_thread t = { .block = b, .rank = base, .shape = &b->shape };
        const cgx_group g = { .t = &t, .kind = kind, .size = size, .lanes = members };
        cgx__cpu_complete(&g, &what);
    }
    if (b->worker->deferred)
        cgx__cpu_settle(b->worker);
}

/* Coalesced groups come and go: the first member to arrive brings the barrier, on its stack, and the last takes it out of
 * the list again. Members of different groups may wait at the same time; the mask tells them apart. */
void cgx__cpu_coalesced(const cgx_group *g, const cgx_cpu_collective *what, int line)
{
    cgx_cpu_thread *t = g->t;
    block *b = (block *)t->block;
    pending mine = {
        g->lanes, t->rank - cgx__place(t), { .expected = g->size, .operation = what->operation }, b->coalesced
    };
    pending **at = &b->coalesced;
    while (*at && ((*at)->base != mine.base || (*at)->lanes != mine.lanes))
        at = &(*at)->next;
    pending *p = *at;
    if (!p) {
        p = &mine;
        if (g->size > 1)
            b->coalesced = p;
    } else if (p->barrier.operation != what->operation) {
        cgx__cpu_misuse(t, line, "a collective of a group in which other threads call another one");
    }
    if (++p->barrier.arrived < g->size) {
        cgx__cpu_park(t, &p->barrier, NULL, what->operation, line, -1);
        return;
    }
    cgx__cpu_complete(g, what);
    if (p != &mine)
        *at = p->next;
    cgx__cpu_release(t->block->worker, &p->barrier);
}

/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/collective.h>: the canonical order over shuffles. docs/design.md has the order,
 * backends/cpu/collective.c the same on arrays. */
#ifndef CGX_GPU_COLLECTIVE_H
#define CGX_GPU_COLLECTIVE_H
#include <cgx/collective.h>

extern "C++" {

/* ---- operators: a type each ---- */

template <class T> struct cgx__is_integer {
    enum { value = 0 };
};
#define CGX__IS_INTEGER(s, T, code)         \
    template <> struct cgx__is_integer<T> { \
        enum { value = 1 };                 \
    };
CGX_FOREACH_INTEGER(CGX__IS_INTEGER)

/* Integer sums wrap. */
template <class T> CGX__INLINE T cgx__plus(T a, T b)
{
    return (T)((uint64_t)a + (uint64_t)b);
}
CGX__INLINE cgx_half cgx__plus(cgx_half a, cgx_half b)
{
    return cgx_float_to_half(cgx__plus(cgx_half_to_float(a), cgx_half_to_float(b)));
}
/* minimumNumber and maximumNumber of IEEE 754-2019: a number beats a NaN, -0 is below +0. */
CGX__INLINE bool cgx__is_negative(float v)
{
    return cgx__float_bits(v) >> 31 != 0;
}
CGX__INLINE bool cgx__is_negative(double v)
{
    uint64_t u;
    __builtin_memcpy(&u, &v, sizeof u);
    return u >> 63 != 0;
}
template <class T> CGX__INLINE T cgx__least_float(T a, T b)
{
    if (a < b || b != b)
        return a;
    return a == b && cgx__is_negative(a) ? a : b;
}
template <class T> CGX__INLINE T cgx__largest_float(T a, T b)
{
    if (a > b || b != b)
        return a;
    return a == b && !cgx__is_negative(a) ? a : b;
}
template <class T> CGX__INLINE T cgx__least(T a, T b)
{
    return b < a ? b : a;
}
template <class T> CGX__INLINE T cgx__largest(T a, T b)
{
    return a < b ? b : a;
}
CGX__INLINE float cgx__least(float a, float b)
{
    return cgx__least_float(a, b);
}
CGX__INLINE float cgx__largest(float a, float b)
{
    return cgx__largest_float(a, b);
}
CGX__INLINE double cgx__least(double a, double b)
{
    return cgx__least_float(a, b);
}
CGX__INLINE double cgx__largest(double a, double b)
{
    return cgx__largest_float(a, b);
}
CGX__INLINE cgx_half cgx__least(cgx_half a, cgx_half b)
{
    return cgx_float_to_half(cgx__least(cgx_half_to_float(a), cgx_half_to_float(b)));
}
CGX__INLINE cgx_half cgx__largest(cgx_half a, cgx_half b)
{
    return cgx_float_to_half(cgx__largest(cgx_half_to_float(a), cgx_half_to_float(b)));
}

#define CGX__APPLY_PLUS(a, b) cgx__plus(a, b)
#define CGX__APPLY_LESS(a, b) cgx__least(a, b)
#define CGX__APPLY_GREATER(a, b) cgx__largest(a, b)
#define CGX__APPLY_BIT_AND(a, b) (T)(a & b)
#define CGX__APPLY_BIT_XOR(a, b) (T)(a ^ b)
#define CGX__APPLY_BIT_OR(a, b) (T)(a | b)
#define CGX__CHECK_arithmetic
#define CGX__CHECK_bitwise static_assert(cgx__is_integer<T>::value, "cgx: a bitwise operator needs an integer");
#define CGX__OPERATOR_TYPE(name, kind)                        \
    struct cgx__operator_##name {                             \
        template <class T> CGX__INLINE T apply(T a, T b)      \
        {                                                     \
            CGX__CHECK_##kind return CGX__APPLY_##name(a, b); \
        }                                                     \
    };
CGX_FOREACH_OPERATOR(CGX__OPERATOR_TYPE)
#define CGX_PLUS cgx__operator_PLUS()
#define CGX_LESS cgx__operator_LESS()
#define CGX_GREATER cgx__operator_GREATER()
#define CGX_BIT_AND cgx__operator_BIT_AND()
#define CGX_BIT_XOR cgx__operator_BIT_XOR()
#define CGX_BIT_OR cgx__operator_BIT_OR()

/* ---- in one wave ---- */

/* Of the first N members, for all: adjacent pairs, then pairs of pairs, and what rank 0 gets is everybody's. */
template <class OP, class T> CGX__INLINE T cgx__wave_reduce_first(const cgx_group &g, int n, T v)
{
    for (int d = 1; d < n; d *= 2) {
        bool pair = !(g.rank & (2 * d - 1)) && g.rank + d < n;
        T right = cgx__wave_exchange(g, v, pair ? g.rank + d : g.rank);
        if (pair)
            v = OP::apply(v, right);
    }
    return cgx__wave_exchange(g, v, 0);
}
template <class OP, class T> CGX__INLINE T cgx__wave_reduce(const cgx_group &g, T v)
{
    return cgx__wave_reduce_first<OP>(g, g.size, v);
}

enum { CGX__SEGMENT = 32 }; /* of the canonical scan; not the wave */

/* Kogge-Stone inside each segment of the first N members; SHUFFLE(v, rank) is a member's v. */
template <class OP, class T, class SHUFFLE>
CGX__INLINE T cgx__scan_segments(const cgx_group &g, int n, T v, SHUFFLE shuffle)
{
    int rank = g.rank % CGX__SEGMENT;
    for (int d = 1; d < CGX__SEGMENT && d < n; d *= 2) {
        T left = shuffle(v, rank >= d ? g.rank - d : g.rank);
        if (rank >= d)
            v = OP::apply(left, v);
    }
    return v;
}
/* Groups of up to 64 have two segments at most, so that the scan over their totals is the first total. */
template <class OP, class T, class SHUFFLE>
CGX__INLINE T cgx__narrow_scan(const cgx_group &g, T v, bool exclusive, SHUFFLE shuffle)
{
    v = cgx__scan_segments<OP>(g, g.size, v, shuffle);
    if (g.size > CGX__SEGMENT) {
        T total = shuffle(v, CGX__SEGMENT - 1);
        if (g.rank >= CGX__SEGMENT)
            v = OP::apply(total, v);
    }
    if (!exclusive)
        return v;
    v = shuffle(v, g.rank ? g.rank - 1 : 0);
    return g.rank ? v : T();
}
template <class OP, class T> CGX__INLINE T cgx__wave_scan(const cgx_group &g, T v, bool exclusive)
{
    static_assert(CGX__WAVE <= 2 * CGX__SEGMENT, "a wave has more than two segments");
    return cgx__narrow_scan<OP>(g, v, exclusive, [&](T x, int rank) { return cgx__wave_exchange(g, x, rank); });
}

/* ---- values one behind the other ---- */

/* Values in memory, STRIDE bytes from one to the next. */
typedef struct {
    const unsigned char *at;
    int stride;
} cgx__row;
template <class T> CGX__INLINE const T &cgx__value(cgx__row r, int i)
{
    return *reinterpret_cast<const T *>(r.at + (size_t)i * (unsigned)r.stride);
}
CGX__INLINE cgx__row cgx__row_from(cgx__row r, int i)
{
    return { r.at + (size_t)i * (unsigned)r.stride, r.stride };
}
template <class T> CGX__INLINE cgx__row cgx__row_of(const T *p)
{
    return { reinterpret_cast<const unsigned char *>(p), (int)sizeof(T) };
}
/* Of N values: adjacent pairs, then pairs of pairs. From the end instead of the start it is the value at a place of a
 * Kogge-Stone scan: each has one operation on the 2^k values that end with it, and so on. Not inlined: it is for the few
 * values that have no lane each. */
template <class OP, class T, bool FROM_END> CGX__NOINLINE T cgx__tree(cgx__row r, int n)
{
    T done[16]; /* of 2^k values each, k falling */
    int values = 0;
    for (int i = 0; i < n; i++) {
        T v = cgx__value<T>(r, FROM_END ? n - 1 - i : i);
        for (int k = i + 1; !(k & 1); k >>= 1) {
            --values;
            v = FROM_END ? OP::apply(v, done[values]) : OP::apply(done[values], v);
        }
        done[values++] = v;
    }
    T v = done[--values];
    while (values > 0) {
        --values;
        v = FROM_END ? OP::apply(v, done[values]) : OP::apply(done[values], v);
    }
    return v;
}
/* The power of two of values that each of MEMBERS takes, so that they have N between them: whole subtrees. */
CGX__INLINE int cgx__share_of(int n, int members)
{
    int share = 1;
    while (share * members < n)
        share *= 2;
    return share;
}

/* ---- in a block or tile of several waves ---- */

/* A round's values of the waves or segments of a group; two rounds take turns. */
enum { CGX__PARTS = CGX__MAX_THREADS / CGX__SEGMENT };
template <int BYTES, int LEVEL> CGX__INLINE unsigned char *cgx__slots_at(int turn)
{
    __shared__ __attribute__((aligned(16))) unsigned char slots[2][CGX__PARTS * BYTES];
    return slots[turn];
}
/* Of the group that starts at the block's rank BASE. The same memory, whether the compiler knows the level or not. */
template <class T, class G> CGX__INLINE T *cgx__slots(const G &g, int base)
{
    const int level = cgx__level_of(g), turn = cgx__turn(g.t, level);
    constexpr int known = cgx__level<G>::known;
    unsigned char *slots;
    if constexpr (known >= 0)
        slots = cgx__slots_at<sizeof(T), known>(turn);
    else
        switch (level) {
        case 0: slots = cgx__slots_at<sizeof(T), 0>(turn); break;
        case 1: slots = cgx__slots_at<sizeof(T), 1>(turn); break;
        case 2: slots = cgx__slots_at<sizeof(T), 2>(turn); break;
        case 3: slots = cgx__slots_at<sizeof(T), 3>(turn); break;
        case 4: slots = cgx__slots_at<sizeof(T), 4>(turn); break;
        default: slots = cgx__slots_at<sizeof(T), 5>(turn);
        }
    return reinterpret_cast<T *>(slots) + base / CGX__SEGMENT;
}

/* The reduction of N values in memory, for every member of a wave. */
template <class OP, class T> CGX__INLINE T cgx__reduce_parts(const cgx_group &wave, const T *parts, int n)
{
    const int share = cgx__share_of(n, wave.size), first = wave.rank * share, members = (n + share - 1) / share;
    T v = parts[wave.rank < n ? wave.rank : 0];
    if (share > 1 && wave.rank < members)
        v = cgx__tree<OP, T, false>(cgx__row_of(parts + first), n - first < share ? n - first : share);
    return cgx__wave_reduce_first<OP>(wave, members, v);
}
/* A wave is a whole subtree; every wave reduces what they have left, so that one barrier is enough. */
template <class OP, class G, class T> CGX__INLINE T cgx__slots_reduce(const G &g, T v)
{
    T *parts = cgx__slots<T>(g, cgx__rank_in_block() - g.rank);
    const cgx_group wave = cgx__wave_of(g);
    v = cgx__wave_reduce<OP>(wave, v);
    if (wave.rank == 0)
        parts[g.rank / CGX__WAVE] = v;
    cgx__wide_sync(g);
    return cgx__reduce_parts<OP>(wave, parts, (g.size + CGX__WAVE - 1) / CGX__WAVE);
}

/* The scan over the totals of the segments before LAST, LAST included, at LAST. At most 32 of them. */
template <class OP, class T> CGX__INLINE T cgx__scan_parts(const cgx_group &wave, const T *parts, int n, int last)
{
    if (wave.size < n) /* the last wave of a block may be too small for them */
        return cgx__tree<OP, T, true>(cgx__row_of(parts), last + 1);
    auto shuffle = [&](T x, int rank) { return cgx__wave_exchange(wave, x, rank); };
    T v = parts[wave.rank < n ? wave.rank : 0];
    v = cgx__scan_segments<OP>(wave, n, v, shuffle);
    return shuffle(v, last);
}
template <class OP, class G, class T> CGX__INLINE T cgx__slots_scan(const G &g, T v, bool exclusive)
{
    T *parts = cgx__slots<T>(g, cgx__rank_in_block() - g.rank);
    const int segments = (g.size + CGX__SEGMENT - 1) / CGX__SEGMENT;
    const int mine = g.rank / CGX__SEGMENT, rank = g.rank % CGX__SEGMENT;
    const cgx_group wave = cgx__wave_of(g);
    v = cgx__scan_segments<OP>(wave, wave.size, v, [&](T x, int r) { return cgx__wave_exchange(wave, x, r); });
    if (rank == CGX__SEGMENT - 1 || g.rank == g.size - 1)
        parts[mine] = v;
    cgx__wide_sync(g);
    /* Exclusive: the value of the rank below, for a segment's first rank the total of the segment below. */
    int of = mine; /* the segment that v belongs to */
    if (exclusive) {
        v = cgx__wave_exchange(wave, v, wave.rank ? wave.rank - 1 : 0);
        if (rank == 0 && mine > 0)
            of = mine - 1, v = parts[of];
    }
    T below = cgx__scan_parts<OP>(wave, parts, segments, of > 0 ? of - 1 : 0);
    if (of > 0)
        v = OP::apply(below, v);
    return exclusive && g.rank == 0 ? T() : v;
}

/* ---- groups that cross a wave's end ---- */

template <class OP, class T> CGX__INLINE T cgx__crossing_reduce(const cgx_group &g, T v)
{
    for (int d = 1; d < g.size; d *= 2) {
        bool pair = !(g.rank & (2 * d - 1)) && g.rank + d < g.size;
        T right = cgx__wide_shuffle(g, v, pair ? g.rank + d : g.rank);
        if (pair)
            v = OP::apply(v, right);
    }
    return cgx__wide_shuffle(g, v, 0);
}
template <class OP, class T> CGX__INLINE T cgx__crossing_scan(const cgx_group &g, T v, bool exclusive)
{
    return cgx__narrow_scan<OP>(g, v, exclusive, [&](T x, int rank) { return cgx__wide_shuffle(g, x, rank); });
}

template <class OP, class G, class T> CGX__INLINE T cgx__wide_reduce(const G &g, T v)
{
    if (CGX__WAVE < 64 && g.kind == CGX__CROSSING)
        return cgx__crossing_reduce<OP>(g, v);
    return cgx__slots_reduce<OP>(g, v);
}
template <class OP, class G, class T> CGX__INLINE T cgx__wide_scan(const G &g, T v, bool exclusive)
{
    if (CGX__WAVE < 64 && g.kind == CGX__CROSSING)
        return cgx__crossing_scan<OP>(g, v, exclusive);
    return cgx__slots_scan<OP>(g, v, exclusive);
}
/* In the caller's block, of one wave or more. */
template <class OP, class T> CGX__INLINE T cgx__block_reduce(const cgx__known_block &g, T v)
{
    return cgx__in_wave(g) ? cgx__wave_reduce<OP>(g, v) : cgx__slots_reduce<OP>(g, v);
}
template <class OP, class T> CGX__INLINE T cgx__block_scan(const cgx__known_block &g, T v, bool exclusive)
{
    return cgx__in_wave(g) ? cgx__wave_scan<OP>(g, v, exclusive) : cgx__slots_scan<OP>(g, v, exclusive);
}

/* ---- clusters and the grid: each block's, then the same over the blocks' ---- */

/* From one thread of the block to all. */
template <class T> CGX__INLINE T cgx__broadcast(const cgx__known_block &b, T v, int rank)
{
    T *slot = reinterpret_cast<T *>(cgx__slots_at<sizeof(T), 0>(cgx__turn(b.t, 0)));
    if (b.rank == rank)
        *slot = v;
    cgx__gpu_sync();
    return *slot;
}
/* Of what N blocks have put down: every block reduces all of it. The thread's state stays outside, or its place in memory
 * would be taken and it could no longer be in registers. */
template <class OP, class T> CGX__NOINLINE T cgx__reduce_blocks(int rank, int size, int turn, int n, cgx__row r)
{
    const cgx_group b = { 0, CGX__BLOCK, size, rank, 0, 1, 0 };
    const int share = cgx__share_of(n, b.size), first = b.rank * share, members = (n + share - 1) / share;
    T *parts = reinterpret_cast<T *>(cgx__slots_at<sizeof(T), 0>(turn));
    const cgx_group wave = cgx__wave_of(b);
    const int in_wave = members - (b.rank - wave.rank) < wave.size ? members - (b.rank - wave.rank) : wave.size;
    if (in_wave > 0) {
        T v = cgx__value<T>(r, b.rank < members ? first : 0);
        if (share > 1 && b.rank < members)
            v = cgx__tree<OP, T, false>(cgx__row_from(r, first), n - first < share ? n - first : share);
        v = cgx__wave_reduce_first<OP>(wave, in_wave, v);
        if (wave.rank == 0)
            parts[b.rank / CGX__WAVE] = v;
    }
    cgx__gpu_sync();
    return cgx__reduce_parts<OP>(wave, parts, (members + CGX__WAVE - 1) / CGX__WAVE);
}
/* The inclusive scan over the blocks' values at place I, by one thread. TOTALS has the reduction of each 32 values, which is
 * the scan's value at the last of them; only the largest grids have more than 32 of those. */
template <class OP, class T> CGX__NOINLINE T cgx__scan_blocks(cgx__row values, cgx__row totals, int i)
{
    const int segment = i / CGX__SEGMENT, above = (segment - 1) / CGX__SEGMENT;
    T v = cgx__tree<OP, T, true>(cgx__row_from(values, segment * CGX__SEGMENT), i % CGX__SEGMENT + 1);
    if (segment == 0)
        return v;
    T below = cgx__tree<OP, T, true>(cgx__row_from(totals, above * CGX__SEGMENT), (segment - 1) % CGX__SEGMENT + 1);
    if (above > 0) {
        T highest[CGX__SEGMENT];
        for (int s = 0; s < above; s++)
            highest[s] = cgx__tree<OP, T, false>(cgx__row_from(totals, s * CGX__SEGMENT), CGX__SEGMENT);
        below = OP::apply(cgx__tree<OP, T, true>(cgx__row_of(highest), above), below);
    }
    return OP::apply(below, v);
}
/* A thread's result, from its block's own and the scan over the blocks below. */
template <class OP, class T>
CGX__INLINE T cgx__finish_scan(const cgx__known_block &b, int me, T v, bool exclusive, cgx__row values, cgx__row totals)
{
    if (me == 0)
        return v;
    T below = v;
    if (b.rank == 0)
        below = cgx__scan_blocks<OP, T>(values, totals, me - 1);
    below = cgx__broadcast(b, below, 0);
    if (!exclusive || b.rank > 0)
        return OP::apply(below, v);
    /* The inclusive result of the last thread of the block below. */
    v = cgx__value<T>(values, me - 1);
    return me == 1 ? v : OP::apply(cgx__scan_blocks<OP, T>(values, totals, me - 2), v);
}

/* Blocks put their values into each other's shared memory, so that none reads from one that has ended: before the first
 * time they wait until all have begun. */
enum { CGX__MAX_CLUSTER = 16 };
template <int BYTES> CGX__INLINE unsigned char *cgx__cluster_slots(int turn)
{
    __shared__ __attribute__((aligned(16))) unsigned char slots[2][CGX__MAX_CLUSTER * BYTES];
    return slots[turn];
}
template <class T> CGX__INLINE cgx__row cgx__put_to_cluster(cgx_cluster g, const cgx__known_block &b, T v)
{
    T *slots = reinterpret_cast<T *>(cgx__cluster_slots<sizeof(T)>(cgx__turn(g.t, CGX__CLUSTER_LEVEL)));
    if (cgx__first_time(g.t, CGX__CLUSTER_STARTED))
        cgx__sync_execution(g, 0);
    for (int i = b.rank; i < cgx__num_blocks(g); i += b.size)
        cgx__map_shared_rank(g, slots, i, 0)[cgx__block_rank(g)] = v;
    cgx__sync(g, 0);
    return cgx__row_of(slots);
}
template <class OP, class T> CGX__INLINE T cgx__wide_reduce(const cgx_cluster &g, T v)
{
    const cgx__known_block b = cgx__any(cgx_block{ g.t });
    const cgx__row values = cgx__put_to_cluster(g, b, cgx__block_reduce<OP>(b, v));
    return cgx__reduce_blocks<OP, T>(b.rank, b.size, cgx__turn(g.t, 0), cgx__num_blocks(g), values);
}
template <class OP, class T> CGX__INLINE T cgx__wide_scan(const cgx_cluster &g, T v, bool exclusive)
{
    const cgx__known_block b = cgx__any(cgx_block{ g.t });
    const T inclusive = cgx__block_scan<OP>(b, v, false);
    const T mine = exclusive ? cgx__block_scan<OP>(b, v, true) : inclusive;
    const cgx__row values = cgx__put_to_cluster(g, b, cgx__broadcast(b, inclusive, b.size - 1));
    return cgx__finish_scan<OP, T>(b, cgx__block_rank(g), mine, exclusive, values, values);
}

/* In device memory, behind the launch's record: a value of each block, and a total of each 32 blocks. */
struct cgx__grid_rows {
    cgx__row values, totals;
};
template <class T> CGX__INLINE T &cgx__place_of(cgx__row r, int i)
{
    return const_cast<T &>(cgx__value<T>(r, i));
}
/* V of the thread RANK is the block's. */
template <class T> CGX__INLINE cgx__grid_rows cgx__put_to_grid(cgx_grid g, const cgx__known_block &b, T v, int rank)
{
    if (!cgx__grid_is_valid(g))
        cgx__misuse(g.t, CGX__MISUSE_GRID, 0);
    const int blocks = (int)cgx__num_blocks(g), totals = (blocks + CGX__SEGMENT - 1) / CGX__SEGMENT;
    const int turn = cgx__turn(g.t, CGX__GRID_LEVEL);
    const cgx__row all = { reinterpret_cast<unsigned char *>(cgx__record(g.t) + 1), CGX__PART_BYTES };
    const cgx__grid_rows rows = { cgx__row_from(all, turn * blocks), cgx__row_from(all, 2 * blocks + turn * totals) };
    if (b.rank == rank)
        cgx__place_of<T>(rows.values, (int)cgx__block_rank(g)) = v;
    cgx__sync(g, 0);
    return rows;
}
template <class OP, class T> CGX__INLINE T cgx__wide_reduce(const cgx_grid &g, T v)
{
    const cgx__known_block b = cgx__any(cgx_block{ g.t });
    const cgx__grid_rows rows = cgx__put_to_grid(g, b, cgx__block_reduce<OP>(b, v), 0);
    return cgx__reduce_blocks<OP, T>(b.rank, b.size, cgx__turn(g.t, 0), (int)cgx__num_blocks(g), rows.values);
}
template <class OP, class T> CGX__INLINE T cgx__wide_scan(const cgx_grid &g, T v, bool exclusive)
{
    const cgx__known_block b = cgx__any(cgx_block{ g.t });
    const int me = (int)cgx__block_rank(g), blocks = (int)cgx__num_blocks(g);
    const T inclusive = cgx__block_scan<OP>(b, v, false);
    const T mine = exclusive ? cgx__block_scan<OP>(b, v, true) : inclusive;
    const cgx__grid_rows rows = cgx__put_to_grid(g, b, inclusive, b.size - 1);
    if (blocks > CGX__SEGMENT) { /* the first blocks reduce 32 values each */
        if (b.rank == 0 && (me + 1) * CGX__SEGMENT <= blocks)
            cgx__place_of<T>(rows.totals, me) =
                cgx__tree<OP, T, false>(cgx__row_from(rows.values, me * CGX__SEGMENT), CGX__SEGMENT);
        cgx__sync(g, 0);
    }
    return cgx__finish_scan<OP, T>(b, me, mine, exclusive, rows.values, rows.totals);
}

/* Of <cgx/atomic.h>, which comes later: an operation from CGX__OP_REDUCE_UPDATE on. */
template <class OP, class G, class T> CGX__INLINE T cgx__update_with(const G &g, T *p, int scope, T v, int operation);

/* ---- any group ---- */

template <class OP, class G, class T> CGX__INLINE T cgx__reduce_with(const G &g, T v)
{
    CGX__DISPATCH(g, cgx__wave_reduce<OP>(g, v), cgx__wide_reduce<OP>(g, v));
}
template <class OP, class G, class T> CGX__INLINE T cgx__scan_with(const G &g, T v, bool exclusive)
{
    CGX__DISPATCH(g, cgx__wave_scan<OP>(g, v, exclusive), cgx__wide_scan<OP>(g, v, exclusive));
}

/* Overloads and no template of the value, so that an enumerator counts as its integer, as in C. */
#define CGX__COLLECTIVE_OVERLOAD(s, T, code)                                            \
    template <class OP, class G> CGX__INLINE T cgx__reduce(const G &g, T v, OP)         \
    {                                                                                   \
        return cgx__reduce_with<OP>(g, v);                                              \
    }                                                                                   \
    template <class OP, class G> CGX__INLINE T cgx__inclusive_scan(const G &g, T v, OP) \
    {                                                                                   \
        return cgx__scan_with<OP>(g, v, false);                                         \
    }                                                                                   \
    template <class OP, class G> CGX__INLINE T cgx__exclusive_scan(const G &g, T v, OP) \
    {                                                                                   \
        return cgx__scan_with<OP>(g, v, true);                                          \
    }
CGX_FOREACH_VALUE(CGX__COLLECTIVE_OVERLOAD)
#define CGX__COLLECT(g, v, op, name) cgx__##name(cgx__view(g), (v), (op))

/* ---- user operators ---- */

enum {
    CGX__OP_REDUCE,
    CGX__OP_INCLUSIVE_SCAN,
    CGX__OP_EXCLUSIVE_SCAN,
    CGX__OP_REDUCE_UPDATE,
    CGX__OP_REDUCE_STORE,
    CGX__OP_REDUCE_STORE_PLAIN,
    CGX__OP_INCLUSIVE_UPDATE,
    CGX__OP_EXCLUSIVE_UPDATE
};
template <class OP, class G, class T> CGX__INLINE T cgx__collect_with(const G &g, T v, int operation)
{
    if (operation == CGX__OP_REDUCE)
        return cgx__reduce_with<OP>(g, v);
    return cgx__scan_with<OP>(g, v, operation == CGX__OP_EXCLUSIVE_SCAN);
}
#define CGX__OPERATOR(T, name, a, b, ...)                                                                            \
    CGX__STATIC_ASSERT(sizeof(T) <= CGX__VALUE_BYTES, "operator " #name ": a value has at most 32 bytes");           \
    CGX__INLINE T name(T a, T b)                                                                                     \
    {                                                                                                                \
        CGX__NO_CONTRACTION __VA_ARGS__                                                                              \
    }                                                                                                                \
    struct name##__operator {                                                                                        \
        CGX__INLINE T apply(T cgx__l, T cgx__m)                                                                      \
        {                                                                                                            \
            return name(cgx__l, cgx__m);                                                                             \
        }                                                                                                            \
    };                                                                                                               \
    extern "C++" template <class cgx__G>                                                                             \
    CGX__INLINE T name##__collect(const cgx__G &cgx__g, T cgx__v, int cgx__operation, int)                           \
    {                                                                                                                \
        return cgx__collect_with<name##__operator>(cgx__view(cgx__g), cgx__v, cgx__operation);                       \
    }                                                                                                                \
    extern "C++" template <class cgx__G>                                                                             \
    CGX__INLINE T name##__update(const cgx__G &cgx__g, T *cgx__p, int cgx__scope, T cgx__v, int cgx__operation, int) \
    {                                                                                                                \
        return cgx__update_with<name##__operator>(cgx__g, cgx__p, cgx__scope, cgx__v, cgx__operation);               \
    }

} /* extern "C++" */
#endif

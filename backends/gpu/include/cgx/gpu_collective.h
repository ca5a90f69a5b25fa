/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/collective.h>: the canonical order over shuffles. docs/design.md has the order,
 * backends/cpu/collective.c the same on arrays. */
#ifndef CGX_GPU_COLLECTIVE_H
#define CGX_GPU_COLLECTIVE_H
#include <cgx/collective.h>

extern "C++" {

/* ---- operators: a type each ---- */

template <class A, class B> struct cgx__same_type {
    enum { value = 0 };
};
template <class A> struct cgx__same_type<A, A> {
    enum { value = 1 };
};
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
        enum { builtin = 1 };                                 \
        template <class T> CGX__INLINE T apply(T a, T b)      \
        {                                                     \
            CGX__CHECK_##kind return CGX__APPLY_##name(a, b); \
        }                                                     \
    };
CGX_FOREACH_OPERATOR(CGX__OPERATOR_TYPE)
/* What changes nothing: of the sums -0, of the minimum and the maximum a NaN, which loses. */
template <class OP, class T> struct cgx__neutral {
    CGX__INLINE T value(void)
    {
        return 0; /* plus, or, xor of integers */
    }
};
template <class T> struct cgx__neutral<cgx__operator_BIT_AND, T> {
    CGX__INLINE T value(void)
    {
        return (T) ~(T)0;
    }
};
/* Of integers the largest, and the least. */
template <class T> CGX__INLINE T cgx__end_of(bool largest)
{
    const T top = (T)((T)1 << (8 * sizeof(T) - 1));
    return (T)-1 < (T)0 ? (largest ? (T)~top : top) : largest ? (T)-1 : (T)0;
}
template <class T> struct cgx__neutral<cgx__operator_LESS, T> {
    CGX__INLINE T value(void)
    {
        return cgx__end_of<T>(true);
    }
};
template <class T> struct cgx__neutral<cgx__operator_GREATER, T> {
    CGX__INLINE T value(void)
    {
        return cgx__end_of<T>(false);
    }
};
CGX__INLINE cgx_half cgx__half_of_bits(uint32_t bits)
{
    cgx_half h = { (uint16_t)bits };
    return h;
}
CGX__INLINE double cgx__double_of_bits(uint64_t bits)
{
    double v;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}
#define CGX__NEUTRAL(op, T, bits)                            \
    template <> struct cgx__neutral<cgx__operator_##op, T> { \
        CGX__INLINE T value(void)                            \
        {                                                    \
            return bits;                                     \
        }                                                    \
    };
CGX__NEUTRAL(PLUS, float, cgx__bits_float(0x80000000u))
CGX__NEUTRAL(LESS, float, cgx__bits_float(0x7fffffffu))
CGX__NEUTRAL(GREATER, float, cgx__bits_float(0x7fffffffu))
CGX__NEUTRAL(PLUS, double, cgx__double_of_bits((uint64_t)1 << 63))
CGX__NEUTRAL(LESS, double, cgx__double_of_bits(~(uint64_t)0 >> 1))
CGX__NEUTRAL(GREATER, double, cgx__double_of_bits(~(uint64_t)0 >> 1))
CGX__NEUTRAL(PLUS, cgx_half, cgx__half_of_bits(0x8000))
CGX__NEUTRAL(LESS, cgx_half, cgx__half_of_bits(0x7fff))
CGX__NEUTRAL(GREATER, cgx_half, cgx__half_of_bits(0x7fff))

/* Integers go as one of four types, and as unsigned where that makes no difference. */
template <class OP, class T> struct cgx__carrier {
    enum {
        sign = (OP::builtin) && (T)-1 < (T)0 &&
               (cgx__same_type<OP, cgx__operator_LESS>::value || cgx__same_type<OP, cgx__operator_GREATER>::value),
        wide = sizeof(T) > 4
    };
    typedef typename cgx__choice<(bool)wide, typename cgx__choice<(bool)sign, int64_t, uint64_t>::type,
                                 typename cgx__choice<(bool)sign, int32_t, uint32_t>::type>::type type;
};

#define CGX_PLUS cgx__operator_PLUS()
#define CGX_LESS cgx__operator_LESS()
#define CGX_GREATER cgx__operator_GREATER()
#define CGX_BIT_AND cgx__operator_BIT_AND()
#define CGX_BIT_XOR cgx__operator_BIT_XOR()
#define CGX_BIT_OR cgx__operator_BIT_OR()

/* ---- in one wave ---- */

enum { CGX__SEGMENT = 32 }; /* of the canonical scan; not the wave */

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
/* Whether a value is small enough to be fetched from several lanes at once. */
template <class T> struct cgx__is_small {
    enum { value = (int)cgx__words<T>::count <= 2 };
};
/* Of neighbours whose ranks differ in bit BIT: the lower one is the left operand. */
template <class OP, class T> CGX__INLINE T cgx__in_order(const T &mine, const T &other, int rank, int bit)
{
    if constexpr ((int)OP::builtin) { /* commutes, but for the bits of NaNs */
        return OP::apply(mine, other);
    } else {
        const uint32_t other_is_lower = cgx__ones_if_bit(rank, bit);
        return OP::apply(cgx__pick(other_is_lower, other, mine), cgx__pick(other_is_lower, mine, other));
    }
}
/* How many lanes' values come together in a step: two levels of a tree at a time, as three shuffles take hardly
 * longer than one. Seven for three levels do: on an H200 the sum of one warp takes 56 ns instead of 61, those of
 * eight in a block 74 instead of 70. */
CGX__INLINE constexpr int cgx__step(int lanes)
{
    return lanes < 4 ? lanes : 4;
}
CGX__INLINE constexpr int cgx__bit_of(int n)
{
    int bit = 0;
    while (n >>= 1)
        bit++;
    return bit;
}
/* Of N lanes, a power of two, one behind the other: every lane computes the tree. D: what a lane has is of as many. */
template <class OP, int N, int D = 1, class T> CGX__INLINE T cgx__butterfly(cgx_mask lanes, int rank, T v)
{
    constexpr int width = cgx__step(N / D);
    T of[width];
    of[0] = v;
#pragma unroll
    for (int i = 1; i < width; i++)
        of[i] = cgx__shuffle_xor(lanes, v, i * D);
#pragma unroll
    for (int half = 1; half < width; half *= 2)
#pragma unroll
        for (int i = 0; i < width; i += 2 * half)
            of[i] = cgx__in_order<OP>(of[i], of[i + half], rank, cgx__bit_of(half * D));
    if constexpr (width * D < N)
        return cgx__butterfly<OP, N, D * width>(lanes, rank, of[0]);
    else
        return of[0];
}

/* One instruction, or a few, whatever the lanes: for integers, and for the minimum and maximum of floats, which as
 * integers in the same order are compared in the same way. A NaN becomes the integer that loses, which is one of
 * NaNs. */
template <class OP, class T> struct cgx__redux {
    enum { has = 0 };
};
#if defined(CGX__HAS_REDUX)
#define CGX__REDUX_AS(op, T, expression)                   \
    template <> struct cgx__redux<cgx__operator_##op, T> { \
        enum { has = 1 };                                  \
        CGX__INLINE T reduce(cgx_mask lanes, T v)          \
        {                                                  \
            return expression;                             \
        }                                                  \
    };
CGX__REDUX_AS(PLUS, uint32_t, cgx__wave_redux_add(lanes, v))
CGX__REDUX_AS(LESS, uint32_t, cgx__wave_redux_min(lanes, v))
CGX__REDUX_AS(LESS, int32_t, cgx__wave_redux_min(lanes, v))
CGX__REDUX_AS(GREATER, uint32_t, cgx__wave_redux_max(lanes, v))
CGX__REDUX_AS(GREATER, int32_t, cgx__wave_redux_max(lanes, v))
CGX__REDUX_AS(BIT_AND, uint32_t, cgx__wave_redux_and(lanes, v))
CGX__REDUX_AS(BIT_OR, uint32_t, cgx__wave_redux_or(lanes, v))
CGX__REDUX_AS(BIT_XOR, uint32_t, cgx__wave_redux_xor(lanes, v))
/* 64 bits in halves. Of the lower ones the sum, which has up to 37 bits, is 32 times that of what is left when five
 * bits are cut off, and less than 1,024 more: so it is known, too, by its lowest 32 bits. */
CGX__INLINE uint64_t cgx__redux_add_wide(cgx_mask lanes, uint64_t v)
{
    const uint32_t low = cgx__wave_redux_add(lanes, (uint32_t)v),
                   high = cgx__wave_redux_add(lanes, (uint32_t)(v >> 32));
    const uint32_t most = cgx__wave_redux_add(lanes, (uint32_t)v >> 5);
    return ((uint64_t)most << 5) + (low - (most << 5)) + ((uint64_t)high << 32);
}
CGX__INLINE uint64_t cgx__redux_max_wide(cgx_mask lanes, uint64_t v)
{
    const uint32_t high = cgx__wave_redux_max(lanes, (uint32_t)(v >> 32));
    return (uint64_t)high << 32 | cgx__wave_redux_max(lanes, (uint32_t)(v >> 32) == high ? (uint32_t)v : 0u);
}
#define CGX__HALVES(name) \
    ((uint64_t)cgx__wave_redux_##name(lanes, (uint32_t)(v >> 32)) << 32 | cgx__wave_redux_##name(lanes, (uint32_t)v))
#define CGX__HIGHEST_BIT ((uint64_t)1 << 63)
CGX__REDUX_AS(PLUS, uint64_t, cgx__redux_add_wide(lanes, v))
CGX__REDUX_AS(GREATER, uint64_t, cgx__redux_max_wide(lanes, v))
CGX__REDUX_AS(LESS, uint64_t, ~cgx__redux_max_wide(lanes, ~v))
CGX__REDUX_AS(GREATER, int64_t,
              (int64_t)(cgx__redux_max_wide(lanes, (uint64_t)v ^ CGX__HIGHEST_BIT) ^ CGX__HIGHEST_BIT))
CGX__REDUX_AS(LESS, int64_t,
              (int64_t) ~(cgx__redux_max_wide(lanes, ~((uint64_t)v ^ CGX__HIGHEST_BIT)) ^ CGX__HIGHEST_BIT))
CGX__REDUX_AS(BIT_AND, uint64_t, CGX__HALVES(and))
CGX__REDUX_AS(BIT_OR, uint64_t, CGX__HALVES(or))
CGX__REDUX_AS(BIT_XOR, uint64_t, CGX__HALVES(xor))
/* Floats in the order of integers: of negative ones all bits but the sign are inverted. */
CGX__INLINE int32_t cgx__to_key(float v)
{
    const int32_t i = (int32_t)cgx__float_bits(v);
    return i ^ (i >> 31 & INT32_MAX);
}
CGX__INLINE float cgx__from_key(int32_t key)
{
    return cgx__bits_float((uint32_t)(key ^ (key >> 31 & INT32_MAX)));
}
CGX__INLINE uint64_t cgx__to_key(double v)
{
    uint64_t u;
    __builtin_memcpy(&u, &v, sizeof u);
    return u ^ ((uint64_t)((int64_t)u >> 63) | CGX__HIGHEST_BIT);
}
CGX__INLINE double cgx__from_key(uint64_t key)
{
    return cgx__double_of_bits(key ^ ((uint64_t)((int64_t)~key >> 63) | CGX__HIGHEST_BIT));
}
CGX__REDUX_AS(GREATER, float, cgx__from_key(cgx__wave_redux_max(lanes, v != v ? INT32_MIN : cgx__to_key(v))))
CGX__REDUX_AS(LESS, float, cgx__from_key(cgx__wave_redux_min(lanes, v != v ? INT32_MAX : cgx__to_key(v))))
CGX__REDUX_AS(GREATER, double, cgx__from_key(cgx__redux_max_wide(lanes, v != v ? 0 : cgx__to_key(v))))
CGX__REDUX_AS(LESS, double, cgx__from_key(~cgx__redux_max_wide(lanes, v != v ? 0 : ~cgx__to_key(v))))
#endif

/* The operation on A and B where the one that may be missing is there, else the other. What is missing becomes
 * neutral, if the operation has that: no branch. */
template <class OP, class T> CGX__INLINE T cgx__join_left(T a, T b, bool has_a)
{
    if constexpr ((int)OP::builtin)
        return OP::apply(has_a ? a : cgx__neutral<OP, T>::value(), b);
    else
        return has_a ? OP::apply(a, b) : b;
}
template <class OP, class T> CGX__INLINE T cgx__join_right(T a, T b, bool has_b)
{
    if constexpr ((int)OP::builtin)
        return OP::apply(a, has_b ? b : cgx__neutral<OP, T>::value());
    else
        return has_b ? OP::apply(a, b) : a;
}

/* A coalesced group's lanes have gaps. Each knows the next member's, and with every step the one twice as far. What
 * a lane without a next one fetches, nobody uses. ALL_STEPS: as many as the largest group needs, so that there is no
 * branch. */
template <class OP, bool ALL_STEPS, class T>
CGX__INLINE T cgx__linked_reduce_of(cgx_mask lanes, const cgx_group &g, T v)
{
    const cgx__lanes above = (cgx__lanes)g.lanes & ~(((cgx__lanes)2 << cgx__wave_lane()) - 1);
    int next = cgx__lowest_bit(above | (cgx__lanes)1 << (CGX__WAVE - 1));
    constexpr int times = ALL_STEPS ? (int)CGX__WAVE : 1; /* a loop over as many as there are stays one */
#pragma unroll times
    for (int d = 1; d < (ALL_STEPS ? (int)CGX__WAVE : g.size); d *= 2) {
        const T right = cgx__shuffle_lane(lanes, v, next);
        if (2 * d < (ALL_STEPS ? (int)CGX__WAVE : g.size))
            next = (int)cgx__wave_shuffle(lanes, (uint32_t)next, next);
        v = cgx__join_right<OP>(v, right, !(g.rank & (2 * d - 1)) && g.rank + d < g.size);
    }
    return cgx__shuffle_lane(lanes, v, cgx__lowest_bit((cgx__lanes)g.lanes));
}
template <class OP, bool ALL_STEPS, class T>
CGX__INLINE T cgx__linked_scan_of(cgx_mask lanes, const cgx_group &g, T v, bool exclusive)
{
    const cgx__lanes below = (cgx__lanes)(g.lanes & cgx__lanes_below(cgx__wave_lane()));
    const int before = cgx__highest_bit((cgx__lanes)(below | 1)), rank = g.rank & (CGX__SEGMENT - 1);
    int left = before;
    /* With exits for smaller groups where the compiler can: nvcc does, clang not always. */
    constexpr int times = ALL_STEPS || CGX__FULL_MASK_IS_FASTER ? cgx__bit_of(CGX__SEGMENT) : 1;
#pragma unroll times
    for (int d = 1; d < CGX__SEGMENT && (ALL_STEPS || d < g.size); d *= 2) {
        const T other = cgx__shuffle_lane(lanes, v, left);
        if (2 * d < (ALL_STEPS ? (int)CGX__SEGMENT : g.size))
            left = (int)cgx__wave_shuffle(lanes, (uint32_t)left, left);
        v = cgx__join_left<OP>(other, v, rank >= d);
    }
    if (CGX__WAVE > CGX__SEGMENT && g.size > CGX__SEGMENT) {
        const T total = cgx__shuffle_lane(lanes, v, cgx__lane_of(g, CGX__SEGMENT - 1));
        if (g.rank >= CGX__SEGMENT)
            v = OP::apply(total, v);
    }
    if (!exclusive)
        return v;
    v = cgx__shuffle_lane(lanes, v, before);
    return g.rank ? v : T();
}
/* Whether the lanes that are here will do as the mask of a coalesced group's shuffles: they are the group's, or all
 * of the wave. */
CGX__INLINE bool cgx__mask_will_do(const cgx_group &g, cgx_mask here)
{
    return (cgx__lanes)here == (cgx__lanes)g.lanes || (cgx__lanes)here == (cgx__lanes)cgx__low_bits(CGX__WAVE);
}
/* Of a mask that compilers do not see to be one for all lanes, nvcc has each shuffle ask whether it is, which takes
 * three times as long as the shuffle; that of the lanes which are here is one, as long as there is no branch. So it
 * is tried first. */
template <class OP, class T> struct cgx__tries_here {
    enum { value = CGX__FULL_MASK_IS_FASTER && OP::builtin && cgx__is_small<T>::value };
};
template <class OP, class T> CGX__INLINE T cgx__linked_reduce(const cgx_group &g, T v)
{
    if constexpr ((int)cgx__tries_here<OP, T>::value) {
        const cgx_mask here = cgx__wave_active();
        const T r = cgx__linked_reduce_of<OP, true>(here, g, v);
        if (cgx__mask_will_do(g, here))
            return r;
    }
    return cgx__linked_reduce_of<OP, false>(cgx__other_mask(g.lanes), g, v);
}
template <class OP, class T> CGX__INLINE T cgx__linked_scan(const cgx_group &g, T v, bool exclusive)
{
    if constexpr ((int)cgx__tries_here<OP, T>::value) {
        const cgx_mask here = cgx__wave_active();
        const T r = cgx__linked_scan_of<OP, true>(here, g, v, exclusive);
        if (cgx__mask_will_do(g, here))
            return r;
    }
    return cgx__linked_scan_of<OP, false>(cgx__other_mask(g.lanes), g, v, exclusive);
}

/* How many lanes a group is known to have, a power of two; 0: not known. */
template <class G> struct cgx__lanes_known {
    enum { value = 0 };
};
template <int N> struct cgx__lanes_known<cgx__known<CGX__TILE, N>> {
    enum { value = N <= CGX__WAVE ? N : 0 };
};
template <class OP, class T> CGX__INLINE T cgx__full_wave_reduce(int rank, T v)
{
    const cgx_mask lanes = cgx__low_bits(CGX__WAVE);
#if defined(CGX__HAS_REDUX)
    if constexpr ((int)cgx__redux<OP, T>::has)
        return cgx__redux<OP, T>::reduce(lanes, v);
    else
#endif
        return cgx__butterfly<OP, CGX__WAVE>(lanes, rank, v);
}
/* Of each of the wave's tiles of N lanes. */
template <class OP, int N, class T> CGX__INLINE T cgx__tiles_reduce(int rank, T v)
{
    const cgx_mask lanes = cgx__low_bits(CGX__WAVE);
#if defined(CGX__HAS_REDUX)
    if constexpr ((int)cgx__redux<OP, T>::has && cgx__is_integer<T>::value && sizeof(T) == 4 && 2 * N >= CGX__WAVE) {
        const int mine = cgx__wave_lane() / N;
        T r = v;
#pragma unroll
        for (int i = 0; i < CGX__WAVE / N; i++) {
            const T part = cgx__redux<OP, T>::reduce(lanes, i == mine ? v : cgx__neutral<OP, T>::value());
            r = i == mine ? part : r;
        }
        return r;
    } else
#endif
        return cgx__butterfly<OP, N>(lanes, rank, v);
}
template <class OP, class G, class T> CGX__INLINE T cgx__wave_reduce(const G &g, T v)
{
    constexpr int known = cgx__lanes_known<G>::value;
    if constexpr (known == 1) {
        return v;
    } else if constexpr (known == CGX__WAVE && cgx__is_small<T>::value) {
        return cgx__full_wave_reduce<OP>(g.rank, v);
    } else if constexpr (known > 0 && cgx__is_small<T>::value) {
        if (cgx__all_here())
            return cgx__tiles_reduce<OP, known>(g.rank, v);
        return cgx__butterfly<OP, known>(cgx__lanes_of(g), g.rank, v);
    } else {
        if (cgx__is_small<T>::value && g.kind != CGX__COALESCED && g.size == CGX__WAVE)
            return cgx__full_wave_reduce<OP>(g.rank, v);
#if defined(CGX__HAS_REDUX)
        if constexpr ((int)cgx__redux<OP, T>::has)
            return cgx__redux<OP, T>::reduce(cgx__lanes_of(g), v);
        else
#endif
            return g.kind == CGX__COALESCED ? cgx__linked_reduce<OP>(g, v) : cgx__wave_reduce_first<OP>(g, g.size, v);
    }
}

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
/* Kogge-Stone among lanes that lie one behind the other: N of them, or fewer. */
template <class OP, int N, int D = 1, class T> CGX__INLINE T cgx__scan_lanes(cgx_mask lanes, int rank, T v)
{
    constexpr int n = N < CGX__SEGMENT ? N : (int)CGX__SEGMENT, width = cgx__step(n / D);
    T of[width]; /* [i]: of the lane i * D below */
    of[0] = v;
    rank &= CGX__SEGMENT - 1;
#pragma unroll
    for (int i = 1; i < width; i++) {
        of[i] = cgx__shuffle_up(lanes, v, i * D);
        if constexpr ((int)OP::builtin)
            of[i] = cgx__pick(cgx__ones_if_less(rank, i * D), cgx__neutral<OP, T>::value(), of[i]);
    }
#pragma unroll
    for (int half = 1; half < width; half *= 2)
#pragma unroll
        for (int i = 0; i < width; i += 2 * half)
            if ((int)OP::builtin || rank >= (i + half) * D) /* a user's operation only on what there is */
                of[i] = OP::apply(of[i + half], of[i]);
    if constexpr (width * D < n)
        return cgx__scan_lanes<OP, N, D * width>(lanes, rank, of[0]);
    else
        return of[0];
}
/* Inside the segments of the caller's wave; WHOLE: all of its lanes are members. */
template <class OP, class T> CGX__INLINE T cgx__wave_segments(const cgx_group &wave, bool whole, T v)
{
    if constexpr ((int)cgx__is_small<T>::value)
        return cgx__scan_lanes<OP, CGX__WAVE>(cgx__low_bits(whole ? (int)CGX__WAVE : wave.size), wave.rank, v);
    else
        return cgx__scan_segments<OP>(wave, wave.size, v, [&](T x, int r) { return cgx__wave_exchange(wave, x, r); });
}
template <class OP, class G, class T> CGX__INLINE T cgx__wave_scan(const G &g, T v, bool exclusive)
{
    static_assert(CGX__WAVE <= 2 * CGX__SEGMENT, "a wave has more than two segments");
    constexpr int known = cgx__lanes_known<G>::value;
    if constexpr (known > 0 && known <= CGX__SEGMENT && cgx__is_small<T>::value) {
        const cgx_mask lanes = cgx__lanes_of(g);
        v = cgx__scan_lanes<OP, known>(lanes, g.rank, v);
        if (!exclusive)
            return v;
        v = cgx__shuffle_up(lanes, v, 1);
        return g.rank ? v : T();
    } else {
        if (g.kind == CGX__COALESCED)
            return cgx__linked_scan<OP>(g, v, exclusive);
        return cgx__narrow_scan<OP>(g, v, exclusive, [&](T x, int rank) { return cgx__wave_exchange(g, x, rank); });
    }
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

enum { CGX__PARTS = CGX__SLOTS };
static_assert(CGX__PARTS == CGX__MAX_THREADS / CGX__SEGMENT, "a place for each segment of the largest block");
/* Values in the block's shared memory, one behind the other. Of 4 and 8 bytes they are reached by the number that the thread holds
 * (CGX__HOLDS_SHARED), where the backend has one, others by a pointer. */
template <class T> struct cgx__held {
#if defined(CGX__HOLDS_SHARED)
    enum { value = sizeof(T) == 4 || sizeof(T) == 8 };
#else
    enum { value = 0 };
#endif
};
template <class T> struct cgx__places {
    typename cgx__choice<(bool)cgx__held<T>::value, uint32_t, T *>::type first;
};
template <class T> CGX__INLINE T cgx__place_get(cgx__places<T> p, int i)
{
#if defined(CGX__HOLDS_SHARED)
    if constexpr ((int)cgx__held<T>::value) {
        typename cgx__choice<sizeof(T) == 4, uint32_t, uint64_t>::type w;
        T v;
        cgx__held_load(p.first + (uint32_t)i * (uint32_t)sizeof(T), &w);
        __builtin_memcpy(&v, &w, sizeof v);
        return v;
    } else
#endif
        return p.first[i];
}
template <class T> CGX__INLINE void cgx__place_put(cgx__places<T> p, int i, const T &v)
{
#if defined(CGX__HOLDS_SHARED)
    if constexpr ((int)cgx__held<T>::value) {
        typename cgx__choice<sizeof(T) == 4, uint32_t, uint64_t>::type w;
        __builtin_memcpy(&w, &v, sizeof w);
        cgx__held_store(p.first + (uint32_t)i * (uint32_t)sizeof(T), w);
    } else
#endif
        p.first[i] = v;
}
/* 16 bytes of them to V; the first one is aligned to as many. */
template <class T> CGX__INLINE void cgx__place_get_16(cgx__places<T> p, int i, T *v)
{
    struct __attribute__((aligned(16))) piece {
        unsigned char bytes[16];
    };
#if defined(CGX__HOLDS_SHARED)
    if constexpr ((int)cgx__held<T>::value) {
        uint32_t w[4];
        cgx__held_load_16(p.first + (uint32_t)i * (uint32_t)sizeof(T), w);
        __builtin_memcpy(v, w, sizeof w);
    } else
#endif
    {
        const piece w = *reinterpret_cast<const piece *>(p.first + i);
        __builtin_memcpy(v, &w, sizeof w);
    }
}
/* Of the block, in the turn. */
template <class T> CGX__INLINE cgx__places<T> cgx__block_slots(cgx__thread *t, int turn)
{
    (void)t;
#if defined(CGX__HOLDS_SHARED)
    if constexpr ((int)cgx__held<T>::value)
        return { t->block_slots[sizeof(T) == 8] + (uint32_t)turn * (uint32_t)(CGX__PARTS * sizeof(T)) };
    else
#endif
        return { reinterpret_cast<T *>(cgx__slots_of_level<sizeof(T), 0>()) + turn * CGX__PARTS };
}
/* Of the group that starts at the block's rank BASE. The same memory, whether the compiler knows the level or not. */
template <class T, class G> CGX__INLINE cgx__places<T> cgx__slots(const G &g, int base, int turn)
{
    const int level = cgx__level_of(g);
    constexpr int known = cgx__level<G>::known;
    unsigned char *slots = 0;
    if constexpr (known == 0)
        return cgx__block_slots<T>(g.t, turn);
    else if constexpr (known > 0)
        slots = cgx__slots_of_level<sizeof(T), known>();
    else
        switch (level) {
        case 0: return cgx__block_slots<T>(g.t, turn); /* at rank 0 */
        case 1: slots = cgx__slots_of_level<sizeof(T), 1>(); break;
        case 2: slots = cgx__slots_of_level<sizeof(T), 2>(); break;
        case 3: slots = cgx__slots_of_level<sizeof(T), 3>(); break;
        case 4: slots = cgx__slots_of_level<sizeof(T), 4>(); break;
        default: slots = cgx__slots_of_level<sizeof(T), 5>();
        }
    T *const first = reinterpret_cast<T *>(slots) + turn * CGX__PARTS + base / CGX__SEGMENT;
#if defined(CGX__HOLDS_SHARED)
    if constexpr ((int)cgx__held<T>::value)
        return { cgx__shared_address(first) };
    else
#endif
        return { first };
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
enum { CGX__FEW = 8 };
/* The same of up to MOST values that every thread reads for itself, which for a few is faster. */
template <class OP, int MOST, class T> CGX__INLINE T cgx__reduce_few(const cgx__places<T> &parts, int n)
{
    enum { EACH = 16 / sizeof(T) };
    T v[MOST];
    if constexpr (MOST >= (int)EACH) {
#pragma unroll
        for (int i = 0; i < MOST; i += EACH)
            cgx__place_get_16(parts, i, v + i);
    } else {
#pragma unroll
        for (int i = 0; i < MOST; i++)
            v[i] = cgx__place_get(parts, i);
    }
#pragma unroll
    for (int i = 1; i < MOST; i++)
        v[i] = i < n ? v[i] : cgx__neutral<OP, T>::value();
#pragma unroll
    for (int d = 1; d < MOST; d *= 2)
#pragma unroll
        for (int i = 0; i + d < MOST; i += 2 * d)
            v[i] = OP::apply(v[i], v[i + d]);
    return v[0];
}
/* How many waves a group has, as far as it is known; a block has any number. */
template <class G> struct cgx__waves_known {
    enum { value = 0 };
};
template <int N> struct cgx__waves_known<cgx__known<CGX__TILE, N>> {
    enum { value = N / CGX__WAVE };
};
/* A wave is a whole subtree; every wave reduces what they have left, so that one barrier is enough. All lanes store, since
 * they have the same, and the address of shared memory, which is slow to get, is asked for in each branch: it comes while
 * lanes exchange. */
template <class OP, class G, class T> CGX__INLINE T cgx__slots_reduce(const G &g, T v)
{
    constexpr int known = cgx__waves_known<G>::value;
    const int first = cgx__rank_in_block() - g.rank, turn = cgx__turn(g.t, cgx__level_of(g));
    const int waves = known ? known : (g.size + CGX__WAVE - 1) / CGX__WAVE;
    if constexpr ((int)OP::builtin && cgx__is_small<T>::value) {
        if (known || g.size % CGX__WAVE == 0) { /* the same in all waves, which compilers see */
            const int lane = cgx__wave_lane();
            v = cgx__full_wave_reduce<OP>(lane, v);
            if (known == 0 && waves == 1)
                return v;
            const cgx__places<T> parts = cgx__slots<T>(g, first, turn);
            cgx__place_put(parts, g.rank / CGX__WAVE, v);
            cgx__wide_sync(g);
            if constexpr (known > 0 && known <= CGX__FEW)
                return cgx__reduce_few<OP, known>(parts, known);
            if constexpr (known == 0 && (!cgx__redux<OP, T>::has || sizeof(T) == 4))
                if (g.kind == CGX__BLOCK && waves <= CGX__FEW) /* where they begin is aligned */
                    return waves == CGX__FEW ? cgx__reduce_few<OP, CGX__FEW>(parts, CGX__FEW)
                                             : cgx__reduce_few<OP, CGX__FEW>(parts, waves);
            const T part = cgx__place_get(parts, lane < waves ? lane : 0); /* by all: no branch */
            return cgx__full_wave_reduce<OP>(lane, lane < waves ? part : cgx__neutral<OP, T>::value());
        }
    }
    const cgx_group wave = cgx__wave_of(g);
    v = cgx__wave_reduce<OP>(wave, v);
    if (known == 0 && waves == 1)
        return v;
    const cgx__places<T> parts = cgx__slots<T>(g, first, turn);
    if (wave.rank == 0)
        cgx__place_put(parts, g.rank / CGX__WAVE, v);
    cgx__wide_sync(g);
    if (known || g.size % CGX__WAVE == 0)
        return cgx__wave_reduce_first<OP>(wave, waves, cgx__place_get(parts, wave.rank < waves ? wave.rank : 0));
    /* The last wave may have too few lanes for the parts: the first does it for all. */
    const cgx__places<T> all = cgx__slots<T>(g, first, cgx__turn(g.t, cgx__level_of(g)));
    if (g.rank < CGX__WAVE) {
        v = cgx__wave_reduce_first<OP>(wave, waves, cgx__place_get(parts, wave.rank < waves ? wave.rank : 0));
        if (g.rank == 0)
            cgx__place_put(all, 0, v);
    }
    cgx__wide_sync(g);
    return cgx__place_get(all, 0);
}

/* WHOLE: a whole number of waves. Otherwise the last one may have too few lanes for the totals of all segments, and the first
 * scans them for all. */
template <class OP, class G, class T>
CGX__INLINE T cgx__slots_scan_in(const G &g, const cgx_group &wave, bool whole, T v, bool exclusive)
{
    const int first = cgx__rank_in_block() - g.rank, segments = (g.size + CGX__SEGMENT - 1) / CGX__SEGMENT;
    const int mine = g.rank / CGX__SEGMENT, rank = g.rank % CGX__SEGMENT;
    const cgx_mask lanes = cgx__low_bits(whole ? (int)CGX__WAVE : wave.size);
    const cgx__places<T> parts = cgx__slots<T>(g, first, cgx__turn(g.t, cgx__level_of(g)));
    v = cgx__wave_segments<OP>(wave, whole, v);
    if (rank == CGX__SEGMENT - 1 || g.rank == g.size - 1)
        cgx__place_put(parts, mine, v);
    cgx__wide_sync(g);
    /* Exclusive: the value of the rank below, for a segment's first rank the total of the segment below. */
    int of = mine; /* the segment that v belongs to */
    if (exclusive) {
        v = cgx__shuffle_up(lanes, v, 1);
        if (rank == 0 && mine > 0)
            of = mine - 1, v = cgx__place_get(parts, of);
    }
    T below = cgx__place_get(parts, wave.rank < segments ? wave.rank : 0);
    if (whole) {
        below = cgx__shuffle_lane(lanes, cgx__wave_segments<OP>(wave, true, below), of > 0 ? of - 1 : 0);
    } else {
        const cgx__places<T> totals = cgx__slots<T>(g, first, cgx__turn(g.t, cgx__level_of(g)));
        if (g.rank < CGX__WAVE) {
            below = cgx__wave_segments<OP>(wave, true, below);
            if (g.rank < segments)
                cgx__place_put(totals, g.rank, below);
        }
        cgx__wide_sync(g);
        below = cgx__place_get(totals, of > 0 ? of - 1 : 0);
    }
    if (of > 0)
        v = OP::apply(below, v);
    return exclusive && g.rank == 0 ? T() : v;
}
/* In a block of whole waves with no more segments than CGX__FEW. Their totals lie behind as many places with what is
 * neutral, so that each thread reads those that are below its own, from there down: what a Kogge-Stone scan gives
 * the last of them. */
template <class OP, class T> CGX__INLINE T cgx__few_scan(const cgx_group &g, const cgx_group &wave, T v, bool exclusive)
{
    const int mine = g.rank / CGX__SEGMENT, rank = g.rank % CGX__SEGMENT;
    const bool last = rank == CGX__SEGMENT - 1;
    const cgx__places<T> parts = cgx__block_slots<T>(g.t, cgx__turn(g.t, 0));
    v = cgx__wave_segments<OP>(wave, true, v);
    if (last || rank < CGX__FEW)
        cgx__place_put(parts, last ? CGX__FEW + mine : rank, last ? v : cgx__neutral<OP, T>::value());
    cgx__gpu_sync();
    int of = CGX__FEW + mine;
    if (exclusive) {
        v = cgx__shuffle_up(cgx__low_bits(CGX__WAVE), v, 1);
        if (rank == 0 && mine > 0)
            v = cgx__place_get(parts, --of);
    }
    T below[CGX__FEW];
#pragma unroll
    for (int i = 0; i < CGX__FEW; i++)
        below[i] = cgx__place_get(parts, of - 1 - i);
#pragma unroll
    for (int d = 1; d < CGX__FEW; d *= 2)
#pragma unroll
        for (int i = 0; i < CGX__FEW; i += 2 * d)
            below[i] = OP::apply(below[i + d], below[i]);
    v = OP::apply(below[0], v);
    return exclusive && g.rank == 0 ? T() : v;
}
template <class OP, class G, class T> CGX__INLINE T cgx__slots_scan(const G &g, T v, bool exclusive)
{
    const cgx_group wave = cgx__wave_of(g);
    if constexpr (cgx__waves_known<G>::value > 0)
        return cgx__slots_scan_in<OP>(g, wave, true, v, exclusive);
    else {
        if constexpr ((int)OP::builtin && cgx__is_small<T>::value)
            if (g.kind == CGX__BLOCK && g.size % CGX__WAVE == 0 && g.size <= CGX__FEW * CGX__SEGMENT)
                return cgx__few_scan<OP>(g, wave, v, exclusive);
        return g.size % CGX__WAVE == 0 ? cgx__slots_scan_in<OP>(g, wave, true, v, exclusive)
                                       : cgx__slots_scan_in<OP>(g, wave, false, v, exclusive);
    }
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
    if (CGX__WAVE < CGX__MASK && g.kind == CGX__CROSSING)
        return cgx__crossing_reduce<OP>(g, v);
    return cgx__slots_reduce<OP>(g, v);
}
template <class OP, class G, class T> CGX__INLINE T cgx__wide_scan(const G &g, T v, bool exclusive)
{
    if (CGX__WAVE < CGX__MASK && g.kind == CGX__CROSSING)
        return cgx__crossing_scan<OP>(g, v, exclusive);
    return cgx__slots_scan<OP>(g, v, exclusive);
}
/* In the caller's block, of one wave or more. */
template <class OP, class T> CGX__INLINE T cgx__block_scan(const cgx__known_block &g, T v, bool exclusive)
{
    return cgx__in_wave(g) ? cgx__wave_scan<OP>(g, v, exclusive) : cgx__slots_scan<OP>(g, v, exclusive);
}

/* ---- clusters and the grid: each block's, then the same over the blocks' ---- */

/* From one thread of the block to all. */
template <class T> CGX__INLINE T cgx__broadcast(const cgx__known_block &b, T v, int rank)
{
    const cgx__places<T> slot = cgx__block_slots<T>(b.t, cgx__turn(b.t, 0));
    if (b.rank == rank)
        cgx__place_put(slot, 0, v);
    cgx__gpu_sync();
    return cgx__place_get(slot, 0);
}
/* Of what N blocks have put down: every block reduces all of it. The thread's state stays outside, or its place in memory
 * would be taken and it could no longer be in registers. */
template <class OP, class T> CGX__NOINLINE T cgx__reduce_blocks(int rank, int size, int turn, int n, cgx__row r)
{
    const cgx_group b = { 0, CGX__BLOCK, size, rank, 0, 1, 0 };
    const int share = cgx__share_of(n, b.size), first = b.rank * share, members = (n + share - 1) / share;
    T *parts = reinterpret_cast<T *>(cgx__slots_of_level<sizeof(T), 0>()) + turn * CGX__PARTS;
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
    const cgx__known_block b = cgx__any(cgx__make_block(g.t));
    const cgx__row values = cgx__put_to_cluster(g, b, cgx__slots_reduce<OP>(b, v));
    return cgx__reduce_blocks<OP, T>(b.rank, b.size, cgx__turn(g.t, 0), cgx__num_blocks(g), values);
}
template <class OP, class T> CGX__INLINE T cgx__wide_scan(const cgx_cluster &g, T v, bool exclusive)
{
    const cgx__known_block b = cgx__any(cgx__make_block(g.t));
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
    if (!cgx__grid_is_valid(g))
        cgx__misuse(g.t, CGX__MISUSE_GRID_COLLECTIVE, 0);
    const cgx__known_block b = cgx__any(cgx__make_block(g.t));
    const cgx__grid_rows rows = cgx__put_to_grid(g, b, cgx__slots_reduce<OP>(b, v), 0);
    return cgx__reduce_blocks<OP, T>(b.rank, b.size, cgx__turn(g.t, 0), (int)cgx__num_blocks(g), rows.values);
}
template <class OP, class T> CGX__INLINE T cgx__wide_scan(const cgx_grid &g, T v, bool exclusive)
{
    if (!cgx__grid_is_valid(g))
        cgx__misuse(g.t, CGX__MISUSE_GRID_COLLECTIVE, 0);
    const cgx__known_block b = cgx__any(cgx__make_block(g.t));
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

template <class OP, class G, class T> CGX__INLINE T cgx__reduce_as(const G &g, T v)
{
    if constexpr (cgx__same_type<G, cgx__known_block>::value)
        return cgx__slots_reduce<OP>(g, v); /* which sees to blocks of one wave */
    else
        CGX__DISPATCH(g, cgx__wave_reduce<OP>(g, v), cgx__wide_reduce<OP>(g, v));
}
template <class OP, class G, class T> CGX__INLINE T cgx__scan_as(const G &g, T v, bool exclusive)
{
    CGX__DISPATCH(g, cgx__wave_scan<OP>(g, v, exclusive), cgx__wide_scan<OP>(g, v, exclusive));
}
template <class OP, class G, class T> CGX__INLINE T cgx__reduce_with(const G &g, T v)
{
    if constexpr ((int)OP::builtin && cgx__is_integer<T>::value)
        return (T)cgx__reduce_as<OP>(g, (typename cgx__carrier<OP, T>::type)v);
    else
        return cgx__reduce_as<OP>(g, v);
}
/* What takes the last operand off again: of sums that wrap, and of xor. */
template <class OP> struct cgx__inverse {
    enum { has = 0 };
};
template <> struct cgx__inverse<cgx__operator_PLUS> {
    enum { has = 1 };
    template <class T> CGX__INLINE T apply(T a, T b)
    {
        return a - b;
    }
};
template <> struct cgx__inverse<cgx__operator_BIT_XOR> : cgx__operator_BIT_XOR {
    enum { has = 1 };
};
template <class OP, class G, class T> CGX__INLINE T cgx__scan_with(const G &g, T v, bool exclusive)
{
    if constexpr ((int)OP::builtin && cgx__is_integer<T>::value) {
        const typename cgx__carrier<OP, T>::type w = v;
        if constexpr ((int)cgx__inverse<OP>::has)
            return exclusive ? (T)cgx__inverse<OP>::apply(cgx__scan_as<OP>(g, w, false), w)
                             : (T)cgx__scan_as<OP>(g, w, false);
        else
            return (T)cgx__scan_as<OP>(g, w, exclusive);
    } else {
        return cgx__scan_as<OP>(g, v, exclusive);
    }
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
        enum { builtin = 0 };                                                                                        \
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

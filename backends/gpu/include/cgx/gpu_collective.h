/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/collective.h>: the canonical order over shuffles. Groups in one wave and blocks; docs/design.md has
 * the order, backends/cpu/collective.c the same on arrays. */
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

/* Adjacent pairs, then pairs of pairs, and what rank 0 gets is everybody's. */
template <class OP, class T> CGX__INLINE T cgx__wave_reduce(const cgx_group &g, T v)
{
    for (int d = 1; d < g.size; d *= 2) {
        bool pair = !(g.rank & (2 * d - 1)) && g.rank + d < g.size;
        T right = cgx__wave_exchange(g, v, pair ? g.rank + d : g.rank);
        if (pair)
            v = OP::apply(v, right);
    }
    return cgx__wave_exchange(g, v, 0);
}

enum { CGX__SEGMENT = 32 }; /* of the canonical scan; not the wave */

/* Kogge-Stone inside each segment. */
template <class OP, class T> CGX__INLINE T cgx__wave_scan_segments(const cgx_group &g, T v)
{
    int rank = g.rank % CGX__SEGMENT;
    for (int d = 1; d < CGX__SEGMENT && d < g.size; d *= 2) {
        T left = cgx__wave_exchange(g, v, rank >= d ? g.rank - d : g.rank);
        if (rank >= d)
            v = OP::apply(left, v);
    }
    return v;
}
/* A wave has two segments at most, so that the scan over their totals is the first total. */
template <class OP, class T> CGX__INLINE T cgx__wave_scan(const cgx_group &g, T v, bool exclusive)
{
    static_assert(CGX__WAVE <= 2 * CGX__SEGMENT, "a wave has more than two segments");
    v = cgx__wave_scan_segments<OP>(g, v);
    if (g.size > CGX__SEGMENT) {
        T total = cgx__wave_exchange(g, v, CGX__SEGMENT - 1);
        if (g.rank >= CGX__SEGMENT)
            v = OP::apply(total, v);
    }
    if (!exclusive)
        return v;
    v = cgx__wave_exchange(g, v, g.rank ? g.rank - 1 : 0);
    return g.rank ? v : T();
}

/* ---- in a block of several waves ---- */

/* Shared memory of a block's collectives of this type. A thread may still read `second` when another one writes `first` in
 * the next collective, which is why there are two. */
enum { CGX__PARTS = CGX__MAX_THREADS / CGX__SEGMENT };
template <class T> struct cgx__block_scratch {
    T first[CGX__PARTS], second[CGX__PARTS];
};
template <class T> CGX__INLINE cgx__block_scratch<T> *cgx__scratch(void)
{
    __shared__ cgx__block_scratch<T> scratch;
    return &scratch;
}
/* The first N threads of a block, in its first wave. */
CGX__INLINE cgx_group cgx__first_threads(const cgx_group &block, int n)
{
    return { CGX__TILE, n, block.rank, 0, 1, 0 };
}

/* A wave is a whole subtree; the first one reduces what the waves have left. */
template <class OP, class T> CGX__INLINE T cgx__block_reduce(const cgx_group &g, T v)
{
    cgx__block_scratch<T> *s = cgx__scratch<T>();
    const int waves = (g.size + CGX__WAVE - 1) / CGX__WAVE;
    const cgx_group wave = cgx__wave_of_block(g);
    v = cgx__wave_reduce<OP>(wave, v);
    if (wave.rank == 0)
        s->first[g.rank / CGX__WAVE] = v;
    cgx__gpu_sync();
    if (g.rank < waves) {
        v = cgx__wave_reduce<OP>(cgx__first_threads(g, waves), s->first[g.rank]);
        if (g.rank == 0)
            s->second[0] = v;
    }
    cgx__gpu_sync();
    return s->second[0];
}

template <class OP, class T> CGX__INLINE T cgx__block_scan(const cgx_group &g, T v, bool exclusive)
{
    cgx__block_scratch<T> *s = cgx__scratch<T>();
    const int segments = (g.size + CGX__SEGMENT - 1) / CGX__SEGMENT;
    const int mine = g.rank / CGX__SEGMENT, rank = g.rank % CGX__SEGMENT;
    const cgx_group wave = cgx__wave_of_block(g);
    v = cgx__wave_scan_segments<OP>(wave, v);
    if (rank == CGX__SEGMENT - 1 || g.rank == g.size - 1)
        s->first[mine] = v;
    cgx__gpu_sync();
    /* Exclusive: the value of the rank below, for a segment's first rank the total of the segment below. */
    int of = mine; /* the segment that v belongs to */
    if (exclusive) {
        v = cgx__wave_exchange(wave, v, wave.rank ? wave.rank - 1 : 0);
        if (rank == 0 && mine > 0)
            of = mine - 1, v = s->first[of];
    }
    if (g.rank < segments)
        s->second[g.rank] = cgx__wave_scan_segments<OP>(cgx__first_threads(g, segments), s->first[g.rank]);
    cgx__gpu_sync();
    if (of > 0)
        v = OP::apply(s->second[of - 1], v);
    return exclusive && g.rank == 0 ? T() : v;
}

/* ---- declared here, defined by the CUDA and HIP backends: tiles above the wave, clusters, grids ---- */

template <class OP, class G, class T> CGX__DECLARED T cgx__wide_reduce(G g, T v);
template <class OP, class G, class T> CGX__DECLARED T cgx__wide_scan(G g, T v, bool exclusive);
/* Of <cgx/atomic.h>, which comes later: an operation from CGX__OP_REDUCE_UPDATE on. */
template <class OP, class G, class T> CGX__INLINE T cgx__update_with(const G &g, T *p, int scope, T v, int operation);

/* ---- any group ---- */

template <class OP, class G, class T> CGX__INLINE T cgx__reduce_with(const G &g, T v)
{
    CGX__DISPATCH(g, cgx__wave_reduce<OP>(g, v), cgx__block_reduce<OP>(g, v), cgx__wide_reduce<OP>(g, v));
}
template <class OP, class G, class T> CGX__INLINE T cgx__scan_with(const G &g, T v, bool exclusive)
{
    CGX__DISPATCH(g, cgx__wave_scan<OP>(g, v, exclusive), cgx__block_scan<OP>(g, v, exclusive),
                  cgx__wide_scan<OP>(g, v, exclusive));
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

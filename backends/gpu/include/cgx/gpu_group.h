/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/group.h>, written once over the primitives of cuda.h and hip.h. A wave is a warp on NVIDIA; a group
 * that lies in one wave needs ballots and shuffles alone. */
#ifndef CGX_GPU_GROUP_H
#define CGX_GPU_GROUP_H
#include <cgx/group.h>

extern "C++" {

enum { CGX__MAX_THREADS = 1024, CGX__VALUE_BYTES = 32 };
/* A mask tells as many threads apart as it has bits, which may be two waves. No other width is written in this folder: the wave's is
 * CGX__WAVE (tests/device_pass/widths.sh looks). */
enum { CGX__MASK = 64, CGX__HALF_MASK = CGX__MASK / 2 };
template <int N> struct cgx__log2 {
    enum { value = 1 + cgx__log2<N / 2>::value };
};
template <> struct cgx__log2<1> {
    enum { value = 0 };
};
template <> struct cgx__log2<0> { /* a tile whose size the kernel's run decides */
    enum { value = 0 };
};

/* Every group knows its thread's state. Block, cluster and grid know the rest from the hardware. */
typedef struct {
    cgx__thread *t;
} cgx_block;
typedef struct {
    cgx__thread *t;
} cgx_cluster;
typedef struct {
    cgx__thread *t;
} cgx_grid;
#define CGX__TILE_TYPE(N)         \
    typedef struct {              \
        cgx__thread *t;           \
        int meta_rank, meta_size; \
    } cgx_tile_##N;
CGX_FOREACH_TILE(CGX__TILE_TYPE)
typedef struct {
    cgx__thread *t;
    int meta_rank, meta_size, size;
} cgx_tile;
/* `lanes`: members as lanes of the wave. A group with members in two waves crosses: then by their places, which are ranks in
 * the block modulo 64. Only a partition of a parent wider than the wave makes those, so that compilers know of others. */
typedef struct {
    cgx__thread *t;
    int meta_rank, meta_size, crosses;
    cgx_mask lanes;
} cgx_coalesced;
typedef struct {
    uint32_t phase;
} cgx_token;

/* Any group but cluster and grid. */
enum { CGX__BLOCK, CGX__TILE, CGX__COALESCED, CGX__CROSSING };
typedef struct {
    cgx__thread *t;
    int kind, size, rank, meta_rank, meta_size;
    cgx_mask lanes; /* of what is not a block, and lies in one wave or crosses */
} cgx_group;

#define cgx__this_block() cgx__make_block(cgx__known_shape(&cgx__self))
#define cgx__this_cluster() cgx__make<cgx_cluster>(cgx__known_shape(&cgx__self))
#define cgx__this_grid() cgx__make<cgx_grid>(cgx__known_shape(&cgx__self))
CGX__INLINE cgx__thread *cgx__known_shape(cgx__thread *t)
{
    return t;
}
template <int X, int Y, int Z> CGX__INLINE cgx__thread *cgx__known_shape(cgx__thread_of_shape<X, Y, Z> *t)
{
    const cgx_dim3 shape = cgx__gpu_threads();
    __builtin_assume(shape.x == X);
    __builtin_assume(shape.y == Y);
    __builtin_assume(shape.z == Z);
    return t;
}
template <class G> CGX__INLINE G cgx__make(cgx__thread *t)
{
    return { t };
}
/* A round's values of the waves or segments of a group; two rounds take turns. */
enum { CGX__SLOTS = 32 };
template <int BYTES, int LEVEL> CGX__INLINE unsigned char *cgx__slots_of_level(void)
{
    __shared__ __attribute__((aligned(16))) unsigned char slots[2 * CGX__SLOTS * BYTES];
    return slots;
}
CGX__INLINE cgx_block cgx__make_block(cgx__thread *t)
{
    t->block_slots[0] = cgx__hold_shared(cgx__slots_of_level<4, 0>());
    t->block_slots[1] = cgx__hold_shared(cgx__slots_of_level<8, 0>());
    return { t };
}
#define cgx__coalesced_threads() cgx__make_coalesced(&cgx__self)
CGX__INLINE cgx_coalesced cgx__make_coalesced(cgx__thread *t)
{
    return { t, 0, 1, 0, cgx__wave_active() };
}
/* The caller's block, for functions that take no group. */
#define CGX__SELF cgx__this_block()
/* Tiles above the wave need no memory of the user's. */
#define CGX__TILE_MEMORY(name, threads)                                                           \
    static_assert((threads) > 0, "cgx: CGX_BLOCK_TILE_MEMORY takes the most threads of a block"); \
    const int name = 0

/* ---- ranks ---- */

CGX__INLINE int cgx__linear(cgx_dim3 at, cgx_dim3 shape)
{
    return (at.z * shape.y + at.y) * shape.x + at.x;
}
CGX__INLINE int cgx__rank_in_block(void)
{
    return cgx__linear(cgx__gpu_thread(), cgx__gpu_threads());
}
CGX__INLINE int cgx__block_threads(void)
{
    cgx_dim3 n = cgx__gpu_threads();
    return n.x * n.y * n.z;
}
CGX__INLINE cgx_mask cgx__lanes_below(int lane)
{
    return ((cgx_mask)1 << lane) - 1;
}

CGX__INLINE cgx_dim3 cgx__thread_index(cgx_block)
{
    return cgx__gpu_thread();
}
CGX__INLINE cgx_dim3 cgx__group_index(cgx_block)
{
    return cgx__gpu_block();
}
CGX__INLINE cgx_dim3 cgx__dim_threads(cgx_block)
{
    return cgx__gpu_threads();
}
CGX__INLINE cgx_dim3 cgx__dim_threads(cgx_cluster)
{
    cgx_dim3 n = cgx__gpu_cluster_blocks(), block = cgx__gpu_threads();
    return { n.x * block.x, n.y * block.y, n.z * block.z };
}
CGX__INLINE cgx_dim3 cgx__dim_blocks(cgx_cluster)
{
    return cgx__gpu_cluster_blocks();
}
CGX__INLINE cgx_dim3 cgx__block_index(cgx_cluster)
{
    return cgx__gpu_block_in_cluster();
}
CGX__INLINE int cgx__block_rank(cgx_cluster)
{
    return cgx__linear(cgx__gpu_block_in_cluster(), cgx__gpu_cluster_blocks());
}
CGX__INLINE int cgx__num_blocks(cgx_cluster)
{
    cgx_dim3 n = cgx__gpu_cluster_blocks();
    return n.x * n.y * n.z;
}

/* In grids numbers have 64 bits. */
CGX__INLINE int64_t cgx__linear_wide(cgx_dim3 at, cgx_dim3 shape)
{
    return ((int64_t)at.z * shape.y + at.y) * shape.x + at.x;
}
CGX__INLINE cgx_dim3 cgx__dim_blocks(cgx_grid)
{
    return cgx__gpu_blocks();
}
CGX__INLINE cgx_dim3 cgx__block_index(cgx_grid)
{
    return cgx__gpu_block();
}
CGX__INLINE int64_t cgx__block_rank(cgx_grid)
{
    return cgx__linear_wide(cgx__gpu_block(), cgx__gpu_blocks());
}
CGX__INLINE int64_t cgx__num_blocks(cgx_grid)
{
    cgx_dim3 n = cgx__gpu_blocks();
    return (int64_t)n.x * n.y * n.z;
}
CGX__INLINE cgx_dim3 cgx__dim_clusters(cgx_grid)
{
    cgx_dim3 n = cgx__gpu_blocks(), cluster = cgx__gpu_cluster_blocks();
    return { n.x / cluster.x, n.y / cluster.y, n.z / cluster.z };
}
CGX__INLINE cgx_dim3 cgx__cluster_index(cgx_grid)
{
    cgx_dim3 at = cgx__gpu_block(), cluster = cgx__gpu_cluster_blocks();
    return { at.x / cluster.x, at.y / cluster.y, at.z / cluster.z };
}
CGX__INLINE int64_t cgx__cluster_rank_in_grid(cgx_grid g)
{
    return cgx__linear_wide(cgx__cluster_index(g), cgx__dim_clusters(g));
}
CGX__INLINE int64_t cgx__num_clusters(cgx_grid g)
{
    cgx_dim3 n = cgx__dim_clusters(g);
    return (int64_t)n.x * n.y * n.z;
}

CGX__INLINE int cgx__thread_rank(cgx_block)
{
    return cgx__rank_in_block();
}
CGX__INLINE int cgx__num_threads(cgx_block)
{
    return cgx__block_threads();
}
CGX__INLINE int cgx__thread_rank(cgx_cluster g)
{
    return cgx__block_rank(g) * cgx__block_threads() + cgx__rank_in_block();
}
CGX__INLINE int cgx__num_threads(cgx_cluster g)
{
    return cgx__num_blocks(g) * cgx__block_threads();
}
CGX__INLINE int64_t cgx__thread_rank(cgx_grid g)
{
    return cgx__block_rank(g) * cgx__block_threads() + cgx__rank_in_block();
}
CGX__INLINE int64_t cgx__num_threads(cgx_grid g)
{
    return cgx__num_blocks(g) * cgx__block_threads();
}
/* The wave's lanes are its ranks in order. */
#define CGX__RANK_TILE(N)                                         \
    CGX__INLINE int cgx__thread_rank(cgx_tile_##N)                \
    {                                                             \
        return N < CGX__WAVE    ? cgx__wave_lane() & (N - 1)      \
               : N == CGX__WAVE ? cgx__wave_lane()                \
                                : cgx__rank_in_block() & (N - 1); \
    }                                                             \
    CGX__INLINE int cgx__num_threads(cgx_tile_##N)                \
    {                                                             \
        return N;                                                 \
    }
CGX_FOREACH_TILE(CGX__RANK_TILE)
CGX__INLINE int cgx__thread_rank(cgx_tile g)
{
    return cgx__rank_in_block() & (g.size - 1);
}
CGX__INLINE int cgx__num_threads(cgx_tile g)
{
    return g.size;
}
template <bool, class A, class B> struct cgx__choice {
    typedef A type;
};
template <class A, class B> struct cgx__choice<false, A, B> {
    typedef B type;
};
/* A mask of the wave's lanes, no wider than it has to be. */
typedef cgx__choice<CGX__WAVE <= CGX__HALF_MASK, uint32_t, uint64_t>::type cgx__lanes;

/* Place among the threads that one mask tells apart. */
CGX__INLINE int cgx__place_in_64(void)
{
    return cgx__rank_in_block() & (CGX__MASK - 1);
}
CGX__INLINE int cgx__thread_rank(cgx_coalesced g)
{
    return g.crosses ? cgx__bit_count(g.lanes & cgx__lanes_below(cgx__place_in_64())) : cgx__wave_rank(g.lanes);
}
CGX__INLINE int cgx__num_threads(cgx_coalesced g)
{
    return cgx__bit_count(g.lanes);
}
CGX__INLINE int cgx__thread_rank(cgx_group g)
{
    return g.rank;
}
CGX__INLINE int cgx__num_threads(cgx_group g)
{
    return g.size;
}

/* ---- erasing a group's type, but for what decides how it works ---- */

/* A cgx_group of a known kind and, if it is not 0, size. */
template <int KIND, int SIZE> struct cgx__known : cgx_group {
};
typedef cgx__known<CGX__BLOCK, 0> cgx__known_block;
typedef cgx__known<CGX__COALESCED, 0> cgx__known_coalesced;

/* Again: nothing is lost. */
template <int KIND, int SIZE> CGX__INLINE cgx__known<KIND, SIZE> cgx__any(cgx__known<KIND, SIZE> g)
{
    return g;
}
CGX__INLINE cgx_group cgx__any(cgx_group g)
{
    return g;
}
CGX__INLINE cgx__known_block cgx__any(cgx_block g)
{
    return { { g.t, CGX__BLOCK, cgx__num_threads(g), cgx__thread_rank(g), 0, 1, 0 } };
}
/* Bits 0 to n - 1, n from 1 to 64. */
CGX__INLINE cgx_mask cgx__low_bits(int n)
{
    return ~(cgx_mask)0 >> (CGX__MASK - n);
}
/* The mask of a tile in one wave: a constant where it is the wave, which compilers cannot see of lanes and ranks. */
CGX__INLINE cgx_mask cgx__tile_lanes(int size)
{
    return size == CGX__WAVE  ? cgx__low_bits(CGX__WAVE)
           : size < CGX__WAVE ? cgx__low_bits(size) << (cgx__wave_lane() & -size)
                              : 0;
}
template <int N, class G> CGX__INLINE cgx__known<CGX__TILE, N> cgx__any_tile(G g)
{
    const int size = cgx__num_threads(g);
    return { { g.t, CGX__TILE, size, cgx__thread_rank(g), g.meta_rank, g.meta_size, cgx__tile_lanes(size) } };
}
#define CGX__ANY_TILE(N)                                          \
    CGX__INLINE cgx__known<CGX__TILE, N> cgx__any(cgx_tile_##N g) \
    {                                                             \
        return cgx__any_tile<N>(g);                               \
    }
CGX_FOREACH_TILE(CGX__ANY_TILE)
CGX__INLINE cgx__known<CGX__TILE, 0> cgx__any(cgx_tile g)
{
    return cgx__any_tile<0>(g);
}
CGX__INLINE cgx__known_coalesced cgx__any(cgx_coalesced g)
{
    return { { g.t, g.crosses ? CGX__CROSSING : CGX__COALESCED, cgx__num_threads(g), cgx__thread_rank(g), g.meta_rank,
               g.meta_size, g.lanes } };
}
template <class G> CGX__INLINE cgx_group cgx__as_group(G g)
{
    return cgx__any(g);
}
/* Where a group's collectives run. What is not known here is looked up when the kernel runs. */
enum { CGX__IN_WAVE, CGX__IN_BLOCK, CGX__IN_BLOCKS, CGX__ANYWHERE };
template <class G> struct cgx__place {
    enum { value = CGX__ANYWHERE };
};
template <> struct cgx__place<cgx__known_coalesced> {
    enum { value = CGX__WAVE < CGX__MASK ? CGX__ANYWHERE : CGX__IN_WAVE };
};
template <> struct cgx__place<cgx__known_block> {
    enum { value = CGX__ANYWHERE }; /* of one wave or more */
};
template <int N> struct cgx__place<cgx__known<CGX__TILE, N>> {
    enum { value = N == 0 ? CGX__ANYWHERE : N <= CGX__WAVE ? CGX__IN_WAVE : CGX__IN_BLOCK };
};
template <> struct cgx__place<cgx_cluster> {
    enum { value = CGX__IN_BLOCKS };
};
template <> struct cgx__place<cgx_grid> {
    enum { value = CGX__IN_BLOCKS };
};
/* Reduces and scans take cluster and grid as well. */
template <class G> CGX__INLINE auto cgx__view(G g) -> decltype(cgx__any(g))
{
    return cgx__any(g);
}
CGX__INLINE cgx_cluster cgx__view(cgx_cluster g)
{
    return g;
}
CGX__INLINE cgx_grid cgx__view(cgx_grid g)
{
    return g;
}
/* Synchronisation is chosen by the group's type. */
template <class G> CGX__INLINE G cgx__any_or_grid(G g)
{
    return g;
}
/* Groups that a mask is wide enough for. */
template <class G> CGX__INLINE G cgx__narrow_check(G g)
{
    return g;
}
#define CGX__TOO_WIDE(N) __device__ cgx_group cgx__narrow_check(cgx_tile_##N) = delete;
CGX__FOREACH_WIDE_TILE(CGX__TOO_WIDE)
#define cgx__narrow(g) cgx__any(cgx__narrow_check(g))

CGX__INLINE int cgx__meta_size(cgx_group g)
{
    return g.meta_size;
}
CGX__INLINE int cgx__meta_rank(cgx_group g)
{
    return g.meta_rank;
}

#define CGX__TILED(N)                                              \
    CGX__INLINE cgx_tile_##N cgx__tiled_##N(cgx_group parent, int) \
    {                                                              \
        return { parent.t, parent.rank / N, parent.size / N };     \
    }
CGX_FOREACH_TILE(CGX__TILED)
CGX__INLINE cgx_tile cgx__tiled_n(cgx_group parent, int n, int)
{
    return { parent.t, parent.rank / n, parent.size / n, n };
}

/* ---- groups in one wave: ranks and lanes ---- */

CGX__INLINE bool cgx__in_wave(const cgx_group &g)
{
    return g.kind == CGX__COALESCED || (g.kind != CGX__CROSSING && g.size <= CGX__WAVE);
}
/* Returns one of two: for a group in one wave, or for a wider one. `if constexpr`, so that code without optimisation, too,
 * has no call of what its groups never need. */
#define CGX__DISPATCH(g, in_wave, wide)                            \
    if constexpr ((int)cgx__place<G>::value == CGX__IN_WAVE)       \
        return in_wave;                                            \
    else if constexpr ((int)cgx__place<G>::value == CGX__ANYWHERE) \
        return cgx__in_wave(g) ? in_wave : wide;                   \
    else                                                           \
        return wide
CGX__INLINE cgx_mask cgx__lanes_of(const cgx_group &g)
{
    return g.kind == CGX__BLOCK ? cgx__low_bits(g.size) : g.lanes; /* a block begins with lane 0 */
}
/* The number of the bit that has RANK bits of MASK below it. */
template <class M> CGX__INLINE int cgx__nth_bit(M mask, int rank)
{
    int at = 0;
    for (int half = (int)sizeof(M) * 4; half; half /= 2) {
        int below = cgx__bit_count(mask >> at & (((M)1 << half) - 1));
        if (rank >= below)
            rank -= below, at += half;
    }
    return at;
}
/* Whether the whole wave is here, where that is worth a look: then its mask, a constant, will do. */
CGX__INLINE bool cgx__all_here(void)
{
    return CGX__FULL_MASK_IS_FASTER && cgx__wave_active() == cgx__low_bits(CGX__WAVE);
}
/* The lane of the member with this rank. */
CGX__INLINE int cgx__lane_of(const cgx_group &g, int rank)
{
    return g.kind != CGX__COALESCED ? cgx__wave_lane() - g.rank + rank : cgx__nth_bit((cgx__lanes)g.lanes, rank);
}
/* A mask of lanes as one of ranks. */
CGX__INLINE cgx_mask cgx__ranks_of(const cgx__known<CGX__TILE, CGX__WAVE> &, cgx_mask lanes)
{
    return lanes;
}
CGX__INLINE cgx_mask cgx__ranks_of(const cgx_group &g, cgx_mask lanes)
{
    if (g.kind != CGX__COALESCED)
        return lanes >> (cgx__wave_lane() - g.rank);
    cgx_mask ranks = 0;
    for (; lanes; lanes &= lanes - 1)
        ranks |= (cgx_mask)1 << cgx__bit_count(g.lanes & cgx__lanes_below(cgx__lowest_bit(lanes)));
    return ranks;
}

/* A value as words; what is left of the last word is zero. */
template <class T> struct cgx__words {
    static_assert(sizeof(T) <= CGX__VALUE_BYTES, "cgx: a value of a collective has at most 32 bytes");
    enum { count = (sizeof(T) + 3) / 4 };
    uint32_t word[count];
};
template <class T> CGX__INLINE cgx__words<T> cgx__to_words(const T &v)
{
    cgx__words<T> w;
    w.word[cgx__words<T>::count - 1] = 0;
    __builtin_memcpy(w.word, &v, sizeof v);
    return w;
}
/* The v of a lane, for LANES. */
template <class T> CGX__INLINE cgx__words<T> cgx__words_of_lane(cgx_mask lanes, cgx__words<T> w, int lane)
{
#pragma unroll
    for (int i = 0; i < cgx__words<T>::count; i++)
        w.word[i] = cgx__wave_shuffle(lanes, w.word[i], lane);
    return w;
}
template <class T> CGX__INLINE T cgx__from_words(const cgx__words<T> &w)
{
    T v;
    __builtin_memcpy(static_cast<void *>(&v), w.word, sizeof v);
    return v;
}
/* One of two: FIRST is all ones, or zero. Choices by conditions are branches where values are structs, and where
 * there are many, each takes one of the few predicates that shuffles would be waiting for. */
template <class T> CGX__INLINE T cgx__pick(uint32_t first, const T &a, const T &b)
{
    cgx__words<T> w = cgx__to_words(a);
    const cgx__words<T> other = cgx__to_words(b);
#pragma unroll
    for (int i = 0; i < cgx__words<T>::count; i++)
        w.word[i] = (w.word[i] & first) | (other.word[i] & ~first);
    return cgx__from_words<T>(w);
}
/* For that: all ones if a < b; both are far from the ends of int. And if bit BIT of v is set. */
CGX__INLINE uint32_t cgx__ones_if_less(int a, int b)
{
    return (uint32_t)((a - b) >> 31);
}
CGX__INLINE uint32_t cgx__ones_if_bit(int v, int bit)
{
    return (uint32_t)((int)((uint32_t)v << (31 - bit)) >> 31);
}
/* A v that a shuffle of words moves. */
#define CGX__MOVE_WORDS(T, v, move)                                                    \
    cgx__words<T> w = cgx__to_words(v);                                                \
    _Pragma("unroll") for (int i = 0; i < cgx__words<T>::count; i++) w.word[i] = move; \
    return cgx__from_words<T>(w)
template <class T> CGX__INLINE T cgx__shuffle_lane(cgx_mask lanes, const T &v, int lane)
{
    CGX__MOVE_WORDS(T, v, cgx__wave_shuffle(lanes, w.word[i], lane));
}
template <class T> CGX__INLINE T cgx__shuffle_xor(cgx_mask lanes, const T &v, int bits)
{
    CGX__MOVE_WORDS(T, v, cgx__wave_shuffle_xor(lanes, w.word[i], bits));
}
template <class T> CGX__INLINE T cgx__shuffle_up(cgx_mask lanes, const T &v, int distance)
{
    CGX__MOVE_WORDS(T, v, cgx__wave_shuffle_up(lanes, w.word[i], distance));
}
/* The v of a rank, which each member chooses. */
template <class T> CGX__INLINE T cgx__wave_exchange(const cgx_group &g, const T &v, int rank)
{
    return cgx__shuffle_lane(cgx__lanes_of(g), v, cgx__lane_of(g, rank));
}
/* The lanes of the group whose v has the same bytes as that of LANE. */
template <class T> CGX__INLINE cgx_mask cgx__same_as_lane(cgx_mask lanes, const cgx__words<T> &w, int lane)
{
    cgx__words<T> other = cgx__words_of_lane<T>(lanes, w, lane);
    int same = 1;
#pragma unroll
    for (int i = 0; i < cgx__words<T>::count; i++)
        same &= other.word[i] == w.word[i];
    return cgx__wave_ballot(lanes, same);
}
#if defined(CGX__HAS_MATCH)
/* The caller's part: its members. Ballots, where labels have few bits: together they take hardly longer than one. Whether they have is
 * asked, but where the type says it: of 8 bits ballots take as long as the question. */
template <class T> CGX__INLINE cgx__lanes cgx__part_of(cgx_mask lanes, const cgx__words<T> &w)
{
    enum { BITS = sizeof(T) == 1 ? 8 : 3 };
    uint32_t label = w.word[0];
    if constexpr ((int)cgx__words<T>::count == 2)
        label = w.word[1] ? ~0u : label;
    const bool more = BITS < 8 && cgx__wave_any(lanes, label >= 1u << BITS);
    cgx__lanes part = (cgx__lanes)lanes;
#pragma unroll
    for (uint32_t bit = 1; bit < 1u << BITS; bit *= 2) {
        const cgx__lanes set = cgx__wave_ballot_bits(lanes, label, bit);
        part &= label & bit ? set : ~set;
    }
    if constexpr ((int)cgx__words<T>::count == 2)
        return cgx__wave_match_if(more, lanes, (uint64_t)w.word[1] << 32 | w.word[0], part);
    else if constexpr (BITS < 8)
        return cgx__wave_match_if(more, lanes, w.word[0], part);
    else
        return part;
}
#endif
/* The members whose v has the caller's bytes. */
template <class T> CGX__INLINE cgx_mask cgx__wave_part(const cgx_group &g, const T &v)
{
    const cgx__words<T> w = cgx__to_words(v);
    const cgx_mask lanes = cgx__lanes_of(g);
#if defined(CGX__HAS_MATCH)
    if constexpr ((int)cgx__words<T>::count <= 2) {
        return cgx__part_of<T>(lanes, w);
    } else
#endif
    {
        cgx_mask part, mine = 0;
        for (cgx_mask left = lanes; left; left &= ~part) {
            part = cgx__same_as_lane<T>(lanes, w, cgx__lowest_bit(left));
            mine = part >> cgx__wave_lane() & 1 ? part : mine;
        }
        return mine;
    }
}
/* Splits a group by the bytes of v, as often as there are different ones: parts in the order of their lowest members. */
template <class T> CGX__INLINE cgx_coalesced cgx__wave_split(const cgx_group &g, const T &v)
{
    const cgx__words<T> w = cgx__to_words(v);
#if defined(CGX__HAS_MATCH)
    if constexpr ((int)cgx__words<T>::count <= 2) {
        const cgx_mask all = cgx__lanes_of(g);
        const cgx__lanes part = cgx__part_of<T>(all, w);
        /* A part's first member has none below itself; those of the parts before are below the part's lowest bit. */
        const cgx__lanes firsts = (cgx__lanes)cgx__wave_ballot(all, cgx__wave_rank(part) == 0);
        return { g.t, cgx__bit_count((cgx__lanes)(firsts & (part - 1) & ~part)), cgx__bit_count(firsts), 0, part };
    }
#endif
    const cgx_mask lanes = cgx__lanes_of(g), me = (cgx_mask)1 << cgx__wave_lane();
    cgx_coalesced mine = { g.t, 0, 0, 0, 0 };
    for (cgx_mask left = lanes; left; mine.meta_size++) {
        cgx_mask part = cgx__same_as_lane<T>(lanes, w, cgx__lowest_bit(left));
        if (part & me)
            mine.lanes = part, mine.meta_rank = mine.meta_size;
        left &= ~part;
    }
    return mine;
}

/* ---- groups of several waves ---- */

/* A thread is in one block and in one tile of each size: their numbers, from 0 on. */
enum { CGX__LEVELS = 6, CGX__CLUSTER_LEVEL = CGX__LEVELS, CGX__GRID_LEVEL };
template <class G> struct cgx__level {
    enum { known = -1 };
};
template <> struct cgx__level<cgx__known_block> {
    enum { known = 0 };
};
template <int N> struct cgx__level<cgx__known<CGX__TILE, N>> {
    enum { known = N >= CGX__MASK ? cgx__log2<N>::value - cgx__log2<CGX__HALF_MASK>::value : -1 };
};
template <class G> CGX__INLINE int cgx__level_of(const G &g)
{
    if constexpr ((int)cgx__level<G>::known >= 0)
        return cgx__level<G>::known;
    else
        return g.kind == CGX__BLOCK ? 0 : cgx__lowest_bit((unsigned)g.size) - 5;
}
/* Whose turn it is of two places in shared memory: who has passed a group's barrier knows that nobody uses the place of its
 * last collective but one. The bits are the thread's; members of a group call the same collectives, so theirs are alike. */
CGX__INLINE int cgx__turn(cgx__thread *t, int level)
{
    int turn = (int)(t->phases >> level & 1u);
    t->phases ^= 1u << level;
    return turn;
}
/* Of bits that are set once. */
CGX__INLINE bool cgx__first_time(cgx__thread *t, int bit)
{
    bool first = !(t->phases >> bit & 1u);
    t->phases |= 1u << bit;
    return first;
}
enum { CGX__TILE_STARTED = 8, CGX__CLUSTER_STARTED = CGX__TILE_STARTED + CGX__LEVELS };

/* The rank in the block of the member with this rank. */
CGX__INLINE int cgx__block_rank_of(const cgx_group &g, int rank)
{
    int me = cgx__rank_in_block();
    return g.kind == CGX__CROSSING ? (me & -CGX__MASK) + cgx__nth_bit(g.lanes, rank) : me - g.rank + rank;
}
/* The group's members in the caller's wave, from its first lane on; not of a crossing group. */
template <class G> CGX__INLINE cgx_group cgx__wave_of(const G &g)
{
    const int rank = g.rank % CGX__WAVE, left = g.size - (g.rank - rank);
    const bool full = (int)cgx__level<G>::known > 0 || left >= CGX__WAVE; /* tiles have whole waves */
    return { g.t, CGX__BLOCK, full ? (int)CGX__WAVE : left, rank, 0, 1, 0 };
}

/* A barrier of whole waves in shared memory, which holds anything when the kernel begins. So at a tile's first time its first
 * wave sets the count, and answers: each other wave asks with a number that the answer has not had, and arrives once it has
 * it back, which proves that the count is set. Nobody else has to take part, and no kernel pays that has no such tile. */
enum { CGX__MAX_WAVES = CGX__MAX_THREADS / CGX__WAVE };
struct cgx__counters {
    uint32_t arrived[CGX__MAX_WAVES], asked[CGX__MAX_WAVES], answer[CGX__MAX_WAVES];
};
CGX__INLINE uint32_t cgx__look(const uint32_t *p)
{
    return *(const volatile uint32_t *)p;
}
CGX__INLINE void cgx__put(uint32_t *p, uint32_t v)
{
    *(volatile uint32_t *)p = v;
}
CGX__INLINE void cgx__counted_sync(const cgx_group &g, cgx__counters *c, bool fresh)
{
    const int first = (cgx__rank_in_block() - g.rank) / CGX__WAVE, mine = g.rank / CGX__WAVE,
              waves = g.size / CGX__WAVE;
    const cgx_mask everybody = cgx__low_bits(CGX__WAVE);
    cgx__wave_sync(everybody);
    if (cgx__wave_lane() == 0) {
        uint32_t *count = c->arrived + first, old;
        if (fresh && mine == 0)
            cgx__put(count, 0);
        cgx__fence_block();
        if (fresh && mine != 0) {
            uint32_t question = cgx__look(c->answer + first + mine) + 1;
            cgx__put(c->asked + first + mine, question);
            while (cgx__look(c->answer + first + mine) != question)
                cgx__gpu_pause();
            cgx__fence_block();
        }
        /* The highest bit changes when all have come, and the rest is zero again. */
        old = cgx__shared_add(count, mine == 0 ? 0x80000000u - (uint32_t)(waves - 1) : 1u);
        while (!((cgx__look(count) ^ old) & 0x80000000u)) {
            if (fresh && mine == 0)
                for (int i = 1; i < waves; i++)
                    cgx__put(c->answer + first + i, cgx__look(c->asked + first + i));
            cgx__gpu_pause();
        }
        cgx__fence_block();
    }
    cgx__wave_sync(everybody);
}
CGX__INLINE cgx__counters *cgx__counters_of(int level)
{
    /* Of the tiles of a level: of 64 threads alone, where the others have barriers of the hardware. */
    __shared__ cgx__counters counters[CGX__NAMED_BARRIERS ? 1 : CGX__LEVELS - 1];
    return counters + (CGX__NAMED_BARRIERS ? 0 : level - 1);
}

/* Where most tiles have a barrier of the hardware, those that have none: out of the others' way, which a jump over it made 15 ns
 * longer. They are of CGX__MASK threads. */
#if defined(CGX__HAS_TILE_MBARRIER)
/* An mbarrier a tile. At the first time its first wave makes it, and the other finds out that it is made as above: by a number that the
 * answer has not had. Those words are touched by atomics alone, and the mbarrier alone orders data: that is what racecheck knows. On an H200
 * 16 tiles take 231 to 295 ns (CUDA's own 482, the counters above 313, an arrival for each warp 582); 205 where it is inlined, for which the
 * tiles that have a barrier of the hardware would pay. */
struct cgx__tile_barriers {
    enum { TILES = CGX__MAX_THREADS / CGX__MASK };
    uint64_t barrier[TILES];
    uint32_t asked[TILES], answer[TILES];
};
CGX__INLINE cgx__tile_barriers *cgx__barriers_of_tiles(void)
{
    __shared__ cgx__tile_barriers barriers;
    return &barriers;
}
CGX__NOINLINE void cgx__first_unnamed_sync(int rank)
{
    cgx__tile_barriers *b = cgx__barriers_of_tiles();
    const int tile = cgx__rank_in_block() / CGX__MASK;
    const uint32_t barrier = cgx__shared_address(b->barrier + tile);
    const bool leads = cgx__wave_lane() == 0, makes = leads && rank < CGX__WAVE;
    if (makes) {
        cgx__gpu_tile_barrier_init(barrier, CGX__MASK);
        cgx__fence_block();
    } else if (leads) {
        const uint32_t question = cgx__shared_add(b->answer + tile, 0) + 1;
        cgx__shared_exchange(b->asked + tile, question);
        while (cgx__shared_add(b->answer + tile, 0) != question)
            cgx__gpu_pause();
        cgx__fence_block();
    }
    cgx__wave_sync(cgx__low_bits(CGX__WAVE));
    const uint64_t state = cgx__gpu_tile_barrier_arrive(barrier);
    if (makes)
        while (!cgx__gpu_tile_barrier_over(barrier, state))
            cgx__shared_exchange(b->answer + tile, cgx__shared_add(b->asked + tile, 0));
    else
        cgx__gpu_tile_barrier_wait(barrier, state);
}
CGX__NOINLINE void cgx__unnamed_sync(int rank, bool fresh)
{
    if (fresh) {
        cgx__first_unnamed_sync(rank);
    } else {
        const uint32_t barrier =
            cgx__shared_address(cgx__barriers_of_tiles()->barrier + cgx__rank_in_block() / CGX__MASK);
        cgx__gpu_tile_barrier_wait(barrier, cgx__gpu_tile_barrier_arrive(barrier));
    }
    cgx__wave_sync(cgx__low_bits(CGX__WAVE));
}
#else
CGX__NOINLINE void cgx__unnamed_sync(int rank, bool fresh)
{
    const cgx_group g = { 0, CGX__TILE, CGX__MASK, rank, 0, 1, 0 };
    cgx__counted_sync(g, cgx__counters_of(1), fresh);
}
#endif

/* A tile of more than a wave. Barriers of the hardware are numbered like a heap, so that no two tiles share one, whatever
 * their sizes: of a block of up to 512 threads 1 is the tile of 512, 2 and 3 are the tiles of 256, and so on to 15; of a
 * larger block 1 is the tile of 1024, and the tiles of 64 are left without. */
template <class G> CGX__INLINE void cgx__tile_sync(const G &g)
{
    const int level = cgx__level_of(g);
    if constexpr (CGX__NAMED_BARRIERS >= 15) {
        const int root = cgx__block_threads() <= CGX__MAX_THREADS / 2 ? CGX__MAX_THREADS / 2 : CGX__MAX_THREADS;
        if (__builtin_expect(level == 1 && root == CGX__MAX_THREADS, 0))
            cgx__unnamed_sync(g.rank, cgx__first_time(g.t, CGX__TILE_STARTED + level));
        else
            cgx__gpu_named_sync((root + cgx__rank_in_block()) >> (level + 5), g.size);
    } else {
        cgx__counted_sync(g, cgx__counters_of(level), cgx__first_time(g.t, CGX__TILE_STARTED + level));
    }
}

/* Two threads in the two waves of a crossing group meet for it. The one in the lower wave owns the word: it puts the other's
 * number there and waits for it to vanish. Two threads meet in the same order on both sides, whatever groups they meet for. */
CGX__INLINE uint32_t *cgx__meeting_point(int rank_in_block)
{
    __shared__ uint32_t words[CGX__MAX_THREADS / 2];
    return words + rank_in_block / CGX__MASK * CGX__HALF_MASK + rank_in_block % CGX__HALF_MASK;
}
CGX__INLINE void cgx__crossing_sync(const cgx_group &g)
{
    const int me = cgx__rank_in_block(), place = me & (CGX__MASK - 1), low = cgx__lowest_bit(g.lanes);
    const int high = CGX__HALF_MASK + cgx__lowest_bit(g.lanes >> CGX__HALF_MASK);
    const cgx_mask here = place < CGX__HALF_MASK ? g.lanes & cgx__low_bits(CGX__HALF_MASK) : g.lanes >> CGX__HALF_MASK;
    cgx__wave_sync(here);
    if (place == low || place == high) {
        uint32_t *word = cgx__meeting_point((me & -CGX__MASK) + low);
        cgx__fence_block();
        if (place == low) {
            cgx__put(word, (uint32_t)high);
            while (cgx__look(word))
                cgx__gpu_pause();
        } else {
            while (cgx__look(word) != (uint32_t)high)
                cgx__gpu_pause();
            cgx__put(word, 0);
        }
        cgx__fence_block();
    }
    cgx__wave_sync(here);
}

template <class G> CGX__INLINE void cgx__wide_sync(const G &g)
{
    if (g.kind == CGX__BLOCK)
        cgx__gpu_sync();
    else if (CGX__WAVE < CGX__MASK && g.kind == CGX__CROSSING)
        cgx__crossing_sync(g);
    else
        cgx__tile_sync(g);
}

/* ---- synchronisation ---- */

CGX__INLINE void cgx__sync(cgx_block, int)
{
    cgx__gpu_sync();
}
/* If all of the wave is here, a tile may as well wait for all of it: 9 ns instead of 45 on an H200. */
template <class G> CGX__INLINE void cgx__sync_lanes(const G &g)
{
    if (g.kind == CGX__TILE && g.size < CGX__WAVE && cgx__all_here())
        cgx__wave_sync(cgx__low_bits(CGX__WAVE));
    else
        cgx__wave_sync(cgx__lanes_of(g));
}
template <class G> CGX__INLINE void cgx__sync_waves(const G &g)
{
    CGX__DISPATCH(g, cgx__sync_lanes(g), cgx__wide_sync(g));
}
CGX__INLINE void cgx__sync(cgx_coalesced g, int)
{
    cgx__sync_waves(cgx__any(g));
}
#define CGX__SYNC_TILE(N)                           \
    CGX__INLINE void cgx__sync(cgx_tile_##N g, int) \
    {                                               \
        if constexpr (N > 1)                        \
            cgx__sync_waves(cgx__any(g));           \
        else                                        \
            (void)g;                                \
    }
CGX_FOREACH_TILE(CGX__SYNC_TILE)
CGX__INLINE void cgx__sync(cgx_group g, int)
{
    if (g.kind == CGX__BLOCK) /* of one wave as well: its threads may have ended */
        cgx__gpu_sync();
    else
        cgx__sync_waves(g);
}
CGX__INLINE void cgx__sync(cgx_tile g, int)
{
    cgx__sync_waves(cgx__any(g));
}
/* A block's barrier has no two halves on any of these devices, nor has CUDA's own. Arriving does nothing: nobody may rely on
 * anything before the wait, and a thread that ends counts there. */
CGX__INLINE cgx_token cgx__barrier_arrive(cgx_block, int)
{
    return { 0 };
}
CGX__INLINE void cgx__barrier_wait(cgx_block, cgx_token, int)
{
    cgx__gpu_sync();
}

/* Halves of the synchronisation of a tile: there are none. The CPU says so, here it is looked at with `cgxcc -g`. */
template <class G> CGX__INLINE cgx_token cgx__barrier_arrive(const G &, int line)
{
    CGX__CHECK(false, "barrier_arrive is for blocks, clusters and the grid", line);
    return { 0 };
}

/* ---- clusters ---- */

CGX__INLINE cgx_token cgx__barrier_arrive(cgx_cluster, int)
{
    cgx__cluster_arrive();
    return { 0 };
}
CGX__INLINE void cgx__barrier_wait(cgx_cluster, cgx_token, int)
{
    cgx__cluster_wait();
}
CGX__INLINE void cgx__sync(cgx_cluster, int)
{
    cgx__cluster_arrive();
    cgx__cluster_wait();
}
CGX__INLINE void cgx__sync_execution(cgx_cluster, int)
{
    cgx__cluster_arrive_relaxed();
    cgx__cluster_wait();
}
template <class T> CGX__INLINE T *cgx__map_shared_rank(cgx_cluster g, T *p, int rank, int)
{
    return rank == cgx__block_rank(g) ? p : static_cast<T *>(cgx__cluster_map(p, rank));
}
CGX__INLINE int cgx__query_shared_rank(cgx_cluster, const void *p, int)
{
    return cgx__cluster_rank_of(p);
}

/* ---- the grid ---- */

CGX__INLINE cgx__launch_record *cgx__record(uint64_t address_and_flags)
{
    return reinterpret_cast<cgx__launch_record *>(address_and_flags & ~(uint64_t)(CGX__IS_COOPERATIVE | CGX__IS_CHILD));
}
CGX__INLINE cgx__launch_record *cgx__record(const cgx__thread *t)
{
    return cgx__record(t->record);
}
/* The first misuse of the queue's launches is kept for the host, and the thread ends. */
CGX__RARE void cgx__report_misuse(uint64_t its_record, uint64_t kernel, uint32_t misuse, int line)
{
    cgx__launch_record *record = cgx__record(its_record);
#if defined(CGX__RELOCATABLE)
    if (!record) /* launched by a kernel */
        record = cgx__image_record;
#endif
    if (record && !cgx__device_exchange(&record->claimed, 1)) {
        cgx__launch_error *e = record->error;
        e->line = line;
        e->block = cgx__gpu_block();
        e->thread = cgx__rank_in_block();
        e->kernel = kernel;
        int at = 0;
        for (const char *name = reinterpret_cast<const char *>(its_record & CGX__IS_CHILD ? kernel : 0);
             name && name[at] && at < CGX__ERROR_NAME - 1; at++)
            e->name[at] = name[at];
        e->name[at] = 0;
        cgx__fence_system();
        cgx__put(&e->misuse, misuse);
        cgx__fence_system();
    }
    cgx__gpu_exit();
}
CGX__INLINE void cgx__misuse(const cgx__thread *t, uint32_t misuse, int line)
{
    cgx__report_misuse(t->record, t->kernel, misuse, line);
    cgx__gpu_exit(); /* again: not every compiler looks where it is */
}
CGX__INLINE int cgx__grid_is_valid(cgx_grid g)
{
    return (int)(g.t->record & CGX__IS_COOPERATIVE);
}
/* One thread of a block arrives for it: the first block's brings what is missing to 2^31, so that the highest bit changes
 * when all have come and the rest is zero again. What was there is the token. */
CGX__INLINE void cgx__grid_enter(cgx_grid g, int line)
{
    if (!cgx__grid_is_valid(g))
        cgx__misuse(g.t, CGX__MISUSE_GRID_SYNC, line);
    cgx__gpu_sync();
}
CGX__INLINE uint32_t cgx__grid_arrive_block(cgx_grid g)
{
    const uint32_t others = (uint32_t)cgx__num_blocks(g) - 1;
    return cgx__device_add_release(&cgx__record(g.t)->arrived, cgx__block_rank(g) == 0 ? 0x80000000u - others : 1u);
}
CGX__INLINE cgx_token cgx__barrier_arrive(cgx_grid g, int line)
{
    cgx_token token = { 0 };
    cgx__grid_enter(g, line);
    if (cgx__rank_in_block() == 0)
        token.phase = cgx__grid_arrive_block(g);
    return token;
}
CGX__INLINE void cgx__barrier_wait(cgx_grid g, cgx_token token, int)
{
    if (cgx__rank_in_block() == 0)
        cgx__await_flip(&cgx__record(g.t)->arrived, token.phase);
    cgx__gpu_sync();
}
CGX__INLINE void cgx__sync(cgx_grid g, int line)
{
    cgx__grid_enter(g, line);
    if (cgx__rank_in_block() == 0)
        cgx__await_flip(&cgx__record(g.t)->arrived, cgx__grid_arrive_block(g));
    cgx__gpu_sync();
}

/* ---- values through shared memory ---- */

/* A word of each thread of the block. The group synchronises before words are read, and after. */
CGX__INLINE uint32_t *cgx__exchange_words(void)
{
    __shared__ uint32_t words[CGX__MAX_THREADS];
    return words;
}
template <class G, class T> CGX__INLINE T cgx__wide_shuffle(const G &g, const T &v, int rank)
{
    uint32_t *words = cgx__exchange_words();
    const int me = cgx__rank_in_block(), from = cgx__block_rank_of(g, rank);
    cgx__words<T> w = cgx__to_words(v);
#pragma unroll
    for (int i = 0; i < cgx__words<T>::count; i++) {
        words[me] = w.word[i];
        cgx__wide_sync(g);
        w.word[i] = words[from];
        cgx__wide_sync(g);
    }
    T r;
    __builtin_memcpy(static_cast<void *>(&r), w.word, sizeof r);
    return r;
}
template <class G> CGX__INLINE cgx_mask cgx__wide_ballot(const G &g, int predicate)
{
    uint32_t *words = cgx__exchange_words();
    cgx_mask yes = 0;
    words[cgx__rank_in_block()] = (uint32_t)predicate;
    cgx__wide_sync(g);
    for (int i = 0; i < g.size && i < CGX__MASK; i++)
        yes |= (cgx_mask)words[cgx__block_rank_of(g, i)] << i;
    cgx__wide_sync(g);
    return yes;
}
/* The ranks whose v has the same bytes as the caller's. */
template <class G, class T> CGX__INLINE cgx_mask cgx__wide_match_any(const G &g, const T &v)
{
    uint32_t *words = cgx__exchange_words();
    const int me = cgx__rank_in_block(), size = g.size < CGX__MASK ? g.size : (int)CGX__MASK;
    const cgx__words<T> w = cgx__to_words(v);
    cgx_mask same = cgx__low_bits(size);
    for (int k = 0; k < cgx__words<T>::count; k++) {
        words[me] = w.word[k];
        cgx__wide_sync(g);
        for (int i = 0; i < size; i++)
            if (words[cgx__block_rank_of(g, i)] != w.word[k])
                same &= ~((cgx_mask)1 << i);
        cgx__wide_sync(g);
    }
    return same;
}
/* The value of one thread is everybody's. */
template <class G, class T> CGX__INLINE cgx_mask cgx__wide_match_all(const G &g, const T &v)
{
    cgx_mask same = cgx__wide_match_any(g, v), everybody = cgx__low_bits(g.size < CGX__MASK ? g.size : (int)CGX__MASK);
    return cgx__wide_shuffle(g, same == everybody, 0) ? everybody : 0;
}
/* Ranks as places. */
CGX__INLINE cgx_mask cgx__places_of(const cgx_group &g, cgx_mask ranks)
{
    if (g.kind != CGX__CROSSING)
        return ranks << (cgx__place_in_64() - g.rank);
    cgx_mask places = 0;
    for (; ranks; ranks &= ranks - 1)
        places |= (cgx_mask)1 << cgx__nth_bit(g.lanes, cgx__lowest_bit(ranks));
    return places;
}
/* Parts in the order of their lowest members, as in one wave. */
template <class G, class T> CGX__INLINE cgx_coalesced cgx__wide_split(const G &g, const T &v)
{
    const int me = cgx__rank_in_block();
    if (g.kind != CGX__CROSSING && !(me & CGX__HALF_MASK))
        *cgx__meeting_point(me) = 0; /* its owner is at no meeting now, and has its first after the barriers below */
    const cgx_mask same = cgx__wide_match_any(g, v), firsts = cgx__wide_ballot(g, cgx__lowest_bit(same) == g.rank);
    const cgx_mask places = cgx__places_of(g, same), low = places & cgx__low_bits(CGX__HALF_MASK);
    cgx_coalesced mine = { g.t, cgx__bit_count(firsts & cgx__lanes_below(cgx__lowest_bit(same))),
                           cgx__bit_count(firsts), low && low != places, places };
    if (!mine.crosses && !low)
        mine.lanes >>= CGX__HALF_MASK;
    return mine;
}

/* ---- shuffles ---- */

/* Which rank's value a member gets. */
struct cgx__source_SHFL {
    CGX__INLINE int of(int, int size, int source)
    {
        int rest = source % size;
        return rest < 0 ? rest + size : rest;
    }
};
struct cgx__source_SHFL_UP {
    CGX__INLINE int of(int rank, int, int delta)
    {
        return delta >= 0 && delta <= rank ? rank - delta : rank;
    }
};
struct cgx__source_SHFL_DOWN {
    CGX__INLINE int of(int rank, int size, int delta)
    {
        return delta >= 0 && delta < size - rank ? rank + delta : rank;
    }
};
struct cgx__source_SHFL_XOR {
    CGX__INLINE int of(int rank, int size, int mask)
    {
        int source = rank ^ mask;
        return source >= 0 && source < size ? source : rank;
    }
};
template <class SOURCE> struct cgx__in_wave_from {
    template <class G, class T> CGX__INLINE T get(const G &g, const T &v, int argument)
    {
        return cgx__wave_exchange(g, v, SOURCE::of(g.rank, g.size, argument));
    }
};
/* Sizes of tiles are powers of two. */
template <> struct cgx__in_wave_from<cgx__source_SHFL> {
    template <class G, class T> CGX__INLINE T get(const G &g, const T &v, int source)
    {
        return cgx__wave_exchange(g, v, cgx__source_SHFL::of(g.rank, g.size, source));
    }
    template <int N, class T> CGX__INLINE T get(const cgx__known<CGX__TILE, N> &g, const T &v, int source)
    {
        return cgx__shuffle_lane(cgx__lanes_of(g), v, cgx__lane_in_tile(g.size, source));
    }
};
template <class SOURCE, class G, class T> CGX__INLINE T cgx__shuffle(const G &g, T v, int argument)
{
    CGX__DISPATCH(g, cgx__in_wave_from<SOURCE>::get(g, v, argument),
                  cgx__wide_shuffle(g, v, SOURCE::of(g.rank, g.size, argument)));
}
#define CGX__SHUFFLE(g, v, operation, argument) cgx__shuffle<cgx__source_##operation>(cgx__any(g), (v), (int)(argument))

/* ---- votes, matches and partitions ---- */

enum { CGX__OP_ANY, CGX__OP_ALL };
CGX__INLINE int cgx__wave_vote(const cgx_group &g, int operation, int predicate)
{
    cgx_mask lanes = cgx__lanes_of(g), yes = cgx__wave_ballot(lanes, predicate);
    return operation == CGX__OP_ANY ? yes != 0 : yes == lanes;
}
/* Of <cgx/collective.h>, which comes later. */
struct cgx__operator_BIT_AND;
struct cgx__operator_BIT_OR;
template <class OP, class G, class T> CGX__INLINE T cgx__slots_reduce(const G &g, T v);
template <class G> CGX__INLINE int cgx__wide_vote(const G &g, int operation, int predicate)
{
    if (CGX__WAVE < CGX__MASK && g.kind == CGX__CROSSING) {
        const cgx_mask yes = cgx__wide_ballot(g, predicate);
        return operation == CGX__OP_ANY ? yes != 0 : yes == cgx__low_bits(g.size);
    }
    return (int)(operation == CGX__OP_ANY ? cgx__slots_reduce<cgx__operator_BIT_OR>(g, (uint32_t)predicate)
                                          : cgx__slots_reduce<cgx__operator_BIT_AND>(g, (uint32_t)predicate));
}
template <class G> CGX__INLINE int cgx__vote(const G &g, int operation, int predicate, int)
{
    CGX__DISPATCH(g, cgx__wave_vote(g, operation, predicate), cgx__wide_vote(g, operation, predicate));
}
template <class G> CGX__INLINE cgx_mask cgx__ballot(const G &g, int predicate, int)
{
    CGX__DISPATCH(g, cgx__ranks_of(g, cgx__wave_ballot(cgx__lanes_of(g), predicate)), cgx__wide_ballot(g, predicate));
}
template <class G, class T> CGX__INLINE cgx_mask cgx__match_any(const G &g, T v, int *)
{
    CGX__DISPATCH(g, cgx__ranks_of(g, cgx__wave_part(g, v)), cgx__wide_match_any(g, v));
}
template <class T> CGX__INLINE cgx_mask cgx__wave_match_all(const cgx_group &g, T v)
{
    cgx_mask lanes = cgx__lanes_of(g);
    return cgx__same_as_lane<T>(lanes, cgx__to_words(v), cgx__lowest_bit(lanes)) == lanes ? cgx__low_bits(g.size) : 0;
}
template <class G, class T> CGX__INLINE cgx_mask cgx__match_all_of(const G &g, T v)
{
    CGX__DISPATCH(g, cgx__wave_match_all(g, v), cgx__wide_match_all(g, v));
}
template <class G, class T> CGX__INLINE cgx_mask cgx__match_all(const G &g, T v, int *same)
{
    cgx_mask m = cgx__match_all_of(g, v);
    *same = m != 0;
    return m;
}
#define CGX__MATCH(g, v, operation, same) CGX__MATCH_##operation(g, v, same)
#define CGX__MATCH_MATCH_ANY(g, v, same) cgx__match_any(cgx__narrow(g), (v), (same))
#define CGX__MATCH_MATCH_ALL(g, v, same) cgx__match_all(cgx__narrow(g), (v), (same))

template <class G> CGX__INLINE cgx_coalesced cgx__labeled(const G &g, uint64_t label, int)
{
    CGX__DISPATCH(g, cgx__wave_split(g, label), cgx__wide_split(g, label));
}
CGX__INLINE cgx_coalesced cgx__wave_binary(const cgx_group &g, int predicate)
{
    const cgx__lanes lanes = (cgx__lanes)cgx__lanes_of(g), yes = (cgx__lanes)cgx__wave_ballot(lanes, predicate);
    const cgx__lanes no = lanes & ~yes;
    const int both = yes && no;
    return { g.t, both ? predicate : 0, 1 + both, 0, predicate ? yes : no };
}
template <class G> CGX__INLINE cgx_coalesced cgx__wide_binary(const G &g, int predicate)
{
    cgx_coalesced c = cgx__wide_split(g, predicate);
    c.meta_rank = c.meta_size == 2 ? predicate : 0;
    return c;
}
template <class G> CGX__INLINE cgx_coalesced cgx__binary(const G &g, int predicate, int)
{
    CGX__DISPATCH(g, cgx__wave_binary(g, predicate), cgx__wide_binary(g, predicate));
}

} /* extern "C++" */
#endif

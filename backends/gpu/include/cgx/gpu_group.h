/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/group.h>, written once over the primitives of cuda.h and hip.h. A wave is a warp on NVIDIA; a group
 * that lies in one wave needs ballots and shuffles alone. */
#ifndef CGX_GPU_GROUP_H
#define CGX_GPU_GROUP_H
#include <cgx/group.h>

extern "C++" {

enum { CGX__MAX_THREADS = 1024, CGX__VALUE_BYTES = 32 };

/* Block, cluster and grid know all from the hardware. */
typedef struct {
    unsigned char unused;
} cgx_block;
typedef struct {
    unsigned char unused;
} cgx_cluster;
typedef struct {
    unsigned char unused;
} cgx_grid;
#define CGX__TILE_TYPE(N)         \
    typedef struct {              \
        int meta_rank, meta_size; \
    } cgx_tile_##N;
CGX_FOREACH_TILE(CGX__TILE_TYPE)
typedef struct {
    int meta_rank, meta_size, size;
} cgx_tile;
/* `lanes`: members as lanes of the wave. */
typedef struct {
    int meta_rank, meta_size;
    cgx_mask lanes;
} cgx_coalesced;
typedef struct {
    uint32_t phase;
} cgx_token;

/* Any group but cluster and grid. */
enum { CGX__BLOCK, CGX__TILE, CGX__COALESCED };
typedef struct {
    int kind, size, rank, meta_rank, meta_size;
    cgx_mask lanes; /* of a coalesced group */
} cgx_group;

CGX__INLINE cgx_block cgx__this_block(void)
{
    return { 0 };
}
CGX__INLINE cgx_cluster cgx__this_cluster(void)
{
    return { 0 };
}
CGX__INLINE cgx_grid cgx__this_grid(void)
{
    return { 0 };
}

CGX__INLINE cgx_coalesced cgx__coalesced_threads(void)
{
    return { 0, 1, cgx__wave_active() };
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
#define CGX__RANK_TILE(N)                          \
    CGX__INLINE int cgx__thread_rank(cgx_tile_##N) \
    {                                              \
        return cgx__rank_in_block() & (N - 1);     \
    }                                              \
    CGX__INLINE int cgx__num_threads(cgx_tile_##N) \
    {                                              \
        return N;                                  \
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
CGX__INLINE int cgx__thread_rank(cgx_coalesced g)
{
    return cgx__bit_count(g.lanes & cgx__lanes_below(cgx__wave_lane()));
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
    return { { CGX__BLOCK, cgx__num_threads(g), cgx__thread_rank(g), 0, 1, 0 } };
}
template <int N, class G> CGX__INLINE cgx__known<CGX__TILE, N> cgx__any_tile(G g)
{
    return { { CGX__TILE, cgx__num_threads(g), cgx__thread_rank(g), g.meta_rank, g.meta_size, 0 } };
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
    return { { CGX__COALESCED, cgx__num_threads(g), cgx__thread_rank(g), g.meta_rank, g.meta_size, g.lanes } };
}
/* Where a group's collectives run. What is not known here is looked up when the kernel runs. */
enum { CGX__IN_WAVE, CGX__IN_BLOCK, CGX__IN_BLOCKS, CGX__ANYWHERE };
template <class G> struct cgx__place {
    enum { value = CGX__ANYWHERE };
};
template <> struct cgx__place<cgx__known_coalesced> {
    enum { value = CGX__IN_WAVE };
};
template <> struct cgx__place<cgx__known_block> {
    enum { value = CGX__IN_BLOCK };
}; /* of one wave or more */
template <int N> struct cgx__place<cgx__known<CGX__TILE, N>> {
    enum { value = N > 0 && N <= CGX__WAVE ? CGX__IN_WAVE : CGX__ANYWHERE };
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
        return { parent.rank / N, parent.size / N };               \
    }
CGX_FOREACH_TILE(CGX__TILED)
CGX__INLINE cgx_tile cgx__tiled_n(cgx_group parent, int n, int)
{
    return { parent.rank / n, parent.size / n, n };
}

/* ---- groups in one wave: ranks and lanes ---- */

CGX__INLINE bool cgx__in_wave(const cgx_group &g)
{
    return g.kind == CGX__COALESCED || g.size <= CGX__WAVE;
}
/* Returns one of three: for a group in one wave, for a block of several, for what is wider otherwise. `if constexpr`, so that
 * code without optimisation, too, has no call of what its groups never need. */
#define CGX__DISPATCH(g, in_wave, in_block, wide)                   \
    if constexpr ((int)cgx__place<G>::value == CGX__IN_WAVE)        \
        return in_wave;                                             \
    else if constexpr ((int)cgx__place<G>::value == CGX__IN_BLOCK)  \
        return cgx__in_wave(g) ? in_wave : in_block;                \
    else if constexpr ((int)cgx__place<G>::value == CGX__IN_BLOCKS) \
        return wide;                                                \
    else                                                            \
        return cgx__in_wave(g) ? in_wave : (g).kind == CGX__BLOCK ? in_block : wide
/* Bits 0 to n - 1, n from 1 to 64. */
CGX__INLINE cgx_mask cgx__low_bits(int n)
{
    return ~(cgx_mask)0 >> (64 - n);
}
CGX__INLINE cgx_mask cgx__lanes_of(const cgx_group &g)
{
    return g.kind == CGX__COALESCED ? g.lanes : cgx__low_bits(g.size) << (cgx__wave_lane() - g.rank);
}
/* The lane of the member with this rank. */
CGX__INLINE int cgx__lane_of(const cgx_group &g, int rank)
{
    if (g.kind != CGX__COALESCED)
        return cgx__wave_lane() - g.rank + rank;
    int lane = 0;
    for (int half = 32; half; half /= 2) {
        int below = cgx__bit_count(g.lanes >> lane & cgx__low_bits(half));
        if (rank >= below)
            rank -= below, lane += half;
    }
    return lane;
}
/* A mask of lanes as one of ranks. */
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
/* The v of a rank, which each member chooses. */
template <class T> CGX__INLINE T cgx__wave_exchange(const cgx_group &g, const T &v, int rank)
{
    cgx__words<T> w = cgx__words_of_lane<T>(cgx__lanes_of(g), cgx__to_words(v), cgx__lane_of(g, rank));
    T r;
    __builtin_memcpy(static_cast<void *>(&r), w.word, sizeof r);
    return r;
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
/* Splits a group by the bytes of v, as often as there are different ones: parts in the order of their lowest members. */
template <class T> CGX__INLINE cgx_coalesced cgx__wave_split(const cgx_group &g, const T &v)
{
    const cgx__words<T> w = cgx__to_words(v);
    const cgx_mask lanes = cgx__lanes_of(g), me = (cgx_mask)1 << cgx__wave_lane();
    cgx_coalesced mine = { 0, 0, 0 };
    for (cgx_mask left = lanes; left; mine.meta_size++) {
        cgx_mask part = cgx__same_as_lane<T>(lanes, w, cgx__lowest_bit(left));
        if (part & me)
            mine.lanes = part, mine.meta_rank = mine.meta_size;
        left &= ~part;
    }
    return mine;
}

/* The threads of the block that are in the caller's wave. */
CGX__INLINE cgx_group cgx__wave_of_block(const cgx_group &block)
{
    int rank = block.rank % CGX__WAVE, left = block.size - (block.rank - rank);
    return { CGX__TILE, left < CGX__WAVE ? left : (int)CGX__WAVE, rank, 0, 1, 0 };
}

/* ---- declared here, defined by the CUDA and HIP backends: what needs more than one wave, or the launch ---- */

CGX__DECLARED void cgx__wide_sync(cgx_group g); /* of a tile above the wave */
CGX__DECLARED void cgx__sync(cgx_cluster g, int line);
CGX__DECLARED void cgx__sync(cgx_grid g, int line);
CGX__DECLARED cgx_token cgx__barrier_arrive(cgx_block g, int line);
CGX__DECLARED cgx_token cgx__barrier_arrive(cgx_cluster g, int line);
CGX__DECLARED cgx_token cgx__barrier_arrive(cgx_grid g, int line);
CGX__DECLARED void cgx__barrier_wait(cgx_block g, cgx_token token, int line);
CGX__DECLARED void cgx__barrier_wait(cgx_cluster g, cgx_token token, int line);
CGX__DECLARED void cgx__barrier_wait(cgx_grid g, cgx_token token, int line);
CGX__DECLARED int cgx__grid_is_valid(cgx_grid g);
template <class T> CGX__DECLARED T *cgx__map_shared_rank(cgx_cluster g, T *p, int rank, int line);
CGX__DECLARED int cgx__query_shared_rank(cgx_cluster g, const void *p, int line);
/* G is a cgx_group or a cgx__known one, which says the size of a tile. */
template <class G> CGX__DECLARED int cgx__wide_vote(G g, int operation, int predicate);
template <class G> CGX__DECLARED cgx_mask cgx__wide_ballot(G g, int predicate);
template <class G, class T> CGX__DECLARED T cgx__wide_shuffle(G g, T v, int rank);
template <class G, class T> CGX__DECLARED cgx_mask cgx__wide_match_any(G g, T v);
template <class G, class T> CGX__DECLARED cgx_mask cgx__wide_match_all(G g, T v); /* 0 where values differ */
template <class G, class T> CGX__DECLARED cgx_coalesced cgx__wide_split(G g, T v);

/* ---- synchronisation ---- */

CGX__INLINE void cgx__sync(cgx_block, int)
{
    cgx__gpu_sync();
}
CGX__INLINE void cgx__sync(cgx_coalesced g, int)
{
    cgx__wave_sync(g.lanes);
}
template <int N> CGX__INLINE void cgx__sync_tile(const cgx_group &g)
{
    if constexpr (N > CGX__WAVE)
        cgx__wide_sync(g);
    else if constexpr (N > 1)
        cgx__wave_sync(cgx__lanes_of(g));
}
#define CGX__SYNC_TILE(N)                           \
    CGX__INLINE void cgx__sync(cgx_tile_##N g, int) \
    {                                               \
        cgx__sync_tile<N>(cgx__any(g));             \
    }
CGX_FOREACH_TILE(CGX__SYNC_TILE)
CGX__INLINE void cgx__sync(cgx_group g, int)
{
    if (g.kind == CGX__BLOCK)
        cgx__gpu_sync();
    else if (cgx__in_wave(g))
        cgx__wave_sync(cgx__lanes_of(g));
    else
        cgx__wide_sync(g);
}
CGX__INLINE void cgx__sync(cgx_tile g, int line)
{
    cgx__sync((cgx_group)cgx__any(g), line);
}

/* ---- shuffles ---- */

/* Which rank's value a member gets. */
struct cgx__source_SHFL {
    CGX__INLINE int of(int, int size, int source)
    {
        return (int)((unsigned)source % (unsigned)size);
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
template <class SOURCE, class G, class T> CGX__INLINE T cgx__shuffle(const G &g, T v, int argument)
{
    int source = SOURCE::of(g.rank, g.size, argument);
    CGX__DISPATCH(g, cgx__wave_exchange(g, v, source), cgx__wide_shuffle(g, v, source),
                  cgx__wide_shuffle(g, v, source));
}
#define CGX__SHUFFLE(g, v, operation, argument) cgx__shuffle<cgx__source_##operation>(cgx__any(g), (v), (int)(argument))

/* ---- votes, matches and partitions ---- */

enum { CGX__OP_ANY, CGX__OP_ALL };
CGX__INLINE int cgx__wave_vote(const cgx_group &g, int operation, int predicate)
{
    cgx_mask lanes = cgx__lanes_of(g), yes = cgx__wave_ballot(lanes, predicate);
    return operation == CGX__OP_ANY ? yes != 0 : yes == lanes;
}
/* Each wave leaves its vote, and every thread counts them. */
CGX__INLINE int cgx__block_vote(const cgx_group &g, int operation, int predicate)
{
    __shared__ int votes[CGX__MAX_THREADS / CGX__WAVE];
    const cgx_group wave = cgx__wave_of_block(g);
    int yes = cgx__wave_vote(wave, operation, predicate);
    if (wave.rank == 0)
        votes[g.rank / CGX__WAVE] = yes;
    cgx__gpu_sync();
    for (int i = 0; i * CGX__WAVE < g.size; i++)
        yes = operation == CGX__OP_ANY ? yes | votes[i] : yes & votes[i];
    cgx__gpu_sync(); /* before the next vote */
    return yes;
}
template <class G> CGX__INLINE int cgx__vote(const G &g, int operation, int predicate, int)
{
    CGX__DISPATCH(g, cgx__wave_vote(g, operation, predicate), cgx__block_vote(g, operation, predicate),
                  cgx__wide_vote(g, operation, predicate));
}
template <class G> CGX__INLINE cgx_mask cgx__ballot(const G &g, int predicate, int)
{
    CGX__DISPATCH(g, cgx__ranks_of(g, cgx__wave_ballot(cgx__lanes_of(g), predicate)), cgx__wide_ballot(g, predicate),
                  cgx__wide_ballot(g, predicate));
}
template <class G, class T> CGX__INLINE cgx_mask cgx__match_any(const G &g, T v, int *)
{
    CGX__DISPATCH(g, cgx__ranks_of(g, cgx__wave_split(g, v).lanes), cgx__wide_match_any(g, v),
                  cgx__wide_match_any(g, v));
}
template <class T> CGX__INLINE cgx_mask cgx__wave_match_all(const cgx_group &g, T v)
{
    cgx_mask lanes = cgx__lanes_of(g);
    return cgx__same_as_lane<T>(lanes, cgx__to_words(v), cgx__lowest_bit(lanes)) == lanes ? cgx__low_bits(g.size) : 0;
}
template <class G, class T> CGX__INLINE cgx_mask cgx__match_all_of(const G &g, T v)
{
    CGX__DISPATCH(g, cgx__wave_match_all(g, v), cgx__wide_match_all(g, v), cgx__wide_match_all(g, v));
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
    CGX__DISPATCH(g, cgx__wave_split(g, label), cgx__wide_split(g, label), cgx__wide_split(g, label));
}
template <class G> CGX__INLINE cgx_coalesced cgx__binary(const G &g, int predicate, int line)
{
    cgx_coalesced c = cgx__labeled(g, (uint64_t)predicate, line);
    c.meta_rank = c.meta_size == 2 ? predicate : 0;
    return c;
}

} /* extern "C++" */
#endif

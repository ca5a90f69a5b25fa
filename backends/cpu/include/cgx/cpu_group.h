/* SPDX-License-Identifier: MIT */
/* CPU pass of <cgx/group.h>. */
#ifndef CGX_CPU_GROUP_H
#define CGX_CPU_GROUP_H
#include <cgx/group.h>

/* Every group carries its thread and the level of the entry it is used in (see cgx__cpu_suspend). */
/* With tags: they stand in compilers' messages. */
typedef struct cgx_block {
    cgx_cpu_thread *t;
    int level;
} cgx_block;
typedef struct cgx_grid {
    cgx_cpu_thread *t;
    int level;
} cgx_grid;
#define CGX__TILE_TYPE(N)                \
    typedef struct cgx_tile_##N {        \
        cgx_cpu_thread *t;               \
        int level, meta_rank, meta_size; \
    } cgx_tile_##N;
CGX__FOREACH_TILE(CGX__TILE_TYPE)
typedef struct cgx_tile {
    cgx_cpu_thread *t;
    int level, meta_rank, meta_size, size;
} cgx_tile;
/* `lanes`: members, by their place in the block. */
typedef struct cgx_coalesced {
    cgx_cpu_thread *t;
    int level, meta_rank, meta_size;
    cgx_mask lanes;
} cgx_coalesced;
typedef struct cgx_cluster {
    cgx_cpu_thread *t;
    int level;
} cgx_cluster;
typedef struct {
    unsigned phase;
} cgx_token;

enum { CGX__BLOCK, CGX__TILE, CGX__COALESCED, CGX__CLUSTER, CGX__GRID };
typedef struct {
    cgx_cpu_thread *t;
    int level, meta_rank, meta_size, kind, size, rank;
    cgx_mask lanes; /* of a coalesced group */
} cgx_group;

/* What a collective is to do, and on what. */
typedef struct {
    int operation, type, code;
    size_t bytes;
    void (*apply)(void *result, const void *left, const void *right); /* user operators */
    void *target;                                                     /* of an update or a store */
    int scope;
} cgx_cpu_collective;

CGX__EXTERN_C_BEGIN
/* The last arriver computes every member's result, from block->in to block->out. */
CGX_API void cgx__cpu_complete(const cgx_group *g, const cgx_cpu_collective *what);
/* A collective or sync of a coalesced group. */
CGX_API void cgx__cpu_coalesced(const cgx_group *g, const cgx_cpu_collective *what, int line);
/* A collective of a cluster or of the grid: over its blocks' results. */
CGX_API void cgx__cpu_wide(const cgx_group *g, const cgx_cpu_collective *what, int line);
/* Lanes of the warp that are at this call site together. */
CGX_API cgx_mask cgx__cpu_coalesce(cgx_cpu_thread *t, int line);
/* The address in block RANK of the cluster that corresponds to one in the caller's shared memory, and back. */
CGX_API void *cgx__cpu_map_shared(cgx_cpu_thread *t, const void *address, int rank, int line);
CGX_API int cgx__cpu_shared_rank(cgx_cpu_thread *t, const void *address, int line);
/* How many of the SIZE threads from BASE on still run. */
CGX_API int cgx__cpu_running(const cgx_cpu_block *b, int base, int size);
/* All threads of this worker have arrived at the grid barrier. */
CGX_API void cgx__cpu_grid_arrived(cgx_cpu_worker *w);
/* Lets the other threads run: for a thread that polls. */
CGX_API void cgx__cpu_yield(cgx_cpu_thread *t, int line);
/* Records misuse of the calling thread and ends the launch. Does not return. */
CGX_API void cgx__cpu_misuse(cgx_cpu_thread *t, int line, const char *text) __attribute__((noreturn));
/* The same of the thread with this rank: a thread whose address nobody takes stays in registers. */
CGX_API void cgx__cpu_misuse_of(cgx_cpu_block *b, int rank, int line, const char *text) __attribute__((noreturn));
/* A collective of all groups of SIZE threads among COUNT threads from FIRST on, whose values and arguments lie in block->in
 * and block->argument: the step of a compiled entry (cpu_compiled.h). */
CGX_API void cgx__cpu_complete_groups(cgx_cpu_block *b, int packed, int first, int count, int size, int kind,
                                      int operation, int type, int code, size_t bytes,
                                      void (*apply)(void *, const void *, const void *), void *target, int scope,
                                      cgx_mask members);
/* The same, as a step: all threads of the block have come to a sync of the cluster or of the grid (KIND), at line CODE. */
CGX_API void cgx__cpu_wide_sync(cgx_cpu_block *b, int packed, int first, int count, int size, int kind, int operation,
                                int type, int code, size_t bytes, void (*apply)(void *, const void *, const void *),
                                void *target, int scope, cgx_mask members);
/* What the lanes of a block, each on its own way through a compiled entry, are to do next (backends/cpu/lanes.c). `state` is a
 * number a lane: a region it is to run plus CGX__LANE_READY, the boundary it waits at, or CGX__LANE_ENDED; size and members are those of
 * the groups they wait in; `group` has 4 numbers, all -1 at first. Returns a region to run with all lanes that are ready for it; or the number
 * of regions plus a boundary, whose step is to be run for group[1] lanes from group[0] on; or -1 when all have ended. */
typedef struct {
    int kind, step, operation, line; /* step: equal numbers for steps that are one; -1 for none */
    int size;                        /* of the group; 0 where lanes differ in it, or may */
} cgx__boundary;
/* Kinds of waits beyond those of groups: until others have run, on an mbarrier, and for the lanes of the warp that come to the same
 * place. */
enum { CGX__POLL = CGX__GRID + 1, CGX__AT_MBARRIER, CGX__COALESCING };
enum { CGX__LANE_READY = 0x10000, CGX__LANE_ENDED = -1 };
CGX_API void cgx__cpu_lanes_start(cgx_cpu_block *b, int *state);
/* The first lanes from FROM on whose state is WHICH: the number of the first, and above it, by 32 bits, that of the first behind them that is in
 * another state. COUNT lanes in all; COUNT if there are none. */
CGX_API uint64_t cgx__cpu_lanes_run(const int *state, int from, int count, int which);
CGX_API int cgx__cpu_lanes_next(cgx_cpu_block *b, int *state, const int *size, const cgx_mask *members,
                                const cgx__boundary *boundaries, int count, int *group);
/* The same for units of CGX__UNIT lanes, the last of which may have fewer: `units` has their states. 0 stands for the units whose bits
 * are set in group[3], each of which is to run the region it is ready for. `state` and `size` are room for those of lanes. */
enum { CGX__UNIT = 32 };
CGX_API void cgx__cpu_units_start(cgx_cpu_block *b, int *units);
CGX_API int cgx__cpu_units_next(cgx_cpu_block *b, int *units, int *state, int *size, const cgx__boundary *boundaries,
                                int count, int *group);
CGX__EXTERN_C_END

#ifdef CGX__CPU_PASS
#define cgx__cpu_misuse(thread, line, text) cgx__cpu_misuse_of((thread)->block, (thread)->rank, (line), (text))
#include <cgx/cpu_compiled.h>
#endif

/* Compound literals are C, braces after a type C++: plain functions are both. */
CGX__INLINE cgx_block cgx__make_block(cgx_cpu_thread *t, int level)
{
    CGX__NEEDS_BLOCK(t, level);
    cgx_block g = { t, level };
    return g;
}
CGX__INLINE cgx_grid cgx__make_grid(cgx_cpu_thread *t, int level)
{
    cgx_grid g = { t, level };
    return g;
}
CGX__INLINE cgx_cluster cgx__make_cluster(cgx_cpu_thread *t, int level)
{
    CGX__NEEDS_BLOCK(t, level);
    cgx_cluster g = { t, level };
    return g;
}
CGX__INLINE cgx_coalesced cgx__make_coalesced(cgx_cpu_thread *t, int level, int line)
{
    CGX__NEEDS_BLOCK(t, level);
    cgx_coalesced g = { t, level, 0, 1, 0 };
    CGX__WHERE_COMPILED(level, g.lanes = cgx__compiled_coalesce(t, line); return g)
    g.lanes = cgx__cpu_coalesce(t, line);
    return g;
}
#define cgx__this_block() cgx__make_block(cgx__t, cgx__level)
#define cgx__this_cluster() cgx__make_cluster(cgx__t, cgx__level)
#define cgx__coalesced_threads() cgx__make_coalesced(cgx__t, cgx__level, __LINE__)
#define cgx__this_grid() cgx__make_grid(cgx__t, cgx__level)

/* ---- erasing a group's type: the one place that dispatches on it ---- */

CGX__INLINE cgx_group cgx__make_group(cgx_cpu_thread *t, int level, int kind, int size, int rank, int meta_rank,
                                      int meta_size, cgx_mask lanes)
{
    cgx_group g = { t, level, meta_rank, meta_size, kind, size, rank, lanes };
    return g;
}
CGX__INLINE cgx_group cgx__any_block(cgx_block g)
{
    return cgx__make_group(g.t, g.level, CGX__BLOCK, g.t->shape->threads, g.t->rank, 0, 1, 0);
}
CGX__INLINE int cgx__cluster_threads(cgx_cluster g)
{
    return g.t->block->cluster_blocks * g.t->shape->threads;
}
CGX__INLINE int cgx__cluster_rank(cgx_cluster g)
{
    return g.t->block->cluster_rank * g.t->shape->threads + g.t->rank;
}
CGX__INLINE cgx_group cgx__any_cluster(cgx_cluster g)
{
    return cgx__make_group(g.t, g.level, CGX__CLUSTER, cgx__cluster_threads(g), cgx__cluster_rank(g), 0, 1, 0);
}
CGX__INLINE cgx_group cgx__any_grid(cgx_grid g)
{
    return cgx__make_group(g.t, g.level, CGX__GRID, 0, 0, 0, 1, 0);
}
#define CGX__ANY_TILE(N)                                                                                      \
    CGX__INLINE cgx_group cgx__any_##N(cgx_tile_##N g)                                                        \
    {                                                                                                         \
        return cgx__make_group(g.t, g.level, CGX__TILE, N, g.t->rank & (N - 1), g.meta_rank, g.meta_size, 0); \
    }
CGX__FOREACH_TILE(CGX__ANY_TILE)
CGX__INLINE cgx_group cgx__any_tile(cgx_tile g)
{
    return cgx__make_group(g.t, g.level, CGX__TILE, g.size, g.t->rank & (g.size - 1), g.meta_rank, g.meta_size, 0);
}
/* Place among the threads that one mask tells apart. Not the lane: a tile of 64 can be split where a warp has 32. */
CGX__INLINE int cgx__place(const cgx_cpu_thread *t)
{
    return t->rank & 63;
}
CGX__INLINE cgx_group cgx__any_coalesced(cgx_coalesced g)
{
    cgx_mask below = g.lanes & (((cgx_mask)1 << cgx__place(g.t)) - 1);
    return cgx__make_group(g.t, g.level, CGX__COALESCED, __builtin_popcountll(g.lanes), __builtin_popcountll(below),
                           g.meta_rank, g.meta_size, g.lanes);
}
CGX__INLINE cgx_group cgx__any_group(cgx_group g)
{
    return g;
}

CGX__INLINE int cgx__rank_block(cgx_block g)
{
    return g.t->rank;
}
CGX__INLINE int cgx__count_block(cgx_block g)
{
    return g.t->shape->threads;
}
CGX__INLINE int64_t cgx__rank_grid(cgx_grid g)
{
    return g.t->grid_rank;
}
CGX__INLINE int64_t cgx__count_grid(cgx_grid g)
{
    return g.t->shape->blocks * g.t->shape->threads;
}
CGX__INLINE int cgx__rank_cluster(cgx_cluster g)
{
    return cgx__cluster_rank(g);
}
CGX__INLINE int cgx__count_cluster(cgx_cluster g)
{
    return cgx__cluster_threads(g);
}
CGX__INLINE int cgx__rank_tile(cgx_tile g)
{
    return g.t->rank & (g.size - 1);
}
CGX__INLINE int cgx__count_tile(cgx_tile g)
{
    return g.size;
}
CGX__INLINE int cgx__rank_coalesced(cgx_coalesced g)
{
    return cgx__any_coalesced(g).rank;
}
CGX__INLINE int cgx__count_coalesced(cgx_coalesced g)
{
    return __builtin_popcountll(g.lanes);
}
CGX__INLINE int cgx__rank_group(cgx_group g)
{
    return g.rank;
}
CGX__INLINE int cgx__count_group(cgx_group g)
{
    return g.size;
}
#define CGX__RANK_TILE(N)                          \
    CGX__INLINE int cgx__rank_##N(cgx_tile_##N g)  \
    {                                              \
        return g.t->rank & (N - 1);                \
    }                                              \
    CGX__INLINE int cgx__count_##N(cgx_tile_##N g) \
    {                                              \
        return (void)g, N;                         \
    }
CGX__FOREACH_TILE(CGX__RANK_TILE)

#ifdef __cplusplus
extern "C++" { /* overloads and templates, in a program that includes this inside extern "C" too */
#define CGX__OVERLOAD_GROUP(type, f)               \
    CGX__INLINE cgx_group cgx__any(type g)         \
    {                                              \
        return cgx__any_##f(g);                    \
    }                                              \
    CGX__INLINE cgx_group cgx__any_or_grid(type g) \
    {                                              \
        return cgx__any_##f(g);                    \
    }                                              \
    CGX__INLINE int cgx__thread_rank(type g)       \
    {                                              \
        return cgx__rank_##f(g);                   \
    }                                              \
    CGX__INLINE int cgx__num_threads(type g)       \
    {                                              \
        return cgx__count_##f(g);                  \
    }
#define CGX__OVERLOAD_TILE(N) CGX__OVERLOAD_GROUP(cgx_tile_##N, N)
CGX__FOREACH_TILE(CGX__OVERLOAD_TILE)
CGX__OVERLOAD_GROUP(cgx_block, block)
CGX__OVERLOAD_GROUP(cgx_tile, tile)
CGX__OVERLOAD_GROUP(cgx_coalesced, coalesced)
CGX__OVERLOAD_GROUP(cgx_group, group)
CGX__INLINE cgx_group cgx__any_or_grid(cgx_grid g)
{
    return cgx__any_grid(g);
}
CGX__INLINE cgx_group cgx__any_or_grid(cgx_cluster g)
{
    return cgx__any_cluster(g);
}
CGX__INLINE int cgx__thread_rank(cgx_cluster g)
{
    return cgx__rank_cluster(g);
}
CGX__INLINE int cgx__num_threads(cgx_cluster g)
{
    return cgx__count_cluster(g);
}
CGX__INLINE int64_t cgx__thread_rank(cgx_grid g)
{
    return cgx__rank_grid(g);
}
CGX__INLINE int64_t cgx__num_threads(cgx_grid g)
{
    return cgx__count_grid(g);
}
template <class G> CGX__INLINE G cgx__narrow_check(G g)
{
    return g;
}
#define CGX__TOO_WIDE(N) cgx_group cgx__narrow_check(cgx_tile_##N) = delete;
CGX__FOREACH_WIDE_TILE(CGX__TOO_WIDE)
#define cgx__narrow(g) cgx__any(cgx__narrow_check(g))
}
#else
#define CGX__ANY_CASE(N) cgx_tile_##N : cgx__any_##N,
#define cgx__any(g)                                          \
    _Generic((g), CGX__FOREACH_TILE(CGX__ANY_CASE) cgx_block \
             : cgx__any_block, cgx_tile                      \
             : cgx__any_tile, cgx_coalesced                  \
             : cgx__any_coalesced, cgx_group                 \
             : cgx__any_group)(g)
#define cgx__any_or_grid(g)                                  \
    _Generic((g), CGX__FOREACH_TILE(CGX__ANY_CASE) cgx_block \
             : cgx__any_block, cgx_tile                      \
             : cgx__any_tile, cgx_coalesced                  \
             : cgx__any_coalesced, cgx_group                 \
             : cgx__any_group, cgx_cluster                   \
             : cgx__any_cluster, cgx_grid                    \
             : cgx__any_grid)(g)
/* A group without a row here has no ballot: it can be wider than a mask. */
#define cgx__narrow(g)                                              \
    _Generic((g), CGX__FOREACH_NARROW_TILE(CGX__ANY_CASE) cgx_block \
             : cgx__any_block, cgx_tile                             \
             : cgx__any_tile, cgx_coalesced                         \
             : cgx__any_coalesced, cgx_group                        \
             : cgx__any_group)(g)
#define CGX__RANK_CASE(N) cgx_tile_##N : cgx__rank_##N,
#define CGX__COUNT_CASE(N) cgx_tile_##N : cgx__count_##N,
#define cgx__thread_rank(g)                                   \
    _Generic((g), CGX__FOREACH_TILE(CGX__RANK_CASE) cgx_block \
             : cgx__rank_block, cgx_tile                      \
             : cgx__rank_tile, cgx_coalesced                  \
             : cgx__rank_coalesced, cgx_group                 \
             : cgx__rank_group, cgx_cluster                   \
             : cgx__rank_cluster, cgx_grid                    \
             : cgx__rank_grid)(g)
#define cgx__num_threads(g)                                    \
    _Generic((g), CGX__FOREACH_TILE(CGX__COUNT_CASE) cgx_block \
             : cgx__count_block, cgx_tile                      \
             : cgx__count_tile, cgx_coalesced                  \
             : cgx__count_coalesced, cgx_group                 \
             : cgx__count_group, cgx_cluster                   \
             : cgx__count_cluster, cgx_grid                    \
             : cgx__count_grid)(g)
#endif

CGX__INLINE int cgx__meta_size(cgx_group g)
{
    return g.meta_size;
}
CGX__INLINE int cgx__meta_rank(cgx_group g)
{
    return g.meta_rank;
}
CGX__INLINE cgx_dim3 cgx__thread_index(cgx_block b)
{
    return b.t->index;
}
CGX__INLINE cgx_dim3 cgx__group_index(cgx_block b)
{
    return b.t->shape->block_index;
}
CGX__INLINE cgx_dim3 cgx__dims_block(cgx_block b)
{
    return b.t->shape->block;
}
CGX__INLINE cgx_dim3 cgx__dims_cluster(cgx_cluster g)
{
    const cgx_cpu_shape *s = g.t->shape;
    return cgx_dim(s->cluster.x * s->block.x, s->cluster.y * s->block.y, s->cluster.z * s->block.z);
}
/* What the cluster and the grid have in common: X(question, type of the answer, of the cluster, of the grid). */
#define CGX__FOREACH_BLOCKS_QUESTION(X)                                                                           \
    X(dim_blocks, cgx_dim3, cgx_dim3, s->cluster, s->grid)                                                        \
    X(block_index, cgx_dim3, cgx_dim3,                                                                            \
      cgx_dim(s->block_index.x % s->cluster.x, s->block_index.y % s->cluster.y, s->block_index.z % s->cluster.z), \
      s->block_index)                                                                                             \
    X(block_rank, int, int64_t, g.t->block->cluster_rank, s->block_rank)                                          \
    X(num_blocks, int, int64_t, g.t->block->cluster_blocks, s->blocks)
#define CGX__BLOCKS_QUESTION(name, T1, T2, of_cluster, of_grid) \
    CGX__INLINE T1 cgx__##name##_cluster(cgx_cluster g)         \
    {                                                           \
        const cgx_cpu_shape *s = g.t->shape;                    \
        return (void)s, of_cluster;                             \
    }                                                           \
    CGX__INLINE T2 cgx__##name##_grid(cgx_grid g)               \
    {                                                           \
        const cgx_cpu_shape *s = g.t->shape;                    \
        return (void)s, of_grid;                                \
    }
CGX__FOREACH_BLOCKS_QUESTION(CGX__BLOCKS_QUESTION)
#ifdef __cplusplus
extern "C++" {
#define CGX__BLOCKS_OVERLOAD(name, T1, T2, of_cluster, of_grid) \
    CGX__INLINE T1 cgx__##name(cgx_cluster g)                   \
    {                                                           \
        return cgx__##name##_cluster(g);                        \
    }                                                           \
    CGX__INLINE T2 cgx__##name(cgx_grid g)                      \
    {                                                           \
        return cgx__##name##_grid(g);                           \
    }
CGX__FOREACH_BLOCKS_QUESTION(CGX__BLOCKS_OVERLOAD)
CGX__INLINE cgx_dim3 cgx__dim_threads(cgx_block g)
{
    return cgx__dims_block(g);
}
CGX__INLINE cgx_dim3 cgx__dim_threads(cgx_cluster g)
{
    return cgx__dims_cluster(g);
}
template <class T> CGX__INLINE T *cgx__map_shared_rank(cgx_cluster g, T *p, int rank, int line)
{
    return static_cast<T *>(cgx__cpu_map_shared(g.t, (const void *)p, rank, line));
}
}
#else
#define CGX__OF_BLOCKS(name, g) _Generic((g), cgx_cluster : cgx__##name##_cluster, cgx_grid : cgx__##name##_grid)(g)
#define cgx__dim_blocks(g) CGX__OF_BLOCKS(dim_blocks, g)
#define cgx__block_index(g) CGX__OF_BLOCKS(block_index, g)
#define cgx__block_rank(g) CGX__OF_BLOCKS(block_rank, g)
#define cgx__num_blocks(g) CGX__OF_BLOCKS(num_blocks, g)
#define cgx__dim_threads(g) _Generic((g), cgx_block : cgx__dims_block, cgx_cluster : cgx__dims_cluster)(g)
#define cgx__map_shared_rank(g, p, rank, line) ((__typeof__(p))cgx__cpu_map_shared((g).t, (p), (rank), (line)))
#endif
#define cgx__query_shared_rank(g, p, line) cgx__cpu_shared_rank((g).t, (p), (line))
CGX__INLINE cgx_dim3 cgx__dim_clusters(cgx_grid g)
{
    const cgx_cpu_shape *s = g.t->shape;
    return cgx_dim(s->grid.x / s->cluster.x, s->grid.y / s->cluster.y, s->grid.z / s->cluster.z);
}
CGX__INLINE cgx_dim3 cgx__cluster_index(cgx_grid g)
{
    const cgx_cpu_shape *s = g.t->shape;
    return cgx_dim(s->block_index.x / s->cluster.x, s->block_index.y / s->cluster.y, s->block_index.z / s->cluster.z);
}
CGX__INLINE int64_t cgx__num_clusters(cgx_grid g)
{
    return g.t->shape->blocks / g.t->block->cluster_blocks;
}
CGX__INLINE int64_t cgx__cluster_rank_in_grid(cgx_grid g)
{
    const cgx_dim3 n = cgx__dim_clusters(g), i = cgx__cluster_index(g);
    return ((int64_t)i.z * n.y + i.y) * n.x + i.x;
}
CGX__INLINE int cgx__grid_is_valid(cgx_grid g)
{
    return g.t->block->worker->grid.expected != 0;
}

/* ---- tiles ---- */

#define CGX__TILED(N)                                                                               \
    CGX__INLINE cgx_tile_##N cgx__tiled_##N(cgx_group p, int line)                                  \
    {                                                                                               \
        cgx_tile_##N g = { p.t, p.level, p.rank / N, p.size / N };                                  \
        if (CGX__UNLIKELY(p.size & (N - 1)))                                                        \
            cgx__cpu_misuse(p.t, line, "tiled_partition: the parent's size is no multiple of " #N); \
        if (CGX__UNLIKELY(p.kind == CGX__COALESCED))                                                \
            cgx__cpu_misuse(p.t, line, "tiled_partition takes a block or a tile");                  \
        return g;                                                                                   \
    }
CGX__FOREACH_TILE(CGX__TILED)
CGX__INLINE cgx_tile cgx__tiled_n(cgx_group p, int n, int line)
{
    if (CGX__UNLIKELY(n <= 0 || n & (n - 1) || n > CGX__MAX_THREADS || p.size & (n - 1)))
        cgx__cpu_misuse(p.t, line, "tiled_partition: the size is no power of two that divides the parent's");
    if (CGX__UNLIKELY(p.kind == CGX__COALESCED))
        cgx__cpu_misuse(p.t, line, "tiled_partition takes a block or a tile");
    cgx_tile g = { p.t, p.level, p.rank / n, p.size / n, n };
    return g;
}

CGX__INLINE cgx_cpu_barrier *cgx__cpu_tile(const cgx_group *g)
{
    cgx_cpu_barrier *tiles = g->t->block->tiles;
    return g->kind == CGX__BLOCK ? tiles : tiles + (CGX__MAX_THREADS + g->t->rank) / g->size;
}

/* ---- synchronisation ---- */

#define cgx__as_group(g) cgx__any(g)
#define cgx__sync_execution(cluster, line) cgx__sync(cgx__any_or_grid(cluster), line)
CGX__INLINE void cgx__sync(cgx_group g, int line)
{
    cgx_cpu_thread *t = g.t;
    CGX__WHERE_COMPILED(g.level, cgx__compiled_sync(g, line); return )
    if (g.kind == CGX__BLOCK) {
        cgx__cpu_wait(t, &t->block->barrier, CGX__OP_SYNC, line, g.level);
    } else if (g.kind == CGX__TILE) {
        cgx_cpu_barrier *q = cgx__cpu_tile(&g);
        if (g.size == 1) {
            if (CGX__UNLIKELY(t->block->worker->deferred))
                cgx__cpu_settle(t->block->worker);
            return;
        }
        if (!q->arrived) {
            t->block->tiled = 1;
            q->operation = CGX__OP_SYNC;
            q->expected = g.size;
            if (CGX__UNLIKELY(t->block->exited) && g.size <= t->shape->lanes)
                q->expected = cgx__cpu_running(t->block, t->rank - g.rank, g.size);
        } else if (CGX__UNLIKELY(q->operation != CGX__OP_SYNC)) {
            cgx__cpu_misuse(t, line, "sync of a tile in which other threads call another collective");
        }
        cgx__cpu_wait(t, q, CGX__OP_SYNC, line, g.level);
    } else if (g.kind == CGX__COALESCED) {
        cgx_cpu_collective what = { CGX__OP_SYNC, 0, 0, 0, NULL, NULL, 0 };
        cgx__cpu_coalesced(&g, &what, line);
    } else if (g.kind == CGX__CLUSTER) {
        cgx__cpu_wait(t, t->block->cluster, CGX__OP_SYNC, line, g.level);
    } else {
        cgx_cpu_barrier *q = &t->block->worker->grid;
        if (CGX__UNLIKELY(!q->expected))
            cgx__cpu_misuse(t, line, "grid synchronisation in a launch that is not cooperative");
        if (++q->arrived == q->expected)
            cgx__cpu_grid_arrived(t->block->worker);
        cgx__cpu_park(t, q, NULL, CGX__OP_SYNC, line, g.level);
    }
}

CGX__INLINE cgx_cpu_barrier *cgx__cpu_split_barrier(cgx_group g, int line)
{
    cgx_cpu_barrier *q = &g.t->block->worker->grid;
    if (g.kind == CGX__BLOCK)
        q = &g.t->block->barrier;
    else if (g.kind == CGX__CLUSTER)
        q = g.t->block->cluster;
    else if (CGX__UNLIKELY(g.kind != CGX__GRID))
        cgx__cpu_misuse(g.t, line, "barrier_arrive and barrier_wait take a block, a cluster or the grid");
    else if (CGX__UNLIKELY(!q->expected))
        cgx__cpu_misuse(g.t, line, "grid synchronisation in a launch that is not cooperative");
    return q;
}

CGX__INLINE cgx_token cgx__barrier_arrive(cgx_group g, int line)
{
    CGX__WHERE_COMPILED(g.level, return cgx__compiled_arrive(g, line))
    cgx_cpu_barrier *q = cgx__cpu_split_barrier(g, line);
    cgx_token token = { q->phase };
    if (CGX__UNLIKELY(g.t->arrived >> g.kind & 1))
        cgx__cpu_misuse(g.t, line, "a second barrier_arrive before the barrier_wait of the first");
    g.t->arrived |= 1 << g.kind;
    if (++q->arrived == q->expected) {
        if (g.kind == CGX__GRID)
            cgx__cpu_grid_arrived(g.t->block->worker);
        else
            cgx__cpu_release(g.t->block->worker, q);
    }
    return token;
}

CGX__INLINE void cgx__barrier_wait(cgx_group g, cgx_token token, int line)
{
    CGX__WHERE_COMPILED(g.level, cgx__compiled_wait(g, line); return )
    cgx_cpu_barrier *q = cgx__cpu_split_barrier(g, line);
    if (CGX__UNLIKELY(!(g.t->arrived >> g.kind & 1)))
        cgx__cpu_misuse(g.t, line, "a barrier_wait without barrier_arrive, or a second one with the same token");
    g.t->arrived &= ~(1 << g.kind);
    if (q->phase == token.phase)
        cgx__cpu_park(g.t, q, NULL, CGX__OP_WAIT, line, g.level);
}

/* ---- collectives ---- */

/* Gives VALUE to a collective and returns where the caller's result is, until its next collective. */
CGX__INLINE void *cgx__cpu_collect(cgx_group g, const void *value, int argument, const cgx_cpu_collective *what,
                                   int line)
{
    CGX__WHERE_COMPILED(g.level, return cgx__compiled_collect(g, value, argument, what, line))
    cgx_cpu_thread *t = g.t;
    cgx_cpu_block *b = t->block;
    memcpy(b->in + t->rank * CGX__VALUE_BYTES, value, what->bytes);
    b->argument[t->rank] = argument;
    if (g.kind == CGX__COALESCED) {
        cgx__cpu_coalesced(&g, what, line);
    } else if (g.kind == CGX__GRID || g.kind == CGX__CLUSTER) {
        cgx__cpu_wide(&g, what, line);
    } else {
        cgx_cpu_barrier *q = cgx__cpu_tile(&g);
        if (!q->arrived) {
            q->operation = what->operation;
            q->expected = g.size;
        } else if (CGX__UNLIKELY(q->operation != what->operation)) {
            cgx__cpu_misuse(t, line, "a collective of a group in which other threads call another one");
        }
        if (++q->arrived == q->expected) {
            cgx__cpu_complete(&g, what);
            cgx__cpu_release(t->block->worker, q);
        } else {
            cgx__cpu_park(t, q, NULL, what->operation, line, g.level);
        }
    }
    return b->out + t->rank * CGX__VALUE_BYTES;
}

CGX__INLINE void *cgx__cpu_exchange(cgx_group g, const void *value, size_t bytes, int operation, int argument, int line)
{
    cgx_cpu_collective what = { operation, 0, 0, bytes, NULL, NULL, 0 };
    CGX__WHERE_COMPILED(g.level, return cgx__compiled_exchange(g, value, argument, &what, line))
    return cgx__cpu_collect(g, value, argument, &what, line);
}

CGX__INLINE int cgx__vote(cgx_group g, int operation, int predicate, int line)
{
    return *(int *)cgx__cpu_exchange(g, &predicate, sizeof predicate, operation, predicate, line);
}
CGX__INLINE cgx_mask cgx__ballot(cgx_group g, int predicate, int line)
{
    if (CGX__UNLIKELY(g.size > 64))
        cgx__cpu_misuse(g.t, line, "ballot of a group of more than 64 threads");
    return *(cgx_mask *)cgx__cpu_exchange(g, &predicate, sizeof predicate, CGX__OP_BALLOT, predicate, line);
}
CGX__INLINE cgx_mask cgx__match(cgx_group g, const void *value, size_t bytes, int operation, int *same, int line)
{
    if (CGX__UNLIKELY(g.size > 64))
        cgx__cpu_misuse(g.t, line, "match of a group of more than 64 threads");
    cgx_mask m = *(cgx_mask *)cgx__cpu_exchange(g, value, bytes, operation, 0, line);
    if (same)
        *same = m != 0;
    return m;
}

/* What a partition gives each member. */
typedef struct {
    cgx_mask lanes;
    int meta_rank, meta_size;
} cgx_cpu_part;
CGX__INLINE cgx_coalesced cgx__labeled(cgx_group g, uint64_t label, int line)
{
    if (CGX__UNLIKELY(g.size > 64))
        cgx__cpu_misuse(g.t, line, "labeled_partition of a group of more than 64 threads");
    cgx_cpu_part p = *(cgx_cpu_part *)cgx__cpu_exchange(g, &label, sizeof label, CGX__OP_PARTITION, 0, line);
    cgx_coalesced c = { g.t, g.level, p.meta_rank, p.meta_size, p.lanes };
    return c;
}
CGX__INLINE cgx_coalesced cgx__binary(cgx_group g, int predicate, int line)
{
    cgx_coalesced c = cgx__labeled(g, (uint64_t)predicate, line);
    c.meta_rank = c.meta_size == 2 ? predicate : 0;
    return c;
}

#ifdef __cplusplus
extern "C++" {
template <class T> CGX__INLINE T cgx__shuffle(cgx_group g, T v, int operation, int argument, int line)
{
    static_assert(sizeof(T) <= CGX__VALUE_BYTES, "a shuffled value has at most 32 bytes");
    T r;
    memcpy(static_cast<void *>(&r), cgx__cpu_exchange(g, &v, sizeof v, operation, argument, line), sizeof r);
    return r;
}
template <class T> CGX__INLINE cgx_mask cgx__match_value(cgx_group g, T v, int operation, int *same, int line)
{
    static_assert(sizeof(T) <= CGX__VALUE_BYTES, "a matched value has at most 32 bytes");
    return cgx__match(g, &v, sizeof v, operation, same, line);
}
}
#define CGX__SHUFFLE(g, v, operation, argument) \
    cgx__shuffle(cgx__any(g), (v), CGX__OP_##operation, (int)(argument), __LINE__)
#define CGX__MATCH(g, v, operation, same) cgx__match_value(cgx__any(g), (v), CGX__OP_##operation, (same), __LINE__)
#else
/* An array as a compound literal takes scalars and structs alike. The assertion needs a struct to stand in. */
#define CGX__SMALL(v)                                                                                    \
    (sizeof(v) + 0 * sizeof(struct {                                                                     \
                     _Static_assert(sizeof(v) <= CGX__VALUE_BYTES, "cgx: a value has at most 32 bytes"); \
                     char cgx__c;                                                                        \
                 }))
#define CGX__SHUFFLE(g, v, operation, argument)                                                                      \
    (*(__typeof__(v) *)cgx__cpu_exchange(cgx__any(g), (__typeof__(v)[1]){ (v) }, CGX__SMALL(v), CGX__OP_##operation, \
                                         (int)(argument), __LINE__))
#define CGX__MATCH(g, v, operation, same) \
    cgx__match(cgx__any(g), (__typeof__(v)[1]){ (v) }, CGX__SMALL(v), CGX__OP_##operation, (same), __LINE__)
#endif
#endif

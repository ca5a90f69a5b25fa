/* SPDX-License-Identifier: MIT */
#include "updates_kernels.h"

CGX_OP_BODY(affine, compose, f, g, {
    affine r = { f.a * g.a, f.b * g.a + g.b };
    return r;
})
CGX_OP_BODY(matrix, product, m, n, {
    matrix r = { m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d, m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d };
    return r;
})

CGX_DEVICE_FN cgx_group group_of(cgx_block b, int kind, const unsigned char *labels)
{
    if (kind == GROUP_BLOCK)
        return cgx_as_group(b);
    if (kind == GROUP_COALESCED)
        return cgx_as_group(cgx_binary_partition(cgx_tiled_partition(b, 32), labels[cgx_thread_rank(b)]));
    return cgx_as_group(cgx_tiled_partition_n(b, kind));
}
/* Of the groups of the block, numbered by their first thread. */
CGX_DEVICE_FN int number_of(cgx_block b, cgx_group g)
{
    return cgx_shfl(g, cgx_thread_rank(b), 0);
}

#define ROW(T, OP, row)                                                                        \
    do {                                                                                       \
        T *c = cells + (row)*UPDATES * n + number;                                             \
        cgx_reduce_update_async(g, c + UPDATE_REDUCE * n, CGX_SCOPE_DEVICE, v, OP);            \
        cgx_reduce_store_async_atomic(g, c + UPDATE_STORE_ATOMIC * n, CGX_SCOPE_BLOCK, v, OP); \
        cgx_reduce_store_async(g, c + UPDATE_STORE * n, v, OP);                                \
        out[((row)*UPDATES + UPDATE_INCLUSIVE) * n + rank] =                                   \
            cgx_inclusive_scan_update(g, c + UPDATE_INCLUSIVE * n, CGX_SCOPE_SYSTEM, v, OP);   \
        out[((row)*UPDATES + UPDATE_EXCLUSIVE) * n + rank] =                                   \
            cgx_exclusive_scan_update(g, c + UPDATE_EXCLUSIVE * n, CGX_SCOPE_CLUSTER, v, OP);  \
        cgx_sync(g);                                                                           \
        for (int i = 0; i < UPDATES; i++)                                                      \
            seen[((row)*UPDATES + i) * n + rank] = c[i * n];                                   \
    } while (0)
#define BIT_ROWS(T)                   \
    ROW(T, CGX_BIT_AND, ROW_BIT_AND); \
    ROW(T, CGX_BIT_XOR, ROW_BIT_XOR); \
    ROW(T, CGX_BIT_OR, ROW_BIT_OR)
#define NO_BIT_ROWS(T)
#define UPDATE(s, T, BITS)                                                                                     \
    CGX_KERNEL_EXTERN(update_##s, (int, kind), (const unsigned char *, labels), (const T *, in), (T *, cells), \
                      (T *, seen), (T *, out))                                                                 \
    {                                                                                                          \
        cgx_block b = cgx_this_block();                                                                        \
        cgx_group g = group_of(b, kind, labels);                                                               \
        int n = cgx_num_threads(b), rank = cgx_thread_rank(b), number = number_of(b, g);                       \
        T v = in[rank];                                                                                        \
        ROW(T, CGX_PLUS, ROW_PLUS);                                                                            \
        ROW(T, CGX_LESS, ROW_LESS);                                                                            \
        ROW(T, CGX_GREATER, ROW_GREATER);                                                                      \
        BITS(T);                                                                                               \
    }
#define UPDATE_INTEGER(s, T) UPDATE(s, T, BIT_ROWS)
#define UPDATE_FLOAT(s, T) UPDATE(s, T, NO_BIT_ROWS)
FOREACH_UPDATE_INTEGER(UPDATE_INTEGER)
FOREACH_UPDATE_FLOAT(UPDATE_FLOAT)

#define STORE(s, T)                                                                                           \
    CGX_KERNEL_EXTERN(store_##s, (int, kind), (const unsigned char *, labels), (const T *, in), (T *, cells), \
                      (T *, seen))                                                                            \
    {                                                                                                         \
        cgx_block b = cgx_this_block();                                                                       \
        cgx_group g = group_of(b, kind, labels);                                                              \
        int n = cgx_num_threads(b), rank = cgx_thread_rank(b), number = number_of(b, g);                      \
        cgx_reduce_store_async(g, cells + number, in[rank], CGX_PLUS);                                        \
        cgx_reduce_store_async(g, cells + n + number, in[rank], CGX_LESS);                                    \
        cgx_reduce_store_async(g, cells + 2 * n + number, in[rank], CGX_GREATER);                             \
        cgx_sync(g);                                                                                          \
        for (int i = 0; i < 3; i++)                                                                           \
            seen[i * n + rank] = cells[i * n + number];                                                       \
    }
FOREACH_STORE_ONLY(STORE)

CGX_KERNEL_EXTERN(update_affine, (int, kind), (const unsigned char *, labels), (const affine *, in), (affine *, cells),
                  (affine *, seen), (affine *, out))
{
    cgx_block b = cgx_this_block();
    cgx_group g = group_of(b, kind, labels);
    int n = cgx_num_threads(b), rank = cgx_thread_rank(b);
    affine *c = cells + number_of(b, g), v = in[rank];
    cgx_reduce_update_async_op(g, c + UPDATE_REDUCE * n, CGX_SCOPE_DEVICE, v, compose);
    cgx_reduce_store_async_atomic_op(g, c + UPDATE_STORE_ATOMIC * n, CGX_SCOPE_DEVICE, v, compose);
    cgx_reduce_store_async_op(g, c + UPDATE_STORE * n, v, compose);
    out[UPDATE_INCLUSIVE * n + rank] =
        cgx_inclusive_scan_update_op(g, c + UPDATE_INCLUSIVE * n, CGX_SCOPE_DEVICE, v, compose);
    out[UPDATE_EXCLUSIVE * n + rank] =
        cgx_exclusive_scan_update_op(g, c + UPDATE_EXCLUSIVE * n, CGX_SCOPE_DEVICE, v, compose);
    cgx_sync(g);
    for (int i = 0; i < UPDATES; i++)
        seen[i * n + rank] = c[i * n];
}

CGX_KERNEL_EXTERN(store_matrix, (int, kind), (const unsigned char *, labels), (const matrix *, in), (matrix *, cells),
                  (matrix *, seen))
{
    cgx_block b = cgx_this_block();
    cgx_group g = group_of(b, kind, labels);
    matrix *c = cells + number_of(b, g);
    cgx_reduce_store_async_op(g, c, in[cgx_thread_rank(b)], product);
    cgx_sync(g);
    seen[cgx_thread_rank(b)] = *c;
}

CGX_KERNEL_EXTERN(update_together, (int, size), (const int *, wanted), (int *, words), (int *, first))
{
    cgx_block b = cgx_this_block();
    cgx_tile t = cgx_tiled_partition_n(b, size);
    int rank = (int)cgx_thread_rank(cgx_this_grid());
    first[rank] = cgx_exclusive_scan_update(t, words, CGX_SCOPE_DEVICE, wanted[rank], CGX_PLUS);
    cgx_reduce_update_async(t, words + 1, CGX_SCOPE_DEVICE, wanted[rank], CGX_PLUS);
    cgx_reduce_update_async(t, words + 2, CGX_SCOPE_DEVICE, wanted[rank], CGX_GREATER);
    cgx_reduce_update_async(t, words + 3, CGX_SCOPE_DEVICE, wanted[rank], CGX_BIT_XOR);
    if (wanted[rank] % 2) { /* and from a branch, where groups are what they are */
        cgx_coalesced c = cgx_coalesced_threads();
        cgx_reduce_update_async(c, words + 4, CGX_SCOPE_DEVICE, wanted[rank], CGX_PLUS);
    }
}

CGX_KERNEL_EXTERN(update_steps, (int *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_8 t = cgx_tiled_partition(b, 8);
    cgx_tile_1 alone = cgx_tiled_partition(b, 1);
    CGX_SHARED_ARRAY(int, words, 4);
    CGX_SHARED_ARRAY(int, own, 64);
    int rank = cgx_thread_rank(b), i = 0;
    if (rank < 4)
        words[rank] = 0;
    own[rank] = -1;
    cgx_sync(b);
    cgx_reduce_update_async(b, words, CGX_SCOPE_BLOCK, 1, CGX_PLUS);
    cgx_sync(b);
    out[i++ * 64 + rank] = words[0]; /* 0: 64 */
    for (int k = 0; k < 5; k++)
        cgx_reduce_update_async(t, words + 1, CGX_SCOPE_BLOCK, 1, CGX_PLUS);
    cgx_sync(t);                              /* a group's own are there after its own sync */
    out[i++ * 64 + rank] = words[1] >= 5 * 8; /* 1 */
    cgx_sync(b);
    out[i++ * 64 + rank] = words[1]; /* 2: 320 */
    cgx_reduce_store_async(alone, own + rank, rank, CGX_PLUS);
    cgx_sync(alone);
    out[i++ * 64 + rank] = own[rank]; /* 3: the rank */
    cgx_sync(b);
    cgx_reduce_store_async(t, own + rank / 8, 1, CGX_PLUS);
    cgx_barrier_wait(b, cgx_barrier_arrive(b)); /* a sync in two halves is one */
    out[i++ * 64 + rank] = own[rank / 8];       /* 4: 8 */
    cgx_sync(b);
    cgx_coalesced c = cgx_binary_partition(t, rank % 8 == 3); /* one of one, one of seven */
    cgx_reduce_store_async(c, own + 8 * (rank / 8) + (rank % 8 == 3), 1, CGX_PLUS);
    cgx_sync(c);
    out[i++ * 64 + rank] = own[8 * (rank / 8) + (rank % 8 == 3)]; /* 5: 7 or 1 */
    cgx_sync(b);
    cgx_reduce_update_async(b, words + 2, CGX_SCOPE_BLOCK, 1, CGX_PLUS);
    cgx_wait(b);
    out[i++ * 64 + rank] = words[2]; /* 6: 64 */
    cgx_reduce_store_async_atomic(b, words + 3, CGX_SCOPE_BLOCK, rank, CGX_GREATER);
    cgx_sync(cgx_this_cluster());
    out[i++ * 64 + rank] = words[3]; /* 7: 63 */
}

CGX_KERNEL_EXTERN_COOPERATIVE(update_then_grid, (int, rounds), (int *, words), (int *, bad))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int n = (int)cgx_num_blocks(g), me = (int)cgx_block_rank(g), wrong = 0;
    for (int i = 0; i < rounds; i++) {
        cgx_reduce_store_async(b, words + me, i + me + cgx_thread_rank(b), CGX_LESS);
        cgx_reduce_update_async(b, words + n, CGX_SCOPE_DEVICE, 1, CGX_PLUS);
        cgx_sync(g);
        for (int k = 0; k < n; k++)
            wrong += words[k] != i + k;
        wrong += words[n] != (i + 1) * (int)cgx_num_threads(g);
        cgx_sync(g);
    }
    bad[cgx_thread_rank(g)] = wrong;
}

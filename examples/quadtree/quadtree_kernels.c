/* SPDX-License-Identifier: MIT */
#include "quadtree_kernels.h"

/* Points of each quadrant. */
typedef struct {
    int of[4];
} counts;
CGX_OP_BODY(counts, add_counts, a, b, {
    for (int k = 0; k < 4; k++)
        a.of[k] += b.of[k];
    return a;
})

CGX_KERNEL_EXTERN_WITH(CGX_LAUNCHING(CGX_BLOCK_SIZE(TREE_THREADS, 1, 1)), quadtree, (node *, nodes), (int, most),
                       (int *, used), (int, me), (int, depth), (point *, from), (point *, other), (point *, result),
                       (cgx_status *, status))
{
    cgx_block b = cgx_this_block();
    const int rank = cgx_thread_rank(b);
    const node n = nodes[me];
    const counts none = { { 0, 0, 0, 0 } };

    if (n.count <= TREE_LEAF || depth == TREE_DEPTH) {
        for (int i = n.first + rank; i < n.first + n.count && from != result; i += TREE_THREADS)
            result[i] = from[i];
        return;
    }

    counts all = none, at;
    for (int i = n.first + rank; i < n.first + n.count; i += TREE_THREADS)
        all.of[quadrant_of(&n, from[i])]++;
    all = cgx_reduce_op(b, all, add_counts);
    for (int k = 0, next = n.first; k < 4; next += all.of[k++])
        at.of[k] = next;
    const counts begin = at;
    /* Each thread takes a few that follow one another, so that their order stays. */
    for (int first = n.first; first < n.first + n.count; first += TREE_THREADS * TREE_ITEMS) {
        const int start = first + rank * TREE_ITEMS, last = n.first + n.count;
        const int end = start + TREE_ITEMS < last ? start + TREE_ITEMS : last;
        counts mine = none;
        for (int i = start; i < end; i++)
            mine.of[quadrant_of(&n, from[i])]++;
        counts to = add_counts(at, cgx_exclusive_scan_op(b, mine, add_counts));
        for (int i = start; i < end; i++)
            other[to.of[quadrant_of(&n, from[i])]++] = from[i];
        at = add_counts(at, cgx_reduce_op(b, mine, add_counts));
    }
    cgx_sync(b);
    if (rank > 0)
        return;

    const int children = cgx_atomic_fetch_add(used, 4, CGX_RELAXED, CGX_SCOPE_DEVICE);
    if (children + 4 > most) {
        *status = CGX_ERROR_OUT_OF_MEMORY;
        return;
    }
    nodes[me].children = children;
    for (int k = 0; k < 4; k++) {
        node c = {
            n.x + (float)(k & 1) * n.side / 2, n.y + (float)(k >> 1) * n.side / 2, n.side / 2, begin.of[k], all.of[k], 0
        };
        nodes[children + k] = c;
        if (!c.count)
            continue;
        cgx_status failed = quadtree_dlaunch(CGX_FIRE_AND_FORGET, cgx_config_1d(1, TREE_THREADS), nodes, most, used,
                                             children + k, depth + 1, other, from, result, status);
        if (failed)
            *status = failed;
    }
}

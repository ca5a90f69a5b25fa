/* SPDX-License-Identifier: MIT */
#include "coalesced_kernels.h"

CGX_OP_BODY(matrix, product, m, n, {
    matrix r = { m.a * n.a + m.b * n.c, m.a * n.b + m.b * n.d, m.c * n.a + m.d * n.c, m.c * n.b + m.d * n.d };
    return r;
})

CGX_DEVICE_FN void ask(cgx_block b, cgx_coalesced g, const coalesced_value *v, int branch, coalesced_answers *a)
{
    int rank = cgx_thread_rank(g), n = cgx_num_threads(g);
    a->branch = branch;
    a->rank = rank, a->size = n;
    a->first = cgx_shfl(g, cgx_thread_rank(b), 0);
    a->meta_size = cgx_meta_group_size(g), a->meta_rank = cgx_meta_group_rank(g);
    a->from_next = cgx_shfl(g, v->i, (rank + 1) % n);
    a->up = cgx_shfl_up(g, v->i, 2);
    a->down = cgx_shfl_down(g, v->i, 3);
    a->any = cgx_any(g, v->i % 16 == 0);
    a->all = cgx_all(g, v->i % 8 != 0);
    a->ballot = cgx_ballot(g, v->i % 2);
    a->match = cgx_match_any(g, v->i & 3);
    a->sum = cgx_reduce(g, v->i, CGX_PLUS);
    a->scan = cgx_inclusive_scan(g, v->i, CGX_GREATER);
    a->before = cgx_exclusive_scan(g, v->i, CGX_BIT_XOR);
    a->reduced = cgx_reduce(g, v->v, CGX_PLUS);
    a->inclusive = cgx_inclusive_scan(g, v->v, CGX_PLUS);
    a->exclusive = cgx_exclusive_scan(g, v->v, CGX_PLUS);
    a->product = cgx_reduce_op(g, v->m, product);
    a->product_scan = cgx_inclusive_scan_op(g, v->m, product);
    cgx_sync(g);
    cgx_coalesced child = cgx_labeled_partition(g, (v->i & 3) - 1);
    a->child_rank = cgx_thread_rank(child), a->child_size = cgx_num_threads(child);
    a->child_meta_size = cgx_meta_group_size(child), a->child_meta_rank = cgx_meta_group_rank(child);
    a->child_reduced = cgx_reduce(child, v->v, CGX_PLUS);
    a->child_scan = cgx_inclusive_scan(child, v->v, CGX_PLUS);
    cgx_coalesced grandchild = cgx_binary_partition(child, v->i & 4);
    a->grandchild_rank = cgx_thread_rank(grandchild), a->grandchild_size = cgx_num_threads(grandchild);
    a->grandchild_meta_size = cgx_meta_group_size(grandchild),
    a->grandchild_meta_rank = cgx_meta_group_rank(grandchild);
    a->grandchild_reduced = cgx_reduce(grandchild, v->v, CGX_PLUS);
    cgx_sync(grandchild);
}

CGX_KERNEL_EXTERN(coalesced_rounds, (int, rounds), (const unsigned char *, branches), (const coalesced_value *, in),
                  (coalesced_answers *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    int64_t first = (int64_t)cgx_group_index(b).x * rounds * n + rank;
    for (int i = 0; i < rounds; i++, first += n) {
        const coalesced_value *v = in + first;
        coalesced_answers *a = out + first;
        if (branches[first] == 1) {
            cgx_coalesced g = cgx_coalesced_threads();
            ask(b, g, v, 1, a);
        } else if (branches[first] == 2) {
            cgx_coalesced g = cgx_coalesced_threads();
            ask(b, g, v, 2, a);
        } else if (branches[first] == 3) {
            cgx_coalesced g = cgx_coalesced_threads();
            ask(b, g, v, 3, a);
            if (v->i & 8) {
                cgx_coalesced inner = cgx_coalesced_threads();
                a->inner_size = cgx_num_threads(inner), a->inner_rank = cgx_thread_rank(inner);
                a->inner_sum = cgx_reduce(inner, v->i, CGX_PLUS);
            }
        }
        cgx_sync(b);
    }
}

CGX_KERNEL_EXTERN(coalesced_loops, (const int *, trips), (int *, out))
{
    int rank = (int)cgx_thread_rank(cgx_this_grid()), sum = 0;
    for (int i = 0; i < trips[rank]; i++) {
        cgx_coalesced g = cgx_coalesced_threads();
        sum += cgx_reduce(g, 1, CGX_PLUS);
        cgx_sync(g);
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN(coalesced_beside, (int *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), size = 0;
    if (rank % 4 == 3)
        return;
    if (rank % 2) {
        cgx_coalesced g = cgx_coalesced_threads();
        size = cgx_num_threads(g);
        cgx_sync(g);
    }
    cgx_sync(b);
    out[rank] = size;
}

CGX_KERNEL_EXTERN(coalesced_room, (const int *, wanted), (int *, used), (int *, room))
{
    int rank = (int)cgx_thread_rank(cgx_this_grid());
    if (wanted[rank]) {
        cgx_coalesced g = cgx_coalesced_threads();
        int at = cgx_exclusive_scan_update(g, used, CGX_SCOPE_DEVICE, wanted[rank], CGX_PLUS);
        for (int i = 0; i < wanted[rank]; i++)
            room[at + i] = rank;
    }
}

/* SPDX-License-Identifier: MIT */
/* Collectives of a cluster and of the grid: each block's own, then the same over the blocks' results in the order of their
 * ranks. The threads of a block run one at a time, so what a block needs of the others is computed by its first thread to
 * come, without a lock. */
#include <string.h>
#include "fiber.h"

static cgx_group block_group(cgx_cpu_thread *t)
{
    return cgx__make_group(t, -1, CGX__BLOCK, t->shape->threads, t->rank, 0, 1, 0);
}

static void block_collective(const cgx_group *g, const cgx_cpu_collective *what, int operation, const void *value,
                             void *result, int line)
{
    cgx_cpu_collective inner = *what;
    inner.operation = operation;
    memcpy(result, cgx__cpu_collect(block_group(g->t), value, 0, &inner, line), what->bytes);
}

/* Where block I of the group puts its part of the round. Rounds take turns between two places: a block that is ahead by one
 * cannot overwrite what a slow one still reads, and by two it cannot be. */
static unsigned char *part(const cgx_group *g, int64_t i, unsigned round)
{
    const worker *w = (const worker *)g->t->block->worker;
    if (g->kind == CGX__GRID)
        return w->launch->partials +
               ((size_t)(round & 1) * (size_t)w->launch->shape.blocks + (size_t)i) * CGX__VALUE_BYTES;
    return ((block *)g->t->block->peers[i])->partial[round & 1];
}

/* What the block needs of the others, into below and result. */
static void combine(const cgx_group *g, block *b, const cgx_cpu_collective *what, int64_t me, int64_t blocks,
                    unsigned round)
{
    unsigned char *values = ((worker *)g->t->block->worker)->scratch;
    const size_t bytes = what->bytes;
    cgx_cpu_collective fold = *what;
    if (fold.operation != CGX__OP_REDUCE)
        fold.operation = CGX__OP_INCLUSIVE_SCAN;
    for (int64_t i = 0; i < blocks; i++)
        memcpy(values + (size_t)i * bytes, part(g, i, round), bytes);
    cgx__fold_values(&fold, values, (int)blocks);
    if (what->operation == CGX__OP_REDUCE) {
        memcpy(b->result, values, bytes);
        return;
    }
    if (me > 0)
        memcpy(b->below, values + (size_t)(me - 1) * bytes, bytes);
    /* The inclusive result of the last thread of the block below. */
    if (me == 1)
        memcpy(b->result, part(g, 0, round), bytes);
    else if (me > 1)
        cgx__apply_operator(what, b->result, values + (size_t)(me - 2) * bytes, part(g, me - 1, round));
}

void cgx__cpu_wide(const cgx_group *g, const cgx_cpu_collective *what, int line)
{
    cgx_cpu_thread *t = g->t;
    block *b = (block *)t->block;
    unsigned char *out = b->pub.out + t->rank * CGX__VALUE_BYTES;
    _Alignas(32) unsigned char value[CGX__VALUE_BYTES], mine[CGX__VALUE_BYTES], inclusive[CGX__VALUE_BYTES];
    const int64_t me = g->kind == CGX__GRID ? t->shape->block_rank : b->pub.cluster_rank;
    const int64_t blocks = g->kind == CGX__GRID ? t->shape->blocks : b->pub.cluster_blocks;
    unsigned *rounds = g->kind == CGX__GRID ? &b->grid_round : &b->cluster_round;
    const int scan = what->operation == CGX__OP_INCLUSIVE_SCAN || what->operation == CGX__OP_EXCLUSIVE_SCAN;
    if (!scan && what->operation != CGX__OP_REDUCE)
        cgx__cpu_misuse(t, line, "clusters and the grid have reduce and scans alone");
    if (g->kind == CGX__GRID && !t->block->worker->grid.expected)
        cgx__cpu_misuse(t, line, "a collective of the grid in a launch that is not cooperative");
    memcpy(value, b->pub.in + t->rank * CGX__VALUE_BYTES, what->bytes);
    block_collective(g, what, scan ? CGX__OP_INCLUSIVE_SCAN : CGX__OP_REDUCE, value, inclusive, line);
    memcpy(mine, inclusive, what->bytes);
    if (what->operation == CGX__OP_EXCLUSIVE_SCAN)
        block_collective(g, what, CGX__OP_EXCLUSIVE_SCAN, value, mine, line);
    if (t->rank == t->shape->threads - 1) {
        memcpy(part(g, me, *rounds), inclusive, what->bytes);
        ++*rounds;
        b->combined = 0;
    }
    cgx__sync(*g, line);
    if (!b->combined) {
        combine(g, b, what, me, blocks, *rounds - 1);
        b->combined = 1;
    }
    if (!scan)
        memcpy(out, b->result, what->bytes);
    else if (what->operation == CGX__OP_EXCLUSIVE_SCAN && t->rank == 0) {
        if (me > 0)
            memcpy(out, b->result, what->bytes);
        else
            memset(out, 0, what->bytes);
    } else if (me > 0) {
        cgx__apply_operator(what, out, b->below, mine);
    } else {
        memcpy(out, mine, what->bytes);
    }
}

/* SPDX-License-Identifier: MIT */
/* Who waits for what, when nobody can go on. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "fiber.h"

static const char *const operations[] = {
#define TEXT(symbol, text) text,
    CGX_FOREACH_OPERATION(TEXT)
#undef TEXT
};

#define DIFFERENT "threads of a block call different collectives of it: "

typedef struct {
    char *at, *end;
} writer;

static __attribute__((format(printf, 2, 3))) void put(writer *w, const char *format, ...)
{
    va_list arguments;
    if (w->at >= w->end - 1)
        return;
    va_start(arguments, format);
    int n = vsnprintf(w->at, (size_t)(w->end - w->at), format, arguments);
    va_end(arguments);
    w->at = n < 0 || n >= w->end - w->at ? w->end - 1 : w->at + n;
}

/* "ranks 0-127, 130" */
static void put_ranks(writer *w, const uint64_t *set, int threads)
{
    int members = 0;
    for (int r = 0; r < threads; r++)
        members += set[r / 64] >> r % 64 & 1;
    const char *separator = members == 1 ? "rank " : "ranks ";
    for (int r = 0; r < threads; r++) {
        int first = r;
        if (!(set[r / 64] >> r % 64 & 1))
            continue;
        while (r + 1 < threads && set[(r + 1) / 64] >> (r + 1) % 64 & 1)
            r++;
        if (r > first)
            put(w, "%s%d-%d", separator, first, r);
        else
            put(w, "%s%d", separator, first);
        separator = ", ";
    }
}

static void put_waiting(writer *w, const block *b, const uint64_t *set, const cgx_cpu_barrier *q, int line,
                        int operation, const char *what)
{
    put_ranks(w, set, b->pub.shape.threads);
    put(w, " wait in %s of %s (line %d", operations[operation], what, line);
    if (q->expected)
        put(w, ", %d of %d are there", q->arrived, q->expected);
    put(w, "); ");
}

static void put_all(uint64_t *set, int first, int end)
{
    for (int r = first; r < end; r++)
        set[r / 64] |= (uint64_t)1 << r % 64;
}

static void put_queue(writer *w, const block *b, const cgx_cpu_barrier *q, const char *what)
{
    uint64_t set[CGX__MAX_THREADS / 64] = { 0 };
    int line = 0, operation = 0, any = 0;
    for (const cgx_cpu_node *n = q->head; n; n = n->next)
        if (((const cgx_cpu_thread *)n)->block == &b->pub) {
            const int rank = ((const cgx_cpu_thread *)n)->rank;
            /* No rank: a compiled entry waits for all of them. */
            put_all(set, rank < 0 ? 0 : rank, rank < 0 ? b->pub.shape.threads : rank + 1);
            line = n->line, operation = n->operation, any = 1;
        }
    if (any)
        put_waiting(w, b, set, q, line, operation, what);
}

/* The lanes that wait where lane I does, in the same group; the group's first rank. */
static int lanes_with(const cgx_cpu_block *b, const lane_states *l, int i, uint64_t *set)
{
    const cgx__boundary *at = l->boundaries + l->state[i];
    const int base = at->kind == CGX__TILE        ? i & ~(cgx__lane_group_size(l, i) - 1)
                     : at->kind == CGX__COALESCED ? i & ~63
                                                  : 0;
    const int end = at->kind == CGX__TILE        ? base + cgx__lane_group_size(l, i)
                    : at->kind == CGX__COALESCED ? base + 64
                                                 : b->shape.threads;
    memset(set, 0, CGX__MAX_THREADS / 8);
    for (int j = base; j < end && j < b->shape.threads; j++)
        if (l->state[j] == l->state[i] &&
            (at->kind != CGX__TILE || cgx__lane_group_size(l, j) == cgx__lane_group_size(l, i)) &&
            (at->kind != CGX__COALESCED || l->members[j] == l->members[i]))
            set[j / 64] |= (uint64_t)1 << j % 64;
    return base;
}

cgx_status cgx__report_lanes(const cgx_cpu_block *b, const lane_states *l, char *text, size_t bytes)
{
    const int n = b->shape.threads;
    writer out = { text, text + bytes };
    int syncs = 0, collectives = 0;
    for (int i = 0; i < n; i++)
        if (l->state[i] != CGX__LANE_ENDED && l->boundaries[l->state[i]].kind == CGX__BLOCK) {
            syncs |= l->boundaries[l->state[i]].step < 0;
            collectives |= l->boundaries[l->state[i]].step >= 0;
        }
    put(&out, syncs && collectives ? DIFFERENT : "deadlock: ");
    uint64_t seen[CGX__MAX_THREADS / 64] = { 0 }, ended[CGX__MAX_THREADS / 64] = { 0 }, set[CGX__MAX_THREADS / 64];
    int have_ended = 0;
    char what[64];
    put(&out, "block (%d, %d, %d): ", b->shape.block_index.x, b->shape.block_index.y, b->shape.block_index.z);
    for (int i = 0; i < n; i++) {
        if (l->state[i] == CGX__LANE_ENDED) {
            ended[i / 64] |= (uint64_t)1 << i % 64;
            have_ended++;
        }
        if (l->state[i] == CGX__LANE_ENDED || seen[i / 64] >> i % 64 & 1)
            continue;
        const cgx__boundary *at = l->boundaries + l->state[i];
        const int base = lanes_with(b, l, i, set);
        int there = 0;
        for (int k = 0; k < CGX__MAX_THREADS / 64; k++) {
            seen[k] |= set[k];
            there += __builtin_popcountll(set[k]);
        }
        switch (at->kind) {
        case CGX__BLOCK: snprintf(what, sizeof what, "the block"); break;
        case CGX__TILE:
            snprintf(what, sizeof what, "the tile of %d from rank %d on", cgx__lane_group_size(l, i), base);
            break;
        case CGX__COALESCED:
            snprintf(what, sizeof what, "a coalesced group from rank %d on", base + __builtin_ctzll(l->members[i]));
            break;
        case CGX__CLUSTER: snprintf(what, sizeof what, "the cluster"); break;
        case CGX__GRID: snprintf(what, sizeof what, "the grid"); break;
        default: snprintf(what, sizeof what, "shared memory");
        }
        put_ranks(&out, set, n);
        put(&out, " wait in %s of %s (line %d", operations[at->operation], what, at->line);
        if (at->kind <= CGX__COALESCED)
            put(&out, ", %d of %d are there", there, cgx__lane_group_size(l, i));
        put(&out, "); ");
    }
    if (have_ended) {
        put_ranks(&out, ended, n);
        put(&out, have_ended == 1 ? " has ended; " : " have ended; ");
    }
    size_t length = strlen(text);
    if (length > 2 && text[length - 2] == ';')
        text[length - 2] = 0;
    return syncs && collectives ? CGX_ERROR_MISUSE : CGX_ERROR_DEADLOCK;
}

cgx_status cgx__report_deadlock(worker *w, char *text, size_t bytes)
{
    writer out = { text, text + bytes };
    cgx_status status = CGX_ERROR_DEADLOCK;
    const int blocks = w->launch->cooperative ? w->started : w->launch->cluster_blocks;
    /* A block's syncs and its other collectives have a queue each, and in a right kernel only one of them waits. */
    for (int i = 0; i < w->block_capacity && i < blocks; i++)
        if (w->blocks[i]->pub.barrier.head && w->blocks[i]->pub.tiles[0].head)
            status = CGX_ERROR_MISUSE;
    put(&out, status == CGX_ERROR_MISUSE ? DIFFERENT : "deadlock: ");
    for (int i = 0; i < w->block_capacity && i < blocks; i++) {
        const block *b = w->blocks[i];
        if (b->pub.exited == b->pub.shape.threads)
            continue;
        const cgx_dim3 at = b->pub.shape.block_index;
        char what[64];
        put(&out, "block (%d, %d, %d): ", at.x, at.y, at.z);
        put_queue(&out, b, &b->pub.barrier, "the block");
        put_queue(&out, b, &b->pub.tiles[0], "the block");
        for (int size = 2; size <= CGX__MAX_THREADS; size *= 2)
            for (int t = 0; t * size < b->pub.shape.threads; t++) {
                snprintf(what, sizeof what, "the tile of %d from rank %d on", size, t * size);
                put_queue(&out, b, &b->pub.tiles[CGX__MAX_THREADS / size + t], what);
            }
        for (const pending *p = b->coalesced; p; p = p->next) {
            snprintf(what, sizeof what, "a coalesced group from rank %d on", p->base + __builtin_ctzll(p->lanes));
            put_queue(&out, b, &p->barrier, what);
        }
        put_queue(&out, b, b->pub.cluster, "the cluster");
        put_queue(&out, b, &w->pub.grid, "the grid");
        if (b->pub.resume) { /* its entry has returned */
            uint64_t all[CGX__MAX_THREADS / 64] = { 0 };
            put_all(all, 0, b->pub.shape.threads);
            put_waiting(&out, b, all, &w->pub.grid, b->pub.resume_line, b->pub.resume_operation, "the grid");
        }
        put_queue(&out, b, &w->pub.waiters, "shared memory");
        if (b->pub.exited) {
            put_ranks(&out, b->ended, b->pub.shape.threads);
            put(&out, b->pub.exited == 1 ? " has ended; " : " have ended; ");
        }
    }
    size_t n = strlen(text);
    if (n > 2 && text[n - 2] == ';')
        text[n - 2] = 0;
    return status;
}

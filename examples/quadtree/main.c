/* SPDX-License-Identifier: MIT */
/*
 * Builds a quadtree by a kernel that launches itself, and compares it with one that the host builds.
 *
 *     quadtree [POINTS]        (200,000)
 *
 * Exits with 77 where the device's kernels launch nothing, and with 1 where the trees differ.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quadtree_kernels.h"

typedef struct {
    node *nodes;
    point *points;
    int used;
} tree;

/* As in kernels, one node after the other: children get their numbers in another order there. */
static void split(tree *t, point *room, int me, int depth)
{
    const node n = t->nodes[me];
    int at[4], next = n.first;
    if (n.count <= TREE_LEAF || depth == TREE_DEPTH)
        return;
    const int children = t->used;
    t->used += 4;
    t->nodes[me].children = children;
    for (int k = 0; k < 4; k++) {
        node c = { n.x + (float)(k & 1) * n.side / 2, n.y + (float)(k >> 1) * n.side / 2, n.side / 2, next, 0, 0 };
        at[k] = next;
        for (int i = n.first; i < n.first + n.count; i++)
            if (quadrant_of(&n, t->points[i]) == k)
                room[next++] = t->points[i];
        c.count = next - at[k];
        t->nodes[children + k] = c;
    }
    memcpy(t->points + n.first, room + n.first, (size_t)n.count * sizeof *room);
    for (int k = 0; k < 4; k++)
        split(t, room, children + k, depth + 1);
}

static int same(const tree *a, int i, const tree *b, int k)
{
    const node *m = a->nodes + i, *n = b->nodes + k;
    if (m->x != n->x || m->y != n->y || m->side != n->side || m->first != n->first || m->count != n->count ||
        !m->children != !n->children)
        return 0;
    if (!m->children)
        return !memcmp(a->points + m->first, b->points + n->first, (size_t)m->count * sizeof *a->points);
    for (int c = 0; c < 4; c++)
        if (!same(a, m->children + c, b, n->children + c))
            return 0;
    return 1;
}

/* Half of them anywhere, half in a cloud, so that the tree is deep in one place; some are the same. */
static point random_point(int i)
{
    static uint64_t state = 88172645463325252u;
    float r[2];
    for (int k = 0; k < 2; k++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        r[k] = (float)(state >> 40) / (float)(1 << 24);
    }
    if (i % 2)
        return (point){ r[0], r[1] };
    return (point){ 0.3f + 0.02f * r[0] * r[0], 0.6f + 0.02f * r[1] * r[1] };
}

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 200000, most = n + 4 * TREE_DEPTH + 64;
    const size_t point_bytes = (size_t)(n > 0 ? n : 1) * sizeof(point), node_bytes = (size_t)most * sizeof(node);
    tree ours = { malloc(node_bytes), malloc(point_bytes), 1 }, theirs = { malloc(node_bytes), malloc(point_bytes), 0 };
    point *room = malloc(point_bytes), *points, *other;
    const node root = { 0, 0, 1, 0, n, 0 };
    cgx_queue *q = NULL;
    cgx_device *device;
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    cgx_status *status, failed;
    node *nodes;
    int *used;

    if (n <= 0 || !ours.nodes || !ours.points || !theirs.nodes || !theirs.points || !room) {
        fprintf(stderr, "usage: quadtree [POINTS], as many as there is memory for\n");
        return 1;
    }
    CGX_TRY(cgx_queue_open("any", &q));
    CGX_TRY(cgx_queue_get_info(q, &info));
    if (!(info.capabilities & CGX_CAN_DEVICE_LAUNCH)) {
        printf("kernels on %s launch no kernels\n", info.name);
        return 77;
    }
    CGX_TRY(cgx_queue_get_device(q, &device));
    CGX_TRY(cgx_device_set_limit(device, CGX_LIMIT_PENDING_LAUNCHES, 65536));
    for (int i = 0; i < n; i++)
        ours.points[i] = random_point(i);
    CGX_TRY(cgx_alloc(q, point_bytes, CGX_MEM_DEVICE, (void **)&points));
    CGX_TRY(cgx_alloc(q, point_bytes, CGX_MEM_DEVICE, (void **)&other));
    CGX_TRY(cgx_alloc(q, node_bytes, CGX_MEM_DEVICE, (void **)&nodes));
    CGX_TRY(cgx_alloc(q, sizeof *used, CGX_MEM_DEVICE, (void **)&used));
    CGX_TRY(cgx_alloc(q, sizeof *status, CGX_MEM_DEVICE, (void **)&status));
    CGX_TRY(cgx_copy(q, points, ours.points, point_bytes));
    CGX_TRY(cgx_copy(q, nodes, &root, sizeof root));
    CGX_TRY(cgx_fill_i32(q, used, 1, 1));
    CGX_TRY(cgx_fill_i32(q, (void *)status, 0, 1));
    CGX_TRY(cgx_queue_wait(q));
    double start = seconds();
    CGX_TRY(quadtree_launch(q, cgx_config_1d(1, TREE_THREADS), nodes, most, used, 0, 0, points, other, points, status));
    CGX_TRY(cgx_queue_wait(q));
    const double on_device = seconds() - start;
    CGX_TRY(cgx_copy(q, theirs.points, points, point_bytes));
    CGX_TRY(cgx_copy(q, theirs.nodes, nodes, node_bytes));
    CGX_TRY(cgx_copy(q, &theirs.used, used, sizeof *used));
    CGX_TRY(cgx_copy(q, &failed, status, sizeof failed));
    CGX_TRY(cgx_queue_wait(q));

    start = seconds();
    ours.nodes[0] = root;
    split(&ours, room, 0, 0);
    const int right = !failed && ours.used == theirs.used && same(&ours, 0, &theirs, 0);
    printf("%d points, %d nodes: %.1f ms, serial %.1f ms: %s\n", n, ours.used, 1e3 * on_device,
           1e3 * (seconds() - start),
           right    ? "right"
           : failed ? cgx_status_name(failed)
                    : "wrong");

    CGX_TRY(cgx_free(q, points));
    CGX_TRY(cgx_free(q, other));
    CGX_TRY(cgx_free(q, nodes));
    CGX_TRY(cgx_free(q, used));
    CGX_TRY(cgx_free(q, status));
    CGX_TRY(cgx_queue_close(&q));
    free(ours.nodes);
    free(ours.points);
    free(theirs.nodes);
    free(theirs.points);
    free(room);
    return !right;
}

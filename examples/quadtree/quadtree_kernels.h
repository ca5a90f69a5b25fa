/* SPDX-License-Identifier: MIT */
/* A quadtree of points in the unit square: a block sorts the points of its node into quadrants and launches a block for
 * each of them. */
#ifndef EXAMPLES_QUADTREE_KERNELS_H
#define EXAMPLES_QUADTREE_KERNELS_H

#include <cgx.h>

enum {
    TREE_THREADS = 128,
    TREE_ITEMS = 4, /* a thread takes at a time */
    TREE_LEAF = 32, /* points that are not split any more */
    TREE_DEPTH = 12 /* levels below the root */
};

typedef struct {
    float x, y;
} point;

typedef struct {
    float x, y, side; /* the node's square: its lower corner */
    int first, count; /* its points */
    int children;     /* the first of four: lower left, lower right, upper left, upper right; 0 for a leaf */
} node;

/* The quadrant of a point; a point on a line between two is in the upper one. */
CGX_UNUSED static inline
#if defined(CGX_PASS_CUDA) || defined(CGX_PASS_HIP)
    __attribute__((host)) __attribute__((device))
#endif
    int
    quadrant_of(const node *n, point p)
{
    return (p.x >= n->x + n->side / 2) + 2 * (p.y >= n->y + n->side / 2);
}

/*
 * Builds the tree below nodes[ME], whose points are in FROM; OTHER has room for as many, and RESULT, one of the two, gets them in the
 * order of the leaves; points of one leaf stay in the order they came in. *used counts nodes, of which there are MOST. One block of
 * TREE_THREADS threads. What goes wrong is left in *status.
 */
CGX_KERNEL_DECLARE(quadtree, (node *, nodes), (int, most), (int *, used), (int, me), (int, depth), (point *, from),
                   (point *, other), (point *, result), (cgx_status *, status))

#endif

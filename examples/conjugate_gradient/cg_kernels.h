/* SPDX-License-Identifier: MIT */
/*
 * Conjugate gradients on a device, preconditioned with the diagonal (Jacobi), in double precision: once as a
 * persistent kernel that synchronises its grid, once with a kernel for each step. Both compute the same:
 *
 *     r = b, p = z = r / diagonal                 x starts at 0
 *     repeat
 *         q = A p
 *         alpha = r'z / p'q                       p'q <= 0: A is not positive definite
 *         x += alpha p, r -= alpha q
 *         stop when r'r <= target
 *         z = r / diagonal                        never stored: one multiplication gives it again
 *         beta = r'z / (the r'z before)
 *         p = z + beta p
 */
#ifndef EXAMPLES_CG_KERNELS_H
#define EXAMPLES_CG_KERNELS_H

#include <cgx.h>

/* The linear system and the solver's vectors, all of them device memory. */
typedef struct {
    int32_t n;
    const int64_t *row_start; /* n + 1 */
    const int32_t *column;    /* row_start[n] */
    const double *value;
    const double *inverse_diagonal; /* n, as are the vectors */
    const double *b;
    double *x, *r, *p, *q;
    double *rz_shares, *rr_shares, *pq_shares; /* dot products, one number a block */
} cg_system;

enum { CG_RUNNING, CG_CONVERGED, CG_NOT_POSITIVE_DEFINITE };

/* How far the solver is. */
typedef struct {
    int status, iterations;
    double rz, rr; /* r'z and r'r */
    double target; /* r'r at which it stops */
} cg_state;

/* All of it in one cooperative launch. *end is the state in which it stopped: CG_RUNNING if the iterations
   ran out. */
CGX_KERNEL_DECLARE(cg_persistent, (cg_system, s), (double, tolerance), (int, max_iterations), (cg_state *, end))

/*
 * One launch a step: cg_start and, with one block, cg_begin; then cg_multiply, cg_step and cg_turn for every
 * iteration. All but cg_begin have the same shape. An iteration reads the state `now` and writes `next`; then
 * the two change places, so no block sees a state that another has just changed. Once `now` has stopped, the
 * kernels only hand it on: the host enqueues ahead, and looks at the state every now and then.
 */
CGX_KERNEL_DECLARE(cg_start, (cg_system, s))
CGX_KERNEL_DECLARE(cg_begin, (cg_system, s), (int, shares), (double, tolerance), (cg_state *, first))
CGX_KERNEL_DECLARE(cg_multiply, (cg_system, s), (const cg_state *, now))
CGX_KERNEL_DECLARE(cg_step, (cg_system, s), (const cg_state *, now))
CGX_KERNEL_DECLARE(cg_turn, (cg_system, s), (const cg_state *, now), (cg_state *, next))

#endif

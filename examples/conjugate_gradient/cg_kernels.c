/* SPDX-License-Identifier: MIT */
#include "cg_kernels.h"

/*
 * A dot product takes two halves, with a grid synchronisation or the end of a kernel between them. First each
 * block adds up what its threads have and leaves that share in memory ...
 */
CGX_DEVICE_FN void put_share(cgx_grid g, cgx_block b, double *shares, double mine)
{
    double sum = cgx_reduce(b, mine, CGX_PLUS);
    if (cgx_thread_rank(b) == 0)
        shares[cgx_block_rank(g)] = sum;
}

/*
 * ... then every block adds up all shares. All add the same numbers in the same order, so every thread of the
 * grid gets the same bits - and so do both variants, and every run: there are no atomics here.
 */
CGX_DEVICE_FN double add_shares(cgx_block b, const double *shares, int64_t count)
{
    double mine = 0;
    for (int64_t i = cgx_thread_rank(b); i < count; i += cgx_num_threads(b))
        mine += shares[i];
    return cgx_reduce(b, mine, CGX_PLUS);
}

/* x = 0, r = b, p = z; leaves the shares of r'z and r'r. */
CGX_DEVICE_FN void start(cgx_grid g, cgx_block b, cg_system s)
{
    double rz = 0, rr = 0;
    for (int64_t i = cgx_thread_rank(g); i < s.n; i += cgx_num_threads(g)) {
        double r = s.b[i], z = s.inverse_diagonal[i] * r;
        s.x[i] = 0;
        s.r[i] = r;
        s.p[i] = z;
        rz += r * z;
        rr += r * r;
    }
    put_share(g, b, s.rz_shares, rz);
    put_share(g, b, s.rr_shares, rr);
}

/* q = A p; leaves the shares of p'q. */
CGX_DEVICE_FN void multiply(cgx_grid g, cgx_block b, cg_system s)
{
    double pq = 0;
    for (int64_t i = cgx_thread_rank(g); i < s.n; i += cgx_num_threads(g)) {
        double sum = 0;
        for (int64_t k = s.row_start[i]; k < s.row_start[i + 1]; k++)
            sum += s.value[k] * s.p[s.column[k]];
        s.q[i] = sum;
        pq += s.p[i] * sum;
    }
    put_share(g, b, s.pq_shares, pq);
}

/* x += alpha p, r -= alpha q; leaves the shares of the new r'z and r'r. */
CGX_DEVICE_FN void step(cgx_grid g, cgx_block b, cg_system s, double alpha)
{
    double rz = 0, rr = 0;
    for (int64_t i = cgx_thread_rank(g); i < s.n; i += cgx_num_threads(g)) {
        double r = s.r[i] - alpha * s.q[i];
        s.x[i] += alpha * s.p[i];
        s.r[i] = r;
        rz += r * (s.inverse_diagonal[i] * r);
        rr += r * r;
    }
    put_share(g, b, s.rz_shares, rz);
    put_share(g, b, s.rr_shares, rr);
}

/* p = z + beta p. */
CGX_DEVICE_FN void turn(cgx_grid g, cg_system s, double beta)
{
    for (int64_t i = cgx_thread_rank(g); i < s.n; i += cgx_num_threads(g))
        s.p[i] = s.inverse_diagonal[i] * s.r[i] + beta * s.p[i];
}

/* The state before the first iteration. */
CGX_DEVICE_FN cg_state first_state(cgx_block b, cg_system s, int64_t shares, double tolerance)
{
    cg_state state;
    state.iterations = 0;
    state.rz = add_shares(b, s.rz_shares, shares);
    state.rr = add_shares(b, s.rr_shares, shares);
    state.target = tolerance * tolerance * state.rr; /* r is b now */
    state.status = state.rr <= state.target ? CG_CONVERGED : CG_RUNNING;
    return state;
}

/* The state after an iteration whose p'q and new residual are known. */
CGX_DEVICE_FN cg_state next_state(cgx_block b, cg_system s, int64_t shares, cg_state state, double pq)
{
    if (pq > 0) {
        state.iterations++;
        state.rz = add_shares(b, s.rz_shares, shares);
        state.rr = add_shares(b, s.rr_shares, shares);
        state.status = state.rr <= state.target ? CG_CONVERGED : CG_RUNNING;
    } else {
        state.status = CG_NOT_POSITIVE_DEFINITE; /* a NaN, too, ends here */
    }
    return state;
}

/* ---- all of it in one kernel ---- */

CGX_KERNEL_EXTERN_COOPERATIVE(cg_persistent, (cg_system, s), (double, tolerance), (int, max_iterations),
                              (cg_state *, end))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int64_t shares = cgx_num_blocks(g);

    start(g, b, s);
    cgx_sync(g);
    /* Each thread has its own state: all compute it from the same numbers, so all leave the loop together. */
    cg_state state = first_state(b, s, shares, tolerance);
    while (state.status == CG_RUNNING && state.iterations < max_iterations) {
        double rz = state.rz, pq;

        multiply(g, b, s);
        cgx_sync(g);
        pq = add_shares(b, s.pq_shares, shares);
        if (pq > 0)
            step(g, b, s, rz / pq);
        cgx_sync(g);
        state = next_state(b, s, shares, state, pq);
        if (state.status == CG_RUNNING)
            turn(g, s, state.rz / rz);
        cgx_sync(g);
    }
    if (cgx_thread_rank(g) == 0)
        *end = state;
}

/* ---- one kernel a step ---- */

CGX_KERNEL_EXTERN(cg_start, (cg_system, s))
{
    start(cgx_this_grid(), cgx_this_block(), s);
}

/* One block. */
CGX_KERNEL_EXTERN(cg_begin, (cg_system, s), (int, shares), (double, tolerance), (cg_state *, first))
{
    cgx_block b = cgx_this_block();
    cg_state state = first_state(b, s, shares, tolerance);
    if (cgx_thread_rank(b) == 0)
        *first = state;
}

CGX_KERNEL_EXTERN(cg_multiply, (cg_system, s), (const cg_state *, now))
{
    if (now->status == CG_RUNNING)
        multiply(cgx_this_grid(), cgx_this_block(), s);
}

CGX_KERNEL_EXTERN(cg_step, (cg_system, s), (const cg_state *, now))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();

    if (now->status != CG_RUNNING)
        return;
    double pq = add_shares(b, s.pq_shares, cgx_num_blocks(g));
    if (pq > 0)
        step(g, b, s, now->rz / pq);
}

CGX_KERNEL_EXTERN(cg_turn, (cg_system, s), (const cg_state *, now), (cg_state *, next))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    cg_state state = *now;

    if (state.status == CG_RUNNING) {
        double pq = add_shares(b, s.pq_shares, cgx_num_blocks(g));
        state = next_state(b, s, cgx_num_blocks(g), state, pq);
        if (state.status == CG_RUNNING)
            turn(g, s, state.rz / now->rz);
    }
    if (cgx_thread_rank(g) == 0)
        *next = state;
}

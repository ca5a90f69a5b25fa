/* SPDX-License-Identifier: MIT */
/*
 * Solves A x = b for a real symmetric positive definite matrix in a Matrix Market file, with both kernels of
 * cg_kernels.h on one device, and checks the answers on the host.
 *
 *     conjugate_gradient [--device NAME] [--tolerance T] [--max-iterations N] FILE.mtx
 *
 * Exits with 1 where the file is bad, the solver does not converge, or an answer does not pass the check.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cg_kernels.h"
#include "matrix_market.h"

enum {
    THREADS = 128,  /* a block */
    LOOK_EVERY = 32 /* iterations that the host enqueues before it looks whether the solver has stopped */
};

typedef struct {
    const char *file, *device;
    double tolerance;
    int max_iterations; /* 0: 20 times the number of rows */
} options;

/* The problem on the host. */
typedef struct {
    csr_matrix a;
    double *b, *inverse_diagonal;
} problem;

/* The same on the device, and what the solver needs beside it. */
typedef struct {
    cgx_queue *queue;
    const char *name; /* of the device */
    cg_system system;
    cg_state *state; /* two of them */
    int blocks;
    void *memory[16]; /* everything allocated there */
    int allocations;
} solver;

typedef cg_state solve_function(solver *s, double tolerance, int max_iterations);

/* ---- the command line ---- */

static void usage(FILE *to)
{
    fprintf(to, "usage: conjugate_gradient [options] FILE.mtx\n"
                "Solves A x = b, A real, symmetric and positive definite, in the Matrix Market format.\n"
                "  --device NAME         cuda:0, cpu ... (default: CGX_DEVICE, or any)\n"
                "  --tolerance T         stop when |b - A x| <= T |b| (default: 1e-10)\n"
                "  --max-iterations N    give up after N (default: 20 for every row)\n");
}

static options parse_options(int argc, char **argv)
{
    static const struct option known[] = {
        { "device", required_argument, NULL, 'd' },
        { "tolerance", required_argument, NULL, 't' },
        { "max-iterations", required_argument, NULL, 'm' },
        { "help", no_argument, NULL, 'h' },
        { NULL, 0, NULL, 0 },
    };
    options o = { .device = "any", .tolerance = 1e-10 };
    int option;

    while ((option = getopt_long(argc, argv, "d:t:m:h", known, NULL)) != -1) {
        char *end = "";
        long number;

        switch (option) {
        case 'd': o.device = optarg; break;
        case 't':
            o.tolerance = strtod(optarg, &end);
            if (end == optarg || *end || !(o.tolerance > 0 && o.tolerance < 1)) {
                fprintf(stderr, "--tolerance %s: a number between 0 and 1 is needed\n", optarg);
                exit(1);
            }
            break;
        case 'm':
            errno = 0;
            number = strtol(optarg, &end, 10);
            if (end == optarg || *end || errno || number < 1 || number > INT_MAX) {
                fprintf(stderr, "--max-iterations %s: a number from 1 to %d is needed\n", optarg, INT_MAX);
                exit(1);
            }
            o.max_iterations = (int)number;
            break;
        case 'h': usage(stdout); exit(0);
        default: usage(stderr); exit(1);
        }
    }
    if (optind != argc - 1) {
        usage(stderr);
        exit(1);
    }
    o.file = argv[optind];
    return o;
}

/* ---- on the host ---- */

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory) {
        fprintf(stderr, "not enough memory for %zu bytes\n", bytes);
        exit(1);
    }
    return memory;
}

/*
 * A right side whose solution is known: b = A x with x = 1, 1 1/8 ... 1 6/8 and again from 1. Not all ones,
 * which a matrix with zero row sums would turn into b = 0, and nothing random: every run has the same b.
 */
static bool make_problem(const char *file, problem *p)
{
    char error[512];
    const csr_matrix *a = &p->a;

    if (matrix_market_read(file, &p->a, error, sizeof error) != 0) {
        fprintf(stderr, "%s\n", error);
        return false;
    }
    p->b = allocate((size_t)a->n * sizeof *p->b);
    p->inverse_diagonal = allocate((size_t)a->n * sizeof *p->inverse_diagonal);
    for (int32_t i = 0; i < a->n; i++) {
        double sum = 0, diagonal = 0;
        for (int64_t k = a->row_start[i]; k < a->row_start[i + 1]; k++) {
            sum += a->value[k] * (1 + a->column[k] % 7 * 0.125);
            if (a->column[k] == i)
                diagonal = a->value[k];
        }
        if (!(diagonal > 0)) {
            fprintf(stderr, "%s: row %d has %g on the diagonal: the matrix is not positive definite\n", file, i + 1,
                    diagonal);
            return false;
        }
        p->b[i] = sum;
        p->inverse_diagonal[i] = 1 / diagonal;
    }
    return true;
}

/* |b - A x| / |b|: the residual itself, not what the solver's recurrence says it is. */
static double true_residual(const problem *p, const double *x)
{
    const csr_matrix *a = &p->a;
    long double rr = 0, bb = 0;

    for (int32_t i = 0; i < a->n; i++) {
        long double r = p->b[i];
        for (int64_t k = a->row_start[i]; k < a->row_start[i + 1]; k++)
            r -= (long double)a->value[k] * x[a->column[k]];
        rr += r * r;
        bb += (long double)p->b[i] * p->b[i];
    }
    return bb > 0 ? (double)sqrtl(rr / bb) : (double)sqrtl(rr);
}

/* The largest difference of two vectors, relative to their largest element. */
static double difference(const double *x, const double *y, int32_t n)
{
    double apart = 0, largest = 0;
    for (int32_t i = 0; i < n; i++) {
        apart = fmax(apart, fabs(x[i] - y[i]));
        largest = fmax(largest, fmax(fabs(x[i]), fabs(y[i])));
    }
    return largest > 0 ? apart / largest : 0;
}

/* ---- on the device ---- */

static void *device_memory(solver *s, size_t bytes)
{
    void *memory;
    CGX_TRY(cgx_alloc(s->queue, bytes, CGX_MEM_DEVICE, &memory));
    s->memory[s->allocations++] = memory;
    return memory;
}

static void *on_device(solver *s, const void *source, size_t bytes)
{
    void *memory = device_memory(s, bytes);
    CGX_TRY(cgx_copy(s->queue, memory, source, bytes));
    return memory;
}

static void open_solver(const char *device, const problem *p, solver *s)
{
    const csr_matrix *a = &p->a;
    size_t rows = (size_t)a->n, entries = (size_t)a->row_start[a->n];
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    size_t shares;
    int resident, per_unit;

    CGX_TRY(cgx_queue_open(device, &s->queue));
    CGX_TRY(cgx_queue_get_info(s->queue, &info));
    s->name = info.name;

    /* As many blocks as keep the device busy and can all be resident, which a grid synchronisation needs.
       The other variant takes the same shape, so that its sums are the same to the last bit. */
    CGX_TRY(cgx_max_cooperative_blocks(s->queue, CGX_KERNEL_OF(cg_persistent), THREADS, 0, &resident));
    CGX_TRY(cgx_occupancy(s->queue, CGX_KERNEL_OF(cg_persistent), THREADS, 0, &per_unit));
    s->blocks = cgx_cover(a->n, THREADS).grid.x;
    if (s->blocks > per_unit * info.units)
        s->blocks = per_unit * info.units;
    if (s->blocks > resident)
        s->blocks = resident;
    shares = (size_t)s->blocks * sizeof(double);

    s->system = (cg_system){
        .n = a->n,
        .row_start = on_device(s, a->row_start, (rows + 1) * sizeof *a->row_start),
        .column = on_device(s, a->column, entries * sizeof *a->column),
        .value = on_device(s, a->value, entries * sizeof *a->value),
        .inverse_diagonal = on_device(s, p->inverse_diagonal, rows * sizeof(double)),
        .b = on_device(s, p->b, rows * sizeof(double)),
        .x = device_memory(s, rows * sizeof(double)),
        .r = device_memory(s, rows * sizeof(double)),
        .p = device_memory(s, rows * sizeof(double)),
        .q = device_memory(s, rows * sizeof(double)),
        .rz_shares = device_memory(s, shares),
        .rr_shares = device_memory(s, shares),
        .pq_shares = device_memory(s, shares),
    };
    s->state = device_memory(s, 2 * sizeof *s->state);
}

static void close_solver(solver *s)
{
    while (s->allocations > 0)
        CGX_TRY(cgx_free(s->queue, s->memory[--s->allocations]));
    CGX_TRY(cgx_queue_close(&s->queue));
}

static cg_state look(solver *s, const cg_state *where)
{
    cg_state state;
    CGX_TRY(cgx_copy(s->queue, &state, where, sizeof state));
    CGX_TRY(cgx_queue_wait(s->queue));
    return state;
}

static cg_state solve_persistent(solver *s, double tolerance, int max_iterations)
{
    cgx_config config = cgx_cooperative(cgx_config_1d(s->blocks, THREADS));
    CGX_TRY(cg_persistent_launch(s->queue, config, s->system, tolerance, max_iterations, s->state));
    return look(s, s->state);
}

static cg_state solve_stepwise(solver *s, double tolerance, int max_iterations)
{
    cgx_config config = cgx_config_1d(s->blocks, THREADS);
    cg_state *now = s->state, *next = s->state + 1, *other;

    CGX_TRY(cg_start_launch(s->queue, config, s->system));
    CGX_TRY(cg_begin_launch(s->queue, cgx_config_1d(1, THREADS), s->system, s->blocks, tolerance, now));
    for (int k = 1; k <= max_iterations; k++) {
        CGX_TRY(cg_multiply_launch(s->queue, config, s->system, now));
        CGX_TRY(cg_step_launch(s->queue, config, s->system, now));
        CGX_TRY(cg_turn_launch(s->queue, config, s->system, now, next));
        other = now, now = next, next = other;
        if (k % LOOK_EVERY == 0 && look(s, now).status != CG_RUNNING)
            break;
    }
    return look(s, now);
}

/* Solves, prints the row, and says on stderr what is wrong with the answer if anything is. */
static bool solve(const char *variant, solve_function *run, solver *s, const problem *p, const options *o, double *x)
{
    cgx_event *begin, *end;
    cg_state state;
    double residual, seconds;

    CGX_TRY(cgx_event_create(s->queue, &begin));
    CGX_TRY(cgx_event_create(s->queue, &end));
    run(s, o->tolerance, 1); /* untimed: loads the kernels */
    CGX_TRY(cgx_event_record(begin, s->queue));
    state = run(s, o->tolerance, o->max_iterations);
    CGX_TRY(cgx_event_record(end, s->queue));
    CGX_TRY(cgx_copy(s->queue, x, s->system.x, (size_t)p->a.n * sizeof *x));
    CGX_TRY(cgx_queue_wait(s->queue));
    CGX_TRY(cgx_event_elapsed(begin, end, &seconds));
    CGX_TRY(cgx_event_destroy(&begin));
    CGX_TRY(cgx_event_destroy(&end));

    residual = true_residual(p, x);
    printf("%-8s  %-10s  iterations %6d  relative residual %8.1e  time %9.2f ms\n", s->name, variant, state.iterations,
           residual, 1e3 * seconds);
    fflush(stdout);
    if (state.status == CG_NOT_POSITIVE_DEFINITE)
        fprintf(stderr, "%s: %s: not positive definite: iteration %d met a direction p with p'Ap <= 0\n", o->file,
                variant, state.iterations + 1);
    else if (state.status == CG_RUNNING)
        fprintf(stderr, "%s: %s: no convergence to %g in %d iterations (see --max-iterations, --tolerance)\n", o->file,
                variant, o->tolerance, o->max_iterations);
    else if (!(residual <= 10 * o->tolerance)) /* rounding makes the recurrence drift from the truth */
        fprintf(stderr, "%s: %s: stopped at %g, but |b - A x| / |b| is %.1e: too ill conditioned for that\n", o->file,
                variant, o->tolerance, residual);
    else
        return true;
    return false;
}

int main(int argc, char **argv)
{
    options o = parse_options(argc, argv);
    problem p = { 0 };
    solver s = { 0 };
    bool good = make_problem(o.file, &p);

    if (good) {
        double *x = allocate((size_t)p.a.n * sizeof *x), *y = allocate((size_t)p.a.n * sizeof *y);

        if (o.max_iterations == 0)
            o.max_iterations = p.a.n > INT_MAX / 20 ? INT_MAX : 20 * p.a.n;
        open_solver(o.device, &p, &s);
        good = solve("persistent", solve_persistent, &s, &p, &o, x);
        good &= solve("stepwise", solve_stepwise, &s, &p, &o, y);
        printf("%-8s  solutions differ by %.1e\n", s.name, difference(x, y, p.a.n));
        close_solver(&s);
        free(x);
        free(y);
    }
    free(p.b);
    free(p.inverse_diagonal);
    csr_free(&p.a);
    return good ? 0 : 1;
}

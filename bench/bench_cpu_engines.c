/* SPDX-License-Identifier: MIT */
/* The engines of the CPU with one and two threads: kernels as the plug-in compiles them, on fibers, and what else one could have: the
 * kernel's loop over the threads of a block broken up at the barriers by hand, the size of a block known at run time or at
 * compile time; plain loops under OpenMP; and PoCL with the same kernels in OpenCL C, by each of its ways to make a work group. */
#include <ftw.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "engines_kernels.h"
#include "engines_rivals.h"
#ifdef BENCH_OPENCL
#include "engines_opencl.h"
#endif

enum {
    TRIAD = 1 << 16,
    SIDE = 256,
    ITEMS = 1 << 18,
    GRID = 512,
    PADDED = (GRID + 2) * (GRID + 2),
    LINE = 256, /* threads of a block in a line */
    COUNTERS = 64,
    POINTS = 64 * LINE,
    SWEEPS = 20,
    RINGS = 16,
    STAGES = 64
};
_Static_assert(PADDED > ITEMS, "room for all cases");

static cgx_queue *queue;
static _Alignas(64) float a[PADDED], b[PADDED], out[PADDED], swap[PADDED], expected[PADDED];
static _Alignas(64) int keys[ITEMS];

/* ---- the cases ---- */

/* Nothing; the plain loops; or, where those have no tiles that are copied to a place of their own first, as the kernel has them in
 * shared memory, the loops over tiles of a constant size, which run under OpenMP, too. */
enum { NOT_ALIKE, PLAIN_ALIKE, TILES_ALIKE };
typedef struct {
    const char *name;
    int nx, ny, grid_x, grid_y, n, steps;
    void (*launch)(cgx_config c, int n, int steps);
    void (*declared)(cgx_config c, int n, int steps); /* or NULL: the size of its block is declared */
    engines_part_fn *run_time, *constant, *plain;     /* fission or NULL */
    int units;                                        /* of plain */
    int barriers;                                     /* between steps */
    const char *opencl, *arguments;                   /* kernel or NULL; a, b, o(ut), k(eys), n, s(calar) */
    int from, results, pitch; /* results are checked in rows of so many from place FROM on; pitch 0: one row */
    int alike;                /* what has the kernel's algorithm under OpenMP */
} bench_case;

#define LAUNCH(name, ...)                                        \
    static void launch_##name(cgx_config c, int n, int steps)    \
    {                                                            \
        (void)n, (void)steps;                                    \
        CGX_TRY(engines_##name##_launch(queue, c, __VA_ARGS__)); \
    }
LAUNCH(triad, out, a, b, 3.0f, n)
LAUNCH(sgemm, a, b, out, n)
LAUNCH(sgemm_tiles, a, b, out, n)
LAUNCH(reduce, a, out)
LAUNCH(block_sum, a, out)
LAUNCH(scan, a, out)
LAUNCH(block_scan, a, out)
LAUNCH(shuffle, a, out)
LAUNCH(warp_sum, a, out)
LAUNCH(stencil, a, out, n)
LAUNCH(stencil_declared, a, out, n)
LAUNCH(transpose, a, out, n)
LAUNCH(transpose_declared, a, out, n)
LAUNCH(histogram, keys, out, n)
LAUNCH(ring, steps, a, out)
static void launch_jacobi(cgx_config c, int n, int steps)
{
    CGX_TRY(engines_jacobi_launch(queue, cgx_cooperative(c), a, b, out, swap, n, steps));
}

#define BLOCKS(items) LINE, 1, (items) / LINE, 1
#define FISSION(name) run_time_##name, constant_##name
/* The first six are those of the project's goals. */
enum { GOALS = 6 };
static const bench_case cases[] = {
    { "triad", BLOCKS(TRIAD), TRIAD, 0, launch_triad, NULL, FISSION(triad), plain_triad, TRIAD, 0, "triad", "oabsn", 0,
      TRIAD, 0, PLAIN_ALIKE },
    { "sgemm", 16, 16, SIDE / 16, SIDE / 16, SIDE, 0, launch_sgemm, NULL, FISSION(sgemm), plain_sgemm,
      SIDE / 16 * SIDE / 16, 0, "sgemm", "abon", 0, SIDE *SIDE, 0, PLAIN_ALIKE },
    { "reduce", BLOCKS(ITEMS), ITEMS, 0, launch_reduce, NULL, FISSION(reduce), plain_sums_256, ITEMS / LINE, 0,
      "reduce", "ao", 0, ITEMS / LINE, 0, NOT_ALIKE },
    { "scan", BLOCKS(ITEMS), ITEMS, 0, launch_scan, NULL, FISSION(scan), plain_scan, ITEMS / LINE, 0, "scan", "ao", 0,
      ITEMS, 0, NOT_ALIKE },
    { "shuffle", BLOCKS(ITEMS), ITEMS, 0, launch_shuffle, NULL, FISSION(shuffle), plain_sums_32, ITEMS / 32, 0,
      "shuffle_sum", "ao", 0, ITEMS / 32, 0, NOT_ALIKE },
    { "stencil", 32, 8, GRID / 32, GRID / 8, GRID, 0, launch_stencil, launch_stencil_declared, FISSION(stencil),
      plain_stencil, GRID, 0, "stencil", "aon", GRID + 3, GRID, GRID + 2, TILES_ALIKE },
    { "block_sum", BLOCKS(ITEMS), ITEMS, 0, launch_block_sum, NULL, FISSION(reduce), plain_sums_256, ITEMS / LINE, 0,
      "reduce", "ao", 0, ITEMS / LINE, 0, NOT_ALIKE },
    { "warp_sum", BLOCKS(ITEMS), ITEMS, 0, launch_warp_sum, NULL, FISSION(warps), plain_sums_32, ITEMS / 32, 0,
      "shuffle_sum", "ao", 0, ITEMS / 32, 0, NOT_ALIKE },
    { "block_scan", BLOCKS(ITEMS), ITEMS, 0, launch_block_scan, NULL, FISSION(scan), plain_scan, ITEMS / LINE, 0,
      "scan", "ao", 0, ITEMS, 0, NOT_ALIKE },
    { "sgemm_tiles", 16, 16, SIDE / 64, SIDE / 64, SIDE, 0, launch_sgemm_tiles, NULL, FISSION(sgemm_tiles), plain_sgemm,
      SIDE / 16 * SIDE / 16, 0, "sgemm_tiles", "abon", 0, SIDE *SIDE, 0, PLAIN_ALIKE },
    { "transpose", 32, 8, GRID / 32, GRID / 32, GRID, 0, launch_transpose, launch_transpose_declared,
      FISSION(transpose), plain_transpose, GRID / 32 * GRID / 32, 0, "transpose", "aon", 0, GRID *GRID, 0,
      PLAIN_ALIKE },
    { "histogram", LINE, 1, COUNTERS, 1, ITEMS, 0, launch_histogram, NULL, FISSION(histogram), plain_histogram,
      COUNTERS, 0, "histogram", "kon", 0, COUNTERS *ENGINES_BINS, 0, PLAIN_ALIKE },
    { "jacobi", BLOCKS(POINTS), POINTS, SWEEPS, launch_jacobi, NULL, FISSION(jacobi), plain_jacobi, POINTS, 1, "jacobi",
      NULL, 0, POINTS, 0, TILES_ALIKE },
    { "ring", LINE, 1, RINGS, 1, 0, STAGES, launch_ring, NULL, FISSION(ring), plain_ring, RINGS, 0, NULL, NULL, 0,
      RINGS *LINE, 0, PLAIN_ALIKE },
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* ---- subjects; the parameter is the case ---- */

static void by_parts(const bench_case *c, engines_part_fn *part, int units)
{
    const engines_data d = { a, b, keys, out, swap, c->n, c->steps };
#pragma omp parallel
    {
        const int64_t k = omp_get_thread_num(), threads = omp_get_num_threads();
        const int first = (int)(units * k / threads), last = (int)(units * (k + 1) / threads);
        for (int step = 0; step < (c->barriers ? c->steps : 1); step++) {
            part(&d, c->nx, c->ny, first, last, step);
            if (c->barriers) {
#pragma omp barrier
            }
        }
    }
}

/* Rows of results, or one. */
static int rows_of(const bench_case *c)
{
    return c->pitch ? c->results : 1;
}
static void poison(const bench_case *c)
{
    for (int row = 0; row < rows_of(c); row++)
        for (int i = 0; i < c->results; i++)
            out[c->from + row * c->pitch + i] = -1;
}

static void prepare(int64_t parameter)
{
    const bench_case *c = cases + parameter;
    static int last = -1;
    if (last == parameter)
        return;
    last = (int)parameter;
    for (int i = 0; i < PADDED; i++) {
        a[i] = (float)((uint32_t)i * 2654435761u >> 20 & 255) / 256.0f;
        b[i] = a[i] * 0.5f;
        out[i] = swap[i] = -1;
    }
    for (int i = 0; i < ITEMS; i++)
        keys[i] = (int)((uint32_t)i * 2246822519u >> 16 & 255);
    by_parts(c, c->plain, c->units);
    memcpy(expected, out, sizeof out);
    poison(c);
}

static int check(int64_t parameter)
{
    const bench_case *c = cases + parameter;
    int right = 1;
    for (int row = 0; row < rows_of(c); row++)
        for (int i = 0; i < c->results; i++) {
            const int at = c->from + row * c->pitch + i;
            right &= fabsf(out[at] - expected[at]) <= 1e-4f * (1 + fabsf(expected[at]));
        }
    poison(c);
    return right;
}

static cgx_config config_of(const bench_case *c)
{
    return cgx_config_make(cgx_dim(c->grid_x, c->grid_y, 1), cgx_dim(c->nx, c->ny, 1));
}
static void run_launches(const bench_case *c, void (*launch)(cgx_config, int, int), int64_t n)
{
    if (!queue)
        CGX_TRY(cgx_queue_open("cpu", &queue));
    for (; n; n--)
        launch(config_of(c), c->n, c->steps);
    CGX_TRY(cgx_queue_wait(queue));
}
static void run_cgx(int64_t parameter, int64_t n)
{
    run_launches(cases + parameter, cases[parameter].launch, n);
}
static void run_declared(int64_t parameter, int64_t n)
{
    run_launches(cases + parameter, cases[parameter].declared, n);
}
static void run_run_time(int64_t parameter, int64_t n)
{
    const bench_case *c = cases + parameter;
    for (; n; n--)
        by_parts(c, c->run_time, c->grid_x * c->grid_y);
}
static void run_constant(int64_t parameter, int64_t n)
{
    const bench_case *c = cases + parameter;
    for (; n; n--)
        by_parts(c, c->constant, c->grid_x * c->grid_y);
}
static void run_plain(int64_t parameter, int64_t n)
{
    const bench_case *c = cases + parameter;
    for (; n; n--)
        by_parts(c, c->plain, c->units);
}

#ifdef BENCH_OPENCL
static void run_opencl(int64_t parameter, int64_t n)
{
    static void *buffers[5];
    const bench_case *c = cases + parameter;
    if (!buffers[0]) {
        void *const data[] = { a, b, out, swap, keys };
        engines_opencl_open(BENCH_OPENCL);
        for (int i = 0; i < 5; i++)
            buffers[i] = engines_opencl_buffer(data[i], data[i] == keys ? sizeof keys : sizeof out);
    }
    void *const in = buffers[0], *const second = buffers[1], *const result = buffers[2], *const other = buffers[3];
#define OPENCL(...) engines_opencl_launch(c->opencl, c->nx, c->ny, c->grid_x, c->grid_y, __VA_ARGS__)
    for (; n; n--) {
        if (c->barriers) /* a launch a sweep */
            for (int step = 0; step < c->steps; step++)
                OPENCL("bbbi", step == 0 ? in : step & 1 ? other : result, second, step & 1 ? result : other, c->n);
        else if (!strcmp(c->arguments, "oabsn"))
            OPENCL("bbbfi", result, in, second, 3.0, c->n);
        else if (!strcmp(c->arguments, "abon"))
            OPENCL("bbbi", in, second, result, c->n);
        else if (!strcmp(c->arguments, "ao"))
            OPENCL("bb", in, result);
        else if (!strcmp(c->arguments, "aon"))
            OPENCL("bbi", in, result, c->n);
        else
            OPENCL("bbi", buffers[4], result, c->n);
    }
    engines_opencl_wait(result, sizeof out);
}
#endif

/* ---- the table ---- */

enum { CGX, DECLARED, FIBERS, RUN_TIME, CONSTANT, PLAIN, POCL };
/* PoCL's ways to make a work group; the first is its default. */
static const char *const methods[] = { "auto", "loopvec", "workitemloops", "workitemrepl" };
enum { METHODS = sizeof methods / sizeof methods[0], SIDES = POCL + METHODS };
static const char *const columns[SIDES] = {
    "cgx",    "declared",  "fibers",       "fission, run-time size", "fission, constant size",
    "OpenMP", "PoCL auto", "PoCL loopvec", "PoCL workitemloops",     "PoCL workitemrepl"
};

/* Logarithms of ratios, summed. */
typedef struct {
    double sum, least;
    int count;
} mean;
static double add(mean *m, double ratio)
{
    if (isfinite(ratio) && ratio > 0) {
        m->sum += log(ratio);
        m->least = m->count && m->least < ratio ? m->least : ratio;
        m->count++;
    }
    return ratio;
}
static double value_of(const mean *m)
{
    return m->count ? exp(m->sum / m->count) : NAN;
}
static void cell(double v)
{
    if (!isfinite(v))
        printf(" %8s", "-");
    else
        printf(v < 100 ? " %8.2f" : " %8.0f", v);
}

static double best_method(const double *us)
{
    double least = INFINITY;
    for (int m = 0; m < METHODS; m++)
        least = us[POCL + m] < least ? us[POCL + m] : least;
    return least;
}

enum { BY_RUN_TIME, BY_CONSTANT, BY_PLAIN, BY_ALIKE, BY_FIBERS, BY_POCL, BY_BEST, BY_ONE, RATIOS };
static const char *const ratio_names[RATIOS] = { "fission", "constant", "OpenMP",   "alike",
                                                 "fibers",  "PoCL",     "its best", "1 thread" };
static void ratios_of(int i, const double *us, const double *us_of_one, double *ratios)
{
    ratios[BY_RUN_TIME] = us[RUN_TIME] / us[CGX];
    ratios[BY_CONSTANT] = us[CONSTANT] / us[DECLARED];
    ratios[BY_PLAIN] = us[PLAIN] / us[CGX];
    ratios[BY_ALIKE] = cases[i].alike == PLAIN_ALIKE   ? ratios[BY_PLAIN]
                       : cases[i].alike == TILES_ALIKE ? us[CONSTANT] / us[CGX]
                                                       : NAN;
    ratios[BY_FIBERS] = us[FIBERS] / us[CGX];
    ratios[BY_POCL] = us[POCL] / us[CGX];
    ratios[BY_BEST] = isfinite(us[POCL]) ? best_method(us) / us[CGX] : NAN;
    ratios[BY_ONE] = us_of_one ? us_of_one[CGX] / us[CGX] : NAN;
}

static void print_table(int threads, double us[][SIDES], double of_one[][SIDES])
{
    mean means[2][RATIOS] = { { { 0, 0, 0 } } };
    printf(
        "\n%d thread%s: microseconds, and what each other takes beside cgx (above 1 cgx is faster; constant: beside the kernel of "
        "declared size)\n%-12s",
        threads, threads > 1 ? "s" : "", "");
    for (int s = 0; s <= PLAIN; s++)
        printf(" %8.8s", s == RUN_TIME ? "fission" : s == CONSTANT ? "constant" : columns[s]);
    printf(" |");
    for (int r = 0; r < RATIOS; r++)
        printf(" %8s", ratio_names[r]);
    printf("\n");
    for (int i = 0; i < CASES; i++) {
        double ratios[RATIOS];
        if (!bench_wants(cases[i].name))
            continue;
        ratios_of(i, us[i], of_one ? of_one[i] : NULL, ratios);
        printf("%-12s", cases[i].name);
        for (int s = 0; s <= PLAIN; s++)
            cell(us[i][s]);
        printf(" |");
        for (int r = 0; r < RATIOS; r++) {
            cell(ratios[r]);
            add(&means[1][r], ratios[r]);
            if (i < GOALS)
                add(&means[0][r], ratios[r]);
        }
        printf("\n");
    }
    for (int all = 0; all < 2; all++) {
        char name[64];
        printf("%-12s %53s |", all ? "all" : "first six", "geometric means");
        for (int r = 0; r < RATIOS; r++) {
            cell(value_of(&means[all][r]));
            snprintf(name, sizeof name, "geometric mean of %s, %d thread%s", all ? "all" : "the first six", threads,
                     threads > 1 ? "s" : "");
            if (means[all][r].count)
                bench_keep(name, 1, "x", ratio_names[r], value_of(&means[all][r]));
        }
        printf("\n%-12s %53s |", "", "least");
        for (int r = 0; r < RATIOS; r++)
            cell(means[all][r].count ? means[all][r].least : NAN);
        printf("\n");
    }
    fflush(stdout);
}

/* PoCL takes more than a second for a kernel: what it compiled for one thread is found again with two. By method, which is a variable
 * of the environment and hardly part of the key. */
static char cache[256];
static int remove_one(const char *path, const struct stat *what, int type, struct FTW *where)
{
    (void)what, (void)type, (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    static const bench_subject subjects[] = { { "cgx", prepare, run_cgx, check },
                                              { "declared", prepare, run_declared, check },
                                              { "run_time", prepare, run_run_time, check },
                                              { "constant", prepare, run_constant, check },
                                              { "plain", prepare, run_plain, check },
#ifdef BENCH_OPENCL
                                              { "opencl", prepare, run_opencl, check },
#endif
                                              { NULL, NULL, NULL, NULL } };
    static const char *const subject_of[] = { "cgx", "declared", "cgx", "run_time", "constant", "plain" };
    static double us[2][CASES][SIDES];
    bench_begin(argc, argv, "cpu_engines", subjects);
    const char *temporary = getenv("TMPDIR");
    snprintf(cache, sizeof cache, "%s/bench_cpu_engines.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(cache)) { /* which replaces the Xs */
        perror(cache);
        return 1;
    }
#ifndef BENCH_OPENCL
    printf("without PoCL: OpenCL was not found when this was built\n");
#endif
    for (int t = 0; t < 2; t++) {
        bench_process *processes[SIDES];
        char variables[512];
        for (int s = 0; s < SIDES; s++) {
            if (s == FIBERS || s == CGX)
                snprintf(variables, sizeof variables, "CGX_CPU_WORKERS=%d OMP_NUM_THREADS=%d CGX_CPU_ENGINE=%s", t + 1,
                         t + 1, s == FIBERS ? "fiber" : "compiled");
            else if (s == RUN_TIME)
                snprintf(variables, sizeof variables, "OMP_NUM_THREADS=%d", t + 1);
            else if (s >= POCL)
                snprintf(variables, sizeof variables,
                         "POCL_WORK_GROUP_METHOD=%s POCL_MAX_PTHREAD_COUNT=%d OMP_NUM_THREADS=%d POCL_CACHE_DIR=%s/%s",
                         methods[s - POCL], t + 1, t + 1, cache, methods[s - POCL]);
#ifndef BENCH_OPENCL
            if (s >= POCL)
                continue;
#endif
            processes[s] = s == DECLARED ? processes[CGX]
                           : s == CONSTANT || s == PLAIN
                               ? processes[RUN_TIME]
                               : bench_start(variables, t ? BENCH_WALL_TIME : BENCH_PROCESSOR_TIME);
        }
        for (int i = 0; i < CASES; i++) {
            bench_side sides[SIDES];
            int column[SIDES], count = 0;
            for (int s = 0; s < SIDES; s++)
                us[t][i][s] = NAN;
            if (!bench_wants(cases[i].name))
                continue;
            for (int s = 0; s < SIDES; s++) {
                if (s == DECLARED && !cases[i].declared)
                    continue;
                if (s >= POCL && !cases[i].opencl)
                    continue;
#ifndef BENCH_OPENCL
                if (s >= POCL)
                    continue;
#endif
                column[count] = s;
                sides[count++] = (bench_side){ processes[s], s >= POCL ? "opencl" : subject_of[s], i, 0, NULL };
            }
            bench_compare(sides, count);
            for (int k = 0; k < count; k++)
                us[t][i][column[k]] = sides[k].seconds * 1e6;
            if (!cases[i].declared)
                us[t][i][DECLARED] = us[t][i][CGX];
            for (int s = DECLARED; s < SIDES; s++) {
                char name[64];
                snprintf(name, sizeof name, "%s, %d thread%s", cases[i].name, t + 1, t ? "s" : "");
                if (isfinite(us[t][i][s]) && (s != DECLARED || cases[i].declared))
                    bench_keep(name, us[t][i][s == CONSTANT ? DECLARED : CGX], "us", columns[s], us[t][i][s]);
            }
        }
        print_table(t + 1, us[t], t ? us[0] : NULL);
    }
    if (bench_wants("jacobi"))
        printf("\ngrid synchronisation: %.2f ns a thread and sweep, 1 thread\n",
               us[0][CASES - 2][CGX] * 1e3 / POINTS / SWEEPS);
    const int failed = bench_end();
    nftw(cache, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return failed;
}

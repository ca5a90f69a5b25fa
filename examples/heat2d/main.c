/* SPDX-License-Identifier: MIT */
/*
 * Heat spreads on a square grid whose opposite sides meet, and pictures of it go into a folder.
 *
 *     heat2d [--device NAME] [--size CELLS] [--steps N] [--every N] FOLDER
 *
 * Before the run the first steps are compared with a loop on the host; during the run every picture is
 * checked against what the equation promises. Exits with 1 where either fails.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat_kernels.h"
#include "picture.h"

enum { CHECKED_STEPS = 4 };
static const float c = 0.2f; /* k dt / dx^2 */

typedef struct {
    const char *folder, *device;
    int size, steps, every;
} options;

/* What the equation lets a field do: its heat stays, its energy and its extremes shrink. */
typedef struct {
    double heat, energy; /* sums of u and of u^2, by cell */
    float coldest, hottest;
} summary;

/* The field on the device, now and after the next step. */
typedef struct {
    cgx_queue *queue;
    float *now, *next;
    int size;
} field;

/* ---- the command line ---- */

static void usage(FILE *to)
{
    fprintf(to, "usage: heat2d [options] FOLDER\n"
                "Writes pictures of spreading heat into FOLDER.\n"
                "  --device NAME    cuda:0, cpu ... (default: CGX_DEVICE, or any)\n"
                "  --size CELLS     side of the square grid (default: 512)\n"
                "  --steps N        time steps (default: 1000)\n"
                "  --every N        steps from picture to picture (default: 200)\n");
}

static int number(const char *option, const char *text, int lowest, int highest)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < lowest || value > highest) {
        fprintf(stderr, "--%s %s: a number from %d to %d is needed\n", option, text, lowest, highest);
        exit(1);
    }
    return (int)value;
}

static options parse_options(int argc, char **argv)
{
    static const struct option known[] = {
        { "device", required_argument, NULL, 'd' }, { "size", required_argument, NULL, 's' },
        { "steps", required_argument, NULL, 'n' },  { "every", required_argument, NULL, 'e' },
        { "help", no_argument, NULL, 'h' },         { NULL, 0, NULL, 0 },
    };
    options o = { .device = "any", .size = 512, .steps = 1000, .every = 200 };
    int option;

    while ((option = getopt_long(argc, argv, "d:s:n:e:h", known, NULL)) != -1) {
        switch (option) {
        case 'd': o.device = optarg; break;
        case 's': o.size = number("size", optarg, 2 * HEAT_TILE_X, 32768); break;
        case 'n': o.steps = number("steps", optarg, 1, 100000000); break;
        case 'e': o.every = number("every", optarg, 1, 100000000); break;
        case 'h': usage(stdout); exit(0);
        default: usage(stderr); exit(1);
        }
    }
    if (optind != argc - 1) {
        usage(stderr);
        exit(1);
    }
    o.folder = argv[optind];
    return o;
}

/* ---- on the host ---- */

static float *allocate(int size)
{
    float *cells = malloc((size_t)size * (size_t)size * sizeof *cells);
    if (!cells) {
        fprintf(stderr, "not enough memory for %d x %d cells\n", size, size);
        exit(1);
    }
    return cells;
}

/* A hot ring, and hot discs around it that the edges of the grid cut. */
static void first_field(float *cells, int size)
{
    static const float disc[][3] = {
        /* centre and radius, in sides of the grid */
        { 0.05f, 0.10f, 0.08f },
        { 0.85f, 0.20f, 0.06f },
        { 0.15f, 0.80f, 0.05f },
        { 0.80f, 0.95f, 0.10f },
    };

    for (int y = 0; y < size; y++) {
        for (int x = 0; x < size; x++) {
            float u = ((float)x + 0.5f) / (float)size, v = ((float)y + 0.5f) / (float)size;
            float from_centre = hypotf(u - 0.5f, v - 0.5f);
            bool hot = from_centre > 0.20f && from_centre < 0.27f;

            for (size_t i = 0; i < sizeof disc / sizeof disc[0]; i++) {
                float du = fabsf(u - disc[i][0]), dv = fabsf(v - disc[i][1]);
                hot |= hypotf(fminf(du, 1 - du), fminf(dv, 1 - dv)) < disc[i][2];
            }
            cells[(size_t)y * (size_t)size + (size_t)x] = hot ? 1.0f : 0.0f;
        }
    }
}

/* The reference: what heat_step does, as one plain loop. */
static void host_step(const float *now, float *next, int size)
{
    for (int y = 0; y < size; y++) {
        const float *row = now + (size_t)y * (size_t)size;
        const float *above = now + (size_t)(y > 0 ? y - 1 : size - 1) * (size_t)size;
        const float *below = now + (size_t)(y < size - 1 ? y + 1 : 0) * (size_t)size;

        for (int x = 0; x < size; x++) {
            float left = row[x > 0 ? x - 1 : size - 1], right = row[x < size - 1 ? x + 1 : 0];
            float around = left + right + above[x] + below[x];
            next[(size_t)y * (size_t)size + (size_t)x] = row[x] + c * (around - 4 * row[x]);
        }
    }
}

static summary summarise(const float *cells, int size)
{
    size_t count = (size_t)size * (size_t)size;
    summary s = { 0, 0, INFINITY, -INFINITY };

    for (size_t i = 0; i < count; i++) {
        s.heat += cells[i];
        s.energy += (double)cells[i] * cells[i];
        s.coldest = fminf(s.coldest, cells[i]);
        s.hottest = fmaxf(s.hottest, cells[i]);
    }
    s.heat /= (double)count;
    s.energy /= (double)count;
    return s;
}

/* Whether `later` can follow on `earlier`, rounding apart. */
static bool plausible(const summary *earlier, const summary *later)
{
    return fabs(later->heat - earlier->heat) <= 1e-4 * earlier->heat && later->energy <= earlier->energy * (1 + 1e-6) &&
           later->coldest >= earlier->coldest - 1e-6f && later->hottest <= earlier->hottest + 1e-6f;
}

/* ---- on the device ---- */

static void open_field(const char *device, int size, field *f)
{
    size_t bytes = (size_t)size * (size_t)size * sizeof(float);

    f->size = size;
    CGX_TRY(cgx_queue_open(device, &f->queue));
    CGX_TRY(cgx_alloc(f->queue, bytes, CGX_MEM_DEVICE, (void **)&f->now));
    CGX_TRY(cgx_alloc(f->queue, bytes, CGX_MEM_DEVICE, (void **)&f->next));
}

static void close_field(field *f)
{
    CGX_TRY(cgx_free(f->queue, f->now));
    CGX_TRY(cgx_free(f->queue, f->next));
    CGX_TRY(cgx_queue_close(&f->queue));
}

static void upload(field *f, const float *cells)
{
    CGX_TRY(cgx_copy(f->queue, f->now, cells, (size_t)f->size * (size_t)f->size * sizeof *cells));
    CGX_TRY(cgx_queue_wait(f->queue));
}

static void download(field *f, float *cells)
{
    CGX_TRY(cgx_copy(f->queue, cells, f->now, (size_t)f->size * (size_t)f->size * sizeof *cells));
    CGX_TRY(cgx_queue_wait(f->queue));
}

/* Enqueues the steps and returns. */
static void advance(field *f, int steps)
{
    cgx_dim3 grid = cgx_dim((f->size - 1) / HEAT_TILE_X + 1, (f->size - 1) / HEAT_TILE_Y + 1, 1);
    cgx_config config = cgx_config_make(grid, cgx_dim(HEAT_TILE_X, HEAT_THREADS_Y, 1));

    for (int i = 0; i < steps; i++) {
        float *last = f->now;
        CGX_TRY(heat_step_launch(f->queue, config, f->size, f->size, c, f->now, f->next));
        f->now = f->next;
        f->next = last;
    }
}

/* Takes the first steps on the device and on the host. */
static bool check_steps(field *f, const float *start)
{
    float *expected = allocate(f->size), *other = allocate(f->size), *got, apart = 0;
    size_t count = (size_t)f->size * (size_t)f->size;

    memcpy(expected, start, count * sizeof *expected);
    for (int i = 0; i < CHECKED_STEPS; i++) {
        float *last = expected;
        host_step(expected, other, f->size);
        expected = other;
        other = last;
    }
    upload(f, start);
    advance(f, CHECKED_STEPS);
    got = other;
    download(f, got);
    for (size_t i = 0; i < count; i++) {
        float difference = fabsf(got[i] - expected[i]);
        if (!(difference <= apart)) /* catches a NaN as well */
            apart = difference;
    }
    printf("first %d steps: at most %.1e from the host's\n", CHECKED_STEPS, (double)apart);
    free(expected);
    free(other);
    return apart <= 1e-5f; /* fused multiply-adds round differently */
}

/* Runs all steps, writes the pictures, checks them. */
static bool run(field *f, const options *o, const float *start, float *cells)
{
    cgx_event *begin, *end;
    summary first = { 0 }, last = { 0 };
    double total = 0;
    bool good = true;
    char path[4096];

    CGX_TRY(cgx_event_create(f->queue, &begin));
    CGX_TRY(cgx_event_create(f->queue, &end));
    upload(f, start);
    for (int step = 0, some;; step += some) {
        summary s;
        double seconds;

        download(f, cells);
        s = summarise(cells, f->size);
        if (step == 0)
            first = last = s;
        if (!plausible(&last, &s) || !plausible(&first, &s)) {
            fprintf(stderr,
                    "step %d: this is no heat equation: heat %.9g after %.9g, energy %.9g after %.9g,"
                    " from %g to %g after %g to %g\n",
                    step, s.heat, last.heat, s.energy, last.energy, (double)s.coldest, (double)s.hottest,
                    (double)last.coldest, (double)last.hottest);
            good = false;
        }
        last = s;
        if (snprintf(path, sizeof path, "%s/heat-%06d.png", o->folder, step) >= (int)sizeof path) {
            fprintf(stderr, "%s: the name is too long\n", o->folder);
            good = false;
        } else if (picture_write(path, cells, f->size, f->size) == 0) {
            printf("%s  step %6d  mean %.6f  coldest %.4f  hottest %.4f\n", path, step, s.heat, (double)s.coldest,
                   (double)s.hottest);
        } else {
            good = false;
        }
        if (!good || step == o->steps)
            break;

        some = o->steps - step < o->every ? o->steps - step : o->every;
        CGX_TRY(cgx_event_record(begin, f->queue));
        advance(f, some);
        CGX_TRY(cgx_event_record(end, f->queue));
        CGX_TRY(cgx_event_wait(end));
        CGX_TRY(cgx_event_elapsed(begin, end, &seconds));
        total += seconds;
    }
    CGX_TRY(cgx_event_destroy(&begin));
    CGX_TRY(cgx_event_destroy(&end));
    if (good)
        printf("%d steps, %.1f us each, %.2f billion cells a second\n", o->steps, 1e6 * total / o->steps,
               1e-9 * o->steps * f->size * f->size / total);
    return good;
}

int main(int argc, char **argv)
{
    options o = parse_options(argc, argv);
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    float *start, *cells;
    field f = { 0 };
    bool good;

    if (picture_folder(o.folder) != 0)
        return 1;
    start = allocate(o.size);
    cells = allocate(o.size);
    first_field(start, o.size);
    open_field(o.device, o.size, &f);
    CGX_TRY(cgx_queue_get_info(f.queue, &info));
    printf("%s  %s  %d x %d cells\n", info.name, info.description, o.size, o.size);

    good = check_steps(&f, start) && run(&f, &o, start, cells);
    close_field(&f);
    free(start);
    free(cells);
    return good ? 0 : 1;
}

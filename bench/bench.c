/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    DEFAULT_SAMPLES = 15,
    LEAST_SAMPLES = 7, /* where the medians do not move any more */
    MOST_PROCESSES = 16,
    MOST_SIDES = 16,
    SLOW = 10,     /* sides whose work takes so many times a sample's time have a third of the samples */
    SLOWEST = 100, /* and a fifth */
    MOST_SAMPLES = 1000,
    /* OpenMP threads that wait for work keep spinning on a core for some milliseconds. */
    SETTLE_MICROSECONDS = 12000
};
static const double SAMPLE_SECONDS = 10e-3, STABLE = 0.01;

enum { PREPARE, RUN, CHECK };
typedef struct {
    int action, subject;
    int64_t parameter, n;
} request;
typedef struct {
    int right; /* of CHECK */
    double seconds;
} answer;

struct bench_process {
    pid_t id;
    int in, out;
    int spins; /* whether its threads keep a core for a while after work */
};

static struct {
    const char *name, *program;
    const bench_subject *subjects;
    FILE *json;
    const char *only;
    int samples, rows;
    bench_process processes[MOST_PROCESSES];
    int process_count;
} bench;

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", bench.name, what, why);
    exit(1);
}

static int transfer(int file, void *data, size_t bytes, int writing)
{
    for (char *at = data; bytes;) {
        ssize_t n = writing ? write(file, at, bytes) : read(file, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        at += n, bytes -= (size_t)n;
    }
    return 1;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the child ---- */

static void serve(int in, int out, int time)
{
    clockid_t clock = time == BENCH_PROCESSOR_TIME ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    request q;
    while (transfer(in, &q, sizeof q, 0)) {
        const bench_subject *s = bench.subjects + q.subject;
        answer a = { 1, 0 };
        if (q.action == PREPARE && s->prepare) {
            s->prepare(q.parameter);
        } else if (q.action == RUN) {
            s->run(q.parameter, 1);
            double start = now(clock);
            s->run(q.parameter, q.n);
            a.seconds = now(clock) - start;
        } else if (q.action == CHECK && s->check) {
            a.right = s->check(q.parameter);
        }
        if (!transfer(out, &a, sizeof a, 1))
            break;
    }
    exit(0);
}

bench_process *bench_start(const char *variables, int time)
{
    int down[2], up[2];
    if (bench.process_count == MOST_PROCESSES)
        give_up("bench_start", "too many processes");
    bench_process *p = bench.processes + bench.process_count++;
    fflush(NULL);
    /* Closed in children, or one would keep another's pipe open. */
    if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC) || (p->id = fork()) < 0)
        give_up("no child process", strerror(errno));
    if (!p->id) {
        char in[16], out[16], *copy = strdup(variables);
        for (char *v = copy ? strtok(copy, " ") : NULL; v; v = strtok(NULL, " "))
            putenv(v);
        fcntl(down[0], F_SETFD, 0), fcntl(up[1], F_SETFD, 0);
        snprintf(in, sizeof in, "%d", down[0]);
        snprintf(out, sizeof out, "%d", up[1]);
        execl("/proc/self/exe", bench.program, "--serve", in, out, time ? "1" : "0", (char *)NULL);
        give_up("the program cannot start itself", strerror(errno));
    }
    close(down[0]), close(up[1]);
    p->in = up[0], p->out = down[1];
    p->spins = time == BENCH_WALL_TIME;
    return p;
}

/* ---- the parent ---- */

static void request_of(const bench_side *side, int action, int64_t n)
{
    request q = { .action = action, .parameter = side->parameter, .n = n };
    bench_process *asked[] = { side->process, side->beside };
    while (bench.subjects[q.subject].name && strcmp(bench.subjects[q.subject].name, side->subject))
        q.subject++;
    if (!bench.subjects[q.subject].name)
        give_up("no subject", side->subject);
    for (int i = 0; i < (side->beside ? 2 : 1); i++)
        if (!transfer(asked[i]->out, &q, sizeof q, 1))
            give_up(side->subject, "its process has ended");
}

static answer answer_of(const bench_side *side)
{
    bench_process *asked[] = { side->process, side->beside };
    const int count = side->beside ? 2 : 1;
    answer a[2];
    for (int i = 0; i < count; i++)
        if (!transfer(asked[i]->in, a + i, sizeof a[i], 0))
            give_up(side->subject, "its process has ended");
    if (count > 1) {
        a[0].seconds = a[0].seconds > a[1].seconds ? a[0].seconds : a[1].seconds;
        a[0].right &= a[1].right;
    }
    return a[0];
}

static answer ask(const bench_side *side, int action, int64_t n)
{
    request_of(side, action, n);
    return answer_of(side);
}

static double sample(const bench_side *side, int64_t n)
{
    double seconds = ask(side, RUN, n).seconds;
    if (!ask(side, CHECK, 0).right)
        give_up(side->subject, "its result is wrong");
    return seconds;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(double *samples, int n)
{
    qsort(samples, (size_t)n, sizeof *samples, ascending);
}

/* Whether the median of other samples would hardly differ: its standard error is as large as that of a normal distribution's with
 * this distance of quartiles. */
static int is_stable(const double *samples, int n)
{
    double sorted[MOST_SAMPLES];
    memcpy(sorted, samples, (size_t)n * sizeof *sorted);
    sort(sorted, n);
    const double spread = (sorted[n - 1 - n / 4] - sorted[n / 4]) / sorted[n / 2];
    return spread * spread * 0.86 < STABLE * STABLE * n;
}

void bench_compare(bench_side *sides, int count)
{
    static double samples[MOST_SIDES][MOST_SAMPLES];
    int64_t n[MOST_SIDES];
    int settle = 0, every[MOST_SIDES], taken[MOST_SIDES];
    if (count > MOST_SIDES)
        give_up("bench_compare", "too many sides");
    /* The first time in all processes at once: some compile their kernels then. */
    for (int i = 0; i < count; i++) {
        request_of(sides + i, PREPARE, 0);
        request_of(sides + i, RUN, 1);
        request_of(sides + i, CHECK, 0);
    }
    for (int i = 0; i < count; i++) {
        answer_of(sides + i);
        answer_of(sides + i);
        if (!answer_of(sides + i).right)
            give_up(sides[i].subject, "its result is wrong");
    }
    for (int i = 0; i < count; i++) {
        double seconds;
        settle |= sides[i].process != sides[0].process && (sides[i].process->spins || sides[0].process->spins);
        for (n[i] = 1; (seconds = sample(sides + i, n[i])) < SAMPLE_SECONDS;) {
            double factor = 1.2 * SAMPLE_SECONDS / (seconds + 1e-9);
            n[i] = (int64_t)((double)n[i] * (factor > 100 ? 100 : factor)) + 1;
        }
        every[i] = seconds > SLOWEST * SAMPLE_SECONDS ? 5 : seconds > SLOW * SAMPLE_SECONDS ? 3 : 1;
        taken[i] = 0;
    }
    for (int k = 0, stable = 0; k < bench.samples && !stable; k++) {
        stable = k + 1 >= LEAST_SAMPLES;
        for (int i = 0; i < count; i++) {
            if (k % every[i] == 0) {
                if (settle)
                    usleep(SETTLE_MICROSECONDS);
                samples[i][taken[i]++] = sample(sides + i, n[i]) / (double)n[i];
            }
            stable = stable && (every[i] > 1 || is_stable(samples[i], taken[i]));
        }
    }
    for (int i = 0; i < count; i++) {
        sort(samples[i], taken[i]);
        sides[i].seconds = 0.5 * (samples[i][(taken[i] - 1) / 2] + samples[i][taken[i] / 2]);
    }
}

/* Names are plain: nothing in them needs an escape. */
void bench_row(const char *name, double value, const char *unit, const char *rival, double rival_value)
{
    if (!bench.rows)
        printf("%-8s %-34s %10s %-5s %-26s %10s %6s\n", "bench", "case", "value", "unit", "rival", "value", "ratio");
    printf("%-8s %-34s %10.4g %-5s ", bench.name, name, value, unit);
    if (rival)
        printf("%-26s %10.4g %6.2f\n", rival, rival_value, rival_value / value);
    else
        printf("%-26s %10s %6s\n", "-", "-", "-");
    fflush(stdout);
    bench_keep(name, value, unit, rival, rival_value);
}

void bench_keep(const char *name, double value, const char *unit, const char *rival, double rival_value)
{
    if (bench.json) {
        fprintf(bench.json, "%s  {\"bench\": \"%s\", \"case\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", ",
                bench.rows ? ",\n" : "[\n", bench.name, name, value, unit);
        if (rival)
            fprintf(bench.json, "\"rival\": \"%s\", \"rival_value\": %.6g, \"ratio\": %.4g}", rival, rival_value,
                    rival_value / value);
        else
            fprintf(bench.json, "\"rival\": null, \"rival_value\": null, \"ratio\": null}");
    }
    bench.rows++;
}

void bench_begin(int argc, char **argv, const char *name, const bench_subject *subjects)
{
    bench.name = name;
    bench.program = argv[0];
    bench.subjects = subjects;
    bench.samples = DEFAULT_SAMPLES;
    if (argc == 5 && !strcmp(argv[1], "--serve"))
        serve(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && !strcmp(argv[i], "--json")) {
            bench.json = fopen(value, "w");
            if (!bench.json)
                give_up(value, strerror(errno));
        } else if (value && !strcmp(argv[i], "--samples") && atoi(value) > 0 && atoi(value) <= MOST_SAMPLES) {
            bench.samples = atoi(value);
        } else if (value && !strcmp(argv[i], "--only")) {
            bench.only = value;
        } else {
            fprintf(stderr, "usage: %s [--json FILE] [--samples N] [--only CASE]\n", argv[0]);
            exit(2);
        }
    }
}

int bench_wants(const char *name)
{
    return !bench.only || !strcmp(bench.only, name);
}

int bench_end(void)
{
    int failed = 0;
    for (int i = 0; i < bench.process_count; i++) {
        bench_process *p = bench.processes + i;
        int status;
        close(p->out), close(p->in);
        if (waitpid(p->id, &status, 0) != p->id || !WIFEXITED(status) || WEXITSTATUS(status))
            failed = 1;
    }
    if (bench.json) {
        fprintf(bench.json, "%s\n]\n", bench.rows ? "" : "[");
        failed |= ferror(bench.json) || fclose(bench.json);
    }
    return failed;
}

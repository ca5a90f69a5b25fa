/* SPDX-License-Identifier: MIT */
/* What the stacks of one block of 1,024 waiting threads take: resident memory in MiB, and mappings of the process, of
 * which Linux allows 65,530. Stacks are kept for later launches, so it can be read after the launch. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "bench.h"
#include "stacks_kernels.h"

enum { THREADS = 1024 };

static cgx_queue *queue;
static int *out;

static double resident_mib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        exit(1);
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static int mappings(void)
{
    int c, n = 0;
    FILE *f = fopen("/proc/self/maps", "r");
    if (!f)
        exit(1);
    while ((c = getc(f)) != EOF)
        n += c == '\n';
    fclose(f);
    return n;
}

static void run(cgx_status (*launch)(cgx_queue *, cgx_config, int *))
{
    for (int i = 0; i < THREADS; i++)
        out[i] = -1;
    CGX_TRY(launch(queue, cgx_config_1d(1, THREADS), out));
    CGX_TRY(cgx_queue_wait(queue));
    for (int i = 0; i < THREADS; i++)
        if (out[i] != i) {
            fprintf(stderr, "stacks: thread %d left %d\n", i, out[i]);
            exit(1);
        }
}

int main(int argc, char **argv)
{
    static const bench_subject none[] = { { NULL, NULL, NULL, NULL } };
    setenv("CGX_CPU_WORKERS", "1", 1);
    bench_begin(argc, argv, "stacks", none);
    CGX_TRY(cgx_queue_open("cpu", &queue));
    CGX_TRY(cgx_alloc(queue, THREADS * sizeof *out, CGX_MEM_DEVICE, (void **)&out));
    run(pass_launch);
    resident_mib(), mappings(); /* what reading takes is there now */

    double memory = resident_mib();
    int maps = mappings();
    run(wait_once_launch);
    bench_row("1024 threads wait", resident_mib() - memory, "MiB", NULL, 0);
    bench_row("mappings", mappings() - maps, "maps", NULL, 0);
    for (int i = 0; i < 10; i++)
        run(wait_once_launch);
    bench_row("ten launches later", resident_mib() - memory, "MiB", NULL, 0);
    run(reduce_once_launch);
    bench_row("and in a reduce", resident_mib() - memory, "MiB", NULL, 0);
    run(wait_with_array_launch);
    bench_row("and with 1 KiB of variables each", resident_mib() - memory, "MiB", NULL, 0);
    return bench_end();
}

/* SPDX-License-Identifier: MIT */
/*
 * Sorts numbers by a kernel that launches itself, and compares with qsort.
 *
 *     quicksort [NUMBERS]        (1,000,000)
 *
 * Exits with 77 where the device's kernels launch nothing, and with 1 where a result is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quicksort_kernels.h"

/* Orders that a bad choice of pivots would not survive. */
static const char *const orders[] = { "random", "sorted", "falling", "of ten numbers", "all equal" };

static uint32_t number(int order, int64_t i, int64_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    switch (order) {
    case 1: return (uint32_t)i;
    case 2: return (uint32_t)(n - i);
    case 3: return (uint32_t)(state >> 32) % 10;
    case 4: return 7;
    default: return (uint32_t)(state >> 32);
    }
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? strtoll(argv[1], NULL, 10) : 1000000;
    const size_t bytes = (size_t)(n > 0 ? n : 1) * sizeof(uint32_t);
    uint32_t *host = malloc(bytes), *sorted = malloc(bytes), *x, *other;
    cgx_queue *q = NULL;
    cgx_device *device;
    cgx_device_info info = CGX_DEVICE_INFO_INIT;
    cgx_status *status, refused;
    int wrong = 0;

    if (n <= 0 || !host || !sorted) {
        fprintf(stderr, "usage: quicksort [NUMBERS], as many as there is memory for\n");
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
    CGX_TRY(cgx_alloc(q, bytes, CGX_MEM_DEVICE, (void **)&x));
    CGX_TRY(cgx_alloc(q, bytes, CGX_MEM_DEVICE, (void **)&other));
    CGX_TRY(cgx_alloc(q, sizeof *status, CGX_MEM_DEVICE, (void **)&status));
    for (int order = 0; order < (int)(sizeof orders / sizeof orders[0]); order++) {
        for (int64_t i = 0; i < n; i++)
            host[i] = number(order, i, n);
        CGX_TRY(cgx_copy(q, x, host, bytes));
        CGX_TRY(cgx_fill_i32(q, (void *)status, 0, 1));
        CGX_TRY(cgx_queue_wait(q));
        double start = seconds();
        CGX_TRY(quicksort_launch(q, cgx_config_1d(1, SORT_THREADS), n, x, other, x, 0, status));
        CGX_TRY(cgx_queue_wait(q));
        double ours = seconds() - start;
        CGX_TRY(cgx_copy(q, sorted, x, bytes));
        CGX_TRY(cgx_copy(q, &refused, status, sizeof refused));
        CGX_TRY(cgx_queue_wait(q));
        start = seconds();
        qsort(host, (size_t)n, sizeof *host, compare);
        int right = !refused && !memcmp(host, sorted, bytes);
        printf("%lld numbers, %s: %.1f ms, qsort %.1f ms: %s\n", (long long)n, orders[order], 1e3 * ours,
               1e3 * (seconds() - start),
               right     ? "right"
               : refused ? cgx_status_name(refused)
                         : "wrong");
        wrong |= !right;
    }
    CGX_TRY(cgx_free(q, x));
    CGX_TRY(cgx_free(q, other));
    CGX_TRY(cgx_free(q, status));
    CGX_TRY(cgx_queue_close(&q));
    free(host);
    free(sorted);
    return wrong;
}

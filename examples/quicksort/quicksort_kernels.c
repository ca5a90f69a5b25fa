/* SPDX-License-Identifier: MIT */
#include "quicksort_kernels.h"

/* How many of some threads' numbers lie below the pivot, and how many above. */
typedef struct {
    int below, above;
} sides;
CGX_OP_BODY(sides, add_sides, a, b, {
    a.below += b.below;
    a.above += b.above;
    return a;
})

CGX_DEVICE_FN uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
    return a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
}

/* Bitonic, of SORT_SMALL numbers in shared memory. */
CGX_DEVICE_FN void sort_small(cgx_block b, uint32_t *s)
{
    for (int run = 2; run <= SORT_SMALL; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            cgx_sync(b);
            for (int i = cgx_thread_rank(b); i < SORT_SMALL; i += SORT_THREADS) {
                const int k = i ^ step;
                if (k > i && (s[i] > s[k]) == !(i & run)) {
                    const uint32_t t = s[i];
                    s[i] = s[k];
                    s[k] = t;
                }
            }
        }
    cgx_sync(b);
}

/* What is left of a range after too many bad pivots. */
CGX_DEVICE_FN void heap_sort(uint32_t *x, int64_t n)
{
    for (int64_t start = n / 2, end = n; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            const uint32_t t = x[--end];
            x[end] = x[0];
            x[0] = t;
        }
        for (int64_t root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && x[child] < x[child + 1])
                child++;
            if (x[root] >= x[child])
                break;
            const uint32_t t = x[root];
            x[root] = x[child];
            x[child] = t;
        }
    }
}

CGX_KERNEL_EXTERN_WITH(CGX_LAUNCHING(CGX_BLOCK_SIZE(SORT_THREADS, 1, 1)), quicksort, (int64_t, n), (uint32_t *, from),
                       (uint32_t *, other), (uint32_t *, result), (int, depth), (cgx_status *, status))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(uint32_t, s, SORT_SMALL);
    const int rank = cgx_thread_rank(b);

    if (n <= SORT_SMALL) {
        for (int i = rank; i < SORT_SMALL; i += SORT_THREADS)
            s[i] = i < n ? from[i] : 0xffffffffu;
        sort_small(b, s);
        for (int i = rank; i < n; i += SORT_THREADS)
            result[i] = s[i];
        return;
    }
    if (depth == SORT_DEPTH) {
        for (int64_t i = rank; i < n && from != result; i += SORT_THREADS)
            result[i] = from[i];
        cgx_sync(b);
        if (rank == 0)
            heap_sort(result, n);
        return;
    }

    /* Below the pivot to the beginning of the other array, above to its end, in chunks of a few numbers a thread. */
    const uint32_t pivot = median(from[0], from[n / 2], from[n - 1]);
    int64_t below = 0, above = n;
    for (int64_t first = 0; first < n; first += SORT_THREADS * SORT_ITEMS) {
        const int64_t begin = first + rank * SORT_ITEMS, end = begin + SORT_ITEMS < n ? begin + SORT_ITEMS : n;
        sides mine = { 0, 0 };
        for (int64_t i = begin; i < end; i++) {
            mine.below += from[i] < pivot;
            mine.above += from[i] > pivot;
        }
        sides before = cgx_exclusive_scan_op(b, mine, add_sides);
        const sides all = cgx_reduce_op(b, mine, add_sides);
        for (int64_t i = begin; i < end; i++) {
            if (from[i] < pivot)
                other[below + before.below++] = from[i];
            if (from[i] > pivot)
                other[above - 1 - before.above++] = from[i];
        }
        below += all.below;
        above -= all.above;
    }
    cgx_sync(b); /* the middle may be written over what others still read */
    for (int64_t i = below + rank; i < above; i += SORT_THREADS) /* those that equal it are where they belong */
        result[i] = pivot;
    cgx_sync(b);
    if (rank == 0) {
        cgx_config c = cgx_config_1d(1, SORT_THREADS);
        cgx_status failed = CGX_OK;
        if (below > 0)
            failed = quicksort_dlaunch(CGX_FIRE_AND_FORGET, c, below, other, from, result, depth + 1, status);
        if (!failed && above < n)
            failed = quicksort_dlaunch(CGX_FIRE_AND_FORGET, c, n - above, other + above, from + above, result + above,
                                       depth + 1, status);
        if (failed)
            *status = failed;
    }
}

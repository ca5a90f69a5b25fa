/* SPDX-License-Identifier: MIT */
#include "polling_kernels.h"

CGX_DEVICE_FN int await_function(cgx_block b, const int *flag)
{
    CGX_IN_GROUP(b);
    int turns = 0;
    while (!cgx_atomic_load(flag, CGX_ACQUIRE, CGX_SCOPE_BLOCK))
        turns++;
    return turns >= 0;
}

/* The last thread sets its flag at once; each of the others when it has seen what it waits for, so all finish. */
CGX_KERNEL_EXTERN(poll_in_block, (int, what), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, flags, 1032);
    CGX_SHARED(int, ready);
    CGX_SHARED(int, count);
    CGX_SHARED(float, level);
    CGX_SHARED(int, box);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), last = rank == n - 1;
    flags[rank] = 0;
    if (rank < 8)
        flags[n + rank] = 1; /* behind the end all are set */
    if (cgx_elect(b))
        *ready = 1, *count = 0, *level = 0, *box = 0;
    cgx_sync(b);
    if (what == POLL_ONE) {
        while (!last && !cgx_atomic_load(flags + rank + 1, CGX_ACQUIRE, CGX_SCOPE_BLOCK))
            ;
    } else if (what == POLL_TWO) {
        while (!last && !(cgx_atomic_load(ready, CGX_ACQUIRE, CGX_SCOPE_BLOCK) &&
                          cgx_atomic_load(flags + rank + 1, CGX_ACQUIRE, CGX_SCOPE_BLOCK)))
            ;
    } else if (what == POLL_MANY) {
        int seen = 0;
        while (seen < 8) {
            seen = 0;
            for (int i = 1; i <= 8; i++)
                seen += cgx_atomic_load(flags + rank + i, CGX_ACQUIRE, CGX_SCOPE_BLOCK);
        }
    } else if (what == POLL_COUNTER) {
        while (cgx_atomic_load(count, CGX_RELAXED, CGX_SCOPE_BLOCK) != n - 1 - rank)
            ;
        cgx_atomic_fetch_add(count, 1, CGX_RELEASE, CGX_SCOPE_BLOCK);
    } else if (what == POLL_FLOAT) {
        while (cgx_atomic_load(level, CGX_RELAXED, CGX_SCOPE_BLOCK) != 0.5f * (float)(n - 1 - rank))
            ;
        cgx_atomic_fetch_add(level, 0.5f, CGX_RELEASE, CGX_SCOPE_BLOCK);
    } else if (what == POLL_EXCHANGE) { /* N tokens are put into a box that holds one, by the last thread */
        for (int i = 0; last && i < n - 1; i++) {
            int empty = 0;
            while (!cgx_atomic_compare_exchange(box, &empty, 1, CGX_RELEASE, CGX_RELAXED, CGX_SCOPE_BLOCK))
                empty = 0;
        }
        while (!last && !cgx_atomic_exchange(box, 0, CGX_ACQUIRE, CGX_SCOPE_BLOCK))
            ;
    } else if (what == POLL_IN_FUNCTION) {
        if (!last)
            await_function(b, flags + rank + 1);
    } else {
        cgx_tile_2 t = cgx_tiled_partition(b, 2); /* the odd one waits for a flag, the even one for the odd one */
        if (rank % 2)
            while (!last && !cgx_atomic_load(flags + rank + 1, CGX_ACQUIRE, CGX_SCOPE_BLOCK))
                ;
        cgx_sync(t);
    }
    cgx_atomic_store(flags + rank, 1, CGX_RELEASE, CGX_SCOPE_BLOCK);
    out[rank] = rank;
}

CGX_KERNEL_EXTERN_COOPERATIVE(poll_later_block, (int *, flags), (int *, out))
{
    cgx_grid g = cgx_this_grid();
    int64_t rank = cgx_thread_rank(g), behind = rank + cgx_num_threads(cgx_this_block());
    if (behind < cgx_num_threads(g))
        while (!cgx_atomic_load(flags + behind, CGX_ACQUIRE, CGX_SCOPE_DEVICE))
            ;
    out[rank] = behind < cgx_num_threads(g) ? out[behind] + 1 : 1;
    cgx_atomic_store(flags + rank, 1, CGX_RELEASE, CGX_SCOPE_DEVICE);
}

/* barrier[0] counts blocks, barrier[1] phases. */
CGX_DEVICE_FN void grid_barrier(cgx_block b, cgx_grid g, int *barrier)
{
    CGX_IN_GROUP(b);
    cgx_sync(b);
    if (cgx_elect(b)) {
        int phase = cgx_atomic_load(barrier + 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
        if (cgx_atomic_fetch_add(barrier, 1, CGX_ACQ_REL, CGX_SCOPE_DEVICE) == (int)cgx_num_blocks(g) - 1) {
            cgx_atomic_store(barrier, 0, CGX_RELAXED, CGX_SCOPE_DEVICE);
            cgx_atomic_fetch_add(barrier + 1, 1, CGX_RELEASE, CGX_SCOPE_DEVICE);
        } else {
            while (cgx_atomic_load(barrier + 1, CGX_ACQUIRE, CGX_SCOPE_DEVICE) == phase)
                ;
        }
    }
    cgx_sync(b);
}

CGX_KERNEL_EXTERN_COOPERATIVE(software_grid_barrier, (int, rounds), (int *, barrier), (int *, data), (int *, bad))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int64_t rank = cgx_thread_rank(g), n = cgx_num_threads(g);
    int wrong = 0;
    for (int i = 0; i < rounds; i++) {
        data[rank] = i;
        grid_barrier(b, g, barrier);
        for (int k = 1; k < 8; k++)
            wrong += data[(rank + 31 * k) % n] != i;
        grid_barrier(b, g, barrier);
    }
    bad[rank] = wrong;
}

CGX_KERNEL_EXTERN(poll_host, (int *, flag), (int *, out))
{
    cgx_block b = cgx_this_block();
    if (cgx_elect(b)) {
        out[0] = 1;
        cgx_atomic_store(flag, 1, CGX_RELEASE, CGX_SCOPE_SYSTEM);
        while (cgx_atomic_load(flag, CGX_ACQUIRE, CGX_SCOPE_SYSTEM) != 2)
            ;
        out[2] = out[1] + 1;
    }
}

enum { HAS_SUM = 1, HAS_PREFIX = 2 };

CGX_KERNEL_EXTERN(look_back_scan, (const unsigned *, in), (unsigned long long *, status), (int *, next),
                  (unsigned *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(int, part);
    CGX_SHARED(unsigned, before);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    if (rank == 0)
        *part = cgx_atomic_fetch_add(next, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
    cgx_sync(b);
    unsigned v = in[*part * n + rank], inclusive = cgx_inclusive_scan(b, v, CGX_PLUS);
    if (rank == n - 1) {
        unsigned long long sum = inclusive, state = *part ? HAS_SUM : HAS_PREFIX;
        unsigned back = 0;
        cgx_atomic_store(status + *part, state << 32 | sum, CGX_RELEASE, CGX_SCOPE_DEVICE);
        for (int i = *part - 1; i >= 0; i--) {
            unsigned long long s;
            while (!((s = cgx_atomic_load(status + i, CGX_ACQUIRE, CGX_SCOPE_DEVICE)) >> 32))
                ;
            back += (unsigned)s;
            if (s >> 32 == HAS_PREFIX)
                break;
        }
        if (*part)
            cgx_atomic_store(status + *part, (unsigned long long)HAS_PREFIX << 32 | (back + inclusive), CGX_RELEASE,
                             CGX_SCOPE_DEVICE);
        *before = back;
    }
    cgx_sync(b);
    out[*part * n + rank] = *before + inclusive;
}

CGX_KERNEL_EXTERN(look_back_wide, (const unsigned *, in), (unsigned long long *, status), (unsigned *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    CGX_SHARED(unsigned, before);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), part = cgx_group_index(b).x, lane = cgx_thread_rank(t);
    unsigned v = in[part * n + rank], inclusive = cgx_inclusive_scan(b, v, CGX_PLUS), sum = cgx_reduce(b, v, CGX_PLUS);
    if (rank == 0) {
        unsigned long long state = part ? HAS_SUM : HAS_PREFIX;
        cgx_atomic_store(status + part, state << 32 | sum, CGX_RELEASE, CGX_SCOPE_DEVICE);
        *before = 0;
    }
    cgx_sync(b);
    if (part && cgx_meta_group_rank(t) == 0) {
        unsigned back = 0;
        for (int end = part;; end -= 32) { /* lane i looks at part end - 1 - i */
            int i = end - 1 - lane;
            unsigned long long s = (unsigned long long)HAS_PREFIX << 32;
            while (i >= 0 && !((s = cgx_atomic_load(status + i, CGX_ACQUIRE, CGX_SCOPE_DEVICE)) >> 32))
                ;
            cgx_mask prefixes = cgx_ballot(t, s >> 32 == HAS_PREFIX);
            int first = 0; /* of the lanes that see a prefix */
            while (first < 32 && !(prefixes >> first & 1))
                first++;
            back += cgx_reduce(t, lane <= first ? (unsigned)s : 0u, CGX_PLUS);
            if (prefixes)
                break;
        }
        if (lane == 0) {
            cgx_atomic_store(status + part, (unsigned long long)HAS_PREFIX << 32 | (back + sum), CGX_RELEASE,
                             CGX_SCOPE_DEVICE);
            *before = back;
        }
    }
    cgx_sync(b);
    out[part * n + rank] = *before + inclusive;
}

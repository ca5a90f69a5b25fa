/* SPDX-License-Identifier: MIT */
#include "engines_kernels.h"

#define KERNEL(name) CGX_KERNEL_EXTERN(name, (int, n), (const float *, in), (float *, out))
#define PLACE cgx_thread_rank(cgx_this_grid())
/* Of a declared size, which compiled entries have as a constant. */
#define DECLARED(name, x, y) \
    CGX_KERNEL_EXTERN_WITH(CGX_BLOCK_SIZE(x, y, 1), name, (int, n), (const float *, in), (float *, out))

KERNEL(block_reduce)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    (void)n;
    s[t] = in[PLACE];
    cgx_sync(b);
    for (int d = 512; d > 0; d >>= 1) {
        if (t < d && t + d < size)
            s[t] += s[t + d];
        cgx_sync(b);
    }
    out[PLACE] = s[0] + (float)t;
}

/* The arrays change places in each round: pointers that live across barriers. */
KERNEL(block_scan)
{
    CGX_SHARED_ARRAY(float, first, 1024);
    CGX_SHARED_ARRAY(float, second, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    float *from = first, *to = second;
    (void)n;
    from[t] = in[PLACE];
    cgx_sync(b);
    for (int d = 1; d < size; d <<= 1) {
        to[t] = t >= d ? from[t] + from[t - d] : from[t];
        cgx_sync(b);
        float *other = from;
        from = to, to = other;
    }
    out[PLACE] = from[t];
}

KERNEL(tile_shuffles)
{
    cgx_tile_32 w = cgx_tiled_partition(cgx_this_block(), 32);
    cgx_tile_8 e = cgx_tiled_partition(w, 8);
    const int lane = cgx_thread_rank(w);
    float v = in[PLACE];
    (void)n;
    for (int m = 16; m; m >>= 1)
        v += cgx_shfl_xor(w, v, m);
    v += cgx_shfl(w, v * 0.5f, lane * 7) + cgx_shfl_up(e, v, 3) - cgx_shfl_down(w, v, lane & 3);
    double wide = cgx_shfl_xor(e, (double)v, 5);
    out[PLACE] = v + (float)wide;
}

KERNEL(reduce_collective)
{
    cgx_block b = cgx_this_block();
    float v = in[PLACE], best = cgx_reduce(b, v, CGX_GREATER);
    int rounds = 0;
    /* The result of a block's reduction is the same for all, and so is how often the loop runs. */
    while (cgx_reduce(b, v, CGX_PLUS) > 4.0f && rounds < n) {
        v *= 0.5f;
        rounds++;
    }
    out[PLACE] = v + best + (float)rounds;
}

KERNEL(tiles_collective)
{
    cgx_tile_32 w = cgx_tiled_partition(cgx_this_block(), 32);
    cgx_tile_4 q = cgx_tiled_partition(w, 4);
    float v = in[PLACE];
    float sum = cgx_reduce(w, v, CGX_PLUS), low = cgx_reduce(q, v, CGX_LESS);
    int count = cgx_reduce(q, (int)(v > 0.5f), CGX_PLUS);
    float below = cgx_exclusive_scan(w, v, CGX_PLUS), upto = cgx_inclusive_scan(q, sum - v, CGX_GREATER);
    (void)n;
    out[PLACE] = sum * 3 + low + (float)count + below - upto;
}

KERNEL(votes_and_loops)
{
    cgx_block b = cgx_this_block();
    cgx_tile_16 h = cgx_tiled_partition(b, 16);
    float v = in[PLACE], r = 0;
    for (int i = 0; i < n; i++) {
        cgx_mask m = cgx_ballot(h, v > (float)i / (float)n);
        r += (float)__builtin_popcountll(m);
        if (!cgx_any(b, v > (float)i / 8.0f)) /* all leave together */
            break;
        r += cgx_all(h, v > 0.1f) ? 0.5f : 0.25f;
    }
    out[PLACE] = r;
}

KERNEL(matrix_tiles)
{
    CGX_SHARED_ARRAY2(float, a, 32, 33);
    cgx_block b = cgx_this_block();
    const cgx_dim3 i = cgx_thread_index(b), d = cgx_dim_threads(b);
    float sum = 0;
    for (int k = 0; k < n; k += 2) {
        if (i.x < 32)
            a[(i.y + i.z * d.y) & 31][i.x] = in[(PLACE + k) % (cgx_num_threads(cgx_this_grid()))];
        cgx_sync(b);
        for (int j = 0; j < d.x && j < 32; j++)
            sum += a[(i.y + i.z * d.y) & 31][j] * (float)(j + k);
        cgx_sync(b);
    }
    out[PLACE] = sum;
}

KERNEL(private_arrays)
{
    cgx_block b = cgx_this_block();
    float mine[16], r = 0;
    for (int i = 0; i < 16; i++)
        mine[i] = in[PLACE] * (float)i;
    cgx_sync(b);
    for (int i = 0; i < n; i++) {
        mine[(i * 5) & 15] += mine[(i + cgx_thread_rank(b)) & 15];
        cgx_sync(b);
    }
    for (int i = 0; i < 16; i++)
        r = r * 0.5f + mine[i];
    out[PLACE] = r;
}

/* Waits inside functions, one of them not declared to be inlined. */
static float rotate(cgx_block b, float *s, float v, int by)
{
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    s[t] = v;
    cgx_sync(b);
    float r = s[(t + by) % size];
    cgx_sync(b);
    return r;
}
CGX_DEVICE_FN float rotated_twice(cgx_block b, float *s, float v, int by)
{
    return rotate(b, s, rotate(b, s, v, by) * 1.5f, by + 1);
}
KERNEL(helpers)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    float v = in[PLACE];
    for (int i = 0; i < n; i += 3)
        v += rotated_twice(cgx_this_block(), s, v, i) * 0.125f;
    out[PLACE] = v;
}

/* Threads that have ended count as arrived. */
KERNEL(early_exit)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    s[t] = in[PLACE];
    out[PLACE] = -1.0f;
    if (t >= size - 5)
        return;
    for (int i = 0; i < n; i++) {
        cgx_sync(b);
        float v = s[(t + i) % (size - 5)];
        cgx_sync(b);
        s[t] = v + (float)i;
    }
    out[PLACE] = s[t];
}

/* Each thread leaves the loop in a round of its own; the others go on waiting for each other. */
KERNEL(ragged_loop)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b);
    float r = 0;
    s[t] = in[PLACE];
    for (int i = 0; i <= t % n; i++) {
        cgx_sync(b);
        r += s[(t + i * 3) % cgx_num_threads(b)];
    }
    out[PLACE] = r;
}

/* Collectives of one tile while the others have gone ahead. */
KERNEL(first_warp)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    CGX_SHARED_ARRAY(float, parts, 32);
    cgx_block b = cgx_this_block();
    cgx_tile_32 w = cgx_tiled_partition(b, 32);
    const int t = cgx_thread_rank(b), lane = cgx_thread_rank(w), warps = cgx_num_threads(b) / 32;
    float v = in[PLACE];
    (void)n;
    for (int d = 16; d; d >>= 1) {
        s[t] = v;
        cgx_sync(w);
        float other = lane < d ? s[t + d] : 0;
        cgx_sync(w);
        v += other;
    }
    if (lane == 0)
        parts[t / 32] = v;
    cgx_sync(b);
    if (t / 32 == 0) {
        float p = lane < warps ? parts[lane] : 0;
        p = cgx_reduce(w, p, CGX_PLUS) + cgx_shfl(w, p, lane ^ 1);
        parts[lane] = p;
    } else if (t / 32 == 1) {
        v += (float)cgx_exclusive_scan(w, (double)v, CGX_PLUS);
    }
    cgx_sync(b);
    out[PLACE] = parts[t % 32] + v;
}

/* One warp fills a ring of two places, the others empty it. Of a declared size, too: what an entry keeps on its own stack is not
 * there when a thread comes back from a wait. */
typedef struct {
    cgx_mbarrier full[2], empty[2];
    float buffer[2][32];
} ring_memory;
CGX_DEVICE_FN float ring_sum(cgx_block b, ring_memory *ring, int n, const float *in, int64_t place, int64_t all)
{
    CGX_IN_GROUP(b);
    const int t = cgx_thread_rank(b), lane = t % 32, size = cgx_num_threads(b);
    float sum = 0;
    if (size < 64)
        return 0;
    if (t == 0)
        for (int i = 0; i < 2; i++) {
            cgx_mbarrier_init(&ring->full[i], 32);
            cgx_mbarrier_init(&ring->empty[i], (uint32_t)size - 32);
        }
    cgx_sync(b);
    if (t < 32) {
        for (int k = 0; k < n; k++) {
            const int at = k & 1, round = k >> 1;
            if (round > 0)
                cgx_mbarrier_wait_parity(&ring->empty[at], (round - 1) & 1);
            ring->buffer[at][lane] = in[(place + k) % all];
            cgx_mbarrier_arrive(&ring->full[at]);
        }
    } else {
        for (int k = 0; k < n; k++) {
            const int at = k & 1, round = k >> 1;
            cgx_mbarrier_wait_parity(&ring->full[at], round & 1);
            sum += ring->buffer[at][(lane + t / 32) % 32];
            cgx_mbarrier_arrive(&ring->empty[at]);
        }
    }
    return sum;
}
#define RING                                                                                             \
    {                                                                                                    \
        CGX_SHARED(ring_memory, memory);                                                                 \
        out[PLACE] = ring_sum(cgx_this_block(), memory, n, in, PLACE, cgx_num_threads(cgx_this_grid())); \
    }
KERNEL(ring)
RING DECLARED(declared_ring, 256, 1) RING

    /* Whole warps part, and nobody in them: one polls, one ends early. */
    KERNEL(polling_warps)
{
    CGX_SHARED(ring_memory, ring);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), lane = t % 32, size = cgx_num_threads(b);
    const cgx_dim3 at = cgx_thread_index(b);
    float sum = (float)at.x + 0.5f * (float)at.y, polls = 0.0f;
    if (t == 0)
        for (int i = 0; i < 2; i++) {
            cgx_mbarrier_init(&ring->full[i], 32);
            cgx_mbarrier_init(&ring->empty[i], (uint32_t)size);
        }
    cgx_sync(b);
    for (int k = 0; k < n; k++) {
        if (t < 32) {
            if (k > 1)
                while (!cgx_mbarrier_test_wait_parity(&ring->empty[k & 1], ((k >> 1) - 1) & 1))
                    polls = 0.25f;
            ring->buffer[k & 1][lane] = in[t + k] + polls * 0.0f;
            cgx_mbarrier_arrive(&ring->full[k & 1]);
        }
        cgx_mbarrier_wait_parity(&ring->full[k & 1], (k >> 1) & 1);
        sum += ring->buffer[k & 1][(lane + t / 32) % 32];
        if (lane == k % 32)
            sum *= 0.5f;
        cgx_mbarrier_arrive(&ring->empty[k & 1]);
    }
    cgx_sync(b);
    if (t / 32 == 1) {
        out[PLACE] = sum;
        return;
    }
    cgx_sync(b);
    out[PLACE] = sum + ring->buffer[0][lane] + (float)at.z;
}

KERNEL(warps_leave)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), warp = t / 32, size = cgx_num_threads(b);
    float v = in[PLACE];
    s[t] = v;
    cgx_sync(b);
    for (int k = 0; k < n; k++) {
        if (warp == k) {
            out[PLACE] = v - 1.0f;
            return;
        }
        v += s[(t + k) % size];
        cgx_sync(b);
        if (warp & 1)
            s[t] = v;
        cgx_sync(b);
    }
    out[PLACE] = v;
}

/* Rounds and branches of a warp's own, with collectives of it and of its parts; then of two warps, where there are as many. */
KERNEL(warps_apart)
{
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    cgx_tile_32 w = cgx_tiled_partition(b, 32);
    cgx_tile_8 q = cgx_tiled_partition(w, 8);
    float v = in[PLACE];
    for (int k = 0; k < cgx_meta_group_rank(w) % 5 + n / 3; k++) {
        v += cgx_reduce(w, v, CGX_PLUS) * 0.01f;
        v += cgx_shfl_xor(w, v, k & 31);
        if (cgx_any(w, v > 100.0f)) {
            v *= 0.01f;
            cgx_sync(w);
        } else {
            v += (float)cgx_ballot(q, v > 1.0f);
        }
        if (cgx_thread_rank(w) & 1)
            v += 1.0f;
        v += cgx_shfl(q, v, t & 7);
    }
    if (size % 64 == 0) {
        cgx_tile_64 two = cgx_tiled_partition(b, 64);
        for (int k = 0; k < t / 64 % 3; k++)
            v = v * 0.5f + cgx_shfl_down(two, v, 33) + cgx_reduce(two, v, CGX_PLUS) * 0.01f;
    }
    v += cgx_reduce(b, v, CGX_GREATER) * 0.125f;
    out[PLACE] = v;
}

/* Objects of a thread's own, by address, across waits that each thread comes to on a way of its own: what a pointer was made to
 * point at before a wait is there behind it, in a helper that waits too, and as aligned as it was declared. */
typedef struct {
    float value, *other;
    int line[3];
} kept;
static __attribute__((noinline)) float through(cgx_tile_8 q, const kept *of, kept by_value, float *const *list)
{
    kept copy = *of, *const mine = &copy;
    float in_braces[3] = { of->value, by_value.value, **list }, r = 0;
    for (int i = 0; i < 3; i++) {
        cgx_sync(q);
        r += in_braces[i] * 0.25f + *mine->other + (float)by_value.line[i];
        *list[i & 1] += 0.5f;
        mine->other = mine->other == &copy.value ? by_value.other : &copy.value;
    }
    return r;
}
CGX_DEVICE_FN float pointed_at(cgx_block b, float *s, float x)
{
    cgx_tile_8 q = cgx_tiled_partition(b, 8);
    const int t = cgx_thread_rank(b);
    float wide[32] __attribute__((aligned(128))), y = x + 1.0f, *list[2] = { &x, t & 1 ? &y : wide + 3 }, r = 0;
    kept own = { x, &y, { t, 2 * t, 3 } }, *at = &own;
    void *volatile place = wide; /* compilers know nothing of it */
    for (int i = 0; i < 32; i++)
        wide[i] = (float)(i + t);
    if (t / 8 % 2 == 0) {
        for (int i = 0; i < t / 8 % 4 + 1; i++) {
            s[t] = *at->other + *list[i & 1];
            cgx_sync(q);
            r += s[t ^ 1] + through(q, at, own, list);
            at->other = at->other == &y ? list[1] : &y;
            own.line[i % 3] += (int)((uintptr_t)place & 127);
            cgx_sync(q);
        }
    }
    cgx_sync(b);
    return r + x + y * 2.0f + at->value + (float)(own.line[0] + own.line[1] + own.line[2]) + wide[3];
}
#define POINTERS                                                 \
    {                                                            \
        CGX_SHARED_ARRAY(float, s, 1024);                        \
        (void)n;                                                 \
        out[PLACE] = pointed_at(cgx_this_block(), s, in[PLACE]); \
    }
KERNEL(pointers)
POINTERS
DECLARED(declared_pointers, 256, 1)
POINTERS

/* Threads that come to a place together count with one atomic. */
KERNEL(appended)
{
    CGX_SHARED(int, count);
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b);
    float v = in[PLACE];
    (void)n;
    if (t == 0)
        *count = 0;
    s[t] = 0;
    cgx_sync(b);
    if (v > 0.4f) {
        cgx_coalesced c = cgx_coalesced_threads();
        int first = 0;
        if (cgx_thread_rank(c) == 0)
            first = cgx_atomic_fetch_add(count, cgx_num_threads(c), CGX_RELAXED, CGX_SCOPE_BLOCK);
        first = cgx_shfl(c, first, 0);
        s[t] = cgx_reduce(c, v, CGX_PLUS) + (float)cgx_thread_rank(c) + (float)(first < cgx_num_threads(b));
    }
    cgx_sync(b);
    out[PLACE] = s[t] + (float)*count;
}

KERNEL(labels)
{
    cgx_tile_32 w = cgx_tiled_partition(cgx_this_block(), 32);
    float v = in[PLACE];
    const int label = (int)(v * 5.0f);
    cgx_coalesced same = cgx_labeled_partition(w, label);
    float sum = cgx_reduce(same, v, CGX_PLUS), below = cgx_exclusive_scan(same, v, CGX_PLUS);
    cgx_mask equal = cgx_match_any(w, label);
    (void)n;
    out[PLACE] = sum - below + (float)cgx_thread_rank(same) + (float)__builtin_popcountll(equal) * 0.5f;
}

KERNEL(in_a_switch)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    float v = in[PLACE];
    for (int i = 0; i < n; i++) {
        cgx_sync(b);
        s[t] = v;
        cgx_sync(b);
        switch ((t + i) % 4) {
        case 0: v += s[(t + 1) % size]; break;
        case 1:
            for (int k = 0; k < i; k++)
                v = v * 0.5f + s[(t + k) % size];
            break;
        case 2:
            if (i & 1)
                continue;
            v -= 1.0f;
            break;
        default: v *= 0.75f;
        }
        v += 0.125f;
    }
    out[PLACE] = v;
}

/* Questions inside of questions whether there is a neighbour: rows are cut at each. */
KERNEL(neighbours)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b), x = cgx_thread_index(b).x;
    const int64_t g = PLACE, all = cgx_num_threads(cgx_this_grid());
    float v = in[g];
    for (int i = 0; i < n; i++) {
        s[t] = v;
        cgx_sync(b);
        const float left = t > 0 ? s[t - 1] : g > 0 ? in[g - 1] : 0;
        const float right = t < size - 1 ? s[t + 1] : g < all - 1 ? in[g + 1] : 0.5f;
        const float far = x >= i ? x < 7 ? s[t] * 0.5f : in[t] : s[(t + i) % size];
        v = 0.25f * (left + right) + 0.125f * far + 0.25f * v;
        cgx_sync(b);
    }
    out[g] = v;
}

/* What a thread reads is the same in each row: rows go side by side. */
KERNEL(rows_read_alike)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b), x = cgx_thread_index(b).x, y = cgx_thread_index(b).y;
    float sum = in[PLACE];
    for (int i = 0; i < n; i++) {
        s[t] = sum * 0.5f;
        cgx_sync(b);
        for (int j = 0; j < 8; j++)
            sum += s[(x + 3 * j) % size] * in[(y + i + j) % size];
        cgx_sync(b);
        sum *= 0.125f;
    }
    out[PLACE] = sum;
}

/* More sums than there are registers. */
KERNEL(many_sums)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b), x = cgx_thread_index(b).x, y = cgx_thread_index(b).y;
    float sums[6][6] = { { 0 } }, total = 0;
    for (int k = 0; k < n; k++) {
        s[t] = in[PLACE] + (float)k;
        cgx_sync(b);
        for (int m = 0; m < 3; m++)
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    sums[i][j] = sums[i][j] * 0.5f + s[(x + 5 * i + m) % size] * s[(y + 7 * j + m) % size];
        cgx_sync(b);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            total = total * 0.75f + sums[i][j];
    out[PLACE] = total;
}

/* Values that go around a loop, the old ones still in use when the new ones are there. */
KERNEL(kept_and_replaced)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    const float first = in[PLACE] * 2.0f;
    float now = first, before = 0.5f, last = 0;
    for (int i = 0; i < n; i++) {
        s[t] = now;
        cgx_sync(b);
        const float next = s[(t + i + 1) % size] * 0.5f + before * 0.25f;
        cgx_sync(b);
        s[t] = next - now;
        cgx_sync(b);
        last = last * 0.5f + s[(t + 1) % size] + first * 0.125f;
        cgx_sync(b);
        before = now;
        now = next;
    }
    out[PLACE] = now + before * 3.0f + last;
}

/* What threads exchange in a loop: floats, doubles, integers, halves, of the block, of a tile, one after the other. */
#define EXCHANGES                                                                          \
    {                                                                                      \
        cgx_block b = cgx_this_block();                                                    \
        cgx_tile_16 q = cgx_tiled_partition(b, 16);                                        \
        const int t = cgx_thread_rank(b), size = cgx_num_threads(b);                       \
        float v = in[PLACE];                                                               \
        double d = v;                                                                      \
        for (int i = 0; i < n; i++) {                                                      \
            v = v * 0.5f + cgx_shfl(b, v, (t + i) % size);                                 \
            v = v * 0.5f + cgx_shfl_xor(q, v, i & 15) * 0.25f;                             \
            d = d * 0.25 + cgx_shfl(b, d, size - 1 - t) + (double)cgx_shfl(b, v, i);       \
            const int k = cgx_shfl_up(q, (int)(v * 64.0f), 1) ^ i;                         \
            v += (float)cgx_shfl(b, (unsigned short)k, (t * 3) % size) * 0x1p-16f;         \
            v += cgx_reduce(b, v, CGX_GREATER) * 0.125f - (float)cgx_shfl(b, d, i) * 0.5f; \
        }                                                                                  \
        out[PLACE] = v + (float)d;                                                         \
    }
KERNEL(exchanges)
EXCHANGES
DECLARED(declared_exchanges, 256, 1)
EXCHANGES

/* Strides whose index wraps inside of what a vector loop would load at once. */
KERNEL(wrapping_strides)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b);
    float v = in[PLACE];
    for (int i = t; i < 1024; i += cgx_num_threads(b))
        s[i] = v + (float)i;
    cgx_sync(b);
    v += s[(t * 3) & 255];
    cgx_sync(b);
    v = v * 0.5f + s[(t * 5) & 127];
    cgx_sync(b);
    v = v * 0.5f + s[((t * 7) & 63) + n];
    cgx_sync(b);
    v = v * 0.5f + s[(uint8_t)(t * 3) / 8] + s[(t * 3 + n) & 255];
    out[PLACE] = v;
}

KERNEL(plain_loop)
{
    float v = in[PLACE];
    for (int i = 0; i < n; i++)
        v = v * 0.75f + 0.1f;
    out[PLACE] = v;
}

/* ---- what other compilers of barriers have got wrong, by their public reports; written anew ---- */

/* Threads make different numbers of rounds, and all of them those with a barrier: pocl#1167. */
CGX_KERNEL_EXTERN(rounds_of_ones_own, (int, n), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    const int64_t g = cgx_thread_rank(cgx_this_grid());
    float v = in[g];
    for (int i = 0; i < n + (t & 3); i++) {
        v = v * 0.5f + (float)i;
        if (i < n) {
            s[t] = v;
            cgx_sync(b);
            v += s[(t + i) % size] * 0.25f;
            cgx_sync(b);
        }
    }
    out[g] = v;
}

/* A barrier under a condition that no compiler can know to be the same for all, behind a loop that begins with one: pocl#1794. */
CGX_KERNEL_EXTERN(agreed_by_value, (int, n), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(int, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    const int64_t g = cgx_thread_rank(cgx_this_grid());
    int mine = in[g] >= 0.0f, all = mine; /* the input's values are */
    s[t] = mine;
    for (int d = 1; d < size; d *= 2) {
        cgx_sync(b);
        const int at = 2 * d * t;
        if (at < size)
            s[at] &= at + d < size ? s[at + d] : 1;
    }
    if (mine) {
        cgx_sync(b);
        all = s[0];
        cgx_sync(b);
        if (all && n > 4) {
            s[t] = t;
            cgx_sync(b);
            all += s[size - 1 - t];
        }
    }
    out[g] = (float)all;
}

/* Barriers under one condition after the other, in a loop: where a compiler copies what is behind each of them, 2^20 copies
 * (pocl#205). */
#define CONDITION(bit)                        \
    if ((n + round) >> ((bit) % 5) & 1) {     \
        s[t] = v;                             \
        cgx_sync(b);                          \
        v = v * 0.5f + s[(t + (bit)) % size]; \
        cgx_sync(b);                          \
    }
CGX_KERNEL_EXTERN(many_conditions, (int, n), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    const int64_t g = cgx_thread_rank(cgx_this_grid());
    float v = in[g];
    for (int round = 0; round < 3; round++) {
        CONDITION(0)
        CONDITION(1)
        CONDITION(2)
        CONDITION(3)
        CONDITION(4)
        CONDITION(5)
        CONDITION(6)
        CONDITION(7)
        CONDITION(8)
        CONDITION(9)
        CONDITION(10)
        CONDITION(11)
        CONDITION(12) CONDITION(13) CONDITION(14) CONDITION(15) CONDITION(16) CONDITION(17) CONDITION(18) CONDITION(19)
    }
    out[g] = v;
}

/* Blocks that end before the barrier as a whole, between others that go on: AdaptiveCpp#809. */
CGX_KERNEL_EXTERN(whole_blocks_leave, (int, n), (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    const int64_t g = cgx_thread_rank(cgx_this_grid()), rank = cgx_block_rank(cgx_this_grid());
    out[g] = in[g];
    if (rank % 2 == n % 2)
        return;
    cgx_sync(b);
    out[g] += (float)cgx_reduce(b, cgx_thread_rank(b) & n, CGX_PLUS);
}

/* A value made before a barrier in a loop's round and used behind it: AdaptiveCpp#2177. */
CGX_KERNEL_EXTERN(kept_over_a_barrier, (int, n), (const float *, in), (float *, out))
{
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    const int64_t g = cgx_thread_rank(cgx_this_grid());
    for (int base = 0; base < n * size; base += size) {
        const int mine = base + t;
        cgx_sync(b);
        out[g] = (float)mine + in[g];
    }
}

/* What was read in the last round is what a barrier came behind: AdaptiveCpp#2137. */
CGX_KERNEL_EXTERN(read_before_a_barrier, (int, n), (const float *, in), (float *, out))
{
    CGX_SHARED_ARRAY(float, s, 1024);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    const int64_t g = cgx_thread_rank(cgx_this_grid());
    float last = 0.0f;
    s[t] = in[g];
    cgx_sync(b);
    for (int i = 0; i < n; i++) {
        last = s[(t + i) % size];
        cgx_sync(b);
        if (i == n / 2)
            s[t] = (float)(i + t);
        cgx_sync(b);
    }
    out[g] = last;
}

DECLARED(declared_line, 256, 1)
{
    CGX_SHARED_ARRAY(float, s, 256);
    cgx_block b = cgx_this_block();
    const int t = cgx_thread_rank(b), last = cgx_num_threads(b) - 1;
    float v = in[PLACE];
    for (int i = 0; i < n; i++) {
        s[t] = v;
        cgx_sync(b);
        v = v * 0.5f + s[last - t] + cgx_reduce(b, v, CGX_PLUS) * 0.001f;
        if (t >= n && t < last - i)
            v += s[t - n];
        cgx_sync(b);
    }
    out[PLACE] = v;
}

DECLARED(declared_plane, 16, 16)
{
    CGX_SHARED_ARRAY2(float, s, 18, 18);
    cgx_block b = cgx_this_block();
    const int x = cgx_thread_index(b).x, y = cgx_thread_index(b).y, right = cgx_dim_threads(b).x - 1;
    const float v = in[PLACE];
    s[y + 1][x + 1] = v;
    if (y == 0)
        s[0][x + 1] = v * 0.5f;
    if (y == 15)
        s[17][x + 1] = v * 0.25f;
    if (x == 0)
        s[y + 1][0] = v + (float)n;
    if (x == right)
        s[y + 1][right + 2] = v - (float)n;
    cgx_sync(b);
    out[PLACE] = s[y + 1][x] + s[y + 1][x + 2] + s[y][x + 1] + s[y + 2][x + 1];
}

/* Shared arrays whose addresses go no further than the kernel: a tree of halves, one of two chosen at run time, values of other types in
 * the same place, counts, and what every thread replaces. */
typedef struct {
    float v;
    int from;
} small_pair;
CGX_DEVICE_FN float of_small_arrays(cgx_block b, int n, float v, float *s, small_pair *pairs, unsigned *counts,
                                    float *other)
{
    const int t = cgx_thread_rank(b), size = cgx_num_threads(b);
    float result = 0;
    for (int i = 0; i < n; i++) {
        float *const here = i & 1 ? s : other;
        here[t] = v * (float)(i + 1);
        counts[t] = 0;
        pairs[t].v = v;
        pairs[t].from = t;
        cgx_sync(b);
        for (int d = size / 2; d > 0; d >>= 1) {
            if (t < d)
                here[t] += here[t + d];
            cgx_sync(b);
        }
        cgx_atomic_fetch_add(&counts[t * 7 % size & ~3], (unsigned)t, CGX_RELAXED, CGX_SCOPE_BLOCK);
        const small_pair p = pairs[(t + i + 1) % size];
        cgx_sync(b);
        result += here[0] + p.v + (float)p.from + (float)counts[t];
        unsigned bits;
        memcpy(&bits, &here[t / 2], sizeof bits);
        cgx_sync(b);
        memcpy(&counts[t], &v, sizeof v);
        cgx_sync(b);
        memcpy(&here[t], &counts[size - 1 - t], sizeof v);
        result += (float)(bits >> 8 & 255) + here[t];
        cgx_sync(b);
    }
    return result;
}
KERNEL(small_arrays)
{
    CGX_SHARED_ARRAY(float, s, 1024);
    CGX_SHARED_ARRAY(small_pair, pairs, 1024);
    CGX_SHARED_ARRAY(unsigned, counts, 1024);
    CGX_SHARED_ARRAY(float, other, 1024);
    out[PLACE] = of_small_arrays(cgx_this_block(), n, in[PLACE], s, pairs, counts, other);
}
DECLARED(declared_small_arrays, 256, 1)
{
    CGX_SHARED_ARRAY(float, s, 256);
    CGX_SHARED_ARRAY(small_pair, pairs, 256);
    CGX_SHARED_ARRAY(unsigned, counts, 256);
    CGX_SHARED_ARRAY(float, other, 256);
    out[PLACE] = of_small_arrays(cgx_this_block(), n, in[PLACE], s, pairs, counts, other);
}

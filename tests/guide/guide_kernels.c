/* SPDX-License-Identifier: MIT */
#include "guide_kernels.h"

CGX_KERNEL_EXTERN(guide_leader_loads, (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(int, x);
    if (cgx_thread_rank(b) == 0)
        *x = *in;
    cgx_sync(b);
    out[cgx_thread_rank(cgx_this_grid())] = *x + cgx_thread_rank(b);
}

CGX_DEVICE_FN guide_place place_of(cgx_group g, int rank_in_block)
{
    guide_place p = { cgx_thread_rank(g), cgx_num_threads(g), cgx_meta_group_rank(g), cgx_meta_group_size(g),
                      cgx_shfl(g, rank_in_block, 0) };
    return p;
}

CGX_KERNEL_EXTERN(guide_tiles_of_32_and_4, (guide_place *, of_32), (guide_place *, of_4))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 tile32 = cgx_tiled_partition(b, 32);
    cgx_tile_4 tile4 = cgx_tiled_partition(b, 4);
    int rank = cgx_thread_rank(b);
    of_32[rank] = place_of(cgx_as_group(tile32), rank);
    of_4[rank] = place_of(cgx_as_group(tile4), rank);
}

CGX_KERNEL_EXTERN(guide_tile_of_128, (const int *, in), (int *, opposite), (int *, sum))
{
    CGX_BLOCK_TILE_MEMORY(memory, GUIDE_TILE_THREADS);
    CGX_SHARED_ARRAY(int, s, GUIDE_TILE_THREADS);
    cgx_block b = cgx_this_block_with(memory);
    cgx_tile_128 tile = cgx_tiled_partition(b, 128);
    int rank = cgx_thread_rank(b), first = rank - cgx_thread_rank(tile);
    s[rank] = in[rank];
    cgx_sync(tile);
    opposite[rank] = s[first + 127 - cgx_thread_rank(tile)];
    sum[rank] = cgx_reduce(tile, in[rank], CGX_PLUS);
}

CGX_KERNEL_EXTERN(guide_coalesced_branch, (const int *, in), (guide_active *, out))
{
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b);
    guide_active w = { -1, 0, -1, 0, -1, 0 };
    if (in[rank] != 0) { /* the guide compares with one number, which lets one thread of the warp in */
        cgx_coalesced active = cgx_coalesced_threads();
        cgx_sync(active);
        w.rank = cgx_thread_rank(active), w.size = cgx_num_threads(active);
        w.meta_rank = cgx_meta_group_rank(active), w.meta_size = cgx_meta_group_size(active);
        w.first = cgx_shfl(active, rank, 0);
        w.sum = cgx_reduce(active, in[rank], CGX_PLUS);
    }
    out[rank] = w;
}

CGX_KERNEL_EXTERN(guide_one_stage, (int, n), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, local, GUIDE_CHUNK);
    for (int index = 0, count; index < n; index += count) {
        cgx_memcpy_async_n(b, local, GUIDE_CHUNK, in + index, n - index);
        count = n - index < GUIDE_CHUNK ? n - index : GUIDE_CHUNK;
        cgx_wait(b);
        for (int i = cgx_thread_rank(b); i < count; i += cgx_num_threads(b))
            out[index + i] = local[count - 1 - i];
        cgx_sync(b); /* the guide goes on without it, and the next copy overwrites what a slow thread still reads */
    }
}

/* The guide leaves the last chunk to code behind its loop, and the sync to the reader. */
CGX_KERNEL_EXTERN(guide_two_stages, (int, n), (const int *, in), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY2(cgx_int4, room, 2, GUIDE_CHUNK / 4);
    int stage = 0;
    cgx_memcpy_async_n(b, (int *)room[0], GUIDE_CHUNK, in, n);
    for (int index = 0; index < n; index += GUIDE_CHUNK, stage ^= 1) {
        const int *local = (const int *)room[stage];
        int next = index + GUIDE_CHUNK, count = n - index < GUIDE_CHUNK ? n - index : GUIDE_CHUNK;
        if (next < n) {
            cgx_memcpy_async_n(b, (int *)room[stage ^ 1], GUIDE_CHUNK, in + next, n - next);
            cgx_wait_prior(b, 1); /* for the copy before the one that was just started */
        } else {
            cgx_wait(b);
        }
        for (int i = cgx_thread_rank(b); i < count; i += cgx_num_threads(b))
            out[index + i] = local[count - 1 - i];
        cgx_sync(b); /* the next round copies into room[stage] */
    }
}

CGX_KERNEL_EXTERN(guide_odd_even, (const int *, in), (int *, count), (int *, sum))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 tile32 = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b), elem = in[rank];
    cgx_coalesced subtile = cgx_binary_partition(tile32, elem & 1);
    count[rank] = cgx_num_threads(subtile);
    sum[rank] = cgx_reduce(subtile, elem, CGX_PLUS);
}

CGX_DEVICE_FN cgx_int4 sum_of_int4(cgx_int4 a, cgx_int4 b)
{
    cgx_int4 c = { a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w };
    return c;
}
CGX_OP(cgx_int4, plus_int4, a, b, sum_of_int4(a, b))
CGX_OP(int, plus_by_hand, l, r, l + r)

CGX_KERNEL_EXTERN(guide_reductions, (const int *, in), (guide_sums *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 tile = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b), val = in[rank];
    cgx_int4 vec = { val, 2 * val, -val, rank };
    guide_sums s;
    s.sum = cgx_reduce(tile, val, CGX_PLUS);
    s.real = cgx_reduce(tile, (float)val, CGX_PLUS);
    s.vector = cgx_reduce_op(tile, vec, plus_int4);
    s.custom = cgx_reduce_op(tile, val, plus_by_hand);
    out[rank] = s;
}

CGX_DEVICE_FN guide_affine composed(guide_affine f, guide_affine g) /* f first */
{
    guide_affine h = { (uint16_t)(g.a * (unsigned)f.a), (uint16_t)(g.a * (unsigned)f.b + g.b) };
    return h;
}
CGX_OP(guide_affine, then, f, g, composed(f, g))

/* What the guide writes down: reduce, one thread updates, all combine the old value with their scan. */
CGX_DEVICE_FN guide_affine updated_by_steps(cgx_tile_32 tile, guide_affine *p, guide_affine val, int exclusive)
{
    guide_affine total = cgx_reduce_op(tile, val, then), old = total, scan;
    if (cgx_elect(tile)) { /* one tile alone: no other thread is at *p */
        old = *p;
        *p = then(old, total);
    }
    old = cgx_shfl(tile, old, 0);
    scan = cgx_inclusive_scan_op(tile, val, then);
    if (!exclusive)
        return then(old, scan);
    scan = cgx_shfl_up(tile, scan, 1);
    return cgx_thread_rank(tile) == 0 ? old : then(old, scan);
}

CGX_KERNEL_EXTERN(guide_scan_update, (const guide_affine *, in), (guide_affine *, atomics), (guide_updates *, out))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 tile = cgx_tiled_partition(b, 32);
    int rank = cgx_thread_rank(b);
    guide_updates u;
    u.inclusive = cgx_inclusive_scan_update_op(tile, atomics, CGX_SCOPE_BLOCK, in[rank], then);
    u.inclusive_by_steps = updated_by_steps(tile, atomics + 1, in[rank], 0);
    u.exclusive = cgx_exclusive_scan_update_op(tile, atomics + 2, CGX_SCOPE_BLOCK, in[rank], then);
    u.exclusive_by_steps = updated_by_steps(tile, atomics + 3, in[rank], 1);
    out[rank] = u;
}

CGX_DEVICE_FN int passes(int v)
{
    return v % 3 != 0;
}

/* Puts data from input into output if it passes. Overwrites the input. The guide gives every thread count / size
 * numbers and leaves the rest out; and puts the last number into the place of one that does not pass, which changes
 * the order. */
CGX_DEVICE_FN int stream_compaction(cgx_group g, int *input, int count, int *output)
{
    int rank = cgx_thread_rank(g), size = cgx_num_threads(g), per_thread = count / size, rest = count % size;
    int start = rank * per_thread + (rank < rest ? rank : rest), mine = per_thread + (rank < rest ? 1 : 0), kept = 0;
    for (int i = start; i < start + mine; i++)
        if (passes(input[i]))
            input[start + kept++] = input[i];
    int at = cgx_exclusive_scan(g, kept, CGX_PLUS);
    for (int i = 0; i < kept; i++)
        output[at + i] = input[start + i];
    return cgx_shfl(g, at + kept, size - 1);
}

CGX_KERNEL_EXTERN(guide_compaction, (int, by_tile), (int, count), (int *, in), (int *, out), (int *, totals))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    int part = by_tile ? cgx_meta_group_rank(t) : 0;
    totals[cgx_thread_rank(b)] =
        stream_compaction(by_tile ? cgx_as_group(t) : cgx_as_group(b), in + part * count, count, out + part * count);
}

CGX_DEVICE_FN int buffer_space_needed(cgx_tile_32 tile)
{
    return cgx_thread_rank(tile) % 2 + 1;
}

CGX_KERNEL_EXTERN(guide_buffer_space, (int *, out), (int *, used), (int *, offsets))
{
    cgx_block b = cgx_this_block();
    cgx_tile_32 tile = cgx_tiled_partition(b, 32);
    CGX_DYNAMIC_SHARED(int, buffer);
    CGX_SHARED(int, buffer_used);
    if (cgx_elect(b)) /* the guide lets all threads write it */
        cgx_atomic_store(buffer_used, 0, CGX_RELAXED, CGX_SCOPE_BLOCK);
    cgx_sync(b);
    int needed = buffer_space_needed(tile);
    int offset = cgx_exclusive_scan_update(tile, buffer_used, CGX_SCOPE_BLOCK, needed, CGX_PLUS);
    for (int i = 0; i < needed; i++)
        buffer[offset + i] = i;
    cgx_sync(b);
    offsets[cgx_thread_rank(b)] = offset;
    if (cgx_elect(b))
        *used = cgx_atomic_load(buffer_used, CGX_RELAXED, CGX_SCOPE_BLOCK);
    for (int i = cgx_thread_rank(b); i < GUIDE_BUFFER; i += cgx_num_threads(b))
        out[i] = buffer[i];
}

CGX_KERNEL_EXTERN(guide_cluster, (int *, out), (int *, local))
{
    cgx_cluster cluster = cgx_this_cluster();
    cgx_block b = cgx_this_block();
    CGX_DYNAMIC_SHARED(int, array);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b);
    int64_t at = cgx_thread_rank(cgx_this_grid());

    array[rank] = 1000 * (int)cgx_block_rank(cgx_this_grid()) + rank;
    cgx_token token = cgx_barrier_arrive(cluster); /* this block runs, and its data is there */
    local[at] = cgx_thread_rank(cluster);
    int *dsmem = cgx_map_shared_rank(cluster, array, (cgx_block_rank(cluster) + 1) % cgx_num_blocks(cluster));
    cgx_barrier_wait(cluster, token); /* and so do all others */
    out[at] = dsmem[n - 1 - rank];
    cgx_sync(cluster); /* no block ends while another reads its memory */
}

CGX_KERNEL_EXTERN_COOPERATIVE(guide_grid_sync, (int *, shares), (int *, out))
{
    cgx_grid grid = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int sum = 0, share = cgx_reduce(b, (int)cgx_thread_rank(grid), CGX_PLUS);
    if (cgx_elect(b))
        shares[cgx_block_rank(grid)] = share;
    cgx_sync(grid);
    for (int64_t i = 0; i < cgx_num_blocks(grid); i++)
        sum += shares[i];
    out[cgx_thread_rank(grid)] = sum;
}

CGX_KERNEL_EXTERN(guide_is_valid, (int *, out))
{
    out[cgx_thread_rank(cgx_this_grid())] = cgx_is_valid(cgx_this_grid());
}

CGX_KERNEL_EXTERN(guide_permute, (int, n), (int *, data))
{
    cgx_block b = cgx_this_block();
    CGX_DYNAMIC_SHARED(int, smem);
    int *mine = data + cgx_block_rank(cgx_this_grid()) * n;
    if (n <= 1)
        return;
    for (int i = cgx_thread_rank(b); i < n; i += cgx_num_threads(b)) /* the guide's 256 threads all index n numbers */
        smem[i] = mine[i];
    cgx_sync(b);
    for (int i = cgx_thread_rank(b); i < n; i += cgx_num_threads(b))
        mine[i] = smem[i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1];
}

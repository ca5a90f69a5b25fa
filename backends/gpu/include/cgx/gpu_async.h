/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/async.h>. A thread's copies and those of groups are the same copies of 4, 8 or 16 bytes where there
 * are such (CGX__HAS_ASYNC_COPY), else plain ones: then there are no stages to be waited for, only the group. */
#ifndef CGX_GPU_ASYNC_H
#define CGX_GPU_ASYNC_H
#include <cgx/async.h>

extern "C++" {

CGX__INLINE size_t cgx__fewer(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- one piece of 1 to 16 bytes, both addresses aligned to it ---- */

template <int BYTES> CGX__INLINE void cgx__copy_piece(void *destination, const void *source)
{
    __builtin_memcpy(__builtin_assume_aligned(destination, BYTES), __builtin_assume_aligned(source, BYTES), BYTES);
}
template <int BYTES, bool ASYNC> CGX__INLINE void cgx__move_piece(void *destination, const void *source)
{
#if CGX__HAS_ASYNC_COPY
    if constexpr (ASYNC && BYTES >= 4)
        cgx__gpu_copy_async<BYTES>(destination, source);
    else
#endif
        cgx__copy_piece<BYTES>(destination, source);
}
/* The last ZFILL bytes become zero and are not read. */
template <int BYTES> CGX__INLINE void cgx__move_padded(void *destination, const void *source, uint32_t zfill)
{
#if CGX__HAS_ASYNC_COPY
    cgx__gpu_copy_async<BYTES>(destination, source, BYTES - zfill);
#else
    unsigned char *to = (unsigned char *)destination;
    const unsigned char *from = (const unsigned char *)source;
    if (zfill == 0) {
        cgx__copy_piece<BYTES>(destination, source);
        return;
    }
#pragma unroll
    for (uint32_t i = 0; i < BYTES; i++)
        to[i] = i < BYTES - zfill ? from[i] : (unsigned char)0;
#endif
}

/* ---- any number of bytes by some threads: members RANK of SIZE of a group, or one alone ---- */

template <int BYTES, bool ASYNC, class N>
CGX__INLINE void cgx__copy_pieces(int rank, int size, char *to, const char *from, N pieces)
{
    for (N i = (N)rank; i < pieces; i += (N)size)
        cgx__move_piece<BYTES, ASYNC>(to + (size_t)i * BYTES, from + (size_t)i * BYTES);
}
/* What lies before the first piece and after the last goes in bytes. */
template <int BYTES, bool ASYNC>
CGX__INLINE void cgx__copy_around(int rank, int size, char *to, const char *from, size_t bytes)
{
    const size_t head = cgx__fewer(((size_t)0 - (uintptr_t)to) & (BYTES - 1), bytes), rest = bytes - head;
    const size_t tail = bytes - rest % BYTES;
    cgx__copy_pieces<BYTES, ASYNC>(rank, size, to + head, from + head, rest / BYTES);
    for (size_t i = (size_t)rank; i < head; i += (size_t)size)
        to[i] = from[i];
    for (size_t i = tail + (size_t)rank; i < bytes; i += (size_t)size)
        to[i] = from[i];
}
/* In the largest pieces that the two addresses' distance allows. Out of line: it is long, and not for what has to be fast. */
template <bool ASYNC> CGX__NOINLINE void cgx__copy_any(int rank, int size, char *to, const char *from, size_t bytes)
{
    const unsigned apart = (unsigned)((uintptr_t)to ^ (uintptr_t)from);
    if ((apart & 15) == 0)
        cgx__copy_around<16, ASYNC>(rank, size, to, from, bytes);
    else if ((apart & 7) == 0)
        cgx__copy_around<8, ASYNC>(rank, size, to, from, bytes);
    else if ((apart & 3) == 0)
        cgx__copy_around<4, ASYNC>(rank, size, to, from, bytes);
    else if ((apart & 1) == 0)
        cgx__copy_around<2, ASYNC>(rank, size, to, from, bytes);
    else
        cgx__copy_pieces<1, ASYNC>(rank, size, to, from, bytes);
}
/* Asynchronous where the hardware has such copies in this direction: from global memory to the block's own shared memory, whose
 * bytes 32 bits count. ALIGNED: addresses and bytes are multiples of 16 for certain. */
CGX__INLINE void cgx__copy_bytes(int rank, int size, void *destination, const void *source, size_t bytes, bool aligned)
{
    char *to = (char *)destination;
    const char *from = (const char *)source;
    aligned = aligned || (((uintptr_t)to | (uintptr_t)from | bytes) & 15) == 0;
#if CGX__HAS_ASYNC_COPY
    if (cgx__gpu_is_shared(to) && cgx__gpu_is_global(from)) {
        if (aligned)
            cgx__copy_pieces<16, true>(rank, size, to, from, (uint32_t)bytes / 16);
        else
            cgx__copy_any<true>(rank, size, to, from, bytes);
        return;
    }
#endif
    if (aligned)
        cgx__copy_pieces<16, false>(rank, size, to, from, bytes / 16);
    else
        cgx__copy_any<false>(rank, size, to, from, bytes);
}

/* ---- stages: the hardware counts them, in constants only ---- */

CGX__INLINE void cgx__stage_close(void)
{
#if CGX__HAS_ASYNC_COPY
    cgx__gpu_copy_commit();
#endif
}
/* All stages but the newest N. From 8 on the wait is for some more, which costs time only. */
enum { CGX__MOST_COUNTED_COPIES = 32 };
CGX__INLINE void cgx__stage_wait(uint32_t n)
{
#if CGX__HAS_ASYNC_COPY
    switch (n) {
    case 0: cgx__gpu_copy_wait<0>(); break;
    case 1: cgx__gpu_copy_wait<1>(); break;
    case 2: cgx__gpu_copy_wait<2>(); break;
    case 3: cgx__gpu_copy_wait<3>(); break;
    case 4: cgx__gpu_copy_wait<4>(); break;
    case 5: cgx__gpu_copy_wait<5>(); break;
    case 6: cgx__gpu_copy_wait<6>(); break;
    case 7: cgx__gpu_copy_wait<7>(); break;
    default:
        if (n < 16)
            cgx__gpu_copy_wait<8>();
        else if (n < CGX__MOST_COUNTED_COPIES)
            cgx__gpu_copy_wait<16>();
        else
            cgx__gpu_copy_wait<CGX__MOST_COUNTED_COPIES>();
        break;
    }
#elif CGX__HAS_WAVE_COPY
    (void)n;
    cgx__gpu_wave_copy_wait(); /* for all of them */
#else
    (void)n;
#endif
}
/* All copies, those of no stage too. */
CGX__INLINE void cgx__stage_wait_all(void)
{
#if CGX__HAS_ASYNC_COPY
    cgx__gpu_copy_wait_all();
#elif CGX__HAS_WAVE_COPY
    cgx__gpu_wave_copy_wait();
#endif
}

/* ---- copies by a group: each thread has its part of the stage ---- */

/* Where the hardware copies by waves, those of a group of whole waves do: a word a lane, and what is left over in bytes. */
template <class G>
CGX__INLINE void cgx__copy_by_group(const G &g, void *destination, const void *source, size_t bytes, bool aligned)
{
#if CGX__HAS_WAVE_COPY
    if ((g.kind == CGX__BLOCK || (g.kind == CGX__TILE && g.size >= CGX__WAVE)) &&
        (((uintptr_t)destination | (uintptr_t)source) & 3) == 0 && cgx__gpu_is_shared(destination) &&
        cgx__gpu_is_global(source)) {
        const uint32_t rank = (uint32_t)g.rank, size = (uint32_t)g.size, words = (uint32_t)bytes / 4;
        const uint32_t to = cgx__gpu_shared_address(destination) - 4 * (uint32_t)cgx__wave_lane();
        for (uint32_t i = rank; i < words; i += size)
            cgx__gpu_wave_copy(to + 4 * i, (const char *)source + 4 * (size_t)i);
        for (uint32_t i = 4 * words + rank; i < (uint32_t)bytes; i += size)
            ((char *)destination)[i] = ((const char *)source)[i];
        return;
    }
#endif
    cgx__copy_bytes(g.rank, g.size, destination, source, bytes, aligned);
}
template <class G>
CGX__INLINE void cgx__memcpy_async(const G &g, void *destination, const void *source, size_t bytes, int)
{
    cgx__copy_by_group(g, destination, source, bytes, false);
    cgx__stage_close();
}
template <class G>
CGX__INLINE void cgx__memcpy_async_aligned(const G &g, void *destination, const void *source, size_t bytes,
                                           size_t alignment, int line)
{
    CGX__CHECK(alignment && !(alignment & (alignment - 1)) &&
                   !((bytes | (uintptr_t)destination | (uintptr_t)source) & (alignment - 1)),
               "memcpy_async: pointers or size are not aligned as promised", line);
    cgx__copy_by_group(g, destination, source, bytes, alignment >= 16);
    cgx__stage_close();
}
template <class G> CGX__INLINE void cgx__wait_prior(const G &g, uint32_t stages, int line)
{
    if (stages == 0)
        cgx__stage_wait_all();
    else
        cgx__stage_wait(stages);
    if constexpr ((int)cgx__place<G>::value == CGX__IN_WAVE)
        cgx__wave_sync(cgx__lanes_of(g));
    else if constexpr ((int)cgx__place<G>::value == CGX__IN_BLOCK)
        cgx__gpu_sync();
    else
        cgx__sync((cgx_group)g, line);
}

/* ---- copies by a thread ---- */

CGX__INLINE void cgx__pipeline_copy(cgx_block, void *destination, const void *source, size_t bytes, size_t zfill,
                                    int line)
{
    CGX__CHECK((bytes == 4 || bytes == 8 || bytes == 16) && zfill <= bytes &&
                   !(((uintptr_t)destination | (uintptr_t)source) & (bytes - 1)),
               "pipeline_memcpy_async: 4, 8 or 16 bytes, both pointers aligned to as many, zfill within", line);
    if (bytes == 16)
        cgx__move_padded<16>(destination, source, (uint32_t)zfill);
    else if (bytes == 8)
        cgx__move_padded<8>(destination, source, (uint32_t)zfill);
    else
        cgx__move_padded<4>(destination, source, (uint32_t)zfill);
}
CGX__INLINE void cgx__pipeline_copy_any(cgx_block, void *destination, const void *source, size_t bytes, int)
{
    cgx__copy_bytes(0, 1, destination, source, bytes, false);
}
CGX__INLINE void cgx__pipeline_commit(cgx_block)
{
    cgx__stage_close();
}
CGX__INLINE void cgx__pipeline_wait(cgx_block, uint32_t stages)
{
    cgx__stage_wait(stages);
}
/* A barrier in software knows nothing of copies: the thread waits for them, and owes its arrival as before. */
CGX__INLINE void cgx__pipeline_arrive_on(cgx_block, cgx_mbarrier *b, int)
{
#if CGX__HAS_MBARRIER && CGX__HAS_ASYNC_COPY
    cgx__gpu_copy_arrive(&b->word);
#else
    (void)b;
    cgx__stage_wait_all();
#endif
}

/* ---- bulk copies by a thread ---- */

#define CGX__CHECK_BULK(a, b, bytes, line)                          \
    CGX__CHECK(!(((uintptr_t)(a) | (uintptr_t)(b) | (bytes)) & 15), \
               "bulk copy: size and pointers must be multiples of 16", line)

#if CGX__HAS_BULK_COPY || !CGX__HAS_MBARRIER
/* The fences order what was done to the memory and to the barrier before. */
CGX__INLINE void cgx__bulk_copy(cgx_block, void *destination, const void *source, size_t bytes, cgx_mbarrier *b,
                                int line)
{
    CGX__CHECK_BULK(destination, source, bytes, line);
    if (bytes == 0)
        return;
#if CGX__HAS_BULK_COPY
    cgx__gpu_fence_bulk_shared();
    cgx__gpu_fence_bulk_global();
    cgx__gpu_bulk_load(destination, source, (uint32_t)bytes, &b->word);
#else
    cgx__copy_pieces<16, true>(0, 1, (char *)destination, (const char *)source, (uint32_t)bytes / 16);
    cgx__stage_wait_all();
    cgx__barrier_word_landed(b, (uint32_t)bytes);
#endif
}
#else /* as cgx__mbarrier_announce */
void cgx__bulk_copy(cgx_block, void *, const void *, size_t, cgx_mbarrier *, int) = delete;
#endif
CGX__INLINE void cgx__bulk_store(cgx_block, void *destination, const void *source, size_t bytes, int line)
{
    CGX__CHECK_BULK(destination, source, bytes, line);
    if (bytes == 0)
        return;
#if CGX__HAS_BULK_COPY
    cgx__gpu_fence_bulk_shared();
    cgx__gpu_fence_bulk_global();
    cgx__gpu_bulk_store(destination, source, (uint32_t)bytes);
#else
    cgx__copy_pieces<16, false>(0, 1, (char *)destination, (const char *)source, bytes / 16);
#endif
}
CGX__INLINE void cgx__bulk_commit(cgx_block)
{
#if CGX__HAS_BULK_COPY
    cgx__gpu_bulk_commit();
#endif
}
CGX__INLINE void cgx__bulk_wait(cgx_block, uint32_t n)
{
#if CGX__HAS_BULK_COPY
    switch (n) {
    case 0: cgx__gpu_bulk_wait<0>(); break;
    case 1: cgx__gpu_bulk_wait<1>(); break;
    case 2: cgx__gpu_bulk_wait<2>(); break;
    case 3: cgx__gpu_bulk_wait<3>(); break;
    case 4: cgx__gpu_bulk_wait<4>(); break;
    case 5: cgx__gpu_bulk_wait<5>(); break;
    case 6: cgx__gpu_bulk_wait<6>(); break;
    case 7: cgx__gpu_bulk_wait<7>(); break;
    default: cgx__gpu_bulk_wait<8>(); break; /* for some more, which costs time only */
    }
#else
    (void)n;
#endif
}

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* HIP pass: printf and assert in kernels (PARITY K01, K02). Part of hip.h. Messages go to a ring in host memory (abi.h), which the
 * host prints when it waits for a queue; the address of the ring is in a variable of each image that prints. */
#ifndef CGX_HIP_PRINT_H
#define CGX_HIP_PRINT_H
#include <cgx/hip.h>

extern "C" {
inline __device__ cgx__print_ring *cgx__image_print_ring;
}

extern "C++" {

struct cgx__message {
    cgx__print_ring *ring;
    uint64_t at;
};
CGX__INLINE uint64_t cgx__text_bytes(const char *text)
{
    uint64_t n = 0;
    while (text[n])
        n++;
    return n;
}
CGX__INLINE void cgx__message_word(cgx__message &m, uint64_t word)
{
    __hip_atomic_store(&m.ring->words[m.at++ % CGX__RING_WORDS], word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

/* How many words a value takes, and putting it in. */
CGX__INLINE uint64_t cgx__message_words(const char *text)
{
    return 1 + (cgx__text_bytes(text) + 7) / 8;
}
template <class T> CGX__INLINE uint64_t cgx__message_words(T)
{
    return 2;
}
CGX__INLINE void cgx__message_put(cgx__message &m, const char *text)
{
    const uint64_t bytes = cgx__text_bytes(text);
    cgx__message_word(m, CGX__PRINTED_STRING | bytes << 8);
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        for (uint64_t j = 0; j < 8 && i + j < bytes; j++)
            word |= (uint64_t)(unsigned char)text[i + j] << (8 * j);
        cgx__message_word(m, word);
    }
}
CGX__INLINE void cgx__message_put(cgx__message &m, double v)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    cgx__message_word(m, CGX__PRINTED_DOUBLE);
    cgx__message_word(m, bits);
}
CGX__INLINE void cgx__message_put(cgx__message &m, float v)
{
    cgx__message_put(m, (double)v);
}
template <class T> CGX__INLINE void cgx__message_put(cgx__message &m, T v)
{
    cgx__message_word(m, CGX__PRINTED_INTEGER);
    cgx__message_word(m, (uint64_t)v);
}

/* Room for a message of that many words; false if there is none. */
CGX__INLINE bool cgx__message_open(cgx__message &m, uint64_t words)
{
    m.ring = cgx__image_print_ring;
    m.at = __hip_atomic_load(&m.ring->reserved, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    do {
        uint64_t taken = __hip_atomic_load(&m.ring->taken, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
        if (m.at + words - taken > CGX__RING_WORDS) {
            __hip_atomic_fetch_add(&m.ring->lost, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
            return false;
        }
    } while (!__hip_atomic_compare_exchange_strong(&m.ring->reserved, &m.at, m.at + words, __ATOMIC_RELAXED,
                                                   __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM));
    return true;
}
template <class... A> CGX__INLINE bool cgx__message_send(uint64_t kind, const A &...values)
{
    uint64_t words = 1;
    ((words += cgx__message_words(values)), ...);
    cgx__message m;
    if (!cgx__message_open(m, words))
        return false;
    const uint64_t head = m.at++ % CGX__RING_WORDS;
    (cgx__message_put(m, values), ...);
    __hip_atomic_store(&m.ring->words[head], words | kind << 32 | (uint64_t)1 << 63, __ATOMIC_RELEASE,
                       __HIP_MEMORY_SCOPE_SYSTEM);
    return true;
}

/* The number of values; less than 0 if the ring was full. */
template <class... A> CGX__INLINE int printf(const char *format, const A &...values)
{
    return cgx__message_send(CGX__PRINT_TEXT, format, values...) ? (int)sizeof...(A) : -1;
}

/* What assert() calls. Ends the thread, and the others of its wave with it: a wave ends as a whole. */
__attribute__((noreturn)) CGX__INLINE void __assert_fail(const char *condition, const char *file, unsigned line,
                                                         const char *function)
{
    cgx__message_send(CGX__PRINT_ASSERTION, condition, file, function, line);
    __builtin_amdgcn_endpgm();
}

} /* extern "C++" */
#endif

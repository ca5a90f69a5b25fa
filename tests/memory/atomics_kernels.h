/* SPDX-License-Identifier: MIT */
#ifndef TESTS_ATOMICS_KERNELS_H
#define TESTS_ATOMICS_KERNELS_H
#include <cgx.h>

/* X(suffix, type) */
#define FOREACH_ATOMIC_INTEGER(X) \
    X(i32, int) X(u32, unsigned) X(l, long) X(ul, unsigned long) X(i64, long long) X(u64, unsigned long long)
#define FOREACH_ATOMIC_FLOAT(X) X(f32, float) X(f64, double)
#define FOREACH_ATOMIC(X) FOREACH_ATOMIC_INTEGER(X) FOREACH_ATOMIC_FLOAT(X)

/* What one pass of a single thread gives, in this order. The last three are for integers. */
enum {
    GOT_LOAD,
    GOT_EXCHANGE,
    GOT_FAILED,
    GOT_FOUND,
    GOT_DONE,
    GOT_AFTER,
    GOT_ADD,
    GOT_MIN,
    GOT_MAX,
    GOT_END,
    GOT_AND,
    GOT_OR,
    GOT_XOR,
    GOT_LAST,
    GOTS
};
enum { OPERANDS = 9, ORDERS = 5, SCOPES = 4 };

/* Every operation in every order and scope on one word, in global or in shared memory:
 * got[(order * SCOPES + scope) * GOTS + i] */
#define DECLARE_ALL_ATOMICS(s, T) \
    CGX_KERNEL_DECLARE(atomics_##s, (int, shared), (const T *, v), (T *, word), (T *, got))
FOREACH_ATOMIC(DECLARE_ALL_ATOMICS)

/* Many threads at the same words. */
enum { CONTENDED = 8 };
#define DECLARE_CONTENDED(s, T) \
    CGX_KERNEL_DECLARE(contended_##s, (int, rounds), (T *, words), (T *, exchanged), (int *, tickets))
FOREACH_ATOMIC_INTEGER(DECLARE_CONTENDED)
enum { WORD_ADD, WORD_MIN, WORD_MAX, WORD_AND, WORD_OR, WORD_XOR, WORD_EXCHANGE, WORD_CAS };
#define DECLARE_CONTENDED_FLOAT(s, T) CGX_KERNEL_DECLARE(contended_##s, (int, rounds), (T *, words))
FOREACH_ATOMIC_FLOAT(DECLARE_CONTENDED_FLOAT)
/* The same in shared memory, at the scope of the block, with other threads let in between. */
CGX_KERNEL_DECLARE(contended_in_block, (int, rounds), (unsigned long long *, sums))

/* A lock around plain variables. WAY: how it is taken. */
enum { LOCK_EXCHANGE, LOCK_CAS, LOCK_TEST_AND_SET, LOCK_TICKET, LOCK_WAYS };
CGX_KERNEL_DECLARE(locked, (int, way), (int, rounds), (int, one_a_block), (int *, lock), (long long *, plain))
/* A lock in shared memory. */
CGX_KERNEL_DECLARE(locked_in_block, (int, rounds), (int *, out))

/* Plain data and a flag. WAY: of publishing and of seeing. */
enum { PASS_RELEASE, PASS_FENCE, PASS_SEQ_CST, PASS_EXCHANGE, PASS_CAS, PASS_ADD, PASS_WAYS };
enum { PASS_INTS = 48 };
CGX_KERNEL_DECLARE(ping_pong, (int, way), (int, rounds), (int *, flags), (int *, data), (int *, bad))
/* One thread to another of its block. */
CGX_KERNEL_DECLARE(pass_in_block, (int, way), (int, rounds), (int *, out))
/* Store buffering: not both may miss the other's store. */
CGX_KERNEL_DECLARE(store_buffering, (int, way), (int, rounds), (int *, x), (int *, seen))
#endif

/* SPDX-License-Identifier: MIT */
/* The instruction-set level does not matter here, and one level compiles faster. */
#undef CGX_CPU_V2
#undef CGX_CPU_V3
#undef CGX_CPU_V4
#define CGX_CPU_V2 0
#define CGX_CPU_V3 0
#define CGX_CPU_V4 0
#include "atomics_kernels.h"

/* ---- one thread ---- */

#define PASS(T, ORDER, LOAD, STORE, FAILURE, SCOPE, BITS)                                            \
    do {                                                                                             \
        T expected = v[1];                                                                           \
        cgx_atomic_store(p, v[0], STORE, SCOPE);                                                     \
        got[GOT_LOAD] = cgx_atomic_load(p, LOAD, SCOPE);                                             \
        got[GOT_EXCHANGE] = cgx_atomic_exchange(p, v[2], ORDER, SCOPE);                              \
        got[GOT_FAILED] = (T)cgx_atomic_compare_exchange(p, &expected, v[3], ORDER, FAILURE, SCOPE); \
        got[GOT_FOUND] = expected;                                                                   \
        got[GOT_DONE] = (T)cgx_atomic_compare_exchange(p, &expected, v[3], ORDER, FAILURE, SCOPE);   \
        got[GOT_AFTER] = cgx_atomic_load(p, LOAD, SCOPE);                                            \
        got[GOT_ADD] = cgx_atomic_fetch_add(p, v[4], ORDER, SCOPE);                                  \
        cgx_atomic_fence(ORDER, SCOPE);                                                              \
        got[GOT_MIN] = cgx_atomic_fetch_min(p, v[5], ORDER, SCOPE);                                  \
        got[GOT_MAX] = cgx_atomic_fetch_max(p, v[6], ORDER, SCOPE);                                  \
        got[GOT_END] = cgx_atomic_load(p, LOAD, SCOPE);                                              \
        BITS(ORDER, LOAD, SCOPE)                                                                     \
        got += GOTS;                                                                                 \
    } while (0);
#define PASS_BITS(ORDER, LOAD, SCOPE)                           \
    got[GOT_AND] = cgx_atomic_fetch_and(p, v[7], ORDER, SCOPE); \
    got[GOT_OR] = cgx_atomic_fetch_or(p, v[8], ORDER, SCOPE);   \
    got[GOT_XOR] = cgx_atomic_fetch_xor(p, v[0], ORDER, SCOPE); \
    got[GOT_LAST] = cgx_atomic_load(p, LOAD, SCOPE);
#define PASS_NO_BITS(ORDER, LOAD, SCOPE)
#define PASS_SCOPES(T, ORDER, LOAD, STORE, FAILURE, BITS)         \
    PASS(T, ORDER, LOAD, STORE, FAILURE, CGX_SCOPE_BLOCK, BITS)   \
    PASS(T, ORDER, LOAD, STORE, FAILURE, CGX_SCOPE_CLUSTER, BITS) \
    PASS(T, ORDER, LOAD, STORE, FAILURE, CGX_SCOPE_DEVICE, BITS)  \
    PASS(T, ORDER, LOAD, STORE, FAILURE, CGX_SCOPE_SYSTEM, BITS)
#define ALL_ATOMICS(s, T, BITS)                                                            \
    CGX_KERNEL_EXTERN(atomics_##s, (int, shared), (const T *, v), (T *, word), (T *, got)) \
    {                                                                                      \
        CGX_SHARED(T, in_shared);                                                          \
        T *p = shared ? in_shared : word;                                                  \
        PASS_SCOPES(T, CGX_RELAXED, CGX_RELAXED, CGX_RELAXED, CGX_RELAXED, BITS)           \
        PASS_SCOPES(T, CGX_ACQUIRE, CGX_ACQUIRE, CGX_RELAXED, CGX_ACQUIRE, BITS)           \
        PASS_SCOPES(T, CGX_RELEASE, CGX_RELAXED, CGX_RELEASE, CGX_RELAXED, BITS)           \
        PASS_SCOPES(T, CGX_ACQ_REL, CGX_ACQUIRE, CGX_RELEASE, CGX_ACQUIRE, BITS)           \
        PASS_SCOPES(T, CGX_SEQ_CST, CGX_SEQ_CST, CGX_SEQ_CST, CGX_SEQ_CST, BITS)           \
    }
#define ALL_INTEGER_ATOMICS(s, T) ALL_ATOMICS(s, T, PASS_BITS)
#define ALL_FLOAT_ATOMICS(s, T) ALL_ATOMICS(s, T, PASS_NO_BITS)
FOREACH_ATOMIC_INTEGER(ALL_INTEGER_ATOMICS)
FOREACH_ATOMIC_FLOAT(ALL_FLOAT_ATOMICS)

/* ---- many threads ---- */

#define CONTEND(s, T)                                                                                               \
    CGX_KERNEL_EXTERN(contended_##s, (int, rounds), (T *, words), (T *, exchanged), (int *, tickets))               \
    {                                                                                                               \
        cgx_grid g = cgx_this_grid();                                                                               \
        int rank = (int)cgx_thread_rank(g);                                                                         \
        for (int i = 0; i < rounds; i++) {                                                                          \
            int id = rank * rounds + i;                                                                             \
            T old = cgx_atomic_fetch_add(words + WORD_ADD, (T)1, CGX_RELAXED, CGX_SCOPE_DEVICE);                    \
            cgx_atomic_fetch_add(tickets + (int)old, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);                             \
            cgx_atomic_fetch_min(words + WORD_MIN, (T)(1000000 - id), CGX_RELAXED, CGX_SCOPE_DEVICE);               \
            cgx_atomic_fetch_max(words + WORD_MAX, (T)id, CGX_ACQ_REL, CGX_SCOPE_SYSTEM);                           \
            cgx_atomic_fetch_and(words + WORD_AND, (T) ~((T)1 << id % 30), CGX_RELEASE, CGX_SCOPE_DEVICE);          \
            cgx_atomic_fetch_or(words + WORD_OR, (T)1 << id % 31, CGX_SEQ_CST, CGX_SCOPE_DEVICE);                   \
            cgx_atomic_fetch_xor(words + WORD_XOR, (T)id, CGX_ACQUIRE, CGX_SCOPE_DEVICE);                           \
            exchanged[id] = cgx_atomic_exchange(words + WORD_EXCHANGE, (T)id, CGX_ACQ_REL, CGX_SCOPE_DEVICE);       \
            T found = cgx_atomic_load(words + WORD_CAS, CGX_RELAXED, CGX_SCOPE_DEVICE);                             \
            while (!cgx_atomic_compare_exchange(words + WORD_CAS, &found, (T)(found + 3), CGX_RELAXED, CGX_RELAXED, \
                                                CGX_SCOPE_DEVICE))                                                  \
                ;                                                                                                   \
        }                                                                                                           \
    }
FOREACH_ATOMIC_INTEGER(CONTEND)

/* Integers that a float holds exactly, so that no order of additions rounds. */
#define CONTEND_FLOAT(s, T)                                                                                         \
    CGX_KERNEL_EXTERN(contended_##s, (int, rounds), (T *, words))                                                   \
    {                                                                                                               \
        int rank = (int)cgx_thread_rank(cgx_this_grid());                                                           \
        for (int i = 0; i < rounds; i++) {                                                                          \
            int id = rank * rounds + i;                                                                             \
            cgx_atomic_fetch_add(words + WORD_ADD, (T)(id % 7) * (T)0.25, CGX_RELAXED, CGX_SCOPE_DEVICE);           \
            cgx_atomic_fetch_min(words + WORD_MIN, (T)-id, CGX_RELAXED, CGX_SCOPE_SYSTEM);                          \
            cgx_atomic_fetch_max(words + WORD_MAX, (T)id, CGX_SEQ_CST, CGX_SCOPE_DEVICE);                           \
            T found = cgx_atomic_load(words + WORD_CAS, CGX_RELAXED, CGX_SCOPE_DEVICE);                             \
            while (!cgx_atomic_compare_exchange(words + WORD_CAS, &found, found + (T)0.5, CGX_ACQ_REL, CGX_ACQUIRE, \
                                                CGX_SCOPE_DEVICE))                                                  \
                ;                                                                                                   \
        }                                                                                                           \
    }
FOREACH_ATOMIC_FLOAT(CONTEND_FLOAT)

CGX_KERNEL_EXTERN(contended_in_block, (int, rounds), (unsigned long long *, sums))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(unsigned long long, u);
    CGX_SHARED(int, i32);
    CGX_SHARED(double, d);
    int rank = cgx_thread_rank(b);
    if (cgx_elect(b))
        *u = 0, *i32 = 0, *d = 0;
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        cgx_atomic_fetch_add(u, (unsigned long long)rank << 20, CGX_RELAXED, CGX_SCOPE_BLOCK);
        if (rank % 3 == i % 3)
            cgx_sync(cgx_coalesced_threads());
        cgx_atomic_fetch_add(i32, -1, CGX_ACQ_REL, CGX_SCOPE_CLUSTER);
        cgx_atomic_fetch_add(d, 0.5, CGX_SEQ_CST, CGX_SCOPE_BLOCK);
    }
    cgx_sync(b);
    if (cgx_elect(b)) {
        unsigned long long *mine = sums + 3 * cgx_group_index(b).x;
        mine[0] = *u, mine[1] = (unsigned long long)-*i32, mine[2] = (unsigned long long)(*d * 2);
    }
}

/* ---- locks ---- */

CGX_DEVICE_FN void take(cgx_block b, int way, int *lock)
{
    CGX_IN_GROUP(b);
    if (way == LOCK_EXCHANGE) {
        while (cgx_atomic_exchange(lock, 1, CGX_ACQUIRE, CGX_SCOPE_DEVICE))
            ;
    } else if (way == LOCK_CAS) {
        int free = 0;
        while (!cgx_atomic_compare_exchange(lock, &free, 1, CGX_ACQUIRE, CGX_RELAXED, CGX_SCOPE_DEVICE))
            free = 0;
    } else if (way == LOCK_TEST_AND_SET) {
        do {
            while (cgx_atomic_load(lock, CGX_RELAXED, CGX_SCOPE_DEVICE))
                ;
        } while (cgx_atomic_exchange(lock, 1, CGX_ACQUIRE, CGX_SCOPE_DEVICE));
    } else {
        int mine = cgx_atomic_fetch_add(lock + 1, 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
        while (cgx_atomic_load(lock, CGX_ACQUIRE, CGX_SCOPE_DEVICE) != mine)
            ;
    }
}

CGX_KERNEL_EXTERN(locked, (int, way), (int, rounds), (int, one_a_block), (int *, lock), (long long *, plain))
{
    cgx_block b = cgx_this_block();
    if (one_a_block && !cgx_elect(b))
        return;
    for (int i = 0; i < rounds; i++) {
        take(b, way, lock);
        long long before = plain[0];
        for (int k = 0; k < 12; k++) /* lets others try */
            plain[2] += cgx_atomic_load((int *)(plain + 3), CGX_RELAXED, CGX_SCOPE_DEVICE);
        plain[0] = before + 1;
        plain[1] += before;
        if (way == LOCK_TICKET)
            cgx_atomic_fetch_add(lock, 1, CGX_RELEASE, CGX_SCOPE_DEVICE);
        else
            cgx_atomic_store(lock, 0, CGX_RELEASE, CGX_SCOPE_DEVICE);
    }
}

CGX_KERNEL_EXTERN(locked_in_block, (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED(int, lock);
    CGX_SHARED(int, plain);
    if (cgx_elect(b))
        *lock = 0, *plain = 0;
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        while (cgx_atomic_exchange(lock, 1, CGX_ACQUIRE, CGX_SCOPE_BLOCK))
            ;
        int before = *plain;
        for (int k = 0; k < 12; k++)
            before += cgx_atomic_load(lock, CGX_RELAXED, CGX_SCOPE_BLOCK) - 1;
        *plain = before + 1;
        cgx_atomic_store(lock, 0, CGX_RELEASE, CGX_SCOPE_BLOCK);
    }
    cgx_sync(b);
    out[cgx_thread_rank(cgx_this_grid())] = *plain;
}

/* ---- messages ---- */

#define PUBLISH(flag, value, SCOPE)                                                                   \
    do {                                                                                              \
        if (way == PASS_RELEASE) {                                                                    \
            cgx_atomic_store(flag, value, CGX_RELEASE, SCOPE);                                        \
        } else if (way == PASS_FENCE) {                                                               \
            cgx_atomic_fence(CGX_RELEASE, SCOPE);                                                     \
            cgx_atomic_store(flag, value, CGX_RELAXED, SCOPE);                                        \
        } else if (way == PASS_SEQ_CST) {                                                             \
            cgx_atomic_store(flag, value, CGX_SEQ_CST, SCOPE);                                        \
        } else if (way == PASS_EXCHANGE) {                                                            \
            cgx_atomic_exchange(flag, value, CGX_RELEASE, SCOPE);                                     \
        } else if (way == PASS_CAS) {                                                                 \
            int seen = (value)-1;                                                                     \
            while (!cgx_atomic_compare_exchange(flag, &seen, value, CGX_ACQ_REL, CGX_ACQUIRE, SCOPE)) \
                seen = (value)-1;                                                                     \
        } else {                                                                                      \
            cgx_atomic_fetch_add(flag, 1, CGX_RELEASE, SCOPE);                                        \
        }                                                                                             \
    } while (0)
#define AWAIT(flag, value, SCOPE)                                                                     \
    do {                                                                                              \
        if (way == PASS_FENCE) {                                                                      \
            while (cgx_atomic_load(flag, CGX_RELAXED, SCOPE) < (value))                               \
                ;                                                                                     \
            cgx_atomic_fence(CGX_ACQUIRE, SCOPE);                                                     \
        } else if (way == PASS_SEQ_CST) {                                                             \
            while (cgx_atomic_load(flag, CGX_SEQ_CST, SCOPE) < (value))                               \
                ;                                                                                     \
        } else if (way == PASS_CAS) { /* adds nothing to what it finds */                             \
            int seen = (value);                                                                       \
            while (!cgx_atomic_compare_exchange(flag, &seen, value, CGX_ACQUIRE, CGX_ACQUIRE, SCOPE)) \
                seen = (value);                                                                       \
        } else {                                                                                      \
            while (cgx_atomic_load(flag, CGX_ACQUIRE, SCOPE) < (value))                               \
                ;                                                                                     \
        }                                                                                             \
    } while (0)

/* Blocks 2k and 2k + 1 send the same plain integers to and fro: each adds one to what it got. */
CGX_KERNEL_EXTERN_COOPERATIVE(ping_pong, (int, way), (int, rounds), (int *, flags), (int *, data), (int *, bad))
{
    cgx_grid g = cgx_this_grid();
    cgx_block b = cgx_this_block();
    int rank = cgx_thread_rank(b), pair = (int)cgx_block_rank(g) / 2, second = (int)cgx_block_rank(g) % 2, wrong = 0;
    int *flag = flags + 64 * pair, *mail = data + PASS_INTS * pair;
    for (int i = 0; i < rounds; i++) {
        int turn = 2 * i + second;
        if (rank == 0)
            AWAIT(flag, turn, CGX_SCOPE_DEVICE);
        cgx_sync(b);
        for (int k = rank; k < PASS_INTS; k += cgx_num_threads(b)) {
            wrong += mail[k] != turn + k;
            mail[k]++;
        }
        cgx_sync(b);
        if (rank == 0)
            PUBLISH(flag, turn + 1, CGX_SCOPE_DEVICE);
    }
    bad[cgx_thread_rank(g)] = wrong;
}

/* Round I goes from thread to thread, up in even rounds and down in odd ones, and each waits for its neighbour alone.
 * */
CGX_KERNEL_EXTERN(pass_in_block, (int, way), (int, rounds), (int *, out))
{
    cgx_block b = cgx_this_block();
    CGX_SHARED_ARRAY(int, flags, 1024);
    CGX_SHARED_ARRAY(int, mail, 1024);
    int rank = cgx_thread_rank(b), n = cgx_num_threads(b), sum = 0;
    flags[rank] = 0;
    cgx_sync(b);
    for (int i = 0; i < rounds; i++) {
        int up = i % 2 == 0, from = up ? rank - 1 : rank + 1, first = up ? 0 : n - 1;
        if (rank != first)
            AWAIT(flags + from, i + 1, CGX_SCOPE_BLOCK);
        mail[rank] = rank == first ? i : mail[from] + 1;
        sum += mail[rank];
        PUBLISH(flags + rank, i + 1, CGX_SCOPE_BLOCK);
        cgx_sync(b);
    }
    out[rank] = sum;
}

CGX_KERNEL_EXTERN_COOPERATIVE(store_buffering, (int, way), (int, rounds), (int *, x), (int *, seen))
{
    cgx_grid g = cgx_this_grid();
    int me = (int)cgx_thread_rank(g);
    for (int i = 0; i < rounds; i++) {
        if (way == 0) {
            cgx_atomic_store(x + 64 * me, i + 1, CGX_RELAXED, CGX_SCOPE_DEVICE);
            cgx_atomic_fence(CGX_SEQ_CST, CGX_SCOPE_DEVICE);
            seen[me * rounds + i] = cgx_atomic_load(x + 64 * !me, CGX_RELAXED, CGX_SCOPE_DEVICE) == i + 1;
        } else {
            cgx_atomic_store(x + 64 * me, i + 1, CGX_SEQ_CST, CGX_SCOPE_DEVICE);
            seen[me * rounds + i] = cgx_atomic_load(x + 64 * !me, CGX_SEQ_CST, CGX_SCOPE_DEVICE) == i + 1;
        }
        cgx_sync(g);
    }
}

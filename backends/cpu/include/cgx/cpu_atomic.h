/* SPDX-License-Identifier: MIT */
/* CPU pass of <cgx/atomic.h>. The threads of a block, and of a cluster, run on one processor in turn, so at these scopes an
 * access is atomic as it is; the compiler may still not move it. */
#ifndef CGX_CPU_ATOMIC_H
#define CGX_CPU_ATOMIC_H
#include <cgx/atomic.h>

CGX__INLINE int cgx__one_processor(cgx_scope scope)
{
    return scope == CGX_SCOPE_BLOCK || scope == CGX_SCOPE_CLUSTER;
}

/* A thread that finds the same value at the same place again and again polls: it lets others run. One that goes round
 * between several places polls as well, so that now and then everybody does. `polls` counts the former in its low byte and
 * changes of the place or value above it. */
enum { CGX__POLLS = 8, CGX__POLL_CHANGE = 256, CGX__POLL_CHANGES = 1024 };
CGX__INLINE void cgx__cpu_polled(cgx_block self, const volatile void *p, uint64_t bits, int line)
{
    CGX__WHERE_COMPILED(self.level, cgx__compiled_poll(self, line); return )
    cgx_cpu_worker *w = self.t->block->worker;
    if (w->poll_address != p || w->poll_bits != bits) {
        w->poll_address = p;
        w->poll_bits = bits;
        w->polls = (w->polls & -CGX__POLL_CHANGE) + CGX__POLL_CHANGE;
        if (CGX__UNLIKELY(w->polls >= CGX__POLL_CHANGES * CGX__POLL_CHANGE)) {
            w->polls = 0;
            cgx__cpu_yield(self.t, line);
        }
    } else if ((w->polls & (CGX__POLL_CHANGE - 1)) >= CGX__POLLS - 1) {
        cgx__cpu_yield(self.t, line);
    } else {
        w->polls++;
    }
}

CGX__INLINE void cgx__atomic_fence(int order, cgx_scope scope)
{
    if (cgx__one_processor(scope))
        __atomic_signal_fence(order);
    else
        __atomic_thread_fence(order);
}

#define CGX__ATOMIC_INTEGER_FNS(s, T)                                                                           \
    CGX__INLINE T cgx__load_##s(cgx_block self, const volatile T *p, int order, cgx_scope scope, int line)      \
    {                                                                                                           \
        T v = __atomic_load_n(p, order);                                                                        \
        (void)scope;                                                                                            \
        cgx__cpu_polled(self, p, (uint64_t)v, line);                                                            \
        return v;                                                                                               \
    }                                                                                                           \
    CGX__INLINE void cgx__store_##s(volatile T *p, T v, int order, cgx_scope scope)                             \
    {                                                                                                           \
        __atomic_store_n(p, v, cgx__one_processor(scope) ? __ATOMIC_RELAXED : order);                           \
        cgx__atomic_fence(__ATOMIC_SEQ_CST, CGX_SCOPE_BLOCK);                                                   \
    }                                                                                                           \
    CGX__INLINE T cgx__exchange_##s(cgx_block self, volatile T *p, T v, int order, cgx_scope scope, int line)   \
    {                                                                                                           \
        T old;                                                                                                  \
        if (cgx__one_processor(scope))                                                                          \
            old = *p, *p = v;                                                                                   \
        else                                                                                                    \
            old = __atomic_exchange_n(p, v, order);                                                             \
        cgx__cpu_polled(self, p, (uint64_t)old, line);                                                          \
        return old;                                                                                             \
    }                                                                                                           \
    CGX__INLINE int cgx__compare_exchange_##s(cgx_block self, volatile T *p, T *expected, T desired, int order, \
                                              int failure, cgx_scope scope, int line)                           \
    {                                                                                                           \
        int done;                                                                                               \
        if (cgx__one_processor(scope)) {                                                                        \
            T found = *p;                                                                                       \
            done = found == *expected;                                                                          \
            if (done)                                                                                           \
                *p = desired;                                                                                   \
            *expected = found;                                                                                  \
        } else {                                                                                                \
            done = __atomic_compare_exchange_n(p, expected, desired, 0, order, failure);                        \
        }                                                                                                       \
        if (!done)                                                                                              \
            cgx__cpu_polled(self, p, (uint64_t)*expected, line);                                                \
        return done;                                                                                            \
    }                                                                                                           \
    CGX__ATOMIC_FETCH(s, T, fetch_add, (T)((cgx__unsigned_##s)old + (cgx__unsigned_##s)v),                      \
                      __atomic_fetch_add(p, v, order))                                                          \
    CGX__ATOMIC_FETCH(s, T, fetch_and, old &v, __atomic_fetch_and(p, v, order))                                 \
    CGX__ATOMIC_FETCH(s, T, fetch_or, old | v, __atomic_fetch_or(p, v, order))                                  \
    CGX__ATOMIC_FETCH(s, T, fetch_xor, old ^ v, __atomic_fetch_xor(p, v, order))                                \
    CGX__ATOMIC_LOOP(s, T, fetch_min, v < old ? v : old)                                                        \
    CGX__ATOMIC_LOOP(s, T, fetch_max, old < v ? v : old)
#define CGX__ATOMIC_FETCH(s, T, name, plain, atomic)                                \
    CGX__INLINE T cgx__##name##_##s(volatile T *p, T v, int order, cgx_scope scope) \
    {                                                                               \
        if (cgx__one_processor(scope)) {                                            \
            T old = *p;                                                             \
            *p = plain;                                                             \
            return old;                                                             \
        }                                                                           \
        return atomic;                                                              \
    }
/* Where the processor has no such instruction. */
#define CGX__ATOMIC_LOOP(s, T, name, result)                                                  \
    CGX__INLINE T cgx__##name##_##s(volatile T *p, T v, int order, cgx_scope scope)           \
    {                                                                                         \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                                         \
        if (cgx__one_processor(scope))                                                        \
            *p = result;                                                                      \
        else                                                                                  \
            while (!__atomic_compare_exchange_n(p, &old, result, 1, order, __ATOMIC_RELAXED)) \
                ;                                                                             \
        return old;                                                                           \
    }
typedef unsigned cgx__unsigned_i32, cgx__unsigned_u32;
typedef unsigned long cgx__unsigned_l, cgx__unsigned_ul;
typedef unsigned long long cgx__unsigned_i64, cgx__unsigned_u64;
CGX_FOREACH_ATOMIC_INTEGER(CGX__ATOMIC_INTEGER_FNS)

/* Floats by their bits. */
#define CGX__ATOMIC_FLOAT_FNS(s, T, U, u)                                                                          \
    CGX__INLINE U cgx__to_bits_##s(T v)                                                                            \
    {                                                                                                              \
        U bits;                                                                                                    \
        memcpy(&bits, &v, sizeof bits);                                                                            \
        return bits;                                                                                               \
    }                                                                                                              \
    CGX__INLINE T cgx__of_bits_##s(U bits)                                                                         \
    {                                                                                                              \
        T v;                                                                                                       \
        memcpy(&v, &bits, sizeof v);                                                                               \
        return v;                                                                                                  \
    }                                                                                                              \
    CGX__INLINE T cgx__load_##s(cgx_block self, const volatile T *p, int order, cgx_scope scope, int line)         \
    {                                                                                                              \
        return cgx__of_bits_##s(cgx__load_##u(self, (const volatile cgx__alias_##u *)p, order, scope, line));      \
    }                                                                                                              \
    CGX__INLINE void cgx__store_##s(volatile T *p, T v, int order, cgx_scope scope)                                \
    {                                                                                                              \
        cgx__store_##u((volatile cgx__alias_##u *)p, cgx__to_bits_##s(v), order, scope);                           \
    }                                                                                                              \
    CGX__INLINE T cgx__exchange_##s(cgx_block self, volatile T *p, T v, int order, cgx_scope scope, int line)      \
    {                                                                                                              \
        return cgx__of_bits_##s(                                                                                   \
            cgx__exchange_##u(self, (volatile cgx__alias_##u *)p, cgx__to_bits_##s(v), order, scope, line));       \
    }                                                                                                              \
    CGX__INLINE int cgx__compare_exchange_##s(cgx_block self, volatile T *p, T *expected, T desired, int order,    \
                                              int failure, cgx_scope scope, int line)                              \
    {                                                                                                              \
        U bits = cgx__to_bits_##s(*expected);                                                                      \
        int done = cgx__compare_exchange_##u(self, (volatile cgx__alias_##u *)p, &bits, cgx__to_bits_##s(desired), \
                                             order, failure, scope, line);                                         \
        *expected = cgx__of_bits_##s(bits);                                                                        \
        return done;                                                                                               \
    }                                                                                                              \
    CGX__ATOMIC_FLOAT_LOOP(s, T, U, u, fetch_add, old + v)                                                         \
    CGX__ATOMIC_FLOAT_LOOP(s, T, U, u, fetch_min, (cgx__least_##s(old, v)))                                        \
    CGX__ATOMIC_FLOAT_LOOP(s, T, U, u, fetch_max, (cgx__largest_##s(old, v)))
/* minimumNumber and maximumNumber of IEEE 754-2019: a number beats a NaN, -0 is below +0. */
#define CGX__NUMBER_FNS(s, T)                           \
    CGX__INLINE T cgx__least_##s(T a, T b)              \
    {                                                   \
        if (a < b || b != b)                            \
            return a;                                   \
        return a == b && __builtin_signbit(a) ? a : b;  \
    }                                                   \
    CGX__INLINE T cgx__largest_##s(T a, T b)            \
    {                                                   \
        if (a > b || b != b)                            \
            return a;                                   \
        return a == b && !__builtin_signbit(a) ? a : b; \
    }
CGX__NUMBER_FNS(f32, float)
CGX__NUMBER_FNS(f64, double)
/* The sum is kept from being contracted with a product that makes V. */
#define CGX__ATOMIC_FLOAT_LOOP(s, T, U, u, name, result)                                           \
    CGX__INLINE T cgx__##name##_##s(volatile T *p, T v, int order, cgx_scope scope)                \
    {                                                                                              \
        volatile cgx__alias_##u *q = (volatile cgx__alias_##u *)p;                                 \
        U found = __atomic_load_n(q, __ATOMIC_RELAXED);                                            \
        __asm__("" : "+m"(v));                                                                     \
        for (;;) {                                                                                 \
            T old = cgx__of_bits_##s(found);                                                       \
            U desired = cgx__to_bits_##s(result);                                                  \
            if (cgx__one_processor(scope))                                                         \
                *q = desired;                                                                      \
            else if (!__atomic_compare_exchange_n(q, &found, desired, 1, order, __ATOMIC_RELAXED)) \
                continue;                                                                          \
            return old;                                                                            \
        }                                                                                          \
    }
typedef unsigned __attribute__((may_alias)) cgx__alias_u32;
typedef unsigned long long __attribute__((may_alias)) cgx__alias_u64;
CGX__ATOMIC_FLOAT_FNS(f32, float, unsigned, u32)
CGX__ATOMIC_FLOAT_FNS(f64, double, unsigned long long, u64)

/* ---- collectives that end in an atomic ---- */

CGX__INLINE void *cgx__cpu_update(cgx_group g, void *target, cgx_scope scope, const void *value,
                                  cgx_cpu_collective what, int line)
{
    what.target = target;
    what.scope = scope;
    return cgx__cpu_collect(g, value, 0, &what, line);
}
#define CGX__UPDATE_FN(s, T, code_of_type)                                                                    \
    CGX__INLINE T cgx__update_##s(cgx_group g, T *p, cgx_scope scope, T v, int operation, int code, int line) \
    {                                                                                                         \
        cgx_cpu_collective what = { operation, CGX__TYPE_##code_of_type, code, sizeof v, NULL, NULL, 0 };     \
        return *(T *)cgx__cpu_update(g, p, scope, &v, what, line);                                            \
    }
CGX_FOREACH_VALUE(CGX__UPDATE_FN)

#ifdef __cplusplus
extern "C++" {
#define CGX__ATOMIC_OVERLOADS(s, T)                                                                                   \
    CGX__INLINE T cgx__load(cgx_block b, const volatile T *p, int order, cgx_scope scope, int line)                   \
    {                                                                                                                 \
        return cgx__load_##s(b, p, order, scope, line);                                                               \
    }                                                                                                                 \
    CGX__INLINE void cgx__store(volatile T *p, T v, int order, cgx_scope scope)                                       \
    {                                                                                                                 \
        cgx__store_##s(p, v, order, scope);                                                                           \
    }                                                                                                                 \
    CGX__INLINE T cgx__exchange(cgx_block b, volatile T *p, T v, int order, cgx_scope scope, int line)                \
    {                                                                                                                 \
        return cgx__exchange_##s(b, p, v, order, scope, line);                                                        \
    }                                                                                                                 \
    CGX__INLINE int cgx__compare_exchange(cgx_block b, volatile T *p, T *expected, T desired, int order, int failure, \
                                          cgx_scope scope, int line)                                                  \
    {                                                                                                                 \
        return cgx__compare_exchange_##s(b, p, expected, desired, order, failure, scope, line);                       \
    }                                                                                                                 \
    CGX__FETCH_OVERLOAD(s, T, fetch_add) CGX__FETCH_OVERLOAD(s, T, fetch_min) CGX__FETCH_OVERLOAD(s, T, fetch_max)
#define CGX__FETCH_OVERLOAD(s, T, name)                                       \
    CGX__INLINE T cgx__##name(volatile T *p, T v, int order, cgx_scope scope) \
    {                                                                         \
        return cgx__##name##_##s(p, v, order, scope);                         \
    }
#define CGX__BITS_OVERLOADS(s, T) \
    CGX__FETCH_OVERLOAD(s, T, fetch_and) CGX__FETCH_OVERLOAD(s, T, fetch_or) CGX__FETCH_OVERLOAD(s, T, fetch_xor)
CGX_FOREACH_ATOMIC(CGX__ATOMIC_OVERLOADS)
CGX_FOREACH_ATOMIC_INTEGER(CGX__BITS_OVERLOADS)
#define CGX__UPDATE_OVERLOAD(s, T, code_of_type)                                                          \
    CGX__INLINE T cgx__update(cgx_group g, T *p, cgx_scope scope, T v, int operation, int code, int line) \
    {                                                                                                     \
        return cgx__update_##s(g, p, scope, v, operation, code, line);                                    \
    }
CGX_FOREACH_VALUE(CGX__UPDATE_OVERLOAD)
}
#define CGX__ATOMIC(name, p) cgx__##name
#define CGX__ATOMIC_INTEGER(name, p) cgx__##name
#define CGX__UPDATE_CALL(g, p, scope, v, op, operation) \
    cgx__update(cgx__any(g), (p), (scope), (v), CGX__OP_##operation, cgx__operator_code(*(p), (op)), __LINE__)
#else
void cgx__an_atomic_is_a_32_or_64_bit_integer_or_float(void);
void cgx__this_atomic_needs_an_integer(void);
#define CGX__CASE_load(s, T) \
    T:                       \
    cgx__load_##s,
#define CGX__CASE_store(s, T) \
    T:                        \
    cgx__store_##s,
#define CGX__CASE_exchange(s, T) \
    T:                           \
    cgx__exchange_##s,
#define CGX__CASE_compare_exchange(s, T) \
    T:                                   \
    cgx__compare_exchange_##s,
#define CGX__CASE_fetch_add(s, T) \
    T:                            \
    cgx__fetch_add_##s,
#define CGX__CASE_fetch_min(s, T) \
    T:                            \
    cgx__fetch_min_##s,
#define CGX__CASE_fetch_max(s, T) \
    T:                            \
    cgx__fetch_max_##s,
#define CGX__CASE_fetch_and(s, T) \
    T:                            \
    cgx__fetch_and_##s,
#define CGX__CASE_fetch_or(s, T) \
    T:                           \
    cgx__fetch_or_##s,
#define CGX__CASE_fetch_xor(s, T) \
    T:                            \
    cgx__fetch_xor_##s,
#define CGX__CASE_update(s, T, code) \
    T:                               \
    cgx__update_##s,
#define CGX__ATOMIC(name, p) \
    _Generic(*(p), CGX_FOREACH_ATOMIC(CGX__CASE_##name) default : cgx__an_atomic_is_a_32_or_64_bit_integer_or_float)
#define CGX__ATOMIC_INTEGER(name, p) \
    _Generic(*(p), CGX_FOREACH_ATOMIC_INTEGER(CGX__CASE_##name) default : cgx__this_atomic_needs_an_integer)
#define CGX__UPDATE_CALL(g, p, scope, v, op, operation)                                              \
    _Generic((op), cgx_op_arithmetic                                                                 \
             : _Generic(*(p), CGX_FOREACH_VALUE(CGX__CASE_update) default                            \
                        : cgx__a_builtin_operator_needs_an_integer_or_float),                        \
               cgx_op_bitwise                                                                        \
             : _Generic(*(p), CGX_FOREACH_INTEGER(CGX__CASE_update) default                          \
                        : cgx__a_bitwise_operator_needs_an_integer))(cgx__any(g), (p), (scope), (v), \
                                                                     CGX__OP_##operation, (op).code, __LINE__)
#endif
#define CGX__UPDATE(g, p, scope, v, op, operation) \
    ((void)CGX__ATOMIC_SIZE(p), (void)CGX__UPDATE_CALL(g, p, scope, v, op, operation))
#define CGX__SCAN_UPDATE(g, p, scope, v, op, operation) \
    ((void)CGX__ATOMIC_SIZE(p), CGX__UPDATE_CALL(g, p, scope, v, op, operation))
#define CGX__STORE_REDUCED(g, p, v, op) ((void)CGX__UPDATE_CALL(g, p, CGX_SCOPE_BLOCK, v, op, REDUCE_STORE_PLAIN))
#endif

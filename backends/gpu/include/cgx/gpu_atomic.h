/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/atomic.h>: every type by one of the primitives' types, and reductions and scans that end in an
 * atomic. */
#ifndef CGX_GPU_ATOMIC_H
#define CGX_GPU_ATOMIC_H
#include <cgx/atomic.h>

extern "C++" {

static_assert((int)CGX_SCOPE_BLOCK == CGX__SCOPE_BLOCK && (int)CGX_SCOPE_CLUSTER == CGX__SCOPE_CLUSTER &&
                  (int)CGX_SCOPE_DEVICE == CGX__SCOPE_DEVICE && (int)CGX_SCOPE_SYSTEM == CGX__SCOPE_SYSTEM,
              "scopes of the primitives");

/* ---- types ---- */

/* Of a type of 4 or 8 bytes: the word that holds it, and the type that its numbers are compared as. */
template <size_t BYTES> struct cgx__word_of;
template <> struct cgx__word_of<4> {
    typedef uint32_t word;
    typedef int32_t with_sign;
};
template <> struct cgx__word_of<8> {
    typedef uint64_t word;
    typedef int64_t with_sign;
};
template <class T, bool SIGNED> struct cgx__number_of {
    typedef typename cgx__word_of<sizeof(T)>::word type;
};
template <class T> struct cgx__number_of<T, true> {
    typedef typename cgx__word_of<sizeof(T)>::with_sign type;
};
template <class T> using cgx__word = typename cgx__word_of<sizeof(T)>::word;
template <class T> using cgx__number = typename cgx__number_of<T, (T)-1 < (T)0>::type;

template <class T> CGX__INLINE cgx__word<T> cgx__bits_of(const T &v)
{
    cgx__word<T> w;
    __builtin_memcpy(&w, &v, sizeof w);
    return w;
}
template <class T> CGX__INLINE T cgx__of_bits(cgx__word<T> w)
{
    T v;
    __builtin_memcpy(static_cast<void *>(&v), &w, sizeof v);
    return v;
}
template <class T> CGX__INLINE volatile cgx__word<T> *cgx__at_word(volatile T *p)
{
    return (volatile cgx__word<T> *)p;
}

/* ---- *p = OPERATION(*p, v), and what was there before ---- */

/* Of any operation, by trying. */
template <class OP, class T> CGX__INLINE T cgx__atomic_apply(volatile T *p, T v, int order, int scope)
{
    cgx__word<T> found = cgx__gpu_load(cgx__at_word(p), __ATOMIC_RELAXED, scope), tried;
    do {
        tried = found;
        found = cgx__gpu_compare_exchange(cgx__at_word(p), tried, cgx__bits_of<T>(OP::apply(cgx__of_bits<T>(tried), v)),
                                          order, scope);
    } while (found != tried);
    return cgx__of_bits<T>(found);
}
/* Of those that the hardware has. Integers wrap, so that the sign does not matter to a sum. */
template <class T> CGX__INLINE T cgx__atomic_add(volatile T *p, T v, int order, int scope)
{
    return (T)cgx__gpu_fetch_add(cgx__at_word(p), (cgx__word<T>)v, order, scope);
}
CGX__INLINE float cgx__atomic_add(volatile float *p, float v, int order, int scope)
{
    return cgx__gpu_fetch_add(p, v, order, scope);
}
CGX__INLINE double cgx__atomic_add(volatile double *p, double v, int order, int scope)
{
    return cgx__gpu_fetch_add(p, v, order, scope);
}
template <class T> CGX__INLINE T cgx__atomic_min(volatile T *p, T v, int order, int scope)
{
    return (T)cgx__gpu_fetch_min((volatile cgx__number<T> *)p, (cgx__number<T>)v, order, scope);
}
template <class T> CGX__INLINE T cgx__atomic_max(volatile T *p, T v, int order, int scope)
{
    return (T)cgx__gpu_fetch_max((volatile cgx__number<T> *)p, (cgx__number<T>)v, order, scope);
}
/* No chip's float minimum is minimumNumber for all bits. */
#define CGX__ATOMIC_BY_TRYING(T)                                             \
    CGX__INLINE T cgx__atomic_min(volatile T *p, T v, int order, int scope)  \
    {                                                                        \
        return cgx__atomic_apply<cgx__operator_LESS>(p, v, order, scope);    \
    }                                                                        \
    CGX__INLINE T cgx__atomic_max(volatile T *p, T v, int order, int scope)  \
    {                                                                        \
        return cgx__atomic_apply<cgx__operator_GREATER>(p, v, order, scope); \
    }
CGX__ATOMIC_BY_TRYING(float)
CGX__ATOMIC_BY_TRYING(double)
#define CGX__ATOMIC_BITS(name)                                                                    \
    template <class T> CGX__INLINE T cgx__atomic_##name(volatile T *p, T v, int order, int scope) \
    {                                                                                             \
        return (T)cgx__gpu_fetch_##name(cgx__at_word(p), (cgx__word<T>)v, order, scope);          \
    }
CGX__ATOMIC_BITS(and)
CGX__ATOMIC_BITS(or)
CGX__ATOMIC_BITS(xor)

/* One order for an exchange that may fail: both its orders' demands. */
CGX__INLINE int cgx__both_orders(int order, int failure)
{
    if (order == __ATOMIC_SEQ_CST || failure == __ATOMIC_SEQ_CST)
        return __ATOMIC_SEQ_CST;
    if (failure == __ATOMIC_ACQUIRE && order == __ATOMIC_RELEASE)
        return __ATOMIC_ACQ_REL;
    return failure == __ATOMIC_ACQUIRE && order == __ATOMIC_RELAXED ? __ATOMIC_ACQUIRE : order;
}

/* ---- what the macros call: overloads and no templates, so that the value is converted to the type of the atomic, and
 * another type does not compile ---- */

#define CGX__ATOMIC_OVERLOADS(s, T)                                                                                 \
    CGX__INLINE T cgx__load(cgx_block, const volatile T *p, int order, cgx_scope scope, int)                        \
    {                                                                                                               \
        return cgx__of_bits<T>(cgx__gpu_load((const volatile cgx__word<T> *)p, order, scope));                      \
    }                                                                                                               \
    CGX__INLINE void cgx__store(volatile T *p, T v, int order, cgx_scope scope)                                     \
    {                                                                                                               \
        cgx__gpu_store(cgx__at_word(p), cgx__bits_of<T>(v), order, scope);                                          \
    }                                                                                                               \
    CGX__INLINE T cgx__exchange(cgx_block, volatile T *p, T v, int order, cgx_scope scope, int)                     \
    {                                                                                                               \
        return cgx__of_bits<T>(cgx__gpu_exchange(cgx__at_word(p), cgx__bits_of<T>(v), order, scope));               \
    }                                                                                                               \
    CGX__INLINE int cgx__compare_exchange(cgx_block, volatile T *p, T *expected, T desired, int order, int failure, \
                                          cgx_scope scope, int)                                                     \
    {                                                                                                               \
        const cgx__word<T> sought = cgx__bits_of<T>(*expected);                                                     \
        const cgx__word<T> found = cgx__gpu_compare_exchange(cgx__at_word(p), sought, cgx__bits_of<T>(desired),     \
                                                             cgx__both_orders(order, failure), scope);              \
        *expected = cgx__of_bits<T>(found);                                                                         \
        return found == sought;                                                                                     \
    }                                                                                                               \
    CGX__FETCH_OVERLOAD(T, add)                                                                                     \
    CGX__FETCH_OVERLOAD(T, min)                                                                                     \
    CGX__FETCH_OVERLOAD(T, max)
#define CGX__ATOMIC_INTEGER_OVERLOADS(s, T) \
    CGX__FETCH_OVERLOAD(T, and)             \
    CGX__FETCH_OVERLOAD(T, or)              \
    CGX__FETCH_OVERLOAD(T, xor)
#define CGX__FETCH_OVERLOAD(T, name)                                                \
    CGX__INLINE T cgx__fetch_##name(volatile T *p, T v, int order, cgx_scope scope) \
    {                                                                               \
        return cgx__atomic_##name(p, v, order, scope);                              \
    }
CGX_FOREACH_ATOMIC(CGX__ATOMIC_OVERLOADS)
CGX_FOREACH_ATOMIC_INTEGER(CGX__ATOMIC_INTEGER_OVERLOADS)
CGX__INLINE void cgx__atomic_fence(int order, cgx_scope scope)
{
    cgx__gpu_fence(order, scope);
}
#define CGX__ATOMIC(name, p) cgx__##name
#define CGX__ATOMIC_INTEGER(name, p) cgx__##name

/* ---- reductions and scans that end in an atomic ---- */

/* An operator's update: by trying, unless the hardware has it. */
template <class OP, class T> struct cgx__updater {
    CGX__INLINE T update(T *p, T v, int scope)
    {
        return cgx__atomic_apply<OP>(p, v, __ATOMIC_RELAXED, scope);
    }
};
template <class T> struct cgx__is_atomic_integer {
    enum { value = cgx__is_integer<T>::value && sizeof(T) >= 4 };
};
template <class OP, class T, bool INTEGER> struct cgx__builtin_updater : cgx__updater<OP, T> {
};
#define CGX__BUILTIN_UPDATER(operator, name)                                            \
    template <class T> struct cgx__builtin_updater<cgx__operator_##operator, T, true> { \
        CGX__INLINE T update(T *p, T v, int scope)                                      \
        {                                                                               \
            return cgx__atomic_##name(p, v, __ATOMIC_RELAXED, scope);                   \
        }                                                                               \
    };
CGX__BUILTIN_UPDATER(PLUS, add)
CGX__BUILTIN_UPDATER(LESS, min)
CGX__BUILTIN_UPDATER(GREATER, max)
CGX__BUILTIN_UPDATER(BIT_AND, and)
CGX__BUILTIN_UPDATER(BIT_OR, or)
CGX__BUILTIN_UPDATER(BIT_XOR, xor)

template <class OP, class T> CGX__INLINE T cgx__update_value(T *p, T v, int scope)
{
    return cgx__builtin_updater<OP, T, cgx__is_atomic_integer<T>::value>::update(p, v, scope);
}

/* Where nobody asks for the old value, a sum of floats may be the hardware's, which may take subnormal numbers for zero. */
template <class OP, class T> struct cgx__blind_update {
    CGX__INLINE void update(T *p, T v, int scope)
    {
        cgx__update_value<OP>(p, v, scope);
    }
};
#define CGX__BLIND_SUM(T)                                         \
    template <> struct cgx__blind_update<cgx__operator_PLUS, T> { \
        CGX__INLINE void update(T *p, T v, int scope)             \
        {                                                         \
            cgx__gpu_fetch_add(p, v, __ATOMIC_RELAXED, scope);    \
        }                                                         \
    };
CGX__BLIND_SUM(float)
CGX__BLIND_SUM(double)

/* An update of a scan is made by the last rank, whose inclusive result is the total, and what it found goes to all. */
template <class OP, class G, class T>
CGX__INLINE T cgx__scan_and_update(const G &g, T *p, int scope, T v, bool exclusive)
{
    T old = T(), scan = cgx__scan_with<OP>(g, v, false);
    if (g.rank == g.size - 1)
        old = cgx__update_value<OP>(p, scan, scope);
    old = cgx__shuffle<cgx__source_SHFL>(g, old, g.size - 1);
    if (exclusive)
        scan = cgx__shuffle<cgx__source_SHFL_UP>(g, scan, 1);
    return exclusive && g.rank == 0 ? old : OP::apply(old, scan);
}
/* An operation from CGX__OP_REDUCE_UPDATE on, for block, tile and coalesced groups. T of other sizes than 4 and 8 has the plain store
 * alone. */
template <class OP, class G, class T> CGX__INLINE T cgx__update_known(const G &g, T *p, int scope, T v, int operation)
{
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
        if (operation == CGX__OP_INCLUSIVE_UPDATE || operation == CGX__OP_EXCLUSIVE_UPDATE)
            return cgx__scan_and_update<OP>(g, p, scope, v, operation == CGX__OP_EXCLUSIVE_UPDATE);
    v = cgx__reduce_with<OP>(g, v);
    if (g.rank != 0)
        return v;
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        if (operation == CGX__OP_REDUCE_UPDATE) {
            cgx__blind_update<OP, T>::update(p, v, scope);
            return v;
        }
        if (operation == CGX__OP_REDUCE_STORE) {
            cgx__gpu_store(cgx__at_word(p), cgx__bits_of(v), __ATOMIC_RELAXED, scope);
            return v;
        }
    }
    *p = v;
    return v;
}
/* Out of line: the code for every kind of group is long, and there is one copy of it for an operator and a type. */
template <class OP, class T> CGX__NOINLINE T cgx__update_erased(cgx_group g, T *p, int scope, T v, int operation)
{
    return cgx__update_known<OP>(g, p, scope, v, operation);
}
template <class OP, class G, class T> CGX__INLINE T cgx__update_with(const G &g, T *p, int scope, T v, int operation)
{
    if constexpr ((int)cgx__place<G>::value == CGX__ANYWHERE)
        return cgx__update_erased<OP, T>(g, p, scope, v, operation);
    else
        return cgx__update_known<OP>(g, p, scope, v, operation);
}

/* A built-in operator: an overload for each type of the target, as cgx__reduce has for the value. */
#define CGX__UPDATE_OVERLOAD(s, T, code)                                                                              \
    template <class OP, class G> CGX__INLINE T cgx__update(const G &g, T *p, cgx_scope scope, T v, OP, int operation) \
    {                                                                                                                 \
        return cgx__update_with<OP>(g, p, scope, v, operation);                                                       \
    }
CGX_FOREACH_VALUE(CGX__UPDATE_OVERLOAD)
#define CGX__UPDATE_CALL(g, p, scope, v, op, operation) \
    cgx__update(cgx__any(g), (p), (scope), (v), (op), CGX__OP_##operation)
/* An atomic of another size is an array of negative size here. */
#define CGX__UPDATE(g, p, scope, v, op, operation) \
    ((void)CGX__ATOMIC_SIZE(p), (void)CGX__UPDATE_CALL(g, p, scope, v, op, operation))
#define CGX__SCAN_UPDATE(g, p, scope, v, op, operation) \
    ((void)CGX__ATOMIC_SIZE(p), CGX__UPDATE_CALL(g, p, scope, v, op, operation))
#define CGX__STORE_REDUCED(g, p, v, op) ((void)CGX__UPDATE_CALL(g, p, CGX_SCOPE_BLOCK, v, op, REDUCE_STORE_PLAIN))

} /* extern "C++" */
#endif

/* SPDX-License-Identifier: MIT */
/* Device passes of <cgx/atomic.h>. */
#ifndef CGX_GPU_ATOMIC_H
#define CGX_GPU_ATOMIC_H
#include <cgx/atomic.h>

extern "C++" {

/* ---- declared here, defined by the CUDA and HIP backends ---- */

/* Overloads and no templates: the value is converted to the type of the atomic, and another type does not compile. */
#define CGX__ATOMIC_OVERLOADS(s, T)                                                                           \
    CGX__DECLARED T cgx__load(cgx_block self, const volatile T *p, int order, cgx_scope scope, int line);     \
    CGX__DECLARED void cgx__store(volatile T *p, T v, int order, cgx_scope scope);                            \
    CGX__DECLARED T cgx__exchange(cgx_block self, volatile T *p, T v, int order, cgx_scope scope, int line);  \
    CGX__DECLARED int cgx__compare_exchange(cgx_block self, volatile T *p, T *expected, T desired, int order, \
                                            int failure, cgx_scope scope, int line);                          \
    CGX__FETCH_OVERLOAD(T, fetch_add)                                                                         \
    CGX__FETCH_OVERLOAD(T, fetch_min)                                                                         \
    CGX__FETCH_OVERLOAD(T, fetch_max)
#define CGX__ATOMIC_INTEGER_OVERLOADS(s, T) \
    CGX__FETCH_OVERLOAD(T, fetch_and)       \
    CGX__FETCH_OVERLOAD(T, fetch_or)        \
    CGX__FETCH_OVERLOAD(T, fetch_xor)
#define CGX__FETCH_OVERLOAD(T, name) CGX__DECLARED T cgx__##name(volatile T *p, T v, int order, cgx_scope scope);
CGX_FOREACH_ATOMIC(CGX__ATOMIC_OVERLOADS)
CGX_FOREACH_ATOMIC_INTEGER(CGX__ATOMIC_INTEGER_OVERLOADS)
CGX__DECLARED void cgx__atomic_fence(int order, cgx_scope scope);

/* ---- what the macros call ---- */

#define CGX__ATOMIC(name, p) cgx__##name
#define CGX__ATOMIC_INTEGER(name, p) cgx__##name

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

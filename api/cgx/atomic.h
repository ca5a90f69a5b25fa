/* SPDX-License-Identifier: MIT */
/* Scoped, ordered atomics and fences (PARITY X01; the memory model is that of the PTX ISA, chapter "Memory consistency
 * model", and of the HSA one: C11 orders within a scope).
 *
 * P points at a 32- or 64-bit integer, float or double in global or shared memory, naturally aligned; V is converted to its
 * type. SCOPE says who may take part: an access by a thread outside the scope, at the same time, is a race. ORDER is one of
 * CGX_RELAXED, CGX_ACQUIRE, CGX_RELEASE, CGX_ACQ_REL, CGX_SEQ_CST, as in C11: loads take relaxed, acquire and seq_cst,
 * stores relaxed, release and seq_cst. Any thread may call, converged or not; nothing here is collective.
 *
 * Polling. A thread may wait for another's store in a loop of cgx_atomic_load, cgx_atomic_exchange or
 * cgx_atomic_compare_exchange: the other gets to run, also where both are of one block on one core, unless both are lanes of
 * one warp and the device's warps run in step (docs/semantics.md, "Progress"). A plain or volatile load in a loop need not
 * end. In a device function these three need CGX_IN_GROUP. */
#ifndef CGX_ATOMIC_H
#define CGX_ATOMIC_H
#include <cgx/collective.h>

/* The values are those of the compilers' own atomics. */
enum {
    CGX_RELAXED = __ATOMIC_RELAXED,
    CGX_ACQUIRE = __ATOMIC_ACQUIRE,
    CGX_RELEASE = __ATOMIC_RELEASE,
    CGX_ACQ_REL = __ATOMIC_ACQ_REL,
    CGX_SEQ_CST = __ATOMIC_SEQ_CST
};
/* Who may take part: the threads of the block, of the cluster, of the device's kernels, or everybody, the host included. */
typedef enum { CGX_SCOPE_BLOCK, CGX_SCOPE_CLUSTER, CGX_SCOPE_DEVICE, CGX_SCOPE_SYSTEM } cgx_scope;

/* Types that atomics take: X(suffix, type). */
#define CGX_FOREACH_ATOMIC_INTEGER(X) \
    X(i32, int) X(u32, unsigned) X(l, long) X(ul, unsigned long) X(i64, long long) X(u64, unsigned long long)
#define CGX_FOREACH_ATOMIC(X) CGX_FOREACH_ATOMIC_INTEGER(X) X(f32, float) X(f64, double)

/* T cgx_atomic_load(const T *p, order, scope) */
#define cgx_atomic_load(p, order, scope) CGX__ATOMIC(load, p)(CGX__SELF, (p), (order), (scope), __LINE__)
/* void cgx_atomic_store(T *p, T v, order, scope) */
#define cgx_atomic_store(p, v, order, scope) CGX__ATOMIC(store, p)((p), (v), (order), (scope))
/* T: what was there. */
#define cgx_atomic_exchange(p, v, order, scope) \
    CGX__ATOMIC(exchange, p)(CGX__SELF, (p), (v), (order), (scope), __LINE__)
/* bool: stores DESIRED where *EXPECTED is found, else puts what was found into *EXPECTED. FAILURE is the order of a failing
 * one: no release, no stronger than ORDER. Never fails spuriously. */
#define cgx_atomic_compare_exchange(p, expected, desired, order, failure, scope) \
    CGX__ATOMIC(compare_exchange, p)(CGX__SELF, (p), (expected), (desired), (order), (failure), (scope), __LINE__)
/* T: what was there before. Integer sums wrap. */
#define cgx_atomic_fetch_add(p, v, order, scope) CGX__ATOMIC(fetch_add, p)((p), (v), (order), (scope))
/* The smaller or the larger stays; of floats by minimumNumber and maximumNumber, as CGX_LESS and CGX_GREATER. */
#define cgx_atomic_fetch_min(p, v, order, scope) CGX__ATOMIC(fetch_min, p)((p), (v), (order), (scope))
#define cgx_atomic_fetch_max(p, v, order, scope) CGX__ATOMIC(fetch_max, p)((p), (v), (order), (scope))
/* Integers alone. */
#define cgx_atomic_fetch_and(p, v, order, scope) CGX__ATOMIC_INTEGER(fetch_and, p)((p), (v), (order), (scope))
#define cgx_atomic_fetch_or(p, v, order, scope) CGX__ATOMIC_INTEGER(fetch_or, p)((p), (v), (order), (scope))
#define cgx_atomic_fetch_xor(p, v, order, scope) CGX__ATOMIC_INTEGER(fetch_xor, p)((p), (v), (order), (scope))
/* void: a fence without an access. */
#define cgx_atomic_fence(order, scope) cgx__atomic_fence((order), (scope))

#if defined(CGX_PASS_CPU)
#include <cgx/cpu_atomic.h>
#else
#include <cgx/gpu_atomic.h>
#endif

/* ---- collectives that end in an atomic (PARITY R03-R05, S03, S04; guide 5.6.3.4.2, 5.6.3.5.1) ----
 * Collective over a block, tile or coalesced group; P, an atomic of 4 or 8 bytes, SCOPE and the operator are the same in all
 * its threads. The update is relaxed. The effect of the _async forms is seen after the group synchronises. */

/* An atomic of another size is an array of negative size here. */
#define CGX__ATOMIC_SIZE(p) sizeof(char[sizeof *(p) == 4 || sizeof *(p) == 8 ? 1 : -1])

/* void: *p = *p OP reduce(v), atomically. */
#define cgx_reduce_update_async(g, p, scope, v, op) CGX__UPDATE(g, p, scope, v, op, REDUCE_UPDATE)
/* void: *p = reduce(v), an atomic store. */
#define cgx_reduce_store_async_atomic(g, p, scope, v, op) CGX__UPDATE(g, p, scope, v, op, REDUCE_STORE)
/* void: *p = reduce(v), a plain store; any type that cgx_reduce takes. */
#define cgx_reduce_store_async(g, p, v, op) CGX__STORE_REDUCED(g, p, v, op)
/* T: old OP scan(v), old being *p before, to which the operation on all values is applied: rank r gets op(old, scan of r), and
 * rank 0 of the exclusive form old itself. Without an operator, the sum. The new *p is the last rank's inclusive result, bit for bit. */
#define cgx_inclusive_scan_update(g, p, scope, ...) \
    CGX__SCAN_UPDATE_OF(g, p, scope, INCLUSIVE_UPDATE, __VA_ARGS__, CGX_PLUS, ~)
#define cgx_exclusive_scan_update(g, p, scope, ...) \
    CGX__SCAN_UPDATE_OF(g, p, scope, EXCLUSIVE_UPDATE, __VA_ARGS__, CGX_PLUS, ~)
#define CGX__SCAN_UPDATE_OF(g, p, scope, operation, v, op, ...) CGX__SCAN_UPDATE(g, p, scope, v, op, operation)
/* The same with a user operator on a type of 4 or 8 bytes; the plain store takes any. */
#define cgx_reduce_update_async_op(g, p, scope, v, name) \
    ((void)CGX__ATOMIC_SIZE(p), name##__update(cgx__any(g), (p), (scope), (v), CGX__OP_REDUCE_UPDATE, __LINE__))
#define cgx_reduce_store_async_atomic_op(g, p, scope, v, name) \
    ((void)CGX__ATOMIC_SIZE(p), name##__update(cgx__any(g), (p), (scope), (v), CGX__OP_REDUCE_STORE, __LINE__))
#define cgx_reduce_store_async_op(g, p, v, name) \
    name##__update(cgx__any(g), (p), CGX_SCOPE_BLOCK, (v), CGX__OP_REDUCE_STORE_PLAIN, __LINE__)
#define cgx_inclusive_scan_update_op(g, p, scope, v, name) \
    ((void)CGX__ATOMIC_SIZE(p), name##__update(cgx__any(g), (p), (scope), (v), CGX__OP_INCLUSIVE_UPDATE, __LINE__))
#define cgx_exclusive_scan_update_op(g, p, scope, v, name) \
    ((void)CGX__ATOMIC_SIZE(p), name##__update(cgx__any(g), (p), (scope), (v), CGX__OP_EXCLUSIVE_UPDATE, __LINE__))
#endif

/* SPDX-License-Identifier: MIT */
/* The expressions of the user operators, once for the kernels and once for the host's reference. */
#ifndef TESTS_OPERATORS_H
#define TESTS_OPERATORS_H
#include "values.h"

#define COMPOSE(r, l, m) (r.a = l.a * m.a, r.b = l.b * m.a + m.b)
/* Rounded sums of products: a contraction shows in the last bit. */
#define PRODUCT(r, l, m) \
    (r.a = l.a * m.a + l.b * m.c, r.b = l.a * m.b + l.b * m.d, r.c = l.c * m.a + l.d * m.c, r.d = l.c * m.b + l.d * m.d)
#define JOIN(r, l, m) \
    (r.first = l.first, r.last = m.last, r.in_order = l.in_order && m.in_order && l.last + 1 == m.first)
#endif

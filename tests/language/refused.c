/* SPDX-License-Identifier: MIT */
/* What must not compile: refused.sh defines one CASE at a time and looks for words in what the compiler says. With
 * CASE 0 all of it compiles. */
#include <cgx.h>

typedef struct {
    int a, b;
} pair;
typedef struct {
    char bytes[33];
} large;
typedef struct {
    char bytes[4080];
} page;
CGX_OP(pair, greater_pair, l, r, l.a > r.a ? l : r)

CGX_KERNEL(typed, (int, n), (float, f), (const float *, in), (pair *, out))
{
    if (n > 0)
        out->a = (int)(f * in[0]);
}

/* 4,096 bytes of arguments are the most. */
CGX_KERNEL(full, (page, p), (int64_t, n), (int *, out))
{
    out[0] = p.bytes[0] + (int)n;
}

CGX_KERNEL_DECLARE(declared, (int, n), (float *, out))
#if CASE == 3
CGX_KERNEL_EXTERN(declared, (int, n), (double *, out))
#else
CGX_KERNEL_EXTERN(declared, (int, n), (float *, out))
#endif
{
    out[0] = 0;
    (void)n;
}

#if CASE == 1
CGX_KERNEL(too_full, (page, p), (int64_t, n), (int *, out), (char, c))
{
    out[0] = p.bytes[0] + (int)n + c;
}
#elif CASE == 2
CGX_KERNEL(seventeen, (int, a), (int, b), (int, c), (int, d), (int, e), (int, f), (int, g), (int, h), (int, i),
           (int, j), (int, k), (int, l), (int, m), (int, n), (int, o), (int, p), (int, q))
{
}
#elif CASE == 4
CGX_OP(large, first_large, l, r, l)
#endif

CGX_KERNEL(collectives, (int *, out), (float, f), (pair, p))
{
    cgx_block b = cgx_this_block();
    cgx_grid g = cgx_this_grid();
    cgx_tile_32 t = cgx_tiled_partition(b, 32);
    cgx_tile_128 wide = cgx_tiled_partition(b, 128);
    large big = { { 0 } };
    out[0] = (int)cgx_reduce(b, f, CGX_LESS) + cgx_reduce_op(t, p, greater_pair).a + big.bytes[0];
    out[1] = cgx_all(wide, 1) + (int)cgx_block_rank(g);
#if CASE == 10
    out[2] = (int)cgx_reduce(b, f, CGX_BIT_AND);
#elif CASE == 11
    out[2] = cgx_reduce(t, p, CGX_PLUS).a;
#elif CASE == 12
    out[2] = (int)cgx_inclusive_scan(t, (double)f, CGX_BIT_XOR);
#elif CASE == 13
    out[2] = cgx_exclusive_scan(t, p, CGX_BIT_OR).a;
#elif CASE == 14
    cgx_tile_32 odd = cgx_tiled_partition(b, 24);
    out[2] = cgx_thread_rank(odd);
#elif CASE == 15
    out[2] = cgx_shfl(t, big, 0).bytes[0];
#elif CASE == 16
    out[2] = (int)cgx_match_any(t, big);
#elif CASE == 17
    out[2] = (int)cgx_ballot(wide, 1);
#elif CASE == 19
    cgx_tile_32 huge = cgx_tiled_partition(b, 2048);
    out[2] = cgx_thread_rank(huge);
#elif CASE == 20
    out[2] = cgx_reduce(f, 1, CGX_PLUS);
#elif CASE == 21
    out[2] = cgx_dim_threads(t).x;
#endif
}

cgx_status launches(cgx_queue *q, float *x, const float *in, pair *p);
cgx_status launches(cgx_queue *q, float *x, const float *in, pair *p)
{
    cgx_config c = cgx_config_1d(1, 32);
    cgx_status s = typed_launch(q, c, 1, 2.0f, in, p);
    page bytes = { { 0 } };
    s = s ? s : full_launch(q, c, bytes, 1, &p->a);
    s = s ? s : declared_launch(q, c, 1, x);
    s = s ? s : collectives_launch(q, c, &p->a, 1.0f, *p);
#if CASE == 30
    s = typed_launch(q, c, 1, 2.0f, p, p);
#elif CASE == 31
    s = typed_launch(q, c, 1, 2.0f, in);
#elif CASE == 32
    s = typed_launch(q, c, 1, 2.0f, in, p, 1);
#elif CASE == 33
    s = typed_launch(q, c, 1, 2.0f, in, x);
#elif CASE == 34
    s = typed_launch(q, c, 1, *p, in, p);
#elif CASE == 35
    s = typed_launch(q, 32, 1, 2.0f, in, p);
#elif CASE == 36
    s = typed_launch(c, q, 1, 2.0f, in, p);
#elif CASE == 37
    s = declared_launch(q, c, 1, in);
#elif CASE == 38
    s = typed_launch(q, c, in, 2.0f, in, p);
#endif
    return s;
}

/* SPDX-License-Identifier: MIT */
/* test_bitwise [FILE]: the same kernels compiled several ways - by gcc and by clang, unoptimised and optimised, with and
 * without contraction in the user's code - give the bits of a serial evaluation of the canonical order, in every kind of
 * group. Prints a digest, and writes all results to FILE, for comparison with runs under other settings
 * (bitwise.sh). VARIANTS is the build's list. */
#include <unistd.h>
#include "../common/check.h"
#include "../device/canonical.h"
#include "bitwise_kernels.h"

#define X(variant) DECLARE_BITWISE(variant)
VARIANTS
#undef X

typedef cgx_status narrow_fn(cgx_queue *, cgx_config, int, int, const bitwise_in *, bitwise_out *, float *);
typedef cgx_status wide_fn(cgx_queue *, cgx_config, const bitwise_in *, bitwise_out *);
static const struct {
    const char *name;
    narrow_fn *narrow;
    wide_fn *cluster, *grid;
    const cgx_kernel *kernel;
} variants[] = {
#define X(v) { #v, narrow_##v##_launch, cluster_##v##_launch, grid_##v##_launch, CGX_KERNEL_OF(narrow_##v) },
    VARIANTS
#undef X
};

enum { MOST = 1024 * 3 };
static bitwise_in in[MOST];
static bitwise_in *d_in;
static FILE *file;
static uint64_t digest = 0xcbf29ce484222325u; /* FNV-1a */

/* ---- the serial evaluation ---- */

DEFINE_OPERATOR(host_compose, line, ((line){ a.a * b.a, a.b *b.a + b.b }))
DEFINE_OPERATOR(host_product, matrix,
                ((matrix){ a.a * b.a + a.b * b.c, a.a *b.b + a.b *b.d, a.c *b.a + a.d *b.c, a.c *b.b + a.d *b.d }))

/* The group of COUNT threads that are MEMBERS of the grid, in BLOCKS equal blocks. */
static void evaluate(const int *members, int count, int blocks, bitwise_out *want)
{
    static double products[MOST], inclusive[MOST], exclusive[MOST];
    static float products_f[MOST], inclusive_f[MOST], exclusive_f[MOST];
    static matrix matrices[MOST], inclusive_m[MOST], exclusive_m[MOST];
    static line lines[MOST], inclusive_l[MOST], exclusive_l[MOST];
    bitwise_out all;

    for (int i = 0; i < count; i++) {
        const bitwise_in *v = in + members[i];
        products[i] = v->p * v->q, products_f[i] = v->x * v->y, matrices[i] = v->m, lines[i] = v->l;
    }
#define WIDE(op, values, reduced, with, below)                                                              \
    canonical_wide(op, (const char *)(values), sizeof *(values), blocks, count / blocks, (char *)(reduced), \
                   (char *)(with), (char *)(below))
    WIDE(less_f32, products_f, &all.least, inclusive_f, exclusive_f);
    WIDE(greater_f32, products_f, &all.most, inclusive_f, exclusive_f);
    WIDE(plus_f32, products_f, &all.sum_f[REDUCED], inclusive_f, exclusive_f);
    WIDE(plus_f64, products, &all.sum[REDUCED], inclusive, exclusive);
    WIDE(host_product, matrices, &all.product[REDUCED], inclusive_m, exclusive_m);
    WIDE(host_compose, lines, &all.composed[REDUCED], inclusive_l, exclusive_l);
    for (int i = 0; i < count; i++) {
        all.sum[INCLUSIVE] = inclusive[i], all.sum[EXCLUSIVE] = exclusive[i];
        all.sum_f[INCLUSIVE] = inclusive_f[i], all.sum_f[EXCLUSIVE] = exclusive_f[i];
        all.product[INCLUSIVE] = inclusive_m[i], all.product[EXCLUSIVE] = exclusive_m[i];
        all.composed[INCLUSIVE] = inclusive_l[i], all.composed[EXCLUSIVE] = exclusive_l[i];
        all.rank = i;
        want[members[i]] = all;
    }
}

/* ---- comparisons ---- */

static void compare(const char *variant, const char *what, const bitwise_out *want, const bitwise_out *got, int n)
{
    for (int i = 0; i < n; i++) {
        static const struct {
            const char *name;
            size_t offset, bytes;
        } fields[] = {
#define FIELD(f) { #f, offsetof(bitwise_out, f), sizeof(((bitwise_out *)NULL)->f) }
            FIELD(sum[REDUCED]),
            FIELD(sum[INCLUSIVE]),
            FIELD(sum[EXCLUSIVE]),
            FIELD(product[REDUCED]),
            FIELD(product[INCLUSIVE]),
            FIELD(product[EXCLUSIVE]),
            FIELD(composed[REDUCED]),
            FIELD(composed[INCLUSIVE]),
            FIELD(composed[EXCLUSIVE]),
            FIELD(sum_f[REDUCED]),
            FIELD(sum_f[INCLUSIVE]),
            FIELD(sum_f[EXCLUSIVE]),
            FIELD(least),
            FIELD(most),
            FIELD(rank)
        };
        for (size_t f = 0; f < COUNT_OF(fields); f++) {
            const char *w = (const char *)(want + i) + fields[f].offset,
                       *g = (const char *)(got + i) + fields[f].offset;
            if (memcmp(w, g, fields[f].bytes))
                fail_msg("%s, %s, thread %d of the grid: %s is 0x%s, not 0x%s", variant, what, i, fields[f].name,
                         hex_value(g, fields[f].bytes), hex_value(w, fields[f].bytes));
        }
    }
}

/* All variants' results of one launch. FOR_USER: the user's own arithmetic, of each variant, or NULL. */
static void check_launch(const char *what, int kind, int size, cgx_config c, const bitwise_out *want, float *for_user)
{
    const int n = c.grid.x * c.block.x * c.block.y * c.block.z;
    const size_t bytes = (size_t)n * sizeof(bitwise_out);
    bitwise_out *out = device_memory(bytes), *got = host_memory(bytes);
    float *user = device_memory((size_t)n * sizeof *user);

    for (size_t v = 0; v < COUNT_OF(variants); v++) {
        check_ok(cgx_fill_u8(test_queue, out, 0xa5, bytes));
        check_ok(kind >= 0     ? variants[v].narrow(test_queue, c, kind, size, d_in, out, user)
                 : c.cluster.x ? variants[v].cluster(test_queue, c, d_in, out)
                               : variants[v].grid(test_queue, cgx_cooperative_or_software(c), d_in, out));
        fetch(got, out, bytes);
        compare(variants[v].name, what, want, got, n);
        if (for_user)
            fetch(for_user + v * (size_t)n, user, (size_t)n * sizeof *user);
        for (size_t i = 0; i < bytes; i++)
            digest = (digest ^ ((const unsigned char *)got)[i]) * 0x100000001b3u;
        if (file && fwrite(got, bytes, 1, file) != 1)
            fail_msg("cannot write the results");
    }
    device_free(out), device_free(user), free(got);
}

/* Groups of a block: in each block, threads with the same label are a group; a negative label is none. */
static void check_narrow(const char *what, int kind, int size, cgx_config c, const int *label)
{
    static bitwise_out want[MOST];
    static int members[MOST];
    const int per = c.block.x * c.block.y * c.block.z, n = c.grid.x * per;

    memset(want, 0xa5, sizeof want);
    for (int first = 0; first < n; first += per)
        for (int l = 0; l < per; l++) {
            int count = 0;
            for (int i = 0; i < per; i++)
                if (label[i] == l)
                    members[count++] = first + i;
            if (count)
                evaluate(members, count, 1, want);
        }
    check_launch(what, kind, size, c, want, NULL);
}

/* rows: R02 R06 R07 S01 S02 G01 G04 T02 */
static void blocks_and_tiles(void **state)
{
    static const int threads[] = { 1, 33, 100, 256, 1000, 1024 };
    int label[1024];
    char what[80];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        cgx_config c = cgx_config_1d(2, threads[i]);
        memset(label, 0, sizeof label);
        snprintf(what, sizeof what, "blocks of %d", threads[i]);
        check_narrow(what, KIND_BLOCK, 0, c, label);
        for (int size = 1; size <= threads[i]; size *= 2) {
            if (threads[i] % size)
                continue;
            for (int r = 0; r < threads[i]; r++)
                label[r] = r / size;
            snprintf(what, sizeof what, "tiles of %d in %d", size, threads[i]);
            check_narrow(what, KIND_TILE, size, c, label);
            if (size == 16)
                check_narrow("typed tiles of 16", KIND_TYPED, 0, c, label);
        }
    }
    memset(label, 0, sizeof label);
    check_narrow("a block of 7 x 5 x 3", KIND_BLOCK, 0, cgx_config_make(cgx_dim(3, 1, 1), cgx_dim(7, 5, 3)), label);
}

/* rows: R02 R06 R07 S01 S02 G06 T03 */
static void coalesced(void **state)
{
    int label[320];

    (void)state;
    for (int r = 0; r < 320; r++)
        label[r] = r / 32 * labels + r % labels;
    check_narrow("partitions by label", KIND_LABELED, 0, cgx_config_1d(3, 320), label);
    for (int r = 0; r < 320; r++)
        label[r] = IN_BRANCH(r) ? r / 64 : -1;
    check_narrow("coalesced threads", KIND_BRANCH, 0, cgx_config_1d(3, 320), label);
}

static void check_wide(const char *what, cgx_config c, int group_blocks)
{
    static bitwise_out want[MOST];
    static int members[MOST];
    const int count = group_blocks * c.block.x, n = c.grid.x * c.block.x;

    for (int first = 0; first < n; first += count) {
        for (int i = 0; i < count; i++)
            members[i] = first + i;
        evaluate(members, count, group_blocks, want);
    }
    check_launch(what, -1, 0, c, want, NULL);
}

/* rows: R02 R06 R07 S01 S02 G02 */
static void clusters(void **state)
{
    cgx_config c = cgx_config_1d(8, 100);

    (void)state;
    if (!test_can(CGX_CAN_CLUSTER))
        return;
    c.cluster = cgx_dim(4, 1, 1);
    check_wide("clusters of 4 blocks of 100", c, 4);
    c = cgx_config_1d(5, 33), c.cluster = cgx_dim(5, 1, 1);
    check_wide("a cluster of 5 blocks of 33", c, 5);
}

/* rows: R02 R06 R07 S01 S02 G03 */
static void grids(void **state)
{
    (void)state;
    if (!test_can_sync_grid())
        return;
    check_wide("a grid of 1 block of 64", cgx_config_1d(1, 64), 1);
    check_wide("a grid of 7 blocks of 96", cgx_config_1d(7, 96), 7);
    check_wide("a grid of 40 blocks of 75", cgx_config_1d(40, 75), 40);
}

/* That the variants differ at all: where the processor has a fused multiply-add, the user's x * y + b has other bits with
 * contraction than without. */
static void contraction_is_on_and_off(void **state)
{
    enum { N = 1024 };
    static bitwise_out want[MOST];
    static int members[N];
    float *user = host_memory(COUNT_OF(variants) * N * sizeof *user);
    cgx_kernel_info info = CGX_KERNEL_INFO_INIT;

    (void)state;
    for (int i = 0; i < N; i++)
        members[i] = i;
    evaluate(members, N, 1, want);
    check_launch("a block", KIND_BLOCK, 0, cgx_config_1d(1, N), want, user);
    for (size_t v = 0; v < COUNT_OF(variants); v++) {
        const int contracted = strstr(variants[v].name, "contracted") != NULL;
        int different = 0;
        check_ok(cgx_kernel_get_info(test_queue, variants[v].kernel, &info));
        const int fused = !strcmp(info.target, "x86-64-v3") || !strcmp(info.target, "x86-64-v4");
        for (int i = 0; i < N; i++)
            different += user[v * N + (size_t)i] != in[i].x * in[i].y + in[i].l.b;
        if (contracted ? fused && !different : different)
            fail_msg("%s for %s: %d of %d values of the user's own arithmetic differ", variants[v].name, info.target,
                     different, N);
    }
    free(user);
}

/* Numbers of full precision, near one another, whose products neither grow nor vanish. */
static double about_one(void)
{
    return ((double)random_u64() * 0x1p-64 - 0.5) * 1.7;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_and_tiles),
        cmocka_unit_test(coalesced),
        cmocka_unit_test(clusters),
        cmocka_unit_test(grids),
        cmocka_unit_test(contraction_is_on_and_off),
    };

    test_start();
    for (int i = 0; i < MOST; i++) {
        bitwise_in *v = in + i;
        v->p = about_one(), v->q = about_one(), v->x = (float)about_one(), v->y = (float)about_one();
        v->m = (matrix){ about_one(), about_one(), about_one(), about_one() };
        v->l = (line){ (float)about_one() * 1.2f, (float)about_one() };
    }
    d_in = device_copy(in, sizeof in);
    if (argc > 1 && !(file = fopen(argv[1], "wb")))
        return perror(argv[1]), 1;
    int failed = cmocka_run_group_tests_name("bitwise", tests, NULL, NULL);
    device_free(d_in);
    if (file && fclose(file))
        return perror(argv[1]), 1;
    printf("%d variants:", (int)COUNT_OF(variants));
    for (size_t v = 0; v < COUNT_OF(variants); v++)
        printf(" %s", variants[v].name);
    printf("; digest %016llx\n", (unsigned long long)digest);
    return test_end(failed);
}

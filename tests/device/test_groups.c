/* SPDX-License-Identifier: MIT */
/* Who is who: ranks, sizes and indices of blocks and tiles of every shape. The grid is in test_grid. */
#include "../common/check.h"
#include "groups_kernels.h"

static const cgx_dim3 shapes[] = { { 1, 1, 1 },    { 2, 1, 1 },    { 31, 1, 1 },  { 33, 1, 1 },
                                   { 1024, 1, 1 }, { 1, 7, 1 },    { 1, 1, 64 },  { 7, 5, 1 },
                                   { 5, 7, 3 },    { 10, 10, 10 }, { 16, 1, 64 }, { 32, 32, 1 },
                                   { 3, 341, 1 },  { 1, 16, 16 },  { 8, 8, 16 },  { 511, 2, 1 } };

/* rows: G01 H05 */
static void blocks(void **state)
{
    static const cgx_dim3 grids[] = { { 1, 1, 1 }, { 3, 1, 1 }, { 2, 1, 3 }, { 1, 4, 1 } };
    block_view *views = host_memory(6 * 1024 * sizeof *views), *out = device_memory(6 * 1024 * sizeof *out);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++)
        for (size_t k = 0; k < COUNT_OF(grids); k++) {
            cgx_dim3 d = shapes[s], g = grids[k];
            int n = d.x * d.y * d.z, all = n * g.x * g.y * g.z;
            check_ok(block_places_launch(test_queue, cgx_config_make(g, d), out));
            fetch(views, out, (size_t)all * sizeof *views);
            for (int i = 0; i < all; i++) {
                const block_view *v = views + i;
                int rank = i % n, block = i / n;
                assert_true(v->thread.x == rank % d.x && v->thread.y == rank / d.x % d.y &&
                            v->thread.z == rank / d.x / d.y);
                assert_true(v->block.x == block % g.x && v->block.y == block / g.x % g.y &&
                            v->block.z == block / g.x / g.y);
                assert_true(v->dim.x == d.x && v->dim.y == d.y && v->dim.z == d.z);
                assert_true(v->of_block.rank == rank && v->of_block.size == n);
                assert_true(v->of_block.meta_rank == 0 && v->of_block.meta_size == 1);
                assert_memory_equal(&v->erased, &v->of_block, sizeof v->erased);
                assert_true(v->rank == i && v->threads == all && !v->elected == (rank != 0));
            }
        }
    device_free(out);
    free(views);
}

static void check_places(const place *places, int n, int parent, int size)
{
    for (int r = 0; r < n; r++)
        if (places[r].rank != r % size || places[r].size != size || places[r].meta_rank != r % parent / size ||
            places[r].meta_size != parent / size)
            fail_msg("%d threads, tiles of %d in %d: thread %d is rank %d of %d in tile %d of %d", n, size, parent, r,
                     places[r].rank, places[r].size, places[r].meta_rank, places[r].meta_size);
}

/* rows: G04 T02 */
static void tiles(void **state)
{
    place *places = host_memory(3 * 1024 * sizeof *places), *out = device_memory(3 * 1024 * sizeof *out);

    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        int n = shapes[s].x * shapes[s].y * shapes[s].z;
        for (int size = 1; n % size == 0; size *= 2)
            for (int inner = 1; inner <= size; inner *= 4) {
                check_ok(
                    tile_places_launch(test_queue, cgx_config_make(cgx_dim(1, 1, 1), shapes[s]), size, inner, out));
                fetch(places, out, 3 * (size_t)n * sizeof *places);
                check_places(places, n, n, size);
                check_places(places + n, n, n, size);
                check_places(places + 2 * n, n, size, inner);
            }
    }
    device_free(out);
    free(places);
}

/* rows: G04 T01 */
static void typed_tiles(void **state)
{
    place *places = host_memory(3 * 1024 * sizeof *places), *out = device_memory(3 * 1024 * sizeof *out);

    (void)state;
#define CHECK_TILE(N)                                                        \
    for (int n = N; n <= 1024; n += (n / N < 4 ? 1 : 100) * N) {             \
        check_ok(places_##N##_launch(test_queue, cgx_config_1d(1, n), out)); \
        fetch(places, out, 3 * (size_t)n * sizeof *places);                  \
        check_places(places, n, n, N);                                       \
        check_places(places + n, n, n, N);                                   \
        check_places(places + 2 * n, n, N, N);                               \
    }
    FOREACH_TILE_SIZE(CHECK_TILE)
    device_free(out);
    free(places);
}

/* rows: G04 T01 T02 */
static void tiles_of_tiles(void **state)
{
    place *places = host_memory(4 * 1024 * sizeof *places), *out = device_memory(4 * 1024 * sizeof *out);

    (void)state;
    for (int n = 256; n <= 1024; n += 256) {
        check_ok(nested_places_launch(test_queue, cgx_config_1d(1, n), out));
        fetch(places, out, 4 * (size_t)n * sizeof *places);
        check_places(places, n, n, 256);
        check_places(places + n, n, 256, 32);
        check_places(places + 2 * n, n, 32, 4);
        check_places(places + 3 * n, n, 4, 2);
    }
    device_free(out);
    free(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),
        cmocka_unit_test(tiles),
        cmocka_unit_test(typed_tiles),
        cmocka_unit_test(tiles_of_tiles),
    };

    test_start();
    return test_end(cmocka_run_group_tests_name("groups", tests, NULL, NULL));
}

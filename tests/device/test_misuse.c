/* SPDX-License-Identifier: MIT */
/* Rules that a kernel breaks: CGX_ERROR_MISUSE and a text with kernel, block, thread, rule and source line (decision 10);
 * the queue works on. GPUs may leave it undefined, so this needs an engine that explains misuse. */
#include <unistd.h>
#include "../common/check.h"
#include "misuse_kernels.h"

static int *out;
static char *memory;

static void check_misuse(int which, int late, int threads, const char *text)
{
    check_ok(misuse_launch(test_queue, cgx_config_1d(3, threads), which, late, memory, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "misuse, block (1, 0, 0), thread 3: ", text,
               "misuse_kernels.c:");
    check_ok(cgx_queue_wait(test_queue)); /* told once */
    check_still_works();
}

/* rows: Y03 Y01 T01 T02 B04 B05 B06 B07 B08 B10 B11 P07 G04 H07 */
static void every_rule(void **state)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        FOREACH_MISUSE(TEXT)
    };

    (void)state;
    for (int which = 0; which < MISUSES; which++)
        for (int late = 0; late < 2; late++)
            check_misuse(which, late, which >= MISUSE_BALLOT_OF_MANY ? 128 : 40, texts[which]);
}

/* rows: R02 S01 G04 G06 */
static void different_collectives_of_one_group(void **state)
{
    cgx_config c = cgx_config_1d(2, 64);

    (void)state;
    check_ok(reduce_or_scan_launch(test_queue, c, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "reduce_or_scan, block (", "other threads call another");
    check_still_works();
    check_ok(sync_or_reduce_launch(test_queue, c, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "sync_or_reduce, block (", "other threads call another");
    check_still_works();
    check_ok(reduce_or_sync_launch(test_queue, c, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "reduce_or_sync, block (", "other threads call another");
    check_still_works();
    for (int who = 0; who < 64; who += 21) {
        check_ok(block_sync_or_reduce_launch(test_queue, c, who, out));
        check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "block_sync_or_reduce",
                   "threads of a block call different collectives of it", "wait in sync of the block",
                   "wait in reduce of the block");
        check_still_works();
    }
    check_ok(any_or_all_coalesced_launch(test_queue, c, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "any_or_all_coalesced, block (",
               "other threads call another");
    check_still_works();
    check_ok(tile_of_coalesced_launch(test_queue, c, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "tile_of_coalesced, block (", "takes a block or a tile");
    check_still_works();
}

/* The host knows it before anything runs. rows: Y03 G03 H05 H07 */
static void a_plain_launch_of_a_cooperative_kernel(void **state)
{
    int results[80];

    (void)state;
    check_ok(cgx_fill_i32(test_queue, out, 7, 80));
    check_says(needs_grid_launch(test_queue, cgx_config_1d(2, 40), out), CGX_ERROR_UNSUPPORTED, "needs_grid",
               "cooperative");
    fetch(results, out, sizeof results);
    for (int i = 0; i < 80; i++)
        assert_int_equal(results[i], 7);
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_ok(needs_grid_launch(test_queue, cgx_cooperative(cgx_config_1d(2, 40)), out));
    fetch(results, out, sizeof results);
    for (int i = 0; i < 80; i++)
        assert_int_equal(results[i], 1);
}

/* Work behind a failed kernel of the same queue is done, and the first error is the one that is told. rows: H03 */
static void work_behind_the_failure(void **state)
{
    int *good[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        check_ok(misuse_launch(test_queue, cgx_config_1d(3, 40), i == 0 ? MISUSE_TILE_N_3 : MISUSE_GRID_SYNC, 1, memory,
                               out));
        good[i] = NULL;
        check_ok(cgx_alloc(test_queue, GOOD_BLOCKS * GOOD_THREADS * sizeof(int), CGX_MEM_DEVICE, (void **)&good[i]));
        check_ok(good_launch(test_queue, cgx_config_1d(GOOD_BLOCKS, GOOD_THREADS), 100 * i, good[i]));
    }
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_MISUSE, "power of two");
    for (int i = 0; i < 4; i++)
        good_check(100 * i, good[i]);
}

/* The other queues of the device do not hear of it. */
static void another_queue(void **state)
{
    cgx_device *device = NULL;
    cgx_queue *other = NULL;

    (void)state;
    check_ok(cgx_queue_get_device(test_queue, &device));
    check_ok(cgx_queue_create(device, &other));
    check_ok(misuse_launch(other, cgx_config_1d(3, 40), MISUSE_TILE_N_3, 0, memory, out));
    check_still_works();
    check_says(cgx_queue_wait(other), CGX_ERROR_MISUSE, "power of two");
    check_ok(misuse_launch(other, cgx_config_1d(3, 40), MISUSE_TILE_N_0, 0, memory, out));
    check_says(cgx_queue_close(&other), CGX_ERROR_MISUSE, "power of two"); /* as the wait that nobody did */
    assert_null(other);
    check_still_works();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(different_collectives_of_one_group),
        cmocka_unit_test(a_plain_launch_of_a_cooperative_kernel),
        cmocka_unit_test(work_behind_the_failure),
        cmocka_unit_test(another_queue),
    };
    int failed;

    test_start();
    if (!test_explains_misuse())
        skip_program("misuse on this device is undefined");
    test_alarm(50);
    out = device_memory(512 * sizeof *out);
    memory = device_memory(4096);
    failed = cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
    device_free(out);
    device_free(memory);
    return test_end(failed);
}

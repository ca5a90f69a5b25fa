/* SPDX-License-Identifier: MIT */
/* Threads that wait for what can no longer happen: within a second a status and a text that names the block, who waits
 * and for what; then the queue works on. A GPU would hang, so this needs an engine that explains misuse. */
#include <unistd.h>
#include "../common/check.h"
#include "deadlock_kernels.h"

static int *out; /* enough for every kernel */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Launches three times, as on a machine that is busy one may be late; each must give the same error. */
#define check_deadlock(launch, ...)                                                              \
    do {                                                                                         \
        double fastest = 1e9;                                                                    \
        for (int round = 0; round < 3; round++) {                                                \
            double start = seconds();                                                            \
            check_ok(launch);                                                                    \
            check_says(cgx_queue_wait(test_queue), CGX_ERROR_DEADLOCK, "deadlock", __VA_ARGS__); \
            fastest = seconds() - start < fastest ? seconds() - start : fastest;                 \
            check_ok(cgx_queue_wait(test_queue));                                                \
            check_still_works();                                                                 \
        }                                                                                        \
        if (fastest > 1)                                                                         \
            fail_msg("it took %.2f s", fastest);                                                 \
    } while (0)

/* rows: Y02 G01 G04 H07 */
static void half_at_the_block_half_at_a_tile(void **state)
{
    (void)state;
    check_deadlock(half_and_half_launch(test_queue, cgx_config_1d(1, 256), 0, out), "half_and_half", "block (0, 0, 0)",
                   "ranks 0-127 wait in sync of the block", "128 of 256",
                   "ranks 128-255 wait in sync of the tile of 256");
    /* One block of many, in the middle. */
    check_deadlock(half_and_half_launch(test_queue, cgx_config_make(cgx_dim(4, 3, 2), cgx_dim(256, 1, 1)), 17, out),
                   "half_and_half", "block (1, 1, 1)", "ranks 0-127 wait in sync of the block",
                   "ranks 128-255 wait in sync of the tile of 256");
}

/* Blocks that are not stuck have run to their end when they come before the one that is, on the same worker. */
static void blocks_before_it_have_run(void **state)
{
    int results[64 * 256];

    (void)state;
    check_ok(cgx_fill_i32(test_queue, out, 0, 64 * 256));
    check_ok(half_and_half_launch(test_queue, cgx_config_1d(64, 256), 63, out));
    check_says(cgx_queue_wait(test_queue), CGX_ERROR_DEADLOCK, "block (63, 0, 0)");
    fetch(results, out, sizeof results);
    for (int i = 63 * 256; i < 64 * 256; i++)
        assert_int_equal(results[i], 1);
    check_still_works();
}

/* rows: R02 S02 G04 G06 T03 H07 */
static void a_member_of_a_collective_has_ended(void **state)
{
    cgx_config c = cgx_config_1d(2, 128);

    (void)state;
    check_deadlock(ended_before_reduce_launch(test_queue, c, out), "ended_before_reduce", "block (",
                   "ranks 0-4, 6-127 wait in reduce of the block", "rank 5 has ended");
    check_deadlock(ended_before_scan_launch(test_queue, c, out), "ranks 0-4, 6-127 wait in exclusive_scan of the block",
                   "rank 5 has ended");
    check_deadlock(ended_before_shuffle_launch(test_queue, c, out),
                   "ranks 0-4, 6-31 wait in shfl of the tile of 32 from rank 0 on", "31 of 32",
                   "ranks 5, 32-127 have ended");
    check_deadlock(ended_before_ballot_launch(test_queue, c, out),
                   "ranks 0-4, 6-7 wait in ballot of the tile of 8 from rank 0 on", "7 of 8", "have ended");
    check_deadlock(ended_before_wide_sync_launch(test_queue, c, out),
                   "ranks 0-4, 6-127 wait in sync of the tile of 128 from rank 0 on", "127 of 128", "rank 5 has ended");
    check_deadlock(ended_before_coalesced_launch(test_queue, c, out),
                   "ranks 1, 9, 13, 17, 21, 25, 29 wait in reduce of a coalesced group", "7 of 8", "have ended");
}

/* rows: G04 H07 */
static void a_member_of_a_vote_is_elsewhere(void **state)
{
    (void)state;
    check_deadlock(branch_before_vote_launch(test_queue, cgx_config_1d(1, 128), out),
                   "ranks 0-15 wait in any of the tile of 32 from rank 0 on", "ranks 16-127 wait in sync of the block");
}

/* rows: B12 H07 */
static void an_mbarrier_waits_for_more(void **state)
{
    (void)state;
    check_deadlock(mbarrier_never_complete_launch(test_queue, cgx_config_1d(3, 100), 101), "mbarrier_never_complete",
                   "block (", "ranks 0-99 wait in mbarrier wait");
    check_ok(mbarrier_never_complete_launch(test_queue, cgx_config_1d(3, 100), 100));
    check_finished();
}

/* rows: Y03 G03 H07 */
static void grids(void **state)
{
    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    check_deadlock(grid_without_thread_launch(test_queue, cgx_cooperative(cgx_config_1d(4, 128)), out),
                   "grid_without_thread", "block (", "of the grid");
    check_deadlock(grid_and_block_launch(test_queue, cgx_cooperative(cgx_config_1d(4, 128)), out), "grid_and_block",
                   "ranks 0-63 wait in sync of the grid", "ranks 64-127 wait in sync of the block");
}

/* The block that ends may be the only one of its worker: nobody there is stuck, and the others would wait for good. */
static void a_block_of_the_grid_has_ended(void **state)
{
    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    for (int blocks = 2; blocks <= 5; blocks++)
        for (int bad = 0; bad < blocks; bad++)
            check_deadlock(grid_without_block_launch(test_queue, cgx_cooperative(cgx_config_1d(blocks, 8)), bad),
                           "grid_without_block", "ranks 0-7 wait in sync of the grid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_at_the_block_half_at_a_tile),   cmocka_unit_test(blocks_before_it_have_run),
        cmocka_unit_test(a_member_of_a_collective_has_ended), cmocka_unit_test(a_member_of_a_vote_is_elsewhere),
        cmocka_unit_test(an_mbarrier_waits_for_more),         cmocka_unit_test(grids),
        cmocka_unit_test(a_block_of_the_grid_has_ended),
    };
    int failed;

    test_start();
    if (!test_explains_misuse())
        skip_program("a deadlock on this device is not found");
    test_alarm(50); /* a deadlock that is not found must not take the whole run's time */
    out = device_memory(64 * 256 * sizeof *out);
    failed = cmocka_run_group_tests_name("deadlock", tests, NULL, NULL);
    device_free(out);
    return test_end(failed);
}

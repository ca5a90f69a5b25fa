/* SPDX-License-Identifier: MIT */
/* Broken rules: each gives CGX_ERROR_MISUSE or CGX_ERROR_DEADLOCK and a text that names the rule, and afterwards the
 * queue, the stacks and the barriers are as good as new. */
#include <unistd.h>
#include "../common/modes.h"
#include "rules_kernels.h"

static int *out;
static char *memory;

/* rows: B03 B04 B05 B06 B07 B08 B10 B12 B13 B14 P01 P02 P05 P07 P08 G02 A03 R02 R03 S01 T01 T02 Y01 Y03 H07 */
static void every_rule(void **state)
{
    static const struct {
        const char *name, *text;
        cgx_status status;
    } rules[] = {
#define RULE(name, status, text) { #name, text, CGX_ERROR_##status },
        FOREACH_RULE(RULE)
    };
    int broken = 0;

    (void)state;
    for (int which = 0; which < RULES; which++) {
        if (which == RULE_SKIPS_WIDE_TILE_SYNC && test_device.lanes >= 64)
            continue; /* not wider than a warp: ended threads count as arrived */
        cgx_config c = cgx_config_1d(4, 64);
        c.cluster = cgx_dim(2, 1, 1);
        check_ok(break_rule_launch(test_queue, c, which, memory, out));
        cgx_status s = cgx_queue_wait(test_queue);
        const char *text = s ? cgx_last_error() : "";
        int by_him = rules[which].status != CGX_ERROR_MISUSE || which == RULE_GRID_REDUCE_IN_PLAIN_LAUNCH ||
                     strstr(text, "block (1, 0, 0), thread 3: ");
        if (s != rules[which].status || !strstr(text, rules[which].text) || !strstr(text, "break_rule") || !by_him) {
            print_error("%s: %s '%s', not %s '%s'\n", rules[which].name, cgx_status_name(s), text,
                        cgx_status_name(rules[which].status), rules[which].text);
            broken++;
        }
        check_ok(cgx_queue_wait(test_queue)); /* told once */
        check_still_works();
    }
    if (broken)
        fail_msg("%d of %d rules are not told as they should be", broken, RULES);
}

/* rows: P05 P07 B05 */
static void rules_broken_by_copies_that_are_late(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++)
        for (int which = 0; which < 3; which++) {
            check_ok(break_rule_late_launch(test_queue, cgx_config_1d(2, 64), which, memory, out));
            cgx_status s = cgx_queue_wait(test_queue);
            if (s != CGX_ERROR_MISUSE && (s != CGX_ERROR_DEADLOCK || test_copies_are_late()))
                fail_msg("rule %d: %s %s", which, cgx_status_name(s), s ? cgx_last_error() : "");
            check_still_works();
        }
}

/* rows: G03 Y01 Y03 R02 */
static void rules_of_the_grid(void **state)
{
    static const char *const texts[] = { "sync of the grid", "barrier_wait of the grid", "reduce of the block",
                                         "same token" };

    (void)state;
    if (!test_can(CGX_CAN_COOPERATIVE))
        return;
    for (int which = 0; which < GRID_RULES; which++) {
        check_ok(break_grid_rule_launch(test_queue, cgx_cooperative(cgx_config_1d(5, 64)), which, out));
        check_says(cgx_queue_wait(test_queue), which == WAITS_TWICE_GRID ? CGX_ERROR_MISUSE : CGX_ERROR_DEADLOCK,
                   "break_grid_rule", texts[which]);
        check_still_works();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(rules_of_the_grid),
        cmocka_unit_test(rules_broken_by_copies_that_are_late),
    };
    int failed;

    test_start_in_modes();
    if (!test_explains_misuse() || !test_can(CGX_CAN_CLUSTER))
        skip_program("misuse on this device is undefined");
    test_alarm(55);
    out = device_memory(512 * sizeof *out);
    memory = device_memory(4096);
    failed = cmocka_run_group_tests_name("rules", tests, NULL, NULL);
    device_free(out);
    device_free(memory);
    return test_end(failed);
}

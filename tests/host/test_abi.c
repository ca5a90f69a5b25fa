/* SPDX-License-Identifier: MIT */
/* The object format has a version, CGX__ABI, and a layout: what kernel files are compiled with and libcgx reads. The digest of
 * the layout is kept here beside the version, so that one does not change without the other (docs/design.md, "Objects").
 * rows: K10 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cgx.h>

typedef struct {
    const char *name;
    size_t value;
} fact;
#define SIZE(T)                 \
    {                           \
        "sizeof " #T, sizeof(T) \
    }
#define FIELD(T, f)               \
    {                             \
#T "." #f, offsetof(T, f) \
    }
#define NUMBER(n) \
    {             \
#n, n     \
    }

static const fact facts[] = {
    /* api/cgx/abi.h */
    SIZE(cgx__images), FIELD(cgx__images, version), FIELD(cgx__images, count), FIELD(cgx__images, size),
    SIZE(cgx__image), FIELD(cgx__image, kind), FIELD(cgx__image, flags), FIELD(cgx__image, offset),
    FIELD(cgx__image, size), FIELD(cgx__image, target), NUMBER(CGX__IMAGE_CUDA), NUMBER(CGX__IMAGE_HIP),
    SIZE(cgx__site), FIELD(cgx__site, function), FIELD(cgx__site, unit_state), FIELD(cgx__site, size),
    FIELD(cgx__site, alignment), FIELD(cgx__site, offset), FIELD(cgx__site, reserved), SIZE(cgx__unit),
    FIELD(cgx__unit, version), FIELD(cgx__unit, size), FIELD(cgx__unit, images), FIELD(cgx__unit, state),
    FIELD(cgx__unit, dso), FIELD(cgx__unit, sites), FIELD(cgx__unit, sites_end), NUMBER(CGX__UNIT_SLOTS),
    SIZE(cgx__entry), FIELD(cgx__entry, level), FIELD(cgx__entry, engine), FIELD(cgx__entry, frame_bytes),
    FIELD(cgx__entry, run), NUMBER(CGX__ENGINE_FIBERS), NUMBER(CGX__ENGINE_COMPILED), SIZE(cgx__parameter),
    FIELD(cgx__parameter, size), FIELD(cgx__parameter, offset), SIZE(cgx_kernel), FIELD(cgx_kernel, version),
    FIELD(cgx_kernel, size), FIELD(cgx_kernel, name), FIELD(cgx_kernel, file), FIELD(cgx_kernel, line),
    FIELD(cgx_kernel, flags), FIELD(cgx_kernel, unit), FIELD(cgx_kernel, parameters),
    FIELD(cgx_kernel, parameter_count), FIELD(cgx_kernel, argument_bytes), FIELD(cgx_kernel, entries),
    FIELD(cgx_kernel, entry_count), FIELD(cgx_kernel, max_threads), FIELD(cgx_kernel, block),
    FIELD(cgx_kernel, reserved), NUMBER(CGX_KERNEL_IS_COOPERATIVE), NUMBER(CGX_KERNEL_FIXED_BLOCK),
    NUMBER(CGX__LARGE_SHARED), NUMBER(CGX__LAUNCH_LINE), NUMBER(CGX__PART_BYTES), SIZE(cgx__launch_error),
    FIELD(cgx__launch_error, misuse), FIELD(cgx__launch_error, line), FIELD(cgx__launch_error, block),
    FIELD(cgx__launch_error, thread), FIELD(cgx__launch_error, kernel), FIELD(cgx__launch_error, name),
    SIZE(cgx__launch_record), FIELD(cgx__launch_record, requests), NUMBER(CGX__IS_COOPERATIVE), NUMBER(CGX__IS_CHILD),
    FIELD(cgx__launch_record, arrived), FIELD(cgx__launch_record, claimed), FIELD(cgx__launch_record, error),
    SIZE(cgx__thread), FIELD(cgx__thread, record), FIELD(cgx__thread, kernel), FIELD(cgx__thread, phases),
    FIELD(cgx__thread, block_slots), FIELD(cgx__thread, grid),
    /* What entries of the CPU share with libcgx: backends/cpu/include/cgx. */
    SIZE(cgx_cpu_node), FIELD(cgx_cpu_node, sp), FIELD(cgx_cpu_node, pc), FIELD(cgx_cpu_node, bp),
    FIELD(cgx_cpu_node, next), FIELD(cgx_cpu_node, object), FIELD(cgx_cpu_node, line), FIELD(cgx_cpu_node, operation),
    SIZE(cgx_cpu_barrier), FIELD(cgx_cpu_barrier, head), FIELD(cgx_cpu_barrier, tail), FIELD(cgx_cpu_barrier, arrived),
    FIELD(cgx_cpu_barrier, expected), FIELD(cgx_cpu_barrier, phase), FIELD(cgx_cpu_barrier, operation),
    SIZE(cgx_cpu_shape), FIELD(cgx_cpu_shape, grid), FIELD(cgx_cpu_shape, block), FIELD(cgx_cpu_shape, block_index),
    FIELD(cgx_cpu_shape, cluster), FIELD(cgx_cpu_shape, threads), FIELD(cgx_cpu_shape, lanes),
    FIELD(cgx_cpu_shape, block_rank), FIELD(cgx_cpu_shape, blocks), SIZE(cgx_cpu_block), FIELD(cgx_cpu_block, shape),
    FIELD(cgx_cpu_block, next), FIELD(cgx_cpu_block, follow), FIELD(cgx_cpu_block, exited), FIELD(cgx_cpu_block, tiled),
    FIELD(cgx_cpu_block, worker), FIELD(cgx_cpu_block, shared), FIELD(cgx_cpu_block, dynamic),
    FIELD(cgx_cpu_block, shared_bytes), FIELD(cgx_cpu_block, barrier), FIELD(cgx_cpu_block, tiles),
    FIELD(cgx_cpu_block, in), FIELD(cgx_cpu_block, out), FIELD(cgx_cpu_block, argument), FIELD(cgx_cpu_block, cluster),
    FIELD(cgx_cpu_block, peers), FIELD(cgx_cpu_block, cluster_rank), FIELD(cgx_cpu_block, cluster_blocks),
    FIELD(cgx_cpu_block, frame), FIELD(cgx_cpu_block, barriers), FIELD(cgx_cpu_block, barrier_bytes),
    FIELD(cgx_cpu_block, resume), FIELD(cgx_cpu_block, resume_line), FIELD(cgx_cpu_block, resume_operation),
    FIELD(cgx_cpu_block, scratch), SIZE(cgx_cpu_barrier_record), SIZE(cgx__boundary), SIZE(cgx_cpu_worker),
    FIELD(cgx_cpu_worker, ready_head), FIELD(cgx_cpu_worker, ready_tail), FIELD(cgx_cpu_worker, scheduler),
    FIELD(cgx_cpu_worker, grid), FIELD(cgx_cpu_worker, waiters), FIELD(cgx_cpu_worker, poll_address),
    FIELD(cgx_cpu_worker, poll_bits), FIELD(cgx_cpu_worker, polls), FIELD(cgx_cpu_worker, deferred),
    FIELD(cgx_cpu_worker, shuffled), FIELD(cgx_cpu_worker, late), SIZE(cgx_cpu_thread), FIELD(cgx_cpu_thread, node),
    FIELD(cgx_cpu_thread, block), FIELD(cgx_cpu_thread, forked), FIELD(cgx_cpu_thread, arrived),
    FIELD(cgx_cpu_thread, rank), FIELD(cgx_cpu_thread, index), FIELD(cgx_cpu_thread, grid_rank),
    FIELD(cgx_cpu_thread, shape), SIZE(cgx_group), FIELD(cgx_group, t), FIELD(cgx_group, level),
    FIELD(cgx_group, meta_rank), FIELD(cgx_group, meta_size), FIELD(cgx_group, kind), FIELD(cgx_group, size),
    FIELD(cgx_group, rank), FIELD(cgx_group, lanes), SIZE(cgx_cpu_collective), FIELD(cgx_cpu_collective, operation),
    FIELD(cgx_cpu_collective, type), FIELD(cgx_cpu_collective, code), FIELD(cgx_cpu_collective, bytes),
    FIELD(cgx_cpu_collective, apply), FIELD(cgx_cpu_collective, target), FIELD(cgx_cpu_collective, scope),
    SIZE(cgx_mbarrier), SIZE(cgx_mbarrier_token), NUMBER(CGX__VALUE_BYTES), NUMBER(CGX__MAX_THREADS),
    NUMBER(CGX__BARRIERS), NUMBER(CGX__BLOCK), NUMBER(CGX__TILE), NUMBER(CGX__COALESCED), NUMBER(CGX__CLUSTER),
    NUMBER(CGX__GRID), NUMBER(CGX_SCOPE_BLOCK), NUMBER(CGX_SCOPE_CLUSTER), NUMBER(CGX_SCOPE_DEVICE),
    NUMBER(CGX_SCOPE_SYSTEM),
#define OPERATION(symbol, text) NUMBER(CGX__OP_##symbol),
    CGX_FOREACH_OPERATION(OPERATION)
#define OPERATOR(symbol, kind) NUMBER(CGX__CODE_##symbol),
        CGX_FOREACH_OPERATOR(OPERATOR)
#define TYPE(suffix, T, code) NUMBER(CGX__TYPE_##code),
            CGX_FOREACH_VALUE(TYPE)
};

/* The layout that the version stands for, on processors with 64-bit pointers. */
enum { VERSION = 1 };
static const uint64_t LAYOUT = 0x384a952b5d03ee60;

static void layout_and_version(void **state)
{
    uint64_t digest = 0xcbf29ce484222325u; /* FNV-1a over names and numbers */
    (void)state;
    if (sizeof(void *) != 8)
        return;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        for (const char *c = facts[i].name; *c; c++)
            digest = (digest ^ (unsigned char)*c) * 0x100000001b3u;
        for (size_t v = facts[i].value, k = 0; k < 8; k++, v >>= 8)
            digest = (digest ^ (v & 255)) * 0x100000001b3u;
    }
    if (digest == LAYOUT && (int)CGX__ABI == (int)VERSION)
        return;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        print_error("%s %zu\n", facts[i].name, facts[i].value);
    fail_msg(
        "CGX__ABI is %d and the layout 0x%016llx; this test knows %d and 0x%016llx. docs/design.md, \"Objects\", says "
        "when the version is raised",
        (int)CGX__ABI, (unsigned long long)digest, (int)VERSION, (unsigned long long)LAYOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(layout_and_version) };
    return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}

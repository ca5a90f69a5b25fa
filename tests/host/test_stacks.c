/* SPDX-License-Identifier: MIT */
/* The CPU engine's stacks (backends/cpu/stack.c), by themselves: sizes and guards are whole pages whatever a page is - 64 KiB
 * on some aarch64 systems, which nothing here can run - and no two stacks touch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../backends/cpu/stack.c"

static void check_pages(size_t asked, size_t page)
{
    enum { STACKS = CHUNK_STACKS + 3 };
    stack_pool pool = { 0 };
    int index[STACKS];

    cgx__stack_configure(asked, page);
    assert_true(cgx__stack_bytes() >= asked && cgx__stack_bytes() < asked + page && cgx__stack_bytes() % page == 0);
    for (int i = 0; i < STACKS; i++) {
        index[i] = cgx__stack_acquire(&pool);
        assert_true(index[i] >= 0);
    }
    for (int i = 0; i < STACKS; i++) {
        const stack *s = pool.all + index[i];
        const char *chunk = pool.chunks[index[i] / CHUNK_STACKS].memory;
        /* Chunks begin with a page of the system they are on. */
        assert_int_equal((size_t)(s->base - chunk) % page, 0);
        assert_int_equal(s->guarded, 1); /* mprotect takes whole pages only */
        assert_true(s->base < s->top && s->top <= s->base + cgx__stack_bytes());
        assert_true((size_t)(s->top - s->base) >= cgx__stack_bytes() - COLOURS * COLOUR_BYTES - 128);
        assert_int_equal(cgx__stack_of(&pool, s->base), index[i]);
        assert_int_equal(cgx__stack_of(&pool, s->top - 1), index[i]);
        assert_true(cgx__stack_is_guard(&pool, s->base - 1));
        assert_true(cgx__stack_is_guard(&pool, s->base - GUARD_BYTES));
        assert_false(cgx__stack_is_guard(&pool, s->base));
        assert_false(cgx__stack_is_guard(&pool, s->top));
        for (char *at = s->base; at < s->top; at += 4096) /* faults if it is another's guard */
            *(volatile char *)at = 1;
    }
    for (int c = 0; c < pool.chunk_count; c++)
        munmap(pool.chunks[c].memory, pool.chunks[c].bytes);
    free(pool.all), free(pool.free), free(pool.chunks);
}

static void pages_of_any_size(void **state)
{
    static const size_t pages[] = { 4096, 16384, 65536 }, asked[] = { 16384, 65536, 100001 };
    (void)state;
    for (size_t p = 0; p < sizeof pages / sizeof pages[0]; p++)
        for (size_t a = 0; a < sizeof asked / sizeof asked[0]; a++)
            check_pages(asked[a], pages[p]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(pages_of_any_size) };
    return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}

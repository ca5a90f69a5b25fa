/* SPDX-License-Identifier: MIT */
/* Switching stacks. A saved context is a stack pointer; at it lies the address where to go on, and everything else is what
 * the code that saved it pushed. So code of different kinds - the inline switch of cpu.h, the functions here - can
 * resume each other. Where there is no assembly, a context is a ucontext_t. */
#include "fiber.h"

/* ---- what AddressSanitizer wants to know ---- */
extern void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t bytes) __attribute__((weak));
extern void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *bytes) __attribute__((weak));

static void announce(worker *w, void **fake, const void *sp)
{
    if (!__sanitizer_start_switch_fiber)
        return;
    int s = stack_of(&w->stacks, sp);
    if (s >= 0)
        __sanitizer_start_switch_fiber(fake, w->stacks.all[s].base, (size_t)(w->stacks.all[s].top - w->stacks.all[s].base));
    else
        __sanitizer_start_switch_fiber(fake, w->main_stack_bottom, w->main_stack_bytes);
}

static void arrived(worker *w, void *fake, int first_from_main)
{
    const void *bottom;
    size_t bytes;
    if (!__sanitizer_finish_switch_fiber)
        return;
    __sanitizer_finish_switch_fiber(fake, &bottom, &bytes);
    if (first_from_main) {
        w->main_stack_bottom = bottom;
        w->main_stack_bytes = bytes;
    }
}

#if (defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)
void cgx__raw_start(void **save, void *top, worker *w, int index) CGX__HIDDEN;
void cgx__raw_to(void **save, void *sp) CGX__HIDDEN;
void cgx__raw_jump(void *sp) CGX__HIDDEN __attribute__((noreturn));

# if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 6\n"
        ".hidden cgx__raw_to\n.globl cgx__raw_to\n.type cgx__raw_to, @function\n"
        "cgx__raw_to:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tleaq 1f(%rip), %rax\n\tpushq %rax\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\tpopq %rcx\n\tjmpq *%rcx\n"
        "1:\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".size cgx__raw_to, . - cgx__raw_to\n"
        ".p2align 6\n"
        ".hidden cgx__raw_start\n.globl cgx__raw_start\n.type cgx__raw_start, @function\n"
        "cgx__raw_start:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tleaq 1b(%rip), %rax\n\tpushq %rax\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\tmovq %rdx, %rdi\n\tmovl %ecx, %esi\n\txorl %ebp, %ebp\n"
        "\tcallq cgx__fiber_entry\n" /* returns the context to resume */
        "\tmovq %rax, %rsp\n\tpopq %rcx\n\tjmpq *%rcx\n"
        ".size cgx__raw_start, . - cgx__raw_start\n"
        ".p2align 4\n"
        ".hidden cgx__raw_jump\n.globl cgx__raw_jump\n.type cgx__raw_jump, @function\n"
        "cgx__raw_jump:\n\tmovq %rdi, %rsp\n\tpopq %rcx\n\tjmpq *%rcx\n"
        ".size cgx__raw_jump, . - cgx__raw_jump\n");
# else
/* x19-x30 and d8-d15; the resume address is on top, as on x86-64. */
__asm__(".text\n"
        ".p2align 6\n"
        ".hidden cgx__raw_to\n.globl cgx__raw_to\n.type cgx__raw_to, %function\n"
        "cgx__raw_to:\n"
        "\tsub sp, sp, #176\n"
        "\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\tstp x23, x24, [sp, #48]\n\tstp x25, x26, [sp, #64]\n"
        "\tstp x27, x28, [sp, #80]\n\tstp x29, x30, [sp, #96]\n"
        "\tstp d8, d9, [sp, #112]\n\tstp d10, d11, [sp, #128]\n\tstp d12, d13, [sp, #144]\n\tstp d14, d15, [sp, #160]\n"
        "\tadr x9, 1f\n\tstr x9, [sp]\n"
        "\tmov x9, sp\n\tstr x9, [x0]\n\tmov sp, x1\n\tldr x9, [sp]\n\tbr x9\n"
        "1:\n"
        "\tldp x19, x20, [sp, #16]\n\tldp x21, x22, [sp, #32]\n\tldp x23, x24, [sp, #48]\n\tldp x25, x26, [sp, #64]\n"
        "\tldp x27, x28, [sp, #80]\n\tldp x29, x30, [sp, #96]\n"
        "\tldp d8, d9, [sp, #112]\n\tldp d10, d11, [sp, #128]\n\tldp d12, d13, [sp, #144]\n\tldp d14, d15, [sp, #160]\n"
        "\tadd sp, sp, #176\n\tret\n"
        ".size cgx__raw_to, . - cgx__raw_to\n"
        ".p2align 6\n"
        ".hidden cgx__raw_start\n.globl cgx__raw_start\n.type cgx__raw_start, %function\n"
        "cgx__raw_start:\n"
        "\tsub sp, sp, #176\n"
        "\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\tstp x23, x24, [sp, #48]\n\tstp x25, x26, [sp, #64]\n"
        "\tstp x27, x28, [sp, #80]\n\tstp x29, x30, [sp, #96]\n"
        "\tstp d8, d9, [sp, #112]\n\tstp d10, d11, [sp, #128]\n\tstp d12, d13, [sp, #144]\n\tstp d14, d15, [sp, #160]\n"
        "\tadr x9, 1b\n\tstr x9, [sp]\n"
        "\tmov x9, sp\n\tstr x9, [x0]\n\tmov sp, x1\n\tmov x0, x2\n\tmov w1, w3\n\tmov x29, #0\n"
        "\tbl cgx__fiber_entry\n"
        "\tmov sp, x0\n\tldr x9, [sp]\n\tbr x9\n"
        ".size cgx__raw_start, . - cgx__raw_start\n"
        ".p2align 4\n"
        ".hidden cgx__raw_jump\n.globl cgx__raw_jump\n.type cgx__raw_jump, %function\n"
        "cgx__raw_jump:\n\tmov sp, x0\n\tldr x9, [sp]\n\tbr x9\n"
        ".size cgx__raw_jump, . - cgx__raw_jump\n");
# endif
#else
# include <stdlib.h>
# include <ucontext.h>
static void cgx__raw_to(void **save, void *sp)
{
    ucontext_t here;
    *save = &here;
    swapcontext(&here, sp);
}
static __attribute__((noreturn)) void cgx__raw_jump(void *sp)
{
    setcontext(sp);
    abort();
}
CGX__HIDDEN void *cgx__fiber_entry(worker *w, int index);
static _Thread_local struct { worker *w; int index; } starting;
static void trampoline(void) { cgx__raw_jump(cgx__fiber_entry(starting.w, starting.index)); }
static void cgx__raw_start(void **save, void *top, worker *w, int index)
{
    ucontext_t here, fresh;
    char *base = w->stacks.all[index].base;
    *save = &here;
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = base;
    fresh.uc_stack.ss_size = (size_t)((char *)top - base);
    fresh.uc_link = NULL;
    makecontext(&fresh, trampoline, 0);
    starting.w = w, starting.index = index;
    swapcontext(&here, &fresh);
}
#endif

CGX__HIDDEN __attribute__((used)) void *cgx__fiber_entry(worker *w, int index);
void *cgx__fiber_entry(worker *w, int index)
{
    arrived(w, NULL, !w->main_stack_bottom);
    void *sp = fiber_main(w, index);
    announce(w, NULL, sp); /* NULL: this fiber ends */
    return sp;
}

void switch_start(cgx_cpu_node *save, void *top, worker *w, int index)
{
    void *fake = NULL;
    announce(w, &fake, (char *)top - 1);
    cgx__raw_start(&save->sp, top, w, index);
    arrived(w, fake, 0);
}

void switch_to(worker *w, cgx_cpu_node *save, void *sp)
{
    void *fake = NULL;
    announce(w, &fake, sp);
    cgx__raw_to(&save->sp, sp);
    arrived(w, fake, 0);
}

void cgx__cpu_switch(cgx_cpu_thread *thread, cgx_cpu_node *me)
{
    cgx_cpu_worker *w = thread->worker;
    switch_to((worker *)w, me, cgx__cpu_pop(w)->sp);
}

void switch_jump(worker *w, void *sp)
{
    announce(w, NULL, sp);
    cgx__raw_jump(sp);
}

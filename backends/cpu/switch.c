/* SPDX-License-Identifier: MIT */
/* Switching stacks. A context is a stack pointer and the address where to go on, both in a node, and everything else is what the
 * code that saved them keeps. Who resumes it leaves the node in a register (rdx, x1). So code of different kinds - the inline
 * switch of cpu.h, the functions here - can resume each other. Where there is no assembly, the stack pointer is that of a
 * ucontext_t. */
#include "fiber.h"

/* ---- what AddressSanitizer wants to know ---- */
extern void __sanitizer_start_switch_fiber(void **fake, const void *bottom, size_t bytes) __attribute__((weak));
extern void __sanitizer_finish_switch_fiber(void *fake, const void **bottom, size_t *bytes) __attribute__((weak));

static void announce(worker *w, void **fake, const void *sp)
{
    if (!__sanitizer_start_switch_fiber)
        return;
    int s = cgx__stack_of(&w->stacks, sp);
    if (s >= 0)
        __sanitizer_start_switch_fiber(fake, w->stacks.all[s].base,
                                       (size_t)(w->stacks.all[s].top - w->stacks.all[s].base));
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

CGX__HIDDEN __attribute__((used, noreturn)) void cgx__fiber_entry(worker *w, int index);
void cgx__fiber_entry(worker *w, int index)
{
    arrived(w, NULL, !w->main_stack_bottom);
    cgx__fiber_main(w, index);
}

#if ((defined(__x86_64__) && defined(__LP64__)) || defined(__aarch64__)) && !defined(CGX__UCONTEXT)
void cgx__raw_to(cgx_cpu_node *save, cgx_cpu_node *to) CGX__HIDDEN;
void cgx__raw_jump(cgx_cpu_node *to) CGX__HIDDEN __attribute__((noreturn));
void cgx__raw_first(void) CGX__HIDDEN;
_Static_assert(offsetof(cgx_cpu_node, pc) == 8 && offsetof(cgx_cpu_node, bp) == 16, "the assembly of switches");

#if defined(__x86_64__)
__asm__(".text\n"
        ".p2align 6\n"
        ".hidden cgx__raw_to\n.globl cgx__raw_to\n.type cgx__raw_to, @function\n"
        "cgx__raw_to:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n"
        "\tleaq 1f(%rip), %rax\n\tmovq %rsp, (%rdi)\n\tmovq %rax, 8(%rdi)\n"
        "\tmovq %rsi, %rdx\n\tmovq (%rdx), %rsp\n\tjmpq *8(%rdx)\n"
        "1:\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret\n"
        ".size cgx__raw_to, . - cgx__raw_to\n"
        ".p2align 4\n"
        ".hidden cgx__raw_jump\n.globl cgx__raw_jump\n.type cgx__raw_jump, @function\n"
        "cgx__raw_jump:\n\tmovq %rdi, %rdx\n\tmovq (%rdx), %rsp\n\tjmpq *8(%rdx)\n"
        ".size cgx__raw_jump, . - cgx__raw_jump\n"
        ".p2align 4\n"
        ".hidden cgx__raw_first\n.globl cgx__raw_first\n.type cgx__raw_first, @function\n"
        "cgx__raw_first:\n\tpopq %rdi\n\tpopq %rsi\n\txorl %ebp, %ebp\n\tcallq cgx__fiber_entry\n"
        ".size cgx__raw_first, . - cgx__raw_first\n");
#else
/* x19-x30 and d8-d15. */
__asm__(".text\n"
        ".p2align 6\n"
        ".hidden cgx__raw_to\n.globl cgx__raw_to\n.type cgx__raw_to, %function\n"
        "cgx__raw_to:\n"
        "\tsub sp, sp, #160\n"
        "\tstp x19, x20, [sp]\n\tstp x21, x22, [sp, #16]\n\tstp x23, x24, [sp, #32]\n\tstp x25, x26, [sp, #48]\n"
        "\tstp x27, x28, [sp, #64]\n\tstp x29, x30, [sp, #80]\n"
        "\tstp d8, d9, [sp, #96]\n\tstp d10, d11, [sp, #112]\n\tstp d12, d13, [sp, #128]\n\tstp d14, d15, [sp, #144]\n"
        "\tadr x9, 1f\n\tmov x10, sp\n\tstp x10, x9, [x0]\n\tldp x10, x9, [x1]\n\tmov sp, x10\n\tbr x9\n"
        "1:\n"
        "\tldp x19, x20, [sp]\n\tldp x21, x22, [sp, #16]\n\tldp x23, x24, [sp, #32]\n\tldp x25, x26, [sp, #48]\n"
        "\tldp x27, x28, [sp, #64]\n\tldp x29, x30, [sp, #80]\n"
        "\tldp d8, d9, [sp, #96]\n\tldp d10, d11, [sp, #112]\n\tldp d12, d13, [sp, #128]\n\tldp d14, d15, [sp, #144]\n"
        "\tadd sp, sp, #160\n\tret\n"
        ".size cgx__raw_to, . - cgx__raw_to\n"
        ".p2align 4\n"
        ".hidden cgx__raw_jump\n.globl cgx__raw_jump\n.type cgx__raw_jump, %function\n"
        "cgx__raw_jump:\n\tmov x1, x0\n\tldp x10, x9, [x1]\n\tmov sp, x10\n\tbr x9\n"
        ".size cgx__raw_jump, . - cgx__raw_jump\n"
        ".p2align 4\n"
        ".hidden cgx__raw_first\n.globl cgx__raw_first\n.type cgx__raw_first, %function\n"
        "cgx__raw_first:\n\tldp x0, x1, [sp], #16\n\tmov x29, #0\n\tmov x30, #0\n\tb cgx__fiber_entry\n"
        ".size cgx__raw_first, . - cgx__raw_first\n");
#endif

/* Looks as if cgx__raw_first had been interrupted before its first instruction. The node is on top of the stack, where nothing
 * comes in its way. */
cgx_cpu_node *cgx__switch_prepare(worker *w, int index)
{
    cgx_cpu_node *n = (cgx_cpu_node *)(void *)(w->stacks.all[index].top - 64);
    void **sp = (void **)n - 2;
    sp[0] = w;
    sp[1] = (void *)(uintptr_t)index;
    n->sp = sp;
    n->pc = (void *)(uintptr_t)cgx__raw_first;
    return n;
}
#else
#include <stdlib.h>
#include <ucontext.h>
static void cgx__raw_to(cgx_cpu_node *save, cgx_cpu_node *to)
{
    ucontext_t here;
    save->sp = &here;
    swapcontext(&here, to->sp);
}
static __attribute__((noreturn)) void cgx__raw_jump(cgx_cpu_node *to)
{
    setcontext(to->sp);
    abort();
}
static void first(unsigned high, unsigned low, int index)
{
    cgx__fiber_entry((worker *)(uintptr_t)((uint64_t)high << 32 | low), index);
}
/* Node and context lie on top of the stack. */
cgx_cpu_node *cgx__switch_prepare(worker *w, int index)
{
    cgx_cpu_node *n = (cgx_cpu_node *)(void *)(w->stacks.all[index].top - 64);
    char *base = w->stacks.all[index].base, *top = (char *)n - sizeof(ucontext_t);
    ucontext_t *context = (ucontext_t *)((uintptr_t)top & ~(uintptr_t)63);
    getcontext(context);
    context->uc_stack.ss_sp = base;
    context->uc_stack.ss_size = (size_t)((char *)context - base);
    context->uc_link = NULL;
    uint64_t address = (uint64_t)(uintptr_t)w;
    makecontext(context, (void (*)(void))first, 3, (unsigned)(address >> 32), (unsigned)address, index);
    n->sp = context;
    return n;
}
#endif

void cgx__switch_to(worker *w, cgx_cpu_node *save, cgx_cpu_node *to)
{
    void *fake = NULL;
    announce(w, &fake, to->sp);
    cgx__raw_to(save, to);
    arrived(w, fake, 0);
}

void cgx__cpu_switch(cgx_cpu_thread *thread, cgx_cpu_node *to)
{
    cgx__switch_to((worker *)thread->block->worker, &thread->node, to);
}

void cgx__switch_jump(worker *w, cgx_cpu_node *to)
{
    announce(w, NULL, to->sp); /* NULL: the fiber that calls ends */
    cgx__raw_jump(to);
}

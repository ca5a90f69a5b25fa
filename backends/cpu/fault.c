/* SPDX-License-Identifier: MIT */
/* A fiber that runs over the end of its stack hits a guard page. The process cannot go on, but it can say which kernel did
 * it and what to set, instead of "Segmentation fault". */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fiber.h"

static _Thread_local worker *current;
static _Thread_local int has_signal_stack;
static _Thread_local void *own_signal_stack; /* the team's threads live as long as the process: so does this */

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    const worker *w = current;
    (void)context;
    if (w && w->launch && cgx__stack_is_guard(&w->stacks, info->si_addr)) {
        char digits[24], *d = digits + sizeof digits - 1;
        *d = 0;
        for (size_t n = cgx__stack_bytes(); n; n /= 10)
            *--d = (char)('0' + n % 10);
        say("cgx: kernel ");
        say(w->launch->kernel->name);
        say(": a thread ran over its stack of ");
        say(d);
        say(" bytes; the environment variable CGX_CPU_STACK sets the size\n");
    }
    signal(number, SIG_DFL); /* the access is repeated, and ends the process as it would have */
}

enum { SIGNAL_STACK = 64 * 1024 };

/* Only where nobody else - a sanitizer, the user - has given the thread one. */
static int needs_signal_stack(void)
{
    stack_t now;
    return !has_signal_stack && !sigaltstack(NULL, &now) && now.ss_flags & SS_DISABLE;
}
static void use_signal_stack(void *memory)
{
    stack_t now = { .ss_sp = memory, .ss_size = SIGNAL_STACK, .ss_flags = memory ? 0 : SS_DISABLE };
    sigaltstack(&now, NULL);
}

int cgx__fault_enter(void)
{
    static char memory[SIGNAL_STACK]; /* one thread at a time runs commands */
    int lend = needs_signal_stack();
    if (lend)
        use_signal_stack(memory);
    has_signal_stack = 1; /* whosever it is */
    return lend;
}

void cgx__fault_leave(int lent)
{
    has_signal_stack = 0;
    if (lent)
        use_signal_stack(NULL);
}

worker *cgx__fault_watched(void)
{
    return current;
}

void cgx__fault_watch(worker *w)
{
    static int installed;
    current = w;
    if (!w)
        return;
    if (!__atomic_load_n(&installed, __ATOMIC_ACQUIRE) && !__atomic_exchange_n(&installed, 1, __ATOMIC_ACQ_REL)) {
        struct sigaction now, old;
        memset(&now, 0, sizeof now);
        now.sa_sigaction = on_fault;
        now.sa_flags = SA_SIGINFO | SA_ONSTACK;
        /* Whoever handles faults already - a sanitizer, a debugger's helper, the user - keeps doing it. */
        if (!sigaction(SIGSEGV, NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(SIGSEGV, &now, NULL);
    }
    if (has_signal_stack)
        return;
    if (needs_signal_stack() && (own_signal_stack = malloc(SIGNAL_STACK)))
        use_signal_stack(own_signal_stack);
    has_signal_stack = 1;
}

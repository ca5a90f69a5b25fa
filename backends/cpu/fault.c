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

void cgx__fault_watch(worker *w)
{
    static int installed;
    current = w;
    if (!w || has_signal_stack)
        return;
    has_signal_stack = 1;
    if (!__atomic_exchange_n(&installed, 1, __ATOMIC_ACQ_REL)) {
        struct sigaction now, old;
        memset(&now, 0, sizeof now);
        now.sa_sigaction = on_fault;
        now.sa_flags = SA_SIGINFO | SA_ONSTACK;
        /* Whoever handles faults already - a sanitizer, a debugger's helper, the user - keeps doing it. */
        if (sigaction(SIGSEGV, NULL, &old) || old.sa_handler != SIG_DFL || sigaction(SIGSEGV, &now, NULL))
            return;
    }
    stack_t alternate = { .ss_size = 64 * 1024 }, old;
    if (sigaltstack(NULL, &old) || !(old.ss_flags & SS_DISABLE))
        return;
    alternate.ss_sp = w->signal_stack = malloc(alternate.ss_size);
    if (alternate.ss_sp)
        sigaltstack(&alternate, NULL);
}

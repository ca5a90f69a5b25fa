/* SPDX-License-Identifier: MIT */
#include "team.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { SPINS = 2000, SPINS_ALONE = 128, YIELD_EVERY = 32 };

/* What one member is to do next; a cache line each. */
typedef struct {
    _Alignas(64) team_fn *fn;
    void *argument;
    int parts;
    unsigned asked; /* atomic: jobs given */
    unsigned taken; /* atomic: jobs somebody has begun */
    int asleep;     /* atomic */
    pthread_cond_t wake;
} member;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done;
    member *members;
    int size;
    int lead_asleep;       /* atomic */
    _Alignas(64) int busy; /* atomic: members that have not finished */
} team = { .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER, .size = 1 };

void cgx__team_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* The I-th turn of a loop that waits for another thread. The system may have put that thread on this core, and it then runs only when
 * the core is handed over: the turns that follow a fast answer's do that now and again. */
static void spin(int i)
{
    if (i > SPINS_ALONE && i % YIELD_EVERY == 0)
        sched_yield();
    else
        cgx__team_relax();
}

int cgx__team_size(void)
{
    return team.size;
}

/* The member's newest job is the caller's from here on: the member's own, or the lead's, if it comes first. */
static int take(member *m, unsigned job)
{
    unsigned before = job - 1;
    return __atomic_compare_exchange_n(&m->taken, &before, job, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void serve(member *m, int part)
{
    for (unsigned seen = 0;;) {
        for (int i = 0; i < SPINS && __atomic_load_n(&m->asked, __ATOMIC_ACQUIRE) == seen; i++)
            spin(i);
        if (__atomic_load_n(&m->asked, __ATOMIC_ACQUIRE) == seen) {
            /* Asleep is set before the last look, as the lead looks at it after asking: one of the two sees the other. */
            pthread_mutex_lock(&team.lock);
            __atomic_store_n(&m->asleep, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&m->asked, __ATOMIC_SEQ_CST) == seen)
                pthread_cond_wait(&m->wake, &team.lock);
            m->asleep = 0;
            pthread_mutex_unlock(&team.lock);
        }
        seen = __atomic_load_n(&m->asked, __ATOMIC_ACQUIRE);
        if (!take(m, seen))
            continue;
        m->fn(m->argument, part, m->parts);
        if (__atomic_sub_fetch(&team.busy, 1, __ATOMIC_SEQ_CST) == 0 &&
            __atomic_load_n(&team.lead_asleep, __ATOMIC_SEQ_CST)) {
            pthread_mutex_lock(&team.lock);
            pthread_cond_signal(&team.done);
            pthread_mutex_unlock(&team.lock);
        }
    }
}

void cgx__team_open(int size, void (*lead)(void))
{
    if (size > 1)
        team.members = aligned_alloc(64, (size_t)size * sizeof *team.members);
    if (!team.members) {
        lead();
        return;
    }
    for (int i = 0; i < size; i++)
        team.members[i] = (member){ .wake = PTHREAD_COND_INITIALIZER };
#pragma omp parallel num_threads(size)
    {
        int part = omp_get_thread_num();
        if (part) {
            serve(team.members + part, part);
        } else {
            team.size = omp_get_num_threads();
            lead();
        }
    }
}

void cgx__team_run(team_fn *fn, void *argument, int parts, int together)
{
    if (parts > 1) {
        __atomic_store_n(&team.busy, parts - 1, __ATOMIC_RELAXED);
        for (int i = 1; i < parts; i++) {
            member *m = team.members + i;
            m->fn = fn;
            m->argument = argument;
            m->parts = parts;
            __atomic_add_fetch(&m->asked, 1, __ATOMIC_SEQ_CST);
            if (__atomic_load_n(&m->asleep, __ATOMIC_SEQ_CST)) {
                pthread_mutex_lock(&team.lock);
                pthread_cond_signal(&m->wake);
                pthread_mutex_unlock(&team.lock);
            }
        }
    }
    fn(argument, 0, parts);
    if (parts == 1)
        return;
    for (int i = 1; i < parts && !together; i++)
        if (take(team.members + i, team.members[i].asked)) {
            fn(argument, i, parts);
            __atomic_sub_fetch(&team.busy, 1, __ATOMIC_RELAXED);
        }
    for (int i = 0; i < SPINS && __atomic_load_n(&team.busy, __ATOMIC_ACQUIRE); i++)
        spin(i);
    if (!__atomic_load_n(&team.busy, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&team.lock);
    __atomic_store_n(&team.lead_asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&team.busy, __ATOMIC_SEQ_CST))
        pthread_cond_wait(&team.done, &team.lock);
    team.lead_asleep = 0;
    pthread_mutex_unlock(&team.lock);
}

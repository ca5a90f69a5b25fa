/* SPDX-License-Identifier: MIT */
#include "executor.h"
#include "team.h"
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct executor_queue {
    command *first, *last;
    uint64_t submitted;
    uint64_t completed; /* atomic */
    cgx_status status;  /* first error since the last wait */
    char text[1024];
    executor_queue *next; /* in the ring of queues with work */
    int in_ring;
};

struct executor_event {
    uint64_t recorded;    /* number of records asked for */
    uint64_t reached;     /* atomic: number of records reached */
    uint64_t nanoseconds; /* when the last one was */
    int users;            /* commands that still have to look at it */
    int orphaned;         /* destroyed by the user: the last of them frees it */
};

/* Held for some hundred instructions at a time by the user's thread and the executor in turn: spinning a little beats
 * a system call each time they meet. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_cond_t work = PTHREAD_COND_INITIALIZER; /* for the executor */
static pthread_cond_t done = PTHREAD_COND_INITIALIZER; /* for threads that wait */
static executor_queue *ring;                           /* last queue of the ring; its next is the first */
static int sleeping;                                   /* the executor, on `work` */
/* A thread that sleeps on `done` until *COUNTER is at least TARGET; lives on its stack. Waking it for less costs as much as a launch. */
typedef struct waiter {
    const uint64_t *counter;
    uint64_t target;
    struct waiter *next;
} waiter;
static waiter *waiters;
static unsigned posted;   /* atomic: changes with every command, and with others' that a waiting thread leaves behind */
static int running;       /* the thread exists */
static int team_is_open;  /* the executor serves */
static int executing;     /* a command is being run, by the executor or by a thread that waits */
static fenv_t arithmetic; /* the executor's: kernels round as it does, whoever runs them */

/* A launch that follows at once is met without the price of a wake-up; a longer silence frees the core. Where the team takes
 * every core, whoever spins keeps a member from running. */
enum { EXECUTOR_SPINS = 4000, WAIT_SPINS = 400 };
static int spare_core;

/* ---- commands: small ones are kept for reuse ---- */

enum { SMALL_COMMAND = 512, KEEP_COMMANDS = 1024 };
static command *spare;
static int spares;

command *cgx__command_new(size_t bytes)
{
    command *c = NULL;
    size_t size = bytes < SMALL_COMMAND ? SMALL_COMMAND : (bytes + 63) / 64 * 64;
    if (size == SMALL_COMMAND) {
        pthread_mutex_lock(&lock);
        if ((c = spare)) {
            spare = c->next;
            spares--;
        }
        pthread_mutex_unlock(&lock);
    }
    if (!c && !(c = aligned_alloc(64, size)))
        return NULL;
    memset(c, 0, bytes);
    c->bytes = size;
    return c;
}

static void command_recycle(command *c)
{
    if (c->bytes == SMALL_COMMAND && spares < KEEP_COMMANDS) {
        c->next = spare;
        spare = c;
        spares++;
    } else {
        free(c);
    }
}

/* ---- the executor ---- */

static void ring_remove_first(void)
{
    executor_queue *first = ring->next;
    first->in_ring = 0;
    if (first == ring)
        ring = NULL;
    else
        ring->next = first->next;
}

static void ring_add(executor_queue *q)
{
    if (q->in_ring)
        return;
    q->in_ring = 1;
    if (ring) {
        q->next = ring->next;
        ring->next = q;
    } else {
        q->next = q;
    }
    ring = q;
}

static int blocked(const command *c)
{
    return !c->run && c->event && __atomic_load_n(&c->event->reached, __ATOMIC_ACQUIRE) < c->ticket;
}

/* The first queue of the ring whose first command may run, moved to the front. */
static executor_queue *runnable(void)
{
    executor_queue *last = ring;
    if (!ring)
        return NULL;
    do {
        if (!blocked(ring->next->first))
            return ring->next;
        ring = ring->next;
    } while (ring != last);
    return NULL;
}

/* Under the lock: a command is done with the event. */
static void event_leave(executor_event *e)
{
    if (!--e->users && e->orphaned)
        free(e);
}

static void execute(executor_queue *q)
{
    char text[1024] = "";
    command *c = q->first;
    cgx_status status = CGX_OK;
    executing = 1;
    pthread_mutex_unlock(&lock);
    if (c->run)
        status = c->run(c, text, sizeof text);
    pthread_mutex_lock(&lock);
    executing = 0;
    if (c->run && c->event &&
        c->ticket > c->event->reached) { /* a later record may have been first, on another queue */
        c->event->nanoseconds = cgx__cpu_nanoseconds();
        __atomic_store_n(&c->event->reached, c->ticket, __ATOMIC_RELEASE);
    }
    if (c->event)
        event_leave(c->event);
    if (status && !q->status) {
        q->status = status;
        memcpy(q->text, text, sizeof text);
    }
    q->first = c->next;
    command_recycle(c);
    if (!q->first)
        ring_remove_first();
    else
        ring = ring->next; /* others' turn */
    __atomic_store_n(&q->completed, q->completed + 1, __ATOMIC_RELEASE);
    for (const waiter *w = waiters; w; w = w->next)
        if (*w->counter >= w->target) {
            pthread_cond_broadcast(&done);
            break;
        }
}

static void serve_queues(void)
{
    pthread_mutex_lock(&lock);
    fegetenv(&arithmetic);
    team_is_open = 1;
    for (;;) {
        executor_queue *q = executing ? NULL : runnable();
        if (q) {
            execute(q);
            continue;
        }
        unsigned seen = posted;
        pthread_mutex_unlock(&lock);
        for (int i = 0; i < (spare_core ? EXECUTOR_SPINS : 0) && __atomic_load_n(&posted, __ATOMIC_ACQUIRE) == seen;
             i++)
            cgx__team_relax();
        pthread_mutex_lock(&lock);
        while (posted == seen) {
            sleeping = 1;
            pthread_cond_wait(&work, &lock);
            sleeping = 0;
        }
    }
}

static int workers = 1;
void cgx__executor_configure(int count, int cores)
{
    workers = count;
    spare_core = cores > count;
}

static void *executor(void *unused)
{
    (void)unused;
    cgx__team_open(workers, serve_queues);
    return NULL;
}

/* Under the lock. Detached: it lives as long as the process and holds nothing that exit would need. */
static cgx_status start_executor(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (running)
        return CGX_OK;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attributes, executor, NULL);
    pthread_attr_destroy(&attributes);
    if (failed)
        return cgx__fail(CGX_ERROR_SYSTEM, "cpu: the system gives no thread for the queues: %s", strerror(failed));
    running = 1;
    return CGX_OK;
}

/* ---- queues ---- */

executor_queue *cgx__executor_queue_new(void)
{
    return calloc(1, sizeof(executor_queue));
}
void cgx__executor_queue_free(executor_queue *q)
{
    free(q);
}

cgx_status cgx__executor_enqueue(executor_queue *q, command *c)
{
    if (!c)
        return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "cpu: not enough memory for a command");
    pthread_mutex_lock(&lock);
    cgx_status s = start_executor();
    if (s) {
        free(c);
        pthread_mutex_unlock(&lock);
        return s;
    }
    c->next = NULL;
    if (q->first)
        q->last->next = c;
    else
        q->first = c;
    q->last = c;
    q->submitted++;
    ring_add(q);
    __atomic_store_n(&posted, posted + 1, __ATOMIC_RELEASE);
    int wake = sleeping;
    pthread_mutex_unlock(&lock);
    if (wake)
        pthread_cond_signal(&work);
    return CGX_OK;
}

/* Under the lock: runs commands in the executor's place until *COUNTER is at least TARGET or no command may run. Kernels run on
 * stacks of their own, so the caller's may be small; its rounding and its signal stack are put aside. */
static void help(const uint64_t *counter, uint64_t target)
{
    fenv_t callers;
    executor_queue *q;
    fegetenv(&callers);
    fesetenv(&arithmetic);
    int lent = cgx__fault_enter();
    while (!executing && *counter < target && (q = runnable()))
        execute(q);
    cgx__fault_leave(lent);
    fesetenv(&callers);
    if (!executing && runnable()) {
        __atomic_store_n(&posted, posted + 1, __ATOMIC_RELEASE);
        if (sleeping)
            pthread_cond_signal(&work);
    }
}

/* Waits until *COUNTER is at least TARGET: briefly on the core, then, if the executor sleeps, by running the commands itself, which
 * spares two wake-ups, and asleep while the executor runs them. */
static void wait_until(const uint64_t *counter, uint64_t target)
{
    for (int i = 0; i < (spare_core ? WAIT_SPINS : 0) && __atomic_load_n(counter, __ATOMIC_ACQUIRE) < target; i++)
        cgx__team_relax();
    if (__atomic_load_n(counter, __ATOMIC_ACQUIRE) >= target)
        return;
    pthread_mutex_lock(&lock);
    while (__atomic_load_n(counter, __ATOMIC_ACQUIRE) < target) {
        /* An executor that is awake has the launches' data in its core's caches. */
        if (team_is_open && sleeping && !executing && runnable()) {
            help(counter, target);
        } else {
            waiter me = { counter, target, waiters }, **at = &waiters;
            waiters = &me;
            pthread_cond_wait(&done, &lock);
            while (*at != &me)
                at = &(*at)->next;
            *at = me.next;
        }
    }
    pthread_mutex_unlock(&lock);
}

cgx_status cgx__executor_wait(executor_queue *q)
{
    pthread_mutex_lock(&lock);
    uint64_t target = q->submitted;
    pthread_mutex_unlock(&lock);
    wait_until(&q->completed, target);
    pthread_mutex_lock(&lock);
    cgx_status s = q->status;
    if (s)
        cgx__set_error(q->text);
    q->status = CGX_OK;
    pthread_mutex_unlock(&lock);
    return s;
}

cgx_status cgx__executor_query(executor_queue *q)
{
    pthread_mutex_lock(&lock);
    cgx_status s = q->completed == q->submitted ? CGX_OK : CGX_NOT_READY;
    pthread_mutex_unlock(&lock);
    return s;
}

/* ---- events ---- */

executor_event *cgx__executor_event_new(void)
{
    return calloc(1, sizeof(executor_event));
}
void cgx__executor_event_free(executor_event *e)
{
    pthread_mutex_lock(&lock);
    int used = e->users;
    e->orphaned = 1;
    pthread_mutex_unlock(&lock);
    if (!used)
        free(e);
}

static cgx_status nothing(command *c, char *text, size_t text_bytes)
{
    (void)c, (void)text, (void)text_bytes;
    return CGX_OK;
}

/* A command that records the event, or with RECORD 0 waits for its last record. */
static cgx_status enqueue_event(executor_queue *q, executor_event *e, int record)
{
    command *c = cgx__command_new(sizeof *c);
    if (c) {
        c->run = record ? nothing : NULL;
        c->event = e;
        pthread_mutex_lock(&lock);
        e->users++;
        c->ticket = record ? ++e->recorded : e->recorded;
        pthread_mutex_unlock(&lock);
    }
    cgx_status s = cgx__executor_enqueue(q, c);
    if (s && c) {
        pthread_mutex_lock(&lock);
        e->users--;
        pthread_mutex_unlock(&lock);
    }
    return s;
}

cgx_status cgx__executor_record(executor_event *e, executor_queue *q)
{
    return enqueue_event(q, e, 1);
}
cgx_status cgx__executor_wait_for(executor_queue *q, executor_event *e)
{
    return enqueue_event(q, e, 0);
}

static uint64_t last_record(executor_event *e)
{
    pthread_mutex_lock(&lock);
    uint64_t ticket = e->recorded;
    pthread_mutex_unlock(&lock);
    return ticket;
}

cgx_status cgx__executor_event_wait(executor_event *e)
{
    wait_until(&e->reached, last_record(e));
    return CGX_OK;
}

cgx_status cgx__executor_event_query(executor_event *e)
{
    uint64_t ticket = last_record(e);
    return __atomic_load_n(&e->reached, __ATOMIC_ACQUIRE) >= ticket ? CGX_OK : CGX_NOT_READY;
}

cgx_status cgx__executor_event_elapsed(executor_event *first, executor_event *last, double *seconds)
{
    pthread_mutex_lock(&lock);
    cgx_status s = first->reached < first->recorded || last->reached < last->recorded ? CGX_NOT_READY : CGX_OK;
    if (!s)
        *seconds = ((double)last->nanoseconds - (double)first->nanoseconds) * 1e-9;
    pthread_mutex_unlock(&lock);
    return s;
}

/* SPDX-License-Identifier: MIT */
/* Streams: a thread each, which does the stream's jobs one after the other, under the one lock but where a kernel runs. Events:
 * what the last record of one made, a point that a stream reaches. */
#include "emulator.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct job {
    struct job *next;
    stream_work work;
    _Alignas(max_align_t) unsigned char payload[];
} job;
struct stream {
    stream *next; /* of all of them */
    pthread_t thread;
    job *first, **end;
    bool started, closing;
    bool busy; /* with a job that has left the list */
};
struct point {
    unsigned holders;
    bool reached;
    struct timespec time;
};
struct event {
    point *last; /* NULL: never recorded */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER; /* a job or a launch has ended, or one has come */
static stream null_stream, *streams = &null_stream;
static hip_error error; /* of a kernel: it stays, and what is still to be done is not done */
static bool launching, resetting;

void streams_lock(void)
{
    pthread_mutex_lock(&lock);
}
void streams_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
hip_error streams_error(void)
{
    return error;
}
static void wait_for_change(void)
{
    pthread_cond_wait(&changed, &lock);
}
static bool given_up(void)
{
    return error || resetting;
}

/* ---- a child of fork: the lock is free, and the threads are not there; what they had to do is forgotten ---- */

static void in_child(void)
{
    for (stream *s = streams; s; s = s->next) {
        s->started = s->busy = false;
        s->first = NULL;
    }
    launching = false;
    pthread_cond_init(&changed, NULL);
    streams_unlock();
}
__attribute__((constructor)) static void expect_forks(void)
{
    pthread_atfork(streams_lock, streams_unlock, in_child);
}

/* ---- streams ---- */

static bool at_work(const stream *s)
{
    return s->busy || s->first;
}
static bool any_at_work(void)
{
    for (const stream *s = streams; s; s = s->next)
        if (at_work(s))
            return true;
    return false;
}

static void *thread_of(void *stream_)
{
    stream *s = stream_;
    streams_lock();
    for (;;) {
        while (!s->first && !s->closing)
            wait_for_change();
        job *j = s->first;
        if (!j)
            break;
        s->first = j->next;
        s->busy = true;
        const hip_error e = j->work(j->payload, given_up());
        if (e && !resetting)
            error = e;
        free(j);
        s->busy = false;
        pthread_cond_broadcast(&changed);
    }
    streams_unlock();
    return NULL;
}

hip_error stream_submit(stream *s, stream_work work, const void *payload, size_t bytes)
{
    job *j = malloc(sizeof *j + bytes);
    s = s ? s : &null_stream;
    if (!j)
        return hipErrorOutOfMemory;
    *j = (job){ .work = work };
    memcpy(j->payload, payload, bytes);
    if (!s->started && pthread_create(&s->thread, NULL, thread_of, s)) {
        free(j);
        return hipErrorOutOfMemory;
    }
    s->started = true;
    if (!s->first)
        s->end = &s->first;
    *s->end = j;
    s->end = &j->next;
    pthread_cond_broadcast(&changed);
    return hipSuccess;
}

hip_error stream_create(stream **out)
{
    stream *s = calloc(1, sizeof *s);
    if (!s)
        return hipErrorOutOfMemory;
    s->next = null_stream.next;
    null_stream.next = s;
    *out = s;
    return hipSuccess;
}
hip_error stream_wait(stream *s)
{
    s = s ? s : &null_stream;
    while (at_work(s) && !error)
        wait_for_change();
    return error;
}
hip_error stream_query(const stream *s)
{
    return at_work(s ? s : &null_stream) ? hipErrorNotReady : hipSuccess;
}
/* What it has to do is done first. */
hip_error stream_destroy(stream *s)
{
    stream **at = &null_stream.next;
    while (*at && *at != s)
        at = &(*at)->next;
    if (!*at)
        return hipErrorInvalidHandle;
    s->closing = true;
    pthread_cond_broadcast(&changed);
    if (s->started) {
        streams_unlock();
        pthread_join(s->thread, NULL);
        streams_lock();
    }
    for (at = &null_stream.next; *at != s;)
        at = &(*at)->next;
    *at = s->next;
    free(s);
    return hipSuccess;
}
hip_error streams_wait(void)
{
    while (any_at_work() && !error)
        wait_for_change();
    return error;
}
void streams_reset(void)
{
    resetting = true;
    if (launching)
        launch_kill_worker(); /* who waits for its answer notices and clears up */
    pthread_cond_broadcast(&changed);
    while (any_at_work())
        wait_for_change();
    launch_stop_worker();
    resetting = false;
    error = hipSuccess;
}

/* ---- kernels: one at a time has the worker ---- */

static hip_error run_launch(void *payload, bool drop)
{
    prepared_launch *p = *(prepared_launch **)payload;
    hip_error e = hipSuccess;
    while (launching && !drop) {
        wait_for_change();
        drop = given_up();
    }
    if (!drop && !(e = launch_start(p))) {
        launching = true;
        streams_unlock();
        launch_await(p);
        streams_lock();
        launching = false;
        e = launch_end(p, resetting);
    }
    free(p);
    return e;
}
hip_error stream_launch(stream *s, prepared_launch *p)
{
    const hip_error e = stream_submit(s, run_launch, &p, sizeof p);
    if (e)
        free(p);
    return e;
}

/* ---- events ---- */

static void let_go(point *p)
{
    if (p && !--p->holders)
        free(p);
}
static hip_error reach(void *payload, bool drop)
{
    point *p = *(point **)payload;
    (void)drop;
    p->reached = true;
    clock_gettime(CLOCK_MONOTONIC, &p->time);
    let_go(p);
    return hipSuccess;
}
static hip_error hold_back(void *payload, bool drop)
{
    point *p = *(point **)payload;
    while (!p->reached && !drop) {
        wait_for_change();
        drop = given_up();
    }
    let_go(p);
    return hipSuccess;
}

hip_error event_create(event **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? hipSuccess : hipErrorOutOfMemory;
}
/* Who waits for it goes on to wait. */
void event_destroy(event *e)
{
    let_go(e->last);
    free(e);
}
hip_error event_record(event *e, stream *s)
{
    point *p = calloc(1, sizeof *p);
    hip_error failed = p ? stream_submit(s, reach, &p, sizeof p) : hipErrorOutOfMemory;
    if (failed) {
        free(p);
        return failed;
    }
    p->holders = 2; /* the stream, the event */
    let_go(e->last);
    e->last = p;
    return hipSuccess;
}
hip_error event_hold_back(stream *s, const event *e)
{
    point *p = e->last;
    if (!p)
        return hipSuccess;
    const hip_error failed = stream_submit(s, hold_back, &p, sizeof p);
    p->holders += !failed;
    return failed;
}
hip_error event_wait(const event *e)
{
    point *p = e->last;
    if (!p)
        return hipSuccess;
    p->holders++;
    while (!p->reached && !error)
        wait_for_change();
    let_go(p);
    return error;
}
hip_error event_query(const event *e)
{
    return e->last && !e->last->reached ? hipErrorNotReady : hipSuccess;
}
hip_error event_elapsed(float *milliseconds, const event *first, const event *second)
{
    const point *a = first->last, *b = second->last;
    if (!a || !b)
        return hipErrorInvalidHandle;
    if (!a->reached || !b->reached)
        return hipErrorNotReady;
    *milliseconds =
        (float)((double)(b->time.tv_sec - a->time.tv_sec) * 1e3 + (double)(b->time.tv_nsec - a->time.tv_nsec) / 1e6);
    return hipSuccess;
}

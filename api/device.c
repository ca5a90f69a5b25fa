/* SPDX-License-Identifier: MIT */
/* Backends and devices: started at the first question, described once. */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../backends/list.h"
#include "internal.h"

#define DECLARE(name) extern INTERNAL const cgx_backend cgx_backend_##name;
CGX_FOREACH_BACKEND(DECLARE)
#undef DECLARE

#define ADDRESS(name) &cgx_backend_##name,
static const cgx_backend *const backends[] = { CGX_FOREACH_BACKEND(ADDRESS) };
#undef ADDRESS
enum { BACKENDS = sizeof backends / sizeof backends[0] };

static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int done;
    cgx_status status;
    char reason[256];
    int device_count;
    cgx_device *devices;
} started[BACKENDS];

static int forked; /* this process is a child of one that had used cgx */

static void after_fork(void)
{
    forked = 1;
    cgx__forget_launches();
}

cgx_status cgx__check_process(const char *what)
{
    if (forked)
        return cgx__fail(CGX_ERROR_FORKED, "%s: %s", what, cgx_status_text(CGX_ERROR_FORKED));
    return CGX_OK;
}

static void start_backend(int b)
{
    static int hooked;
    int count = 0;
    if (!hooked)
        pthread_atfork(NULL, NULL, after_fork);
    hooked = 1;
    started[b].status = backends[b]->start(&count, started[b].reason, sizeof started[b].reason);
    if (started[b].status)
        return;
    cgx_device *devices = calloc((size_t)count, sizeof *devices);
    if (!devices) {
        started[b].status = CGX_ERROR_OUT_OF_MEMORY;
        snprintf(started[b].reason, sizeof started[b].reason, "not enough memory");
        return;
    }
    for (int i = 0; i < count; i++) {
        cgx_device *d = devices + i;
        d->backend = backends[b];
        d->index = i;
        snprintf(d->name, sizeof d->name, "%s:%d", backends[b]->name, i);
        d->info = (cgx_device_info)CGX_DEVICE_INFO_INIT;
        started[b].status = d->backend->device_info(i, &d->info);
        if (started[b].status) {
            snprintf(started[b].reason, sizeof started[b].reason, "%s", cgx_last_error());
            return;
        }
        d->info.name = d->name;
        d->info.backend = backends[b]->name;
        d->info.index = i;
    }
    started[b].devices = devices;
    started[b].device_count = count;
}

static void start(int b)
{
    pthread_mutex_lock(&starting);
    if (!started[b].done)
        start_backend(b);
    started[b].done = 1;
    pthread_mutex_unlock(&starting);
}

void cgx__backends_unit_gone(const cgx__unit *unit)
{
    for (int b = 0; b < BACKENDS; b++)
        if (started[b].device_count && backends[b]->unit_gone)
            backends[b]->unit_gone(unit);
}

int cgx_backend_count(void)
{
    return BACKENDS;
}

cgx_status cgx_backend_get_info(int index, cgx_backend_info *info)
{
    cgx_status s = cgx__check_process("cgx_backend_get_info");
    if (s)
        return s;
    if (!info || info->size < sizeof *info)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_backend_get_info: info is NULL or its size is not set");
    if (index < 0 || index >= BACKENDS)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_backend_get_info: backend %d asked, there are %d", index, BACKENDS);
    start(index);
    info->name = backends[index]->name;
    info->status = started[index].status;
    info->reason = started[index].reason;
    info->device_count = started[index].device_count;
    return CGX_OK;
}

/* Appends the names of all backends, for error texts. */
static const char *known_backends(void)
{
    static _Thread_local char text[128];
    text[0] = 0;
    for (int b = 0; b < BACKENDS; b++) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s%s", b ? ", " : "", backends[b]->name);
    }
    return text;
}

/* SOURCE is put behind what was asked for, in error texts. */
static cgx_status get(const char *backend, int index, const char *source, cgx_device **device)
{
    for (int b = 0; b < BACKENDS; b++) {
        if (strcmp(backends[b]->name, backend))
            continue;
        start(b);
        if (started[b].status)
            return cgx__fail(started[b].status, "%s%s is not available: %s", backend, source, started[b].reason);
        if (index < 0 || index >= started[b].device_count)
            return cgx__fail(CGX_ERROR_NO_DEVICE, "device %s:%d%s asked, %s has %d: %s:0 to %s:%d", backend, index,
                             source, backend, started[b].device_count, backend, backend, started[b].device_count - 1);
        *device = started[b].devices + index;
        return CGX_OK;
    }
    return cgx__fail(CGX_ERROR_UNKNOWN_BACKEND, "there is no backend \"%s\"%s; known: %s", backend, source,
                     known_backends());
}

cgx_status cgx_device_get(const char *backend, int index, cgx_device **device)
{
    cgx_status s = cgx__check_process("cgx_device_get");
    if (s)
        return s;
    if (!backend || !device)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_device_get: NULL argument");
    return get(backend, index, "", device);
}

static cgx_status find_any(cgx_device **device)
{
    for (int b = 0; b < BACKENDS; b++) {
        start(b);
        if (!started[b].status && started[b].device_count > 0) {
            *device = started[b].devices;
            return CGX_OK;
        }
    }
    return cgx__fail(CGX_ERROR_NO_DEVICE, "no backend has a device; cgxinfo says why");
}

cgx_status cgx_device_find(const char *name, cgx_device **device)
{
    const char *source = "";
    cgx_status s = cgx__check_process("cgx_device_find");
    if (s)
        return s;
    if (!device)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_device_find: device is NULL");
    if (!name || !*name || !strcmp(name, "any")) {
        name = getenv("CGX_DEVICE");
        source = " (from CGX_DEVICE)";
        if (!name || !*name || !strcmp(name, "any"))
            return find_any(device);
    }
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    char backend[32], *end = NULL;
    long index = 0;
    if (colon) {
        index = strtol(colon + 1, &end, 10);
        if (!isdigit((unsigned char)colon[1]) || *end || index > 1000000)
            return cgx__fail(CGX_ERROR_INVALID, "\"%s\"%s is no device name; one is \"cpu\", \"cuda:1\" or \"any\"",
                             name, source);
    }
    if (!length || length >= sizeof backend)
        return cgx__fail(CGX_ERROR_UNKNOWN_BACKEND, "there is no backend for \"%s\"%s; known: %s", name, source,
                         known_backends());
    memcpy(backend, name, length);
    backend[length] = 0;
    return get(backend, (int)index, source, device);
}

cgx_status cgx_device_get_info(const cgx_device *device, cgx_device_info *info)
{
    cgx_status s = cgx__check_process("cgx_device_get_info");
    if (s)
        return s;
    if (!device || !info || info->size < sizeof *info)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_device_get_info: NULL argument, or the size of info is not set");
    *info = device->info;
    return CGX_OK;
}

cgx_status cgx_device_can_access(const cgx_device *device, const cgx_device *peer, int *can)
{
    cgx_status s = cgx__check_process("cgx_device_can_access");
    if (s)
        return s;
    if (!device || !peer || !can)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_device_can_access: NULL argument");
    *can =
        device == peer || (device->backend == peer->backend && device->backend->can_access(device->index, peer->index));
    return CGX_OK;
}

static cgx_status check_limit(const cgx_device *device, cgx_limit limit, const char *what)
{
    cgx_status s = cgx__check_process(what);
    if (s)
        return s;
    if (!device || (limit != CGX_LIMIT_HEAP_BYTES && limit != CGX_LIMIT_PENDING_LAUNCHES))
        return cgx__fail(CGX_ERROR_INVALID, device ? "%s: there is no such limit" : "%s: device is NULL", what);
    if (!device->backend->set_limit)
        return cgx__fail(CGX_ERROR_UNSUPPORTED, "%s: kernels on %s have no device runtime", what, device->name);
    return CGX_OK;
}

cgx_status cgx_device_set_limit(cgx_device *device, cgx_limit limit, size_t value)
{
    cgx_status s = check_limit(device, limit, "cgx_device_set_limit");
    if (s)
        return s;
    if (__atomic_load_n(&device->launched, __ATOMIC_RELAXED))
        return cgx__fail(CGX_ERROR_INVALID, "cgx_device_set_limit: %s has run kernels; set its limits before the first",
                         device->name);
    return device->backend->set_limit(device->index, limit, value);
}

cgx_status cgx_device_get_limit(const cgx_device *device, cgx_limit limit, size_t *value)
{
    cgx_status s = check_limit(device, limit, "cgx_device_get_limit");
    if (s)
        return s;
    if (!value)
        return cgx__fail(CGX_ERROR_INVALID, "cgx_device_get_limit: value is NULL");
    return device->backend->get_limit(device->index, limit, value);
}

int cgx_local_rank(void)
{
    static const char *const variables[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                             "MV2_COMM_WORLD_LOCAL_RANK",  "SLURM_LOCALID",
                                             "FLUX_TASK_LOCAL_ID",         "PMI_LOCAL_RANK" };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value && isdigit((unsigned char)*value))
            return atoi(value);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Kernels as libcgx knows them: records of the units it has seen, and the layout of their shared memory. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

extern int __cxa_atexit(void (*)(void *), void *, void *);

static pthread_mutex_t units = PTHREAD_MUTEX_INITIALIZER;

/* The shared object that holds the unit goes away (dlclose or exit): its slot is freed with it. */
static void unit_gone(void *state)
{
    void **slot = state;
    cgx__forget_launches();
    pthread_mutex_lock(&units);
    kernel_record *r = *slot;
    __atomic_store_n(slot, NULL, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&units);
    if (r)
        cgx__backends_unit_gone(r->kernel->unit);
    while (r) {
        kernel_record *next = r->next;
        free(r);
        r = next;
    }
}

enum { RED_ZONE = 128 }; /* bytes at least */

static int site_is_of(const cgx__site *s, const cgx_kernel *k)
{
    size_t n = strlen(k->name);
    return s->unit_state == k->unit->state && !strncmp(s->function, k->name, n) && !strcmp(s->function + n, "__body");
}

static cgx_shared_use lay_out(const cgx_kernel *k)
{
    cgx_shared_use use = { 0 };
    uint64_t at = 0, place = 0;
    for (cgx__site *s = k->unit->sites; s < k->unit->sites_end; s++)
        if (site_is_of(s, k)) {
            at = (at + s->alignment - 1) / s->alignment * s->alignment;
            at += s->size;
            place = (place + s->alignment - 1) / s->alignment * s->alignment;
            s->offset = place;
            place += s->size + (__asan_poison_memory_region ? RED_ZONE : 0);
            if (s->size > CGX__LARGE_SHARED) {
                use.large += (s->size + 127) & ~(uint64_t)127;
                use.large_arrays++;
            }
        }
    use.fixed = at;
    use.spread = place;
    return use;
}

void cgx__kernel_red_zones(const cgx_kernel *k, char *shared, size_t spread)
{
    uint64_t end = 0; /* of the array before */
    for (const cgx__site *s = k->unit->sites; s < k->unit->sites_end; s++)
        if (site_is_of(s, k)) {
            __asan_poison_memory_region(shared + end, s->offset - end);
            end = s->offset + s->size;
        }
    __asan_poison_memory_region(shared + end, spread - end);
}

static kernel_record *look_up(const cgx_kernel *kernel)
{
    kernel_record *r = __atomic_load_n((kernel_record **)kernel->unit->state, __ATOMIC_ACQUIRE);
    while (r && r->kernel != kernel)
        r = r->next;
    return r;
}

cgx_status cgx__kernel_find(const cgx_kernel *kernel, const char *what, kernel_record **record)
{
    if (!kernel)
        return cgx__fail(CGX_ERROR_INVALID, "%s: the kernel is NULL", what);
    if (kernel->version != CGX__ABI || kernel->size < sizeof *kernel || kernel->unit->version != CGX__ABI)
        return cgx__fail(CGX_ERROR_VERSION,
                         "%s: the kernel has object format %u, this libcgx serves %d; build it again", what,
                         kernel->version, CGX__ABI);
    kernel_record *r = look_up(kernel);
    if (!r) {
        pthread_mutex_lock(&units);
        r = look_up(kernel); /* another thread may have been first */
        if (!r && (r = calloc(1, sizeof *r))) {
            void **slot = kernel->unit->state;
            r->kernel = kernel;
            r->shared = lay_out(kernel);
            r->next = *slot;
            if (!*slot)
                __cxa_atexit(unit_gone, slot, kernel->unit->dso);
            __atomic_store_n((kernel_record **)slot, r, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&units);
        if (!r)
            return cgx__fail(CGX_ERROR_OUT_OF_MEMORY, "%s: not enough memory", what);
    }
    *record = r;
    return CGX_OK;
}

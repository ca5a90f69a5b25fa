/* SPDX-License-Identifier: MIT */
/* The seam between the front end (api/) and a backend: one static const struct of operations. The front end has checked
 * the arguments against the device's limits before it calls one; a backend says what only it can know, through
 * cgx__fail(). Operations named "enqueue" return at once. */
#ifndef CGX_BACKEND_H
#define CGX_BACKEND_H
#include <cgx/abi.h>

/* Shared memory of a kernel, in bytes a block. */
typedef struct {
    size_t fixed; /* what the kernel declares, as the CPU lays it out */
    size_t large; /* of that the arrays above CGX__LARGE_SHARED, each rounded up to 128 bytes; so many are there */
    int large_arrays;
    size_t spread;  /* fixed, and red zones behind arrays where an address sanitizer watches the CPU's */
    size_t dynamic; /* of the launch */
} cgx_shared_use;

/* A backend's own about a launch, zero at first. The same launch, into the same queue with other arguments, brings them back, while the
 * kernel's shared object is loaded: what they say need not be looked up again. */
typedef struct {
    void *function;
    size_t dynamic_shared;
} cgx_launch_notes;

typedef struct {
    const cgx_kernel *kernel;
    const cgx_config
        *config;           /* cluster is at least 1 x 1 x 1; CGX_LAUNCH_COOPERATIVE comes with CGX_LAUNCH_SOFTWARE_GRID
                               * only where the device is not CGX_CAN_COOPERATIVE: the launch is plain then, and the
                               * grid barrier the library's */
    const void *arguments; /* the kernel's argument struct */
    size_t argument_bytes;
    cgx_shared_use shared;
    cgx_launch_notes *notes;
} cgx_launch_request;

typedef struct {
    const char *name;
    /* First use: finds the devices. On failure a status that says which absence it is, and the reason. */
    cgx_status (*start)(int *device_count, char *reason, size_t reason_bytes);
    cgx_status (*device_info)(int device, cgx_device_info *info);

    /* `native`: a stream of the user's, or NULL. */
    cgx_status (*queue_create)(int device, void *native, void **queue);
    void (*queue_destroy)(void *queue);
    cgx_status (*queue_wait)(void *queue);
    cgx_status (*queue_query)(void *queue);
    cgx_status (*queue_native)(void *queue, void **context, void **stream);

    cgx_status (*event_create)(int device, void **event);
    void (*event_destroy)(void *event);
    cgx_status (*enqueue_record)(void *event, void *queue);
    cgx_status (*enqueue_wait)(void *queue, void *event);
    cgx_status (*event_wait)(void *event);
    cgx_status (*event_query)(void *event);
    cgx_status (*event_elapsed)(void *first, void *last, double *seconds);

    cgx_status (*alloc)(int device, size_t bytes, cgx_memory_kind kind, void **memory);
    cgx_status (*free)(int device, void *memory);
    cgx_status (*enqueue_alloc)(void *queue, size_t bytes, void **memory);
    cgx_status (*enqueue_free)(void *queue, void *memory);
    cgx_status (*enqueue_copy)(void *queue, void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height);
    cgx_status (*enqueue_copy_peer)(void *queue, void *destination, const void *source, int source_device,
                                    size_t bytes);
    int (*can_access)(int device, int peer);
    cgx_status (*enqueue_fill)(void *queue, void *memory, const void *pattern, size_t pattern_bytes, size_t count);

    cgx_status (*kernel_info)(int device, const cgx_kernel *kernel, const cgx_shared_use *shared,
                              cgx_kernel_info *info);
    cgx_status (*enqueue_launch)(void *queue, const cgx_launch_request *request);
    /* How the launch will run, in words. */
    void (*explain)(int device, const cgx_launch_request *request, char *text, size_t bytes);
    /* Blocks resident at once on a unit, and on the whole device under a cooperative launch. */
    cgx_status (*occupancy)(int device, const cgx_kernel *kernel, int threads, const cgx_shared_use *shared,
                            int *per_unit, int *cooperative);
    cgx_status (*variable_address)(int device, cgx_variable variable, void **address, size_t *bytes);
    /* Limits of the device runtime, before the first launch. NULL where kernels launch nothing. */
    cgx_status (*set_limit)(int device, cgx_limit limit, size_t value);
    cgx_status (*get_limit)(int device, cgx_limit limit, size_t *value);
    /* The shared object that holds the unit goes away: what was loaded of it is to be unloaded. May be NULL. */
    void (*unit_gone)(const cgx__unit *unit);
} cgx_backend;

/* Sets the calling thread's error text and returns STATUS. */
#if defined(__GNUC__)
#define CGX__HIDDEN_API __attribute__((visibility("hidden")))
#else
#define CGX__HIDDEN_API
#endif
/* Cold: what leads to it is laid out apart from what runs at every launch, which the driver pushes out of the caches each time. */
CGX__HIDDEN_API cgx_status cgx__fail(cgx_status status, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));
CGX__HIDDEN_API void cgx__set_error(const char *text);
/* "1,152", in one of a few buffers of the thread that are reused in turn. */
CGX__HIDDEN_API const char *cgx__number(int64_t n);
CGX__HIDDEN_API const char *cgx__size(size_t n);

/* What a backend asks of the front end when kernels do what the host's functions do elsewhere: the same checks, texts and
 * numbers. */
/* The address sanitizer's, where the program has it. */
extern void __asan_poison_memory_region(const volatile void *, size_t) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *, size_t) __attribute__((weak));
/* Where it watches: what lies between the kernel's arrays in a block's shared memory (spread bytes) may
 * not be touched from now on. */
CGX__HIDDEN_API void cgx__kernel_red_zones(const cgx_kernel *kernel, char *shared, size_t spread);
CGX__HIDDEN_API cgx_status cgx__check_launch(const cgx_device *device, const cgx_kernel *kernel, cgx_config *config,
                                             const void *arguments, size_t bytes, cgx_launch_request *request);
CGX__HIDDEN_API cgx_status cgx__check_occupancy(const cgx_device *device, const cgx_kernel *kernel, int threads,
                                                size_t dynamic_shared, const char *what, int *per_unit,
                                                int *cooperative);
/* Dynamic shared memory is DYNAMIC_SHARED and BYTES_A_THREAD for each thread. */
CGX__HIDDEN_API cgx_status cgx__find_best_block(const cgx_device *device, const cgx_kernel *kernel,
                                                size_t dynamic_shared, size_t bytes_a_thread, int *threads,
                                                int *blocks);
#endif

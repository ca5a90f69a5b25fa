/* SPDX-License-Identifier: MIT */
/* The host API: devices, memory, queues, events, copies, launches.
 *
 * Threads. Every function may be called from any thread at any time, on different or on the same handles, unless its
 * comment says otherwise; what one thread enqueues on a queue is ordered as it was enqueued, what two threads enqueue on
 * one queue is ordered somehow. Destroying a handle while another call uses it is the caller's mistake.
 * Results. Functions return a cgx_status; out-parameters come last and are written on success alone. After a failure
 * cgx_last_error() of the calling thread says what was asked, what the limit is and what would have worked.
 * Fork. A child of fork() gets CGX_ERROR_FORKED from every function here once the parent has used cgx; exec is fine. */
#ifndef CGX_HOST_H
#define CGX_HOST_H
#include <stddef.h>
#include <stdint.h>
#include <cgx/status.h>

#if defined(__GNUC__)
#define CGX_API __attribute__((visibility("default")))
#define CGX_UNUSED __attribute__((unused))
#else
#define CGX_API
#define CGX_UNUSED
#endif

/* Kernels that launch make configurations too. */
#if defined(__CUDACC__) || defined(__HIP__)
#define CGX__HOST_AND_DEVICE CGX_UNUSED __attribute__((host)) __attribute__((device)) static inline
#else
#define CGX__HOST_AND_DEVICE CGX_UNUSED static inline
#endif

#ifdef __cplusplus
#define CGX__EXTERN_C_BEGIN extern "C" {
#define CGX__EXTERN_C_END }
#else
#define CGX__EXTERN_C_BEGIN
#define CGX__EXTERN_C_END
#endif

CGX__EXTERN_C_BEGIN

#define CGX_VERSION_MAJOR 0
#define CGX_VERSION_MINOR 1
#define CGX_VERSION_PATCH 0

/* A size in up to three dimensions, in elements of whatever is counted. Signed, so that a negative size is seen. */
typedef struct {
    int x, y, z;
} cgx_dim3;

typedef struct cgx_device cgx_device; /* lives as long as the process; never freed by the user */
typedef struct cgx_queue cgx_queue;   /* an in-order stream of work on one device */
typedef struct cgx_event cgx_event;   /* a point in a queue's work, with its time */
typedef struct cgx_kernel cgx_kernel; /* a kernel's descriptor: CGX_KERNEL_OF(name) */

/* ---- errors ---- */

/* The enumerator's name ("CGX_ERROR_LIMIT") and the one-line explanation. Any value is accepted; an unknown one gives
 * "unknown status". The strings are static. */
CGX_API const char *cgx_status_name(cgx_status status);
CGX_API const char *cgx_status_text(cgx_status status);

/* Text of the calling thread's most recent failure, "" if there was none. Valid until the thread's next failing call. */
CGX_API const char *cgx_last_error(void);

/* For programs: prints cgx_last_error() with file and line and exits with status 1 when EXPRESSION is an error. A
 * library looks at the status itself. */
#define CGX_TRY(expression) cgx__try((expression), __FILE__, __LINE__)
CGX_API void cgx__try(cgx_status status, const char *file, int line);

/* The library's version, "0.1.0". */
CGX_API const char *cgx_version(void);

/* ---- backends and devices (PARITY H01, H10) ---- */

/* What a backend is, and why it has no devices if it has none: `status` is CGX_OK, CGX_ERROR_NOT_BUILT,
 * CGX_ERROR_DRIVER, CGX_ERROR_NO_DEVICE, or CGX_ERROR_INVALID for a setting in the environment that it does not take, and `reason` the text for a person ("" with CGX_OK). */
typedef struct {
    size_t size; /* sizeof(cgx_backend_info), set by CGX_BACKEND_INFO_INIT */
    const char *name;
    cgx_status status;
    const char *reason;
    int device_count;
} cgx_backend_info;
#define CGX_BACKEND_INFO_INIT                           \
    {                                                   \
        sizeof(cgx_backend_info), NULL, CGX_OK, NULL, 0 \
    }

/* Number of backends this version knows, built or not. */
CGX_API int cgx_backend_count(void);
/* Describes backend INDEX (0 to count - 1). Errors: CGX_ERROR_INVALID. */
CGX_API cgx_status cgx_backend_get_info(int index, cgx_backend_info *info);

/* Finds a device. NAME is "any" (the first device of the first backend that has one, GPUs before the CPU), a backend
 * ("cpu": its device 0) or backend and index ("cuda:1"). NULL or "" reads the environment variable CGX_DEVICE, and
 * without it means "any". "any" also obeys CGX_DEVICE where it is set.
 * Errors: CGX_ERROR_UNKNOWN_BACKEND, CGX_ERROR_NOT_BUILT, CGX_ERROR_DRIVER, CGX_ERROR_NO_DEVICE, CGX_ERROR_INVALID
 * (the text is no device name). */
CGX_API cgx_status cgx_device_find(const char *name, cgx_device **device);
/* Device INDEX of backend BACKEND (by name). Errors as cgx_device_find. */
CGX_API cgx_status cgx_device_get(const char *backend, int index, cgx_device **device);

/* Capability bits of cgx_device_info.capabilities. */
#define CGX_FOREACH_CAPABILITY(X)                                                                                    \
    X(CGX_CAN_COOPERATIVE, 0, "cooperative", "grid synchronisation under a cooperative launch")                      \
    X(CGX_CAN_CLUSTER, 1, "cluster", "clusters of more than one block")                                              \
    X(CGX_CAN_ASYNC_COPY, 2, "async-copy", "global to shared copies that really run beside the thread")              \
    X(CGX_CAN_BULK_COPY, 3, "bulk-copy", "copies of whole ranges by a copy engine of the processor")                 \
    X(CGX_CAN_DEVICE_LAUNCH, 4, "device-launch", "kernels that launch kernels")                                      \
    X(CGX_CAN_PEER, 5, "peer", "direct access to another device's memory")                                           \
    X(CGX_CAN_UNIFIED, 6, "unified", "host and device share one memory: every pointer is valid on both")             \
    X(CGX_CAN_EXPLAIN, 7, "explain-misuse", "misuse and deadlocks of a kernel come back as a status and a text")     \
    X(CGX_CAN_SOFTWARE_GRID, 8, "software-grid", "grid synchronisation by the library alone, where it is asked for") \
    X(CGX_CAN_INDEPENDENT, 9, "independent-lanes", "threads of a wave that have diverged go on beside each other")
enum {
#define CGX__ENUMERATOR(name, bit, word, text) name = 1 << bit,
    CGX_FOREACH_CAPABILITY(CGX__ENUMERATOR)
#undef CGX__ENUMERATOR
};

/* Limits and capabilities of a device. Sizes in bytes, counts in what the name says. */
typedef struct {
    size_t size;             /* sizeof(cgx_device_info), set by CGX_DEVICE_INFO_INIT */
    const char *name;        /* "cpu:0": what cgx_device_find takes */
    const char *description; /* what the vendor calls it */
    const char *backend;
    int index;
    int units; /* multiprocessors, compute units, or worker threads */
    int lanes; /* threads of a warp or wave */
    int max_threads_per_block;
    int max_threads_per_unit; /* resident at the same time */
    int threads_at_once;      /* of a unit, that make progress at the same time: 1 where a core runs them in a loop */
    cgx_dim3 max_block, max_grid;  /* largest dimension each way */
    int max_cluster_blocks;        /* 1 where there are no clusters */
    size_t shared_bytes_per_block; /* static and dynamic together, opt-in included */
    size_t shared_bytes_per_unit;
    size_t memory_bytes;
    size_t max_argument_bytes; /* of one launch */
    uint32_t capabilities;     /* CGX_CAN_* */
    const char *engine;        /* how kernels run, in words */
    /* How asynchronous copies are done: "synchronous"; "per thread", those of a group too; "bulk": per thread, and those of
     * cgx_bulk_copy_async by the hardware's copy engine. */
    const char *async_copy;
} cgx_device_info;
#define CGX_DEVICE_INFO_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(cgx_device_info), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, { 0, 0, 0 }, { 0, 0, 0 }, 0, 0, 0, 0, 0, 0, NULL, \
            NULL                                                                                                       \
    }

CGX_API cgx_status cgx_device_get_info(const cgx_device *device, cgx_device_info *info);

/* The rank of this process among those of its node, from the environment that Open MPI, MPICH, Slurm or Flux set; 0
 * without them. For choosing a device per MPI rank before MPI_Init. */
CGX_API int cgx_local_rank(void);

/* Limits of what kernels do with the device runtime (<cgx/device_runtime.h>). */
typedef enum {
    CGX_LIMIT_HEAP_BYTES,      /* memory for cgx_heap_alloc and the device's own malloc; 8 MiB unless it is set */
    CGX_LIMIT_PENDING_LAUNCHES /* launches by kernels, copies and fills among them, that are not complete yet; 2,048 */
} cgx_limit;
/* Of the device, for the whole process. Before the first launch on it: CGX_ERROR_INVALID afterwards. CGX_ERROR_UNSUPPORTED
 * where kernels launch nothing. */
CGX_API cgx_status cgx_device_set_limit(cgx_device *device, cgx_limit limit, size_t value);
CGX_API cgx_status cgx_device_get_limit(const cgx_device *device, cgx_limit limit, size_t *value);

/* ---- queues (PARITY H03) ---- */

/* Opens an in-order queue on the device NAME (see cgx_device_find). Work is asynchronous on every backend: the call
 * that enqueues returns before the work is done. */
CGX_API cgx_status cgx_queue_open(const char *name, cgx_queue **queue);
/* The same on a device found before. */
CGX_API cgx_status cgx_queue_create(cgx_device *device, cgx_queue **queue);
/* Waits for the queue's work, frees the queue and sets *queue to NULL. *queue == NULL is legal. Returns the status of
 * the work, as cgx_queue_wait; the queue is gone, unless the handle itself was refused (destroyed before, or a forked
 * child). */
CGX_API cgx_status cgx_queue_close(cgx_queue **queue);
/* Waits until everything enqueued so far has finished. Everything it did is visible to the caller afterwards. Returns
 * the first error of the work since the last wait (CGX_ERROR_DEADLOCK, CGX_ERROR_MISUSE, ...) and clears it; work
 * behind a failed command of the same queue is still done. */
CGX_API cgx_status cgx_queue_wait(cgx_queue *queue);
/* CGX_OK when the queue is empty, CGX_NOT_READY when not. Never blocks, reports no errors of the work. */
CGX_API cgx_status cgx_queue_query(cgx_queue *queue);
CGX_API cgx_status cgx_queue_get_device(const cgx_queue *queue, cgx_device **device);
/* The device of a queue described: for choosing shapes where only a queue is at hand. */
CGX_API cgx_status cgx_queue_get_info(const cgx_queue *queue, cgx_device_info *info);

/* ---- events (PARITY H04) ---- */

CGX_API cgx_status cgx_event_create(cgx_queue *queue, cgx_event **event);
/* *event == NULL is legal; an event that is still to be reached is waited for. */
CGX_API cgx_status cgx_event_destroy(cgx_event **event);
/* Puts the event behind everything enqueued on QUEUE so far; an event may be recorded again, the last record counts. */
CGX_API cgx_status cgx_event_record(cgx_event *event, cgx_queue *queue);
/* Blocks the calling thread until the event's last record is reached. An event never recorded counts as reached. */
CGX_API cgx_status cgx_event_wait(cgx_event *event);
CGX_API cgx_status cgx_event_query(cgx_event *event);
/* Work enqueued on QUEUE after this call starts when the event's last record is reached. Both may be of different
 * devices of one backend. */
CGX_API cgx_status cgx_queue_wait_event(cgx_queue *queue, cgx_event *event);
/* Seconds from FIRST to LAST, both reached; CGX_NOT_READY otherwise, CGX_ERROR_INVALID if one was never recorded. */
CGX_API cgx_status cgx_event_elapsed(cgx_event *first, cgx_event *last, double *seconds);

/* ---- memory (PARITY H02) ---- */

typedef enum {
    CGX_MEM_DEVICE, /* for kernels; the host may not touch it unless the device is CGX_CAN_UNIFIED */
    CGX_MEM_PINNED, /* host memory that the device can reach and copy from at full speed */
    CGX_MEM_SHARED  /* one address on host and device, moved as needed ("managed") */
} cgx_memory_kind;

/* Allocates BYTES (0 gives a pointer that may be freed), aligned to at least 256 bytes. Not ordered with the queue:
 * usable at once. Errors: CGX_ERROR_INVALID, CGX_ERROR_OUT_OF_MEMORY. */
CGX_API cgx_status cgx_alloc(cgx_queue *queue, size_t bytes, cgx_memory_kind kind, void **memory);
/* Waits for the queue's work, then frees; returns the work's error, and clears it, as cgx_queue_wait. NULL is legal. CGX_ERROR_INVALID for a pointer that cgx_alloc did not give
 * on this device or that is freed already. */
CGX_API cgx_status cgx_free(cgx_queue *queue, void *memory);
/* Stream-ordered: the memory may be used by work enqueued after cgx_alloc_async and until cgx_free_async; neither
 * waits. Always device memory. */
CGX_API cgx_status cgx_alloc_async(cgx_queue *queue, size_t bytes, void **memory);
CGX_API cgx_status cgx_free_async(cgx_queue *queue, void *memory);

/* ---- copies and fills (PARITY H08, H13): all enqueued, all asynchronous ---- */

/* Copies BYTES; source and destination may each be host or device memory and must not overlap. The memory must stay as
 * it is until the copy is done, pageable host memory included. */
CGX_API cgx_status cgx_copy(cgx_queue *queue, void *destination, const void *source, size_t bytes);
/* HEIGHT rows of WIDTH bytes each; a pitch is the distance in bytes from row to row and at least WIDTH. */
CGX_API cgx_status cgx_copy_2d(cgx_queue *queue, void *destination, size_t destination_pitch, const void *source,
                               size_t source_pitch, size_t width, size_t height);
/* From memory of SOURCE_DEVICE to memory of the queue's device: two devices of one backend, directly where they can, or from
 * the CPU to any. CGX_ERROR_UNSUPPORTED between other backends: copy through host memory. */
CGX_API cgx_status cgx_copy_peer(cgx_queue *queue, void *destination, const void *source, cgx_device *source_device,
                                 size_t bytes);
/* Whether kernels on DEVICE can read and write memory of PEER: *can is 0 or 1. */
CGX_API cgx_status cgx_device_can_access(const cgx_device *device, const cgx_device *peer, int *can);
/* Repeats the PATTERN_BYTES (1, 2, 4, 8 or 16) long pattern COUNT times. The pattern is read before the call returns. */
CGX_API cgx_status cgx_fill(cgx_queue *queue, void *memory, const void *pattern, size_t pattern_bytes, size_t count);
CGX_API cgx_status cgx_fill_u8(cgx_queue *queue, void *memory, uint8_t value, size_t count);
CGX_API cgx_status cgx_fill_i32(cgx_queue *queue, void *memory, int32_t value, size_t count);
CGX_API cgx_status cgx_fill_i64(cgx_queue *queue, void *memory, int64_t value, size_t count);
CGX_API cgx_status cgx_fill_f32(cgx_queue *queue, void *memory, float value, size_t count);
CGX_API cgx_status cgx_fill_f64(cgx_queue *queue, void *memory, double value, size_t count);

/* ---- launches (PARITY H05, H06, H07) ---- */

/* Flags of a launch. */
enum {
    CGX_LAUNCH_COOPERATIVE = 1, /* all blocks are resident at once: grid synchronisation works */
    CGX_LAUNCH_DYNAMIC = 2,     /* CPU: blocks are handed to workers one by one, for blocks of unequal cost */
    /* Beside CGX_LAUNCH_COOPERATIVE, and without effect where the device is CGX_CAN_COOPERATIVE: see
     * cgx_cooperative_or_software. */
    CGX_LAUNCH_SOFTWARE_GRID = 4
};

/* The shape of a launch. Zero cluster means no clusters. */
typedef struct {
    size_t size;           /* sizeof(cgx_config) */
    cgx_dim3 grid, block;  /* blocks, threads */
    cgx_dim3 cluster;      /* blocks */
    size_t dynamic_shared; /* bytes a block, beside the kernel's static shared memory */
    uint32_t flags;        /* CGX_LAUNCH_* */
} cgx_config;

CGX__HOST_AND_DEVICE cgx_dim3 cgx_dim(int x, int y, int z)
{
    cgx_dim3 d;
    d.x = x, d.y = y, d.z = z;
    return d;
}

/* GRID blocks of BLOCK threads. Pure functions: nothing is checked before the launch. */
CGX__HOST_AND_DEVICE cgx_config cgx_config_make(cgx_dim3 grid, cgx_dim3 block)
{
    cgx_config c;
    c.size = sizeof c;
    c.grid = grid, c.block = block, c.cluster = cgx_dim(0, 0, 0);
    c.dynamic_shared = 0, c.flags = 0;
    return c;
}
CGX__HOST_AND_DEVICE cgx_config cgx_config_1d(int blocks, int threads)
{
    return cgx_config_make(cgx_dim(blocks, 1, 1), cgx_dim(threads, 1, 1));
}
/* One thread an item: as many blocks of THREADS as N items need. N <= 0 or beyond the largest grid is refused at the
 * launch. */
CGX__HOST_AND_DEVICE cgx_config cgx_cover(int64_t n, int threads)
{
    int64_t blocks = n <= 0 || threads <= 0 ? 0 : (n - 1) / threads + 1;
    return cgx_config_1d(blocks > INT32_MAX ? -1 : (int)blocks, threads);
}
/* The same launch, cooperative. */
CGX__HOST_AND_DEVICE cgx_config cgx_cooperative(cgx_config c)
{
    c.flags |= CGX_LAUNCH_COOPERATIVE;
    return c;
}
/* The same launch, cooperative; and where the driver has no cooperative launch but the device is CGX_CAN_SOFTWARE_GRID, a
 * plain launch of no more blocks than fit at once, which synchronises by the library's own grid barrier (PARITY Y04). The
 * driver then does not promise that the blocks run at once. The caller does: nothing else runs on the device beside
 * this launch, from this process or another, or the kernel may wait for ever. */
CGX_UNUSED static inline cgx_config cgx_cooperative_or_software(cgx_config c)
{
    c.flags |= CGX_LAUNCH_COOPERATIVE | CGX_LAUNCH_SOFTWARE_GRID;
    return c;
}
/* The same launch with BYTES of dynamic shared memory a block. */
CGX__HOST_AND_DEVICE cgx_config cgx_with_shared(cgx_config c, size_t bytes)
{
    c.dynamic_shared = bytes;
    return c;
}
/* For grid-stride kernels: blocks of THREADS, no more than N items need. On a GPU no more than keep it busy, which is what is resident
 * at once, at least eight blocks a unit. On the CPU one thread an item: the loop over threads is the one that vectorises, and a
 * thread's own would step over the whole array (y += a x of 16 Mi floats on one core: 13 ms, 415 ms in eight blocks a core).
 * N = 0 gives one block. */
CGX_API cgx_config cgx_fit(cgx_queue *queue, int64_t n, int threads);

/* The array-argument launch beside the typed NAME_launch: ARGUMENTS[i] points at argument i, COUNT of them, of the
 * types the kernel declares. The values are copied before the call returns. Callable from Fortran and from scripting
 * languages. Errors: CGX_ERROR_INVALID (NULL, wrong count, sizes that are not positive), CGX_ERROR_LIMIT (a size the
 * device does not take: the text says which, the limit and what would fit), CGX_ERROR_UNSUPPORTED (a cooperative kernel
 * in a plain launch; a capability the device lacks), CGX_ERROR_VERSION. Nothing is launched then. */
CGX_API cgx_status cgx_launch(cgx_queue *queue, const cgx_kernel *kernel, cgx_config config, void *const *arguments,
                              int count);
/* What NAME_launch calls: ARGUMENTS is the kernel's argument struct. */
CGX_API cgx_status cgx__launch(cgx_queue *queue, const cgx_kernel *kernel, const cgx_config *config,
                               const void *arguments, size_t bytes);

/* What a kernel needs on a device. */
typedef struct {
    size_t size; /* sizeof(cgx_kernel_info), set by CGX_KERNEL_INFO_INIT */
    const char *name, *file;
    int line;
    int argument_count;
    size_t argument_bytes;
    size_t static_shared_bytes; /* that the kernel declares, and that its collectives take on this device */
    int max_threads;            /* a block may have, on this device */
    cgx_dim3 block;             /* the declared block size, zeros if none */
    int cooperative;            /* 1: refuses a plain launch */
    const char *engine;         /* how it will run: "fibers", "compiled", "native" */
    const char *target;         /* the code chosen: "x86-64-v3", "sm_90" */
} cgx_kernel_info;
#define CGX_KERNEL_INFO_INIT                                                           \
    {                                                                                  \
        sizeof(cgx_kernel_info), NULL, NULL, 0, 0, 0, 0, 0, { 0, 0, 0 }, 0, NULL, NULL \
    }
CGX_API cgx_status cgx_kernel_get_info(cgx_queue *queue, const cgx_kernel *kernel, cgx_kernel_info *info);

/* Most blocks a cooperative launch of this shape can have (PARITY Y03), or one by cgx_cooperative_or_software where the
 * device takes no other. *blocks is 0 when not even one fits, or the device has neither. */
CGX_API cgx_status cgx_max_cooperative_blocks(cgx_queue *queue, const cgx_kernel *kernel, int threads,
                                              size_t dynamic_shared, int *blocks);
/* Blocks of this shape resident at once on one unit. */
CGX_API cgx_status cgx_occupancy(cgx_queue *queue, const cgx_kernel *kernel, int threads, size_t dynamic_shared,
                                 int *blocks_per_unit);
/* A block size that keeps the device busy, and the number of blocks that fill it once. */
CGX_API cgx_status cgx_best_block(cgx_queue *queue, const cgx_kernel *kernel, size_t dynamic_shared, int *threads,
                                  int *blocks);

/* ---- device variables (PARITY D03): use the macros of <cgx/kernel.h> ---- */
typedef struct {
    const void *unit;
    const char *name;
    void *host;
    size_t bytes;
} cgx_variable;
CGX_API cgx_status cgx__variable_address(cgx_queue *queue, cgx_variable variable, void **address, size_t *bytes);

/* ---- native handles (PARITY H09) ---- */

/* The vendor's own objects: CUcontext and CUstream, hipCtx_t and hipStream_t; CGX_ERROR_UNSUPPORTED on the CPU, which has
 * none. They stay cgx's. */
CGX_API cgx_status cgx_queue_get_native(cgx_queue *queue, void **context, void **stream);
/* A queue on a stream of the user's, who keeps it alive until the queue is closed. */
CGX_API cgx_status cgx_queue_from_native(cgx_device *device, void *stream, cgx_queue **queue);

CGX__EXTERN_C_END
#endif

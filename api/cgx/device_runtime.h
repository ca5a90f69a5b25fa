/* SPDX-License-Identifier: MIT */
/* The device runtime: launches from kernels, with their streams, events and memory (CUDA Programming Guide, "Device
 * runtime"; PARITY D01 to D15).
 *
 * Who calls. Every function here is for threads of a kernel declared with CGX_KERNEL_LAUNCHING or CGX_LAUNCHING, unless its
 * comment says otherwise; in another kernel the CPU calls it misuse. Any thread, converged or not; none is collective: each
 * thread that calls does it once.
 * Results. A call that fails does nothing, returns why and leaves it as the thread's last error; nothing else is lost. What
 * fails later, in a child while it runs, is the error of the host's queue when the whole tree of launches is over, and
 * names the child.
 * Order. A grid is complete when its blocks have ended and all it launched is complete; what follows it - the host's next
 * command, its successor in a stream - starts then. A child may start at once or when its parent has ended; no kernel can
 * wait for it. What a thread did before it launched happens before the child; what a grid did, descendants included,
 * happens before what starts after it. Other threads' stores are the child's to see only if a synchronisation orders them
 * before the launch. A child sees global memory, never the shared or local memory of its parent.
 *
 * docs/semantics.md, section 16, has the rules with their tests. */
#ifndef CGX_DEVICE_RUNTIME_H
#define CGX_DEVICE_RUNTIME_H
#include <cgx/kernel.h>
#include <cgx/stream.h>

#if defined(CGX_PASS_CPU)
#define CGX__RUNTIME CGX_API
CGX__EXTERN_C_BEGIN
#else
#define CGX__RUNTIME CGX_UNUSED static __device__
extern "C++" {
#endif

/* ---- launches (D01, D04, D06, D10, D11) ----
 *
 *     cgx_status name_dlaunch(cgx_stream stream, cgx_config config, type argument, ...)
 *
 * launches the kernel NAME of this file, itself included. Arguments are copied. Shapes and limits are those of a launch by
 * the host; clusters and cooperative launches are refused (CGX_ERROR_UNSUPPORTED). CGX_ERROR_LIMIT also means that
 * CGX_LIMIT_PENDING_LAUNCHES are on their way. A kernel of another file does not compile. The streams: */

/* The stream of the calling thread's block: its launches run one after the other. NULL. */
#define CGX_BLOCK_STREAM ((cgx_stream)0)
/* The calling thread's own. */
#define CGX_THREAD_STREAM ((cgx_stream)2)
/* Launches that start when everything else of the grid is complete, its blocks and all their descendants, one after the
 * other in the order they were made; before what follows the grid. No events. */
#define CGX_TAIL_LAUNCH ((cgx_stream)3)
/* Launches without order among each other, as if each had a new stream. Complete before the grid is. No events. */
#define CGX_FIRE_AND_FORGET ((cgx_stream)4)

/* The raw pair behind name_dlaunch: a buffer for the arguments of KERNEL (CGX_DEVICE_KERNEL(name)), to be filled as a
 * CGX_ARGUMENTS_OF(name), BYTES long, and the launch that uses it up. A buffer belongs to the calling thread's grid and
 * one launch; one that is never launched is freed with the grid.
 * Errors: CGX_ERROR_INVALID (BYTES is not the size of the arguments; no such buffer, or launched before),
 * CGX_ERROR_OUT_OF_MEMORY, those of a launch: the buffer is used up then too. */
CGX__RUNTIME cgx_status cgx_launch_buffer(cgx_device_kernel kernel, size_t bytes, void **buffer);
CGX__RUNTIME cgx_status cgx_launch_with_buffer(cgx_stream stream, cgx_device_kernel kernel, cgx_config config,
                                               void *buffer);

/* ---- streams and events (D09, D12) ----
 * Handles belong to the grid that made them: any of its threads may use them, a parent, a child or another grid gets
 * CGX_ERROR_INVALID. Work that is on its way stays when a handle is destroyed. */

/* A stream whose launches run one after the other. FLAGS is CGX_STREAM_NON_BLOCKING, anything else is CGX_ERROR_INVALID. */
CGX__RUNTIME cgx_status cgx_stream_create(cgx_stream *stream, unsigned flags);
CGX__RUNTIME cgx_status cgx_stream_destroy(cgx_stream stream);
/* What is put into STREAM from now on starts when the event's last record is reached. An event never recorded is. */
CGX__RUNTIME cgx_status cgx_stream_wait_event(cgx_stream stream, cgx_stream_event event);
/* FLAGS is CGX_EVENT_NO_TIMING, anything else is CGX_ERROR_INVALID. */
CGX__RUNTIME cgx_status cgx_stream_event_create(cgx_stream_event *event, unsigned flags);
CGX__RUNTIME cgx_status cgx_stream_event_destroy(cgx_stream_event event);
/* Behind what STREAM holds now. CGX_ERROR_INVALID for CGX_FIRE_AND_FORGET and CGX_TAIL_LAUNCH, here and in the wait. */
CGX__RUNTIME cgx_status cgx_stream_event_record(cgx_stream_event event, cgx_stream stream);

/* ---- memory (D02, D08) ---- */

/* Memory of the device's heap, aligned to 16 bytes: until cgx_heap_free, by any kernel. CGX_ERROR_OUT_OF_MEMORY beyond
 * CGX_LIMIT_HEAP_BYTES. The host can neither free it nor copy from it on every device. */
CGX__RUNTIME cgx_status cgx_heap_alloc(size_t bytes, void **memory);
/* NULL is legal. CGX_ERROR_INVALID for what cgx_heap_alloc did not give, memory of the host's cgx_alloc included (a GPU may
 * not find out, and then it is undefined). */
CGX__RUNTIME cgx_status cgx_heap_free(void *memory);

/* Copies and fills in a stream, as launches are; all of global memory. CGX_ERROR_INVALID for shared memory and for local
 * variables. BYTES, pitches and widths in bytes; a pitch is the distance from row to row, and at least WIDTH; a slice is
 * ROWS pitches. The ranges must not overlap. */
CGX__RUNTIME cgx_status cgx_stream_copy(cgx_stream stream, void *destination, const void *source, size_t bytes);
CGX__RUNTIME cgx_status cgx_stream_copy_2d(cgx_stream stream, void *destination, size_t destination_pitch,
                                           const void *source, size_t source_pitch, size_t width, size_t height);
/* DEPTH slices of HEIGHT rows; slices are DESTINATION_ROWS and SOURCE_ROWS rows apart, at least HEIGHT. */
CGX__RUNTIME cgx_status cgx_stream_copy_3d(cgx_stream stream, void *destination, size_t destination_pitch,
                                           size_t destination_rows, const void *source, size_t source_pitch,
                                           size_t source_rows, size_t width, size_t height, size_t depth);
/* Every byte becomes VALUE. */
CGX__RUNTIME cgx_status cgx_stream_fill(cgx_stream stream, void *memory, uint8_t value, size_t bytes);
CGX__RUNTIME cgx_status cgx_stream_fill_2d(cgx_stream stream, void *memory, size_t pitch, uint8_t value, size_t width,
                                           size_t height);
CGX__RUNTIME cgx_status cgx_stream_fill_3d(cgx_stream stream, void *memory, size_t pitch, size_t rows, uint8_t value,
                                           size_t width, size_t height, size_t depth);

/* ---- what can be asked (D07, D14) ---- */

/* Number of devices of this backend, and the one that runs the kernel, as the host counts them. */
CGX__RUNTIME cgx_status cgx_runtime_device_count(int *count);
CGX__RUNTIME cgx_status cgx_runtime_device(int *device);
/* An attribute of any device. Errors: CGX_ERROR_NO_DEVICE, CGX_ERROR_INVALID. */
CGX__RUNTIME cgx_status cgx_runtime_attribute(cgx_attribute attribute, int device, int *value);
CGX__RUNTIME cgx_status cgx_runtime_limit(cgx_limit limit, size_t *value);
/* Preference between shared memory and L1: CGX_CACHE_DEFAULT where nobody has one. */
CGX__RUNTIME cgx_status cgx_runtime_cache_config(cgx_cache_config *config);
/* CUDA's runtime as 1000 * major + 10 * minor; cgx itself, counted in the same way, elsewhere. */
CGX__RUNTIME cgx_status cgx_runtime_version(int *version);
CGX__RUNTIME cgx_status cgx_runtime_kernel_info(cgx_device_kernel kernel, cgx_device_kernel_info *info);
/* As cgx_occupancy and cgx_best_block of the host. */
CGX__RUNTIME cgx_status cgx_runtime_occupancy(cgx_device_kernel kernel, int threads, size_t dynamic_shared,
                                              int *blocks_per_unit);
CGX__RUNTIME cgx_status cgx_runtime_best_block(cgx_device_kernel kernel, size_t dynamic_shared, int *threads,
                                               int *blocks);
/* The same where the dynamic shared memory grows with the block: DYNAMIC_SHARED and BYTES_A_THREAD for each thread. */
CGX__RUNTIME cgx_status cgx_runtime_best_block_with(cgx_device_kernel kernel, size_t dynamic_shared,
                                                    size_t bytes_a_thread, int *threads, int *blocks);

/* ---- errors (D13) ---- */

/* The calling thread's last error, which is CGX_OK afterwards; and without that. */
CGX__RUNTIME cgx_status cgx_runtime_last_error(void);
CGX__RUNTIME cgx_status cgx_runtime_peek_error(void);
/* In any kernel: the status's name and explanation, as the host's cgx_status_name and cgx_status_text. */
CGX__RUNTIME const char *cgx_runtime_status_name(cgx_status status);
CGX__RUNTIME const char *cgx_runtime_status_text(cgx_status status);

#if defined(CGX_PASS_CPU)
CGX__EXTERN_C_END
#include <cgx/cpu_device_runtime.h>
#else
} /* extern "C++" */
#if defined(CGX_PASS_CUDA)
#include <cgx/cuda_device_runtime.h>
#else
#include <cgx/hip_device_runtime.h>
#endif
#endif

/* ---- where a thread runs (D05), in any kernel ----
 * int cgx_unit_id(): the unit of the device - a multiprocessor, a worker - on which the thread is now.
 * int cgx_warp_id(): the number of its warp there, or in its block. Volatile: both may change while the kernel runs, and
 * two blocks may have the same numbers. GPUs number their units with gaps. For measuring, not for indexing. */
#define cgx_unit_id() cgx__unit_id(CGX__SELF)
#define cgx_warp_id() cgx__warp_id(CGX__SELF)
#endif

/* SPDX-License-Identifier: MIT */
/* What kernels ask of the host where the hardware launches nothing: the format that device code writes and backends/requests.c
 * reads. Users have no business here. docs/design.md, "Launches by kernels on HIP".
 *
 * A *round* is some launches of a family that the device runs before the host looks at what they asked for. Their threads reserve
 * words of one memory and write requests there, in an order that is each thread's own and that of the device's atomics; when
 * all of them have ended, the host reads them from the first to the last. */
#ifndef CGX_REQUESTS_H
#define CGX_REQUESTS_H
#include <cgx/abi.h>
#include <cgx/stream.h>

enum { CGX__OCCUPANCIES = 32 };

/* A kernel that kernels of its image launch or ask about: a variable in the image. Its address is the cgx_device_kernel. */
typedef struct {
    /* By the compiler; addresses are the device's. */
    const char *name;        /* without the __device of its symbol */
    const uint32_t *offsets; /* of the parameters in their struct, the hidden one's last */
    uint32_t name_bytes, parameter_count, argument_bytes;
    uint32_t flags, max_threads; /* CGX_KERNEL_*; declared, or 0 */
    cgx_dim3 block;
    /* By the host, when the image is loaded. */
    uint32_t fits_threads; /* of the image: registers limit a block */
    uint32_t static_shared, local_bytes, registers;
    /* Blocks on a unit without dynamic shared memory, of 32 * (i + 1) threads. */
    uint16_t occupancy[CGX__OCCUPANCIES];
} cgx__child;

enum {
    CGX__ASK_NOTHING,
    CGX__ASK_BUFFER,
    CGX__ASK_LAUNCH,
    CGX__ASK_COPY,
    CGX__ASK_FILL,
    CGX__ASK_RECORD,
    CGX__ASK_WAIT
};

/* In memory that both see; behind a launch and a buffer are the arguments. A multiple of 16 bytes. */
typedef struct {
    uint32_t words;        /* of 8 bytes, with the arguments; set first */
    uint32_t kind;         /* CGX__ASK_*, set last; a request that is not complete is CGX__ASK_NOTHING */
    uint32_t grid, thread; /* who asks: the number of its launch, which no other of the family has, and its ranks */
    uint64_t block;
    uint64_t stream; /* cgx_stream */
    union {
        struct {
            uint32_t kernel; /* number in the image's table */
            uint32_t dynamic_shared;
            cgx_dim3 grid, block;
        } launch;
        struct {
            uint64_t to, to_pitch, to_rows, from, from_pitch, from_rows, width, height, depth, value;
        } transfer;
        uint64_t event; /* cgx_stream_event */
    } of;
} cgx__request;

/* The last error of a thread that has one. */
typedef struct {
    uint64_t thread; /* a number that no other thread of the round has; 0: free */
    int64_t status;
} cgx__last_error;

/* The device's heap: blocks one behind the other, each with its head. */
typedef struct {
    uint32_t lock, pad;
    uint64_t bytes; /* of the blocks together, heads included */
    uint64_t rover; /* where the search begins: offset of a block */
    uint64_t pad2;
} cgx__heap;
typedef struct {
    uint64_t size; /* with the head; odd: in use */
    uint64_t check;
} cgx__heap_head;
#define CGX__HEAP_CHECK 0x63677868656170ULL /* xor the block's offset */

enum { CGX__ROUND_LAUNCHES = 1000, CGX__LAST_ERRORS = 1 << 12, CGX__HANDLES = 1 << 16 };

/* In device memory, one a queue. */
typedef struct cgx__requests {
    /* Of the round, by threads; the host zeroes them. */
    uint64_t words;
    uint32_t asked; /* launches, copies and fills, refused ones too */
    uint32_t handles;
    uint32_t errors; /* in the table */
    /* Of the round, by the host: launches, copies and fills that may be asked for. */
    uint32_t room;
    uint64_t pad[13];
    /* Once, by the host. */
    uint64_t room_words;
    char *memory;
    uint32_t *owners; /* of handles: 2 * grid, and 1 more for an event; 0: destroyed */
    cgx__last_error *last_errors;
    cgx__heap *heap;
    const int32_t *attributes; /* of each device, in the order of cgx_attribute */
    uint64_t heap_limit, pending_limit;
    int32_t device, devices, version, pad3;
} cgx__requests;
#endif

/* SPDX-License-Identifier: MIT */
/* The object format: what a kernel file's object carries and libcgx reads. Written by the macros of kernel.h and by
 * cgxcc; users have no business here. Every struct starts with version and size or belongs to one that does, so that
 * objects of an older cgxcc are recognised (PARITY K10). docs/design.md, "Objects". */
#ifndef CGX_ABI_H
#define CGX_ABI_H
#include <stddef.h>
#include <stdint.h>
#include <cgx/host.h>

enum { CGX__ABI = 1 };
enum { CGX__IMAGE_CUDA = 1, CGX__IMAGE_HIP = 2 };
enum { CGX__ENGINE_FIBERS = 0, CGX__ENGINE_COMPILED = 1 };

/* Instruction-set levels of CPU entries, best last: X(number, symbol part, name a user knows). */
#define CGX_FOREACH_LEVEL(X) X(0, base, "baseline") X(2, v2, "x86-64-v2") X(3, v3, "x86-64-v3") X(4, v4, "x86-64-v4")

/* Flags of a kernel. */
enum {
    CGX_KERNEL_IS_COOPERATIVE = 1, /* uses grid synchronisation: refuses a plain launch */
    CGX_KERNEL_FIXED_BLOCK = 2,    /* is launched with the declared block size only */
    CGX_KERNEL_LAUNCHES = 4        /* may launch kernels: uses <cgx/device_runtime.h> */
};

/* Start of section .rodata.cgx_images; cgxcc replaces the section. Offsets count from here: no relocations. */
typedef struct {
    char magic[4];
    uint16_t version, count;
    uint64_t size;
} cgx__images;
typedef struct {
    uint32_t kind, flags;
    uint64_t offset, size;
    char target[40];
} cgx__image;

/* CUDA images have static shared memory for arrays of up to so many bytes. A larger one is at the end of the launch's
 * dynamic shared memory, rounded up to a multiple of 128 bytes: nvcc takes 48 KiB of static memory at most. Half of those,
 * so that any two arrays that nvcc would take together still are. One a kernel can be so. */
enum { CGX__LARGE_SHARED = 24 * 1024 };

/* One per CGX_SHARED, in section cgx_sites. As large as its alignment, or compilers leave gaps between them.
 * `unit_state` and `function` say whose it is; a pointer to the unit itself would keep every image alive in a link. */
typedef struct {
    const char *function;
    const void *unit_state;
    uint64_t size, alignment;
    volatile uint64_t offset; /* set by libcgx before the first launch; volatile, or compilers fold it to 0 */
    uint64_t reserved[3];
} cgx__site;

/* One per kernel file. */
typedef struct {
    uint32_t version, size;
    const cgx__images *images;
    void **state;                 /* libcgx's slots, the only writable part */
    void *dso;                    /* &__dso_handle: hooks the unloading of the shared object */
    cgx__site *sites, *sites_end; /* of the whole shared object */
} cgx__unit;
enum { CGX__UNIT_SLOTS = 4 };

struct cgx_cpu_block;
/* Fibers: runs the threads of a block from block->next on, in rank order on the caller's stack. A thread that has to wait
 * moves the ranks behind it to another stack (see fork in backends/cpu); when it finishes at last the entry returns
 * its rank. The entry that ran to the last rank without one returns -1.
 * Compiled: runs all threads of the block to their ends and returns -1; or CGX__ENTRY_DECLINES, before any of them has
 * started, where the launch's shape is one that this entry was not made for. CGX__ENTRY_WAITS: all threads wait for the
 * grid; the entry is called again, for the same block, when all others are there.
 * Of several entries of a level those of fibers come last, so that a libcgx that knows of nothing else takes them. */
typedef int cgx__entry_fn(struct cgx_cpu_block *block, const void *arguments);
enum { CGX__ENTRY_DECLINES = -2, CGX__ENTRY_WAITS = -3 };
typedef struct {
    uint16_t level, engine;
    uint32_t frame_bytes; /* compiled: for each thread, in block->frame */
    cgx__entry_fn *run;   /* NULL: the engine does without an entry at this level */
} cgx__entry;

typedef struct {
    uint32_t size, offset;
} cgx__parameter;

struct cgx_kernel {
    uint32_t version, size;
    const char *name; /* device symbol: NAME__device in every image of the unit */
    const char *file;
    uint32_t line, flags;
    const cgx__unit *unit;
    const cgx__parameter *parameters;
    uint32_t parameter_count, argument_bytes;
    const cgx__entry *entries;
    uint32_t entry_count, max_threads; /* max_threads 0: the device's limit */
    cgx_dim3 block;
    uint32_t reserved;
    const char *remark; /* what the compiled engine's plug-in says of this kernel; NULL: it was not there */
    uint32_t reserved2[2];
};

/* ---- GPUs: what a launch hands to its threads; docs/design.md, "The launch record" ---- */

/* Rules that only the device can see broken: X(name, text). */
#define CGX_FOREACH_DEVICE_MISUSE(X)                                                                            \
    X(GRID_SYNC, "grid synchronisation in a launch that is not cooperative")                                    \
    X(GRID_COLLECTIVE, "a collective of the grid in a launch that is not cooperative")                          \
    X(NOT_LAUNCHING, "the kernel uses the device runtime and is not declared for it: CGX_KERNEL_LAUNCHING, or " \
                     "CGX_LAUNCHING(limits)")
enum {
    CGX__MISUSE_NONE,
#define CGX__ENUMERATOR(name, text) CGX__MISUSE_##name,
    CGX_FOREACH_DEVICE_MISUSE(CGX__ENUMERATOR)
#undef CGX__ENUMERATOR
        CGX__MISUSE_COUNT
};

/* In host memory that the device writes: the first misuse of a queue's launches. */
enum { CGX__ERROR_NAME = 64 };
typedef struct {
    uint32_t misuse; /* CGX__MISUSE_*, written last */
    int32_t line;
    cgx_dim3 block;
    int32_t thread; /* rank in the block */
    uint64_t kernel;
    char name
        [CGX__ERROR_NAME]; /* of a kernel that a kernel launched; cut to fit. Empty: `kernel` is the host's descriptor */
} cgx__launch_error;

/* In device memory, one for each queue: its launches run one after the other. The host zeroes it once; a grid's barrier is
 * left as it is found. Words that blocks write and words that they poll lie in lines of their own. */
enum { CGX__LAUNCH_LINE = 128, CGX__PART_BYTES = 32 };
typedef struct {
    uint32_t arrived; /* of the grid's barrier: blocks, and in the highest bit the phase */
    uint32_t pad_arrived[CGX__LAUNCH_LINE / 4 - 1];
    uint32_t claimed; /* not zero: *error is taken */
    uint32_t pad_claimed;
    cgx__launch_error *error;
    struct cgx__requests *requests; /* what kernels ask of the host where the hardware launches nothing (requests.h) */
    uint64_t pad_error[CGX__LAUNCH_LINE / 8 - 3];
    /* Behind it lie the blocks' parts of a grid's collective: two rounds of CGX__PART_BYTES a block, then as much for every
     * 32 blocks. CGX__LAUNCH_RECORD_BYTES is the size with them. */
} cgx__launch_record;
#define CGX__LAUNCH_RECORD_BYTES(blocks) \
    (sizeof(cgx__launch_record) + 2 * CGX__PART_BYTES * ((size_t)(blocks) + ((size_t)(blocks) + 31) / 32))

/* The last argument of each kernel, hidden, and from then on the thread's own state. */
typedef struct {
    uint64_t record; /* address of the cgx__launch_record, and a CGX__IS_* */
    uint64_t kernel; /* for the error: the host's descriptor; of a child its name, in device memory */
    uint32_t phases; /* zero at first. Of the thread's groups, which of two places in shared memory is next */
    uint32_t
        block_slots[2]; /* where the block's collectives of 4 and 8 bytes have their places; from the first block on */
    uint32_t grid;      /* the launch's number among those whose requests go into one queue; 0: it asks for nothing */
} cgx__thread;
enum { CGX__IS_COOPERATIVE = 1, CGX__IS_CHILD = 2 };

/* ---- what kernels print and assert on HIP, whose own way needs a service of the driver's: a ring in host memory ---- */

/* Numbers count words and never go back. A message is a head, whose lower half has its words, bits 32 to 39 a CGX__PRINT_*, and
 * the highest bit, set last, says that it is all there; then the text and the values: each a word with a CGX__PRINTED_* and,
 * for a string, its bytes << 8, then a word or the string's bytes. */
enum { CGX__RING_WORDS = 1 << 16, CGX__PRINT_TEXT = 0, CGX__PRINT_ASSERTION = 1 };
enum { CGX__PRINTED_INTEGER, CGX__PRINTED_DOUBLE, CGX__PRINTED_STRING };
typedef struct {
    uint64_t reserved; /* by threads */
    uint64_t taken;    /* by the host */
    uint64_t lost;     /* messages that there was no room for */
    uint64_t words[CGX__RING_WORDS];
} cgx__print_ring;
#endif
